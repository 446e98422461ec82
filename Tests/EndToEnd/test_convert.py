"""`rpcurl convert`: messages from one form into another, whole and as streams."""

import json
import os
import subprocess

import pytest
from harness import wait_until, write

TYPE = "demo.v1.HelloRequest"


@pytest.fixture
def convert(rpcurl, descriptor_set):
    """Converts `input` with the demo's schema: convert("json", "binary", …, input=…)."""

    def run(source, target, *arguments, type=TYPE, **options):
        words = ["--type", type, "--from", source, "--to", target]
        return rpcurl("convert", "--descriptor-set", descriptor_set, *words, *arguments, **options)

    return run


FORMS = {"json": b'{"name":"Ada"}\n', "text": b'name: "Ada"\n', "binary": b"\x0a\x03Ada"}
STREAMS = {
    "json": b'{"name":"Ada"}\n{}\n{"name":"B"}\n',
    "text": b'name: "Ada"\n\nname: "B"\n',
    "binary": b"\x05\x0a\x03Ada\x00\x03\x0a\x01B",
}


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("target", FORMS)
def test_single_message(convert, tmp_path, source, target):
    result = convert(source, target, input=FORMS[source])
    assert (result.code, result.err, result.out_bytes) == (0, "", FORMS[target])
    file = write(tmp_path / "input", FORMS[source])
    assert convert(source, target, file).out_bytes == FORMS[target]


@pytest.mark.parametrize("source", STREAMS)
@pytest.mark.parametrize("target", STREAMS)
def test_stream(convert, source, target):
    result = convert(source, target, "--delimited", input=STREAMS[source])
    assert (result.code, result.err, result.out_bytes) == (0, "", STREAMS[target])


def test_options_of_json(convert):
    options = ["--emit-defaults", "--enum-numbers", "--proto-names", "--pretty"]
    data = json.dumps({"color": "COLOR_RED", "stringValue": "x"})
    result = convert("json", "json", *options, type="demo.v1.AllTypes", input=data)
    read = result.json()
    assert (read["color"], read["string_value"], read["int32_value"]) == (1, "x", 0)
    assert result.out.startswith("{\n  ")


def test_input_is_converted_as_it_arrives(rpcurl, descriptor_set):
    words = ["--type", TYPE, "--from", "json", "--to", "json"]
    with rpcurl.start("convert", "--descriptor-set", descriptor_set, *words) as process:
        for name in ["a", "b"]:
            process.stdin.write(f'{{"name":"{name}"}}\n'.encode())
            assert process.stdout.readline() == f'{{"name":"{name}"}}\n'.encode()
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize(("source", "target"), [("binary", "json"), ("json", "binary"), ("text", "binary")])
def test_memory_does_not_grow_with_the_stream(rpcurl, descriptor_set, tmp_path, source, target):
    one = {"binary": b"\x05\x0a\x03Ada", "json": FORMS["json"], "text": FORMS["text"]}[source]

    def peak_kilobytes(count):
        file = write(tmp_path / "input", one * count)
        words = ["--type", TYPE, "--from", source, "--to", target, "--delimited", str(file)]
        command = rpcurl.command(("convert", "--descriptor-set", descriptor_set, *words))
        child = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        return int(subprocess.run(["python3", "-c", child, *command], check=True, capture_output=True).stdout)

    # 3 MB of input, of which little more than one piece is kept. Sanitizers keep freed memory.
    assert peak_kilobytes(300_000) < peak_kilobytes(1000) + 6000


# Errors


def test_wrong_usage(rpcurl, convert):
    rpcurl("convert", "--from", "json", "--to", "text").fails(2, "--type")
    convert("yaml", "text").fails(2, "yaml", "json")


def test_schema_errors(rpcurl, convert):
    rpcurl("convert", "--type", TYPE, "--from", "json", "--to", "text").fails(3, "--descriptor-set")
    convert("json", "text", type="demo.v1.HelloRequst").fails(3, "demo.v1.HelloRequst", f"did you mean {TYPE}")


@pytest.mark.parametrize(
    ("source", "data", "words"),
    [
        ("json", "", ["standard input", "empty"]),
        ("json", '{\n"nam": "Ada"}', ["line 2, column 1", "nam", "did you mean name?"]),
        ("json", '{"name":"Ada"', ["line 1, column 14", "unexpected end"]),
        ("text", "name: 'Ada'\nnam: 1", ["line 2, column 1", "nam", "did you mean name?"]),
        ("text", "1: 'Ada'", ["not a number"]),
        ("binary", b"\x0a\x05Ada", ["truncated", "name", "byte 1"]),
        ("binary", b"\x0a\x01\xff", ["UTF-8", "name", "byte 1"]),
    ],
)
def test_input_that_does_not_match_the_schema(convert, source, data, words):
    convert(source, "json", input=data).fails(4, *words)


def test_messages_before_an_error_are_printed(convert):
    convert("json", "json", input='{"name":"Ada"} {"name":1}').fails(4, "column 24", out=FORMS["json"])
    convert("binary", "text", "--delimited", input=b"\x05\x0a\x03Ada\x05\x0a").fails(4, "message 2", out=FORMS["text"])


def test_several_messages_need_a_stream(convert):
    convert("json", "binary", input="{} {}").fails(4, "more than one message")


def test_unreadable_file(convert, tmp_path):
    for options in [[], ["--delimited"]]:
        convert("binary", "json", *options, "/no/such/file").fails(4, "/no/such/file", "No such file")
        convert("binary", "json", *options, tmp_path).fails(4, str(tmp_path), "directory")


def test_a_file_that_becomes_shorter(rpcurl, descriptor_set, tmp_path):
    file = write(tmp_path / "input", FORMS["binary"] * 4_000_000)
    words = ["--descriptor-set", descriptor_set, "--type", TYPE, "--from", "binary", "--to", "text"]
    with rpcurl.start("convert", *words, file) as process:
        wait_until(lambda: process.poll() is not None or process.processor_ticks() >= 10, "the program runs")
        os.truncate(file, 1000)
        process.communicate()
        # Not the number of a signal.
        assert process.returncode in (0, 4)


@pytest.mark.parametrize("fields", ["optional string a_b = 1; optional string aB = 2;", 'optional string a_b = 1; optional string aB = 2 [json_name="c"];'])
def test_json_names_that_are_names_of_other_fields(rpcurl, tmp_path, fields):
    file = write(tmp_path / "a.proto", 'syntax = "proto2"; message X { ' + fields + " }")
    words = ["convert", "--proto", file, "--type", "X", "--from"]
    text = 'a_b: "1"\naB: "2"\n'
    for name, value in [("a_b", "1"), ("aB", "2")]:
        assert rpcurl(*words, "text", "--to", "json", "--filter", name, input=text).out == f"{value}\n"
    values = rpcurl(*words, "text", "--to", "json", input=text).json()
    assert values == ({"aB": "1", "c": "2"} if "json_name" in fields else {"a_b": "1", "aB": "2"})
    assert rpcurl(*words, "json", "--to", "text", input=json.dumps(values)).out == text


# Unknown fields and strings that are not UTF-8

UNKNOWN = b"\x0a\x03Ada\xd0\x0f\x01"


def test_unknown_fields_of_text(convert):
    text = convert("binary", "text", input=UNKNOWN).out
    assert text == 'name: "Ada"\n250: 1\n'
    convert("text", "binary", input=text).fails(4, "not a number", "--allow-unknown-fields")
    assert convert("text", "binary", "--allow-unknown-fields", input=text).out_bytes == FORMS["binary"]
    assert convert("binary", "text", "--no-unknown-fields", input=UNKNOWN).out_bytes == FORMS["text"]


@pytest.fixture
def old_set(tmp_path):
    """A schema of proto2, which does not check that strings are UTF-8."""
    (tmp_path / "old.proto").write_text(
        'syntax = "proto2"; message Old { optional string a = 1; map<string, int32> m = 2; }'
    )
    output = tmp_path / "old.binpb"
    subprocess.run(["protoc", f"-I{tmp_path}", f"-o{output}", "old.proto"], check=True)
    return output


def test_strings_that_are_not_utf8(rpcurl, old_set):
    words = ["--descriptor-set", old_set, "--type", "Old", "--from", "binary", "--to"]
    result = rpcurl("convert", *words, "json", input=b"\x0a\x01\xff").exits(0, '{"a":"\ufffd"}\n')
    assert result.err.startswith("rpcurl: standard input: warning: invalid UTF-8 in strings became U+FFFD")
    assert rpcurl("convert", "-s", *words, "json", input=b"\x0a\x01\xff").err == ""
    for target in ["text", "binary"]:
        assert rpcurl("convert", *words, target, input=b"\x0a\x01\xff").err == ""


@pytest.mark.parametrize("options", [["--to", "json"], ["--to", "csv"], ["--to", "json", "--filter", "a"]])
def test_fields_that_are_not_utf8(rpcurl, old_set, options):
    words = ["--descriptor-set", old_set, "--type", "Old", "--from", "binary", "--filter", "a", *options]
    result = rpcurl("convert", *words, input=b"\x0a\x01\xff").exits(0)
    assert "\ufffd" in result.out
    assert result.err.startswith("rpcurl: standard input: warning: invalid UTF-8 in strings became U+FFFD")
    assert rpcurl("convert", *words, input=b"\x0a\x01f").err == ""


def test_replaced_bytes_before_an_error_are_reported(rpcurl, old_set):
    words = ["--descriptor-set", old_set, "--type", "Old", "--from", "binary", "--to", "json", "--delimited"]
    result = rpcurl("convert", *words, input=b"\x03\x0a\x01\xff\x03\x0a")
    assert (result.code, result.out) == (4, '{"a":"\ufffd"}\n')
    warning, error = result.err.splitlines()[:2]
    assert "became U+FFFD" in warning and "message 2" in error


def test_map_keys_that_are_not_utf8(rpcurl, old_set):
    data = b"\x12\x05\x0a\x01\xee\x10\x01\x12\x05\x0a\x01\xef\x10\x02"
    words = ["--descriptor-set", old_set, "--type", "Old", "--from"]
    assert rpcurl("convert", *words, "binary", "--to", "binary", input=data).out_bytes == data
    text = rpcurl("convert", *words, "binary", "--to", "text", input=data).out
    assert 'key: "\\356"' in text and 'key: "\\357"' in text
    assert rpcurl("convert", *words, "text", "--to", "binary", input=text).out_bytes == data
    rpcurl("convert", *words, "binary", "--to", "json", input=data).fails(4, "m", "a map key that is not UTF-8")


# The schema of a server


JSON_TO_TEXT = ["--type", TYPE, "--from", "json", "--to", "text"]


def test_schema_of_a_server(rpcurl, grpc_server, tmp_path):
    words = ["convert", "--plaintext", *JSON_TO_TEXT]
    assert rpcurl(*words, grpc_server.address, input='{"name":"Ada"}').exits(0, err="").out == 'name: "Ada"\n'
    file = write(tmp_path / "request.json", '{"name":"B"}')
    assert rpcurl(*words, grpc_server.address, file).exits(0).out == 'name: "B"\n'
    # With a configured target, the argument is the file.
    assert rpcurl(*words, file, env={"RPCURL_TARGET": grpc_server.url}).exits(0).out == 'name: "B"\n'
    rpcurl(*words, grpc_server.address, file, "x").exits(2).reports("x: unexpected argument")
    rpcurl("convert", "--plaintext", "--type", "HelloReqest", *JSON_TO_TEXT[2:], grpc_server.address, input="{}").exits(3).reports(
        "did you mean demo.v1.HelloRequest?",
    )


def test_content_of_any_has_a_type_of_the_server(rpcurl, grpc_server):
    data = '{"@type":"type.googleapis.com/demo.v1.HelloRequest","name":"Ada"}'
    words = ["--type", "google.protobuf.Any", "--from", "json", "--to", "text"]
    result = rpcurl("convert", "--plaintext", "--reflect", *words, grpc_server.address, input=data)
    assert (result.code, result.out) == (0, '[type.googleapis.com/demo.v1.HelloRequest] {\n  name: "Ada"\n}\n')


def test_descriptor_set_before_the_server(rpcurl, grpc_server, descriptor_set):
    """The server is asked with --reflect only."""
    words = ["convert", "--plaintext", "--descriptor-set", descriptor_set, *JSON_TO_TEXT]
    assert rpcurl(*words, "--reflect", grpc_server.address, input='{"name":"Ada"}').exits(0).out == 'name: "Ada"\n'
    rpcurl(*words, grpc_server.address, input="{}").exits(4).reports(f"{grpc_server.address}: No such file")


def test_no_source_of_a_schema(rpcurl, tmp_path, start_server):
    file = write(tmp_path / "request.json", "{}")
    for arguments in ([], [file], ["-"]):
        result = rpcurl("convert", *JSON_TO_TEXT, *arguments, input="{}").exits(3)
        result.reports("no schema: neither a server nor another source is given", "hint: name a server before the file")
    server = start_server("grpc_server.py", "--no-reflection")
    rpcurl("convert", "--plaintext", *JSON_TO_TEXT, server.address, input="{}").exits(3).reports("reflection")
    rpcurl("convert", "--no-schema", "--reflect", input="").exits(2).reports("cannot be combined with --no-schema")
    built_in = ["--type", "google.protobuf.Timestamp", "--from", "json", "--to", "binary"]
    assert rpcurl("convert", *built_in, input='"1970-01-01T00:00:01Z"').exits(0).out_bytes == b"\x08\x01"


# Columns


def test_columns_have_a_head(convert):
    data = '{"name":"Ada"}{"name":"B,\\t","language":"de"}'
    columns = ["--filter", "name", "--filter", "language", "--filter-missing", "null"]
    assert convert("json", "json", *columns, input=data).out == "Ada\t\nB,\\t\tde\n"
    assert convert("json", "tsv", *columns, input=data).out == "name\tlanguage\nAda\t\nB,\\t\tde\n"
    assert convert("json", "csv", *columns, input=data).out == 'name,language\nAda,\n"B,\t",de\n'
    assert convert("json", "csv", "--filter", "name", input="").out == "name\n"
    convert("json", "csv", input=data).exits(2).reports("--to csv: requires --filter")
    convert("json", "text", *columns, input=data).exits(2).reports("cannot be combined with --to text")
    convert("json", "csv", *columns, "--raw", input=data).exits(2).reports("cannot be combined with columns")
    convert("json", "json", "--format", "csv", *columns, input=data).exits(2).reports("hint: use --to")
