"""`rpcurl load SUITE`: the tests of a suite as the steps of a load."""

import json
import shlex
import signal

import pytest

SUITE = """\
test hello
weight 3
call Hello {"name":"Ada"}
expect .message == "Hello, Ada!"
test items
call Find {"id":"1"}
call Find {"id":"2"}
test never
weight 0
call Hello {"name":"never"}
"""


@pytest.fixture
def suite(grpc_server, tmp_path):
    def write(text):
        path = tmp_path / "shop.rpcurl"
        path.write_text(f"target {grpc_server.url}\n{text}")
        return path

    return write


@pytest.fixture
def load(rpcurl):
    def load(path, *options):
        result = rpcurl("load", "--format", "json", *options, path)
        return result, json.loads(result.out) if result.out else None

    return load


def parts(report, name):
    return {part["name"]: (part["calls"], part["errors"]) for part in report[name]}


def test_tests_are_chosen_by_weight(load, suite):
    result, report = load(suite(SUITE), "--requests", 200, "--jobs", 3, "--seed", 7)
    assert (result.code, result.err, report["method"], report["calls"], report["errors"]) == (0, "", "suite", 200, 0)
    tests = parts(report, "tests")
    # Three to one: of 200, more than 40 from 150 is not by chance.
    assert tests["never"] == (0, 0) and 110 < tests["hello"][0] < 190
    hello, items = tests["hello"][0], tests["items"][0]
    assert parts(report, "methods") == {"demo.v1.Demo/Hello": (hello, 0), "demo.v1.Demo/Find": (2 * items, 0)}
    assert parts(load(suite(SUITE), "--requests", 200, "--jobs", 2, "--seed", 7)[1], "tests") == tests


def test_failures_are_counted_and_have_a_reason(load, suite):
    text = 'test check\ncall Hello {"name":"Ada"}\nexpect .message == "Hi"\ntest call\ncall Hello {"name":""}\ntest error\nset x = $last.id\n'
    result, report = load(suite(text), "--requests", 30, "--jobs", 1, "--threshold", "errors<50%")
    assert result.code == 8 and report["errors"] == 30
    statuses = {status["status"]: status["first"] for status in report["statuses"]}
    assert set(statuses) == {"assertion_failed", "unknown"}
    assert statuses["assertion_failed"].startswith(("check: ", "call: ")) and statuses["unknown"] == "error: last.id: no call was made yet"
    assert parts(report, "methods")["demo.v1.Demo/Hello"][1] == parts(report, "tests")["call"][1]


def test_setup_and_teardown_run_once_in_each_process(load, suite, start_server, tmp_path):
    server = start_server("grpc_server.py")
    path = tmp_path / "shop.rpcurl"
    path.write_text(
        f"target {server.url}\n"
        'call Find {"id":"1"}\nset name = $last.title\ntest hello\ncall Hello {"name":"${name}"}\n'
        'teardown\ncall Echo {}\n'
    )
    result, report = load(path, "--requests", 20, "--jobs", 3)
    assert (result.code, report["calls"], report["errors"]) == (0, 20, 0)
    received = server.log().splitlines()
    counts = [received.count(f"received demo.v1.Demo/{method}") for method in ("Find", "Hello", "Echo")]
    assert counts == [3, 20, 3]


def test_rows_are_taken_in_turn_by_all_processes(load, suite, tmp_path, start_server):
    server = start_server("grpc_server.py")
    (tmp_path / "rows.ndjson").write_text("".join(f'{{"name":"n{number}"}}\n' for number in range(4)))
    path = tmp_path / "shop.rpcurl"
    path.write_text(f'target {server.url}\ntest hello\nrows rows.ndjson\ncall Hello {{"name":"${{row.name}}"}}\nexpect .name == "n0"\n')
    _, report = load(path, "--requests", 40, "--jobs", 2)
    # Each of the four rows has a quarter of the runs, and one of them holds.
    assert (report["calls"], report["errors"]) == (40, 30)


def test_open_loop_and_selection(load, suite):
    result, report = load(suite(SUITE), "--rate", 50, "--duration", "1s", "--warm-up", "200ms", "--only", "items")
    assert (result.code, report["calls"], report["loop"]) == (0, 50, "open")
    assert parts(report, "tests") == {"items": (50, 0)}


def test_stages_change_the_tests_that_run(load, suite):
    """A process for each test that may run."""
    result, report = load(suite(SUITE), "--stages", "0s:2,300ms:2,0s:3,300ms:3", "--only", "items")
    assert (result.code, report["loop"], report["jobs"], report["errors"]) == (0, "closed", 3, 0)
    assert [part["name"] for part in report["stages"]] == ["0.3s:2", "0.3s:3"]
    assert sum(part["calls"] for part in report["stages"]) == report["calls"] > 0


def test_scenario_agrees_with_the_server_and_with_python(start_server, load, tmp_path):
    """The server counts the calls of setups, of both tests and of teardowns; the percentiles are those of all latencies."""
    server = start_server("grpc_server.py")
    (tmp_path / "ids.csv").write_text("id\n1\n2\n")
    path = tmp_path / "shop.rpcurl"
    path.write_text(
        f'target {server.url}\ncall Echo {{}}\nset name = "Ada"\ntest greet\nweight 2\ncall Hello {{"name":"${{name}}"}}\n'
        'test find\nrows ids.csv\ncall Find {"id":"${row.id}"}\ncall Find {"id":"${row.id}"}\nteardown\ncall Echo {}\n'
    )
    # More than the rate needs, so that each test starts in time also on a busy machine.
    jobs = 12
    result, report = load(path, "--rate", 20, "--stages", "1s:60,0s:90,300ms:90", "--jobs", jobs, "--raw", tmp_path / "raw.txt")
    assert (result.code, report["errors"], report["not_started"], report["calls"]) == (0, 0, 0, 40 + 27)
    assert parts(report, "stages") == {"1s:60": (40, 0), "0.3s:90": (27, 0)}
    tests, calls = parts(report, "tests"), parts(report, "methods")
    received = server.log().splitlines()
    counts = [received.count(f"received demo.v1.Demo/{method}") for method in ("Hello", "Find", "Echo")]
    assert counts == [tests["greet"][0], 2 * tests["find"][0], 2 * jobs]
    assert calls == {"demo.v1.Demo/Hello": (counts[0], 0), "demo.v1.Demo/Find": (counts[1], 0)}
    latencies = sorted(int(line) / 1e6 for line in (tmp_path / "raw.txt").read_text().splitlines())
    for percent in (50, 90, 99):
        exact = latencies[-(-len(latencies) * percent // 100) - 1]
        assert report["latency_ms"][f"p{percent}"] == pytest.approx(exact, abs=0.001 * exact + 0.0006)


def test_text_and_page(rpcurl, suite, tmp_path):
    result = rpcurl("load", "--requests", 10, "--jobs", 1, "--html", tmp_path / "page.html", "--raw", tmp_path / "raw", suite(SUITE))
    assert result.code == 0 and "\n  tests   10 in " in result.out and "\ncalls\n  demo.v1.Demo/" in result.out
    assert f"\ncommand\n  rpcurl load --requests 10 --jobs 1 --html {tmp_path}/page.html" in result.out.replace(" \\\n   ", "")
    assert "<h2>By method</h2>" in (tmp_path / "page.html").read_text()
    assert len((tmp_path / "raw").read_text().splitlines()) == 10


def test_report_of_another_suite_is_not_compared(load, suite, tmp_path):
    path = suite(SUITE)
    (tmp_path / "old.json").write_text(load(path, "--requests", 5, "--jobs", 1)[0].out)
    other = path.rename(tmp_path / "other.rpcurl")
    result, report = load(other, "--requests", 5, "--jobs", 1, "--compare", tmp_path / "old.json")
    error = f"rpcurl: --compare {tmp_path}/old.json: a run of the suite shop.rpcurl, not of the suite other.rpcurl\n"
    assert (result.code, report) == (4, None) and result.err.startswith(error), result.err


def test_command_of_the_report_has_no_secrets(load, suite):
    options = ["--requests", 5, "--jobs", 1, "-H", "x-api-key: 5ecret", "--var", "token=t0ken", "--tag", "branch=main",
               "--var", 'cfg={"password":"hunter2"}', "--var", "url=https://ada:pa55@h"]  # fmt: skip
    result, report = load(suite(SUITE), *options)
    assert result.code == 0 and not [secret for secret in ("5ecret", "t0ken", "hunter2", "pa55") if secret in result.out]
    assert report["tags"] == {"branch": "main"}
    assert "# Set X_API_KEY in the environment: the value of the header x-api-key." in report["command"].splitlines()


def test_command_of_the_report_repeats_a_suite_named_like_an_option(rpcurl, suite):
    suite(SUITE).rename(rpcurl.home / "-v.rpcurl")
    result = rpcurl("load", "--format", "json", "--requests", 5, "--jobs", 1, "--", "-v.rpcurl").succeeds()
    words = shlex.split(json.loads(result.out)["command"])
    assert words[-2:] == ["--", "-v.rpcurl"]
    assert json.loads(rpcurl(*words[1:]).succeeds().out)["calls"] == 5


def test_ctrl_c_reports_and_runs_teardowns(rpcurl, start_server, tmp_path):
    server = start_server("grpc_server.py")
    path = tmp_path / "shop.rpcurl"
    path.write_text(f'target {server.url}\ntest t\ncall Delay {{"milliseconds":20}}\nteardown\ncall Hello {{"name":"end"}}\n')
    with rpcurl.start("load", "--jobs", 2, "--duration", "1h", "--format", "json", path) as process:
        server.wait_for_calls("demo.v1.Demo/Delay", 6)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    report = json.loads(out)
    assert (process.returncode, report["interrupted"], err) == (130, True, b"")
    assert report["calls"] >= 2 and report["errors"] == 0
    assert server.log().count("received demo.v1.Demo/Hello") == 2


@pytest.mark.parametrize(
    ("text", "options", "code", "error"),
    [
        ("call Fail {\"code\":5}\ntest a\n", [], 4, "shop.rpcurl, line 2: status ok: expected ok, got not_found (5)"),
        ("test a\nset x = $last.id\n", ["--jobs", 1, "--requests", 1], 0, None),
        ("test a\nnonsense\n", ["--requests", 1], 4, "shop.rpcurl, line 3: nonsense: no such command"),
        ("test a\nset x = 1\nteardown\ncall Nope\n", ["--requests", 1], 4, "line 5: Nope"),
        ("test a\nskip\n", [], 4, "shop.rpcurl: no test to run"),
        ("test a\n", ["-d", "{}"], 2, "-d: not possible with a suite"),
        ("test a\n", ["--use", "metrics,file=x"], 2, "--use metrics: each process of the load would replace the file"),
    ],
)
def test_errors(load, suite, text, options, code, error):
    result, report = load(suite(text), *options)
    assert result.code == code, result.err
    if error:
        # After a run whose teardown fails, there is a report.
        assert (report is not None) == ("teardown" in text) and error in result.err, result.err
    else:
        assert report["errors"] == 1


@pytest.mark.parametrize("path", ["none.rpcurl", "./none"])
def test_suite_that_does_not_exist(rpcurl, path):
    rpcurl("load", path).fails(4, f"rpcurl: {path}: No such file or directory")
