"""A package that uses the library products builds and calls a real server."""

import json
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


def run(sample, *words):
    return subprocess.run([sample, *words], capture_output=True, text=True, timeout=60)


def test_calls_through_its_own_interceptor(sample, descriptor_set, grpc_server):
    result = run(sample, descriptor_set, grpc_server.url, "Ada")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {"message": "Hello, Ada!!", "name": "Ada!"}


def test_receives_failures(sample, descriptor_set):
    result = run(sample, descriptor_set, "http://127.0.0.1:1", "Ada")
    assert result.returncode == 1
    assert result.stdout.startswith("unavailable: ")
