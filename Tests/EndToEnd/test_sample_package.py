"""A package that uses the library products builds and calls a real server."""

import os
import re
import subprocess

import pytest

import swift_examples
from harness import ROOT, write

RESOURCES = ROOT / "Sources" / "Client" / "RPCurlClient.docc" / "Resources"


@pytest.fixture(scope="module")
def sample():
    return swift_examples.build() / "Sample"


@pytest.fixture(scope="module")
def stress(sample):
    return sample.parent / "Stress"


# That of `make libcurl`.
SHARED_LIBCURL = ROOT / ".build" / "libcurl" / "current" / "shared" / "libcurl.so"


def run(sample, *words, allows_old=True, **variables):
    """Runs a program; `allows_old` is whether it allows a libcurl that loses responses."""
    env = os.environ | variables | ({"ALLOWS_OLD_LIBCURL": "1"} if allows_old else {})
    return subprocess.run([sample, *words], capture_output=True, text=True, timeout=60, env=env)


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
@pytest.mark.parametrize("schema", ["descriptor set", "reflection"])
def test_calls_of_all_kinds_pass_its_interceptors(sample, schema, protocol, descriptor_set, grpc_server, connect_server):
    server = grpc_server if protocol == "grpc" else connect_server
    result = run(sample, descriptor_set if schema == "descriptor set" else schema, server.url, "Ada", protocol)
    assert (result.returncode, result.stderr) == (0, "")
    said = [f"you said: {text}" for text in ("hello", "how are you", "bye")]
    *lines, detail = result.stdout.splitlines()
    assert sorted(lines[-2:]) == ["blue", "hi"]
    assert lines[:-2] == ["Hello, Ada!", "1", "2", "3", "42", *said, "Hello, Grace!"]
    assert detail == "google.rpc.BadRequest name"


# An interceptor that uses its call in a task.
TASK = """
import RPCurlClient

final class Canceling: StagedInterceptor {
  let stages = Stages.requestStart
  let context: CallContext

  init(_ context: CallContext) { self.context = context }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    let used = context.PART
    Task { used.cancel("too late") }
    token.proceed(start)
  }
}
"""


def type_check(sample, file):
    """Diagnoses a file, as a program that uses the libraries. The check of data races needs the intermediate language."""
    options = ["-swift-version", "6", "-I", sample.parent / "Modules"]
    for headers in ROOT.glob("Sources/C*/include"):
        options += ["-I", headers]
        module_map = sample.parent / f"RPCurl{headers.parent.name}.build" / "module.modulemap"
        if module_map.exists():
            options += ["-Xcc", f"-fmodule-map-file={module_map}"]
    return subprocess.run(["swiftc", "-emit-sil", "-o", "/dev/null", *options, file], capture_output=True, text=True)


@pytest.mark.parametrize("file", sorted(RESOURCES.glob("*.swift")), ids=lambda file: file.stem)
def test_steps_of_the_tutorial_compile(sample, file):
    result = type_check(sample, file)
    assert (result.returncode, "warning:" in result.stderr) == (0, False), result.stderr


def test_context_of_a_call_stays_on_the_loop_and_its_handle_does_not(sample, tmp_path):
    file = write(tmp_path / "main.swift", TASK.replace(".PART", ".handle"))
    result = type_check(sample, file)
    assert result.returncode == 0, result.stderr
    file.write_text(TASK.replace(".PART", ""))
    result = type_check(sample, file)
    assert result.returncode == 1
    assert "data race" in result.stderr


# A method of each kind, and calls that are none of its kind.
METHODS = """
import RPCurlClient

func call(_ client: RPCClient, _ schema: Schema) async throws {
  let unary: UnaryMethod = try schema.method("demo.v1.Demo/Hello")
  let stream: ServerStreamingMethod = try schema.method("demo.v1.Demo/Count")
  let bytes = ClientStreamingMethod<[UInt8], [UInt8]>(
    MethodName(service: "demo.v1.Demo", method: "Sum"), serialize: { $0 }, parse: { $0 })
  _ = try await client.unary(unary, ["name": "Ada"])
  _ = try await client.serverStreaming(stream, ["from": 1])
  _ = try await client.clientStreaming(bytes, [[8, 1]])
  CALL
}
"""


@pytest.mark.parametrize(
    "call",
    [
        '_ = try await client.unary(stream, ["from": 1])', '_ = try await client.serverStreaming(unary, ["name": "Ada"])',
        "_ = try await client.unary(bytes, [8, 1])", "try await client.bidirectional(bytes) { requests, responses in }",
    ],
)  # fmt: skip
def test_call_of_another_kind_does_not_compile(sample, tmp_path, call):
    file = write(tmp_path / "methods.swift", METHODS.replace("CALL", ""))
    result = type_check(sample, file)
    assert (result.returncode, "warning:" in result.stderr) == (0, False), result.stderr
    file.write_text(METHODS.replace("CALL", call))
    result = type_check(sample, file)
    assert result.returncode == 1
    assert "error: cannot convert value of type" in result.stderr
    assert "to expected argument type 'RPCMethod<" in result.stderr


def test_old_libcurl_is_refused(sample, descriptor_set, grpc_server):
    result = run(sample, descriptor_set, grpc_server.url, "Ada", "grpc", allows_old=False)
    refusal = re.fullmatch(r"failed_precondition: libcurl (\d+)\.(\d+)\.\S+ may lose responses: (.*)\n", result.stdout)
    if refusal:
        major, minor, ways = refusal.groups()
        assert (int(major), int(minor)) < (8, 14)
        assert ways.startswith("install 8.14.0 or newer; or run \"make libcurl\" ")
    else:
        assert result.stdout.startswith("Hello, Ada!\n")


@pytest.mark.skipif(not SHARED_LIBCURL.exists(), reason="make libcurl has not linked a libcurl for Swift programs")
def test_built_libcurl_is_not_refused(sample, descriptor_set, grpc_server):
    result = run(sample, descriptor_set, grpc_server.url, "Ada", "grpc", allows_old=False, RPCURL_LIBCURL=str(SHARED_LIBCURL))
    assert result.stdout.startswith("Hello, Ada!\n"), result.stdout


def test_receives_failures(sample, descriptor_set):
    result = run(sample, descriptor_set, "http://127.0.0.1:1", "Ada", "grpc")
    assert result.returncode == 0
    assert result.stdout.startswith("unavailable: ")


def test_many_calls_share_a_connection_and_many_messages_need_no_memory(stress, descriptor_set, start_server):
    # A server of its own: the connections of other programs to it would be counted.
    server = start_server("grpc_server.py")
    result = run(stress, descriptor_set, "127.0.0.1", str(server.port), "1000", "20000")
    assert (result.returncode, result.stderr) == (0, "")
    calls, messages = result.stdout.splitlines()
    assert calls == "1000 calls, 1 connections"
    received, growth = re.fullmatch(r"(\d+) messages, (\d+) MB", messages).groups()
    assert int(received) == 20000
    assert int(growth) <= 16
