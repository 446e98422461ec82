"""The interceptor `limit`, over batches, scripts and the calls of plugins."""

import json
import time

import pytest

import manual
from harness import names

HELLO = "demo.v1.Demo/Hello"


def test_a_batch_has_the_rate(call):
    begin = time.monotonic()
    result = call(HELLO, "--each", "--jobs", 8, "--use", "limit,rate=20", input=names(9))
    assert time.monotonic() - begin >= 8 / 20
    assert (result.code, result.err) == (0, "")
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(number) for number in range(9)]


def test_the_deadline_includes_the_wait(call):
    use = ["--use", "limit,rate=1/h", "--max-time", "300ms"]
    result = call(HELLO, "--each", "--jobs", 2, *use, input=names(2))
    assert result.code == 64 + 4 and len(result.out.splitlines()) == 1
    assert "(held by limit at request_start)" in result.err


def test_a_session_shares_the_limits(rpcurl, grpc_server, descriptor_set):
    begin = time.monotonic()
    result = rpcurl(
        "session", "--descriptor-set", descriptor_set, "--use", "limit,rate=10", grpc_server.url,
        input=f'call {HELLO} {{"name":"a"}}\n' * 5,
    )  # fmt: skip
    assert (result.code, len(result.out.splitlines())) == (0, 5), result.err
    assert time.monotonic() - begin >= 4 / 10


@pytest.fixture
def greeting(built_plugin):
    return built_plugin("greeting")


def test_the_call_of_a_plugin_does_not_wait_for_its_own_call(call, greeting):
    result = call(
        "demo.v1.Demo/EchoMetadata", "-d", "{}", "--use", "limit,concurrency=1", "--plugin", greeting, "--max-time", "20"
    ).exits(0)
    sent = {header["name"] for header in result.json()["headers"]}
    assert "x-greeting" in sent


def test_the_call_of_a_plugin_counts_for_the_rate(call, greeting):
    use = ["--use", "limit,rate=1/h,when-full=fail", "--plugin", greeting]
    call("demo.v1.Demo/EchoMetadata", "-d", "{}", *use).exits(64 + 8).reports("the limit of 1 call per hour is reached")


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    scripts = manual.examples("rpcurl-limit.7")
    ran = [manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)]) for script in scripts]
    rate, alone = ran
    assert (rate.returncode, rate.stdout) == (0, "Hello, Ada!\nHello, Grace!\nHello, Edsger!\n"), rate.stderr
    assert (alone.returncode, alone.stdout) == (0, '{"milliseconds":"500"}\nexit code 72\n'), alone.stderr
