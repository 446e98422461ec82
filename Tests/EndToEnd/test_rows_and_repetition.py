"""Calls for the rows of a file, and calls and files that are repeated."""

import json
import signal

import pytest

HELLO, SUM, DELAY = "demo.v1.Demo/Hello", "demo.v1.Demo/Sum", "demo.v1.Demo/Delay"
NAME = '{"name":"${row.name}"}'


@pytest.fixture
def call(rpcurl, grpc_server, descriptor_set):
    def call(*options, method=HELLO, **arguments):
        words = ["--descriptor-set", descriptor_set, *options, f"{grpc_server.url}/{method}"]
        return rpcurl(*words, **arguments)

    return call


@pytest.fixture
def users(tmp_path):
    path = tmp_path / "users.csv"
    path.write_text('name,language\nAda,de\n"Zoe, Jr.",en\n')
    return path


def messages(result):
    return [json.loads(line)["message"] for line in result.out.splitlines()]


# Rows


def test_each_row_makes_a_call(call, users):
    result = call("--rows", users, "-d", '{"name":"${row.name}","language":"${row.language}"}')
    assert (result.code, result.err) == (0, "")
    assert messages(result) == ["Hallo, Ada!", "Hello, Zoe, Jr.!"]


def test_rows_of_json_lines_on_standard_input(call):
    rows = '{"name":"Ada"}\n\n{"name":"Zoe","language":"fr"}\n'
    result = call("--rows", "-", "--jobs", 2, "--set", "name=${row.name}", input=rows)
    assert (result.code, messages(result)) == (0, ["Hello, Ada!", "Hello, Zoe!"])


def test_each_row_makes_a_call_with_each_message(call, users, tmp_path):
    template = tmp_path / "template.json"
    template.write_text('{"name":"${row.name}!"}')
    result = call("--rows", users, "--expand=files", "-d", '{"name":"A"}', "-d", NAME, "-d", f"@{template}")
    assert messages(result) == [f"Hello, {name}!" for name in ("A", "Ada", "Ada!", "A", "Zoe, Jr.", "Zoe, Jr.!")]


def test_calls_of_rows_that_fail_are_counted(call, tmp_path):
    (tmp_path / "rows.ndjson").write_text('{"name":"Ada"}\n{"name":""}\n{"name":"Zoe"}\n')
    result = call("--rows", tmp_path / "rows.ndjson", "-d", NAME)
    assert (result.code, messages(result)) == (67, ["Hello, Ada!", "Hello, Zoe!"])
    assert "1 of 3 calls failed, the first is call 2" in result.err


def test_a_load_takes_the_rows_in_turn(rpcurl, grpc_server, descriptor_set, users):
    words = ["load", "--descriptor-set", descriptor_set, "--rows", users, "--requests", 5, "--jobs", 1, "--format", "json"]
    result = rpcurl(*words, "-d", NAME, grpc_server.url, HELLO)
    report = json.loads(result.out)
    # Ada three times, and Zoe twice: each message has its name, a tag, a length, and five bytes before it.
    assert (report["calls"], report["errors"], report["sent_bytes"]) == (5, 0, 3 * 10 + 2 * 15)


@pytest.mark.parametrize(
    ("rows", "options", "method", "error"),
    [
        ("name\nAda\n", ["-d", '{"name":"${row.nome}"}'], HELLO, "rpcurl: -d: row.nome: "),
        ("name\nAda,de\n", ["-d", NAME], HELLO, "users.csv, line 2: 2 fields, but the first line has 1"),
        ("name\n", ["-d", NAME], HELLO, "users.csv: no rows"),
        ("name\nAda\n", ["-d", NAME, "-H", "x: ${row.name}"], HELLO, "no row here\nhint: --rows FILE makes a call"),
        ("name\nAda\n", [], SUM, "--rows: Sum has a request stream, but each call of a batch sends one message\nhint: in a suite"),
    ],
)
def test_wrong_rows(call, tmp_path, rows, options, method, error):
    (tmp_path / "users.csv").write_text(rows)
    result = call("--rows", tmp_path / "users.csv", *options, method=method)
    assert result.code in (2, 4) and result.out == "" and error in result.err, result.err


def test_a_row_without_rows(call):
    result = call("--expand", "-d", NAME)
    assert (result.code, result.out) == (4, "") and "no row here" in result.err and "--rows FILE" in result.err


# Repetition


def test_a_call_is_repeated_with_new_values(call):
    result = call("--repeat", 3, "--expand", "-d", '{"name":"${uuid()}"}')
    assert result.code == 0 and len(set(messages(result))) == 3


def test_a_stream_and_a_batch_are_repeated(call):
    result = call("--repeat", 2, "-d", '{"from":1,"to":2}', method="demo.v1.Demo/Count")
    assert [json.loads(line)["number"] for line in result.out.splitlines()] == [1, 2, 1, 2]
    result = call("--repeat", 2, "--each", "-d", '{"name":"A"}{"name":"B"}')
    assert messages(result) == ["Hello, A!", "Hello, B!"] * 2


@pytest.mark.parametrize(("options", "numbers"), [([], [1, 2]), (["--each"], [1, 2, 3, 4])])
def test_calls_are_numbered_over_all_times(call, options, numbers):
    result = call("--repeat", 2, *options, "--format", "events", "-d", '{"name":""}', *["-d", '{"name":"A"}'] * len(options))
    ends = [event for line in result.out.splitlines() if (event := json.loads(line))["event"] == "end"]
    assert [end["call"] for end in ends] == numbers
    assert result.err.startswith("rpcurl: call 1: ") and f"rpcurl: call {numbers[-len(options) - 1]}: " in result.err


@pytest.mark.parametrize("options", [[], ["--each"]])
def test_messages_of_a_repetition_can_be_separated(call, options):
    result = call("--repeat", 2, *options, "--format", "binary", "--filter", "name", "-d", '{"name":"A"}')
    assert result.code == 2
    result = call("--repeat", 2, *options, "--format", "text", "-d", '{"name":"A"}')
    assert result.out == 'message: "Hello, A!" name: "A"\n' * 2


def test_a_file_has_the_output_of_all(call, tmp_path):
    result = call("--repeat", 3, "-d", '{"name":"A"}', "-o", tmp_path / "out")
    assert (result.code, result.out, len((tmp_path / "out").read_text().splitlines())) == (0, "", 3)


@pytest.mark.parametrize(("options", "count"), [([], 3), (["--fail-early"], 1)])
def test_failures_are_counted(call, options, count):
    result = call("--repeat", 3, *options, "-d", '{"name":""}')
    assert (result.code, result.err.count("invalid_argument (3)")) == (67, count)
    assert ("rpcurl: 3 of 3 times failed, the first is number 1\n" in result.err) == (count == 3)


def test_invalid_data_ends_the_repetition(call):
    result = call("--repeat", 3, "-d", '{"nome":"A"}')
    assert (result.code, result.err.count("has no field")) == (4, 1)


def test_a_call_is_repeated_until_a_signal(rpcurl, start_server, descriptor_set):
    server = start_server("grpc_server.py")
    words = ["--descriptor-set", descriptor_set, "--every", "10ms", "-d", '{"milliseconds":1}', f"{server.url}/{DELAY}"]
    with rpcurl.start(*words) as process:
        server.wait_for_calls(DELAY, 5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    # It arrived between two calls, or canceled one.
    assert process.returncode == 130 and len(out.splitlines()) >= 4
    assert b"interrupted" in err


@pytest.mark.parametrize(
    ("command", "number", "last"),
    [("call", signal.SIGINT, b"Hello, A!"), ("run", signal.SIGTERM, b"Hello, A!"), ("test", signal.SIGHUP, b"file-end")],
)
def test_a_signal_ends_the_wait_for_the_next_time(rpcurl, grpc_server, tmp_path, command, number, last):
    suite = tmp_path / "s.rpcurl"
    suite.write_text(f"target {grpc_server.url}\n" + "test t\n" * (command == "test") + 'call Hello {"name":"A"}\n')
    words = {"call": ["-d", '{"name":"A"}', grpc_server.url, HELLO], "run": [suite], "test": [suite, "--report", "ndjson"]}
    with rpcurl.start(command, "--every", "1h", *words[command]) as process:
        assert any(last in line for line in process.stdout)
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    assert b"1 time was completed" in err


@pytest.mark.parametrize("options", [[], ["--each"]])
def test_a_table_has_the_names_of_its_columns_once(call, options):
    result = call("--repeat", 2, *options, "--format", "csv", "--filter", "message", "-d", '{"name":"A"}')
    assert result.succeeds().out == 'message\n"Hello, A!"\n"Hello, A!"\n'


def test_a_table_of_a_session_has_names_again_after_other_output(rpcurl, grpc_server, descriptor_set, tmp_path):
    row = 'call Hello {"name":"A"} --format csv --filter message\n'
    (tmp_path / "steps").write_text(row + row + 'call Hello {"name":"B"}\n' + row)
    result = rpcurl("run", "--format", "json", "--descriptor-set", descriptor_set, grpc_server.url, tmp_path / "steps").succeeds()
    table = 'message\n"Hello, A!"\n'
    assert result.out == table + '"Hello, A!"\n' + '{"message":"Hello, B!","name":"B"}\n' + table


def test_a_file_of_commands_is_repeated(rpcurl, grpc_server, descriptor_set, tmp_path):
    (tmp_path / "steps").write_text('set n = 1\ncall Hello {"name":"${n}"}\nexpect .name == "1"\nset n = 2\nheader x-a: b\n')
    words = ["run", "--descriptor-set", descriptor_set, "--repeat", 3, grpc_server.url, tmp_path / "steps"]
    result = rpcurl(*words)
    assert (result.code, result.err, messages(result)) == (0, "", ["Hello, 1!"] * 3)
    (tmp_path / "steps").write_text('call Hello {"name":"A"}\nexpect .name == "B"\n')
    result = rpcurl(*words)
    assert (result.code, len(messages(result))) == (8, 3)
    assert "3 of 3 times failed, the first is number 1" in result.err


@pytest.mark.parametrize("count", [1, 2])
def test_suites_are_repeated_with_one_report(rpcurl, grpc_server, tmp_path, count):
    text = f'target {grpc_server.url}\nset n = 1\ntest t\nset n = 2\ncall Hello {{"name":"${{n}}"}}\nexpect .name == "%s"\n'
    paths = [tmp_path / f"{number}.rpcurl" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(text % (2 - number))
    result = rpcurl("test", "--repeat", 3, "--report", "ndjson", *paths).exits(0 if count == 1 else 8)
    events = result.lines()
    assert [event["event"] for event in events].count("file") == 3 * count
    assert sorted(event["row"] for event in events if event["event"] == "test") == sorted(["run 1", "run 2", "run 3"] * count)
    assert (events[-1]["passed"], events[-1]["failed"]) == (3, 3 * (count - 1))
    assert ("3 of 3 times failed, the first is number 1" in result.err) == (count == 2)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--repeat", 0], "--repeat 0: not a number from 1 to 1000000000"),
        (["--repeat", 2, "--each"], "--repeat: standard input can be read once\nhint: write the data to a file: -d @FILE"),
        (["--every", "x"], "--every"),
    ],
)
def test_wrong_repetition(call, options, error):
    result = call(*options, input='{"name":"A"}')
    assert (result.code, result.out) == (2, "") and error in result.err
