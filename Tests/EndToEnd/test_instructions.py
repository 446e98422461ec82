"""Six commands of the release program take as many instructions as instructions.json says, within 1 %.

valgrind counts them, and other work of the machine has no influence. A server that sends its whole response at once after the
whole request, fixed seeds of hash tables and a clock that goes on by a microsecond with each look make the counts of one program equal within 0.1 %.
Where the C library, the toolchain, valgrind or the processor are others than those of the file, the test is skipped. `make counts`
writes the file.
"""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import GENERATED, PATIENCE_SECONDS, RPCURL, Rpcurl, build_clock
from raw_http2 import ACK, DATA, END_HEADERS, END_STREAM, HEADERS, OK, RESPONSE, SETTINGS, STATUS_OK, Stream, frame, header_block
from raw_http2 import read_exactly, read_frame

STRIPPED = Path(f"{RPCURL}.stripped")
COUNTS = Path(__file__).with_name("instructions.json")
TOLERANCE = 0.01
HELLO = ("-d", '{"name":"Ada"}', "demo.v1.Demo/Hello")
MESSAGES = 2000


def grpc(response: bytes) -> Callable[[socket.socket], None]:
    """A server of one call over HTTP/2, which is silent until the request is complete."""
    pieces = [frame(DATA, 0, 1, response[start : start + 16_384]) for start in range(0, len(response), 16_384)]
    frames = [frame(SETTINGS, 0, 0, b""), frame(SETTINGS, ACK, 0, b""), frame(HEADERS, END_HEADERS, 1, header_block(OK)), *pieces]
    answer = b"".join([*frames, frame(HEADERS, END_HEADERS | END_STREAM, 1, header_block(STATUS_OK))])

    def handle(connection: socket.socket) -> None:
        read_exactly(connection, 24)
        while not (found := read_frame(connection))[1] & END_STREAM or found[0] not in (DATA, HEADERS):
            pass
        connection.sendall(answer)
        Stream(connection, 1).wait_for_the_end()

    return handle


def connect(connection: socket.socket) -> None:
    """A server of one call of Connect over HTTP/1.1."""
    request = b""
    while not request.endswith(b"}"):
        request += read_exactly(connection, 1)
    body = b'{"message":"Ada"}'
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    connection.recv(1)


def count_reply(number: int) -> bytes:
    return b"\0\0\0\0\x03\x08" + bytes([number % 128 + 128, number // 128])


CALLS: dict[str, tuple[Callable[[socket.socket], None] | None, tuple[str, ...]]] = {
    "--help": (None, ("--help",)),
    "unary gRPC": (grpc(RESPONSE), HELLO),
    "unary Connect with JSON": (connect, ("--protocol", "connect", "--codec", "json", *HELLO)),
    f"server stream of {MESSAGES} messages": (
        grpc(b"".join(count_reply(number) for number in range(128, 128 + MESSAGES))),
        ("-d", "{}", "demo.v1.Demo/Count"),
    ),
    f"client stream of {MESSAGES} messages": (grpc(b"\0\0\0\0\x02\x08\x05"), ("-d", "@sum.json", "demo.v1.Demo/Sum")),
    "unary gRPC with interceptors": (
        grpc(RESPONSE),
        ("--use", "header,set=x-a:b", "--use", "retry", "--use", "deadline,default=9m", "--use", "assert,check=status ok", *HELLO),
    ),
}  # fmt: skip


def machine(rpcurl: Rpcurl) -> dict[str, str]:
    """What the counts depend on besides the sources; of the program the libraries that it loads, which GLIBC and LIBCURL choose."""
    features = set(re.findall(r"^flags\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.M)[0].split())
    return {
        "C library": os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        "libraries": json.loads(rpcurl("version", "--format", "json").out)["libcurl"]["libraries"],
        "program": " ".join(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", str(RPCURL)).stdout)),
        "processor": " ".join([platform.machine(), *sorted(features & {"avx2", "erms", "fsrm"})]),
        "toolchain": run("swiftc", "--version").stdout.splitlines()[0],
        "valgrind": run("valgrind", "--version").stdout.strip(),
    }


def run(*command: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True, **more)


@pytest.fixture
def folder() -> Iterator[Path]:
    """The files of the calls, in a directory whose name has the same length on each machine."""
    if not STRIPPED.exists() or os.environ.get("RPCURL_LIBCURL"):
        pytest.skip("instructions are counted of the release program with its own libcurl")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        prepare(Path(name))
        yield Path(name)


def prepare(folder: Path) -> None:
    # valgrind makes calls slow, which the program would warn of.
    build_clock(folder, 1)
    # valgrind 3.19 finds the debug information beside the program, and cannot read it.
    shutil.copy(STRIPPED, folder / "rpcurl")
    shutil.copy(GENERATED / "demo.binpb", folder)
    (folder / "sum.json").write_text('{"value":"300"}\n' * MESSAGES)


def count(arguments: tuple[str, ...], folder: Path) -> int:
    """The instructions of a command, in an environment that is the same on each machine."""
    environment = {
        "HOME": str(folder), "LC_ALL": "C.UTF-8", "LD_PRELOAD": str(folder / "clock.so"), "SWIFT_DETERMINISTIC_HASHING": "1",
    }  # fmt: skip
    # Debian's valgrind is a script that sets LD_LIBRARY_PATH, with which the program loads the libraries that it offers.
    program = shutil.which("valgrind.bin") or "valgrind"
    valgrind = (program, "--tool=callgrind", "--callgrind-out-file=/dev/null", str(folder / "rpcurl"))
    done = run(*valgrind, *arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)
    return int(re.findall(r"Collected : (\d+)", done.stderr)[0])


def test_commands_take_as_many_instructions_as_before(rpcurl, raw_server, folder):
    known, here = json.loads(COUNTS.read_text()), machine(rpcurl)
    writes = os.environ.get("RPCURL_COUNTS") == "write"
    if not writes and known["machine"] != here:
        if here["program"] != known["machine"]["program"]:
            pytest.skip("the counts are of a program that loads other libraries")
        pytest.skip(f"{COUNTS.name} has the counts of another {' and '.join(name for name in here if here[name] != known['machine'][name])}")

    def measure(handler: Callable[[socket.socket], None] | None, arguments: tuple[str, ...]) -> int:
        call = ("--descriptor-set", "demo.binpb", "--plaintext", raw_server(handler).address) if handler else ()
        return count((*call, *arguments), folder)

    def change(name: str) -> float:
        return found[name] / known["instructions"][name] - 1

    found = {name: measure(*call) for name, call in CALLS.items()}
    if writes:
        COUNTS.write_text(json.dumps({"machine": here, "instructions": found}, indent=2) + "\n")
        return
    for name in found:
        if abs(change(name)) > TOLERANCE:
            # A packet more or less takes another turn of the loop.
            found[name] = min(found[name], measure(*CALLS[name]), measure(*CALLS[name]))
    wrong = [f"{name}: {found[name]:,} instructions, {change(name):+.2%}" for name in found if abs(change(name)) > TOLERANCE]
    assert not wrong, "\n".join([*wrong, f"If this is intended, say why in the commit; make counts writes {COUNTS.name}"])
