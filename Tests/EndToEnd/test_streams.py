"""Streams from the shell: messages go out and come in as they are complete, in flat memory."""

import json
import os
import select
import signal
import subprocess
import threading

import pytest
from harness import Process, wait_until, write

import raw_http2

SERVICE = "demo.v1.Demo"


@pytest.fixture(params=["grpc h2c", "grpc tls", "connect h2c", "connect tls"])
def options(request, descriptor_set, certificates):
    """The options that reach each kind of server, and its URL."""
    protocol, transport = request.param.split()
    server = request.getfixturevalue(f"{protocol}_tls_server" if transport == "tls" else f"{protocol}_server")
    security = ["--cacert", certificates / "ca.pem"] if transport == "tls" else []
    return ["--protocol", protocol, "--descriptor-set", descriptor_set, *security], server.url


def test_server_stream(rpcurl, options):
    arguments, url = options
    result = rpcurl(*arguments, "-d", '{"from":1,"to":500}', f"{url}/{SERVICE}/Count")
    assert result.succeeds().lines() == [{"number": n} for n in range(1, 501)]


def test_client_stream_from_options(rpcurl, options):
    arguments, url = options
    data = ["-d", '{"value":1}{"value":2}', "-d", '{"value":"3"}']
    assert rpcurl(*arguments, *data, f"{url}/{SERVICE}/Sum").succeeds().lines() == [{"total": "6", "count": 3}]


def test_client_stream_from_a_file_and_standard_input(rpcurl, options, tmp_path):
    arguments, url = options
    file = write(tmp_path / "values", "".join(f'{{"value":{n}}}' for n in range(20_000)))
    data = ["-d", f"@{file}", "-d", "@-", "-d", '{"value":5}']
    result = rpcurl(*arguments, *data, f"{url}/{SERVICE}/Sum", input='{"value":1}\n\n  {"value":\n2}')
    assert result.succeeds().lines() == [{"total": str(sum(range(20_000)) + 8), "count": 20_003}]


def test_end_of_a_message_that_the_server_takes_slowly(rpcurl, raw_server, descriptor_set, libcurl_version, has_mended_libcurl):
    """libcurl asks for more while it still holds the end of the message, and no other message follows yet."""
    if libcurl_version >= (8, 18) and not has_mended_libcurl:
        pytest.skip("this libcurl sends nothing of a request that is paused")
    size, step = 190_000, 16_384

    def handle(connection):
        raw_http2.read_exactly(connection, 24)
        control = raw_http2.Stream(connection, 0)
        control.frame(raw_http2.SETTINGS)
        received, granted = 0, 65_535
        while received < size:
            kind, flags, number, payload = raw_http2.read_frame(connection)
            if kind == raw_http2.SETTINGS and not flags & raw_http2.ACK:
                control.frame(raw_http2.SETTINGS, raw_http2.ACK)
            received += len(payload) if kind == raw_http2.DATA else 0
            if received == granted:
                # What the client does at the end of its window is done when it acknowledges a PING.
                control.wait_until_read()
                granted += step
                for stream in 0, number:
                    control.frame(raw_http2.WINDOW_UPDATE, 0, step.to_bytes(4, "big"), stream=stream)
        stream = raw_http2.Stream(connection, number)
        stream.headers(raw_http2.OK)
        stream.data(b"\0\0\0\0\0")
        stream.wait_for_the_end()

    server = raw_server(handle)
    with rpcurl.start("--descriptor-set", descriptor_set, "-d", "@-", f"http://{server.address}/{SERVICE}/Chat") as process:
        process.stdin.write(json.dumps({"text": "x" * size}).encode())
        assert json.loads(process.stdout.readline()) == {}
        process.send_signal(signal.SIGINT)


def test_no_message_at_all(rpcurl, options):
    arguments, url = options
    assert rpcurl(*arguments, f"{url}/{SERVICE}/Sum").succeeds().lines() == [{}]
    assert rpcurl(*arguments, f"{url}/{SERVICE}/Chat").succeeds().lines() == []


def test_each_response_is_printed_before_the_next_message_is_read(rpcurl, options):
    arguments, url = options
    with rpcurl.start(*arguments, f"{url}/{SERVICE}/Chat") as process:
        for number in range(20):
            # In two pieces: a value is sent when it is complete, not when a line is.
            process.stdin.write(b'{"text":')
            process.stdin.write(b'"%d"}' % number)
            assert json.loads(process.stdout.readline()) == {"text": f"you said: {number}"}
        process.stdin.close()
        assert process.wait() == 0


def test_stream_that_fails_shows_its_messages_and_its_status(rpcurl, options):
    arguments, url = options
    data = json.dumps({"code": 9, "message": "enough", "afterMessages": 3})
    result = rpcurl(*arguments, "-d", data, f"{url}/{SERVICE}/FailStream").exits(64 + 9)
    assert result.lines() == [{"number": n} for n in (1, 2, 3)]
    assert "failed_precondition (9): enough" in result.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"text":"a"}{"tex":1}', ["line 1, column 14", "tex", "did you mean text"]),
        ('{"text":"a"}\n{"text":', ["unexpected end", "line 2"]),
        ('{"text":"a"}\nnonsense', ["line 2, column 1"]),
    ],
)
def test_wrong_data_in_a_stream_cancels_it(rpcurl, options, text, words):
    arguments, url = options
    result = rpcurl(*arguments, f"{url}/{SERVICE}/Chat", input=text).exits(4)
    assert result.err.startswith("rpcurl: standard input: ")
    assert all(word in result.err for word in words), result.err
    assert sum(line.startswith("rpcurl: ") for line in result.err.splitlines()) == 1


def test_wrong_data_in_an_option_is_reported_before_anything_is_sent(demo, raw_server):
    server = raw_server(lambda connection: None)
    data = ["-d", '{"text":"a"}', "-d", '{"tex":"b"}']
    url = f"http://{server.address}/{SERVICE}/Chat"
    assert demo(*data, url).code == 4
    assert server.connections == 0


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_ten_thousand_responses_each_awaited(rpcurl, request, descriptor_set, protocol):
    server = request.getfixturevalue(f"{protocol}_server")
    arguments = ["--descriptor-set", descriptor_set, "--protocol", protocol, f"{server.url}/{SERVICE}/Chat"]
    with rpcurl.start(*arguments) as process:
        with os.fdopen(os.dup(process.stdout.fileno()), "rb") as responses:
            for number in range(10_000):
                process.stdin.write(b'{"text":"%d"}\n' % number)
                assert responses.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert process.wait() == 0


def test_second_interrupt_ends_at_once(rpcurl, raw_server, descriptor_set):
    """Also if the program has not handled the first one: here it was stopped."""
    release = threading.Event()
    server = raw_server(lambda connection: release.wait(120))
    arguments = ["--descriptor-set", descriptor_set, f"http://{server.address}/{SERVICE}/Chat"]
    with rpcurl.start(*arguments) as process:
        wait_until(lambda: server.connections, "rpcurl connects")
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        assert process.wait() == 130
        release.set()


# Memory


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_endless_response_into_a_slow_pipe_stays_in_flat_memory(rpcurl, request, descriptor_set, protocol):
    server = request.getfixturevalue(f"{protocol}_server")
    arguments = [
        "--descriptor-set", descriptor_set, "--protocol", protocol, "-d", '{"from":1,"to":2000000000}',
        f"{server.url}/{SERVICE}/Count",
    ]  # fmt: skip
    with rpcurl.start(*arguments) as process:
        process.stdout.read(100_000)
        process.wait_until_idle()
        before = process.peak_kilobytes()
        process.stdout.read(100_000)
        assert process.peak_kilobytes() < before + 8_000
        process.kill()


def test_huge_input_to_a_slow_server_stays_in_flat_memory(rpcurl, raw_server, descriptor_set):
    """The server takes nothing: rpcurl must stop reading, and its writer must notice."""
    release = threading.Event()
    server = raw_server(lambda connection: release.wait(120))
    arguments = ["--descriptor-set", descriptor_set, f"http://{server.address}/{SERVICE}/Sum"]
    with rpcurl.start(*arguments) as process:
        os.set_blocking(process.stdin.fileno(), False)
        value = b'{"value":"1234567"}'
        written = ticks = 0
        while written < 200_000_000:
            try:
                start = written % len(value)
                written += os.write(process.stdin.fileno(), (value * 1001)[start:])
                ticks = process.processor_ticks()
            except BlockingIOError:
                before = process.activity()
                if select.select([], [process.stdin], [], 0.2)[1]:
                    continue
                # It does not read: it is idle, or it had time enough. libcurl 7.88 may ask again and again.
                is_idle = before and before == process.activity()
                if is_idle or process.processor_ticks() > ticks + 20:
                    break
        assert written < 20_000_000
        assert process.peak_kilobytes() < 60_000
        process.kill()
        release.set()


# The process's own streams


def test_closed_output_is_an_error_and_a_closed_pipe_is_not(demo, grpc_server):
    arguments = demo.command(("-d", '{"from":1,"to":100000}', f"{grpc_server.url}/{SERVICE}/Count"))
    words = " ".join(f"'{word}'" for word in arguments)
    closed = subprocess.run(["bash", "-c", f"{words} >&-"], capture_output=True, text=True)
    assert closed.returncode == 1 and "standard output" in closed.stderr
    full = subprocess.run(["bash", "-c", f"{words} >/dev/full"], capture_output=True, text=True)
    assert full.returncode == 1 and "No space left" in full.stderr
    piped = subprocess.run(["bash", "-c", f"{words} | head -1; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True)
    assert piped.stdout.splitlines()[0] == '{"number":1}'
    assert piped.stderr == ""


def test_non_blocking_output_loses_nothing(demo, grpc_server):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    arguments = demo.command(("-d", '{"sizeBytes":1000000}', f"{grpc_server.url}/{SERVICE}/Large"))
    process = Process(arguments, stdout=writing, stdin=subprocess.DEVNULL)
    os.close(writing)
    # The pipe is full: rpcurl waits for its reader.
    wait_until(lambda: select.select([reading], [], [], 0)[0], "the output begins")
    process.wait_until_idle()
    with os.fdopen(reading, "rb") as output:
        assert len(json.loads(output.read())["payload"]) > 1_300_000
    assert process.wait() == 0
