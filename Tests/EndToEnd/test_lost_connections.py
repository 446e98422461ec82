"""A server that closes a connection on which a request has arrived. It may have processed it, so nothing sends it again."""

import contextlib
import json
import socket
import ssl
import struct

import pytest
import raw_http2
from raw_http2 import OK, RESPONSE, STATUS_OK
from harness import silent

HELLO = "demo.v1.Demo/Hello"
TWO = '{"name":"Ada"}\n{"name":"Bob"}\n'
HTTP1_RESPONSE = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n{"message":"Ada"}'
REFUSED_STREAM = 7
# Arguments, and the protocol that TLS negotiates; none without TLS.
WAYS = {
    "grpc": (["--protocol", "grpc"], None),
    "grpc tls": (["--protocol", "grpc"], "h2"),
    "connect": (["--protocol", "connect", "--codec", "json"], None),
    "connect tls": (["--protocol", "connect", "--codec", "json"], "http/1.1"),
}


def close(connection):
    """Ends the connection as the system does when a server exits that has read everything: over TLS, without its end."""
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(1 << 16):
        pass


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def refuse(connection):
    stream = raw_http2.Stream(connection, 3)
    stream.go_away(1)
    stream.reset(REFUSED_STREAM)
    stream.wait_for_the_end()


@pytest.fixture
def batch(demo, certificates):
    """`batch(way, server)` makes two calls, one after the other."""

    def run(way, server, *options):
        arguments, negotiated = WAYS[way]
        tls = ["--cacert", certificates / "ca.pem"] if negotiated else ["--plaintext"]
        return demo("--each", "--max-time", "20s", *arguments, *tls, *options, f"localhost:{server.port}", HELLO, input=TWO)

    return run


@pytest.fixture
def losing_server(raw_server, certificates):
    """`losing_server(way, lose)` responds to the first request of its first connection, and calls `lose` when the second has
    arrived. Further connections are served. It records the requests."""

    def start(way, lose):
        requests = []

        def serve_http2(connection, is_first):
            raw_http2.read_exactly(connection, 24)
            raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
            while True:
                kind, flags, number, _ = raw_http2.read_frame(connection)
                if kind not in (raw_http2.DATA, raw_http2.HEADERS) or not flags & raw_http2.END_STREAM:
                    continue
                requests.append(number)
                if is_first and number == 3:
                    return lose(connection)
                stream = raw_http2.Stream(connection, number)
                stream.headers(OK)
                stream.data(RESPONSE)
                stream.headers(STATUS_OK, end=True)

        def serve_http1(connection, is_first):
            while True:
                request = raw_http2.read_exactly(connection, 4)
                while b"\r\n\r\n" not in request or request.startswith(b"POST") and not request.endswith(b"}"):
                    request += raw_http2.read_exactly(connection, 1)
                requests.append(request)
                if is_first and b"Bob" in request:
                    return lose(connection)
                connection.sendall(HTTP1_RESPONSE)

        def serve(connection):
            is_first = server.connections == 1
            secured = contextlib.nullcontext(connection)
            if negotiated := WAYS[way][1]:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
                context.set_alpn_protocols([negotiated])
                secured = context.wrap_socket(connection, server_side=True)
            with contextlib.suppress(EOFError), secured as stream:
                (serve_http2 if way.startswith("grpc") else serve_http1)(stream, is_first)

        server = raw_server(serve)
        server.requests = requests
        return server

    return start


@pytest.mark.parametrize("lose", [close, reset])
@pytest.mark.parametrize("way", WAYS)
def test_request_that_may_have_been_processed_is_not_sent_again(batch, losing_server, way, lose):
    server = losing_server(way, lose)
    result = batch(way, server).exits(5, '{"message":"Ada"}\n').reports("the server closed the connection without a response")
    assert ("Connection reset by peer)" in result.err) == (lose is reset), result.err
    assert "()" not in result.err
    assert len(server.requests) == 2


@pytest.mark.usefixtures("keeps_early_responses")
@pytest.mark.parametrize("way", ["grpc", "grpc tls"])
def test_request_that_was_refused_unprocessed_is_sent_again(batch, losing_server, way):
    server = losing_server(way, refuse)
    batch(way, server).exits(0, '{"message":"Ada"}\n' * 2)
    assert (len(server.requests), server.connections) == (3, 2)


@pytest.mark.parametrize("lose", [close, reset])
@pytest.mark.parametrize("way", ["connect", "connect tls"])
def test_get_request_is_sent_again(batch, losing_server, way, lose):
    """It has no side effects."""
    server = losing_server(way, lose)
    batch(way, server, "--connect-get").exits(0, '{"message":"Ada"}\n' * 2)
    assert server.requests[1] == server.requests[2]
    assert server.requests[1].startswith(b"GET ")
    assert server.connections == 2


@pytest.fixture
def once_lost_server(raw_server):
    """`once_lost_server(then)` closes its first connection without a response, and calls `then` with each later one."""

    def start(then):
        @raw_http2.handler
        def lose(stream):
            close(stream.connection)

        def serve(connection):
            with contextlib.suppress(EOFError, OSError):
                lose(connection) if server.connections == 1 else then(connection)

        server = raw_server(serve)
        return server

    return start


@raw_http2.handler
def answer(stream):
    stream.headers(OK)
    stream.data(RESPONSE)
    stream.headers(STATUS_OK, end=True)


@pytest.mark.parametrize("options", [[], ["--max-time", "60s"], ["--use", "retry,attempts=2,codes=aborted"]])
def test_looking_for_the_cause_changes_no_status(demo, once_lost_server, options):
    """Further connections to the server get no answer, and have little time."""
    server = once_lost_server(silent)
    result = demo(
        "--plaintext", "--format", "events", *options, server.address, HELLO,
    ).exits(5).reports("the server closed the connection without a response")  # fmt: skip
    end = json.loads(result.out.splitlines()[-2])
    assert (end["event"], end["code"]) == ("end", "unavailable")


def test_no_cause_is_looked_for_between_attempts(demo, once_lost_server):
    server = once_lost_server(answer)
    demo("--plaintext", "--use", "retry,attempts=2,initial=1ms", server.address, HELLO).exits(0, '{"message":"Ada"}\n')
    assert server.connections == 2
