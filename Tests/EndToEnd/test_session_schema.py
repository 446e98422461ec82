"""A session whose server changes its schema while the session runs."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import PATIENCE_SECONDS, Prompt, Rpcurl
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

grpc = pytest.importorskip("grpc")
from grpc_reflection.v1alpha import reflection_pb2  # noqa: E402
from harness.grpcio import ECHO_STREAM, REFLECTION, reflection, serve

STRING = FieldDescriptorProto.TYPE_STRING


class ChangingServer:
    """a.S/M returns its request, whose fields and further methods change. It counts the questions for its schema."""

    def __init__(self, address: str = "127.0.0.1:0") -> None:
        self.fields = ["old"]
        self.methods = ["M"]
        self.services = ["S"]
        self.questions = 0
        self.is_silent = False
        # What follows each request in its response.
        self.extra = b""
        self.lock = threading.Lock()
        echo = grpc.unary_unary_rpc_method_handler(lambda request, context: request + self.extra)
        methods = {"M": echo, "N": echo, "Stream": ECHO_STREAM}
        self.server, self.url = serve({REFLECTION: reflection(self.reflect), "a.S": methods}, address)

    def file(self) -> bytes:
        made = FileDescriptorProto(name="s.proto", package="a", syntax="proto3")
        fields = made.message_type.add(name="T").field
        for number, name in enumerate(self.fields, 1):
            fields.add(name=name, number=number, label=1, type=STRING, json_name=name)
        for service in [made.service.add(name=name) for name in self.services]:
            for name in self.methods:
                service.method.add(
                    name=name, input_type=".a.T", output_type=".a.T",
                    client_streaming=name == "Stream", server_streaming=name == "Stream",
                )  # fmt: skip
        return made.SerializeToString()

    def reflect(self, requests, context):
        for request in requests:
            with self.lock:
                self.questions += request.HasField("list_services")
            if self.is_silent:
                context.abort(grpc.StatusCode.UNAVAILABLE, "no reflection now")
            respond = reflection_pb2.ServerReflectionResponse(original_request=request)
            if request.HasField("list_services"):
                for name in self.services:
                    respond.list_services_response.service.add(name=f"a.{name}")
            else:
                respond.file_descriptor_response.file_descriptor_proto.append(self.file())
            yield respond


@pytest.fixture
def server() -> Iterator[ChangingServer]:
    started = ChangingServer()
    yield started
    started.server.stop(0)


def test_a_new_field_of_a_request_is_found(prompt: Callable[..., Prompt], server: ChangingServer) -> None:
    session = prompt(server.url)
    session.type('call M {"old":"1"}')
    assert session.line() == '{"old":"1"}'
    session.type('call M {"new":"2"}')
    assert 'a.T has no field "new"' in session.error()
    server.fields = ["old", "new"]
    session.type('call M {"new":"2"}')
    assert session.line() == '{"new":"2"}'
    session.end()


def test_a_new_method_is_found(prompt: Callable[..., Prompt], server: ChangingServer) -> None:
    session = prompt("--no-cache", server.url)
    session.type("call N")
    assert session.error() == "rpcurl: N: not found in the schema"
    server.methods = ["M", "N"]
    session.type("call N")
    assert session.line() == "{}"
    session.type("call S/Nn")
    assert "no method Nn in a.S" in "".join(session.error() for _ in range(2))
    session.end()


def test_a_new_service_is_found_if_the_schema_is_cached(rpcurl: Rpcurl, server: ChangingServer) -> None:
    for count in (1, 2):
        result = rpcurl("session", server.url, input="describe\n")
        assert (result.err, server.questions) == ("", count)
    server.services = ["S", "U"]
    result = rpcurl("session", server.url, input="describe\n")
    assert (result.err, server.questions) == ("", 4)
    assert "service U {" in result.out


def test_a_new_field_of_a_response_is_reported_and_shown_by_the_next_call(
    prompt: Callable[..., Prompt], server: ChangingServer
) -> None:
    session = prompt(server.url)
    server.extra = b"\x12\x03two"
    session.type('call M {"old":"1"}')
    assert session.line() == '{"old":"1"}'
    assert session.error() == "warning: M: a.T has field 2, which the schema lacks"
    assert session.error() == "hint: the next call reads the schema again, as reflect does"
    server.fields = ["old", "new"]
    session.type('call M {"old":"1"}', "print $last.new")
    assert session.line() == '{"old":"1","new":"two"}'
    assert session.line() == '"two"'
    session.end()


def test_a_field_that_the_server_does_not_describe_is_reported_once(
    rpcurl: Rpcurl, server: ChangingServer, tmp_path: Path
) -> None:
    server.extra = b"\x12\x03two\x18\x01"
    lines = "call M {}\n" * 3 + f"export {tmp_path}/set.binpb\n"
    result = rpcurl("session", server.url, input=lines)
    assert result.err == (
        "warning: M: a.T has fields 2, 3, which the schema lacks\n"
        "hint: the next call reads the schema again, as reflect does\n"
    )
    assert server.questions == 2
    result = rpcurl("session", "--descriptor-set", tmp_path / "set.binpb", server.url, input="call M {}\n")
    assert result.err == "warning: M: a.T has fields 2, 3, which the schema lacks\n"


def test_a_stream_names_the_change(prompt: Callable[..., Prompt], server: ChangingServer) -> None:
    server.methods = ["M", "Stream"]
    session = prompt(server.url)
    session.type("open Stream", '{"old":"1"}')
    assert session.line() == '{"old":"1"}'
    server.fields = ["old", "new"]
    session.type('{"new":"2"}')
    assert session.error() == "rpcurl: Stream[1]: the server's schema has changed since the stream was opened"
    assert session.error() == "hint: open Stream"
    session.type("close", "wait", "open Stream", '{"new":"2"}')
    assert session.line() == '{"new":"2"}'
    session.end()


def test_a_schema_of_some_age_is_read_again(
    rpcurl: Rpcurl, prompt: Callable[..., Prompt], server: ChangingServer
) -> None:
    first = prompt(server.url)
    first.type('call M {"old":"1"}')
    first.line()
    first.end()
    (file,) = [file for file in (rpcurl.home / ".cache" / "rpcurl" / "reflection").glob("*.binpb") if "-_-" in file.name]
    # The cached schema is used for a moment, and is then as old as a single call accepts it.
    seconds = time.time() - 298
    os.utime(file, (seconds, seconds))
    before = server.questions
    session = prompt(server.url)
    end = time.monotonic() + PATIENCE_SECONDS
    while server.questions == before:
        assert time.monotonic() < end, "the schema is not read again"
        session.type("call M {}")
        assert session.line() == "{}"
    for _ in range(3):
        session.type("call M {}")
        session.line()
    assert server.questions == before + 1
    session.end()


def test_a_mistake_costs_one_question_and_a_server_without_reflection_keeps_its_schema(
    prompt: Callable[..., Prompt], server: ChangingServer
) -> None:
    session = prompt("--no-cache", server.url)
    session.type('call M {"old":"1"}')
    session.line()
    assert server.questions == 1
    # This is not JSON, so the schema is not the cause.
    session.type('call M {"old":1 2}')
    for _ in range(3):
        session.error()
    session.type("call M {}")
    session.line()
    assert server.questions == 1
    session.type('call M {"od":"1"}')
    assert 'no field "od"' in session.error()
    session.type("call M {}")
    session.line()
    assert server.questions == 2
    server.is_silent = True
    session.type('call M {"od":"1"}', 'call M {"old":"2"}')
    assert session.line() == '{"old":"2"}'
    session.end()
