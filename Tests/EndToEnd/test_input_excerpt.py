"""Wrong input is shown: its line, and a mark under the place."""

import json

import pytest

SERVICE = "demo.v1.Demo"
ECHO = ["http://127.0.0.1:1", f"{SERVICE}/Echo"]
SUM = f"{SERVICE}/Sum"


@pytest.fixture
def shown(demo):
    """The two lines that show the place of wrong data."""

    def shown(*words, **more):
        return excerpt(demo(*words, **more).exits(4))

    return shown


def excerpt(result):
    first, *rest = result.err.split("\n")
    assert first.startswith("rpcurl: ") and rest.pop() == ""
    if rest and rest[-1].startswith("hint: "):
        rest.pop()
    assert len(rest) in (0, 2) and all(line.startswith("  ") for line in rest)
    return [line[2:] for line in rest]


JSON = [
    ('{"stringValu":"a"}', ['{"stringValu":"a"}', " ^"]),
    ('{\n  "stringValue": 1,\n  "boolValue": true\n}', ['  "stringValue": 1,', "                 ^"]),
    ('{"stringValue":"a"', ['{"stringValue":"a"', "                  ^"]),
    ('{"stringValue":"a",}', ['{"stringValue":"a",}', "                   ^"]),
    ('\t{"stringValue":\t1}', ['…{"stringValue":  1}', "                  ^"]),
    ('{"stringValue":"é漢字🎉","x":1}', ['{"stringValue":"é漢字🎉","x":1}', "                         ^"]),
    ('{"stringValue":"a\x1b[31m","x":1}', ['{"stringValue":"a\\u{1B}[31m","x":1}', "                 ^"]),
    ('{"stringValue":"a\u202eb","x":1}', ['{"stringValue":"a\\u{202E}b","x":1}', "                            ^"]),
    ("  ]", ["  ]", "  ^"]),
    ('{"stringValue":"a"} {}', ["…{}", " ^"]),
]


@pytest.mark.parametrize(("data", "lines"), JSON)
def test_data_on_the_command_line(shown, data, lines):
    assert shown("-d", data, *ECHO) == lines


@pytest.mark.parametrize(("data", "lines"), JSON)
def test_a_file_and_standard_input(shown, tmp_path, data, lines):
    (tmp_path / "data").write_text(data)
    assert shown("-d", f"@{tmp_path}/data", *ECHO) == lines
    assert shown("-d", "@-", *ECHO, input=data) == lines


def test_bytes_that_are_not_text(shown):
    assert shown("-d", "@-", *ECHO, input=b'{"stringValue":"\xff\xfe"}') == ['{"stringValue":"\ufffd\ufffd"}', "                ^"]


def test_a_long_line_is_cut_around_the_position(shown):
    data = '{"strings":[' + ",".join(f'"{n:06}"' for n in range(100_000)) + ',1,"x"' + ',"y"' * 100_000 + "]}"
    line, mark = shown("-d", "@-", *ECHO, input=data)
    assert len(line) <= 76 and line.startswith("…") and line.endswith("…")
    assert line[mark.index("^")] == "1"
    assert 30 < mark.index("^") < 40
    line, mark = shown("-d", "@-", *ECHO, input=data[:-300_010].replace(",1", ""))
    assert line.startswith("…") and not line.endswith("…")
    line, mark = shown("-d", '{"a":1,"strings":[' + '"漢字",' * 200 + "]}", *ECHO)
    assert (line[1], mark) == ('"', " ^") and line.endswith("…") and len(line) < 60


def test_a_running_stream(rpcurl, grpc_server, descriptor_set):
    words = ["--descriptor-set", descriptor_set, f"{grpc_server.url}/{SUM}"]
    result = rpcurl(*words, input='{"value":1}\n{"value":2} {"valu":3}\n')
    assert result.code == 4 and excerpt(result) == ['…{"valu":3}', "  ^"]
    assert excerpt(rpcurl(*words, input='{"value":1}\n{"value":2} ]')) == ['{"value":2} ]', "            ^"]
    rpcurl("--each", *words[:2], f"{grpc_server.url}/{SERVICE}/Hello", input='{"name":"A"}\n{"nam":"B"}\n').exits(4).reports('  {"nam":"B"}\n   ^\n')


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ('stringValu: "a"', ['stringValu: "a"', "^"]),
        ('string_value: "a"\nnested {\n\tlabel: 1\n}', ["  label: 1", "         ^"]),
        ('string_value: "漢" x', ['string_value: "漢" x', "                   ^"]),
    ],
)
def test_text_format(shown, data, lines):
    assert shown("--data-format", "text", "-d", data, *ECHO) == lines


def test_text_format_of_a_stream(rpcurl, grpc_server, descriptor_set):
    words = ["--descriptor-set", descriptor_set, "--data-format", "text", f"{grpc_server.url}/{SUM}"]
    assert excerpt(rpcurl(*words, input="value: 1\nvalue: x\n")) == ["value: x", "       ^"]


def test_binary_data_has_no_lines(shown):
    assert shown("--data-format", "binary", "-d", "@-", *ECHO, input=b"\x0a\xff") == []


@pytest.mark.parametrize(
    ("from_", "options", "data", "lines"),
    [
        ("json", [], '{"name": "A",\n "nam": 1}', [' "nam": 1}', " ^"]),
        ("json", [], '{"name": "A"', ['{"name": "A"', "            ^"]),
        ("json", ["--delimited"], '{"name":"A"} {"nam":"B"}\n', ['{"name":"A"} {"nam":"B"}', "              ^"]),
        ("text", [], 'name: "A"\n  nam: "B"', ['  nam: "B"', "  ^"]),
        ("text", ["--delimited"], 'name: "A"\nname: 1\n', ["name: 1", "      ^"]),
        ("binary", [], "\x0a\x7f", []),
    ],
)
def test_convert(rpcurl, descriptor_set, from_, options, data, lines):
    words = ["convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloRequest", "--from", from_, "--to", "json"]
    result = rpcurl(*words, *options, input=data)
    assert result.code == 4 and excerpt(result) == lines


def test_convert_of_large_input(rpcurl, descriptor_set):
    words = ["convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloRequest", "--from", "json", "--to", "json", "--delimited"]
    result = rpcurl(*words, input='{"name":"A"}' * 200_000 + '{"nam":"B"}' + '{"name":"C"}' * 100)
    line, mark = excerpt(result)
    assert result.code == 4 and line[mark.index("^") :].startswith('"nam"') and line.startswith("…") and line.endswith("…")


def test_errors_as_json_contain_the_excerpt(rpcurl, descriptor_set):
    result = rpcurl("--error-format", "json", "--descriptor-set", descriptor_set, "-d", '{"a":\n1}', *ECHO)
    assert json.loads(result.err)["error"]["excerpt"] == '{"a":'


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ('{"stringValue":1,\r\n"boolValue":true}\r\n', ['{"stringValue":1,', "               ^"]),
        ('{"boolValue":true,\r\n"stringValue":1}\r\n', ['"stringValue":1}', "              ^"]),
        ('{"stringValue":\r\n}\r\n', ["}", "^"]),
    ],
)
def test_lines_that_end_with_carriage_return_and_newline(shown, data, lines):
    assert shown("-d", "@-", *ECHO, input=data) == lines
