"""Files, functions and types stay small: 400 lines a file, 50 a function, four stored Bools a type.

Several Bools in one type are usually the states of a machine, whose impossible combinations an enum excludes, or
independent properties, which an option set holds.
"""

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "Sources"
MAX_LINES = 400
MAX_FUNCTION_LINES = 50
MAX_BOOLS = 4

# Generated: as long as the table that it contains.
TABLES = {"Protobuf/Numbers/PowersOfTenData.swift"}

TYPE = re.compile(
    r"^(?P<indent> *)(?:(?:public|package|private|fileprivate|internal|final|indirect) )*"
    r"(?:struct|class|enum|actor|extension) (?P<name>[\w.]+)"
)
BOOL = re.compile(
    r"^(?P<indent> *)(?:(?:public|package|private|fileprivate|internal|nonisolated|static|lazy)(?:\(\w+\))? )*"
    r"(?:let|var) (?P<names>\w+)(?:: Bool(?P<type>\b(?!\?))(?P<rest>.*)| = (?:true|false)\b(?P<body>.*))$"
)


FUNCTION = re.compile(
    r"^(?P<indent> *)(?:@\S+ )*(?:(?:public|package|private|fileprivate|internal|final|static|mutating|override|consuming|"
    r"convenience|required|nonisolated)(?:\(\w+\))? )*(?:func (?P<name>[^(<]+)|init[?(<])"
)


def files():
    for file in sorted(SOURCES.rglob("*.swift")):
        name = str(file.relative_to(SOURCES))
        if name not in TABLES:
            yield name, file.read_text().splitlines()


def bools(lines):
    """The number of stored Bools of each type that has some."""
    counts: dict[str, int] = {}
    # The types that are open, each with its indentation: swift-format keeps members two columns further in.
    opened: list[tuple[int, str]] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if line.strip() == "}":
            while opened and opened[-1][0] >= indent:
                opened.pop()
        elif found := TYPE.match(line):
            if not line.rstrip().endswith("}"):
                opened.append((indent, found["name"]))
        elif (found := BOOL.match(line)) and opened and indent == opened[-1][0] + 2:
            # A computed property has a body, a stored one at most observers of its changes.
            rest = (found["rest"] or "").strip()
            if " static " in f" {line} " or (rest.startswith("{") and "didSet" not in rest):
                continue
            name = ".".join(name for _, name in opened)
            counts[name] = counts.get(name, 0) + 1
    return counts


def test_files_are_short():
    long = {name: len(lines) for name, lines in files() if len(lines) > MAX_LINES}
    assert long == {}, f"longer than {MAX_LINES} lines"


def functions(lines):
    """The name and the number of lines of each function with a body of several lines."""
    for start, line in enumerate(lines):
        if not (found := FUNCTION.match(line)):
            continue
        indent = found["indent"]
        opening = start
        # A long signature continues until its parenthesis, or the brace on a line of its own.
        while lines[opening].endswith("("):
            opening = next((i for i in range(opening + 1, len(lines)) if lines[i].startswith(f"{indent})")), start)
            if opening == start:  # Code within a string.
                break
        if opening + 1 < len(lines) and lines[opening + 1] == f"{indent}{{":
            opening += 1
        # A requirement of a protocol has no body.
        if lines[opening].endswith("{") and f"{indent}}}" in lines[opening:]:
            end = lines.index(f"{indent}}}", opening)
            yield (found["name"] or "init").strip(), end - start + 1


def test_functions_are_short():
    long = {
        f"{name}:{function}": count
        for name, lines in files()
        for function, count in functions(lines)
        if count > MAX_FUNCTION_LINES
    }
    assert long == {}, f"longer than {MAX_FUNCTION_LINES} lines"


def test_types_have_few_stored_bools():
    many = {
        f"{name}:{owner}": count
        for name, lines in files()
        for owner, count in bools(lines).items()
        if count > MAX_BOOLS
    }
    assert many == {}, f"more than {MAX_BOOLS} stored Bools"


def test_stored_bools_are_counted():
    lines = """\
public struct Outer {
  private var one = false
  public private(set) var two: Bool
  var three: Bool { didSet { four() } }
  static let shared = true
  var computed: Bool { one }
  var optional: Bool?
  var long: Bool {
    one && two
  }
  enum Inner {
    case a
    struct Deep {
      let five: Bool = true
    }
  }
  func method() {
    var local = false
  }
}
""".splitlines()
    assert bools(lines) == {"Outer": 3, "Outer.Inner.Deep": 1}


def test_lines_of_functions_are_counted():
    lines = """\
protocol Requirements {
  func requirement()
}
struct Functions {
  func short() { 1 }
  private static func first<T>(_ value: T) -> String {
    if value {
    }
  }
  init(
    _ name: String
  ) throws(Failure) -> (
    A, B
  ) {
  }
  func last() -> String
  {
  }
}
""".splitlines()
    assert list(functions(lines)) == [("first", 4), ("init", 6), ("last", 3)]
