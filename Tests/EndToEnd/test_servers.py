"""The servers are the oracles of the other tests. Clients other than rpcurl check them: grpcio and curl."""

import json
import os
import queue
import signal
import socket
import subprocess
import threading

import demo_pb2 as demo
import demo_pb2_grpc
import grpc
import pytest
from harness import GENERATED, SERVERS, VENV, Process, Rpcurl, envelope, write
from google.protobuf import descriptor_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

MEBIBYTE = 1024 * 1024
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


# gRPC, by grpcio


def channel_to(server, certificates=None, client=None) -> grpc.Channel:
    if not server.ca:
        return grpc.insecure_channel(server.address, options=UNLIMITED)
    pair = {}
    if client:
        pair = {
            "private_key": (certificates / f"{client}-key.pem").read_bytes(),
            "certificate_chain": (certificates / f"{client}.pem").read_bytes(),
        }
    credentials = grpc.ssl_channel_credentials(server.ca.read_bytes(), **pair)
    return grpc.secure_channel(f"localhost:{server.port}", credentials, options=UNLIMITED)


@pytest.fixture(params=["grpc_server", "connect_tls_server"])
def server(request):
    """Each of the two programs, one of them with TLS."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def stub(server):
    with channel_to(server) as channel:
        yield demo_pb2_grpc.DemoStub(channel)


class TestGRPC:
    def test_unary_calls(self, server, stub):
        assert stub.Hello(demo.HelloRequest(name="Ada")).message == "Hello, Ada!"
        # Field order and an unknown field that no serializer writes.
        data = b"\x72\x01a" + b"\x18\x05" + b"\xfa\xff\x01\x00"
        with channel_to(server) as channel:
            raw = channel.unary_unary("/demo.v1.Demo/Raw")
            assert demo.RawReply.FromString(raw(data)).request == data
        message = demo.AllTypes(double_value=-0.0, int64s=[-1, 2**62], optional_int32=0, choice_text="")
        message.any.Pack(demo.HelloRequest(name="Ada"))
        assert stub.Echo(message) == message

    def test_large_messages_in_both_directions(self, stub):
        payload = stub.Large(demo.LargeRequest(size_bytes=20 * MEBIBYTE + 1)).payload
        assert len(payload) == 20 * MEBIBYTE + 1
        assert payload[:252] == bytes(range(251)) + b"\0"
        message = demo.AllTypes(bytes_value=b"x" * (20 * MEBIBYTE))
        assert len(stub.Raw(message).request) == message.ByteSize()

    def test_server_streams(self, stub):
        request = demo.CountRequest(to=1000)
        setattr(request, "from", -3)
        assert [reply.number for reply in stub.Count(request)] == list(range(-3, 1001))

    def test_client_streams(self, stub):
        numbers = (demo.SumRequest(value=value) for value in [1, 2, 2**63 - 1])
        assert stub.Sum(numbers) == demo.SumReply(total=-(2**63) + 2, count=3)

    def test_bidi_streams_are_full_duplex(self, stub):
        """Each request is sent after the response to the one before it."""
        requests: queue.SimpleQueue[demo.ChatRequest | None] = queue.SimpleQueue()
        replies = stub.Chat(iter(requests.get, None), timeout=60)
        for number in range(100):
            requests.put(demo.ChatRequest(text=str(number)))
            assert next(replies).text == f"you said: {number}"
        requests.put(None)
        assert list(replies) == []

    def test_failures(self, stub):
        request = demo.FailRequest(message="Größe 100 % \n/", after_messages=2)
        request.details.add().Pack(demo.HelloRequest(name="detail"))
        for code in grpc.StatusCode:
            request.code = code.value[0]
            if code == grpc.StatusCode.OK:
                assert stub.Fail(request) == demo.FailReply()
                continue
            with pytest.raises(grpc.RpcError) as caught:
                stub.Fail(request)
            assert (caught.value.code(), caught.value.details()) == (code, request.message)
            status = status_pb2.Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
            assert list(status.details) == list(request.details)
        replies = stub.FailStream(request)
        assert [next(replies).number, next(replies).number] == [1, 2]
        with pytest.raises(grpc.RpcError) as caught:
            next(replies)
        assert caught.value.code().value[0] == request.code

    def test_error_details(self, stub):
        with pytest.raises(grpc.RpcError) as caught:
            stub.Hello(demo.HelloRequest())
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        status = status_pb2.Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
        detail = error_details_pb2.BadRequest()
        assert status.details[0].Unpack(detail)
        assert detail.field_violations[0].field == "name"

    def test_metadata(self, stub):
        request = demo.MetadataRequest(
            headers=[
                demo.Header(name="x-one", value="1"),
                demo.Header(name="x-one", value="2"),
                demo.Header(name="x-data-bin", binary=b"\x00\xff"),
            ],
            trailers=[demo.Header(name="x-end", value="z"), demo.Header(name="x-end-bin", binary=b"\x01")],
        )
        sent = [("b", "1"), ("a", "2"), ("b", "3"), ("c-bin", b"\x00\xfe")]
        reply, call = stub.EchoMetadata.with_call(request, metadata=sent, timeout=60)
        received = [(h.name, h.binary or h.value) for h in reply.headers if h.name in ("a", "b", "c-bin")]
        assert received == sent
        assert (reply.http_method, reply.http_version) == ("POST", "2")
        assert 0 < reply.timeout_ms <= 61_000  # grpcio's client rounds up.
        headers = [item for item in call.initial_metadata() if item[0].startswith("x-")]
        assert headers == [("x-one", "1"), ("x-one", "2"), ("x-data-bin", b"\x00\xff")]
        trailers = [item for item in call.trailing_metadata() if item[0].startswith("x-")]
        assert trailers == [("x-end", "z"), ("x-end-bin", b"\x01")]

    @pytest.mark.parametrize("script", ["grpc_server.py", "connect_server.py"])
    def test_only_cancelled_calls_are_logged_as_cancelled(self, start_server, certificates, script):
        # A server of its own: calls of other tests may be cancelled at any time.
        server = start_server(script, *(["--tls-dir", certificates] if script == "connect_server.py" else []))
        with channel_to(server) as channel:
            self.check_log_of_cancelled_calls(server, demo_pb2_grpc.DemoStub(channel))

    def check_log_of_cancelled_calls(self, server, stub):
        stub.Hello(demo.HelloRequest(name="Ada"))
        list(stub.Count(demo.CountRequest(to=3)))
        list(stub.Chat(iter([demo.ChatRequest()])))
        stub.Sum(iter([demo.SumRequest()]))
        for call in (stub.Fail, lambda request: list(stub.FailStream(request))):
            with pytest.raises(grpc.RpcError):
                call(demo.FailRequest(code=1, after_messages=1))
        with pytest.raises(grpc.RpcError) as caught:
            stub.Delay(demo.DelayRequest(milliseconds=60_000), timeout=0.2)
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        server.wait_for_canceled_calls("demo.v1.Demo/Delay", 1)
        # The response shows that the server runs the call.
        count = stub.Count(demo.CountRequest(to=1000, interval_ms=1000))
        next(count)
        count.cancel()
        server.wait_for_canceled_calls("demo.v1.Demo/Count", 1)
        requests: queue.SimpleQueue[demo.ChatRequest | None] = queue.SimpleQueue()
        requests.put(demo.ChatRequest())
        chat = stub.Chat(iter(requests.get, None))
        next(chat)
        chat.cancel()
        requests.put(None)  # grpcio's sending thread ends.
        server.wait_for_canceled_calls("demo.v1.Demo/Chat", 1)
        assert server.canceled_calls() == 3

    def test_compression_on_request(self, grpc_server):
        with channel_to(grpc_server) as channel:
            for name in ("gzip", "deflate"):
                large = demo_pb2_grpc.DemoStub(channel).Large
                reply, call = large.with_call(demo.LargeRequest(size_bytes=MEBIBYTE), metadata=[("demo-compression", name)])
                assert len(reply.payload) == MEBIBYTE

    @pytest.mark.parametrize("version", ["v1", "v1alpha"])
    def test_reflection(self, server, version):
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="demo.v1.Demo"),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="no.Such"),
        ]
        with channel_to(server) as channel:
            info = channel.stream_stream(
                f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                reflection_pb2.ServerReflectionRequest.SerializeToString,
                reflection_pb2.ServerReflectionResponse.FromString,
            )
            listed, found, unknown = info(iter(requests))
        services = [service.name for service in listed.list_services_response.service]
        assert {"demo.v1.Demo", "grpc.health.v1.Health"} < set(services)
        file = found.file_descriptor_response.file_descriptor_proto[0]
        assert descriptor_pb2.FileDescriptorProto.FromString(file).name == "demo.proto"
        assert unknown.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]

    def test_health(self, server):
        with channel_to(server) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            reply = check(health_pb2.HealthCheckRequest(service="demo.v1.Demo"))
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
            with pytest.raises(grpc.RpcError) as caught:
                check(health_pb2.HealthCheckRequest(service="no.Such"))
            assert caught.value.code() == grpc.StatusCode.NOT_FOUND

    def test_client_certificate_is_required(self, grpc_mtls_server, certificates):
        request = demo.HelloRequest(name="Ada")
        with channel_to(grpc_mtls_server, certificates, "client") as channel:
            assert demo_pb2_grpc.DemoStub(channel).Hello(request).name == "Ada"
        for client in (None, "other-client"):
            with channel_to(grpc_mtls_server, certificates, client) as channel:
                with pytest.raises(grpc.RpcError) as caught:
                    demo_pb2_grpc.DemoStub(channel).Hello(request, timeout=60)
                assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


def test_descriptor_set_is_complete(descriptor_set):
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set.read_bytes()).file
    names = [file.name for file in files]
    assert {"demo.proto", "google/rpc/error_details.proto"} < set(names)
    assert all(set(file.dependency) <= set(names) for file in files)
    assert all(file.HasField("source_code_info") for file in files)


# Connect and gRPC-Web, by curl


def curl(server, path, *arguments, body=None, type="application/json") -> bytes:
    command = ["curl", "--silent", "--show-error", "--max-time", "30", *arguments]
    if server.ca:
        command += ["--cacert", str(server.ca)]
    if body is not None:
        command += ["--header", f"Content-Type: {type}", "--data-binary", "@-"]
    done = subprocess.run([*command, f"{server.url}/demo.v1.Demo/{path}"], input=body, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def envelopes(data):
    """The flags and the content of each envelope of a body."""
    found = []
    while data:
        length = int.from_bytes(data[1:5], "big")
        found.append((data[0], data[5 : 5 + length]))
        assert len(data) >= 5 + length
        data = data[5 + length :]
    return found


class TestConnect:
    """Over HTTP/1.1 without TLS, over HTTP/2 with it."""

    @pytest.fixture(params=[("connect_server", "1.1"), ("connect_tls_server", "2")], ids=lambda param: param[0])
    def server(self, request):
        name, self.version = request.param
        return request.getfixturevalue(name)

    def test_unary_calls(self, server):
        report = ("--write-out", "\n%{http_version} %{http_code} %{content_type}")
        text, line = curl(server, "Hello", *report, body=b'{"name":"Ada"}').rsplit(b"\n", 1)
        assert json.loads(text) == {"message": "Hello, Ada!", "name": "Ada"}
        assert line.decode() == f"{self.version} 200 application/json"
        reply = curl(server, "Raw", body=b'{"int32Value": 5}')
        assert json.loads(reply) == {"request": "eyJpbnQzMlZhbHVlIjogNX0="}

    def test_get_and_status_codes(self, server):
        status = ("--write-out", "%{http_code}", "--output", "/dev/null")
        query = "?connect=v1&encoding=json&message=%7B%22name%22%3A%22Ada%22%7D"
        assert json.loads(curl(server, "Hello" + query))["name"] == "Ada"
        assert curl(server, "Fail" + query, *status) == b"405"
        # Over HTTP/2, libcurl 7.88 loses a response that comes before it has sent the body.
        assert curl(server, "NoSuch", "--http1.1", *status, body=b"{}") == b"404"

    def test_errors(self, server):
        text, status = curl(server, "Find", "--write-out", "\n%{http_code}", body=b'{"id":"xyz"}').rsplit(b"\n", 1)
        error = json.loads(text)
        assert (status, error["code"], error["message"]) == (b"404", "not_found", 'no item "xyz"')
        types = [detail["type"] for detail in error["details"]]
        assert types == ["google.rpc.ErrorInfo", "google.rpc.ResourceInfo"]

    @pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
    def test_compression(self, connect_server, name):
        accept = ("--include", "--compressed", "--header", f"Accept-Encoding: {name}")
        reply = curl(connect_server, "Hello", *accept, body=b'{"name":"Ada"}').decode()
        assert f"content-encoding: {name}" in reply
        assert '"Hello, Ada!"' in reply


STREAMS = {
    "Count": ([demo.CountRequest(to=2)], [demo.CountReply(number=number) for number in range(3)]),
    "Sum": ([demo.SumRequest(value=40), demo.SumRequest(value=2)], [demo.SumReply(total=42, count=2)]),
    "Chat": ([demo.ChatRequest(text="a"), demo.ChatRequest(text="b")], [demo.ChatReply(text=f"you said: {t}") for t in "ab"]),
}


@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_streams_in_envelopes(connect_server, connect_tls_server, protocol):
    calls = dict(STREAMS)
    if protocol == "grpc-web":
        calls["Hello"] = ([demo.HelloRequest(name="Ada")], [demo.HelloReply(message="Hello, Ada!", name="Ada")])
    for server in (connect_server, connect_tls_server):
        for method, (requests, replies) in calls.items():
            body = b"".join(b"\0" + m.ByteSize().to_bytes(4, "big") + m.SerializeToString() for m in requests)
            *messages, (flags, end) = envelopes(curl(server, method, body=body, type=f"application/{protocol}+proto"))
            assert messages == [(0, reply.SerializeToString()) for reply in replies], method
            if protocol == "connect":
                assert (flags, json.loads(end)) == (0x02, {}), method
            else:
                assert flags == 0x80 and b"grpc-status:0" in end.replace(b" ", b""), method


@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_full_duplex_in_http1(connect_server, protocol):
    """HTTP/1.1 does not promise it, but this server offers it: each request is sent after the response before it."""
    with socket.create_connection(("127.0.0.1", connect_server.port), timeout=60) as client:
        response = client.makefile("rb")
        client.sendall(
            b"POST /demo.v1.Demo/Chat HTTP/1.1\r\nHost: localhost\r\n"
            b"Transfer-Encoding: chunked\r\n"
            b"Content-Type: application/" + protocol.encode() + b"+proto\r\n\r\n"
        )
        for number in range(20):
            message = demo.ChatRequest(text=str(number)).SerializeToString()
            envelope = b"\0" + len(message).to_bytes(4, "big") + message
            client.sendall(b"%x\r\n%b\r\n" % (len(envelope), envelope))
            if number == 0:
                assert response.readline() == b"HTTP/1.1 200 OK\r\n"
                while response.readline() != b"\r\n":
                    pass
            chunk = response.read(int(response.readline(), 16))
            assert demo.ChatReply.FromString(chunk[5:]).text == f"you said: {number}"
            assert response.readline() == b"\r\n"
        client.sendall(b"0\r\n\r\n")
        end = response.read(int(response.readline(), 16))
        assert end[0] == (0x02 if protocol == "connect" else 0x80)


# The fixtures


def test_rpcurl_runs_in_a_clean_environment(tmp_path, monkeypatch):
    """With a shell script in place of rpcurl."""
    script = write(tmp_path / "rpcurl", "#!/bin/sh\nenv; cat; echo error >&2; exit 69\n")
    script.chmod(0o755)
    monkeypatch.setattr("harness.program.RPCURL", script)
    monkeypatch.setenv("RPCURL_PROTOCOL", "connect")
    monkeypatch.setenv("https_proxy", "http://proxy.test")
    result = Rpcurl(tmp_path)("list", input="typed", env={"EXTRA": "1"})
    names = {line.partition("=")[0] for line in result.out.splitlines() if "=" in line}
    assert {"PATH", "HOME", "NO_COLOR", "EXTRA"} <= names
    assert not {"RPCURL_PROTOCOL", "https_proxy"} & names
    assert result.out.endswith("typed")
    assert (result.code, result.err) == (69, "error\n")


def test_raw_server_counts_connections(raw_server):
    server = raw_server(lambda connection: connection.sendall(connection.recv(100).upper()))
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"hello")
            assert client.recv(100) == b"HELLO"
    assert server.connections == 2


def test_raw_server_stops_while_a_handler_waits(raw_server):
    accepted = threading.Event()

    def wait(connection):
        accepted.set()
        connection.recv(100)

    server = raw_server(wait)
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        assert accepted.wait(30)
        server.stop()
        assert not any(thread.is_alive() for thread in server.threads)
        assert client.recv(1) == b""


@pytest.mark.parametrize("script", ["grpc_server.py", "connect_server.py"])
@pytest.mark.parametrize("end", ["stdin", "terminate", "kill"])
def test_no_server_outlives_the_test_run(script, end):
    process = Process(
        [str(VENV / "bin" / "python"), str(SERVERS / script), "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"DEMO_GENERATED": str(GENERATED)},
    )
    with process:
        assert process.stdout.readline().startswith(b"listening ")
        with process.stdin:
            if end == "stdin":
                process.stdin.close()
            else:
                process.send_signal(signal.SIGTERM if end == "terminate" else signal.SIGKILL)
            assert process.wait() == (-signal.SIGKILL if end == "kill" else 0)
        # Envoy ends after the process that started it. Both have the same standard error.
        process.stdin = None
        process.communicate()
