"""The list of readers of external input names each fuzz target, and each target has a corpus."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FUZZ = ROOT / "Tests" / "Fuzz"


def listed():
    """(reader, target or reason) of each row."""
    return re.findall(r"^\| .+ \| (.+) \| (.+) \|$", (FUZZ / "README.md").read_text(), re.M)[1:]


def test_each_target_is_listed_and_has_sources_and_inputs():
    names = [target.strip("`") for _, target in listed() if not target.startswith("no target: ")]
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


def test_targets_without_a_fuzzer_have_a_reason():
    assert all(len(target) > 30 for _, target in listed() if target.startswith("no target"))
