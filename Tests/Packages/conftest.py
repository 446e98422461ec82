"""Fixtures of the tests of packages: what `make packages` wrote, small systems to run it in, and the servers of the
end-to-end tests.

The systems are directories for chroot, which needs root. Without it, and where chroot is not permitted, these tests are skipped.
"""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r'current = "(.*)"', (ROOT / "Sources/Engine/Calls/Version.swift").read_text())[1]
# The machine that the packages are for, and its name in Debian: those of `make package-test MACHINE=…`.
MACHINE = os.environ.get("MACHINE", platform.machine())
ARCHITECTURE = subprocess.run(
    ["dpkg-architecture", "-f", "-t", f"{MACHINE}-linux-gnu", "-q", "DEB_HOST_ARCH"], check=True, capture_output=True, text=True
).stdout.strip()  # fmt: skip
BUILD = ROOT / ".build" / ("" if MACHINE == platform.machine() else MACHINE)
PACKAGES = BUILD / "packages"
ALL_TESTS = os.environ.get("RPCURL_TESTS") == "all"

# The servers, and the hooks that report them.
# After this folder: both have a module `conftest`.
sys.path.append(str(ROOT / "Tests" / "EndToEnd"))
specification = importlib.util.spec_from_file_location("end_to_end", ROOT / "Tests/EndToEnd/conftest.py")
end_to_end = importlib.util.module_from_spec(specification)
sys.modules["end_to_end"] = end_to_end
specification.loader.exec_module(end_to_end)
for name, value in vars(end_to_end).items():
    if name.startswith("pytest_") or name in ("start_server", "certificates", "grpc_server", "grpc_tls_server", "connect_server"):
        globals()[name] = value


def run(*command, check=True, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def package(pattern):
    """The file of the packages whose name matches."""
    [found] = PACKAGES.glob(pattern)
    return found


@pytest.fixture(scope="session")
def tarball():
    return package(f"rpcurl-{VERSION}-linux-{MACHINE}.tar.gz")


@pytest.fixture(scope="session")
def unpacked(tarball, tmp_path_factory):
    """The directory in the tarball."""
    folder = tmp_path_factory.mktemp("tarball")
    run("tar", "-xzf", tarball, "-C", folder)
    [top] = folder.iterdir()
    return top


@dataclass(frozen=True)
class System:
    """A directory with a system."""

    root: Path

    def __call__(self, *command, check=True, env=None, read_only=False, proc=False, descriptors=None, **options):
        """Runs a command in the system, with nothing in its environment but `env`."""
        words = ["chroot", self.root, *command]
        if descriptors:
            words = ["prlimit", f"--nofile={descriptors}", *words]
        if read_only or proc:
            mounts = 'mount -t proc proc "$0/proc"' if proc else 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
            script = f'{mounts} && exec "$@"'
            words = ["unshare", "--mount", "sh", "-c", script, self.root, *words]
        return run(*words, check=check, env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"} | (env or {}), **options)

    def files(self):
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}


@pytest.fixture(scope="session")
def may_run():
    """Whether programs for the machine run here: by themselves, or by qemu-user-static, which the kernel starts for them."""
    if MACHINE != platform.machine() and not Path(f"/proc/sys/fs/binfmt_misc/qemu-{MACHINE}").exists():
        pytest.skip(f"programs for {MACHINE} do not run here: qemu-user-static and binfmt_misc are needed")


@pytest.fixture(scope="session")
def may_chroot(may_run):
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    done = run("unshare", "--mount", "chroot", "/", "true", check=False)
    if done.returncode != 0:
        pytest.skip(f"namespaces are not permitted here: {done.stderr.strip()}")


@pytest.fixture(scope="session")
def bare_system(may_chroot, tmp_path_factory):
    """Nothing but the program and the C library of this machine: no shell, no /etc, /proc, /dev and /tmp."""
    root = tmp_path_factory.mktemp("bare")
    run("tar", "-xzf", package(f"rpcurl-{VERSION}-linux-{MACHINE}-libc.tar.gz"), "-C", root)
    return System(root)


@pytest.fixture(scope="session")
def loader(unpacked):
    """The loader of the C library that the program names."""
    return Path(re.search(r"interpreter: (/[^\]]*)\]", run("readelf", "-l", unpacked / "bin/rpcurl").stdout)[1])


@pytest.fixture(scope="session")
def old_system(may_chroot, unpacked, loader, tmp_path_factory):
    """The program and the oldest C library that it is for."""
    root = tmp_path_factory.mktemp("old")
    libraries = root / "lib" / f"{MACHINE}-linux-gnu"
    libraries.mkdir(parents=True)
    for file in (BUILD / "glibc/lib").glob("*.so*"):
        shutil.copy(file, libraries, follow_symlinks=False)
    place = root / loader.relative_to("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(f"/lib/{MACHINE}-linux-gnu/{loader.name}")
    (root / "usr").mkdir()
    shutil.copytree(unpacked / "bin", root / "usr" / "bin")
    return System(root)


@pytest.fixture(scope="session")
def debian_root(may_chroot):
    """`debian_root(suite)`: the directory of a minimal Debian, which tests copy."""

    def root(suite):
        place = BUILD / "package-roots" / suite
        done = run(ROOT / "scripts/packages/debian-root", suite, place, ARCHITECTURE, check=False)
        if done.returncode != 0:
            pytest.skip(f"Debian {suite} cannot be fetched: {done.stderr.strip()[-200:]}")
        return place

    return root


@pytest.fixture
def debian(debian_root, tmp_path):
    """`debian(suite)`: a minimal Debian for one test."""
    made = []

    def system(suite):
        made.append(tmp_path / suite)
        run("cp", "-a", "--reflink=auto", debian_root(suite), made[-1])
        return System(made[-1])

    yield system
    for folder in made:
        shutil.rmtree(folder)
