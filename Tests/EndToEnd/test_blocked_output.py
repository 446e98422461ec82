"""A reader that reads nothing delays neither the deadline nor a signal, and a slow one loses nothing."""

import fcntl
import json
import os
import pty
import select
import signal
import socket
import subprocess
import time
import tty

import pytest
from harness import Process, wait_until

SERVICE = "demo.v1.Demo"


@pytest.fixture(params=["pipe", "socket", "terminal"])
def reader(request):
    """The two ends of an output that accepts some bytes and then blocks: (to read, to write)."""
    # As small as possible, so that they are soon full, also on a busy machine.
    if request.param == "pipe":
        reading, writing = os.pipe()
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        return reading, writing
    if request.param == "socket":
        one, other = socket.socketpair()
        for end in (one, other):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return one.detach(), other.detach()
    reading, writing = pty.openpty()
    tty.setraw(writing)
    return reading, writing


@pytest.fixture
def start(rpcurl, demo, grpc_server, reader):
    """Starts a call with endless responses, whose output goes to `reader`."""
    started = []

    def start(*options, method="Count", data='{"from":1,"to":2000000000}', format="json", errors=subprocess.PIPE):
        process = Process(
            demo.command(
                ("--format", format, *options, "-d", data, f"{grpc_server.url}/{SERVICE}/{method}")
            ),
            stdin=subprocess.DEVNULL, stdout=reader[1], stderr=reader[1] if errors == "the same" else errors,
            env=rpcurl.environment(None),
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()
    for end in reader:
        try:
            os.close(end)
        except OSError:
            pass


def wait_until_blocked(process, reader):
    """Wait until the process has written some output, and waits for the reader."""
    wait_until(lambda: select.select([reader[0]], [], [], 0)[0], "the output begins")
    process.wait_until_idle()


@pytest.mark.parametrize("errors", [subprocess.PIPE, "the same"])
def test_deadline(start, errors):
    err = ""
    # On a busy machine, a short deadline may come before the output blocks.
    for seconds in (1, 5, 25):
        process = start("--max-time", f"{seconds}s", format="events", errors=errors)
        assert process.wait() == 68
        if errors != subprocess.PIPE:
            return
        err = process.stderr.read().decode()
        assert "deadline_exceeded" in err
        if "standard output" in err:
            break
    assert "bytes were discarded: the reader stopped reading" in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal(start, reader, number, code):
    process = start()
    wait_until_blocked(process, reader)
    process.send_signal(number)
    assert process.wait() == code


@pytest.mark.parametrize("reader", ["pipe"], indirect=True)
def test_signal_after_the_end_of_the_call(start, reader, tmp_path):
    """A call whose response is printed whole has succeeded, whenever the signal arrives."""
    log = tmp_path / "log"
    process = start("--use", f"log,format=ndjson,file={log}", method="Large", data='{"sizeBytes":300000}')
    wait_until(lambda: log.exists() and '"event":"metrics"' in log.read_text(), "the end of the call")
    process.send_signal(signal.SIGINT)
    text = b""
    while select.select([reader[0]], [], [], 0.01)[0] or process.poll() is None:
        text += os.read(reader[0], 1 << 16) if select.select([reader[0]], [], [], 0)[0] else b""
    assert process.returncode == (0 if text.endswith(b'"}\n') else 130), process.stderr.read()


def test_memory_and_processor_time(start, reader):
    process = start("--use", "header,set=a:b")
    wait_until_blocked(process, reader)
    before = process.peak_kilobytes()
    os.read(reader[0], 10_000)
    process.wait_until_idle()
    assert process.peak_kilobytes() < before + 4_000
    # It sleeps: a loop would use 50 ticks of half a second, or its share of them on a busy machine.
    ticks = process.processor_ticks()
    time.sleep(0.5)
    assert process.processor_ticks() <= ticks + 2


@pytest.mark.parametrize("reader", ["pipe"], indirect=True)
def test_a_slow_reader_loses_nothing(start, reader, tmp_path):
    """After the end of the call, its deadline has no effect."""
    log = tmp_path / "log"
    seconds = 3
    process = start(
        "--max-time", f"{seconds}s", "--use", f"log,format=ndjson,file={log}", method="Large", data='{"sizeBytes":300000}'
    )
    wait_until(lambda: log.exists() and '"event":"metrics"' in log.read_text(), "the end of the call")
    # The deadline, which began before this, passes without an event.
    time.sleep(seconds)
    text = b""
    while not text.endswith(b'"}\n'):
        piece = os.read(reader[0], 5000)
        assert piece, process.stderr.read()
        text += piece
    assert len(json.loads(text)["payload"]) == 400_000
    assert process.wait() == 0


def test_the_open_file_keeps_its_flags(start, reader):
    """Other processes have the same open file: a shell whose terminal no longer blocks would end."""
    flags = fcntl.fcntl(reader[1], fcntl.F_GETFL)
    process = start()
    wait_until_blocked(process, reader)
    assert fcntl.fcntl(reader[1], fcntl.F_GETFL) == flags
    assert not flags & os.O_NONBLOCK


def test_input_is_read_while_output_is_blocked(rpcurl, descriptor_set, grpc_server):
    """A program may write all of its messages before it reads a response."""
    arguments = ["--descriptor-set", descriptor_set, f"{grpc_server.url}/{SERVICE}/Chat"]
    with rpcurl.start(*arguments) as process:
        text = "x" * 1000
        for _ in range(300):
            process.stdin.write(b'{"text":"%s"}' % text.encode())
        process.stdin.close()
        responses = process.stdout.read().splitlines()
        assert len(responses) == 300
        assert process.wait() == 0
