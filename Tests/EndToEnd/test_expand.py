"""--expand: values in what is typed, and in files, standard input and headers."""

import json

import pytest
from harness import write

SERVICE = "demo.v1.Demo"
ENV = {"KEY": "a key", "OTHER": "b", "NESTED": "${env.KEY}", "LINES": "a\nb", "RETURN": "a\rb", "EMPTY": "", "_x9": "c", "BIN": "AAE="}


@pytest.fixture
def explain(rpcurl):
    """The headers that a call would have."""

    def explain(*options, env=ENV):
        result = rpcurl("--explain", "--protocol", "connect", "--show-secrets", "--format", "json", *options, "http://host", f"{SERVICE}/Hello", env=env)
        return dict(result.json()["headers"]) if result.code == 0 else result

    return explain


# The same spelling in every place

STUB = '{"response":{"message":{"message":"TEXT"}}}'
# Each surface: the options of a call of Hello or EchoMetadata with the text, and how its value is found.
SURFACES = {
    "-d": ("Hello", lambda text, _: ["--expand", "-d", json.dumps({"name": text})]),
    "--set": ("Hello", lambda text, _: ["--expand", "--set", f"name={text}"]),
    "-H": ("EchoMetadata", lambda text, _: ["--expand", "-H", f"x-value: {text}"]),
    "--rpc-header": ("EchoMetadata", lambda text, _: ["--expand", "--rpc-header", f"x-value: {text}"]),
    "header": ("EchoMetadata", lambda text, _: ["--use", f"header,expand=true,set=x-value:{text}"]),
    "edit": ("Hello", lambda text, _: ["--use", f"edit,expand=true,set=name={text}"]),
    "mock": ("Hello", lambda text, stubs: (stubs.write_text(STUB.replace("TEXT", text)), ["-d", '{"name":"Ada"}', "--use", f"mock,file={stubs}"])[1]),
}  # fmt: skip


@pytest.fixture
def value(grpc_call, tmp_path):
    """The value that a text has in a surface, or the failed result."""

    def value(surface, text):
        method, options = SURFACES[surface]
        result = grpc_call(method, "--format", "json", *options(text, tmp_path / "stubs.json"), env=ENV)
        if result.code != 0:
            return result
        reply = result.json()
        if method == "EchoMetadata":
            (header,) = [field["value"] for field in reply["headers"] if field["name"] == "x-value"]
            return header
        return reply["name"] if surface != "mock" else reply["message"]

    return value


@pytest.mark.parametrize("surface", SURFACES)
def test_environment_variable(value, surface):
    assert value(surface, "${env.KEY}") == "a key"
    assert value(surface, "x-${env.OTHER}-$${env.KEY}-$KEY") == "x-b-${env.KEY}-$KEY"
    # A value is not expanded again.
    assert value(surface, "${env.NESTED}") == "${env.KEY}"


@pytest.mark.parametrize("text", ["${KEY}", "${env(KEY)}", "${env.NO_SUCH}", "${uid()}", "${env.KEY"])
@pytest.mark.parametrize("surface", SURFACES)
def test_the_other_spelling_is_an_error_and_never_sent(value, surface, text):
    result = value(surface, text)
    unknown = {"header": "KEY: there are no variables here", "edit": "KEY: there are no variables here", "mock": "no stub sets KEY"}
    reason = {
        "${KEY}": unknown.get(surface, "KEY: no such variable"), "${env(KEY)}": "env is not a function",
        "${env.NO_SUCH}": "env.NO_SUCH: the environment variable is not set", "${uid()}": "uid is not a function",
        "${env.KEY": "${ has no closing }",
    }[text]  # fmt: skip
    assert not isinstance(result, str) and result.code != 0 and reason in result.err
    hints = {"${KEY}": "${env.KEY}", "${env(KEY)}": "write ${env.NAME}", "${uid()}": "did you mean uuid?"}
    assert hints.get(text, "") in result.err


@pytest.mark.parametrize(("reference", "mocked"), [("request.name", "Ada"), ("request.method", f"{SERVICE}/Hello"), ("request.count", "1"), ("last.x", None), ("row.x", None)])
@pytest.mark.parametrize("surface", SURFACES)
def test_value_of_a_request(value, surface, reference, mocked):
    result = value(surface, f"a ${{{reference}}}")
    if surface == "mock" and mocked:
        assert result == f"a {mocked}"
    else:
        assert not isinstance(result, str) and result.code != 0 and f"{reference}: {'no row here' if reference == 'row.x' else 'only '}" in result.err


def test_the_old_form_of_mock_names_the_new_one(value):
    assert "write ${request.PATH}" in value("mock", "{{request.name}}").err


@pytest.mark.parametrize("name", ["--expand-data", "--expand-headers", "-expand-headers"])
def test_old_options_name_the_new_one(rpcurl, name):
    result = rpcurl(name, "http://127.0.0.1:1", f"{SERVICE}/Hello").exits(2)
    assert result.err == f"rpcurl: {name}: unknown option\nhint: use --expand, and write ${{env.NAME}} for a variable of the environment\n"


# What is not typed


def test_files_and_standard_input_need_more(grpc_call, tmp_path):
    data = '{"name":"${random(3,3)} ${env.KEY}"}'
    file = write(tmp_path / "data.json", data)
    for options, more in ((["-d", f"@{file}"], {}), (["-d", "@-"], {"input": data}), (["--each"], {"input": data})):
        sent = [grpc_call("Hello", level, "--filter", "name", *options, env=ENV, **more) for level in ("--expand", "--expand=all", "--expand=files")]
        assert (sent[0].code, sent[0].out) == (0, "${random(3,3)} ${env.KEY}\n")
        assert (sent[1].code, sent[1].out) == (0, "3 a key\n")
        assert (sent[2].code, sent[2].out) == (4, "")
        assert "env.KEY: this text must not read the environment\nhint: --expand=all also replaces" in sent[2].err
    file.write_text('{"name":"${random(3,3)} ${file(/etc/hostname)}"}')
    assert "this text must not read files" in grpc_call("Hello", "--expand=files", "-d", f"@{file}").err
    file.write_text('{"name":"${random(3,3)}"}')
    # What is typed beside the file may read the environment.
    grpc_call("Echo", "--expand=files", "--filter", "stringValue", "--set", "stringValue=${env.KEY}", "-d", "{}", env=ENV).exits(0, "a key\n")


def test_files_of_headers(explain, tmp_path):
    (tmp_path / "headers").write_text("# comment ${env.NO_SUCH}\nx-a: ${env.KEY}\n\nx-b: ${env.OTHER}\n")
    headers = ["-H", f"@{tmp_path}/headers"]
    assert explain("--expand=all", *headers) == {"x-a": "a key", "x-b": "b"}
    assert explain("--expand", *headers) == {"x-a": "${env.KEY}", "x-b": "${env.OTHER}"}
    assert explain("--expand=files", *headers).err.startswith(f"rpcurl: {tmp_path}/headers, line 2: x-a: env.KEY: this text must not read")
    (tmp_path / "headers").write_text("x-a: b\nx-a: ${env.NO_SUCH}\n")
    assert explain("--expand=all", *headers).err.startswith(f"rpcurl: {tmp_path}/headers, line 2: x-a: env.NO_SUCH: ")


# Headers


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("${env.KEY}", "a key"), ("Bearer ${env.KEY}!", "Bearer a key!"), ("${env.KEY}${env.OTHER}", "a keyb"), ("x${env.EMPTY}y", "xy"),
        ("${env._x9}", "c"), ("$KEY", "$KEY"), ("$${env.KEY}", "${env.KEY}"), ("$ {KEY}", "$ {KEY}"), ("é ${env.KEY}", "é a key"),
        ("${base64(env.KEY)}", "YSBrZXk="), ("${base64('ada:x')}", "YWRhOng="),
    ],
)  # fmt: skip
def test_values_of_headers(explain, value, expanded):
    assert explain("--expand", "-H", f"x-h: {value}") == {"x-h": expanded}
    assert explain("-H", f"x-h: {value}") == {"x-h": value}


def test_a_template_that_is_sent_as_text_is_noted(grpc_call):
    grpc_call("EchoMetadata", "-H", "x-value: ${env.KEY}", "-d", "{}").exits(0, err="note: ${env.KEY} is sent as text\nhint: add --expand to replace it\n")


def test_a_path_has_no_values(grpc_call):
    path = 'stringToInt32["${x}"]'
    options = ["--var", "x=1", "--set", f"{path}=5", "-d", "{}"]
    grpc_call("Echo", "--expand", *options).fails(4, f"--set: {path}: values are not inserted in paths", "hint: with --expand, keys of -d have values")
    result = grpc_call("Echo", "--set", f"{path}=5", "-d", "{}").exits(0)
    assert result.err.startswith("note: ${x} is sent as text\nhint: with --expand, keys of -d have values")
    assert result.json()["stringToInt32"] == {"${x}": 5}
    assert grpc_call("Echo", "--expand", "--set", 'stringToInt32["\\u0024{x}"]=5', "-d", "{}").json()["stringToInt32"] == {"${x}": 5}


@pytest.mark.parametrize("option", ["-H", "--rpc-header", "--reflect-header"])
def test_unset_variable(rpcurl, option):
    words = ["--expand", option, "authorization: Bearer ${env.NO_SUCH} secret", "http://127.0.0.1:1", f"{SERVICE}/Hello"]
    result = rpcurl(*words).exits(2)
    assert result.err.startswith(f"rpcurl: {option}: authorization: env.NO_SUCH: the environment variable is not set\n")
    assert "secret" not in result.err


@pytest.mark.parametrize("name", ["LINES", "RETURN"])
def test_a_line_break_is_refused(explain, name):
    explain("--expand", "-H", f"x-h: ${{env.{name}}}").exits(2, err="rpcurl: -H: the value of x-h contains a control character\n")


def test_binary_values_are_checked_after_expansion(explain):
    assert explain("--expand", "-H", "x-bin: ${env.BIN}") == {"x-bin": "AAE="}
    assert "base64" in explain("--expand", "-H", "x-bin: ${env.KEY}").err


def test_the_server_gets_the_value(rpcurl, grpc_server):
    url = f"{grpc_server.url}/{SERVICE}/EchoMetadata"
    words = ["--expand", "--no-cache", "-H", "x-a: ${env.KEY}", "--rpc-header", "x-b: ${env.OTHER}", "--reflect-header", "x-c: ${env.OTHER}"]
    result = rpcurl(*words, url, env=ENV).exits(0)
    headers = {h["name"]: h.get("value") for h in result.json()["headers"]}
    assert (headers["x-a"], headers["x-b"], "x-c" in headers) == ("a key", "b", False)


def test_schema_commands(rpcurl, grpc_server):
    words = ["list", "--plaintext", "-H", "demo-token: ${env.KEY}", grpc_server.address]
    rpcurl(*words, "--expand").exits(2).reports("env.KEY: the environment")
    assert rpcurl(*words, "--expand", env=ENV).code == 0
    assert "env.KEY" in rpcurl(*words[:-1], "--reflect-header", "x: ${env.KEY}", grpc_server.address, "--expand").err


# Values are not syntax


def test_values_are_escaped_in_json(grpc_call):
    env = {"X": 'a","stringValue":"b'}
    for options in (["-d", '{"stringValue":"${env.X}"}'], ["--set", 'nested={"label":"${env.X}"}'], ["--set", 'strings=["${env.X}"]'], ["--set", "stringValue=${env.X}"]):
        assert env["X"] in json.dumps(grpc_call("Echo", "--expand", *options, env=env).exits(0).json()).replace('\\"', '"')
    assert grpc_call("Echo", "--expand", "-d", '{"strings":[${env.X}]}', env=env).json() == {"strings": [env["X"]]}


@pytest.mark.parametrize("data", ["${n}", " ${n}\n", '${message}'])
def test_a_value_is_the_whole_message(rpcurl, grpc_server, data):
    """The data is JSON as it is; a value that is text is no message."""
    words = ["--expand", "--var", 'n={"name":"Ada"}', "--var", "message=text"]
    result = rpcurl(*words, "-d", data, grpc_server.url, "Hello")
    if "n}" in data:
        assert result.code == 0 and '"name":"Ada"' in result.out.replace(" ", ""), result
    else:
        assert result.code == 4 and "expected" in result.err, result
    stream = rpcurl("--expand", "--var", 'n={"text":"a"}', "-d", '{"text":"b"}${n}${n}', grpc_server.url, "Chat")
    assert stream.code == 0 and stream.out.count('you said: a"') == 2, stream


def test_a_whole_value_without_expand_names_the_option(rpcurl, grpc_server):
    rpcurl("-d", "${uuid()}", grpc_server.url, "Hello").reports("expected an object (demo.v1.HelloRequest) (line 1, column 1)", "hint: add --expand to replace ${uuid()}")


def test_messages_within_bytes(grpc_call):
    data = '{"bytesValue":"${message(demo.v1.HelloRequest, {\\"name\\":\\"${env.KEY}\\"})}"}'
    result = grpc_call("Echo", "--expand", "-d", data, env=ENV)
    assert result.json() == {"bytesValue": "CgVhIGtleQ=="}, result.err
    result = grpc_call("Echo", "--expand", "--set", 'bytesValue=${message(demo.v1.HelloRequest, {"name":"Ada"})}')
    assert result.json() == {"bytesValue": "CgNBZGE="}, result.err
    for text, why in (("demo.v1.No, {}", "message(demo.v1.No): the schema does not define this type"), ('demo.v1.HelloRequest, {"nam":1}', "has no field")):
        grpc_call("Echo", "--expand", "--set", f"bytesValue=${{message({text})}}").exits(4).reports(why)


def test_messages_within_bytes_of_stubs(grpc_call, tmp_path):
    stubs = write(tmp_path / "stubs.json", '{"response":{"message":{"bytesValue":"${message(demo.v1.HelloRequest, {\\"name\\":\\"${request.stringValue}\\"})}"}}}')
    result = grpc_call("Echo", "-d", '{"stringValue":"Ada"}', "--use", f"mock,file={stubs}")
    assert result.json() == {"bytesValue": "CgNBZGE="}, result.err


def test_types_of_messages_are_looked_up(rpcurl, grpc_server):
    words = ["--expand", "--set", "bytesValue=${message(grpc.health.v1.HealthCheckRequest, {\"service\":\"a\"})}"]
    rpcurl(*words, f"{grpc_server.url}/{SERVICE}/Echo").exits(0, '{"bytesValue":"CgFh"}\n')


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_a_file_that_is_not_expanded_is_noted(grpc_call, tmp_path, source):
    file = write(tmp_path / "data.json", '{"stringValue":"${uuid()}"}')
    name, data, more = (file, f"@{file}", {}) if source == "file" else ("standard input", "@-", {"input": file.read_text()})
    note = f"note: ${{ in {name} is sent as it is\nhint: --expand=files replaces values in files and in standard input too\n"
    result = grpc_call("Echo", "--expand", "-d", data, **more)
    assert (result.code, result.json(), result.err) == (0, {"stringValue": "${uuid()}"}, note)
    assert grpc_call("Echo", "--expand=files", "-d", data, **more).err == ""
    assert grpc_call("Echo", "-d", data, **more).err == ""


def test_the_note_about_a_file_is_printed_once(grpc_call, tmp_path):
    file = write(tmp_path / "data.json", '{"text":"${a}"}' * 3)
    result = grpc_call("Chat", "--expand", "-d", f"@{file}")
    assert (result.code, result.out.count("${a}"), result.err.count("note:")) == (0, 3, 1)
    file.write_text('{"text":"$a {b}"}')
    assert grpc_call("Chat", "--expand", "-d", f"@{file}").err == ""


@pytest.mark.parametrize("value", ["${nope}", "${offset()}", "${message(demo.v1.None, {})}", "${env.NONE}"])
def test_errors_of_set_name_the_option(grpc_call, value):
    result = grpc_call("Echo", "--expand", "--set", f"string_value={value}").exits(4, "")
    assert result.err.startswith("rpcurl: --set string_value: ")


def test_last_piece_of_an_empty_file_is_marked(grpc_call, tmp_path):
    file = tmp_path / "empty"
    file.touch()
    options = ["--set-file", f"text={file}", "--chunk", "4", "--expand", "--filter", "text"]
    grpc_call("Chat", *options, "--set", "text=at ${offset()} ${last()}").exits(0, "you said: at 0 true\n")
    assert grpc_call("Chat", *options, "--set", "text=at ${offset()}").out == ""
