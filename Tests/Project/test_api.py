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


def test_pages_are_made_without_warnings(tmp_path):
    subprocess.run([ROOT / "scripts/api", "--graphs", tmp_path / "graphs"], check=True)
    command = ["docc", "convert", *ROOT.glob("Sources/Client/*.docc")]
    command += ["--additional-symbol-graph-dir", tmp_path / "graphs", "--output-path", tmp_path / "pages"]
    command += ["--fallback-display-name", "RPCurlClient", "--fallback-bundle-identifier", "rpcurl", "--warnings-as-errors"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr + result.stdout
    assert (tmp_path / "pages/index.html").exists()
