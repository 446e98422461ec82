"""Every folder of Sources with Swift code has a folder of unit tests of its name."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Targets without a test target of their own, and where their tests are.
EXEMPT = {
    "rpcurl": "Tests/EndToEnd",  # an executable, whose entry point a test target cannot import
}


@pytest.fixture(scope="module")
def targets():
    dump = subprocess.run(
        ["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True, env=os.environ | {"RPCURL_SERVER": "1"}
    ).stdout
    return {target["name"].removeprefix("RPCurl"): target for target in json.loads(dump)["targets"]}


def with_swift_code(targets):
    folders = (ROOT / "Sources").iterdir()
    return {folder.name for folder in folders if folder.name in targets and any(folder.rglob("*.swift"))}


def test_every_folder_of_sources_is_a_target(targets):
    assert {folder.name for folder in (ROOT / "Sources").iterdir()} <= set(targets)


def test_every_target_has_a_test_target(targets):
    own = with_swift_code(targets)
    assert {"Platform", "Program", "Engine", "Chain", "rpcurl"} <= own
    assert {name for name in own - set(EXEMPT) if targets.get(f"{name}Tests", {}).get("type") != "test"} == set()


def test_test_targets_use_their_target_and_contain_tests(targets):
    for name in with_swift_code(targets) - set(EXEMPT):
        test = targets[f"{name}Tests"]
        assert f"RPCurl{name}" in {dependency for each in test["dependencies"] for dependency, *_ in each.values()}
        files = (ROOT / "Tests" / f"{name}Tests").rglob("*.swift")
        assert any("@Test" in file.read_text() for file in files), name


def test_exempt_targets_are_tested_elsewhere(targets):
    for name, tests in EXEMPT.items():
        assert name in targets and f"{name}Tests" not in targets
        assert any((ROOT / tests).iterdir())
