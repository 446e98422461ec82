"""The page rpcurl-migrate(7): its rows of options from the table of options, all else from scripts/docs/prose.

In the prose, a list of options begins with a line `.\\" options TOOL`. The items that follow are notes: the text of an
item follows what the table says of its options, or stands instead of it if its first line is `.\\" instead`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

TOOLS = Path(__file__).parent / "tools"
PROSE = Path(__file__).parent / "prose" / "rpcurl-migrate.mdoc"
INSTEAD = '.\\" instead\n'


class Incomplete(Exception):
    """An option of another tool has neither a counterpart nor a note, or a note has no option."""


@dataclass
class Row:
    """Options of another tool that mean the same, and what rpcurl has for them."""

    names: list[str]
    text: str
    # Whether rpcurl has the option with the same long name.
    is_same: bool = False


def flags(names: list[str]) -> str:
    return " , ".join(f"Fl {name[1:]}" for name in names)


def own(options: list[dict], names: list[str]) -> str:
    """The options of rpcurl's that options of another tool stand for, with those names that are only accepted."""
    both = [[f".Fl {one[1:]}" for one in option["names"] if not one.startswith("--no-")] for option in options]
    text = " ,\nand\n".join(" ,\n".join(one) for one in both)
    aliases = [name for name in names if any(name in option["aliases"] for option in options)]
    return text + "".join(f" ;\n.Ql {name}\nis accepted" for name in aliases) + ("" if aliases else " ") + ".\n"


def sentence(hint: str) -> str:
    """A hint as a sentence, its options and commands with their macros."""
    lines = []
    for part in re.findall(r'"[^"]+"[.,;:]?|(?:(?!")\S)+', hint[0].upper() + hint[1:] + "."):
        quoted = re.fullmatch(r'"([^"]+)"([.,;:]?)', part)
        option = re.fullmatch(r"(-[\w.-]*\w)([.,;:]?)", part)
        if quoted:
            lines.append(f".Ql {quoted[1]}" + (f" {quoted[2]}" if quoted[2] else ""))
        elif option:
            lines.append(f".Fl {option[1][1:]}" + (f" {option[2]}" if option[2] else ""))
        elif lines and not lines[-1].startswith("."):
            lines[-1] += f" {part}"
        else:
            lines.append(("\\&" if part[0] in ".'" else "") + part)
    return "\n".join(lines) + "\n"


def find(name: str, options: list[dict], tool: str) -> list[dict]:
    """The options of rpcurl's that an option of a tool stands for."""
    if tool == "grpcurl" and (found := [one for one in options if name[1:] in one["grpcurl"]]):
        return found
    return [one for one in options if name in one["names"] + one["aliases"]][:1]


def rows(tool: str, table: dict, replaced: set[str]) -> list[Row]:
    """The rows of a tool, in the order of its list; `replaced` options have notes that say everything."""
    foreign = [one for one in table["foreign"] if one["tool"] == tool]
    if tool == "curl":
        return [Row(one["names"], sentence(one["hint"])) for one in foreign]
    options = next(one for one in table["commands"] if one["name"] == "call")["options"]
    listed = (TOOLS / f"{tool.replace(' ', '-')}.txt").read_text().splitlines()
    found: list[tuple[object, Row]] = []
    for name in listed:
        if name.startswith("#"):
            continue
        hint = next((one for one in foreign if name in one["names"]), None)
        same = [] if hint or name in replaced else find(name, options, tool)
        meaning = hint or same or name
        row = next((row for one, row in found if one == meaning), None)
        if row is None:
            row = Row([], "")
            found.append((meaning, row))
        row.names.append(name)
        row.is_same = name.lstrip("-") in [own.lstrip("-") for option in same for own in option["names"]] and len(same) == 1
        row.text = sentence(hint["hint"]) if hint else own(same, row.names) if same else ""
    return [row for _, row in found]


def items(tool: str, notes: str, table: dict) -> str:
    """The items of a list, with its notes."""
    given: dict[tuple[str, ...], str] = {}
    for part in re.split(r"^\.It ", notes, flags=re.M)[1:]:
        head, body = part.split("\n", 1)
        given[tuple(f"-{name}" for name in re.findall(r"Fl (\S+)", head))] = body
    instead = {names: body for names, body in given.items() if body.startswith(INSTEAD)}
    replaced = {name for names in instead for name in names}
    result = [row for row in rows(tool, table, replaced) if not replaced & set(row.names)]
    result += [Row(list(names), body.removeprefix(INSTEAD)) for names, body in instead.items()]
    for names, body in given.items():
        if names in instead:
            continue
        row = next((row for row in result if set(names) & set(row.names)), None)
        if row is None:
            raise Incomplete(f"{PROSE.name}: {tool} has no option {' '.join(names)}")
        row.text += body
    for row in result:
        if not row.text:
            raise Incomplete(f"{PROSE.name}: a note must say what {tool}'s {' '.join(row.names)} is")
    # Those without a note are one item.
    noted = {name for names in given for name in names}
    same = [row for row in result if row.is_same and len(row.names) == 1 and not noted & set(row.names)]
    if same:
        result = [row for row in result if row not in same]
        result.append(Row([name for row in same for name in row.names], "The option of this name, with two dashes.\n"))
    return "".join(f".It {flags(row.names)}\n{row.text}" for row in result)


def page(table: dict) -> str:
    text = PROSE.read_text()
    return re.sub(
        r'^\.\\" options ([a-z ]+)\n(.*?)(?=^\.El)', lambda found: items(found[1], found[2], table), text, flags=re.M | re.S
    )
