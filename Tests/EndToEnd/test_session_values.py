"""Values in sessions and suites: each form that rpcurl-language(7) lists is replaced, and each that it does not list is an error."""

import base64
import json

import pytest
from harness import write

ENVIRONMENT = {"FOO": "from-env"}
ROWS = '{"key":"a b","n":3,"tags":["x"]}\n'


@pytest.fixture
def send(rpcurl, grpc_server, tmp_path):
    """Run commands and then `call Echo`, as a suite with a row or as a session, and return what the server received or the error."""

    def send(surface, lines, data):
        (tmp_path / "rows.ndjson").write_text(ROWS)
        (tmp_path / "text.txt").write_text("from a file\n")
        calls = [*lines, f"call Echo {data.replace('DIRECTORY', str(tmp_path))}"]
        if surface == "suite":
            path = tmp_path / "suite.rpcurl"
            path.write_text("\n".join(['set who = "Ada"', f"target {grpc_server.url}", "test t", "rows rows.ndjson", *calls, "expect . == null"]))
            result = rpcurl("test", "--report", "ndjson", path, env=ENVIRONMENT)
            # What is wrong before the run is an error of the file.
            test = next(event for event in result.lines() if event["event"] == "test" or "errors" in event)
            for error in test.get("errors") or [test[key] for key in ("error",) if key in test]:
                return None, f"{error['why']}\n{error.get('hint', '')}"
            # The last check fails, so that its report has the response.
            return json.loads(test["steps"][0]["failures"][0]["got"]), ""
        result = rpcurl("session", "--format", "json", grpc_server.url, input="\n".join(['set who = "Ada"', *calls, ""]), env=ENVIRONMENT)
        lines = result.out.splitlines()
        return (None if result.err else json.loads(lines[-1])), result.err

    return send


SURFACES = ["session", "suite"]


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    "data, field, value",
    [
        ('{"stringValue":"${env.FOO}"}', "stringValue", "from-env"),
        ('{"stringValue":"${file(DIRECTORY/text.txt)}"}', "stringValue", "from a file"),
        ('{"bytesValue":"${message(demo.v1.HelloRequest, {\\"name\\":\\"${who}\\"})}"}', "bytesValue", base64.b64encode(b"\n\x03Ada").decode()),
    ],
)
def test_values_are_inserted(send, surface, data, field, value):
    assert send(surface, [], data) == ({field: value}, "")


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    "data, words",
    [
        ('{"stringValue":"${FOO}"}', "FOO: no such variable\nhint: write ${env.FOO}"),
        ('{"stringValue":"${who"}', "$${ is a literal ${"),
        ('{"stringValue":"{{request.x}} ${request.x}"}', "request.x: no request was sent yet"),
        ('{"stringValue":"${offset()}"}', "--chunk"),
    ],
)
def test_other_text_is_never_sent(send, surface, data, words):
    received, error = send(surface, [], data)
    assert received is None
    assert all(word in error for word in words.split("\nhint: ")), error


@pytest.mark.parametrize(
    "line, value",
    [
        ("header x-a: $who", "Ada"), ("header x-a:$who", "Ada"), ("header x-a: Bearer ${who}", "Bearer Ada"), ("header x-a: ${env.FOO}", "from-env"),
        ("header x-a: $who!", "$who!"), ("header x-a: $100", "$100"), ("header x-a: ${base64(who)}", "QWRh"), ("options -H 'x-a: $who'", "$who"),
        ('options -H "x-a: ${who}"', "Ada"), ("use header,set=x-a:${who}", "Ada"), ("use header,set=x-a:$${uuid()},seed=1,expand=true", None),
    ],
)  # fmt: skip
def test_headers(rpcurl, grpc_server, line, value):
    script = f'set who = "Ada"\n{line}\ncall EchoMetadata\n'
    result = rpcurl("session", "--format", "json", grpc_server.url, input=script, env=ENVIRONMENT)
    headers = {field["name"]: field["value"] for field in result.json()["headers"]}
    assert headers["x-a"] == value if value else len(headers["x-a"]) == 36, result.err


@pytest.mark.parametrize("line", ["header x-a: ${FOO}", "header x-a: ${env(FOO)}", "header x-a: $tok", 'options -H "x-a: ${FOO}"', "use header,set=x-a:${FOO}", "attribute a=${FOO}"])
def test_headers_with_unknown_names_are_errors(rpcurl, grpc_server, line):
    result = rpcurl("session", grpc_server.url, input=f"{line}\nheader\nattribute\nchain\n", env=ENVIRONMENT)
    assert result.out == "no interceptors\n"
    assert "no such variable" in result.err or "env is not a function" in result.err


def test_rows_are_explicit(send):
    assert send("suite", [], '{"stringValue":"${base64(row.key)}","int32Value":$row.n}') == ({"stringValue": "YSBi", "int32Value": 3}, "")
    received, error = send("suite", [], '{"stringValue":"${key}"}')
    assert received is None and "write ${row.key}" in error
    received, error = send("session", [], '{"stringValue":"${row.key}"}')
    assert received is None and "row.key: no row" in error


@pytest.mark.parametrize("surface", SURFACES)
def test_values_of_the_last_call(send, surface):
    lines = [
        'call Hello {"name":"${who}"}', "set first = $last.name", "set status = $last.status", "set type = $last.header.content-type", "set sent = $request.name",
        'call Count {"from":5,"to":7}', "set list = [$last[0].number,$last[-1].number,$last.number]",
    ]  # fmt: skip
    assert send(surface, lines, '{"stringValue":"${first} ${status} ${type} ${sent} ${list}"}') == ({"stringValue": "Ada ok application/grpc Ada [5,7,7]"}, "")
    # Details and metadata of a call that failed.
    failing = ['call Hello {"name":""}', "expect status invalid_argument"]
    data = '{"stringValue":"${last.status}: ${last.detail.BadRequest.fieldViolations[0].field}"}'
    assert send("suite", failing, data) == ({"stringValue": "invalid_argument: name"}, "")


@pytest.mark.parametrize("surface", SURFACES)
def test_last_is_not_the_response_before_a_failed_call(send, surface):
    lines = ['call Hello {"name":"Ada"}', 'call Find {"id":"9"}', "expect status not_found"]
    received, error = send(surface, lines, '{"stringValue":"${last.name}"}')
    assert received is None
    assert "last.name: Find has no response; its status is not_found" in error


def test_an_open_stream_is_the_last_call(rpcurl, grpc_server):
    script = 'call Hello {"name":"Ada"}\nopen Chat {"text":"${last.name}"}\n{"text":"${last.name}"}\nreceive\n{"text":"${last.text}!"}\nwait\nprint last.status\nprint last[-1].text\n'
    result = rpcurl("session", "--format", "json", grpc_server.url, input=script)
    # The second message has no value: the stream has no response yet, or one of another type.
    assert result.err.startswith("rpcurl: last.name: ")
    texts = [json.loads(line)["text"] for line in result.out.splitlines()[1:3]]
    assert "Ada" in texts[0] and texts[0] + "!" in texts[1], result.err
    assert [json.loads(line) for line in result.out.splitlines()[3:]] == ["ok", texts[1]]


def test_variables_of_blocks_precede_others(rpcurl, grpc_server, tmp_path):
    suite = write(tmp_path / "suite.rpcurl", (
        f'target {grpc_server.url}\nset a = "suite"\nset b = "suite"\n\n'
        'test sets\nset a = "test"\ncall Hello {"name":"${a} ${b} ${c}"}\nexpect .name == "test suite option"\n\n'
        'test does not\ncall Hello {"name":"${a} ${b} ${c}"}\nexpect .name == "suite suite option"\n'
    ))
    rpcurl("test", "--var", "a=option", "--var", "b=option", "--var", "c=option", suite).exits(0)


def test_values_of_servers_are_not_expanded_again(rpcurl, grpc_server):
    script = 'call Hello {"name":"$${env.FOO} $${uuid()}"}\nheader x-a: ${last.name}\nset again = "${last.name}"\ncall Hello {"name":$again}\nheader\n'
    result = rpcurl("session", "--format", "json", grpc_server.url, input=script, env=ENVIRONMENT)
    assert [json.loads(line)["name"] for line in result.out.splitlines()[:2]] == ["${env.FOO} ${uuid()}"] * 2
    assert result.out.splitlines()[2] == "x-a: ${env.FOO} ${uuid()}"


@pytest.mark.parametrize("command", ["call", "session", "run", "test"])
def test_variables_of_the_command_line(rpcurl, grpc_server, tmp_path, command):
    options = ["--var", "user=Ada", "--var", "n=1", "--var", "token=env:TOKEN"]
    data = '{"stringValue":"${user} ${token}","int32Value":${n}}'
    line = f"call Echo {data}"
    if command == "call":
        arguments = ["--expand", *options, "-H", "x-user: ${user}", "-d", data, grpc_server.url, "Echo"]
    elif command == "session":
        arguments = [*options, grpc_server.url]
    else:
        script = tmp_path / "script.rpcurl"
        script.write_text(f"target {grpc_server.url}\n" + (f'test t\n{line}\nexpect .stringValue == "Ada t0ken-value"\n' if command == "test" else line))
        arguments = [*options, script]
    if command != "test":
        arguments += ["--format", "json"]
    result = rpcurl(command, *arguments, input=line, env=ENVIRONMENT | {"TOKEN": "t0ken-value"}).exits(0)
    if command == "test":
        assert "t0ken-value" not in result.out
    else:
        assert result.json() == {"stringValue": "Ada t0ken-value", "int32Value": 1}


def test_set_replaces_variables_of_the_command_line(rpcurl, grpc_server):
    script = 'print a\nset a = "set"\nprint a\noptions --var a=options\nprint a\n'
    result = rpcurl("session", "--var", "a=option", grpc_server.url, input=script)
    assert result.lines() == ["option", "set", "options"], result.err


def test_variables_of_calls_need_expand(rpcurl, grpc_server):
    rpcurl("call", "--var", "a=1", grpc_server.url, "Hello").exits(2).reports("--var: requires --expand")
    rpcurl("call", "--expand", "--var", "last=1", grpc_server.url, "Hello").exits(2).reports("a value of the language has this name")
    rpcurl("call", "--expand", "--var", "user=Ada", "-d", '{"name":"${usr}"}', grpc_server.url, "Hello").exits(4).reports("usr: no such variable", "did you mean user?")
    rpcurl("call", "--expand", "--var", "user=Ada", "-d", '{"name":"${city}"}', grpc_server.url, "Hello").exits(4).reports("city: no such variable", "--var city=VALUE")


def test_saved_sessions_keep_headers_of_the_command_line(rpcurl, grpc_server, tmp_path):
    script = tmp_path / "saved.rpcurl"
    options = ["--expand", "--var", "k=b", "-H", "x-d: ${k}", "-H", "x-e: 1", "-H", "x-e: 2"]
    rpcurl("session", *options, grpc_server.url, input=f"call EchoMetadata\nsave {script}\n").exits(0)
    rpcurl("run", script).exits(0).prints('{"name":"x-d","value":"b"}', '{"name":"x-e","value":"1"}', '{"name":"x-e","value":"2"}')


def test_saved_session_keeps_variables(rpcurl, grpc_server, tmp_path):
    script = tmp_path / "saved.rpcurl"
    lines = f'call Hello {{"name":"${{user}} ${{token}}"}}\nsave {script}\nsave {tmp_path}/saved.sh\n'
    options = ["--var", "user=Ada", "--var", "token=t0ken-value"]
    result = rpcurl("session", "--format", "json", *options, grpc_server.url, input=lines).exits(0)
    assert "t0ken-value" not in script.read_text()
    assert "--var" not in (tmp_path / "saved.sh").read_text()
    again = rpcurl("run", "--format", "json", script, env=ENVIRONMENT | {"TOKEN": "t0ken-value"})
    assert again.code == 0 and again.out == result.out, again.err
