"""Serialized protobuf is read in few places.

protobuf-c unpacks the messages of schemas that are known at build time, behind a reader that has what it lacks: a limit of depth,
and groups. Our codec reads messages of schemas known at run time, and the scanner indexes descriptors. Of other
targets, only the search for descriptors in programs reads tags, to find where one ends among other bytes; what has no schema is
read as records (Sources/Protobuf/Binary/WireRecord.swift). CONTRIBUTING.md has the rule.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNPACKING = Path("Sources/Protobuf/Schema/KnownMessage.swift")
SEARCH = Path("Sources/Engine/Calls/Schema/Sets/EmbeddedDescriptors.swift")
SCANNER = {UNPACKING, Path("Sources/Protobuf/Schema/DescriptorSetScanner.swift")}


def sources(pattern):
    found = re.compile(pattern)
    for folder in ("Sources", "Plugins"):
        for file in sorted((ROOT / folder).rglob("*.swift")):
            for line in file.read_text().splitlines():
                if not line.lstrip().startswith("//") and found.search(line):
                    yield file.relative_to(ROOT), line.strip()


def test_only_the_codec_and_the_scanner_read_tags():
    readers = {file for file, _ in sources(r"\bWireReader\b|\.tag\(\)")}
    assert [file for file in readers if file.parts[:2] != ("Sources", "Protobuf")] == [SEARCH]
    assert {file for file in readers if file.parts[2] == "Schema" and any(".tag()" in line for at, line in sources(r"\.tag\(\)") if at == file)} == SCANNER


def test_bytes_from_outside_are_unpacked_in_one_place():
    assert [line for _, line in sources(r"\w__unpack\b|protobuf_c_message_unpack") if "KnownMessage.unpack(" not in line] == []
    assert {file for file, _ in sources(r"func unpack\b|\bunpack\(nil\b")} == {UNPACKING}
