"""The scripts of the README, run as they stand there."""

import re

import pytest

import manual
from conftest import ROOT


def script(containing):
    """The shell script of the README that has these words."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    (found,) = [block for block in blocks if containing in block]
    return found


@pytest.fixture
def suite():
    """The test suite of an API."""
    return script("tape=replay")


def test_suite_runs_without_a_server(suite, tmp_path, descriptor_set, grpc_server):
    assert len(suite.splitlines()) == 10
    recorded = manual.run(f"RECORD={grpc_server.url}\n{suite}", tmp_path, descriptor_set)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "all as expected\n", "")
    replayed = manual.run(suite, tmp_path, descriptor_set)
    assert (replayed.returncode, replayed.stdout, replayed.stderr) == (0, "all as expected\n", "")


def test_suite_tells_what_does_not_hold(suite, tmp_path, descriptor_set, grpc_server):
    manual.run(f"RECORD={grpc_server.url}\n{suite}", tmp_path, descriptor_set)
    result = manual.run(suite.replace("messages=3", "messages=4"), tmp_path, descriptor_set)
    assert result.returncode == 8
    assert result.stderr == "rpcurl: assertion failed: counts to three: messages: expected 4, found 3\n"


def test_stub_answers_without_a_server(tmp_path, descriptor_set):
    result = manual.run(script("stubs.json"), tmp_path, descriptor_set)
    assert (result.returncode, result.stdout) == (0, '{"message":"Good day, Ada!"}\n')
