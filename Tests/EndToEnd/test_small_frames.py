"""Streams in many small DATA frames that arrive together: nothing is lost, and nothing changes its order."""

import itertools
import json
import os
import queue
import signal
import socket
import struct

import pytest

import raw_http2
from harness import build_clock
from raw_http2 import CANCEL, DATA, END_HEADERS, HEADERS, OK, RST_STREAM, STATUS_OK, frame, header_block

COUNT = "demo.v1.Demo/Count"


def message(number, size):
    """A CountReply in its envelope, of this size with it; a field that it does not have fills it."""
    fields = b"\x08" + varint(number)
    left = size - 5 - len(fields)
    if left >= 3:
        length = left - 2 if left < 130 else left - 3
        fields += b"\x7a" + varint(length) + bytes(length)
    return b"\0" + struct.pack(">I", len(fields)) + fields


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def frames(body, sizes, stream=1):
    """A body in frames of these sizes, again and again."""
    sizes, out = itertools.cycle(sizes), b""
    while body:
        size = next(sizes)
        out += frame(DATA, 0, stream, body[:size])
        body = body[size:]
    return out


def head(stream=1):
    return frame(HEADERS, END_HEADERS, stream, header_block(OK))


def trailers(stream=1):
    return frame(HEADERS, END_HEADERS | raw_http2.END_STREAM, stream, header_block(STATUS_OK))


def numbers(text):
    return [json.loads(line).get("number", 0) for line in text.splitlines()]


@pytest.fixture
def count(demo, raw_server):
    def call(respond, *options):
        server = raw_server(raw_http2.handler(lambda stream: stream.connection.sendall(respond)))
        return demo("--max-time", "25", "-d", "{}", *options, f"http://{server.address}/{COUNT}")

    return call


# Around the largest frame that is collected (1,024 bytes), and around what is collected at once (16 KB).
@pytest.mark.parametrize("sizes", [[1], [7, 0], [1023], [1024], [1025], [1024, 1025], [5, 4000, 3], [16_384, 1], [1000, 16_384, 24, 1024]], ids=str)
@pytest.mark.parametrize("size", [8, 60, 1024, 20_000])
def test_body_in_frames_of_any_size(count, size, sizes):
    expected = list(range(1, 3 + 40_000 // size))
    body = b"".join(message(number, size) for number in expected)
    result = count(head() + frames(body, sizes) + trailers()).succeeds()
    assert numbers(result.out) == expected


@pytest.mark.usefixtures("keeps_early_responses")
@pytest.mark.parametrize("end", ["reset", "violation", "status"])
def test_messages_before_an_end_are_printed(count, end):
    expected = list(range(1, 101))
    body = b"".join(message(number, 20) for number in expected)
    ends = {
        "reset": frame(RST_STREAM, 0, 1, struct.pack(">I", CANCEL)),
        "violation": raw_http2.VIOLATIONS["ping"],
        "status": frame(HEADERS, END_HEADERS | raw_http2.END_STREAM, 1, header_block([("grpc-status", "5")])),
    }
    result = count(head() + frames(body, [20]) + ends[end])
    assert result.code != 0
    assert numbers(result.out) == expected


def test_messages_before_the_connection_is_closed_are_printed(demo, raw_server):
    expected = list(range(1, 101))
    body = b"".join(message(number, 20) for number in expected)

    def respond(stream):
        stream.connection.sendall(head() + frames(body, [20]))
        stream.wait_until_read()
        stream.connection.close()

    server = raw_server(raw_http2.handler(respond))
    result = demo("--max-time", "25", "-d", "{}", f"http://{server.address}/{COUNT}")
    assert result.code != 0
    assert numbers(result.out) == expected


@pytest.fixture(scope="module")
def late_clock(tmp_path_factory):
    """The environment of a program whose rounds are late: after 50 ms, which five looks at the clock take."""
    return {"LD_PRELOAD": str(build_clock(tmp_path_factory.mktemp("clock"), 10_000))}


@pytest.mark.usefixtures("keeps_early_responses")
@pytest.mark.parametrize("size", [20, 2000])
@pytest.mark.parametrize("end", ["closed", "reset"])
def test_late_messages_before_an_end_are_printed(demo, raw_server, late_clock, size, end):
    """What has arrived together with the end, while the program was stopped, is printed before the error."""
    expected = list(range(1, 11))
    body = b"".join(message(number, size) for number in expected)
    programs = queue.Queue()

    def respond(stream):
        process = programs.get()
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        stream.connection.sendall(head() + frames(body, [size]))
        if end == "reset":
            stream.frame(RST_STREAM, payload=struct.pack(">I", CANCEL))
        else:
            stream.connection.shutdown(socket.SHUT_WR)
        process.send_signal(signal.SIGCONT)

    server = raw_server(raw_http2.handler(respond))
    with demo.start("--max-time", "1h", "-d", "{}", f"http://{server.address}/{COUNT}", env=late_clock) as process:
        programs.put(process)
        assert numbers(process.stdout.read()) == expected
        assert process.wait() != 0


def test_frames_of_two_streams_alternate(demo, raw_server):
    """Each call has its own messages, in their order."""
    each = 300
    bodies = {1: range(1, each + 1), 3: range(1001, 1001 + each)}

    def handle(connection):
        raw_http2.read_exactly(connection, 24)
        control = raw_http2.Stream(connection, 0)
        control.frame(raw_http2.SETTINGS)
        begun = set()
        while len(begun) < 2:
            kind, flags, number, _ = raw_http2.read_frame(connection)
            if kind == raw_http2.SETTINGS and not flags & raw_http2.ACK:
                control.frame(raw_http2.SETTINGS, raw_http2.ACK)
            if kind in (DATA, HEADERS) and flags & raw_http2.END_STREAM:
                begun.add(number)
        pieces = [head(stream) for stream in bodies]
        for pair in zip(*bodies.values()):
            pieces += [frame(DATA, 0, stream, message(number, 20)) for stream, number in zip(bodies, pair)]
        connection.sendall(b"".join(pieces) + trailers(1) + trailers(3))
        control.wait_for_the_end()

    server = raw_server(handle)
    result = demo("--max-time", "25", "--each", "--jobs", "2", "-d", "{}{}", f"http://{server.address}/{COUNT}").succeeds()
    found = numbers(result.out)
    assert sorted(found) == sorted([*bodies[1], *bodies[3]])
    for body in bodies.values():
        assert [number for number in found if number in body] == list(body)
