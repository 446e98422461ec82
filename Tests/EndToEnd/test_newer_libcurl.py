"""What a newer libcurl does differently, and HTTP/3, which the system's may not have.

`make newer-libcurl-test` runs all the other tests with it as well.
"""

import json
import time

import pytest
import raw_http2
from test_batch import counted, names  # noqa: F401
from test_misbehaving import INTERNAL, UNKNOWN

SERVICE = "demo.v1.Demo"


@pytest.fixture
def call(newer_rpcurl, descriptor_set):
    return lambda *arguments, **options: newer_rpcurl("--descriptor-set", descriptor_set, *arguments, **options)


def test_it_is_newer(newer_rpcurl):
    lines = newer_rpcurl("version").out.splitlines()
    assert lines[1].startswith("libcurl/8.")
    assert lines[2] == "HTTP: 1.1, 2, 3"


@pytest.mark.parametrize(
    ("reset", "code"), [(1, INTERNAL), (5, UNKNOWN), (8, 64 + 1), (11, 64 + 8), (12, 64 + 7)]
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "during"])
def test_reset(call, raw_server, reset, code, when):
    def answer(stream):
        if when == "during":
            stream.headers(raw_http2.OK)
            stream.data(raw_http2.ANSWER[:7])
        stream.reset(reset)

    server = raw_server(raw_http2.handler(answer))
    result = call("--plaintext", server.address, f"{SERVICE}/Hello")
    assert (result.code, result.out) == (code, ""), result.err


@pytest.mark.parametrize("way", ["grpc h2c", "grpc tls", "connect h2c"])
def test_a_batch_shares_a_connection(call, request, counted, certificates, way):  # noqa: F811
    protocol, transport = way.split()
    server = request.getfixturevalue(f"{protocol}_tls_server" if transport == "tls" else f"{protocol}_server")
    proxy = counted(server)
    target = (
        ["--cacert", certificates / "ca.pem", f"localhost:{proxy.port}"]
        if transport == "tls"
        else ["--http2", "--plaintext", proxy.address]
    )
    result = call("--each", "--jobs", 32, "--protocol", protocol, *target, f"{SERVICE}/Hello", input=names(300))
    assert (result.code, result.err) == (0, "")
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(n) for n in range(300)]
    assert proxy.connections == 1


def test_refusal_that_comes_before_the_request_has_left(call, raw_server):
    """A newer libcurl hands on the answer that 7.88 may lose."""

    def answer(stream):
        stream.headers([*raw_http2.OK, ("grpc-status", "8"), ("grpc-message", "too much")], end=True)
        stream.reset(0)
        stream.wait_for_the_end()

    server = raw_server(raw_http2.handler(answer, waits=False))
    data = json.dumps({"name": "x" * 5_000_000})
    result = call("--plaintext", "-d", "@-", server.address, f"{SERVICE}/Hello", input=data)
    assert result.code == 64 + 8 and "too much" in result.err


# HTTP/3


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def http3(request, call, connect_http3_server, certificates):
    def run(method, *data, **options):
        words = [word for item in data for word in ("-d", item)]
        return call(
            "--protocol", request.param, "--http3", "--cacert", certificates / "ca.pem", "--format", "events",
            "--max-time", "5", *words, f"{connect_http3_server.url}/{SERVICE}/{method}", **options,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("method", "data", "messages", "code"),
    [
        ("Hello", ['{"name":"Ada"}'], [{"message": "Hello, Ada!", "name": "Ada"}], 0),
        ("Count", ['{"from":1,"to":3}'], [{"number": 1}, {"number": 2}, {"number": 3}], 0),
        ("Sum", ['{"value":1}', '{"value":3}'], [{"total": "4", "count": 2}], 0),
        ("Chat", ['{"text":"a"}', '{"text":"b"}'], [{"text": "you said: a"}, {"text": "you said: b"}], 0),
        ("Fail", ['{"code":5,"message":"not here"}'], [], 69),
        ("FailStream", ['{"code":5,"afterMessages":2}'], [{"number": 1}, {"number": 2}], 69),
    ],
)
def test_http3(http3, method, data, messages, code):
    result = http3(method, *data)
    assert result.code == code, result.err
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [e["http_version"] for e in events if e["event"] == "headers"] == ["3"]
    assert [e["message"] for e in events if e["event"] == "message"] == messages


def test_http3_meets_the_deadline(call, connect_http3_server, certificates):
    start = time.monotonic()
    options = ["--http3", "--cacert", certificates / "ca.pem", "--max-time", "400ms", "-d", '{"milliseconds":9000}']
    result = call(*options, f"{connect_http3_server.url}/{SERVICE}/Delay")
    assert result.code == 68, result.err
    assert time.monotonic() - start < 2
    connect_http3_server.wait_for_canceled_calls(f"{SERVICE}/Delay", 1)


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_http3_is_full_duplex(newer_rpcurl, descriptor_set, connect_http3_server, certificates, protocol):
    arguments = [
        "--protocol", protocol, "--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem",
        f"{connect_http3_server.url}/{SERVICE}/Chat",
    ]  # fmt: skip
    with newer_rpcurl.start(*arguments) as process:
        for number in range(50):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert process.wait(5) == 0


def test_http3_needs_tls(call):
    result = call("--http3", "--plaintext", "localhost:1", f"{SERVICE}/Hello")
    assert result.code == 2 and "HTTP/3 needs TLS" in result.err


def test_no_server_for_http3(call):
    result = call("--http3", "-k", "--connect-timeout", "1", "https://127.0.0.1:1", f"{SERVICE}/Hello")
    assert result.code == 5, result.err
