"""No response is lost: of many calls, each ends with the server's status and message.

A server that ends a call before the request has ended sends the status and resets the stream. A client may receive
both in one read.
"""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from harness import ALL_TESTS, write

# The tests provoke a race.
CALLS, AT_A_TIME = 200 if ALL_TESTS else 48, 8
TRANSACTIONS = 400 if ALL_TESTS else 100
UNKNOWN_SERVICE = "unimplemented (12): unknown service etcdserverpb.Missing"
HELLO, CHAT = "demo.v1.Demo/Hello", "demo.v1.Demo/Chat"


@pytest.fixture
def outcomes(current_rpcurl, tmp_path):
    """`outcomes(*arguments)` makes many calls and counts the exit codes and outputs.

    Standard input stays open, so that nothing half-closes a stream. `data` is the text of a file for -d.
    """

    def run(arguments):
        process = current_rpcurl.start(*arguments)
        with process:
            process.wait()
            out, error = process.stdout.read(), process.stderr.read().decode()
        return process.returncode, out, error

    def count(*arguments, data=None):
        if data is not None:
            file = write(tmp_path / "data.json", data)
            arguments = ("-d", f"@{file}", *arguments)
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            return Counter(pool.map(run, [arguments] * CALLS))

    return count


def all_of(code, error, out=b""):
    return Counter({(code, out, f"rpcurl: {error}\n"): CALLS})


@pytest.fixture(params=["h2c", "tls"])
def etcd(request, etcd_schema_with_missing_methods, certificates):
    """Gives the arguments that call a method of etcd."""
    server = request.getfixturevalue("etcd_mtls_server" if request.param == "tls" else "etcd_server")
    options = ["--descriptor-set", etcd_schema_with_missing_methods]
    if request.param == "tls":
        options += ["--cacert", certificates / "ca.pem", "--cert", certificates / "client.pem"]
        options += ["--key", certificates / "client-key.pem"]
    return lambda method: [*options, f"{server.url}/{method}"]


# etcd, which uses grpc-go


def test_unary_call_of_an_unknown_service(outcomes, etcd):
    method = "etcdserverpb.Missing/Missing"
    assert outcomes(*etcd(method), data="{}") == all_of(76, f"{method}: {UNKNOWN_SERVICE}")


def test_stream_of_an_unknown_service_that_stays_open(outcomes, etcd):
    method = "etcdserverpb.Missing/MissingStream"
    assert outcomes(*etcd(method)) == all_of(76, f"{method}: {UNKNOWN_SERVICE}")


def test_put_that_is_too_large(outcomes, etcd):
    method, data = "etcdserverpb.KV/Put", json.dumps({"key": "YQ==", "value": "A" * 4_000_000})
    error = f"{method}: resource_exhausted (8): grpc: received message larger than max (3000008 vs. 2097152)"
    assert outcomes(*etcd(method), data=data) == all_of(72, error)


def test_batch_of_large_requests_and_responses(current_rpcurl, etcd, tmp_path):
    """Each transaction puts two values of 135 kB and reads them: 270 kB in each direction."""
    value = "A" * 180_000
    calls = [
        {"success": [
            {"requestPut": {"key": "YmF0Y2g=", "value": value}}, {"requestPut": {"key": "YmF0Y2gy", "value": value}},
            {"requestRange": {"key": "YmF0Y2g=", "rangeEnd": "YmF0Y2gz"}},
        ]}
    ] * TRANSACTIONS  # fmt: skip
    file = write(tmp_path / "calls.json", "\n".join(map(json.dumps, calls)))
    arguments = ["--each", "--jobs", 50, "-d", f"@{file}", *etcd("etcdserverpb.KV/Txn")]
    result = current_rpcurl(*arguments).succeeds()
    revisions = set()
    for line in result.out.splitlines():
        reply = json.loads(line)
        assert [kv["value"] for kv in reply["responses"][2]["responseRange"]["kvs"]] == [value, value]
        revisions.add(reply["header"]["revision"])
    # Each call was made once.
    assert len(revisions) == TRANSACTIONS


# grpcio and connectrpc


@dataclass(frozen=True)
class Demo:
    options: list
    # The prefix of an exception's message in the status message.
    raised: str

    def arguments(self, method):
        return [*self.options, method]


@pytest.fixture(params=["grpcio", "grpc", "grpc-web", "connect"])
def demo(request, descriptor_set):
    """The demo service, over gRPC at grpcio, or over each protocol at connectrpc."""
    is_grpcio = request.param == "grpcio"
    server = request.getfixturevalue("grpc_server" if is_grpcio else "connect_server")
    protocol = "grpc" if is_grpcio else request.param
    options = ["--descriptor-set", descriptor_set, "--protocol", protocol, "--http2"]
    return Demo([*options, server.url], "Unexpected <class 'ValueError'>: " if is_grpcio else "")


def test_stream_whose_handler_raises_while_it_stays_open(outcomes, demo):
    counts = outcomes("-H", "demo-fail-attempts: x", *demo.arguments(CHAT))
    assert counts == all_of(66, f"{CHAT}: unknown (2): {demo.raised}invalid literal for int() with base 10: 'x'")


def test_message_beyond_the_limit_of_grpcio(outcomes, start_server, descriptor_set):
    server = start_server("grpc_server.py", "--max-message-bytes", 1 << 20)
    error = f"{HELLO}: resource_exhausted (8): SERVER: Received message larger than max (2000004 vs. 1048576)"
    arguments = ["--descriptor-set", descriptor_set, f"{server.url}/{HELLO}"]
    assert outcomes(*arguments, data=json.dumps({"name": "x" * 2_000_000})) == all_of(72, error)


# nginx


@pytest.mark.parametrize("tls", [False, True])
def test_request_that_nginx_refuses_by_its_size(outcomes, start_foreign_server, grpc_server, descriptor_set, certificates, tls):
    options = ["--tls-dir", certificates] if tls else []
    server = start_foreign_server(
        "nginx_server.py", "--mode", "grpc", "--backend", grpc_server.address, "--max-body", "64k", *options
    )
    trust = ["--cacert", certificates / "ca.pem"] if tls else []
    arguments = ["--descriptor-set", descriptor_set, *trust, f"{server.url}/{HELLO}"]
    counts = outcomes(*arguments, data=json.dumps({"name": "x" * 1_000_000}))
    [(code, out, error)] = counts
    assert (code, out) == (66, b""), error
    assert error.startswith(f"rpcurl: {HELLO}: unknown (2): ") and "HTTP 413" in error
