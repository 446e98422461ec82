"""Reports of plugins that crash or block."""

import json
import re
import signal
import subprocess

import pytest

from harness import build_plugin, silent

HELLO = "demo.v1.Demo/Hello"
OUTSIDE_OF_CALLS = ["load", "configure", "ready", "unload"]
IN_CALLS = [
    "open", "stages", "request_start", "request_message", "request_end", "response_start", "response_message",
    "response_end", "metrics", "close",
]  # fmt: skip


@pytest.fixture
def call(grpc_call):
    return lambda plugin, **environment: grpc_call("Hello", "--plugin", plugin, data='{"name":"Ada"}', env=environment)


@pytest.mark.parametrize("place", IN_CALLS)
def test_crash_in_a_call_names_plugin_stage_and_call(call, crash, place):
    call(f"{crash},x=1", CRASH_AT=place).exits(7).reports(f"rpcurl: plugin crash: crashed (SIGSEGV) in {place}, in the call {HELLO}\n", f"hint: its file is {crash}; ")


@pytest.mark.parametrize("place", OUTSIDE_OF_CALLS)
def test_crash_outside_of_calls_names_plugin_and_step(call, crash, place):
    call(f"{crash},x=1", CRASH_AT=place).exits(7).reports(f"rpcurl: plugin crash: crashed (SIGSEGV) in {place}\n")


def test_crash_before_the_name_is_known_names_the_file(call, crash):
    assert call(crash, CRASH_AT="constructor").exits(7).err.splitlines()[0] == f"rpcurl: plugin {crash}: crashed (SIGSEGV) in dlopen"
    result = call(crash, CRASH_AT="entry")
    assert (result.code, result.err.splitlines()[0]) == (
        7, f"rpcurl: plugin {crash}: crashed (SIGSEGV) in rpcurl_plugin_entry",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("how", "name"),
    [("abort", "SIGABRT"), ("divide", "SIGFPE"), ("illegal", "SIG(ILL|TRAP)"), ("bus", "SIGBUS"), ("overflow", "SIGSEGV")],
)
def test_every_kind_of_crash(call, crash, how, name):
    result = call(crash, CRASH_AT="response_message", CRASH_HOW=how).exits(7)
    assert re.search(rf"plugin crash: crashed \({name}\) in response_message, ", result.err), result.err


def test_crash_within_a_function_of_the_host_says_so(call, crash):
    call(crash, CRASH_AT="request_end", CRASH_HOW="host").exits(7).reports(f"crashed (SIGSEGV) in request_end, in the call {HELLO}, within a function of rpcurl\n")


@pytest.mark.parametrize("how", ["", "abort"])
def test_crash_on_a_thread_of_the_plugins_own(call, crash, how):
    result = call(crash, CRASH_AT="thread", CRASH_HOW=how).exits(7)
    assert re.search(r"plugin crash: crashed \(SIG(SEGV|ABRT)\) outside of a callback\n", result.err), result.err


def test_crash_at_exit(call, crash):
    result = call(crash, CRASH_AT="destructor").exits(7)
    assert result.json()["message"] == "Hello, Ada!"
    assert "plugin crash: crashed (SIGSEGV) outside of a callback" in result.err


def test_crash_names_the_line(call, crash):
    result = call(crash, CRASH_AT="request_start")
    address = re.search(r"addr2line -fe FILE (0x[0-9a-f]+)", result.err)
    assert address, result.err
    words = subprocess.run(["addr2line", "-fe", crash, address[1]], capture_output=True, text=True, check=True).stdout
    assert words.startswith("crash\n") and "crash.c:" in words


def test_exception_that_leaves_a_callback(call, tmp_path):
    call(build_plugin("escaping.cpp", tmp_path / "escaping.so")).exits(7).reports(f"plugin escaping: crashed (SIGABRT) in request_start, in the call {HELLO}")


def test_crash_outside_of_plugins_is_not_attributed_to_them(rpcurl, silent_call):
    """A signal from outside ends the process as it would without plugins."""
    with silent_call() as process:
        process.send_signal(signal.SIGABRT)
        _, err = process.communicate()
    assert process.returncode == -signal.SIGABRT
    assert b"crashed" not in err


@pytest.fixture
def silent_call(demo, crash, raw_server):
    """A call with a plugin to a silent server."""

    server = raw_server(silent)

    def start():
        process = demo.start("--plugin", crash, "-v", f"http://{server.address}/{HELLO}")
        # Verbose output shows that the plugin is loaded and that the call runs.
        assert process.stderr.read(1)
        return process

    return start


# Ending the process, and never returning


@pytest.mark.parametrize("how", ["exit", "quick_exit", "pthread_exit"])
def test_exit_in_a_callback_is_a_failure_of_the_plugin(call, crash, how):
    result = call(crash, CRASH_AT="response_message", CRASH_HOW=how).exits(7)
    what = "ended a thread of rpcurl" if how == "pthread_exit" else "ended the process"
    assert f"rpcurl: plugin crash: {what} in response_message, in the call {HELLO}\n" in result.err


def test_callback_that_never_returns_does_not_outlive_the_deadline(demo, grpc_server, crash):
    demo(
        "-d", '{"name":"Ada"}', "--plugin", crash, "--max-time", "2",
        f"{grpc_server.url}/{HELLO}", env={"CRASH_AT": "response_message", "CRASH_HOW": "hang"},
    ).exits(7).reports(f"plugin crash: did not return after the deadline, in response_message, in the call {HELLO}\n")  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_callback_that_never_returns_does_not_outlive_a_signal(rpcurl, grpc_server, descriptor_set, crash, number):
    data = ["-d", '{"name":"Ada"}']
    arguments = ["--descriptor-set", descriptor_set, *data, "--plugin", crash, f"{grpc_server.url}/{HELLO}"]
    with rpcurl.start(*arguments, env={"CRASH_AT": "response_message", "CRASH_HOW": "hang"}) as process:
        # The watchdog reports that it runs.
        assert b"response_message has been running" in process.stderr.readline()
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == 7
    assert b"plugin crash: did not return after the signal to end, in response_message" in err


# Blocking


@pytest.mark.parametrize("place", ["open", "request_start", "response_message", "close"])
def test_blocking_stage_is_reported_and_awaited(rpcurl, grpc_server, descriptor_set, crash, place, tmp_path):
    data = ["-d", '{"name":"Ada"}']
    arguments = ["--descriptor-set", descriptor_set, *data, "--plugin", crash, f"{grpc_server.url}/{HELLO}"]
    go_on = tmp_path / "go-on"
    with rpcurl.start(*arguments, env={"BLOCK_AT": place, "BLOCK_UNTIL": str(go_on)}) as process:
        line = process.stderr.readline().decode()
        assert line == f"crash: {place} has been running for 100 ms, in the call {HELLO}, which blocks all calls\n"
        go_on.touch()
        out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["message"] == "Hello, Ada!"


def test_slow_load_is_accepted(call, crash):
    call(crash, BLOCK_AT="load").succeeds()
