"""Checks of the connection and of the certificate of the server, in suites, scripts, sessions and `assert`."""

import pytest
from harness import write

HELLO = "demo.v1.Demo/Hello"
CALL = 'call Hello {"name":"Ada"}\n'
HOLDING = [
    "connection http == 2", "connection tls >= 1.2", "connection address =~ ^127\\.0\\.0\\.1:", "certificate expires > 30d",
    "certificate name == localhost", "certificate name == 127.0.0.1", "certificate issuer =~ trustme", "certificate subject exists",
]  # fmt: skip
FAILING = {
    "connection http == 1.1": 'got "2"',
    "connection tls < 1.2": 'got "1.',
    "certificate expires < 30d": "got ",
    "certificate name == other.test": '"localhost"',
    "certificate issuer absent": "trustme",
}


@pytest.fixture
def options(certificates, descriptor_set):
    return ["--cacert", certificates / "ca.pem", "--descriptor-set", descriptor_set]


@pytest.fixture
def run(rpcurl, grpc_tls_server, options, tmp_path):
    """Run a script."""

    def run(text, *more, reflects=False):
        path = write(tmp_path / "script", text)
        return rpcurl("run", *(options[:2] if reflects else options), *more, grpc_tls_server.url, path)

    return run


@pytest.mark.parametrize("reflects", [False, True])
def test_checks_of_each_call_of_a_connection(run, reflects):
    """Only the first call makes the connection, or the request for the schema."""
    checks = "".join(f"expect {check}\n" for check in HOLDING)
    run((CALL + checks) * 2, reflects=reflects).exits(0, err="")


@pytest.mark.parametrize("check", FAILING)
def test_failed_check_shows_what_the_connection_has(run, check):
    run(f"{CALL}expect {check}\n").exits(8).reports(f"expect {check}: expected ", FAILING[check])


def test_check_of_a_stream_that_is_open(run):
    run('open Chat\n{"text":"hi"}\nreceive\nexpect certificate expires > 30d\nexpect connection http == 2\nclose\nwait\n').exits(0, err="")


def test_suite(rpcurl, grpc_tls_server, options, tmp_path):
    checks = "".join(f"expect {check}\n" for check in HOLDING)
    text = f"target {grpc_tls_server.url}\ntest one\n{CALL}\ntest two\n{CALL}{checks}\ntest three\nuse assert,check='certificate expires > 30d'\n{CALL}"
    result = rpcurl("test", *options, write(tmp_path / "a.rpcurl", text)).exits(0, err="")
    assert result.out.startswith("3 passed")


def test_suite_without_tls_has_no_certificate(rpcurl, grpc_server, descriptor_set, tmp_path):
    text = f"target {grpc_server.url}\ntest one\n{CALL}expect certificate expires > 30d\nexpect certificate name exists\nexpect connection tls exists\n"
    result = rpcurl("test", "--descriptor-set", descriptor_set, write(tmp_path / "a.rpcurl", text)).exits(8)
    assert result.out.count("no certificate") == 2 and result.out.count("no TLS") == 1


def test_session_at_a_pipe(rpcurl, grpc_tls_server, options):
    text = f"{CALL}expect certificate expires > 30d\nexpect certificate name == other.test\n"
    rpcurl("session", *options, grpc_tls_server.url, input=text).reports("certificate name == other.test", '"localhost"')


@pytest.mark.parametrize("reflects", [False, True])
def test_assert(rpcurl, grpc_tls_server, options, reflects):
    def call(check):
        schema = options[:2] if reflects else options
        return rpcurl(*schema, "--no-cache", "--use", f"assert,check='{check}'", "-d", '{"name":"Ada"}', f"{grpc_tls_server.url}/{HELLO}")

    for check in HOLDING:
        call(check).exits(0)
    for check, got in FAILING.items():
        call(check).exits(8).reports(got)


def test_calls_of_a_batch_and_attempts(rpcurl, grpc_tls_server, options):
    use = ["--use", "assert,check='certificate expires > 30d'", "--use", "retry,until='connection http == 2',attempts=2"]
    rpcurl(*options, "--each", *use, "-d", '{"name":"A"}{"name":"B"}{"name":"C"}', f"{grpc_tls_server.url}/{HELLO}").exits(0)


@pytest.mark.parametrize("condition", ["connection http == 2", "certificate name exists"])
def test_stub_has_no_connection(grpc_call, tmp_path, condition):
    stub = write(tmp_path / "stub.json", f'{{"method": "{HELLO}", "where": ["{condition}"], "response": {{}}}}')
    grpc_call("Hello", "-d", "{}", "--use", f"mock,file={stub}").exits(7, "")
