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

# What a public function documents: its parameters, unless they are properties of the type that an initializer sets; what it throws;
# and on which threads it may be called, itself or its type, unless the type is a value. The functions of a protocol document those
# that conform to it.
NAMED = re.compile(rf"^(\s*){ATTRIBUTES}(public\s+|open\s+)?{MODIFIERS}(?:consuming\s+|borrowing\s+)?(func\s+[^\s(<]+|init[?]?|subscript)\s*(?:<.*?>)?\(")
TYPE = re.compile(rf"^(\s*){ATTRIBUTES}(public\s+)?(?:final\s+|indirect\s+)*(enum|protocol|struct|class|actor|extension)\s+([\w.]+)(?:<[^>]*>)?([^{{]*)\{{")
PROPERTY = re.compile(r"^\s*public\s+(?:(?:package|internal|private)\(set\)\s+)?(?:var|let)\s+(\w+)")
# Functions of protocols of the standard library, whose meaning is documented there.
STANDARD = {"+", "-", "<", "==", "hash", "makeAsyncIterator", "next"}
STANDARD_PARAMETERS = {"rawValue", "dictionaryLiteral", "arrayLiteral", "dynamicMember"}


def signature(lines, index):
    """The declaration of a function, up to its body, as one line."""
    text = lines[index].strip()
    while text.count("(") > text.count(")") or re.match(r"^\s*(?:async|throws|->|where|\))", (lines + [""])[index + 1]):
        index += 1
        text += " " + lines[index].strip()
    return text


def parameters(text):
    """The labels and the names of the parameters in a declaration, and what follows them."""
    start = text.index("(")
    depth, part, parts = 0, "", []
    for end in range(start, len(text)):
        depth += (text[end] in "([{<") - (text[end] in ")]}" or text[end] == ">" and text[end - 1] != "-")
        if depth == 0:
            break
        if text[end] == "," and depth == 1:
            parts, part = [*parts, part], ""
        elif end > start:
            part += text[end]
    words = [[word for word in part.split(":")[0].split() if not word.startswith("@")] for part in [*parts, part] if part.strip()]
    return [(found[0], found[-1]) for found in words], text[end + 1 :].split("{")[0].split("->")[0]


def doc_comment(lines, index):
    while index > 0 and re.match(r"^\s*(@|\)|#if)", lines[index - 1]):
        index -= 1
    start = index
    while start > 0 and lines[start - 1].strip().startswith("///"):
        start -= 1
    return "\n".join(line.strip()[3:].strip() for line in lines[start:index])


def functions(files):
    """Each public function: its file and line, and what its comment lacks."""
    texts = {name: text.splitlines() for name, text in files.items()}
    types, properties, requirements = {}, {}, {}
    for lines in texts.values():
        owner = None
        for index, line in enumerate(lines):
            if match := TYPE.match(line):
                owner = match[4].split(".")[-1]
                if match[3] != "extension":
                    types[owner] = (match[3], doc_comment(lines, index))
            elif match := PROPERTY.match(line):
                properties.setdefault(owner, set()).add(match[1])
            elif types.get(owner, [""])[0] == "protocol" and (match := NAMED.match(line)):
                requirements.setdefault(owner, set()).add(match[3].split()[-1].rstrip("?"))
    for name, lines in texts.items():
        inside = []
        for index, line in enumerate(lines):
            indentation = len(line) - len(line.lstrip())
            while inside and line.strip() and indentation <= inside[-1][0] and not line.lstrip().startswith(")"):
                inside.pop()
            kind, owner, conformances, is_public = inside[-1][1:] if inside else ("", "", "", False)
            if (match := NAMED.match(line)) and (match[2] or kind == "protocol" and is_public):
                function = match[3].split()[-1].rstrip("?")
                protocols = [p for p in re.findall(r"\w+", conformances) + [owner] if kind != "protocol" and function in requirements.get(p, ())]
                given, effects = parameters(signature(lines, index)[line.index(match[3].split()[0]) - indentation :])
                if not protocols and function not in STANDARD and not {label for label, _ in given} & STANDARD_PARAMETERS:
                    text = doc_comment(lines, index)
                    documented = set(re.findall(r"^- (?:Parameter )?(\w+):", text, re.M))
                    # docc reports a comment with some of the parameters.
                    documented |= properties.get(owner, set()) if function == "init" and not documented else set()
                    lacks = [parameter for _, parameter in given if parameter not in documented | {"_"}]
                    lacks += ["Throws"] if re.search(r"\bthrows\b", effects) and "- Throws:" not in text else []
                    form, comment = types.get(owner, ("struct", "")) if owner else ("", "")
                    lacks += ["thread"] if form not in ("struct", "enum") and "thread]`" not in text + comment else []
                    yield f"{name}:{index + 1}: {line.strip()}", lacks
            if match := TYPE.match(line):
                inside.append((indentation, match[3], match[4].split(".")[-1], match[5], bool(match[2])))


def test_public_functions_document_parameters_errors_and_threads(modules):
    files = {str(f.relative_to(ROOT)): f.read_text() for m in sorted(modules) for f in sorted((ROOT / "Sources" / m).rglob("*.swift")) if ".docc/" not in str(f)}
    found = list(functions(files))
    assert len(found) > 200
    assert [(place, lacks) for place, lacks in found if lacks] == []


def test_the_scan_of_functions_finds_what_is_missing():
    text = """\
/// A protocol. `[any thread]`
public protocol P {
  /// Documented.
  ///
  /// - Parameter a: A value.
  func b(_ a: Int)
  /// A function.
  func c(d e: @escaping (Int) -> Void, f: [String: Int] = [:]) throws
}
/// A class.
public final class C: P {
  /// A property.
  public var g = 1
  /// Makes one.
  public init(g: Int) { self.g = g }
  /// As in the protocol.
  public func b(_ a: Int) {}
}
/// A value.
public struct S {
  /// A function.
  public func h<T>(
    _ i: T
  ) throws(E)
    -> Int
  {
  }
}
"""
    lacks = {place.split(": ")[1]: lacks for place, lacks in functions({"a": text})}
    assert lacks == {
        "func b(_ a": [],
        "func c(d e": ["e", "f", "Throws"],
        "public init(g": ["thread"],
        "public func h<T>(": ["i", "Throws"],
    }
