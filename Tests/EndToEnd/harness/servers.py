"""Servers of the tests: processes of Tests/Servers, and servers within the test that handle connections by a function."""

import contextlib
import os
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.program import wait_until
from harness.settings import PATIENCE_SECONDS


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
        self.url = f"http://{self.address}"
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


STARTS_WITHOUT_TLS = {"HTTP/2": b"\0\0\0\4\0\0\0\0\0", "HTTP/1.1": b"HTTP/1.1 400 Bad Request\r\n\r\n"}


def without_tls(start: bytes) -> Callable[[socket.socket], None]:
    """A handler of a server that closes a connection which begins with a handshake, as servers in Go do."""

    def serve(connection: socket.socket) -> None:
        if connection.recv(1 << 16)[:1] == b"P":
            connection.sendall(start)
            connection.recv(1)

    return serve


def silent(connection: socket.socket) -> None:
    """A handler that reads to the end, and sends nothing."""
    while connection.recv(1 << 16):
        pass


def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


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
