"""Debian packages: rpcurl, and rpcurl-dev with what plugins are built against."""

import hashlib
import os
import subprocess
from pathlib import Path

from packages import archive, clock
from packages.components import Component
from packages.tree import DOCUMENTS, Tree

MAINTAINER = os.environ.get("MAINTAINER") or "rpcurl maintainers <rpcurl@packages.debian.org>"
# What the program is linked with (scripts/glibc).
LEAST_GLIBC = "2.31"
# What is in rpcurl-dev.
DEVELOPMENT = [
    "include/", "share/pkgconfig/", "share/man/man3/",
    *(f"share/rpcurl/{name}" for name in ("SwiftKit/", "RustKit/", "rpcurl.tmLanguage.json")),
    *(f"{DOCUMENTS}/examples/{name}/" for name in ("approve", "count", "redact", "sign", "stamp")),
]  # fmt: skip
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rpcurl

Files: *
Copyright: {year} the authors of rpcurl
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""
PARTS = """Comment:
 The program contains code of the projects below. Their copyright notices and
 licences are in /usr/share/doc/rpcurl/THIRD-PARTY-NOTICES.
 .
"""
DESCRIPTION = """client for gRPC, gRPC-Web and Connect
 rpcurl calls gRPC, gRPC-Web and Connect services from the command line.
 Requests and responses are JSON. The schema comes from the server (reflection),
 from descriptor sets or from .proto files. Every call passes a chain of
 interceptors that can read and change everything that is sent and received.
"""
DEV_DESCRIPTION = """files to build plugins of rpcurl
 The C header of plugins of rpcurl, a pkg-config file, SwiftKit for plugins in
 Swift, declarations for plugins in Rust, and samples.
"""
# The program is one file on purpose: it contains the libraries that it was tested with, and SECURITY.md states why it is
# not position-independent.
OVERRIDES = """rpcurl: embedded-library *usr/bin/rpcurl*
rpcurl: hardening-no-pie *usr/bin/rpcurl*
"""


def compress(file: Path) -> None:
    """Replaces a file by FILE.gz."""
    file.with_name(f"{file.name}.gz").write_bytes(archive.compressed(file.read_bytes()))
    file.unlink()


def lay_out(tree: Tree) -> None:
    """Moves the files to where Debian has them."""
    tree.move("share/zsh/site-functions/_rpcurl", "share/zsh/vendor-completions/_rpcurl")
    tree.move("lib/pkgconfig/rpcurl.pc", "share/pkgconfig/rpcurl.pc")
    # The file `copyright` names it.
    tree.remove(f"{DOCUMENTS}/LICENSE")
    tree.path(f"{DOCUMENTS}/changelog").write_bytes(tree.path(f"{DOCUMENTS}/CHANGELOG.md").read_bytes())
    tree.remove(f"{DOCUMENTS}/CHANGELOG.md")
    compress(tree.path(f"{DOCUMENTS}/changelog"))
    for page in tree.path("share/man").rglob("*.?"):
        compress(page)


def control(fields: dict[str, str], description: str) -> str:
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"Description: {description}"


def add_documents(tree: Tree, name: str, version: str, parts: list[Component]) -> None:
    folder = tree.path(f"share/doc/{name}")
    folder.mkdir(parents=True, exist_ok=True)
    lines = (f" {part.name} {part.version}: {part.licence}\n" for part in parts)
    (folder / "copyright").write_text(COPYRIGHT.format(year=clock.utc().year) + (PARTS + "".join(lines) if parts else ""))
    changes = f"rpcurl ({version}) unstable; urgency=medium\n\n  * Release: see changelog.gz.\n\n -- {MAINTAINER}  {clock.rfc2822()}\n"
    (folder / "changelog.Debian.gz").write_bytes(archive.compressed(changes.encode()))


def build(tree: Tree, fields: dict[str, str], description: str, out: Path) -> Path:
    """Writes a package with the files of a tree below /usr."""
    package = tree.root.parent
    meta = package / "DEBIAN"
    meta.mkdir()
    files = [path for path in tree.files() if not path.is_symlink()]
    sums = (f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(package)}\n" for path in files)
    (meta / "md5sums").write_text("".join(sums))
    fields = fields | {"Installed-Size": str(sum(-(-path.stat().st_size // 1024) for path in files))}
    (meta / "control").write_text(control(fields, description))
    for path in [package, *package.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    target = out / f"{fields['Package']}_{fields['Version']}_{fields['Architecture']}.deb"
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(clock.epoch())}
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", package, target], check=True, env=environment,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return target


def write(installed: Path, work: Path, out: Path, version: str, architecture: str, parts: list[Component]) -> list[Path]:
    # Before one of Debian itself, which begins with 1.
    version = f"{version}-0rpcurl1"
    common = {"Version": version, "Maintainer": MAINTAINER, "Priority": "optional"}

    program = Tree(installed, work / "deb" / "usr")
    lay_out(program)
    program.keep(DEVELOPMENT, kept=False)
    add_documents(program, "rpcurl", version, parts)
    overrides = program.path("share/lintian/overrides/rpcurl")
    overrides.parent.mkdir(parents=True)
    overrides.write_text(OVERRIDES)
    fields = {"Package": "rpcurl"} | common | {
        "Architecture": architecture, "Section": "net", "Depends": f"libc6 (>= {LEAST_GLIBC})",
        "Recommends": "ca-certificates",
        "Suggests": "rpcurl-dev, python3, nodejs, libzstd1, libbrotli1, libidn2-0, libedit2",
    }  # fmt: skip

    development = Tree(installed, work / "deb-dev" / "usr")
    lay_out(development)
    development.keep(DEVELOPMENT)
    add_documents(development, "rpcurl-dev", version, [])
    dev_fields = {"Package": "rpcurl-dev", "Source": "rpcurl"} | common | {
        "Architecture": "all", "Section": "devel", "Depends": f"rpcurl (>= {version})", "Recommends": "gcc | c-compiler, make, pkgconf",
    }  # fmt: skip
    return [build(program, fields, DESCRIPTION, out), build(development, dev_fields, DEV_DESCRIPTION, out)]
