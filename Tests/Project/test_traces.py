"""The ways of a request and of a response message, as Sources/Call/README.md lists them: short, and of functions
that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The longest ways that are accepted, by the start of the heading.
LIMITS = {"A request": 15, "A response message": 8, "A retry": 9}


@cache
def ways():
    """The functions of each way, by the start of its heading."""
    found = {}
    for section in re.split(r"^## ", (ROOT / "Sources/Call/README.md").read_text(), flags=re.M)[1:]:
        rows = re.findall(r"^\| (\d+) \| `([^`]+)` \| (.+) \|$", section, re.M)
        assert [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1))
        found[section.split(":")[0]] = [function for _, function, _ in rows]
    return found


@cache
def code():
    return {path: path.read_text() for path in (ROOT / "Sources").rglob("*.swift")}


def declares(function):
    """Whether a file of the type declares the function, with the labels that are given."""
    type_name, _, rest = function.partition(".")
    name, _, labels = rest.partition("(")
    keyword = "init" if name == "init" else rf"func {name}"
    label = labels.split(":")[0]
    boundary = r"\b" if label else ""
    pattern = rf"\b{keyword}(?:<[^>]*>)?\(\s*{label}{boundary}"
    files = [text for path, text in code().items() if path.stem.split("+")[0] == type_name]
    return any(re.search(pattern, text) for text in files)


def test_every_way_has_a_limit():
    assert set(ways()) == set(LIMITS)


@pytest.mark.parametrize("way", LIMITS)
def test_way_is_short(way):
    assert 0 < len(ways()[way]) <= LIMITS[way]


@pytest.mark.parametrize("way", LIMITS)
def test_functions_of_way_exist(way):
    missing = [function for function in ways()[way] if not declares(function)]
    assert missing == []


def test_missing_function_is_found():
    assert not declares("Chain.receive(nothing:)")
    assert not declares("Chains.receive")
