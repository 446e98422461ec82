"""Each error and warning of the compiler of .proto files is shown by a test, with its text."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "Tests" / "ProtoCompilerTests"
# What ends the program.
OTHERS = {"out of memory"}


def literals(text: str) -> list[list[str]]:
    """The string literals of Swift on one line, as the parts between their interpolations."""
    found: list[list[str]] = []
    at = 0
    while start := re.compile(r'//.*|"""[^"]*"""|"').search(text, at):
        at = start.end()
        if start[0] == '"':
            at, parts = literal(text, at)
            found.append(parts)
    return found


def literal(text: str, at: int) -> tuple[int, list[str]]:
    """The end of a literal that begins before this place, and its parts."""
    parts = [""]
    while text[at] != '"':
        if text.startswith("\\(", at):
            at = interpolation(text, at + 2)
            parts.append("")
        elif text[at] == "\\":
            parts[-1] += {"n": "\n", "t": "\t"}.get(text[at + 1], text[at + 1])
            at += 2
        else:
            parts[-1] += text[at]
            at += 1
    return at + 1, parts


def interpolation(text: str, at: int) -> int:
    """The end of an interpolation that begins before this place."""
    depth = 1
    while depth:
        if text[at] == '"':
            at, _ = literal(text, at + 1)
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def test_literals_are_read():
    text = 'error("a \\(b("c \\(d)")) e", "f\\"g") // "h"'
    assert literals(text) == [["a ", " e"], ['f"g']]


def test_each_text_is_in_a_test():
    shown = "\n".join(path.read_text().replace('\\"', '"') for path in sorted(TESTS.iterdir()))
    # A text has words: other literals are names and parts.
    texts = [parts for path in sorted((ROOT / "Sources" / "ProtoCompiler").glob("*.swift")) for parts in literals(path.read_text())]
    texts = [parts for parts in texts if any(" " in part.strip() for part in parts)]
    assert len(texts) > 250
    missing = ["…".join(parts) for parts in texts if not re.search(".{0,200}?".join(map(re.escape, parts)), shown)]
    assert set(missing) - OTHERS == set()
