"""Servers that violate HTTP/2 and keep the connection open: the calls end at once, also without a deadline."""

import json
import socket
import threading
import time

import pytest

import raw_http2
from raw_http2 import OK, RESPONSE, STATUS_OK, VIOLATIONS
from harness import write

DEMO = "demo.v1.Demo"
KINDS = pytest.mark.parametrize("kind", VIOLATIONS)
# libcurl's timer of the connection would hide that it waits: it ends after the deadline, and after the limit of the test.
DEADLINE = ("--max-time", "25", "--connect-timeout", "100")
FOREVER = ("--connect-timeout", "100")


# libcurl before 8.14 takes the end of such a connection for that of the response.
pytestmark = pytest.mark.usefixtures("keeps_early_responses")


@pytest.fixture
def call(demo):
    def run(server, method, *options, limits=DEADLINE):
        url = f"http://{server.address}/{DEMO}/{method}"
        data = () if "-d" in options else ("-d", "{}")
        return demo(*limits, *data, *options, url)

    return run


def fails_at_once(result):
    assert result.code == 5, result.err
    assert result.err.startswith("rpcurl: ") and result.err.count("\nrpcurl: ") == 0
    assert "the server violated HTTP/2" in result.err


@KINDS
@pytest.mark.parametrize("messages", [0, 2])
@pytest.mark.parametrize("limits", [FOREVER, DEADLINE], ids=["forever", "deadline"])
def test_violation_while_the_client_waits(call, raw_server, kind, messages, limits):
    """The client has processed all that came before."""

    def respond(stream):
        stream.headers(OK)
        for _ in range(messages):
            stream.data(RESPONSE)
        stream.wait_until_read()
        stream.connection.sendall(VIOLATIONS[kind])

    result = call(raw_server(raw_http2.handler(respond)), "Count", limits=limits)
    fails_at_once(result)
    assert len(result.out.splitlines()) == messages


@KINDS
@pytest.mark.parametrize("milliseconds", [None, 0.0, 0.2, 1, 10])
def test_violation_after_the_headers(call, raw_server, kind, milliseconds):
    """None: in one piece with them. The client reads it in a later round, in the same one, or while it handles the headers."""

    def respond(stream):
        head = raw_http2.frame(raw_http2.HEADERS, raw_http2.END_HEADERS, stream.number, raw_http2.header_block(OK))
        if milliseconds is None:
            stream.connection.sendall(head + VIOLATIONS[kind])
            return
        stream.connection.sendall(head)
        time.sleep(milliseconds / 1000)
        stream.connection.sendall(VIOLATIONS[kind])

    fails_at_once(call(raw_server(raw_http2.handler(respond)), "Count"))


@KINDS
def test_violation_in_one_piece_with_a_message(call, raw_server, kind):
    def respond(stream):
        stream.headers(OK)
        stream.wait_until_read()
        message = raw_http2.frame(raw_http2.DATA, 0, stream.number, RESPONSE)
        stream.connection.sendall(message + VIOLATIONS[kind])

    result = call(raw_server(raw_http2.handler(respond)), "Count")
    fails_at_once(result)
    assert len(result.out.splitlines()) == 1


@KINDS
def test_violation_while_the_request_is_open(demo, raw_server, kind):
    def respond(stream):
        stream.headers(OK)
        stream.wait_until_read()
        stream.connection.sendall(VIOLATIONS[kind])

    server = raw_server(raw_http2.handler(respond, waits=False))
    with demo.start(*DEADLINE, f"http://{server.address}/{DEMO}/Chat") as process:
        assert process.wait() == 5
        assert process.stderr.read().startswith(b"rpcurl: ")


@KINDS
def test_violation_ends_all_calls_of_a_connection(call, raw_server, kind):
    """Of which one has a response that is complete, in the same piece."""

    def serve(connection):
        raw_http2.read_exactly(connection, 24)
        raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
        ended = []
        while len(ended) < 3:
            frame_kind, flags, number, _ = raw_http2.read_frame(connection)
            if frame_kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                ended.append(raw_http2.Stream(connection, number))
        for stream in ended:
            stream.headers(OK)
        ended[0].wait_until_read()
        frames = raw_http2.frame(raw_http2.DATA, 0, ended[1].number, RESPONSE)
        block = raw_http2.header_block(STATUS_OK)
        frames += raw_http2.frame(
            raw_http2.HEADERS, raw_http2.END_HEADERS | raw_http2.END_STREAM, ended[1].number, block
        )
        connection.sendall(frames + VIOLATIONS[kind])
        ended[0].wait_for_the_end()

    result = call(raw_server(serve), "Hello", "--each", "--jobs", "3", "-d", "{}{}{}").exits(5)
    assert result.json() == {"message": "Ada"}
    assert sum(line.startswith("rpcurl: call ") for line in result.err.splitlines()) == 2


@pytest.mark.parametrize("kind", ["ping", "garbage"])
def test_violation_of_a_server_that_reads_nothing(call, has_mended_libcurl, raw_server, tmp_path, kind):
    """The GOAWAY of the client cannot be sent."""
    if not has_mended_libcurl:
        pytest.skip("this libcurl reports the error when it has sent the GOAWAY")
    ended = threading.Event()

    def serve(connection):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw_http2.read_exactly(connection, 24)
        control = raw_http2.Stream(connection, 0)
        window = (4, 0x7FFFFFFF)
        control.frame(raw_http2.SETTINGS, 0, window[0].to_bytes(2, "big") + window[1].to_bytes(4, "big"))
        control.frame(raw_http2.WINDOW_UPDATE, 0, (0x7FFFFFFF - 65535).to_bytes(4, "big"))
        while raw_http2.read_frame(connection)[0] != raw_http2.DATA:
            pass
        raw_http2.Stream(connection, 1).headers(OK)
        connection.sendall(VIOLATIONS[kind])
        ended.wait(60)

    data = write(tmp_path / "data", json.dumps({"name": "a" * 30_000_000}))
    try:
        fails_at_once(call(raw_server(serve), "Hello", "-d", f"@{data}"))
    finally:
        ended.set()


@KINDS
def test_retry_after_a_violation(call, raw_server, kind):
    """Between attempts: the connection is not used again."""
    served = []

    def respond(stream):
        served.append(stream)
        if len(served) < 3:
            stream.wait_until_read()
            stream.connection.sendall(VIOLATIONS[kind])
            return
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    server = raw_server(raw_http2.handler(respond))
    result = call(server, "Hello", "--use", "retry,attempts=3,initial=1ms,codes=unavailable+internal+unknown").exits(0)
    assert result.err.count("retry: attempt ") == 2
    assert result.json() == {"message": "Ada"}
    assert len(served) == 3
