"""A server that resets a stream with HTTP_1_1_REQUIRED: the call ends, and no request is sent again over HTTP/1.1."""

import socket

import pytest
import raw_http2
from raw_http2 import RESPONSE, OK, STATUS_OK

HTTP_1_1_REQUIRED = 13
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# demo.v1.CountReply{number: 5}
FIVE = b"\0\0\0\0\x02\x08\x05"
HTTP1_RESPONSE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\ntrailer: grpc-status\r\n\r\n"
    b"7\r\n" + FIVE + b"\r\n0\r\ngrpc-status: 0\r\n\r\n"
)


@pytest.fixture
def resetting_server(raw_server):
    """`resetting_server(respond)` calls `respond` for requests over HTTP/2, and accepts those over HTTP/1.1. It records both."""

    def start(respond):
        requests = []

        def serve(connection):
            start = connection.recv(len(PREFACE), socket.MSG_WAITALL)
            if start == PREFACE:
                serve_http2(connection)
            elif start:
                requests.append("HTTP/1.1")
                connection.sendall(HTTP1_RESPONSE)

        def serve_http2(connection):
            control = raw_http2.Stream(connection, 0)
            control.frame(raw_http2.SETTINGS)
            try:
                while True:
                    kind, flags, number, _ = raw_http2.read_frame(connection)
                    if kind == raw_http2.SETTINGS and not flags & raw_http2.ACK:
                        control.frame(raw_http2.SETTINGS, raw_http2.ACK)
                    if kind == raw_http2.HEADERS:
                        requests.append("HTTP/2")
                    if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                        respond(raw_http2.Stream(connection, number))
            except EOFError:
                pass

        server = raw_server(serve)
        server.requests = requests
        return server

    return start


@pytest.mark.parametrize("messages", [0, 1, 3])
def test_reset_after_headers_and_messages(rpcurl, resetting_server, descriptor_set, messages):
    def answer(stream):
        stream.headers(OK)
        for _ in range(messages):
            stream.data(FIVE)
        stream.reset(HTTP_1_1_REQUIRED)

    server = resetting_server(answer)
    options = ["--descriptor-set", descriptor_set, "--max-time", "5", "-d", "{}"]
    rpcurl(*options, f"http://{server.address}/demo.v1.Demo/Count").exits(5, '{"number":5}\n' * messages).reports(
        "the server asked for the request again after it had begun its response",
    )
    assert server.requests == ["HTTP/2"]


def test_reset_before_the_headers(rpcurl, resetting_server, descriptor_set):
    """gRPC is not possible over HTTP/1.1."""
    server = resetting_server(lambda stream: stream.reset(HTTP_1_1_REQUIRED))
    options = ["--descriptor-set", descriptor_set, "--max-time", "5", "-d", '{"name":"Ada"}']
    result = rpcurl(*options, f"http://{server.address}/demo.v1.Demo/Hello").exits(5, "")
    assert result.err.startswith(f"rpcurl: http://{server.address}: ")
    assert "HTTP/1.1" not in server.requests


def test_connect_continues_over_http1(rpcurl, resetting_server, descriptor_set):
    server = resetting_server(lambda stream: stream.reset(HTTP_1_1_REQUIRED))
    options = ["--descriptor-set", descriptor_set, "--max-time", "5", "--protocol", "connect", "--http2", "-d", '{"name":"Ada"}']
    result = rpcurl(*options, f"http://{server.address}/demo.v1.Demo/Hello")
    # The server responds as for gRPC.
    assert 'content-type "application/grpc"' in result.err
    assert server.requests == ["HTTP/2", "HTTP/1.1"]


def test_without_a_reset_the_call_succeeds(demo, resetting_server):
    def answer(stream):
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    server = resetting_server(answer)
    result = demo("-d", "{}", f"http://{server.address}/demo.v1.Demo/Hello")
    assert (result.code, result.err, server.requests) == (0, "", ["HTTP/2"])
