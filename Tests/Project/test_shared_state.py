"""A type may have several files, but few of its properties are written in more than one of them.

Where many are, the type has no parts that own their state: any file may change what another one relies on.
"""

import re
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "Sources"
# The properties of a type that more than one of its files writes.
MOST = 10

TYPE = re.compile(
    r"^(?P<indent> *)(?:@\S+ )*(?:(?:public|package|private|fileprivate|internal|final|indirect) )*"
    r"(?P<kind>struct|class|enum|actor|extension) (?P<name>[\w.]+)"
)
PROPERTY = re.compile(
    r"^(?P<indent> *)(?P<modifiers>(?:@\S+ |(?:public|package|private|fileprivate|internal|static|weak|lazy|unowned|nonisolated)"
    r"(?:\(\w+\))? )*)var (?P<name>\w+)(?P<rest>.*)$"
)
CHANGES = (
    r"(?:append|insert|remove\w*|pop\w+|update\w*|subtract|form\w+|swapAt|sort|reverse|take|add|set|merge|toggle|drop\w*)\("
)


def types(files):
    """The lines of each type and its extensions, by name and file."""
    bodies = defaultdict(lambda: defaultdict(list))
    for file, text in files.items():
        opened = []
        for line in text.splitlines():
            indent = len(line) - len(line.lstrip())
            if line.strip() == "}":
                while opened and opened[-1][0] >= indent:
                    opened.pop()
            elif (found := TYPE.match(line)) and not line.rstrip().endswith("}"):
                opened.append((indent, found["name"], found["kind"]))
            elif opened and line.strip() and not line.lstrip().startswith("//"):
                bodies[".".join(name for _, name, _ in opened)][file].append((opened[-1][0] + 2, line))
    return bodies


def shared(files):
    """The properties of each type that more than one of its files writes."""
    result = {}
    for name, bodies in types(files).items():
        properties = set()
        for lines in bodies.values():
            for indent, line in lines:
                found = PROPERTY.match(line)
                if not found or len(found["indent"]) != indent or "private" in found["modifiers"] or "static" in found["modifiers"]:
                    continue
                if found["rest"].rstrip().endswith("{") or re.search(r"\{(?! *(?:didSet|willSet))", found["rest"].split("=")[0]):
                    continue
                properties.add(found["name"])
        for property in sorted(properties):
            write = re.compile(
                rf"(?<![\w.])(?:self\.)?{property}(?:[?!]?\.\w+|\[[^\]]*\])*(?: (?:[-+*/|&]|&[-+])?= |[?!]?\.{CHANGES})|&{property}\b"
            )
            writers = [
                file for file, lines in bodies.items()
                if any(write.search(line) for _, line in lines if not re.match(r" *(?:let|var|case|func|if let|guard let) ", line))
            ]  # fmt: skip
            if len(writers) > 1:
                result.setdefault(name, []).append(property)
    return result


def test_few_properties_are_written_in_several_files():
    many = {}
    for folder in sorted(SOURCES.iterdir()):
        files = {str(file.relative_to(SOURCES)): file.read_text() for file in sorted(folder.rglob("*.swift"))}
        many |= {f"{folder.name}: {name}": found for name, found in shared(files).items() if len(found) > MOST}
    assert many == {}, f"more than {MOST} properties are written in several files of their type"


def test_properties_that_several_files_write_are_found():
    one = """\
final class Store {
  var both = 1
  var list: [Int] = []
  var own = 1
  private(set) var guarded = 1
  var computed: Int { both }
  struct Part {
    var both = 1
  }
  func change() {
    both = 2
    self.list[0] = 1
    own += 1
  }
}
"""
    two = """\
extension Store {
  func other() {
    let own = 3
    both += 2
    list.append(own)
    if both == 3, other.own == 2 { guarded = 1 }
  }
}
"""
    assert shared({"one": one, "two": two}) == {"Store": ["both", "list"]}
