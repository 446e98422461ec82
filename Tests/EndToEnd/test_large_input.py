"""Large and endless request data: time in proportion to it, and no more of it read than a message may have."""

import os
import subprocess
import threading

import pytest
from harness import Process

LIMIT = 64 << 20


def cpu_seconds(rpcurl, *arguments):
    """What a run takes of the processor, which other processes do not change much."""
    process = Process(
        rpcurl.command(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=rpcurl.environment(None),
    )
    error = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode, error


@pytest.mark.parametrize("way", ["batch", "session"])
def test_one_large_value_takes_linear_time(rpcurl, grpc_server, descriptor_set, tmp_path, way):
    def run(megabytes):
        file = tmp_path / "data"
        # A field that does not exist, at the end: all of it is read, and nothing sent.
        value = '{"name":"' + "a" * (megabytes << 20) + '","nonsense":1}'
        if way == "batch":
            file.write_text(value)
            words = ["--each", "-d", f"@{file}", f"{grpc_server.url}/demo.v1.Demo/Hello"]
        else:
            file.write_text(f"call demo.v1.Demo/Hello {value}\n")
            words = [grpc_server.url, file]
        command = "call" if way == "batch" else "run"
        seconds, code, error = cpu_seconds(rpcurl, command, "--descriptor-set", descriptor_set, *words)
        assert code != 0 and "nonsense" in error, error[:1000]
        return seconds

    # Four times as much: quadratic time is sixteen times as long.
    assert run(48) < 8 * run(12) + 0.5


@pytest.mark.parametrize("form", ["json", "text", "binary"])
def test_endless_data_of_a_unary_call_is_refused_at_the_limit(rpcurl, descriptor_set, form):
    """Nothing listens at the target: the data is refused first."""
    words = ["--descriptor-set", descriptor_set, "--data-format", form, "-d", "@-"]
    sent = 0
    with rpcurl.start(*words, "http://127.0.0.1:1/demo.v1.Demo/Hello") as process:

        def feed():
            nonlocal sent
            piece = b'{"name":"' if form == "json" else b""
            piece += b"a" * (1 << 20)
            try:
                while True:
                    sent += process.stdin.write(piece)
                    piece = b"a" * (1 << 20)
            except BrokenPipeError:
                pass

        feeder = threading.Thread(target=feed)
        feeder.start()
        error = process.stderr.read().decode()
        assert process.wait() == 4
        feeder.join()
    assert "longer than" in error and str(LIMIT) in error
    assert error.endswith("hint: --set-file FIELD=FILE sends the content of a file as a field, also if it is longer\n")
    assert LIMIT <= sent <= LIMIT + (4 << 20)


def test_memory_of_an_endless_file_is_bounded(rpcurl, descriptor_set, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = ["--descriptor-set", descriptor_set, "-d", f"@{pipe}"]
    with rpcurl.start(*words, "http://127.0.0.1:1/demo.v1.Demo/Hello") as process:
        with pipe.open("wb", buffering=0) as data:
            data.write(b'{"name":"')
            for _ in range(60):
                sent = 0
                while sent < 1 << 20:
                    sent += data.write(b"a" * ((1 << 20) - sent))
            assert process.peak_kilobytes() < 400_000
            process.kill()
