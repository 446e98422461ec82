"""rpcurl test: suites of tests against real servers, with the events and the exit code of each kind of failure."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import manual
import pexpect
import pyte
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from harness import RPCURL, build_plugin, write
from test_session_schema import ChangingServer

PASSING = """
tags smoke
set name = "Ada"

test greets
call Hello {"name":$name}
call Hello {"name":"${name}"}
expect .message == "Hello, Ada!"
expect header content-type =~ grpc
expect latency < 60s
set greeting = $last.message
expect . == {
  "message": $greeting,
  "name": "Ada"
}

test finds nothing
call Find {"id":"9"}
expect status not_found
expect error =~ "no item"

test counts
call Count {"from":1,"to":3}
expect count == 3
expect list .number == [1, 2, 3]
expect first .number == 1

test talks
open Chat
{"text":"hi"}
receive
expect .text =~ hi
close
wait
expect count >= 1
"""


# Streams that the end of their test cancels.
LEFT_OPEN = """
test chats
open Chat
{"text":"hi"}
receive
expect .text =~ hi

test leaves
open Count {"from":1,"to":100,"intervalMs":50}
receive
expect .number == 1
"""


@pytest.fixture
def suite(rpcurl, grpc_server, tmp_path):
    """Run a suite by its text, with its events."""

    def run(text, *options, name="suite.rpcurl", env=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"target {grpc_server.url}\n{text}")
        result = rpcurl("test", "--report", "ndjson", *options, path, env=env)
        events = result.lines()
        return result, {event["name"] + (f" {event['row']}" if "row" in event else ""): event for event in events if event["event"] == "test"}, events

    return run


def test_suite_that_passes(suite):
    result, tests, events = suite(PASSING)
    assert (result.code, result.err) == (0, ""), result.out
    assert [event["event"] for event in events] == ["run", "file"] + ["test"] * 4 + ["file-end", "end"]
    assert {test["outcome"] for test in tests.values()} == {"passed"}
    assert tests["greets"]["tags"] == ["smoke"]
    assert [call["status"] for call in tests["finds nothing"]["steps"][0]["calls"]] == ["not_found"]
    assert (events[-1]["passed"], events[-1]["failed"]) == (4, 0)


def test_what_interceptors_print_after_the_last_call_is_in_the_report(suite):
    result, _, events = suite('use metrics\ntest a\ncall Hello {"name":"Ada"}\n')
    assert result.code == 0 and re.search(r"^METHOD .*\ndemo.v1.Demo/Hello +ok +1 ", events[-2]["output"]), events[-2]


def test_report_that_an_interceptor_cannot_complete_is_an_error_of_the_file(rpcurl, tmp_path):
    """Its directory is removed during the call."""
    reports = tmp_path / "reports"
    reports.mkdir()

    class Health(health.HealthServicer):
        def Check(self, request, context):
            shutil.rmtree(reports)
            return super().Check(request, context)

    server = grpc.server(ThreadPoolExecutor(1))
    health_pb2_grpc.add_HealthServicer_to_server(Health(), server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    use = f"use log,format=har,file={reports}/a.har"
    path = write(tmp_path / "a.rpcurl", f"target http://{address}\n{use}\ntest a\ncall grpc.health.v1.Health/Check {{}}\n")
    schema = FileDescriptorSet()
    health_pb2.DESCRIPTOR.CopyToProto(schema.file.add())
    (tmp_path / "health.binpb").write_bytes(schema.SerializeToString())
    result = rpcurl("test", "--descriptor-set", tmp_path / "health.binpb", path).exits(4)
    assert f"log: cannot write {reports}/a.har: No such file" in result.out and "a report of an interceptor is incomplete" in result.out
    server.stop(None).wait()


def test_random_order_is_repeated_by_its_seed(suite):
    text = "".join(f'test {name}\ncall Hello {{"name":"Ada"}}\n' for name in "abcdefgh")
    result, tests, _ = suite(text, "--shuffle")
    assert (result.code, result.err, set(tests)) == (0, "", set("abcdefgh")), result.out
    orders = [list(suite(text, "--shuffle", "--seed", seed)[1]) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert all(set(order) == set("abcdefgh") for order in orders)


def test_all_failed_checks_of_a_step_are_reported(suite):
    result, tests, _ = suite(
        'test t\ncall Hello {"name":"Ada"}\nexpect .message == "x"\nexpect .name == "Ada"\nexpect count == 2\ncall Hello {"name":"never"}\n'
    )
    assert result.code == 8
    step = tests["t"]["steps"][0]
    assert [(failure["line"], failure["check"]) for failure in step["failures"]] == [(4, '.message == "x"'), (6, "count == 2")]
    assert step["failures"][0]["got"] == '"Hello, Ada!"'
    assert len(step["calls"]) == 1


def test_command_repeats_the_call(suite, rpcurl, grpc_server):
    _, tests, _ = suite('test t\nheader x-a: b\ncall Hello {"name":"Ada"}\nexpect .name == "Eve"\n')
    command = tests["t"]["steps"][0]["failures"][0]["command"]
    environment = rpcurl.environment(None) | {"PATH": f"{RPCURL.resolve().parent}:{os.environ['PATH']}"}
    again = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, timeout=60)
    assert json.loads(again.stdout)["name"] == "Ada"


def test_command_repeats_the_call_after_large_messages_of_other_tests(suite, tmp_path):
    (tmp_path / "large.json").write_text(json.dumps({"name": "x" * 3_000_000}))
    large = "".join(f"test t{number}\ncall Hello @{tmp_path}/large.json\n\n" for number in range(7))
    _, tests, _ = suite(large + 'test t\ncall Hello {"name":"Ada"}\nexpect .name == "Eve"\n')
    assert "Ada" in tests["t"]["steps"][0]["failures"][0]["command"]


def test_no_command_repeats_a_call_whose_messages_were_not_kept(suite, tmp_path):
    (tmp_path / "large.json").write_text(json.dumps({"name": "x" * 3_000_000}))
    calls = f"call Hello @{tmp_path}/large.json\n" * 7
    _, tests, _ = suite(f"test t\n{calls}expect .name == \"Eve\"\n")
    assert "command" not in tests["t"]["steps"][0]["failures"][0]


def test_call_that_fails_without_a_check_of_its_status(suite):
    result, tests, _ = suite('test t\ncall Find {"id":"9"}\n\ntest u\ncall Find {"id":"9"}\ncall Hello {"name":"never"}\n')
    assert result.code == 8
    for test in tests.values():
        (failure,) = test["steps"][0]["failures"]
        assert (failure["check"], failure["expected"]) == ("status ok", "ok")
        assert failure["got"].startswith("not_found")
        assert len(test["steps"][0]["calls"]) == 1


def test_check_of_a_status_accepts_no_other_stream_that_fails(suite):
    _, tests, _ = suite(
        "test t\nheader demo-code: 14\nopen Chat\nheader demo-code: 5\nopen Chat\nwait\nexpect status not_found\n"
    )
    (failure,) = tests["t"]["steps"][0]["failures"]
    assert (failure["line"], failure["check"]) == (4, "status ok") and failure["got"].startswith("unavailable"), failure


def test_stream_that_violates_an_assertion_fails_its_test(suite):
    result, tests, _ = suite("test t\nuse assert,check=status not_found\nopen Chat\nwait\n\ntest u\ncall Hello {\"name\":\"a\"}\n")
    assert (result.code, tests["t"]["outcome"], tests["u"]["outcome"]) == (8, "failed", "passed"), result.out


@pytest.mark.parametrize("use", ["record,file=x", "log,format=ndjson,file=x", "metrics,file=x", "assert,junit=x", "shadow,to=h:1,file=x"])
def test_suites_do_not_share_a_file(rpcurl, tmp_path, use):
    for name in "ab":
        (tmp_path / f"{name}.rpcurl").write_text("test t\ncall Hello\n")
    result = rpcurl("test", "--use", use, tmp_path).exits(2)
    assert result.err.startswith(f"rpcurl: --use {use.split(',')[0]}: each suite runs in a process of its own"), result.err
    assert not (rpcurl.home / "x").exists()


def test_limit_of_the_run_ends_one_suite(suite):
    result, tests, _ = suite("test t\nsleep 1m\n", "--total-timeout", "300ms")
    assert result.code == 8 and "the run took longer than 300 ms" in result.err, result.err


def test_teardown_of_the_suite_that_ends_the_run_completes(suite, tmp_path):
    """The signal that stops the suites does not interrupt it."""
    result, tests, events = suite(
        'test t\ncall Hello {"name":"Ada"}\nexpect .message == "Bob"\n\nteardown\n'
        f'call Count {{"from":1,"to":20,"intervalMs":20}}\nexport {tmp_path}/end.binpb\n',
        "--fail-early", "--total-timeout", "1m",
    )
    assert (result.code, tests["t"]["outcome"]) == (8, "failed"), result.err
    assert (tmp_path / "end.binpb").exists(), events


@pytest.mark.parametrize(("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_signal_ends_the_run_of_one_suite(rpcurl, grpc_server, tmp_path, number, code, word):
    path = write(tmp_path / "a.rpcurl", f'target {grpc_server.url}\ntest waits\ncall Count {{"from":1,"to":1000000,"intervalMs":20}}\nteardown\nset a = 1\n')
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    with rpcurl.start("test", path) as process:
        grpc_server.wait_for_calls("demo.v1.Demo/Count", received + 1)
        process.send_signal(number)
        _, err = process.communicate()
    assert (process.returncode, err) == (code, f"rpcurl: {word}\n".encode())


def test_what_a_test_changes_ends_with_it(suite):
    result, tests, _ = suite(
        "header x-a: file\n\ntest a\nheader x-a: test\nset v = 1\nstep s\nheader x-a: step\ncall EchoMetadata\n"
        'expect . contains {"headers":[{"name":"x-a","value":"step"}]}\n'
        'step after\ncall EchoMetadata\nexpect . contains {"headers":[{"name":"x-a","value":"test"}]}\n'
        'test b\ncall EchoMetadata\nexpect . contains {"headers":[{"name":"x-a","value":"file"}]}\n'
    )
    assert [tests[name]["outcome"] for name in "ab"] == ["passed", "passed"], tests
    # Its variables, too.
    result, tests, events = suite("test a\nset v = 1\ntest b\nset w = $v\n")
    (error,) = events[-2]["errors"]
    assert tests == {} and (error["line"], error["why"]) == (5, "v: no such variable"), result.out


def test_interceptors_of_a_test_end_with_it(suite):
    result, tests, _ = suite(
        'test a\nuse fault,abort=internal\ncall Hello {"name":"Ada"}\n\ntest b\nuse fault,abort=aborted\ncall Hello {"name":"Ada"}\nexpect status aborted\n\n'
        'test c\ncall Hello {"name":"Ada"}\nexpect .message == "Hello, Ada!"\n'
    )
    assert [tests[name]["outcome"] for name in "abc"] == ["failed", "passed", "passed"], tests


def test_the_failure_of_a_stream_of_the_setup_has_its_line(suite):
    _, tests, _ = suite('open FailStream {"code":14,"message":"gone","afterMessages":1}\ntest t\nreceive\nwait\n')
    assert [failure["line"] for failure in tests["t"]["steps"][0]["failures"]] == [2], tests


def test_rows_of_a_file(suite, tmp_path):
    (tmp_path / "users.csv").write_text('name,greeting\nAda,"Hello, Ada!"\nEve,nothing\n')
    (tmp_path / "users.ndjson").write_text('{"name":"Joe","n":2}\n')
    result, tests, _ = suite(
        'test csv\nrows users.csv name=name\ncall Hello {"name":"${row.name}"}\nexpect .message == $row.greeting\n\n'
        'test ndjson\nrows users.ndjson\ncall Hello {"name":$row.name}\nexpect .name == "Joe"\n'
    )
    assert {name: test["outcome"] for name, test in tests.items()} == {
        "csv Ada": "passed", "csv Eve": "failed", "ndjson row 1": "passed",
    }  # fmt: skip
    assert result.code == 8
    result, tests, events = suite("test none\nrows no.csv\ncall Hello\n")
    (error,) = events[-2]["errors"]
    assert tests == {} and (error["line"], error["what"]) == (3, "no.csv"), result.out


def test_columns_of_rows_have_types(suite, tmp_path):
    write(tmp_path / "rows.csv", "id,flag,count,tags\na,true,5,\"[\"\"x\"\"]\"\nb,,,\n")
    text = """
test echoes
rows rows.csv flag:bool,count:int,tags:json name=id
call Echo {"boolValue":$row.flag,"int64Value":$row.count,"strings":$row.tags}
expect . == {"boolValue":$row.flag,"int64Value":$row.count,"strings":$row.tags}
"""
    result, tests, _ = suite(text)
    assert (result.code, len(tests)) == (0, 2), result.out
    # Before anything runs.
    result, tests, events = suite('test t\ncall Hello {"name":"Ada"}\ntest u\nrows rows.csv id:int\ncall Hello\n')
    (error,) = events[-2]["errors"]
    assert (tests, error["what"], error["why"]) == ({}, "rows.csv, line 2", 'id: "a" is not a value of the type int'), result.out


def test_contains_that_fails_shows_what_was_received(suite, rpcurl, tmp_path):
    text = """
test t
call Echo {"strings":["a","b"],"stringToNested":{"k":{"label":"y"}}}
expect .strings contains c
expect .stringToNested contains {"l":{"label":"y"}}
"""
    _, tests, _ = suite(text)
    first, second = tests["t"]["steps"][0]["failures"]
    assert first["diff"].splitlines() == ["  [", '-   "c",', '+   "a",', '+   "b"', "  ]"], first
    lines = [line.strip() for line in rpcurl("test", tmp_path / "suite.rpcurl").out.splitlines()]
    assert any(line.startswith('got:      {"k":{') and '"label":"y"' in line for line in lines), lines


def test_step_is_retried_until_its_checks_hold(suite):
    text = 'test t\nretry until={} every=1ms\ncall Hello {{"name":"${{random(1,9)}}"}}\nexpect .name == "{}"\n'
    _, tests, _ = suite(text.format("60s", 7), "--expand", "--seed", "1")
    assert tests["t"]["outcome"] == "passed" and tests["t"]["attempts"] > 1, tests["t"]
    assert tests["t"]["steps"][0]["attempts"] == tests["t"]["attempts"]
    # More than a first attempt takes on a machine with much else to do.
    result, tests, _ = suite(text.format("2s", 10), "--expand")
    assert result.code == 8
    assert tests["t"]["attempts"] > 1 and len(tests["t"]["steps"][0]["failures"]) == 1


def test_step_is_retried_until_the_server_accepts_connections(rpcurl, tmp_path):
    fifo, path, servers = tmp_path / "fifo", tmp_path / "s", []
    os.mkfifo(fifo)
    text = f"target unix:{path}\ntest t\nretry until=60s every=1ms\ncall M @{fifo}\nexpect .old == \"1\"\n"
    (tmp_path / "late.rpcurl").write_text(text)

    def serve():
        # Each attempt reads the request first, so that the server starts between the first and the second.
        with fifo.open("wb") as request:
            fifo.unlink()
            os.mkfifo(fifo)
            request.write(b'{"old":"1"}')
        with fifo.open("wb") as request:
            servers.append(ChangingServer(f"unix:{path}"))
            request.write(b'{"old":"1"}')

    threading.Thread(target=serve, daemon=True).start()
    result = rpcurl("test", "--report", "ndjson", tmp_path / "late.rpcurl")
    for server in servers:
        server.server.stop(0)
    (test,) = [event for event in result.lines() if event["event"] == "test"]
    assert (test["outcome"], test["attempts"]) == ("passed", 2), test


class LateSchema(ChangingServer):
    """A server that describes itself from the third question on, with its last method from the fifth on."""

    asked = 0

    def reflect(self, requests, context):
        self.asked += 1
        self.is_silent = self.asked < 3
        self.methods = ["M"] if self.asked < 5 else ["M", "N"]
        yield from super().reflect(requests, context)


def test_step_is_retried_until_the_server_describes_the_method(suite):
    server = LateSchema()
    text = f'test t\ntarget {server.url}\nstep s\nretry until=60s every=1ms\ncall N {{"old":"1"}}\n'
    result, tests, _ = suite(text)
    server.server.stop(0)
    assert (result.code, tests["t"]["outcome"]) == (0, "passed"), tests["t"]
    assert tests["t"]["attempts"] == tests["t"]["steps"][1]["attempts"] > 2


def test_step_is_retried_until_a_stream_has_the_responses(suite):
    text = 'test t\nretry until=60s every=1ms\nopen Count {"from":1,"to":"${random(1,9)}"}\nreceive 7\nexpect .number == 7\n'
    _, tests, _ = suite(text, "--expand", "--seed", "1")
    assert tests["t"]["outcome"] == "passed" and tests["t"]["attempts"] > 1, tests["t"]
    _, tests, _ = suite(text.replace("60s", "2s").replace("1,9", "1,2"), "--expand")
    assert tests["t"]["outcome"] == "error" and tests["t"]["attempts"] > 1, tests["t"]
    assert tests["t"]["steps"][0]["attempts"] == tests["t"]["attempts"]


@pytest.mark.parametrize("mistake", ['call Hello {"nope":1}', "expect status ok"])
def test_step_with_a_mistake_is_not_retried(suite, descriptor_set, mistake):
    _, tests, _ = suite(f"test t\nretry until=60s every=1ms\n{mistake}\n", "--descriptor-set", descriptor_set)
    assert (tests["t"]["outcome"], tests["t"]["attempts"]) == ("error", 1), tests["t"]


def test_streams_of_the_setup_stay_open_through_the_tests(suite):
    text = (
        'open Chat\n{"text":"setup"}\nreceive\n'
        'test a\nopen Chat\n{"text":"own"}\nreceive\nexpect .text =~ own\nexpect count == 1\n'
        'test b\nexpect count == 1\n{"text":"two"}\nreceive\nexpect .text =~ two\n'
        'test c\nopen Count {"from":1,"to":3}\nwait 2\nexpect count == 3\n'
    )
    result, tests, events = suite(text + 'teardown\n{"text":"end"}\nreceive\nclose 1\nwait\nexpect count == 3\n')
    assert (result.code, {test["outcome"] for test in tests.values()}) == (0, {"passed"}), result.out
    # The stream that a test opened has no number any more.
    _, tests, _ = suite(text + "test d\nwait 2\n")
    assert tests["d"]["outcome"] == "error" and "no such stream" in tests["d"]["error"]["why"]
    # A stream that a test ended stays so.
    _, tests, _ = suite(text + 'test e\ncancel\ntest f\n{"text":"six"}\n')
    assert [tests[name]["outcome"] for name in "ef"] == ["passed", "error"]


def test_responses_of_another_test_are_not_received(suite):
    _, tests, _ = suite('test a\nopen Count {"from":1,"to":3}\nwait\ntest b\nreceive\n')
    assert [tests[name]["outcome"] for name in "ab"] == ["passed", "error"]


@pytest.mark.parametrize("pause", ["", "sleep 50ms\n"])
@pytest.mark.parametrize("code, lines", [
    (0, ["receive", "expect .number == 1", "receive", "expect .number == 2", "wait", "expect status unavailable"]),
    (0, ["receive 2", "cancel"]),
    (8, ["receive 2", "wait"]),
    (8, ["receive 3"]),
    (4, ["receive 2", "expect status unavailable"]),
])  # fmt: skip
def test_when_a_stream_fails_does_not_decide(suite, rpcurl, grpc_server, tmp_path, pause, code, lines):
    body = "".join(f"{line}\n{pause}" for line in ['open FailStream {"code":14,"message":"gone","afterMessages":2}', *lines])
    result, tests, _ = suite(f"test t\n{body}")
    assert (result.code, tests["t"]["outcome"]) == (code, {0: "passed", 8: "failed", 4: "error"}[code]), tests
    assert rpcurl("run", grpc_server.url, write(tmp_path / "script", body)).code == {8: 64 + 14}.get(code, code)


@pytest.mark.parametrize("pause", ["", "sleep 50ms\n"])
@pytest.mark.parametrize("lines", [["receive 2", "expect .number == 2"], ["receive", "close", "expect .number == 1"]])
def test_end_that_no_command_waits_for_does_not_decide(suite, pause, lines):
    body = "".join(f"{line}\n{pause}" for line in ['open FailStream {"code":14,"message":"gone","afterMessages":2}', *lines])
    for setup, test in [("", body), (body, "")]:
        result, tests, _ = suite(f'{setup}test t\n{test}call Hello {{"name":"Ada"}}\n')
        assert result.code == 0, tests


def test_messages_are_sent_to_the_stream_that_a_command_has_not_seen_end(suite):
    lines = ["open Chat", 'header demo-code: 14', "open Chat", "unset header demo-code", "sleep 50ms", '{"text":"a"}', "wait 2", "expect status unavailable", '{"text":"b"}', "receive", "expect .text =~ b", "expect count == 1"]
    result, tests, _ = suite("test t\n" + "\n".join(lines))
    assert result.code == 0, tests


def test_another_attempt_begins_without_the_streams_of_the_last_one(suite):
    text = (
        'timeout 20s\ntest t\nset name = "A"\nset to = 1000000\nstep poll\nretry until=15s every=1ms\n'
        'open Count {"from":1,"to":$to,"intervalMs":20}\nreceive\ncall Hello {"name":$name}\nset name = "B"\nset to = 2\nexpect .name == B\nwait\nexpect stream 1 count == 2\n'
    )
    result, tests, _ = suite(text)
    assert (result.code, tests["t"]["attempts"]) == (0, 2), tests


@pytest.mark.parametrize("end", ["cancel\n", ""])
def test_assertion_about_a_stream_that_is_canceled_fails_its_test(suite, rpcurl, grpc_server, tmp_path, end):
    body = 'use assert,check=every .number > 100\nopen Count {"from":1,"to":1000000,"intervalMs":1}\nreceive 2\n'
    result, tests, _ = suite(f"test t\n{body}{end}")
    assert (result.code, tests["t"]["outcome"]) == (8, "failed") and "every .number > 100" in tests["t"]["output"], tests
    result, _, events = suite(f"{body}test t\n{end and 'teardown' + chr(10) + end}")
    assert (result.code, len(events[-2]["errors"])) == (4, 1), events
    rpcurl("run", grpc_server.url, write(tmp_path / "script", f"{body}{end or 'exit'}")).exits(8).reports("every .number > 100")


@pytest.mark.parametrize("place", ["test t\n", 'test t\ncall Hello {"name":"A"}\nteardown\n'])
def test_a_file_that_keeps_going_runs_all_its_commands(suite, tmp_path, place):
    file, log = write(tmp_path / "file", 'call Find {"id":"9"}\ncall Hello {"name":"2"}\ncall Fail {"code":3}\ncall Hello {"name":"4"}\n'), tmp_path / "calls"
    result, _, _ = suite(f"{place}source --keep-going {file}\n", "--use", f"log,format=ndjson,file={log}")
    ends = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["code"] for event in ends if event["event"] == "end"][-4:] == ["not_found", "ok", "invalid_argument", "ok"]
    assert result.code != 0


def test_shared_steps_are_sourced(suite, tmp_path):
    shared = write(tmp_path / "shared", 'call Hello {"name":"Ada"}\nexpect .name == "Eve"\ncall Hello {"name":"never"}\n')
    result, tests, _ = suite(f"test t\nsource {shared}\ncall Hello\n\ntest u\nsource {shared}\n")
    assert result.code == 8
    for test in tests.values():
        assert test["outcome"] == "failed" and "error" not in test, test
        (step,) = test["steps"]
        assert [failure["check"] for failure in step["failures"]] == ['.name == "Eve"'] and len(step["calls"]) == 1
        # The place is that of the check, and not of source.
        assert (step["failures"][0]["file"], step["failures"][0]["line"]) == (str(shared), 2)


def test_failed_call_of_shared_steps_has_its_place(suite, tmp_path):
    shared = write(tmp_path / "shared", '\ncall Find {"id":"9"}\n')
    _, tests, _ = suite(f"test t\nsource {shared}\n")
    (failure,) = tests["t"]["steps"][0]["failures"]
    assert (failure["file"], failure["line"], failure["check"]) == (str(shared), 2, "status ok")


def test_streams_are_checked_beside_other_calls(suite):
    # The server sends as fast as it can: what is checked is what was received.
    text = """
test watches
open Count {"from":1,"to":500}
open Chat {"text":"hi"}
call Hello {"name":"Ada"}
expect .name == Ada
receive
expect .text =~ hi
switch 1
receive 2
expect .number == 2
expect count == 2
expect stream 2 .text =~ hi
call Hello {"name":"Eve"}
expect stream 1 list .number == [1,2]
set number = $last.name
receive
expect .number == 3
wait 1
expect count == 500
expect status ok
cancel 2
expect status canceled
expect stream 1 last .number == 500

test fails
open Count {"from":1,"to":3}
call Hello {"name":"Ada"}
wait
expect stream 1 count == 4
"""
    result, tests, _ = suite(text)
    assert tests["watches"]["outcome"] == "passed", tests["watches"]
    ((failure,),) = [step["failures"] for step in tests["fails"]["steps"]]
    assert (failure["check"], failure["got"]) == ("stream 1 count == 4", "3") and "Count" in failure["command"], failure


def test_checks_are_about_calls_of_the_same_test(suite):
    tests = 'test a\ncall Hello {"name":"Ada"}\nexpect .name == "Ada"\ntest b\nexpect .name == "Bob"\n'
    _, events, _ = suite(tests)
    assert events["a"]["outcome"] == "passed"
    assert events["b"]["outcome"] == "error" and "no call was made" in events["b"]["error"]["why"], events["b"]
    # The setup has its own checks.
    _, events, _ = suite('call Hello {"name":"Bob"}\nexpect .name == "Bob"\n' + tests)
    assert [events[name]["outcome"] for name in "ab"] == ["passed", "error"]


def test_selection_and_tags(suite):
    text = 'tags all\n\ntest one\ntags fast\n\ntest two\n\ntest three\nskip later\ncall Hello\n'
    assert set(suite(text, "--only", "@fast")[1]) == {"one"}
    assert set(suite(text, "--only", "@all", "--skip", "t*")[1]) == {"one"}
    _, tests, _ = suite(text, "--only", "T")
    assert {name: test["outcome"] for name, test in tests.items()} == {"two": "passed", "three": "skipped"}
    result, _, _ = suite(text, "--only", "nothing")
    assert result.code == 2 and "no test was selected" in result.err


def test_variables_of_the_command_line(suite):
    text = 'test t\ncall Hello {"name":"${user}"}\nexpect .name == "Ada"\nexpect .name == "${token}"\n'
    result, tests, _ = suite(text, "--var", "user=Ada", "--var", "token=env:TOKEN", env={"TOKEN": "hunter2-secret"})
    assert result.code == 8
    assert "hunter2" not in result.out and "[redacted]" in tests["t"]["steps"][0]["failures"][0]["expected"]


def test_secrets_of_the_environment_and_of_the_configuration_are_masked(suite, tmp_path):
    config = write(tmp_path / "config", '--bearer hunter2-config\n-H x-api-key: hunter2-header\n--use header,set=x-three:env:TOKEN3\n')
    text = (
        'test reads variables\ncall Hello {"name":"${env.API_TOKEN} ${env.HOME_TOWN}"}\nexpect .name == "x"\n\n'
        'test echoes headers\nuse header,set=x-own:env:HOME_KEY\ncall EchoMetadata\nexpect . == {"headers":[]}\n'
    )
    secrets = {"API_TOKEN": "hunter2's-api", "HOME_KEY": "hunter2-home", "TOKEN3": "hunter2-three"}
    result, tests, _ = suite(text, "--config", config, env=secrets | {"HOME_TOWN": "Turin"})
    assert result.code == 8, result.out
    assert tests["reads variables"]["steps"][0]["failures"][0]["got"] == '"[redacted] Turin"'
    assert "hunter2" not in result.out and "[redacted]" in tests["echoes headers"]["steps"][0]["failures"][0]["got"]
    # The command that repeats a call quotes its words.
    assert "s-api" not in result.out, result.out


def test_secrets_are_masked_before_texts_are_cut(suite):
    token = "-".join(map(str, range(100, 500)))
    text = f'test t\ncall Hello {{"name":"{"x" * 3000}${{env.API_TOKEN}}"}}\nexpect .name == "q"\n'
    result, tests, _ = suite(text, env={"API_TOKEN": token})
    assert tests["t"]["steps"][0]["failures"][0]["got"].endswith("x[redacted]… (cut at 4096 bytes)")
    assert "100-101" not in result.out


def test_timeouts(suite):
    _, tests, _ = suite('test t\ntimeout 50ms\ncall Count {"from":1,"to":1000000,"intervalMs":20}\n')
    assert tests["t"]["outcome"] == "failed" and "took longer than 50" in tests["t"]["error"]["why"], tests["t"]
    result, tests, _ = suite('test t\ncall Count {"from":1,"to":1000000,"intervalMs":20}\n', "--step-timeout", "50ms")
    assert result.code == 8 and "step" in tests["t"]["error"]["why"]


def test_golden_files(suite, tmp_path):
    text = 'test t\ncall Hello {"name":"Ada"}\nexpect . golden golden/hello.json\n'
    result, tests, _ = suite(text)
    assert result.code != 0
    assert suite(text, "--update")[0].code == 0
    assert json.loads((tmp_path / "golden/hello.json").read_text())["name"] == "Ada"
    assert suite(text)[0].code == 0
    assert suite(text.replace("Ada", "Eve"))[0].code == 8


@pytest.mark.parametrize(
    "text",
    [
        'test a\ncall Hello {"name":"A"}\nexpect . golden g.json\ntest b\ncall Hello {"name":"B"}\nexpect . golden g.json\n',
        'test t\nrows rows.ndjson\ncall Hello {"name":$row.name}\nexpect . golden ./g.json\n',
        'test t\ncall Count {"from":1,"to":3}\nexpect every . golden g.json\n',
    ],
)
def test_two_values_of_a_golden_file_are_an_error(suite, tmp_path, text):
    """Otherwise the run with --update would pass, and the next one would not."""
    write(tmp_path / "rows.ndjson", '{"name":"A"}\n{"name":"B"}\n')
    result, tests, _ = suite(text, "--update")
    assert result.code == 4 and [test["outcome"] for test in tests.values()][-1] == "error"
    assert "g.json: another check of this run has another value" in result.out


def test_update_keeps_the_golden_file_of_any(suite, tmp_path):
    golden = write(tmp_path / "g.json", '{"number":3}\n')
    assert suite('test t\ncall Count {"from":1,"to":3}\nexpect any . golden g.json\n', "--update")[0].code == 0
    assert golden.read_text() == '{"number":3}\n'


@pytest.mark.parametrize("check", ["${last.name}.json", '"${last.name}.json"', '"sub/${last.name}.json"', '"${last.name}.json" unordered'])
@pytest.mark.parametrize("options", [["--update"], []])
def test_servers_do_not_choose_the_directory_of_a_golden_file(suite, tmp_path, check, options):
    text = f'test t\ncall Hello {{"name":"../package"}}\nexpect . golden {check}\n'
    result, _, _ = suite(text, *options)
    assert result.code != 0 and "the value of a reference in the name of a file contains /" in result.out + result.err
    assert not [*tmp_path.rglob("package.json"), *tmp_path.parent.glob("package.json")]


def test_recorded_suite_runs_without_a_server(rpcurl, grpc_server, tmp_path, suite):
    cassettes = tmp_path / "cassettes"
    result, _, _ = suite(PASSING + LEFT_OPEN, "--record", cassettes)
    assert result.code == 0, result.out
    path = tmp_path / "suite.rpcurl"
    path.write_text(path.read_text().replace(grpc_server.url, "http://127.0.0.1:1"))
    rpcurl("test", "--replay", cassettes, path).exits(0)


def test_replay_names_how_to_record(rpcurl, grpc_server, tmp_path):
    path = tmp_path / "a.rpcurl"
    cassettes = tmp_path / "cassettes"
    again = f'"rpcurl test --record {cassettes} {path}" records the calls again'

    def replay(text):
        path.write_text(f"target http://127.0.0.1:1\n{text}")
        return rpcurl("test", "--replay", cassettes, "--report", "ndjson", path).lines()

    call = 'test t\ncall Hello {"name":"%s"}\n'
    # The recording is missing.
    (_, end, _) = replay(call % "Ada")
    assert end["errors"][0]["hint"] == again, end
    path.write_text(f"target {grpc_server.url}\n" + call % "Ada")
    rpcurl("test", "--record", cassettes, path).succeeds()
    assert replay(call % "Ada")[-1]["passed"] == 1
    # It has no response to a call.
    for check in ["", "expect status not_found\n"]:
        (_, _, test, _, _) = replay(call % "Eve" + check)
        (failure,) = test["steps"][0]["failures"]
        assert failure["hint"] == again and "has no response to demo.v1.Demo/Hello" in failure["got"], failure
    # The same in the setup and in the teardown.
    for text in ['call Hello {"name":"Eve"}\n' + call % "Ada", call % "Ada" + 'teardown\ncall Hello {"name":"Eve"}\n']:
        (error,) = replay(text)[-2]["errors"]
        assert error["hint"] == again and "has no response to demo.v1.Demo/Hello" in error["why"], error
    # Its schema lacks a method.
    (_, end, _) = replay(call % "Ada" + "call Another\n")
    assert end["errors"][0]["why"] == "not found in the schema" and again in end["errors"][0]["hint"], end


def test_recorded_files_without_calls_are_replayed(rpcurl, grpc_server, tmp_path):
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "common.rpcurl").write_text(f"target {grpc_server.url}\n")
    (suites / "calls.rpcurl").write_text(f"source {suites}/common.rpcurl\n\ntest t\ncall EchoMetadata\n")
    (suites / "skips.rpcurl").write_text("test u\nskip later\ncall Hello\n")
    cassettes = tmp_path / "cassettes"
    for _ in range(2):
        rpcurl("test", "--record", cassettes, suites).succeeds()
        (suites / "common.rpcurl").write_text("target http://127.0.0.1:1\n")
        rpcurl("test", "--replay", cassettes, suites).exits(0)
        (suites / "common.rpcurl").write_text(f"target {grpc_server.url}\n")


def test_each_attempt_begins_with_the_same_settings(suite):
    use = "use header,add=x-a:1\n"
    text = f'test t\nretry until=1s every=1ms\n{use}call EchoMetadata\nexpect .headers[].name contains "x-b"\n'
    _, tests, _ = suite(text)
    step = tests["t"]["steps"][0]
    assert step["attempts"] > 2 and step["failures"][0]["command"].count("x-a:1") == 1, step
    # What the last attempt sets stays for the steps after it.
    text = f'test t\nretry until=1s every=1ms\n{use}call EchoMetadata\n\nstep again\ncall EchoMetadata\nexpect .headers[].name contains "x-a"\n'
    assert suite(text)[0].code == 0


def test_failures_of_setup_and_teardown_are_both_reported(suite):
    text = 'call Find {"id":"9"}\n\ntest t\ncall Hello\n\nteardown\ncall Hello {"name":"q"}\nexpect .name == "z"\n'
    result, _, events = suite(text)
    (setup, teardown) = next(event["errors"] for event in events if event["event"] == "file-end")
    assert result.code == 4 and events[-1]["errors"] == 2 and "not_found" in setup["why"]
    assert (teardown["line"], teardown["what"], teardown["why"]) == (9, '.name == "z"', 'expected "z", got "q"')


def test_two_reports_with_one_file_are_an_error(rpcurl, tmp_path):
    path = write(tmp_path / "a.rpcurl", "test t\n")
    rpcurl("test", path, "--report", f"junit={tmp_path}/x", "--coverage", f"html={tmp_path}/x").exits(
        2, err=f"rpcurl: {tmp_path}/x: two reports are written to this file\nhint: give each a file of its own\n",
    )


@pytest.mark.parametrize("option", ["--report junit=", "--coverage html="])
def test_a_report_without_a_name_of_its_file_is_an_error(rpcurl, tmp_path, option):
    """As of a variable of the environment that is not set."""
    rpcurl("test", *option.split(), write(tmp_path / "a.rpcurl", "test t\n")).exits(2).reports(f"rpcurl: {option}: missing name of the file")


def test_output_of_a_plugin_is_no_event(rpcurl, grpc_server, tmp_path):
    source = '#include "greeting.c"\n#include <stdio.h>\n__attribute__((constructor)) static void speak(void) { puts("debug"), fflush(stdout); }\n'
    plugin = build_plugin(write(tmp_path / "plugin.c", source), tmp_path / "plugin.so")
    for name in "ab":
        write(tmp_path / f"{name}.rpcurl", f'target {grpc_server.url}\ntest t\ncall Hello {{"name":"Ada"}}\n')
    rpcurl("test", "--plugin", plugin, tmp_path / "a.rpcurl", tmp_path / "b.rpcurl").exits(0).prints("2 passed")


def test_files_run_in_processes(rpcurl, grpc_server, tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.rpcurl").write_text(f'target {grpc_server.url}\ntest t\ncall Hello {{"name":"Ada"}}\nexpect .name == "Ada"\n')
    (tmp_path / "below").mkdir()
    (tmp_path / "below/bad.rpcurl").write_text("test t\nnonsense\n")
    (tmp_path / "other.txt").write_text("no suite\n")
    rpcurl("test", "--jobs", "3", tmp_path).exits(4).prints("4 passed", "no such command", "below/bad.rpcurl")


def test_files_are_checked_and_listed_without_a_call(rpcurl, grpc_server, descriptor_set, tmp_path):
    path = write(tmp_path / "a.rpcurl", f'target {grpc_server.url}\ntags all\ntest one\ntags fast\ncall Hello {{"name":"Ada"}}\n\ntest two\ncall Hello\nexpect .nam == Ada\nset a = $b\n')
    received = grpc_server.log()
    rpcurl("test", "--list", path).exits(0, f"{path}:3: one @all @fast\n{path}:7: two @all\n", "")
    rpcurl("test", "--list", "--only", "two", path).exits(0, f"{path}:7: two @all\n", "")
    result = rpcurl("test", "--check", "--descriptor-set", descriptor_set, path).exits(4, "")
    assert [line for line in result.err.splitlines() if "hint" not in line] == [
        f'rpcurl: {path}, line 9: expect .nam == Ada: demo.v1.HelloReply has no field nam',
        f"rpcurl: {path}, line 10: b: no such variable",
    ], result.err
    # Of a run, nothing is called.
    rpcurl("test", "--descriptor-set", descriptor_set, path).exits(4).prints(f"{path}:9: expect .nam == Ada")
    assert grpc_server.log() == received
    rpcurl("test", "--check", "--only", "one", "--descriptor-set", descriptor_set, path).exits(0, "no mistakes in 1 test (1 file)\n", "")
    bad = write(tmp_path / "b.rpcurl", "target h:1\ntets a\n")
    for option in ("--check", "--format-files"):
        rpcurl("test", option, bad).reports(f"{bad}, line 2: tets: no such command\nhint: did you mean test?")
    script = write(tmp_path / "script", 'call Hello {"name":"Ada"}\ncall Hello {"name":"$missing"}\ncall Hello $missing\n')
    rpcurl("run", grpc_server.url, script).exits(4, "").reports(f"{script}, line 3: missing: no such variable")
    assert grpc_server.log() == received


def test_file_without_a_test_is_no_passed_file(rpcurl, grpc_server, tmp_path):
    """Its checks would not be made, silently."""
    good = write(tmp_path / "good.rpcurl", f'target {grpc_server.url}\ntest t\nsource {tmp_path}/steps.rpcurl\n')
    write(tmp_path / "steps.rpcurl", 'shared\ncall Hello {"name":"Ada"}\nexpect .name == Ada\n')
    rpcurl("test", tmp_path).exits(0).prints("1 passed in ", " (1 file, 1 of shared steps)")
    rpcurl("test", "--list", tmp_path).exits(0, f"{good}:2: t\n{tmp_path}/steps.rpcurl: shared steps\n", "")
    rpcurl("test", tmp_path / "steps.rpcurl").exits(4).reports("steps.rpcurl: no tests\nhint: test NAME begins one, and source FILE")
    forgot = write(tmp_path / "forgot.rpcurl", 'call Hello {"name":"Ada"}\nexpect .name == "Wrong"\n')
    message = f"{forgot}, line 1: no test has this command: the file has no tests"
    rpcurl("test", tmp_path).exits(4).prints("1 passed, 1 error", message, 'a file of shared steps says "shared" in its first line')
    rpcurl("test", forgot).exits(4).prints(message)
    forgot.write_text("target h:1\n")
    good.unlink()
    rpcurl("test", tmp_path).exits(2).reports(f"rpcurl: {tmp_path}: no tests\nhint: test NAME begins one")
    rpcurl("test", "--only", "x", tmp_path).exits(2).reports("no test was selected\nhint: --only and --skip")


def test_exclusive_files_run_alone(rpcurl, tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.rpcurl").write_text("exclusive\n" * (name != "b") + "test t\nsleep 50ms\n")
    events = rpcurl("test", "--jobs", "3", "--report", "ndjson", tmp_path).exits(0).lines()
    files = [(event["file"][-8:-7], event["event"]) for event in events if event["event"] in ("file", "file-end")]
    assert files == [(name, event) for name in "bac" for event in ("file", "file-end")]
    path = tmp_path / "a.rpcurl"
    rpcurl("load", path, "--requests", 1).exits(2).reports("exclusive: it cannot run several times at once\nhint: --jobs 1")
    rpcurl("load", path, "--requests", 1, "--jobs", 1).exits(0)


def test_run_that_is_interrupted_runs_its_teardown(rpcurl, grpc_server, tmp_path):
    names = []
    for number in range(2):
        path = write(tmp_path / f"{number}.rpcurl", (
            f"target {grpc_server.url}\nset number = {number}\n\ntest waits\ncall Count {{\"from\":1,\"to\":1000000,\"intervalMs\":20}}\n\n"
            f"test never\ncall Hello\n\nteardown\ncall Hello {{\"name\":\"down\"}}\nexport {tmp_path}/{number}.binpb\n"
        ))
        names.append(path)
    received = grpc_server.log().splitlines().count("received demo.v1.Demo/Count")
    with rpcurl.start("test", "--report", "ndjson", "--jobs", "2", *names) as process:
        # A signal before the first test skips all of them.
        grpc_server.wait_for_calls("demo.v1.Demo/Count", received + 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    rest = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 130, err
    outcomes = {(event["file"], event["name"]): event["outcome"] for event in rest if event["event"] == "test"}
    # One that the signal ends has not passed.
    assert all(outcomes[str(path), "waits"] == "error" for path in names), outcomes
    assert all(outcomes[str(path), "never"] == "skipped" for path in names), outcomes
    assert all((tmp_path / f"{number}.binpb").exists() for number in range(2))


def test_exit_in_a_sourced_file_is_an_error(rpcurl, grpc_server, tmp_path):
    """Calls after the end of a session would do nothing, and so pass."""
    (tmp_path / "leave").write_text("exit\n")
    path = write(tmp_path / "a.rpcurl", f"target {grpc_server.url}\n\ntest a\nsource {tmp_path}/leave\n\ntest b\ncall Fail {{\"code\":5}}\n")
    result = rpcurl("test", "--report", "ndjson", path)
    events = result.lines()
    outcomes = {event["name"]: event["outcome"] for event in events if event["event"] == "test"}
    assert (result.code, outcomes) == (8, {"a": "error", "b": "failed"}), result.out


def test_arguments_that_are_wrong(rpcurl, tmp_path):
    assert "no such format" in rpcurl("test", "--report", "xml", tmp_path).err or "no suites" in rpcurl("test", "--report", "xml", tmp_path).err
    assert rpcurl("test", tmp_path).err.startswith(f"rpcurl: {tmp_path}: the directory has no suites\n")
    assert rpcurl("test").code == 2
    assert rpcurl("test", tmp_path / "none").code == 2


def test_examples_of_the_manual(tmp_path, descriptor_set, grpc_server):
    (example,) = manual.examples("rpcurl-test.5")
    result = manual.run(example, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert result.stdout.startswith("7 passed in ")


def test_progress_is_removed_before_other_output(rpcurl, tmp_path):
    suite = write(tmp_path / "suite.rpcurl", "target h:1\ntest a\nnonsense\n")
    screen = pyte.Screen(100, 30)
    terminal = pexpect.spawn(str(RPCURL), ["test", str(suite)], env=rpcurl.environment({"TERM": "xterm"}), dimensions=(30, 100), timeout=60)
    shown = terminal.read()
    terminal.close()
    assert terminal.exitstatus == 4 and b"0 tests, 0/1 files" in shown
    pyte.ByteStream(screen).feed(shown)
    lines = [line.rstrip() for line in screen.display if line.strip()]
    assert lines[0].startswith("ERROR ") and lines[-1].startswith("1 error in "), lines
    assert not any("/1 tests" in line or "0/1 files" in line for line in lines)
