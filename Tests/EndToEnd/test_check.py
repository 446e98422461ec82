"""rpcurl check and rpcurl health."""

import contextlib
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import grpc
import pytest
import trustme
from harness import PATIENCE_SECONDS, ROOT, RPCURL, STARTS_WITHOUT_TLS, closed_port, relay, silent, wait_until, without_tls
from grpc_health.v1 import health, health_pb2, health_pb2_grpc


def shell(rpcurl, command, **variables):
    """Runs a command that a person copies."""
    assert command.startswith("rpcurl ")
    environment = rpcurl.environment({"RPCURL_PROGRAM": str(RPCURL)} | variables)
    script = command.replace("rpcurl", '"$RPCURL_PROGRAM"', 1)
    return subprocess.run(
        ["sh", "-c", script], env=environment, cwd=rpcurl.home, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


@pytest.fixture
def check(rpcurl):
    """Checks a server. Returns the exit code, the outcome and text of each step by name, and the command that works.

    The command is run, with `variables` in the environment.
    """

    def run(*arguments, **variables):
        result = rpcurl("check", "--format", "json", *arguments, env=variables)
        report = result.json()
        assert report["canCall"] == (result.code == 0)
        steps = {step["name"]: (step["outcome"], step["text"]) for step in report["steps"]}
        if command := report.get("command"):
            worked = shell(rpcurl, command, **variables)
            assert worked.returncode == 0, (command, worked.stderr)
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


def test_the_chosen_protocol_is_required(check, grpc_server, connect_server):
    url, other = grpc_server.url, connect_server.url
    for options in (["connect"], ["grpc-web"], ["connect", "--http1.1"]):
        code, steps, command = check("--protocol", *options, url)
        assert (code, command) == (5, f"rpcurl list {url}")
        assert steps["gRPC-Web" if options == ["grpc-web"] else "Connect"][0] == "failed"
    assert check(url, RPCURL_PROTOCOL="connect")[::2] == (5, f"rpcurl list --protocol grpc {url}")
    assert check(other, RPCURL_PROTOCOL="connect")[::2] == (0, f"rpcurl list {other}")
    command = f"rpcurl list --protocol connect --http1.1 {other}"
    assert check("--protocol", "connect", "--http1.1", other)[::2] == (0, command)


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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_check_with_what_was_found(rpcurl, raw_server, number, code):
    begun = threading.Event()

    def serve(connection):
        # The protocols are checked after TLS.
        if connection.recv(1 << 16)[:1] != b"P":
            return
        begun.set()
        silent(connection)

    server = raw_server(serve)
    with rpcurl.start("check", "-m", "1h", server.url) as process:
        wait_until(begun.is_set, "a request")
        process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, err) == (code, b"")
    assert "✓ connection" in out.decode() and "HTTP" not in out.decode()


@pytest.mark.parametrize("protocol", ["gRPC", "Connect"])
def test_server_that_sends_nothing(check, raw_server, protocol):
    """The call that has no response is the last one."""
    requests = []

    def serve(connection):
        requests.append(connection.recv(1 << 16))
        silent(connection)

    code, steps, command = check("-m", "300ms", "--protocol", protocol.lower(), raw_server(serve).url)
    assert (code, command, steps["connection"][0], steps["HTTP"]) == (5, None, "passed", ("failed", "no response"))
    assert steps.pop(protocol) == ("failed", "the call took longer than 0.3 seconds")
    others = [steps[name] for name in ("gRPC", "gRPC-Web", "Connect") if name in steps]
    assert others == [("skipped", f"not tried: the server does not respond to {protocol}")] * 2
    assert len([request for request in requests if request]) == 1


def test_certificate_that_is_not_trusted(check, grpc_tls_server):
    code, steps, command = check(grpc_tls_server.url)
    assert (code, command) == (6, f"rpcurl list -k localhost:{grpc_tls_server.port}")
    assert steps["verification"][0] == "failed" and "not trusted: O=trustme" in steps["verification"][1]
    assert steps["gRPC"][0] == "passed"


def test_certificate_that_is_over(check):
    """The step of the certificate has no tick."""
    leaf = trustme.CA().issue_cert("localhost", not_after=datetime(2024, 1, 1, tzinfo=UTC))
    chain = b"".join(part.bytes() for part in leaf.cert_chain_pems)
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(leaf.private_key_pem.bytes(), chain)]))
    server.start()
    code, steps, _ = check(f"localhost:{port}")
    assert (code, steps["certificate"][0], steps["verification"][0]) == (6, "failed", "failed")
    assert "until Jan 1 00:00:00 2024 GMT, which is over" in steps["certificate"][1]
    server.stop(None).wait()


def test_http2_over_tls_that_negotiates_nothing(check, raw_server, grpc_server, certificates):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")

    def serve(connection):
        with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
            relay(secured, grpc_server.port)

    trust, server = ["--cacert", certificates / "ca.pem"], raw_server(serve)
    code, steps, command = check(*trust, f"localhost:{server.port}")
    assert steps["gRPC"] == ("passed", "responds with --http2-prior-knowledge: TLS negotiated no protocol")
    # Without the option, a call fails.
    assert (code, command) == (5, f"rpcurl list --cacert {certificates}/ca.pem --http2-prior-knowledge localhost:{server.port}")
    assert check(*trust, "--http2-prior-knowledge", f"localhost:{server.port}")[0] == 0


def test_missing_client_certificate(check, grpc_mtls_server, certificates):
    code, steps, command = check("--cacert", certificates / "ca.pem", grpc_mtls_server.url)
    assert (code, command) == (6, None)
    assert steps["client certificate"] == ("absent", "the server asks for one")
    assert steps["gRPC"] == ("failed", "the server requires a client certificate")
    # Nothing needs the others.
    assert [steps[name][0] for name in ("gRPC-Web", "Connect")] == ["absent", "absent"]


def test_a_server_without_tls_that_closes_the_connection(check, raw_server):
    """As etcd does."""
    server = raw_server(without_tls(STARTS_WITHOUT_TLS["HTTP/2"]))
    _, steps, _ = check("--max-time", "500ms", f"https://127.0.0.1:{server.port}")
    assert steps["TLS"] == ("failed", "the server does not use TLS on this port")


def test_wrong_choice_of_tls(check, grpc_server, grpc_tls_server, certificates):
    code, steps, command = check(f"https://{grpc_server.address}")
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


def test_server_that_closes_each_connection(rpcurl, raw_server):
    """The advice is not to run this command."""
    result = rpcurl("check", "--plaintext", raw_server(lambda connection: connection.recv(1 << 16)).address).exits(5).prints(
        "the server closed the connection without a response",
    )
    assert "hint: check the port" in result.out and '"rpcurl check' not in result.out + result.err


def test_the_command_keeps_the_options_of_the_connection(check, grpc_mtls_server, certificates):
    options = [f"--cacert {certificates}/ca.pem", f"--cert {certificates}/client.pem"]
    options += [f"--key {certificates}/client-key.pem", "--authority localhost", "--connect-timeout 50s"]
    address = f"localhost:{grpc_mtls_server.port}"
    code, _, command = check(*" ".join(options).split(), address)
    assert (code, command) == (0, f"rpcurl list {' '.join(options)} {address}")


def test_the_command_keeps_the_proxy(check, grpc_server, raw_server):
    def tunnel(connection):
        # gRPC-Web and Connect are sent over HTTP/1.1 without a tunnel, which this proxy does not support.
        if connection.recv(1 << 16).startswith(b"CONNECT "):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            relay(connection, grpc_server.port)

    proxy = f"http://{raw_server(tunnel).address}"
    code, steps, command = check("--proxy", proxy, "--plaintext", grpc_server.address)
    assert (code, steps["proxy"]) == (0, ("passed", proxy))
    assert command == f"rpcurl list --proxy {proxy} http://{grpc_server.address}"


def test_the_command_has_no_credentials(check, health_server):
    health_server.key = "s3cret"
    arguments = ["-H", "x-api-key: s3cret", "-H", "x-tenant: my shop", "--plaintext", health_server.address]
    code, _, command = check(*arguments, X_API_KEY="s3cret")
    options = """-H "x-api-key: ${X_API_KEY}" -H 'x-tenant: my shop'"""
    assert (code, command) == (0, f"rpcurl {options} http://{health_server.address} grpc.health.v1.Health/Check")


def test_unix_socket(check, start_server, certificates, tmp_path):
    path = tmp_path / "plain socket"
    start_server("grpc_server.py", "--unix", path)
    assert check(f"unix:{path}")[::2] == (0, f"rpcurl list 'unix:{path}'")
    path = tmp_path / "tls"
    start_server("grpc_server.py", "--unix", path, "--tls-dir", certificates)
    trust = f"--cacert {certificates}/ca.pem"
    command = f"rpcurl list {trust} --unix-socket {path} https://localhost"
    assert check(*trust.split(), f"unix:{path}")[::2] == (0, command)
    assert check(f"unix:{path}")[::2] == (6, f"rpcurl list -k --unix-socket {path} https://localhost")


def test_abstract_socket(check):
    server, name = grpc.server(ThreadPoolExecutor(1)), f"rpcurl-check-{os.getpid()}"
    server.add_insecure_port(f"unix-abstract:{name}")
    server.start()
    code, steps, _ = check(f"unix-abstract:{name}")
    assert (code, steps["connection"]) == (0, ("passed", f"abstract socket {name}"))
    server.stop(None).wait()


def test_server_without_health_and_reflection(check, rpcurl, keeps_early_responses):
    """No method is known that the command could call."""
    server = grpc.server(ThreadPoolExecutor(1))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    code, steps, command = check("--plaintext", address)
    assert (code, command) == (0, None)
    assert (steps["gRPC"], steps["health"]) == (("passed", "responds"), ("absent", "the server does not offer it"))
    why = f"rpcurl: http://{address}: the server does not offer the health service: unimplemented (12)\nhint: \"rpcurl check http://{address}\""
    rpcurl("health", "--plaintext", address).exits(64 + 12, "").reports(why)
    rpcurl("health", "--watch", "--plaintext", address).reports("does not offer Watch of the health service", "hint: omit --watch; ")
    server.stop(None).wait()


def test_gateway_without_a_route_for_health(rpcurl, raw_server):
    """It may route the calls of other services."""

    def refuse(connection):
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        connection.recv(1)

    result = rpcurl("check", "--protocol", "connect", "--http1.1", "--plaintext", raw_server(refuse).address).exits(5)
    assert "hint: a gateway that routes by service may have no route for health" in result.out, result.out


def gateway(raw_server, routes):
    """A gateway that responds to paths that contain a key of `routes`, and to others with HTTP 404; and the requests that it got."""
    requests = []

    def serve(connection):
        data = b""
        while chunk := connection.recv(1 << 16):
            data += chunk
            # It has neither HTTP/2 nor TLS.
            if data.startswith((b"PRI ", b"\x16")):
                return
            head, end, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.I)
            # A stream of requests, which has no length, may wait for the response.
            if not end or length and len(body) < int(length[1]):
                continue
            data = b""
            path = head.split()[1].decode()
            requests.append((path, body))
            answer = next((answer for key, answer in routes.items() if key in path), NOT_FOUND)
            connection.sendall(answer if isinstance(answer, bytes) else forwarded(answer.port, head, body))
            if not length:
                return

    return raw_server(serve), requests


def forwarded(port, head, body):
    """The response of a server at a local port to a request, with a length."""
    line, *headers = head.decode().split("\r\n")
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request(*line.split()[:2], body, dict(header.split(": ", 1) for header in headers))
    response = client.getresponse()
    data = response.read()
    kept = [f"{name}: {value}" for name, value in response.getheaders() if name.lower() not in ("content-length", "transfer-encoding")]
    client.close()
    return "\r\n".join([f"HTTP/1.1 {response.status} X", *kept, f"content-length: {len(data)}", "", ""]).encode() + data


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
CONNECT_ERROR = b'{"code":"invalid_argument"}'
CONNECT = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(CONNECT_ERROR) + CONNECT_ERROR
GRPC_WEB = b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+proto\r\ngrpc-status: 12\r\ncontent-length: 0\r\n\r\n"


def test_gateway_that_routes_a_service_of_the_schema(check, raw_server, descriptor_set):
    server, requests = gateway(raw_server, {"/demo.v1.Demo/": CONNECT})
    words = ["--protocol", "connect", "--http1.1", "--plaintext", server.address]
    code, steps, command = check("--descriptor-set", descriptor_set, *words)
    assert (code, command, steps["Connect"]) == (0, None, ("passed", "responds to demo.v1.Demo/Hello"))
    assert steps["health"] == ("absent", "no response in the protocol: a gateway may have no route for it")
    # The method is not called with a message that a server can decode.
    sent = [body for path, body in requests if path.startswith("/demo.v1.Demo/") and body]
    assert sent and all(body == b"\x07" for body in sent if len(body) == 1)
    # Without a schema, no method is known.
    code, steps, _ = check(*words)
    assert (code, steps["Connect"][0]) == (5, "failed")


def test_method_of_a_real_server_behind_a_gateway(check, raw_server, connect_server, descriptor_set):
    """Its decoder refuses the message in both protocols."""
    server, requests = gateway(raw_server, {"/demo.v1.Demo/": connect_server})
    for name, protocol in (("Connect", "connect"), ("gRPC-Web", "grpc-web")):
        words = ["--descriptor-set", descriptor_set, "--protocol", protocol, "--http1.1", "--plaintext", server.address]
        code, steps, _ = check(*words)
        assert (code, steps[name]) == (0, ("passed", "responds to demo.v1.Demo/Hello")), requests


def test_gateway_that_routes_reflection(check, raw_server):
    server, requests = gateway(raw_server, {"ServerReflection": GRPC_WEB})
    code, steps, _ = check("--protocol", "grpc-web", "--plaintext", server.address)
    assert (code, steps["gRPC-Web"]) == (0, ("passed", "responds to reflection"))
    assert steps["Connect"][0] == "absent"


def test_report_as_text(rpcurl, grpc_server):
    lines = rpcurl("check", "--plaintext", grpc_server.address).out.splitlines()
    assert lines[0] == "✓ name          127.0.0.1"
    assert lines[-2:] == ["", f"rpcurl list http://{grpc_server.address}"]


# Health


class HealthServer(health.HealthServicer):
    """The health service on a server of the test's process, with statuses that the test sets."""

    def __init__(self):
        super().__init__()
        # The value that the header x-api-key must have; None if it is not required.
        self.key = None
        # The number of checks that fail before those without a response; None if each has one.
        self.failing = None
        # Released by each check.
        self.checked = threading.Semaphore(0)
        self.server = grpc.server(ThreadPoolExecutor(16))
        health_pb2_grpc.add_HealthServicer_to_server(self, self.server)
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def Check(self, request, context):
        if self.key and ("x-api-key", self.key) not in context.invocation_metadata():
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the key is missing")
        if self.failing is not None:
            self.failing -= 1
            if self.failing >= 0:
                context.abort(grpc.StatusCode.UNAVAILABLE, "starting")
            ended = threading.Event()
            if context.add_callback(ended.set):
                ended.wait(PATIENCE_SECONDS)
        self.checked.release()
        return super().Check(request, context)

    def becomes(self, status, service=""):
        self.set(service, health_pb2.HealthCheckResponse.ServingStatus.Value(status))


@pytest.fixture
def health_server():
    server = HealthServer()
    yield server
    server.server.stop(None).wait()


def test_health_of_a_server_that_is_not_ready(rpcurl, health_server):
    health_server.becomes("NOT_SERVING")
    health_server.becomes("SERVING", "shop.v1.Orders")
    result = rpcurl("health", "--plaintext", health_server.address).exits(8, "NOT_SERVING\n")
    assert result.err == f"rpcurl: http://{health_server.address}: the status is NOT_SERVING\n"
    rpcurl("health", "--plaintext", health_server.address, "shop.v1.Orders").exits(0, "SERVING\n", "")
    rpcurl("health", "-s", "--plaintext", health_server.address).exits(8, err="")


def test_health_of_an_unknown_service(rpcurl, health_server):
    result = rpcurl("health", "--plaintext", health_server.address, "shop.v1.Nope").exits(64 + 5)
    assert result.err == (
        "rpcurl: shop.v1.Nope: the server does not report the health of this service: not_found (5)\n"
        f'hint: run "rpcurl list http://{health_server.address}" to see the services\n'
    )


def test_health_waits_until_the_server_is_ready(rpcurl, health_server):
    health_server.becomes("NOT_SERVING")
    with rpcurl.start("health", "--wait", "50s", "--plaintext", health_server.address) as process:
        for _ in range(2):
            assert health_server.checked.acquire(timeout=PATIENCE_SECONDS)
        assert process.poll() is None
        health_server.becomes("SERVING")
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, b"SERVING\n", b"")


@pytest.mark.parametrize("watch", [[], ["--watch"]])
def test_health_reports_the_last_status_after_waiting(rpcurl, health_server, watch):
    health_server.becomes("NOT_SERVING")
    rpcurl("health", *watch, "--wait", "2s", "--plaintext", health_server.address).exits(8).reports("the status is NOT_SERVING")


def test_health_reports_the_last_failure_after_waiting(rpcurl, health_server):
    health_server.failing = 1
    result = rpcurl("health", "--wait", "3s", "--plaintext", health_server.address).exits(64 + 14, "")
    assert result.err == f"rpcurl: http://{health_server.address}: unavailable (14): starting\n"


def test_health_reports_the_end_of_waiting_in_milliseconds(rpcurl, health_server):
    health_server.failing = 0
    result = rpcurl("health", "--wait", "1500ms", "--plaintext", health_server.address).exits(64 + 4, "")
    assert not re.search(r"\.\d{4}", result.err), result.err


def test_health_watches_changes(rpcurl, health_server):
    health_server.becomes("NOT_SERVING")
    with rpcurl.start("health", "--watch", "--plaintext", health_server.address) as process:
        for status in ("SERVING", "NOT_SERVING", "UNKNOWN"):
            assert process.stdout.readline()
            health_server.becomes(status)
        assert process.stdout.readline() == b"UNKNOWN\n"
        process.terminate()
        assert process.wait() == 143
    with rpcurl.start("health", "--watch", "--wait", "50s", "--plaintext", health_server.address) as process:
        assert process.stdout.readline() == b"UNKNOWN\n"
        health_server.becomes("SERVING")
        out, err = process.communicate()
    assert (process.returncode, out, err) == (0, b"SERVING\n", b"")


def test_probes_of_the_manual(rpcurl, health_server):
    """The commands of the health checks of containers, which the manual shows."""
    page = (ROOT / "man" / "rpcurl-health.1").read_text()
    docker = re.search(r"^HEALTHCHECK CMD (\[.*\])$", page, re.M)
    kubernetes = re.search(r"^ +command: (\[.*\])$", page, re.M)
    for found in (docker, kubernetes):
        program, *arguments = json.loads(found[1])
        assert program == "rpcurl" and "localhost:50051" in arguments
        arguments = [health_server.address if word == "localhost:50051" else word for word in arguments]
        health_server.becomes("SERVING")
        assert rpcurl(*arguments).code == 0
        health_server.becomes("NOT_SERVING")
        result = rpcurl(*arguments)
        # A probe fails with each exit code but 0.
        assert (result.code, result.out) == (8, "NOT_SERVING\n")


def test_health(rpcurl, grpc_server, connect_server):
    for service in ([], ["demo.v1.Demo"]):
        result = rpcurl("health", "--plaintext", grpc_server.address, *service).exits(0, "SERVING\n", "")
    for protocol in ("grpc", "grpc-web", "connect"):
        rpcurl("health", "--protocol", protocol, "--plaintext", connect_server.address).exits(0, "SERVING\n")


def test_health_of_an_unknown_service(rpcurl, grpc_server):
    rpcurl("health", "--plaintext", grpc_server.address, "demo.v1.Other").exits(64 + 5, "")
    rpcurl("health", "--watch", "--wait", "1s", "--plaintext", grpc_server.address, "demo.v1.Other").exits(8, "SERVICE_UNKNOWN\n").reports(
        "the status is SERVICE_UNKNOWN",
    )


def test_health_without_a_server(rpcurl):
    rpcurl("health", "--plaintext", f"127.0.0.1:{closed_port()}").exits(5, "").reports("Connection refused", "hint: ")


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
