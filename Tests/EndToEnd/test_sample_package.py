"""A package that uses the library products builds and calls a real server."""

import re
import subprocess

import pytest

from conftest import ROOT

PACKAGE = ROOT / "Tests" / "SamplePackage"
# Kept beside the other builds, so that only the first run compiles the libraries (a minute).
SCRATCH = ROOT / ".build" / "sample"


@pytest.fixture(scope="module")
def sample():
    build = ["swift", "build", "--package-path", PACKAGE, "--scratch-path", SCRATCH]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning:" not in done.stdout + done.stderr
    return SCRATCH / "debug" / "Sample"


@pytest.fixture(scope="module")
def stress(sample):
    return sample.parent / "Stress"


def run(sample, *words):
    return subprocess.run([sample, *words], capture_output=True, text=True, timeout=60)


def test_calls_of_all_kinds_pass_its_own_interceptor(sample, descriptor_set, grpc_server):
    result = run(sample, descriptor_set, grpc_server.url, "Ada")
    assert (result.returncode, result.stderr) == (0, "")
    said = [f"you said: {text}" for text in ("hello", "how are you", "bye")]
    assert result.stdout.splitlines() == ["Hello, Ada!", "1", "2", "3", "42", *said, "Hello, Grace!", "blue"]


def test_receives_failures(sample, descriptor_set):
    result = run(sample, descriptor_set, "http://127.0.0.1:1", "Ada")
    assert result.returncode == 0
    assert result.stdout.startswith("unavailable: ")


def test_many_calls_share_a_connection_and_many_messages_need_no_memory(stress, descriptor_set, grpc_server):
    result = run(stress, descriptor_set, "127.0.0.1", str(grpc_server.port), "1000", "20000")
    assert (result.returncode, result.stderr) == (0, "")
    calls, messages = result.stdout.splitlines()
    assert calls == "1000 calls, 1 connections"
    received, growth = re.fullmatch(r"(\d+) messages, (\d+) MB", messages).groups()
    assert int(received) == 20000
    assert int(growth) <= 16
