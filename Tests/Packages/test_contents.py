"""What is in the packages: files, checksums, licences, the bill of materials, and what the packages require."""

import gzip
import json
import re
import subprocess
import tarfile
from hashlib import sha256

import pytest
from conftest import ALL_TESTS, ARCHITECTURE, BUILD, MACHINE, PACKAGES, ROOT, VERSION, package, run

DOCUMENTS = "share/doc/rpcurl"
NEWEST_GLIBC = (2, 31)
# What the program may require of the system.
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}
# The projects that the program contains, and those whose schemas it contains, with their licences.
PROJECTS = {
    "curl": "curl", "openssl": "Apache-2.0", "nghttp2": "MIT", "zlib": "Zlib", "snappy": "BSD-3-Clause", "libyaml": "MIT",
    "protobuf-c": "BSD-2-Clause", "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "swift": "Apache-2.0 WITH Swift-exception", "swift-collections": "Apache-2.0 WITH Swift-exception",
    "HdrHistogram_c": "BSD-2-Clause OR CC0-1.0",
}  # fmt: skip
SCHEMAS = {"protobuf": "BSD-3-Clause", "googleapis": "Apache-2.0", "grpc-proto": "Apache-2.0", "protovalidate": "Apache-2.0"} | {
    "protoc-gen-validate": "Apache-2.0", "gogoproto": "BSD-3-Clause", "grpc-gateway": "BSD-3-Clause", "gnostic": "Apache-2.0",
    "xds": "Apache-2.0",
}  # fmt: skip


def members(file):
    with tarfile.open(file) as archive:
        return archive.getmembers()


def test_checksums_of_packages():
    listed = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=PACKAGES).stdout
    assert len(listed.splitlines()) == len(list(PACKAGES.iterdir())) - 1


def test_the_tarball_has_the_files_of_an_installation(unpacked):
    assert unpacked.name == f"rpcurl-{VERSION}-linux-{MACHINE}"
    places = [
        "bin/rpcurl", "include/rpcurl/plugin.h", "lib/pkgconfig/rpcurl.pc", "share/bash-completion/completions/rpcurl",
        "share/zsh/site-functions/_rpcurl", "share/fish/vendor_completions.d/rpcurl.fish", "share/man/man1/rpcurl.1",
        "share/man/man7/rpcurl-retry.7", "share/rpcurl/SwiftKit/Package.swift", f"{DOCUMENTS}/examples/stamp/stamp.c",
        *(f"{DOCUMENTS}/{name}" for name in ("LICENSE", "README.md", "THIRD-PARTY-NOTICES", "rpcurl.spdx.json", "SHA256SUMS")),
    ]  # fmt: skip
    assert [place for place in places if not (unpacked / place).is_file()] == []
    pages = {page.name for page in (ROOT / "man").iterdir()}
    assert {page.name for page in (unpacked / "share/man").rglob("*.?")} == pages
    assert not (unpacked / "share/rpcurl/directories").exists()


def test_checksums_in_the_tarball(unpacked):
    sums = unpacked / DOCUMENTS / "SHA256SUMS"
    run("sha256sum", "--check", "--strict", "--quiet", sums, cwd=unpacked)
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    listed = {line.split("  ")[1] for line in sums.read_text().splitlines()}
    assert listed == files - {f"{DOCUMENTS}/SHA256SUMS"}


@pytest.mark.parametrize("kind", ["", "-libc"])
def test_tarballs_contain_one_time_and_no_users(kind):
    found = members(package(f"rpcurl-{VERSION}-linux-{MACHINE}{kind}.tar.gz"))
    assert {(member.uname, member.gname, member.uid, member.gid) for member in found} == {("root", "root", 0, 0)}
    assert len({member.mtime for member in found}) == 1
    assert {member.mode for member in found} == {0o755, 0o644}
    assert [member.name for member in found] == sorted(member.name for member in found) or not kind


def test_the_tarball_with_the_c_library_has_no_directories():
    """tar replaces a link /lib by a directory, if the archive has an entry for the directory."""
    assert not [member for member in members(package("*-libc.tar.gz")) if not member.isfile()]


def test_the_tarball_with_the_c_library_has_the_loader_that_the_program_names(loader):
    names = {f"/{member.name}" for member in members(package("*-libc.tar.gz"))}
    assert {str(loader), f"/lib/{MACHINE}-linux-gnu/libc.so.6"} <= names


def test_the_pkg_config_file_of_the_tarball_finds_its_directory(unpacked):
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(unpacked / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "rpcurl", env=environment).stdout.strip()
    assert run("realpath", flags.removeprefix("-I")).stdout.strip() == str(unpacked / "include")
    assert run("pkg-config", "--modversion", "rpcurl", env=environment).stdout.strip() == VERSION


# The program


def unpack(file, folder):
    """Unpack a package of any kind."""
    folder.mkdir()
    commands = {
        ".deb": ["dpkg-deb", "-R", file, "."],
        ".rpm": ["sh", "-c", 'rpm2cpio "$0" | cpio -idm --quiet', file],
        ".gz": ["tar", "-xzf", file],
    }
    run(*commands[file.suffix], cwd=folder)


def test_no_package_contains_paths_of_the_build(tmp_path):
    packages = [file for file in PACKAGES.iterdir() if file.name != "SHA256SUMS"]
    assert len(packages) == 6
    for package in packages:
        unpack(package, tmp_path / package.name)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 200
    # The header of an RPM, which is not compressed, and the contents of each file.
    contents = {str(path): path.read_bytes() for path in [*packages, *files]}
    contents |= {f"{name} (unpacked)": gzip.decompress(data) for name, data in contents.items() if name.endswith(".gz")}
    assert any(name.endswith(".1.gz (unpacked)") for name in contents)
    assert [name for name, data in contents.items() if str(ROOT).encode() in data] == []


def test_the_program_has_no_lengths_of_paths_of_the_build():
    """`withoutActuallyEscaping` gives the length of the path of its source to this function."""
    symbols = run("nm", BUILD / "release/rpcurl").stdout
    assert "swift_retain\n" in symbols and "swift_isEscapingClosureAtFileLocation" not in symbols


def test_the_program_is_for_the_machine_that_packages_name(unpacked):
    header = run("readelf", "--file-header", unpacked / "bin/rpcurl").stdout
    assert {"x86_64": "X86-64", "aarch64": "AArch64"}[MACHINE] in header
    assert fields(package("rpcurl_*.deb"))["Architecture"] == ARCHITECTURE
    assert query(package("rpcurl-[0-9]*.rpm"), "--queryformat", "%{ARCH}") == MACHINE


def test_the_program_requires_an_old_c_library_only(unpacked, loader):
    program = unpacked / "bin/rpcurl"
    needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", program).stdout))
    assert needed <= LIBRARIES | {loader.name}
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-p", program).stdout)
    assert max((int(major), int(minor)) for major, minor in versions) <= NEWEST_GLIBC
    assert "GLIBC_ABI_DT_RELR" not in run("objdump", "-p", program).stdout


def test_packages_have_the_same_program(unpacked, tmp_path):
    for pattern in (f"rpcurl_{VERSION}-0rpcurl1_*.deb", f"rpcurl-{VERSION}-1.*.rpm", "*-libc.tar.gz"):
        file = package(pattern)
        unpack(file, tmp_path / file.name)
        assert (tmp_path / file.name / "usr/bin/rpcurl").read_bytes() == (unpacked / "bin/rpcurl").read_bytes()


# Licences


def test_the_notice_names_each_project_with_its_licence(unpacked):
    notice = (unpacked / DOCUMENTS / "THIRD-PARTY-NOTICES").read_text()
    head = notice.split("====")[0]
    # Of each: the name, the version or "schemas", and the licence.
    listed = {line.split()[0]: " ".join(line.split()[2:]) for line in head.splitlines() if line.startswith("  ")}
    assert listed == PROJECTS | SCHEMAS
    for words in ["Daniel Stenberg", "Tatsuhiro Tsujikawa", "Mark Adler", "Runtime Library Exception", "Dave Benson"]:
        assert words in notice


@pytest.fixture(scope="module")
def unpacked_with_libc(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libc")
    run("tar", "-xzf", package("*-libc.tar.gz"), "-C", folder)
    return folder


@pytest.mark.parametrize("kind", ["", "libc"])
def test_the_bill_of_materials_is_valid(unpacked, unpacked_with_libc, kind):
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    document = parse_file(str((unpacked_with_libc / "usr" if kind else unpacked) / DOCUMENTS / "rpcurl.spdx.json"))
    assert [message.validation_message for message in validate_full_spdx_document(document, "SPDX-2.3")] == []


def test_the_bill_of_materials_names_the_program_and_its_parts(may_run, unpacked, unpacked_with_libc):
    bill = json.loads((unpacked / DOCUMENTS / "rpcurl.spdx.json").read_text())
    [program] = bill["files"]
    digest = run("sha256sum", unpacked / "bin/rpcurl").stdout.split()[0]
    assert {"algorithm": "SHA256", "checksumValue": digest} in program["checksums"]
    names = {entry["SPDXID"]: entry["name"] for entry in bill["packages"]}
    parts = {names[r["relatedSpdxElement"]] for r in bill["relationships"] if r["relationshipType"] == "STATIC_LINK"}
    assert PROJECTS.keys() <= parts
    versions = {entry["name"]: entry.get("versionInfo") for entry in bill["packages"]}
    assert versions["rpcurl"] == VERSION and all(versions[name] for name in PROJECTS)
    # The program itself names the versions of these.
    output = run(unpacked / "bin/rpcurl", "version", env={"QEMU_LD_PREFIX": str(unpacked_with_libc)}).stdout
    assert f"libcurl/{versions['curl']} " in output and f"OpenSSL/{versions['openssl']} " in output
    assert f"nghttp2/{versions['nghttp2']}" in output


def test_the_bill_of_materials_names_the_c_library_that_is_in_the_package(may_run, unpacked_with_libc, unpacked):
    bill = json.loads((unpacked_with_libc / "usr" / DOCUMENTS / "rpcurl.spdx.json").read_text())
    (libc,) = [entry for entry in bill["packages"] if entry["name"] == "libc6"]
    (reference,) = [reference["referenceLocator"] for reference in libc["externalRefs"]]
    assert libc["licenseDeclared"] == PROJECTS["glibc"] and reference.startswith(f"pkg:deb/debian/libc6@{libc['versionInfo']}?arch=")
    # The library names its version, of which the package's is a revision.
    shown = run(unpacked_with_libc / f"lib/{MACHINE}-linux-gnu/libc.so.6", env={"QEMU_LD_PREFIX": str(unpacked_with_libc)}).stdout
    assert f"GLIBC {libc['versionInfo']})" in shown
    # Each file that runs: the program, and those of the C library.
    listed = {
        file["fileName"].removeprefix("./"): check["checksumValue"]
        for file in bill["files"] for check in file["checksums"] if check["algorithm"] == "SHA256"
    }  # fmt: skip
    files = [path for path in unpacked_with_libc.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert listed == {str(path.relative_to(unpacked_with_libc)): sha256(path.read_bytes()).hexdigest() for path in files}
    assert len(files) > 5
    parts = {r["spdxElementId"] for r in bill["relationships"] if r["relatedSpdxElement"] == libc["SPDXID"]}
    assert parts == {file["SPDXID"] for file in bill["files"]}
    other = json.loads((unpacked / DOCUMENTS / "rpcurl.spdx.json").read_text())
    assert other["documentNamespace"] != bill["documentNamespace"]


# Debian and RPM


def fields(deb):
    text = run("dpkg-deb", "--field", deb).stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(" "))


def test_fields_of_the_debian_packages():
    program, development = fields(package("rpcurl_*.deb")), fields(package("rpcurl-dev_*.deb"))
    assert program["Version"] == development["Version"] == f"{VERSION}-0rpcurl1"
    [dependency] = program["Depends"].split(", ")
    least = re.fullmatch(r"libc6 \(>= (\d+)\.(\d+)\)", dependency)
    assert (int(least[1]), int(least[2])) <= NEWEST_GLIBC
    assert development["Architecture"] == "all" and development["Depends"] == f"rpcurl (>= {VERSION}-0rpcurl1)"


@pytest.mark.skipif(not ALL_TESTS, reason="lintian checks the packages with RPCURL_TESTS=all")
def test_lintian_reports_no_problems():
    files = [package("rpcurl_*.deb"), package("rpcurl-dev_*.deb")]
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", "--display-info", *files], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [line for line in done.stdout.splitlines() if line.startswith(("E:", "W:"))]


def test_development_files_are_in_the_package_for_them():
    names = {
        kind: {line.split()[-1] for line in run("dpkg-deb", "-c", package(pattern)).stdout.splitlines()}
        for kind, pattern in {"rpcurl": "rpcurl_*.deb", "dev": "rpcurl-dev_*.deb"}.items()
    }
    files = {kind: {name for name in found if not name.endswith("/")} for kind, found in names.items()}
    assert not files["rpcurl"] & files["dev"]
    for name in ["include/rpcurl/plugin.h", "share/pkgconfig/rpcurl.pc", "share/rpcurl/SwiftKit/plugin.mk"]:
        assert f"./usr/{name}" in files["dev"]
    program = ["bin/rpcurl", "share/zsh/vendor-completions/_rpcurl", "share/rpcurl/ScriptKit/rpcurl.py", f"{DOCUMENTS}/examples/scripts/sign.py"]
    assert {f"./usr/{name}" for name in program} <= files["rpcurl"]
    assert {name.split("/")[6] for name in files["dev"] if "/examples/" in name} == {"approve", "count", "redact", "sign", "stamp"}


def query(file, *options):
    return run("rpm", "--query", "--package", *options, file).stdout


def test_the_rpm_packages():
    program, development = package("rpcurl-[0-9]*.rpm"), package("rpcurl-devel-*.rpm")
    assert query(program, "--queryformat", "%{NAME} %{VERSION}-%{RELEASE} %{LICENSE}") == f"rpcurl {VERSION}-1 Apache-2.0"
    requires = query(program, "--requires")
    versions = [tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", requires)]
    assert versions and max(versions) <= NEWEST_GLIBC and "libcurl" not in requires
    assert "/usr/include/rpcurl/plugin.h" in query(development, "--list") and f"rpcurl >= {VERSION}" in query(development, "--requires")
    listed = query(program, "--list").splitlines()
    assert "/usr/bin/rpcurl" in listed and not [name for name in listed if "/include/" in name]
    assert query(program, "--scripts") == ""
    run("rpm", "--checksig", "--nosignature", program)
