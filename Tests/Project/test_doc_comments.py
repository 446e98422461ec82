"""Every public declaration of the library products has a doc comment.

swift-format's rule, which `make lint` applies, passes over members of protocols and cases of enums; this is a scan of
the text, by indentation, which finds those too.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATTRIBUTES = r"(?:@\w+(?:\([^)]*\))?\s+)*"
MODIFIERS = r"(?:(?:static|final|mutating|nonisolated|indirect|convenience|override|class)(?:\(\w+\))?\s+)*"
DECLARATION = r"(?:actor|associatedtype|case|class|deinit|enum|func|init|let|macro|protocol|struct|subscript|typealias|var)\b"
PUBLIC = re.compile(rf"^\s*{ATTRIBUTES}(?:public|open)(?:\s+|\(set\)\s+){MODIFIERS}(?:private\(set\)\s+|package\(set\)\s+)?{MODIFIERS}{DECLARATION}")
OPENING = re.compile(rf"^( *){ATTRIBUTES}public\s+(?:indirect\s+)?(enum|protocol)\s+\w+.*\{{$")
MEMBER = {
    "enum": re.compile(rf"^ *{ATTRIBUTES}(?:indirect\s+)?case\s"),
    "protocol": re.compile(rf"^ *{ATTRIBUTES}{MODIFIERS}{DECLARATION}"),
}


def undocumented(text):
    """The lines (number, text) of public declarations that no doc comment precedes."""
    lines = text.splitlines()
    inside = []  # the kinds and indentations of public enums and protocols that are open
    for index, line in enumerate(lines):
        while inside and line == " " * inside[-1][1] + "}":
            inside.pop()
        is_member = bool(inside) and len(line) - len(line.lstrip()) == inside[-1][1] + 2 and MEMBER[inside[-1][0]].match(line)
        if (is_member or PUBLIC.match(line)) and not is_documented(lines, index):
            yield index + 1, line.strip()
        if opening := OPENING.match(line):
            inside.append((opening[2], len(opening[1])))


def is_documented(lines, index):
    index -= 1
    while index >= 0 and re.match(r"^\s*(@|\)|#if)", lines[index]):
        index -= 1
    return index >= 0 and lines[index].strip().startswith("///")


@pytest.fixture(scope="module")
def modules():
    dump = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True).stdout
    return {t.removeprefix("RPCurl") for p in json.loads(dump)["products"] if "library" in p["type"] for t in p["targets"]}


def test_public_declarations_have_doc_comments(modules):
    assert {"Client", "ClientInterceptors", "Chain", "Protobuf", "Protocols"} <= modules
    found = []
    for module in sorted(modules):
        for file in sorted((ROOT / "Sources" / module).rglob("*.swift")):
            name = file.relative_to(ROOT)
            found += [f"{name}:{number}: {line}" for number, line in undocumented(file.read_text())]
    assert found == []


def test_the_scan_finds_what_is_missing():
    text = """\
/// A protocol.
public protocol P {
  /// Documented.
  var a: Int { get }
  func b()
}
public struct S {
  public var c = 1
  var d = 2
}
/// An enum.
public enum E {
  case f
  /// Documented.
  @inlinable
  public static func g() {}
}
"""
    assert [line for _, line in undocumented(text)] == ["func b()", "public struct S {", "public var c = 1", "case f"]
