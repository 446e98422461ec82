"""`rpcurl proxy` between real clients and real servers."""

import base64
import contextlib
import gzip
import itertools
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from queue import Queue

import grpc
import pytest
import raw_http2
from harness import PATIENCE_SECONDS, Caller, Proxy, closed_port, wait_until
from harness.grpcio import ECHO, ECHO_STREAM, serve
from harness.servers import QuietHandler, http_server
from harness.wire import envelope

import demo_pb2 as demo
from google.protobuf import descriptor_pb2
from google.rpc import error_details_pb2, status_pb2

DEMO = "demo.v1.Demo"
LARGE = 20 << 20
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


@pytest.fixture
def shared(shared_proxy):
    return shared_proxy


@pytest.fixture
def start(start_proxy):
    return start_proxy


@pytest.fixture
def proxy(shared, grpc_server) -> Proxy:
    """In front of grpcio."""
    return shared("proxy", "--protocol", "grpc", grpc_server.url)


@pytest.fixture
def channel(proxy) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(proxy.address, OPTIONS) as channel:
        yield channel


def unary(channel, method, request, reply, **options):
    """Calls a method of the demo with messages; returns the response and the call."""
    call = channel.unary_unary(
        f"/{DEMO}/{method}", type(request).SerializeToString, reply.FromString
    )
    return call.with_call(request, timeout=options.pop("timeout", PATIENCE_SECONDS), **options)


def hello(channel, name="Ada", **options):
    return unary(channel, "Hello", demo.HelloRequest(name=name), demo.HelloReply, **options)[0].message


# grpcio's client


def test_all_kinds(channel, proxy):
    assert hello(channel) == "Hello, Ada!"
    count = channel.unary_stream(f"/{DEMO}/Count", demo.CountRequest.SerializeToString, demo.CountReply.FromString)
    assert [reply.number for reply in count(demo.CountRequest(to=500))] == list(range(501))
    total = channel.stream_unary(f"/{DEMO}/Sum", demo.SumRequest.SerializeToString, demo.SumReply.FromString)
    reply = total(demo.SumRequest(value=number) for number in range(500))
    assert (reply.total, reply.count) == (sum(range(500)), 500)
    assert proxy.wait_for("demo.v1.Demo/Sum ok").endswith(" ms grpc 500 → 1")


def chat(channel):
    return channel.stream_stream(f"/{DEMO}/Chat", demo.ChatRequest.SerializeToString, demo.ChatReply.FromString)


def test_messages_pass_at_once_in_both_directions(channel):
    """Each request depends on the response to the one before."""
    texts: list[str] = []

    def requests():
        for number in range(10):
            yield demo.ChatRequest(text=f"{number}")
            wait_until(lambda: len(texts) > number, f"the response to message {number}")

    for reply in chat(channel)(requests()):
        texts.append(reply.text)
    assert texts == [f"you said: {number}" for number in range(10)]


def test_metadata_passes_in_both_directions(channel):
    pairs = [("x-a", "1"), ("x-a", "2"), ("x-b-bin", b"\0\xff"), ("x-b-bin", b"")]
    headers = [demo.Header(name="x-lead", value="v"), demo.Header(name="x-lead", value="w"), demo.Header(name="l-bin", binary=b"\0\1")]
    trailers = [demo.Header(name="x-trail", value="t"), demo.Header(name="t-bin", binary=b"\xfe")]
    reply, call = unary(
        channel, "EchoMetadata", demo.MetadataRequest(headers=headers, trailers=trailers), demo.MetadataReply, metadata=pairs
    )  # fmt: skip
    arrived = [(header.name, header.binary if header.name.endswith("-bin") else header.value) for header in reply.headers]
    assert [pair for pair in arrived if pair[0].startswith("x-")] == pairs
    leading = [(name, value) for name, value in call.initial_metadata()]
    assert [pair for pair in leading if pair[0] in ("x-lead", "l-bin")] == [("x-lead", "v"), ("x-lead", "w"), ("l-bin", b"\0\1")]
    assert [pair for pair in call.trailing_metadata() if pair[0] in ("x-trail", "t-bin")] == [("x-trail", "t"), ("t-bin", b"\xfe")]


def failure(function, *arguments, **options) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as error:
        function(*arguments, **options)
    return error.value


def status_of(error: grpc.RpcError) -> status_pb2.Status:
    return status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])


def test_status_and_details_pass(channel):
    error = failure(unary, channel, "Find", demo.FindRequest(id="9"), demo.FindReply)
    assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, 'no item "9"')
    info = error_details_pb2.ErrorInfo()
    assert status_of(error).details[0].Unpack(info)
    assert info.reason == "ITEM_NOT_FOUND"


@pytest.mark.parametrize("code", range(1, 17))
def test_each_status_passes(channel, code):
    error = failure(unary, channel, "Fail", demo.FailRequest(code=code, message="100% ✓\n"), demo.FailReply)
    assert (error.code().value[0], error.details()) == (code, "100% ✓\n")


def test_status_after_messages_passes(channel):
    call = channel.unary_stream(f"/{DEMO}/FailStream", demo.FailRequest.SerializeToString, demo.CountReply.FromString)
    numbers = []
    with pytest.raises(grpc.RpcError) as error:
        for reply in call(demo.FailRequest(code=9, message="no more", after_messages=3)):
            numbers.append(reply.number)
    assert (numbers, error.value.code()) == ([1, 2, 3], grpc.StatusCode.FAILED_PRECONDITION)


def test_large_status_passes(channel):
    """Its message and details are more than a header block of 16 KiB."""
    request = demo.FailRequest(code=3, message="✓" * 5000)
    request.details.add().Pack(error_details_pb2.DebugInfo(detail="d" * 20000))
    options = [("grpc.max_metadata_size", 1 << 20), ("grpc.absolute_max_metadata_size", 1 << 20)]
    with grpc.insecure_channel(channel._channel.target().decode(), options) as wide:
        error = failure(unary, wide, "Fail", request, demo.FailReply)
    assert (error.code(), error.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "✓" * 5000)
    assert list(status_of(error).details) == list(request.details)


def test_deadlines_count_down(channel, grpc_server):
    reply, _ = unary(channel, "EchoMetadata", demo.MetadataRequest(), demo.MetadataReply, timeout=30)
    # The C core rounds it up.
    assert 20_000 < reply.timeout_ms < 31_000
    before = grpc_server.canceled_calls(f"{DEMO}/Delay")
    error = failure(unary, channel, "Delay", demo.DelayRequest(milliseconds=60_000), demo.DelayReply, timeout=0.3)
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    grpc_server.wait_for_canceled_calls(f"{DEMO}/Delay", before + 1)


def test_cancellation_reaches_the_server(channel, grpc_server, proxy, keeps_early_responses):
    before = grpc_server.canceled_calls(f"{DEMO}/Count")
    call = channel.unary_stream(f"/{DEMO}/Count", demo.CountRequest.SerializeToString, demo.CountReply.FromString)(
        demo.CountRequest(to=1_000_000, interval_ms=10)
    )
    assert next(call).number == 0
    call.cancel()
    grpc_server.wait_for_canceled_calls(f"{DEMO}/Count", before + 1)
    proxy.wait_for("demo.v1.Demo/Count canceled")


def test_responses_before_the_end_of_the_request_pass(shared, keeps_early_responses):
    """The server ends the call, and the client has not ended its stream."""
    server, url = serve({"any.v1.Any": {"First": grpc.stream_unary_rpc_method_handler(lambda requests, context: next(requests))}})
    with grpc.insecure_channel(shared("proxy", url).address) as channel:
        requests = Queue()
        requests.put(b"a")
        assert channel.stream_unary("/any.v1.Any/First")(iter(requests.get, None)) == b"a"
    server.stop(None)


def test_large_messages_pass(channel):
    reply, _ = unary(channel, "Large", demo.LargeRequest(size_bytes=LARGE), demo.LargeReply)
    assert reply.payload[:251] == bytes(range(251)) and len(reply.payload) == LARGE
    text = "x" * LARGE
    assert next(chat(channel)(iter([demo.ChatRequest(text=text)]))).text == f"you said: {text}"


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed_requests_pass(channel, compression):
    assert hello(channel, "x" * 10_000, compression=compression) == f"Hello, {'x' * 10_000}!"


@pytest.mark.parametrize("compression", ["gzip", "deflate"])
def test_compressed_responses_pass(proxy, demo_call, compression):
    """A response is compressed for the client if the server has compressed it."""
    call = demo_call(proxy, "grpc", "--format", "events", "--accept-compression", compression)
    text = "x" * 10_000
    # grpcio compresses only after leading metadata.
    asked = ["-H", f"demo-compression: {compression}", "-H", "demo-header: x=1"]
    for asked, size in ((asked, range(1000)), ([], range(10_000, 30_000))):
        result = call("Hello", *asked, data={"name": text}).exits(0)
        assert result.events("metrics")[0]["bytes_received"] in size


def test_a_thousand_calls_at_once(proxy, keeps_early_responses):
    """On 20 connections, and all of them are open before one ends."""
    channels = [grpc.insecure_channel(proxy.address, [("grpc.use_local_subchannel_pool", 1)]) for _ in range(20)]
    gate = Queue()
    calls = [chat(channels[number % 20])(iter(gate.get, None)) for number in range(1000)]
    for number in range(1000):
        gate.put(demo.ChatRequest(text="x"))
    for _ in range(1000):
        gate.put(None)
    replies = [reply.text for call in calls for reply in call]
    assert replies == ["you said: x"] * 1000
    for channel in channels:
        channel.close()


def test_methods_without_schema_pass_as_bytes(shared, keeps_early_responses):
    server, url = serve({"any.v1.Any": {"Echo": ECHO, "Stream": ECHO_STREAM}})
    proxy = shared("proxy", url)
    with grpc.insecure_channel(proxy.address) as channel:
        assert channel.unary_unary("/any.v1.Any/Echo")(b"\xff\0bytes") == b"\xff\0bytes"
        pieces = [b"", b"a", b"\xff" * 100_000]
        assert list(channel.stream_stream("/any.v1.Any/Stream")(iter(pieces))) == pieces
    server.stop(None)


def test_methods_that_no_side_has(channel, keeps_early_responses):
    assert failure(channel.unary_unary(f"/{DEMO}/None"), b"").code() == grpc.StatusCode.UNIMPLEMENTED


# TLS and sockets


def test_made_certificate(start, grpc_server, rpcurl):
    proxy = start("proxy", "--listen-cert", "new:ca.pem", "--protocol", "grpc", grpc_server.url)
    assert proxy.url.startswith("https://")
    authority = proxy.output.parent / "ca.pem"
    credentials = grpc.ssl_channel_credentials(authority.read_bytes())
    with grpc.secure_channel(f"localhost:{proxy.port}", credentials) as channel:
        assert hello(channel) == "Hello, Ada!"
    for version in ("--http1.1", "--http2"):
        command = ["curl", "-sS", version, "--cacert", authority, "--json", '{"name":"Ada"}', f"{proxy.url}/{DEMO}/Hello"]
        assert json.loads(subprocess.check_output(command))["message"] == "Hello, Ada!"
    assert "PRIVATE" not in authority.read_text()


def test_own_certificate_and_target_with_tls(start, grpc_tls_server, certificates):
    proxy = start(
        "proxy", "--listen-cert", certificates / "server.pem", "--listen-key", certificates / "server-key.pem",
        "--cacert", grpc_tls_server.ca, grpc_tls_server.url,
    )  # fmt: skip
    credentials = grpc.ssl_channel_credentials((certificates / "ca.pem").read_bytes())
    with grpc.secure_channel(f"localhost:{proxy.port}", credentials) as channel:
        assert hello(channel) == "Hello, Ada!"


def test_unix_socket(start, grpc_server, tmp_path, rpcurl):
    path = tmp_path / "socket"
    proxy = start("proxy", "--listen", f"unix:{path}", "--protocol", "grpc", grpc_server.url)
    assert proxy.url == f"unix:{path}"
    with grpc.insecure_channel(f"unix:{path}") as channel:
        assert hello(channel) == "Hello, Ada!"
    rpcurl("-d", '{"name":"Ada"}', f"unix:{path}", f"{DEMO}/Hello").exits(0).prints("Hello, Ada!")
    assert proxy.stop() == 0
    assert not path.exists()


# rpcurl's client and curl

CLIENTS = [
    *itertools.product(["grpc"], ["proto", "json"], ["--http2-prior-knowledge"]),
    *itertools.product(["grpc-web", "connect"], ["proto", "json"], ["--http1.1", "--http2-prior-knowledge"]),
]


@pytest.mark.parametrize("target", ["grpc", "grpc-web", "connect"])
@pytest.mark.parametrize(("protocol", "codec", "version"), CLIENTS)
def test_translation(shared, demo_call, grpc_server, connect_server, target, protocol, codec, version):
    server = grpc_server if target == "grpc" else connect_server
    # What is not translated has the codec of the client, and grpcio has no JSON.
    options = ["--codec", "proto"] if protocol == target == "grpc" else []
    proxy = shared("proxy", "--protocol", target, *options, server.url)
    call = demo_call(proxy, protocol, "--codec", codec, version)
    call("Hello", data={"name": "Ada"}).exits(0).prints("Hello, Ada!")
    call("Find", data={"id": "9"}).exits(69).reports('no item "9"', "ITEM_NOT_FOUND")
    assert [line["number"] for line in call("Count", data={"from": 1, "to": 3}).lines()] == [1, 2, 3]
    assert call("Sum", data='{"value":40}{"value":2}').json() == {"total": "42", "count": 2}
    call("FailStream", data={"code": 5, "message": "end", "after_messages": 2}).exits(69).reports("end").prints("2")


@pytest.fixture
def demo_call(demo):
    return lambda proxy, protocol, *options: Caller(demo, proxy, *options, protocol=protocol)


def test_chat_by_each_protocol(shared, demo_call, grpc_server):
    proxy = shared("proxy", "--protocol", "grpc", grpc_server.url)
    for protocol in ("grpc", "connect"):
        call = demo_call(proxy, protocol, "--http2-prior-knowledge")
        call("Chat", data='{"text":"a"}{"text":"b"}').exits(0).prints("you said: a", "you said: b")


def test_text_form_of_grpc_web(proxy, rpcurl, descriptor_set):
    body = subprocess.run(
        ["curl", "-sS", "-H", "content-type: application/grpc-web-text+proto", "--data-binary", "AAAAAAUKA0FkYQ==", f"{proxy.url}/{DEMO}/Hello"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    pieces = re.findall(rb"[A-Za-z0-9+/]+=*", body)
    decoded = b"".join(base64.b64decode(piece) for piece in pieces)
    assert b"Hello, Ada!" in decoded and re.search(rb"grpc-status: ?0", decoded)


def curl(*arguments: object) -> tuple[int, dict[str, str], str]:
    """The status, the headers and the body of a response."""
    done = subprocess.run(["curl", "-sS", "-i", "--max-time", "60", *map(str, arguments)], capture_output=True, check=True)
    head, _, body = done.stdout.decode(errors="replace").partition("\r\n\r\n")
    first, *fields = head.split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}, body


def test_curl_with_connect(proxy):
    status, headers, body = curl("--json", '{"name":"Ada"}', f"{proxy.url}/{DEMO}/Hello")
    assert (status, headers["content-type"], json.loads(body)["name"]) == (200, "application/json", "Ada")
    query = "connect=v1&encoding=json&message=%7B%22name%22%3A%22Ada%22%7D"
    status, _, body = curl(f"{proxy.url}/{DEMO}/Hello?{query}")
    assert (status, json.loads(body)["name"]) == (200, "Ada")
    status, headers, body = curl("--json", '{"id":"9"}', f"{proxy.url}/{DEMO}/Find")
    assert (status, json.loads(body)["code"], len(json.loads(body)["details"])) == (404, "not_found", 2)
    status, _, body = curl("--json", '{"name":1}', f"{proxy.url}/{DEMO}/Hello")
    assert (status, json.loads(body)["code"]) == (400, "invalid_argument")
    # Side effects.
    status, headers, _ = curl(f"{proxy.url}/{DEMO}/Fail?{query}")
    assert (status, headers["allow"]) == (405, "POST")


# Calls that are not translated


@contextlib.contextmanager
def recording() -> Iterator[tuple[str, list[tuple[str, str, dict[str, str], bytes]]]]:
    """A server that has HTTP/1.1 only and responds with what it receives, and its requests."""
    requests: list[tuple[str, str, dict[str, str], bytes]] = []

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if self.headers.get("transfer-encoding") == "chunked":
                while length := int(self.rfile.readline(), 16):
                    body += self.rfile.read(length)
                    self.rfile.readline()
                self.rfile.readline()
            # The proxy asks for the schema when it likes.
            if "/grpc.reflection." not in self.path:
                requests.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("content-type", self.headers.get("content-type", "application/json"))
            response = body if self.command == "POST" else b"{}"
            for name in ["content-encoding", "grpc-encoding"]:
                if name in self.headers:
                    self.send_header(name, self.headers[name])
            if "grpc-web" in self.headers.get("content-type", ""):
                response += envelope(b"grpc-status: 0\r\n", 0x80)
            self.send_header("content-length", str(len(response)))
            self.end_headers()
            self.wfile.write(response)

        do_POST = do_GET

    with http_server(Handler) as url:
        yield url, requests


SCHEMAS = [pytest.param(False, id="without a schema"), pytest.param(True, id="with a schema")]


@pytest.mark.parametrize("has_schema", SCHEMAS)
@pytest.mark.parametrize("options", [[], ["--http1.1"]])
def test_the_compression_of_a_request_is_that_of_the_client(start, descriptor_set, tmp_path, has_schema, options):
    request = tmp_path / "request"
    schema = ["--descriptor-set", descriptor_set] if has_schema else []
    with recording() as (url, requests):
        proxy = start("proxy", *schema, *options, url)
        send = ["--data-binary", f"@{request}", "-H"]
        request.write_bytes(gzip.compress(b'{"name":"Ada"}'))
        assert curl(*send, "content-type: application/json", "-H", "content-encoding: gzip", f"{proxy.url}/{DEMO}/Hello")[0] == 200
        message = gzip.compress(b"\x0a\x03Ada")
        request.write_bytes(envelope(message, 1))
        fields = [*send, "content-type: application/grpc-web+proto", "-H", "grpc-encoding: gzip"]
        assert curl(*fields, f"{proxy.url}/{DEMO}/Hello")[0] == 200
    (_, _, unary, body), (_, _, stream, envelopes) = requests[-2:]
    assert (unary["content-encoding"], gzip.decompress(body)) == ("gzip", b'{"name":"Ada"}')
    assert (stream["grpc-encoding"], envelopes[0], gzip.decompress(envelopes[5:])) == ("gzip", 1, b"\x0a\x03Ada")


@pytest.mark.parametrize("has_schema", SCHEMAS)
def test_the_codec_of_a_call_in_the_protocol_of_its_client(start, descriptor_set, tmp_path, has_schema):
    request = tmp_path / "request"
    request.write_bytes(envelope(b"{}"))
    schema = ["--descriptor-set", descriptor_set] if has_schema else []
    with recording() as (url, requests):
        proxy = start("proxy", *schema, url)
        send = ["--data-binary", f"@{request}", "-H", "content-type: application/grpc-web+json"]
        assert curl(*send, f"{proxy.url}/{DEMO}/Hello")[0] == 200
    assert (requests[-1][2]["content-type"], requests[-1][3]) == ("application/grpc-web+json", envelope(b"{}"))


def test_get_of_a_method_that_the_schema_lacks(start, grpc_server):
    query = "connect=v1&encoding=json&message=%7B%7D"
    with recording() as (url, requests):
        proxy = start("proxy", url)
        assert curl(f"{proxy.url}/a.B/C?{query}")[0] == 200
    assert requests[-1][:2] == ("GET", f"/a.B/C?{query}")
    # What is translated would be a POST, which may have side effects.
    proxy = start("proxy", "--protocol", "grpc", grpc_server.url)
    assert curl(f"{proxy.url}/a.B/C?{query}")[0] == 405


def test_the_version_of_http_is_that_of_the_client(start, raw_server):
    def respond(stream: raw_http2.Stream) -> None:
        stream.headers([(":status", "200"), ("content-type", "application/json")])
        stream.data(b"{}", end=True)

    proxy = start("proxy", "--no-reflect", raw_server(raw_http2.handler(respond)).url)
    assert curl("--http2-prior-knowledge", "--json", "{}", f"{proxy.url}/a.B/C")[::2] == (200, "{}")
    with recording() as (url, requests):
        proxy = start("proxy", "--no-reflect", url)
        assert curl("--json", "{}", f"{proxy.url}/a.B/C")[::2] == (200, "{}")
        assert curl("-H", "content-type: application/grpc-web+json", "--data-binary", "", f"{proxy.url}/a.B/C")[0] == 200
    assert [body for _, _, _, body in requests] == [b"{}", b""]


# Browsers


def test_requests_of_other_pages_are_refused(shared, grpc_server):
    proxy = shared("proxy", "--protocol", "grpc", grpc_server.url)
    url = f"{proxy.url}/{DEMO}/Hello"
    data = ["--json", '{"name":"Ada"}']
    assert curl(*data, "-H", "Host: attacker.example", url)[0] == 421
    assert curl(*data, "-H", "Host: localhost", url)[0] == 200
    status, headers, _ = curl(*data, "-H", "Origin: http://page.example", url)
    assert status == 403 and "access-control-allow-origin" not in headers


def test_allowed_origins(shared, grpc_server):
    proxy = shared("proxy", "--protocol", "grpc", "--allow-origin", "HTTPS://Page.example:443/", "--allow-origin", "http://localhost:5173", grpc_server.url)
    url = f"{proxy.url}/{DEMO}/EchoMetadata"
    for origin in ("https://page.example", "http://localhost:5173"):
        fields = ["-H", f"Origin: {origin}", "-H", "Sec-Fetch-Site: cross-site", "-H", "Cookie: secret", "-H", "X-Own: 1"]
        status, headers, body = curl("--json", '{"trailers":[{"name":"t","value":"1"}]}', *fields, url)
        assert (status, headers["access-control-allow-origin"]) == (200, origin)
        names = {header["name"] for header in json.loads(body)["headers"]}
        assert "x-own" in names
        # What a browser adds is not the page's metadata.
        assert not names & {"origin", "cookie", "sec-fetch-site", "referer"}
    status, headers, _ = curl(
        "-X", "OPTIONS", "-H", "Origin: http://localhost:5173", "-H", "Access-Control-Request-Method: POST",
        "-H", "Access-Control-Request-Headers: content-type,x-own", url,
    )  # fmt: skip
    assert (status, headers["access-control-allow-headers"]) == (204, "content-type,x-own")
    assert curl("--json", "{}", "-H", "Origin: http://localhost:5174", url)[0] == 403


@pytest.mark.parametrize("origin", ["page.example", "https://page.example/path", "https://", "https://a b", "https://user@page.example", ""])
def test_invalid_origins(rpcurl, origin):
    rpcurl("proxy", "--allow-origin", origin, "http://127.0.0.1:1").fails(2, "--allow-origin")


@pytest.mark.parametrize("option", [["--bearer", "x"], ["--use", "auth,bearer=x"], ["--use", "header,set=a: 1"], ["-H", "cookie: x"]])
def test_all_origins_with_credentials(rpcurl, option):
    rpcurl("proxy", "--allow-origin", "*", *option, "http://127.0.0.1:1").fails(2, "--allow-origin *")


def test_all_origins_with_interceptors_that_add_nothing(shared, grpc_server):
    proxy = shared("proxy", "--protocol", "grpc", "--allow-origin", "*", "--use", "fault,delay=1ms", grpc_server.url)
    status, headers, _ = curl("--json", '{"name":"Ada"}', "-H", "Origin: http://any.example", f"{proxy.url}/{DEMO}/Hello")
    assert (status, headers["access-control-allow-origin"]) == (200, "*")


def test_refused_requests_are_printed(shared, grpc_server):
    proxy = shared("proxy", grpc_server.url)
    assert curl("--json", "{}", "-H", "Host: evil.example", f"{proxy.url}/a.B/C")[0] == 421
    proxy.wait_for("- POST /a.B/C of evil.example: HTTP 421: The host of the request is not a name of this server; --listen-name adds one.")


def test_invalid_request_has_the_status_of_the_client(shared, grpc_server):
    proxy = shared("proxy", "--protocol", "grpc", grpc_server.url)
    status, _, body = curl("--json", '{"name":7}', f"{proxy.url}/{DEMO}/Hello")
    assert (status, json.loads(body)["code"]) == (400, "invalid_argument")
    proxy.wait_for("demo.v1.Demo/Hello invalid_argument")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--listen-cert", "new:ca.pem", "--listen-key", "key.pem"], "--listen-key"),
        (["--listen", "unix:/nonexistent/socket"], "/nonexistent/socket"),
        (["--listen", "127.0.0.1"], "127.0.0.1"),
    ],
)
def test_invalid_options(rpcurl, options, error):
    rpcurl("proxy", *options, "http://127.0.0.1:1").exits(2).reports(error)


@pytest.mark.parametrize(
    ("listen", "target"),
    [("127.0.0.1:{0}", "http://localhost:{0}"), ("0.0.0.0:{0}", "https://127.0.0.1:{0}"), ("unix:{1}/own.sock", "unix:{1}/./own.sock")],
)
def test_proxy_of_itself(rpcurl, descriptor_set, tmp_path, listen, target):
    """Each call would be a call of the proxy, without an end."""
    places = (closed_port(), tmp_path)
    result = rpcurl("proxy", "--descriptor-set", descriptor_set, "--listen", listen.format(*places), target.format(*places))
    result.exits(2).reports("the proxy itself listens at this address")


def test_reflection_of_serve_has_the_requested_file_first(shared, descriptor_set, rpcurl):
    """As that of grpcio, on which many clients rely."""
    served = shared("serve", "--descriptor-set", descriptor_set)
    for request in ({"fileContainingSymbol": DEMO}, {"fileContainingSymbol": "demo.v1.COLOR_RED"}, {"fileByFilename": "demo.proto"}):
        result = rpcurl("-d", json.dumps(request), served.url, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo").exits(0)
        files = result.json()["fileDescriptorResponse"]["fileDescriptorProto"]
        assert descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(files[0])).name == "demo.proto"


def test_metadata_that_is_not_utf8(start, descriptor_set, raw_server):
    """It is read as ISO-8859-1, so that nothing of it is lost."""
    heads = []

    def respond(connection):
        data = b""
        while b"{}" not in data:
            data += connection.recv(1 << 16)
        heads.append(data)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-r: caf\xe9\r\ncontent-length: 2\r\n\r\n{}")

    proxy = start("proxy", "--descriptor-set", descriptor_set, raw_server(respond).url)
    status, headers, _ = curl("--json", "{}", "-H", "x-l: caf\udce9", f"{proxy.url}/{DEMO}/Hello")
    assert (status, headers["x-r"]) == (200, "café")
    assert "x-l: café\r\n".encode() in heads[0]


def test_unfinished_messages_have_a_limit_together(start, grpc_server):
    proxy = start("proxy", "--max-message-size", "64k", "--protocol", "grpc", grpc_server.url)
    head = f"POST /{DEMO}/Hello HTTP/1.1\r\nHost: {proxy.address}\r\ncontent-type: application/grpc-web+proto\r\ncontent-length: 65000\r\n\r\n"
    part = b"\0" + (64_000).to_bytes(4, "big") + bytes(60_000)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", int(proxy.port)), PATIENCE_SECONDS)) for _ in range(12)]
        for client in clients:
            client.sendall(head.encode() + part)
        proxy.wait_for("demo.v1.Demo/Hello resource_exhausted", "unfinished messages")
    with grpc.insecure_channel(proxy.address) as channel:
        assert hello(channel)


def test_call_that_the_options_do_not_allow(start, descriptor_set, connect_server, rpcurl):
    proxy = start("proxy", "--http1.1", "--descriptor-set", descriptor_set, connect_server.url)
    rpcurl("--descriptor-set", descriptor_set, "-d", "{}", f"{proxy.url}/{DEMO}/Hello").exits(64 + 13).reports("internal (13): --http1.1: gRPC needs HTTP/2\n")


def test_proxy_of_its_own_address(rpcurl):
    port = closed_port()
    rpcurl("proxy", "--listen", f"127.0.0.1:{port}", f"http://127.0.0.1:{port}").exits(2).reports("the proxy itself")


def test_health_of_serve(rpcurl, shared, descriptor_set):
    proxy = shared("serve", "--descriptor-set", descriptor_set)
    rpcurl("health", proxy.url, DEMO).exits(0)
    rpcurl("health", proxy.url, "no.such.Service").exits(64 + 5)


# Targets that do not respond


def test_target_that_is_down(start):
    proxy = start("proxy", "--protocol", "grpc", f"http://127.0.0.1:{closed_port()}")
    assert "calls pass as bytes" in proxy.log()
    with grpc.insecure_channel(proxy.address) as channel:
        error = failure(hello, channel)
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    assert "Connection refused" in error.details() or "connect" in error.details()
    proxy.wait_for("demo.v1.Demo/Hello unavailable")


def test_schema_of_a_target_that_starts_later(start, start_server, tmp_path):
    socket = tmp_path / "target"
    proxy = start("proxy", "--protocol", "grpc", "--plaintext", f"unix:{socket}")
    assert "until it has responded, calls pass as bytes" in proxy.log()
    start_server("grpc_server.py", "--unix", socket)
    # JSON becomes protobuf with the schema only, which the first of these calls makes the proxy ask for.
    command = ["curl", "-s", "-H", "content-type: application/json", "-d", '{"name":"Ada"}', f"{proxy.url}/{DEMO}/Hello"]
    greets = lambda: b"Hello, Ada!" in subprocess.run(command, capture_output=True, check=True).stdout
    wait_until(greets, "a typed call")
    assert "was read again" in proxy.log()


def test_target_without_reflection(start, start_server, rpcurl, descriptor_set):
    server = start_server("grpc_server.py", "--no-reflection")
    proxy = start("proxy", "--protocol", "grpc", "--descriptor-set", descriptor_set, server.url)
    # The proxy responds itself.
    rpcurl("list", proxy.url).exits(0).prints(DEMO)
    rpcurl("-d", '{"name":"Ada"}', f"{proxy.url}/{DEMO}/Hello").exits(0).prints("Hello, Ada!")


def test_kind_of_a_method_that_the_schema_lacks_is_that_of_each_call(start, start_server):
    server = start_server("grpc_server.py", "--no-reflection")
    proxy = start("proxy", "--protocol", "grpc", server.url)
    url = f"{proxy.url}/{DEMO}/Chat"
    for _ in range(2):
        # Connect's unary request says that the method is unary.
        subprocess.run(["curl", "-s", "-H", "content-type: application/proto", "-d", "", url], capture_output=True, check=True)
        with grpc.insecure_channel(proxy.address) as channel:
            replies = chat(channel)(iter([demo.ChatRequest(text="a"), demo.ChatRequest(text="b")]))
            assert [reply.text for reply in replies] == ["you said: a", "you said: b"]


def test_target_that_lacks_the_protocol(shared, grpc_server, demo_call):
    proxy = shared("proxy", grpc_server.url)
    result = demo_call(proxy, "connect")("Hello", data={"name": "Ada"})
    assert result.code not in (0, 2)
    proxy.wait_for("demo.v1.Demo/Hello", "--protocol grpc")


# The chain


def test_interceptors_on_the_way(start, grpc_server):
    proxy = start("proxy", "--use", "fault,abort=unavailable,methods=demo.v1.Demo/Find", "--use", "header,set=x-added: 1", grpc_server.url)
    with grpc.insecure_channel(proxy.address) as channel:
        assert failure(unary, channel, "Find", demo.FindRequest(id="1"), demo.FindReply).code() == grpc.StatusCode.UNAVAILABLE
        reply, _ = unary(channel, "EchoMetadata", demo.MetadataRequest(), demo.MetadataReply)
        assert ("x-added", "1") in [(header.name, header.value) for header in reply.headers]


def test_record_then_serve(start, grpc_server, descriptor_set, rpcurl, tmp_path):
    cassette = tmp_path / "calls.ndjson"
    proxy = start("proxy", "--use", f"record,file={cassette}", grpc_server.url)
    with grpc.insecure_channel(proxy.address) as channel:
        assert hello(channel) == "Hello, Ada!"
        assert [reply.text for reply in chat(channel)(iter([demo.ChatRequest(text="a")]))] == ["you said: a"]
        failure(unary, channel, "Find", demo.FindRequest(id="9"), demo.FindReply)
    assert proxy.stop(signal.SIGTERM) == 0
    served = start("serve", "--descriptor-set", descriptor_set, "--use", f"replay,file={cassette}")
    with grpc.insecure_channel(served.address) as channel:
        assert hello(channel) == "Hello, Ada!"
        assert [reply.text for reply in chat(channel)(iter([demo.ChatRequest(text="a")]))] == ["you said: a"]
        error = failure(unary, channel, "Find", demo.FindRequest(id="9"), demo.FindReply)
        assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, 'no item "9"')
        assert len(status_of(error).details) == 2


def test_failed_assertions_are_the_exit_code(start, grpc_server):
    proxy = start("proxy", "--use", "assert,check=.message == other", grpc_server.url)
    with grpc.insecure_channel(proxy.address) as channel:
        hello(channel)
    assert proxy.stop() == 8


def test_verbose_output_and_events(start, grpc_server):
    verbose = start("proxy", "-v", grpc_server.url)
    events = start("proxy", "--format", "events", grpc_server.url)
    for proxy in (verbose, events):
        with grpc.insecure_channel(proxy.address) as channel:
            hello(channel)
        assert proxy.stop() == 0
    assert '"message":"Hello, Ada!"' in verbose.output.read_text()
    names = [json.loads(line)["event"] for line in events.lines()]
    assert names[0] == "start" and {"message", "end"} <= set(names)


# serve

STUBS = """
{"method": "demo.v1.Demo/Hello", "response": {"message": {"message": "stub ${request.name}"}}}
{"method": "demo.v1.Demo/Chat", "response": {"each": {"message": {"text": "${request.text}?"}}}}
"""


@pytest.fixture
def served(shared, descriptor_set, tmp_path_factory) -> Proxy:
    path = tmp_path_factory.getbasetemp() / "proxy-stubs.json"
    path.write_text(STUBS)
    return shared("serve", "--descriptor-set", descriptor_set, "--use", f"mock,file={path}")


def test_serve_from_stubs(served, rpcurl):
    with grpc.insecure_channel(served.address) as channel:
        assert hello(channel) == "stub Ada"
        replies = [reply.text for reply in chat(channel)(demo.ChatRequest(text=text) for text in "ab")]
        assert replies == ["a?", "b?"]
        error = failure(unary, channel, "Find", demo.FindRequest(id="9"), demo.FindReply)
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    status, _, body = curl("--json", '{"name":"Ada"}', f"{served.url}/{DEMO}/Hello")
    assert (status, json.loads(body)["message"]) == (200, "stub Ada")


INVALID = [("json", '{"name":'), ("json", ""), ("json", '{"name":5}'), ("proto", "\x0f")]


@pytest.mark.parametrize("options", [["--default"], ["--use", "mock,file=STUBS"]], ids=["default", "mock"])
def test_serve_refuses_what_is_no_message(shared, descriptor_set, tmp_path_factory, options):
    stubs = tmp_path_factory.getbasetemp() / "proxy-stubs.json"
    stubs.write_text(STUBS)
    served = shared("serve", "--descriptor-set", descriptor_set, *[option.replace("STUBS", str(stubs)) for option in options])
    for codec, body in INVALID:
        status, _, text = curl("-H", f"content-type: application/{codec}", "--data-binary", body, f"{served.url}/{DEMO}/Hello")
        assert (status, json.loads(text)["code"]) == (400, "invalid_argument"), body
    with grpc.insecure_channel(served.address) as channel, pytest.raises(grpc.RpcError) as failed:
        channel.unary_unary(f"/{DEMO}/Hello")(b"\xff", timeout=PATIENCE_SECONDS)
    assert failed.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    status, _, text = curl("--json", "{}", "-H", "connect-timeout-ms: 0", f"{served.url}/{DEMO}/Hello")
    assert (status, json.loads(text)["code"]) == (504, "deadline_exceeded")


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_compression_of_serve(shared, descriptor_set, rpcurl, protocol):
    served = shared("serve", "--descriptor-set", descriptor_set, "--default", "--compression", "gzip", "--accept-compression", "zstd")
    words = ["--descriptor-set", descriptor_set, "--protocol", protocol, "-v", "-d", "{}", f"{served.url}/{DEMO}/Hello"]
    assert re.search(r"^< (grpc|content)-encoding: gzip$", rpcurl(*words).exits(0).err, re.M)
    assert "encoding: gzip" not in rpcurl("--accept-compression", "deflate", *words).exits(0).err
    # libcurl 7.88 loses a response before the request is sent.
    words[3] = "connect"
    rpcurl("--compression", "gzip", *words).exits(64 + 12).reports('the compression "gzip" is not supported; supported are zstd')


def test_reflection_and_health_of_serve(served, rpcurl):
    from google.protobuf.descriptor_pool import DescriptorPool
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

    rpcurl("list", served.url).exits(0).prints(DEMO)
    rpcurl("describe", f"{served.url}", f"{DEMO}.Hello").exits(0)
    with grpc.insecure_channel(served.address) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        assert DEMO in database.get_services()
        assert DescriptorPool(database).FindServiceByName(DEMO).methods_by_name["Chat"]
        status = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest()).status
        assert status == health_pb2.HealthCheckResponse.SERVING


def test_health_of_serve(served, rpcurl):
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    status = health_pb2.HealthCheckResponse
    with grpc.insecure_channel(served.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        assert stub.Check(health_pb2.HealthCheckRequest(service=DEMO)).status == status.SERVING
        error = failure(lambda channel: stub.Check(health_pb2.HealthCheckRequest(service="none")), channel)
        assert error.code() == grpc.StatusCode.NOT_FOUND
        for service, expected in {"": status.SERVING, DEMO: status.SERVING, "none": status.SERVICE_UNKNOWN}.items():
            watch = stub.Watch(health_pb2.HealthCheckRequest(service=service))
            assert next(watch).status == expected
            watch.cancel()
    rpcurl("--plaintext", "-d", "{}", served.address, "grpc.health.v1.Health/List").exits(0).prints(DEMO, "SERVING")
    rpcurl("health", "--plaintext", served.address, DEMO).exits(0)


def test_watch_of_health_reports_the_end_to_grpcio(start, descriptor_set):
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    served = start("serve", "--descriptor-set", descriptor_set)
    status = health_pb2.HealthCheckResponse
    with grpc.insecure_channel(served.address) as channel:
        watches = [health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest()) for _ in range(3)]
        assert [next(watch).status for watch in watches] == [status.SERVING] * 3
        served.process.send_signal(signal.SIGINT)
        assert [next(watch).status for watch in watches] == [status.NOT_SERVING] * 3
        for watch in watches:
            assert failure(next, watch).code() == grpc.StatusCode.UNAVAILABLE
    assert served.process.wait() == 0


@pytest.mark.parametrize("protocol", ["grpc-web", "connect"])
def test_watch_of_health_ends_with_the_server(start, rpcurl, descriptor_set, protocol):
    served = start("serve", "--descriptor-set", descriptor_set)
    options = ["--plaintext", "--protocol", protocol, "-d", "{}"]
    with rpcurl.start(*options, served.address, "grpc.health.v1.Health/Watch") as watch:
        assert json.loads(watch.stdout.readline()) == {"status": "SERVING"}
        # The client ends one of two.
        with rpcurl.start(*options, served.address, "grpc.health.v1.Health/Watch") as other:
            assert json.loads(other.stdout.readline()) == {"status": "SERVING"}
            other.kill()
        served.process.send_signal(signal.SIGINT)
        assert json.loads(watch.stdout.readline()) == {"status": "NOT_SERVING"}
        assert watch.wait() == 64 + 14
    assert served.process.wait() == 0


# The end, and errors of the command line


def test_open_calls_end_after_ctrl_c(start, grpc_server):
    proxy = start("proxy", "--protocol", "grpc", grpc_server.url)
    with grpc.insecure_channel(proxy.address) as channel:
        requests = Queue()
        replies = chat(channel)(iter(requests.get, None))
        requests.put(demo.ChatRequest(text="a"))
        assert next(replies).text == "you said: a"
        proxy.process.send_signal(signal.SIGINT)
        # It listens no longer, and the call goes on.
        wait_until(lambda: not accepts(proxy), "the listener is closed")
        requests.put(demo.ChatRequest(text="b"))
        assert next(replies).text == "you said: b"
        requests.put(None)
        assert list(replies) == []
        assert proxy.process.wait() == 0


@contextlib.contextmanager
def open_chat(proxy, server) -> Iterator[grpc.Call]:
    """A stream without messages, which has arrived at the server."""
    before = server.log().count(f"received {DEMO}/Chat")
    with grpc.insecure_channel(proxy.address) as channel:
        replies = chat(channel)(iter(Queue().get, None))
        wait_until(lambda: server.log().count(f"received {DEMO}/Chat") > before, "the call arrives")
        yield replies


def test_calls_that_outlast_the_time_to_end_are_unavailable(start, grpc_server):
    proxy = start("proxy", "--protocol", "grpc", grpc_server.url)
    with open_chat(proxy, grpc_server) as replies:
        assert proxy.stop() == 0
        with pytest.raises(grpc.RpcError) as caught:
            list(replies)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        assert caught.value.details() == "rpcurl was stopped"
        proxy.wait_for("Chat unavailable")


def accepts(proxy) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(proxy.port))).close()
    except (ConnectionRefusedError, ConnectionResetError):
        # A listener that is closed resets the connections that it has not accepted.
        return False
    return True


def test_second_ctrl_c_ends_at_once(start, grpc_server):
    proxy = start("proxy", "--protocol", "grpc", grpc_server.url)
    with open_chat(proxy, grpc_server) as replies:
        proxy.process.send_signal(signal.SIGINT)
        wait_until(lambda: not accepts(proxy), "the listener is closed")
        proxy.process.send_signal(signal.SIGINT)
        proxy.process.wait(3)
        with pytest.raises(grpc.RpcError):
            list(replies)


def test_errors_of_the_command_line(rpcurl, grpc_server):
    rpcurl("proxy").fails(2, "missing argument", "TARGET")
    rpcurl("serve", "--listen", "nonsense").fails(2, "--listen")
    rpcurl("serve", "--listen-key", "x.pem").fails(2, "--listen-key", "--listen-cert")
    rpcurl("serve", "--listen-cert", "missing.pem").fails(2, "--listen-cert", "missing.pem")
    rpcurl("proxy", "--listen", grpc_server.address, grpc_server.url).fails(2, "--listen", "in use")
