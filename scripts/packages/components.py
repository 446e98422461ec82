"""The other projects whose code is in the program: what the linker took from archives, and sources in this repository."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packages.clock import ROOT

GCC_LICENCE = "GPL-3.0-or-later WITH GCC-exception-3.1"
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"


@dataclass(frozen=True)
class Component:
    """A project, and the text of its licence."""

    name: str
    version: str
    # An expression of SPDX.
    licence: str
    home: str
    text: str
    # The package URL of the sources that were built.
    purl: str = ""


class Unknown(Exception):
    """Something was linked that this file does not describe, or what each package needs was not linked."""


# Archives of Debian packages: name and licence of the project, and its home.
DEBIAN = {
    "libnghttp2.a": ("nghttp2", "MIT", "https://nghttp2.org"),
    "libz.a": ("zlib", "Zlib", "https://zlib.net"),
    "libsnappy.a": ("snappy", "BSD-3-Clause", "https://github.com/google/snappy"),
    "libyaml.a": ("libyaml", "MIT", "https://github.com/yaml/libyaml"),
    "libprotobuf-c.a": ("protobuf-c", "BSD-2-Clause", "https://github.com/protobuf-c/protobuf-c"),
    "libstdc++.a": ("gcc", GCC_LICENCE, "https://gcc.gnu.org"),
    "libgcc.a": ("gcc", GCC_LICENCE, "https://gcc.gnu.org"),
    "libgcc_eh.a": ("gcc", GCC_LICENCE, "https://gcc.gnu.org"),
    "libc_nonshared.a": ("glibc", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/"),
    "libssl.a": ("openssl", "Apache-2.0", "https://openssl-library.org"),
    "libcrypto.a": ("openssl", "Apache-2.0", "https://openssl-library.org"),
}
# Archives of scripts/http3-libraries: the name of the project.
HTTP3 = {"libnghttp3.a": "nghttp3", "libngtcp2.a": "ngtcp2", "libngtcp2_crypto_ossl.a": "ngtcp2"}
# Archives of scripts/libcurl and of what it runs.
BUILT = {"libcurl.a", "libssl.a", "libcrypto.a", *HTTP3}
# The projects without which a package depends on libraries of the system that it does not name.
NEEDED = {"curl", "openssl"}
# Schemas that are sources of this repository: README.md names their folders.
SCHEMAS = [
    ("protobuf", "BSD-3-Clause", "https://github.com/protocolbuffers/protobuf"),
    ("googleapis", "Apache-2.0", "https://github.com/googleapis/googleapis"),
    ("grpc-proto", "Apache-2.0", "https://github.com/grpc/grpc-proto"),
    ("protovalidate", "Apache-2.0", "https://github.com/bufbuild/protovalidate"),
    ("protoc-gen-validate", "Apache-2.0", "https://github.com/bufbuild/protoc-gen-validate"),
    ("gogoproto", "BSD-3-Clause", "https://github.com/cosmos/gogoproto"),
    ("grpc-gateway", "BSD-3-Clause", "https://github.com/grpc-ecosystem/grpc-gateway"),
    ("gnostic", "Apache-2.0", "https://github.com/google/gnostic"),
    ("xds", "Apache-2.0", "https://github.com/cncf/xds"),
]


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def archives(statistics: Path) -> list[Path]:
    """The archives of which the linker took members, from its statistics (--print-archive-stats)."""
    # For an archive of which it took none, lld may write freed memory in place of the path.
    lines = statistics.read_bytes().decode(errors="replace").split("\n")[1:]
    rows = [row for row in (line.split("\t") for line in lines) if len(row) == 3 and row[1].isdigit()]
    return [Path(path) for _, extracted, path in rows if int(extracted)]


def of_debian(archive: Path) -> Component:
    """The Debian package that an archive is from."""
    name, licence, home = DEBIAN[archive.name]
    # With the machine, if the package can be installed for several: `zlib1g-dev:amd64: /usr/lib/…`.
    package = output("dpkg-query", "-S", str(archive.resolve())).rsplit(": ", 1)[0]
    form = "${source:Package} ${source:Version} ${source:Upstream-Version}"
    source, version, upstream = output("dpkg-query", "-W", "-f", form, package).split(" ")
    text = Path(f"/usr/share/doc/{package.split(':')[0]}/copyright").read_text()
    return Component(name, upstream, licence, home, text, f"pkg:deb/debian/{source}@{version}?arch=source")


def of_glibc(folder: Path) -> Component:
    """The start files of the C library, of an older Debian (scripts/glibc)."""
    _, licence, home = DEBIAN["libc_nonshared.a"]
    version = (folder / "version").read_text().strip()
    text = (folder / "copyright").read_text()
    return Component("glibc", version.split("-")[0], licence, home, text, f"pkg:deb/debian/glibc@{version}?arch=source")


def of_libc(package: str) -> Component:
    """The C library of a package of Debian, of which one of the packages has copies."""
    _, licence, home = DEBIAN["libc_nonshared.a"]
    version, architecture = output("dpkg-query", "-W", "-f", "${Version} ${Architecture}", package).split(" ")
    text = Path("/usr/share/doc/libc6/copyright").read_text()
    return Component("libc6", version, licence, home, text, f"pkg:deb/debian/libc6@{version}?arch={architecture}")


def pkg_config_version(place: Path, module: str) -> str:
    return re.search(r"^Version: (.*)$", (place / f"lib/pkgconfig/{module}.pc").read_text(), re.M)[1]


def of_libcurl(archive: Path) -> Component:
    """What scripts/libcurl, scripts/openssl and scripts/http3-libraries built."""
    place = archive.resolve().parent.parent
    if archive.name in HTTP3:
        name = HTTP3[archive.name]
        version, text = pkg_config_version(place, f"lib{name}"), (place / f"LICENSE-{name}").read_text()
        return Component(name, version, "MIT", f"https://github.com/ngtcp2/{name}", text, f"pkg:github/ngtcp2/{name}@v{version}")
    text = (place / "LICENSE").read_text()
    if archive.name == "libcurl.a":
        header = (place / "include" / "curl" / "curlver.h").read_text()
        version = re.search(r'define LIBCURL_VERSION "([^"]*)"', header)[1]
        return Component("curl", version, "curl", "https://curl.se", text, f"pkg:github/curl/curl@curl-{version.replace('.', '_')}")
    version = pkg_config_version(place, "openssl")
    _, licence, home = DEBIAN[archive.name]
    return Component("openssl", version, licence, home, text, f"pkg:github/openssl/openssl@openssl-{version}")


def of_swift() -> Component:
    """The runtime and the standard library of the toolchain."""
    target = json.loads(output("swiftc", "-print-target-info"))
    version = re.search(r"\(swift-(.*)-RELEASE\)", target["compilerVersion"])
    toolchain = Path(target["paths"]["runtimeResourcePath"]).parents[1]
    # That of swift.org and that of Debian.
    places = [toolchain / "share" / "swift" / "LICENSE.txt", Path("/usr/share/doc/swiftlang/copyright")]
    text = next(place for place in places if place.is_file()).read_text()
    number = version[1] if version else target["compilerVersion"]
    return Component("swift", number, SWIFT_LICENCE, "https://swift.org", text, f"pkg:github/swiftlang/swift@swift-{number}-RELEASE")


def of_sources(checkouts: Path) -> list[Component]:
    """Sources of other projects that are compiled with those of rpcurl."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    [collections] = [pin["state"]["version"] for pin in pins if pin["identity"] == "swift-collections"]
    found = [
        Component(
            "swift-collections", collections, SWIFT_LICENCE, "https://github.com/apple/swift-collections",
            (checkouts / "swift-collections/LICENSE.txt").read_text(),
            f"pkg:github/apple/swift-collections@{collections}",
        ),
        Component(
            "HdrHistogram_c", re.search(r"HdrHistogram_c ([\d.]+)", (ROOT / "Sources/CSystem/Histogram/README.md").read_text())[1],
            "BSD-2-Clause OR CC0-1.0", "https://github.com/HdrHistogram/HdrHistogram_c",
            (ROOT / "Sources/CSystem/Histogram/LICENSE").read_text(),
        ),
    ]  # fmt: skip
    apache = (ROOT / "LICENSE").read_text()
    here = Path(__file__).parent
    texts = {name: apache if licence == "Apache-2.0" else (here / f"{name}-license.txt").read_text() for name, licence, _ in SCHEMAS}
    return found + [Component(f"{name} schemas", "", licence, home, texts[name]) for name, licence, home in SCHEMAS]


def of_archive(archive: Path, build: Path) -> Component:
    if archive.name.startswith(("libswift", "libdispatch", "libBlocksRuntime")):
        return of_swift()
    if archive.name in BUILT and (build / "libcurl").resolve() in archive.resolve().parents:
        return of_libcurl(archive)
    if (build / "glibc" / "lib").resolve() == archive.resolve().parent:
        return of_glibc(build / "glibc")
    if archive.name not in DEBIAN:
        raise Unknown(f"{archive} is linked in: describe it in scripts/packages/components.py")
    return of_debian(archive)


def linked(build: Path) -> list[Component]:
    """Each project whose code a build linked, once, by name."""
    found = {part.name: part for part in (of_archive(archive, build) for archive in archives(build / "rpcurl.archives"))}
    if missing := NEEDED - found.keys():
        raise Unknown(f"the program is built without {' and '.join(sorted(missing))}: see what \"make libcurl\" prints")
    found |= {component.name: component for component in [of_glibc(build / "glibc"), *of_sources(build / "checkouts")]}
    return [found[name] for name in sorted(found, key=str.lower)]
