"""Fixtures of the end-to-end tests: rpcurl itself, real servers, and what they need.

harness/settings.py lists the environment variables that change them. A server starts with the first test that needs it, and
ends with the test run, however it ends.
"""

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import harness
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from harness import (
    GENERATED, HTTP3_LIBCURL, RPCURL, SERVERS, VENV, Caller, Prompt, Proxy, RawServer, Rpcurl, Server, announced_address,
    build_plugin, server_module,
)  # fmt: skip
from terminal import Terminal

# Characters of each server's log that the report of a failed test has.
MAX_REPORTED_LOG = 10_000

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


@pytest.fixture
def http3_rpcurl(rpcurl: Rpcurl, tmp_path_factory: pytest.TempPathFactory) -> Rpcurl:
    """rpcurl with a libcurl that has HTTP/3."""
    return harness.http3_rpcurl(tmp_path_factory.mktemp("home")) or pytest.skip(f"{HTTP3_LIBCURL} is missing: make http3-libcurl")


@pytest.fixture
def current_rpcurl(rpcurl: Rpcurl, keeps_early_responses: None) -> Rpcurl:
    """rpcurl with a libcurl that reports each server's status; with an older one the test is skipped."""
    return rpcurl


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the reasons of skipped tests, also in a quiet run."""
    reasons = {report.longrepr[2] for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(reasons):
        terminalreporter.write_line(f"not tested: {reason.removeprefix('Skipped: ')}")


@pytest.fixture
def prompt(rpcurl: Rpcurl) -> Iterator[Callable[..., Prompt]]:
    """`prompt(*arguments)` starts a session that ends with the test."""
    with contextlib.ExitStack() as stack:

        def start(*arguments: object, env: dict[str, str] | None = None) -> Prompt:
            process = stack.enter_context(rpcurl.start("session", *arguments, env=env))
            stack.callback(process.kill)
            return Prompt(process)

        yield start


@pytest.fixture
def terminal(rpcurl: Rpcurl, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """`terminal(arguments…, TERM=…)` runs a program in a terminal, rpcurl unless `program` is another."""
    terminals: list[Terminal] = []

    def start(
        *arguments: object, program: str = str(RPCURL), columns: int = 80, rows: int = 24,
        cwd: Path | None = None, **env: str
    ) -> Terminal:  # fmt: skip
        settings = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)} | env
        command = [program, *(str(argument) for argument in arguments)]
        terminals.append(Terminal(command, rpcurl.environment(settings), columns, rows, cwd and str(cwd)))
        return terminals[-1]

    yield start
    for started in terminals:
        started.close()


# Plugins


@pytest.fixture(scope="session")
def built_plugin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`built_plugin(name)`: a plugin of the host's unit tests, which is built once."""
    directory = tmp_path_factory.mktemp("plugins")

    @functools.cache
    def build(name: str) -> Path:
        return build_plugin(f"{name}.c", directory / f"{name}.so")

    return build


@pytest.fixture(scope="session")
def crash(built_plugin: Callable[[str], Path]) -> Path:
    return built_plugin("crash")


# Servers


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


# rpcurl proxy and rpcurl serve


@pytest.fixture(scope="session")
def shared_proxy(tmp_path_factory: pytest.TempPathFactory, certificates: Path) -> Iterator[Callable[..., Proxy]]:
    """`shared_proxy(arguments…)`: one process with these arguments in a test run; with `tls`, clients use TLS."""
    running: dict[tuple[str, ...], Proxy] = {}

    def start(*arguments: object, tls: bool = False) -> Proxy:
        listening = ("--listen-cert", certificates / "server.pem", "--listen-key", certificates / "server-key.pem") if tls else ()
        key = tuple(map(str, (*arguments, *listening)))
        if key not in running:
            directory = tmp_path_factory.mktemp("proxy")
            running[key] = Proxy(Rpcurl(directory), directory, *key)
            running[key].ca = certificates / "ca.pem" if tls else None
        return running[key]

    yield start
    assert [proxy.stop() for proxy in running.values()] == [0] * len(running)


@pytest.fixture
def start_proxy(rpcurl: Rpcurl, tmp_path: Path) -> Iterator[Callable[..., Proxy]]:
    """`start_proxy(arguments…)`: a process of this test."""
    running: list[Proxy] = []

    def start(*arguments: object) -> Proxy:
        directory = tmp_path / f"proxy{len(running)}"
        directory.mkdir()
        running.append(Proxy(rpcurl, directory, *arguments))
        return running[-1]

    yield start
    for proxy in running:
        if proxy.process.poll() is None:
            proxy.process.kill()
            proxy.process.wait()


# Files


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


@dataclass(frozen=True)
class DemoRpcurl(Rpcurl):
    """Runs the binary with the demo's schema in front of the arguments."""

    def command(self, arguments: tuple[object, ...]) -> list[str]:
        return super().command(("--descriptor-set", GENERATED / "demo.binpb", *arguments))


@pytest.fixture
def demo(rpcurl: Rpcurl, descriptor_set: Path) -> Rpcurl:
    """rpcurl with the demo's schema, for calls."""
    return DemoRpcurl(rpcurl.home)


@pytest.fixture
def grpc_call(demo: Rpcurl, grpc_server: Server) -> Caller:
    """Calls the gRPC server."""
    return Caller(demo, grpc_server)


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def call(request: pytest.FixtureRequest, demo: Rpcurl) -> Caller:
    """Calls a server of each protocol, which is `call.protocol`."""
    server = request.getfixturevalue("grpc_server" if request.param == "grpc" else "connect_server")
    return Caller(demo, server, protocol=request.param)
