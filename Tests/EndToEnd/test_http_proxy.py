"""Forward proxies: tinyproxy, which opens tunnels and forwards HTTP/1.1, and microsocks for SOCKS5."""

import contextlib
import json
import re

import harness
import pytest
from harness import names

HELLO, CHAT, ECHO = "demo.v1.Demo/Hello", "demo.v1.Demo/Chat", "demo.v1.Demo/EchoMetadata"
USER, PASSWORD = "ada", "s3cret"


@pytest.fixture(scope="session")
def start_proxy(start_foreign_server):
    return lambda *options: start_foreign_server("proxy_server.py", *options)


@pytest.fixture(scope="session")
def http_proxy(start_proxy):
    return start_proxy("--kind", "http")


@pytest.fixture(scope="session")
def guarded_http_proxy(start_proxy):
    return start_proxy("--kind", "http", "--user", f"{USER}:{PASSWORD}")


@pytest.fixture(scope="session")
def socks_proxy(start_proxy):
    return start_proxy("--kind", "socks5")


@pytest.fixture(scope="session")
def guarded_socks_proxy(start_proxy):
    return start_proxy("--kind", "socks5", "--user", f"{USER}:{PASSWORD}")


@pytest.fixture
def closed_port():
    return harness.closed_port()


@pytest.fixture(params=["grpc h2c", "grpc tls", "connect http1", "grpc-web http1", "connect h2c", "connect tls"])
def way(request, certificates):
    """The options for a protocol, the server, and the method of the request to a proxy."""
    protocol, transport = request.param.split()
    kind = "grpc" if protocol == "grpc" else "connect"
    server = request.getfixturevalue(f"{kind}_tls_server" if transport == "tls" else f"{kind}_server")
    options = ["--protocol", protocol]
    options += {"h2c": ["--http2"], "http1": ["--http1.1"], "tls": ["--cacert", certificates / "ca.pem"]}[transport]
    return options, server, "POST" if transport == "http1" else "CONNECT"


@pytest.fixture
def call(demo):
    return lambda *arguments, **more: demo("-d", '{"name":"Ada"}', "--max-time", "10", *arguments, **more)


def requests_of(proxy):
    """The requests that tinyproxy has logged: (method, target)."""
    return re.findall(r"Request \(file descriptor \d+\): (\S+) (\S+) HTTP/1\.[01]", proxy.log())


@contextlib.contextmanager
def requests_to(proxy, method, server, count=1):
    """The proxy receives this many requests, with this method and for this server."""
    before = len(requests_of(proxy))
    yield
    host = f"{'localhost' if server.ca else '127.0.0.1'}:{server.port}"
    target = host if method == "CONNECT" else f"http://{host}/{HELLO}"
    assert requests_of(proxy)[before:] == [(method, target)] * count


def succeeds(result):
    assert (result.code, result.err) == (0, "")
    assert result.json()["message"] == "Hello, Ada!"


def is_a_failure_of_the_proxy(result, address, *words):
    """The error is one of the connection, and it names the proxy, but no credentials."""
    assert (result.code, result.out) == (5, ""), result.err
    line = result.err.splitlines()[0]
    assert line.startswith("rpcurl: ") and "proxy" in line and address in line, line
    assert all(word in result.err for word in words), result.err
    assert PASSWORD not in result.err


# HTTP


def test_calls(call, way, http_proxy):
    """HTTP/2 and TLS pass through a tunnel; HTTP/1.1 in cleartext is forwarded, as curl does it."""
    options, server, method = way
    with requests_to(http_proxy, method, server):
        succeeds(call(*options, "--proxy", f"http://{http_proxy.address}", f"{server.url}/{HELLO}"))


@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "ALL_PROXY"])
def test_variables(call, way, http_proxy, variable):
    options, server, method = way
    applies = variable == "ALL_PROXY" or variable.startswith("https") == bool(server.ca)
    with requests_to(http_proxy, method, server, count=1 if applies else 0):
        succeeds(call(*options, f"{server.url}/{HELLO}", env={variable: f"http://{http_proxy.address}"}))


@pytest.mark.parametrize("variable", ["NO_PROXY", "no_proxy"])
def test_hosts_without_a_proxy(call, way, http_proxy, variable):
    options, server, method = way
    proxy = {name: f"http://{http_proxy.address}" for name in ("http_proxy", "https_proxy")}
    with requests_to(http_proxy, method, server, count=0):
        succeeds(call(*options, f"{server.url}/{HELLO}", env=proxy | {variable: "elsewhere.test,localhost,127.0.0.1"}))
        succeeds(call(*options, "--proxy", "", f"{server.url}/{HELLO}", env=proxy))
    with requests_to(http_proxy, method, server):
        succeeds(call(*options, f"{server.url}/{HELLO}", env=proxy | {variable: "elsewhere.test"}))


def test_credentials(call, way, guarded_http_proxy):
    options, server, method = way
    proxy = f"http://{USER}:{PASSWORD}@{guarded_http_proxy.address}"
    with requests_to(guarded_http_proxy, method, server):
        succeeds(call(*options, "--proxy", proxy, f"{server.url}/{HELLO}"))


def test_missing_credentials(call, way, guarded_http_proxy):
    """The proxy's 407 is not reported as a response of the server."""
    options, server, _ = way
    result = call(*options, "--proxy", f"http://{guarded_http_proxy.address}", f"{server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, guarded_http_proxy.address, "407")


def test_wrong_credentials(call, guarded_http_proxy, grpc_server):
    """tinyproxy refuses them with 401."""
    proxy = f"http://{USER}:{PASSWORD}x@{guarded_http_proxy.address}"
    result = call("--proxy", proxy, f"{grpc_server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, guarded_http_proxy.address, "401")


def test_unreachable_proxy(call, way, closed_port):
    """The error names its address, and not the server as the host that cannot be reached."""
    options, server, _ = way
    result = call(*options, "--proxy", f"http://127.0.0.1:{closed_port}", f"{server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, f"127.0.0.1:{closed_port}")
    assert not result.err.startswith(f"rpcurl: {server.url}:")


def test_proxy_whose_name_has_no_address(call, grpc_server):
    result = call("--proxy", "http://proxy.invalid:3128", f"{grpc_server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, "proxy.invalid")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_server_that_the_proxy_cannot_reach(call, http_proxy, closed_port, scheme):
    """tinyproxy refuses the tunnel with 500. The error names the server and the proxy."""
    target = f"127.0.0.1:{closed_port}"
    result = call("--proxy", f"http://{http_proxy.address}", f"{scheme}://{target}/{HELLO}")
    is_a_failure_of_the_proxy(result, http_proxy.address, target, "500")


def test_each_response_comes_before_the_next_request(rpcurl, http_proxy, grpc_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--proxy", f"http://{http_proxy.address}"]
    with rpcurl.start(*options, f"{grpc_server.url}/{CHAT}") as process:
        for number in range(30):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert (process.wait(), process.stderr.read()) == (0, b"")


def test_calls_share_a_tunnel(rpcurl, http_proxy, grpc_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--proxy", f"http://{http_proxy.address}", "--each", "--jobs", 16]
    with requests_to(http_proxy, "CONNECT", grpc_server):
        result = rpcurl(*options, f"{grpc_server.url}/{HELLO}", input=names(200))
    assert (result.code, result.err) == (0, "")
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(number) for number in range(200)]


def test_reflection(rpcurl, http_proxy, grpc_server):
    result = rpcurl("list", "--no-cache", "--proxy", f"http://{http_proxy.address}", grpc_server.url).succeeds()
    assert "demo.v1.Demo" in result.out.split()


def test_metadata_of_the_call_is_not_sent_to_the_proxy(call, raw_server, grpc_server):
    """The proxy receives the name of the host, but neither the headers of the call nor its credentials."""
    heads = []

    def refuse(connection):
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1 << 16)
        heads.append(head.lower())
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nx-proxy: 1\r\n\r\n")

    proxy = raw_server(refuse)
    result = call("--proxy", f"http://{proxy.address}", "--bearer", PASSWORD, "-H", "x-tenant: a", f"{grpc_server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, proxy.address, "403")
    [head] = heads
    assert head.startswith(b"connect 127.0.0.1:%d http/1.1\r\n" % grpc_server.port)
    for word in (PASSWORD.encode(), b"x-tenant", b"content-type", b"grpc", b"te:", b"proxy-authorization"):
        assert word not in head


def test_headers_of_the_proxy_are_not_those_of_the_response(demo, http_proxy, grpc_server):
    """tinyproxy sends "Proxy-agent" when it opens a tunnel."""
    result = demo(
        "--proxy", f"http://{http_proxy.address}", "--format", "events",
        "-d", '{"headers":[{"name":"x-own","value":"1"}]}', f"{grpc_server.url}/{ECHO}",
    ).exits(0)  # fmt: skip
    [headers] = [event for event in result.lines() if event["event"] == "headers"]
    assert "x-own" in json.dumps(headers)
    assert "proxy" not in json.dumps(headers).lower()


# TLS


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("response", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", "it does not use TLS on this port: use http:// in its URL"),
        (b"", "it closed the connection in the TLS handshake; use http:// in its URL if it has no TLS"),
    ],
)
@pytest.mark.parametrize("version", ["--http2", "--http1.1"])
def test_proxy_without_tls_that_is_given_as_https(call, raw_server, scheme, response, words, version):
    """The server was not reached: nothing is said about its TLS."""

    def respond(connection):
        connection.recv(1 << 16)
        connection.sendall(response)

    proxy = raw_server(respond)
    result = call("--protocol", "connect", version, "--proxy", f"https://{proxy.address}", f"{scheme}://192.0.2.1:50051/{HELLO}")
    is_a_failure_of_the_proxy(result, f"proxy https://{proxy.address}", words)
    assert "the server" not in result.err and "--plaintext" not in result.err


@pytest.mark.parametrize("proxy", ["https", "socks5h"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_silent_proxy(call, raw_server, scheme, proxy):
    def receive(connection):
        while connection.recv(1 << 16):
            pass

    address = raw_server(receive).address
    result = call("--connect-timeout", "0.3s", "--proxy", f"{proxy}://{address}", f"{scheme}://192.0.2.1:50051/{HELLO}")
    is_a_failure_of_the_proxy(result, f"proxy {proxy}://{address}", "within 0.3 seconds")


def test_certificate_of_a_server_that_is_exempt_from_a_proxy_with_tls(call, grpc_tls_server, closed_port):
    environment = {"https_proxy": f"https://127.0.0.1:{closed_port}", "no_proxy": "localhost,127.0.0.1"}
    result = call(f"{grpc_tls_server.url}/{HELLO}", env=environment).exits(6)
    assert "the authority of the server's certificate is not trusted" in result.err and "proxy" not in result.err


def test_proxy_without_tls_ends_the_wait(call, raw_server):
    """It does not change by waiting."""
    proxy = raw_server(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    result = call("--wait", "1000s", "--proxy", f"https://{proxy.address}", f"http://192.0.2.1:50051/{HELLO}")
    is_a_failure_of_the_proxy(result, "does not use TLS")


# SOCKS5


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_socks(call, way, socks_proxy, scheme):
    options, server, _ = way
    before = socks_proxy.log().count("connected to")
    # With socks5, libcurl uses only the first address of a name.
    url = server.url.replace("localhost", "127.0.0.1") if scheme == "socks5" else server.url
    succeeds(call(*options, "--proxy", f"{scheme}://{socks_proxy.address}", f"{url}/{HELLO}"))
    assert socks_proxy.log().count("connected to") == before + 1


def test_socks_credentials(call, grpc_server, guarded_socks_proxy):
    address, url = guarded_socks_proxy.address, f"{grpc_server.url}/{HELLO}"
    succeeds(call("--proxy", f"socks5://{USER}:{PASSWORD}@{address}", url))
    is_a_failure_of_the_proxy(call("--proxy", f"socks5://{address}", url), address)
    is_a_failure_of_the_proxy(call("--proxy", f"socks5://{USER}:{PASSWORD}x@{address}", url), address)


def test_proxy_user(call, grpc_server, guarded_socks_proxy, guarded_http_proxy):
    url = f"{grpc_server.url}/{HELLO}"
    socks, http = f"socks5://{guarded_socks_proxy.address}", f"http://{guarded_http_proxy.address}"
    succeeds(call("-x", socks, "-U", f"{USER}:{PASSWORD}", url))
    succeeds(call("-x", http, "--proxy-user", f"{USER}:{PASSWORD}", url))
    is_a_failure_of_the_proxy(call("-x", socks, "--proxy-user", f"{USER}:wrong", url), guarded_socks_proxy.address)


def test_unreachable_socks_proxy(call, grpc_server, closed_port):
    result = call("--proxy", f"socks5://127.0.0.1:{closed_port}", f"{grpc_server.url}/{HELLO}")
    is_a_failure_of_the_proxy(result, f"127.0.0.1:{closed_port}")


def test_server_that_the_socks_proxy_cannot_reach(call, socks_proxy, closed_port):
    result = call("--proxy", f"socks5://{socks_proxy.address}", f"http://127.0.0.1:{closed_port}/{HELLO}")
    is_a_failure_of_the_proxy(result, socks_proxy.address, f"127.0.0.1:{closed_port}")
