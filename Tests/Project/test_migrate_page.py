"""rpcurl-migrate(7) names every option of the tools that it is about, and no option that rpcurl does not have.

The lists of the other tools' options are in fixtures, each with the version that it is of.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).resolve().parent / "fixtures"
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl")
PAGE = (ROOT / "man" / "rpcurl-migrate.7").read_text()

# Sections whose items are options of another tool.
TOOLS = {"GRPCURL": "grpcurl-options.txt", "BUF CURL": "buf-curl-options.txt", "EVANS": "evans-options.txt"}


def section(name):
    return PAGE.split(f".Sh {name}\n")[1].split("\n.Sh ")[0]


def items(text):
    """The options that the items of a list begin with."""
    return [f"-{flag}" for line in re.findall(r"^\.It (Fl .*)$", text, re.M) for flag in re.findall(r"Fl (\S+)", line)]


@pytest.fixture(scope="module")
def own_options():
    dump = subprocess.run([RPCURL, "--experimental-dump-help"], capture_output=True, check=True).stdout
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    call = next(c for c in json.loads(dump)["command"]["subcommands"] if c["commandName"] == "call")
    return {dashes[n["kind"]] + n["name"] for a in call["arguments"] for n in a.get("names") or []}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_of_the_tool_has_its_entry(tool):
    listed = [line for line in (FIXTURES / TOOLS[tool]).read_text().splitlines() if not line.startswith("#")]
    found = items(section(tool))
    assert sorted(found) == sorted(listed)


def test_every_entry_says_something():
    for name in [*TOOLS, "CURL"]:
        for entry in re.split(r"^\.It ", section(name), flags=re.M)[1:]:
            assert len(entry.splitlines()) > 1, entry


def test_every_option_of_rpcurl_that_is_named_exists(own_options):
    prose = PAGE.split(".Sh EXAMPLES")[0]
    named = {
        f"-{flag}"
        for line in prose.splitlines()
        if not line.startswith(".It")
        for flag in re.findall(r"\bFl (\S+)", line)
    }
    assert len(named) > 40
    assert named - own_options == set()
