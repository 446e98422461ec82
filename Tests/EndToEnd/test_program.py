"""The program file as it is built for release: one file, hardened, without symbols that plugins could meet."""

import os
import re
import subprocess

import pytest

from harness import ROOT, RPCURL

# What the C library consists of, by any version of glibc.
C_LIBRARY = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[-a-z0-9_]*)\.so\.\d")
STRIPPED = RPCURL.with_name("rpcurl.stripped")
BUILT_IN = ROOT / ".build" / "libcurl" / "current" / "lib"

pytestmark = pytest.mark.skipif(RPCURL.parent != ROOT / ".build" / "release", reason="another binary is tested")


def readelf(*options, file=STRIPPED):
    done = subprocess.run(["readelf", "--wide", *options, file], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def test_needs_only_the_c_library():
    dynamic = readelf("--dynamic")
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert "libc.so.6" in needed
    assert [name for name in needed if not C_LIBRARY.fullmatch(name)] == []
    # Nor does it look for libraries beside itself.
    assert "PATH)" not in dynamic


def test_is_hardened():
    """Relocations are read-only after start (full RELRO), and no memory is writable and executable."""
    assert re.search(r"\(FLAGS_1\).*\bNOW\b", readelf("--dynamic"))
    segments = readelf("--segments")
    assert "GNU_RELRO" in segments
    [stack] = re.findall(r"GNU_STACK .* ([RWE ]{3}) 0", segments)
    assert stack == "RW "
    assert not re.search(r"^ +\w+ .* RWE 0x", segments, re.M)


def test_has_no_page_that_each_start_relocates():
    """Except with `make release PIE=1`: a position-independent program writes 145 pages before it runs."""
    if "DYN (Position-Independent Executable" in readelf("--file-header"):
        pytest.skip("the program is built with PIE=1")
    relocated = set(re.findall(r"^[0-9a-f]{16} .* R_(?:X86_64|AARCH64)_(\w+)", readelf("--relocs"), re.M))
    # Addresses of functions and variables of the C library.
    assert relocated and relocated <= {"JUMP_SLOT", "GLOB_DAT", "COPY", "64", "ABS64"}


def test_exports_nothing_to_plugins():
    """A symbol of a linked-in library that a plugin's own library has too would replace it."""
    symbols = readelf("--dyn-syms")
    exported = [line.split()[7].split("@")[0] for line in symbols.splitlines()[3:] if " UND " not in line]
    # Copies of variables of the C library, which it must find here.
    assert set(exported) <= {"environ", "__environ", "_environ", "stdin", "stdout", "stderr"}


def test_has_no_unwind_tables():
    """Nothing in the program throws, and debuggers use the frame pointers or the program before it was stripped."""
    assert "GNU_EH_FRAME" not in readelf("--segments")
    sizes = re.findall(r" \.eh_frame(?:_hdr)? +PROGBITS +\w+ \w+ (\w+)", readelf("--sections"))
    assert [int(size, 16) for size in sizes] == [0, 0]


def test_has_no_library_of_regular_expressions():
    """Each would be half a megabyte, and hundreds of conformances that every look-up of one passes."""
    symbols = readelf("--symbols", file=RPCURL)
    assert "$sS" in symbols
    own = [line for line in symbols.splitlines() if " UND " not in line]
    for module in ["17_StringProcessing", "12_RegexParser", "20FoundationEssentials"]:
        assert [line for line in own if f"$s{module}" in line] == []


def test_has_no_concurrency_runtime():
    """It would be half a megabyte, and libdispatch, which prepares threads at each start."""
    symbols = readelf("--symbols", file=RPCURL)
    assert "swift_retain" in symbols
    assert "swift_task_create" not in symbols and "dispatch_async" not in symbols


def test_size():
    """With libcurl and what it needs inside. A little above the present size, so that growth is seen and decided on."""
    if not (BUILT_IN / "libssl.a").exists():
        pytest.skip("libcurl or OpenSSL is not built in")
    if (BUILT_IN / "libngtcp2.a").exists():
        pytest.skip("the limit is that of a program without HTTP/3")
    assert STRIPPED.stat().st_size <= 16_700_000


def test_debug_information_is_separate():
    sections = readelf("--sections")
    assert ".debug_info" not in sections and ".symtab" not in sections
    debug = RPCURL.with_name("rpcurl.debug")
    assert ".debug_info" in readelf("--sections", file=debug)
    if os.environ.get("GLIBC"):
        # A program for other systems.
        assert ".gnu_debuglink" not in sections
        return
    assert "rpcurl.debug" in readelf("--string-dump=.gnu_debuglink")
    build_id = re.compile(r"Build ID: (\w+)")
    assert build_id.search(readelf("--notes", file=debug))[1] == build_id.search(readelf("--notes"))[1]


def test_version_says_built_in(rpcurl):
    if not (BUILT_IN / "libcurl.a").exists():
        pytest.skip("libcurl is not built in")
    libcurl = rpcurl("version", "--format", "json", env={"RPCURL_LIBCURL": ""}).json()["libcurl"]
    assert libcurl["source"] == "built-in" and "path" not in libcurl
    assert libcurl["httpVersions"] == ["1.1", "2"]
    assert {"TLS", "HTTPS proxies", "unix sockets", "IPv6"} <= set(libcurl["features"])
    assert "libcurl: built in\n" in rpcurl("version", env={"RPCURL_LIBCURL": ""}).out
