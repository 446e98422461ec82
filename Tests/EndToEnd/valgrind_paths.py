"""The main paths of the release program under valgrind: no error, and no memory that nothing points to at exit.

`make valgrind` runs them. They are no part of the other end-to-end tests, since each call takes some seconds. valgrind reads
a copy of the stripped program, without the debug information beside it, which version 3.19 cannot read. Memory that is still reachable at exit is not reported: the system releases it.
"""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harness import ROOT, RPCURL, Caller, Result, Rpcurl

STRIPPED = Path(f"{RPCURL}.stripped")
PLUGIN = ROOT / ".build" / "plugins" / "stamp.so"
UNINITIALIZED = "uninitialised value"
FRAME = re.compile(r" (?:at|by) (0x[0-9A-F]+): \?\?\? \(in (\S+)\)")


@dataclass(frozen=True)
class Checked(Rpcurl):
    """Runs the program under valgrind."""

    program: Path

    def __call__(self, *arguments: object, **more: Any) -> Result:
        # A call takes seconds, and more on a busy machine.
        return super().__call__(*arguments, timeout=600, **more)

    def command(self, arguments: tuple[object, ...]) -> list[str]:
        valgrind = [
            "valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=30", "--quiet",
            f"--log-file={self.home}/valgrind-%p.log",
        ]  # fmt: skip
        return [*valgrind, str(self.program), *(str(argument) for argument in arguments)]

    def reports(self) -> list[str]:
        """What valgrind reported, also of processes that another process started, with the names of functions."""
        texts = [re.sub(r"^==\d+== ?", "", file.read_text(), flags=re.M) for file in self.home.glob("valgrind-*.log")]
        found = [self.symbolized(report) for text in texts for report in text.split("\n\n") if report.strip()]
        return [report for report in found if not is_about_an_enum(report) and not is_alive_at_exit(report)]

    def symbolized(self, report: str) -> str:
        addresses = [address for address, file in FRAME.findall(report) if file == str(self.program)]
        command = ["addr2line", "-f", "-s", "-e", str(RPCURL), *addresses]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines() if addresses else []
        names = dict(zip(addresses, zip(lines[::2], lines[1::2], strict=True), strict=False))
        return FRAME.sub(lambda frame: f" {' '.join(names.get(frame[1], (frame[0], '')))}", report)


def is_about_an_enum(report: str) -> bool:
    """Whether optimized code of Swift has read an uninitialized value.

    The compiler tests the payload of an enum together with its case, also where the case has no payload, and the result does
    not depend on it. Safe code of Swift cannot read a variable before it is initialized, so only reports in C are errors.
    """
    first, _, rest = report.partition("\n")
    return UNINITIALIZED in first and rest.lstrip().startswith("$s")


def is_alive_at_exit(report: str) -> bool:
    """Whether a lost block is not one that valgrind can find.

    The program exits within the command, and the compiler drops a reference to an object of the program's start that is not used
    after it. An object with weak references has the address of its table shifted by bits; one that is lost itself is reported too.
    """
    is_of_start = " swift_allocObject " in report and "RPCURLO3run" not in report
    return "are definitely lost" in report and (is_of_start or "formWeakReference" in report)


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    return shutil.copy(STRIPPED, tmp_path_factory.mktemp("program") / "rpcurl")


@pytest.fixture
def checked(tmp_path_factory, copy):
    """rpcurl under valgrind. At the end of the test there must be no report."""
    program = Checked(tmp_path_factory.mktemp("home"), copy)
    yield program
    assert list(program.home.glob("valgrind-*.log")), "nothing was run"
    assert program.reports() == []


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def call(request, checked, descriptor_set):
    server = request.getfixturevalue("grpc_server" if request.param == "grpc" else "connect_server")
    return Caller(checked, server, "--descriptor-set", descriptor_set, protocol=request.param)


def test_unary(call):
    assert call("Hello", "-d", '{"name":"Ada"}').exits(0).json()["name"] == "Ada"


@pytest.mark.parametrize("compression", ["gzip", "zstd", "br", "snappy", "deflate"])
def test_compression(checked, connect_server, descriptor_set, compression):
    options = ["--protocol", "connect", "--accept-compression", compression, "--descriptor-set", descriptor_set]
    if compression != "deflate":
        options += ["--compression", compression]
    request = json.dumps({"name": "x" * 2000})
    checked(*options, "-d", request, f"{connect_server.url}/demo.v1.Demo/Hello").exits(0)


def test_streams(call):
    assert len(call("Count", "-d", '{"from":1,"to":200}').exits(0).out.splitlines()) == 200
    assert call("Sum", "-d", "@-", input='{"value":2}' * 100).exits(0).json()["total"] == "200"


def test_bidirectional_stream(checked, grpc_server, descriptor_set):
    out = checked("--descriptor-set", descriptor_set, f"{grpc_server.url}/demo.v1.Demo/Chat", input='{"text":"a"}' * 20).exits(0).out
    assert len(out.splitlines()) == 20


def test_error_with_details(call):
    call("Find", "-d", '{"id":"9"}').exits(64 + 5)


def test_deadline(checked, grpc_server, descriptor_set):
    checked("--descriptor-set", descriptor_set, "--max-time", "1ms", f"{grpc_server.url}/demo.v1.Demo/Chat").exits(64 + 4)


def test_refused_connection(checked, descriptor_set):
    checked("--descriptor-set", descriptor_set, "-d", "{}", "http://127.0.0.1:1/demo.v1.Demo/Hello").exits(5)


def test_tls(checked, grpc_tls_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--cacert", grpc_tls_server.ca, "-d", '{"name":"Ada"}']
    checked(*options, f"{grpc_tls_server.url}/demo.v1.Demo/Hello").exits(0)


def test_batch(call):
    out = call("Hello", "--each", "--jobs", "8", input='{"name":"Ada"}' * 50).exits(0).out
    assert len(out.splitlines()) == 50


def test_reflection(checked, grpc_server):
    assert "demo.v1.Demo" in checked("list", "--no-cache", grpc_server.url).exits(0).out.split()
    assert "rpc Hello" in checked("describe", "--no-cache", grpc_server.url, "demo.v1.Demo").exits(0).out
    # Once to write the cache, and once to read it.
    for _ in range(2):
        checked("-d", '{"name":"Ada"}', f"{grpc_server.url}/demo.v1.Demo/Hello").exits(0)


def test_session(checked, grpc_server, descriptor_set):
    lines = 'call Hello {"name":"Ada"}\nopen Chat\n{"text":"a"}\nclose\nwait\nexpect status ok\nchain use retry\ncall Count {"from":1,"to":3}\n'
    checked("session", "--descriptor-set", descriptor_set, grpc_server.url, input=lines).exits(0)


def test_session_of_streams_at_the_same_time(checked, grpc_server, descriptor_set):
    """Streams in both directions, one of which is canceled, variables, and sources that are read again."""
    lines = [
        "open Chat", '{"text":"a"}', "receive", "open Chat", '{"text":"b"}', "receive", "cancel", "switch Chat[1]", "wait",
        'set name = "Ada"', 'call Hello {"name":$name}', "print $last.message", "reflect", "list", "use retry", "remove retry",
        f"options --descriptor-set {descriptor_set}", 'call Hello {"name":"Eve"}',
    ]  # fmt: skip
    result = checked("session", "--descriptor-set", descriptor_set, grpc_server.url, input="\n".join(lines) + "\n")
    out = result.exits(0).out
    for text in ("you said: a", "you said: b", '{"message":"Hello, Ada!"', '\n"Hello, Ada!"\n', '{"message":"Hello, Eve!"'):
        assert text in out, out + result.err


@pytest.mark.parametrize("loop", [("--jobs", "4"), ("--rate", "20")], ids=["closed", "open"])
def test_load(checked, grpc_server, descriptor_set, loop):
    words = ["--plaintext", "--descriptor-set", descriptor_set, "--format", "json", "-d", '{"name":"Ada"}']
    result = checked("load", *words, "--requests", "40", *loop, grpc_server.address, "demo.v1.Demo/Hello")
    report = result.exits(0).json()
    assert (report["calls"], report["errors"]) == (40, 0)


def test_suite(checked, grpc_server, descriptor_set, tmp_path):
    """One suite, which the process itself runs: valgrind 3.19 cannot start the processes of several."""
    lines = [
        f"target {grpc_server.url}", "test greets", 'call Hello {"name":"Ada"}', 'expect .message == "Hello, Ada!"',
        "test counts", 'call Count {"from":1,"to":3}', "expect count == 3",
        "test fails", 'call Hello {"name":"Ada"}', 'expect .message == "Hello, Eve!"',
        "test is refused", 'call Find {"id":"9"}', "expect status not_found",
    ]  # fmt: skip
    (tmp_path / "demo.rpcurl").write_text("\n".join(lines) + "\n")
    reports = [f"--report=junit={tmp_path}/report.xml", "--report", "tap"]
    result = checked("test", "--descriptor-set", descriptor_set, *reports, tmp_path / "demo.rpcurl")
    assert (result.code, result.out.count("\nok "), result.out.count("\nnot ok ")) == (8, 3, 1), result.out + result.err
    assert "Hello, Eve!" in (tmp_path / "report.xml").read_text()


def test_convert(checked, descriptor_set):
    convert = ["convert", "--descriptor-set", descriptor_set, "--type", "demo.v1.HelloRequest"]
    binary = checked(*convert, "--from", "json", "--to", "binary", input='{"name":"Ada"}')
    assert (binary.code, binary.out_bytes) == (0, b"\n\x03Ada"), binary.err
    assert 'name: "Ada"' in checked(*convert, "--from", "binary", "--to", "text", input=binary.out_bytes).exits(0).out


def test_plugin_in_c(call):
    call("Hello", "--plugin", PLUGIN, "-d", '{"name":"Ada"}').exits(0)


def test_interceptors(checked, grpc_server, descriptor_set, tmp_path):
    cassette, url = tmp_path / "calls.rec", f"{grpc_server.url}/demo.v1.Demo/Find"
    schema = ["--descriptor-set", descriptor_set, "-d", '{"id":"2"}']
    first = checked(*schema, "--use", "log", "--use", "metrics", "--use", f"record,file={cassette}", url).exits(0).out
    assert checked(*schema, "--use", "assert,check=status ok", "--use", f"replay,file={cassette}", url).exits(0).out == first
    retried = ["--use", "retry,attempts=4,seed=3", "--use", "fault,abort=unavailable,abort-percent=50,seed=10"]
    checked(*schema, *retried, "--use", "cache", "--use", "hedge", url).exits(0)


def test_help_and_errors(checked):
    checked("--help").exits(0)
    assert checked("--no-such-option").code == 2
