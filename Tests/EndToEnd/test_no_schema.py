"""Messages without a schema: `convert --no-schema`, and `--unknown-fields`."""

import base64
import json
import random
import re
import struct
import subprocess

import pytest
from google.protobuf import unknown_fields
from google.protobuf.empty_pb2 import Empty
from harness import delimited, varint, write

SAMPLE = bytes.fromhex("089601 12034164611a0228410d0000803f")


def decode_raw(data: bytes) -> str:
    done = subprocess.run(["protoc", "--decode_raw"], input=data, capture_output=True, check=True)
    return done.stdout.decode()


def without_comments(text: str) -> str:
    # A string cannot look like a comment: its quote follows.
    return re.sub(r'  # (?:or )(?:[^"\n]|"(?:[^"\\\n]|\\.)*")*$', "", text, flags=re.M)


def message(rng: random.Random, depth: int) -> bytes:
    """A random message; its strings are also messages now and then."""
    out = b""
    for _ in range(rng.randrange(5)):
        number = rng.choice([1, 2, 3, 15, 16, 2047, 536870911])
        kind = rng.choice([0, 1, 2, 2, 2, 3, 5])
        out += varint(number << 3 | kind)
        if kind == 0:
            out += varint(rng.choice([0, 1, 150, rng.getrandbits(64)]))
        elif kind == 1:
            out += rng.choice([struct.pack("<d", rng.uniform(-9, 9)), rng.randbytes(8)])
        elif kind == 5:
            out += rng.choice([struct.pack("<f", rng.uniform(-9, 9)), rng.randbytes(4)])
        elif kind == 3:
            out += (message(rng, depth - 1) if depth else b"") + varint(number << 3 | 4)
        else:
            choices = [rng.choice(["", "Ada", "Grüße", "a  # or b", "\x1b\n'\"", "(A"]).encode(), rng.randbytes(5)]
            content = message(rng, depth - 1) if depth and rng.randrange(2) else rng.choice(choices)
            out += varint(len(content)) + content
    return out


MESSAGES = [SAMPLE, b"", *(message(random.Random(seed), 4) for seed in range(60))]


def test_text_is_that_of_protoc(rpcurl):
    """The comments with other types are the only difference from `protoc --decode_raw`."""
    data = [one for one in MESSAGES if one]
    for one in data:
        result = rpcurl("convert", "--no-schema", input=one).succeeds()
        assert without_comments(result.out) == decode_raw(one), one.hex()


def test_sample(rpcurl, tmp_path):
    file = write(tmp_path / "message.bin", SAMPLE)
    assert rpcurl("convert", "--no-schema", file).out == (
        "1: 150  # or sint64 75\n"
        '2: "Ada"\n'
        '3 {  # or string "(A"\n'
        "  5: 65  # or sint64 -33\n"
        "}\n"
        "1: 0x3f800000  # or fixed32 1065353216, float 1\n"
    )
    assert rpcurl("convert", "--no-schema", "--to", "json", file).json() == {
        "1": [{"uint64": "150", "sint64": "75"}, {"fixed32": 1065353216, "float": 1}],
        "2": [{"string": "Ada", "bytes": "QWRh"}],
        "3": [{"message": {"5": [{"uint64": "65", "sint64": "-33"}]}, "string": "(A", "bytes": "KEE="}],
    }


def values(data: bytes) -> dict:
    """The fields of a message, as upb reads them: by number, as lists of wire type and value."""
    parsed = Empty.FromString(data)
    found: dict = {}
    for field in unknown_fields.UnknownFieldSet(parsed):
        found.setdefault(str(field.field_number), []).append((field.wire_type, field.data))
    return found


def agrees(shown: dict, data) -> bool:
    """Whether the JSON of a value has all types that its wire type permits."""
    kind, value = data
    if kind == 0:
        signed = value - (1 << 64) if value >> 63 else value
        zigzag = value >> 1 ^ -(value & 1)
        expected = {"uint64": str(value), "sint64": str(zigzag)}
        expected |= {"int64": str(signed)} if signed < 0 else {}
        expected |= {"bool": value == 1} if value < 2 else {}
        return shown == expected
    if kind in (1, 5):
        (name, size, real, form) = ("fixed64", "<Q", "double", "<d") if kind == 1 else ("fixed32", "<I", "float", "<f")
        assert str(shown[name]) == str(value)
        (number,) = struct.unpack(form, struct.pack(size, value))
        text = shown[real]
        return str(number).lower().replace("inf", "infinity") == str(text).lower() if isinstance(text, str) else (
            struct.pack(form, text) == struct.pack(form, number)
        )
    if kind == 2:
        assert base64.b64decode(shown["bytes"]) == value
        try:
            text = value.decode()
            assert shown["string"] == text
        except UnicodeDecodeError:
            assert "string" not in shown
        try:
            inner = values(value)
        except Exception:
            return "message" not in shown
        return "message" not in shown or same(shown["message"], inner)
    return same(shown["group"], {})


def same(shown: dict, found: dict) -> bool:
    if not found:
        return True
    return list(shown) == sorted(found, key=int) and all(
        len(shown[number]) == len(found[number])
        and all(agrees(one, two) for one, two in zip(shown[number], found[number], strict=True))
        for number in found
    )


def test_json_has_the_values_of_upb(rpcurl):
    for one in MESSAGES:
        result = rpcurl("convert", "--no-schema", "--to", "json", input=one).succeeds()
        assert same(result.json(), values(one)), one.hex()


def test_stream(rpcurl):
    stream = b"".join(varint(len(one)) + one for one in MESSAGES)
    lines = rpcurl("convert", "--no-schema", "--delimited", "--to", "json", input=stream).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        rpcurl("convert", "--no-schema", "--to", "json", input=one).json() for one in MESSAGES
    ]
    assert rpcurl("convert", "--no-schema", "--delimited", input=b"\x02\x08\x01\x02\x08\x02").out == "1: 1\n1: 2\n"


def test_depth_is_limited(rpcurl):
    data = b"\x08\x01"
    while len(data) < 1 << 20:
        data = b"\x0a" + varint(len(data)) + data
        if len(data) < 20_000:
            data += b"\x12" + varint(1000) + b"x" * 1000
        else:
            data = data * 2
    result = rpcurl("convert", "--no-schema", "--to", "json", input=data)
    assert result.code == 0 and result.out.count('"message"') > 10
    assert without_comments(rpcurl("convert", "--no-schema", input=data).out) == decode_raw(data)
    groups = b"\x0b" * 101 + b"\x0c" * 101
    assert rpcurl("convert", "--no-schema", input=groups).code == 4


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--type", "X"], "--type: cannot be combined with --no-schema"),
        (["--descriptor-set", "x"], "--descriptor-set: cannot be combined with --no-schema"),
        (["--from", "json"], "--from json: cannot be combined with --no-schema"),
        (["--to", "binary"], "--to binary: cannot be combined with --no-schema"),
        (["--unknown-fields", "drop"], "--unknown-fields drop: cannot be combined with --no-schema"),
    ],
)
def test_usage(rpcurl, words, error):
    assert rpcurl("convert", "--no-schema", *words, input=b"").exits(2, "").err.splitlines()[0] == f"rpcurl: {error}"


@pytest.mark.parametrize("data", [b"\xff", b"\x08", b"\x0a\x05ab", b"\x0c", b"\x00\x01"])
def test_invalid_messages(rpcurl, data):
    rpcurl("convert", "--no-schema", input=data).exits(4, "").reports("byte")


# Unknown fields

TYPE = "demo.v1.HelloRequest"
UNKNOWN = b"\x0a\x03Ada\xd0\x0f\x01"
JSON = '{"name":"Ada"}\n'
SHOWN = '{"name":"Ada","250":[{"uint64":"1","sint64":"-1","bool":true}]}\n'


@pytest.mark.parametrize(
    ("target", "default", "shown", "dropped"),
    [
        ("json", JSON, SHOWN, JSON),
        ("text", 'name: "Ada"\n250: 1\n', 'name: "Ada"\n250: 1\n', 'name: "Ada"\n'),
        ("binary", UNKNOWN.decode("latin1"), UNKNOWN.decode("latin1"), "\n\x03Ada"),
    ],
)
def test_unknown_fields_of_convert(rpcurl, descriptor_set, target, default, shown, dropped):
    words = ["--descriptor-set", descriptor_set, "--type", TYPE, "--from", "binary", "--to", target]
    for options, output in [([], default), (["show"], shown), (["drop"], dropped)]:
        options = [f"--unknown-fields={option}" for option in options]
        assert rpcurl("convert", *words, *options, input=UNKNOWN).exits(0).out_bytes.decode("latin1") == output
    assert rpcurl("convert", *words, "--no-unknown-fields", input=UNKNOWN).out_bytes.decode("latin1") == dropped


@pytest.fixture
def old_set(tmp_path, descriptor_set):
    """The demo's schema without the field of HelloReply."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    files = FileDescriptorSet.FromString(descriptor_set.read_bytes())
    for file in files.file:
        file.ClearField("source_code_info")
        for type in file.message_type:
            if type.name == "HelloReply":
                del type.field[:]
                type.ClearField("oneof_decl")
    path = write(tmp_path / "old.binpb", files.SerializeToString())
    return path


def test_unknown_fields_of_calls(rpcurl, grpc_server, old_set):
    words = ["--descriptor-set", old_set, "--plaintext", "-d", '{"name":"Ada"}', grpc_server.address]

    def call(*options):
        return rpcurl(*words, "demo.v1.Demo/Hello", *options).succeeds().out

    shown = json.loads(call("--unknown-fields", "show"))
    assert shown["1"][0]["string"].startswith("Hello")
    assert json.loads(call("--unknown-fields", "drop")) == json.loads(call()) == {}
    text = call("--format", "text")
    assert text.startswith('1: "Hello') and call("--format", "text", "--unknown-fields", "show") == text
    assert call("--format", "text", "--unknown-fields", "drop") == ""
    assert call("--format", "binary").startswith("\n") and call("--format", "binary", "--unknown-fields", "drop") == ""
    events = [json.loads(line) for line in call("--format", "events", "--unknown-fields", "show").splitlines()]
    assert [event["message"] for event in events if event["event"] == "message"] == [shown]
    pretty = call("--format", "pretty", "--unknown-fields", "show")
    assert json.loads(pretty) == shown and pretty.startswith('{\n  "1": [\n    {\n      "string": ')


def test_unknown_fields_in_a_session(rpcurl, grpc_server, old_set):
    script = 'call Hello {"name":"Ada"}\noptions --unknown-fields show\ncall Hello {"name":"Ada"}\n'
    result = rpcurl("session", "--descriptor-set", old_set, "--plaintext", grpc_server.address, input=script)
    first, second = [json.loads(line) for line in result.out.splitlines() if line.startswith("{")]
    assert first == {} and second["1"][0]["string"].startswith("Hello")


# Fields of converted messages


def test_filter_without_a_schema(rpcurl, tmp_path):
    data = b"\x0a\x03\xff\xfe\x00\x0a\x02hi\x12\x04\x0a\x02(A\x18\x07"
    file = write(tmp_path / "message.bin", data)

    def convert(*words):
        return rpcurl("convert", "--no-schema", file, *words)

    assert convert("--filter", "1", "--raw").out_bytes == b"\xff\xfe\x00hi"
    assert convert("--filter", "1[0]", "--raw").out_bytes == b"\xff\xfe\x00"
    assert convert("--filter", "2", "--raw").out_bytes == b"\x0a\x02(A"
    assert convert("--filter", "2.1", "--raw").out_bytes == b"(A"
    assert convert("--filter", "3").json() == {"uint64": "7", "sint64": "-4"}
    assert [json.loads(line)["bytes"] for line in convert("--filter", "1[]").out.splitlines()] == ["//4A", "aGk="]
    for words, code, error in [
        (["9"], 8, "--filter 9: message 1 has no such field"),
        (["3", "--raw"], 8, "--filter 3 --raw: message 1 has a number there, which has no bytes"),
        (["name"], 2, "--filter name: not a path of field numbers"),
        (["1", "--to", "text"], 2, "--filter: cannot be combined with --to text"),
    ]:
        result = convert("--filter", *words)
        assert (result.code, result.out, result.err.splitlines()[0]) == (code, "", f"rpcurl: {error}")
    assert (convert("--filter", "9", "--filter-missing", "skip").out, convert("--raw").code) == ("", 2)
    assert convert("--filter", "9", "--filter-missing", "null").out == "null\n"


@pytest.mark.parametrize("source", ["json", "binary", "text"])
def test_filter_with_a_schema(rpcurl, descriptor_set, source):
    words = ["--descriptor-set", descriptor_set, "--type", "demo.v1.AllTypes", "--from"]
    value = {"bytesValue": base64.b64encode(b"\x00\xff").decode(), "nested": {"label": "Ada", "number": 3}}
    message = rpcurl("convert", *words, "json", "--to", source, input=json.dumps(value)).out_bytes

    def convert(*filter, data=message, delimited=()):
        return rpcurl("convert", *words, source, "--to", "json", "--filter", *filter, *delimited, input=data)

    assert convert("bytesValue", "--raw").out_bytes == b"\x00\xff"
    assert convert("nested.label").out == "Ada\n"
    assert convert("nested").json() == value["nested"]
    assert convert("optionalNested.label").err.startswith(
        "rpcurl: --filter optionalNested.label: message 1 has no such field\n"
    )
    stream = rpcurl(
        "convert", *words, "json", "--to", source, "--delimited", input='{"nested":{"label":"a"}} {"nested":{"label":"b"}}'
    ).out_bytes
    assert convert("nested.label", data=stream, delimited=["--delimited"]).out == "a\nb\n"
