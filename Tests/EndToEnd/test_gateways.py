"""Gateways and proxies in front of grpcio's server: each passes the same calls, and has tests of its own."""

import base64
import json
from dataclasses import dataclass

import pytest
from harness import Caller, Server, wait_until, write
from test_check import check  # noqa: F401

DEMO = "demo.v1.Demo"
MEBIBYTE = 1 << 20
DEADLINE_EXCEEDED, FAILED_PRECONDITION, UNAVAILABLE = 64 + 4, 64 + 9, 64 + 14


@dataclass(frozen=True)
class Gateway:
    """A way to the server: the URL that is called, and the options that the way needs."""

    url: str
    options: tuple[object, ...]
    # The server behind it, which has the log.
    backend: Server


@pytest.fixture(scope="session")
def start_gateway(start_foreign_server, grpc_server):
    """`start_gateway(script, *options)`"""
    return lambda script, *options: start_foreign_server(script, "--backend", grpc_server.address, *options)


@pytest.fixture(scope="session")
def haproxy(start_gateway):
    return start_gateway("gateway_server.py", "--kind", "haproxy")


@pytest.fixture(scope="session")
def haproxy_tls(start_gateway, certificates):
    return start_gateway("gateway_server.py", "--kind", "haproxy", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def caddy(start_gateway):
    return start_gateway("gateway_server.py", "--kind", "caddy")


@pytest.fixture(scope="session")
def caddy_tls(start_gateway, certificates):
    return start_gateway("gateway_server.py", "--kind", "caddy", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def stunnel(start_gateway, certificates):
    return start_gateway("gateway_server.py", "--kind", "stunnel", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def envoy(start_gateway):
    return start_gateway("envoy_server.py")


@pytest.fixture(scope="session")
def strict_nginx(start_gateway):
    """It refuses a content type other than application/grpc."""
    return start_gateway("nginx_server.py", "--mode", "grpc", "--only-grpc")


@pytest.fixture(scope="session")
def squid(start_foreign_server):
    return start_foreign_server("proxy_server.py", "--kind", "squid")


@pytest.fixture(scope="session")
def guarded_squid(start_foreign_server):
    return start_foreign_server("proxy_server.py", "--kind", "squid", "--user", "ada:s3cret")


@pytest.fixture(params=["haproxy", "haproxy_tls", "caddy", "caddy_tls", "stunnel", "envoy", "strict_nginx", "squid"])
def gateway(request, grpc_server):
    if request.param == "haproxy_tls":
        request.getfixturevalue("offers_only_http2")
    server = request.getfixturevalue(request.param)
    if request.param == "squid":
        backend = request.getfixturevalue("grpc_tls_server")
        return Gateway(backend.url, ("--cacert", backend.ca, "--proxy", f"http://{server.address}"), backend)
    trust = ("--cacert", server.ca) if server.ca else ()
    protocol = ("--http2-prior-knowledge",) if request.param == "stunnel" else ()
    return Gateway(server.url, (*trust, *protocol), grpc_server)


@pytest.fixture
def call(demo, gateway):
    """Calls through the gateway."""
    return Caller(demo, gateway, *gateway.options, "-d", "@-")


# Calls through each


def test_unary_call(call):
    assert call("Hello", input='{"name":"Größe"}').succeeds().lines() == [{"message": "Hello, Größe!", "name": "Größe"}]


def test_metadata(call):
    binary = [{"name": "x-data-bin", "binary": value} for value in ("AP8=", "AQ==")]
    request = {"headers": binary, "trailers": [*binary, {"name": "x-end", "value": "100 %"}]}
    sent = ["-H", "x-a: 1", "-H", "x-a: 2", "-H", "x-b-bin: AP8=", "-H", "x-b-bin: AQ=="]
    received = call("EchoMetadata", *sent, "--format", "events", input=json.dumps(request)).exits(0).named_events()
    headers = received["message"]["message"]["headers"]
    echoed = [(header["name"], header.get("value") or header.get("binary")) for header in headers]
    assert [pair for pair in echoed if pair[0] == "x-a"] == [("x-a", "1"), ("x-a", "2")]
    assert [pair for pair in echoed if pair[0] == "x-b-bin"] == [("x-b-bin", "AP8="), ("x-b-bin", "AQ==")]
    pairs = [["x-data-bin", "AP8"], ["x-data-bin", "AQ"]]
    assert [pair for pair in received["headers"]["headers"] if pair[0] == "x-data-bin"] == pairs
    assert [pair for pair in received["end"]["trailers"] if pair[0].startswith("x-")] == [*pairs, ["x-end", "100 %"]]


def test_stream(call):
    assert [reply["number"] for reply in call("Count", input='{"from":1,"to":2000}').succeeds().lines()] == list(range(1, 2001))


def test_client_stream(call):
    assert call("Sum", input='{"value":2}' * 1000).succeeds().lines() == [{"total": "2000", "count": 1000}]


def test_each_response_comes_before_the_next_request(demo, gateway):
    with demo.start(*gateway.options, f"{gateway.url}/{DEMO}/Chat") as process:
        for number in range(30):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert (process.wait(), process.stderr.read()) == (0, b"")


def test_error_with_details(call, keeps_early_responses):
    request = {
        "code": 9, "message": "Größe 100 %",
        "details": [{"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "detail"}],
    }  # fmt: skip
    result = call("Fail", "--format", "events", input=json.dumps(request))
    end = result.named_events()["end"]
    assert (result.code, end["message"]) == (FAILED_PRECONDITION, request["message"])
    assert [(detail["type"], detail["debug"]) for detail in end["details"]] == [("demo.v1.HelloRequest", {"name": "detail"})]


def test_error_within_a_stream(call, keeps_early_responses):
    result = call("FailStream", input='{"code":9,"message":"enough","afterMessages":3}').exits(FAILED_PRECONDITION)
    assert [json.loads(line)["number"] for line in result.out.splitlines()] == [1, 2, 3]
    assert result.err.splitlines()[0] == f"rpcurl: {DEMO}/FailStream: failed_precondition (9): enough"


def test_large_response(call):
    size = 4 * MEBIBYTE
    [reply] = call("Large", input=json.dumps({"sizeBytes": size})).succeeds().lines()
    assert base64.b64decode(reply["payload"]) == (bytes(range(251)) * (size // 251 + 1))[:size]


@pytest.mark.parametrize("compression", [[], ["--compression", "gzip"]], ids=["identity", "gzip"])
def test_large_request(call, compression):
    data = base64.b64encode(bytes(range(256)) * (3 * MEBIBYTE // 256)).decode()
    [reply] = call("Raw", *compression, input=json.dumps({"bytesValue": data})).succeeds().lines()
    # The tag and a length of four bytes precede the value.
    assert base64.b64decode(reply["request"])[5:] == base64.b64decode(data)


def test_compressed_response(call):
    result = call("Count", "-H", "demo-compression: gzip", "--format", "events", input='{"from":1,"to":3}').exits(0)
    assert ["gzip" in json.dumps(result.named_events()["headers"]), result.named_events()["message"]["message"]] == [True, {"number": 3}]


def test_deadline(call, gateway):
    before = gateway.backend.canceled_calls(f"{DEMO}/Delay")
    assert call("Delay", "--max-time", "1s", input='{"milliseconds":600000}').code == DEADLINE_EXCEEDED
    gateway.backend.wait_for_canceled_calls(f"{DEMO}/Delay", before + 1)


def test_reflection_and_health(rpcurl, gateway):
    assert DEMO in rpcurl("list", "--no-cache", *gateway.options, gateway.url).succeeds().out.split()
    assert rpcurl("health", *gateway.options, gateway.url).out == "SERVING\n"


# HAProxy: it prefers HTTP/1.1


def test_haproxy_selects_http2(check, haproxy_tls, offers_only_http2):  # noqa: F811
    code, steps, command = check("--cacert", haproxy_tls.ca, haproxy_tls.url)
    assert (code, command) == (0, f"rpcurl list --cacert {haproxy_tls.ca} localhost:{haproxy_tls.port}")
    assert "ALPN h2" in steps["TLS"][1] and "2" in steps["HTTP"][1].split(", ")
    assert [steps[name][0] for name in ("gRPC", "health", "reflection")] == ["passed"] * 3


# stunnel: TLS without ALPN


def test_tls_without_alpn(rpcurl, descriptor_set, stunnel):
    """The error names the option with which the calls above succeed."""
    for schema in (["--descriptor-set", descriptor_set], ["--no-cache"]):
        result = rpcurl(*schema, "--cacert", stunnel.ca, "-d", '{"name":"Ada"}', f"{stunnel.url}/{DEMO}/Hello").exits(5, "")
        error, hint = result.err.splitlines()
        assert "negotiated no protocol" in error and "--http2-prior-knowledge" in hint


def test_check_of_tls_without_alpn(check, stunnel):  # noqa: F811
    """The command that it suggests is run."""
    _, _, command = check("--cacert", stunnel.ca, stunnel.url)
    assert "--http2-prior-knowledge" in command


# nginx with a rule for the content type


def test_rule_refuses_other_content_types(rpcurl, descriptor_set, strict_nginx):
    """So the calls above have the one that it accepts."""
    options = ["--descriptor-set", descriptor_set, "--protocol", "grpc-web", "--http2-prior-knowledge"]
    assert rpcurl(*options, "-d", '{"name":"Ada"}', f"{strict_nginx.url}/{DEMO}/Hello").code != 0
    wait_until(lambda: f"access POST /{DEMO}/Hello HTTP/2.0 404 " in strict_nginx.log(), "nginx logs the request")


# Envoy: a route without a server


@pytest.mark.parametrize("method", ["Unary", "Stream"])
@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_route_without_a_healthy_server(current_rpcurl, envoy, tmp_path, protocol, method):
    """Envoy responds with 503, or with the status of gRPC."""
    schema = write(tmp_path / "without.proto", (
        'syntax = "proto3"; package without.upstream; message M {}'
        "service S { rpc Unary(M) returns (M); rpc Stream(M) returns (stream M); }"
    ))
    name = f"without.upstream.S/{method}"
    result = current_rpcurl("--proto", schema, "--protocol", protocol, "-d", "{}", f"{envoy.url}/{name}").exits(UNAVAILABLE, "")
    assert result.err.startswith(f"rpcurl: {name}: unavailable (14): ")


# Envoy: gRPC-Web in base64

TEXT = "application/grpc-web-text"


@pytest.fixture
def text(rpcurl, envoy, descriptor_set):
    """`text(method, data, …)`: the header `content-type` of the response, and its messages."""

    def run(method, data, *options, web=("-H", f"content-type: {TEXT}")):
        words = ["--descriptor-set", descriptor_set, "--protocol", "grpc-web", *web, *options]
        result = rpcurl(*words, "-d", "@-", "--format", "events", f"{envoy.url}/{DEMO}/{method}", input=data).exits(0)
        found = result.lines()
        (head,) = [event["headers"] for event in found if event["event"] == "headers"]
        return dict(head)["content-type"], [event["message"] for event in found if event["event"] == "message"]

    return run


@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
def test_text_in_both_directions(text, version):
    kind, messages = text("Hello", '{"name":"Ada"}', version)
    assert kind.startswith(TEXT)
    assert messages == [{"message": "Hello, Ada!", "name": "Ada"}]
    kind, messages = text("Count", '{"from":1,"to":2000}', version)
    assert kind.startswith(TEXT)
    assert [message["number"] for message in messages] == list(range(1, 2001))


def test_text_of_the_response_only(text):
    kind, messages = text("Hello", '{"name":"Ada"}', web=("-H", f"accept: {TEXT}"))
    assert kind.startswith(TEXT) and messages[0]["message"] == "Hello, Ada!"


def test_large_text(text):
    kind, messages = text("Large", json.dumps({"sizeBytes": 3 * MEBIBYTE}))
    assert kind.startswith(TEXT)
    assert [len(base64.b64decode(message["payload"])) for message in messages] == [3 * MEBIBYTE]


def test_text_in_a_batch_and_a_load(rpcurl, envoy, descriptor_set):
    """Calls without a deadline share a request."""
    words = ["--descriptor-set", descriptor_set, "--protocol", "grpc-web", "-H", f"content-type: {TEXT}+proto", "-d", "@-"]
    batch = rpcurl("--each", *words, f"{envoy.url}/{DEMO}/Hello", input='{"name":"Ada"}' * 20).succeeds()
    assert [json.loads(line)["message"] for line in batch.out.splitlines()] == ["Hello, Ada!"] * 20
    load = rpcurl("load", *words, "--requests", 50, "--format", "json", f"{envoy.url}/{DEMO}/Hello", input='{"name":"Ada"}')
    assert load.json()["statuses"] == [{"status": "ok", "calls": 50}]


# squid, which opens tunnels


@pytest.mark.parametrize(
    ("credentials", "url", "status"),
    [("", None, 407), ("ada:wrong@", None, 407), ("ada:s3cret@", "https://refused.test", 403), ("ada:s3cret@", None, None)],
    ids=["no credentials", "wrong credentials", "refused host", "right credentials"],
)
def test_tunnel(demo, grpc_tls_server, guarded_squid, credentials, url, status):
    result = demo(
        "--cacert", grpc_tls_server.ca, "-d", '{"name":"Ada"}',
        "--proxy", f"http://{credentials}{guarded_squid.address}", f"{url or grpc_tls_server.url}/{DEMO}/Hello",
    )  # fmt: skip
    if status is None:
        assert result.succeeds().lines()[0]["name"] == "Ada"
        return
    assert (result.code, result.out) == (5, ""), result.err
    error = result.err.splitlines()[0]
    assert error.startswith("rpcurl: proxy ") and guarded_squid.address in error and f"HTTP {status}" in error
    assert "s3cret" not in result.err and "wrong" not in result.err


# Caddy over HTTP/3


@pytest.mark.parametrize(
    ("method", "data", "replies"),
    [
        ("Hello", '{"name":"Ada"}', [{"message": "Hello, Ada!", "name": "Ada"}]),
        ("Count", '{"from":1,"to":3}', [{"number": 1}, {"number": 2}, {"number": 3}]),
        ("Sum", '{"value":2}' * 100, [{"total": "200", "count": 100}]),
    ],
)
def test_http3(http3_rpcurl, descriptor_set, caddy_tls, method, data, replies):
    result = http3_rpcurl(
        "--descriptor-set", descriptor_set, "--http3", "--cacert", caddy_tls.ca, "--format", "events", "-d", "@-",
        f"{caddy_tls.url}/{DEMO}/{method}", input=data,
    ).exits(0)  # fmt: skip
    lines = result.lines()
    assert [line["http_version"] for line in lines if line["event"] == "headers"] == ["3"]
    assert [line["message"] for line in lines if line["event"] == "message"] == replies
