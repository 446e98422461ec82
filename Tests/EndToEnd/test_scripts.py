"""Scripts as interceptors: each stage, verdict and failure with the kits, and the examples, with a real server."""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

import manual
from harness import ROOT, Process, QuietHandler, http_server, wait_until
from test_script_kits import ENVIRONMENT, EXAMPLES, KIT, SERVERS, SOURCES

HELLO, COUNT, SUM = "demo.v1.Demo/Hello", "demo.v1.Demo/Count", "demo.v1.Demo/Sum"
KITS = {"PYTHONPATH": str(KIT), "NODE_PATH": str(KIT), "PYTHONDONTWRITEBYTECODE": "1"}
PROGRAMS = {".py": "python3", ".js": "node", ".sh": "jq"}


def need(path):
    program = PROGRAMS[path.suffix]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return path


@pytest.fixture(params=["everything.py", "everything.py async", "everything.js"])
def act(request, demo, grpc_server):
    """`act(METHOD, data, {stage: verb}, OPTIONS…)`: a call with a script that does this."""
    name, *is_async = request.param.split()
    path = need(SOURCES / name)

    def run(method, data, do, *words, options=None, **keys):
        environment = KITS | {"DO": json.dumps(do), "OPTIONS": json.dumps(options or {})} | ({"ASYNC": "1"} if is_async else {})
        settings = "".join(f",{key}={value}" for key, value in keys.items())
        chain = ["--use", f"script,run={path}{settings}"] if settings else ["--script", path]
        return demo("-d", data, *chain, *words, f"{grpc_server.url}/{method}", env=environment)

    return run


def echoed(result):
    """The headers that the server has received."""
    headers = {}
    for header in result.exits(0).json()["headers"]:
        headers.setdefault(header["name"], []).append(header.get("value") or header.get("binary"))
    return headers


ECHO = "demo.v1.Demo/EchoMetadata"


def test_headers_of_the_request(act):
    headers = echoed(act(ECHO, "{}", {"request_start": "headers"}, "-H", "x-remove: 1", "-H", "x-add: 1", "-H", "x-other: 1"))
    assert (headers["x-set"], headers["x-add"], headers["x-data-bin"], headers["x-other"]) == (["1", "2"], ["1", "3"], ["AAE="], ["1"])
    assert "x-remove" not in headers


def test_headers_and_trailers_of_the_response(act):
    metadata = ["-H", "demo-header: x-remove=1", "-H", "demo-header: x-other=1", "-H", "demo-trailer: x-remove=1"]
    do = {"response_start": "headers", "response_end": "headers"}
    events = act(HELLO, '{"name":"Ada"}', do, *metadata, "--format", "events").exits(0).named_events()
    for pairs in (events["headers"]["headers"], events["end"]["trailers"]):
        names = [name for name, _ in pairs]
        assert names.count("x-set") == 2 and "x-add" in names and "x-data-bin" in names and "x-remove" not in names
    assert ["x-other", "1"] in events["headers"]["headers"]


@pytest.mark.parametrize(("verb", "name"), [("change", "Changed"), ("return", "Returned")])
def test_change_of_a_request(act, verb, name):
    assert act(HELLO, '{"name":"Ada"}', {"request_message": verb}).succeeds().json()["message"] == f"Hello, {name}!"


def test_change_of_a_response(act):
    result = act(HELLO, '{"name":"Ada"}', {"response_message": "change"}).succeeds().json()
    assert result == {"message": "Hello, Ada!", "name": "Changed"}


def test_change_of_bytes(act):
    sent = act("demo.v1.Demo/Raw", '{"stringValue":"a"}', {"request_message": "nothing"}).succeeds().json()["request"]
    twice = act("demo.v1.Demo/Raw", '{"stringValue":"a"}', {"request_message": "change"}, options={"handler": {"form": "bytes"}})
    assert twice.succeeds().json()["request"] == sent + sent


def test_forms_that_change_nothing(act):
    for handler in ({"reads": True}, {"form": "bytes", "reads": True}, {"form": "none"}):
        options = {"handler": handler}
        act(HELLO, '{"name":"Ada"}', {"request_message": "nothing", "response_message": "nothing"}, options=options).succeeds()


def numbers(result):
    return [line.get("number", 0) for line in result.lines()]


def test_drop(act):
    assert numbers(act(COUNT, '{"from":1,"to":3}', {"response_message": "drop"}).succeeds()) == []
    total = act(SUM, '{"value":"1"}{"value":"2"}', {"request_message": "drop"}).succeeds().json()
    assert total.get("count", 0) == 0


@pytest.mark.parametrize(
    ("stage", "expected"), [("response_message", [100, 101, 1, 100, 101, 2]), ("response_end", [1, 2, 100, 101])]
)
def test_messages_injected_into_a_response(act, stage, expected):
    options = {"inject": [{"number": 100}, {"number": 101}]}
    assert numbers(act(COUNT, '{"from":1,"to":2}', {stage: "inject"}, options=options).succeeds()) == expected


@pytest.mark.parametrize(("stage", "count"), [("request_message", 6), ("request_end", 4)])
def test_messages_injected_into_a_request(act, stage, count):
    options = {"inject": [{"value": "100"}, {"value": "100"}]}
    assert act(SUM, '{"value":"1"}{"value":"2"}', {stage: "inject"}, options=options).succeeds().json()["count"] == count


# Its end does not arrive with its start.
SLOW = '{"from":1,"to":2,"intervalMs":300}'


def test_messages_injected_for_no_value(act):
    options = {"later": {"response": [{"number": 100}]}}
    assert sorted(numbers(act(COUNT, SLOW, {"response_start": "inject later"}, options=options).succeeds())) == [1, 2, 100]


@pytest.mark.parametrize(
    "stage", ["request_start", "request_message", "request_end", "response_start", "response_message", "response_end"]
)
def test_failure_at_each_stage(act, stage):
    result = act(HELLO, '{"name":"Ada"}', {stage: "fail"}, "--format", "events").exits(64 + 7)
    end = result.named_events()["end"]
    assert (end["code"], end["message"]) == ("permission_denied", "no") and end["details"][0]["debug"]["reason"] == "TESTED"


@pytest.mark.parametrize("stage", ["request_start", "request_message", "request_end"])
def test_response_of_a_script(act, stage):
    result = act(HELLO, '{"name":"Ada"}', {stage: "respond"}, "--format", "events").exits(0)
    events = result.named_events()
    assert events["message"]["message"] == {"name": "Own"}
    assert ["x-a", "1"] in events["headers"]["headers"] and ["x-b", "2"] in events["end"]["trailers"]


def test_several_messages_and_a_failure_as_response(act):
    assert numbers(act(COUNT, '{"from":5,"to":6}', {"request_end": "respond many"}).succeeds()) == [1, 2]
    act(HELLO, '{"name":"Ada"}', {"request_start": "respond fail"}).exits(64 + 5).reports("nothing")


def test_retry(act):
    headers = echoed(act(ECHO, "{}", {"response_end": "retry"}, "-H", "demo-token: new", options={"retries": True}))
    assert headers["x-again"] == ["1"]


def test_retry_without_the_option(act):
    act(ECHO, "{}", {"response_end": "retry"}, "-H", "demo-token: new").exits(64 + 13).reports("retries")


def test_findings(act):
    act(HELLO, '{"name":"Ada"}', {"response_end": "finding"}).exits(8).reports("found")
    act(HELLO, '{"name":"Ada"}', {"response_end": "note"}, "-v").exits(0).reports("noted")


@pytest.mark.parametrize("stage", ["request_start", "response_message", "metrics"])
def test_log(act, stage):
    act(HELLO, '{"name":"Ada"}', {stage: "log"}).exits(0).reports("everything.", ": logged\n")


def test_attributes_reach_other_interceptors(act):
    further = ["--use", "header,set=x-tier:gold,attribute=tier == gold", "--attribute", "gone=1"]
    assert echoed(act(ECHO, "{}", {"request_start": "attributes"}, *further))["x-tier"] == ["gold"]


@pytest.mark.parametrize("stage", ["request_start", "response_message", "response_end"])
def test_exception_of_a_handler(act, stage):
    act(HELLO, '{"name":"Ada"}', {stage: "throw"}).exits(64 + 13).reports("Error: ")


def test_second_verdict(act):
    act(HELLO, '{"name":"Ada"}', {"request_message": "fail twice"}).exits(64 + 13).reports("verdict already")


def test_what_is_printed_is_logged(act):
    act(HELLO, '{"name":"Ada"}', {"request_start": "print"}).exits(0).reports(": before the run\n", ": printed\n", ": the end\n")


def test_facts_and_content_of_each_stage(act):
    logged = act(HELLO, '{"name":"Ada"}', {"request_start": "facts"}, "--timeout", "9s").exits(0).err
    facts = json.loads(next(line for line in logged.splitlines() if '"method"' in line).split(": ", 1)[1])
    assert (facts["method"], facts["kind"], facts["protocol"], facts["request_type"]) == (HELLO, "unary", "grpc", "demo.v1.HelloRequest")
    assert 8 < facts["timeout"] <= 9
    stages = [
        "request_start", "request_message", "request_end", "response_start", "response_message", "response_end", "metrics", "finish",
    ]  # fmt: skip
    logged = act(HELLO, '{"name":"Ada"}', dict.fromkeys(stages, "content")).exits(0).err
    seen = [json.loads(line.split(": ", 1)[1]) for line in logged.splitlines() if ": [[" in line]
    assert seen[-1][0] == stages and seen[1][1] == {"name": "Ada"} and seen[4][1]["message"] == "Hello, Ada!"
    assert seen[3][1] == [200, "2"] and seen[5][1][:2] == ["ok", 0] and seen[6][1]["total_ms"] > 0


def test_attempts_of_an_interceptor_further_in(act):
    retry = ["--use", "retry,initial=1ms", "-H", "demo-fail-attempts: 1"]
    logged = act(ECHO, "{}", {"attempt_end": "content"}, *retry).exits(0).err
    seen = [json.loads(line.split(": ", 1)[1]) for line in logged.splitlines() if ": [[" in line]
    assert [attempt["code"] for _, attempt in seen] == ["unavailable", "ok"]


def test_own_call(act):
    act(ECHO, "{}", {"request_start": "own"}).exits(0).reports("ok {", "Hello, Own!")
    options = {"own": [HELLO, {"name": ""}]}
    act(ECHO, "{}", {"request_start": "own"}, options=options).exits(64 + 3).reports(f"{HELLO}: invalid_argument")


def test_question_without_a_terminal(act):
    assert re.search(r"reply: (None|null)\n", act(HELLO, '{"name":"Ada"}', {"request_start": "ask"}).exits(0).err)


def test_secrets_are_masked(act):
    secret = ["-H", "authorization: Bearer secret", "-H", "x-mine: secret"]
    headers = {"request_start": "content"}
    assert "secret" not in act(ECHO, "{}", headers, *secret, "-s", redact="x-mine").err
    assert echoed(act(ECHO, "{}", {"request_start": "headers"}, *secret))["authorization"] == ["Bearer secret"]


def test_redacted_fields(act):
    logged = act(HELLO, '{"name":"Ada"}', {"request_message": "content"}, options={"handler": {"reads": True}}, **{"redact-field": "name"})
    assert "[redacted]" in logged.exits(0).err and "Ada" not in logged.err


# What breaks the protocol


@pytest.fixture
def broken(demo, grpc_server, tmp_path):
    """`broken(SCRIPT, OPTIONS…)`: a call with a script of the shell. `hello` and `reply` read a line and write one."""

    def run(script, *words):
        path = tmp_path / "broken.sh"
        path.write_text(
            "#!/bin/sh\nhello() { read -r line; echo '{\"rpcurl\":1,\"stages\":[\"request_start\"]}'; read -r value; }\n" + script
        )
        path.chmod(0o755)
        return demo("-d", '{"name":"Ada"}', "--script", path, *words, f"{grpc_server.url}/{HELLO}")

    return run


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo reason >&2; exit 3", "reason"),
        ("read -r line; echo nonsense; sleep 9", "JSON"),
        ('read -r line; echo \'{"rpcurl":2,"stages":[]}\'', "version 2"),
        ('read -r line; echo \'{"rpcurl":1,"stages":["request_begin"]}\'', "request_begin"),
        ('read -r line; echo \'{"rpcurl":1,"stages":[],"method":[]}\'', "method"),
        ("hello; echo last words >&2; exit 3", "last words"),
        ("hello; echo nonsense; sleep 9", "JSON"),
        ('hello; echo \'{"call":1,"value":0,"header":{}}\'; sleep 9', "header"),
        ('hello; echo \'{"call":1,"value":1}\'; sleep 9', "value 1"),
        ('hello; echo \'{"call":9,"value":0}\'; sleep 9', "call 9"),
        ('hello; echo \'{"call":1,"value":0,"drop":true}\'; sleep 9', "drop"),
        ('hello; echo \'{"call":1,"value":0,"retry":true}\'; sleep 9', "retry"),
        ('hello; echo \'{"call":1,"value":0,"message":{}}\'; sleep 9', "message"),
        ('hello; echo \'{"call":1,"value":0,"headers":{"set":{"te":"1"}}}\'; sleep 9', "te"),
        ('hello; echo \'{"call":1,"value":0,"headers":{"set":{"x":"[redacted]"}}}\'; sleep 9', "[redacted]"),
        ("hello; yes '{\"call\":1,\"log\":\"flood\"}'", "too many lines"),
    ],
)
def test_failures_name_the_script_with_exit_code_7(broken, script, error):
    result = broken(script, "-s", "-S").exits(7)
    assert "broken.sh" in result.err and error in result.err


def test_second_reply(broken):
    result = broken('hello; echo \'{"call":1,"value":0}\'; echo \'{"call":1,"value":0}\'; sleep 9').exits(7)
    assert "second reply" in result.err


def test_script_that_cannot_be_started(demo, grpc_server, tmp_path):
    (tmp_path / "plain.py").write_text("")
    for path in (tmp_path / "missing.py", tmp_path / "plain.py"):
        demo("-d", "{}", "--script", path, f"{grpc_server.url}/{HELLO}").exits(7).reports(path.name)


def test_silent_script_is_named_at_the_deadline(broken):
    broken("hello; sleep 99", "--timeout", "0.3").exits(64 + 4).reports("broken.sh at request_start")


def test_script_that_does_not_end(broken):
    """It ignores the end of its input and SIGTERM."""
    broken("trap '' TERM; hello; echo '{\"call\":1,\"value\":0}'; while :; do sleep 1; done").exits(0)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


RECEIVE = "read -r line\necho '{\"rpcurl\":1,\"stages\":[\"request_start\"]}'\nread -r value\n"


@pytest.fixture
def interrupted(demo, grpc_server, tmp_path):
    """`interrupted(SCRIPT, AFTER, *SIGNALS)`: the exit code of a call whose script, which starts another process before AFTER, gets
    these signals. None of their processes is left.
    """

    def run(script, after, *numbers):
        path = tmp_path / "holds.sh"
        path.write_text(f"#!/bin/sh\n{script}sleep 99 &\necho $$ $! > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/pids\n{after}")
        path.chmod(0o755)
        with demo.start("-d", '{"name":"Ada"}', "--script", path, f"{grpc_server.url}/{HELLO}") as process:
            wait_until((tmp_path / "pids").exists, "the script")
            for number in numbers:
                process.send_signal(number)
            code = process.wait()
        pids = (tmp_path / "pids").read_text().split()
        wait_until(lambda: not any(map(is_running, pids)), "the end of the script")
        return code

    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_script_and_its_processes(interrupted, number):
    assert interrupted(RECEIVE, "wait\n", number) == 128 + number


@pytest.mark.parametrize("place", ["", RECEIVE], ids=["start", "value"])
def test_second_signal_leaves_nothing_running(interrupted, place):
    """The script ignores what may be ignored, at its start or while it holds a value."""
    assert interrupted(f"trap '' INT TERM\n{place}", "wait\nsleep 99\n", signal.SIGINT, signal.SIGINT) != 0


def test_first_line_of_a_call_has_its_facts_whatever_its_stage(demo, grpc_server, tmp_path):
    path = tmp_path / "ends.py"
    for stages in (["finish"], ["attempt_end", "finish"]):
        path.write_text(
            f"#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({{'rpcurl': 1, 'stages': {stages}}}), flush=True)\n"
            "for line in sys.stdin:\n    sys.stderr.write(line)\n"
        )
        path.chmod(0o755)
        retry = ["--use", "retry,attempts=1"] if "attempt_end" in stages else []
        result = demo("-d", '{"name":"Ada"}', "--script", path, *retry, f"{grpc_server.url}/{HELLO}").exits(0)
        lines = [json.loads(line.removeprefix("ends.py: ")) for line in result.err.splitlines() if "stage" in line]
        assert [line["stage"] for line in lines][-1] == "finish"
        assert lines[0]["method"] == HELLO and lines[0]["kind"] == "unary"
        assert all("method" not in line for line in lines[1:])


@pytest.mark.parametrize("line", ["call.call('demo.v1.Demo/Hello', dict(message))", "call.inject(dict(message))"])
def test_mask_is_never_sent(demo, grpc_server, tmp_path, line):
    path = tmp_path / "copies.py"
    path.write_text(
        "#!/usr/bin/env python3\nfrom rpcurl import interceptor\n@interceptor.request_message(reads=True)\n"
        f"def copy(call, message):\n    call.log(str({line}))\ninterceptor.run()\n"
    )
    path.chmod(0o755)
    use = f"script,run={path},redact-field=name"
    result = demo("-d", '{"name":"Ada"}', "--use", use, f"{grpc_server.url}/{HELLO}", env=KITS)
    assert "Hello, [redacted]" not in result.out + result.err and "[redacted]" in result.err


def test_script_is_started_again_for_the_next_call(prompt, grpc_server, descriptor_set, tmp_path):
    path = tmp_path / "once.py"
    path.write_text(
        "#!/usr/bin/env python3\nfrom rpcurl import interceptor\nimport os\nn = 0\n@interceptor.request_start\n"
        "def f(call):\n    global n\n    n += 1\n    n == 2 and os._exit(3)\n    call.log(f'number {n}')\ninterceptor.run()\n"
    )
    path.chmod(0o755)
    session = prompt("--descriptor-set", descriptor_set, "--script", path, grpc_server.url, env=KITS)
    session.type(*['call Hello {"name":"Ada"}'] * 3)
    session.line()
    session.line()
    errors = []
    while sum("number 1" in error for error in errors) < 2:
        errors.append(session.error())
    assert any("once.py" in error and "exit code 3" in error for error in errors)
    assert any("started again" in error for error in errors)


def test_script_that_is_started_again_does_not_hold_other_calls(demo, rpcurl, grpc_server, descriptor_set, tmp_path):
    """It dies at its first call, and writes no first line afterwards."""
    path = tmp_path / "slow.sh"
    path.write_text(
        f'#!/bin/sh\nif [ -e {tmp_path}/mark ]; then exec sleep 60; fi\ntouch {tmp_path}/mark\nread line\n'
        'echo \'{"rpcurl":1,"stages":["request_start"],"methods":["*/Hello"]}\'\nread line\nexit 1\n'
    )
    path.chmod(0o755)
    lines = 'open Count {"from":1,"to":3,"intervalMs":1}\ncall Hello {}\ncall Hello {}\nwait\n'
    options = ["--descriptor-set", descriptor_set, "--max-time", "1s", "--script", path]
    result = rpcurl("session", "--format", "json", *options, grpc_server.url, input=lines)
    # The name of the stream precedes what is printed while another call is open.
    numbers = [line.removeprefix("Count[1] ") for line in result.out.splitlines()]
    assert numbers == [f'{{"number":{number}}}' for number in (1, 2, 3)], result.err
    assert "Count[1]: " not in result.err and "deadline_exceeded" in result.err, result.err
    demo("-d", "{}", "--script", path, "--max-time", "1s", f"{grpc_server.url}/{HELLO}").exits(7).reports("no first line within --max-time")


# The examples


@pytest.fixture
def example(demo, grpc_server):
    """`example(NAME, METHOD, data, OPTIONS…)`: a call with an example."""

    def run(name, method, data, *words, arguments="", run=demo, **environment):
        path = need(EXAMPLES / name)
        return run("-d", data, "--use", f"script,run={path} {arguments}", *words, f"{grpc_server.url}/{method}", env=KITS | environment)

    return run


def test_example_sign(example):
    headers = echoed(example("sign.py", ECHO, "{}", SIGN_KEY="secret"))
    assert re.fullmatch(r"[0-9a-f]{64}", headers["x-signature"][0]) and headers["x-date"]


def test_example_refresh(example):
    served = []

    class Handler(QuietHandler):
        def do_GET(self):
            served.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"access_token":"new"}')

    with http_server(Handler) as url:
        headers = echoed(example("refresh.py", ECHO, "{}", "-H", "demo-token: new", TOKEN="old", TOKEN_URL=f"{url}/token"))
    assert headers["authorization"] == ["Bearer new"] and served == ["/token"]


def test_example_fault(example):
    result = example("fault.js", HELLO, '{"name":"Ada"}' * 6, "--each", "--format", "events")
    codes = [event["code"] for event in result.events("end")]
    assert sorted(codes) == ["ok"] * 4 + ["unavailable"] * 2


def test_example_redact(example):
    result = example("redact.py", HELLO, '{"name":"Ada"}', arguments="name message").succeeds().json()
    assert result == {"message": "[redacted]", "name": "[redacted]"}


def test_example_mock(example):
    assert example("mock.js", HELLO, '{"name":"Ada"}').succeeds().json()["message"] == "Hello from the mock, Ada!"
    example("mock.js", "demo.v1.Demo/Find", '{"id":"1"}').exits(64 + 5).reports("the mock has no items")
    assert numbers(example("mock.js", COUNT, '{"from":5,"to":9}').succeeds()) == [1, 2]


def test_example_record(example, tmp_path):
    example("record.py", COUNT, '{"from":1,"to":3}', arguments=tmp_path / "calls.db").succeeds()
    with contextlib.closing(sqlite3.connect(tmp_path / "calls.db")) as database:
        rows = database.execute("SELECT stage, content FROM events").fetchall()
    assert [row[0] for row in rows] == ["request_message", *["response_message"] * 3, "finish"]
    assert json.loads(rows[2][1]) == {"number": 2} and rows[-1][1] == "ok"


def test_example_rewrite(example):
    assert numbers(example("rewrite.js", COUNT, '{"from":1,"to":4}').succeeds()) == [20, 40, -1]


PAGED = """syntax = "proto3";
package shop.v1;
message ListRequest { string parent = 1; string page_token = 2; }
message ListReply { repeated string items = 1; string next_page_token = 2; }
service Shop { rpc List(ListRequest) returns (ListReply); }
"""


def test_example_pages(example, rpcurl, tmp_path):
    (tmp_path / "shop.proto").write_text(PAGED)
    pages = [({"pageToken": "2"}, ["c"], "3"), ({"pageToken": "3"}, ["d"], ""), ({}, ["a", "b"], "2")]
    stubs = [
        {"method": "shop.v1.Shop/List", "request": request, "response": {"message": {"items": items, "nextPageToken": token}}}
        for request, items, token in pages
    ]
    (tmp_path / "stubs.json").write_text("".join(map(json.dumps, stubs)))
    result = example(
        "pages.py", "shop.v1.Shop/List", '{"parent":"p"}', "--proto", tmp_path / "shop.proto", "--use", f"mock,file={tmp_path}/stubs.json",
        run=rpcurl,
    )  # fmt: skip
    assert result.succeeds().json() == {"items": ["a", "b", "c", "d"]}


def test_example_budget(example):
    result = example("budget.py", "demo.v1.Demo/Delay", '{"milliseconds":"100"}', BUDGET_MS="50").exits(8)
    result.reports("demo.v1.Demo/Delay took 1", "slowest: demo.v1.Demo/Delay, 1")
    example("budget.py", HELLO, '{"name":"Ada"}', BUDGET_MS="60000").exits(0).reports(f"slowest: {HELLO}")


@pytest.mark.parametrize(("typed", "shown"), [("y", "Hello, Ada!"), ("n", "not approved")])
def test_example_approve(terminal, grpc_server, descriptor_set, typed, shown):
    path = need(EXAMPLES / "approve.py")
    screen = terminal(
        "--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', "--use", f"script,run={path} {HELLO}", f"{grpc_server.url}/{HELLO}", **KITS
    )
    screen.wait(lambda: "continue? [y/N]" in screen.text, "the question")
    screen.send(f"{typed}\r")
    screen.wait(lambda: shown in screen.text, shown)
    assert screen.end() == (0 if typed == "y" else 64 + 1, None)


def test_example_approve_without_a_terminal(example):
    example("approve.py", HELLO, '{"name":"Ada"}', arguments=HELLO).exits(64 + 1).reports("not approved")


def test_example_in_the_shell(example):
    assert echoed(example("header.sh", ECHO, "{}"))["x-host"]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_examples_pass_the_check(rpcurl, name, tmp_path):
    environment = KITS | {"SIGN_KEY": "k", "TOKEN_URL": f"file://{tmp_path}/none"}
    result = rpcurl("plugins", "check", need(EXAMPLES / name), env=environment)
    assert result.code == 0, result.out + result.err


# Sockets, and other ways to run


@pytest.mark.parametrize("language", ["python", "node"])
def test_one_process_serves_several_runs(demo, grpc_server, tmp_path_factory, language):
    folder = tmp_path_factory.mktemp("s")
    program = need(folder / ("serve.js" if language == "node" else "serve.py"))
    program.write_text(SERVERS[language])
    process = Process([PROGRAMS[program.suffix], program.name], cwd=folder, env=ENVIRONMENT)
    try:
        wait_until((folder / "s.sock").is_socket, "the socket")
        results = {}

        def run(number):
            chain = ["--attribute", f"n={number}", "--use", f"script,connect=unix:{folder}/s.sock"]
            results[number] = echoed(demo("-d", "{}", *chain, f"{grpc_server.url}/{ECHO}"))["x-n"]

        threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == {number: [str(number)] for number in range(3)}
    finally:
        process.terminate()
        process.wait()


def test_socket_without_a_process(demo, grpc_server, tmp_path):
    result = demo("-d", "{}", "--use", f"script,connect=unix:{tmp_path}/none", f"{grpc_server.url}/{HELLO}")
    result.exits(7).reports(f"{tmp_path}/none")


@pytest.mark.parametrize("number", range(len(manual.examples("rpcurl-script.7"))))
def test_examples_of_the_page(number, tmp_path, descriptor_set, grpc_server):
    script = manual.examples("rpcurl-script.7")[number]
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", f"localhost:{grpc_server.port}")])
    assert done.returncode == 0 and not re.search(r"^rpcurl: ", done.stderr, re.M), done.stderr


def test_first_script_of_the_page(demo, grpc_server, tmp_path):
    """As a new user copies it."""
    page = (ROOT / "man" / "rpcurl-script.7").read_text()
    blocks = [block.replace("\\e", "\\") for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", page, re.M | re.S)]
    first = next(block for block in blocks if block.startswith("#!/usr/bin/env python3"))
    shell = next(block for block in blocks if block.startswith("#!/bin/sh"))
    node = next(block for block in blocks if block.startswith("#!/usr/bin/env node"))
    for name, text, header in (("sign.py", first, "x-signature"), ("host.sh", shell, "x-host"), ("tenant.js", node, "x-tenant")):
        path = need(tmp_path / name)
        path.write_text(text)
        path.chmod(0o755)
        result = demo("-d", "{}", "--script", path, f"{grpc_server.url}/{ECHO}", env=KITS)
        # The script in JavaScript fails responses without a name.
        assert header in (result.out + result.err) or "no name" in result.err, result.err
