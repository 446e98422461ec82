"""rpcurl test --coverage: what suites exercise of an API, in each format, over all files of a run."""

import json

import pytest

ALL = """
test calls
call Hello {"name":"Ada"}
call Find {"id":"9"}
expect status not_found
call Echo {"color":"COLOR_RED","stringToColor":{"a":"COLOR_GREEN"},"choiceText":"x"}

test streams
open Chat
{"text":"hi"}
receive
close
wait
"""


@pytest.fixture
def run(rpcurl, grpc_server, tmp_path):
    """Run suites by their texts, and read the coverage as JSON."""

    def run(*texts, options=(), url=grpc_server.url):
        names = []
        for number, text in enumerate(texts):
            names.append(tmp_path / f"{number}.rpcurl")
            names[-1].write_text(f"target {url}\n{text}")
        result = rpcurl("test", "--coverage", f"json={tmp_path}/coverage.json", *options, *names)
        path = tmp_path / "coverage.json"
        return result, json.loads(path.read_text()) if path.exists() else None

    return run


def test_what_calls_exercise(run):
    result, coverage = run(ALL)
    assert (result.code, result.err) == (0, ""), result.out
    methods = coverage["methods"]
    assert methods["demo.v1.Demo/Hello"] == {"ok": 1} and methods["demo.v1.Demo/Find"] == {"not_found": 1}
    assert methods["demo.v1.Demo/Chat"] == {"ok": 1} and methods["demo.v1.Demo/Sum"] == {}
    # The services of gRPC are no part of the API.
    assert len(methods) == 12 and coverage["summary"]["methods"] == {"used": 4, "of": 12}
    assert coverage["statuses"] == {"ok": 3, "not_found": 1}
    # The request and the response have each value. An alias is no value of its own.
    colors = coverage["enums"]["demo.v1.Color"]
    assert colors["COLOR_RED"] == 2 and colors["COLOR_GREEN"] == 2, colors
    assert not any("google.protobuf" in name for name in coverage["enums"])
    assert coverage["oneofs"]["demo.v1.AllTypes.choice"] == {
        "choice_number": 0, "choice_text": 2, "choice_nested": 0, "choice_flag": 0,
    }  # fmt: skip


def test_coverage_of_files_is_merged(run):
    result, coverage = run(
        'test a\ncall Hello {"name":"Ada"}\n', 'test b\ncall Hello {"name":"Ada"}\ncall Fail {"code":5}\nexpect status not_found\n',
        options=["--jobs", "2"],
    )  # fmt: skip
    assert result.code == 0, result.out
    assert coverage["methods"]["demo.v1.Demo/Hello"] == {"ok": 2}
    assert coverage["summary"]["methods"] == {"used": 2, "of": 12}


def test_text_follows_the_summary(run):
    result, _ = run('test a\ncall Hello {"name":"Ada"}\n', options=["--coverage", "text"])
    summary, blank, methods, *rest = result.out.splitlines()
    assert summary.startswith("1 passed in ") and blank == ""
    assert methods == "methods:        8 %, 1 of 12"
    assert "  Hello         ok 1" in rest and "  Sum           not called" in rest


def test_reports_have_the_coverage(run, rpcurl, tmp_path):
    result, _ = run('test a\ncall Hello {"name":"Ada"}\n', options=["--report", "ndjson", "--report", f"html={tmp_path}/page.html"])
    events = result.lines()
    assert [event["event"] for event in events] == ["run", "file", "test", "coverage", "file-end", "end"]
    assert events[3]["methods"]["demo.v1.Demo/Hello"] == {"ok": 1}
    assert "<h2>Coverage</h2>" in (tmp_path / "page.html").read_text()


def test_coverage_is_only_collected_if_asked_for(rpcurl, grpc_server, tmp_path):
    (tmp_path / "a.rpcurl").write_text(f'target {grpc_server.url}\ntest a\ncall Hello {{"name":"Ada"}}\n')
    for options, expected in [((), False), (("--coverage", "report"), True)]:
        assert ('"event":"coverage"' in rpcurl("test", "--report", "ndjson", *options, tmp_path).out) == expected


def test_services_are_selected(run):
    _, coverage = run('test a\ncall Hello {"name":"Ada"}\n', options=["--coverage-of", "demo"])
    assert len(coverage["methods"]) == 12
    result, coverage = run('test a\ncall Hello {"name":"Ada"}\n', options=["--coverage-of", "dem"])
    assert coverage["methods"] == coverage["enums"] == {}
    assert (result.code, result.err) == (2, "rpcurl: --coverage-of dem: the schema has no such service or package\n")


def test_service_of_grpc_counts_if_it_is_called(run):
    _, coverage = run("test a\ncall grpc.health.v1.Health/Check\nexpect status ok,not_found,unimplemented\n")
    assert coverage["methods"]["grpc.health.v1.Health/Check"] and len(coverage["methods"]) > 12


def test_replayed_calls_count(run, tmp_path):
    _, recorded = run(ALL, options=["--record", tmp_path / "cassettes"])
    result, replayed = run(ALL, options=["--replay", tmp_path / "cassettes"], url="http://127.0.0.1:1")
    assert result.code == 0, result.out
    assert replayed == recorded and recorded["statuses"] == {"ok": 3, "not_found": 1}


def test_mocked_calls_count(run, tmp_path, descriptor_set):
    (tmp_path / "stubs.json").write_text('{"method":"demo.v1.Demo/Hello","response":{"message":{"message":"m"}}}')
    options = ["--mock", tmp_path / "stubs.json", "--descriptor-set", descriptor_set]
    result, coverage = run('test a\ncall Hello {"name":"Ada"}\n', options=options, url="http://127.0.0.1:1")
    assert result.code == 0, result.out
    assert coverage["methods"]["demo.v1.Demo/Hello"] == {"ok": 1}


def test_too_few_methods_fail_the_run(run):
    text = 'test a\ncall Hello {"name":"Ada"}\n'
    assert run(text, options=["--coverage-min", "8"])[0].code == 0
    result, _ = run(text, options=["--coverage-min", "9"])
    assert result.code == 8
    assert result.err == "rpcurl: --coverage-min 9: 1 of 12 methods were called, 8 %\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--coverage", "xml"], "no such format"),
        (["--coverage", "json"], "another report is on standard output"),
        (["--coverage", "text", "--report", "tap"], "another report is on standard output"),
        (["--coverage", "text", "--coverage", "text"], "another report is on standard output"),
        (["--coverage-min", "101"], "not a number from 0 to 100"),
    ],
)
def test_options_that_are_wrong(rpcurl, tmp_path, options, words):
    (tmp_path / "a.rpcurl").write_text("test a\n")
    rpcurl("test", *options, tmp_path).exits(2).reports(words)


def test_json_on_standard_output(rpcurl, grpc_server, tmp_path):
    (tmp_path / "a.rpcurl").write_text(f'target {grpc_server.url}\ntest a\ncall Hello {{"name":"Ada"}}\n')
    result = rpcurl("test", "--report", f"tap={tmp_path}/a.tap", "--coverage", "json", tmp_path)
    assert result.json()["statuses"] == {"ok": 1}
