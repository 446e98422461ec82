"""The public API of the libraries changes on purpose only: docs/api has a line for each public declaration."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", autouse=True)
def modules():
    if not any((ROOT / build / "debug/Modules/RPCurlClient.swiftmodule").exists() for build in (".build", ".build/address")):
        pytest.skip("the modules of a debug build do not exist")


def test_declarations_are_those_of_docs_api():
    result = subprocess.run([ROOT / "scripts/api", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, f"{result.stderr}\nIf the change is intended: make api"
