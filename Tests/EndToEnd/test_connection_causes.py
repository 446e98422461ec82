"""Each cause of a failed connection is named, with the option that helps and its own exit code."""

import datetime
import socket
import ssl
import struct

import pytest
import raw_http2
import trustme
from harness import STARTS_WITHOUT_TLS, closed_port, names, server_module, silent, without_tls, write

HELLO = "demo.v1.Demo/Hello"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


@pytest.fixture
def fails(rpcurl, descriptor_set):
    """`fails(code, why, hint, *arguments)`: a call fails so, and by reflection alike.

    On a busy machine the cause may not be found in the time that there is for it.
    """

    def check(code, why, hint, *arguments, env=None):
        for schema in (["--descriptor-set", descriptor_set], ["--no-cache"]):
            for _ in range(10):
                result = rpcurl(*schema, *arguments, HELLO, env=env)
                if why in result.err:
                    break
            assert (result.code, result.out) == (code, ""), result.err
            error, advice = result.err.splitlines()
            assert error.startswith("rpcurl: ") and why in error, result.err
            assert advice.startswith("hint: ") and hint in advice, result.err

    return check


@pytest.fixture(scope="session")
def certificate_of(tmp_path_factory, certificates):
    """`certificate_of(*names, **options)`: a directory with a certificate for these names, and its authority."""

    def make(*names, **options):
        directory = tmp_path_factory.mktemp("certificate")
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(directory / "ca.pem"))
        server_module("certificates").write_pair(directory, "server", authority.issue_cert(*names, **options))
        return directory

    return make


def tls_context(directory, **settings):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "server.pem", directory / "server-key.pem")
    for name, value in settings.items():
        setattr(context, name, value)
    return context


def tls_server(raw_server, context, handle=lambda stream: stream.recv(1)):
    """A server that calls `handle` after a handshake that succeeds."""

    def serve(connection):
        try:
            with context.wrap_socket(connection, server_side=True) as stream:
                handle(stream)
        except ssl.SSLError:
            pass

    return f"https://localhost:{raw_server(serve).port}"


# Address


def test_refused(fails):
    port = closed_port()
    fails(5, f"localhost:{port}: Connection refused", "no server listens", "--plaintext", f"localhost:{port}")


def test_unknown_host(fails):
    fails(5, "cannot resolve the name no-such.invalid", "--resolve", "--plaintext", "no-such.invalid:1")


def test_unreachable(fails):
    # Linux has no route for a connection to a broadcast address.
    fails(5, "127.255.255.255:1: Network is unreachable", "network", "--plaintext", "127.255.255.255:1")


def test_a_connection_that_is_not_accepted_in_time(fails):
    # The system drops further connections while the queue is full.
    with socket.socket() as listener, socket.socket() as first:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        first.connect(listener.getsockname())
        port = listener.getsockname()[1]
        with socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(listener.getsockname())
            address = f"127.0.0.1:{port}"
            for code, limit in ((5, "--connect-timeout"), (64 + 4, "--max-time")):
                why = f"cannot connect to {address} within 0.2 seconds"
                fails(code, why, limit, "--plaintext", limit, "200ms", address)


@pytest.fixture
def silent_server(raw_server):
    """Accepts connections, and sends nothing."""
    return raw_server(silent)


@pytest.fixture(params=["--descriptor-set", "--no-cache"])
def fails_in_time(rpcurl, descriptor_set, request):
    """`fails_in_time(code, limit, why, hint, *arguments)`: a call fails so at the end of the limit, an option.

    On a busy machine a short limit may end before the client has done what it can.
    """
    schema = [request.param] + ([descriptor_set] if request.param == "--descriptor-set" else [])

    def check(code, limit, why, hint, *arguments):
        for seconds in (0.3, 1.0, 5.0, 25.0):
            result = rpcurl(*schema, limit, seconds, *arguments, HELLO)
            if why in result.err:
                break
        error, advice = result.err.splitlines()
        assert (result.code, result.out) == (code, "")
        assert error.endswith(f"{why} within {seconds} seconds"), result.err
        assert advice.startswith("hint: ") and hint in advice, result.err

    return check


@pytest.mark.parametrize(("code", "limit"), [(5, "--connect-timeout"), (64 + 4, "--max-time")])
def test_a_handshake_that_is_not_complete_in_time(fails_in_time, silent_server, code, limit):
    fails_in_time(code, limit, "the TLS handshake was not complete", "--plaintext", silent_server.address)


@pytest.mark.parametrize(("code", "limit"), [(5, "--connect-timeout"), (64 + 4, "--max-time")])
def test_a_proxy_that_does_not_respond_in_time(fails_in_time, silent_server, grpc_server, code, limit):
    proxy = f"http://{silent_server.address}"
    why = f"proxy {proxy}: it did not connect to {grpc_server.address}"
    fails_in_time(code, limit, why, "--proxy", "--proxy", proxy, "--plaintext", grpc_server.address)


# The server's certificate


def test_expired_certificate(fails, start_server, certificate_of):
    year = datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)
    directory = certificate_of("localhost", not_before=year[0], not_after=year[1])
    server = start_server("grpc_server.py", "--tls-dir", directory)
    target = f"localhost:{server.port}"
    fails(6, "has expired (Jan 1 00:00:00 2021 GMT)", "renew", "--cacert", directory / "ca.pem", target)


def test_certificate_that_is_not_valid_yet(fails, start_server, certificate_of):
    directory = certificate_of(
        "localhost", not_before=datetime.datetime(2120, 1, 1), not_after=datetime.datetime(2121, 1, 1)
    )
    server = start_server("grpc_server.py", "--tls-dir", directory)
    target = f"localhost:{server.port}"
    fails(6, "not valid yet (from Jan 1 00:00:00 2120 GMT)", "clock", "--cacert", directory / "ca.pem", target)


def test_certificate_for_other_names(fails, start_server, certificate_of):
    directory = certificate_of("shop.test", "*.shop.test")
    server = start_server("grpc_server.py", "--tls-dir", directory)
    trust = ["--cacert", directory / "ca.pem"]
    for host in ("localhost", "127.0.0.1"):
        why = f"not for {host}, but for shop.test, *.shop.test"
        fails(6, why, "--servername shop.test", *trust, f"{host}:{server.port}")
    why = "not for other.test, but for shop.test, *.shop.test"
    fails(6, why, "--servername shop.test", *trust, "--servername", "other.test", f"localhost:{server.port}")


def test_unknown_authority(fails, grpc_tls_server):
    fails(6, "the authority of the server's certificate is not trusted: O=trustme", "--cacert", grpc_tls_server.url)


# Files


def test_file_of_authorities_without_any(fails, grpc_tls_server, tmp_path):
    file = write(tmp_path / "ca.pem", "none")
    fails(6, f"no certificate authority can be read from {file}", "PEM", "--cacert", file, grpc_tls_server.url)


def test_files_of_the_client_certificate(fails, grpc_mtls_server, certificates, tmp_path):
    url, trust = grpc_mtls_server.url, ["--cacert", certificates / "ca.pem"]
    pair = certificates / "client.pem", certificates / "client-key.pem"
    (tmp_path / "text.pem").write_text("none")
    fails(6, f"missing key of the client certificate {pair[0]}", "--key", *trust, "--cert", pair[0], url)
    wrong = certificates / "server-key.pem"
    fails(6, f"the key {wrong} cannot be used", "--key", *trust, "--cert", pair[0], "--key", wrong, url)
    cert = ["--cert", tmp_path / "text.pem", "--key", pair[1]]
    fails(6, f"no client certificate can be read from {tmp_path}/text.pem", "PEM", *trust, *cert, url)


# Handshake


@pytest.mark.parametrize("start", STARTS_WITHOUT_TLS.values(), ids=STARTS_WITHOUT_TLS)
def test_server_without_tls_that_closes_the_connection(fails, raw_server, start):
    fails(6, "the server does not use TLS on this port", "--plaintext", f"https://127.0.0.1:{raw_server(without_tls(start)).port}")


def test_missing_client_certificate(fails, raw_server, grpc_mtls_server, certificates):
    trust = ["--cacert", certificates / "ca.pem"]
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = tls_context(certificates, maximum_version=version)
        context.load_verify_locations(certificates / "ca.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        context.set_alpn_protocols(["h2"])
        fails(6, "the server requires a client certificate", "--cert", *trust, tls_server(raw_server, context))
    fails(6, "the server requires a client certificate", "--cert", *trust, grpc_mtls_server.url)


def test_client_certificate_of_another_authority(fails, grpc_mtls_server, certificates):
    pair = ["--cert", certificates / "other-client.pem", "--key", certificates / "other-client-key.pem"]
    arguments = ["--cacert", certificates / "ca.pem", *pair, grpc_mtls_server.url]
    fails(6, "the server refused the client certificate", "--cert", *arguments)


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_plaintext_to_a_server_with_tls(fails, grpc_tls_server, connect_tls_server, protocol):
    for server in (grpc_tls_server, connect_tls_server):
        target = f"localhost:{server.port}"
        fails(5, "the server requires TLS", "omit --plaintext", "--protocol", protocol, "--plaintext", target)


def test_tls_to_a_server_without_it(fails, grpc_server, connect_server):
    for server in (grpc_server, connect_server):
        fails(6, "the server does not use TLS", "--plaintext", f"https://{server.address}")


def test_version_of_tls_that_the_server_lacks(fails, raw_server, certificates):
    context = tls_context(certificates, maximum_version=ssl.TLSVersion.TLSv1_2)
    url = tls_server(raw_server, context)
    fails(6, "version of TLS", "omit --tlsv1.3", "--cacert", certificates / "ca.pem", "--tlsv1.3", url)


@pytest.mark.parametrize("resets", [False, True])
def test_connection_cut_in_the_handshake(fails, raw_server, resets):
    def cut(connection):
        connection.recv(1 if resets else 1 << 16)
        if resets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    fails(6, "the server closed the connection in the TLS handshake", "--plaintext", raw_server(cut).address)


# HTTP


def http1(connection):
    connection.recv(1 << 16)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")


def test_server_with_http_1_1_only(fails, raw_server, certificates):
    fails(5, "requires HTTP/2", "--protocol grpc-web", "--plaintext", raw_server(http1).address)
    context = tls_context(certificates)
    context.set_alpn_protocols(["http/1.1"])
    url = tls_server(raw_server, context, http1)
    fails(5, "(TLS negotiated no protocol)", "--protocol grpc-web", "--cacert", certificates / "ca.pem", url)


def test_bidirectional_stream_to_a_server_with_http_1_1_only(rpcurl, descriptor_set, raw_server):
    arguments = ["--descriptor-set", descriptor_set, "--protocol", "connect", "-d", "{}", "--plaintext"]
    for _ in range(10):
        result = rpcurl(*arguments, raw_server(http1).address, "demo.v1.Demo/Chat")
        if "HTTP/2\n" in result.err:
            break
    assert result.code == 5
    error, hint = result.err.splitlines()
    assert error.endswith(": the server does not offer HTTP/2") and "--http1.1" in hint


def test_server_with_http_2_only(fails, grpc_server):
    why = "the request used HTTP/1.1, and the server supports only HTTP/2"
    fails(5, why, "--protocol grpc", "--protocol", "connect", "--plaintext", grpc_server.address)


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_server_without_http(fails, raw_server, protocol):
    def greet(connection):
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        connection.recv(1 << 16)

    address = raw_server(greet).address
    fails(5, 'it sent "SSH-2.0-OpenSSH_9.2"', "check the port", "--protocol", protocol, "--plaintext", address)


def test_server_that_closes_the_connection(fails, raw_server, libcurl_version, certificates):
    address = raw_server(lambda connection: connection.recv(1)).address
    why = "the server closed the connection without a response"
    fails(5, why, f"rpcurl check http://{address}", "--plaintext", address)
    context = tls_context(certificates)
    context.set_alpn_protocols(["h2"])
    url = tls_server(raw_server, context)
    # An old libcurl may have lost the response of a server that negotiates HTTP/2.
    hint = f"rpcurl check {url}" if libcurl_version >= (8, 14) else "libcurl 8.14 or newer"
    why = why if libcurl_version >= (8, 14) else "may have lost it"
    fails(5, why, hint, "--cacert", certificates / "ca.pem", url)


def test_http_2_server_that_closes_the_connection(fails, raw_server, libcurl_version):
    def serve(connection):
        connection.recv(len(PREFACE), socket.MSG_WAITALL)
        raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
        while raw_http2.read_frame(connection)[0] != raw_http2.HEADERS:
            pass

    def until_its_end(connection):
        try:
            serve(connection)
        except EOFError:
            pass

    address = raw_server(until_its_end).address
    if libcurl_version >= (8, 14):
        fails(5, "closed the connection without a response", "rpcurl check", "--plaintext", address)
    else:
        fails(5, "libcurl 7.88.1 may have lost it", "libcurl 8.14 or newer", "--plaintext", address)


# Proxies


def test_proxies(fails, grpc_server, raw_server):
    def proxy(status):
        def respond(connection):
            connection.recv(1 << 16)
            connection.sendall(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n".encode())

        return f"http://{raw_server(respond).address}"

    def through(proxy, why, hint):
        fails(5, f"proxy {proxy}: {why}", hint, "--proxy", proxy, "--plaintext", grpc_server.address)

    through(proxy("407 Denied"), "it requires credentials", "--proxy-user")
    through(proxy("403 Forbidden"), f"it refused to connect to {grpc_server.address} (HTTP 403)", "--proxy")
    through(f"http://127.0.0.1:{closed_port()}", "cannot connect to it: Connection refused", "--proxy")
    through("http://no-such.invalid:1", "its name could not be resolved", "--proxy")


def test_a_proxy_of_the_environment_is_named(fails, grpc_server):
    proxy = f"http://127.0.0.1:{closed_port()}"
    arguments = ["--plaintext", grpc_server.address]
    fails(5, f"proxy {proxy}: cannot connect to it", "http_proxy", *arguments, env={"http_proxy": proxy})
