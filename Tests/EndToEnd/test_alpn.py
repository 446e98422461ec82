"""TLS servers that do not offer HTTP/2: gRPC is refused before any byte of the request is sent."""

import json
import ssl

import pytest

HELLO, CHAT = "demo.v1.Demo/Hello", "demo.v1.Demo/Chat"
SECRET = "s3cret"


@pytest.fixture
def tls_server(raw_server, certificates):
    """`tls_server(protocols)` starts a server that offers these by ALPN, and records what it receives in TLS."""

    def start(protocols, last=None):
        """With the ALPN protocols of the server, and the end of the request after which it closes the connection."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
        if protocols:
            context.set_alpn_protocols(protocols)
        received = []

        def serve(connection):
            # After a connection that was closed, others look for the cause.
            if received:
                return
            with context.wrap_socket(connection, server_side=True) as secured:
                received.append(secured.selected_alpn_protocol())
                while data := secured.recv(1 << 16):
                    received.append(data)
                    if last and last in b"".join(received[1:]):
                        return

        server = raw_server(serve)
        server.received = received
        return server

    return start


@pytest.fixture(params=[["http/1.1"], []], ids=["http/1.1", "none"])
def http1_server(request, tls_server):
    return tls_server(request.param)


def is_refused(result, server):
    assert (result.code, result.out) == (5, ""), result.err
    line, *hint = result.err.splitlines()
    assert line.startswith("rpcurl: ") and "HTTP/2" in line, result.err
    assert hint and hint[0].startswith("hint: ") and "--protocol" in hint[0], result.err
    assert "grpc-web" in hint[0] and "connect" in hint[0], result.err
    for thread in server.threads[1:]:
        thread.join(60)
    # The handshake selected HTTP/1.1 or no protocol, if it was completed at all, and nothing followed it.
    assert server.received in ([], ["http/1.1"], [None])
    assert server.connections == 1


@pytest.mark.parametrize("method", [HELLO, CHAT])
@pytest.mark.parametrize("options", [[], ["--http2"]])
def test_grpc_is_refused(demo, http1_server, certificates, method, options):
    result = demo(
        "--cacert", certificates / "ca.pem", "--bearer", SECRET, *options,
        "-d", "{}", "--max-time", "5", f"https://localhost:{http1_server.port}/{method}",
    )  # fmt: skip
    is_refused(result, http1_server)


def test_reflection_is_refused(rpcurl, http1_server, certificates):
    """`list` uses gRPC for reflection. The error is not that the server does not offer reflection."""
    arguments = ["--no-cache", "--cacert", certificates / "ca.pem", "--bearer", SECRET]
    is_refused(rpcurl("list", *arguments, f"https://localhost:{http1_server.port}"), http1_server)


def test_http2_is_accepted(demo, tls_server, certificates):
    """With a server that offers HTTP/2, the request is sent."""
    server = tls_server(["h2", "http/1.1"], last=b"HTTP/2.0")
    demo("--cacert", certificates / "ca.pem", "--bearer", SECRET, f"https://localhost:{server.port}/{HELLO}").exits(5)
    assert server.received[0] == "h2" and b"".join(server.received[1:]).startswith(b"PRI * HTTP/2.0")


def test_grpc_offers_nothing_else(demo, offers_only_http2, tls_server, certificates):
    """A server that prefers HTTP/1.1 would otherwise select it."""
    server = tls_server(["http/1.1", "h2"], last=b"HTTP/2.0")
    demo("--cacert", certificates / "ca.pem", f"https://localhost:{server.port}/{HELLO}").exits(5)
    assert server.received[0] == "h2"


def test_server_that_refuses_the_handshake(rpcurl, offers_only_http2, start_foreign_server, descriptor_set, certificates):
    """nginx sends an alert if the client offers nothing that it has."""
    server = start_foreign_server(
        "nginx_server.py", "--mode", "http", "--backend", "127.0.0.1:1", "--tls-dir", certificates
    )
    for options in (["--descriptor-set", descriptor_set], ["--no-cache"]):
        result = rpcurl(*options, "--cacert", certificates / "ca.pem", f"https://{server.address}", HELLO).exits(5)
        error, hint = result.err.splitlines()
        assert error.endswith("the server does not offer HTTP/2")
        assert "--protocol grpc-web" in hint and "--protocol connect" in hint


@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_other_protocols_accept_http1(demo, tls_server, certificates, protocol):
    server = tls_server(["http/1.1"], last=b"Ada")
    demo(
        "--cacert", certificates / "ca.pem", "--protocol", protocol,
        "-d", json.dumps({"name": "Ada"}), f"https://localhost:{server.port}/{HELLO}",
    ).exits(5)  # fmt: skip
    assert b"".join(server.received[1:]).startswith(b"POST /demo.v1.Demo/Hello HTTP/1.1\r\n")


@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_stream_is_sent_in_chunks_over_http1(demo, tls_server, certificates, protocol):
    server = tls_server(["http/1.1"], last=b"0\r\n\r\n")
    demo(
        "--cacert", certificates / "ca.pem", "--protocol", protocol,
        "-d", '{"value":1}{"value":2}', f"https://localhost:{server.port}/demo.v1.Demo/Sum",
    ).exits(5)  # fmt: skip
    request = b"".join(server.received[1:]).lower()
    assert b"\r\ntransfer-encoding: chunked\r\n" in request
    assert request.endswith(b"0\r\n\r\n")
