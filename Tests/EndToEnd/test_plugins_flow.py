"""Calls that a plugin makes itself, and calls that it tries again, over the network."""

import json
import subprocess

import pytest

from conftest import ROOT

HEADERS = ROOT / "Sources" / "CPlugins" / "include"
GREETING = ROOT / "Tests" / "PluginHostTests" / "Fixtures" / "greeting.c"


@pytest.fixture(scope="module")
def greeting(tmp_path_factory):
    output = tmp_path_factory.mktemp("plugins") / "greeting.so"
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{HEADERS}", "-o", output, GREETING], check=True)
    return output


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def call(request, rpcurl, descriptor_set, greeting):
    server = request.getfixturevalue("grpc_server" if request.param == "grpc" else "connect_server")

    def run(method, *options, **keywords):
        return rpcurl(
            "--descriptor-set", descriptor_set, "--protocol", request.param, "--plugin", greeting, *options,
            f"{server.url}/demo.v1.Demo/{method}", **keywords,
        )  # fmt: skip

    return run


def test_plugin_makes_a_call_of_its_own(call):
    result = call("EchoMetadata", "-d", "{}")
    assert (result.code, result.err) == (0, "greeting: 1 attempts\n")
    sent = {h["name"]: h.get("value", "") for h in json.loads(result.out)["headers"]}
    assert json.loads(sent["x-greeting"]) == {"message": "Hello, Ada!", "name": "Ada"}


def test_status_of_a_plugins_own_call_reaches_it(call):
    result = call("EchoMetadata", "-d", "{}", env={"GREETING_NAME": ""})
    assert result.code == 64 + 3
    assert "interceptor greeting" in result.err


def test_own_call_does_not_pass_through_its_plugin(call):
    """Otherwise, each own call would start another one, without an end."""
    result = call("Hello", "-d", '{"name":"Grace"}')
    assert (result.code, json.loads(result.out)["message"]) == (0, "Hello, Grace!")


def test_interrupted_while_it_waits_for_its_own_call(rpcurl, raw_server, descriptor_set, greeting):
    # It reads until the client closes the connection, and does not respond.
    server = raw_server(lambda connection: [*iter(lambda: connection.recv(1 << 16), b"")])
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--max-time", "0.3", "--plugin", greeting,
        f"http://{server.address}/demo.v1.Demo/EchoMetadata",
    )  # fmt: skip
    assert result.code == 64 + 4
    assert "greeting at request_start" in result.err


def test_plugin_retries_a_call(rpcurl, grpc_server, descriptor_set, greeting):
    """The first attempt fails before headers are sent; the plugin retries it."""
    result = rpcurl(
        "--descriptor-set", descriptor_set, "-d", '{"code":14,"message":"busy"}', "--plugin", greeting,
        f"{grpc_server.url}/demo.v1.Demo/Fail",
    )  # fmt: skip
    assert result.code == 64 + 14
    assert result.err.endswith("greeting: 2 attempts\n"), result.err


# Streams, HTTP requests, facts and findings


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    output = tmp_path_factory.mktemp("plugins") / "network.so"
    source = GREETING.with_name("network.c")
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{HEADERS}", "-o", output, source], check=True)
    return output


@pytest.mark.parametrize(("protocol", "version"), [("grpc", "2"), ("grpc-web", "1.1"), ("connect", "1.1")])
def test_plugin_opens_a_stream_and_fetches(request, rpcurl, descriptor_set, network, raw_server, protocol, version):
    def respond(connection):
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 404 No\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone")

    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    options = ["--http1.1"] if version == "1.1" and protocol != "grpc-web" else []
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--protocol", protocol, *options, "-d", '{"name":"Ada"}', "--plugin", network,
        f"{server.url}/demo.v1.Demo/Hello", env={"NETWORK_URL": f"http://{raw_server(respond).address}/"},
    )  # fmt: skip
    assert result.code == 0 and json.loads(result.out)["message"] == "Hello, Ada!"
    lines = [line.removeprefix("network: ") for line in result.err.splitlines()]
    assert lines[:1] == ["attempt 1, idempotency 1"]
    assert lines[1].startswith("message ") and "own" in lines[1]
    assert lines[2:4] == ["stream ended: 0", "fetched 404: none"]
    address = server.url.removeprefix("http://").replace("localhost", "127.0.0.1")
    assert lines[4].endswith(f" from {address} with TLS ()")
    wire = 5 if protocol == "connect" else 10
    assert lines[5] == f"origin 0, sent {wire} of 5 bytes"


def test_plugin_receives_the_version_of_tls_and_the_finding_decides(rpcurl, grpc_tls_server, descriptor_set, certificates, network):
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}', "--plugin", network,
        f"{grpc_tls_server.url}/demo.v1.Demo/Hello", env={"NETWORK_FINDING": "not good enough"},
    )  # fmt: skip
    assert result.code == 8
    assert "with TLS (TLSv1.3)" in result.err
    assert "rpcurl: assertion failed: not good enough\n" in result.err


def test_stream_of_a_plugin_ends_with_its_call(rpcurl, raw_server, descriptor_set, network):
    server = raw_server(lambda connection: [*iter(lambda: connection.recv(1 << 16), b"")])
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--max-time", "0.3", "-d", "{}", "--plugin", network,
        f"http://{server.address}/demo.v1.Demo/Hello",
    )  # fmt: skip
    assert result.code == 64 + 4 and "held by network at request_start" in result.err
    assert "network: stream ended: 1\n" in result.err
