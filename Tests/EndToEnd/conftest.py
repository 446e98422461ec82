"""Fixtures of the end-to-end tests: rpcurl itself, real servers, and what they need.

Paths and settings, by environment variable, with defaults below the repository's root:

    RPCURL          the binary under test       .build/release/rpcurl
    DEMO_VENV       Python with the servers     .build/servers/venv
    DEMO_GENERATED  output of generate.py       .build/servers/generated
    HTTP3_LIBCURL   a libcurl with HTTP/3       .build/http3-libcurl/libcurl.so.4 (make http3-libcurl)
    RPCURL_LIBCURL  the libcurl that rpcurl uses, in all tests; by default its own
    RPCURL_TESTS    `all`: also the cases that a selection represents by default (make test-all)

A server starts with the first test that needs it, and ends with the test run, however it ends.
"""

import contextlib
import importlib.util
import json
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

# Before grpc is imported: else the threads of its clients go on in each child that runs in a terminal.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ROOT / "Tests" / "Servers"
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl").absolute()
VENV = Path(os.environ.get("DEMO_VENV") or ROOT / ".build" / "servers" / "venv")
GENERATED = Path(os.environ.get("DEMO_GENERATED") or ROOT / ".build" / "servers" / "generated")

HTTP3_LIBCURL = Path(os.environ.get("HTTP3_LIBCURL") or ROOT / ".build" / "http3-libcurl" / "libcurl.so.4")

ALL_TESTS = os.environ.get("RPCURL_TESTS") == "all"

# The tests also call the servers with grpcio, to verify them.
sys.path.insert(0, str(GENERATED))

# Below nohup, or in the background of a shell, a process ignores these, and so would those that the tests send them to.
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# What rpcurl may see of the environment: nothing that changes what it does,
# but the settings of sanitizers and of the dynamic loader.
KEPT_VARIABLES = re.compile(
    r"PATH|LD_LIBRARY_PATH|RPCURL_LIBCURL|(A|L|T|UB)SAN_OPTIONS|LLVM_PROFILE_FILE|SWIFT_BACKTRACE"
)

# No test takes this long, even on a machine with much else to do: what takes longer hangs.
PATIENCE_SECONDS = 60

# Characters of each server's log that the report of a failed test has.
MAX_REPORTED_LOG = 10_000
# The documented exit codes of a failure; a signal that ends the process is not one.
FAILURES = {*range(1, 9), *range(65, 81)}


def pkg_config_of_sources() -> dict[str, str]:
    """The variables of the environment in which pkg-config finds the files for plugins in the source tree."""
    folder = ROOT / ".build" / "pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    places = {
        "includedir": "Sources/CPlugins/include", "swiftkit": "Plugins/SwiftKit", "rustkit": "Plugins/RustKit",
    }  # fmt: skip
    lines = [f"{name}={ROOT / place}" for name, place in places.items()]
    new = folder / f"rpcurl.pc.{os.getpid()}"
    new.write_text("\n".join([*lines, "Name: rpcurl", "Description: the source tree", "Version: 0", ""]))
    # Other tests may read it at the same time.
    new.rename(folder / "rpcurl.pc")
    return {"PKG_CONFIG_PATH": str(folder)}


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds of which nothing sends an event, such as the state of another process.

    Returns the condition's value.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} seconds: {what}"
        time.sleep(0.01)
    return value


# rpcurl


@dataclass(frozen=True)
class Result:
    """How a run of rpcurl ended."""

    code: int
    out_bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.out_bytes.decode()


class Process(subprocess.Popen):
    """A process that is killed when it does not end in time, so that a test fails and does not hang."""

    def wait(self, timeout: float | None = PATIENCE_SECONDS) -> int:
        try:
            return super().wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def communicate(self, input: bytes | None = None, timeout: float | None = PATIENCE_SECONDS) -> tuple[Any, Any]:
        return super().communicate(input, timeout)

    def activity(self) -> tuple | None:
        """How often each thread was scheduled so far; None while a thread is running or waits for a processor."""
        threads = []
        for status in Path(f"/proc/{self.pid}/task").glob("*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            except (FileNotFoundError, ProcessLookupError):  # The thread has just ended.
                return None
            if fields["State"][0] == "R":
                return None
            threads.append((status, fields["voluntary_ctxt_switches"], fields["nonvoluntary_ctxt_switches"]))
        return tuple(threads)

    def wait_until_idle(self) -> None:
        """Wait until the process has nothing to do: no thread of it ran for a tenth of a second, nor wanted to."""
        before = None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while before is None or before != self.activity():
            assert time.monotonic() < deadline, "the process is never idle"
            before = self.activity()
            # Nothing announces that a process does nothing.
            time.sleep(0.1)

    def processor_ticks(self) -> int:
        """The processor time of the process, in hundredths of a second."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def peak_kilobytes(self) -> int:
        """The most memory that it has had."""
        return self.memory("VmHWM")

    def resident_kilobytes(self) -> int:
        return self.memory("VmRSS")

    def memory(self, name: str) -> int:
        (value,) = re.findall(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{self.pid}/status").read_text(), re.M)
        return int(value)


@dataclass(frozen=True)
class Rpcurl:
    """Runs the binary in an environment of its own, without settings and without colour."""

    home: Path

    def __call__(
        self,
        *arguments: object,
        input: str | bytes | None = None,
        env: dict[str, str] | None = None,
        timeout: float = PATIENCE_SECONDS,
    ) -> Result:
        """Run to the end. Without `input`, standard input is at its end from the start."""
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            self.command(arguments),
            input=b"" if data is None else data,
            capture_output=True,
            env=self.environment(env),
            cwd=self.home,
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def start(self, *arguments: object, env: dict[str, str] | None = None) -> "Process":
        """Start, for a test that talks to it through unbuffered pipes. For a `with` statement."""
        return Process(
            self.command(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self.environment(env),
            cwd=self.home,
        )

    def command(self, arguments: tuple[object, ...]) -> list[str]:
        return [str(RPCURL), *(str(argument) for argument in arguments)]

    def environment(self, extra: dict[str, str] | None) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if KEPT_VARIABLES.fullmatch(k)}
        own = {"HOME": str(self.home), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        return kept | own | (extra or {})


@pytest.fixture
def rpcurl(tmp_path_factory: pytest.TempPathFactory) -> Rpcurl:
    if not os.access(RPCURL, os.X_OK):
        pytest.fail(f"{RPCURL} is missing: build it, or set RPCURL", pytrace=False)
    return Rpcurl(tmp_path_factory.mktemp("home"))


@pytest.fixture
def libcurl_version(rpcurl: Rpcurl) -> tuple[int, ...]:
    """The version of the libcurl that rpcurl uses. 7.88 loses responses that end early; 8.14 and later do not."""
    number = json.loads(rpcurl("version", "--format", "json").out)["libcurl"]["version"]
    return tuple(int(part) for part in number.split("-")[0].split("."))


@pytest.fixture
def keeps_early_responses(libcurl_version: tuple[int, ...]) -> None:
    if libcurl_version < (8, 14):
        pytest.skip("this libcurl loses responses that end before the request")


@pytest.fixture
def offers_only_http2(libcurl_version: tuple[int, ...]) -> None:
    """A server that prefers HTTP/1.1 cannot select it for gRPC; with an older libcurl the test is skipped."""
    if libcurl_version < (8, 14):
        pytest.skip("this libcurl always offers HTTP/1.1 in TLS")


@pytest.fixture
def has_mended_libcurl(rpcurl: Rpcurl, libcurl_version: tuple[int, ...]) -> bool:
    """Whether rpcurl uses its built-in libcurl with all of scripts/libcurl.patch."""
    source = json.loads(rpcurl("version", "--format", "json").out)["libcurl"]["source"]
    return source == "built-in" and libcurl_version >= (8, 21)


@pytest.fixture
def leads_connections(has_mended_libcurl: bool) -> None:
    if not has_mended_libcurl:
        pytest.skip("this libcurl begins streams before it knows how many the server accepts")


@dataclass(frozen=True)
class HTTP3Rpcurl(Rpcurl):
    """Runs the binary with a libcurl that has HTTP/3."""

    def environment(self, extra: dict[str, str] | None) -> dict[str, str]:
        return super().environment({"RPCURL_LIBCURL": str(HTTP3_LIBCURL)} | (extra or {}))


@pytest.fixture
def http3_rpcurl(rpcurl: Rpcurl, tmp_path_factory: pytest.TempPathFactory) -> Rpcurl:
    """rpcurl with its own libcurl if that has HTTP/3, or with HTTP3_LIBCURL."""
    if "3" in json.loads(rpcurl("version", "--format", "json").out)["libcurl"]["httpVersions"]:
        return rpcurl
    if not HTTP3_LIBCURL.exists():
        pytest.skip(f"{HTTP3_LIBCURL} is missing: make http3-libcurl")
    return HTTP3Rpcurl(tmp_path_factory.mktemp("home"))


@pytest.fixture
def current_rpcurl(rpcurl: Rpcurl, keeps_early_responses: None) -> Rpcurl:
    """rpcurl with a libcurl that reports each server's status; with an older one the test is skipped."""
    return rpcurl


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the reasons of skipped tests, also in a quiet run."""
    reasons = {report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        terminalreporter.write_line(f"not tested: {reason.removeprefix('Skipped: ')}")


# Servers


@dataclass(frozen=True)
class Server:
    """A running server process."""

    address: str
    process: subprocess.Popen
    log_file: Path
    # The authority of its certificate, if it serves TLS.
    ca: Path | None = None

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def url(self) -> str:
        """With the name that the certificate is for."""
        return f"https://localhost:{self.port}" if self.ca else f"http://{self.address}"

    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def canceled_calls(self, method: str | None = None) -> int:
        """How many calls (of "demo.v1.Demo/METHOD") the server saw cancelled so far."""
        logged = [line.split() for line in self.log().splitlines()]
        return sum(
            words[:1] == ["canceled"] and method in (None, words[1]) for words in logged
        )

    def wait_for_canceled_calls(self, method: str, count: int) -> None:
        wait_until(lambda: self.canceled_calls(method) >= count, f"{count} calls of {method} are cancelled")

    def wait_for_calls(self, method: str, count: int) -> None:
        """Wait until the server has received so many calls of "demo.v1.Demo/METHOD"."""
        line = f"received {method}"
        wait_until(lambda: self.log().splitlines().count(line) >= count, f"{count} calls of {method} arrive")


def first_line(process: subprocess.Popen, timeout: float) -> str:
    """The first line of a process's output, or the part of it that came in time."""
    assert process.stdout
    deadline = time.monotonic() + timeout
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0, deadline - time.monotonic())):
                break
            piece = os.read(process.stdout.fileno(), 4096)
            if not piece:
                break
            line += piece
    return line.decode()


def announced_address(process: subprocess.Popen) -> str | None:
    """The address on which a server of Tests/Servers listens; None if it does not start.

    Skips the test if the program of the server is not installed.
    """
    line = first_line(process, PATIENCE_SECONDS).strip()
    if line.endswith(" is not installed"):
        process.wait()
        pytest.skip(line)
    return line.removeprefix("listening ") if line.startswith("listening ") else None


# The running servers, and how much each had logged when the present test began.
logged: dict[Path, int] = {}


def pytest_runtest_setup() -> None:
    logged.update((file, file.stat().st_size) for file in logged if file.exists())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A test that failed is reported with what the servers logged during it."""
    report = yield
    if report.failed:
        for file, start in logged.items():
            if file.exists() and (text := file.read_bytes()[start:].decode(errors="replace")):
                report.sections.append((f"logged by {file.name}", text[-MAX_REPORTED_LOG:]))
    return report


@pytest.fixture(scope="session")
def start_server(
    tmp_path_factory: pytest.TempPathFactory, certificates: Path
) -> Iterator[Callable[..., Server]]:
    """`start_server(script, *options)`, for options that no fixture below has."""
    servers: list[Server] = []
    directory = tmp_path_factory.mktemp("servers")

    def start(script: str, *options: object) -> Server:
        log_file = directory / f"{len(servers)}-{script}.log"
        logged[log_file] = 0
        with log_file.open("wb") as log:
            process = subprocess.Popen(
                [
                    str(VENV / "bin" / "python"),
                    str(SERVERS / script),
                    "--exit-with-stdin",
                    *(str(option) for option in options),
                ],
                # Held open by this process only: it ends when the test run does.
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | {"DEMO_GENERATED": str(GENERATED)},
            )
        address = announced_address(process)
        if not address:
            process.kill()
            process.wait()
            pytest.fail(f"{script} did not start:\n{log_file.read_text()}", pytrace=False)
        ca = certificates / "ca.pem" if "--tls-dir" in options else None
        servers.append(Server(address, process, log_file, ca))
        return servers[-1]

    yield start
    for server in servers:
        server.process.terminate()
    for server in servers:
        try:
            server.process.wait(5)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()
        for pipe in (server.process.stdin, server.process.stdout):
            assert pipe
            pipe.close()


@pytest.fixture(scope="session")
def grpc_server(start_server: Callable[..., Server]) -> Server:
    return start_server("grpc_server.py")


@pytest.fixture(scope="session")
def grpc_tls_server(start_server: Callable[..., Server], certificates: Path) -> Server:
    return start_server("grpc_server.py", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def grpc_mtls_server(start_server: Callable[..., Server], certificates: Path) -> Server:
    """Refuses clients without the certificate client.pem."""
    return start_server(
        "grpc_server.py", "--tls-dir", certificates, "--require-client-certificate"
    )


@pytest.fixture(scope="session")
def connect_server(start_server: Callable[..., Server]) -> Server:
    return start_server("connect_server.py")


@pytest.fixture(scope="session")
def connect_tls_server(start_server: Callable[..., Server], certificates: Path) -> Server:
    return start_server("connect_server.py", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def connect_http3_server(start_server: Callable[..., Server], certificates: Path) -> Server:
    """Serves all three protocols over HTTP/3."""
    return start_server("connect_server.py", "--tls-dir", certificates, "--http3")


# Servers of other projects: etcd, nginx, gateways and proxies


@pytest.fixture(scope="session")
def start_foreign_server(
    start_server: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Server]:
    """`start_foreign_server(script, *options)`: a server that foreign_server.py runs, with a directory of its own."""

    def start(script: str, *options: object) -> Server:
        directory = tmp_path_factory.mktemp(Path(script).stem)
        return start_server(script, "--directory", directory, *options)

    return start


@pytest.fixture(scope="session")
def etcd_server(start_foreign_server: Callable[..., Server]) -> Server:
    return start_foreign_server("etcd_server.py")


@pytest.fixture(scope="session")
def etcd_mtls_server(start_foreign_server: Callable[..., Server], certificates: Path) -> Server:
    """Refuses clients without the certificate client.pem."""
    return start_foreign_server("etcd_server.py", "--tls-dir", certificates)


@pytest.fixture(scope="session")
def etcd_schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A descriptor set of etcd's services."""
    path = tmp_path_factory.mktemp("etcd_schema") / "etcd.binpb"
    path.write_bytes(etcd_descriptors().SerializeToString())
    return path


@pytest.fixture(scope="session")
def etcd_schema_with_missing_methods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It declares also etcdserverpb.Missing and Watch/MissingStream, which etcd does not have."""
    path = tmp_path_factory.mktemp("etcd_schema") / "missing.binpb"
    files = etcd_descriptors()
    server_module("etcd_schema").add_missing_methods(files)
    path.write_bytes(files.SerializeToString())
    return path


def etcd_descriptors() -> FileDescriptorSet:
    program = shutil.which("etcd")
    if not program:
        pytest.skip("etcd is not installed")
    return server_module("etcd_schema").descriptor_set(Path(program))


@dataclass
class RawServer:
    """Accepts connections and gives each to a handler, on a thread of its own.

    For servers that misbehave: the handler owns the socket and writes what it
    likes. The connection is closed when the handler returns. What it raises
    fails the test at its end, except that the client went away.
    """

    handler: Callable[[socket.socket], None]
    connections: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.open: set[socket.socket] = set()
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed by stop()
                return
            self.connections += 1
            self.open.add(connection)
            thread = threading.Thread(target=self.handle, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def handle(self, connection: socket.socket) -> None:
        try:
            with connection:
                self.handler(connection)
        except OSError:  # the client, or stop(), closed the connection
            pass
        except BaseException as error:
            self.errors.append(error)
        finally:
            self.open.discard(connection)

    def stop(self) -> None:
        # Only shutdown wakes a thread that waits in accept or recv. The one that accepts goes first: after it no
        # connection is opened any more.
        self.shut_down(self.listener)
        self.listener.close()
        self.threads[0].join(PATIENCE_SECONDS)
        for connection in list(self.open):
            self.shut_down(connection)
        for thread in self.threads[1:]:
            thread.join(PATIENCE_SECONDS)

    @staticmethod
    def shut_down(waiting: socket.socket) -> None:
        try:
            waiting.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes on until `source` ends, and end `sink` then."""
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(client: socket.socket, port: int, upstream_ended: Callable[[], object] = lambda: None) -> None:
    """Pass bytes between a connection of a `RawServer` and a local port, until both sides have ended.

    `upstream_ended` is called when the server at the port has closed its side.
    """
    with socket.create_connection(("127.0.0.1", port)) as upstream:
        forth = threading.Thread(target=pump, args=(client, upstream), daemon=True)
        forth.start()
        pump(upstream, client)
        upstream_ended()
        forth.join()


class QuietHandler(BaseHTTPRequestHandler):
    """Handles plain HTTP requests, and writes no log."""

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def http_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The URL of a server that handles requests on threads of its own, meanwhile."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture
def raw_server() -> Iterator[Callable[[Callable[[socket.socket], None]], RawServer]]:
    """`raw_server(handler)` starts a `RawServer` that ends with the test."""
    servers: list[RawServer] = []

    def start(handler: Callable[[socket.socket], None]) -> RawServer:
        servers.append(RawServer(handler))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
    for server in servers:
        for error in server.errors:
            raise error


# Files


def server_module(name: str) -> ModuleType:
    """A module of Tests/Servers."""
    specification = importlib.util.spec_from_file_location(name, SERVERS / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what certificates.py writes."""
    directory = tmp_path_factory.mktemp("certificates")
    server_module("certificates").write_certificates(directory)
    return directory


@pytest.fixture(scope="session")
def descriptor_set() -> Path:
    """demo.proto, google/rpc/error_details.proto and their imports."""
    path = GENERATED / "demo.binpb"
    if not path.is_file():
        pytest.fail(f"{path} is missing: run Tests/Servers/generate.py", pytrace=False)
    return path


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def call(request, rpcurl, descriptor_set):
    """Calls a server of each protocol: `call(method, *options)`; `call.protocol` and `call.port` are its own."""
    server = request.getfixturevalue("grpc_server" if request.param == "grpc" else "connect_server")

    def run(method, *options, **keywords):
        return rpcurl(
            "--descriptor-set", descriptor_set, "--protocol", request.param, *options, f"{server.url}/{method}",
            **keywords,
        )  # fmt: skip

    run.protocol = request.param
    run.port = server.port
    return run
