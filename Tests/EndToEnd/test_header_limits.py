"""Responses with many header lines are read in linear time, or refused at a limit."""

import os
import re
import struct

import pytest
import raw_http2
from raw_http2 import RESPONSE, CONTINUATION, END_HEADERS, END_STREAM, HEADERS, OK, STATUS_OK, header_block
from harness import write

HELLO = "demo.v1.Demo/Hello"
# Linear cost is far below, and quadratic cost 2 to 7 seconds.
CPU_SECONDS = 1
REPLY = RESPONSE[5:]
# "accept-encoding: gzip, deflate", which is in HPACK's static table: one byte on the wire.
INDEXED = b"\x90"


def cpu_seconds():
    times = os.times()
    return times.children_user + times.children_system


@pytest.fixture
def call(demo, raw_server):
    """Makes a call of `server`'s, and gives the result and the CPU time of rpcurl in seconds."""

    def run(serve, *options):
        before = cpu_seconds()
        server = raw_server(serve)
        result = demo("-d", '{"name":"Ada"}', "--max-time", "15", *options, f"http://{server.address}/{HELLO}")
        return result, cpu_seconds() - before

    return run


def is_accepted_or_refused(outcome):
    result, seconds = outcome
    if result.code == 0:
        assert result.json() == {"message": "Ada"} and result.err == ""
    else:
        assert result.out == "" and result.err.startswith("rpcurl: ")
        # libcurl 7.88 names only the function that refused the fields of HTTP/2.
        assert any(word in result.err.lower() for word in ("header", "trailer", "nghttp2_session")), result.err
    assert seconds < CPU_SECONDS


def http1(lines=b"", trailers=b"", body=REPLY, content_type=b"application/proto"):
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n" % content_type
    response = head + lines + b"\r\n%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, trailers)

    def serve(connection):
        connection.recv(1 << 16)
        connection.sendall(response)
        while connection.recv(1 << 16):
            pass

    return serve


def different_lines(count):
    return b"".join(b"x-%d: %d\r\n" % (number, number) for number in range(count))


@pytest.mark.parametrize("lines", [b"x: y\r\n" * 30_000, different_lines(15_000)], ids=["the same", "different"])
@pytest.mark.parametrize("place", ["lines", "trailers"])
@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_lines_of_http1(call, protocol, place, lines):
    options = ["--protocol", protocol]
    web = b"\x80" + struct.pack(">I", len(b"grpc-status: 0\r\n")) + b"grpc-status: 0\r\n"
    body = {"body": RESPONSE + web, "content_type": b"application/grpc-web+proto"} if protocol == "grpc-web" else {}
    is_accepted_or_refused(call(http1(**{place: lines}, **body), *options))


def test_a_thousand_lines_are_accepted(call):
    """As many as any server sends: a thousand, of 90 bytes each."""
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"v" * 80) for number in range(1000))
    for serve in (http1(lines=lines), http1(trailers=lines)):
        result, _ = call(serve, "--protocol", "connect")
        assert (result.code, result.err) == (0, "")
        assert result.json() == {"message": "Ada"}


def test_endless_trailers_of_http1(call):
    """A limit ends the call long before the deadline."""

    def serve(connection):
        connection.recv(1 << 16)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head + b"%x\r\n%s\r\n0\r\n" % (len(REPLY), REPLY))
        while True:  # until the client closes the connection
            connection.sendall(b"x: y\r\n" * 10_000)

    result, seconds = call(serve, "--protocol", "connect")
    assert result.code not in (0, 64 + 4), result.err
    is_accepted_or_refused((result, seconds))


def send_block(stream, block, end=False):
    """A block of header fields in as many frames as it needs."""
    pieces = [block[start : start + 16_000] for start in range(0, len(block), 16_000)]
    for number, piece in enumerate(pieces):
        flags = END_HEADERS if number == len(pieces) - 1 else 0
        if number == 0:
            stream.frame(HEADERS, flags | (END_STREAM if end else 0), piece)
        else:
            stream.frame(CONTINUATION, flags, piece)


@pytest.mark.parametrize("count", [1_000, 15_000, 60_000])
@pytest.mark.parametrize("place", ["headers", "trailers"])
def test_indexed_fields_of_http2(call, place, count):
    """A field of 30 bytes is one byte on the wire."""

    def respond(stream):
        try:
            send_block(stream, header_block(OK) + INDEXED * (count if place == "headers" else 0))
            stream.data(RESPONSE)
            send_block(stream, header_block(STATUS_OK) + INDEXED * (count if place == "trailers" else 0), end=True)
            stream.wait_for_the_end()
        except OSError:  # refused
            pass

    result, seconds = call(raw_http2.handler(respond))
    assert seconds < CPU_SECONDS
    if count == 1_000:
        assert (result.code, result.err) == (0, "")
        assert result.json() == {"message": "Ada"}
    else:
        assert result.code != 64 + 4, "there is a limit, or it ends in time"
        is_accepted_or_refused((result, seconds))


@pytest.mark.parametrize("place", ["headers", "trailers"])
def test_endless_line_of_http1_is_a_connection_error(call, place):
    """libcurl's limit for a line ends the call, long before the deadline."""

    def serve(connection):
        connection.recv(1 << 16)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ntransfer-encoding: chunked\r\n"
        if place == "trailers":
            head += b"\r\n%x\r\n%s\r\n0\r\n" % (len(REPLY), REPLY)
        connection.sendall(head + b"x: ")
        while True:  # until the client closes the connection
            connection.sendall(b"y" * 65_536)

    result, seconds = call(serve, "--protocol", "connect")
    assert result.code == 5, result.err
    assert result.out == "" and "longer than libcurl accepts" in result.err
    assert seconds < CPU_SECONDS


def test_trailer_without_a_colon_is_a_connection_error(call):
    """libcurl's code for it is that of an invalid option, which would be a wrong command line."""

    def serve(connection):
        connection.recv(1 << 16)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.sendall(head + b"%x\r\n%s\r\n0\r\nno colon\r\n\r\n" % (len(REPLY), REPLY))

    result, _ = call(serve, "--protocol", "connect")
    assert (result.code, result.out) == (5, ""), result.err


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
@pytest.mark.parametrize("source", ["header", "bearer", "auth"])
def test_value_that_cannot_be_sent_is_refused(demo, raw_server, tmp_path, source, protocol):
    """libcurl would send the request without the header."""
    connections = []
    server = raw_server(connections.append)
    secret, line = tmp_path / "secret", tmp_path / "line"
    secret.write_text("s" * 307_200)
    line.write_text(f"x-big: {'s' * 307_200}\n")
    options = {"header": ["-H", f"@{line}"], "bearer": ["--bearer", f"@{secret}"], "auth": ["--use", f"auth,bearer=@{secret}"]}
    result = demo(
        "--protocol", protocol, *options[source], "-d", '{"name":"Ada"}', "--max-time", "15",
        f"http://{server.address}/{HELLO}",
    )  # fmt: skip
    assert (result.code, result.out, connections) == (2, "", []), result.err
    name = "x-big" if source == "header" else "authorization"
    assert f"the header {name} has" in result.err and "more than the 307199 that can be sent" in result.err
    assert "ssss" not in result.err


@pytest.mark.parametrize("options", [[], ["--use", "retry,attempts=3"]])
def test_headers_that_http2_cannot_send_are_refused(demo, raw_server, tmp_path, options):
    """nghttp2 would not send the request: the largest that it sends is accepted, and one byte more is an error."""
    connections = []

    def respond(stream):
        stream.headers(OK)
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    serve = raw_http2.handler(respond)

    def count(connection):
        connections.append(connection)
        serve(connection)

    server = raw_server(count)
    file = tmp_path / "headers"

    def call(bytes_of_value):
        file.write_text(f"x-big: {'s' * bytes_of_value}\nx-small: {'s' * 20_000}\n")
        return demo(
            "-H", f"@{file}", *options, "-d", '{"name":"Ada"}', "--max-time", "15",
            f"http://{server.address}/{HELLO}",
        )  # fmt: skip

    result = call(60_000)
    assert (result.code, result.out, connections) == (2, "", []), result.err
    found = re.search(r"the headers have (\d+) bytes, with 12 for each, more than the 65536 that can be sent over HTTP/2; the longest is x-big ", result.err)
    assert found, result.err
    most = 60_000 - (int(found[1]) - 65_536)
    result = call(most + 1)
    assert (result.code, result.out, connections) == (2, "", []), result.err
    result = call(most)
    assert (result.code, result.json()) == (0, {"message": "Ada"}), result.err


def test_headers_that_http2_cannot_send_are_refused_after_negotiation(demo, connect_tls_server, certificates, tmp_path):
    file = write(tmp_path / "headers", f"x-big: {'s' * 65_536}\n")
    demo(
        "--protocol", "connect", "--cacert", certificates / "ca.pem", "-H", f"@{file}", "-d", "{}",
        f"{connect_tls_server.url}/{HELLO}",
    ).exits(2, "").reports("that can be sent over HTTP/2; the longest is x-big with 65536 bytes")  # fmt: skip
