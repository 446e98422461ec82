"""A server of this machine that does not use TLS is called without --plaintext."""

import pytest

from harness import STARTS_WITHOUT_TLS, without_tls

HELLO = "demo.v1.Demo/Hello"
DATA = ["-d", '{"name":"Ada"}', "--filter", "name"]


def note(server):
    return f"note: localhost:{server.port} does not use TLS, so nothing is encrypted; --plaintext omits this check\n"


@pytest.fixture(params=["grpc", "connect"])
def server(request, grpc_server, connect_server):
    """The server, and the options of its protocol."""
    return (grpc_server, []) if request.param == "grpc" else (connect_server, ["--protocol", "connect"])


def test_a_call_prints_one_note(rpcurl, server):
    server, options = server
    result = rpcurl(*DATA, *options, f"localhost:{server.port}", HELLO).exits(0)
    assert (result.out, result.err) == ("Ada\n", note(server))
    result = rpcurl(*DATA, *options, "--silent", f":{server.port}", HELLO).succeeds()
    assert (result.out, result.err) == ("Ada\n", "")
    result = rpcurl(*DATA, *options, "--plaintext", f":{server.port}", HELLO).succeeds()
    assert (result.out, result.err) == ("Ada\n", "")


@pytest.mark.parametrize("command", [
    ["list"], ["describe"], ["export", "-o", "/dev/null"], ["health"], ["check"], ["template", "SERVER", HELLO],
    ["load", "--jobs", "1", "--requests", "3", "SERVER", HELLO], ["diff", "SERVER", "SERVER"],
])  # fmt: skip
def test_each_command(rpcurl, grpc_server, command):
    command = command if "SERVER" in command else [*command[:1], "SERVER", *command[1:]]
    words = [f"localhost:{grpc_server.port}" if word == "SERVER" else word for word in command]
    result = rpcurl(*words).exits(0)
    assert result.err.count(note(grpc_server)) == 1


def test_a_session_decides_for_each_target(rpcurl, grpc_server):
    lines = ['call Hello {"name":"Ada"} > /dev/null', "target https://localhost:1", f"target localhost:{grpc_server.port}", 'call Hello {"name":"Eva"}', "target https://localhost:%d" % grpc_server.port, "call Hello {}"]
    result = rpcurl("session", f"localhost:{grpc_server.port}", input="\n".join(lines))
    assert result.err.count(note(grpc_server)) == 1 and "Hello, Eva!" in result.out
    assert "the server does not use TLS on this port" in result.err


@pytest.mark.parametrize("options", [
    ["--bearer", "t0p"], ["-u", "ada:t0p"], ["-H", "authorization: t0p"], ["-k"], ["--use", "auth,bearer=t0p"], ["--protocol", "grpc-web", "--bearer", "t0p"],
])  # fmt: skip
def test_a_secret_is_not_sent_without_tls(rpcurl, grpc_server, options):
    result = rpcurl(*DATA, *options, f"localhost:{grpc_server.port}", HELLO).exits(6)
    assert "the server does not use TLS on this port" in result.err and "note:" not in result.err


def test_a_server_with_tls_is_called_with_it(rpcurl, grpc_tls_server):
    """Its certificate has an unknown authority."""
    result = rpcurl(*DATA, f"localhost:{grpc_tls_server.port}", HELLO).exits(6)
    assert "--cacert" in result.err and "note:" not in result.err


@pytest.mark.parametrize("start", STARTS_WITHOUT_TLS.values(), ids=STARTS_WITHOUT_TLS)
def test_a_server_that_closes_the_connection_at_a_handshake(rpcurl, raw_server, start):
    server = raw_server(without_tls(start))
    result = rpcurl("list", "--max-time", "1", f"localhost:{server.port}")
    assert result.err.startswith(note(server))


def test_a_server_that_says_nothing_may_use_tls(rpcurl, raw_server):
    server = raw_server(lambda connection: connection.recv(1 << 16) and connection.recv(1 << 16))
    result = rpcurl("list", "--max-time", "1", f"localhost:{server.port}")
    assert result.code != 0 and "note:" not in result.err
