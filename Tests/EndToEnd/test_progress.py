"""The progress line: only on a terminal, not at once, and erased before other output."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import pytest
from harness import Process, shown_on

SERVICE = "demo.v1.Demo"
SLOW = '{"from":1,"to":9,"intervalMs":250}'
LINE = re.compile(r"sent \d+ messages?, [\d.]+ [kMG]?B; received (\d+) messages?, [\d.]+ [kMG]?B; [\d.]+ [kMG]?B/s; \d+:\d\d")


@pytest.fixture
def on_terminal(rpcurl, grpc_server, descriptor_set):
    """Runs a call whose standard error is a terminal; returns its exit code, output, and the terminal's input."""

    def run(*options, data=SLOW, method="Count", out=subprocess.PIPE, columns=120, number=None, input=subprocess.DEVNULL, url=None):
        reading, writing = pty.openpty()
        fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        words = ["--descriptor-set", descriptor_set, *options, "-d", data, f"{url or grpc_server.url}/{SERVICE}/{method}"]
        stdout = writing if out == "the same" else out
        with Process(
            rpcurl.command(words), stdin=input, stdout=stdout, stderr=writing, env=rpcurl.environment(None)
        ) as process:
            os.close(writing)
            shown = b""
            for piece in shown_on(reading):
                shown += piece
                if number and b"sent " in shown:
                    process.send_signal(number)
                    number = None
            output = process.communicate()[0]
        os.close(reading)
        return process.returncode, output, shown.decode().replace("\r\n", "\n")

    return run


def left(shown):
    """The text that remains on the screen."""
    return re.sub(r"[^\n]*\r\x1b\[K", "", shown)


def test_an_upload_that_is_typed_at_a_prompt(on_terminal, raw_server, tmp_path):
    def read(connection):
        while connection.recv(1 << 16):
            pass

    data = tmp_path / "data.json"
    data.write_text(json.dumps({"name": "a" * (2 << 20)}))
    _, _, shown = on_terminal(
        "--protocol", "connect", "--max-time", "3", method="Hello", data=f"@{data}", out="the same", url=raw_server(read).url
    )  # fmt: skip
    assert "sent 1 message, 2.1 MB; received 0 messages" in shown
    # What is short may be typed, and is not disturbed.
    _, _, shown = on_terminal(out="the same")
    assert "sent " not in shown


def test_a_slow_stream(on_terminal):
    code, out, shown = on_terminal("--format", "json")
    assert (code, len(out.splitlines())) == (0, 9)
    lines = [piece for piece in shown.split("\r\x1b[K") if piece]
    assert all(LINE.fullmatch(line) for line in lines), lines
    counts = [int(LINE.fullmatch(line)[1]) for line in lines]
    assert counts == sorted(counts) and counts[0] >= 2 and counts[-1] > counts[0]
    assert left(shown) == ""
    # At most five in a second, from the second second on.
    assert 2 <= len(lines) <= 10


@pytest.mark.parametrize("options", [["-s"], ["--silent", "-S"]])
def test_silent(on_terminal, options):
    code, out, shown = on_terminal("--format", "json", *options)
    assert (code, len(out.splitlines()), shown) == (0, 9, "")


def test_a_short_call(on_terminal):
    assert on_terminal(data='{"from":1,"to":3}')[2] == ""


def test_messages_on_the_same_terminal(on_terminal):
    shown = on_terminal("--format", "json", out="the same")[2]
    assert "sent" not in shown and len(shown.splitlines()) == 9


def test_a_file(on_terminal, tmp_path):
    code, out, shown = on_terminal("-o", tmp_path / "file", out="the same")
    assert code == 0 and "received " in shown and left(shown) == ""
    assert len((tmp_path / "file").read_text().splitlines()) == 9


def test_standard_error_that_is_not_a_terminal(rpcurl, grpc_server, descriptor_set):
    words = ["--descriptor-set", descriptor_set, "-d", SLOW, f"{grpc_server.url}/{SERVICE}/Count"]
    assert rpcurl(*words).err == ""


def test_errors_replace_the_line(on_terminal):
    code, _, shown = on_terminal("--max-time", "1.5")
    assert code == 68
    assert "received " in shown
    assert left(shown).startswith("rpcurl: demo.v1.Demo/Count: deadline_exceeded (4)")
    assert shown.count("received ") == shown.count("\r\x1b[K")


def test_interrupt(on_terminal):
    code, _, shown = on_terminal(number=signal.SIGINT)
    assert code == 130 and left(shown) == "rpcurl: demo.v1.Demo/Count: canceled (1): interrupted\n"


def test_a_narrow_terminal(on_terminal):
    shown = on_terminal(columns=30)[2]
    lines = [piece for piece in shown.split("\r\x1b[K") if piece]
    assert lines and all(len(line) == 29 for line in lines)


def test_a_batch(on_terminal):
    data = ["-d", '{"milliseconds":"800"}'] * 2
    code, out, shown = on_terminal("--each", *data, data='{"milliseconds":"800"}', method="Delay")
    assert (code, len(out.splitlines())) == (0, 3)
    assert "1 of 3 calls (33 %), " in shown and ", 1 running; sent 2 messages, " in shown and left(shown) == ""
    # The bytes of calls that have ended count: each request has 3, with 5 before it.
    assert "sent 2 messages, 16 B" in shown


def test_a_batch_of_a_file(on_terminal, tmp_path):
    (tmp_path / "input").write_text('{"milliseconds":"700"}\n' * 4)
    with open(tmp_path / "input") as file:
        code, out, shown = on_terminal("--each", data="@-", method="Delay", input=file)
    assert (code, len(out.splitlines())) == (0, 4)
    assert "1 call (100 %), " in shown


def test_a_load(on_terminal):
    words = ["load", "--requests", "4", "--jobs", "1"]
    code, _, shown = on_terminal(*words, data='{"milliseconds":"400"}', method="Delay", out="the same")
    assert code == 0 and re.search(r"[12] of 4 calls \((25|50) %\), [\d.]+/s, 1 running; p50 4\d\d\.", shown)
    assert left(shown.split(f"{SERVICE}/Delay at ")[0]) == ""


def test_a_load_whose_calls_fail(on_terminal):
    words = ["load", "--duration", "2500ms", "--jobs", "1", "-H", "demo-fail-attempts: 99"]
    code, out, shown = on_terminal(*words, data='{"name":"Ada"}', method="Hello", columns=200)
    (failed,) = {int(failed) == int(count) for failed, count in re.findall(r", (\d+) failed \((\d+) unavailable\), ", shown)}
    assert code == 0 and failed and b"unavailable" in out and left(shown) == ""


def test_a_silent_load(on_terminal):
    words = ["load", "-s", "--requests", "4", "--jobs", "1"]
    code, out, shown = on_terminal(*words, data='{"milliseconds":"400"}', method="Delay")
    assert (code, shown) == (0, "") and b"calls" in out
