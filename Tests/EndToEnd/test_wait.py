"""--wait: a command waits for a server that does not accept connections yet."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import Process, RawServer, Rpcurl, closed_port, pump, write

HELLO = ["-d", '{"name":"Ada"}']
METHOD = "demo.v1.Demo/Hello"
# A wait that only its reason to end can end in a test.
LONG = ["-v", "--wait", "1000s"]


@contextmanager
def waiting(rpcurl: Rpcurl, *arguments: object, text: str = "Connection refused") -> Iterator[Process]:
    """A command that is waiting, as it has reported."""
    with rpcurl.start(*arguments) as process:
        while not (line := process.stderr.readline()).startswith(b"* waiting for "):
            assert line, "the command does not wait"
        assert text in line.decode(), line
        yield process


def suite(directory: Path, port: int) -> Path:
    """A suite whose setup names the server."""
    text = f'target http://127.0.0.1:{port}\ntest hello\ncall {METHOD} {{"name":"Ada"}}\nexpect .message == "Hello, Ada!"\n'
    return write(directory / "hello.rpcurl", text)


def commands(directory: Path, port: int) -> dict[str, list[object]]:
    server = f"http://127.0.0.1:{port}"
    script = write(directory / "hello.txt", f'call {METHOD} {{"name":"Ada"}}\n')
    return {
        "call": ["call", *LONG, *HELLO, server, METHOD],
        "each": ["call", *LONG, *HELLO, "--each", server, METHOD],
        "health": ["health", *LONG, server],
        "load": ["load", *LONG, *HELLO, "--requests", "3", server, METHOD],
        "run": ["run", *LONG, server, script],
        "session": ["session", *LONG, server],
        "without a scheme": ["call", *LONG, *HELLO, f"127.0.0.1:{port}", METHOD],
    }


@pytest.mark.parametrize("name", ["call", "each", "health", "load", "run", "session", "without a scheme"])
def test_command_waits_for_a_server(rpcurl, start_server, tmp_path, name):
    port = closed_port()
    with waiting(rpcurl, *commands(tmp_path, port)[name]) as process:
        start_server("grpc_server.py", "--port", port)
        out, err = process.communicate(b"")
    assert process.returncode == 0, err
    if name == "load":
        assert b" 0 errors" in out or b"ok" in out, out


def test_suites_wait_before_their_first_test(rpcurl, start_server, tmp_path):
    port = closed_port()
    file = suite(tmp_path, port)
    with rpcurl.start("test", "--wait", "1000s", "--test-timeout", "30s", file) as process:
        process.wait_until_idle()
        assert process.poll() is None
        start_server("grpc_server.py", "--port", port)
        out, err = process.communicate()
    assert process.returncode == 0, (out, err)


def test_wait_is_not_part_of_the_time_of_the_call(rpcurl, start_server):
    port = closed_port()
    arguments = ["call", *LONG, "-m", "30s", "--timing", *HELLO, f"http://127.0.0.1:{port}", METHOD]
    with waiting(rpcurl, *arguments) as process:
        start_server("grpc_server.py", "--port", port)
        _, err = process.communicate()
    assert process.returncode == 0, err


@pytest.mark.parametrize("command", ["call", "load", "session", "run", "health"])
def test_end_of_the_time(rpcurl, tmp_path, command):
    port = closed_port()
    words = [word for word in commands(tmp_path, port)[command] if word not in LONG]
    result = rpcurl(*words, "--wait", "200ms").exits(5)
    if command != "health":
        result.reports(f"cannot connect to 127.0.0.1:{port}: Connection refused (waited for 0.2 seconds)", "hint: ")


def test_end_of_the_time_fails_a_suite(rpcurl, tmp_path):
    port = closed_port()
    result = rpcurl("test", "--wait", "200ms", suite(tmp_path, port)).exits(4)
    result.prints("Connection refused (waited for 0.2 seconds)")


def test_name_that_is_not_known(rpcurl):
    result = rpcurl("call", "--wait", "2s", *HELLO, "http://nothing.invalid:1", METHOD).exits(5)
    result.reports("cannot resolve the name nothing.invalid (waited for 2.0 seconds)")


def test_certificate_that_is_not_trusted_ends_the_wait(rpcurl, grpc_tls_server):
    rpcurl("call", *LONG, *HELLO, f"https://{grpc_tls_server.address}", METHOD).exits(6).reports("is not trusted")
    rpcurl("health", *LONG, f"https://{grpc_tls_server.address}").exits(6).reports("is not trusted")


@pytest.mark.parametrize("command", ["call", "health"])
def test_server_with_tls_that_is_called_without_ends_the_wait(rpcurl, grpc_tls_server, command):
    method = [*HELLO, METHOD] if command == "call" else []
    rpcurl(command, *LONG, "--plaintext", grpc_tls_server.address, *method).exits(5).reports("the server requires TLS on this port")


def test_server_without_tls_that_is_called_with_it_ends_the_wait(rpcurl, grpc_server):
    rpcurl("call", *LONG, *HELLO, f"https://{grpc_server.address}", METHOD).exits(6).reports("the server does not use TLS on this port")


def test_method_that_is_not_implemented_ends_the_wait(rpcurl, grpc_server, keeps_early_responses):
    rpcurl("call", *LONG, "-d", "{}", "--plaintext", grpc_server.address, "demo.v1.Demo/Nothing").exits(3)


class Gateway:
    """Accepts connections for a server that may not have started, and closes them until then."""

    def __init__(self, raw_server, port: int) -> None:
        self.upstream = port
        self.is_open = threading.Event()
        self.port = raw_server(self.handle).port

    def handle(self, connection: socket.socket) -> None:
        if not self.is_open.is_set():
            connection.recv(1 << 16)
            return
        with socket.create_connection(("127.0.0.1", self.upstream)) as upstream:
            threading.Thread(target=pump, args=(upstream, connection), daemon=True).start()
            pump(connection, upstream)
            # A server with TLS does not close the connection of a client that is gone.
            RawServer.shut_down(upstream)


def test_gateway_that_closes_connections(rpcurl, grpc_server, raw_server):
    gateway = Gateway(raw_server, grpc_server.port)
    text = "the server closed the connection without a response"
    with waiting(rpcurl, "call", *LONG, *HELLO, f"http://127.0.0.1:{gateway.port}", METHOD, text=text) as process:
        gateway.is_open.set()
        _, err = process.communicate()
    assert process.returncode == 0, err


def test_gateway_that_closes_connections_in_the_handshake(rpcurl, grpc_tls_server, raw_server, certificates):
    gateway = Gateway(raw_server, grpc_tls_server.port)
    arguments = ["--cacert", certificates / "ca.pem", *HELLO, f"https://localhost:{gateway.port}", METHOD]
    with waiting(rpcurl, "call", *LONG, *arguments, text="in the TLS handshake") as process:
        gateway.is_open.set()
        _, err = process.communicate()
    assert process.returncode == 0, err


@pytest.mark.parametrize("command", ["call", "load", "run", "health"])
def test_signal_ends_the_wait(rpcurl, tmp_path, command):
    with rpcurl.start(*commands(tmp_path, closed_port())[command]) as process:
        process.wait_until_idle()
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130


def test_replayed_suite_waits_for_no_server(rpcurl, tmp_path):
    result = rpcurl("test", "--wait", "1s", "--replay", tmp_path, suite(tmp_path, closed_port())).exits(2)
    result.reports("--wait: no server is called with --replay")
