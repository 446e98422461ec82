"""Values of request headers that change a call, or that a protocol forbids."""

import json

import pytest
from harness import silent, write

DEMO = "demo.v1.Demo"
HELLO = f"{DEMO}/Hello"
DEADLINE_EXCEEDED = 64 + 4
TIMEOUTS = {"grpc": ("grpc-timeout", "100m"), "grpc-web": ("grpc-timeout", "100000u"), "connect": ("connect-timeout-ms", "100")}


# Bytes other than printable ASCII, which gRPC forbids


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web"])
@pytest.mark.parametrize(
    ("options", "place", "name"),
    [
        (["-H", "x-a: ä"], "-H", "x-a"), (["--rpc-header", "x-a: ä"], "--rpc-header", "x-a"), (["--reflect-header", "x-a: \t\tä"], "--reflect-header", "x-a"),
        (["--bearer", "ä"], "authorization", "authorization"), (["-A", "ä"], "user-agent", "user-agent"),
    ],
)  # fmt: skip
def test_forbidden_value_of_an_option(rpcurl, raw_server, protocol, options, place, name):
    """Nothing is sent: the server would have to respond."""
    result = rpcurl("--protocol", protocol, *options, f"http://{raw_server(silent).address}", HELLO).exits(2, "")
    line, hint = result.err.splitlines()
    assert line == f"rpcurl: {place}: the value of {name} contains bytes other than printable ASCII, which gRPC forbids"
    assert hint.startswith("hint: percent-encode it")


@pytest.mark.parametrize("command", [["health"], ["check"], ["list"], ["load", "--duration", "1s"]])
def test_forbidden_value_in_other_commands(rpcurl, raw_server, command):
    method = [HELLO] if command[0] == "load" else []
    rpcurl(command[0], "-H", "x-a: ä", *command[1:], raw_server(silent).address, *method).exits(2, "").reports(
        "the value of x-a contains bytes other than printable ASCII",
    )


def test_forbidden_value_of_an_interceptor(rpcurl, raw_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--plaintext", "--use", "header,set=x-a:ä", "-d", "{}"]
    result = rpcurl(*options, raw_server(silent).address, HELLO)
    assert result.code != 0 and result.out == ""
    assert "x-a contains bytes other than printable ASCII, which gRPC forbids: percent-encode it, or send it as base64 in x-a-bin" in result.err


def test_connect_allows_other_bytes(rpcurl, connect_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--protocol", "connect", "-H", "x-a: ä", "-d", '{"name":"Ada"}', "--format", "events"]
    result = rpcurl(*options, f"{connect_server.url}/{HELLO}").exits(0)
    assert ["x-a", "ä"] in json.loads(result.out.splitlines()[0])["headers"]


# Headers that contradict the message or the URL


@pytest.mark.parametrize("name", ["content-encoding", "grpc-encoding", "connect-content-encoding"])
@pytest.mark.parametrize("options", [[], ["--compression", "gzip"], ["--protocol", "connect"]])
def test_compression_is_not_a_header(rpcurl, raw_server, options, name):
    result = rpcurl(*options, "-H", f"{name}: gzip", f"http://{raw_server(silent).address}", HELLO).exits(2, "")
    why = f"the header {name} is set by the compression of the request and cannot be changed"
    assert result.err == f"rpcurl: -H: {why}\nhint: use --compression gzip\n"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--use", "header,set=host:a b"], "the value of host is not a host with an optional port"),
        (["-H", "host: a", "--use", "header,add=host:b"], "the header host is given more than once"),
    ],
)
def test_host_of_an_interceptor_is_a_host(demo, raw_server, options, why):
    server = raw_server(silent)
    result = demo(*options, "-d", "{}", f"http://{server.address}", HELLO)
    assert (result.code, result.out, server.connections) == (2, "", 0), result.err
    assert why in result.err


@pytest.mark.parametrize("value", ["", "a b", "foo/bar", "u@h", "a:b", "a:99999", "[::1"])
@pytest.mark.parametrize("option", ["--authority", "-H"])
@pytest.mark.parametrize("command", ["call", "health", "list"])
def test_host_of_a_request_is_a_host(rpcurl, raw_server, command, option, value):
    method = [HELLO] if command == "call" else []
    text = value if option == "--authority" else f"Host: {value}"
    result = rpcurl(command, option, text, f"http://{raw_server(silent).address}", *method).exits(2, "")
    assert result.err == f"rpcurl: {option}: the value of host is not a host with an optional port\nhint: write HOST or HOST:PORT\n"


# Blanks around values, on which some servers close the connection


def test_blanks_around_a_value_are_not_sent(rpcurl, connect_server, descriptor_set, tmp_path):
    file = write(tmp_path / "headers", b"x-file: v \t\r\n")
    options = ["-H", "x-a: v \t", "-H", f"@{file}", "-A", "agent ", "--bearer", "token ", "--show-secrets"]
    options += ["--use", "header,set=x-set:v ,add=x-add: v ,set=x-env:env:BLANK,set=x-command:cmd:printf 'v '"]
    call = ["--descriptor-set", descriptor_set, "--protocol", "connect", "-d", '{"name":"Ada"}', "--format", "events"]
    result = rpcurl(*options, *call, f"{connect_server.url}/{HELLO}", env={"BLANK": " v "}).exits(0)
    headers = dict(json.loads(result.out.splitlines()[0])["headers"])
    assert {headers[f"x-{name}"] for name in ("a", "file", "set", "add", "env", "command")} == {"v"}
    assert (headers["user-agent"], headers["authorization"]) == ("agent", "Bearer token")


# Timeouts


@pytest.mark.parametrize("protocol", TIMEOUTS)
@pytest.mark.parametrize("limit", [[], ["--max-time", "1h"]])
@pytest.mark.parametrize("source", [["-H", "{}: {}"], ["--use", "header,set={}:{}"]], ids=["option", "interceptor"])
def test_header_with_a_timeout_limits_the_call(rpcurl, raw_server, descriptor_set, protocol, limit, source):
    name, value = TIMEOUTS[protocol]
    options = ["--descriptor-set", descriptor_set, "--protocol", protocol, "--http2-prior-knowledge", "-d", "{}", *limit]
    header = [text.format(name, value) for text in source]
    rpcurl(*header, *options, f"http://{raw_server(silent).address}", HELLO).exits(DEADLINE_EXCEEDED).reports("took longer than 0.1 seconds")


@pytest.mark.parametrize("protocol", TIMEOUTS)
def test_shorter_max_time_applies(rpcurl, connect_server, descriptor_set, protocol):
    """The server receives the time that is left."""
    name, _ = TIMEOUTS[protocol]
    options = ["--descriptor-set", descriptor_set, "--protocol", protocol, "--http2-prior-knowledge", "-d", '{"name":"Ada"}', "--format", "events"]
    value = "3600000" if protocol == "connect" else "1H"
    for limits in (["-H", f"{name}: {value}", "--max-time", "20s"], ["-H", f"{name}: {value}"]):
        result = rpcurl(*options, *limits, f"{connect_server.url}/{HELLO}").exits(0)
        (sent,) = [v for n, v in json.loads(result.out.splitlines()[0])["headers"] if n == name]
        seconds = int(sent) / 1e3 if protocol == "connect" else int(sent[:-1]) / {"n": 1e9, "u": 1e6, "m": 1e3}[sent[-1]]
        longest = 20 if len(limits) == 4 else 3600
        assert longest - 15 < seconds <= longest


def test_header_with_a_timeout_in_other_commands(rpcurl, raw_server, descriptor_set):
    address = raw_server(silent).address
    rpcurl("session", "--descriptor-set", descriptor_set, "--plaintext", address, input=f"header grpc-timeout: 100m\ncall {HELLO} {{}}\n").reports(
        "took longer than 0.1 seconds",
    )
    rpcurl("health", "-H", "grpc-timeout: 100m", "--plaintext", address).exits(DEADLINE_EXCEEDED)
    rpcurl("list", "-H", "grpc-timeout: 100m", "--plaintext", address).exits(DEADLINE_EXCEEDED)
    options = ["--requests", 2, "--format", "json", "--descriptor-set", descriptor_set, "--plaintext"]
    load = rpcurl("load", "-H", "grpc-timeout: 100m", *options, address, HELLO)
    assert load.json()["statuses"][0]["status"] == "deadline_exceeded"


@pytest.mark.parametrize("protocol", TIMEOUTS)
def test_invalid_timeout_of_an_interceptor_is_not_sent(rpcurl, raw_server, descriptor_set, protocol):
    server = raw_server(silent)
    options = ["--descriptor-set", descriptor_set, "--protocol", protocol, "-d", "{}"]
    name = TIMEOUTS[protocol][0]
    result = rpcurl("--use", f"header,set={name}:zz", *options, f"http://{server.address}", HELLO)
    assert (result.code, result.out, server.connections) == (2, "", 0), result.err
    assert f"the value of {name} is not a timeout: write " in result.err


def test_longest_timeout(demo, grpc_server):
    demo("-H", "grpc-timeout: 99999999H", "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}").succeeds()


def test_invalid_timeout(rpcurl):
    result = rpcurl("-H", "grpc-timeout: 100ms", "http://127.0.0.1:1", HELLO).exits(2, "")
    assert result.err.startswith("rpcurl: -H: the value of grpc-timeout is not a timeout\nhint: write up to 8 digits and a unit")
