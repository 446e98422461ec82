"""Jumps of the wall clock while the program measures time: a deadline, a wait of `retry`, and the latencies of `load`.

A jump of 400 days makes a time that is measured by the wall clock end at once or never. After it, the server sends a PING, so
that the program compares its clock with the end of the time. All limits are those of a time that passes, so a machine that is
slow changes no result.
"""

import json
import threading
import time

import pytest
import raw_http2
from harness import PATIENCE_SECONDS
from raw_http2 import OK, STATUS_OK, Stream
from test_machine_faults import HELLO, SERVICE, clock  # noqa: F401

jumps = pytest.mark.parametrize("jump", ["+400d", "-400d"])


@pytest.fixture
def has_jumped():
    event = threading.Event()
    yield event
    # A server that waits must end.
    event.set()


@jumps
def test_deadline(demo, raw_server, clock, has_jumped, jump):  # noqa: F811
    """It ends a call that gets no response after its time: not before, and at all."""
    has_request = threading.Event()

    def respond(stream):
        has_request.set()
        has_jumped.wait(PATIENCE_SECONDS)
        stream.wait_until_read()

    url = f"http://{raw_server(raw_http2.handler(respond)).address}/{HELLO}"
    begin = time.monotonic()
    with demo.start("--max-time", "1", "-d", "{}", url, env=clock.env) as process:
        assert has_request.wait(PATIENCE_SECONDS)
        clock.jump(jump)
        has_jumped.set()
        assert process.wait() == 68, process.stderr.read()
        assert time.monotonic() - begin >= 1
        errors = process.stderr.read()
        assert errors.startswith(b"rpcurl: ") and b"deadline" in errors, errors


def next_request(connection):
    """The stream of the next request that is complete."""
    while True:
        kind, flags, number, _ = raw_http2.read_frame(connection)
        if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
            return Stream(connection, number)


@jumps
def test_wait_of_retry(demo, raw_server, clock, has_jumped, jump):  # noqa: F811
    """Another call is in progress, so that the program reads from the connection while it waits."""

    def respond(first):
        other = next_request(first.connection)
        first.headers([*OK, ("grpc-status", "14")], end=True)
        has_jumped.wait(PATIENCE_SECONDS)
        other.frame(raw_http2.PING, 0, b"8 bytes.", stream=0)
        for stream in (next_request(first.connection), other):
            stream.headers(OK)
            stream.data(raw_http2.RESPONSE)
            stream.headers(STATUS_OK, end=True)

    words = ["--each", "--jobs", "2", "-d", "{}{}", "--use", "retry,initial=2s,jitter=0"]
    url = f"http://{raw_server(raw_http2.handler(respond)).address}/{HELLO}"
    begin = time.monotonic()
    with demo.start("--http2-prior-knowledge", *words, url, env=clock.env) as process:
        line = process.stderr.readline()
        assert line.endswith(b"retrying in 2 s\n"), line
        # The line is printed before the wait begins.
        process.wait_until_idle()
        clock.jump(jump)
        has_jumped.set()
        assert process.wait() == 0, process.stderr.read()
        assert process.stdout.read() == b'{"message":"Ada"}\n' * 2
        assert time.monotonic() - begin >= 2


@jumps
def test_latencies_of_a_load(rpcurl, grpc_server, descriptor_set, clock, jump):  # noqa: F811
    """The clock jumps during calls, since four calls are made at any time."""
    method, requests, delay = f"{SERVICE}/Delay", 80, 50
    before = grpc_server.log().splitlines().count(f"received {method}")
    words = ["--plaintext", "--descriptor-set", descriptor_set, "--format", "json", "--requests", requests, "--jobs", 4]
    data = json.dumps({"milliseconds": delay})
    with rpcurl.start("load", *words, "-d", data, grpc_server.address, method, env=clock.env) as process:
        grpc_server.wait_for_calls(method, before + 20)
        clock.jump(jump)
        out, errors = process.communicate()
        assert process.returncode == 0, errors
    report = json.loads(out)
    assert (report["calls"], report["errors"]) == (requests, 0)
    latency = report["latency_ms"]
    limit = PATIENCE_SECONDS * 1000
    assert delay <= latency["min"] <= latency["p50"] <= latency["p99"] <= latency["max"] < limit, latency
    assert requests / 4 * delay / 1000 <= report["seconds"] < PATIENCE_SECONDS
    assert len(report["intervals"]) <= PATIENCE_SECONDS
    assert sum(interval["calls"] for interval in report["intervals"]) == requests
