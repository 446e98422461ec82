"""Files that tests make."""

import subprocess
from pathlib import Path

from harness.settings import ROOT

# What plugins include, and the plugins of the host's unit tests.
INCLUDES = [ROOT / "Sources" / "CPlugins" / "include", ROOT / "Tests" / "PluginHostTests" / "Fixtures"]


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, and return its path."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def build_plugin(source: Path | str, output: Path, *flags: str) -> Path:
    """Build a plugin, from a file or from one of the host's unit tests, and return its path."""
    file = INCLUDES[1] / source
    compiler = ["g++", "-std=c++11"] if file.suffix == ".cpp" else ["gcc"]
    includes = [f"-I{directory}" for directory in INCLUDES]
    subprocess.run([*compiler, "-g", "-shared", "-fPIC", *includes, *flags, "-o", output, file, "-lpthread"], check=True)
    return output
