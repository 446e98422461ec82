"""Servers that break the rules: each call ends with the right code, in time, and never hangs."""

import contextlib
import json
import signal
import socket
import struct
import threading
import time

import pytest

import raw_http2
from raw_http2 import RESPONSE, OK, STATUS_OK, header_block

HELLO = "demo.v1.Demo/Hello"
UNAVAILABLE, INTERNAL, UNKNOWN = 64 + 14, 64 + 13, 64 + 2


@pytest.fixture
def call(demo, raw_server):
    """Calls Hello at an HTTP/2 server that responds as the function does; returns the result."""

    def run(respond, *options, waits=True, data='{"name":"Ada"}'):
        server = raw_server(raw_http2.handler(respond, waits))
        return demo("-d", "@-", *options, f"http://{server.address}/{HELLO}", input=data)

    return run


def succeeds(result):
    assert (result.code, result.err) == (0, "")
    assert result.json() == {"message": "Ada"}


def test_the_test_server_responds(call):
    def respond(stream):
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


def test_trailers_after_a_content_length(call):
    """libcurl would stop at the length and drop them."""

    def respond(stream):
        stream.headers([*OK, ("content-length", str(len(RESPONSE)))])
        stream.data(RESPONSE)
        stream.wait_until_read()
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


def test_trailers_in_pieces(call):
    block = header_block([("grpc-status", "5"), ("grpc-message", "not%20here"), ("x-long", "y" * 3000)])

    def respond(stream):
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.frame(raw_http2.HEADERS, raw_http2.END_STREAM, block[:10])
        for start in range(10, len(block), 700):
            # No other frame may come between these, so nothing shows that the client has read a piece.
            time.sleep(0.02)
            last = start + 700 >= len(block)
            stream.frame(raw_http2.CONTINUATION, raw_http2.END_HEADERS if last else 0, block[start : start + 700])

    call(respond).fails(64 + 5, "not here")


def test_information_before_the_response(call):
    def respond(stream):
        stream.headers([(":status", "103"), ("link", "x")])
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


@pytest.mark.parametrize(
    ("reset", "code"),
    [
        (0, INTERNAL), (1, INTERNAL), (2, INTERNAL), (3, INTERNAL), (4, INTERNAL), (5, UNKNOWN), (6, INTERNAL), (7, UNAVAILABLE),
        (8, 64 + 1), (9, INTERNAL), (10, INTERNAL), (11, 64 + 8), (12, 64 + 7), (13, UNKNOWN),
    ],
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "during"])
def test_reset_with_each_code(call, libcurl_version, reset, code, when):
    def respond(stream):
        if when == "during":
            stream.headers(OK)
            stream.data(RESPONSE[:7])
        stream.reset(reset)
        stream.wait_for_the_end()

    codes = {code}
    if reset in (7, 13):
        # A request that was refused unseen is repeated, and this server has only one response: then there is no connection.
        codes.add(5)
    elif reset == 0 and when == "during" and libcurl_version < (8, 14):
        # This libcurl loses the response or its body.
        codes |= {5, UNKNOWN}
    result = call(respond)
    assert result.code in codes, result.err
    assert result.out == ""


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("protocol", "content", "body"),
    [
        ("grpc", "application/grpc", RESPONSE), ("grpc-web", "application/grpc-web+proto", RESPONSE),
        ("connect", "application/proto", RESPONSE[5:]),
    ],
)  # fmt: skip
def test_reset_with_no_error_in_a_response(call, has_mended_libcurl, protocol, content, body, together):
    """The response is incomplete, also if only the end of the stream would show that it is complete."""
    if not has_mended_libcurl:
        pytest.skip("this libcurl takes the reset for the end of the response")

    def respond(stream):
        stream.headers([(":status", "200"), ("content-type", content)])
        stream.data(body)
        if not together:
            stream.wait_until_read()
        stream.reset(0)

    result = call(respond, "--protocol", protocol, "--http2-prior-knowledge")
    result.fails(INTERNAL, "reset by server", "NO_ERROR")


@pytest.mark.usefixtures("keeps_early_responses")
def test_refused_stream_is_retried(call):
    refusals = [True]

    def respond(stream):
        if refusals:
            refusals.pop()
            stream.reset(7)
            # The same connection takes the next try.
            connection = stream.connection
            while True:
                kind, flags, number, _ = raw_http2.read_frame(connection)
                if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                    break
            stream = raw_http2.Stream(connection, number)
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


@pytest.mark.parametrize("end", ["deadline", "interrupt"])
def test_a_canceled_call_is_reset_with_cancel(demo, has_mended_libcurl, raw_server, end):
    """gRPC over HTTP/2, "Errors": CANCEL is that of a client that cancels a call."""
    if not has_mended_libcurl:
        pytest.skip("this libcurl resets the stream with STREAM_CLOSED")
    codes, received = [], threading.Event()

    def respond(stream):
        stream.headers(OK)
        stream.wait_until_read()
        received.set()
        while True:
            kind, _, _, payload = raw_http2.read_frame(stream.connection)
            if kind == raw_http2.RST_STREAM:
                codes.append(int.from_bytes(payload, "big"))

    server = raw_server(raw_http2.handler(respond))
    limit = ("--max-time", "500ms") if end == "deadline" else ()
    url = f"http://{server.address}/demo.v1.Demo/Count"
    with demo.start(*limit, "-d", "{}", url) as process:
        assert received.wait(60)
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        assert process.wait() == (68 if end == "deadline" else 130)
    server.stop()
    assert codes == [8]


REFUSE = pytest.mark.parametrize(
    "refuse", [lambda stream: stream.reset(7), lambda stream: stream.go_away(0)], ids=["reset", "goaway"]
)


@pytest.mark.usefixtures("keeps_early_responses")
@REFUSE
@pytest.mark.parametrize(
    ("options", "requests"),
    [
        ((), 2),
        (("--use", "retry,attempts=3,initial=1ms"), 6),
        (("--protocol", "connect", "--connect-get", "--http2-prior-knowledge"), 2),
    ],
)
def test_refused_request_is_sent_twice(demo, raw_server, refuse, options, requests):
    received = []

    def serve(connection):
        raw_http2.read_exactly(connection, 24)
        raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
        while True:
            kind, flags, number, _ = raw_http2.read_frame(connection)
            if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                received.append(number)
                refuse(raw_http2.Stream(connection, number))

    def until_the_end(connection):
        with contextlib.suppress(EOFError):
            serve(connection)

    server = raw_server(until_the_end)
    url = f"http://{server.address}/{HELLO}"
    demo("--max-time", "20", *options, "-d", "{}", url).exits(5, "").reports("the server refused the request without processing it; it was sent twice\nhint: ")
    assert len(received) == requests


@pytest.mark.usefixtures("keeps_early_responses")
@REFUSE
def test_refusal_of_a_partly_sent_stream(demo, raw_server, refuse):
    def respond(stream):
        while raw_http2.read_frame(stream.connection)[0] != raw_http2.DATA:
            pass
        refuse(stream)

    server = raw_server(raw_http2.handler(respond, waits=False))
    url = f"http://{server.address}/demo.v1.Demo/Sum"
    result = demo("--max-time", "20", "-d", '{"value":1}', url)
    result.fails(5, "the server refused the request without processing it; a stream", "hint: ", "--use retry")


def test_go_away_before_the_response(call):
    def respond(stream):
        stream.go_away(0)
        stream.connection.close()

    call(respond).fails(5)


def test_go_away_during_the_response_lets_it_finish(call, libcurl_version):
    def respond(stream):
        stream.headers(OK)
        stream.go_away(stream.number)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    result = call(respond)
    # libcurl 7.88 may close the connection at once; the call must not hang, nor succeed without a response.
    assert result.code in ((0,) if libcurl_version >= (8, 14) else (0, 5, UNKNOWN, INTERNAL)), result.err
    assert (result.code == 0) == (result.out != "")


@pytest.mark.parametrize("sent", [b"", RESPONSE[:3], RESPONSE[:7], RESPONSE])
def test_connection_closed_in_the_middle(call, sent):
    def respond(stream):
        stream.headers(OK)
        if sent:
            stream.data(sent)
        stream.connection.shutdown(socket.SHUT_WR)

    call(respond).fails(5, "the connection was closed before the response was complete")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("promised length never delivered", INTERNAL), ("no trailers", UNKNOWN), ("trailers without status", UNKNOWN),
        ("two messages", 64 + 12), ("no message", 64 + 12), ("compressed without an encoding", INTERNAL),
        ("larger than any message", 64 + 8), ("not the message's type", INTERNAL), ("html", 64 + 14),
        ("unknown status", UNKNOWN), ("status not a number", UNKNOWN),
    ],
)  # fmt: skip
def test_broken_responses(call, name, code):
    def respond(stream):
        if name == "html":
            stream.headers([(":status", "503"), ("content-type", "text/html")])
            return stream.data(b"<h1>\x1b[31m", end=True)
        stream.headers(OK)
        body = {
            "promised length never delivered": RESPONSE[:-1], "two messages": RESPONSE * 2, "no message": b"",
            "compressed without an encoding": b"\1" + RESPONSE[1:], "larger than any message": b"\0\xff\xff\xff\xff",
            "not the message's type": b"\0\0\0\0\x05" + b"\xff" * 5,
        }.get(name, RESPONSE)  # fmt: skip
        stream.data(body, end=name == "no trailers")
        if name == "no trailers":
            return
        status = {"trailers without status": [("x", "y")], "unknown status": [("grpc-status", "99")]}
        trailers = status.get(name, [("grpc-status", "x")] if name == "status not a number" else STATUS_OK)
        stream.headers(trailers, end=True)

    call(respond).fails(code)


@pytest.mark.parametrize("silent_after", ["connect", "headers", "message"])
def test_silence_meets_the_deadline(call, silent_after):
    def respond(stream):
        if silent_after != "connect":
            stream.headers(OK)
        if silent_after == "message":
            stream.data(RESPONSE)
        stream.wait_for_the_end()

    call(respond, "--max-time", "300ms").fails(64 + 4, "deadline_exceeded")


def test_one_byte_at_a_time(call):
    def respond(stream):
        stream.headers(OK)
        for byte in RESPONSE:
            stream.data(bytes([byte]))
            stream.wait_until_read()
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


def test_a_megabyte_of_headers(call):
    def respond(stream):
        try:
            stream.frame(raw_http2.HEADERS, 0, header_block(OK))
            for number in range(1000):
                stream.frame(raw_http2.CONTINUATION, 0, header_block([(f"x-{number}", "y" * 1000)]))
            stream.frame(raw_http2.CONTINUATION, raw_http2.END_HEADERS, header_block([("x", "y")]))
            stream.wait_for_the_end()
        except OSError:
            pass

    result = call(respond)
    assert result.code not in (0, 1) and result.out == ""


LARGE = json.dumps({"name": "x" * 5_000_000})


def test_response_before_the_request_is_sent(call, has_mended_libcurl):
    """The server responds and grants no window for the request."""

    def respond(stream):
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)
        stream.wait_for_the_end()

    result = call(respond, "--max-time", "60" if has_mended_libcurl else "300ms", waits=False, data=LARGE)
    if has_mended_libcurl:
        assert (result.code, result.err) == (0, "") and result.out, result
    else:
        # libcurl does not report the trailers before the request is sent: the deadline ends the call.
        result.fails(64 + 4)


@pytest.mark.usefixtures("keeps_early_responses")
def test_refusal_before_the_request_is_sent_is_reported(call):
    def respond(stream):
        stream.headers([*OK, ("grpc-status", "8"), ("grpc-message", "too much")], end=True)
        stream.reset(0)
        stream.wait_for_the_end()

    call(respond, waits=False, data=LARGE).fails(64 + 8, "too much")


@pytest.mark.parametrize("reset", [None, 0, 8])
def test_refusal_before_the_request_is_sent(call, libcurl_version, reset):
    def respond(stream):
        status = [*OK, ("grpc-status", "8"), ("grpc-message", "too much")]
        stream.headers(status, end=True)
        if reset is not None:
            stream.reset(reset)
        stream.wait_for_the_end()

    refused(call(respond, waits=False, data=LARGE), libcurl_version, "too much")


def refused(result, libcurl_version, words):
    """The error is the server's refusal. Where libcurl has lost it (7.88, when the stream is reset), it is a guess."""
    assert result.out == ""
    if libcurl_version >= (8, 14) or result.code == 64 + 8:
        assert result.code == 64 + 8, result.err
        assert words in result.err
    else:
        assert result.code in (5, 64 + 1), result.err
        assert "which may be too large" in result.err


@pytest.mark.parametrize("reset", [0, 8])
def test_refusal_and_reset_in_one_piece_while_a_stream_is_open(demo, libcurl_version, raw_server, reset):
    """libcurl 7.88 drops such a response, and would wait for the rest of the request for ever."""

    def respond(stream):
        block = header_block([*OK, ("grpc-status", "12"), ("grpc-message", "no such method")])
        headers = struct.pack(">I", len(block))[1:] + b"\1\5" + struct.pack(">I", stream.number) + block
        stream.connection.sendall(headers + b"\0\0\4\3\0" + struct.pack(">II", stream.number, reset))
        stream.wait_for_the_end()

    server = raw_server(raw_http2.handler(respond, waits=False))
    with demo.start(f"http://{server.address}/demo.v1.Demo/Chat") as process:
        lost = [] if libcurl_version >= (8, 14) else [64 + 1 if reset == 8 else 5]
        assert process.wait() in [64 + 12, *lost]
        err = process.stderr.read().decode()
        assert ("no such method" if process.returncode == 64 + 12 else "was lost by libcurl") in err


@pytest.mark.parametrize("method", ["Chat", "Sum"])
def test_response_that_ends_before_the_request(demo, has_mended_libcurl, raw_server, method):
    """The server does not reset the stream (RFC 9113, section 8.1)."""
    if not has_mended_libcurl:
        pytest.skip("this libcurl waits for the end of the request")

    def respond(stream):
        stream.headers(OK)
        if method == "Chat":
            stream.data(b"\0\0\0\0\x04\x0a\x02hi")
        stream.headers([("grpc-status", "5"), ("grpc-message", "gone")], end=True)

    server = raw_server(raw_http2.handler(respond, waits=False))
    with demo.start(f"http://{server.address}/demo.v1.Demo/{method}") as process:
        out, err = process.stdout.read(), process.stderr.read()
        assert (process.wait(), out) == (64 + 5, b'{"text":"hi"}\n' if method == "Chat" else b"")
        assert err == f"rpcurl: demo.v1.Demo/{method}: not_found (5): gone\n".encode()


def test_message_and_trailers_in_one_piece_while_a_stream_is_open(current_rpcurl, raw_server, descriptor_set):
    """gRPC servers end a stream with an open request by trailers and a reset without an error."""

    def respond(stream):
        stream.headers(OK)
        block = header_block([("grpc-status", "0")])
        message = b"\0\0\0\0\x04\x0a\x02hi"
        data = struct.pack(">I", len(message))[1:] + b"\0\0" + struct.pack(">I", stream.number) + message
        trailers = struct.pack(">I", len(block))[1:] + b"\1\5" + struct.pack(">I", stream.number) + block
        reset = b"\0\0\4\3\0" + struct.pack(">II", stream.number, 0)
        stream.connection.sendall(data + trailers + reset)
        stream.wait_for_the_end()

    server = raw_server(raw_http2.handler(respond, waits=False))
    options = ["--descriptor-set", descriptor_set, "--max-time", "10"]
    with current_rpcurl.start(*options, f"http://{server.address}/demo.v1.Demo/Chat") as process:
        assert process.wait() == 0
        assert (process.stdout.read(), process.stderr.read()) == (b'{"text":"hi"}\n', b"")


def test_request_beyond_the_servers_limit(rpcurl, libcurl_version, start_server, descriptor_set):
    """grpcio refuses it when it has seen its length, and resets the stream."""
    server = start_server("grpc_server.py", "--max-message-bytes", 4 << 20)
    options = ["--descriptor-set", descriptor_set, "-d", "@-"]
    for _ in range(5):
        refused(rpcurl(*options, f"{server.url}/{HELLO}", input=LARGE), libcurl_version, "larger than max")


def test_deadline_ends_name_resolution(demo):
    """Whatever the name server does."""
    assert demo("--max-time", "200ms", "--plaintext", "slow.example.invalid:1", HELLO).code in (5, 64 + 4)


# HTTP/1.1, for Connect


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (b"", 5),
        (b"garbage\r\n\r\n", 5),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n", 5),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 10\r\n\r\nab", 5),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 9223372036854775808\r\n\r\n", 5),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nab", UNKNOWN),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 1\r\n\r\n\xff", INTERNAL),
        (b"HTTP/1.1 302 Found\r\nlocation: http://x/\r\ncontent-length: 0\r\n\r\n", UNKNOWN),
        (b"HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}", 64 + 16),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-encoding: x\r\ncontent-length: 1\r\n\r\na", INTERNAL),
    ],
)  # fmt: skip
def test_broken_connect_responses(demo, raw_server, response, code):
    def respond(connection):
        connection.recv(1 << 16)
        connection.sendall(response)

    result = demo("--protocol", "connect", f"http://{raw_server(respond).address}/{HELLO}")
    result.fails(code)


# A status in the headers, and what follows it


def refused_headers(stream, end=False):
    fields = [*OK, ("grpc-status", "7"), ("grpc-message", "no")]
    stream.headers(fields, end=end)


def test_status_in_the_trailers_replaces_that_in_the_headers(call):
    def respond(stream):
        refused_headers(stream)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    succeeds(call(respond))


def test_status_in_the_headers_applies_if_nothing_follows(call):
    call(lambda stream: refused_headers(stream, end=True)).fails(64 + 7, "no")


def test_body_after_a_status_in_the_headers_is_an_error(call):
    def respond(stream):
        refused_headers(stream)
        stream.data(RESPONSE, end=True)

    call(respond).fails(INTERNAL, "status with the headers")


def test_status_in_the_headers_of_a_stream_that_does_not_end(call):
    """The end is waited for, but not for long."""

    def respond(stream):
        refused_headers(stream)
        stream.wait_for_the_end()

    call(respond, "--max-time", "8").fails(64 + 7, "no")


OK_AND_STATUS = [*OK, ("grpc-status", "0")]


@pytest.fixture
def stream_call(demo, raw_server):
    """Starts a call of a stream method at an HTTP/2 server that responds as the function does; its input stays open."""

    def start(method, respond, waits=True):
        server = raw_server(raw_http2.handler(respond, waits))
        return demo.start("-d", "@-", f"http://{server.address}/demo.v1.Demo/{method}")

    return start


@pytest.mark.parametrize(("end", "code"), [("reset", INTERNAL), ("close", 5)])
def test_ok_in_the_headers_of_a_stream_that_is_cut(stream_call, end, code):
    """Messages could have followed."""

    def respond(stream):
        stream.headers(OK_AND_STATUS)
        stream.wait_until_read()
        if end == "reset":
            stream.reset(2)
        else:
            stream.connection.shutdown(socket.SHUT_RDWR)

    with stream_call("Count", respond) as process:
        out, err = process.communicate(b"{}")
    assert (process.returncode, out) == (code, b""), err


@pytest.mark.parametrize("method", ["Count", "Chat"])
def test_message_and_status_after_ok_in_the_headers(stream_call, method):
    """A request that is not complete ends, since libcurl does not report the end of a response before."""

    def respond(stream):
        stream.headers(OK_AND_STATUS)
        if method == "Chat":
            while raw_http2.read_frame(stream.connection)[:2] != (raw_http2.DATA, raw_http2.END_STREAM):
                pass
        stream.data(b"\0\0\0\0\0")
        stream.headers([("grpc-status", "13")], end=True)

    with stream_call(method, respond, waits=method == "Count") as process:
        if method == "Count":
            process.stdin.write(b"{}")
            process.stdin.close()
        assert process.stdout.read().split() == [b"{}"]
        assert process.wait() == INTERNAL


def test_ok_in_the_headers_ends_a_call_whose_input_is_open(stream_call):
    with stream_call("Chat", lambda stream: stream.headers(OK_AND_STATUS, end=True), waits=False) as process:
        assert process.wait() == 0


@pytest.mark.parametrize("more", [b"\0\0\0\0\0", b"\2\0\0\0\2{}", b"x"], ids=["message", "end", "rest"])
@pytest.mark.parametrize("pieces", [1, 2])
def test_data_after_the_end_of_a_connect_stream_is_an_error(demo, raw_server, more, pieces):
    body = [b"\2\0\0\0\2{}", more]
    if pieces == 1:
        body = [b"".join(body)]

    def respond(connection):
        # The end of a response is waited for if the request is complete: an envelope of five bytes.
        request = b""
        while len(request.partition(b"\r\n\r\n")[2]) < 5:
            request += connection.recv(1 << 16)
        head = "HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for piece in body:
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        connection.sendall(b"0\r\n\r\n")

    url = f"http://{raw_server(respond).address}/demo.v1.Demo/Count"
    result = demo("--protocol", "connect", "-d", "{}", url)
    result.fails(INTERNAL, "after the end of the stream")
