"""The interceptor mock: responses from stub files."""

import json

import manual
import pytest
from harness import Caller, write

DEMO = "demo.v1.Demo"
NOWHERE = "http://127.0.0.1:1"

STUBS = """
{"method": "demo.v1.Demo/Hello", "request": {"name": "Ada"},
 "response": {"headers": {"x-from": "stub"}, "trailers": {"x-t": "${request.header.x-me}"},
              "message": {"message": "Good day, ${request.name}!", "name": "${request.name}"}}}
{"method": "demo.v1.Demo/Find",
 "response": {"status": {"code": "not_found", "message": "no item ${request.id}", "details": [
   {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "GONE", "metadata": {"id": "${request.id}"}}]}}}
{"method": "demo.v1.Demo/Echo", "where": [".int32_value > 5"],
 "response": {"message": {"int64Value": ${request.int32_value}, "stringValue": "${request.int32_value}",
              "struct": {"n": ${request.int64_value}, "l": $request.strings, "t": "${request.int64_value}"}}}}
{"method": "demo.v1.Demo/Count",
 "response": {"messages": [{"number": ${request.from}}, {"delay": "50ms", "message": {"number": ${request.to}}}],
              "status": "aborted"}}
{"method": "demo.v1.Demo/Sum", "response": {"message": {"total": "${request.value}", "count": "${request.count}"}}}
{"method": "demo.v1.Demo/Chat",
 "response": {"messages": [{"text": "hello"}],
              "each": [{"where": [".text == bye"], "message": {"text": "farewell"}, "status": "out_of_range"},
                       {"message": {"text": "${request.text}?"}}]}}
"""


@pytest.fixture
def call(demo, tmp_path):
    """Calls a method of no server: `call(method, *options, data=…)`."""
    stubs = write(tmp_path / "stubs.json", STUBS)
    caller = Caller(demo, NOWHERE)
    return lambda method, *options, settings="", **more: caller(method, "--use", f"mock,file={stubs}{settings}", *options, **more)


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
@pytest.mark.parametrize("codec", ["proto", "json"])
def test_unary(call, protocol, codec):
    result = call("Hello", "-H", "x-me: I", "-v", "--protocol", protocol, "--codec", codec, data='{"name":"Ada"}').exits(0)
    assert result.json() == {"message": "Good day, Ada!", "name": "Ada"}
    assert "< x-from: stub\n" in result.err and "< x-t: I\n" in result.err


def test_server_stream(call):
    assert call("Count", data='{"from":3,"to":9}').exits(64 + 10).lines() == [{"number": 3}, {"number": 9}]


def test_bidi_stream_responds_to_each_message(rpcurl, descriptor_set, tmp_path):
    stubs = write(tmp_path / "stubs.json", STUBS)
    options = ["--descriptor-set", descriptor_set, "--use", f"mock,file={stubs}"]
    with rpcurl.start(*options, f"{NOWHERE}/{DEMO}/Chat") as process:
        process.stdin.write(b'{"text":"a"}')
        assert json.loads(process.stdout.readline()) == {"text": "hello"}
        assert json.loads(process.stdout.readline()) == {"text": "a?"}
        process.stdin.write(b'{"text":"b"}')
        assert json.loads(process.stdout.readline()) == {"text": "b?"}
        process.stdin.write(b'{"text":"bye"}')
        assert json.loads(process.stdout.readline()) == {"text": "farewell"}
        assert process.wait() == 64 + 11


def test_endless_request_stream_is_accepted(call):
    assert call("Sum", input='{"value":1}' * 20_000, data="@-").exits(0).json() == {"total": "1", "count": 20_000}


def test_miss_passes_to_the_server(call, grpc_server):
    assert call("Hello", to=grpc_server, settings=",miss=pass", data='{"name":"Eve"}').exits(0).json()["message"] == "Hello, Eve!"
    result = call("Chat", to=grpc_server, settings=",miss=pass,methods=*/Hello", data='{"text":"a"}{"text":"b"}')
    assert result.out.count("you said") == 2
    call("Large", to=grpc_server, settings=",miss=pass", data='{"sizeBytes":3}').exits(0)


def test_wrong_stubs_are_refused(rpcurl, demo, descriptor_set, tmp_path):
    stubs = tmp_path / "stubs.json"
    for content, words in [
        ('{"response":{}}\n{"response":', ":2: unexpected end of the JSON"),
        ('{"respnse":{}}', ":1: respnse: unknown member; did you mean response?"),
        ("[" * 10_000 + "]" * 10_000, ":1: nested deeper than 100 levels"),
        ("\xff", ":1: "),
        ("", ": the file contains no stub"),
    ]:
        stubs.write_text(content, encoding="latin-1")
        options = ["--descriptor-set", descriptor_set, "--use", f"mock,file={stubs}"]
        rpcurl(*options, f"{NOWHERE}/{DEMO}/Hello").exits(7).reports(f"mock: file: {stubs}{words}")
    demo("--use", "mock,file=/no/such", f"{NOWHERE}/{DEMO}/Hello").exits(7).reports("mock: file: /no/such: No such file")


def test_examples_of_the_manual(tmp_path, descriptor_set):
    example = manual.examples("rpcurl-mock.7")[0]
    result = manual.run(example, tmp_path, descriptor_set)
    assert (result.returncode, result.stderr) == (0, "")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"message": "Good day, Ada!", "name": "Ada"}, {"text": "a?"}, {"text": "b?"},
    ]  # fmt: skip


def test_rule_delays_a_status(demo, tmp_path):
    stubs = write(tmp_path / "each.json", '{"response":{"each":{"delay":"1h","status":"not_found"}}}')
    result = Caller(demo, NOWHERE)("Chat", "--use", f"mock,file={stubs}", "--max-time", "100ms", data='{"text":"a"}')
    result.exits(64 + 4).reports("deadline_exceeded")


def test_order_of_fields_in_an_any_makes_no_difference(rpcurl, tmp_path):
    proto = write(
        tmp_path / "a.proto",
        'syntax = "proto3"; package a; import "google/protobuf/any.proto";'
        "message M { string s = 1; int32 i = 2; } message R { google.protobuf.Any any = 1; } service S { rpc Call(R) returns (R); }",
    )
    stubs = write(tmp_path / "stubs.json", '{"exactly": {"any": {"@type": "x/a.M", "s": "x", "i": 5}}, "response": {"message": {}}}')
    for content in [b"\x0a\x01x\x10\x05", b"\x10\x05\x0a\x01x"]:
        request = write(tmp_path / "request", b"\x0a\x0e\x0a\x05x/a.M\x12\x05" + content)
        rpcurl("--proto", proto, "--data-format", "binary", "-d", f"@{request}", "--use", f"mock,file={stubs}", "http://x.test", "a.S/Call").exits(0, "{}\n")
