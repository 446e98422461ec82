"""RPCURL_SKIPS=fail (Tests/skips.py): a test that is skipped fails the run, unless it is expected to be skipped."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
specification = importlib.util.spec_from_file_location("skips", TESTS / "skips.py")
skips = importlib.util.module_from_spec(specification)
specification.loader.exec_module(skips)

PASSES = "def test_passes():\n    pass\n\n"
SKIPPED = 'import pytest\n\ndef test_other():\n    pytest.skip("not installed")\n'
EXPECTED = """import pytest

@pytest.mark.parametrize("codec", ["json"])
def test_all_kinds_of_calls_are_replayed(codec):
    pytest.skip("the gRPC server speaks protobuf only")
"""


@pytest.fixture
def run(tmp_path):
    """`run(text, RPCURL_SKIPS=…)`: the result of a file of tests in a folder of its own."""
    folder = tmp_path / "EndToEnd"
    folder.mkdir()

    def run(text, processes, **environment):
        (folder / "test_record.py").write_text(text)
        command = [
            sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "skips", "-n", processes,
            "--rootdir", tmp_path, folder,
        ]  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "RPCURL_"))}
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=kept | {"PYTHONPATH": str(TESTS)} | environment, cwd=tmp_path)

    return run


@pytest.mark.parametrize("processes", [0, 2])
def test_skipped_test_fails_the_run(run, processes):
    text = PASSES + SKIPPED
    assert run(text, processes).returncode == 0
    done = run(text, processes, RPCURL_SKIPS="fail")
    assert done.returncode == 1, done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("skipped")]
    assert lines == ["skipped, which RPCURL_SKIPS=fail does not allow: EndToEnd/test_record.py::test_other: not installed"]


@pytest.mark.parametrize("processes", [0, 2])
def test_expected_skip_does_not_fail_the_run(run, processes):
    done = run(PASSES + EXPECTED, processes, RPCURL_SKIPS="fail")
    assert done.returncode == 0 and "1 skipped" in done.stdout, done.stdout
    other = EXPECTED.replace("the gRPC server", "this server")
    assert run(PASSES + other, processes, RPCURL_SKIPS="fail").returncode == 1


def test_skip_because_of_another_libcurl(run):
    text = PASSES + SKIPPED.replace("not installed", "this libcurl has none")
    assert run(text, 0, RPCURL_SKIPS="fail").returncode == 1
    assert run(text, 0, RPCURL_SKIPS="fail", RPCURL_LIBCURL="libcurl.so.4").returncode == 0


def test_skip_of_what_only_all_tests_install(run):
    text = PASSES + SKIPPED.replace("not installed", "make test-all installs it")
    assert run(text, 0, RPCURL_SKIPS="fail").returncode == 0
    assert run(text, 0, RPCURL_SKIPS="fail", RPCURL_TESTS="all").returncode == 1


def test_expected_skips_exist():
    for name, reason in skips.EXPECTED.items():
        file, function = re.fullmatch(r"(.*)::(\w+)(?:\\\[|\$)", name).groups()
        text = (TESTS / file.replace("\\", "")).read_text()
        assert f"def {function}(" in text and reason in text, name
