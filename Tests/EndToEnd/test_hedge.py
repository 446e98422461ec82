"""The interceptor `hedge`: several attempts at one call at once."""

import json
import signal
import threading

import grpc
import pytest

import manual
from harness import PATIENCE_SECONDS, Caller, wait_until
from harness.grpcio import serve
import demo_pb2 as pb

SERVICE = "demo.v1.Demo"
HOLD = "hold"
PUSHBACK = "grpc-retry-pushback-ms"


class HedgeServer:
    """A grpcio server with a script: what happens to attempt 1, 2 and so on at each call, and HOLD after its end.

    HOLD waits for the cancellation, a code is an error, a text a message; a code with a text is an error with that
    pushback.
    """

    def __init__(self, script):
        self.script = list(script)
        self.lock = threading.Condition()
        # The numbers of the attempts that have arrived, and of those that the client has cancelled.
        self.calls = []
        self.cancelled = []
        self.server, self.url = serve({SERVICE: self.handlers()})

    def handlers(self):
        def next_step(context):
            headers = dict(context.invocation_metadata())
            number = int(headers.get("grpc-previous-rpc-attempts", 0)) + 1
            ended = threading.Event()
            if not context.add_callback(ended.set):
                ended.set()
            # An attempt responds when all before it have arrived: on a busy machine the second may overtake the first, which
            # would be cancelled before this function sees it.
            with self.lock:
                self.calls.append(number)
                self.lock.notify_all()
                self.lock.wait_for(lambda: set(range(1, number)) <= set(self.calls), PATIENCE_SECONDS)
            step = self.script[number - 1] if number <= len(self.script) else HOLD
            if step == HOLD:
                ended.wait()
                with self.lock:
                    self.cancelled.append(number)
                return ""
            if isinstance(step, tuple):
                context.set_trailing_metadata(((PUSHBACK, step[1]),))
                step = step[0]
            if isinstance(step, grpc.StatusCode):
                context.abort(step, f"scripted {number}")
            return step

        def hello(request, context):
            return pb.HelloReply(message=next_step(context), name=request.name)

        def count(request, context):
            next_step(context)
            yield from (pb.CountReply(number=number) for number in (1, 2))

        return {
            "Hello": grpc.unary_unary_rpc_method_handler(hello, pb.HelloRequest.FromString, pb.HelloReply.SerializeToString),
            "Count": grpc.unary_stream_rpc_method_handler(count, pb.CountRequest.FromString, pb.CountReply.SerializeToString),
        }

    def wait_for_cancelled(self, *numbers):
        wait_until(lambda: sorted(self.cancelled) == list(numbers), f"attempts {numbers} are cancelled")


@pytest.fixture
def hedge_server():
    servers = []

    def start(*script):
        servers.append(HedgeServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.server.stop(None).wait()


@pytest.fixture
def call(demo):
    """`call(server, settings, *options)` calls Hello through `hedge,SETTINGS`."""

    def run(server, settings, *options, method="Hello", data='{"name":"job"}'):
        return Caller(demo, server, "--use", f"hedge,{settings}")(method, *options, data=data)

    return run


def attempts(result):
    events = result.lines()
    return [(event["number"], event["code"]) for event in events if event["event"] == "attempt"]


def all_attempts(result):
    """The number of each attempt, those within others as 1.2, with its status and the number of attempts within it."""
    lines = result.lines()
    names = [event["event"] for event in lines]
    # No attempt is reported after the end of the call.
    assert "attempt" not in names[names.index("end") :]
    return [
        (".".join(map(str, [event["number"], *event.get("nested", [])])), event["code"], event.get("attempts"))
        for event in lines if event["event"] == "attempt"
    ]  # fmt: skip


def test_the_second_attempt_responds_and_the_first_is_cancelled_on_the_wire(call, hedge_server):
    server = hedge_server(HOLD, "fast")
    result = call(server, "delay=20ms")
    assert (result.code, result.json(), result.err) == (0, {"message": "fast", "name": "job"}, "")
    server.wait_for_cancelled(1)
    assert sorted(server.calls) == [1, 2]


def test_what_was_recorded_of_a_hedged_call_is_replayed(call, demo, hedge_server, tmp_path):
    server, tape = hedge_server(HOLD, "fast"), tmp_path / "a.rec"
    call(server, "delay=20ms", "--use", f"record,file={tape}").succeeds()
    assert "attempt 2 responded first" in tape.read_text()
    replay = ["--use", f"replay,file={tape}"]
    for result in (call(server, "delay=20ms", *replay), Caller(demo, server, *replay)("Hello", data='{"name":"job"}')):
        assert result.succeeds().json() == {"message": "fast", "name": "job"}


def test_a_stream_is_hedged_until_its_first_message(call, hedge_server):
    server = hedge_server(HOLD, HOLD, "fast")
    result = call(server, "methods=*/Count,attempts=3,delay=20ms", "--format", "events", method="Count", data="{}").exits(0)
    assert attempts(result) == [(1, "canceled"), (2, "canceled"), (3, "ok")]
    messages = [event for event in result.lines() if event["event"] == "message"]
    assert [event["message"]["number"] for event in messages] == [1, 2]
    server.wait_for_cancelled(1, 2)


def test_a_fast_response_has_one_attempt(call, hedge_server):
    server = hedge_server("fast")
    result = call(server, "delay=60s,attempts=5", "--format", "events")
    assert (attempts(result), server.calls, server.cancelled) == ([(1, "ok")], [1], [])


def test_other_failures_end_the_call_and_cancel_the_rest(call, hedge_server):
    server = hedge_server(HOLD, grpc.StatusCode.NOT_FOUND)
    call(server, "delay=20ms").exits(64 + 5, "")
    server.wait_for_cancelled(1)


def test_the_last_failure_is_the_result(call, hedge_server):
    server = hedge_server(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNAVAILABLE)
    result = call(server, "delay=60s")
    assert (result.code, server.calls) == (64 + 14, [1, 2])
    assert "scripted 2" in result.err.splitlines()[-1]


def test_the_deadline_ends_all_attempts(call, hedge_server):
    server = hedge_server(HOLD, HOLD)
    call(server, "delay=0", "--max-time", "1").exits(64 + 4, "")
    # On a loaded machine an attempt may be cancelled before it arrives.
    wait_until(lambda: sorted(server.cancelled) == sorted(server.calls), "the attempts are cancelled")


def test_an_interrupt_ends_all_attempts(rpcurl, descriptor_set, hedge_server):
    server = hedge_server(HOLD, HOLD, HOLD)
    words = ["--descriptor-set", descriptor_set, "-d", "{}", "--use", "hedge,delay=0,attempts=3", f"{server.url}/{SERVICE}/Hello"]
    with rpcurl.start(*words) as process:
        wait_until(lambda: len(server.calls) == 3, "three attempts arrive")
        process.send_signal(signal.SIGINT)
        process.communicate()
    server.wait_for_cancelled(1, 2, 3)


def test_each_attempt_at_a_call_that_ends_early_is_one_event(call, hedge_server):
    server = hedge_server(HOLD, HOLD, HOLD)
    result = call(server, "delay=0,attempts=3", "--max-time", "1", "--format", "events").exits(64 + 4)
    numbers = [number for number, code, within in all_attempts(result)]
    assert sorted(numbers) == ["1", "2", "3"]


def test_retried_attempts_within_hedged_ones_are_events(call, hedge_server):
    server = hedge_server(HOLD, "fast")
    result = call(server, "delay=20ms", "--use", "retry", "--format", "events").exits(0)
    assert all_attempts(result) == [("1.1", "canceled", None), ("1", "canceled", 1), ("2.1", "ok", None), ("2", "ok", 1)]
    server.wait_for_cancelled(1)


def test_an_attempt_that_waits_for_a_retry_is_cancelled_and_reported(call, hedge_server):
    server = hedge_server(grpc.StatusCode.UNAVAILABLE, "fast")
    result = call(server, "delay=200ms", "--use", "retry,initial=60,max=60,jitter=0", "--format", "events").exits(0)
    # The failure is that of the attempt within; the outer one waits for the next until the other responds.
    assert all_attempts(result) == [("1.1", "unavailable", None), ("1", "canceled", 1), ("2.1", "ok", None), ("2", "ok", 1)]


def test_hedged_attempts_within_retried_ones_are_events(demo, hedge_server):
    server = hedge_server("never")
    result = demo(
        "-d", "{}", "--format", "events", "--use", "retry,attempts=2,initial=10ms,jitter=0",
        "--use", "hedge,delay=60s,attempts=2", "--use", "fault,abort=unavailable", f"{server.url}/{SERVICE}/Hello",
    ).exits(64 + 14)  # fmt: skip
    assert all_attempts(result) == [
        ("1.1", "unavailable", None), ("1.2", "unavailable", None), ("1", "unavailable", 2),
        ("2.1", "unavailable", None), ("2.2", "unavailable", None), ("2", "unavailable", 2),
    ]  # fmt: skip
    assert server.calls == []


def test_losers_within_a_retried_attempt_are_events(demo, hedge_server):
    server = hedge_server(HOLD, "fast")
    result = demo(
        "-d", "{}", "--format", "events", "--use", "retry", "--use", "hedge,delay=20ms",
        f"{server.url}/{SERVICE}/Hello",
    ).exits(0)  # fmt: skip
    assert all_attempts(result) == [("1.1", "canceled", None), ("1.2", "ok", None), ("1", "ok", 2)]
    server.wait_for_cancelled(1)


def test_attempts_are_nested_three_times(demo, hedge_server):
    server = hedge_server("never")
    result = demo(
        "-d", "{}", "--format", "events", "--use", "retry,attempts=2,initial=10ms,jitter=0",
        "--use", "hedge,delay=60s,attempts=2", "--use", "retry,attempts=2,initial=10ms,jitter=0",
        "--use", "fault,abort=unavailable", f"{server.url}/{SERVICE}/Hello",
    )  # fmt: skip
    expected = []
    for outer in (1, 2):
        for middle in (1, 2):
            expected += [(f"{outer}.{middle}.{inner}", "unavailable", None) for inner in (1, 2)]
            expected.append((f"{outer}.{middle}", "unavailable", 2))
        expected.append((f"{outer}", "unavailable", 2))
    assert (result.code, all_attempts(result)) == (64 + 14, expected)


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
@pytest.mark.parametrize("method", ["Hello", "Count", "Sum"])
def test_calls_of_all_protocols_are_hedged(request, call, protocol, method):
    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    data = {"Hello": '{"name":"Ada"}', "Count": '{"from":1,"to":3}', "Sum": '{"value":2}'}[method]
    plain = call(server, "methods=none/*", "--protocol", protocol, method=method, data=data).succeeds()
    settings = f"methods={SERVICE}/*,delay=60s,attempts=3"
    result = call(server, settings, "--protocol", protocol, "-H", "demo-fail-attempts: 2", method=method, data=data).exits(0, plain.out)
    assert result.err.splitlines() == [
        "hedge: attempt 1 of 3 failed: unavailable (attempt 1 is to fail)",
        "hedge: attempt 2 of 3 failed: unavailable (attempt 2 is to fail)",
    ]
    call(server, f"methods={SERVICE}/*,delay=0,attempts=5", "--protocol", protocol, method=method, data=data).exits(0, plain.out)


def test_explain_shows_the_policy(demo):
    demo("--explain", "--use", "hedge,attempts=3", "--use", "retry", f"http://localhost:1/{SERVICE}/Hello").prints(
        "defaults: delay=100ms, non-fatal=unavailable, buffer=1m", "each attempt of hedge is repeated by retry",
    )


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    scripts = manual.examples("rpcurl-hedge.7")
    ran = [manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)]) for script in scripts]
    assert [result.returncode for result in ran] == [0, 0, 0], [result.stderr for result in ran]
    slow, named, shown = [result.stdout for result in ran]
    assert json.loads(slow)["message"] == "Hello, Ada!" and json.loads(named) == {"milliseconds": "100"}
    assert shown == '[1,"unavailable"]\n[2,"ok"]\n'
