"""The interceptor `breaker`, on batches and scripts with servers that fail."""


import pytest

import manual

HELLO = "demo.v1.Demo/Hello"
FAIL = "demo.v1.Demo/Fail"
BUSY = '{"code":14,"message":"busy"}'


def errors(result):
    """The errors of the calls, in order, and whether the breaker caused each."""
    lines = [line for line in result.err.splitlines() if line.startswith("rpcurl: call ")]
    return [("interceptor breaker" in line, line) for line in lines]


def test_opens_after_failures(call):
    result = call(FAIL, "--each", "--use", "breaker,failures=2,open=1m", input=BUSY * 4)
    found = errors(result)
    assert [is_open for is_open, _ in found] == [False, False, True, True], result.err
    assert "unavailable (14): the breaker is open for " in found[2][1]
    assert "2 of 2 calls failed within 10.0 seconds, last with unavailable: busy; the next call is possible in" in found[2][1]
    assert result.err.count("breaker: open for ") == 1
    assert result.code == 64 + 14


def test_probe_that_is_not_sent_does_not_close_it(call, tmp_path):
    """From the second call on there is no token."""
    once = tmp_path / "once.sh"
    once.write_text(f'#!/bin/sh\nmkdir {tmp_path}/first || exit 1\necho \'{{"access_token":"t","expires_in":0}}\'\n')
    once.chmod(0o755)
    words = ["fault,delay=5ms", "breaker,failures=1,open=1ms", f"auth,bearer=cmd:{once},allow-plaintext=true"]
    result = call(FAIL, "--each", *(f"--use={word}" for word in words), input=BUSY * 3)
    assert result.err.count("half-open: probing") == 2 and "responds again" not in result.err, result.err


def test_open_breaker_makes_no_connection(demo, raw_server):
    def connections(*use):
        server = raw_server(lambda connection: None)
        url = f"http://{server.address}/{HELLO}"
        result = demo("--each", *use, url, input='{"name":"a"}' * 6)
        return server.connections, result.err.count("the breaker is open")

    each, _ = connections()
    made, refused = connections("--use", "breaker,failures=2,open=1m")
    # A call that fails may make several connections.
    assert refused == 4 and 0 < made < each


def test_a_session_shares_the_breaker(rpcurl, grpc_server, descriptor_set):
    result = rpcurl(
        "session", "--descriptor-set", descriptor_set, "--use", "breaker,failures=2,open=1m", grpc_server.url,
        input=f"call {FAIL} {BUSY}\n" * 3,
    )  # fmt: skip
    assert result.err.count("the breaker is open") == 1, result.err


@pytest.mark.parametrize("method", ["Count", "Chat"])
def test_streams_count(call, method):
    # The server fails the stream that it receives.
    options = ["-H", "demo-code: 14", "--use", "retry,attempts=3,initial=1ms", "--use", "breaker,failures=1,open=1m"]
    call(f"demo.v1.Demo/{method}", "-H", "demo-fail-attempts: 9", *options).exits(64 + 14).reports("the breaker is open")


def test_the_example_of_the_manual(grpc_server, descriptor_set, tmp_path):
    [script] = manual.examples("rpcurl-breaker.7")
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (done.returncode, done.stdout.splitlines()[-1][:10]) == (0, "exit code "), done.stderr
    assert done.stderr.count("the breaker is open") == 3
