"""Combinations of server, protocol, kind of method, codec, compression, HTTP version, TLS and outcome.

A cell is one call, and the test checks all that `--format events` prints of it. By default the cells are those of a
pairwise selection; with RPCURL_TESTS=all they are all that the servers allow. Some of them also pass through `rpcurl proxy`, to a
server of another protocol too.
"""

import base64
import itertools
import json
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from harness import ALL_TESTS
from pairwise import covering

# The protocols with their versions of HTTP, the codecs and the compressions of each server. grpcio has no codec but protobuf.
SERVERS = {
    "grpc": {
        "protocols": {"grpc": ["2"]},
        "codecs": ["proto"],
        "compressions": ["identity", "gzip", "deflate"],
    },
    "connect": {
        "protocols": {"grpc": ["2"], "grpc-web": ["1.1", "2"], "connect": ["1.1", "2"]},
        "codecs": ["proto", "json"],
        "compressions": ["identity", "gzip", "zstd", "br", "snappy"],
    },
}
KINDS = ["unary", "client_streaming", "server_streaming", "bidi_streaming"]
SECURITIES = ["plaintext", "tls"]

# Long enough that compression makes it smaller.
TEXT = "to be or not to be, " * 100
CALLS = {
    "unary": ("Hello", [{"name": TEXT}], [{"message": f"Hello, {TEXT}!", "name": TEXT}]),
    "client_streaming": ("Sum", [{"value": "40"}, {"value": "2"}, {}], [{"total": "42", "count": 3}]),
    "server_streaming": ("Count", [{"from": 1, "to": 3}], [{"number": n} for n in (1, 2, 3)]),
    "bidi_streaming": ("Chat", [{"text": "a"}, {"text": TEXT}], [{"text": f"you said: {t}"} for t in ("a", TEXT)]),
}


class Cell(NamedTuple):
    server: str
    protocol: str
    kind: str
    codec: str
    compression: str
    http: str
    security: str
    outcome: str

    @property
    def name(self) -> str:
        transport = f"http{self.http}-{self.security}"
        return f"{self.protocol}-{self.kind}-{self.codec}-{self.compression}-{transport}-by-{self.server}-{self.outcome}"

    @property
    def http_option(self) -> str:
        if self.http == "1.1":
            return "--http1.1"
        return "--http2" if self.security == "tls" else "--http2-prior-knowledge"

    @property
    def content_type(self) -> str:
        bases = {"grpc": "application/grpc+", "grpc-web": "application/grpc-web+", "connect": "application/connect+"}
        base = "application/" if self.is_connect_unary else bases[self.protocol]
        # gRPC names no codec for protobuf.
        return (base + self.codec).removesuffix("+proto") if self.protocol == "grpc" else base + self.codec

    @property
    def response_type(self) -> str:
        if self.is_connect_unary and self.outcome == "fail":
            return "application/json"
        # A proxy has the type of the request. Of the servers, grpcio names no codec for protobuf.
        if self.server == "proxy":
            return self.content_type
        if self.server == "grpc":
            return self.content_type.removesuffix("+proto")
        return self.content_type + ("+proto" if self.content_type == "application/grpc" else "")

    @property
    def is_connect_unary(self) -> bool:
        return (self.protocol, self.kind) == ("connect", "unary")

    @property
    def encoding_header(self) -> str:
        if self.is_connect_unary:
            return "content-encoding"
        return "connect-content-encoding" if self.protocol == "connect" else "grpc-encoding"

    @property
    def accept_header(self) -> str:
        return self.encoding_header.replace("content-", "").replace("encoding", "accept-encoding")


ALL_CELLS = [
    Cell(server, protocol, kind, codec, compression, http, security, outcome)
    for server, features in SERVERS.items()
    for protocol, versions in features["protocols"].items()
    for kind, codec, compression, http, security, outcome in itertools.product(
        KINDS, features["codecs"], features["compressions"], versions, SECURITIES, ["ok", "fail"]
    )
]
PAIRWISE_CELLS = covering(ALL_CELLS)


@dataclass
class Events:
    """The events that one call printed."""

    lines: list[dict]

    def one(self, name: str) -> dict:
        (event,) = self.all(name)
        return event

    def all(self, name: str) -> list[dict]:
        return [line for line in self.lines if line["event"] == name]


@pytest.fixture
def proxy_of(shared_proxy):
    """`proxy_of(server, protocol)`: `rpcurl proxy` in front of a server, with TLS if the server has it."""

    def start(server, protocol):
        options = [*(["--cacert", server.ca] if server.ca else []), *([] if protocol == "same" else ["--protocol", protocol])]
        return shared_proxy("proxy", *options, server.url, tls=bool(server.ca))

    return start


@pytest.fixture
def server_of(request):
    return lambda cell: request.getfixturevalue(f"{cell.server}_tls_server" if cell.security == "tls" else f"{cell.server}_server")


@pytest.fixture
def run(server_of, rpcurl, descriptor_set):
    def run(cell, *arguments, server=None):
        server = server or server_of(cell)
        method, requests, _ = CALLS[cell.kind]
        security = ["--cacert", server.ca] if server.ca else []
        result = rpcurl(
            "--descriptor-set", descriptor_set, "--format", "events", "--protocol", cell.protocol,
            "--codec", cell.codec, "--compression", cell.compression, "--accept-compression", cell.compression,
            cell.http_option, *security,
            # The server with grpcio compresses as this header says; connectrpc compresses as the client accepts.
            *(["-H", f"demo-compression: {cell.compression}"] if cell.server == "grpc" else []),
            "-H", "demo-header: x-lead=1", "-H", "demo-trailer: x-trail=2", "-H", "demo-trailer: x-trail-bin=0001ff",
            *arguments, "-d", "".join(json.dumps(r) for r in requests), f"{server.url}/demo.v1.Demo/{method}",
        )  # fmt: skip
        return result, Events(result.lines())

    return run


def check_request(cell, events):
    start = events.one("start")
    headers = dict(start["headers"])
    assert (start["protocol"], start["kind"]) == (cell.protocol, cell.kind)
    assert headers["content-type"] == cell.content_type
    assert headers.get(cell.encoding_header) == (None if cell.compression == "identity" else cell.compression)
    assert headers[cell.accept_header] == cell.compression
    sent = events.all("sent")
    assert [event["index"] for event in sent] == list(range(len(CALLS[cell.kind][1])))
    check_size(cell, sum(event["bytes"] for event in sent), events.one("metrics")["bytes_sent"])


def check_response(cell, events):
    head = events.one("headers")
    headers = dict(head["headers"])
    assert head["http_version"] == cell.http
    assert headers["content-type"] == cell.response_type
    assert headers["x-lead"] == "1"
    end = events.one("end")
    trailers = {name: value.rstrip("=") for name, value in end["trailers"]}
    assert trailers["x-trail"] == "2"
    assert base64.b64decode(trailers["x-trail-bin"]) == b"\x00\x01\xff"
    assert end["sent"] == len(CALLS[cell.kind][1])
    assert end["received"] == len(events.all("message"))
    return headers, end


def check_size(cell, message_bytes, wire_bytes):
    """Long messages are smaller on the wire if and only if they are compressed."""
    if message_bytes > len(TEXT):
        assert (wire_bytes < message_bytes) == (cell.compression != "identity")


@pytest.mark.parametrize("cell", ALL_CELLS if ALL_TESTS else PAIRWISE_CELLS, ids=lambda cell: cell.name)
def test_call(cell, run):
    check(cell, *run(cell, *outcome(cell)))


# With each protocol that the server has; "same" is that of the client.
PROXIED_CELLS = [
    (cell, protocol)
    for cell in (ALL_CELLS if ALL_TESTS else PAIRWISE_CELLS[::4])
    for protocol in ("same", *SERVERS[cell.server]["protocols"])
]


@pytest.mark.parametrize(("cell", "protocol"), PROXIED_CELLS, ids=lambda value: getattr(value, "name", value))
def test_call_through_the_proxy(cell, protocol, run, server_of, proxy_of):
    proxy = proxy_of(server_of(cell), protocol)
    check(cell._replace(server="proxy"), *run(cell, *outcome(cell), server=proxy))


def outcome(cell):
    return ["-H", "demo-code: 5"] if cell.outcome == "fail" else []


def check(cell, result, events):
    check_request(cell, events)
    headers, end = check_response(cell, events)
    messages = [event["message"] for event in events.all("message")]
    status = (end["code"], end["code_number"], end["message"])
    if cell.outcome == "ok":
        assert (result.code, result.err) == (0, "")
        assert headers.get(cell.encoding_header, "identity") == cell.compression
        assert messages == CALLS[cell.kind][2]
        assert (*status, end["details"]) == ("ok", 0, "", [])
        check_size(cell, sum(event["bytes"] for event in events.all("message")), events.one("metrics")["bytes_received"])
    else:
        assert result.code == 64 + 5
        # A method that returns one message has returned none when it fails.
        assert messages == (CALLS[cell.kind][2] if cell.kind in ("server_streaming", "bidi_streaming") else [])
        assert status == ("not_found", 5, "as demo-code asks: 100% ✓")
        (detail,) = end["details"]
        assert detail["type"] == "google.rpc.ErrorInfo"
        assert detail["debug"] == {"reason": "ASKED_FOR", "domain": "demo.test"}
