"""Clients of other projects through `rpcurl proxy`: connect-python, by each of its protocols, and buf curl."""

import asyncio
import contextlib
import itertools
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from connectrpc.client import ConnectClient, ConnectClientSync, ResponseMetadata
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression.brotli import BrotliCompression
from connectrpc.compression.zstd import ZstdCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.protobuf.message_factory import GetMessageClass
from harness import ALL_TESTS, PATIENCE_SECONDS, VENV, Proxy, Server, messages
from pairwise import covering
from pyqwest import Client as HTTPClient, HTTPTransport, HTTPVersion, SyncClient, SyncHTTPTransport

import demo_pb2 as demo
from google.rpc import error_details_pb2

DEMO = "demo.v1.Demo"
SERVICE = demo.DESCRIPTOR.services_by_name["Demo"]
LARGE = 5 << 20
TIMEOUT_MS = PATIENCE_SECONDS * 1000


# Ways to a server


@dataclass
class Way:
    """A proxy, and the server that it calls."""

    proxy: Proxy
    server: Server
    # Whether the server has gRPC only.
    is_grpc: bool


# Whether clients use TLS, and whether the target is a server of gRPC, or one of all protocols and calls are not translated.
WAYS = {"to-grpc": (False, True), "tls-to-grpc": (True, True), "untranslated": (False, False)}


@pytest.fixture(scope="session")
def way(shared_proxy, grpc_server, connect_server) -> Callable[[str], Way]:
    """`way(name)`, one of WAYS."""

    def start(name: str) -> Way:
        is_tls, is_grpc = WAYS[name]
        # grpcio has no other compressions than gzip and deflate.
        options = ["--protocol", "grpc", "--compression", "gzip", grpc_server.url] if is_grpc else [connect_server.url]
        return Way(shared_proxy("proxy", *options, tls=is_tls), grpc_server if is_grpc else connect_server, is_grpc)

    return start


def selected(*values: Any) -> list[tuple[str, ...]]:
    """The combinations of values that are tested."""
    combinations = list(itertools.product(*values))
    return combinations if ALL_TESTS else covering(combinations)


# connect-python


def method(name: str) -> MethodInfo:
    """A method of the demo as generated code describes it."""
    found = SERVICE.methods_by_name[name]
    return MethodInfo(
        name=name,
        service_name=DEMO,
        input=GetMessageClass(found.input_type),
        output=GetMessageClass(found.output_type),
        idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS if found.GetOptions().idempotency_level else IdempotencyLevel.UNKNOWN,
        stream_type={
            (False, False): StreamType.UNARY, (False, True): StreamType.SERVER_STREAM,
            (True, False): StreamType.CLIENT_STREAM, (True, True): StreamType.BIDI_STREAM,
        }[found.client_streaming, found.server_streaming],
    )  # fmt: skip


class SyncPython:
    """connect-python's synchronous client."""

    def __init__(self, url: str, version: HTTPVersion | None, ca: bytes | None, **options: Any) -> None:
        transport = SyncHTTPTransport(http_version=version, tls_ca_cert=ca)
        self.client = ConnectClientSync(url, http_client=SyncClient(transport), **options)

    def unary(self, name: str, request: Any, **options: Any) -> Any:
        return self.client.execute_unary(request=request, method=method(name), **options)

    def server_stream(self, name: str, request: Any, **options: Any) -> list[Any]:
        return list(self.client.execute_server_stream(request=request, method=method(name), **options))

    def client_stream(self, name: str, requests: list[Any], **options: Any) -> Any:
        return self.client.execute_client_stream(request=iter(requests), method=method(name), **options)

    def talk(self, name: str, requests: list[Any]) -> list[Any]:
        """Send each request after the response to the one before."""
        queue, responses = Queue(), []
        queue.put(requests[0])
        stream = self.client.execute_bidi_stream(request=iter(queue.get, None), method=method(name))
        for following in [*requests[1:], None]:
            responses.append(next(stream))
            queue.put(following)
        return [*responses, *stream]

    def first(self, name: str, request: Any) -> Any:
        """The first response of a stream, which is cancelled then."""
        with contextlib.closing(self.client.execute_server_stream(request=request, method=method(name))) as stream:
            return next(stream)


class AsyncPython:
    """connect-python's asynchronous client."""

    def __init__(self, url: str, version: HTTPVersion | None, ca: bytes | None, **options: Any) -> None:
        transport = HTTPTransport(http_version=version, tls_ca_cert=ca)
        self.client = ConnectClient(url, http_client=HTTPClient(transport), **options)

    def unary(self, name: str, request: Any, **options: Any) -> Any:
        return asyncio.run(self.client.execute_unary(request=request, method=method(name), **options))

    def server_stream(self, name: str, request: Any, **options: Any) -> list[Any]:
        async def call() -> list[Any]:
            return [reply async for reply in self.client.execute_server_stream(request=request, method=method(name), **options)]

        return asyncio.run(call())

    def client_stream(self, name: str, requests: list[Any], **options: Any) -> Any:
        async def each():
            for request in requests:
                yield request

        return asyncio.run(self.client.execute_client_stream(request=each(), method=method(name), **options))

    def talk(self, name: str, requests: list[Any]) -> list[Any]:
        async def call() -> list[Any]:
            queue, responses = asyncio.Queue(), []

            async def each():
                while request := await queue.get():
                    yield request

            queue.put_nowait(requests[0])
            stream = self.client.execute_bidi_stream(request=each(), method=method(name))
            for following in [*requests[1:], None]:
                responses.append(await anext(stream))
                queue.put_nowait(following)
            return responses + [reply async for reply in stream]

        return asyncio.run(call())

    def first(self, name: str, request: Any) -> Any:
        async def call() -> Any:
            async with contextlib.aclosing(self.client.execute_server_stream(request=request, method=method(name))) as stream:
                return await anext(stream)

        return asyncio.run(call())


PROTOCOLS = {
    "connect-proto": (ProtocolType.CONNECT, google_protobuf_binary_codec()),
    "connect-json": (ProtocolType.CONNECT, google_protobuf_json_codec()),
    "grpc": (ProtocolType.GRPC, google_protobuf_binary_codec()),
    "grpc-web": (ProtocolType.GRPC_WEB, google_protobuf_binary_codec()),
}


@dataclass
class Python:
    """A client of connect-python, by a way."""

    way: Way
    make: Callable[..., SyncPython | AsyncPython]
    protocol: str

    def client(self, version: HTTPVersion | None = None, **options: Any) -> SyncPython | AsyncPython:
        """HTTP/1.1 without TLS, unless the protocol or the method needs HTTP/2."""
        kind, codec = PROTOCOLS[self.protocol]
        version = HTTPVersion.HTTP2 if self.protocol == "grpc" else version
        ca = self.way.proxy.ca and self.way.proxy.ca.read_bytes()
        return self.make(self.way.proxy.url, version, ca, protocol=kind, codec=codec, timeout_ms=TIMEOUT_MS, **options)


CLIENTS = {"sync": SyncPython, "async": AsyncPython}


@pytest.fixture(params=selected(CLIENTS, PROTOCOLS, WAYS), ids="-".join)
def python(request, way) -> Python:
    client, protocol, name = request.param
    return Python(way(name), CLIENTS[client], protocol)


def failure(function: Callable[..., Any], *arguments: Any, **options: Any) -> ConnectError:
    with pytest.raises(ConnectError) as error:
        function(*arguments, **options)
    return error.value


def test_python_calls_of_each_kind(python):
    client = python.client()
    assert client.unary("Hello", demo.HelloRequest(name="Ada")).message == "Hello, Ada!"
    assert [reply.number for reply in client.server_stream("Count", demo.CountRequest(to=300))] == list(range(301))
    reply = client.client_stream("Sum", [demo.SumRequest(value=number) for number in range(300)])
    assert (reply.total, reply.count) == (sum(range(300)), 300)


def test_python_stream_in_both_directions(python):
    """Each request depends on the response to the one before."""
    replies = python.client(HTTPVersion.HTTP2).talk("Chat", [demo.ChatRequest(text=text) for text in "abc"])
    assert [reply.text for reply in replies] == ["you said: a", "you said: b", "you said: c"]


def test_python_errors_with_details(python):
    error = failure(python.client().unary, "Find", demo.FindRequest(id="9"))
    assert (error.code, error.message) == (Code.NOT_FOUND, 'no item "9"')
    info, resource = error.details
    assert (info.type_name, resource.type_name) == ("google.rpc.ErrorInfo", "google.rpc.ResourceInfo")
    assert error_details_pb2.ErrorInfo.FromString(info.message_bytes).reason == "ITEM_NOT_FOUND"
    request = demo.FailRequest(code=9, message="100% ✓", after_messages=3)
    error = failure(python.client().server_stream, "FailStream", request)
    assert (error.code, error.message) == (Code.FAILED_PRECONDITION, "100% ✓")


def test_python_metadata(python):
    request = demo.MetadataRequest(
        headers=[demo.Header(name="x-lead", value="v"), demo.Header(name="l-bin", binary=b"\0\1")],
        trailers=[demo.Header(name="x-trail", value="t"), demo.Header(name="t-bin", binary=b"\xfe")],
    )
    with ResponseMetadata() as metadata:
        reply = python.client().unary("EchoMetadata", request, headers={"x-a": "1", "x-b-bin": "AP8"})
    arrived = {header.name: header.binary or header.value for header in reply.headers}
    assert (arrived["x-a"], arrived["x-b-bin"]) == ("1", b"\0\xff")
    assert (metadata.headers["x-lead"], metadata.headers["l-bin"]) == ("v", "AAE")
    assert (metadata.trailers["x-trail"], metadata.trailers["t-bin"]) == ("t", "/g")


def test_python_deadline(python):
    server = python.way.server
    reply = python.client().unary("EchoMetadata", demo.MetadataRequest(), timeout_ms=30_000)
    assert 20_000 < reply.timeout_ms <= 30_001
    before = server.canceled_calls(f"{DEMO}/Delay")
    error = failure(python.client().unary, "Delay", demo.DelayRequest(milliseconds=60_000), timeout_ms=3000)
    assert error.code == Code.DEADLINE_EXCEEDED
    server.wait_for_canceled_calls(f"{DEMO}/Delay", before + 1)


def test_python_cancellation(python, keeps_early_responses):
    server = python.way.server
    before = server.canceled_calls(f"{DEMO}/Count")
    assert python.client().first("Count", demo.CountRequest(to=1_000_000, interval_ms=10)).number == 0
    server.wait_for_canceled_calls(f"{DEMO}/Count", before + 1)


def test_python_large_messages(python):
    reply = python.client().unary("Large", demo.LargeRequest(size_bytes=LARGE))
    assert reply.payload[:251] == bytes(range(251)) and len(reply.payload) == LARGE
    text = "x" * LARGE
    assert python.client(send_compression=None).unary("Hello", demo.HelloRequest(name=text)).name == text


@pytest.mark.parametrize("compression", [ZstdCompression(), BrotliCompression()], ids=lambda value: value.name())
def test_python_compression(python, compression):
    client = python.client(send_compression=compression, accept_compression=[compression])
    name = "x" * 10_000
    assert client.unary("Hello", demo.HelloRequest(name=name)).name == name
    assert [reply.number for reply in client.server_stream("Count", demo.CountRequest(to=2))] == [0, 1, 2]


@pytest.mark.parametrize("python", selected(CLIENTS, ["connect-proto", "connect-json"], WAYS), ids="-".join, indirect=True)
def test_python_get(python):
    reply = python.client().unary("EchoMetadata", demo.MetadataRequest(), use_get=True)
    assert reply.http_method == ("POST" if python.way.is_grpc else "GET")
    error = failure(python.client().unary, "Find", demo.FindRequest(id="9"), use_get=True)
    assert (error.code, len(error.details)) == (Code.NOT_FOUND, 2)


# buf curl


@dataclass
class Buf:
    """buf curl, by a way and a protocol. It has the schema from a file, or else by reflection."""

    way: Way
    protocol: str
    schema: Path | None
    home: Path

    def command(self, name: str, *arguments: object) -> list[str]:
        files = {"--schema": self.schema, "--cacert": self.way.proxy.ca}
        options = ["--protocol", self.protocol, *(word for option in files.items() if option[1] for word in option)]
        return [str(word) for word in [VENV / "bin" / "buf", "curl", *options, *arguments, f"{self.way.proxy.url}/{name}"]]

    def __call__(self, name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = self.command(name, *arguments)
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=PATIENCE_SECONDS)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"HOME": str(self.home)}


@pytest.fixture(params=selected(["grpc", "grpcweb", "connect"], WAYS, ["file", "reflection"]), ids="-".join)
def buf(request, way, descriptor_set, tmp_path) -> Buf:
    protocol, name, schema = request.param
    return Buf(way(name), protocol, descriptor_set if schema == "file" else None, tmp_path)


def test_buf_calls_of_each_kind(buf):
    assert messages(buf(f"{DEMO}/Hello", "-d", '{"name":"Ada"}')) == [{"message": "Hello, Ada!", "name": "Ada"}]
    assert messages(buf(f"{DEMO}/Count", "-d", '{"from":1,"to":3}')) == [{"number": number} for number in (1, 2, 3)]
    assert messages(buf(f"{DEMO}/Sum", "-d", '{"value":1}{"value":2}')) == [{"total": "3", "count": 2}]
    assert messages(buf(f"{DEMO}/Chat", "-d", '{"text":"a"}{"text":"b"}')) == [{"text": "you said: a"}, {"text": "you said: b"}]


def test_buf_errors_with_details(buf):
    done = buf(f"{DEMO}/Find", "-d", '{"id":"9"}')
    error = json.loads(done.stderr)
    assert (done.returncode, error["code"], error["message"]) == (5 << 3, "not_found", 'no item "9"')
    assert [detail["type"] for detail in error["details"]] == ["google.rpc.ErrorInfo", "google.rpc.ResourceInfo"]
    done = buf(f"{DEMO}/FailStream", "-d", '{"code":9,"message":"100% ✓","after_messages":2}')
    assert (done.returncode, json.loads(done.stderr)["message"], done.stdout.count("number")) == (9 << 3, "100% ✓", 2)


def test_buf_metadata(buf):
    request = {"headers": [{"name": "x-lead", "value": "v"}], "trailers": [{"name": "x-trail", "value": "t"}]}
    done = buf(f"{DEMO}/EchoMetadata", "-d", json.dumps(request), "-H", "x-a: 1", "-v")
    assert {"name": "x-a", "value": "1"} in messages(done)[0]["headers"]
    received = [line.lower() for line in done.stderr.splitlines() if line.startswith("buf: < ")]
    # It prints no trailers of gRPC-Web.
    for field in ["x-lead: v", *(["x-trail: t"] if buf.protocol != "grpcweb" else [])]:
        assert any(line.endswith(field) for line in received), done.stderr


def test_buf_cancellation(buf, keeps_early_responses):
    server = buf.way.server
    before = server.canceled_calls(f"{DEMO}/Count")
    command = buf.command(f"{DEMO}/Count", "-d", '{"to":1000000,"interval_ms":10}')
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=buf.environment) as process:
        assert process.stdout.readline()
        process.terminate()
    server.wait_for_canceled_calls(f"{DEMO}/Count", before + 1)


@pytest.mark.parametrize("buf", selected(["grpc", "grpcweb", "connect"], WAYS, ["reflection"]), ids="-".join, indirect=True)
def test_buf_lists_methods(buf):
    done = buf("", "--list-methods")
    assert f"{DEMO}/Chat" in done.stdout.split(), done.stderr
