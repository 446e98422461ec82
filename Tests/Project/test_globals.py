"""Global state is what a process has only one of: its signal handlers, and the libraries that it has loaded.

Everything else is a value that its users receive, so that a program or a test can have several.
"""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "Sources"

SIGNALS = "A signal has one handler in a process, and the handler has no parameter for other data."
LOADED = "The dynamic loader loads a file once for the process."
NUMBERS = "A counter: its numbers are different in the whole process."

GLOBALS = {
    "Platform/Interrupt.swift": (SIGNALS, {"installed", "signalNumber", "deferral", "beforeEnd"}),
    "Platform/OwnedGroups.swift": ("What is called at the end of the process has no parameter.", {"leaders"}),
    "Program/Terminal/WindowSignals.swift": (SIGNALS, {"writeEnd", "readEnd"}),
    "Program/Terminal/TerminalModes.swift": (
        "A process has one controlling terminal, whose modes its signal handlers restore.",
        {"found", "isKeyByKey", "isPrepared", "before", "hasEnded"},
    ),
    "PluginHost/Loading/LoadedObjects.swift": (LOADED, {"copies", "lock"}),
    "PluginHost/Bridge/PluginInstance.swift": (LOADED, {"files"}),
    "PluginHost/Bridge/PluginGuard.swift": ("The crash handler of the process reads it at any time.", {"known"}),
    "PluginHost/Bridge/HandleTable.swift": (NUMBERS, {"nextTable"}),
    "Chain/Configuration/InterceptorRegistration.swift": (NUMBERS, {"last"}),
    "Platform/AppendedFile.swift": ("A file has one identity in a process, whichever client opened it.", {"replaced"}),
}

# Objects that do not change, as far as their users can tell: the schemas that the program contains.
CONSTANTS = {
    "Protocols/StatusDetail+JSON.swift": {"wellKnown"},
    "Protobuf/WellKnown/WellKnownMessages.swift": {"pool"},
    "Client/MethodResolver.swift": {"builtIn"},
}

# C targets with variables of the process.
C_TARGETS = {
    "CSystem": "A process has one list of arguments.",
    "CCurl": LOADED,
    "CCompression": LOADED,
    "CPlugins": "The crash handlers of the process read them.",
}

MODIFIERS = r"(?:(?:public|package|private|fileprivate|internal|nonisolated)(?:\(\w+\))? )*"
STATIC = re.compile(rf"^ +{MODIFIERS}static {MODIFIERS}(?P<kind>let|var) (?P<name>\w+)(?P<rest>.*)$")
OF_FILE = re.compile(rf"^{MODIFIERS}(?P<kind>let|var) (?P<name>\w+)(?P<rest>.*)$")
CLASS = re.compile(rf"^ *{MODIFIERS}(?:final )?{MODIFIERS}class (?P<name>\w+)", re.M)
C_VARIABLE = re.compile(r"^(?:static |_Thread_local )+(?!const |inline )[^()=]*(?:;|=)", re.M)
# Constants that contain state.
CELLS = {"Atomic", "Lock", "Locked", "UnsafeMutablePointer"}


def variables(text: str, cells: set[str]):
    """The names of global variables, and of global constants that contain state or are objects."""
    for line in text.splitlines():
        if not (found := STATIC.match(line) or OF_FILE.match(line)):
            continue
        rest = found["rest"].strip()
        if found["kind"] == "var":
            # A computed property has a body, a stored one a value or observers of its changes.
            if "=" in rest.split("{")[0] or "{" not in rest or "didSet" in rest:
                yield found["name"]
        elif re.match(rf"(?:: (?:{'|'.join(cells)})\b|= (?:{'|'.join(cells)})(?:<.*>)?\(|= InlineArray<\d+, (?:{'|'.join(cells)})\b)", rest):
            yield found["name"]


@pytest.fixture(scope="module")
def cells():
    classes = {found["name"] for file in SOURCES.rglob("*.swift") for found in CLASS.finditer(file.read_text())}
    assert "StandardOutput" in classes
    return CELLS | classes


def test_global_variables_are_those_of_the_process(cells):
    found = {}
    for file in sorted(SOURCES.rglob("*.swift")):
        if names := set(variables(file.read_text(), cells)):
            found[str(file.relative_to(SOURCES))] = names
    allowed = {name: names for name, (_, names) in GLOBALS.items()} | CONSTANTS
    assert found == allowed, "pass a value instead; or state in the comment and here why the process has only one"


@pytest.mark.parametrize("name", GLOBALS)
def test_comments_state_why_a_variable_is_global(name):
    comments = re.sub(r"\s*\n\s*/// ", " ", (SOURCES / name).read_text())
    assert re.search(r"Global, because [^.]*\bprocess\b", comments)


def test_c_variables_are_those_of_the_process():
    found = {file.parts[len(SOURCES.parts)] for file in SOURCES.rglob("*.c") if C_VARIABLE.search(file.read_text())}
    # Generated: constant descriptors of protobuf-c.
    assert found - {"CSchemas"} == set(C_TARGETS)


def test_no_variable_is_a_structure_of_c():
    """Swift 6.3 gives those that have padding within less room than C writes: 57 bytes for the 60 of termios."""
    structure = re.compile(rf"^(?: +{MODIFIERS}static |){MODIFIERS}(?:let|var) (\w+)(?::[^=\n]*)? = [a-z]\w*\(\)", re.M)
    assert structure.findall("  nonisolated(unsafe) private static var found = termios()\n") == ["found"]
    assert structure.findall("  var status = stat()\n") == []
    assert not [name for file in SOURCES.rglob("*.swift") for name in structure.findall(file.read_text())]


def test_variables_are_recognized():
    text = """\
var file = 1
let constant = 1
private let counter = Atomic(0)
package enum Kind {
  nonisolated(unsafe) private static var one: Int32 = -1
  package nonisolated(unsafe) static var two: (() -> Void)?
  package private(set) static var three = [1] { didSet { changed() } }
  static let shared = Session()
  private static let cache = Locked<[String: Int]>([:])
  static var computed: Int { 1 }
  static var long: Int {
    1
  }
  static let limit = 5
  var own = 3
}
"""
    assert list(variables(text, CELLS | {"Session"})) == ["file", "counter", "one", "two", "three", "shared", "cache"]
