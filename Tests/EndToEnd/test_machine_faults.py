"""Faults of the machine: closed streams, limits of the process, jumps of the clock, stops, lost directories.

Of each: the program ends by itself with an exit code of the manual, and output is complete or the exit code is not 0.
"""

import json
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from harness import FAILURES, PATIENCE_SECONDS, RPCURL, Process, relay, wait_until

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"
RESPONSE = b'{"message":"Hello, Ada!","name":"Ada"}\n'


@pytest.fixture
def words(demo, grpc_server):
    """The command line of a call."""

    def words(method, data, *options, url=grpc_server.url):
        return demo.command((*options, "-d", data, f"{url}/{SERVICE}/{method}"))

    return words


@pytest.fixture
def hello(words):
    return words("Hello", '{"name":"Ada"}', "--max-time", "30")


@pytest.fixture
def run(rpcurl):
    def run(words, *, before=None, env=None, out=subprocess.PIPE, err=subprocess.PIPE):
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=rpcurl.environment(env), cwd=rpcurl.home,
            timeout=PATIENCE_SECONDS, preexec_fn=before,
        )  # fmt: skip

    return run


# Standard streams


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_closed_standard_streams(rpcurl, words, run, raw_server, grpc_server, closed):
    """No socket gets the number of a closed stream, so that no output is sent to the server."""
    sent = bytearray()

    def copy(client):
        class Copy:
            def recv(self, count):
                data = client.recv(count)
                sent.extend(data)
                return data

            def __getattr__(self, name):
                return getattr(client, name)

        relay(Copy(), grpc_server.port)

    proxy = raw_server(copy)
    command = words("Hello", '{"name":"Ada"}', "-v", url=f"http://127.0.0.1:{proxy.port}")
    closing = " ".join(f"{number}{'<' if number == 0 else '>'}&-" for number in closed)
    done = run(["bash", "-c", f'exec "$@" {closing}', "bash", *command])
    assert b"Hello, Ada!" not in sent and b"rpcurl: " not in sent
    if 1 in closed:
        assert done.returncode == 1
        assert 2 in closed or b"rpcurl: standard output: " in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, RESPONSE)


# Limits


# With fewer, the dynamic loader cannot load the C library.
@pytest.mark.parametrize("files", range(4, 16))
def test_limit_of_open_files(hello, run, files):
    done = run(hello, before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    assert_complete_or_without_descriptors(done, files)


@pytest.mark.parametrize("files", range(4, 16))
def test_limit_of_open_files_with_tls(rpcurl, run, grpc_tls_server, certificates, descriptor_set, files):
    words = ["--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}']
    command = rpcurl.command((*words, f"https://localhost:{grpc_tls_server.port}/{HELLO}"))
    done = run(command, before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    assert_complete_or_without_descriptors(done, files)


def assert_complete_or_without_descriptors(done, files):
    # The least cannot be enough, and the largest is.
    assert files > 4 or done.returncode != 0
    assert files < 15 or done.returncode == 0, done.stderr
    if done.returncode == 0:
        assert (done.stdout, done.stderr) == (RESPONSE, b"")
    else:
        assert done.returncode in (2, 3, 5, 6), done.stderr
        assert b"oo many open files" in done.stderr, done.stderr
        assert done.stdout == b""


def test_limit_of_open_files_in_a_batch(words, run, connect_server):
    """Over HTTP/1.1 each call of a batch that runs at the same time has a connection: some calls get none."""
    data = "\n".join(json.dumps({"name": f"{number}"}) for number in range(1, 101))
    done = run(
        words("Hello", data, "--protocol", "connect", "--http1.1", "--each", "--jobs", "64", url=connect_server.url),
        before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)),
    )
    names = [int(json.loads(line)["name"]) for line in done.stdout.splitlines()]
    failed = [int(number) for number in re.findall(rb"^rpcurl: call (\d+): .*Too many open files$", done.stderr, re.M)]
    assert names == sorted(names) and failed == sorted(failed)
    assert sorted(names + failed) == list(range(1, 101)), done.stderr
    assert names and failed and done.returncode == 5


@pytest.mark.parametrize("megabytes", [8, 16, 24, 32, 48, 64, 96, 128, 256])
def test_limit_of_memory(hello, run, megabytes):
    """The Swift runtime ends the process if it gets no memory: by a signal, and then the output is incomplete."""
    size = megabytes << 20
    done = run(hello, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
    if done.returncode == 0:
        assert (done.stdout, done.stderr) == (RESPONSE, b"")
    else:
        assert done.stdout == b""
    assert megabytes < 256 or done.returncode == 0, done.stderr


def test_limit_of_memory_is_no_success_of_a_large_response(words, run):
    """A response of 60 MB in 48 MB."""
    size = 48 << 20
    done = run(
        words("Large", '{"sizeBytes":60000000}', "--max-time", "30"),
        before=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )
    assert done.returncode != 0
    assert done.stdout == b""


@pytest.mark.parametrize("processes", [1, 2])
def test_limit_of_processes(rpcurl, grpc_server, descriptor_set, tmp_path, processes):
    """`rpcurl test` runs each suite in a process; a user that may start no more gets an error for each file."""
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as a user that has no other processes")
    shutil.copy(RPCURL, tmp_path / "rpcurl")
    shutil.copy(descriptor_set, tmp_path / "demo.binpb")
    for name in ("a", "b"):
        (tmp_path / f"{name}.rpcurl").write_text(f'target {grpc_server.url}\ntest {name}\ncall Hello {{"name":"Ada"}}\n')
    # pytest's directories are only for their owner.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    for file in tmp_path.iterdir():
        file.chmod(0o755)

    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        os.setgroups([])
        # A user of its own: other cases run at the same time.
        os.setgid(54_321 + processes)
        os.setuid(54_321 + processes)

    done = subprocess.run(
        [tmp_path / "rpcurl", "test", "--descriptor-set", "demo.binpb", "a.rpcurl", "b.rpcurl"], cwd=tmp_path,
        stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit, timeout=PATIENCE_SECONDS,
        env=rpcurl.environment({"HOME": "/nonexistent"}),
    )  # fmt: skip
    report = done.stdout.decode() + done.stderr.decode()
    refused = re.findall(r"\b([ab])\.rpcurl: cannot start a process: Resource temporarily unavailable", report)
    if processes == 1:
        # The process of `rpcurl test` is the one.
        assert sorted(refused) == ["a", "b"], report
    if not refused:
        assert done.returncode == 0 and "2 passed" in report, report
        return
    assert done.returncode in FAILURES, report
    # A suite that was started is reported too.
    assert len(refused) == 2 or "1 passed" in report, report


# Directories and files that change while the program runs


class Lines:
    """A session in a pipe."""

    def __init__(self, process):
        self.process = process

    def __call__(self, line, answer):
        self.process.stdin.write(f"{line}\n".encode())
        assert self.process.stdout.readline() == answer

    def end(self):
        self.process.stdin.close()
        assert self.process.stderr.read() == b""
        assert self.process.wait() == 0


def cached_schemas(home):
    """What the reflection cache below a home directory contains."""
    return [file for file in (home / ".cache" / "rpcurl").rglob("*") if file.is_file() and file.stat().st_size > 0]


def test_home_and_working_directory_are_removed_during_a_session(rpcurl, grpc_server, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    command = rpcurl.command(("session", grpc_server.url))
    with Process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=home,
        env=rpcurl.environment({"HOME": str(home)}),
    ) as process:  # fmt: skip
        run = Lines(process)
        run('call Hello {"name":"Ada"}', RESPONSE)
        wait_until(lambda: cached_schemas(home), "the schema is cached")
        shutil.rmtree(home)
        run("reflect", b"4 services\n")
        run('call Hello {"name":"Ada"}', RESPONSE)
        run.end()
    assert cached_schemas(home)


def test_source_that_is_read_again_does_not_grow_a_session(rpcurl, grpc_server, descriptor_set):
    """`options --descriptor-set FILE` reads a changed set again; the former content is freed."""
    with rpcurl.start("session", grpc_server.url) as process:
        run = Lines(process)
        sizes = []
        for _ in range(2):
            for _ in range(60):
                process.stdin.write(f"options --descriptor-set {descriptor_set}\n".encode())
                run('call Hello {"name":"Ada"}', RESPONSE)
            sizes.append(process.resident_kilobytes())
        run.end()
    # A set takes 72 kB.
    assert sizes[1] - sizes[0] < 1024, sizes


def test_descriptor_set_is_truncated_during_a_session(rpcurl, grpc_server, descriptor_set, tmp_path):
    """As protoc does when it writes a new one. Types that were not used yet are still found."""
    file = tmp_path / "demo.binpb"
    shutil.copy(descriptor_set, file)
    with rpcurl.start("session", "--descriptor-set", file, grpc_server.url) as process:
        run = Lines(process)
        run('call Hello {"name":"Ada"}', RESPONSE)
        file.write_bytes(b"")
        run('call Count {"from":1,"to":1}', b'{"number":1}\n')
        run('call Echo {"nested":{"label":"a"}}', b'{"nested":{"label":"a"}}\n')
        run.end()


# Stops and the clock


def test_stop_beyond_the_deadline(demo, grpc_server):
    """The deadline passes while the process is stopped: it ends at once when it continues."""
    url = f"{grpc_server.url}/{SERVICE}/Count"
    data = '{"from":1,"to":2000000000,"intervalMs":1}'
    before = grpc_server.canceled_calls(f"{SERVICE}/Count")
    with demo.start("--max-time", "300ms", "-d", data, url) as process:
        assert process.stdout.readline() == b'{"number":1}\n'
        process.send_signal(signal.SIGSTOP)
        # The server sees the same deadline.
        grpc_server.wait_for_canceled_calls(f"{SERVICE}/Count", before + 1)
        process.send_signal(signal.SIGCONT)
        rest = process.stdout.read()
        assert process.wait() == 68
        numbers = [json.loads(line)["number"] for line in rest.splitlines()]
        assert numbers == list(range(2, 2 + len(numbers)))


def test_stops_lose_nothing_of_a_stream(demo, grpc_server):
    url = f"{grpc_server.url}/{SERVICE}/Count"
    with demo.start("-d", '{"from":1,"to":3000}', url) as process:
        lines = [process.stdout.readline()]
        for _ in range(20):
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            process.send_signal(signal.SIGCONT)
            lines.append(process.stdout.readline())
        lines += process.stdout.read().splitlines(keepends=True)
        assert process.wait() == 0
    assert [json.loads(line)["number"] for line in lines] == list(range(1, 3001))


FAKE_TIME = Path(f"/usr/lib/{platform.machine()}-linux-gnu/faketime/libfaketime.so.1")


class Clock:
    """The wall clock of a program, which jumps; the monotonic clock does not."""

    def __init__(self, setting):
        self.setting = setting
        self.jump("+0d")
        self.env = {
            "LD_PRELOAD": str(FAKE_TIME), "FAKETIME_TIMESTAMP_FILE": str(setting), "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip

    def jump(self, by):
        # The program may read the file at any time.
        new = self.setting.with_suffix(".new")
        new.write_text(by)
        new.rename(self.setting)


@pytest.fixture
def clock(tmp_path):
    if not FAKE_TIME.exists():
        pytest.skip(f"{FAKE_TIME} is missing: apt-get install libfaketime")
    return Clock(tmp_path / "time")


@pytest.mark.parametrize("jump", ["+400d", "-400d"])
def test_jump_of_the_clock_during_a_stream(rpcurl, grpc_server, descriptor_set, clock, jump):
    """Deadlines and waits are measured by the monotonic clock, which does not jump."""
    arguments = ("--descriptor-set", descriptor_set, "--max-time", "30", "-v", f"{grpc_server.url}/{SERVICE}/Chat")
    with rpcurl.start(*arguments, env=clock.env) as process:
        process.stdin.write(b'{"text":"a"}\n')
        assert process.stdout.readline() == b'{"text":"you said: a"}\n'
        clock.jump(jump)
        process.stdin.write(b'{"text":"b"}\n')
        assert process.stdout.readline() == b'{"text":"you said: b"}\n'
        process.stdin.close()
        errors = process.stderr.read()
        assert process.wait() == 0, errors


def test_monotonic_clock_of_a_machine_that_runs_for_decades(rpcurl, hello):
    """2^31 seconds after the start of the machine."""
    if subprocess.run(["unshare", "-T", "--monotonic", "1", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user cannot make a time namespace")
    done = subprocess.run(
        ["unshare", "-T", "--monotonic", f"{1 << 31}", "--boottime", f"{1 << 31}", "--fork", *hello],
        stdin=subprocess.DEVNULL, capture_output=True, env=rpcurl.environment(None), timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, RESPONSE, b"")
