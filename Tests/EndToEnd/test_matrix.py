"""Every combination of protocol, kind of method, codec, compression and transport that a server here allows.

The cells are generated. Each makes one call that ends well and one that fails, and looks at everything that
`--format events` tells of them.
"""

import base64
import itertools
import json
from dataclasses import dataclass

import pytest

# Which protocols, codecs and compressions each server speaks, and over what. grpcio knows protobuf only.
SERVERS = {
    "grpc": {
        "protocols": {"grpc": ["h2c", "tls"]},
        "codecs": ["proto"],
        "compressions": ["identity", "gzip", "deflate"],
    },
    "connect": {
        "protocols": {
            "grpc": ["h2c", "tls"],
            "grpc-web": ["http1.1", "h2c", "tls"],
            "connect": ["http1.1", "h2c", "tls"],
        },
        "codecs": ["proto", "json"],
        "compressions": ["identity", "gzip", "zstd", "br", "snappy"],
    },
}
KINDS = ["unary", "client_streaming", "server_streaming", "bidi_streaming"]
TRANSPORTS = {"http1.1": "--http1.1", "h2c": "--http2-prior-knowledge", "tls": "--http2"}

# Long enough to become smaller by compression.
TEXT = "to be or not to be, " * 100
CALLS = {
    "unary": ("Hello", [{"name": TEXT}], [{"message": f"Hello, {TEXT}!", "name": TEXT}]),
    "client_streaming": ("Sum", [{"value": "40"}, {"value": "2"}, {}], [{"total": "42", "count": 3}]),
    "server_streaming": ("Count", [{"from": 1, "to": 3}], [{"number": n} for n in (1, 2, 3)]),
    "bidi_streaming": ("Chat", [{"text": "a"}, {"text": TEXT}], [{"text": f"you said: {t}"} for t in ("a", TEXT)]),
}


@dataclass(frozen=True)
class Cell:
    server: str
    protocol: str
    kind: str
    codec: str
    compression: str
    transport: str

    def __str__(self) -> str:
        return f"{self.protocol}-{self.kind}-{self.codec}-{self.compression}-{self.transport}-by-{self.server}"

    @property
    def content_type(self) -> str:
        bases = {"grpc": "application/grpc+", "grpc-web": "application/grpc-web+", "connect": "application/connect+"}
        base = "application/" if self.is_connect_unary else bases[self.protocol]
        return base + self.codec

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


CELLS = [
    Cell(server, protocol, kind, codec, compression, transport)
    for server, speaks in SERVERS.items()
    for protocol, transports in speaks["protocols"].items()
    for kind, codec, compression, transport in itertools.product(
        KINDS, speaks["codecs"], speaks["compressions"], transports
    )
]


@dataclass
class Events:
    """What one call printed, by the kind of event."""

    lines: list[dict]

    def one(self, name: str) -> dict:
        (event,) = self.all(name)
        return event

    def all(self, name: str) -> list[dict]:
        return [line for line in self.lines if line["event"] == name]


@pytest.fixture
def run(request, rpcurl, descriptor_set):
    def run(cell, *arguments):
        server = request.getfixturevalue(f"{cell.server}_tls_server" if cell.transport == "tls" else f"{cell.server}_server")
        method, requests, _ = CALLS[cell.kind]
        security = ["--cacert", server.ca] if server.ca else []
        result = rpcurl(
            "--descriptor-set", descriptor_set, "--format", "events", "--protocol", cell.protocol,
            "--codec", cell.codec, "--compression", cell.compression, "--accept-compression", cell.compression,
            TRANSPORTS[cell.transport], *security,
            # grpcio is told how to compress; connectrpc takes what is accepted.
            *(["-H", f"demo-compression: {cell.compression}"] if cell.server == "grpc" else []),
            "-H", "demo-header: x-lead=1", "-H", "demo-trailer: x-trail=2", "-H", "demo-trailer: x-trail-bin=0001ff",
            *arguments, "-d", "".join(json.dumps(r) for r in requests), f"{server.url}/demo.v1.Demo/{method}",
        )  # fmt: skip
        return result, Events([json.loads(line) for line in result.out.splitlines()])

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
    assert head["http_version"] == ("1.1" if cell.transport == "http1.1" else "2")
    assert headers["content-type"] in (cell.content_type, "application/json", cell.content_type.removesuffix("+proto"))
    assert headers["x-lead"] == "1"
    end = events.one("end")
    trailers = {name: value.rstrip("=") for name, value in end["trailers"]}
    assert trailers["x-trail"] == "2"
    assert base64.b64decode(trailers["x-trail-bin"]) == b"\x00\x01\xff"
    assert end["sent"] == len(CALLS[cell.kind][1])
    assert end["received"] == len(events.all("message"))
    return headers, end


def check_size(cell, message_bytes, wire_bytes):
    """Long messages got smaller on the wire when they were compressed, and only then."""
    if message_bytes > len(TEXT):
        assert (wire_bytes < message_bytes) == (cell.compression != "identity")


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_call_that_ends_with_ok(cell, run):
    result, events = run(cell)
    assert (result.code, result.err) == (0, "")
    check_request(cell, events)
    headers, end = check_response(cell, events)
    assert headers.get(cell.encoding_header, "identity") == cell.compression
    messages = events.all("message")
    assert [event["message"] for event in messages] == CALLS[cell.kind][2]
    assert (end["code"], end["code_number"], end["message"], end["details"]) == ("ok", 0, "", [])
    check_size(cell, sum(event["bytes"] for event in messages), events.one("metrics")["bytes_received"])


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_call_that_fails(cell, run):
    result, events = run(cell, "-H", "demo-code: 5")
    assert result.code == 64 + 5
    check_request(cell, events)
    _, end = check_response(cell, events)
    # A method that returns one message has returned none when it fails.
    expected = CALLS[cell.kind][2] if cell.kind in ("server_streaming", "bidi_streaming") else []
    assert [event["message"] for event in events.all("message")] == expected
    assert (end["code"], end["code_number"], end["message"]) == ("not_found", 5, "as demo-code asks: 100% ✓")
    (detail,) = end["details"]
    assert detail["type"] == "google.rpc.ErrorInfo"
    assert detail["debug"] == {"reason": "ASKED_FOR", "domain": "demo.test"}


def test_matrix_is_not_empty_anywhere():
    """What the servers leave out is known: no cell is lost by a slip in the table."""
    assert len(CELLS) == 4 * (3 * 2 + 2 * 5 * 2 + 2 * 2 * 5 * 3)
    compressions = ["identity", "gzip", "zstd", "br", "snappy", "deflate"]
    for field, values in {"kind": KINDS, "transport": TRANSPORTS, "compression": compressions}.items():
        assert {getattr(cell, field) for cell in CELLS} == set(values)
