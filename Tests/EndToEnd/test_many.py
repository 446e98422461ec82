"""Many headers, trailers and commands: the time grows with their number, and not with its square.

The limits are many times what is needed, and a fraction of what a quadratic time would be."""

import os
import socket
import struct

import pytest
from harness import Process, write

HELLO = "demo.v1.Demo/Hello"
NOWHERE = f"http://127.0.0.1:1/{HELLO}"
# In seconds of the processor.
LIMIT = 3


def run(rpcurl, *arguments, input=b"", limit=LIMIT):
    """The exit code and the output of a command, which needs little time of the processor."""
    with Process(
        rpcurl.command(arguments), stdin=-1, stdout=-1, stderr=-1, env=rpcurl.environment(None), cwd=rpcurl.home
    ) as process:  # fmt: skip
        before = os.times()
        out, err = process.communicate(input)
        after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    assert used < limit, f"{used} s of the processor"
    return process.returncode, out, err


def test_headers_of_a_stub(rpcurl, descriptor_set, tmp_path):
    headers = ",".join(f'"x-{number}":"v"' for number in range(80_000))
    stub = write(tmp_path / "stub.json", '{"method":"*","response":{"headers":{%s},"message":{}}}' % headers)
    code, out, err = run(rpcurl, "--descriptor-set", descriptor_set, "--use", f"mock,file={stub}", "-d", "{}", NOWHERE)
    assert (code, out) == (0, b"{}\n"), err


def test_header_commands(rpcurl, tmp_path):
    commands = [f"header x-{number}: v" for number in range(32_000)]
    code, out, err = run(rpcurl, "run", "http://127.0.0.1:1", "-", input="\n".join([*commands, "header X-0: w", "header", ""]).encode())
    lines = out.decode().splitlines()
    assert code == 0, err
    assert (len(lines), lines[0], lines[-1]) == (32_000, "x-1: v", "x-0: w")


@pytest.mark.parametrize("command, count", [("use header,set=x-{}:v", 1000), ("use header,set=x-{}:v,after=?x", 500), ("options -H x-{}:v", 8000)])
def test_commands_that_add_to_the_settings(rpcurl, command, count):
    """The chain is built once for each interceptor that is added."""
    commands = "".join(f"{command.format(number)}\n" for number in range(count))
    code, _, err = run(rpcurl, "run", "http://127.0.0.1:1", "-", input=commands.encode(), limit=4)
    assert code == 0, err


def test_headers_of_a_request(rpcurl, descriptor_set, tmp_path, raw_server):
    """They exceed the limit of libcurl for a request, after they were put into its list."""
    file = write(tmp_path / "headers", "".join(f"x-{number}: v\n" for number in range(60_000)))
    server = raw_server(lambda connection: connection.recv(1))
    code, _, err = run(rpcurl, "--descriptor-set", descriptor_set, "-H", f"@{file}", "-d", "{}", f"http://{server.address}/{HELLO}", limit=1)
    assert code in (2, 5), err


def frame(kind, flags, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", 1) + payload


def test_trailers(rpcurl, descriptor_set, raw_server):
    """Each is one byte: the index of an entry of the table."""

    def serve(connection: socket.socket):
        connection.recv(1 << 16)
        connection.sendall(bytes.fromhex("000000040000000000"))
        # :status 200; content-type and x with indexing.
        head = b"\x88" + b"\x5f\x10application/grpc" + b"\x40\x01x\x01v"
        message = frame(0, 0, b"\0\0\0\0\0")
        trailers = b"\xbe" * 100_000 + b"\x00\x0bgrpc-status\x010"
        pieces = [trailers[start : start + 16_000] for start in range(0, len(trailers), 16_000)]
        connection.sendall(frame(1, 4, head) + message + frame(1, 1, pieces[0]))
        for number, piece in enumerate(pieces[1:], 2):
            connection.sendall(frame(9, 4 if number == len(pieces) else 0, piece))
        while connection.recv(1 << 16):
            pass

    address = raw_server(serve).address
    code, out, err = run(rpcurl, "--descriptor-set", descriptor_set, "-d", "{}", f"http://{address}/{HELLO}", limit=0.4)
    # They are counted after libcurl has collected them.
    assert code == 5 and b"more than 4096 trailers" in err, err


@pytest.mark.parametrize("value", [b"x", b"["])
def test_line_without_an_end_in_a_session(rpcurl, value):
    """The rest of the line is not kept, and the session continues."""
    code, out, err = run(rpcurl, "session", "http://127.0.0.1:1", input=value * (66 << 20) + b"\nheader x-a: b\nheader\n")
    assert b"a line is longer than 64 MiB" in err and err.count(b"\n") < 5, err
    assert out == b"x-a: b\n"
