"""rpcurl test --compare: recorded suites against a newer schema."""


import pytest
from harness import ROOT, write

PROTO = (ROOT / "Tests/Servers/demo.proto").read_text()
SUITE = """
test calls
call Hello {"name":"Ada","language":"de"}
expect status ok
call Echo {"color":"COLOR_RED","int64Value":"5","stringToNested":{"k":{"label":"y"}}}
expect status ok
"""


@pytest.fixture
def compare(rpcurl, grpc_server, tmp_path):
    """Record a suite against the server, and replay it with a schema that differs from that of the server."""

    def compare(*changes, suite=SUITE, options=()):
        new = PROTO
        for old, text in changes:
            assert old in new, old
            new = new.replace(old, text)
        (tmp_path / "old").mkdir()
        (tmp_path / "new").mkdir()
        (tmp_path / "old/demo.proto").write_text(PROTO)
        (tmp_path / "new/demo.proto").write_text(new)
        path = write(tmp_path / "a.rpcurl", f"target {grpc_server.url}\n{suite}")
        rpcurl("test", "--record", tmp_path / "cassettes", path).exits(0)
        path.write_text(path.read_text().replace(grpc_server.url, "http://127.0.0.1:1"))
        result = rpcurl(
            "test", "--report", "ndjson", "--replay", tmp_path / "cassettes", "--compare", tmp_path / "old",
            "--proto", tmp_path / "new/demo.proto", *options, path,
        )  # fmt: skip
        events = result.lines()
        assert events[1]["tests"] == sum(event["event"] == "test" for event in events)
        return result, {event["name"].split(" ")[0]: event for event in events if event["event"] == "test"}

    return compare


def failures(test):
    return [failure for step in test.get("steps", []) for failure in step.get("failures", [])]


def test_same_schema(compare):
    result, tests = compare()
    assert (result.code, result.err) == (0, ""), result.out
    assert {test["outcome"] for test in tests.values()} == {"passed"}


def test_additions_are_compatible(compare):
    result, tests = compare(("string name = 2;\n}\n\nmessage FindRequest", "string name = 2;\n  string more = 3;\n}\n\nmessage FindRequest"))
    assert (result.code, result.err) == (0, ""), result.out


def test_removed_field_is_lost(compare):
    result, tests = compare(("  string name = 2;\n}\n\nmessage FindRequest", "}\n\nmessage FindRequest"))
    assert result.code == 8
    (failure,) = failures(tests["calls"])
    assert failure["check"].startswith("response as by ") and '-   "name": "Ada"' in failure["diff"], failure
    (rule,) = failures(tests["compatible"])
    assert rule["check"].startswith("FIELD_NO_DELETE (demo.proto:") and 'field 2 "name" was removed' in rule["got"]


def test_field_with_another_number_and_name(compare):
    result, tests = compare(
        ("  string language = 2;", "  string language = 3;"), ("  string message = 1;\n  // The name as", "  string greeting = 1;\n  // The name as")
    )
    assert result.code == 8
    checks = [failure["check"].split(" ")[0] for failure in failures(tests["calls"])]
    assert "request" in checks, checks
    assert {"FIELD_NO_DELETE", "FIELD_SAME_NAME"} <= {failure["check"].split(" ")[0] for failure in failures(tests["compatible"])}


def test_enum_value_that_is_gone(compare):
    result, tests = compare(("  COLOR_RED = 1;\n", ""))
    assert result.code == 8
    # The suite names the value, so that the call cannot be made.
    assert tests["calls"]["outcome"] == "failed" and "accepts the call" in tests["calls"]["error"]["hint"], tests["calls"]
    assert "ENUM_VALUE_NO_DELETE" in {failure["check"].split(" ")[0] for failure in failures(tests["compatible"])}


def test_enum_value_of_a_response_that_is_gone(compare):
    result, tests = compare(("  COLOR_RED = 1;\n", ""), suite='test echoes\ncall Echo {"color":1}\nexpect .color == 1\n')
    assert result.code == 8
    # The request has no name of the value, so that its JSON with the older schema differs, too.
    request, response = failures(tests["echoes"])
    assert request["check"].startswith("request as by ") and response["check"].startswith("response as by ")
    assert response["diff"] == '  {\n-   "color": "COLOR_RED"\n+   "color": 1\n  }', response


def test_field_with_another_type(compare):
    result, tests = compare(
        ("  int64 int64_value = 4;", "  sint64 int64_value = 4;"), suite='test echoes\ncall Echo {"stringToNested":{"k":{"number":5}},"int64Value":"6"}\n'
    )
    assert result.code == 8
    assert "FIELD_SAME_TYPE" in {failure["check"].split(" ")[0] for failure in failures(tests["compatible"])}
    hints = {failure["hint"] for failure in failures(tests["echoes"]) if "request as by" in failure["check"]}
    assert len(hints) == 1 and 'field 4 "int64_value" changed its type from int64 to sint64' in hints.pop(), tests["echoes"]


def test_request_with_another_type(compare):
    _, tests = compare(("  string language = 2;", "  int32 language = 2;"))
    assert tests["calls"]["outcome"] == "failed"
    hint = tests["calls"]["error"]["hint"]
    assert "accepts the call: message demo.v1.HelloRequest: field 2 \"language\" changed its type from string to int32" in hint


def test_response_with_another_type(compare):
    change = ("  string name = 2;\n}\n\nmessage FindRequest", "  fixed64 name = 2;\n}\n\nmessage FindRequest")
    _, tests = compare(change, suite='test greets\ncall Hello {"name":"Ada"}\n')
    hints = {failure.get("hint", "") for failure in failures(tests["greets"])}
    assert any('field 2 "name" changed its type from string to fixed64' in hint for hint in hints), tests["greets"]


@pytest.mark.parametrize(("value", "status"), [("1", "ok"), ("${base64(1)}", "not_found")])
def test_method_that_is_gone(compare, value, status):
    start = PROTO.index("  // Find returns one")
    method = PROTO[start : PROTO.index("  // Fail ends")]
    result, tests = compare((method, ""), suite=f'test finds\ncall Find {{"id":"{value}"}}\nexpect status {status}\n')
    assert result.code == 8
    assert tests["finds"]["outcome"] == "failed" and "accepts the call" in tests["finds"]["error"]["hint"]
    (rule,) = failures(tests["compatible"])
    assert rule["check"].startswith("RPC_NO_DELETE (demo.proto:")


def test_changes_of_what_is_not_exercised_are_counted(compare):
    changes = ("  string title = 2;\n", "")
    result, tests = compare(changes)
    assert result.code == 0, result.out
    assert tests["compatible"]["output"].startswith("1 breaking change concerns nothing that the suite exercises")


@pytest.mark.parametrize("options", [["--rules", "WIRE"], ["--ignore", "demo.v1"], ["--rules-from", "rules.yaml"]], ids=lambda words: words[0])
def test_rules_are_selected(rpcurl, compare, options):
    (rpcurl.home / "rules.yaml").write_text("breaking: {ignore: [demo.proto]}")
    change = ("  string message = 1;\n  // The name as", "  string greeting = 1;\n  // The name as")
    suite = 'test finds\ncall Hello {"name":"Ada"}\nexpect .name == "Ada"\n'
    result, tests = compare(change, suite=suite, options=options)
    assert failures(tests["compatible"]) == []
    # The meaning of the messages is compared in any case.
    assert result.code == 8 and len(failures(tests["finds"])) == 1


def test_exception_that_the_older_schema_lacks_is_reported(compare, tmp_path):
    result, _ = compare(options=["--ignore", "nope.proto", "--ignore", "demo.proto", "--ignore", "demo.v1"])
    assert (result.code, result.err) == (0, f"rpcurl: --ignore nope.proto: warning: {tmp_path}/old has no nope.proto\n")


@pytest.mark.parametrize("options", [["--rules", "WIRE"], ["--ignore", "a"], ["--ignore-unstable"], ["--rules-from", "a"]], ids=lambda words: words[0])
def test_rules_require_an_older_schema(rpcurl, tmp_path, options):
    (tmp_path / "a.rpcurl").write_text("test a\necho a\n")
    rpcurl("test", *options, tmp_path).exits(2, "", f"rpcurl: {options[0]}: requires --compare\nhint: --compare OLD names the older schema\n")


def test_mistake_of_the_suite_is_an_error(compare, rpcurl, tmp_path):
    result, tests = compare(suite=SUITE)
    path = write(tmp_path / "a.rpcurl", 'target http://127.0.0.1:1\ntest t\ncall Helo {"name":"Ada"}\n\ntest u\ncall Hello {"nam":"Ada"}\n')
    result = rpcurl("test", "--report", "ndjson", "--compare", tmp_path / "old", "--proto", tmp_path / "new/demo.proto", path)
    outcomes = [event["outcome"] for event in result.lines() if event["event"] == "test"]
    assert result.code == 4 and outcomes == ["error", "error", "passed"], result.out


def test_schema_that_does_not_exist(rpcurl, tmp_path):
    (tmp_path / "a.rpcurl").write_text("test a\n")
    rpcurl("test", "--compare", tmp_path / "no.binpb", tmp_path).exits(3).reports("No such file")
