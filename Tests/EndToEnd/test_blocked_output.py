"""A reader that takes nothing must delay neither the deadline nor a signal, and loses nothing when it is slow."""

import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import time
import tty

import pytest
from test_streams import peak_kilobytes

SERVICE = "demo.v1.Demo"


@pytest.fixture(params=["pipe", "socket", "terminal"])
def reader(request):
    """The two ends of an output that takes some bytes and then no more: (to read, to write)."""
    # As small as can be, so that they are full soon, also on a busy machine.
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
def start(rpcurl, grpc_server, descriptor_set, reader):
    """Starts a call that answers without end, whose output goes to `reader`."""
    started = []

    def start(*options, method="Count", data='{"from":1,"to":2000000000}', format="json", errors=subprocess.PIPE):
        process = subprocess.Popen(
            rpcurl.command(
                ("--descriptor-set", descriptor_set, "--format", format, *options, "-d", data, f"{grpc_server.url}/{SERVICE}/{method}")
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


def processor_ticks(process):
    return sum(map(int, open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))


def wait_until_blocked(process):
    """Until the process has begun, and uses no more time."""
    time.sleep(0.4)
    ticks = -1
    while ticks != (ticks := processor_ticks(process)):
        time.sleep(0.15)


@pytest.mark.parametrize("errors", [subprocess.PIPE, "the same"])
def test_deadline(start, errors):
    begin = time.monotonic()
    process = start("--max-time", "1500ms", format="events", errors=errors)
    assert process.wait(10) == 68
    assert time.monotonic() - begin < 5
    if process.stderr:
        err = process.stderr.read().decode()
        assert "deadline_exceeded" in err and "bytes were discarded: the reader stopped reading" in err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal(start, number, code):
    process = start()
    wait_until_blocked(process)
    begin = time.monotonic()
    process.send_signal(number)
    assert process.wait(5) == code
    assert time.monotonic() - begin < 2.5


def test_memory_and_processor_time(start, reader):
    process = start("--use", "header,set=a:b")
    wait_until_blocked(process)
    before = peak_kilobytes(process)
    os.read(reader[0], 10_000)
    time.sleep(0.5)
    assert peak_kilobytes(process) < before + 4_000
    # It sleeps, and does not ask again and again.
    ticks = processor_ticks(process)
    time.sleep(0.5)
    assert processor_ticks(process) <= ticks + 2


def test_a_slow_reader_loses_nothing(start, reader):
    """When the call is over, its deadline does not matter any more."""
    process = start("--max-time", "600ms", method="Large", data='{"sizeBytes":300000}')
    time.sleep(1)
    text = b""
    while not text.endswith(b'"}\n'):
        piece = os.read(reader[0], 5000)
        assert piece, process.stderr.read()
        text += piece
    assert len(json.loads(text)["payload"]) == 400_000
    assert process.wait(5) == 0


def test_the_open_file_stays_as_it_was(start, reader):
    """Its flags are those of whoever else has it: a shell that lost the blocking of its terminal would end."""
    flags = fcntl.fcntl(reader[1], fcntl.F_GETFL)
    process = start()
    wait_until_blocked(process)
    assert fcntl.fcntl(reader[1], fcntl.F_GETFL) == flags
    assert not flags & os.O_NONBLOCK


def test_input_goes_on_while_output_waits(rpcurl, descriptor_set, grpc_server):
    """A program that writes all of its messages before it reads an answer gets through."""
    arguments = ["--descriptor-set", descriptor_set, f"{grpc_server.url}/{SERVICE}/Chat"]
    with rpcurl.start(*arguments) as process:
        text = "x" * 1000
        for _ in range(300):
            process.stdin.write(b'{"text":"%s"}' % text.encode())
        process.stdin.close()
        answers = process.stdout.read().splitlines()
        assert len(answers) == 300
        assert process.wait(5) == 0
