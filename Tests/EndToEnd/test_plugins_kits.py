"""SwiftKit and RustKit: plugins that use the functions of the header by them."""

import json
import os
import re
import shutil
import subprocess

import pytest

from harness import ROOT, QuietHandler, http_server

SWIFT_KIT = ROOT / "Plugins" / "SwiftKit" / "Sources"
RUST_KIT = ROOT / "Plugins" / "RustKit" / "rpcurl.rs"
SOURCES = ROOT / "Tests" / "EndToEnd" / "kits"
HELLO = "demo.v1.Demo/Hello"


def swiftc(*arguments):
    """Compiles the kit with further files as one module, in the mode of Swift 6, which the scaffold uses."""
    subprocess.run(
        [
            "swiftc", "-swift-version", "6", "-module-name", "RPCURLPlugin", "-I", SWIFT_KIT / "CRPCURLPlugin" / "include",
            *(SWIFT_KIT / "RPCURLPlugin").glob("*.swift"), *arguments,
        ],
        check=True,
    )  # fmt: skip


def swift_plugin(directory, name):
    """A plugin and the kit, optimized."""
    c_kit, note, plugin = SWIFT_KIT / "CRPCURLPlugin", directory / "note.o", directory / f"{name}.so"
    subprocess.run(["gcc", "-fPIC", "-c", "-I", c_kit / "include", c_kit / "note.c", "-o", note], check=True)
    swiftc(SOURCES / f"{name}.swift", note, "-O", "-wmo", "-emit-library", "-o", plugin)
    return plugin


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    return swift_plugin(tmp_path_factory.mktemp("keeping"), "Keeping")


@pytest.fixture(scope="module", params=["swift", "rust"])
def everything(request, tmp_path_factory):
    """The plugin that uses all, with its language."""
    directory = tmp_path_factory.mktemp("everything")
    if request.param == "swift":
        return swift_plugin(directory, "Everything"), "swift"
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    plugin = directory / "everything.so"
    subprocess.run(
        ["rustc", "--edition", "2021", "--crate-type", "cdylib", "-D", "warnings", "-o", plugin, SOURCES / "everything.rs"],
        env={**os.environ, "RPCURL_RUST": str(RUST_KIT)}, check=True,
    )  # fmt: skip
    return plugin, "rust"


@pytest.fixture(scope="module")
def token_server():
    class Handler(QuietHandler):
        def do_GET(self):
            self.send_response(203)
            self.send_header("content-length", "0")
            self.end_headers()

    with http_server(Handler) as url:
        yield f"{url}/token"


def test_kit_supports_timers_and_own_calls_with_state():
    swiftc(SOURCES / "Counter.swift", "-typecheck")


def test_kit_frees_pending_work_when_the_call_is_closed(demo, keeping, grpc_server):
    demo("--each", "--plugin", keeping, f"{grpc_server.url}/{HELLO}", input='{"name":"Ada"}' * 500).reports("keeping: 500 made, 0 alive\n")


def test_kit_describes_the_schema(demo, keeping, grpc_server, descriptor_set):
    result = demo("-d", '{"from":1,"to":1}', "--plugin", keeping, "-vv", f"{grpc_server.url}/demo.v1.Demo/Count")
    lines = [line for line in result.err.splitlines() if line.startswith("keeping: ")]
    assert lines[:2] == ['keeping: serverStreaming ["from", "to", "interval_ms"] 1', "keeping: none: true"]
    # The files that the option names, and those that rpcurl has.
    assert int(re.fullmatch(r"keeping: schema: (\d+) bytes", lines[2])[1]) >= descriptor_set.stat().st_size


def test_kit_forwards_what_cannot_be_retried(demo, keeping, grpc_server):
    result = demo(
        "-d", '{"code":14,"message":"busy"}', "--plugin", f"{keeping},strict=true",
        f"{grpc_server.url}/demo.v1.Demo/Fail",
    )  # fmt: skip
    assert result.code == 64 + 14 and "busy" in result.err and "misbehav" not in result.err


def test_kit_sets_a_status_with_details(demo, keeping, grpc_server):
    result = demo("-d", "{}", "--plugin", keeping, f"{grpc_server.url}/{HELLO}").exits(64 + 9)
    found = re.findall(r"detail \d+ of a status", result.err)
    assert found == [f"detail {number} of a status" for number in range(1, 101)]


def test_kit_has_what_is_in_and_outside_of_calls(demo, everything, grpc_server, token_server, tmp_path):
    plugin, language = everything
    report = tmp_path / "metrics.prom"
    result = demo(
        "--attribute", "tier=gold", "--attribute", "gone=1", "-H", "x-sent: 1",
        "-H", "demo-fail-attempts: 1", "--timeout", "20s", "-d", "{}", "--plugin", f"{plugin},url={token_server}",
        "--use", "header,attribute=kit,set=x-kit:1,remove=x-sent", "--use", f"metrics,format=prometheus,file={report}",
        "--use", "retry,initial=1ms,jitter=0",
        f"{grpc_server.url}/demo.v1.Demo/EchoMetadata",
    ).exits(0)  # fmt: skip
    headers = {header["name"]: header["value"] for header in result.json()["headers"]}
    expected = {"x-tier": "gold", "x-greeting": "Hello, kit!", "x-kit": "1", "x-again": "1"}
    assert expected.items() <= headers.items() and "x-sent" not in headers
    lines = [line.removeprefix("everything: ") for line in result.err.splitlines()]
    ok = {"swift": "ok", "rust": "0"}[language]
    assert lines[0] == f"shared {language}, none true"
    assert lines.count("application/grpc true true true") == 1
    assert lines.count("posted") == 1 and lines.count("timer") == 1 and "cancelled timer" not in lines
    assert lines.count(f"fetched {ok} 203") == 1
    attempts = [line for line in lines if line.startswith("attempt ")]
    names = {"swift": ["unavailable", "canceled", "ok"], "rust": ["14", "1", "0"]}[language]
    # Those of retry within each attempt of the plugin, which cancels the second by its own retry.
    numbers = [([1, 1], 0), ([1, 2], 1), ([2, 1], 0), ([2, 2], 2)]
    assert attempts == [f"attempt {pair} {names[name]}" for pair, name in numbers]
    [concluded] = [line for line in lines if line.startswith("call ")]
    status, message = concluded.removeprefix("call ").split(" ", 1)
    assert (status, json.loads(message)["message"]) == (ok, "Hello, outside!")
    if language == "swift":
        assert 'name is string("kit"), not a value of Int true' in lines
    # Timers that are pending at the end are freed.
    assert lines[-2:] == ["0 closures are kept", "ended true"] if language == "swift" else lines[-1] == "ended true"
    assert "kit_total 1.5\n" in report.read_text()


def test_kit_sends_a_call_to_another_method(demo, everything, grpc_server, token_server):
    plugin, _ = everything
    demo(
        "--attribute", "route=demo.v1.Demo/Find", "-d", "{}",
        "--plugin", f"{plugin},url={token_server}", f"{grpc_server.url}/demo.v1.Demo/EchoMetadata",
    ).exits(64 + 3).reports("demo.v1.Demo/Find")  # fmt: skip
