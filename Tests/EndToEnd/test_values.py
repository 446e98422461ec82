"""Bytes, files and values: fields from files and options, selected fields of responses, and value functions."""

import json
import re
import subprocess

import pytest

import manual
from harness import PATIENCE_SECONDS, write

SERVICE = "demo.v1.Demo"
CHUNK = 1 << 16


def output(result):
    assert (result.code, result.err) == (0, "")
    return result.out


def failure(result, code):
    assert result.code == code
    return result.err.splitlines()


# Errors in data


@pytest.mark.parametrize(
    ("data", "why", "hint"),
    [
        ('{"color":"GREN"}', 'color: demo.v1.Color has no value "GREN"', "did you mean COLOR_GREEN?"),
        ('{"color":"infrared"}', 'color: demo.v1.Color has no value "infrared"', "did you mean COLOR_INFRARED?"),
        ('{"bytesValue":"a!"}', "bytesValue: not base64", '"YSE=" is the base64 of this text; --set-file bytesValue=FILE'),
        ('{"duration":60}', 'duration: expected a duration such as "1.5s"', None),
        ('{"choiceText":"a","choice_flag":true}', '"choiceText" and "choice_flag" are both set', None),
        ('{"any":{"@type":"x/HelloReqest"}}', "does not define the type HelloReqest", "did you mean demo.v1.HelloRequest?"),
        ('{"any":{"@type":"x/HelloRequest"}}', "does not define the type HelloRequest", "did you mean demo.v1.HelloRequest?"),
        ('{"nested": "a": 1}, "b": 2}', 'expected "," or "}" (line 1, column 15)', None),
    ],
)  # fmt: skip
def test_errors_show_what_to_write(grpc_call, data, why, hint):
    lines = failure(grpc_call("Echo", "-d", data), 4)
    assert why in lines[0]
    assert (hint or "") in lines[-1]


def test_unexpanded_functions_are_named(grpc_call):
    for options in (["-d", '{"bytesValue":"${base64(foo)}"}'], ["--set", "bytesValue=${base64(foo)}"]):
        lines = failure(grpc_call("Echo", *options), 4)
        assert lines[-1] == "hint: add --expand to replace ${base64(foo)}"
    lines = failure(grpc_call("Echo", "--set", "int64Value=${random(1,9)}"), 4)
    assert lines[-1] == "hint: add --expand to replace ${random(1,9)}"
    # The cause of another field is not a function.
    lines = failure(grpc_call("Echo", "-d", '{"stringValue":"${uuid()}","bytesValue":"!"}'), 4)
    assert "to replace" not in lines[-1]
    assert failure(grpc_call("Echo", "--set", "bytesValue=@f.bin"), 4)[-1] == "hint: use --set-file bytesValue=f.bin"


TEXT_NOTE = """note: {0}: "bar" was read as base64 (2 bytes)
hint: to send this text, write ${{base64({2})}} with --expand, or use {1}
"""


def test_text_in_bytes_fields_is_noted(grpc_call, tmp_path):
    data = '{"bytesValue":"bar"}'
    result = grpc_call("Echo", "-d", data).exits(0, err=TEXT_NOTE.format("bytesValue", "--data-format text", r'\"bar\"'))
    assert result.json() == {"bytesValue": "bao="}
    grpc_call("Echo", "-d", '{"nested":{},"bytesList":["Zm9v","bar","foo"]}').exits(0, err=TEXT_NOTE.format("bytesList[1]", "--data-format text", r'\"bar\"'))
    grpc_call("Echo", "--set", "bytesValue=bar").exits(0, err=TEXT_NOTE.format("--set bytesValue", "--set-file bytesValue=FILE", '"bar"'))
    # The word of four letters has no padding to lack.
    assert 'was read as base64 (3 bytes)' in grpc_call("Echo", "--set", "bytesValue=Adam").err
    path = write(tmp_path / "data.json", data)
    for options in (["-s", "-d", data], ["-d", f"@{path}"], ["-d", '{"bytesValue":"bao="}']):
        output(grpc_call("Echo", *options))
    output(grpc_call("Echo", "-d", "@-", input=data))
    output(grpc_call("Echo", "--expand", "-d", r'{"bytesValue":"${base64(\"bar\")}"}'))


def test_functions_that_are_sent_as_text_are_noted(grpc_call, tmp_path):
    note = "note: ${uuid()} is sent as text\nhint: add --expand to replace it\n"
    data = '{"stringValue":"${uuid()}","strings":["${uuid()}"]}'
    grpc_call("Echo", "-d", data).exits(0, err=note)
    grpc_call("Echo", "--set", "stringValue=${uuid()}").exits(0, err=note)
    assert "note: ${NAME} is sent as text" in grpc_call("Echo", "-d", '{"stringValue":"${NAME}"}').err
    output(grpc_call("Echo", "-d", '{"stringValue":"$NAME $${uuid()}"}'))
    output(grpc_call("Echo", "--expand", "-d", data))


# Output


def test_limit_ends_a_stream_cleanly(grpc_call, grpc_server):
    data = '{"from":1,"to":1000000,"intervalMs":1}'
    before = grpc_server.canceled_calls(f"{SERVICE}/Count")
    assert output(grpc_call("Count", "--limit", 3, "-d", data)) == '{"number":1}\n{"number":2}\n{"number":3}\n'
    grpc_server.wait_for_canceled_calls(f"{SERVICE}/Count", before + 1)
    assert output(grpc_call("Count", "--limit", 3, "-d", '{"from":1,"to":2}')) == '{"number":1}\n{"number":2}\n'
    assert output(grpc_call("Hello", "--limit", 1, "-d", '{"name":"Ada"}')).startswith("{")
    assert failure(grpc_call("Hello", "--limit", 0), 2)[0] == "rpcurl: --limit: must be at least 1"
    assert failure(grpc_call("Hello", "--limit", 1, "--each"), 2)[0] == "rpcurl: --limit: cannot be combined with --each"


def test_limit_counts_printed_messages(grpc_call):
    options = ["--filter", "number", "--limit", 2, "-d", '{"from":5,"to":9}']
    assert output(grpc_call("Count", *options)) == "5\n6\n"


def test_int64_numbers(grpc_call):
    data = '{"int64Value":"-9007199254740993","uint64s":["1"],"stringToInt32":{"a":1}}'
    expected = '{"int64Value":-9007199254740993,"uint64s":[1],"stringToInt32":{"a":1}}\n'
    assert output(grpc_call("Echo", "--int64-numbers", "-d", data)) == expected
    assert failure(grpc_call("Echo", "--int64-numbers", "--format", "text"), 2)[0].endswith("only for JSON; the output is text")


MESSAGE = json.dumps(
    {
        "nesteds": [{"label": "a", "child": {"number": 1}}, {"label": "b"}, {"label": "c", "child": {"number": 3}}],
        "stringToInt32": {"x y": 1, "z": 2},
        "int32ToString": {"-1": "minus", "7": "seven"},
        "struct": {"list": [{"k": "v"}, 2], "text": "t", "n.m": True},
        "value": [1, "two"],
        "any": {"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "Ada"},
        "anys": [
            {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "2s"},
            {"@type": "type.googleapis.com/demo.v1.FindRequest", "id": "3"},
        ],
        "int32s": [1, 2, 3],
        "wrappedString": "w",
    }
)


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("nesteds[].label", ["a", "b", "c"]), ("nesteds[-1].label", ["c"]), ("int32s[]", ["1", "2", "3"]), ("int32s", ["1", "2", "3"]),
        ("string_to_int32.z", ["2"]), ('stringToInt32["x y"]', ["1"]), ("stringToInt32[]", ["1", "2"]), ("int32ToString[-1]", ["minus"]),
        ("struct.text", ["t"]), ("struct.list[0].k", ["v"]), ("struct.list[]", ['{"k":"v"}', "2"]), ('struct["n.m"]', ["true"]),
        ("value[-1]", ["two"]), ("any.name", ["Ada"]), ("any.@type", ["type.googleapis.com/demo.v1.HelloRequest"]),
        ("anys[0].value", ["2s"]), ("wrappedString", ["w"]), ("struct.list", ['[{"k":"v"},2]']), ("strings[]", []),
    ],
)  # fmt: skip
def test_filter(grpc_call, path, lines):
    assert output(grpc_call("Echo", "--filter", path, "-d", MESSAGE)).splitlines() == lines


def test_filter_missing(grpc_call):
    path = "nesteds[].child.number"
    lines = failure(grpc_call("Echo", "--filter", path, "-d", MESSAGE), 8)
    assert lines[0] == f"rpcurl: --filter {path}: response message 0 has no such field"
    assert output(grpc_call("Echo", "--filter", path, "--filter-missing", "skip", "-d", MESSAGE)) == "1\n3\n"
    assert output(grpc_call("Echo", "--filter", path, "--filter-missing", "null", "-d", MESSAGE)) == "1\nnull\n3\n"
    assert output(grpc_call("Echo", "--filter", "anys[].id", "--filter-missing", "skip", "-d", MESSAGE)) == "3\n"
    assert output(grpc_call("Echo", "--filter", "int32s[-4]", "--filter-missing", "skip", "-d", MESSAGE)) == ""


@pytest.mark.parametrize(
    ("options", "code", "what"),
    [
        (["--filter", "nesteds.label"], 2, "nesteds is a list or a map"), (["--filter", "int32_value[]"], 2, "int32_value is neither"),
        (["--filter", "nestedz[].label"], 3, "has no field nestedz"), (["--filter", "nesteds[].labe"], 3, "has no field labe"),
        (["--filter", "self" + ".self" * 200], 2, "at most 100 steps"), (["--raw"], 2, "--raw: requires --filter"),
        (["--filter-missing", "skip"], 2, "--filter-missing: requires --filter"),
        (["--filter", "int32_value", "--raw"], 2, "not a field of bytes or a string"),
        (["--filter", "bytes_value", "--raw", "--filter-missing", "null"], 2, "cannot be combined with --filter-missing null"),
    ],
)  # fmt: skip
def test_filter_is_checked_before_the_call(grpc_call, options, code, what):
    assert what in failure(grpc_call("Echo", *options), code)[0]


def test_raw_bytes(grpc_call, tmp_path):
    file = tmp_path / "out"
    size = 300_000
    assert output(grpc_call("Large", "--filter", "payload", "--raw", "-o", file, "-d", f'{{"sizeBytes":{size}}}')) == ""
    assert file.read_bytes() == bytes(i % 251 for i in range(size))
    data = '{"bytesList":["AAH/","Cg=="]}'
    assert output(grpc_call("Echo", "--filter", "bytesList", "--raw", "-o", file, "-d", data)) == ""
    assert file.read_bytes() == b"\0\1\xff\n"
    assert output(grpc_call("Chat", "--filter", "text", "--raw", "-d", '{"text":"a"}{"text":"b"}')) == "you said: ayou said: b"


# Fields from options


def test_set(grpc_call):
    options = ["--set", "string_value=Ada = 36", "--set", "int32Value=7", "--set", "color=COLOR_RED", "--set", "nested.child.label=x"]
    options += ["--set", "duration=1.5s", "--set", 'nested.number="8"', "--set", "strings[]=a", "--set", "strings[]=b"]
    options += ["--set", "strings[0]=c", "--set", 'string_to_int32["k=v"]=5', "--set", "bytesValue=AAE=", "--set", "int32s=[1,2]"]
    expected = {
        "int32Value": 7, "stringValue": "Ada = 36", "bytesValue": "AAE=", "color": "COLOR_RED",
        "nested": {"label": "over", "number": 8, "child": {"label": "x"}}, "int32s": [1, 2], "strings": ["c", "b"],
        "stringToInt32": {"k=v": 5}, "duration": "1.500s",
    }  # fmt: skip
    assert json.loads(output(grpc_call("Echo", *options, "-d", '{"nested":{"label":"over","number":1},"int32Value":1}'))) == expected
    assert json.loads(output(grpc_call("Hello", "--set", "name=Ada")))["name"] == "Ada"
    sums = grpc_call("Sum", "--set", "value=2", "-d", '{"value":1}{"value":5}')
    assert json.loads(output(sums)) == {"total": "4", "count": 2}
    assert json.loads(output(grpc_call("Sum", "--set", "value=2"))) == {"total": "2", "count": 1}
    names = grpc_call("Hello", "--each", "--set", "language=de", input='{"name":"A"}{"name":"B"}')
    assert [json.loads(line)["name"] for line in output(names).splitlines()] == ["A", "B"]


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (["--set", "name"], 2, "rpcurl: --set name: not of the form PATH=VALUE"),
        (["--set", "nam=a"], 3, "rpcurl: --set nam: demo.v1.HelloRequest has no field nam"),
        (["--set-file", "name=/nonexistent/x"], 4, "rpcurl: --set-file name=/nonexistent/x: No such file or directory"),
        (["--chunk", "1k"], 2, "rpcurl: --chunk: requires one --set-file PATH=FILE, but 0 are given"),
        (["--set-file", "name=/dev/null", "--chunk", "1k"], 2, "rpcurl: --chunk: Hello accepts one message, not a stream"),
    ],
)
def test_invalid_options(grpc_call, options, code, line):
    assert failure(grpc_call("Hello", *options), code)[0] == line


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("int32Value=x", "--set int32Value: expected a number (int32)"), ("color=RAD", '--set color: demo.v1.Color has no value "RAD"'),
        ("nesteds[0].label=x", "--set nesteds[0].label: index 0 is out of range"), ("bytesValue=!", "--set bytesValue: not base64"),
    ],
)  # fmt: skip
def test_invalid_values(grpc_call, option, why):
    assert why in failure(grpc_call("Echo", "--set", option), 4)[0]


def test_file_in_a_field(grpc_call, tmp_path):
    file = tmp_path / "clip"
    content = bytes(range(256)) * 10
    file.write_bytes(content)
    copy = tmp_path / "copy"
    options = ["--set-file", f"bytesValue={file}", "--set", "color=COLOR_RED", "--filter", "bytesValue", "--raw", "-o", copy]
    assert output(grpc_call("Echo", *options)) == ""
    assert copy.read_bytes() == content
    assert json.loads(output(grpc_call("Echo", "--set-file", "stringValue=-", input="text"))) == {"stringValue": "text"}
    assert failure(grpc_call("Echo", "--set-file", f"stringValue={file}"), 4)[0].endswith("not UTF-8, but string_value is a string")


def test_explain_shows_fields(grpc_call, tmp_path):
    options = ["--explain", "--set", "name=Ada", "--set-file", f"language={tmp_path / 'missing'}"]
    lines = output(grpc_call("Hello", *options)).splitlines()
    assert "set          name=Ada" in lines
    assert f"set file     language={tmp_path / 'missing'}" in lines
    assert json.loads(output(grpc_call("Hello", *options, "--format", "json")))["set"] == ["name=Ada"]


def test_chunks(grpc_call, tmp_path):
    file = write(tmp_path / "file", b"0123456789")
    options = ["-d", '{"text":"first"}', "--set-file", f"text={file}", "--chunk", 4, "--filter", "text"]
    lines = [f"you said: {text}" for text in ("first", "0123", "4567", "89")]
    assert output(grpc_call("Chat", *options)).splitlines() == lines
    assert output(grpc_call("Chat", *options[2:], input="x")).splitlines() == lines[1:]
    last = ["-d", '{"text":"last"}', "-d", '{"text":"and least"}']
    assert output(grpc_call("Chat", *options, *last)).splitlines() == [*lines, "you said: last", "you said: and least"]
    file.write_bytes(b"")
    assert output(grpc_call("Chat", *options)).splitlines() == lines[:1]


def test_chunks_with_their_offset(grpc_call, tmp_path):
    file = write(tmp_path / "file", b"0123456789")
    options = ["--expand", "--set", "text=at ${offset()} ${last()}", "--set-file", f"text={file}", "--filter", "text", "--chunk"]
    responses = output(grpc_call("Chat", *options, 4)).splitlines()
    assert responses == ["you said: at 0 false", "you said: at 4 false", "you said: at 8 true"]
    # The end of the file is the end of a piece, and not the end of what one system call reads.
    file.write_bytes(b"0" * (CHUNK * 2))
    responses = output(grpc_call("Chat", *options, CHUNK)).splitlines()
    assert responses == ["you said: at 0 false", f"you said: at {CHUNK} true"]


def test_offset_requires_a_piece(grpc_call):
    for name in ("offset", "last"):
        assert failure(grpc_call("Hello", "--expand", "--set", f"name=${{{name}()}}"), 4) == [
            f"rpcurl: --set name: {name}(): only the fields of a piece of --chunk have a value of it"
        ]


def test_chunks_of_a_large_file_do_not_fill_memory(rpcurl, grpc_server, descriptor_set, tmp_path):
    file, out = tmp_path / "file", tmp_path / "out"
    size = 1 << 30
    with open(file, "wb") as sparse:
        sparse.truncate(size)
    options = ["--descriptor-set", descriptor_set, "--filter", "text", "--raw", "-o", out]
    arguments = [*options, "--set-file", f"text={file}", "--chunk", "1m", f"{grpc_server.url}/{SERVICE}/Chat"]
    # In a small process: the peak of a process includes that of the process that it was forked from.
    child = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run(
        ["python3", "-c", child, *rpcurl.command(arguments)],
        env=rpcurl.environment(None), capture_output=True, timeout=PATIENCE_SECONDS * 3, check=True,
    )  # fmt: skip
    assert out.stat().st_size == size + (size >> 20) * len("you said: ")
    assert int(done.stdout) < 64 << 10


# Value functions

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def test_value_functions_in_data(grpc_call, tmp_path):
    file = write(tmp_path / "file", 'say "hi"\n')
    data = '{"stringValue":"${uuid()} ${env.NAME} $${x","int32Value":${random(5,5)},"timestamp":${now(-1d)},'
    data += f'"optionalString":"${{file({file})}}"}}'
    reply = json.loads(output(grpc_call("Echo", "--expand", "-d", data, env={"NAME": 'a"b'})))
    assert re.fullmatch(UUID + r' a"b \$\{x', reply["stringValue"])
    assert (reply["int32Value"], reply["optionalString"]) == (5, 'say "hi"')
    assert reply["timestamp"].endswith("Z")
    names = grpc_call("Hello", "--each", "--expand=files", "--filter", "name", input='{"name":"${uuid()}"}' * 3)
    assert len(set(output(names).split())) == 3
    same = [output(grpc_call("Hello", "--expand", "--seed", 7, "--filter", "name", "--set", "name=${uuid()}")) for _ in range(2)]
    assert same[0] == same[1] and re.fullmatch(UUID + "\n", same[0])
    assert output(grpc_call("Hello", "-s", "--filter", "name", "-d", '{"name":"${uuid()}"}')) == "${uuid()}\n"


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (["-d", '{"name":"${uid()}"}'], 4, "rpcurl: -d: uid is not a function"),
        (["-d", '{"name":"${env.NO_SUCH}"}'], 4, "rpcurl: -d: env.NO_SUCH: the environment variable is not set"),
        (["-d", '{"name":"${now(1h)}"}'], 4, "rpcurl: -d: now(1h): not an offset such as +1h, -30m, +90s, +500ms or +7d"),
        (["-d", '{"name":"${uuid("}'], 4, "rpcurl: -d: ${ has no closing }"),
        (["-d", "name: '${uuid()}'", "--data-format", "text"], 2, "rpcurl: --expand: cannot replace values in data of --data-format text"),
        (["--set", "name=${uid()}"], 4, "rpcurl: --set name: uid is not a function"),
    ],
)  # fmt: skip
def test_invalid_functions(grpc_call, options, code, line):
    assert failure(grpc_call("Hello", "--expand", *options), code)[0] == line


def test_errors_after_expansion_do_not_show_secrets(grpc_call):
    result = grpc_call("Hello", "--expand", "-d", '{"name":"${env.SECRET}","x":1}', env={"SECRET": "hunter2"})
    assert result.code == 4 and "hunter2" not in result.err


def test_value_functions_of_header_and_mock(grpc_call, tmp_path):
    header = "header,expand=true,seed=1,set=x-id:${uuid()}"
    reply = json.loads(output(grpc_call("EchoMetadata", "--use", header)))
    (value,) = [field["value"] for field in reply["headers"] if field["name"] == "x-id"]
    assert re.fullmatch(UUID, value)
    stubs = write(tmp_path / "stubs.json", '{"response":{"message":{"message":"${random(3,3)} for ${request.name}","name":"${uuid()}"}}}')
    # A value of the request is not expanded.
    reply = json.loads(output(grpc_call("Hello", "--use", f"mock,file={stubs}", "-s", "-d", '{"name":"${env.HOME}"}')))
    assert reply["message"] == "3 for ${env.HOME}"
    assert re.fullmatch(UUID, reply["name"])


def test_values_in_a_session(rpcurl, grpc_server, descriptor_set):
    lines = 'call Hello {"name":"${uuid()}"}\nset n = "x"\ncall Hello {"name":"${n} ${random(4,4)}"}\n'
    words = ["session", "--descriptor-set", descriptor_set, "--format", "json", grpc_server.url]
    names = [json.loads(line)["name"] for line in output(rpcurl(*words, input=lines)).splitlines()]
    assert re.fullmatch(UUID, names[0])
    assert names[1] == "x 4"


# The manual's page


@pytest.mark.parametrize("number", range(len(manual.examples("rpcurl-values.7"))))
def test_examples_of_the_manual(number, grpc_server, tmp_path, descriptor_set):
    example = manual.examples("rpcurl-values.7")[number]
    done = manual.run(example, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (done.returncode, done.stderr) == (0, "")
