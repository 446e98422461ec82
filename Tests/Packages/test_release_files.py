"""The files of a release: what `make release-files` writes, and what users do with it: verify, install, build an image."""

import functools
import json
import os
import platform
import re
import shutil
import ssl
import sys
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import ALL_TESTS, MACHINE, PACKAGES, ROOT, VERSION, System, run

pytestmark = pytest.mark.skipif(MACHINE != platform.machine(), reason="install.sh is tested with the packages for this machine")

SCRIPT = ROOT / "scripts/packages/release-files"
HELLO = "demo.v1.Demo/Hello"
DOCUMENTS = "share/doc/rpcurl"
LIST = f"{DOCUMENTS}/SHA256SUMS"
# What install.sh needs of a system, beside one of curl and wget.
TOOLS = "sh cat cp grep gzip id mkdir mktemp mv rm rmdir sed sha256sum sort tar uname".split()
# The directories that it made, as `make install` notes them.
NOTE = "share/rpcurl/directories"
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
# With the name of the tool that each is.
WGETS = {name: path for name, path in (("busybox", "/bin/busybox"), ("GNU", shutil.which("wget"))) if path and Path(path).resolve().name in ("busybox", "wget")}
NO_SIGNATURE = "install.sh: the signature is not checked: ssh-keygen is not installed\n"
VERIFY = ["-Y", "verify", "-f", "allowed_signers", "-I", "rpcurl", "-n", "file", "-s", "SHA256SUMS.sig"]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    file = tmp_path_factory.mktemp("key") / "release-key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "comment of the key", "-f", file)
    return file


def write(key, out, *packages, check=True):
    """Runs the script without the public key beside the private one, which it derives."""
    copy = out.with_name("key")
    copy.touch(0o600)
    copy.write_text(key.read_text())
    return run(sys.executable, SCRIPT, "--version", VERSION, "--key", copy, out, *packages, check=check)


@pytest.fixture(scope="module")
def release(key, tmp_path_factory):
    """The directory that is uploaded."""
    out = tmp_path_factory.mktemp("release") / "files"
    done = write(key, out, PACKAGES)
    assert done.stderr == "" and done.stdout.split() == [str(file) for file in sorted(out.iterdir())]
    return out


def test_the_files_are_complete(release):
    packages = {line.split("  ")[1] for line in (PACKAGES / "SHA256SUMS").read_text().splitlines()}
    bills = {f"{name.removesuffix('.tar.gz')}.spdx.json" for name in packages if name.endswith(".tar.gz")}
    others = {"install.sh", "Containerfile", f"rpcurl-{VERSION}-html.tar.gz"}
    listed = {line.split("  ")[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    assert listed == packages | bills | others and len(bills) >= 2
    assert {file.name for file in release.iterdir()} == listed | {"SHA256SUMS", "SHA256SUMS.sig", "allowed_signers"}
    run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=release)


def test_the_signature_is_that_of_the_checksums(release):
    sums = (release / "SHA256SUMS").read_text()
    assert "Good \"file\" signature for rpcurl" in run("ssh-keygen", *VERIFY, cwd=release, input=sums).stdout
    assert run("ssh-keygen", *VERIFY, cwd=release, input=sums + "\n", check=False).returncode != 0


def test_the_key_is_in_no_file(release, key):
    secret = [line.encode() for line in key.read_text().splitlines() if not line.startswith("-")]
    files = {file.name: file.read_bytes() for file in release.iterdir()}
    assert [name for name, data in files.items() if any(line in data for line in [*secret, b"comment of the key"])] == []


def test_bills_of_materials_are_those_of_the_tarballs(release):
    for file in release.glob("*.spdx.json"):
        tarball = release / file.name.replace(".spdx.json", ".tar.gz")
        with tarfile.open(tarball) as archive:
            [bill] = [archive.extractfile(m).read() for m in archive.getmembers() if m.name.endswith("/rpcurl.spdx.json")]
        assert file.read_bytes() == bill and json.loads(bill)["spdxVersion"] == "SPDX-2.3"


def test_the_manual_is_there_as_html(release):
    with tarfile.open(release / f"rpcurl-{VERSION}-html.tar.gz") as archive:
        names = set(archive.getnames())
        page = archive.extractfile(f"rpcurl-{VERSION}-html/manual/rpcurl-retry.7.html").read().decode()
    assert {f"rpcurl-{VERSION}-html/manual/{page.name}.html" for page in (ROOT / "man").iterdir()} <= names
    assert "<h1>rpcurl-retry(7)</h1>" in page and f"rpcurl-{VERSION}-html/index.html" in names


def packed(folder, version, machine=MACHINE, time=1, program="echo rpcurl", extra=""):
    """A small package beside others in a directory, and a line of their checksums. Its own list has an extra line."""
    folder.mkdir(exist_ok=True)
    name = f"rpcurl-{version}-linux-{machine}"
    tree = folder / name
    for file, text in {"bin/rpcurl": f"#!/bin/sh\n{program}\n", f"{DOCUMENTS}/rpcurl.spdx.json": "{}", f"share/rpcurl/{version}/kit": ""}.items():
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text)
    (tree / "bin/rpcurl").chmod(0o755)
    files = [str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()]
    (tree / LIST).write_text(run("sha256sum", *files, cwd=tree).stdout + extra)
    run("tar", "-czf", f"{name}.tar.gz", f"--mtime=@{time}", name, cwd=folder)
    shutil.rmtree(tree)
    (folder / "SHA256SUMS").write_text(run("sha256sum", *(file.name for file in folder.glob("*.gz")), cwd=folder).stdout)
    return folder / f"{name}.tar.gz"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("version", "rpcurl-9.9.9-linux-aarch64.tar.gz: not of version"),
        ("commit", "packages of several commits: "),
        ("content", "the checksum is not that of"),
        ("none", "no packages\nhint: make packages"),
        ("key", "ssh-keygen failed"),
    ],
)
def test_files_of_a_release_are_refused(key, tmp_path, fault, error):
    packages = tmp_path / "packages"
    others = [tmp_path / "aarch64"]
    if fault != "none":
        file = packed(packages, VERSION)
        packed(others[0], "9.9.9" if fault == "version" else VERSION, "aarch64", time=2 if fault == "commit" else 1)
    if fault == "content":
        file.write_bytes(file.read_bytes() + b"\n")
    if fault == "key":
        (key := tmp_path / "no-key").write_text("none\n")
    done = write(key, tmp_path / "out", packages, *others, check=False)
    assert done.returncode == 1 and error in done.stderr and not (tmp_path / "out").exists(), done


def test_packages_of_several_machines_are_in_a_release(key, tmp_path):
    """Those for all machines once."""
    folders = [tmp_path / machine for machine in ("x86_64", "aarch64")]
    for folder in folders:
        packed(folder, VERSION, folder.name)
        (folder / (common := f"rpcurl-dev_{VERSION}-1_all.deb")).write_text("deb")
        (folder / "SHA256SUMS").write_text(run("sha256sum", *(file.name for file in folder.glob("rpcurl*")), cwd=folder).stdout)
    write(key, tmp_path / "out", *folders)
    packages = {f"rpcurl-{VERSION}-linux-{folder.name}.tar.gz" for folder in folders} | {common}
    listed = [line.split("  ")[1] for line in (tmp_path / "out/SHA256SUMS").read_text().splitlines()]
    assert packages <= set(listed) and len(listed) == len(set(listed))
    (folder / common).write_text("another deb")
    (folder / "SHA256SUMS").write_text(run("sha256sum", *(file.name for file in folder.glob("rpcurl*")), cwd=folder).stdout)
    done = write(key, tmp_path / "other", *folders, check=False)
    assert done.returncode == 1 and f"release-files: {common}: there are two of this name" in done.stderr, done


def test_the_rpm_for_all_machines_is_the_same_from_each(unpacked, tmp_path):
    """And rpm accepts it."""
    shutil.copytree(unpacked, installed := tmp_path / "installed")
    (installed / "bin/rpcurl").write_text("#!/bin/sh\n")
    written = []
    for machine in LOADERS:
        (work := tmp_path / machine).mkdir()
        script = "import sys; from pathlib import Path; from packages import rpm; rpm.write(*map(Path, sys.argv[1:4]), *sys.argv[4:])"
        run(sys.executable, "-B", "-c", script, installed, work, work, VERSION, machine, env=os.environ | {"PYTHONPATH": str(ROOT / "scripts")}, cwd=ROOT)
        written.append(work / f"rpcurl-devel-{VERSION}-1.noarch.rpm")
        run("rpm", "--checksig", "--nosignature", written[-1])
    assert written[0].read_bytes() == written[1].read_bytes()


def test_commands_of_the_readme_name_one_package_each(release, tmp_path):
    """In a directory with the packages for all machines."""
    for file in release.iterdir():
        for other in ("x86_64 aarch64", "amd64 arm64"):
            for pair in (other.split(), other.split()[::-1]):
                (tmp_path / file.name.replace(*pair)).touch()
    section = (ROOT / "README.md").read_text().split("\n## Install\n")[1].split("\n## ")[0]
    patterns = re.findall(r"[ /](rpcurl\S*\*\S*)", section)
    found = {pattern: len(list(tmp_path.glob(pattern))) for pattern in patterns}
    assert len(found) == 6 and set(found.values()) == {1}, found


def test_commands_before_an_image_is_made_verify_its_recipe(release, tmp_path):
    """Those at the top of the Containerfile, which are in the README too."""
    [command] = re.findall(r"^#   (ssh-keygen .*?)&& podman", (release / "Containerfile").read_text(), re.M | re.S)
    command = " ".join(command.replace("#", "").split())
    for document in ("README.md", "docs/PACKAGES.md"):
        assert all(part in (ROOT / document).read_text() for part in command.split(" && "))
    shutil.copytree(release, copy := tmp_path / "copy")
    next(copy.glob("*.rpm")).unlink()
    run("sh", "-c", command, cwd=copy)
    for name in ("install.sh", "Containerfile"):
        text = (copy / name).read_text()
        (copy / name).write_text(f"{text}\n")
        assert f"{name}: FAILED" in run("sh", "-c", command, cwd=copy, check=False).stdout
        (copy / name).write_text(text)


# The Makefile


def make(*words, env=None):
    """Runs make as its user does, also if make runs the tests."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name not in ("MFLAGS", "MACHINE")}
    return run("make", *words, cwd=ROOT, check=False, env=outer | (env or {}))


def test_a_release_needs_a_key(key):
    """One that is named on the command line, and not by a variable of the environment."""
    for words in (["KEY="], []):
        done = make("release-files", *words, env={"KEY": str(key)})
        assert done.returncode == 2 and done.stderr.startswith("missing KEY=FILE: an SSH key"), done
    done = make("release-files", "KEY=/no/such")
    assert done.returncode == 2 and done.stderr.startswith("KEY=/no/such: cannot be read\n"), done


@pytest.mark.parametrize(("words", "prefix"), [
    ([], ""),
    (["CROSS_COMPILE=other-"], ""),
    ([f"MACHINE={next(name for name in LOADERS if name != platform.machine())}"], "{}-linux-gnu-"),
])  # fmt: skip
def test_tools_of_a_compiler_are_those_for_the_machine(tmp_path, words, prefix):
    (more := tmp_path / "more.mk").write_text('show:\n\t@echo "[$(CROSS_COMPILE)] [$$CROSS_COMPILE]"\n')
    done = make("-f", "Makefile", "-f", more, "show", *words, env={"CROSS_COMPILE": "arm-none-eabi-"})
    prefix = prefix.format(words[0].partition("=")[2] if words else "")
    assert done.stdout == f"[{prefix}] [{prefix}]\n", done


def test_a_look_at_the_check_of_a_release_writes_no_report():
    """`make -n` runs none of its steps."""
    report = ROOT / ".build/release-check.txt"
    before = report.read_text() if report.exists() else None
    done = make("-n", "release-check")
    assert done.returncode == 0 and (report.read_text() if report.exists() else None) == before, done
    steps = done.stdout.splitlines()
    assert steps[0] == "rm -f .build/release-check.txt" and f'echo "rpcurl {VERSION}, commit ' in done.stdout
    assert "release-step .build/release-check.txt make test-all" in done.stdout


def test_the_pages_of_a_release_are_made_with_tools_that_are_installed_before(key):
    done = make("-n", "release-files", f"KEY={key}", "URL=https://host.example", "MAKE=true")
    needed, written = done.stdout.index("scripts/need mandoc"), done.stdout.index("scripts/packages/release-files --version")
    assert needed < written and f"--key '{key}' --from 'https://host.example'" in done.stdout, done


@pytest.mark.parametrize(("name", "installed", "missing"), [
    ("zlib1g-dev", "installed:arm64 ", True),
    ("zlib1g-dev", "installed:amd64 installed:arm64 ", False),
    ("zlib1g-dev", "config-files:amd64 ", True),
    ("zlib1g-dev", "installed:all ", False),
    ("zlib1g-dev:arm64", "installed:arm64 ", False),
])  # fmt: skip
def test_a_package_for_another_machine_is_not_the_one_for_this(tmp_path, name, installed, missing):
    tools = {"dpkg-query": f"echo '{installed}'", "dpkg": "echo amd64", "id": "echo 0", "apt-get": ":"}
    for tool, script in tools.items():
        (tmp_path / tool).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / tool).chmod(0o755)
    done = run(ROOT / "scripts/need", name, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.stdout == (f"installing: {name}\n" if missing else ""), done


# install.sh


class Installer:
    """Runs install.sh of a release with a choice of tools."""

    def __init__(self, folder, release):
        self.folder, self.release, self.prefix = folder, release, folder / "home/.local"
        # `before` is a command that runs the script.
        self.path, self.environment, self.before = folder / "tools", {}, []
        self.path.mkdir()
        (folder / "home").mkdir()
        self.add(*TOOLS)

    def add(self, *names, **scripts):
        """Tools of this machine, and scripts in the place of others."""
        for name in names:
            (self.path / name).symlink_to(shutil.which(name))
        for name, script in scripts.items():
            (self.path / name).unlink(missing_ok=True)
            (self.path / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.path / name).chmod(0o755)

    def add_wget(self, name):
        (self.path / "wget").symlink_to(WGETS[name])

    def __call__(self, *options, source=None, script=None, **others):
        script = script or self.release / "install.sh"
        words = [*self.before, "sh", script, "--prefix", self.prefix, "--from", source or self.release, *options]
        done = run(*words, env={"PATH": str(self.path), "HOME": str(self.folder / "home")} | self.environment, **others)
        assert list(self.folder.rglob(".rpcurl*")) == []
        return done

    def refuses(self, *options, **others):
        """The error. Nothing is installed or made."""
        before = self.tree()
        done = self(*options, check=False, **others)
        assert done.returncode == 1 and done.stdout == "" and self.tree() == before, done
        return done.stderr

    def tree(self):
        """Files and directories."""
        return {str(file.relative_to(self.folder)) for file in (self.folder / "home").rglob("*")}

    def installed(self):
        return {str(file.relative_to(self.prefix)) for file in self.prefix.rglob("*") if not file.is_dir()}


@pytest.fixture
def installer(release, tmp_path):
    return Installer(tmp_path, release)


@pytest.fixture
def small(key, tmp_path):
    """`small(version, machine, program)`: adds a package to a release that is signed with the same key; returns its directory."""

    def add(version, machine=MACHINE, program="echo rpcurl"):
        folder = packed(tmp_path / "small", version, machine, program=program).parent
        (folder / "SHA256SUMS.sig").unlink(missing_ok=True)
        run("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "file", folder / "SHA256SUMS")
        return folder

    return add


@pytest.fixture
def serve():
    """`serve(directory, certificates, location)`: its address on a server, and the paths that clients have requested.

    With certificates over TLS, and with a location as a redirect to it.
    """
    servers = []

    def start(directory, certificates=None, location=None):
        paths = []

        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                if not location:
                    return super().do_GET()
                self.send_response(302)
                self.send_header("Location", location + self.path)
                self.end_headers()

            def log_message(self, *_):
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=directory)))
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
            servers[-1].socket = context.wrap_socket(servers[-1].socket, server_side=True)
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"{'https' if certificates else 'http'}://127.0.0.1:{servers[-1].server_port}", paths

    yield start
    for server in servers:
        server.shutdown()


@pytest.mark.parametrize("client", ["curl", *WGETS])
def test_installs_from_a_server(installer, release, serve, client):
    installer.add("ssh-keygen")
    installer.add("curl") if client == "curl" else installer.add_wget(client)
    address, paths = serve(release)
    done = installer(source=address)
    tarball = f"rpcurl-{VERSION}-linux-{MACHINE}"
    assert paths == ["/SHA256SUMS", "/SHA256SUMS.sig", f"/{tarball}.tar.gz"]
    program = installer.prefix / "bin/rpcurl"
    assert done.stdout == f"rpcurl {VERSION} is installed: {program}\nhint: add {program.parent} to PATH\n" and done.stderr == ""
    with tarfile.open(release / f"{tarball}.tar.gz") as archive:
        assert installer.installed() == {m.name.removeprefix(f"{tarball}/") for m in archive.getmembers() if not m.isdir()} | {NOTE}
    assert run(program, "version", env={}).stdout.startswith(f"rpcurl {VERSION}\n")
    run("sha256sum", "--check", "--strict", "--quiet", LIST, cwd=installer.prefix)


def test_update_and_uninstall_remove_the_files_of_before(installer, small):
    installer.add("ssh-keygen")
    source = small("0.0.9") and small("0.1.0", program="echo new")
    (installer.prefix / "bin").mkdir(parents=True)
    (installer.prefix / "bin/other").touch()
    installer("--version", "0.0.9", source=source)
    assert "share/rpcurl/0.0.9/kit" in installer.installed()
    installer("--version=0.1.0", source=source)
    assert installer.installed() == {"bin/other", "bin/rpcurl", "share/rpcurl/0.1.0/kit", f"{DOCUMENTS}/rpcurl.spdx.json", LIST, NOTE}
    assert run(installer.prefix / "bin/rpcurl").stdout == "new\n"
    assert not (installer.prefix / "share/rpcurl/0.0.9").exists()
    (installer.prefix / "share/mine").mkdir()
    assert installer("--uninstall").stdout == f"rpcurl is removed from {installer.prefix}\n"
    assert {str(file.relative_to(installer.prefix)) for file in installer.prefix.rglob("*")} == {"bin", "share", "bin/other", "share/mine"}
    assert installer.refuses("--uninstall").startswith(f"install.sh: rpcurl is not installed below {installer.prefix}\n")


def test_directories_of_the_user_stay(installer, small):
    """Empty ones too. The prefix goes if it was made."""
    source = small(VERSION)
    installer(source=source)
    installer("--uninstall")
    assert installer.tree() == set() and (installer.folder / "home").is_dir()
    (installer.prefix / "share/doc").mkdir(parents=True)
    before = installer.tree()
    installer(source=source)
    installer(source=source)
    installer("--uninstall")
    assert installer.tree() == before
    shutil.rmtree(installer.prefix)
    assert installer.refuses("--uninstall").startswith(f"install.sh: rpcurl is not installed below {installer.prefix}\n")


@pytest.mark.parametrize(("place", "error"), [
    ("share/doc", "share/doc: not a directory"),
    ("share/rpcurl/directories/file", "share/rpcurl/directories: a directory"),
    ("share/rpcurl/0.1.1/kit/file", "share/rpcurl/0.1.1/kit: a directory"),
])  # fmt: skip
def test_places_are_checked_before_the_first_file_is_moved(installer, small, place, error):
    source = small("0.1.1")
    (file := installer.prefix / place).parent.mkdir(parents=True)
    file.touch()
    assert installer.refuses("--version", "0.1.1", source=source) == f"{NO_SIGNATURE}install.sh: {installer.prefix}/{error}\n"


def test_directories_without_permission_are_found_before_the_first_file_is_moved(installer, small):
    """For root too, without the right to write everywhere."""
    source = small(VERSION)
    (folder := installer.prefix / "share/rpcurl").mkdir(parents=True)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        rights = "-dac_override,-dac_read_search"
        installer.before = [shutil.which("setpriv"), f"--bounding-set={rights}", f"--inh-caps={rights}"]
    assert installer.refuses(source=source) == f"{NO_SIGNATURE}install.sh: {folder}: no permission to write\n"


@pytest.mark.parametrize("moved", range(1, 8))
def test_uninstall_removes_what_an_interrupted_installation_leaves(installer, small, moved):
    """The update ends at one of its moves: nothing but a list that is complete is ever there."""
    source = small("0.0.9") and small("0.1.0")
    installer("--version", "0.0.9", source=source)
    (count := installer.folder / "count").write_text("")
    mv = shutil.which("mv")
    installer.add("wc", mv=f'echo >>{count}; [ "$(wc -l <{count})" -lt {moved} ] || exit 1; exec {mv} "$@"')
    assert installer("--version", "0.1.0", source=source, check=False).returncode == 1
    (installer.path / "mv").unlink()
    installer.add("mv")
    installer("--uninstall")
    assert installer.tree() == set()


@pytest.mark.parametrize("name", ["../victim", "bin/../../victim", "/victim", "share//victim"])
def test_names_outside_of_the_prefix_are_refused(installer, key, small, name):
    """Those of the installed list, of the noted directories, and of the list of a package."""
    source = small(VERSION)
    installer(source=source)
    (victim := installer.prefix.parent / "victim").mkdir()
    for place, line in ((LIST, f"{'0' * 64}  {name}\n"), (NOTE, f"{name}\n")):
        file = installer.prefix / place
        text = file.read_text()
        file.write_text(text + line)
        for options in ([], ["--uninstall"]):
            assert f"{file}: {name}: not a name below the prefix" in installer.refuses(*options, source=source)
        file.write_text(text)
    installer("--uninstall")
    victim.rmdir()
    packed(source, VERSION, extra=f"{'0' * 64}  {name}\n")
    assert f"{LIST}: {name}: not a name below the prefix" in installer.refuses(source=source)


@pytest.mark.parametrize("prefix", ["-", "other", "new/directory", "./-n"])
def test_relative_prefixes(installer, small, prefix):
    """Also with variables that change what `cd` does."""
    source = small(VERSION)
    (elsewhere := installer.folder / "elsewhere").mkdir()
    (elsewhere / "other").mkdir()
    home = installer.folder / "home"
    installer.environment |= {"CDPATH": str(elsewhere), "OLDPWD": str(elsewhere)}
    done = installer("--prefix", prefix, source=source, cwd=home)
    assert done.stdout.startswith(f"rpcurl {VERSION} is installed: {home / prefix}/bin/rpcurl\n")
    installer("--prefix", prefix, "--uninstall", cwd=home)
    # Directories above the prefix stay.
    assert installer.tree() <= {"home/new"}


def test_a_list_of_files_with_a_c_library_is_not_applied_elsewhere(installer, small):
    """As in /usr of a system that has its own C library."""
    source = small(VERSION)
    file = installer.prefix / LIST
    file.parent.mkdir(parents=True)
    (library := installer.prefix / "lib/libc.so.6").parent.mkdir()
    library.touch()
    file.write_text("".join(f"{'0' * 64}  {name}\n" for name in ("lib/libc.so.6", "usr/bin/rpcurl")))
    for options in ([], ["--uninstall"]):
        assert installer.refuses(*options, source=source).endswith(f"install.sh: {file}: not a list of files below {installer.prefix}/\n")


@pytest.mark.parametrize(("name", "machine"), [("aarch64", "aarch64"), ("arm64", "aarch64"), ("x86_64", "x86_64"), ("amd64", "x86_64")])
def test_the_package_is_that_of_the_machine(installer, small, name, machine):
    """A system whose C library is for another machine gets no second one."""
    source = small(VERSION, "aarch64") and small(VERSION, "x86_64")
    installer.add("ssh-keygen", uname=f'[ "$1" = -s ] && echo Linux || echo {name}')
    if Path(LOADERS[machine]).exists():
        installer(source=source)
        assert "bin/rpcurl" in installer.installed()
    else:
        assert installer.refuses(source=source).startswith(f"install.sh: no loader {LOADERS[machine]}\nhint: the programs of this system")


@pytest.mark.parametrize(("system", "name", "error"), [
    ("Darwin", "arm64", "Darwin: there are packages for Linux only"),
    ("Linux", "riscv64", "riscv64: there are packages for x86_64 and aarch64 only"),
])  # fmt: skip
def test_other_machines_are_refused(installer, system, name, error):
    installer.add(uname=f'[ "$1" = -s ] && echo {system} || echo {name}')
    assert installer.refuses() == f"install.sh: {error}\n"


def test_a_program_that_does_not_run_is_not_installed(installer, small):
    installer.add("ssh-keygen")
    source = small(VERSION, program="echo no such C library >&2; exit 1")
    assert "does not run here, nothing is installed: no such C library\nhint: it needs the GNU C library 2.31" in installer.refuses(source=source)


@pytest.fixture
def changed(small, tmp_path):
    """A release whose package is another than that of the checksums, and leaves a file where it runs."""
    source = small(VERSION)
    sums = (source / "SHA256SUMS").read_bytes()
    packed(source, VERSION, MACHINE, program=f"touch {tmp_path}/has-run")
    (source / "SHA256SUMS.changed").write_bytes((source / "SHA256SUMS").read_bytes())
    (source / "SHA256SUMS").write_bytes(sums)
    yield source
    assert not (tmp_path / "has-run").exists()


def test_a_changed_package_is_refused(installer, changed):
    """Also without a signature."""
    for tools in ([], ["ssh-keygen"]):
        installer.add(*tools)
        assert "the checksum is not that of SHA256SUMS" in installer.refuses(source=changed)


def test_changed_checksums_are_refused(installer, changed):
    (changed / "SHA256SUMS.changed").rename(changed / "SHA256SUMS")
    installer.add("ssh-keygen")
    assert "SHA256SUMS: the signature is not valid: " in installer.refuses(source=changed)
    (changed / "SHA256SUMS.sig").unlink()
    assert "cannot copy" in installer.refuses(source=changed)


@pytest.mark.parametrize(("script", "reason"), [
    (None, "is not installed"),
    ("echo unknown option -- ?; echo usage: ssh-keygen; exit 1", "is older than version 8.2"),
    ("echo libcrypto.so.3: no such file; exit 127", "fails: libcrypto.so.3: no such file"),
])  # fmt: skip
def test_without_a_tool_for_the_signature(installer, small, serve, script, reason):
    """A directory is accepted, with a note, and a connection without encryption is not."""
    installer.add("curl", **({"ssh-keygen": script} if script else {}))
    source = small(VERSION)
    address, paths = serve(source)
    assert f"is not encrypted, and the signature cannot be checked: ssh-keygen {reason}\n" in installer.refuses(source=address)
    assert paths == []
    assert installer(source=source).stderr == f"install.sh: the signature is not checked: ssh-keygen {reason}\n"


def test_a_connection_with_tls_is_not_continued_without(installer, small, serve, certificates):
    """TLS of a server with a valid certificate is enough without a tool for the signature."""
    installer.add("curl")
    plain, paths = serve(source := small(VERSION))
    redirect, _ = serve(source, certificates, plain)
    address, trusted_paths = serve(source, certificates)
    assert "cannot download" in installer.refuses(source=address) and trusted_paths == []
    installer.environment["CURL_CA_BUNDLE"] = str(certificates / "ca.pem")
    assert "cannot download" in installer.refuses(source=redirect) and paths == []
    assert installer(source=address).stderr == NO_SIGNATURE


@pytest.mark.parametrize("name", WGETS)
def test_wget_needs_the_signature(installer, small, serve, certificates, name):
    """It accepts an invalid certificate, or a redirect to an address without TLS: no request is sent."""
    installer.add_wget(name)
    plain, paths = serve(source := small(VERSION))
    redirect, redirected = serve(source, certificates, plain)
    address, trusted_paths = serve(source, certificates)
    for from_ in (redirect, address):
        assert installer.refuses(source=from_) == (
            "install.sh: wget does not protect downloads, and the signature cannot be checked: ssh-keygen is not installed\n"
            "hint: install curl, or the client of OpenSSH 8.2 or newer\n"
        )
    assert paths == redirected == trusted_paths == []
    # Files from a redirect or a server with any certificate are those of the signature, or refused.
    installer.add("ssh-keygen")
    packed(source, VERSION, program="echo other")
    for from_ in (plain, redirect, address):
        assert re.search("cannot download|the signature is not valid", installer.refuses(source=from_))


def test_downloads_that_fail(installer, small, serve):
    installer.add("ssh-keygen")
    address, _ = serve(source := small(VERSION))
    assert installer.refuses(source=address) == "install.sh: neither curl nor wget is installed\n"
    installer.add("curl")
    assert f"install.sh: cannot download {address}/v{VERSION}/SHA256SUMS\n" in installer.refuses(source=f"{address}/vVERSION")
    assert "SHA256SUMS does not list rpcurl-9.9.9-linux" in installer.refuses("--version", "9.9.9", source=source)
    assert "cannot copy /no/such/SHA256SUMS" in installer.refuses(source="/no/such")


@pytest.mark.parametrize(("options", "error"), [
    (["--prefx", "/"], "--prefx: unknown option\nhint: sh install.sh --help"),
    (["--prefix"], "--prefix: missing value"),
    (["--from="], "--from: missing value"),
    (["--version", "../1"], "--version ../1: not a version"),
])  # fmt: skip
def test_arguments_that_are_refused(installer, options, error):
    assert installer.refuses(*options) == f"install.sh: {error}\n"


def test_the_address_is_needed_or_that_of_the_release(key, release, installer, tmp_path):
    done = run("sh", release / "install.sh", "--prefix", tmp_path / "prefix", check=False)
    assert done.returncode == 1 and done.stderr == "install.sh: missing option: --from URL|DIR\n"
    script = tmp_path / "install.sh"
    script.write_text((release / "install.sh").read_text().replace("\nfrom=''\n", f"\nfrom='{release}/./'\n"))
    run("sh", script, "--prefix", tmp_path / "prefix")
    assert f"(default: {release}/./)" in run("sh", script, "--help").stdout


def test_a_part_of_the_script_does_nothing(installer, release, tmp_path):
    lines = (release / "install.sh").read_text().splitlines(keepends=True)
    (script := tmp_path / "part").write_text("".join(lines[:-1]))
    assert installer(script=script).stdout == "" and installer.installed() == set()


def test_the_script_is_correct_for_a_posix_shell(release):
    run("shellcheck", "--shell", "sh", release / "install.sh")


def test_installs_where_there_is_no_c_library(may_chroot, release, grpc_server, tmp_path):
    """As in Alpine: with busybox only, and as root. There is no /dev."""
    system = System(tmp_path / "root")
    (system.root / "bin").mkdir(parents=True)
    (system.root / "tmp").mkdir()
    shutil.copy("/bin/busybox", system.root / "bin")
    for name in [*TOOLS, "cut"]:
        (system.root / "bin" / name).symlink_to("busybox")
    shutil.copytree(release, system.root / "release")
    before = system.files()
    install = ["sh", "/release/install.sh", "--from", "/release"]
    assert "with the C library, the prefix is /usr" in system(*install, "--prefix", "/opt", check=False).stderr
    (cache := system.root / "etc/ld.so.cache").parent.mkdir()
    cache.touch()
    assert f"no loader {LOADERS[MACHINE]}" in system(*install, check=False).stderr
    assert system.files() == before | {"etc", "etc/ld.so.cache"}
    cache.unlink()
    (musl := system.root / f"lib/ld-musl-{MACHINE}.so.1").parent.mkdir()
    musl.touch()
    before = system.files()
    done = system(*install)
    assert done.stdout == f"rpcurl {VERSION} is installed: /usr/bin/rpcurl\n", done
    assert json.loads(system("rpcurl", "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}").stdout)["message"] == "Hello, Ada!"
    system(*install)
    # A system that has come to a C library of its own keeps it.
    cache.touch()
    assert "not a list of files below /usr/" in system(*install, "--prefix", "/usr", "--uninstall", check=False).stderr
    cache.unlink()
    system(*install, "--uninstall")
    assert system.files() == before


@pytest.mark.skipif(not ALL_TESTS, reason="minimal systems are fetched with RPCURL_TESTS=all")
@pytest.mark.parametrize("suite", ["bookworm", "bullseye"])
def test_installs_in_a_minimal_debian_as_a_user(debian, release, grpc_server, suite):
    system = debian(suite)
    shutil.copytree(release, system.root / "release")
    home = system.root / "home/user"
    home.mkdir()
    os.chown(home, 1000, 1000)

    def user(*command):
        return system("chroot", "--userspec=1000:1000", "/", *command, env={"HOME": "/home/user"})

    done = user("sh", "/release/install.sh", "--from", "/release")
    program = "/home/user/.local/bin/rpcurl"
    assert done.stdout.startswith(f"rpcurl {VERSION} is installed: {program}\n")
    assert json.loads(user(program, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}").stdout)["message"] == "Hello, Ada!"
    user("sh", "/release/install.sh", "--uninstall")
    assert [path.name for path in home.iterdir()] == [".cache"]


# The container


def test_the_recipe_makes_an_image(may_chroot, release, grpc_tls_server, tmp_path):
    """With buildah, and a base with busybox in the place of Alpine's image, which is in a registry."""
    base = tmp_path / "base"
    (base / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", base / "bin")
    for name in ("sh", "cat", "chmod", "cp", "grep", "ls", "mkdir", "sha256sum", "tar", "uname"):
        (base / "bin" / name).symlink_to("busybox")
    (base / "etc/ssl/certs").mkdir(parents=True)
    shutil.copy(grpc_tls_server.ca, base / "etc/ssl/certs/ca-certificates.crt")
    (tmp_path / "Containerfile").write_text("FROM scratch\nCOPY base /\n")
    store = ["buildah", "--root", tmp_path / "store", "--runroot", tmp_path / "run", "--storage-driver", "vfs"]
    build = [*store, "build", "--isolation", "chroot", "--pull-never", "--quiet"]
    run(*build, "-t", "localhost/base", tmp_path)
    run(*build, "--build-arg", "BASE=localhost/base", "-t", "localhost/rpcurl", release)
    image = json.loads(run(*store, "inspect", "--type", "image", "localhost/rpcurl").stdout)["OCIv1"]["config"]
    assert (image["User"], image["Entrypoint"]) == ("65534:65534", ["/usr/bin/rpcurl"])
    container = run(*store, "from", "--pull-never", "localhost/rpcurl").stdout.strip()
    files = System(Path(run(*store, "mount", container).stdout.strip())).files()
    assert {name.split("/")[0] for name in files} == {"etc", "tmp", "usr", "lib", LOADERS[MACHINE].split("/")[1]}
    call = ["-d", '{"name":"Ada"}', "--resolve", f"localhost:{grpc_tls_server.port}:127.0.0.1", f"{grpc_tls_server.url}/{HELLO}"]
    done = run(*store, "run", "--isolation", "chroot", container, "--", *image["Entrypoint"], *call)
    assert json.loads(done.stdout)["message"] == "Hello, Ada!"
    # A package that is not that of the checksums makes no image.
    other = tmp_path / "other"
    shutil.copytree(release, other)
    file = other / f"rpcurl-{VERSION}-linux-{MACHINE}-libc.tar.gz"
    file.write_bytes(file.read_bytes() + b"\n")
    done = run(*build, "--build-arg", "BASE=localhost/base", "-t", "localhost/other", other, check=False)
    assert done.returncode != 0 and "did NOT match" in done.stderr
