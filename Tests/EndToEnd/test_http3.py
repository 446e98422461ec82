"""HTTP/3, with a libcurl that has it, named by RPCURL_LIBCURL."""

import asyncio
import base64
import contextlib
import functools
import json

import pytest
from aioquic.asyncio import serve
from aioquic.buffer import encode_uint_var
from faults import http3 as h3
from faults.mutations import Mutant
from google.protobuf.any_pb2 import Any

SERVICE = "demo.v1.Demo"


@pytest.fixture
def call(http3_rpcurl, descriptor_set):
    return lambda *arguments, **options: http3_rpcurl("--descriptor-set", descriptor_set, *arguments, **options)


def test_version_shows_http3(http3_rpcurl):
    assert http3_rpcurl("version", "--format", "json").json()["libcurl"]["httpVersions"] == ["1.1", "2", "3"]


@pytest.fixture
def has_patched_libcurl(http3_rpcurl):
    """Whether rpcurl uses its built-in libcurl, with scripts/libcurl.patch, for HTTP/3."""
    source = http3_rpcurl("version", "--format", "json").json()["libcurl"]["source"]
    return source == "built-in"


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def http3(request, call, connect_http3_server, certificates):
    def run(method, *data, **options):
        words = [word for item in data for word in ("-d", item)]
        return call(
            "--protocol", request.param, "--http3", "--cacert", certificates / "ca.pem", "--format", "events",
            "--max-time", "5", *words, f"{connect_http3_server.url}/{SERVICE}/{method}", **options,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("method", "data", "messages", "code"),
    [
        ("Hello", ['{"name":"Ada"}'], [{"message": "Hello, Ada!", "name": "Ada"}], 0),
        ("Count", ['{"from":1,"to":3}'], [{"number": 1}, {"number": 2}, {"number": 3}], 0),
        ("Sum", ['{"value":1}', '{"value":3}'], [{"total": "4", "count": 2}], 0),
        ("Chat", ['{"text":"a"}', '{"text":"b"}'], [{"text": "you said: a"}, {"text": "you said: b"}], 0),
        ("Fail", ['{"code":5,"message":"not here"}'], [], 69),
        ("FailStream", ['{"code":5,"afterMessages":2}'], [{"number": 1}, {"number": 2}], 69),
    ],
)
def test_http3(http3, method, data, messages, code):
    events = http3(method, *data).exits(code).lines()
    assert [e["http_version"] for e in events if e["event"] == "headers"] == ["3"]
    assert [e["message"] for e in events if e["event"] == "message"] == messages


def test_http3_meets_the_deadline(call, connect_http3_server, certificates):
    options = ["--http3", "--cacert", certificates / "ca.pem", "--max-time", "400ms", "-d", '{"milliseconds":9000}']
    call(*options, f"{connect_http3_server.url}/{SERVICE}/Delay").exits(68)
    connect_http3_server.wait_for_canceled_calls(f"{SERVICE}/Delay", 1)


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_http3_is_full_duplex(http3_rpcurl, descriptor_set, connect_http3_server, certificates, protocol):
    arguments = [
        "--protocol", protocol, "--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem",
        f"{connect_http3_server.url}/{SERVICE}/Chat",
    ]  # fmt: skip
    with http3_rpcurl.start(*arguments) as process:
        for number in range(50):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_another_version_of_http_is_not_used_instead(call, connect_tls_server, certificates, protocol):
    """The server has HTTP/2 and HTTP/1.1 at this port, and no HTTP/3."""
    url = f"{connect_tls_server.url}/{SERVICE}/Hello"
    call("--protocol", protocol, "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}', url).exits(0)
    call("--protocol", protocol, "--http3", "--connect-timeout", "1", "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}', url).exits(5, "")


@pytest.fixture
def options(descriptor_set, certificates):
    return ["--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem"]


def test_session_whose_commands_set_the_target(http3_rpcurl, options, connect_http3_server):
    commands = f'target {connect_http3_server.url}\ncall Hello {{"name":"Ada"}}\nset a = "b"\nprint $a\n'
    http3_rpcurl("session", *options, input=commands).exits(0, '{"message":"Hello, Ada!","name":"Ada"}\n"b"\n')


def test_session_without_tls_refuses_http3_before_it_has_a_target(http3_rpcurl, options):
    http3_rpcurl("session", *options, "--plaintext", input="").exits(2).reports("HTTP/3 needs TLS")


def test_suite_that_sets_the_target(http3_rpcurl, options, connect_http3_server):
    suite = f'target {connect_http3_server.url}\ntest a\ncall Hello {{"name":"Ada"}}\nexpect .name == "Ada"\n'
    http3_rpcurl("test", *options, "-", input=suite).exits(0)


# libcurl has timers that would hide a missing event: the longest one ends after a deadline.
PACED = ("--connect-timeout", "60", "--max-time", "25")


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_the_end_of_a_paced_request_is_sent_at_once(http3_rpcurl, descriptor_set, connect_http3_server, certificates, protocol):
    """All else has been sent and acknowledged when the input ends."""
    arguments = [
        "--protocol", protocol, "--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem",
        *PACED, f"{connect_http3_server.url}/{SERVICE}/Sum",
    ]  # fmt: skip
    with http3_rpcurl.start(*arguments) as process:
        for number in (1, 2):
            process.stdin.write(b'{"value":%d}' % number)
            process.wait_until_idle()
        process.stdin.close()
        assert process.wait() == 0, process.stderr.read()
        assert json.loads(process.stdout.read()) == {"total": "3", "count": 2}


def test_the_end_of_a_stream_of_a_session_is_sent_at_once(http3_rpcurl, descriptor_set, connect_http3_server, certificates):
    arguments = ["--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", *PACED]
    with http3_rpcurl.start("session", *arguments, connect_http3_server.url) as process:
        for line in ("open Sum", '{"value":1}', "close"):
            process.stdin.write(f"{line}\n".encode())
            process.wait_until_idle()
        assert b'"total":"1"' in process.stdout.readline()
        process.stdin.close()
        assert process.wait() == 0


# Responses in steps. The next one begins when the client has acknowledged the last one, so that it reads them separately.


class Steps(h3.Protocol):
    """A server that responds with steps: bytes of the stream, `end`, or the code of a reset."""

    def __init__(self, *arguments, steps, is_early, **options) -> None:
        super().__init__(*arguments, mutant=Mutant(None, b"", [], is_early=is_early), **options)
        self.steps = steps

    async def send(self, stream: int) -> None:
        for step in self.steps:
            if isinstance(step, int):
                self._quic.reset_stream(stream, step)
            else:
                self._quic.send_stream_data(stream, b"" if step == END else step, step == END)
            self.transmit()
            await self.ping()


@contextlib.asynccontextmanager
async def serving(certificates, steps, is_early=False):
    """A server with these steps, and its port."""
    server = await serve(
        "127.0.0.1", 0, configuration=h3.configuration(certificates),
        create_protocol=functools.partial(Steps, steps=steps, is_early=is_early),
    )  # fmt: skip
    try:
        yield server, server._transport.get_extra_info("sockname")[1]
    finally:
        server.close()


@pytest.fixture
def respond(certificates):
    """Makes a call to a server with these steps; returns the result."""

    def run(call, steps, *options, is_early=False, method="Hello"):
        async def exchange():
            async with serving(certificates, steps, is_early) as (_, port):
                url = f"https://127.0.0.1:{port}/{SERVICE}/{method}"
                return await asyncio.to_thread(call, "--http3", "--cacert", certificates / "ca.pem", *options, url)

        return asyncio.run(exchange())

    return run


END, NO_ERROR = "end", 0x100
MESSAGE = b"\0\0\0\0\5\x0a\3Ada"


def frame(kind, payload):
    return h3.Frame(kind, payload).encode()


def head(content_type, *fields):
    return frame(h3.HEADERS, h3.field_section([(b":status", b"200"), (b"content-type", content_type), *fields]))


def steps_of_trailers(*fields):
    """A block of trailers, of which each field is a step."""
    lines = [h3.field_section([field])[2:] for field in fields]
    size = 2 + sum(map(len, lines))
    return [encode_uint_var(h3.HEADERS) + encode_uint_var(size) + b"\0\0" + lines[0], *lines[1:]]


GRPC = [head(b"application/grpc"), frame(h3.DATA, MESSAGE)]
DETAIL = Any(type_url="type.googleapis.com/google.rpc.ErrorInfo")
DETAILS = base64.b64encode(b"\x1a" + bytes([DETAIL.ByteSize()]) + DETAIL.SerializeToString())
TRAILERS = [
    (b"x-first", b"1"), (b"grpc-status", b"5"), (b"grpc-message", b"not here"), (b"grpc-status-details-bin", DETAILS),
    (b"x-last", b"2"),
]  # fmt: skip


def ends_with_all_trailers(code, out):
    ends = [event for event in map(json.loads, out.splitlines()) if event["event"] == "end"]
    assert [(end["code"], end["message"]) for end in ends] == [("not_found", "not here")]
    assert [detail["type"] for detail in ends[0]["details"]] == ["google.rpc.ErrorInfo"]
    assert ends[0]["trailers"] == [["x-first", "1"], ["x-last", "2"]]
    assert code == 69


def test_trailers_in_several_packets(call, respond):
    """libcurl delivers each field as it arrives."""
    steps = [*GRPC, *steps_of_trailers(*TRAILERS), END]
    result = respond(call, steps, "-d", "{}", "--format", "events", *PACED)
    ends_with_all_trailers(result.code, result.out)


@pytest.fixture
def chat(http3_rpcurl, descriptor_set, respond):
    """Makes a call of Chat to a server with these steps, whose input does not end; returns its code, output and error output."""

    def run(*arguments):
        with http3_rpcurl.start("--descriptor-set", descriptor_set, *PACED, *arguments) as process:
            process.stdin.write(b'{"text":"a"}')
            return process.wait(), process.stdout.read(), process.stderr.read()

    return functools.partial(respond, run, is_early=True, method="Chat")


def test_trailers_in_several_packets_before_the_end_of_the_request(chat):
    code, out, _ = chat([head(b"application/grpc"), *steps_of_trailers(*TRAILERS), END], "--format", "events")
    ends_with_all_trailers(code, out)


def test_a_response_that_does_not_end_after_its_status(call, respond):
    respond(call, [*GRPC, *steps_of_trailers((b"grpc-status", b"0"))], "-d", "{}", *PACED).exits(0, '{"message":"Ada"}\n')


def test_a_response_that_does_not_end_before_its_status(call, respond):
    steps = [*GRPC, *steps_of_trailers((b"x-first", b"1"))]
    respond(call, steps, "-d", "{}", "--max-time", "1").exits(68, "")


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    ("protocol", "content_type", "body"),
    [
        ("grpc", b"application/grpc", MESSAGE), ("grpc-web", b"application/grpc-web+proto", MESSAGE),
        ("connect", b"application/proto", MESSAGE[5:]),
    ],
)  # fmt: skip
def test_reset_with_no_error_in_a_response(call, has_patched_libcurl, respond, protocol, content_type, body, together):
    """The response is incomplete, also if only the end of the stream would show that it is complete."""
    if not has_patched_libcurl:
        pytest.skip("this libcurl takes the reset for the end of the response")
    steps = [head(content_type), frame(h3.DATA, body)]
    if together:
        steps = [b"".join(steps)]
    respond(call, [*steps, NO_ERROR], "--protocol", protocol, "-d", "{}", *PACED).exits(5, "").reports("reset by server (error 0x100 NO_ERROR)")


@pytest.mark.parametrize("code", [NO_ERROR, 0x102, 0x10B, 0x10C])
@pytest.mark.parametrize("begun", [True, False])
def test_reset_before_the_end_of_the_request(chat, has_patched_libcurl, code, begun):
    if not has_patched_libcurl:
        pytest.skip("this libcurl reports a reset when the request has ended")
    exit_code, out, err = chat([*(GRPC if begun else []), code])
    assert (exit_code, out) == (5, b'{"text":"Ada"}\n' if begun else b""), err


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_reset_with_no_error_after_a_response(call, respond, protocol):
    connect = [head(b"application/proto") + frame(h3.DATA, MESSAGE[5:])]
    steps = connect if protocol == "connect" else [*GRPC, *steps_of_trailers((b"grpc-status", b"0"))]
    respond(call, [*steps, END, NO_ERROR], "--protocol", protocol, "-d", "{}", *PACED).exits(0, '{"message":"Ada"}\n')


def test_connection_that_the_server_closes_between_two_calls(http3_rpcurl, options, certificates):
    """The second call has another connection: nothing of it was sent over the closed one."""
    steps = [*GRPC, *steps_of_trailers((b"grpc-status", b"0")), END]

    async def exchange():
        async with serving(certificates, steps) as (server, port):
            with http3_rpcurl.start("session", *options, *PACED, f"https://127.0.0.1:{port}") as process:
                for _ in range(2):
                    process.stdin.write(b'call Hello {}\nset end = "end"\nprint $end\n')
                    assert await asyncio.to_thread(process.stdout.readline) == b'{"message":"Ada"}\n'
                    assert await asyncio.to_thread(process.stdout.readline) == b'"end"\n'
                    for protocol in set(server._protocols.values()):
                        protocol.close(NO_ERROR)

    asyncio.run(exchange())


def test_http3_needs_tls(call):
    call("--http3", "--plaintext", "localhost:1", f"{SERVICE}/Hello").exits(2).reports("HTTP/3 needs TLS")


def test_no_server_for_http3(call):
    call("--http3", "-k", "--connect-timeout", "1", "https://127.0.0.1:1", f"{SERVICE}/Hello").exits(5)
