"""The list of readers of external input names each fuzz target, which compiles the readers, and each target has a corpus."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "Tests" / "Fuzz"


def listed():
    """(reader, target or reason) of each row."""
    return re.findall(r"^\| .+ \| (.+) \| (.+) \|$", (FUZZ / "README.md").read_text(), re.M)[1:]


def compiled(script=ROOT / "scripts" / "fuzz"):
    """The paths of the sources in each target."""
    lines = subprocess.run([script, "--sources"], check=True, capture_output=True, text=True).stdout.splitlines()
    sources = {}
    for target, path in (line.split(" ", 1) for line in lines):
        sources.setdefault(target, set()).add(path)
    return sources


def missing(rows, sources):
    """(path, target) of each source that a row names and that is not in the target of the row."""
    found = []
    for readers, target in rows:
        if target.startswith("no target: "):
            continue
        for name in re.findall(r"`(Sources/[^`]+)`", readers):
            path = ROOT / name
            files = path.rglob("*.swift") if path.is_dir() else [path]
            names = [str(file.relative_to(ROOT)) for file in files]
            found += [(file, target) for file in names or [name] if file not in sources[target.strip("`")]]
    return found


def test_each_target_is_listed_and_has_sources_and_inputs():
    names = {target.strip("`") for _, target in listed() if not target.startswith("no target: ")}
    script = (ROOT / "scripts" / "fuzz").read_text()
    built = re.findall(r"^    ([a-z]+)\) compile_", script, re.M)
    default = re.search(r"set -- ((?:[a-z]+ |\\\n +)+[a-z]+)", script).group(1).replace("\\\n", "").split()
    assert sorted(names) == sorted(built) == sorted(default)
    assert sorted(path.name for path in (FUZZ / "Corpus").iterdir()) == sorted(names)
    assert all(any((FUZZ / "Corpus" / name).iterdir()) for name in names)
    assert {path.stem.lower() for path in FUZZ.glob("Fuzz*.swift")} == {f"fuzz{name}" for name in names}


def test_each_reader_exists():
    for readers, _ in listed():
        paths = [ROOT / path for path in re.findall(r"`(Sources/[^`]+)`", readers)]
        assert all(path.exists() for path in paths), readers


def test_each_reader_is_compiled_into_its_target():
    sources = compiled()
    assert missing(listed(), sources) == []
    # A part of a folder is not all of it, and a file of a module is in each target that imports the module.
    part = ("`Sources/Calls/Plan`", "`configuration`")
    assert ("Sources/Calls/Plan/CallPlan.swift", "`configuration`") in missing([part], sources)
    assert missing([("`Sources/SchemaTools`", "`declaration`")], sources) == []
    assert missing([("`Sources/SchemaTools/Printing`", "`header`")], sources) != []


def test_targets_without_a_fuzzer_have_a_reason():
    assert all(len(target) > 30 for _, target in listed() if target.startswith("no target"))
