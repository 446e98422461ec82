"""rpcurl test: the processes of suites, their terminal, and output that cannot be written."""

import json
import os
import signal
import subprocess

import pytest
from harness import PATIENCE_SECONDS, Process, wait_until, write
from terminal import Terminal

HELLO = 'test t\ncall Hello {"name":"Ada"}\n'
ENDLESS = 'call Count {"from":1,"to":1000000,"intervalMs":20}\n'
FULL = "No space left on device"


@pytest.fixture
def suite(grpc_server, tmp_path):
    """Write a suite, whose teardown writes a file: the paths of both."""

    def write(name, text):
        path, end = tmp_path / f"{name}.rpcurl", tmp_path / f"{name}.binpb"
        path.write_text(f"target {grpc_server.url}\n{text}\nteardown\nexport {end}\n")
        return path, end

    return write


@pytest.fixture
def wait_for_count(grpc_server):
    """Wait until the server has received so many more calls of Count."""
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    return lambda count: grpc_server.wait_for_calls("demo.v1.Demo/Count", received + count)


def test_files_that_need_a_password_fail_without_a_prompt(rpcurl, suite):
    files = [suite(name, HELLO)[0] for name in "ab"]
    command = rpcurl.command(("test", "-u", "ada", *files))
    terminal = Terminal(command, rpcurl.environment({"TERM": "xterm-256color"}), 200)
    try:
        assert terminal.end() == (4, None)
    finally:
        terminal.close()
    for name in "ab":
        assert any(f"/{name}.rpcurl:" in line for line in terminal.lines), terminal.text
    assert "missing password, and there is no terminal for a prompt" in terminal.text, terminal.text
    assert "--netrc-file FILE" in terminal.text, terminal.text


def test_long_output_needs_no_disk(rpcurl, suite):
    path, end = suite("a", 'test t\ncall Count {"from":1,"to":20000}\nexpect count == 1\n')
    result = rpcurl("test", "--report", "ndjson", path, env={"TMPDIR": "/dev/null"})
    (test,) = [event for event in result.lines() if event["event"] == "test"]
    assert (result.code, test["outcome"], end.exists()) == (8, "failed", True), result
    assert test["output"].startswith("…") and test["output"].endswith('{"number":20000}\n'), test["output"][-100:]


@pytest.mark.parametrize("count", [1, 2])
def test_output_that_cannot_be_written_ends_the_run_in_order(rpcurl, suite, tmp_path, count):
    files = [suite(name, HELLO) for name in "ab"[:count]]
    report = tmp_path / "report.xml"
    command = rpcurl.command(("test", "--report", "tap", "--report", f"junit={report}", *(path for path, _ in files)))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=rpcurl.environment(None), timeout=PATIENCE_SECONDS
        )
    assert (done.returncode, done.stderr) == (1, f"rpcurl: standard output: {FULL}\n")
    assert "</testsuites>" in report.read_text()
    # One of two may be stopped before it starts.
    assert count == 2 or files[0][1].exists()


def test_reader_that_ends_ends_the_run_with_its_teardown(rpcurl, suite, wait_for_count):
    path, end = suite("a", f"test t\n{ENDLESS}")
    with rpcurl.start("test", "--report", "tap", path) as process:
        wait_for_count(1)
        process.stdout.close()
        process.wait(PATIENCE_SECONDS)
        err = process.stderr.read()
    assert (process.returncode, err, end.exists()) == (-signal.SIGPIPE, b"", True)


def test_suites_end_with_their_teardowns_after_the_run(rpcurl, suite, wait_for_count):
    """The process that receives their events is killed."""
    files = [suite(name, f"test t\n{ENDLESS}") for name in "ab"]
    with rpcurl.start("test", "--jobs", "2", *(path for path, _ in files)) as process:
        wait_for_count(2)
        process.kill()
    for _, end in files:
        wait_until(end.exists, f"{end} exists")


@pytest.mark.parametrize("count", [1, 2])
def test_hang_up_ends_the_run_with_its_teardowns(rpcurl, suite, wait_for_count, count):
    files = [suite(name, f"test t\n{ENDLESS}") for name in "ab"[:count]]
    with rpcurl.start("test", "--jobs", "2", *(path for path, _ in files)) as process:
        wait_for_count(count)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate()
    assert (process.returncode, err) == (143, b"rpcurl: terminated\n")
    assert all(end.exists() for _, end in files)


def test_nohup_is_kept(rpcurl, suite, wait_for_count):
    path, _ = suite("a", f"test t\n{ENDLESS}")
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *rpcurl.command(("test", path))]
    with Process(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=rpcurl.environment(None)) as process:
        wait_for_count(1)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, b"rpcurl: interrupted\n")


def test_message_that_is_large_fails_only_its_check(rpcurl, suite, tmp_path):
    """Its command line is too long for an event."""
    (tmp_path / "large.json").write_text(json.dumps({"name": '"' * 2_200_000}))
    large, _ = suite("a", f'test t\ncall Hello @{tmp_path}/large.json > /dev/null\nexpect .name == "q"\n\n{HELLO.replace(" t", " u")}')
    small, _ = suite("b", HELLO)
    result = rpcurl("test", "--report", "ndjson", large, small)
    tests = [event for event in result.lines() if event["event"] == "test"]
    assert sorted(test["outcome"] for test in tests) == ["failed", "passed", "passed"], result.out[-1000:]
    (failure,) = [failure for test in tests for step in test["steps"] for failure in step.get("failures", [])]
    assert failure["check"] == '.name == "q"' and "command" not in failure, failure.keys()


def test_report_that_cannot_be_written_does_not_prevent_others(rpcurl, suite, tmp_path):
    path, end = suite("a", HELLO)
    page = tmp_path / "page.html"
    options = ["--report", "terminal", "--report", "junit=/dev/full", "--report", f"html={page}", "--coverage", "json=/dev/full"]
    result = rpcurl("test", *options, path).exits(1, err=f"rpcurl: /dev/full: {FULL}\n" * 2)
    assert "1 passed" in result.out and "</html>" in page.read_text()
    # One that certainly cannot is an error before the run.
    end.unlink()
    missing = tmp_path / "none" / "report.xml"
    rpcurl("test", "--report", f"junit={missing}", path).exits(1, err=f"rpcurl: {missing}: No such file or directory\n")
    assert not end.exists()


@pytest.mark.parametrize("options", [("-H", "@/dev/stdin"), ("--descriptor-set", "-"), ("--compare", "-"), ("--config", "/dev/fd/0")])
def test_pipe_that_several_processes_would_read_is_refused(rpcurl, suite, options):
    files = [suite(name, HELLO)[0] for name in "ab"]
    result = rpcurl("test", *options, *files, input="")
    why = "the process of each suite reads it, and a pipe can be read once\nhint: write it to a file\n"
    assert (result.code, result.out, result.err) == (2, "", f"rpcurl: {' '.join(options)}: {why}")


def test_options_of_each_process_are_those_of_the_run(rpcurl, suite, grpc_server):
    files = [suite(name, HELLO)[0] for name in "ab"]
    for path in files:
        path.write_text(HELLO)
    host = grpc_server.url.removeprefix("http://")
    rpcurl("test", "--plaintext=false", *files, env={"RPCURL_TARGET": host}).exits(4).prints("does not use TLS")


def test_suite_that_waits_for_its_schema_when_the_run_ends_is_skipped(rpcurl, suite, raw_server, tmp_path):
    asked = tmp_path / "request"
    os.mkfifo(asked)

    def serve(connection):
        connection.recv(1)
        asked.write_text('{"name":"Ada"}')
        while connection.recv(1 << 16):
            pass

    waiting = write(tmp_path / "waiting.rpcurl", f"target http://{raw_server(serve).address}\ntest t\ncall demo.v1.Demo/Hello\n")
    failing, _ = suite("b", f'test u\ncall Hello @{asked}\nexpect .name == "q"\n')
    result = rpcurl("test", "--fail-early", "--jobs", "2", "--report", "ndjson", waiting, failing)
    tests = {event["name"]: event for event in result.lines() if event["event"] == "test"}
    outcomes = {name: (test["outcome"], test.get("reason")) for name, test in tests.items()}
    assert outcomes == {"t": ("skipped", "the run ended early"), "u": ("failed", None)}, result.out


def test_test_that_the_end_of_the_run_interrupts_is_skipped(rpcurl, suite, wait_for_count, tmp_path):
    endless, end = suite("a", f"test t\n{ENDLESS}")
    os.mkfifo(tmp_path / "request")
    failing, _ = suite("b", f'test u\ncall Hello @{tmp_path}/request\nexpect .name == "q"\n')
    with rpcurl.start("test", "--fail-early", "--jobs", "2", "--report", "ndjson", endless, failing) as process:
        wait_for_count(1)
        (tmp_path / "request").write_text('{"name":"Ada"}')
        out, err = process.communicate()
    tests = {event["name"]: event for event in map(json.loads, out.splitlines()) if event["event"] == "test"}
    outcomes = {name: (test["outcome"], test.get("reason")) for name, test in tests.items()}
    assert outcomes == {"t": ("skipped", "the run ended early"), "u": ("failed", None)}, out
    assert (process.returncode, err, end.exists()) == (8, b"", True)


def numbers_of_calls(path):
    return [json.loads(line)["call"] for line in path.read_text().splitlines()[1:] if '"event":"start"' in line]


@pytest.mark.parametrize("jobs", ["1", "6"])
def test_suites_that_record_to_one_file_keep_the_calls_of_the_others(rpcurl, suite, tmp_path, jobs):
    """The first one replaces the file of an earlier run."""
    files = [suite(name, HELLO)[0] for name in "abcdef"]
    for path in files:
        path.write_text(path.read_text().replace("test t\n", f"use record,file={tmp_path}/shared.rec\ntest t\n", 1))
    for _ in range(2):
        rpcurl("test", "--jobs", jobs, *files).exits(0)
        assert len(set(numbers_of_calls(tmp_path / "shared.rec"))) == len(numbers_of_calls(tmp_path / "shared.rec")) == 6


def test_suites_that_would_replace_the_report_of_others_are_refused(rpcurl, suite, tmp_path):
    for setting in ["metrics,file={}/out.prom", "assert,junit={}/out.xml", "log,format=har,file={}/out.har"]:
        files = [suite(name, HELLO)[0] for name in "ab"]
        for path in files:
            path.write_text(path.read_text().replace("test t\n", f"use {setting.format(tmp_path)}\ntest t\n", 1))
        result = rpcurl("test", "--jobs", "1", *files)
        assert result.code != 0 and "another suite of this run writes this file" in result.out, result.out
