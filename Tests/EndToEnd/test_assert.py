"""The interceptor assert, around real calls."""

import json
import xml.etree.ElementTree as ET

import manual
import pytest

DEMO = "demo.v1.Demo"


def test_unary_call_that_meets_the_conditions(call):
    use = "assert,check=status ok,check='.message == Hello, Ada!',check=.name =~ ^A,check=count 1,check=latency < 10s"
    assert call("Hello", "--use", use, data='{"name":"Ada"}').succeeds().json()["name"] == "Ada"


@pytest.mark.parametrize("code", ["not_found", "NOT_FOUND", "5"])
def test_expected_status_is_success(call, code):
    call("Find", "--use", f'assert,check=status {code},check=error =~ ^no item "9"$', data='{"id":"9"}').exits(0, "", "")


def test_unexpected_status_is_a_failure(call):
    call("Find", "--use", "assert,check=status ok", data='{"id":"9"}').exits(8).reports('rpcurl: assertion failed: status ok: expected ok, got not_found: no item "9"\n')
    # Without a word about the code, a failed call ends as one, however many other conditions hold.
    assert call("Find", "--use", "assert,check=count 0", data='{"id":"9"}').code == 69


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_bidi_stream(request, demo, protocol):
    server = request.getfixturevalue(f"{protocol}_server")
    demo(
        "--protocol", protocol, "--http2-prior-knowledge",
        "-d", '{"text":"a"}{"text":"b"}', "--use", "assert,check=every .text =~ ^you said: [ab]$,check=count 2,check=status ok",
        f"{server.url}/{DEMO}/Chat",
    ).succeeds()  # fmt: skip


def test_limit_ends_what_interceptors_receive(call, tmp_path):
    """The messages after the last one are in the same data of the connection."""
    tape = tmp_path / "count.rec"
    for _ in range(3):
        use = ["--use", "assert,check=count 2,check=.number == 2", "--use", f"record,file={tape}"]
        events = call("Count", "--limit", 2, "--format", "events", *use, data='{"from":1,"to":30}').exits(0, err="").lines()
        assert [event["code"] for event in events if event["event"] == "end"] == ["canceled"]
        assert tape.read_text().count('"received"') == 2
    call("Count", "--limit", 2, "--use", f"replay,file={tape}", data='{"from":1,"to":30}').exits(0, '{"number":1}\n{"number":2}\n', "")


def test_call_that_does_not_reach_the_interceptor(call, tmp_path):
    stubs, report = tmp_path / "stubs.json", tmp_path / "report.xml"
    stubs.write_text('{"response":{"status":"ok"}}')
    warning = "assert: no call reached it, so its conditions were not checked\n"
    for settings in ["", f",junit={report}"]:
        call("Hello", "--use", f"mock,file={stubs}", "--use", f"assert,check=.name == Eve{settings}", data="{}").exits(0, err=warning)
    assert ET.parse(report).getroot().get("errors") == "1"
    call("Hello", "--use", f"mock,file={stubs}", "--use", "assert,check=.name == Eve,methods=*/Find", data="{}").exits(0, err="")


def test_kinds_of_fields(call):
    message = {
        "int64Value": "9007199254740993", "color": "COLOR_GREEN", "bytesValue": "AQID", "boolValue": True,
        "timestamp": "2024-05-01T12:00:00Z", "duration": "1.5s", "strings": ["a", "b"],
        "stringToNested": {"k": {"label": "l"}}, "wrappedInt32": 7, "doubleValue": 0.5,
    }  # fmt: skip
    conditions = [
        ".int64_value > 9007199254740992", ".color == COLOR_LIME", ".color >= 1", ".color =~ GREEN", ".bytes_value == AQID",
        ".bool_value == true", ".timestamp > 2024-04-30T00:00:00Z", ".duration <= 1.5s", ".strings contains b",
        ".strings size 2", '.string_to_nested["k"].label == l', ".wrapped_int32 == 7", ".double_value < 0.6",
        ".optional_int32 absent", ".nested absent", ".timestamp exists", '.strings == ["b","a"] unordered',
        ".double_value == 0.51 within 0.1", ".strings ascending", ".timestamp is timestamp",
    ]  # fmt: skip
    use = "assert," + ",".join(f"check='{condition}'" for condition in conditions)
    call("Echo", "--use", use, data=json.dumps(message)).succeeds()


def test_unknown_field_fails_the_call_before_it_is_sent(demo, raw_server):
    server = raw_server(lambda connection: None)
    result = demo("--use", "assert,check=.mesage == x", "-d", "{}", f"http://{server.address}/{DEMO}/Hello").exits(7)
    why = "interceptor assert: check: .mesage == x: demo.v1.HelloReply has no field mesage; did you mean message?"
    assert result.err == f"rpcurl: {DEMO}/Hello: {why}\n"
    assert server.connections == 0


def test_findings_are_events(call):
    result = call("Hello", "--format", "events", "--use", "assert,check=.name == Eve,check=status ok", data='{"name":"Ada"}').exits(8)
    notes = [e for e in result.lines() if e["event"] == "note"]
    assert notes == [
        {
            "event": "note", "interceptor": "assert", "kind": "failure",
            "text": '.name == Eve: expected "Eve", got "Ada"',
        }
    ]  # fmt: skip


def test_call_that_does_not_reach_a_server(rpcurl, descriptor_set):
    command = ["--descriptor-set", descriptor_set, "--plaintext", "-d", "{}", "localhost:1", f"{DEMO}/Hello"]
    rpcurl("--use", "assert,check=status ok", *command).exits(8).reports("got unavailable")
    assert rpcurl("--use", "assert,check=status unavailable", *command).code == 0


def test_junit_report(call, tmp_path):
    report = tmp_path / "report.xml"
    use = f"assert,check=status ok,name=greets <Ada> & co,check=.name == Eve,junit={report}"
    assert call("Hello", "--use", use, data='{"name":"Ada"}').code == 8
    root = ET.parse(report).getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite" and suite.attrib.keys() >= {"name", "tests", "failures", "errors", "time", "timestamp"}
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert [child.tag for child in suite] == ["properties", "testcase", "system-out", "system-err"]
    (case,) = suite.findall("testcase")
    assert (case.get("name"), case.get("classname")) == ("greets <Ada> & co", DEMO)
    assert float(case.get("time")) > 0
    (failure,) = case
    assert (failure.tag, failure.get("type")) == ("failure", "assertion")
    assert failure.text == '.name == Eve: expected "Eve", got "Ada"'


def test_junit_report_of_a_run_without_a_call(rpcurl, descriptor_set, grpc_server, tmp_path):
    report = tmp_path / "report.xml"

    def message(setting, *options, target=grpc_server.url):
        report.unlink(missing_ok=True)
        result = rpcurl("--use", f"assert,junit={report}{setting}", *options, "-d", "{}", f"{target}/{DEMO}/Hello")
        assert result.code in (5, 7), result.err
        suite = ET.parse(report).getroot().find("testsuite")
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
        return suite.find("testcase").find("error").get("message")

    schema = ["--descriptor-set", descriptor_set]
    assert "has no field nme" in message(",check=.nme == x", *schema)
    assert "colour: unknown key" in message(",colour=red", *schema)
    assert message("", target="http://localhost:1") == "no call was checked: see standard error"
    assert message("", *schema, target="http://localhost:1").startswith("unavailable (14): ")


def test_checks_that_share_a_report(call, tmp_path):
    report = tmp_path / "report.xml"
    checks = [f"assert,name={name},check=.name == {name},junit={report}" for name in ("Eve", "Ada")]
    assert call("Hello", *(word for check in checks for word in ("--use", check)), data='{"name":"Ada"}').code == 8
    suite = ET.parse(report).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert {case.get("name"): len(case) for case in suite.findall("testcase")} == {"Eve": 1, "Ada": 0}


def test_report_in_the_file_of_another_format(call, tmp_path):
    file = tmp_path / "report"
    call("Hello", "--use", f"log,format=har,file={file}", "--use", f"assert,junit={file}", data="{}").exits(7, "").reports(
        f"assert: junit: {file}: another interceptor writes this file, in another format",
    )


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("check=status fine", ["assert: check:", "not_found"]),
        ("check=error =~ (", ["assert: check:", "regular expression"]),
        ("check=name == x", ["assert: check:", "hint: a path starts with a full stop: .name == x"]),
        ("code=ok", ["assert: code: unknown key", "hint: write check='status ok'"]),
        ("header=x-a:1", ["assert: header: unknown key", "hint: write check='header NAME == VALUE'"]),
        ("junit=/no/such/report.xml", ["assert: junit:", "/no/such/report.xml"]),
        ("colour=red", ["assert: colour:", "unknown key"]),
    ],
)
def test_wrong_configuration_names_the_key(rpcurl, descriptor_set, setting, words):
    options = ["--descriptor-set", descriptor_set, "--plaintext"]
    result = rpcurl(*options, "--use", f"assert,{setting}", "localhost:1", f"{DEMO}/Hello").exits(7, "")
    assert all(word in result.err for word in words), result.err


def test_examples_of_the_manual(tmp_path, descriptor_set, grpc_server):
    example = manual.examples("rpcurl-assert.7")[0]
    result = manual.run(example, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (result.returncode, result.stderr) == (0, "")
    assert ET.parse(tmp_path / "report.xml").getroot().find("testsuite").get("failures") == "0"


def test_conditions_apply_to_each_call_of_a_batch(call, tmp_path):
    report = tmp_path / "report.xml"
    use = f"assert,check=.name != Eve,junit={report}"
    result = call("Hello", "--each", "--use", use, data='{"name":"Ada"}{"name":"Eve"}{"name":"Joe"}')
    assert (result.code, len(result.out.splitlines())) == (8, 3)
    assert 'call 2: assertion failed: .name != Eve: expected != "Eve", got "Eve"' in result.err
    suite = ET.parse(report).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


def test_expected_status_in_a_batch(call):
    call("Find", "--each", "--use", "assert,check=status not_found", data='{"id":"8"}{"id":"9"}').exits(0, "", "")
