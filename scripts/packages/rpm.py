"""RPM packages: rpcurl, and rpcurl-devel with what plugins are built against."""

import os
import subprocess
from pathlib import Path

from packages import clock
from packages.debian import DESCRIPTION, DEV_DESCRIPTION, DEVELOPMENT, compress
from packages.tree import Tree

# rpmbuild finds the C libraries that the program requires. What it does to files of other builds is left out: the program
# is stripped already.
SPEC = """
%global debug_package %{{nil}}
%global __os_install_post %{{nil}}
%global __brp_mangle_shebangs %{{nil}}
%global _build_id_links none
Name: rpcurl
Version: {version}
Release: 1
Summary: {summary}
License: Apache-2.0
Recommends: ca-certificates
AutoReqProv: yes

%description
{description}

%package devel
Summary: {dev_summary}
BuildArch: noarch
Requires: rpcurl >= {version}

%description devel
{dev_description}

%files
{files}

%files devel
{dev_files}
"""

# Directories that the packages own; fish and zsh, which own two of them too, need not be installed.
OWN = ("share/doc/rpcurl/", "share/rpcurl/", "include/rpcurl/", "share/fish/", "share/zsh/")

# The place of the number of the machine in a package.
LEAD_MACHINE = 8


def texts(description: str) -> tuple[str, str]:
    """Summary and description, from a description as Debian has it."""
    first, *lines = description.strip().split("\n")
    return first[0].upper() + first[1:], "\n".join(line.strip() for line in lines)


def entries(tree: Tree, below: list[str] | None) -> str:
    """The lines of %files for the files below some places, or for all others."""
    lines = []
    for path in tree.files():
        name = str(path.relative_to(tree.root))
        if name.startswith(tuple(DEVELOPMENT)) == (below is not None):
            mark = "%doc " if name.startswith(("share/doc/", "share/man/")) else ""
            lines.append(f"{mark}%attr({'755' if os.access(path, os.X_OK) else '644'}, root, root) \"/usr/{name}\"")
    for folder in sorted(path for path in tree.root.rglob("*") if path.is_dir()):
        name = str(folder.relative_to(tree.root)) + "/"
        own = name.startswith(OWN)
        if own and name.startswith(tuple(DEVELOPMENT)) == (below is not None):
            lines.append(f'%dir %attr(755, root, root) "/usr/{name[:-1]}"')
    return "\n".join(lines)


def write(installed: Path, work: Path, out: Path, version: str, machine: str) -> list[Path]:
    root = work / "rpm" / "root"
    tree = Tree(installed, root / "usr")
    tree.move("lib/pkgconfig/rpcurl.pc", "share/pkgconfig/rpcurl.pc")
    for page in tree.path("share/man").rglob("*.?"):
        compress(page)
    for path in [tree.root, *tree.root.rglob("*")]:
        os.utime(path, (clock.epoch(), clock.epoch()))
    summary, description = texts(DESCRIPTION)
    dev_summary, dev_description = texts(DEV_DESCRIPTION)
    spec = work / "rpm" / "rpcurl.spec"
    spec.write_text(
        SPEC.format(
            version=version, summary=summary, description=description, dev_summary=dev_summary,
            dev_description=dev_description, files=entries(tree, None), dev_files=entries(tree, DEVELOPMENT),
        )
    )  # fmt: skip
    settings = {
        "_topdir": work.resolve() / "rpm", "_rpmdir": out.resolve(), "_rpmfilename": "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
        "_buildhost": "localhost", "use_source_date_epoch_as_buildtime": 1, "clamp_mtime_to_source_date_epoch": 1,
        # A package for all machines is the same from each.
        "_target_platform": "linux",
        # What rpm of every distribution of today reads.
        "_rpmformat": 4, "_binary_payload": "w6.xzdio", "_source_filedigest_algorithm": 8, "_binary_filedigest_algorithm": 8,
    }  # fmt: skip
    defines = [word for name, value in settings.items() for word in ("--define", f"{name} {value}")]
    subprocess.run(
        ["rpmbuild", "--quiet", "-bb", "--target", machine, *defines, "--buildroot", root.resolve(), spec], check=True, stdout=subprocess.DEVNULL,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(clock.epoch())},
    )  # fmt: skip
    development = out / f"rpcurl-devel-{version}-1.noarch.rpm"
    # Its first bytes, which rpm reads no more, name the machine that rpmbuild was called for: 255 is that of none.
    with development.open("r+b") as file:
        file.seek(LEAD_MACHINE)
        file.write((255).to_bytes(2, "big"))
    return [out / f"rpcurl-{version}-1.{machine}.rpm", development]
