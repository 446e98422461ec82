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


# Each look at a clock is a step of STEP microseconds after the one before.
CLOCK = """
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  static long microseconds;
  microseconds += STEP;
  *time = (struct timespec){1000000 + microseconds / 1000000, microseconds % 1000000 * 1000};
  return 0;
}
"""


def build_clock(folder: Path, step: int) -> Path:
    """Build a library for LD_PRELOAD with a clock that goes on by so many microseconds with each look, and return its path."""
    source, library = write(folder / "clock.c", CLOCK), folder / "clock.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-DSTEP={step}", "-o", library, source], check=True)
    return library


def build_plugin(source: Path | str, output: Path, *flags: str) -> Path:
    """Build a plugin, from a file or from one of the host's unit tests, and return its path."""
    file = INCLUDES[1] / source
    compiler = ["g++", "-std=c++11"] if file.suffix == ".cpp" else ["gcc"]
    includes = [f"-I{directory}" for directory in INCLUDES]
    subprocess.run([*compiler, "-g", "-shared", "-fPIC", *includes, *flags, "-o", output, file, "-lpthread"], check=True)
    return output
