"""The kits of scripts in Python and Node, over pipes and sockets, by the protocol of rpcurl-script(7) and without rpcurl."""

import json
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import subprocess

import pytest

from harness import PATIENCE_SECONDS, ROOT, Process, wait_until

KIT = ROOT / "Plugins" / "ScriptKit"
SOURCES = ROOT / "Tests" / "EndToEnd" / "kits"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(KIT), "NODE_PATH": str(KIT), "PYTHONDONTWRITEBYTECODE": "1"}
FACTS = {
    "method": "demo.v1.Demo/Hello", "kind": "unary", "protocol": "grpc", "codec": "proto", "target": "http://localhost:1",
    "attempt": 1, "request_type": "demo.v1.HelloRequest", "response_type": "demo.v1.HelloReply", "attributes": {"gone": "1"},
}  # fmt: skip
VALUES = {
    "request_start": {"headers": [["x-remove", "1"], ["x-add", "1"]], "timeout_ms": 1500},
    "request_message": {"message": {"name": "Ada"}},
    "request_end": {},
    "response_start": {"http_status": 200, "http_version": "2", "headers": [["x-remove", "1"]]},
    "response_message": {"message": {"name": "Ada", "message": "Hello"}},
    "response_end": {
        "code": "unauthenticated", "code_number": 16, "message": "busy", "details": [], "trailers": [["x-remove", "1"]],
    },
    "attempt_end": {"number": 1, "code": "ok", "code_number": 0},
    "metrics": {"total_ms": 1.5},
    "finish": {"code": "ok", "code_number": 0, "message": ""},
}  # fmt: skip
DETAIL = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TESTED"}
COMMANDS = {"python": ["python3", SOURCES / "everything.py"], "node": ["node", SOURCES / "everything.js"]}


class Lines:
    """Lines of JSON in both directions."""

    def __init__(self, source, sink):
        self.source, self.sink, self.rest = source, sink, b""

    def send(self, *values):
        data = "".join(json.dumps(value) + "\n" for value in values).encode()
        while data:
            data = data[os.write(self.sink, data) :]

    def receive(self):
        """The next line; None at the end."""
        while b"\n" not in self.rest:
            assert select.select([self.source], [], [], PATIENCE_SECONDS)[0], "the script does not reply"
            data = os.read(self.source, 1 << 16)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def greet(self):
        self.send({"rpcurl": 1, "version": "0.1.0", "name": "x"})
        return self.receive()

    def value(self, stage, number=0, call=7, **members):
        count = {} if stage in ("attempt_end", "finish") else {"value": number}
        self.send({"stage": stage, "call": call, **count, **({} if number else FACTS), **(members or VALUES[stage])})

    def until_reply(self, number=0, call=7):
        """The lines until the reply to a value, and the members of the reply."""
        lines = []
        while True:
            line = self.receive()
            assert line is not None, "the script has ended"
            if line.get("call") == call and (line.get("value") == number or line.get("upto", -1) >= number):
                return lines, {name: member for name, member in line.items() if name not in ("call", "value", "upto")}
            lines.append(line)


class Script(Lines):
    """A script that runs."""

    def __init__(self, *command, **environment):
        self.process = Process(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=ENVIRONMENT | environment,
        )  # fmt: skip
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """Closes the input. Returns the exit code and standard error."""
        err = self.process.communicate()[1].decode()
        return self.process.returncode, err


@pytest.fixture(params=["python", "python async", "node"])
def language(request):
    if shutil.which(request.param.split()[0].replace("python", "python3")) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def script(language):
    """`script(stage="verb", ..., options={...})`: a script that does this."""
    started = []

    def start(options=None, **do):
        environment = {"DO": json.dumps(do), "OPTIONS": json.dumps(options or {})} | ({"ASYNC": "1"} if "async" in language else {})
        started.append(Script(*COMMANDS[language.split()[0]], **environment))
        return started[-1]

    yield start
    for one in started:
        one.__exit__()


def act(script, stage, verb, options=None):
    """The lines of a script that does something at a stage, and its reply."""
    one = script(**{stage: verb}, options=options)
    one.greet()
    one.value(stage)
    return one.until_reply()


FAIL = {"code": "permission_denied", "message": "no", "details": [DETAIL], "trailers": [["x-why", "test"]]}
CHANGED_HEADERS = {"set": {"x-set": ["1", "2"]}, "add": {"x-add": "3"}, "remove": ["x-remove"]}
REPLIES = [
    *((stage, "nothing", {}) for stage in VALUES if stage not in ("attempt_end", "finish")),
    *((stage, "fail", {"fail": FAIL}) for stage in VALUES if stage not in ("attempt_end", "metrics", "finish")),
    *((stage, "respond", {"respond": {"message": {"name": "Own"}, "headers": [["x-a", "1"]], "trailers": [["x-b", "2"]]}})
      for stage in ("request_start", "request_message", "request_end")),
    ("request_start", "respond many", {"respond": {"messages": [{"message": {"number": 1}}, {"message": {"number": 2}}]}}),
    ("request_end", "respond fail", {"respond": {"fail": {"code": "not_found", "message": "nothing"}}}),
    ("request_message", "drop", {"drop": True}),
    ("response_message", "drop", {"drop": True}),
    ("request_message", "change", {"message": {"name": "Changed"}}),
    ("response_message", "change", {"message": {"name": "Changed", "message": "Hello"}}),
    ("response_message", "return", {"message": {"name": "Returned"}}),
    *((stage, "inject", {"inject": [{"message": {"name": "First"}}, {"message": {"name": "Second"}}]})
      for stage in ("request_message", "request_end", "response_message", "response_end")),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "verb", "reply"), REPLIES, ids=lambda value: value if isinstance(value, str) else "")
def test_reply(script, stage, verb, reply):
    assert act(script, stage, verb) == ([], reply)


@pytest.mark.parametrize("stage", ["request_start", "response_start", "response_end"])
def test_headers_are_set_added_and_removed_by_name(script, stage):
    lines, reply = act(script, stage, "headers")
    changes = reply["headers"]
    assert changes["set"].pop("x-data-bin") == "AAE="
    assert changes == CHANGED_HEADERS and lines == []


def test_retry(script):
    lines, reply = act(script, "response_end", "retry", options={"retries": True})
    assert (lines, reply) == ([], {"retry": {"after": "10ms", "headers": {"x-again": "1", "authorization": "Bearer new"}}})


def test_start_of_a_response_is_held_while_a_retry_is_possible(script):
    one = script(response_start="headers", response_end="retry", options={"retries": True})
    one.greet()
    for attempt in (0, 3):
        one.value("response_start", attempt)
        one.value("request_end", attempt + 1)
        assert one.receive() == {"call": 7, "value": attempt + 1}
        one.value("response_end", attempt + 2)
        line = one.receive()
        if attempt == 0:
            assert line["value"] == 2 and line["retry"]
    assert line["value"] == 3 and line["headers"] and one.receive() == {"call": 7, "upto": 5}


RETRIES = {
    "python": """from rpcurl import interceptor
@interceptor.response_message
async def message(call, message):
    if await call.ask("?") == "again":
        call.retry(headers={"x-a": ["1", "2"], "x-b": "3"})
@interceptor.response_end
def end(call):
    pass
interceptor.run(retries=True)
""",
    "node": """const { interceptor } = require("rpcurl");
interceptor.responseMessage(async (call) => {
  if ((await call.ask("?")) === "again") call.retry({ headers: { "x-a": ["1", "2"], "x-b": "3" } });
});
interceptor.responseEnd(() => {});
interceptor.run({ retries: true });
""",
}


@pytest.mark.parametrize("language", RETRIES)
def test_start_of_a_response_is_held_until_the_first_value_after_it_is_decided(tmp_path, language):
    path = tmp_path / "retries"
    path.write_text(RETRIES[language])
    if shutil.which(str(COMMANDS[language][0])) is None:
        pytest.skip(f"{language} is not installed")
    with Script(COMMANDS[language][0], path) as one:
        one.greet()
        one.value("response_start", 0)
        one.value("response_message", 1)
        question = one.receive()["ask"]["id"]
        # The end is handled while the message may still be retried.
        one.value("response_end", 2)
        assert one.receive() == {"call": 7, "value": 2}
        one.send({"stage": "asked", "call": 7, "id": question, "reply": "again"})
        assert one.receive() == {"call": 7, "value": 1, "retry": {"headers": {"x-a": ["1", "2"], "x-b": "3"}}}
        one.value("response_start", 3)
        one.value("response_message", 4)
        one.send({"stage": "asked", "call": 7, "id": one.receive()["ask"]["id"], "reply": "no"})
        assert one.receive() == {"call": 7, "upto": 4}


def test_change_of_a_number_to_a_truth_value(tmp_path):
    path = tmp_path / "truth.py"
    path.write_text(
        "from rpcurl import interceptor\n@interceptor.request_message\ndef m(call, message):\n"
        "    message.update({key: bool(value) for key, value in message.items()})\ninterceptor.run()\n"
    )
    with Script("python3", path) as one:
        one.greet()
        one.value("request_message", message={"active": 1, "deleted": 0})
        assert one.receive() == {"call": 7, "value": 0, "message": {"active": True, "deleted": False}}


def test_details_of_a_status_are_those_that_fail_has(script):
    one = script(response_end="content")
    one.greet()
    details = [{"type": "google.rpc.ErrorInfo", "value": "CgZURVNURUQ=", "debug": {"reason": "TESTED"}}, {"type": "a.B", "value": ""}]
    one.value("response_end", code="aborted", details=details)
    assert json.loads(one.receive()["log"]["text"])[1][3] == [DETAIL, details[1]]


def test_retry_needs_the_option(script):
    assert "retries" in act(script, "response_end", "retry")[1]["fail"]["message"]


@pytest.mark.parametrize(
    ("verb", "members"),
    [
        ("log", [{"log": {"level": "warning", "text": "logged"}}]),
        ("finding", [{"finding": {"kind": "failure", "text": "found"}}]),
        ("note", [{"finding": {"kind": "note", "text": "noted"}}]),
        ("attributes", [{"attributes": {"tier": "gold"}}, {"attributes": {"gone": None}}]),
        ("inject later", [{"inject": {"request": [{"message": {"name": "Late"}}], "response": [{"message": {"name": "Later"}}]}}]),
    ],
)
def test_lines_of_a_call_that_are_no_replies(script, verb, members):
    assert act(script, "request_start", verb) == ([{"call": 7, **one} for one in members], {})


def test_facts_of_a_call(script):
    lines, _ = act(script, "request_start", "facts")
    facts = {**FACTS, "is_subrequest": False, "timeout": 1.5}
    del facts["attributes"]
    assert json.loads(lines[0]["log"]["text"]) == facts


def test_content_of_each_stage_and_state_of_a_call(script):
    one = script(**dict.fromkeys(VALUES, "content"))
    one.greet()
    texts = []
    for number, stage in enumerate(VALUES):
        one.value(stage, number)
        texts.append(json.loads(one.receive()["log"]["text"]))
        if stage not in ("attempt_end", "finish"):
            one.until_reply(number)
    assert [content for _, content in texts] == [
        None, {"name": "Ada"}, None, [200, "2"], {"name": "Ada", "message": "Hello"}, ["unauthenticated", 16, "busy", []],
        VALUES["attempt_end"], VALUES["metrics"], ["ok", 0, "", []],
    ]  # fmt: skip
    assert texts[-1][0] == list(VALUES)


def test_hello_has_stages_forms_and_options(script):
    options = {
        "handler": {"form": "bytes", "reads": True}, "methods": ["demo.v1.Demo/*"], "serial": True, "collects": True,
        "window": 9, "retries": 5, "waits": True, "summary": "s", "version": "1", "effects": ["changes headers"],
    }  # fmt: skip
    hello = script(request_message="nothing", metrics="nothing", options=options).greet()
    # With retries, the kit holds the start of responses.
    stages = ["request_message", "response_start", "response_message", "metrics", "finish"]
    expected = options | {"replay_limit": 5, "request": "read-bytes", "response": "none", "stages": stages, "rpcurl": 1}
    del expected["handler"], expected["retries"]
    assert hello == expected


@pytest.mark.parametrize(("handler", "form"), [({}, "json"), ({"reads": True}, "read-json"), ({"form": "bytes"}, "bytes"), ({"form": "none"}, "none")])
def test_forms_of_messages(script, handler, form):
    assert script(response_message="nothing", options={"handler": handler}).greet()["response"] == form


def test_messages_as_bytes(script):
    one = script(response_message="change", options={"handler": {"form": "bytes"}})
    one.greet()
    one.value("response_message", bytes="AAEC")
    assert one.until_reply() == ([], {"bytes": "AAECAAEC"})


@pytest.mark.parametrize(("stage", "options"), [("response_message", {"handler": {"reads": True}}), ("request_start", {})])
def test_handler_that_cannot_change_messages_returns_one(script, language, stage, options):
    """An arrow function returns a value without meaning to: it has no effect."""
    reply = act(script, stage, "return", options=options)[1]
    assert reply == {} if language == "node" else "changes no messages" in reply["fail"]["message"]


@pytest.mark.parametrize("form", ["json", "bytes"])
@pytest.mark.parametrize("language", ["node"], indirect=True)
def test_handler_that_returns_no_message(script, form):
    reply = act(script, "response_message", "return text", options={"handler": {"form": form}})[1]
    assert "returns 'text', which is no message: write its body in braces" in reply["fail"]["message"]


@pytest.mark.parametrize("language", ["node"], indirect=True)
def test_message_that_is_text_is_replaced(script):
    one = script(response_message="return text")
    one.greet()
    one.value("response_message", message="of google.protobuf.StringValue")
    assert one.until_reply()[1] == {"message": "text"}


@pytest.mark.parametrize(
    ("stage", "verb"),
    [
        ("request_start", "drop"), ("request_end", "drop"), ("response_message", "respond"), ("response_end", "respond many"),
        ("request_start", "late retry"), ("request_message", "late retry"), ("request_start", "inject"), ("response_start", "inject"),
    ],
)  # fmt: skip
def test_verdict_at_another_stage_fails_its_call_only(script, stage, verb):
    one = script(**{stage: verb}, options={"retries": True} if "retry" in verb else None)
    one.greet()
    for call in (7, 8):
        one.value(stage, call=call)
        message = one.until_reply(call=call)[1]["fail"]["message"]
        assert f"{verb.split()[0 if 'respond' in verb else -1]} is not possible at {stage}, but at " in message
    assert "everything." in one.end()[1]


@pytest.mark.parametrize("verb", ["fail", "drop"])
def test_verdict_at_the_metrics_is_a_finding(script, verb):
    lines, reply = act(script, "metrics", verb)
    assert reply == {} and "metrics: " in lines[0]["finding"]["text"] and "is not possible at metrics" in lines[0]["finding"]["text"]


@pytest.mark.parametrize("stage", ["attempt_end", "metrics"])
def test_first_line_of_a_call_keeps_its_facts_from_the_members(script, stage):
    one = script(**{stage: "content"})
    one.greet()
    one.value(stage)
    assert json.loads(one.receive()["log"]["text"])[1] == VALUES[stage]


@pytest.mark.parametrize("stage", ["request_start", "response_message", "response_end"])
def test_exception_of_a_handler_fails_its_call_only(script, stage):
    one = script(**{stage: "throw"})
    one.greet()
    one.value(stage)
    one.value(stage, call=8)
    for call in (7, 8):
        _, reply = one.until_reply(call=call)
        assert reply["fail"]["code"] == "internal" and re.match(r"IndexError: list index|TypeError: thrown", reply["fail"]["message"])
    code, err = one.end()
    assert code == 0 and re.search(r"IndexError|TypeError: thrown", err) and "everything." in err


@pytest.mark.parametrize("stage", ["attempt_end", "metrics"])
def test_exception_too_late_to_fail_is_a_finding(script, stage):
    one = script(**{stage: "throw"})
    one.greet()
    one.value(stage)
    assert one.receive()["finding"]["kind"] == "failure"


def test_second_verdict_is_an_error(script):
    assert "verdict already: fail" in act(script, "request_message", "fail twice")[1]["fail"]["message"]


def test_what_is_printed_does_not_break_the_protocol(script):
    one = script(request_start="print")
    one.greet()
    one.value("request_start")
    assert one.until_reply() == ([], {})
    assert one.end() == (0, "before the run\nprinted\nthe end\n")


def test_end_of_input_ends_the_script_with_success(script):
    one = script(request_start="nothing")
    one.greet()
    assert one.end()[0] == 0


def test_sigterm_ends_the_script(script):
    one = script(request_start="nothing")
    one.greet()
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait() in (-signal.SIGTERM, 143)


def test_own_call(script):
    one = script(request_start="own")
    one.greet()
    one.value("request_start")
    own = one.receive()
    assert own.pop("call") == {
        "of": 7, "id": 1, "method": "demo.v1.Demo/Hello", "message": {"name": "Own"}, "headers": [["x-own", "1"]], "timeout": "5000ms",
    }  # fmt: skip
    # The values of other calls wait meanwhile, or are handled.
    one.value("request_start", call=8)
    one.send({"stage": "called", "call": 7, "id": 1, "headers": [], "message": {"a": 1}, "status": {"code": "ok", "code_number": 0}})
    lines, reply = one.until_reply()
    assert reply == {} and {"ok {'a': 1}", 'ok {"a":1}'} & {line["log"]["text"] for line in lines if "log" in line}


def test_failed_own_call_fails_the_call_with_its_status(script):
    one = script(request_start="own")
    one.greet()
    one.value("request_start")
    one.receive()
    one.send({"stage": "called", "call": 7, "id": 1, "headers": [], "status": {"code": "not_found", "code_number": 5, "message": "no"}})
    assert one.until_reply()[1] == {"fail": {"code": "not_found", "message": "demo.v1.Demo/Hello: not_found: no"}}


@pytest.mark.parametrize(("reply", "shown"), [("y", ("y",)), (None, ("None", "null"))])
def test_question(script, reply, shown):
    one = script(request_start="ask", options={"waits": True})
    assert one.greet()["waits"] is True
    one.value("request_start")
    assert one.receive() == {"call": 7, "ask": {"id": 1, "text": "Sure? "}}
    one.send({"stage": "asked", "call": 7, "id": 1, "reply": reply})
    assert one.until_reply()[0][0]["log"]["text"] in [f"reply: {word}" for word in shown]


@pytest.mark.parametrize("verb", ["ask", "own"])
def test_end_of_the_call_ends_what_waits(script, verb):
    one = script(request_start=verb)
    one.greet()
    one.value("request_start")
    one.receive()
    one.value("finish", number=1)
    # The next call is handled, and nothing more is sent for the first.
    one.value("request_start", call=8)
    line = one.receive()
    assert line.get("call") == 8 or line["call"]["of"] == 8
    assert one.end()[0] == 0


def test_values_that_go_on_are_replied_to_together(script):
    one = script(response_message="nothing", options={"handler": {"reads": True}})
    one.greet()
    values = [{"stage": "response_message", "call": call, "value": number, "message": {}, **({} if number else FACTS)}
              for number in range(100) for call in (7, 8)]  # fmt: skip
    one.send(*values)
    last, lines = {}, 0
    while last != {7: 99, 8: 99}:
        line = one.receive()
        assert line.keys() == {"call", "upto"} and line["upto"] > last.get(line["call"], -1)
        last[line["call"]] = line["upto"]
        lines += 1
    assert lines < 100


@pytest.mark.parametrize("language", ["python async", "node"], indirect=True)
def test_replies_of_concurrent_handlers_come_as_they_finish(script):
    one = script(request_message="sleep")
    one.greet()
    for number, time in enumerate(["0.5", "0.05", "0.001"]):
        one.value("request_message", number, message={"text": time})
    # No "upto" for a value after one that waits.
    assert [one.receive() for _ in range(3)] == [{"call": 7, "value": 2}, {"call": 7, "value": 1}, {"call": 7, "upto": 0}]


@pytest.mark.parametrize("language", ["python async", "node"], indirect=True)
@pytest.mark.parametrize("verb", ["log", "log later"])
def test_handlers_of_attempts_end_before_the_reply_at_metrics(script, verb):
    one = script(attempt_end=verb)
    one.greet()
    attempts = [{"stage": "attempt_end", "call": 7, **(FACTS if number == 1 else {}), "number": number} for number in (1, 2)]
    one.send(*attempts, {"stage": "metrics", "call": 7, "value": 0, **VALUES["metrics"]})
    lines, reply = one.until_reply()
    assert [line["log"]["text"] for line in lines] == ["logged", "logged"] and reply == {}


def test_started_by_hand(language):
    command = [*map(str, COMMANDS[language.split()[0]])]
    done = subprocess.run(
        ["script", "-qec", " ".join(command), "/dev/null"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env=ENVIRONMENT | {"DO": '{"request_start":"nothing"}'}, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 2 and "rpcurl --script ./everything" in done.stdout and "rpcurl plugins check" in done.stdout


SERVERS = {
    "python": """
from rpcurl import interceptor
@interceptor.request_start
def f(call):
    call.headers["x-n"] = call.attributes["n"]
interceptor.serve("s.sock")
""",
    "python async": """
from rpcurl import interceptor
@interceptor.request_start
async def f(call):
    call.headers["x-n"] = call.attributes["n"]
interceptor.serve("s.sock")
""",
    "node": """
const { interceptor } = require("rpcurl");
interceptor.requestStart((call) => call.headers.set("x-n", call.attributes.get("n")));
interceptor.serve("s.sock");
""",
}


def serve(language, directory, text=None, **options):
    (directory / "serve").write_text(text or SERVERS[language])
    return Process(["node" if language == "node" else "python3", "serve"], cwd=directory, env=ENVIRONMENT, **options)


def connect(path):
    peer = socket.socket(socket.AF_UNIX)
    wait_until(lambda: peer.connect_ex(str(path)) in (0, 106), "a connection")
    return peer, Lines(peer.fileno(), peer.fileno())


ASKING = {
    "python": SERVERS["python"].replace("call.headers", "call.ask('?')\n    call.headers"),
    "python async": SERVERS["python async"].replace("call.headers", "await call.ask('?')\n    call.headers"),
    "node": SERVERS["node"].replace("(call) => ", "async (call) => (await call.ask('?')) ?? "),
}


def test_run_that_ends_while_a_handler_waits_ends_no_other(language, tmp_path):
    process = serve(language, tmp_path, ASKING[language])
    try:
        first, lines = connect(tmp_path / "s.sock")
        lines.greet()
        lines.value("request_start")
        assert "ask" in lines.receive()
        first.close()
        second, lines = connect(tmp_path / "s.sock")
        lines.greet()
        lines.value("request_start", headers=[], attributes={"n": "2"})
        lines.send({"stage": "asked", "call": 7, "id": lines.receive()["ask"]["id"], "reply": None})
        assert lines.until_reply()[1] == {"headers": {"set": {"x-n": "2"}}}
        second.close()
        process.terminate()
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"GET / HTTP/1.1", "the peer is not rpcurl"), (b"\xff\xfe", "the peer is not rpcurl"), (b"5", "the peer is not rpcurl"),
        (b"{}", "the peer is not rpcurl"),
        (b'{"rpcurl":2,"name":"x"}', "supports version 1 of the protocol, and not 2"),
    ],
)  # fmt: skip
def test_peer_that_is_not_rpcurl_ends_its_connection_only(language, tmp_path, line, error):
    process = serve(language, tmp_path, stderr=subprocess.PIPE)
    try:
        run, lines = connect(tmp_path / "s.sock")
        lines.greet()
        other, junk = connect(tmp_path / "s.sock")
        os.write(other.fileno(), line + b"\n")
        assert junk.receive() is None
        lines.value("request_start", headers=[], attributes={"n": "1"})
        assert lines.until_reply()[1] == {"headers": {"set": {"x-n": "1"}}}
        os.write(run.fileno(), line + b"\n")
        assert b"rpcurl" not in line and lines.receive() is None or b"rpcurl" in line
        process.terminate()
        err = process.communicate()[1].decode()
        assert process.returncode == 0 and error in err and "Traceback" not in err
    finally:
        process.kill()
        process.wait()


def test_server_deletes_only_a_socket(language, tmp_path):
    (tmp_path / "s.sock").write_text("kept")
    process = serve(language, tmp_path, stderr=subprocess.PIPE)
    err = process.communicate()[1].decode()
    assert process.returncode == 1 and "s.sock: this is not a socket; remove it, or use another path" in err
    assert (tmp_path / "s.sock").read_text() == "kept"


def test_unix_socket_serves_several_runs(language, tmp_path):
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(path))
    path.chmod(0o777)
    process = serve(language, tmp_path)
    try:
        wait_until(lambda: path.is_socket() and path.stat().st_mode & 0o777 != 0o777, "the socket")
        assert path.stat().st_mode & 0o077 == 0
        sockets = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        runs = []
        for number, one in enumerate(sockets):
            wait_until(lambda one=one: one.connect_ex(str(path)) in (0, 106), "a connection")
            runs.append(Lines(one.fileno(), one.fileno()))
            assert runs[-1].greet()["stages"] == ["request_start", "finish"]
        for number, run in enumerate(runs):
            run.value("request_start", headers=[], attributes={"n": str(number)})
        assert [run.until_reply()[1] for run in runs] == [{"headers": {"set": {"x-n": str(number)}}} for number in range(3)]
        sockets[0].close()
        runs[1].value("request_start", call=8, headers=[], attributes={"n": "4"})
        assert runs[1].until_reply(call=8)[1] == {"headers": {"set": {"x-n": "4"}}}
        for one in sockets:
            one.close()
        process.terminate()
        assert process.wait() == 0 and not path.exists()
    finally:
        process.kill()
        process.wait()


# The examples


EXAMPLES = KIT / "examples"


def example(name, *arguments, **environment):
    """An example that runs; its hello was read."""
    path = EXAMPLES / name
    if path.suffix == ".js" and shutil.which("node") is None or path.suffix == ".sh" and shutil.which("jq") is None:
        pytest.skip("node and jq are not installed")
    script = Script(path, *arguments, **environment)
    script.hello = script.greet()
    return script


def reply(script, stage, number=0, call=7, **members):
    script.value(stage, number, call, **members)
    return script.until_reply(number, call)[1]


def test_examples_are_short():
    paths = sorted(EXAMPLES.iterdir())
    assert len(paths) == 11
    for path in paths:
        assert len(path.read_text().splitlines()) < 25 and os.access(path, os.X_OK), path


def test_example_sign():
    with example("sign.py", SIGN_KEY="secret") as script:
        headers = reply(script, "request_start")["headers"]["set"]
        assert re.fullmatch(r"\d+", headers["x-date"]) and re.fullmatch(r"[0-9a-f]{64}", headers["x-signature"])


def test_example_refresh(tmp_path):
    (tmp_path / "token.json").write_text('{"access_token":"new"}')
    with example("refresh.py", TOKEN="old", TOKEN_URL=f"file://{tmp_path}/token.json") as script:
        assert script.hello["replay_limit"] == 1 << 20
        assert reply(script, "request_start") == {"headers": {"set": {"authorization": "Bearer old"}}}
        refused = {"code": "unauthenticated", "code_number": 16, "message": "", "details": [], "trailers": []}
        assert reply(script, "response_end", 1, **refused) == {"retry": {"headers": {"authorization": "Bearer new"}}}
        assert reply(script, "response_end", 2, **refused) == {}
        assert reply(script, "request_start", call=8) == {"headers": {"set": {"authorization": "Bearer new"}}}


def test_example_fault():
    with example("fault.js") as script:
        replies = [reply(script, "request_start", call=call) for call in range(1, 7)]
        assert [one.get("fail", {}).get("code") for one in replies] == [None, None, "unavailable"] * 2
        assert replies[2]["fail"]["details"] == [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}]


def test_example_redact():
    contact = {"email": "a@b", "phone": "1", "note": "n"}
    message = {"name": "Ada", "contacts": [contact], "email": ["c@d"], "phone": {"home": "2"}}
    with example("redact.py") as script:
        hidden = contact | {"email": "[redacted]", "phone": "[redacted]"}
        redacted = {"name": "Ada", "contacts": [hidden], "email": ["[redacted]"], "phone": {"home": "[redacted]"}}
        assert reply(script, "response_message", message=message) == {"message": redacted}
        assert reply(script, "response_message", 1, message={"name": "Ada"}) == {}


def test_example_mock():
    with example("mock.js") as script:
        assert script.hello["methods"] == ["demo.v1.Demo/Hello", "demo.v1.Demo/Find", "demo.v1.Demo/Count"]
        assert reply(script, "request_message")["respond"]["message"]["message"] == "Hello from the mock, Ada!"


def test_example_record(tmp_path):
    path = tmp_path / "calls.db"
    with example("record.py", path) as script:
        assert reply(script, "request_message") == {} and reply(script, "response_message", 1) == {}
        script.value("finish", 2)
        assert script.end()[0] == 0
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT method, stage, content FROM events").fetchall()
    assert [row[1:] for row in rows] == [
        ("request_message", '{"name": "Ada"}'), ("response_message", '{"name": "Ada", "message": "Hello"}'), ("finish", "ok"),
    ]  # fmt: skip


def test_example_rewrite():
    with example("rewrite.js") as script:
        assert reply(script, "response_message", message={"number": 1}) == {"drop": True}
        assert reply(script, "response_message", 1, message={"number": 2}) == {"message": {"number": 20}}
        assert reply(script, "response_end", 2, code="ok") == {"inject": [{"message": {"number": -1}}]}


def test_example_pages():
    with example("pages.py") as script:
        assert reply(script, "request_message", message={"parent": "p"}) == {}
        script.value("response_message", 1, message={"items": ["a"], "nextPageToken": "2"})
        for number, page in enumerate([{"items": ["b"], "nextPageToken": "3"}, {"items": ["c"]}], 1):
            own = script.receive()["call"]
            assert own["message"] == {"parent": "p", "pageToken": str(number + 1)}
            script.send({"stage": "called", "call": 7, "id": own["id"], "message": page, "headers": [], "status": {"code": "ok"}})
        assert script.until_reply(1)[1] == {"message": {"items": ["a", "b", "c"]}}


def test_example_budget():
    with example("budget.py", BUDGET_MS="1.2") as script:
        script.value("metrics")
        lines, _ = script.until_reply()
        assert lines == [{"call": 7, "finding": {"kind": "failure", "text": "demo.v1.Demo/Hello took 2 ms of 1"}}]
        assert script.end() == (0, "slowest: demo.v1.Demo/Hello, 2 ms\n")


@pytest.mark.parametrize(("typed", "expected"), [("y", {}), ("n", "cancelled"), (None, "cancelled")])
def test_example_approve(typed, expected):
    with example("approve.py") as script:
        assert script.hello["waits"] is True and script.hello["methods"] == ["*/Delete"]
        script.value("request_message")
        assert script.receive()["ask"]["text"] == 'demo.v1.Demo/Hello {"name": "Ada"}: continue? [y/N] '
        script.send({"stage": "asked", "call": 7, "id": 1, "reply": typed})
        assert script.until_reply()[1].get("fail", {}).get("code", {}) == expected


def test_example_in_the_shell():
    with example("header.sh") as script:
        assert script.hello == {"rpcurl": 1, "stages": ["request_start"]}
        assert reply(script, "request_start") == {"headers": {"set": {"x-host": os.uname().nodename}}}


# The page


def block(start):
    """The first literal block of the page that has this text."""
    page = (ROOT / "man" / "rpcurl-script.7").read_text()
    return next(text for text in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", page, re.M | re.S) if start in text)


@pytest.mark.parametrize(
    ("program", "name", "script", "test"),
    [
        ("python3", "sign.py", "def sign(call)", "rpcurl.Harness"),
        ("node", "tenant.js", "#!/usr/bin/env node", "new Harness"),
    ],
)  # fmt: skip
def test_harness_of_the_page(program, name, script, test, tmp_path):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    (tmp_path / name).write_text(block(script))
    (tmp_path / "test").write_text(block(test))
    done = subprocess.run([program, "test"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (tmp_path / "test").write_text(block(test).replace("x-", "y-"))
    done = subprocess.run([program, "test"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, input="")
    assert "ssert" in done.stderr


def test_python_of_the_page(tmp_path):
    (tmp_path / "stages.py").write_text(block("async def end(call)"))
    with Script("python3", tmp_path / "stages.py") as script:
        script.greet()
        assert reply(script, "request_start")["headers"] == {"set": {"x-tenant": "blue"}}
        assert reply(script, "response_message", 1, message={}) == {"message": {"name": "ADA"}}
        script.value("response_end", 2, code="not_found", code_number=5)
        own = script.receive()["call"]
        ok = {"code": "ok", "code_number": 0}
        script.send({"stage": "called", "call": 7, "id": own["id"], "message": {}, "headers": [], "status": ok})
        assert script.until_reply(2)[1] == {}


# The harness


def test_harness_in_python(tmp_path):
    (tmp_path / "test.py").write_text(f"""
import rpcurl
script = rpcurl.Harness({str(EXAMPLES / "pages.py")!r}, replies={{"a.B/List": lambda own: {{"items": [own["message"]["pageToken"]]}}}})
call = script.call("a.B/List")
assert call.request_message({{"parent": "p"}}) == {{}}
assert call.response_message({{"items": ["1"], "nextPageToken": "2"}}) == {{"message": {{"items": ["1", "2"]}}}}
script = rpcurl.Harness({str(EXAMPLES / "approve.py")!r}, asked=["yes"])
assert script.call("a.B/Delete").request_message({{}}) == {{}}
assert script.call("a.B/Delete").request_message({{}})["fail"]["code"] == "cancelled"
assert call.finish() == {{}}
own = rpcurl.Interceptor()
own.attempt_end(lambda call, members: call.log(members))
own._configure(retries=True)
script = rpcurl.Harness(own)
call = script.call("a.B/Get")
stages = [call.request_start, call.request_end, call.response_start, call.response_end, call.attempt_end, call.metrics, call.finish]
assert [stage() for stage in stages] == [{{}}] * 7
call = script.call("a.B/Get")
assert call.attempt_end(number=1) == {{}} and script.lines[-1]["log"]["text"] == "{{'number': 1}}"
print("passed")
""")
    done = subprocess.run(["python3", "-W", "error", tmp_path / "test.py"], env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "passed\n", "")


def test_harness_in_node(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "own.js").write_text("""
const { interceptor } = require("rpcurl");
interceptor.requestStart(async (call) => {
  const own = await call.call("a.B/Token", {});
  call.headers.set("x-token", own.message.token + (await call.ask("?")));
});
interceptor.finish((call) => call.log("over"));
interceptor.run();
""")
    (tmp_path / "test.js").write_text("""
const assert = require("assert");
const { Harness } = require("rpcurl");
(async () => {
  const script = new Harness("./own.js", { replies: { "a.B/Token": { token: "t" } }, asked: ["y"] });
  const call = script.call("a.B/Get");
  assert.deepStrictEqual(await call.requestStart(), { headers: { set: { "x-token": "ty" } } });
  assert.deepStrictEqual(await script.call().requestStart(), { headers: { set: { "x-token": "tnull" } } });
  await call.finish();
  assert.deepStrictEqual(script.lines.at(-1), { log: { level: "info", text: "over" } });
  (await import("fs")).writeFileSync("retry.js", `
const { interceptor } = require("rpcurl");
interceptor.responseEnd((call) => call.status.code === "unavailable" && call.retry());
interceptor.attemptEnd(async (call, members) => call.log(JSON.stringify(await members)));
interceptor.run({ retries: true });
`);
  const retry = new Harness("./retry.js").call("a.B/Get");
  assert.deepStrictEqual(await retry.responseStart(), {});
  assert.deepStrictEqual(await retry.responseEnd({ code: "unavailable" }), { retry: true });
  assert.deepStrictEqual(await retry.responseStart(), {});
  for (const stage of ["responseEnd", "attemptEnd", "metrics", "finish"]) assert.deepStrictEqual(await retry[stage]({}), {});
  const first = retry.harness.call("a.B/Get");
  await first.attemptEnd({ number: 1 });
  assert.strictEqual(first.harness.lines.at(-1).log.text, '{"number":1}');
  console.log("passed");
})();
""")
    done = subprocess.run(["node", "test.js"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "passed\n", "")
