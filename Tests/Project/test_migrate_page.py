"""rpcurl-migrate(7) names every option of the tools that it is about, and no option that rpcurl does not have.

The rows are generated from the table of options. The lists of the other tools' options are those of the generation, each
with the version that it is of.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "scripts" / "docs" / "tools"
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl").absolute()
PAGE = (ROOT / "man" / "rpcurl-migrate.7").read_text()

# Sections whose items are options of another tool.
TOOLS = {"GRPCURL": "grpcurl.txt", "BUF CURL": "buf-curl.txt", "EVANS": "evans.txt"}


def listed(file):
    return [line for line in (LISTS / file).read_text().splitlines() if not line.startswith("#")]


def section(name):
    return PAGE.split(f".Sh {name}\n")[1].split("\n.Sh ")[0]


def items(text):
    """The options that the items of a list begin with."""
    return [f"-{flag}" for line in re.findall(r"^\.It (Fl .*)$", text, re.M) for flag in re.findall(r"Fl (\S+)", line)]


@pytest.fixture(scope="module")
def own_options():
    dump = subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True).stdout
    call = next(c for c in json.loads(dump)["commands"] if c["name"] == "call")
    return {name for option in call["options"] for name in option["names"]}


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_of_the_tool_has_its_entry(tool):
    assert sorted(items(section(tool))) == sorted(listed(TOOLS[tool]))


@pytest.fixture(scope="module")
def table():
    """The options of all commands, by each of their names, with those of grpcurl."""
    dump = subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True).stdout
    found = {}
    for command in json.loads(dump)["commands"]:
        for option in command["options"]:
            for name in option["names"] + option["aliases"] + [f"-{name}" for name in option["grpcurl"]]:
                found.setdefault(name, option)
    return found


@pytest.mark.parametrize("file", [*TOOLS.values(), "curl.txt"])
def test_every_option_of_the_tool_is_accepted_or_has_a_hint(file, table):
    for option in listed(file):
        if option in table or option == "-vv":
            continue
        done = subprocess.run([RPCURL, option, "x", "localhost:1", "a.B/C"], capture_output=True, text=True, timeout=10)
        assert done.returncode == 2, option
        error, hint = done.stderr.splitlines()
        assert error == f"rpcurl: {option}: unknown option"
        assert hint.startswith("hint: ") and not hint.startswith("hint: see"), option


def test_entries_of_grpcurl_name_the_option_that_the_table_has(table):
    """The program translates an option of grpcurl as the page describes."""
    for option in {id(option): option for option in table.values()}.values():
        for name in option["grpcurl"]:
            pattern = rf"^\.It [^\n]*Fl {re.escape(name)}(?: [^\n]*)?\n(.*?)(?=^\.It |^\.El)"
            entry = re.search(pattern, section("GRPCURL").split(".Ss Options")[1], re.M | re.S)
            if entry[1].startswith("The option of this name"):
                assert f"--{name}" in option["names"]
                continue
            assert any(re.search(rf"\bFl {re.escape(own[1:])}(?![\w-])", entry[1]) for own in option["names"]), name


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
    # Options of test and of load are among them.
    assert named - own_options == {"-vv", "--report", "--rate", "--connections", "--export"}


# Curl's own list is at hand.

# What means the same in both.
SAME = set("""
    -A --user-agent --cacert --capath --connect-timeout -h --help --http1.1 --http2 --http2-prior-knowledge
    --http3 -k --insecure --key -n --netrc --netrc-file --proxy --resolve --tlsv1.2 --tlsv1.3 --unix-socket
    -s --silent -S --show-error -v --verbose --version -V -x -4 --ipv4 -6 --ipv6 -u --user -U --proxy-user
    --connect-to --cert-type --oauth2-bearer --abstract-unix-socket
""".split())


@pytest.fixture(scope="module")
def curl_options():
    text = subprocess.run(["curl", "--help", "all"], capture_output=True, text=True, check=True).stdout
    lines = [re.match(r"\s*(-\S), (--\S+)|\s*(--\S+)", line) for line in text.splitlines()]
    return {option for found in lines if found for option in found.groups() if option}


def test_options_that_curl_has_too_mean_the_same_or_have_an_entry(own_options, curl_options):
    different = set(items(section("CURL").split("These options of curl")[0]))
    assert (own_options & curl_options) - SAME == different
    assert SAME <= curl_options


def test_entries_of_curl_are_options_of_curl(curl_options):
    assert set(items(section("CURL"))) - curl_options == set()
