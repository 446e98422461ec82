"""Floods of frames and lines without data: deadlines and signals end the call on time.

Each server sends until the client closes the connection, so that a client that does not end fails by the timeout.
"""

import contextlib
import signal
import socket
import struct
import threading
import time
import zlib

import brotli
import pytest
import raw_http2
from raw_http2 import ACK, DATA, OK, PING, SETTINGS, WINDOW_UPDATE

HELLO = "demo.v1.Demo/Hello"
DEADLINE_EXCEEDED = 64 + 4
PRIORITY, UNKNOWN_TYPE, PADDED = 2, 0x77, 8
# The limit for the end of the client. The flood has none.
SECONDS = 60
# More than the buffers of both sockets: a client that this many bytes were sent to reads them.
BYTES_OF_A_FLOOD = 2 << 20


def frame(kind, flags=0, payload=b"", stream=1):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


FLOODS = {
    "empty DATA": frame(DATA),
    "padded empty DATA": frame(DATA, PADDED, b"\0"),
    "WINDOW_UPDATE of the stream": frame(WINDOW_UPDATE, 0, struct.pack(">I", 1)),
    "WINDOW_UPDATE of the connection": frame(WINDOW_UPDATE, 0, struct.pack(">I", 1), stream=0),
    "unknown type on the stream": frame(UNKNOWN_TYPE),
    "unknown type on the connection": frame(UNKNOWN_TYPE, 0, b"12345678", stream=0),
    "PRIORITY": frame(PRIORITY, 0, b"\0\0\0\0\x10"),
    "PING": frame(PING, 0, b"12345678", stream=0),
    "acknowledged PING": frame(PING, ACK, b"12345678", stream=0),
    "SETTINGS": frame(SETTINGS, 0, struct.pack(">HI", 4, 65_535), stream=0),
}  # fmt: skip
# Newer versions of nghttp2 refuse a flood of frames that make no progress, and libcurl then closes the connection.
REFUSED = 5


def flood_with(connection, piece, begun):
    """Send a piece until the client closes the connection. Sets `begun` when the client reads."""
    # The client's bytes are read, so that neither side waits for the other.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
    reader = threading.Thread(target=drain, args=(connection,), daemon=True)
    reader.start()
    pieces = piece * max(65_536 // len(piece), 1)
    sent = 0
    try:
        while True:
            connection.sendall(pieces)
            sent += len(pieces)
            if sent > BYTES_OF_A_FLOOD:
                begun.set()
    except OSError:
        begun.set()


def drain(connection):
    try:
        while connection.recv(1 << 16):
            pass
    except OSError:
        pass


@pytest.fixture(params=["before the headers", "after the headers"])
def start_flood(request, raw_server):
    """`start_flood(piece)` returns a URL, and an event that is set when the client reads the flood."""

    def start(piece):
        begun = threading.Event()

        def respond(stream):
            if request.param == "after the headers":
                stream.headers(OK)
            flood_with(stream.connection, piece, begun)

        return f"http://{raw_server(raw_http2.handler(respond)).address}/{HELLO}", begun

    return start


@pytest.mark.parametrize("name", FLOODS)
def test_deadline(demo, start_flood, name):
    url, _ = start_flood(FLOODS[name])
    start = time.monotonic()
    result = demo("--max-time", "500ms", url, timeout=SECONDS)
    assert result.code in (DEADLINE_EXCEEDED, REFUSED), result.err
    assert result.out == "" and result.err.startswith("rpcurl: ")
    # The flood did not end before the deadline.
    assert result.code != DEADLINE_EXCEEDED or time.monotonic() - start > 0.4


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("name", FLOODS)
def test_signal(rpcurl, start_flood, descriptor_set, name, number, code):
    """One signal ends the call."""
    url, begun = start_flood(FLOODS[name])
    ended, error = end_by_signal(rpcurl, begun, number, "--descriptor-set", descriptor_set, url)
    assert ended in (code, REFUSED), error


def end_by_signal(rpcurl, begun, number, *arguments):
    """Send a signal to a call in a flood; returns the exit code and standard error."""
    with rpcurl.start(*arguments, "-d", "{}") as process:
        try:
            assert begun.wait(SECONDS)
            process.send_signal(number)
            return process.wait(SECONDS), process.stderr.read()
        finally:
            process.kill()


# HTTP/1.1


INFORMATION = b"HTTP/1.1 103 Early Hints\r\n\r\n"
HTTP1_FLOODS = {
    "informational responses": (b"", INFORMATION),
    "header lines": (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
    "a header line": (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
    "extensions of a chunk": (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n1;", b"x"),
    "trailers": (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"x: y\r\n"),
}  # fmt: skip


@pytest.fixture
def start_http1_flood(raw_server):
    def start(name):
        head, piece = HTTP1_FLOODS[name]
        begun = threading.Event()

        def serve(connection):
            connection.recv(1 << 16)
            connection.sendall(head)
            flood_with(connection, piece, begun)

        return f"http://{raw_server(serve).address}/{HELLO}", begun

    return start


@pytest.mark.parametrize("name", HTTP1_FLOODS)
def test_http1_deadline(rpcurl, start_http1_flood, descriptor_set, name):
    """The deadline ends the call, or a limit before it does."""
    url, _ = start_http1_flood(name)
    options = ["--descriptor-set", descriptor_set, "--protocol", "connect", "--max-time", "500ms"]
    result = rpcurl(*options, url, timeout=SECONDS)
    assert result.code in (DEADLINE_EXCEEDED, REFUSED), result.err
    assert result.out == "" and result.err.startswith("rpcurl: ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("name", HTTP1_FLOODS)
def test_http1_signal(rpcurl, start_http1_flood, descriptor_set, name, number, code):
    url, begun = start_http1_flood(name)
    options = ["--descriptor-set", descriptor_set, "--protocol", "connect"]
    ended, error = end_by_signal(rpcurl, begun, number, *options, url)
    assert ended in (code, REFUSED), error


# Messages


CONNECT_STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: "
# A gzip stream is deflated blocks after a header, so it can go on without an end.
GZIP = zlib.compressobj(9, zlib.DEFLATED, 31)
GZIP_START = GZIP.compress(bytes(1 << 20)) + GZIP.flush(zlib.Z_FULL_FLUSH)
GZIP_PIECE = GZIP.compress(bytes(1 << 24)) + GZIP.flush(zlib.Z_FULL_FLUSH)
# A piece of zeros is many empty messages, of five bytes each.
MESSAGE_FLOODS = {
    "empty messages": (CONNECT_STREAM + b"chunked\r\n\r\n", b"1fff\r\n" + bytes(0x1FFF) + b"\r\n"),
    "empty messages, compressed": (CONNECT_STREAM + b"gzip\r\n\r\n" + GZIP_START, GZIP_PIECE),
}


@pytest.fixture(params=MESSAGE_FLOODS)
def message_flood(request, raw_server):
    head, piece = MESSAGE_FLOODS[request.param]

    def serve(connection):
        connection.recv(1 << 16)
        connection.sendall(head)
        flood_with(connection, piece, threading.Event())

    # libcurl 8.21 refuses a transfer coding that was not requested; before, what it decodes has a limit.
    early = (REFUSED,) if "compressed" in request.param else ()
    return f"http://{raw_server(serve).address}/demo.v1.Demo/Count", early


MESSAGE_OPTIONS = [["-v", "--format", "events"], ["--format", "json"], ["--format", "none"], ["-vv", "--format", "text"]]


@pytest.mark.parametrize("options", MESSAGE_OPTIONS, ids=" ".join)
@pytest.mark.parametrize("is_read", [True, False], ids=["read", "not read"])
def test_deadline_in_a_flood_of_messages(rpcurl, message_flood, descriptor_set, options, is_read):
    """With and without a reader of the output, which is too large to check."""
    url, early = message_flood
    if early and not is_read:
        pytest.skip("after the end of a call, output waits for its reader without a limit")
    words = ["--descriptor-set", descriptor_set, "--protocol", "connect", "-d", "{}", "--max-time", "1s", *options, url]
    start = time.monotonic()
    with rpcurl.start(*words) as process:
        with reading_away(process, *([process.stdout, process.stderr] if is_read else [])):
            ended = process.wait(SECONDS)
    assert ended in (DEADLINE_EXCEEDED, *early)
    assert ended != DEADLINE_EXCEEDED or time.monotonic() - start > 0.9


# An unknown field of 60 MiB, which is less than 100 bytes when compressed.
LARGE_MESSAGE = brotli.compress(b"\x7a\x80\x80\x80\x1e" + bytes(60 << 20), quality=5, lgwin=24)


@pytest.mark.parametrize("signaled", [False, True], ids=["deadline", "signal"])
def test_end_in_a_piece_of_large_compressed_messages(rpcurl, raw_server, descriptor_set, signaled):
    """libcurl delivers thousands of messages at once, and it takes minutes to decompress them."""
    begun = threading.Event()

    def serve(connection):
        connection.recv(1 << 16)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+proto\r\ngrpc-encoding: br\r\n\r\n"
            + (b"\x01" + struct.pack(">I", len(LARGE_MESSAGE)) + LARGE_MESSAGE) * 4000
        )
        begun.set()
        drain(connection)

    url = f"http://{raw_server(serve).address}/demo.v1.Demo/Count"
    words = ["--descriptor-set", descriptor_set, "--protocol", "grpc-web", "--format", "none"]
    if signaled:
        assert end_by_signal(rpcurl, begun, signal.SIGTERM, *words, url)[0] == 143
    else:
        rpcurl(*words, "-d", "{}", "--max-time", "1s", url, timeout=SECONDS).exits(DEADLINE_EXCEEDED)


@pytest.mark.parametrize("options", [["-v", "--format", "events"], ["--format", "json"]], ids=" ".join)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_in_a_flood_of_messages(rpcurl, message_flood, descriptor_set, options, number, code):
    url, early = message_flood
    words = ["--descriptor-set", descriptor_set, "--protocol", "connect", "-d", "{}", *options, url]
    with rpcurl.start(*words) as process:
        with reading_away(process, process.stderr):
            assert process.stdout.read(1) or early
            with reading_away(process, process.stdout):
                process.send_signal(number)
                ended = process.wait(SECONDS)
    assert ended in (code, *early)


@contextlib.contextmanager
def reading_away(process, *streams):
    """Read the streams of a process meanwhile. Then kill it, and read them to their end before anything closes them."""
    readers = [threading.Thread(target=read_away, args=(stream,), daemon=True) for stream in streams]
    for reader in readers:
        reader.start()
    try:
        yield
    finally:
        process.kill()
        for reader in readers:
            reader.join(SECONDS)


def read_away(stream):
    while stream.read(1 << 16):
        pass
