"""The servers are the oracles of the other tests; here they are tested themselves.

With clients that are not rpcurl: grpcio and curl.
"""

import json
import os
import queue
import signal
import socket
import subprocess
import time

import demo_pb2 as demo
import demo_pb2_grpc
import grpc
import pytest
from conftest import GENERATED, SERVERS, VENV, Rpcurl
from google.protobuf import descriptor_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

MEBIBYTE = 1024 * 1024
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


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


@pytest.fixture(params=["grpc_server", "grpc_tls_server", "connect_server", "connect_tls_server"])
def server(request):
    """Every server in turn: all of them speak gRPC."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def stub(server):
    with channel_to(server) as channel:
        yield demo_pb2_grpc.DemoStub(channel)


def status_of(error: grpc.RpcError) -> status_pb2.Status:
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    return status_pb2.Status.FromString(details)


def curl(server, path, *arguments, body=None) -> str:
    command = ["curl", "--silent", "--show-error", "--max-time", "10", *arguments]
    if server.ca:
        command += ["--cacert", str(server.ca)]
    if body is not None:
        command += ["--header", "Content-Type: application/json", "--data", json.dumps(body)]
    done = subprocess.run([*command, server.url + path], capture_output=True, timeout=20)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


class TestUnary:
    def test_greets(self, stub):
        assert stub.Hello(demo.HelloRequest(name="Ada")).message == "Hello, Ada!"

    def test_refuses_an_empty_name(self, stub):
        with pytest.raises(grpc.RpcError) as caught:
            stub.Hello(demo.HelloRequest())
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        detail = error_details_pb2.BadRequest()
        assert status_of(caught.value).details[0].Unpack(detail)
        assert detail.field_violations[0].field == "name"

    def test_finds_nothing(self, stub):
        with pytest.raises(grpc.RpcError) as caught:
            stub.Find(demo.FindRequest(id="xyz"))
        assert caught.value.code() == grpc.StatusCode.NOT_FOUND
        assert caught.value.details() == 'no item "xyz"'
        assert [detail.type_url for detail in status_of(caught.value).details] == [
            "type.googleapis.com/google.rpc.ErrorInfo",
            "type.googleapis.com/google.rpc.ResourceInfo",
        ]

    @pytest.mark.parametrize("code", range(1, 17))
    def test_fails_as_told(self, stub, code):
        request = demo.FailRequest(code=code, message="Größe 100 % \n/")
        request.details.add().Pack(demo.HelloRequest(name="detail"))
        with pytest.raises(grpc.RpcError) as caught:
            stub.Fail(request)
        assert caught.value.code().value[0] == code
        assert caught.value.details() == request.message
        assert list(status_of(caught.value).details) == list(request.details)

    def test_fails_with_ok(self, stub):
        assert stub.Fail(demo.FailRequest()) == demo.FailReply()

    def test_echoes_metadata(self, stub):
        request = demo.MetadataRequest(
            headers=[
                demo.Header(name="x-one", value="1"),
                demo.Header(name="x-one", value="2"),
                demo.Header(name="x-data-bin", binary=b"\x00\xff"),
            ],
            trailers=[
                demo.Header(name="x-end", value="z"),
                demo.Header(name="x-end-bin", binary=b"\x01"),
            ],
        )
        sent = [("b", "1"), ("a", "2"), ("b", "3"), ("c-bin", b"\x00\xfe")]
        reply, call = stub.EchoMetadata.with_call(request, metadata=sent, timeout=10)
        received = [
            (header.name, header.binary or header.value)
            for header in reply.headers
            if header.name in ("a", "b", "c-bin")
        ]
        assert received == sent
        assert (reply.http_method, reply.http_version) == ("POST", "2")
        assert 5_000 < reply.timeout_ms <= 11_000  # grpcio's client rounds up
        headers = [item for item in call.initial_metadata() if item[0].startswith("x-")]
        assert headers == [("x-one", "1"), ("x-one", "2"), ("x-data-bin", b"\x00\xff")]
        trailers = [item for item in call.trailing_metadata() if item[0].startswith("x-")]
        assert trailers == [("x-end", "z"), ("x-end-bin", b"\x01")]

    def test_echoes(self, stub):
        message = demo.AllTypes(
            double_value=-0.0, int64s=[-1, 2**62], optional_int32=0, choice_text="",
            string_to_nested={"a": demo.AllTypes.Nested(label="x")},
        )
        message.any.Pack(demo.HelloRequest(name="Ada"))
        message.struct["key"] = [1, None, {"deep": True}]
        assert stub.Echo(message) == message

    def test_returns_the_bytes_as_they_came(self, server):
        # Field order and an unknown field that no serializer would write so.
        data = b"\x72\x01a" + b"\x18\x05" + b"\xfa\xff\x01\x00"
        with channel_to(server) as channel:
            raw = channel.unary_unary("/demo.v1.Demo/Raw")
            assert demo.RawReply.FromString(raw(data)).request == data

    def test_sends_a_large_message(self, stub):
        payload = stub.Large(demo.LargeRequest(size_bytes=20 * MEBIBYTE + 1)).payload
        assert len(payload) == 20 * MEBIBYTE + 1
        assert payload[:252] == bytes(range(251)) + b"\0"

    def test_receives_a_large_message(self, stub):
        message = demo.AllTypes(bytes_value=b"x" * (20 * MEBIBYTE))
        assert len(stub.Raw(message).request) == message.ByteSize()

    def test_keeps_the_deadline(self, stub):
        with pytest.raises(grpc.RpcError) as caught:
            stub.Delay(demo.DelayRequest(milliseconds=10_000), timeout=0.2)
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED

    def test_notices_a_cancelled_call(self, server, stub):
        before = server.canceled_calls("demo.v1.Demo/Delay")
        call = stub.Delay.future(demo.DelayRequest(milliseconds=60_000))
        time.sleep(0.2)
        call.cancel()
        server.wait_for_canceled_calls("demo.v1.Demo/Delay", before + 1)

    @pytest.mark.parametrize("name", ["gzip", "deflate"])
    def test_compresses_on_demand(self, grpc_server, name):
        wanted = [("demo-compression", name)]
        with channel_to(grpc_server) as channel:
            stub = demo_pb2_grpc.DemoStub(channel)
            reply = stub.Large(demo.LargeRequest(size_bytes=MEBIBYTE), metadata=wanted)
            assert len(reply.payload) == MEBIBYTE


class TestStreams:
    def test_counts(self, stub):
        request = demo.CountRequest(to=1000)
        setattr(request, "from", -3)
        assert [reply.number for reply in stub.Count(request)] == list(range(-3, 1001))

    def test_counts_as_time_passes(self, stub):
        start = time.monotonic()
        replies = stub.Count(demo.CountRequest(to=2, interval_ms=300))
        next(replies)
        assert time.monotonic() - start < 0.3
        assert len(list(replies)) == 2
        assert time.monotonic() - start > 0.6

    def test_sums_up(self, stub):
        numbers = (demo.SumRequest(value=value) for value in [1, 2, 2**63 - 1])
        assert stub.Sum(numbers) == demo.SumReply(total=-(2**63) + 2, count=3)

    def test_answers_before_the_next_question(self, stub):
        """Full duplex: each question is asked after the answer before it."""
        questions: queue.SimpleQueue[demo.ChatRequest | None] = queue.SimpleQueue()
        replies = stub.Chat(iter(questions.get, None), timeout=10)
        for number in range(100):
            questions.put(demo.ChatRequest(text=str(number)))
            assert next(replies).text == f"you said: {number}"
        questions.put(None)
        assert list(replies) == []

    def test_fails_after_some_messages(self, stub):
        replies = stub.FailStream(
            demo.FailRequest(code=9, message="enough", after_messages=2)
        )
        assert next(replies).number == 1
        assert next(replies).number == 2
        with pytest.raises(grpc.RpcError) as caught:
            next(replies)
        assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        assert caught.value.details() == "enough"

    @pytest.mark.parametrize("name", ["Count", "Chat"])
    def test_notices_a_cancelled_stream(self, server, stub, name):
        method = f"demo.v1.Demo/{name}"
        before = server.canceled_calls(method)
        if name == "Count":
            call = stub.Count(demo.CountRequest(to=1000, interval_ms=50))
        else:
            questions: queue.SimpleQueue[demo.ChatRequest | None] = queue.SimpleQueue()
            questions.put(demo.ChatRequest())
            call = stub.Chat(iter(questions.get, None))
        next(call)
        call.cancel()
        server.wait_for_canceled_calls(method, before + 1)
        if name == "Chat":
            questions.put(None)  # lets grpcio's sending thread end

    def test_takes_no_finished_call_for_a_cancelled_one(self, server, stub):
        before = server.canceled_calls()
        stub.Hello(demo.HelloRequest(name="Ada"))
        list(stub.Count(demo.CountRequest(to=3)))
        list(stub.Chat(iter([demo.ChatRequest()])))
        stub.Sum(iter([demo.SumRequest()]))
        for call in (stub.Fail, lambda request: list(stub.FailStream(request))):
            with pytest.raises(grpc.RpcError):
                call(demo.FailRequest(code=1, after_messages=1))
        time.sleep(0.1)
        assert server.canceled_calls() == before


class TestInfrastructure:
    @pytest.mark.parametrize("version", ["v1", "v1alpha"])
    def test_reflects(self, server, version):
        with channel_to(server) as channel:
            info = channel.stream_stream(
                f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                reflection_pb2.ServerReflectionRequest.SerializeToString,
                reflection_pb2.ServerReflectionResponse.FromString,
            )
            listed, found, unknown = info(
                iter(
                    [
                        reflection_pb2.ServerReflectionRequest(list_services=""),
                        reflection_pb2.ServerReflectionRequest(
                            file_containing_symbol="demo.v1.Demo"
                        ),
                        reflection_pb2.ServerReflectionRequest(file_containing_symbol="no.Such"),
                    ]
                )
            )
        services = [service.name for service in listed.list_services_response.service]
        assert {"demo.v1.Demo", "grpc.health.v1.Health"} < set(services)
        file = found.file_descriptor_response.file_descriptor_proto[0]
        assert descriptor_pb2.FileDescriptorProto.FromString(file).name == "demo.proto"
        assert unknown.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]

    def test_is_healthy(self, server):
        with channel_to(server) as channel:
            check = health_pb2_grpc.HealthStub(channel).Check
            reply = check(health_pb2.HealthCheckRequest(service="demo.v1.Demo"))
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
            with pytest.raises(grpc.RpcError) as caught:
                check(health_pb2.HealthCheckRequest(service="no.Such"))
            assert caught.value.code() == grpc.StatusCode.NOT_FOUND

    def test_asks_for_a_client_certificate(self, grpc_mtls_server, certificates):
        request = demo.HelloRequest(name="Ada")
        with channel_to(grpc_mtls_server, certificates, "client") as channel:
            assert demo_pb2_grpc.DemoStub(channel).Hello(request).name == "Ada"
        for client in (None, "other-client"):
            with channel_to(grpc_mtls_server, certificates, client) as channel:
                with pytest.raises(grpc.RpcError) as caught:
                    demo_pb2_grpc.DemoStub(channel).Hello(request, timeout=5)
                assert caught.value.code() == grpc.StatusCode.UNAVAILABLE

    def test_listens_on_a_socket_file(self, start_server, tmp_path):
        server = start_server("grpc_server.py", "--unix", tmp_path / "s")
        assert server.address == f"unix:{tmp_path / 's'}"
        with channel_to(server) as channel:
            assert demo_pb2_grpc.DemoStub(channel).Hello(demo.HelloRequest(name="Ada"))

    def test_descriptor_set_is_complete(self, descriptor_set):
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set.read_bytes()).file
        names = [file.name for file in files]
        assert {"demo.proto", "google/rpc/error_details.proto"} < set(names)
        assert all(set(file.dependency) <= set(names) for file in files)
        assert all(file.HasField("source_code_info") for file in files)


class TestConnect:
    """The Connect protocol, by curl."""

    @pytest.fixture(params=["connect_server", "connect_tls_server"])
    def server(self, request):
        return request.getfixturevalue(request.param)

    VERSIONS = [("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")]

    @pytest.mark.parametrize(("option", "version"), VERSIONS)
    def test_greets(self, server, option, version):
        report = ("--write-out", "\n%{http_version} %{http_code} %{content_type}")
        reply = curl(server, "/demo.v1.Demo/Hello", option, *report, body={"name": "Ada"})
        text, line = reply.rsplit("\n", 1)
        assert json.loads(text) == {"message": "Hello, Ada!", "name": "Ada"}
        assert line == f"{version} 200 application/json"

    def test_negotiates_the_version(self, connect_tls_server):
        reply = json.loads(curl(connect_tls_server, "/demo.v1.Demo/EchoMetadata", body={}))
        assert reply["httpVersion"] == "2"

    def test_answers_get(self, server):
        query = "?connect=v1&encoding=json&message=%7B%22name%22%3A%22Ada%22%7D"
        assert json.loads(curl(server, "/demo.v1.Demo/Hello" + query))["name"] == "Ada"
        status = ("--write-out", "%{http_code}", "--output", "/dev/null")
        assert curl(server, "/demo.v1.Demo/Fail" + query, *status) == "405"

    def test_describes_an_error(self, server):
        report = ("--write-out", "\n%{http_code}")
        reply = curl(server, "/demo.v1.Demo/Find", *report, body={"id": "xyz"})
        text, status = reply.rsplit("\n", 1)
        error = json.loads(text)
        assert (status, error["code"], error["message"]) == ("404", "not_found", 'no item "xyz"')
        types = [detail["type"] for detail in error["details"]]
        assert types == ["google.rpc.ErrorInfo", "google.rpc.ResourceInfo"]

    def test_returns_json_as_it_came(self, server):
        reply = curl(server, "/demo.v1.Demo/Raw", body={"int32Value": 5})
        assert json.loads(reply) == {"request": "eyJpbnQzMlZhbHVlIjogNX0="}

    @pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
    def test_compresses(self, connect_server, name):
        reply = curl(
            connect_server,
            "/demo.v1.Demo/Hello",
            "--include",
            "--compressed",
            "--header",
            f"Accept-Encoding: {name}",
            body={"name": "Ada"},
        )
        assert f"content-encoding: {name}" in reply
        assert '"Hello, Ada!"' in reply

    @pytest.mark.parametrize("http", ["--http1.1", "--http2-prior-knowledge"])
    def test_streams_as_time_passes(self, connect_server, http):
        """The first message of a stream arrives while the rest is not yet there."""
        message = json.dumps({"to": 3, "interval_ms": 300}).encode()
        with subprocess.Popen(
            ["curl", "-sN", http, "-H", "Content-Type: application/connect+json"]
            + ["--data-binary", "@-", connect_server.url + "/demo.v1.Demo/Count"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            process.stdin.write(b"\0" + len(message).to_bytes(4, "big") + message)
            process.stdin.close()
            first = os.read(process.stdout.fileno(), 4096)
            arrived = time.monotonic()
            rest = process.stdout.read()
            assert time.monotonic() - arrived > 0.5
        assert first.count(b"\0\0\0\0") <= 2
        assert rest.endswith(b"\x02\0\0\0\x02{}")

    def test_speaks_grpc_web_in_http1(self, connect_server):
        message = demo.HelloRequest(name="Ada").SerializeToString()
        body = b"\0" + len(message).to_bytes(4, "big") + message
        done = subprocess.run(
            ["curl", "-s", "--http1.1", "-H", "Content-Type: application/grpc-web+proto"]
            + ["--data-binary", "@-", connect_server.url + "/demo.v1.Demo/Hello"],
            input=body,
            capture_output=True,
            check=True,
        )
        length = int.from_bytes(done.stdout[1:5], "big")
        assert demo.HelloReply.FromString(done.stdout[5 : 5 + length]).name == "Ada"
        trailer = done.stdout[5 + length :]
        assert trailer[0] == 0x80
        assert b"grpc-status: 0" in trailer or b"grpc-status:0" in trailer


    @pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
    def test_chats_in_http1(self, connect_server, protocol):
        """Full duplex, which HTTP/1.1 does not promise but this server offers."""
        address = ("127.0.0.1", connect_server.port)
        with socket.create_connection(address, timeout=5) as client:
            answer = client.makefile("rb")
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
                    assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
                    while answer.readline() != b"\r\n":
                        pass
                chunk = answer.read(int(answer.readline(), 16))
                assert demo.ChatReply.FromString(chunk[5:]).text == f"you said: {number}"
                assert answer.readline() == b"\r\n"
            client.sendall(b"0\r\n\r\n")
            end = answer.read(int(answer.readline(), 16))
            assert end[0] == (0x02 if protocol == "connect" else 0x80)

    def test_does_not_know_other_methods(self, server):
        # Over HTTP/2, libcurl 7.88 loses an answer that comes before it has sent the body.
        status = ("--http1.1", "--write-out", "%{http_code}", "--output", "/dev/null")
        assert curl(server, "/demo.v1.Demo/NoSuch", *status, body={}) == "404"


class TestFixtures:
    """What the other tests rely on, with a shell script in rpcurl's place."""

    def test_runs_in_a_clean_environment(self, tmp_path, monkeypatch):
        script = tmp_path / "rpcurl"
        script.write_text("#!/bin/sh\nenv; cat; echo error >&2; exit 69\n")
        script.chmod(0o755)
        monkeypatch.setattr("conftest.RPCURL", script)
        monkeypatch.setenv("RPCURL_PROTOCOL", "connect")
        monkeypatch.setenv("https_proxy", "http://proxy.test")
        result = Rpcurl(tmp_path)("list", input="typed", env={"EXTRA": "1"})
        names = {line.partition("=")[0] for line in result.out.splitlines() if "=" in line}
        assert {"PATH", "HOME", "NO_COLOR", "EXTRA"} <= names
        assert not {"RPCURL_PROTOCOL", "https_proxy"} & names
        assert result.out.endswith("typed")
        assert (result.code, result.err) == (69, "error\n")


class TestRawServer:
    def test_counts_connections(self, raw_server):
        def handle(connection: socket.socket) -> None:
            connection.sendall(connection.recv(100).upper())

        server = raw_server(handle)
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.sendall(b"hello")
                assert client.recv(100) == b"HELLO"
        assert server.connections == 2

    def test_ends_although_a_handler_waits(self, raw_server):
        server = raw_server(lambda connection: connection.recv(100) and None)
        with socket.create_connection(("127.0.0.1", server.port)):
            start = time.monotonic()
            server.stop()
            assert time.monotonic() - start < 1


class TestLifetime:
    """No server outlives the test run."""

    @pytest.mark.parametrize("script", ["grpc_server.py", "connect_server.py"])
    @pytest.mark.parametrize("end", ["stdin", "terminate", "kill"])
    def test_ends(self, script, end):
        process = subprocess.Popen(
            [str(VENV / "bin" / "python"), str(SERVERS / script), "--exit-with-stdin"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"DEMO_GENERATED": str(GENERATED)},
        )
        with process:
            port = int(process.stdout.readline().rpartition(b":")[2])
            socket.create_connection(("127.0.0.1", port)).close()
            start = time.monotonic()
            if end == "stdin":
                process.stdin.close()
            else:
                process.send_signal(signal.SIGTERM if end == "terminate" else signal.SIGKILL)
            process.wait(5)
            # Envoy ends a moment after the process that started it.
            with pytest.raises(ConnectionRefusedError):
                while time.monotonic() - start < 5:
                    socket.create_connection(("127.0.0.1", port)).close()
                    time.sleep(0.05)
            assert time.monotonic() - start < 2
