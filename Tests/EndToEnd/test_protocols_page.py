"""rpcurl-protocols(7): its tables and examples describe what rpcurl does."""

import json
import re

import pytest
import raw_http2

import manual
from harness import ROOT, Caller

PAGE = (ROOT / "man" / "rpcurl-protocols.7").read_text()
PROTOCOLS = ["grpc", "grpc-web", "connect"]


def table(head):
    """The rows of the table whose header starts with this word."""
    body = PAGE.split(f".It Sy {head} Ta ")[1].split(".El")[0]
    return [row.split(" Ta ") for row in re.findall(r"^\.It (.*)$", body, re.M)]


@pytest.fixture
def call(demo):
    """`call(protocol, server, *options)` gives the exit code, and the events by their names."""

    def run(protocol, server, *options, method="Hello"):
        result = Caller(demo, server, "--format", "events", protocol=protocol)(method, *options)
        return result.code, {event["event"]: event for event in result.lines()}

    return run


# The tables


def test_codes(call, connect_server):
    listed = (ROOT / "man" / "rpcurl.1").read_text().split("the exit code is 64 plus the status code.")[1].split(".It")[0]
    rows = [(name, int(exit_code) - 64, exit_code) for exit_code, name in re.findall(r"(\d+) (?:is )?([a-z_]+)", listed)]
    assert len(rows) == 16
    for name, number, exit_code in rows:
        code, events = call("connect", connect_server, "-d", json.dumps({"code": int(number)}), method="Fail")
        assert (events["end"]["code"], code) == (name, int(exit_code)) == (name, 64 + int(number))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_http_statuses(call, raw_server, protocol):
    known = {int(status): row for status, *row in table("HTTP") if status.isdigit()}
    (others,) = [row for status, *row in table("HTTP") if status == "others"]
    for status in [*known, 302, 409, 418, 500]:
        expected = known.get(status, others)
        server = raw_server(
            raw_http2.handler(
                lambda stream: stream.headers([(":status", str(status)), ("content-type", "text/html")], end=True)
            )
        )
        code, events = call(protocol, server, "--http2")
        assert [events["end"]["code"], str(code)] == expected, status


def test_resets(call, raw_server):
    known = {int(re.search(r"\((\d+)\)", name)[1]): row for name, *row in table("reset") if name != "others"}
    (others,) = [row for name, *row in table("reset") if name == "others"]
    for reset in [*known, 0, 1, 2, 3]:
        server = raw_server(raw_http2.handler(lambda stream: stream.reset(reset)))
        code, events = call("grpc", server)
        assert [events["end"]["code"], str(code)] == known.get(reset, others), reset
    for reset in (7, 13):
        _, events = call("grpc", raw_server(raw_http2.handler(lambda stream: stream.reset(reset))))
        assert events["end"]["code"] == "unavailable"


def test_content_types(call, connect_server):
    kinds = {"gRPC": ("grpc", "Hello"), "gRPC-Web": ("grpc-web", "Hello"), "Connect, unary": ("connect", "Hello"),
             "Connect, streams": ("connect", "Count")}  # fmt: skip
    rows = table("protocol")
    assert len(rows) == 4
    for name, proto, json_ in rows:
        protocol, method = kinds[name]
        for codec, expected in (("proto", proto), ("json", json_)):
            _, events = call(protocol, connect_server, "--codec", codec, method=method)
            assert dict(events["start"]["headers"])["content-type"] == expected


def test_compression_headers(call, connect_server):
    kinds = {"gRPC": ("grpc", "Hello"), "gRPC-Web": ("grpc-web", "Hello"), "Connect, unary": ("connect", "Hello"),
             "Connect, streams": ("connect", "Count")}  # fmt: skip
    text = PAGE.split(".It Sy protocol Ta Sy used Ta Sy accepted\n")[1].split(".El")[0]
    rows = [row.split(" Ta ") for row in re.findall(r"^\.It (.*)$", text, re.M)]
    assert len(rows) == 4
    for name, used, accepted in rows:
        protocol, method = kinds[name]
        _, events = call(protocol, connect_server, "--compression", "gzip", "--accept-compression", "zstd", method=method)
        headers = dict(events["start"]["headers"])
        assert (headers[accepted], headers.get(used)) == ("zstd", "gzip")


# Statements


@pytest.mark.parametrize(
    ("protocol", "name", "pattern"),
    [("grpc", "grpc-timeout", r"\d{1,8}[numSMH]"), ("grpc-web", "grpc-timeout", r"\d{1,8}[numSMH]"),
     ("connect", "connect-timeout-ms", r"\d{1,10}")],
)  # fmt: skip
def test_deadline_header(call, connect_server, protocol, name, pattern):
    for time in ("59s", "90s", "3h", "9000h"):
        _, events = call(protocol, connect_server, "--max-time", time)
        assert re.fullmatch(pattern, dict(events["start"]["headers"])[name]), time


def test_trailers_of_unary_connect(call, connect_server):
    data = '{"trailers":[{"name":"x-last","value":"1"}]}'
    for protocol in PROTOCOLS:
        _, events = call(protocol, connect_server, "-d", data, method="EchoMetadata")
        assert ["x-last", "1"] in events["end"]["trailers"]


def test_given_headers_replace_those_of_the_protocol(call, connect_server):
    for protocol in PROTOCOLS:
        _, events = call(protocol, connect_server, "-H", "User-Agent: me", "-H", "x-a: 1", "-H", "x-a: 2")
        sent = events["start"]["headers"]
        assert [value for name, value in sent if name == "user-agent"] == ["me"]
        assert [value for name, value in sent if name == "x-a"] == ["1", "2"]


def test_limits(call, connect_server):
    data = '{"sizeBytes":1000000}'
    for protocol in PROTOCOLS:
        code, events = call(protocol, connect_server, "--max-message-size", "999k", "-d", data, method="Large")
        assert code == 0, protocol
        code, events = call(protocol, connect_server, "--max-message-size", "900k", "-d", data, method="Large")
        assert (code, events["end"]["code"]) == (72, "resource_exhausted"), protocol


def test_get_has_a_longest_url(call, connect_server):
    for size, method in ((4000, "GET"), (9000, "POST")):
        data = json.dumps({"name": "x" * size})
        _, events = call("connect", connect_server, "--connect-get", "--codec", "json", "-d", data)
        headers = dict(events["start"]["headers"])
        assert ("connect=v1" in events["start"]["url"]) == (method == "GET")
        assert ("content-type" in headers) == (method == "POST")


def test_http1_is_not_for_grpc(call, connect_server):
    assert call("grpc", connect_server, "--http1.1")[0] == 2
    for protocol in PROTOCOLS[1:]:
        _, events = call(protocol, connect_server)
        assert events["headers"]["http_version"] == "1.1"
        _, events = call(protocol, connect_server, "-d", '{"text":"a"}', method="Chat")
        assert events["headers"]["http_version"] == "2"


# Examples


def run(example, tmp_path, descriptor_set, grpc_server, connect_server):
    servers = {"localhost:8080": connect_server.address, "localhost:50051": grpc_server.address}
    here = [(old, new) for old, new in servers.items() if old in example]
    result = manual.run(example, tmp_path, descriptor_set, here)
    assert result.returncode == 0, result.stderr
    return result


def test_examples(tmp_path, descriptor_set, grpc_server, connect_server):
    each, get, status = manual.examples("rpcurl-protocols.7")
    servers = (tmp_path, descriptor_set, grpc_server, connect_server)
    events = [json.loads(line) for line in run(each, *servers).stdout.splitlines()]
    assert [e["protocol"] for e in events if e["event"] == "start"] == PROTOCOLS
    assert [e["code"] for e in events if e["event"] == "end"] == ["ok"] * 3
    shown = run(get, *servers).stderr
    assert "> GET http" in shown and "&message=%7B%22name%22%3A%22Ada%22%7D" in shown
    assert run(status, *servers).stdout == "there is no item 9\n"
