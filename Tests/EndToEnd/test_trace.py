"""The interceptor `trace`: context in headers, and spans that a collector receives."""

import signal

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

import collector
import manual
from harness import wait_until

HELLO = "demo.v1.Demo/Hello"
COUNT = "demo.v1.Demo/Count"
DELAY = "demo.v1.Demo/Delay"
ADA = '{"name":"Ada"}'
ECHO = "demo.v1.Demo/EchoMetadata"
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
QUICK = "retry,initial=10ms,jitter=0"


@pytest.fixture
def otlp():
    with collector.running() as server:
        yield server


def received(result):
    return {header["name"]: header["value"] for header in result.json()["headers"]}


def test_server_receives_the_context_of_the_environment(call):
    result = call(ECHO, "-d", "{}", "--use", "trace", env={"TRACEPARENT": PARENT, "TRACESTATE": "a=1,b=2"}).succeeds()
    headers = received(result)
    version, trace, span, flags = headers["traceparent"].split("-")
    assert (version, trace, flags) == ("00", TRACE, "01")
    assert len(span) == 16 and span != "b7ad6b7169203331"
    assert headers["tracestate"] == "a=1,b=2"


def test_invalid_context_begins_a_new_trace(call):
    result = call(ECHO, "-d", "{}", "--use", "trace", env={"TRACEPARENT": PARENT.upper(), "TRACESTATE": "a=1"}).exits(0)
    assert result.err == "trace: the environment variable TRACEPARENT is invalid: a new trace begins\n"
    headers = received(result)
    assert TRACE not in headers["traceparent"] and "tracestate" not in headers


def test_trace_id_is_shown(call):
    env = {"TRACEPARENT": PARENT}
    assert f"* trace: trace ID {TRACE}\n" in call(HELLO, "-d", ADA, "--use", "trace", "-v", env=env).err
    result = call(HELLO, "-d", ADA, "--use", "trace", "--format", "events", env=env)
    (note,) = [event for event in result.lines() if event["event"] == "note"]
    assert (note["interceptor"], note["text"]) == ("trace", f"trace ID {TRACE}")


def test_collector_receives_a_call_with_its_attempts(call, otlp):
    call(
        HELLO, "-d", ADA, "--use", "trace", "--use", QUICK, "-H", "demo-fail-attempts: 2",
        env={
            "TRACEPARENT": PARENT, "TRACESTATE": "a=1", "OTEL_EXPORTER_OTLP_ENDPOINT": otlp.url + "/",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=s%3Decret", "OTEL_SERVICE_NAME": "tests",
        },
    ).exits(0)  # fmt: skip
    assert [headers["api-key"] for headers in otlp.headers] == ["s=ecret"]
    assert collector.attributes(otlp.requests[0].resource_spans[0].resource) == {"service.name": "tests"}
    *attempts, whole = otlp.spans
    assert len(attempts) == 3
    assert whole.kind == Span.SPAN_KIND_INTERNAL and whole.parent_span_id.hex() == "b7ad6b7169203331"
    for span in otlp.spans:
        assert (span.trace_id.hex(), span.name, span.trace_state, span.flags) == (TRACE, HELLO, "a=1", 1)
        assert whole.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano <= whole.end_time_unix_nano
    for number, span in enumerate(attempts, 1):
        assert span.kind == Span.SPAN_KIND_CLIENT and span.parent_span_id == whole.span_id
        assert collector.attributes(span)["rpcurl.attempt"] == number
    assert [span.status.code for span in otlp.spans] == [Status.STATUS_CODE_ERROR] * 2 + [Status.STATUS_CODE_UNSET] * 2
    assert len({span.span_id for span in otlp.spans}) == 4
    shown = collector.attributes(attempts[0])
    assert (shown["rpc.service"], shown["rpc.method"]) == ("demo.v1.Demo", "Hello")
    assert (shown["server.address"], shown["server.port"]) == ("127.0.0.1", call.server.port)
    assert shown["error.type"] == "unavailable"
    if call.protocol == "connect":
        assert (shown["rpc.system"], shown["rpc.connect_rpc.error_code"]) == ("connect_rpc", "unavailable")
    else:
        assert (shown["rpc.system"], shown["rpc.grpc.status_code"]) == ("grpc", 14)


def test_hedged_attempts_have_spans(call, otlp):
    hedge = "hedge,methods=*,delay=50ms,attempts=2"
    use = ["--use", f"trace,endpoint={otlp.url}", "--use", hedge]
    assert call(DELAY, "-d", '{"milliseconds":300}', *use).code == 0
    (whole,) = [span for span in otlp.spans if span.kind == Span.SPAN_KIND_INTERNAL]
    attempts = [collector.attributes(span) for span in otlp.spans if span.parent_span_id == whole.span_id]
    found = {(one["rpcurl.attempt"], one.get("error.type")) for one in attempts}
    # Either may be the first to end.
    assert found in ({(1, None), (2, "canceled")}, {(1, "canceled"), (2, None)})


def test_server_is_below_the_span_of_the_attempt(call, otlp):
    result = call(ECHO, "-d", "{}", "--use", f"trace,endpoint={otlp.url}")
    attempt, whole = otlp.spans
    assert received(result)["traceparent"] == f"00-{attempt.trace_id.hex()}-{attempt.span_id.hex()}-01"
    assert whole.parent_span_id == b""


def test_messages_are_numbered_events(call, otlp):
    assert call(COUNT, "-d", '{"from":1,"to":3}', "--use", f"trace,endpoint={otlp.url}").code == 0
    events = otlp.spans[0].events
    assert [event.name for event in events] == ["rpc.message"] * 4
    shown = [collector.attributes(event) for event in events]
    assert [(one["rpc.message.type"], one["rpc.message.id"]) for one in shown] == [
        ("SENT", 1), ("RECEIVED", 1), ("RECEIVED", 2), ("RECEIVED", 3),
    ]  # fmt: skip
    assert all(one["rpc.message.uncompressed_size"] > 0 for one in shown)
    times = [event.time_unix_nano for event in events]
    assert times == sorted(times) and times[-1] <= otlp.spans[0].end_time_unix_nano


def test_span_of_a_stream_ends_with_it(call, otlp):
    call(DELAY, "-d", '{"milliseconds":200}', "--use", f"trace,endpoint={otlp.url},messages=false")
    (attempt, _) = otlp.spans
    assert attempt.end_time_unix_nano - attempt.start_time_unix_nano >= 200_000_000 and not attempt.events


def test_secrets_are_not_exported(call, otlp):
    call(HELLO, "-d", '{"name":"private"}', "-H", "authorization: Bearer hidden", "--use", f"trace,endpoint={otlp.url}")
    text = str(otlp.requests)
    assert otlp.spans and "hidden" not in text and "private" not in text and "authorization" not in text


def test_unsampled_trace_is_not_exported(call, otlp):
    unsampled = PARENT[:-1] + "0"
    result = call(ECHO, "-d", "{}", "--use", f"trace,endpoint={otlp.url}", env={"TRACEPARENT": unsampled})
    assert received(result)["traceparent"].endswith("-00")
    assert otlp.requests == []


def test_batch_exports_every_call(call, otlp):
    data = "".join(f'{{"name":"{number}"}}' for number in range(40))
    call(HELLO, "--each", "--jobs", 8, "--use", f"trace,endpoint={otlp.url}", input=data).succeeds()
    assert len(otlp.spans) == 80 and len({span.trace_id for span in otlp.spans}) == 40


def test_spans_in_a_file(call, tmp_path):
    file = tmp_path / "spans.pb"
    data = '{"name":"a"}{"name":"b"}'
    assert call(HELLO, "--each", "--use", f"trace,file={file}", input=data).code == 0
    parsed = TracesData.FromString(file.read_bytes())
    spans = [span for resource in parsed.resource_spans for scope in resource.scope_spans for span in scope.spans]
    assert len(spans) == 4 and file.stat().st_mode & 0o777 == 0o600


def test_session_exports_every_call(rpcurl, grpc_server, descriptor_set, otlp):
    result = rpcurl(
        "session", "--descriptor-set", descriptor_set, "--use", f"trace,endpoint={otlp.url}", grpc_server.url,
        input=f"call {HELLO} {ADA}\n" * 3,
    )  # fmt: skip
    assert result.code == 0 and len(otlp.spans) == 6, result.err


# Failures


def test_unreachable_collector_is_reported_once(call, raw_server):
    server = raw_server(lambda connection: None)
    server.stop()
    data = '{"name":"a"}' * 5
    use = f"trace,endpoint=http://127.0.0.1:{server.port}"
    result = call(HELLO, "--each", "--use", use, input=data)
    assert result.code == 0 and len(result.out.splitlines()) == 5
    (line,) = result.err.splitlines()
    assert line.startswith(f"trace: 10 spans were not exported: 127.0.0.1:{server.port}: ")


def test_wait_for_a_silent_collector_is_bounded(call, otlp):
    otlp.is_open.clear()
    result = call(HELLO, "-d", ADA, "--use", f"trace,endpoint={otlp.url},timeout=100ms").exits(0)
    assert result.err.startswith(f"trace: 2 spans were not exported: {otlp.address}: ")


def test_silent_collector_does_not_delay_calls(call, otlp):
    otlp.is_open.clear()
    data = '{"name":"a"}' * 20
    result = call(HELLO, "--each", "--use", f"trace,endpoint={otlp.url},timeout=2s", input=data, timeout=30)
    assert len(result.out.splitlines()) == 20 and "40 spans were not exported" in result.err
    assert len(otlp.requests) == 1


def test_interrupt_ends_the_wait(rpcurl, grpc_server, descriptor_set, otlp):
    otlp.is_open.clear()
    arguments = (
        "--descriptor-set", descriptor_set, "-d", ADA, "--use", f"trace,endpoint={otlp.url},timeout=60s",
        f"{grpc_server.url}/{HELLO}",
    )  # fmt: skip
    with rpcurl.start(*arguments) as process:
        assert process.stdout.readline().startswith(b"{")
        wait_until(lambda: otlp.requests, "a request to the collector")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_invalid_endpoint_is_refused(call):
    result = call(HELLO, "-d", ADA, "--use", "trace", env={"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317"})
    assert result.code != 0 and result.out == ""
    words = "OTEL_EXPORTER_OTLP_ENDPOINT: is not an http(s) URL without user information"
    assert words in result.err


def test_examples_of_the_manual(grpc_server, descriptor_set, tmp_path, otlp):
    places = [("localhost:50051", grpc_server.address)]
    header, export, file = manual.examples("rpcurl-trace.7")
    ran = manual.run(header, tmp_path, descriptor_set, places)
    assert (ran.returncode, ran.stdout) == (0, f"00-{TRACE}\n"), ran.stderr
    ran = manual.run(export, tmp_path, descriptor_set, [*places, ("localhost:4318", otlp.address)])
    assert (ran.returncode, ran.stderr, len(otlp.spans)) == (0, "", 2)
    ran = manual.run(file, tmp_path, descriptor_set, places)
    assert ran.returncode == 0 and (tmp_path / "spans.pb").stat().st_size > 0, ran.stderr
