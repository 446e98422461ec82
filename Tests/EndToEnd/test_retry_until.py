"""The interceptor `retry`: polling with `until`, held headers, idempotent methods, and the events of attempts."""

import json

import grpc
import pytest

import manual
import raw_http2
from harness import Caller
from harness.grpcio import serve
import demo_pb2 as pb
from raw_http2 import OK

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"
QUICK = "initial=10ms,jitter=0"


class JobServer:
    """A server whose responses to Hello, Fail and Count are scripted: a text is a message, a code an error."""

    def __init__(self, script, sends_headers):
        self.script = list(script)
        self.sends_headers = sends_headers
        self.calls = []
        self.server, self.url = serve({SERVICE: self.handlers()}, threads=4)
        self.address = self.url.removeprefix("http://")

    def handlers(self):
        def next_step(context):
            self.calls.append({key: value for key, value in context.invocation_metadata()})
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            if self.sends_headers:
                context.send_initial_metadata(())
            if isinstance(step, grpc.StatusCode):
                context.abort(step, "scripted")
            return step

        def hello(request, context):
            return pb.HelloReply(message=next_step(context), name=request.name)

        def fail(request, context):
            next_step(context)
            return pb.FailReply()

        def count(request, context):
            next_step(context)
            yield pb.CountReply(number=1)

        return {
            "Hello": grpc.unary_unary_rpc_method_handler(hello, pb.HelloRequest.FromString, pb.HelloReply.SerializeToString),
            "Fail": grpc.unary_unary_rpc_method_handler(fail, pb.FailRequest.FromString, pb.FailReply.SerializeToString),
            "Count": grpc.unary_stream_rpc_method_handler(count, pb.CountRequest.FromString, pb.CountReply.SerializeToString),
        }


@pytest.fixture
def job_server():
    servers = []

    def start(*script, sends_headers=False):
        servers.append(JobServer(script, sends_headers))
        return servers[-1]

    yield start
    for server in servers:
        server.server.stop(None).wait()


@pytest.fixture
def call(demo):
    """`call(server, settings, *options)` calls Hello through `retry,SETTINGS`."""

    def run(server, settings, *options, method="Hello", data='{"name":"job"}'):
        return Caller(demo, server, "--use", f"retry,{QUICK},{settings}")(method, *options, data=data)

    return run


def test_a_call_is_repeated_until_a_field_has_a_value(call, job_server):
    server = job_server("QUEUED", "RUNNING", "DONE")
    result = call(server, "until=.message == DONE,timeout=30s")
    assert (result.code, result.json()) == (0, {"message": "DONE", "name": "job"})
    assert result.err.splitlines() == [
        'retry: attempt 1: .message == DONE: expected "DONE", got "QUEUED"; repeating in 10 ms',
        'retry: attempt 2: .message == DONE: expected "DONE", got "RUNNING"; repeating in 20 ms',
    ]
    assert len(server.calls) == 3
    assert not any("grpc-previous-rpc-attempts" in headers for headers in server.calls)


def test_errors_between_are_retried(call, job_server):
    server = job_server("QUEUED", grpc.StatusCode.UNAVAILABLE, "DONE")
    result = call(server, "until=.message == DONE")
    assert (result.code, result.json()["message"]) == (0, "DONE")
    assert "retry: attempt 2 failed: unavailable (scripted); retrying in 20 ms" in result.err


def test_other_errors_end_the_polling(call, job_server):
    server = job_server("QUEUED", grpc.StatusCode.NOT_FOUND)
    result = call(server, "until=.message == DONE")
    assert (result.code, result.out, len(server.calls)) == (64 + 5, "", 2)


def test_a_status_is_a_condition(call, job_server):
    server = job_server("still there", grpc.StatusCode.NOT_FOUND)
    result = call(server, "until=status not_found")
    assert (result.code, result.out, len(server.calls)) == (0, "", 2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [("timeout=200ms", "within 200 ms"), ("attempts=3", "in 3 attempts"), ("timeout=5,initial=9", "within 5 s")],
)
def test_unmet_condition_fails_the_call(demo, job_server, settings, words):
    server = job_server("RUNNING")
    defaults = "" if "initial" in settings else "initial=10ms,"
    demo(
        "-d", '{"name":"job"}', "--use",
        f"retry,jitter=0,{defaults}until=.message == DONE,{settings}", f"{server.url}/{HELLO}",
    ).exits(64 + 4, "").reports(f'until is not met: .message == DONE: expected "DONE", got "RUNNING", {words}')  # fmt: skip


def test_a_wrong_condition_is_reported_before_anything_is_sent(call, job_server):
    server = job_server("DONE")
    call(server, "until=.stat == DONE").exits(7).reports("interceptor retry: until: .stat == DONE: demo.v1.HelloReply has no field stat")
    call(server, "until=.number == 1", method="Count", data="{}").exits(7).reports("until: applies to methods with a single response")
    call(server, "until=.message").exits(7).reports("missing condition after .message")
    call(server, "until=state == DONE").exits(7).reports("a path starts with a full stop: .state == DONE")
    assert server.calls == []


def test_headers_that_are_sent_early_can_be_held(call, job_server, raw_server, rpcurl, descriptor_set):
    def respond(stream):
        stream.headers(OK)
        stream.wait_until_read()
        stream.headers([("grpc-status", "14")], end=True)

    server = raw_server(raw_http2.handler(respond))
    options = ["--descriptor-set", descriptor_set, "-d", "{}", "--use", f"retry,{QUICK},max=1s"]
    result = rpcurl(*options, f"http://{server.address}/{HELLO}")
    assert (result.code, server.connections) == (64 + 14, 1)
    assert "not retried: the response has started" in result.err
    result = call(job_server(grpc.StatusCode.UNAVAILABLE, "DONE", sends_headers=True), "hold-headers=30s")
    assert (result.code, result.json()["message"]) == (0, "DONE")


def test_only_idempotent_methods_are_retried(call, job_server):
    def failing():
        return job_server(grpc.StatusCode.UNAVAILABLE, "DONE")

    assert call(failing(), "only=idempotent").code == 0
    assert call(failing(), "only=idempotent", method="Fail", data="{}").code == 64 + 14
    assert call(failing(), "only=all", method="Fail", data="{}").code == 0


def test_each_attempt_is_an_event(call, job_server):
    server = job_server(grpc.StatusCode.UNAVAILABLE, "RUNNING", "DONE")
    result = call(server, "until=.message == DONE", "--format", "events").exits(0)
    assert result.events("attempt") == [
        {"event": "attempt", "number": 1, "code": "unavailable", "code_number": 14, "message": "scripted", "peer": server.address},
        {"event": "attempt", "number": 2, "code": "ok", "code_number": 0, "message": "", "wait_ms": 10, "peer": server.address},
        {"event": "attempt", "number": 3, "code": "ok", "code_number": 0, "message": "", "wait_ms": 20, "peer": server.address},
    ]  # fmt: skip
    names = [json.loads(line)["event"] for line in result.out.splitlines()]
    assert names[0] == "start"
    # The response follows the attempt that gave it.
    assert names.index("headers") > max(index for index, name in enumerate(names) if name == "attempt")


def test_attempts_that_are_not_sent_have_no_peer(call, job_server, rpcurl, descriptor_set):
    result = call(job_server("DONE"), "attempts=2", "--format", "events", "--use", "fault,abort=unavailable").exits(64 + 14)
    assert [(event["number"], event["code"], event.get("peer")) for event in result.events("attempt")] == [
        (1, "unavailable", None), (2, "unavailable", None),
    ]  # fmt: skip


def test_calls_without_an_interceptor_that_retries_have_no_attempts(demo, job_server):
    server = job_server("DONE")
    assert demo("-d", "{}", "--format", "events", f"{server.url}/{HELLO}").exits(0).events("attempt") == []


def test_the_example_of_the_manual(job_server, descriptor_set, tmp_path):
    server = job_server("queued", "running", "done")
    script = manual.examples("rpcurl-retry.7")[2]
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", server.address)])
    assert (done.returncode, json.loads(done.stdout)["message"]) == (0, "done")
    assert len(server.calls) == 3
