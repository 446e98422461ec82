"""The command line, as the program describes it by --dump-options."""

import json
import subprocess
from dataclasses import dataclass, field


@dataclass
class Argument:
    """An option, a flag, or a positional argument."""

    kind: str  # flag, option or positional
    names: list[str]
    # Other names, which are accepted but not completed.
    aliases: list[str]
    value: str
    values: list[str]
    repeats: bool
    section: str
    abstract: str
    discussion: str
    example: str
    default: str
    # list, comma, file, dir, ask:KIND, at:KIND (or @FILE), or none
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


def option(of: dict) -> Argument:
    return Argument(
        "option" if of["has_value"] else "flag", of["names"], of["aliases"], of["value"], of["values"], of["repeats"],
        of["group"], of["summary"], of["discussion"], of["example"], of["default"], of["completion"],
    )  # fmt: skip


def place(of: dict) -> Argument:
    return Argument(
        "positional", [], [], of["name"], [], of["repeats"], "Arguments", of["summary"], "", "", "", of["completion"]
    )


def command(of: dict) -> Command:
    options, places = list(map(option, of["options"])), list(map(place, of["places"]))
    return Command(of["name"].split(), of["summary"], of["usage"], of["discussion"], "", options, places)


def output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def read(binary: str) -> dict:
    """The table of commands and options."""
    return json.loads(output(binary, "--dump-options"))


def tree(table: dict) -> Command:
    """The root of all commands."""
    found = {" ".join(one.path): one for one in map(command, table["commands"])}
    commands = []
    for name in table["names"]:
        nested = [one for one in found.values() if one.path[0] == name and len(one.path) > 1]
        if nested:
            commands.append(Command([name], table["plugins"], "", "", nested[0].name, [], [], nested))
        else:
            commands.append(found.get(name) or Command([name], "Show the help of a command.", "", "", "", [], []))
    return Command([], table["summary"], table["usage"], "", "call", [], [], commands)


def leaves(root: Command) -> list[Command]:
    """The commands that have arguments: subcommands instead of their command."""
    found = []
    for one in root.commands:
        if one.name != "help":
            found += leaves(one) if one.commands else [one]
    return found
