"""nginx in front of a server: as a gRPC proxy over HTTP/2, and as a reverse proxy over HTTP/1.1."""

import json
import re
import signal
import socket
import threading

import pytest
from harness import names, relay, wait_until

HELLO, FIND, FAIL, RAW, LARGE, COUNT, SUM, CHAT, DELAY, FAIL_STREAM, ECHO = (
    f"demo.v1.Demo/{name}"
    for name in (
        "Hello", "Find", "Fail", "Raw", "Large", "Count", "Sum", "Chat", "Delay", "FailStream", "EchoMetadata"
    )
)  # fmt: skip
MEBIBYTE = 1 << 20
UNKNOWN, UNAVAILABLE = 64 + 2, 64 + 14


@pytest.fixture(scope="session")
def start_nginx(start_foreign_server):
    """`start_nginx(mode, backend, …)`"""

    def start(mode, backend, *options):
        return start_foreign_server("nginx_server.py", "--mode", mode, "--backend", backend, *options)

    return start


@pytest.fixture(scope="session", params=["h2c", "tls"])
def nginx(request, start_nginx, grpc_server, certificates):
    """nginx in front of grpcio's server, in cleartext and with TLS."""
    return start_nginx("grpc", grpc_server.address, *(["--tls-dir", certificates] if request.param == "tls" else []))


@pytest.fixture
def call(demo):
    """`call(server, method, …)`"""

    def run(server, method, *options, **more):
        trust = ["--cacert", server.ca] if server.ca else []
        return demo(*trust, *options, f"{server.url}/{method}", **more)

    return run


def accesses(server, method):
    """The requests for a method that nginx has logged: (HTTP version, status)."""
    pattern = rf"^access POST /{re.escape(method)} HTTP/(\S+) (\d+) "
    return re.findall(pattern, server.log(), re.MULTILINE)


def wait_for_accesses(server, method, count):
    """nginx logs a request after it has sent the response."""
    wait_until(lambda: len(accesses(server, method)) >= count, f"{count} requests for {method} are logged")
    return accesses(server, method)


# gRPC


def test_unary_calls(call, nginx):
    assert call(nginx, HELLO, "-d", '{"name":"Ada"}').succeeds().lines()[0]["message"] == "Hello, Ada!"
    assert ("2.0", "200") in wait_for_accesses(nginx, HELLO, 1)


@pytest.mark.parametrize("code", range(1, 17))
def test_status_and_details_pass(current_rpcurl, call, nginx, code):
    request = {
        "code": code, "message": "Größe 100 %",
        "details": [{"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "detail"}],
    }  # fmt: skip
    result = call(nginx, FAIL, "-d", json.dumps(request), "--format", "events").exits(64 + code)
    end = next(event for event in result.lines() if event["event"] == "end")
    assert end["message"] == request["message"]
    assert [(detail["type"], detail["debug"]) for detail in end["details"]] == [("demo.v1.HelloRequest", {"name": "detail"})]


def test_metadata_passes(call, nginx):
    request = {"headers": [{"name": "x-data-bin", "binary": "AP8="}], "trailers": [{"name": "x-end", "value": "z"}]}
    sent = ["-H", "a: 1", "-H", "a: 2", "-H", "b-bin: AP8="]
    result = call(nginx, ECHO, *sent, "-d", json.dumps(request), "--format", "events")
    events = {event["event"]: event for event in result.lines()}
    received = [(h["name"], h.get("value") or h.get("binary")) for h in events["message"]["message"]["headers"]]
    assert [pair for pair in received if pair[0] in ("a", "b-bin")] == [("a", "1"), ("a", "2"), ("b-bin", "AP8=")]
    assert "x-data-bin" in json.dumps(events["headers"])
    assert "x-end" in json.dumps(events["end"])


def test_large_messages(call, nginx):
    """More than the windows of both connections."""
    data = json.dumps({"bytesValue": "A" * (8 * MEBIBYTE)})
    # The tag and a length of four bytes precede the value.
    [reply] = call(nginx, RAW, "-d", "@-", input=data).succeeds().lines()
    assert len(reply["request"]) == pytest.approx(8 * MEBIBYTE, abs=16)
    [reply] = call(nginx, LARGE, "-d", json.dumps({"sizeBytes": 6 * MEBIBYTE})).succeeds().lines()
    assert len(reply["payload"]) == 8 * MEBIBYTE


def test_streams(call, nginx):
    numbers = [reply["number"] for reply in call(nginx, COUNT, "-d", '{"from":1,"to":2000}').succeeds().lines()]
    assert numbers == list(range(1, 2001))
    sums = call(nginx, SUM, "-d", "@-", input='{"value":2}' * 1000).succeeds().lines()
    assert sums == [{"total": "2000", "count": 1000}]


def test_each_response_comes_before_the_next_request(demo, nginx):
    trust = ["--cacert", nginx.ca] if nginx.ca else []
    with demo.start(*trust, f"{nginx.url}/{CHAT}") as process:
        for number in range(50):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert (process.wait(), process.stderr.read()) == (0, b"")


def test_stream_that_ends_with_an_error(current_rpcurl, call, nginx):
    request = {"code": 9, "message": "enough", "afterMessages": 3}
    result = call(nginx, FAIL_STREAM, "-d", json.dumps(request)).exits(64 + 9)
    assert [json.loads(line)["number"] for line in result.out.splitlines()] == [1, 2, 3]
    assert result.err.splitlines()[0] == f"rpcurl: {FAIL_STREAM}: failed_precondition (9): enough"


def test_cancellation_passes(demo, start_server, start_nginx):
    backend = start_server("grpc_server.py")
    server = start_nginx("grpc", backend.address)
    with demo.start(f"{server.url}/{CHAT}") as process:
        process.stdin.write(b'{"text":"a"}')
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    backend.wait_for_canceled_calls(CHAT, 1)


def test_reflection_passes(rpcurl, nginx):
    trust = ["--cacert", nginx.ca] if nginx.ca else []
    assert "demo.v1.Demo" in rpcurl("list", "--no-cache", *trust, nginx.url).succeeds().out.split()


# Errors and connections of nginx


def test_backend_that_is_down(current_rpcurl, call, start_nginx):
    """nginx responds with 502 and HTML, which gRPC maps to unavailable."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = start_nginx("grpc", f"127.0.0.1:{port}")
    for method in (HELLO, COUNT, SUM, CHAT):
        result = call(server, method).exits(UNAVAILABLE, "")
        assert result.err.startswith(f"rpcurl: {method}: unavailable (14): ") and "HTTP 502" in result.err
        assert "without a gRPC status: 502 Bad Gateway\n" in result.err
        assert "hint: the server or a proxy (nginx/" in result.err
        assert "html" not in result.err


def test_backend_that_is_down_while_the_stream_stays_open(current_rpcurl, start_nginx, descriptor_set):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = start_nginx("grpc", f"127.0.0.1:{port}")
    with current_rpcurl.start("--descriptor-set", descriptor_set, f"{server.url}/{CHAT}") as process:
        assert process.wait() == UNAVAILABLE
        assert b"HTTP 502, without a gRPC status: 502 Bad Gateway" in process.stderr.read()


def test_missing_client_certificate(call, start_nginx, grpc_server, certificates):
    """nginx accepts the TLS handshake, and responds with a page."""
    server = start_nginx("grpc", grpc_server.address, "--tls-dir", certificates, "--require-client-certificate")
    call(server, HELLO, "-d", "{}").exits(64 + 13).reports(
        "without a gRPC status: 400 No required SSL certificate was sent\n", "hint: the server requires a client certificate: use --cert FILE",
    )
    pair = ["--cert", certificates / "client.pem", "--key", certificates / "client-key.pem"]
    assert call(server, HELLO, *pair, "-d", '{"name":"Ada"}').succeeds().lines()[0]["message"] == "Hello, Ada!"
    pair = ["--cert", certificates / "other-client.pem", "--key", certificates / "other-client-key.pem"]
    call(server, HELLO, *pair, "-d", "{}").reports("400 The SSL certificate error\n", "hint: use --cert FILE with a certificate that the server trusts\n")


def test_backend_that_dies_during_a_stream(current_rpcurl, start_nginx, start_server, descriptor_set):
    backend = start_server("grpc_server.py")
    server = start_nginx("grpc", backend.address)
    with current_rpcurl.start("--descriptor-set", descriptor_set, f"{server.url}/{CHAT}") as process:
        process.stdin.write(b'{"text":"a"}')
        assert process.stdout.readline()
        backend.process.kill()
        assert process.wait() in (5, UNKNOWN, UNAVAILABLE, 64 + 13), process.stderr.read()
        assert process.stderr.read().startswith(b"rpcurl: ")


def test_request_larger_than_nginx_accepts(current_rpcurl, call, start_nginx, grpc_server):
    server = start_nginx("grpc", grpc_server.address, "--max-body", "64k")
    call(server, HELLO, "-d", "@-", input=json.dumps({"name": "x" * 100_000})).exits(UNKNOWN, "").reports(
        "HTTP 413, without a gRPC status: 413 Request Entity Too Large\n",
    )
    assert call(server, HELLO, "-d", '{"name":"Ada"}').succeeds().lines()


@pytest.mark.parametrize("jobs", [1, 20])
def test_batch_while_nginx_closes_connections(current_rpcurl, call, start_nginx, grpc_server, jobs):
    """nginx sends GOAWAY after ten requests of a connection. Each call succeeds, and is made once."""
    server = start_nginx("grpc", grpc_server.address, "--keepalive-requests", 10)
    result = call(server, HELLO, "--each", "--jobs", jobs, input=names(200), timeout=60)
    assert [reply["name"] for reply in result.succeeds().lines()] == [str(number) for number in range(200)]
    assert len(wait_for_accesses(server, HELLO, 200)) == 200


def test_session_while_nginx_closes_connections(current_rpcurl, prompt, start_nginx, grpc_server, descriptor_set):
    """An open stream continues on a connection that accepts no further calls."""
    server = start_nginx("grpc", grpc_server.address, "--keepalive-requests", 3)
    # What it reports on standard error is in the report of a failure.
    session = prompt("-v", "--descriptor-set", descriptor_set, server.url)
    session.type("open Chat")
    for number in range(12):
        session.type('{"text":"%d"}' % number)
        assert session.line().removeprefix("Chat[1] ") == '{"text":"you said: %d"}' % number
        session.type('call Hello {"name":"%d"}' % number)
        assert json.loads(session.line())["name"] == str(number)
    session.type("close", "wait")
    session.end()


@pytest.mark.parametrize("mode", ["grpc", "http"])
def test_session_while_nginx_closes_idle_connections(
    current_rpcurl, prompt, start_nginx, grpc_server, connect_server, raw_server, descriptor_set, mode
):
    """The next call uses a new connection, and does not fail on the old one."""
    backend = grpc_server if mode == "grpc" else connect_server
    server = start_nginx(mode, backend.address, "--keepalive-timeout", "200ms")
    closed = threading.Semaphore(0)

    way = raw_server(lambda client: relay(client, server.port, closed.release))
    protocol = ["--protocol", "grpc" if mode == "grpc" else "connect"]
    session = prompt("--descriptor-set", descriptor_set, *protocol, "--plaintext", way.address)
    for number in range(3):
        session.type('call Hello {"name":"%d"}' % number)
        assert json.loads(session.line())["name"] == str(number)
        assert closed.acquire(timeout=60)
    session.end()
    assert way.connections == 3


# Connect and gRPC-Web over HTTP/1.1


@pytest.fixture(params=["grpc-web", "connect"])
def web(request, call, start_nginx, connect_server):
    """Calls a Connect server through nginx, over HTTP/1.1."""
    server = start_nginx("http", connect_server.address)

    def run(method, *options, **more):
        return call(server, method, "--protocol", request.param, *options, **more)

    run.server = server
    return run


def test_http1_unary_calls(web):
    assert web(HELLO, "-d", '{"name":"Ada"}').succeeds().lines()[0]["message"] == "Hello, Ada!"
    assert wait_for_accesses(web.server, HELLO, 1) == [("1.1", "200")]
    web(FIND, "-d", '{"id":"9"}').exits(64 + 5).reports('no item "9"')


def test_http1_large_messages(web):
    data = json.dumps({"bytesValue": "A" * (4 * MEBIBYTE)})
    [reply] = web(RAW, "-d", "@-", input=data).succeeds().lines()
    assert len(reply["request"]) == pytest.approx(4 * MEBIBYTE, abs=16)


def test_http1_streams(web):
    numbers = [reply["number"] for reply in web(COUNT, "-d", '{"from":1,"to":500}').succeeds().lines()]
    assert numbers == list(range(1, 501))
    assert web(SUM, "-d", "@-", input='{"value":2}' * 100).succeeds().lines() == [{"total": "200", "count": 100}]
    assert len(web(FAIL_STREAM, "-d", '{"code":9,"message":"enough","afterMessages":2}').exits(64 + 9).out.splitlines()) == 2


def test_http1_batch(web):
    result = web(HELLO, "--each", "--jobs", 8, input=names(100))
    assert [reply["name"] for reply in result.succeeds().lines()] == [str(number) for number in range(100)]


@pytest.mark.parametrize("protocol", ["grpc-web", "connect"])
def test_http1_errors_of_nginx(call, start_nginx, connect_server, protocol):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    call(start_nginx("http", f"127.0.0.1:{port}"), HELLO, "--protocol", protocol).exits(UNAVAILABLE, "").reports(": 502 Bad Gateway\n")
    server = start_nginx("http", connect_server.address, "--max-body", "64k")
    call(server, HELLO, "--protocol", protocol, "-d", "@-", input=json.dumps({"name": "x" * 100_000})).exits(UNKNOWN, "").reports("413")


# Servers without HTTP/2


def test_grpc_is_refused_over_http1(call, start_nginx, connect_server, certificates):
    """ALPN selects HTTP/1.1: neither the request nor its credentials are sent."""
    server = start_nginx("http", connect_server.address, "--tls-dir", certificates)
    call(server, HELLO, "--bearer", "s3cret", "-d", '{"name":"Ada"}').exits(5, "").reports("HTTP/2", "--protocol grpc-web", "connect")
    assert "access " not in server.log()
    for protocol in ("connect", "grpc-web"):
        assert call(server, HELLO, "--protocol", protocol, "-d", '{"name":"Ada"}').succeeds().lines()
