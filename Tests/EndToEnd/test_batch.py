"""Batches: one call for each message, some at a time, over one connection, with responses in order."""

import json
import os
import re
import signal
import socket
import threading

import pytest
import raw_http2
from harness import names, relay
from raw_http2 import RESPONSE, OK, STATUS_OK

HELLO, FIND, DELAY, COUNT = (f"demo.v1.Demo/{name}" for name in ("Hello", "Find", "Delay", "Count"))


@pytest.fixture
def counted(raw_server):
    """`counted(server)`: a way to the server that counts connections."""

    return lambda server: raw_server(lambda client: relay(client, server.port))


@pytest.fixture
def batch(demo):
    return lambda *arguments, **options: demo("--each", *arguments, **options)


# Calls


@pytest.mark.parametrize("way", ["grpc h2c", "grpc tls", "grpc-web h2c", "connect h2c", "connect tls", "connect http1"])
def test_a_thousand_calls_share_a_connection(batch, request, counted, certificates, way):
    protocol, transport = way.split()
    family = "grpc" if protocol == "grpc" else "connect"
    server = request.getfixturevalue(f"{family}_tls_server" if transport == "tls" else f"{family}_server")
    proxy = counted(server)
    options = {"tls": ["--cacert", certificates / "ca.pem", f"localhost:{proxy.port}"],
               "h2c": ["--http2", "--plaintext", proxy.address],
               "http1": ["--http1.1", "--plaintext", proxy.address]}[transport]  # fmt: skip
    result = batch("--protocol", protocol, "--jobs", 32, *options, HELLO, input=names(1000)).succeeds()
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(n) for n in range(1000)]
    # HTTP/1.1 has one call at a time on a connection.
    assert proxy.connections <= 32 if transport == "http1" else proxy.connections == 1


def respond_to(sizes, at_a_time):
    """A server that responds in reverse order, once as many requests wait as the next of the sizes. `at_a_time` has how many did."""

    def serve(connection):
        raw_http2.read_exactly(connection, 24)
        control = raw_http2.Stream(connection, 0)
        control.frame(raw_http2.SETTINGS)
        bodies, waiting = {}, []
        try:
            while True:
                kind, flags, number, payload = raw_http2.read_frame(connection)
                if kind == raw_http2.DATA:
                    bodies[number] = bodies.get(number, b"") + payload
                    if flags & raw_http2.END_STREAM:
                        waiting.append(number)
                        if len(waiting) == sizes[len(at_a_time)]:
                            control.frame(raw_http2.PING, 0, b"8 bytes.")
                # The client has sent all requests that it sends before a response.
                if kind == raw_http2.PING and flags & raw_http2.ACK:
                    at_a_time.append(len(waiting))
                    for number in reversed(waiting):
                        stream = raw_http2.Stream(connection, number)
                        stream.headers(OK)
                        # The fields of the request and of the response have the same number.
                        stream.data(bodies[number])
                        stream.headers(STATUS_OK, end=True)
                    waiting.clear()
        except EOFError:
            pass

    return serve


def test_calls_are_made_at_a_time_and_printed_in_order(batch, raw_server):
    at_a_time = []
    server = raw_server(respond_to([3, 3, 3], at_a_time))
    result = batch("--plaintext", "--jobs", 3, server.address, HELLO, input=names(9))
    assert (result.code, result.err, at_a_time) == (0, "", [3, 3, 3])
    assert [json.loads(line)["message"] for line in result.out.splitlines()] == [str(number) for number in range(9)]


def test_more_than_100_calls_at_a_time_share_a_connection(rpcurl, raw_server, descriptor_set):
    """The limit is that of the server. The first call is alone: the client has the limit before the others begin."""
    at_a_time = []
    server = raw_server(respond_to([1, 300], at_a_time))
    options = ["--each", "--descriptor-set", descriptor_set, "--plaintext", "--jobs", "300", "--max-time", "20s"]
    with rpcurl.start(*options, server.address, HELLO) as process:
        process.stdin.write(b'{"name":"0"}\n')
        process.stdout.readline()
        process.stdin.write(names(300).encode())
        process.stdin.close()
        assert len(process.stdout.read().splitlines()) == 300
        assert process.wait() == 0
    assert (server.connections, at_a_time) == (1, [1, 300])


def test_a_response_is_printed_before_the_next_message_is_read(rpcurl, grpc_server, descriptor_set):
    options = ["--each", "--fail-early", "--descriptor-set", descriptor_set]
    with rpcurl.start(*options, f"{grpc_server.url}/{HELLO}") as process:
        for number in range(5):
            process.stdin.write(b'{"name":"%d"}\n' % number)
            assert json.loads(process.stdout.readline())["name"] == str(number)
        process.stdin.close()
        assert process.wait() == 0


def test_no_message_at_all(batch, grpc_server):
    batch(f"{grpc_server.url}/{HELLO}", input=" \n").exits(0, "", "")


def test_each_call_has_a_deadline_of_its_own(batch, grpc_server):
    data = '{"milliseconds":150}' * 8
    batch("--max-time", "600ms", f"{grpc_server.url}/{DELAY}", input=data).exits(0)
    late = batch("--max-time", "300ms", "--jobs", 2, f"{grpc_server.url}/{DELAY}", input='{"milliseconds":9000}{}')
    assert late.code == 68 and late.out == "{}\n"
    assert "call 1: demo.v1.Demo/Delay: deadline_exceeded" in late.err


@pytest.mark.parametrize("jobs", [1, 3])
def test_calls_that_interceptors_end_at_their_start(batch, raw_server, jobs):
    server = raw_server(lambda connection: None)
    use = ["--jobs", jobs, "--use", "fault,abort=unavailable"]
    result = batch(*use, f"http://{server.address}/{HELLO}", input=names(7)).exits(64 + 14)
    assert result.err.count("interceptor fault: unavailable (14)") == 7 and server.connections == 0


def test_interceptors_and_plugins_see_each_call(batch, connect_server):
    result = batch(
        "--protocol", "connect", "--jobs", 4, "--use", "header,set=x-tenant:blue", "-d", "{}{}{}",
        f"{connect_server.url}/demo.v1.Demo/EchoMetadata",
    ).exits(0)  # fmt: skip
    replies = [json.loads(line)["headers"] for line in result.out.splitlines()]
    assert [{h["name"]: h.get("value") for h in reply}["x-tenant"] for reply in replies] == ["blue"] * 3


def test_invalid_data_has_no_events(batch, grpc_server):
    result = batch("--format", "events", f"{grpc_server.url}/{FIND}", input='{"id":"1"}{"nope":1}').exits(4).reports("nope")
    assert {json.loads(line)["call"] for line in result.out.splitlines()} == {1}


def test_events_carry_the_call(batch, grpc_server):
    result = batch("--format", "events", "--jobs", 3, f"{grpc_server.url}/{FIND}", input='{"id":"1"}{"id":"9"}{"id":"2"}').exits(69)
    events = result.lines()
    assert [e["call"] for e in events] == sorted(e["call"] for e in events)
    for call, code in enumerate(["ok", "not_found", "ok"], 1):
        own = [e for e in events if e["call"] == call]
        assert [e["event"] for e in own if e["event"] != "message"] == ["start", "sent", "headers", "end", "metrics"]
        assert [e["code"] for e in own if e["event"] == "end"] == [code]


def test_calls_with_a_response_stream(batch, grpc_server):
    data = '{"from":1,"to":3}' * 3
    for jobs in (1, 8):
        result = batch("--jobs", jobs, f"{grpc_server.url}/{COUNT}", input=data).succeeds()
        assert len(result.lines()) == 9 and result.lines()[:3] * 3 == result.lines()
    limited = batch("--limit", 1, f"{grpc_server.url}/{COUNT}", input=data).succeeds()
    assert limited.lines() == [result.lines()[0]] * 3
    events = batch("--format", "events", "--jobs", 3, f"{grpc_server.url}/{COUNT}", input=data).succeeds().lines()
    assert [e["call"] for e in events if e["event"] == "message"] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


@pytest.mark.usefixtures("keeps_early_responses")
def test_a_response_stream_waits_for_its_turn(rpcurl, start_server, descriptor_set):
    """Of two calls the second has far more responses than may wait. An old libcurl joins the trailers after a pause."""
    server = start_server("grpc_server.py")
    options = ["--each", "--jobs", 2, "--descriptor-set", descriptor_set, "--filter", "."]
    with rpcurl.start(*options, f"{server.url}/{COUNT}") as process:
        process.stdin.write(b'{"from":1,"to":20000}' * 2)
        process.stdin.close()
        lines = process.stdout.read().splitlines()
        assert process.wait() == 0
    assert len(lines) == 40000 and lines[:20000] == lines[20000:]


def test_calls_are_printed_as_they_end(batch, start_server):
    server = start_server("grpc_server.py")
    data = '{"milliseconds":60000}{"milliseconds":1}'
    options = ["--jobs", 2, "--max-time", "1s", "--unordered", "--format", "events"]
    events = batch(*options, f"{server.url}/{DELAY}", input=data).exits(68).lines()
    assert [e["call"] for e in events if e["event"] == "end"] == [2, 1]


# Failures


def test_other_calls_continue_after_a_failed_one(batch, grpc_server):
    data = '{"id":"1"}{"id":"8"}{"id":"2"}{"id":"9"}{"id":"3"}'
    for jobs in (1, 8):
        result = batch("--jobs", jobs, f"{grpc_server.url}/{FIND}", input=data).exits(69)
        assert [json.loads(line)["id"] for line in result.out.splitlines()] == ["1", "2", "3"]
        lines = [line for line in result.err.splitlines() if line.startswith("rpcurl: ")]
        assert lines == [
            'rpcurl: call 2: demo.v1.Demo/Find: not_found (5): no item "8"',
            'rpcurl: call 4: demo.v1.Demo/Find: not_found (5): no item "9"',
            "rpcurl: 2 of 5 calls failed, the first is call 2",
        ]


def test_the_summary_as_json_has_no_empty_members(batch, grpc_server):
    result = batch("--error-format", "json", f"{grpc_server.url}/{FIND}", input='{"id":"8"}{"id":"1"}')
    assert json.loads(result.err.splitlines()[-1]) == {"error": {"why": "1 of 2 calls failed, the first is call 1", "exit": 69}}


def test_timing_has_a_summary(batch, grpc_server):
    result = batch("--timing", "--jobs", 4, f"{grpc_server.url}/{HELLO}", input=names(20)).exits(0)
    *calls, summary = result.err.splitlines()
    assert len(calls) == 20
    times = re.fullmatch(
        r"timing of 20 calls: least ([\d.]+) ms, median ([\d.]+) ms, 90 % ([\d.]+) ms, 99 % ([\d.]+) ms, most ([\d.]+) ms; 20 ok in [\d.]+ ms, \d+ calls/s",
        summary,
    ).groups()
    assert sorted(map(float, times)) == list(map(float, times))
    totals = [float(re.search(r"total ([\d.]+) ms", line)[1]) for line in calls]
    assert (float(times[0]), float(times[-1])) == (min(totals), max(totals))
    # Without output, there is only the summary.
    result = batch("--timing", "--format", "none", f"{grpc_server.url}/{HELLO}", input=names(20))
    assert (result.code, result.out, len(result.err.splitlines())) == (0, "", 1)
    assert result.err.startswith("timing of 20 calls: ")


def test_fail_early_ends_the_batch(batch, start_server):
    server = start_server("grpc_server.py")
    data = '{"milliseconds":500}{"milliseconds":60000}' + '{"milliseconds":60000}' * 100
    result = batch("--jobs", 2, "--max-time", "2s", "--fail-early", f"{server.url}/{DELAY}", input=data).exits(68, '{"milliseconds":"500"}\n')
    # The third call was canceled and is not reported. There was no fourth.
    assert result.err.splitlines()[0].startswith("rpcurl: call 2: demo.v1.Demo/Delay: deadline_exceeded")
    assert "call 3" not in result.err
    assert server.log().splitlines().count(f"received {DELAY}") == 3


def test_fail_early_starts_no_call_after_the_failed_one(batch, grpc_server):
    result = batch("--fail-early", f"{grpc_server.url}/{FIND}", input='{"id":"1"}{"id":"8"}{"id":"2"}')
    assert (result.code, len(result.out.splitlines())) == (69, 1)


@pytest.mark.parametrize(("wrong", "word"), [('{"nam":1}', "did you mean name"), ("nonsense", "line 1, column 23"), ('{"name":', "unexpected end of the JSON")])
def test_wrong_data_ends_the_batch(batch, grpc_server, wrong, word):
    result = batch("--jobs", 8, f"{grpc_server.url}/{HELLO}", input='{"name":"a"}{"name":""}'[:12] + '          ' + wrong).exits(4)
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == ["a"]
    assert result.err.startswith("rpcurl: call 2: standard input: ") and word in result.err


def test_no_server(batch):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = batch("--plaintext", "--jobs", 4, f"127.0.0.1:{port}", HELLO, input=names(10)).exits(5)
    assert result.err.count("rpcurl: call ") == 10


def test_a_connection_that_ends_is_replaced(rpcurl, raw_server, descriptor_set):
    """The server closes each connection after two calls; the next ones use a new connection."""
    used = []
    responded = threading.Semaphore(0)
    ended = threading.Semaphore(0)

    def serve(connection):
        try:
            raw_http2.read_exactly(connection, 24)
            control = raw_http2.Stream(connection, 0)
            control.frame(raw_http2.SETTINGS)
            served = 0
            while served < 2:
                kind, flags, number, _ = raw_http2.read_frame(connection)
                if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                    stream = raw_http2.Stream(connection, number)
                    stream.headers(OK)
                    stream.data(RESPONSE)
                    stream.headers(STATUS_OK, end=True)
                    served += 1
            used.append(connection)
            # libcurl 7.88 loses a response that it reads together with this.
            assert responded.acquire(timeout=60)
            control.go_away(number)
            connection.shutdown(socket.SHUT_WR)
            ended.release()
            # A newer libcurl sends the next request here, sees that no server reads it, and repeats it.
            stream.wait_for_the_end()
        except EOFError:  # libcurl tried whether it would do
            pass

    server = raw_server(serve)
    # A failure ends the batch, so that the test does not wait for a response that never comes.
    options = ["--each", "--fail-early", "--descriptor-set", descriptor_set, "--plaintext"]
    with rpcurl.start(*options, server.address, HELLO) as process:
        for number in range(6):
            process.stdin.write(b'{"name":"x"}')
            assert json.loads(process.stdout.readline()) == {"message": "Ada"}
            if number % 2:
                responded.release()
                assert ended.acquire(timeout=60)
                # It has read the end of the connection, which came over loopback.
                process.wait_until_idle()
        process.stdin.close()
        assert process.wait() == 0
    assert len(used) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--jobs", "2", HELLO], ["--jobs", "--each"]),
        (["--fail-early", HELLO], ["--fail-early", "--each"]),
        (["--unordered", HELLO], ["--unordered", "--each"]),
        (["--each", "--jobs", "0", HELLO], ["--jobs 0"]),
        (["--each", "demo.v1.Demo/Chat"], ["Chat has a request stream"]),
    ],
)
def test_wrong_usage(demo, arguments, words):
    *options, method = arguments
    result = demo(*options, "localhost:1", method).exits(2, "")
    assert all(word in result.err for word in words), result.err


# Signals and memory


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_running_calls(rpcurl, start_server, descriptor_set, number, code):
    server = start_server("grpc_server.py")
    arguments = ["--each", "--jobs", 4, "--format", "events", "--descriptor-set", descriptor_set, f"{server.url}/{DELAY}"]
    with rpcurl.start(*arguments) as process:
        process.stdin.write(b"{}" + b'{"milliseconds":20000}' * 100)
        while b'"call":1,"total_ms"' not in process.stdout.readline():
            pass
        server.wait_for_calls(DELAY, 5)
        process.send_signal(number)
        assert process.wait() == code
        reason = "interrupted" if number == signal.SIGINT else "terminated"
        assert process.stderr.read().decode() == f"rpcurl: {reason}: 1 call was completed\n"
        events = [json.loads(line) for line in process.stdout.read().splitlines()]
        assert [e["code"] for e in events if e["event"] == "end"] == ["canceled"] * 4
    server.wait_for_canceled_calls(DELAY, 4)


def test_millions_of_messages_in_flat_memory(rpcurl, grpc_server, descriptor_set):
    """The output is not read: the number of waiting responses is bounded."""
    arguments = ["--each", "--jobs", 8, "--descriptor-set", descriptor_set, f"{grpc_server.url}/{HELLO}"]
    with rpcurl.start(*arguments) as process:
        feeder = threading.Thread(target=feed, args=(process,), daemon=True)
        feeder.start()
        process.stdout.read(20_000)
        process.wait_until_idle()
        before = process.peak_kilobytes()
        process.stdout.read(100_000)
        assert process.peak_kilobytes() < before + 8_000
        process.kill()
        feeder.join(60)


def feed(process):
    try:
        while True:
            os.write(process.stdin.fileno(), b'{"name":"Ada"}' * 1000)
    except OSError:
        pass
