"""A closed output ends the command quietly; a write error is reported, with exit code 1."""

import os
import pty
import select
import signal
import subprocess

import collector
import pytest
from harness import PATIENCE_SECONDS, Process, write

SERVICE = "demo.v1.Demo"
ENDLESS = '{"from":1,"to":2000000000}'


@pytest.fixture
def words(demo, grpc_server):
    def words(*options, data=ENDLESS, method="Count"):
        return demo.command((*options, "-d", data, f"{grpc_server.url}/{SERVICE}/{method}"))

    return words


@pytest.fixture
def run(rpcurl):
    def run(words, out=subprocess.PIPE, **more):
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=rpcurl.environment(None), timeout=60,
            cwd=rpcurl.home, **more,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("format", ["json", "pretty", "text", "binary", "events"])
def test_head(rpcurl, words, grpc_server, format):
    """As for every program of a shell: killed by SIGPIPE, of which pipefail sees 141."""
    before = grpc_server.canceled_calls(f"{SERVICE}/Count")
    script = 'set -o pipefail; "$@" | head -c 4000 > /dev/null'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words("--format", format)], stdin=subprocess.DEVNULL, capture_output=True,
        env=rpcurl.environment(None), timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
    grpc_server.wait_for_canceled_calls(f"{SERVICE}/Count", before + 1)


def test_a_reader_that_was_closed_before_the_start(words, run):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(words(data="{}", method="Echo"), out=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_other_commands(rpcurl, descriptor_set, run):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        for command in (["list"], ["describe"], ["template", f"{SERVICE}/Hello"], ["export"]):
            done = run(rpcurl.command((*command, "--descriptor-set", descriptor_set)), out=writing)
            assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b""), command
        assert run(rpcurl.command(("--help",)), out=writing).returncode == -signal.SIGPIPE
    finally:
        os.close(writing)


def test_a_named_pipe_whose_reader_closes_it(words, run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Process(["head", "-c", "1", pipe], stdout=subprocess.PIPE) as reader:
        try:
            done = run(words("-o", pipe))
            assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")
            assert len(reader.communicate(timeout=60)[0]) == 1
        finally:
            reader.kill()
    assert pipe.is_fifo()


@pytest.mark.parametrize("interceptor", ["log,file=/dev/full", "log,format=ndjson,file=/dev/full", "shadow,to={},file=/dev/full"])
def test_a_file_of_an_interceptor_that_cannot_be_written_is_reported_once(demo, grpc_server, interceptor):
    use = interceptor.format(grpc_server.url)
    result = demo("--use", use, "--each", "-d", '{"name":"a"}' * 3, f"{grpc_server.url}/demo.v1.Demo/Hello").exits(0)
    assert [line for line in result.err.splitlines() if "cannot write" in line] == [
        f"{interceptor.split(',')[0]}: cannot write /dev/full: No space left on device"
    ]


@pytest.mark.parametrize("method", ["Echo", "Count"])
@pytest.mark.parametrize("options", [["-o", "/dev/full"], []])
def test_a_full_disk(words, run, method, options):
    with open("/dev/full", "wb") as full:
        done = run(words(*options, data="{}" if method == "Echo" else ENDLESS, method=method), out=full)
    name = "/dev/full" if options else "standard output"
    assert (done.returncode, done.stderr.decode()) == (1, f"rpcurl: {name}: No space left on device\n")


def test_a_full_disk_of_other_commands(rpcurl, descriptor_set, run):
    with open("/dev/full", "wb") as full:
        for command in (["list"], ["describe"], ["template", f"{SERVICE}/Hello"], ["export"], ["convert", "--type", "demo.v1.HelloRequest", "--from", "json", "--to", "text"]):  # fmt: skip
            (rpcurl.home / "in").write_text('{"name":"A"}')
            last = ["in"] if command[0] == "convert" else []
            done = run(rpcurl.command((*command, "--descriptor-set", descriptor_set, *last)), out=full)
            assert (done.returncode, done.stderr) == (1, b"rpcurl: standard output: No space left on device\n"), command
        assert run(rpcurl.command(("version",)), out=full).returncode == 1
    done = run(rpcurl.command(("export", "--descriptor-set", descriptor_set, "-o", "/dev/full")))
    assert (done.returncode, done.stderr) == (1, b"rpcurl: /dev/full: No space left on device\n")


@pytest.mark.parametrize("command", ["call", "batch", "session", "run"])
@pytest.mark.parametrize("target", ["closed", "full"])
def test_reports_of_interceptors_are_written(rpcurl, grpc_server, run, command, target):
    script = write(rpcurl.home / "script", "call Count " + ENDLESS + "\n")
    metrics = rpcurl.home / "metrics"
    count = ["-d", ENDLESS, f"{grpc_server.url}/{SERVICE}/Count"]
    words = {
        "call": ["call", *count], "batch": ["call", "--each", "-d", '{"name":"A"}', f"{grpc_server.url}/{SERVICE}/Hello"],
        "session": ["session", grpc_server.url], "run": ["run", grpc_server.url, script],
    }[command]  # fmt: skip
    reading, writing = os.pipe()
    os.close(reading)
    with (
        open("/dev/full", "wb") as full, os.fdopen(writing, "wb") as closed, open(script) as lines,
        collector.running() as otlp,
    ):  # fmt: skip
        # A name, so that the wait for the collector is not over at once.
        trace = f"trace,endpoint=http://localhost:{otlp.server_address[1]},timeout=60s"
        words = rpcurl.command((words[0], "--use", f"metrics,file={metrics}", "--use", trace, *words[1:]))
        done = subprocess.run(
            words, stdin=lines, stdout=closed if target == "closed" else full, stderr=subprocess.PIPE,
            env=rpcurl.environment(None), timeout=60,
        )  # fmt: skip
    end = (-signal.SIGPIPE, b"") if target == "closed" else (1, b"rpcurl: standard output: No space left on device\n")
    assert (done.returncode, done.stderr) == end
    assert "METHOD" in metrics.read_text()
    assert otlp.spans


@pytest.mark.parametrize("verb", ["call", "open"])
def test_session_ends_with_its_output(rpcurl, grpc_server, verb):
    """It makes no further calls, and does not wait for further lines."""
    metrics = rpcurl.home / "metrics"
    words = rpcurl.command(("session", "--use", f"metrics,file={metrics}", grpc_server.url))
    endless = f"{verb} Count {ENDLESS}\n"
    with (
        open("/dev/full", "wb") as full,
        Process(
            words, stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE, env=rpcurl.environment(None), cwd=rpcurl.home
        ) as session,
    ):  # fmt: skip
        session.stdin.write(f"{endless}{endless}call Echo {{}}\ncall Hello {{\"name\":\n".encode())
        session.stdin.flush()
        assert session.wait() == 1
        assert session.stderr.read() == b"rpcurl: standard output: No space left on device\n"
    calls = [line.split()[:3] for line in metrics.read_text().splitlines()]
    # The output may fail before the second stream is opened.
    counts = ("1",) if verb == "call" else ("1", "2")
    assert any([f"{SERVICE}/Count", "canceled", count] in calls for count in counts)
    assert verb == "open" or f"{SERVICE}/Echo" not in metrics.read_text()


def test_session_whose_terminal_closes_while_it_prints(rpcurl, grpc_server):
    metrics = rpcurl.home / "metrics"
    words = rpcurl.command(("session", "--use", f"metrics,file={metrics}", grpc_server.url))
    process, terminal = pty.fork()
    if process == 0:
        os.execve(words[0], words, rpcurl.environment(None))
    os.write(terminal, f"call Count {ENDLESS}\r".encode())
    output = b""
    while b"number" not in output:
        assert select.select([terminal], [], [], PATIENCE_SECONDS)[0], output
        output = os.read(terminal, 1 << 16)
    os.close(terminal)
    end = os.pidfd_open(process)
    assert select.select([end], [], [], PATIENCE_SECONDS)[0]
    os.close(end)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 128 + signal.SIGTERM
    assert "METHOD" in metrics.read_text()


def test_a_file_size_limit_leaves_no_partial_response(words, run, tmp_path):
    """On a full disk, the existing file is kept."""
    file = write(tmp_path / "reply", "before")
    script = 'trap "" XFSZ; ulimit -f 1; exec "$@"'
    done = run(["bash", "-c", script, "bash", *words("-o", file, data='{"sizeBytes":300000}', method="Large")])
    assert (done.returncode, done.stderr.decode()) == (1, f"rpcurl: {file}: File too large\n")
    assert file.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["reply"]


def test_a_full_or_closed_standard_error_changes_nothing(words, rpcurl):
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full", "wb") as full:
        for errors in (full, writing):
            done = subprocess.run(
                words("-v", data='{"code":5}', method="Fail"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors, env=rpcurl.environment(None), timeout=60,
            )  # fmt: skip
            assert done.returncode == 69
    os.close(writing)
