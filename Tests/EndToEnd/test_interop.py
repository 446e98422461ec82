"""gRPC's interoperability tests, as far as a command line can express them, against servers of three implementations, and
through Envoy and `rpcurl proxy` with each protocol; and with clients of other implementations through `rpcurl proxy`.

The cases and their numbers are those of https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md. Those of
credentials need Google's cloud, and those of load balancing, soaks and reconnection are about a library's channel.
"""

import base64
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from harness import GENERATED, PATIENCE_SECONDS, ROOT, Proxy, Rpcurl, Server

GRPC_GO = Path(os.environ.get("GRPC_GO_SERVER") or ROOT / ".build" / "debian-go" / "interop-server")
GRPC_SWIFT = Path(os.environ.get("GRPC_SWIFT_SERVER") or ROOT / ".build" / "grpc-swift" / "debug" / "interop-server")
# The server of each implementation but grpcio, and the reason of a skipped test.
PROGRAMS = {
    "grpc-go": (GRPC_GO, f"{GRPC_GO} is missing: make debian-go"),
    "grpc-swift": (GRPC_SWIFT, "make test-all builds programs with grpc-swift: make grpc-swift"),
}
# The clients of other implementations: usage in Tests/Servers/interop_client.go.
CLIENTS = {name: program.with_name("interop-client") for name, (program, _) in PROGRAMS.items()}
SERVICE = "grpc.testing.TestService"
UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, UNIMPLEMENTED = 64 + 2, 64 + 3, 64 + 4, 64 + 12
INTERRUPTED = 130
LARGE_REQUEST, LARGE_RESPONSE = 271828, 314159
REQUEST_SIZES = [27182, 8, 1828, 45904]
RESPONSE_SIZES = [31415, 9, 2653, 58979]


@dataclass
class Peer:
    """A way to a server: `peer(method, *requests)` calls a method of it."""

    rpcurl: Rpcurl
    server: Server | Proxy
    # The server behind the one that is called, which has the log.
    backend: Server
    options: list[object]

    def arguments(self, method: str, *options: object) -> list[object]:
        name = method if "/" in method else f"{SERVICE}/{method}"
        schema = ["--descriptor-set", GENERATED / "interop.binpb"]
        return [*schema, *self.options, *options, f"{self.server.url}/{name}"]

    def __call__(self, method: str, *requests: object, options: tuple[object, ...] = ()):
        lines = "\n".join(json.dumps(request) for request in requests)
        return self.rpcurl(*self.arguments(method, "-d", "@-", *options), input=lines)

    def start(self, method: str, *options: object):
        return self.rpcurl.start(*self.arguments(method, *options))


@pytest.fixture(scope="session")
def start_interop_server(start_server):
    """`start_interop_server(name)`: one server of each implementation in a test run."""
    running: dict[str, Server] = {}

    def start(name: str) -> Server:
        program, reason = PROGRAMS.get(name, (None, None))
        if program and not program.exists():
            pytest.skip(reason)
        if name not in running:
            running[name] = start_server("interop_server.py", *(["--program", program] if program else []))
        return running[name]

    return start


@pytest.fixture(scope="session")
def envoy(start_foreign_server, start_interop_server):
    return start_foreign_server("envoy_server.py", "--backend", start_interop_server("grpcio").address)


@pytest.fixture(scope="session")
def proxy_of(shared_proxy, start_interop_server):
    """`proxy_of(…)`: `rpcurl proxy` in front of grpcio."""
    schema = ["--descriptor-set", GENERATED / "interop.binpb"]
    return lambda **listening: shared_proxy("proxy", *schema, "--protocol", "grpc", start_interop_server("grpcio").url, **listening)


@pytest.fixture(scope="session")
def proxy(proxy_of):
    return proxy_of()


WAYS = [f"{name}-{protocol}" for name in ("envoy", "proxy") for protocol in ("grpc", "grpc-web", "connect")]


@pytest.fixture(params=["grpcio", "grpc-go", "grpc-swift", *WAYS])
def peer(request, rpcurl, start_interop_server):
    if request.param in WAYS:
        if request.param.startswith("proxy"):
            request.getfixturevalue("keeps_early_responses")
        name, _, protocol = request.param.partition("-")
        return Peer(rpcurl, request.getfixturevalue(name), start_interop_server("grpcio"), ["--protocol", protocol])
    server = start_interop_server(request.param)
    return Peer(rpcurl, server, server, [])


@pytest.fixture
def grpcio(rpcurl, start_interop_server):
    server = start_interop_server("grpcio")
    return Peer(rpcurl, server, server, [])


@pytest.fixture
def grpc_go(rpcurl, start_interop_server):
    server = start_interop_server("grpc-go")
    return Peer(rpcurl, server, server, [])


def zeros(count: int) -> dict[str, object]:
    """A message Payload."""
    return {"body": base64.b64encode(bytes(count)).decode()}


def payloads(result) -> list[bytes]:
    """The payloads of the responses of a call that succeeded."""
    assert (result.code, result.err) == (0, "")
    return [base64.b64decode(json.loads(line)["payload"].get("body", "")) for line in result.out.splitlines()]


# Calls of each kind


def test_empty_unary(peer):
    result = peer("EmptyCall", {}, options=("-vv",))
    assert (result.code, result.json()) == (0, {})
    assert "received message 0: 0 bytes" in result.err


def test_large_unary(peer):
    request = {"responseSize": LARGE_RESPONSE, "payload": zeros(LARGE_REQUEST)}
    assert payloads(peer("UnaryCall", request)) == [bytes(LARGE_RESPONSE)]


def test_client_streaming(peer):
    result = peer("StreamingInputCall", *({"payload": zeros(size)} for size in REQUEST_SIZES))
    assert (result.code, result.json()) == (0, {"aggregatedPayloadSize": sum(REQUEST_SIZES)}), result.err


def test_server_streaming(peer):
    result = peer("StreamingOutputCall", {"responseParameters": [{"size": size} for size in RESPONSE_SIZES]})
    assert payloads(result) == [bytes(size) for size in RESPONSE_SIZES]


def test_half_duplex(peer):
    requests = [{"responseParameters": [{"size": size}]} for size in RESPONSE_SIZES]
    assert payloads(peer("HalfDuplexCall", *requests)) == [bytes(size) for size in RESPONSE_SIZES]


def test_ping_pong(peer):
    """Each response comes before the next request is sent."""
    with peer.start("FullDuplexCall") as process:
        for request_size, response_size in zip(REQUEST_SIZES, RESPONSE_SIZES, strict=True):
            request = {"responseParameters": [{"size": response_size}], "payload": zeros(request_size)}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            response = json.loads(process.stdout.readline())
            assert base64.b64decode(response["payload"]["body"]) == bytes(response_size)
        process.stdin.close()
        assert (process.wait(), process.stdout.read(), process.stderr.read()) == (0, b"", b"")


def test_empty_stream(peer):
    peer("FullDuplexCall").exits(0, "", "")


# Metadata and status


@pytest.mark.parametrize(
    ("method", "request_message"),
    [("UnaryCall", {"responseSize": 9}), ("FullDuplexCall", {"responseParameters": [{"size": 9}]})],
)
def test_custom_metadata(peer, method, request_message):
    sent = ["-H", "x-grpc-test-echo-initial: test_initial_metadata_value", "-H", "x-grpc-test-echo-trailing-bin: q6ur"]
    seen = peer(method, request_message, options=(*sent, "--format", "events")).exits(0).named_events()
    assert ["x-grpc-test-echo-initial", "test_initial_metadata_value"] in seen["headers"]["headers"]
    [trailing] = [value for name, value in seen["end"]["trailers"] if name == "x-grpc-test-echo-trailing-bin"]
    assert base64.b64decode(trailing + "==") == b"\xab\xab\xab"


@pytest.mark.parametrize("method", ["UnaryCall", "FullDuplexCall"])
@pytest.mark.parametrize(
    "message", ["test status message", "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"], ids=["plain", "special"]
)
def test_status_code_and_message(peer, method, message):
    """status_code_and_message, and special_status_message."""
    result = peer(method, {"responseStatus": {"code": 2, "message": message}}, options=("--format", "events")).exits(UNKNOWN)
    end = result.named_events()["end"]
    # Envoy leaves the message as gRPC encodes it, when it translates to Connect.
    by_envoy = "connect" in peer.options and not isinstance(peer.server, Proxy)
    expected = quote(message, safe=" ") if by_envoy else message
    assert (end["code"], end["message"]) == ("unknown", expected)


@pytest.mark.parametrize("service", [SERVICE, "grpc.testing.UnimplementedService"])
def test_unimplemented(peer, service):
    """unimplemented_method, and unimplemented_service."""
    peer(f"{service}/UnimplementedCall", {}).exits(UNIMPLEMENTED, "").reports("unimplemented (12)")


# Cancellation and deadline


def test_cancel_after_begin(peer):
    """The server has the headers of the request; no message is sent."""
    method = f"{SERVICE}/StreamingInputCall"
    before, received = peer.backend.canceled_calls(method), peer.backend.log().splitlines().count(f"received {method}")
    with peer.start("StreamingInputCall") as process:
        peer.backend.wait_for_calls(method, received + 1)
        process.send_signal(signal.SIGINT)
        assert (process.wait(), process.stdout.read()) == (INTERRUPTED, b"")
    peer.backend.wait_for_canceled_calls(method, before + 1)


def test_cancel_after_first_response(peer):
    before = peer.backend.canceled_calls(f"{SERVICE}/FullDuplexCall")
    with peer.start("FullDuplexCall") as process:
        request = {"responseParameters": [{"size": RESPONSE_SIZES[0]}], "payload": zeros(REQUEST_SIZES[0])}
        process.stdin.write(json.dumps(request).encode() + b"\n")
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == INTERRUPTED
    peer.backend.wait_for_canceled_calls(f"{SERVICE}/FullDuplexCall", before + 1)


def test_timeout_on_sleeping_server(peer):
    request = {"payload": zeros(REQUEST_SIZES[0])}
    with peer.start("FullDuplexCall", "--max-time", "1ms") as process:
        # Standard input stays open: only the deadline ends the call.
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            pass
        assert process.wait() == DEADLINE_EXCEEDED
        assert b"deadline_exceeded (4)" in process.stderr.read()


# Compression


def sizes(result) -> list[bool]:
    """Whether each message that was received was compressed; zeros are much smaller then."""
    received = re.findall(r"^\* received message \d+: (\d+) bytes \((\d+) on the wire", result.err, re.MULTILINE)
    return [int(on_the_wire) < int(count) for count, on_the_wire in received]


def test_client_compressed_unary(grpc_go):
    """The server sees that a message is compressed. The first call is the probe, which states what is not so."""
    request = {"responseSize": LARGE_RESPONSE, "payload": zeros(LARGE_REQUEST)}
    expecting, not_expecting = ({**request, "expectCompressed": {"value": value}} for value in (True, False))
    assert grpc_go("UnaryCall", expecting).code == INVALID_ARGUMENT
    compressed = grpc_go("UnaryCall", expecting, options=("--compression", "gzip"))
    assert payloads(compressed) == [bytes(LARGE_RESPONSE)]
    assert payloads(grpc_go("UnaryCall", not_expecting)) == [bytes(LARGE_RESPONSE)]


def test_client_compressed_streaming(grpc_go):
    """Without the last step of the case: rpcurl compresses all messages of a call, or no message."""
    compressed, plain = ({"payload": zeros(size), "expectCompressed": {"value": value}} for size, value in ((27182, True), (45904, False)))
    assert grpc_go("StreamingInputCall", compressed).code == INVALID_ARGUMENT
    result = grpc_go("StreamingInputCall", compressed, compressed, options=("--compression", "gzip"))
    assert (result.code, result.json()) == (0, {"aggregatedPayloadSize": 2 * 27182}), result.err
    result = grpc_go("StreamingInputCall", plain)
    assert (result.code, result.json()) == (0, {"aggregatedPayloadSize": 45904}), result.err


def test_server_compressed_unary(grpcio):
    for is_compressed in (True, False):
        request = {
            "responseCompressed": {"value": is_compressed}, "responseSize": LARGE_RESPONSE, "payload": zeros(LARGE_REQUEST),
        }  # fmt: skip
        result = grpcio("UnaryCall", request, options=("-vv",))
        assert sizes(result) == [is_compressed], result.err
        assert base64.b64decode(result.json()["payload"]["body"]) == bytes(LARGE_RESPONSE)


def test_server_compressed_streaming(grpcio):
    """Messages of one stream are compressed, and others are not."""
    parameters = [{"compressed": {"value": True}, "size": 31415}, {"compressed": {"value": False}, "size": 92653}]
    result = grpcio("StreamingOutputCall", {"responseParameters": parameters}, options=("-vv",))
    assert sizes(result) == [True, False], result.err
    assert [len(json.loads(line)["payload"]["body"]) * 3 // 4 for line in result.out.splitlines()] == pytest.approx([31415, 92653], abs=2)


# Caching, and what servers state of themselves


def test_cacheable_unary(peer):
    """The response may be cached: Connect calls it with GET, and the interceptor `cache` calls it once."""
    calls = ["--use", "cache", "--each"]
    request = {"payload": {"body": base64.b64encode(str(time.time_ns()).encode()).decode()}}
    first, second = payloads(peer("CacheableUnaryCall", request, request, options=("-H", "x-user-ip: 1.2.3.4", *calls)))
    assert first == second != b""


def test_connect_get(rpcurl, envoy, start_interop_server):
    """Envoy translates a GET of Connect to gRPC."""
    peer = Peer(rpcurl, envoy, start_interop_server("grpcio"), ["--protocol", "connect", "--connect-get"])
    [payload] = payloads(peer("CacheableUnaryCall", {}))
    assert payload.isdigit()


@pytest.mark.parametrize("name", ["grpcio", "grpc-go"])
def test_reflection(rpcurl, start_interop_server, name):
    server = start_interop_server(name)
    assert SERVICE in rpcurl("list", "--no-cache", server.url).succeeds().out.split()
    assert payloads(rpcurl("--no-cache", "-d", '{"responseSize":3}', f"{server.url}/{SERVICE}/UnaryCall")) == [bytes(3)]


# Clients of other implementations, through the proxy

CASES = [
    "empty_unary", "large_unary", "client_compressed_unary", "client_streaming", "server_streaming", "ping_pong", "empty_stream",
    "custom_metadata", "status_code_and_message", "special_status_message", "unimplemented_method", "unimplemented_service",
    # The server may receive nothing of the call.
    "cancel_after_begin",
]  # fmt: skip
ENDED_BY_CLIENT = ["cancel_after_first_response", "timeout_on_sleeping_server"]


@pytest.fixture(params=CLIENTS)
def client(request):
    """`client(proxy, case)` makes the calls of a case."""
    program, (_, reason) = CLIENTS[request.param], PROGRAMS[request.param]
    if not program.exists():
        pytest.skip(reason)

    def call(proxy, case):
        authority = ["-ca", proxy.ca] if proxy.ca else []
        command = [program, *authority, f"localhost:{proxy.port}", case]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert (done.returncode, done.stdout) == (0, f"{case}\n"), done.stderr

    return call


@pytest.fixture(params=[False, True], ids=["plaintext", "tls"])
def listening(request, proxy_of, keeps_early_responses):
    return proxy_of(tls=request.param)


@pytest.mark.parametrize("case", CASES)
def test_client_through_the_proxy(client, listening, case):
    client(listening, case)


@pytest.mark.parametrize("case", ENDED_BY_CLIENT)
def test_client_ends_calls_through_the_proxy(client, listening, start_interop_server, case):
    server, method = start_interop_server("grpcio"), f"{SERVICE}/FullDuplexCall"
    before = server.canceled_calls(method)
    client(listening, case)
    server.wait_for_canceled_calls(method, before + 1)


def test_status_details_through_the_proxy(client, shared_proxy, grpc_server):
    client(shared_proxy("proxy", "--protocol", "grpc", grpc_server.url), "status_details")
