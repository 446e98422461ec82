"""The listening side of HTTP with real clients and with hostile ones: Tests/EchoServer returns what it receives."""

import contextlib
import os
import resource
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import RPCURL

PROGRAM = RPCURL.parent / "EchoServer"
HTTP1, HTTP2 = "--http1.1", "--http2-prior-knowledge"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class Echo:
    """A running EchoServer."""

    def __init__(self, process: subprocess.Popen, authority: Path | None) -> None:
        self.process = process
        self.authority = authority
        assert process.stdout
        self.address = process.stdout.readline().decode().strip()
        self.host, _, self.port = self.address.rpartition(":")

    def curl(self, *arguments: object, path: str = "/", **options: object) -> bytes:
        scheme, trust = ("https", ["--cacert", self.authority]) if self.authority else ("http", [])
        command = ["curl", "-sS", "--max-time", "60", *trust, *arguments, f"{scheme}://{self.address}{path}"]
        return subprocess.run(list(map(str, command)), capture_output=True, check=True, **options).stdout

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host, int(self.port)), timeout=20)

    def exchange(self, request: bytes) -> bytes:
        """What the server sends until it closes the connection."""
        with self.connect() as client:
            client.sendall(request)
            return received(client)

    def counts(self) -> list[int]:
        """The numbers of requests, of resets and of connections, with those of this request."""
        return list(map(int, self.curl(path="/count").split()))

    def wait(self, holds: Callable[[list[int]], bool]) -> None:
        deadline = time.monotonic() + 10
        while not holds(self.counts()):
            assert time.monotonic() < deadline, self.counts()
            time.sleep(0.05)

    def status(self, name: str) -> int:
        """A number of /proc/PID/status, such as VmHWM in kB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

    def processor_time(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def received(client: socket.socket) -> bytes:
    data = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(1 << 16):
            data += piece
    return bytes(data)


Start = Callable[..., Echo]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM.name} is not built: make echo-server")
    started = []

    def start(*settings: str, address: str = "127.0.0.1:0", tls: bool = False, files: int = 0) -> Echo:
        authority = tmp_path / "authority.pem" if tls else None
        words = [PROGRAM, address, *(["make", authority] if authority else []), *settings]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, preexec_fn=limit)  # noqa: PLW1509
        started.append(process)
        return Echo(process, authority)

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("tls", [False, True], ids=["cleartext", "tls"])
@pytest.mark.parametrize("version", [HTTP1, HTTP2])
def test_curl_receives_what_it_sends(start: Start, tmp_path: Path, version: str, tls: bool) -> None:
    echo = start(tls=tls)
    version = "--http2" if tls and version == HTTP2 else version
    large = tmp_path / "large"
    large.write_bytes(os.urandom(20_000_000))
    assert echo.curl(version, "-d", "abc", "-w", "%{http_version}") == b"abc" + (b"1.1" if version == HTTP1 else b"2")
    assert echo.curl(version, "--data-binary", f"@{large}") == large.read_bytes()
    assert echo.curl(version, "--data-binary", f"@{large}", path="/pause") == large.read_bytes()
    assert echo.curl(version, "-T", large, "-H", "Transfer-Encoding: chunked" if version == HTTP1 else "A: b") == large.read_bytes()
    assert echo.curl(version, "-I").count(b"x-method: HEAD") == 1
    # Debian's curl loses the response before a reset without an error.
    if version == HTTP1:
        assert echo.curl(version, "--data-binary", f"@{large}", path="/early") == b"early"
    assert echo.status("VmHWM") < 60_000


def test_memory_does_not_grow_with_the_response(start: Start) -> None:
    echo = start()
    for version in HTTP1, HTTP2:
        assert echo.curl(version, "-o", "/dev/null", "-w", "%{size_download}", path="/bytes/300000000") == b"300000000"
    assert echo.status("VmHWM") < 40_000


def test_unix_socket(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    echo = start(address=f"unix:{path}")
    command = ["curl", "-sS", "--unix-socket", path, "-d", "abc", "http://h/"]
    assert subprocess.run(list(map(str, command)), capture_output=True, check=True).stdout == b"abc"
    echo.process.terminate()
    assert echo.process.wait(10) == 0 and not path.exists()


def test_ipv6(start: Start) -> None:
    echo = start(address="[::1]:0")
    assert echo.address.startswith("[::1]:") and echo.curl("-d", "abc") == b"abc"


def test_file_that_is_no_socket_is_not_removed(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    echo = start(address=f"unix:{path}")
    assert "exists, and is not a socket" in echo.address and echo.process.wait(10) == 1 and path.read_text() == "text"


@pytest.mark.parametrize(
    "request_text",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 30\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\n\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_smuggled_requests_are_refused(start: Start, request_text: bytes) -> None:
    echo = start()
    assert echo.exchange(request_text).startswith(b"HTTP/1.1 400 ")
    assert echo.counts()[0] == 1


def test_pipelined_requests_get_their_responses_in_order(start: Start) -> None:
    bodies = [str(number).encode() for number in range(100)]
    requests = [b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies]
    requests[-1] = requests[-1].replace(b"Host", b"Connection: close\r\nHost")
    responses = start().exchange(b"".join(requests)).split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert [response.rpartition(b"\r\n\r\n")[2] for response in responses] == bodies


@pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\n", PREFACE[:10], PREFACE[:24], PREFACE + bytes([0, 0, 9, 1, 1, 0, 0, 0, 1])])
def test_slow_header_fields_end_the_connection(start: Start, begin: bytes) -> None:
    echo = start("headerTime=300", "idleTime=300")
    began = time.monotonic()
    sent = echo.exchange(begin)
    assert time.monotonic() - began < 6
    assert sent.startswith(b"HTTP/1.1 408 ") == begin.startswith(b"GET")


def test_silent_tls_handshake_ends(start: Start) -> None:
    echo = start("headerTime=300", tls=True)
    assert echo.exchange(b"") == b""
    assert echo.exchange(bytes([22, 3, 1])) == b""
    # An alert, or nothing, for what is not TLS.
    assert not echo.exchange(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP")
    assert echo.curl("-d", "abc") == b"abc"


def test_slow_body_is_canceled(start: Start) -> None:
    echo = start("idleTime=300")
    echo.exchange(b"POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    assert echo.counts()[1] == 1


@pytest.mark.parametrize("version", [HTTP1, HTTP2])
def test_reader_that_does_not_read_is_canceled(start: Start, version: str) -> None:
    echo = start("sendTime=500")
    with echo.connect() as client:
        if version == HTTP1:
            client.sendall(b"GET /bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n")
        else:
            path = b"/bytes/100000000"
            block = bytes([0x82, 0x86, 0x41, 1, 0x61, 0x04, len(path)]) + path
            # The window of the client is its default.
            client.sendall(PREFACE + bytes([0, 0, len(block), 1, 5, 0, 0, 0, 1]) + block)
        echo.wait(lambda counts: counts[2] == 1)
    assert echo.status("VmHWM") < 40_000


def test_client_that_does_not_reply_to_pings_is_canceled(start: Start) -> None:
    echo = start("pingTime=700")
    path = b"/hold"
    block = bytes([0x82, 0x86, 0x41, 1, 0x61, 0x04, len(path)]) + path
    # curl replies.
    command = ["curl", "-s", HTTP2, f"http://{echo.address}/hold"]
    with echo.connect() as client, subprocess.Popen(command) as other:
        client.sendall(PREFACE + bytes([0, 0, len(block), 1, 5, 0, 0, 0, 1]) + block)
        # PING is frame 6 of 8 bytes.
        assert bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) in received(client)
        time.sleep(2)
        assert echo.counts()[1] == 1 and other.poll() is None
        other.kill()


def test_connection_with_requests_is_not_idle(start: Start) -> None:
    echo = start("idleTime=1500")
    for begin in b"", PREFACE:
        with echo.connect() as client:
            began = time.monotonic()
            client.settimeout(0.2)
            data = bytearray()
            while not begin and time.monotonic() - began < 5:
                client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                data += client.recv(1000)
                time.sleep(0.1)
            assert begin or data.count(b"HTTP/1.1 200") > 20
            client.settimeout(20)
            client.sendall(begin)
            began = time.monotonic()
            received(client)
            assert 1 < time.monotonic() - began < 6


def test_lost_client_cancels_its_requests(start: Start) -> None:
    echo = start()
    command = ["curl", "-s", "--max-time", "0.5", f"http://{echo.address}/hold"]
    for version in HTTP1, HTTP2:
        assert subprocess.run([*command, version]).returncode == 28
    echo.wait(lambda counts: counts[1] == 2 and counts[2] == 1)


def test_connection_over_the_limit_waits(start: Start) -> None:
    echo = start("connections=2")
    first, second, third = (echo.connect() for _ in range(3))
    third.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    third.settimeout(1)
    with pytest.raises(TimeoutError):
        third.recv(1)
    first.close()
    third.settimeout(10)
    assert third.recv(100).startswith(b"HTTP/1.1 200 OK")
    second.close()
    third.close()


def test_idle_connections_give_way_to_a_new_one(start: Start) -> None:
    echo = start("connections=2")
    first, second = (echo.connect() for _ in range(2))
    for client in first, second:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
    for client in first, second:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
    # One has a request that is not over, so the other one is ended.
    first.sendall(b"POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
    assert echo.curl("-d", "abc") == b"abc"
    assert received(second) == b""
    first.close()


def test_exhausted_descriptors_do_not_keep_the_processor_busy(start: Start) -> None:
    echo = start(files=24)
    clients = [echo.connect() for _ in range(60)]
    time.sleep(0.5)
    before = echo.processor_time()
    time.sleep(2)
    assert echo.processor_time() - before < 0.2
    for client in clients:
        client.close()
    assert echo.curl("-d", "abc") == b"abc"


def test_hundreds_of_clients(start: Start) -> None:
    echo = start()
    clients = [echo.connect() for _ in range(500)]
    for client in clients:
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    for client in clients:
        data = b""
        while not data.endswith(b"abc"):
            data += client.recv(1000)
    assert echo.counts()[2] == 501
    for client in clients:
        client.close()
    echo.wait(lambda counts: counts[2] == 1)


@pytest.mark.parametrize("version", [HTTP1, HTTP2])
def test_end_lets_requests_finish(start: Start, tmp_path: Path, version: str) -> None:
    echo = start()
    body = tmp_path / "body"
    body.write_bytes(os.urandom(3_000_000))
    command = ["curl", "-sS", version, "--data-binary", f"@{body}", f"http://{echo.address}/pause"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        echo.wait(lambda counts: counts[0] >= 2 and counts[2] == 2)
        echo.process.send_signal(signal.SIGTERM)
        assert client.stdout and client.stdout.read() == body.read_bytes()
    assert echo.process.wait(10) == 0


def test_end_cancels_requests_after_its_limit(start: Start) -> None:
    echo = start()
    with echo.connect() as client:
        client.sendall(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        echo.wait(lambda counts: counts[2] == 2)
        began = time.monotonic()
        echo.process.terminate()
        assert echo.process.wait(15) == 0 and 2 < time.monotonic() - began < 8


def test_authority_signs_for_its_names_only(start: Start) -> None:
    echo = start(tls=True)
    assert echo.authority and "PRIVATE" not in echo.authority.read_text()
    text = subprocess.run(["openssl", "x509", "-in", echo.authority, "-noout", "-text"], capture_output=True, check=True, text=True).stdout
    for part in "CA:TRUE, pathlen:0", "Name Constraints: critical", "DNS:localhost":
        assert part in text
    # BoringSSL rejects an address to which a rule applies.
    assert "IP:" not in text
    context = ssl.create_default_context(cafile=str(echo.authority))
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(echo.connect(), server_hostname="localhost") as client:
        assert client.selected_alpn_protocol() == "h2" and client.version() == "TLSv1.3"
    with pytest.raises(ssl.SSLCertVerificationError):
        context.wrap_socket(echo.connect(), server_hostname="example.com")
