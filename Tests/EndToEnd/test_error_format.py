"""--error-format json: each error is one line of JSON on standard error, of every command and every kind."""

import json
import re
import signal
import socket

import pytest
from google.rpc import error_details_pb2
from harness import build_plugin, write

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"
JSON = ["--error-format", "json"]


def timeless(text):
    """Without how long libcurl has tried, which differs from run to run."""
    return re.sub(r"after \d+ ms", "after a while", text)


@pytest.fixture
def errors(rpcurl, descriptor_set):
    """The error objects that a command prints, and its exit code, which they contain."""

    def errors(*words, command=None, **more):
        words = [*command, *words] if command else ["--descriptor-set", descriptor_set, *words]
        result = rpcurl(*words, *JSON, **more)
        found = [json.loads(line) for line in result.err.split("\n") if line]
        assert found and all(list(error) == ["error"] for error in found)
        found = [error["error"] for error in found]
        assert {error.get("exit", result.code) for error in found if "call" not in error} <= {result.code}
        # The same as in words.
        plain = rpcurl(*words, **more)
        assert plain.code == result.code and plain.out == result.out
        lines = timeless(plain.err).splitlines()
        for error in found:
            start = f"rpcurl: {error['what']}: " if "what" in error else "rpcurl: "
            if "call" in error:
                start = start.replace("rpcurl: ", f"rpcurl: call {error['call']}: ", 1)
            assert timeless(start + error["why"]) in lines
            assert "hint" not in error or f"hint: {error['hint']}" in lines
        return result.code, *found

    return errors


def test_status_of_a_call(errors, grpc_server):
    url = f"{grpc_server.url}/{SERVICE}/Fail"
    code, error = errors("-d", '{"code":5,"message":"no such"}', url)
    assert (code, error) == (
        69,
        {
            "what": f"{SERVICE}/Fail", "why": "not_found (5): no such", "exit": 69, "code": "not_found", "code_number": 5,
            "message": "no such", "details": [],
        },
    )  # fmt: skip


def test_details(errors, grpc_server):
    code, error = errors("-d", "{}", f"{grpc_server.url}/{HELLO}")
    assert (code, error["code"]) == (67, "invalid_argument")
    (detail,) = error["details"]
    assert detail["type"] == error_details_pb2.BadRequest.DESCRIPTOR.full_name
    assert detail["debug"] == {"fieldViolations": [{"field": "name", "description": "must not be empty"}]}


def test_detail_whose_type_only_the_server_has(rpcurl, raw_server, descriptor_set):
    detail = {"type": "other.v1.Secret", "value": "CgNhYmM", "debug": {"name": "a\x1b\u202e"}}
    body = json.dumps({"code": "not_found", "message": "no", "details": [detail, {**detail, "debug": None}]}).encode()
    head = f"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"

    def handle(connection):
        connection.recv(1 << 16)
        connection.sendall(head.encode() + body)

    words = ["--descriptor-set", descriptor_set, "--protocol", "connect", f"http://{raw_server(handle).address}/{HELLO}"]
    result = rpcurl(*words).exits(64 + 5)
    assert result.err.splitlines()[1] == r'  other.v1.Secret: {"name":"a\u001b\u{202E}"} (as the server shows it)'
    (error,) = map(json.loads, rpcurl(*words, *JSON).err.splitlines())
    assert error["error"]["details"][0] == {**detail, "value": "CgNhYmM="}


def test_text_of_a_server_is_json(demo, grpc_server):
    data = '{"code":3,"message":"\\u001b[31m\\"\\n\\u2028é"}'
    (line, _) = demo(*JSON, "-d", data, f"{grpc_server.url}/{SERVICE}/Fail").err.split("\n")
    assert json.loads(line)["error"]["message"] == '\x1b[31m"\n\u2028é'
    assert "\u2028" not in line and "é" in line
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F for c in line)


def test_interceptor(errors, grpc_server):
    code, error = errors("--use", "fault,abort=unavailable", "-d", '{"name":"A"}', f"{grpc_server.url}/{HELLO}")
    assert (code, error["code"], error["interceptor"]) == (78, "unavailable", "fault")


def test_connection_and_tls(errors, grpc_server):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    code, error = errors(f"http://127.0.0.1:{port}/{HELLO}")
    assert (code, error["what"], error["code"], error["details"]) == (5, f"http://127.0.0.1:{port}", "unavailable", [])
    code, error = errors(f"https://{grpc_server.address}/{HELLO}")
    assert (code, error["code"]) == (6, "unavailable") and "--plaintext" in error["hint"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "missing argument"), (["--no-such-option"], "--no-such-option"),
        (["--max-time", "soon", "localhost:1", HELLO], "--max-time soon"),
        (["-H", "x", "localhost:1", HELLO], "-H"), (["localhost:1"], "localhost:1"),
        (["--config", "/no/such", "localhost:1", HELLO], "/no/such"),
        (["--color", "puce", "localhost:1", HELLO], "--color puce"),
    ],
)  # fmt: skip
def test_usage(errors, words, what):
    code, error = errors(*words)
    assert (code, error["what"]) == (2, what)
    assert set(error) <= {"what", "why", "hint", "exit"}


def test_the_last_option_applies_and_a_wrong_one_is_reported_as_text(rpcurl):
    assert json.loads(rpcurl("--error-format=json", "--nonsense").err)["error"]["exit"] == 2
    result = rpcurl("--error-format", "xml", "localhost:1", HELLO)
    assert result.code == 2 and result.err.startswith("rpcurl: --error-format xml: not one of text, json\n")
    assert rpcurl("--error-format", "json", "--error-format", "text", "x").err.startswith("rpcurl: ")


def test_schema(errors):
    code, error = errors("--descriptor-set", "/no/such", "localhost:1", HELLO)
    assert (code, error) == (3, {"what": "/no/such", "why": "No such file or directory", "exit": 3})
    code, error = errors("localhost:1", f"{SERVICE}/Helo")
    assert (code, error["hint"]) == (3, f"did you mean {HELLO}?; --reflect also asks the server")


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["-d", '{"nested":{"child":{"number":"x"}}}'], (1, 30, 29, "nested.child.number")),
        (["-d", '{\n "é": 1, "nam": 2}'], (2, 2, 3, "")),
        (["-d", '{"stringValue":"a"} {}'], (1, 21, 20, "")),
        (["-d", '{"stringValue":'], (1, 16, 15, "")),
        (["-d", "\n  ]"], (2, 3, 3, "")),
        (["--data-format", "text", "-d", "nested {\n  child { number: x }\n}"], (2, 19, 27, "nested.child.number")),
    ],
)
def test_input(errors, words, place):
    code, error = errors(*words, "localhost:1", f"{SERVICE}/Echo")
    assert (code, error["what"]) == (4, "-d")
    assert (error["line"], error["column"], error["byte"], error["path"]) == place
    assert f"line {place[0]}, column {place[1]}" in error["why"]


def test_input_of_a_running_stream(errors, grpc_server):
    code, error = errors("--format", "none", f"{grpc_server.url}/{SERVICE}/Sum", input='{"value":1}\n{"value":2}\n {"valu":3}')
    assert (code, error["what"]) == (4, "standard input")
    assert (error["line"], error["column"], error["hint"]) == (3, 3, "did you mean value?")


def test_assertions(errors, grpc_server):
    use = "assert,check=status not_found,check=count 2"
    code, *found = errors("--use", use, "-d", '{"name":"A"}', f"{grpc_server.url}/{HELLO}")
    assert code == 8
    assert [e["what"] for e in found] == ["assertion failed"] * len(found) and len(found) == 2


def test_filter_and_plugins_and_output(errors, grpc_server, tmp_path):
    url = f"{grpc_server.url}/{SERVICE}/Echo"
    code, error = errors("--filter", "nested", "-d", "{}", url)
    assert (code, error["what"]) == (8, "--filter nested")
    assert errors("--use", "nothing", url)[0] == 7
    assert errors("-o", tmp_path / "no" / "file", url)[1]["what"] == f"-o {tmp_path}/no/file"
    assert errors("-o", "/dev/full", url)[1] == {"what": "/dev/full", "why": "No space left on device", "exit": 1}


def test_batch(errors, grpc_server):
    data = ["-d", '{"name":"A"}', "-d", "{}", "-d", '{"nam":1}']
    code, *found = errors("--each", *data, f"{grpc_server.url}/{HELLO}")
    assert code == 67
    assert [(e.get("call"), e["exit"], e.get("code"), e.get("line")) for e in found] == [
        (2, 67, "invalid_argument", None), (3, 4, None, 1), (None, 67, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "exit"),
    [
        (["list", "--nonsense"], 2), (["describe", "--descriptor-set", "/no/such"], 3), (["template"], 3),
        (["export", "--no-reflect", "-o", "x"], 3), (["convert", "--nonsense"], 2), (["version", "--nonsense"], 2),
        (["plugins", "check", "/no/such.so"], 7), (["plugins", "new", "a b"], 2),
    ],
)  # fmt: skip
def test_other_commands(errors, command, exit):
    assert errors(command=command)[0] == exit


def test_convert(errors, descriptor_set):
    words = ["convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloRequest", "--from", "json", "--to", "text"]
    code, error = errors(command=words, input='{"name":\n "A", "x": 1}')
    assert (code, error["line"], error["column"]) == (4, 2, 7)


def test_interrupt(demo, grpc_server):
    with demo.start(*JSON, f"{grpc_server.url}/{SERVICE}/Chat") as process:
        process.stdin.write(b'{"text":"a"}')
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        error = json.loads(process.stderr.read())["error"]
        assert process.wait() == 130
    assert (error["exit"], error["code"]) == (130, "canceled")


def test_a_plugin_that_crashes(rpcurl, grpc_server, descriptor_set, tmp_path):
    plugin = build_plugin("crash.c", tmp_path / "crash.so")
    words = ["--descriptor-set", descriptor_set, "-d", '{"name":"A"}', "--plugin", f"{plugin},x=1", f"{grpc_server.url}/{HELLO}"]
    result = rpcurl(*words, *JSON, env={"CRASH_AT": "request_start"})
    error = json.loads(result.err)["error"]
    assert result.code == error["exit"] == 7
    assert (error["what"], error["why"]) == ("plugin crash", f"crashed (SIGSEGV) in request_start, in the call {HELLO}")
    assert error["hint"].startswith(f"its file is {plugin}")
    assert rpcurl(*words, "-s", env={"CRASH_AT": "request_start"}).err == ""
    assert "crashed" in rpcurl(*words, "-sS", env={"CRASH_AT": "request_start"}).err


def test_the_configuration_file_may_select_it(rpcurl):
    file = write(rpcurl.home / "config", "--error-format json\n--max-time soon\n")
    error = json.loads(rpcurl("--config", file, "localhost:1", HELLO).err)["error"]
    assert error["exit"] == 2 and error["what"] == f"{file}, line 2"


def test_silent_prints_no_errors(rpcurl):
    assert rpcurl(*JSON, "-s", "localhost:1", HELLO).err == ""
    assert json.loads(rpcurl(*JSON, "-sS", "--nonsense").err)["error"]["exit"] == 2
