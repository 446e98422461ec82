"""Whatever a server sends, nothing of it steers the terminal: on standard output and on standard error."""

import base64
import json
import re
import struct
from urllib.parse import quote

import pytest
from demo_pb2 import CountReply, FailRequest, HelloReply
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from test_output import on_terminal
from harness import write

SERVICE = "demo.v1.Demo"
# Colour, a title, DEL, C1's CSI, and lines that look like rpcurl's own.
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x7f\x9b2J\r\nrpcurl: all is well\b"
# As far as HTTP allows it in a header.
HEADER = "\x1b[31mred\x1b]0;title\x07\x7f\b"
COLORS = re.compile(r"\x1b\[(0|1|\d\d)m")


def assert_safe(text, colored=False):
    """Also fails if text of the server is a line of its own."""
    if colored:
        text = COLORS.sub("", text)
    found = [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]
    assert not found, text
    assert not [line for line in text.splitlines() if line.startswith("rpcurl: all is well")], text


def shows(rpcurl, *words, colors=False):
    """What a terminal gets when standard output is one, and then standard error; all of it is safe."""
    code, out = on_terminal(rpcurl, *words, env={"TERM": "xterm", "NO_COLOR": "" if colors else "1"})
    same, err = on_terminal(rpcurl, *words, errors=True)
    assert same == code
    assert_safe(out, colors)
    assert_safe(err)
    # Standard error is for people wherever it goes.
    assert_safe(rpcurl(*words).err)
    return code, out, err


# Messages


TEXTS = {
    "stringValue": HOSTILE, "strings": [HOSTILE], "stringToInt32": {HOSTILE: 1}, "struct": {HOSTILE: HOSTILE},
    "value": HOSTILE, "wrappedString": HOSTILE,
}  # fmt: skip


@pytest.mark.parametrize("colors", [False, True])
@pytest.mark.parametrize("format", ["pretty", "json", "text", "events", "none", None])
def test_text_in_a_message(rpcurl, grpc_server, descriptor_set, format, colors):
    words = ["--descriptor-set", descriptor_set, *(["--format", format] if format else []), "-d", json.dumps(TEXTS)]
    code, out, err = shows(rpcurl, *words, f"{grpc_server.url}/{SERVICE}/Echo", colors=colors)
    assert (code, err) == (0, "")
    assert ("title" in out) == (format != "none")


@pytest.mark.parametrize("path", TEXTS)
def test_filtered_text(rpcurl, grpc_server, descriptor_set, path):
    words = ("--descriptor-set", descriptor_set, "--filter", path, "-d", json.dumps(TEXTS))
    code, out, err = shows(rpcurl, *words, f"{grpc_server.url}/{SERVICE}/Echo")
    assert (code, err) == (0, "") and "title" in out


def test_binary_does_not_go_to_a_terminal(rpcurl, grpc_server, descriptor_set):
    words = ("--descriptor-set", descriptor_set, "--format", "binary", "-d", json.dumps({"name": HOSTILE}))
    assert on_terminal(rpcurl, *words, f"{grpc_server.url}/{SERVICE}/Hello") == (2, "")


@pytest.mark.parametrize("to", ["json", "text"])
def test_converted_text(rpcurl, descriptor_set, tmp_path, to):
    file = write(tmp_path / "message", HelloReply(message=HOSTILE).SerializeToString())
    words = ("convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloReply", "--from", "binary", "--to", to, file)
    code, out, err = shows(rpcurl, *words)
    assert (code, err) == (0, "") and "title" in out


# Characters that change the order in which text is displayed

REORDERING = "\u202egnp.exe"
# Of each range the first and the last, and ends of lines.
MARKS = "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\u206a\u206f"


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "pretty"],
        ["--format", "json"],
        ["--format", "json", "--color", "always"],
        ["--format", "events"],
        ["--format", "text"],
        ["--filter", "name"],
    ],
    ids=lambda words: words[1],
)
def test_reordered_text_in_a_message(rpcurl, grpc_server, descriptor_set, words):
    data = json.dumps({"name": REORDERING + MARKS + "é☃"})
    arguments = ("--descriptor-set", descriptor_set, *words, "-d", data, f"{grpc_server.url}/{SERVICE}/Hello")
    code, out = on_terminal(rpcurl, *arguments)
    assert code == 0 and "gnp.exe" in out and "é☃" in out
    assert not set(MARKS) & set(out)
    # In a pipe it is data.
    assert set(MARKS) & set(rpcurl(*arguments).out)


@pytest.mark.parametrize("to", ["json", "text"])
def test_reordered_text_on_a_terminal_keeps_its_meaning(rpcurl, descriptor_set, to):
    words = ("convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloReply")
    data = HelloReply(message=REORDERING + MARKS).SerializeToString()
    file = write(rpcurl.home / "message", data)
    code, out = on_terminal(rpcurl, *words, "--from", "binary", "--to", to, file)
    assert code == 0 and not set(MARKS) & set(out)
    assert rpcurl(*words, "--from", to, "--to", "binary", input=out.encode()).out_bytes == data


@pytest.mark.parametrize("where", ["message", "detail"])
def test_reordered_text_in_a_status(demo, grpc_server, where):
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": REORDERING}
    data = {"code": 9, "message": REORDERING} if where == "message" else {"code": 9, "details": [info]}
    result = demo("-d", json.dumps(data), f"{grpc_server.url}/{SERVICE}/Fail").exits(64 + 9).reports("gnp.exe")
    assert "\u202e" not in result.err


# A status


def details():
    """Details with text of every place that is shown."""
    info = any_pb2.Any()
    info.Pack(error_details_pb2.ErrorInfo(reason=HOSTILE, metadata={HOSTILE: HOSTILE}))
    return [
        info,
        any_pb2.Any(type_url=f"type.googleapis.com/x.{HOSTILE}", value=b"\x0a\x01\x1b"),
        any_pb2.Any(type_url=HOSTILE, value=HOSTILE.encode()),
    ]


@pytest.mark.parametrize("format", ["json", "pretty", "text", "events"])
@pytest.mark.parametrize("protocol", ["grpc", "connect", "grpc-web"])
@pytest.mark.parametrize("method", ["Fail", "FailStream"])
def test_message_and_details_of_a_status(rpcurl, request, descriptor_set, tmp_path, protocol, format, method):
    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    file = tmp_path / "request"
    requested = FailRequest(code=9, message=HOSTILE, details=details() if protocol == "grpc" else details()[:1])
    file.write_bytes(requested.SerializeToString())
    words = ("--descriptor-set", descriptor_set, "--protocol", protocol, "--data-format", "binary", "-d", f"@{file}")
    code, _, err = shows(rpcurl, *words, "-v", "--format", format, f"{server.url}/{SERVICE}/{method}")
    assert code == 64 + 9
    assert "failed_precondition (9): \\u{1B}[31mred" in err


# Metadata. HTTP/2 allows no control characters; HTTP/1.1 and bodies do.


def http1(*headers, body=b"", status="200 OK"):
    """A response of HTTP/1.1 to any request."""
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(body)}", "", ""]
    response = "\r\n".join(lines).encode("latin-1") + body

    def handle(connection):
        connection.recv(1 << 16)
        connection.sendall(response)
        # Until the client has read it: a reset would discard the response.
        while connection.recv(1 << 16):
            pass

    return handle


def frame(flags, data):
    return struct.pack(">BI", flags, len(data)) + data


def connect_error(message):
    return {"code": "not_found", "message": message, "details": [
        {"type": f"x.{HOSTILE}", "value": base64.b64encode(HOSTILE.encode()).decode(), "debug": {HOSTILE: HOSTILE}},
    ]}  # fmt: skip


def responses():
    """Name, protocol, method, and the server's text."""
    reply, number = HelloReply(message="hi").SerializeToString(), CountReply(number=1).SerializeToString()
    yield "a header", "connect", "Hello", http1("content-type: application/proto", f"x-late: {HEADER}", body=reply)
    yield "a trailer", "connect", "Hello", http1("content-type: application/proto", f"trailer-x-late: {HEADER}", body=reply)
    yield "a header's name", "connect", "Hello", http1("content-type: application/proto", f"x{HEADER}: a", body=reply)
    yield "a content-type", "connect", "Hello", http1(f"content-type: text/{HEADER}", body=reply)
    yield "an encoding", "connect", "Hello", http1("content-type: application/proto", f"content-encoding: {HEADER}", body=reply)
    end = json.dumps({"metadata": {f"x-late{HOSTILE}": [HOSTILE], "x-late": [HOSTILE]}, "error": connect_error(HOSTILE)}).encode()
    stream = frame(0, number) + frame(2, end)
    yield "the end of a stream", "connect", "Count", http1("content-type: application/connect+proto", body=stream)
    trailers = f"x-late: {HEADER}\r\ngrpc-status: 5\r\ngrpc-message: {quote(HOSTILE)}\r\n"
    for shown, lines in (("trailers of a body", trailers), ("a trailer's name", f"x-late{HEADER}: a\r\n{trailers}")):
        web = frame(0, number) + frame(0x80, lines.encode())
        yield shown, "grpc-web", "Count", http1("content-type: application/grpc-web+proto", body=web)
    status = status_pb2.Status(code=5, message=HOSTILE, details=details())
    encoded = base64.b64encode(status.SerializeToString()).decode()
    yield "trailers only", "grpc-web", "Count", http1(
        "content-type: application/grpc-web+proto", "grpc-status: 5", f"grpc-message: {HEADER}",
        f"grpc-status-details-bin: {encoded}", f"x-late: {HEADER}",
    )  # fmt: skip
    yield "a status that is none", "grpc-web", "Count", http1("content-type: application/grpc-web+proto", f"grpc-status: {HEADER}")
    yield "a page", "connect", "Hello", http1("content-type: text/html", body=f"<html>{HOSTILE}".encode())
    error = json.dumps({"code": HOSTILE, "message": HOSTILE}).encode()
    yield "an unknown code", "connect", "Hello", http1("content-type: application/json", body=error, status=f"500 {HEADER}")


RESPONSES = list(responses())


@pytest.mark.parametrize("format", ["json", "events"])
@pytest.mark.parametrize(("name", "protocol", "method", "handler"), RESPONSES, ids=[case[0] for case in RESPONSES])
def test_text_that_only_a_raw_server_sends(rpcurl, raw_server, descriptor_set, name, protocol, method, handler, format):
    server = raw_server(handler)
    words = ("--descriptor-set", descriptor_set, "--protocol", protocol, "--http1.1", "-v", "--timing", "--format", format)
    code, out, err = shows(rpcurl, *words, f"http://{server.address}/{SERVICE}/{method}")
    assert server.connections == 3
    assert "title" in out + err, (code, out, err)
