"""rpcurl test --rerun: what runs again after a change, and how it ends."""

import contextlib
import json
import signal

import pytest
from harness import SERVERS, write

HELLO = 'call Hello {"name":"Ada"}\n'


class Rerun:
    """A run that continues, with its events and what it reports between the runs."""

    def __init__(self, process):
        self.process = process

    def next_run(self):
        """The outcomes of the tests of the next run, by file and name."""
        outcomes = {}
        while (event := json.loads(self.process.stdout.readline()))["event"] != "end":
            if event["event"] == "test":
                outcomes[event["file"].rsplit("/", 1)[-1], event["name"]] = event["outcome"]
        return outcomes

    def waits(self):
        """Wait until changes are awaited; returns the lines before."""
        lines = []
        while not (line := self.process.stderr.readline().decode()).startswith("watching "):
            assert line, lines
            lines.append(line.strip())
        return lines


@pytest.fixture
def suite(grpc_server, tmp_path):
    """Write a suite in the directory `tests`, and return its path."""
    (tmp_path / "tests").mkdir()

    def suite(name, text):
        # At once: a run that another change begins must not find half of it.
        path = tmp_path / "tests" / f"{name}.rpcurl"
        return write(tmp_path / "new suite", f"target {grpc_server.url}\n{text}").replace(path)

    return suite


@pytest.fixture
def rerun(rpcurl, descriptor_set, tmp_path):
    """`rerun(options…)` starts the suites of the directory."""
    with contextlib.ExitStack() as stack:

        def start(*options, schema=("--descriptor-set", descriptor_set)):
            words = ["test", "--rerun", "--report", "ndjson", *schema, *options, tmp_path / "tests"]
            process = stack.enter_context(rpcurl.start(*words))
            stack.callback(process.kill)
            return Rerun(process)

        yield start


def test_changed_suite_runs_alone(suite, rerun):
    first = suite("a", f"test one\n{HELLO}")
    suite("b", f"test two\n{HELLO}")
    run = rerun()
    assert run.next_run() == {("a.rpcurl", "one"): "passed", ("b.rpcurl", "two"): "passed"}
    assert run.waits() == []
    suite("a", f"test other\n{HELLO}expect .name == Eve\n")
    assert run.next_run() == {("a.rpcurl", "other"): "failed"}
    assert run.waits() == [f"changed: {first}"]
    # A failed run does not end it.
    suite("a", f"test other\n{HELLO}expect .name == Ada\n")
    assert run.next_run() == {("a.rpcurl", "other"): "passed"}
    run.waits()
    suite("a", "test other\nno such command\n")
    assert run.next_run() == {}
    run.waits()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait() == 130


def test_changed_data_runs_the_suites_that_name_it(suite, rerun, tmp_path):
    users = write(tmp_path / "tests" / "users.csv", "name\nAda\n")
    shared = write(tmp_path / "shared.rpcurl", f"shared\n{HELLO}")
    suite("a", 'test rows\nrows users.csv name=name\ncall Hello {"name":$row.name}\n')
    suite("b", f"test steps\nsource {shared}\n")
    run = rerun()
    assert set(run.next_run()) == {("a.rpcurl", "rows"), ("b.rpcurl", "steps")}
    run.waits()
    write(users, "name\nEve\n")
    assert set(run.next_run()) == {("a.rpcurl", "rows")}
    run.waits()
    # As editors do, a new file replaces the old one.
    write(tmp_path / "new", f"shared\n{HELLO}{HELLO}").rename(shared)
    assert set(run.next_run()) == {("b.rpcurl", "steps")}
    run.waits()
    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait() == 143


def test_changed_schema_runs_all_suites_and_new_suites_run(suite, rerun, tmp_path):
    (tmp_path / "protos").mkdir()
    proto = write(tmp_path / "protos" / "demo.proto", (SERVERS / "demo.proto").read_text())
    suite("a", f"test one\n{HELLO}")
    suite("b", f"test two\n{HELLO}")
    run = rerun(schema=("-I", tmp_path / "protos", "--proto", "demo.proto"))
    assert len(run.next_run()) == 2
    run.waits()
    write(proto, proto.read_text() + "\n// changed\n")
    assert len(run.next_run()) == 2
    assert run.waits() == [f"changed: {proto}"]
    suite("c", f"test three\n{HELLO}")
    assert run.next_run() == {("c.rpcurl", "three"): "passed"}
    run.waits()
    (tmp_path / "tests" / "below").mkdir()
    suite("below/d", f"test four\n{HELLO}")
    assert run.next_run() == {("d.rpcurl", "four"): "passed"}


def test_files_that_a_run_writes_are_no_changes(suite, rerun, tmp_path):
    suite("a", f"test one\nuse log,file={tmp_path}/calls.log\n{HELLO}expect . golden hello.json\n")
    run = rerun("--update", "--report", f"junit={tmp_path}/report.xml")
    assert run.next_run() == {("a.rpcurl", "one"): "passed"}
    run.waits()
    suite("a", f"test two\nuse log,file={tmp_path}/calls.log\n{HELLO}expect . golden hello.json\n")
    assert run.next_run() == {("a.rpcurl", "two"): "passed"}
    run.waits()
    # No further run has begun: its events would be the next line.
    run.process.send_signal(signal.SIGINT)
    assert (run.process.wait(), run.process.stdout.read()) == (130, b"")


def test_signal_during_a_run_waits_for_its_teardown(suite, rerun, grpc_server, tmp_path):
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    suite("a", f'test endless\ncall Count {{"from":1,"to":1000000,"intervalMs":20}}\n\nteardown\nexport {tmp_path}/end.binpb\n')
    run = rerun()
    grpc_server.wait_for_calls("demo.v1.Demo/Count", received + 1)
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait() == 130
    assert (tmp_path / "end.binpb").exists()


def test_terminal(suite, terminal, descriptor_set, tmp_path):
    suite("a", f"test one\n{HELLO}")
    screen = terminal("test", "--rerun", "--descriptor-set", descriptor_set, "tests", columns=200, cwd=tmp_path)
    screen.wait(lambda: screen.last == "watching 2 files; Ctrl-C ends", "the end of the run")
    assert any(line.startswith("1 passed in ") for line in screen.lines)
    suite("a", f"test one\n{HELLO}expect .name == Eve\n")
    screen.wait(lambda: any(line.startswith("1 failed in ") for line in screen.lines), "the second run")
    screen.wait(lambda: screen.last == "watching 2 files; Ctrl-C ends", "the end of the second run")
    screen.send("\x03")
    assert screen.end() == (130, None)


def test_standard_input_cannot_be_watched(rpcurl):
    rpcurl("test", "--rerun", "-", input="test a\n").fails(2, "--rerun: standard input can be read once")
