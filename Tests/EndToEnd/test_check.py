"""rpcurl check and rpcurl health."""

import json
import shlex
import socket

import pytest


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def check(rpcurl):
    """Checks a server. Returns the exit code, the outcome and text of each step by name, and the command that works."""

    def run(*arguments):
        result = rpcurl("check", "--format", "json", *arguments)
        report = json.loads(result.out)
        assert report["canCall"] == (result.code == 0)
        steps = {step["name"]: (step["outcome"], step["text"]) for step in report["steps"]}
        if command := report.get("command"):
            worked = rpcurl(*shlex.split(command)[1:])
            assert worked.code == 0, (command, worked.err)
        return result.code, steps, command

    return run


def test_server_with_grpc_only(check, grpc_server):
    code, steps, command = check("--plaintext", grpc_server.address)
    assert (code, command) == (0, f"rpcurl list http://{grpc_server.address}")
    assert steps["connection"] == ("passed", grpc_server.address)
    assert (steps["TLS"][0], steps["HTTP"]) == ("absent", ("passed", "2"))
    assert [steps[name][0] for name in ("gRPC", "gRPC-Web", "Connect")] == ["passed", "absent", "absent"]
    assert steps["health"] == ("passed", "SERVING")
    assert steps["reflection"] == ("passed", "v1, v1alpha: 4 services")


def test_server_with_all_protocols(check, connect_server):
    code, steps, _ = check("--plaintext", connect_server.address)
    assert code == 0
    assert steps["HTTP"] == ("passed", "1.1, 2")
    assert {steps[name][0] for name in ("gRPC", "gRPC-Web", "Connect")} == {"passed"}


def test_server_without_reflection(check, start_server):
    server = start_server("grpc_server.py", "--no-reflection")
    code, steps, command = check("--plaintext", server.address)
    assert (code, steps["reflection"][0]) == (0, "absent")
    assert command == f"rpcurl http://{server.address} grpc.health.v1.Health/Check"


def test_tls(check, grpc_tls_server, certificates):
    trust = ["--cacert", certificates / "ca.pem"]
    code, steps, command = check(*trust, grpc_tls_server.url)
    assert (code, command) == (0, f"rpcurl list --cacert {certificates}/ca.pem localhost:{grpc_tls_server.port}")
    assert steps["TLS"][0] == "passed" and "ALPN h2" in steps["TLS"][1]
    assert "for localhost, 127.0.0.1" in steps["certificate"][1]


def test_certificate_that_is_not_trusted(check, grpc_tls_server):
    code, steps, command = check(grpc_tls_server.url)
    assert (code, command) == (6, f"rpcurl list -k localhost:{grpc_tls_server.port}")
    assert steps["verification"][0] == "failed" and "not trusted: O=trustme" in steps["verification"][1]
    assert steps["gRPC"][0] == "passed"


def test_missing_client_certificate(check, grpc_mtls_server, certificates):
    code, steps, command = check("--cacert", certificates / "ca.pem", grpc_mtls_server.url)
    assert (code, command) == (6, None)
    assert steps["client certificate"] == ("absent", "the server asks for one")
    assert steps["gRPC"] == ("failed", "the server requires a client certificate")


def test_wrong_choice_of_tls(check, grpc_server, grpc_tls_server, certificates):
    code, steps, command = check(grpc_server.address)
    assert (code, command) == (6, f"rpcurl list http://{grpc_server.address}")
    assert steps["TLS"] == ("failed", "the server does not use TLS on this port")
    address = f"localhost:{grpc_tls_server.port}"
    code, _, command = check("--cacert", certificates / "ca.pem", "--plaintext", address)
    assert (code, command) == (5, f"rpcurl list --cacert {certificates}/ca.pem {address}")


def test_no_connection(check):
    port = closed_port()
    code, steps, command = check("--plaintext", f"127.0.0.1:{port}")
    assert (code, command) == (5, None)
    assert steps["connection"] == ("failed", f"cannot connect to 127.0.0.1:{port}: Connection refused")
    code, steps, command = check("--plaintext", "no-such.invalid:1")
    assert (code, steps) == (5, {"name": ("failed", "cannot resolve the name no-such.invalid")})
    proxy = f"http://127.0.0.1:{closed_port()}"
    code, steps, command = check("--proxy", proxy, "--plaintext", "127.0.0.1:1")
    assert code == 5 and steps["proxy"] == ("failed", f"{proxy}: cannot connect to it: Connection refused")


def test_report_as_text(rpcurl, grpc_server):
    result = rpcurl("check", "--plaintext", grpc_server.address)
    lines = result.out.splitlines()
    assert lines[0] == "✓ name        127.0.0.1"
    assert lines[-2:] == ["", f"rpcurl list http://{grpc_server.address}"]


# Health


def test_health(rpcurl, grpc_server, connect_server):
    for service in ([], ["demo.v1.Demo"]):
        result = rpcurl("health", "--plaintext", grpc_server.address, *service)
        assert (result.code, result.out, result.err) == (0, "SERVING\n", "")
    for protocol in ("grpc", "grpc-web", "connect"):
        result = rpcurl("health", "--protocol", protocol, "--plaintext", connect_server.address)
        assert (result.code, result.out) == (0, "SERVING\n"), result.err


def test_health_of_an_unknown_service(rpcurl, grpc_server):
    result = rpcurl("health", "--plaintext", grpc_server.address, "demo.v1.Other")
    assert (result.code, result.out) == (64 + 5, "")
    result = rpcurl("health", "--watch", "--wait", "1s", "--plaintext", grpc_server.address, "demo.v1.Other")
    assert (result.code, result.out.splitlines()[0]) == (64 + 4, "SERVICE_UNKNOWN"), result.err


def test_health_without_a_server(rpcurl):
    result = rpcurl("health", "--plaintext", f"127.0.0.1:{closed_port()}")
    assert (result.code, result.out) == (5, "")
    assert "Connection refused" in result.err and "hint: " in result.err


def test_health_waits_for_a_server(rpcurl, start_server):
    port = closed_port()
    with rpcurl.start("health", "--wait", "50s", "--plaintext", f"127.0.0.1:{port}") as process:
        process.wait_until_idle()
        assert process.poll() is None
        start_server("grpc_server.py", "--port", port)
        out, err = process.communicate()
    assert (process.returncode, out) == (0, b"SERVING\n"), err


def test_health_watches_until_it_is_interrupted(rpcurl, grpc_server):
    with rpcurl.start("health", "--watch", "--plaintext", grpc_server.address) as process:
        assert process.stdout.readline() == b"SERVING\n"
        process.terminate()
        assert process.wait() == 143
