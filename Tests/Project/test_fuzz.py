"""The list of readers of external input names each fuzz target, which imports the readers, and each target has a corpus."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "Tests" / "Fuzz"


def listed():
    """(reader, target or reason) of each row."""
    return re.findall(r"^\| .+ \| (.+) \| (.+) \|$", (FUZZ / "README.md").read_text(), re.M)[1:]


def imports(path, seen):
    """The modules in Sources that a file imports, and those that these import."""
    for module in re.findall(r"^(?:@testable )?import (\w+)$", path.read_text(), re.M):
        folder = ROOT / "Sources" / module.removeprefix("RPCurl")
        if module not in seen and folder.is_dir():
            seen.add(module)
            for file in folder.rglob("*.swift"):
                imports(file, seen)
    return seen


def test_each_target_is_listed_and_has_sources_and_inputs():
    names = {target.strip("`") for _, target in listed() if not target.startswith("no target: ")}
    built = re.findall(r'^  "([a-z0-9]+)": fuzz', (FUZZ / "Targets.swift").read_text(), re.M)
    assert sorted(names) == sorted(built)
    assert sorted(path.name for path in (FUZZ / "Corpus").iterdir()) == sorted(names)
    assert all(any((FUZZ / "Corpus" / name).iterdir()) for name in names)
    assert {path.stem.lower() for path in FUZZ.glob("Fuzz*.swift")} == {f"fuzz{name}" for name in names}


def test_each_reader_exists():
    for readers, _ in listed():
        paths = [ROOT / path for path in re.findall(r"`(Sources/[^`]+)`", readers)]
        assert all(path.exists() for path in paths), readers


def test_each_reader_is_in_a_module_that_its_target_imports():
    files = {path.stem.lower().removeprefix("fuzz"): path for path in FUZZ.glob("Fuzz*.swift")}
    for readers, target in listed():
        if not target.startswith("no target: "):
            modules = {f"RPCurl{name}" for name in re.findall(r"`Sources/(\w+)", readers)}
            assert modules <= imports(files[target.strip("`")], set()), target


def test_targets_without_a_fuzzer_have_a_reason():
    assert all(len(target) > 30 for _, target in listed() if target.startswith("no target"))
