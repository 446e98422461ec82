"""Disks that are full: the files of a call, reports and exports, and what a home directory keeps."""

import re
import subprocess
from dataclasses import dataclass

import pytest
from harness import PATIENCE_SECONDS, write
from terminal import Terminal

HELLO = "demo.v1.Demo/Hello"
LARGE = "demo.v1.Demo/Large"
RESPONSE = b'{"message":"Hello, Ada!","name":"Ada"}\n'
FULL = "No space left on device"
CTRL_D = "\x04"
HISTORY = ".local/state/rpcurl/history"


@dataclass(frozen=True)
class Written:
    """How a command ended, and what is then on its disk."""

    code: int
    out: bytes
    err: str
    # The names of all files, below the directory of the disk, except the filler.
    files: list[str]
    # The content of the file that was there before.
    old: bytes


@dataclass(frozen=True)
class Disk:
    """A file system of 64 KiB, with the files `kept` and `old`."""

    path: str

    def command(self, words, full=True):
        """The words that run a command in the directory of the disk, and then print its files and the content of `old`."""
        script = (
            'mount -t tmpfs -o size=64k none "$1" && cd "$1" && printf before > kept && cp kept old && '
            f'mkdir -p {HISTORY.rpartition("/")[0]} && echo help > {HISTORY} && '
            + ("{ cat /dev/zero > filler 2> /dev/null; true; } && " if full else "")
            + '{ shift; "$@"; code=$?; rm -f filler; '
            + 'printf "\\0"; find . -type f -printf "%P\\n"; printf "\\0"; cat old; exit $code; }'
        )
        return ["unshare", "-m", "bash", "-c", script, "bash", self.path, *map(str, words)]

    def __call__(self, words, env, full=True):
        done = subprocess.run(
            self.command(words, full), stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=PATIENCE_SECONDS
        )
        out, files, old = done.stdout.split(b"\0")
        return Written(done.returncode, out, done.stderr.decode(), sorted(files.decode().splitlines()), old)


@pytest.fixture
def disk(tmp_path):
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user cannot mount a file system")
    (tmp_path / "disk").mkdir()
    return Disk(str(tmp_path / "disk"))


# The files of a call, and the exit code: 1 if the output is lost, 7 if an interceptor cannot make its file, that of the call if
# it cannot be recorded, and 0 if only a report is lost, which is an error on standard error.
WRITTEN = {
    "output": (["-o", "old"], 1),
    "log": (["--use", "log,file=calls,bodies=true"], 0),
    "har": (["--use", "log,format=har,file=log,bodies=true"], 7),
    "trace": (["--use", "trace,file=spans"], 0),
    "cassette": (["--use", "record,file=cassette"], 64 + 13),
    "metrics": (["--use", "metrics,file=metrics"], 0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_full_disk(disk, rpcurl, grpc_server, descriptor_set, name):
    """Each file that a call writes: an error that names it, and what was there before stays."""
    options, code = WRITTEN[name]
    call = ("--descriptor-set", descriptor_set, *options, "-d", '{"sizeBytes":20000}', f"{grpc_server.url}/{LARGE}")
    done = disk(rpcurl.command(call), rpcurl.environment(None))
    assert done.old == b"before"
    file = options[-1].split("file=")[-1].split(",")[0]
    assert re.search(rf"\b{file}: .*{FULL}", done.err), done.err
    assert done.code == code, done.err
    assert done.out.startswith(b'{"payload":') == (code == 0)


def test_full_disk_of_a_transcript(disk, rpcurl, grpc_server, descriptor_set):
    """One error, and the session continues."""
    script = write(rpcurl.home / "script", 'record log\ncall Hello {"name":"Ada"}\ncall Hello {"name":"Ada"}\n')
    done = disk(rpcurl.command(("run", "--descriptor-set", descriptor_set, grpc_server.url, script)), rpcurl.environment(None))
    assert done.out == RESPONSE * 2, done
    assert re.fullmatch(rf".*\blog: {FULL}\n", done.err), done.err


def test_disk_that_fills_during_a_batch_with_a_har_log(disk, rpcurl, grpc_server, descriptor_set):
    """One error, and exit code 7: calls whose entries are lost are not reported as logged."""
    data = write(rpcurl.home / "data", '{"name":"Ada"}' * 200)
    call = ("--descriptor-set", descriptor_set, "--each", "--use", "log,format=har,file=log", "-d", f"@{data}", f"{grpc_server.url}/{HELLO}")
    done = disk(rpcurl.command(call), rpcurl.environment(None), full=False)
    assert done.out == RESPONSE * 200
    assert re.fullmatch(rf"log: cannot write log: {FULL}\n", done.err), done.err
    assert done.code == 7
    assert "log" in done.files


def test_full_disk_of_commands(disk, rpcurl, grpc_server, descriptor_set):
    """Reports of suites and of a load, and an exported schema."""
    address = grpc_server.url
    suite = write(rpcurl.home / "suite.rpcurl", f'target {address}\ntest t\ncall Hello {{"name":"Ada"}}\n')
    call = ["--descriptor-set", descriptor_set]
    load = ["load", *call, "--requests", "10", "-d", '{"name":"Ada"}', address, HELLO]
    commands = [
        ["test", *call, "--report", "junit=a.xml", suite],
        ["test", *call, "--report", "html=a.html", suite],
        ["test", *call, "--coverage", "json=a.json", suite],
        [*load, "--html", "a.html"],
        [*load, "--hdr", "a.hlog"],
        ["export", *call, "-o", "old"],
    ]
    for command in commands:
        done = disk(rpcurl.command(tuple(command)), rpcurl.environment(None))
        assert FULL in done.err and done.code == 1, (command, done)
        assert done.old == b"before"
        # Nothing partial remains.
        assert done.files == [HISTORY, "kept", "old"], (command, done)


# The cache of schemas and the history are conveniences: without them nothing else changes.


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
def test_full_home_directory(disk, rpcurl, grpc_server, full):
    call = ["-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}"]
    home = rpcurl.environment({"HOME": disk.path})
    done = disk(rpcurl.command(tuple(call)), home, full)
    assert (done.code, done.out, done.err) == (0, RESPONSE, "")
    cached = [file for file in done.files if file.startswith(".cache/rpcurl/")]
    assert bool(cached) == (not full), done.files
    done = disk(rpcurl.command(("-v", *call)), home, full)
    assert (done.code, done.out) == (0, RESPONSE)
    problems = re.findall(r"^\* schema: not stored in the cache: (.*)$", done.err, re.M)
    assert len(problems) == full and all(FULL in problem for problem in problems), done.err


@pytest.mark.parametrize("full", [True, False], ids=["full", "empty"])
def test_full_home_directory_of_a_session(disk, rpcurl, grpc_server, full):
    """On a terminal: the history file keeps its lines, and the session continues."""
    session = rpcurl.command(("session", grpc_server.url))
    command = disk.command(["bash", "-c", f'"$@" && echo history: && cat {HISTORY}', "bash", *session], full)
    terminal = Terminal(command, rpcurl.environment({"TERM": "xterm-256color", "HOME": disk.path}))
    lines = [f'call Hello {{"name":"{name}"}}' for name in ("Ada", "Bob")]
    try:
        terminal.shows("rpcurl>")
        for name, line in zip(("Ada", "Bob"), lines):
            terminal.send(f"{line}\r")
            terminal.wait(lambda: f'"Hello, {name}!"' in terminal.text and terminal.last == "rpcurl>", name)
        terminal.send(CTRL_D)
        assert terminal.end() == (0, None)
    finally:
        terminal.close()
    assert ("the last lines are not in the history" in terminal.output.decode()) == full
    history = terminal.output.split(b"\0")[0].decode().partition("history:\r\n")[2]
    assert history.splitlines() == (["help"] if full else ["help", *lines])
