"""The documents, the manual, the help and the sources use standard terms.

The words below have a standard term in every sentence of a technical document: "reported" instead of "told",
"response" instead of "answer".
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl").absolute()

# Each with the standard term.
WORDS = {
    r"told|tells?|telling": "reported, shown, printed",
    r"hears?|heard": "receives, observes",
    r"who|whom|whoever": "the server, the caller, the user",
    r"nobody|somebody|everybody": "the server, the caller, the user",
    r"answers?|answering": "response, respond",
    r"speaks?|spoken": "uses, supports",
    r"knows?": "contains, supports",
    r"anew": "again",
    r"(?<!there )(?:is|are) none": "is invalid, is nil",
    r"(?:left|leaves?|leaving) out": "omitted",
    r"(?:pass|passes|passed) over": "ignored",
    r"looked at": "checked",
    r"lets? go|let go of": "released",
    r"(?:go|goes|went) nowhere": "dropped",
    r"to be had": "available",
    r"stands? (?:before|behind|against)|stood": "precedes, follows",
    r"(?:came|comes?|becomes?|became) of": "result",
    r"will do where|what is typed wins": "is accepted, the command line takes precedence",
}
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in WORDS), re.I)

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(path for folder in ("Sources", "Plugins") for path in (ROOT / folder).glob("*/README.md")),
    *sorted((ROOT / "scripts" / "docs" / "prose").iterdir()),
    *sorted((ROOT / "man").iterdir()),
]
# Folders of Sources whose doc comments and strings are checked.
SOURCES = sorted(path.name for path in (ROOT / "Sources").iterdir() if any(path.rglob("*.swift")))

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def findings(text: str, name: str) -> list[str]:
    """The lines with one of the words."""
    lines = enumerate(text.splitlines(), 1)
    found = ((number, line.strip(), PATTERN.search(line)) for number, line in lines)
    return [f"{name}:{number}: {match[0]!r}: {line}" for number, line, match in found if match]


def prose(source: str) -> str:
    """The doc comments and the strings of a source, line by line."""
    shown, is_inside = [], False
    for line in map(str.strip, source.splitlines()):
        is_text = is_inside or line.startswith("///")
        shown.append(line if is_text else " ".join(STRING.findall(line)))
        is_inside ^= line.count('"""') % 2 == 1
    return "\n".join(shown)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_standard_terms(document: Path) -> None:
    assert findings(document.read_text(), document.name) == []


def test_help_uses_standard_terms() -> None:
    dump = subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True).stdout
    commands = [[], *(command["name"].split() for command in json.loads(dump)["commands"])]
    found = []
    for command in commands:
        for option in ("-h", "--help"):
            shown = subprocess.run([RPCURL, *command, option], capture_output=True, check=True, text=True).stdout
            found += findings(shown, " ".join([*command, option]))
    assert len(commands) > 10 and found == []


@pytest.mark.parametrize("folder", SOURCES)
def test_sources_use_standard_terms(folder: str) -> None:
    files = sorted((ROOT / "Sources" / folder).rglob("*.swift"))
    assert files
    assert [line for file in files for line in findings(prose(file.read_text()), file.name)] == []


def test_scan_finds_words_in_doc_comments_and_strings() -> None:
    source = """\
/// Told once.
// Who cares.
let whoever = "nobody answers" + "fine"
/// Reported, if there is none.
let text = \"""
  It goes nowhere.
  \"""
let anew = 1
"""
    assert findings(prose(source), "a") == [
        "a:1: 'Told': /// Told once.",
        "a:3: 'nobody': \"nobody answers\" \"fine\"",
        "a:6: 'goes nowhere': It goes nowhere.",
    ]
