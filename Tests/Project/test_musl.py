"""The sources can be compiled for Linux with musl. `make musl` compiles all of them; here are those that use the C library most."""

import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
C_LIBRARY = ["Platform", "CCompression", "CCurl", "CInput", "CPlugins", "CSchemas", "CServer"]


def check(*folders):
    if not Path(f"/usr/include/{platform.machine()}-linux-musl").is_dir():
        pytest.skip("musl-dev is not installed")
    return subprocess.run([ROOT / "scripts/check-musl", *folders], capture_output=True, text=True)


def test_what_uses_the_c_library_compiles_with_that_of_musl():
    done = check(*C_LIBRARY)
    assert done.returncode == 0, done.stdout + done.stderr
