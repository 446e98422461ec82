"""rpcurl test: time and memory of tests, rows and files that do not run, and --format-files for standard input."""

import json
import os
import signal

import pytest
from harness import write

ENDLESS = '{"from":1,"to":1000000,"intervalMs":20}'


@pytest.fixture
def suite(grpc_server, tmp_path):
    """Write a suite: its path."""

    def write(text):
        path = tmp_path / "suite.rpcurl"
        path.write_text(f"target {grpc_server.url}\n{text}")
        return path

    return write


def results(output):
    return [event for event in map(json.loads, output.splitlines()) if event["event"] == "test"]


@pytest.mark.parametrize("command", ["call Hello @{}", "source {}", "edit Hello", "call Hello\nexpect . golden {}"])
def test_limit_ends_the_wait_for_a_file_or_a_program(rpcurl, suite, tmp_path, command):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    path = suite(f"test waits\ntimeout 1s\n{command.format(fifo)}\n\ntest goes on\n")
    result = rpcurl("test", "--report", "ndjson", path, env={"EDITOR": f": < {fifo}"})
    waits, goes_on = results(result.out)
    assert (waits["outcome"], goes_on["outcome"]) == ("failed", "passed"), result.out
    assert waits["error"]["why"].startswith("the test took longer than"), waits


@pytest.mark.parametrize("limit", [None, "--step-timeout", "--test-timeout"])
def test_limit_ends_the_wait_for_the_schema(rpcurl, raw_server, tmp_path, limit):
    server = raw_server(lambda connection: [None for _ in iter(lambda: connection.recv(1 << 16), b"")])
    path = write(tmp_path / "suite.rpcurl", f"target http://{server.address}\ntest waits\n{'' if limit else 'timeout 200ms'}\ncall demo.v1.Demo/Hello\n")
    (test,) = results(rpcurl("test", "--report", "ndjson", *([limit, "200ms"] if limit else []), path).out)
    assert test["error"]["why"].endswith("took longer than 200 ms"), test
    assert test["error"]["hint"].startswith(limit or "--test-timeout, or timeout DURATION in the suite"), test
    assert test["seconds"] < 5, test


def test_responses_of_earlier_calls_are_not_kept(rpcurl, suite, grpc_server):
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    calls = 'call Large {"sizeBytes":"4000000"} > /dev/null\n' * 30
    with rpcurl.start("test", suite(f"test t\n{calls}call Count {ENDLESS}\n")) as process:
        grpc_server.wait_for_calls("demo.v1.Demo/Count", received + 1)
        peak = process.peak_kilobytes()
        process.send_signal(signal.SIGINT)
        process.communicate()
    # All of them are 120 MB.
    assert peak < 90_000


def test_each_row_that_an_interrupt_prevents_is_skipped(rpcurl, suite, grpc_server, tmp_path):
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    (tmp_path / "rows.ndjson").write_text('{"n":"a"}\n{"n":"b"}\n{"n":"c"}\n')
    path = suite(f"test t\nrows rows.ndjson name=n\ncall Count {ENDLESS}\n")
    with rpcurl.start("test", "--report", "ndjson", path) as process:
        grpc_server.wait_for_calls("demo.v1.Demo/Count", received + 1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
    rows = {test["row"]: (test["outcome"], test.get("reason")) for test in results(out)}
    assert process.returncode == 130
    assert rows == {"a": ("error", None), "b": ("skipped", "interrupted"), "c": ("skipped", "interrupted")}


def test_interrupted_editor_is_named(rpcurl, suite, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    path = suite("test t\nedit Hello\n")
    with rpcurl.start("test", "--report", "ndjson", path, env={"EDITOR": f": > {fifo}; : < {fifo}"}) as process:
        # The editor waits for a reader.
        with open(fifo, "rb"):
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate()
    (test,) = results(out)
    assert (process.returncode, test["error"]["why"]) == (143, "terminated"), out


def test_command_of_a_canceled_call_has_no_limit_without_responses(rpcurl, suite):
    (test,) = results(rpcurl("test", "--report", "ndjson", suite("test t\nopen Chat\ncancel\nexpect status ok\n")).out)
    (failure,) = test["steps"][0]["failures"]
    assert failure["command"].startswith("rpcurl call ") and "--limit" not in failure["command"]


def test_file_that_cannot_be_found_is_an_error(rpcurl, tmp_path):
    (tmp_path / "good.rpcurl").write_text("test t\n")
    path = os.fsencode(tmp_path) + b"/x\xff.rpcurl"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    result = rpcurl("test", tmp_path).exits(2, "")
    assert result.err.startswith(f"rpcurl: {tmp_path}/x\ufffd.rpcurl: the name is not UTF-8\n"), result.err


@pytest.mark.parametrize("text", ["test a \n\n\n\ncall B", "test a\n\ncall B\n"])
def test_standard_input_is_formatted_to_standard_output(rpcurl, text):
    rpcurl("test", "--format-files", "-", input=text).exits(0, "test a\n\ncall B\n", "")
    assert list(rpcurl.home.iterdir()) == []
