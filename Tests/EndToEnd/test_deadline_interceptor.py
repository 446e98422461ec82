"""The interceptor `deadline`, on calls to servers that are slow."""

import re

import pytest

import manual

DELAY = "demo.v1.Demo/Delay"
COUNT = "demo.v1.Demo/Count"
SLOW = ["-d", '{"milliseconds":60000}']


@pytest.mark.parametrize("limits", [["default=300ms"], ["max=300ms"], ["default=300ms", "max=20"]])
def test_ends_slow_calls(call, limits):
    result = call(DELAY, *SLOW, "--use", ",".join(["deadline", *limits])).exits(64 + 4, "")
    assert re.search(r"deadline_exceeded \(4\): the call took longer than 0\.3\d* seconds", result.err)


@pytest.mark.parametrize("attempts", ["retry", "hedge,methods=*"])
def test_ends_attempts_that_an_interceptor_holds(call, attempts):
    call(DELAY, *SLOW, "--use", attempts, "--use", "deadline,max=300ms", "--use", "fault,delay=60s").exits(64 + 4, "").reports(
        "the attempt took longer than 0.3",  # the time since its begin, of which a machine under load takes more
        "(held by fault at request_start)",
    )


@pytest.mark.parametrize(
    ("setting", "option", "seconds"),
    [
        ("default=40", [], (30, 40)),
        ("default=40", ["--max-time", "90"], (80, 90)),
        ("max=40", ["--max-time", "90"], (30, 40)),
        ("max=40", ["--max-time", "20"], (10, 20)),
        ("max=40,methods=*/Delay", ["--max-time", "90"], (80, 90)),
    ],
)
def test_the_server_receives_the_deadline(call, setting, option, seconds):
    result = call("demo.v1.Demo/EchoMetadata", "-d", "{}", "--use", f"deadline,{setting}", *option).exits(0)
    low, high = seconds
    assert low * 1000 <= int(result.json()["timeoutMs"]) <= high * 1000


def test_without_a_deadline_the_server_receives_none(call):
    result = call("demo.v1.Demo/EchoMetadata", "-d", "{}", "--use", "deadline,idle=40")
    assert result.code == 0 and "timeoutMs" not in result.json()


def test_ends_idle_streams(call):
    result = call(COUNT, "-d", '{"from":1,"to":3,"intervalMs":60000}', "--use", "deadline,idle=500ms").exits(64 + 4)
    assert result.json() == {"number": 1}
    assert "interceptor deadline: deadline_exceeded (4): no message received for 0.5 seconds" in result.err


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    scripts = manual.examples("rpcurl-deadline.7")
    ran = [manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)]) for script in scripts]
    limited, idle = ran
    assert (limited.returncode, limited.stdout) == (0, "exit code 68\n"), limited.stderr
    assert re.search(r"took longer than 0\.3\d* seconds", limited.stderr)
    assert (idle.returncode, idle.stdout) == (0, '{"number":1}\nexit code 68\n'), idle.stderr
