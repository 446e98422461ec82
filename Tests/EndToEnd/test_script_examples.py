"""The scripts of the manual, rpcurl-call(1)'s for continuous integration and rpcurl-assert(7)'s test suite."""

import re
from collections.abc import Callable
from pathlib import Path

import manual
import pytest
from harness import Server

SCRIPT = manual.examples("rpcurl-call.1")[-1]
SUITE = manual.examples("rpcurl-assert.7")[-1]


# The script for continuous integration


@pytest.fixture
def ci(tmp_path: Path, descriptor_set: Path) -> Callable:
    """Runs the script with another URL, and with a part of it replaced."""

    def run(url: str, old: str = "", new: str = ""):
        assert old in SCRIPT
        return manual.run(SCRIPT.replace(old, new), tmp_path, descriptor_set, [("http://localhost:50051", url)])

    return run


def test_ci_script_prints_the_field(ci: Callable, grpc_server: Server) -> None:
    result = ci(grpc_server.url)
    assert (result.returncode, result.stdout, result.stderr) == (0, "Analytical Engine\n", "")


def test_ci_script_distinguishes_failures(ci: Callable, grpc_server: Server) -> None:
    missing = ci(grpc_server.url, '"id":"1"', '"id":"9"')
    assert (missing.returncode, missing.stdout) == (1, "") and missing.stderr.startswith("refused: not_found: ")
    unreachable = ci("http://127.0.0.1:1")
    assert (unreachable.returncode, unreachable.stdout) == (75, "") and unreachable.stderr.startswith("not reached: ")
    invalid = ci(grpc_server.url, '"id"', '"idd"')
    assert invalid.returncode == 4 and "no field" in invalid.stderr
    assert ci(grpc_server.url, "export API_TOKEN", "unset API_TOKEN").returncode == 2


def test_ci_script_fails_slow_calls(ci: Callable, grpc_server: Server) -> None:
    slow = ci(grpc_server.url, ">= 5000", ">= 0")
    assert (slow.returncode, slow.stderr) == (1, "too slow\n")


# The test suite of an API


def test_suite_runs_without_a_server(tmp_path: Path, descriptor_set: Path, grpc_server: Server) -> None:
    recorded = manual.run(f"RECORD={grpc_server.url}\n{SUITE}", tmp_path, descriptor_set)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "all checks passed\n", "")
    replayed = manual.run(SUITE, tmp_path, descriptor_set)
    assert (replayed.returncode, replayed.stdout, replayed.stderr) == (0, "all checks passed\n", "")


def test_suite_reports_what_does_not_hold(tmp_path: Path, descriptor_set: Path, grpc_server: Server) -> None:
    manual.run(f"RECORD={grpc_server.url}\n{SUITE}", tmp_path, descriptor_set)
    result = manual.run(SUITE.replace("count 3", "count 4"), tmp_path, descriptor_set)
    assert result.returncode == 8
    assert re.search(r"^rpcurl: assertion failed: counts to three: count 4: expected 4, got 3$", result.stderr, re.M)
