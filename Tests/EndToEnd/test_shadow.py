"""The interceptor `shadow`: copies of calls to a second server."""

import json
import signal
import socket

import pytest

import manual
from harness import Caller

HELLO = "demo.v1.Demo/Hello"
METADATA = "demo.v1.Demo/EchoMetadata"


@pytest.fixture(scope="module")
def second_grpc_server(start_server):
    return start_server("grpc_server.py")


@pytest.fixture(scope="module")
def second_connect_server(start_server):
    return start_server("connect_server.py")


@pytest.fixture(params=["grpc", "grpc-web", "connect", "connect-json"])
def call(request, demo, grpc_server, connect_server, second_grpc_server, second_connect_server):
    """Calls a server: `call(method, *options)`; `call.second` is the other one."""
    protocol = request.param.removesuffix("-json")
    server, second = (grpc_server, second_grpc_server) if protocol == "grpc" else (connect_server, second_connect_server)
    caller = Caller(demo, server, *(["--codec", "json"] if request.param.endswith("json") else []), protocol=protocol)

    def run(method, *options, use=f"shadow,to={second.address},file=out", **more):
        return caller(method, "--use", use, *options, **more)

    run.second, run.home, run.server = second, demo.home, server
    return run


def received(server, method):
    return server.log().splitlines().count(f"received {method}")


def results(home):
    return [json.loads(line) for line in (home / "out").read_text().splitlines()]


@pytest.fixture
def silent(raw_server):
    """A server that reads until the client closes the connection, and does not respond."""
    return raw_server(lambda connection: [*iter(lambda: connection.recv(1 << 16), b"")])


def test_equal_responses(call):
    before = received(call.second, HELLO)
    result = call(HELLO, "-d", '{"name":"Ada"}', "-v")
    assert (result.code, result.json()["name"]) == (0, "Ada"), result.err
    assert received(call.second, HELLO) == before + 1
    assert f"* shadow: no difference from http://{call.second.address}: " in result.err
    (line,) = results(call.home)
    assert line["same"] and line["code"] == line["shadow_code"] == "ok" and line["ms"] > 0 and line["shadow_ms"] > 0


def test_credentials_are_not_copied(call):
    options = ["-d", "{}", "-H", "authorization: Bearer secret", "-H", "x-plain: 1"]
    result = call(METADATA, *options).exits(0).reports(f"shadow: {METADATA} differs at http://{call.second.address}: ")
    (line,) = results(call.home)
    sent = {header["name"] for header in result.json()["headers"]}
    assert {"authorization", "x-plain"} <= sent
    # The lists of headers differ in length: the copy lacks one.
    assert not line["same"] and any("shadow" not in found for found in line["differences"])
    call(METADATA, *options, use=f"shadow,to={call.second.address},headers=authorization,ignore=headers,file=out").succeeds()
    assert results(call.home)[0]["same"]


def test_other_status(call):
    # The second server requires the token, and does not receive it.
    options = ["-d", '{"name":"Ada"}', "-H", "demo-token: t", "-H", "authorization: Bearer t"]
    result = call(HELLO, *options, use=f"shadow,to={call.second.address},headers=demo-token,file=out")
    assert (result.code, result.json()["name"]) == (0, "Ada")
    assert '(status) is "ok", there "unauthenticated' in result.err
    assert results(call.home)[0]["shadow_code"] == "unauthenticated"


def test_server_that_cannot_be_reached(call):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        result = call(HELLO, "-d", '{"name":"Ada"}', use=f"shadow,to={address}")
    assert (result.code, result.json()["name"]) == (0, "Ada")
    assert f'differs at http://{address}: (status) is "ok", there "unavailable: ' in result.err


def test_the_wait_for_the_copy_is_bounded(call, silent):
    result = call(HELLO, "-d", '{"name":"Ada"}', use=f"shadow,to={silent.address},wait=50ms")
    assert (result.code, result.json()["name"]) == (0, "Ada")
    assert '(status) is "ok", there "canceled: no response within 0.05 seconds after the end of the call"' in result.err


def test_the_copy_ends_at_the_deadline(call, silent):
    result = call(HELLO, "-d", '{"name":"Ada"}', "--max-time", "0.5", use=f"shadow,to={silent.address},wait=1h")
    assert (result.code, result.json()["name"]) == (0, "Ada")
    assert 'there "deadline_exceeded: ' in result.err


@pytest.mark.parametrize("batch", [[], ["--each"]])
def test_the_response_does_not_wait_for_the_copy(demo, grpc_server, silent, batch):
    with demo.start(
        "--use", f"shadow,to={silent.address},wait=1h", "-d", '{"name":"Ada"}',
        *batch, f"{grpc_server.url}/{HELLO}",
    ) as process:  # fmt: skip
        assert json.loads(process.stdout.readline())["name"] == "Ada"
        # It waits for the copy now, until a signal.
        process.wait_until_idle()
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130 and b'there "canceled: ' in err, err


def test_failure_of_the_call(call):
    call(HELLO, "-d", "{}").exits(64 + 3)
    (line,) = results(call.home)
    assert line["same"] and line["code"] == line["shadow_code"] == "invalid_argument"


def test_events(call):
    result = call(HELLO, "-d", '{"name":"Ada"}', "--format", "events")
    (note,) = (json.loads(line) for line in result.out.splitlines() if json.loads(line)["event"] == "note")
    assert note["interceptor"] == "shadow" and note["text"].startswith("no difference from http://")


def test_batches(call):
    before = received(call.second, HELLO)
    result = call(HELLO, "--each", "--jobs", 4, input="".join(f'{{"name":"{number}"}}' for number in range(20))).succeeds()
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(number) for number in range(20)]
    assert received(call.second, HELLO) == before + 20
    assert [line["same"] for line in results(call.home)] == [True] * 20


def test_copies_pass_through_no_interceptor(call):
    options = ["--use", "record,file=cassette", "--use", "header,set=x-late:1"]
    result = call(HELLO, "-d", '{"name":"Ada"}', *options)
    assert (result.code, result.err, results(call.home)[0]["same"]) == (0, "", True)
    assert (call.home / "cassette").read_text().count('"event":"start"') == 1


def test_streams_pass(call):
    result = call("demo.v1.Demo/Count", "-d", '{"from":1,"to":3}', "-v")
    assert (result.code, len(result.out.splitlines())) == (0, 3)
    assert "* shadow: not copied: Count is a stream" in result.err
    assert results(call.home) == []


def test_session(rpcurl, grpc_server, second_grpc_server, descriptor_set):
    rpcurl(
        "session", "--descriptor-set", descriptor_set, "--plaintext", "--use",
        f"shadow,to={second_grpc_server.address},file=out,wait=1m", grpc_server.address,
        input='call Hello {"name":"Ada"}\ncall Hello {"name":"Grace"}\n',
    ).exits(0)  # fmt: skip
    assert [line["same"] for line in results(rpcurl.home)] == [True, True]


def test_the_examples_of_the_manual(grpc_server, second_grpc_server, descriptor_set, tmp_path):
    compare, batch = manual.examples("rpcurl-shadow.7")
    servers = [("localhost:50051", grpc_server.address), ("localhost:50052", second_grpc_server.address)]
    ran = manual.run(compare, tmp_path, descriptor_set, servers)
    assert ran.returncode == 0 and "no difference from" in ran.stderr, ran.stderr
    ran = manual.run(batch, tmp_path, descriptor_set, servers)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len((tmp_path / "results.ndjson").read_text().splitlines()) == 3
