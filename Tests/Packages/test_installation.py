"""The packages on minimal systems: installed, used and removed."""

import gzip
import json
import re

import pytest
from conftest import ALL_TESTS, ROOT, VERSION, package, run

pytestmark = pytest.mark.skipif(not ALL_TESTS, reason="packages are installed in minimal systems with RPCURL_TESTS=all")

HELLO = "demo.v1.Demo/Hello"
# What package managers write for themselves.
OWN_RECORDS = re.compile(r"var/(log|cache|lib/(dpkg|apt|rpm))(/|$)")
# Those of the distributions' package `filesystem`.
DIRECTORIES_OF_RPM_SYSTEMS = {"usr/share/man/man3", "usr/share/pkgconfig"}


def copy_packages(system, *files):
    """Copies packages into a system; returns their names there."""
    for file in files:
        (system.root / "tmp" / file.name).write_bytes(file.read_bytes())
    return [f"/tmp/{file.name}" for file in files]


def remove_copies(system):
    for file in (system.root / "tmp").iterdir():
        file.unlink()


def use(system, server):
    """The program, its manual and the completions, in a system."""
    done = system("rpcurl", "-d", '{"name":"Ada"}', f"{server.url}/{HELLO}")
    assert (json.loads(done.stdout)["message"], done.stderr) == ("Hello, Ada!", "")
    assert system("rpcurl", "version").stdout.startswith(f"rpcurl {VERSION}\n")
    suite = '\n'.join([f"target {server.url}", "test greets", 'call Hello {"name":"Ada"}', 'expect .message == "Hello, Ada!"'])
    (system.root / "tmp/greet.rpcurl").write_text(suite + "\n")
    assert system("rpcurl", "test", "--report", "tap", "/tmp/greet.rpcurl").stdout.count("\nok ") == 1
    check_manual(system.root)
    check_completions(system)


def check_manual(root):
    """Each page is where `man` searches it."""
    pages = {}
    for file in (root / "usr/share/man").glob("man*/rpcurl*"):
        assert file.parent.name == f"man{file.suffixes[-2][1:]}" and file.suffix == ".gz", file
        pages[file.stem] = gzip.decompress(file.read_bytes())
    assert pages == {page.name: page.read_bytes() for page in (ROOT / "man").iterdir()}


def check_completions(system):
    """Each shell finds them, and bash, which a minimal system has, completes with them."""
    share = system.root / "usr/share"
    (zsh,) = [file for file in share.glob("zsh/*/_rpcurl") if file.parent.name in ("site-functions", "vendor-completions")]
    bash = "bash-completion/completions/rpcurl"
    installed = {"_rpcurl": zsh, "rpcurl.bash": share / bash, "rpcurl.fish": share / "fish/vendor_completions.d/rpcurl.fish"}
    assert {name: file.read_bytes() for name, file in installed.items()} == {
        file.name: file.read_bytes() for file in (ROOT / "completions").iterdir()
    }
    script = (
        f'. /usr/share/{bash}; COMP_LINE="rpcurl vers" COMP_POINT=11 COMP_WORDS=(rpcurl vers) COMP_CWORD=1; _rpcurl; '
        'printf "%s,%s" "${COMPREPLY[@]% }" "$(complete -p rpcurl)"'
    )
    assert system("bash", "-c", script).stdout == "version,complete -F _rpcurl rpcurl"


# Debian 12 is as a rule what the packages are built on, and Debian 11 has the oldest C library.
@pytest.mark.parametrize("suite", ["bookworm", "bullseye"])
def test_the_debian_packages(debian, suite, grpc_server):
    system = debian(suite)
    before = system.files()
    names = copy_packages(system, package("rpcurl_*.deb"), package("rpcurl-dev_*.deb"))
    system("dpkg", "--install", *names)
    assert (system.root / "usr/bin/rpcurl").exists() and (system.root / "usr/include/rpcurl/plugin.h").exists()
    assert system("dpkg", "--verify", "rpcurl", "rpcurl-dev").stdout == ""
    use(system, grpc_server)
    system("dpkg", "--purge", "rpcurl-dev", "rpcurl")
    remove_copies(system)
    assert {name for name in system.files() ^ before if not OWN_RECORDS.match(name)} == set()


def test_the_rpm_packages(debian, grpc_server):
    """In a system without a database of packages, whose libraries rpm cannot find."""
    system = debian("bookworm")
    before = system.files()
    rpm = ["rpm", "--root", system.root]
    run(*rpm, "--install", "--ignorearch", "--nodeps", "--nosignature", package("rpcurl-[0-9]*.rpm"), package("rpcurl-devel-*.rpm"))
    assert run(*rpm, "--verify", "--nodeps", "rpcurl", "rpcurl-devel").stdout == ""
    use(system, grpc_server)
    run(*rpm, "--erase", "--nodeps", "rpcurl", "rpcurl-devel")
    remove_copies(system)
    left = {name for name in system.files() ^ before if not OWN_RECORDS.match(name)}
    assert {name for name in left if not name.startswith(("root/.rpmdb", "usr/lib/sysimage/rpm"))} <= DIRECTORIES_OF_RPM_SYSTEMS


def test_a_first_plugin(debian, grpc_server):
    """As a new user writes it: a compiler from the distribution, and the development package."""
    system = debian("bookworm")
    system("apt-get", "update")
    names = copy_packages(system, package("rpcurl_*.deb"), package("rpcurl-dev_*.deb"))
    environment = {"DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
    system("apt-get", "install", "--yes", "--no-install-recommends", *names, "gcc", "libc6-dev", "make", "pkg-config", env=environment)
    system("rpcurl", "plugins", "new", "first", "--dir", "/root/first", env=environment)
    done = system("make", "-C", "/root/first", "test", env=environment, proc=True)
    assert "no problems found" in done.stdout
    done = system(
        "rpcurl", "--plugin", "/root/first/first.so,name=x-hello", "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}", env=environment,
        proc=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["message"] == "Hello, Ada!"
