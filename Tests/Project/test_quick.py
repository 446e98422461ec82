"""The map of scripts/quick has each folder of the sources, and each end-to-end test."""

import importlib.machinery
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("quick", str(ROOT / "scripts" / "quick"))
quick = importlib.util.module_from_spec(importlib.util.spec_from_loader("quick", loader))
loader.exec_module(quick)


def test_each_row_is_a_folder_and_names_tests():
    for row, names in quick.END_TO_END.items():
        assert list(ROOT.glob(f"{row}*")), row
        missing = [name for name in names.split() if not (ROOT / f"Tests/EndToEnd/test_{name}.py").exists()]
        assert not missing, (row, missing)


def test_each_source_has_a_row():
    files = [str(path.relative_to(ROOT)) for path in (ROOT / "Sources").rglob("*") if path.suffix in (".swift", ".c", ".h")]
    assert [file for file in files if not any(file.startswith(row) for row in quick.END_TO_END)] == []


def test_each_end_to_end_test_is_run_after_some_change():
    named = {name for names in quick.END_TO_END.values() for name in names.split()}
    tests = {path.stem.removeprefix("test_") for path in (ROOT / "Tests" / "EndToEnd").glob("test_*.py")}
    assert tests - named == set()


def test_a_change_runs_the_tests_of_the_narrowest_row():
    assert quick.end_to_end_tests(["Sources/Interceptors/Edit/Edit.swift"]) == ["Tests/EndToEnd/test_edit.py", "Tests/Project"]
    assert "Tests/EndToEnd/test_matrix.py" in quick.end_to_end_tests(["Sources/Protocols/MediaType.swift"])
    assert quick.end_to_end_tests(["Tests/EndToEnd/test_auth.py"]) == ["Tests/EndToEnd/test_auth.py", "Tests/Project"]
    assert quick.unit_tests(["Sources/SchemaTools/Difference/Rules.swift"]) == ["EngineTests", "ProtoCompilerTests", "SchemaToolsTests"]
