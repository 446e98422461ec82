"""Responses that are not of the protocol: what a proxy or another server says is shown, without credentials."""

import base64
import gzip
import json
import socket
import struct
import urllib.parse

import pytest
import raw_http2
from raw_http2 import RESPONSE, STATUS_OK

HELLO, COUNT, CHAT = "demo.v1.Demo/Hello", "demo.v1.Demo/Count", "demo.v1.Demo/Chat"
UNAVAILABLE, UNAUTHENTICATED, NOT_FOUND, INTERNAL = 64 + 14, 64 + 16, 64 + 5, 64 + 13
TEXT = "no healthy upstream"
TOKEN = "s3cret/token+value"


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def call(request, demo, raw_server):
    """`call(status, headers, body)` calls a server that responds so, over HTTP/2 for gRPC and HTTP/1.1 for the others."""

    def run(status, headers, body, *options, method=HELLO, data="{}", ends=True):
        def over_http2(stream):
            stream.headers([(":status", str(status)), *headers])
            stream.data(body, end=ends)

        def over_http1(connection):
            while connection.recv(1 << 16):
                lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in headers)]
                lines.append(f"content-length: {len(body) if ends else 1 << 30}")
                connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)

        handler = raw_http2.handler(over_http2) if request.param == "grpc" else over_http1
        return demo("--protocol", request.param, "-d", data, *options, f"http://{raw_server(handler).address}/{method}")

    return run


@pytest.mark.parametrize("method", [HELLO, COUNT])
def test_text_is_in_the_error_and_whole_in_verbose_output(call, method):
    call(503, [("content-type", "text/plain")], b"no healthy\nupstream", "-v", method=method).exits(UNAVAILABLE).reports(f": {TEXT}\n", "< no healthy\n< upstream\n")


@pytest.mark.parametrize("body", [b"<html><title>503 Busy</title>\x1b[31m", b"\x89PNG\0\0\x1b"], ids=["text", "binary"])
def test_events_and_json_errors_have_the_status_and_the_body(call, body):
    result = call(503, [("content-type", "text/html")], body, "--format", "events", "--error-format", "json")
    end = next(json.loads(line) for line in result.out.splitlines() if '"end"' in line)
    error = json.loads(result.err)["error"]
    is_text = b"\0" not in body
    for found in (end, error):
        assert found["http_status"] == 503
        assert (found["body"].encode() if is_text else base64.b64decode(found["body_base64"])) == body
        assert found["message"].rstrip("\x1b[31m").endswith(": 503 Busy") == is_text


def test_har_has_the_body(call, tmp_path):
    file = tmp_path / "x.har"
    call(503, [("content-type", "text/plain")], TEXT.encode(), "--use", f"log,format=har,file={file}")
    content = json.loads(file.read_text())["log"]["entries"][0]["response"]["content"]
    assert content == {"size": len(TEXT), "mimeType": "text/plain", "text": TEXT}


def test_text_cannot_control_a_terminal(call):
    result = call(503, [("content-type", "text/plain")], "a\u202eb\u009b2J".encode(), "-v").reports("a\\u{202E}b\\u{009B}2J")
    assert not any(ord(c) < 32 and c != "\n" or 0x7F <= ord(c) <= 0x9F or c == "\u202e" for c in result.err)


@pytest.mark.parametrize("options", [(), ("-v",), ("--format", "events"), ("--error-format", "json")])
def test_output_has_no_credentials(call, tmp_path, options):
    (tmp_path / "token").write_text(TOKEN)
    quoted = urllib.parse.quote(TOKEN, safe="")
    encoded = base64.b64encode(f"user:{TOKEN}".encode()).decode()
    echo = f"1 {TOKEN} 2 {quoted} 3 {encoded} 4 {json.dumps(TOKEN)} 5"
    har = tmp_path / "x.har"
    for headers, body in [
        ([("content-type", "text/plain")], echo),
        ([("content-type", "application/json")], json.dumps({"code": 16, "message": echo})),
        ([("content-type", "text/html"), ("via", TOKEN)], f"<title>{echo}</title>"),
    ]:
        result = call(
            503, headers, body.encode(), "--bearer", f"@{tmp_path / 'token'}", "--use",
            f"log,format=har,file={har}", *options,
        )  # fmt: skip
        # The header "via" is metadata, which only errors and hints are to redact.
        shown = result.err.replace(f"< via: {TOKEN}", "") + result.out.replace(f'["via","{TOKEN}"]', "")
        for secret in (TOKEN, quoted, encoded, TOKEN.replace("/", "\\/")):
            assert secret not in shown
        assert "[redacted]" in shown
        assert TOKEN not in har.read_text().replace(f'"value":"{TOKEN}"', "")


@pytest.mark.parametrize("status", [200, 502])
def test_endless_body_ends_the_call(call, status):
    result = call(status, [("content-type", "text/plain")], b"x" * 3000, "--max-time", "20", ends=False)
    assert result.code != 64 + 4
    assert "xxx…" in result.err


def test_body_that_does_not_come_ends_the_call(call):
    call(502, [("content-type", "text/plain")], b"", "--max-time", "20", ends=False).exits(UNAVAILABLE)


def test_compressed_page(call):
    headers = [("content-type", "text/plain"), ("content-encoding", "gzip")]
    assert TEXT in call(503, headers, gzip.compress(TEXT.encode())).err


def test_status_of_grpc_gateway(call):
    body = b'{"code":5,"message":"no item 9","details":[]}'
    call(404, [("content-type", "application/json")], body).exits(NOT_FOUND, err=f"rpcurl: {HELLO}: not_found (5): no item 9\n")


def test_problem_details(call):
    body = b'{"type":"about:blank","title":"Out of credit","detail":"Your balance is 30."}'
    call(403, [("content-type", "application/problem+json")], body).exits(64 + 7).reports(": Out of credit: Your balance is 30.\n")


@pytest.mark.parametrize(
    ("status", "headers", "body", "hint"),
    [
        (302, [("location", "https://login.example/?next")], "", "the response leads to https://login.example/?next"),
        (400, [], "<title>400 No required SSL certificate was sent</title>", "--cert FILE, and --key FILE"),
        (401, [], "", "--bearer TOKEN, or -u NAME:PASSWORD"),
        (401, [("www-authenticate", 'Basic realm="x"')], "", "use -u NAME:PASSWORD"),
        (401, [("www-authenticate", "Bearer")], "", "use --bearer TOKEN"),
        (403, [("server", "nginx")], "", "the server or a proxy (nginx) refuses the request"),
        (404, [], "", "check the path of the URL"),
        (413, [], "", "accepts no request of this size"),
        (429, [("retry-after", "7")], "", "try again in 7 seconds (retry-after)"),
        (502, [("server", "envoy"), ("via", "1.1 edge")], "", "(envoy, via 1.1 edge)"),
        (503, [], "", "check the server"),
        (504, [], "", "received no response in time"),
    ],
)
def test_hints(call, status, headers, body, hint):
    result = call(status, [("content-type", "text/html"), *headers], body.encode())
    assert f"hint: {hint}" in result.err or hint in result.err.split("hint: ")[1]


# gRPC


@pytest.fixture
def grpc_call(demo, raw_server):
    def run(respond, *options, data='{"name":"Ada"}', method=HELLO):
        address = raw_server(raw_http2.handler(respond)).address
        return demo("-d", data, *options, f"http://{address}/{method}")

    return run


def test_text_if_the_request_is_not_sent_whole(rpcurl, raw_server, descriptor_set):
    """The server does not read the rest of a request that has no end yet."""

    def respond(stream):
        stream.headers([(":status", "503"), ("content-type", "text/plain")])
        stream.data(TEXT.encode(), end=True)

    server = raw_server(raw_http2.handler(respond, waits=False))
    options = ["--descriptor-set", descriptor_set, "-d", "@-", f"http://{server.address}/{CHAT}"]
    with rpcurl.start(*options) as process:
        error = process.stderr.read().decode()
        assert process.wait() == UNAVAILABLE
    assert f": {TEXT}\n" in error


def test_content_encoding_of_a_proxy_is_decoded(grpc_call):
    def respond(stream):
        stream.headers([*raw_http2.OK, ("content-encoding", "gzip")])
        stream.data(gzip.compress(RESPONSE))
        stream.headers(STATUS_OK, end=True)

    result = grpc_call(respond)
    assert (result.code, result.json(), result.err) == (0, {"message": "Ada"}, "")


def test_other_content_encoding_is_an_error(grpc_call):
    def respond(stream):
        stream.headers([*raw_http2.OK, ("content-encoding", "compress")])
        stream.data(RESPONSE)
        stream.headers(STATUS_OK, end=True)

    grpc_call(respond).exits(INTERNAL).reports('the content-encoding "compress", which cannot be decoded')


# Details that are not a status


def test_details_that_are_not_a_status_are_shown(grpc_call):
    def respond(stream):
        value = base64.b64encode(b"arrow").decode()
        fields = [("grpc-status", "3"), ("grpc-message", "no"), ("grpc-status-details-bin", value)]
        stream.headers([*raw_http2.OK, *fields], end=True)

    grpc_call(respond).reports("grpc-status-details-bin: 5 bytes that are not a google.rpc.Status, base64 YXJyb3c=")
    result = grpc_call(respond, "--error-format", "json")
    assert json.loads(result.err)["error"]["details"] == [{"type": "", "value": "YXJyb3c="}]


# GOAWAY


@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("responds", [False, True])
def test_error_of_go_away_is_shown(grpc_call, has_mended_libcurl, responds, resets):
    if not has_mended_libcurl:
        pytest.skip("this libcurl only logs the error of a GOAWAY")

    def respond(stream):
        if responds:
            stream.headers(raw_http2.OK)
        stream.go_away(stream.number, 11, b"too_many_pings\x1b")
        stream.wait_until_read()
        if resets:
            stream.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.connection.close()
            raise EOFError
        stream.connection.shutdown(socket.SHUT_WR)

    grpc_call(respond).exits(5).reports("GOAWAY with error 0xb ENHANCE_YOUR_CALM: too_many_pings?", "hint: raise --keepalive-time")
