"""Files that several processes use are written by three types of Sources/Platform: nothing else renames or locks files."""

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "Sources"
# Calls of the C library, and not methods or cases of an enum.
CALL = re.compile(r"(?<![.\w])(?<!case )(?:RPCurlPlatform\.)?(rename|renameat2?|link(?=\(\w+, )|linkat|flock|lockf|mkstemps?)\((?!\))")
# F_SETLK and the like, and those of descriptors.
LOCK = re.compile(r"\bfcntl\([^,]*,\s*(?:csystem_\w+_lock|F_\w*LKW?)\b")

ALLOWED = {
    "Platform/ReplacementFile.swift": {"link", "linkat", "rename"},
    "Platform/FileLock.swift": {"fcntl"},
    # Files without a name, and those that an editor of the user changes.
    "Platform/TemporaryFile.swift": {"mkstemp"},
    "Engine/Session/ExternalEditor.swift": {"mkstemps"},
    "Engine/Session/Session+Prompt.swift": {"mkstemp"},
}


def test_files_are_replaced_and_locked_in_one_place():
    found = {}
    for path in sorted(SOURCES.rglob("*.swift")):
        code = "\n".join(line.split("//")[0] for line in path.read_text().splitlines())
        if calls := set(CALL.findall(code)) | ({"fcntl"} if LOCK.search(code) else set()):
            found[str(path.relative_to(SOURCES))] = calls
    assert found == ALLOWED
