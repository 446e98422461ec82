"""The command line, as the binary tells it with --experimental-dump-help."""

import json
import subprocess
from dataclasses import dataclass, field

# What the value of an option or an argument goes on to, where its form does not tell: what the binary is asked for
# (ask:KIND), or one of the kinds that `completion` gives.
BY_NAME = {
    "--use": "ask:use",
    "--plugin": "ask:plugin",
    "--profile": "ask:profile",
    "--filter": "ask:filter",
    "--type": "ask:type",
    "--unix-socket": "file",
    "--accept-compression": "list-of:--compression",
}


@dataclass
class Argument:
    """An option, a flag, or a word that is neither."""

    kind: str  # flag, option or positional
    names: list[str]
    value: str
    values: list[str]
    repeats: bool
    section: str
    abstract: str
    discussion: str
    default: str
    # list, comma, file, dir, atfile, header, ask:KIND, or none
    completion: str = "none"

    @property
    def summary(self) -> str:
        """The first sentence, for lists."""
        return self.abstract.split("; may repeat")[0].split(" (default")[0].rstrip(".")


@dataclass
class Command:
    path: list[str]
    abstract: str
    usage: str
    discussion: str
    default: str
    options: list[Argument]
    positionals: list[Argument]
    commands: list["Command"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path[-1]


def argument(of: dict, command: str) -> Argument:
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    names = sorted((dashes[n["kind"]] + n["name"] for n in of.get("names") or []), key=len)
    made = Argument(
        of["kind"], names, of.get("valueName", ""), of.get("allValues") or [], of["isRepeating"],
        of.get("sectionTitle") or "General", of.get("abstract", ""), of.get("discussion", ""),
        of.get("defaultValue") or "",
    )  # fmt: skip
    made.completion = "none" if made.kind == "flag" else completion(made, command)
    return made


def completion(of: Argument, command: str) -> str:
    """What the value goes on to."""
    known = next((BY_NAME[name] for name in of.names if name in BY_NAME), None)
    if known:
        return known
    if of.values:
        return "list"
    if of.value.startswith("name: value"):
        return "header"
    if "|path[,key=value" in of.value:
        return "ask:plugin"
    if "@file" in of.value:
        return "atfile"
    if of.value in ("file", "dir"):
        return of.value
    if of.kind == "positional":
        if of.value in ("target", "method"):
            return f"ask:{of.value}"
        if of.value == "target|symbol":
            return f"ask:{command}"
    return "none"


def command(of: dict, path: list[str]) -> Command:
    arguments = [argument(a, of["commandName"]) for a in of.get("arguments", []) if a["shouldDisplay"]]
    values = {name: a.values for a in arguments for name in a.names}
    for one in arguments:
        if one.completion.startswith("list-of:"):
            one.values = values.get(one.completion.removeprefix("list-of:"), [])
            one.completion = "comma"
    return Command(
        path, of.get("abstract", ""), of.get("usage", ""), of.get("discussion", ""),
        of.get("defaultSubcommand") or "",
        [a for a in arguments if a.kind != "positional"], [a for a in arguments if a.kind == "positional"],
        [command(s, [*path, s["commandName"]]) for s in of.get("subcommands", []) if s["shouldDisplay"]],
    )  # fmt: skip


def output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def read(binary: str) -> Command:
    """The root of all commands."""
    root = json.loads(output(binary, "--experimental-dump-help"))["command"]
    return command(root, [])


def leaves(root: Command) -> list[Command]:
    """The commands that take arguments: of a command with commands, these."""
    found = []
    for one in root.commands:
        if one.name != "help":
            found += leaves(one) if one.commands else [one]
    return found
