"""The forms of messages: what responses are printed in, and what request data is written in."""

import json
import os
import pty
import subprocess

import pytest
from demo_pb2 import HelloReply, HelloRequest, SumRequest
from google.protobuf import text_format
from google.protobuf.internal.decoder import _DecodeVarint32
from google.protobuf.internal.encoder import _VarintBytes
from harness import write

SERVICE = "demo.v1.Demo"


@pytest.fixture(params=["grpc", "connect json"])
def options(request, descriptor_set):
    """The options that reach a server, and its URL."""
    protocol, *codec = request.param.split()
    server = request.getfixturevalue(f"{protocol}_server")
    words = ["--codec", *codec] if codec else []
    return ["--protocol", protocol, *words, "--descriptor-set", descriptor_set], server.url


def delimited(messages):
    return b"".join(_VarintBytes(len(data)) + data for data in (m.SerializeToString() for m in messages))


def split(data, type):
    messages, offset = [], 0
    while offset < len(data):
        length, offset = _DecodeVarint32(data, offset)
        messages.append(type.FromString(data[offset : offset + length]))
        offset += length
    return messages


# Responses. These outputs are promises: scripts read them.

GOLDEN = {
    "pretty": ('{\n  "message": "Hello, Ada!",\n  "name": "Ada"\n}\n', '{\n  "number": 1\n}\n{\n  "number": 2\n}\n'),
    "json": ('{"message":"Hello, Ada!","name":"Ada"}\n', '{"number":1}\n{"number":2}\n'),
    "text": ('message: "Hello, Ada!"\nname: "Ada"\n', "number: 1\nnumber: 2\n"),
    "binary": ("\n\x0bHello, Ada!\x12\x03Ada", "\x02\x08\x01\x02\x08\x02"),
    "none": ("", ""),
}


@pytest.mark.parametrize("format", GOLDEN)
def test_output_of_each_format(rpcurl, options, format):
    arguments, url = options
    unary = rpcurl(*arguments, "--format", format, "-d", '{"name":"Ada"}', f"{url}/{SERVICE}/Hello")
    stream = rpcurl(*arguments, "--format", format, "-d", '{"from":1,"to":2}', f"{url}/{SERVICE}/Count")
    assert (unary.succeeds().out, stream.succeeds().out) == GOLDEN[format]


def test_output_of_events(rpcurl, grpc_server, descriptor_set):
    arguments = ["--descriptor-set", descriptor_set, "--format", "events"]
    events = rpcurl(*arguments, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{SERVICE}/Hello").succeeds().lines()
    members = {
        "start": ["event", "method", "kind", "protocol", "url", "headers"],
        "sent": ["event", "index", "bytes"],
        "headers": ["event", "http_status", "http_version", "headers"],
        "message": ["event", "index", "bytes", "message"],
        "end": ["event", "code", "code_number", "message", "details", "trailers", "sent", "received"],
    }
    assert {e["event"]: list(e) for e in events[:-1]} == members
    assert list(events[-1])[:2] == ["event", "total_ms"]
    assert list(events[-1])[-3:] == ["bytes_sent", "bytes_received", "attempts"]


def test_a_batch_prints_each_response_separately(rpcurl, options):
    arguments, url = options
    words = ["--each", "-d", '{"name":"A"}{"name":"B"}', f"{url}/{SERVICE}/Hello"]
    text = rpcurl(*arguments, "--format", "text", *words).succeeds()
    assert text.out == 'message: "Hello, A!" name: "A"\nmessage: "Hello, B!" name: "B"\n'
    binary = rpcurl(*arguments, "--format", "binary", *words).succeeds()
    assert [m.name for m in split(binary.out_bytes, HelloReply)] == ["A", "B"]


def test_control_characters_are_escaped_in_text(rpcurl, options):
    arguments, url = options
    data = json.dumps({"stringValue": "\x1b[31m\x9b2J\x07"})
    result = rpcurl(*arguments, "--format", "text", "-d", data, f"{url}/{SERVICE}/Echo").succeeds()
    assert result.out == 'string_value: "\\033[31m\\302\\2332J\\007"\n'


def test_binary_is_refused_on_a_terminal(rpcurl, grpc_server, descriptor_set):
    reading, writing = pty.openpty()
    words = ("--descriptor-set", descriptor_set, "--format", "binary", f"{grpc_server.url}/{SERVICE}/Hello")
    done = subprocess.run(
        rpcurl.command(words), stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE,
        env=rpcurl.environment(None), timeout=60,
    )  # fmt: skip
    os.close(writing)
    os.close(reading)
    assert done.returncode == 2
    assert done.stderr.startswith(b"rpcurl: --format binary: standard output is a terminal\n")


# Requests


def test_a_single_message_in_each_format(rpcurl, options, tmp_path):
    arguments, url = options
    message = HelloRequest(name="Ada", language="de")
    inputs = {"text": text_format.MessageToString(message).encode(), "binary": message.SerializeToString()}
    for form, data in inputs.items():
        file = write(tmp_path / form, data)
        words = [*arguments, "--data-format", form, f"{url}/{SERVICE}/Hello"]
        expected = '{"message":"Hallo, Ada!","name":"Ada"}\n'
        assert rpcurl(*words, "-d", f"@{file}").succeeds().out == expected
        assert rpcurl(*words, "-d", "@-", input=data).succeeds().out == expected
    words = ["--data-format", "text", "-d", 'name: "Ada"']
    assert rpcurl(*arguments, *words, f"{url}/{SERVICE}/Hello").succeeds().out == GOLDEN["json"][0]


def test_no_data_is_an_empty_message_in_any_format(rpcurl, options):
    arguments, url = options
    for form in ["json", "text", "binary"]:
        assert rpcurl(*arguments, "--data-format", form, f"{url}/{SERVICE}/Echo").succeeds().out == "{}\n"


def test_streams_in_each_format(rpcurl, options, tmp_path):
    arguments, url = options
    messages = [SumRequest(value=n) for n in range(3000)]
    inputs = {
        "text": "".join(text_format.MessageToString(m, as_one_line=True) + "\n" for m in messages).encode(),
        "binary": delimited(messages),
    }
    for form, data in inputs.items():
        file = write(tmp_path / form, data)
        for words, input in [(["-d", f"@{file}"], None), ([], data)]:
            result = rpcurl(*arguments, "--data-format", form, *words, f"{url}/{SERVICE}/Sum", input=input).succeeds()
            assert result.json() == {"total": str(sum(range(3000))), "count": 3000}


@pytest.mark.parametrize("form", ["text", "binary"])
def test_each_message_is_sent_when_it_is_complete(rpcurl, options, form):
    arguments, url = options
    arguments = [*arguments, *(["--http2"] if "connect" in arguments else [])]
    with rpcurl.start(*arguments, "--data-format", form, "--format", form, f"{url}/{SERVICE}/Chat") as process:
        for _ in range(3):
            process.stdin.write(b'text: "a"\n' if form == "text" else b"\x03\n\x01a")
            expected = b'text: "you said: a"\n' if form == "text" else b"\x0d\n\x0byou said: a"
            response = b""
            while len(response) < len(expected):
                response += process.stdout.read(1)
            assert response == expected
        process.stdin.close()
        assert process.wait() == 0


def test_a_batch_accepts_any_format(rpcurl, options):
    arguments, url = options
    data = delimited([HelloRequest(name="A"), HelloRequest(name="B")])
    result = rpcurl(*arguments, "--each", "--data-format", "binary", f"{url}/{SERVICE}/Hello", input=data).succeeds()
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == ["A", "B"]


def test_output_of_a_call_is_input_of_another(rpcurl, options):
    arguments, url = options
    data = json.dumps({"stringValue": "ü\n", "int64s": ["1", "-2"], "nested": {"label": "x"}, "bytesValue": "/wA="})
    for form in ["text", "binary"]:
        first = rpcurl(*arguments, "--format", form, "-d", data, f"{url}/{SERVICE}/Echo").succeeds()
        words = ["--data-format", form, "-d", "@-", "--format", form]
        second = rpcurl(*arguments, *words, f"{url}/{SERVICE}/Echo", input=first.out_bytes).succeeds()
        assert second.out_bytes == first.out_bytes != b""


@pytest.mark.parametrize(
    ("method", "form", "data", "said"),
    [
        ("Hello", "text", 'name: "A"\nnmae: "B"\n', "line 2, column 1"),
        ("Sum", "text", "value: 1\nvalue: 2\nvalue: x\n", "line 3, column 8"),
        ("Hello", "binary", b"\n\x09A", "byte"),
        ("Sum", "binary", b"\x02\x08\x01\x02\x08", "the data ends within the message (byte 3)"),
        ("Sum", "binary", b"\x02\x08\x01\x02\x08\xff", "the message at byte 4"),
        ("Sum", "binary", b"\xff\xff\xff\xff\xff\xff", "expected the length of a message (byte 0)"),
        ("Sum", "binary", b"\xff\xff\xff\x7f", "longer than 67108864 bytes"),
    ],
)
def test_errors_in_data_name_the_position(rpcurl, options, method, form, data, said):
    arguments, url = options
    result = rpcurl(*arguments, "--data-format", form, "-d", "@-", f"{url}/{SERVICE}/{method}", input=data).exits(4)
    assert result.err.startswith("rpcurl: standard input: ")
    assert said in result.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("duration { seconds: 315576000001 }", "a duration of 315576000001 s and 0 ns is out of range"),
        ("value { number_value: nan }", "a google.protobuf.Value that is infinite or not a number"),
    ],
)
def test_message_that_json_cannot_express(rpcurl, descriptor_set, text, why):
    """It is invalid input of this call: nothing is sent."""
    result = rpcurl(
        "--protocol", "connect", "--codec", "json", "--descriptor-set", descriptor_set, "--data-format", "text",
        "-d", text, "--plaintext", "localhost:1", f"{SERVICE}/Echo",
    ).exits(4, "")  # fmt: skip
    assert result.err.startswith(f"rpcurl: -d: the message cannot be sent as JSON: {why}")
    assert result.err.endswith("hint: use --codec proto\n")
