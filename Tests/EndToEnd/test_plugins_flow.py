"""Calls that a plugin makes itself, and calls that it tries again, over the network."""

import json

import pytest

from harness import Caller, silent



@pytest.fixture
def greeting(built_plugin):
    return built_plugin("greeting")


@pytest.fixture
def call(call, greeting):
    return Caller(call.rpcurl, call.server, "--plugin", greeting, protocol=call.protocol)


def test_plugin_makes_a_call_of_its_own(call):
    result = call("EchoMetadata", "-d", "{}").exits(0, err="greeting: 1 attempts\n")
    sent = {h["name"]: h.get("value", "") for h in result.json()["headers"]}
    assert json.loads(sent["x-greeting"]) == {"message": "Hello, Ada!", "name": "Ada"}


def test_status_of_a_plugins_own_call_reaches_it(call):
    call("EchoMetadata", "-d", "{}", env={"GREETING_NAME": ""}).exits(64 + 3).reports("interceptor greeting")


def test_own_call_does_not_pass_through_its_plugin(call):
    """Otherwise, each own call would start another one, without an end."""
    assert call("Hello", "-d", '{"name":"Grace"}').exits(0).json()["message"] == "Hello, Grace!"


def test_interrupted_while_it_waits_for_its_own_call(demo, raw_server, greeting):
    # It reads until the client closes the connection, and does not respond.
    server = raw_server(silent)
    demo(
        "--max-time", "0.3", "--plugin", greeting,
        f"http://{server.address}/demo.v1.Demo/EchoMetadata",
    ).exits(64 + 4).reports("greeting at request_start")  # fmt: skip


def test_plugin_retries_a_call(demo, grpc_server, greeting):
    """The first attempt fails before headers are sent; the plugin retries it."""
    result = demo(
        "-d", '{"code":14,"message":"busy"}', "--plugin", greeting,
        f"{grpc_server.url}/demo.v1.Demo/Fail",
    ).exits(64 + 14)  # fmt: skip
    assert result.err.endswith("greeting: 2 attempts\n"), result.err


# Streams, HTTP requests, facts and findings


@pytest.fixture
def network(built_plugin):
    return built_plugin("network")


@pytest.mark.parametrize(("protocol", "version"), [("grpc", "2"), ("grpc-web", "1.1"), ("connect", "1.1")])
def test_plugin_opens_a_stream_and_fetches(request, demo, network, raw_server, protocol, version):
    def respond(connection):
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 404 No\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone")

    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    options = ["--http1.1"] if version == "1.1" and protocol != "grpc-web" else []
    result = demo(
        "--protocol", protocol, *options, "-d", '{"name":"Ada"}', "--plugin", network,
        f"{server.url}/demo.v1.Demo/Hello", env={"NETWORK_URL": f"http://{raw_server(respond).address}/"},
    )  # fmt: skip
    assert result.code == 0 and result.json()["message"] == "Hello, Ada!"
    lines = [line.removeprefix("network: ") for line in result.err.splitlines()]
    assert lines[:1] == ["attempt 1, idempotency 1"]
    assert lines[1].startswith("message ") and "own" in lines[1]
    assert lines[2:4] == ["stream ended: 0", "fetched 404: none"]
    address = server.url.removeprefix("http://").replace("localhost", "127.0.0.1")
    assert lines[4].endswith(f" from {address} with TLS ()")
    wire = 5 if protocol == "connect" else 10
    assert lines[5] == f"origin 0, sent {wire} of 5 bytes"


def test_plugin_receives_the_version_of_tls_and_the_finding_decides(demo, grpc_tls_server, certificates, network):
    demo(
        "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}', "--plugin", network,
        f"{grpc_tls_server.url}/demo.v1.Demo/Hello", env={"NETWORK_FINDING": "not good enough"},
    ).exits(8).reports("with TLS (TLSv1.3)", "rpcurl: assertion failed: not good enough\n")  # fmt: skip


def test_stream_of_a_plugin_ends_with_its_call(demo, raw_server, network):
    server = raw_server(silent)
    demo(
        "--max-time", "0.3", "-d", "{}", "--plugin", network,
        f"http://{server.address}/demo.v1.Demo/Hello",
    ).exits(64 + 4).reports("held by network at request_start", "network: stream ended: 1\n")  # fmt: skip
