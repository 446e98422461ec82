"""Calls that a plugin makes itself, and calls that it tries again, over the network."""

import json
import subprocess

import pytest

from conftest import ROOT

HEADERS = ROOT / "Sources" / "CPluginABI" / "include"
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
