"""The interceptor log, around real calls."""

import base64
import json
from datetime import datetime

import manual
import pytest

DEMO = "demo.v1.Demo"


def test_lines_for_people(call):
    result = call("Hello", "-H", "authorization: Bearer top", "--use", "log,bodies=true", data='{"name":"Ada"}').exits(0)
    lines = [line.partition(f" {DEMO}/Hello ")[2] for line in result.err.splitlines()]
    assert lines[0].startswith(f"> unary over {call.protocol} to http://")
    assert "top" not in result.err and ">   authorization: Bearer [redacted]" in lines
    assert '> message 0, 5 bytes: {"name":"Ada"}' in lines
    assert '< message 0, 18 bytes: {"message":"Hello, Ada!","name":"Ada"}' in lines
    assert lines[-1].startswith("< ok after ")


def test_messages_are_not_logged_by_default(call):
    result = call("Hello", "--use", "log", data='{"name":"Ada"}')
    assert "5 bytes\n" in result.err and "Ada" not in result.err


@pytest.mark.parametrize(
    ("method", "data", "sent", "received"),
    [
        ("Hello", '{"name":"Ada"}', 1, 1),
        ("Count", '{"from":1,"to":3}', 1, 3),
        ("Sum", '{"value":1}{"value":2}', 2, 1),
        ("FailStream", '{"code":9,"afterMessages":2}', 1, 2),
    ],
)
def test_lines_for_programs(call, tmp_path, method, data, sent, received):
    file = tmp_path / "log.ndjson"
    result = call(method, "--use", f"log,format=ndjson,file={file},bodies=true", data=data)
    fails = method == "FailStream"
    assert result.code == (64 + 9 if fails else 0)
    # The log goes to its file only.
    assert result.err == (f"rpcurl: {DEMO}/FailStream: failed_precondition (9)\n" if fails else "")
    events = [json.loads(line) for line in file.read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("start", "end", "metrics")
    assert (kinds.count("sent"), kinds.count("message")) == (sent, received)
    assert result.lines() == [e["message"] for e in events if e["event"] == "message"]
    assert events[-2]["code"] == ("failed_precondition" if fails else "ok")


def test_bidi_stream_is_written_as_it_happens(rpcurl, descriptor_set, grpc_server, tmp_path):
    file = tmp_path / "log.ndjson"
    options = ["--descriptor-set", descriptor_set, "--use", f"log,format=ndjson,file={file},bodies=true"]
    with rpcurl.start(*options, f"{grpc_server.url}/{DEMO}/Chat") as process:
        for number, text in enumerate("ab"):
            process.stdin.write(json.dumps({"text": text}).encode())
            assert json.loads(process.stdout.readline()) == {"text": f"you said: {text}"}
            events = [json.loads(line) for line in file.read_text().splitlines()]
            assert [e["message"]["text"] for e in events if e["event"] == "message"][number] == f"you said: {text}"
        process.stdin.close()
        assert process.wait() == 0


def test_long_messages_are_cut(call):
    result = call("Echo", "--use", "log,bodies=true,max-body=50", "--format", "none", data=json.dumps({"stringValue": "x" * 100_000}))
    lines = [line for line in result.err.splitlines() if " message 0, " in line]
    assert len(lines) == 2 and all(line.endswith("x" * 34 + "…") for line in lines), lines


# HAR


def members(value, required, optional=""):
    assert isinstance(value, dict)
    assert value.keys() >= set(required.split()), value.keys()
    assert value.keys() <= set(required.split()) | set(optional.split()), value.keys()


def check_har(har):
    """Holds a file against HAR 1.2: http://www.softwareishard.com/blog/har-12-spec/"""
    members(har, "log")
    members(har["log"], "version creator entries", "browser pages comment")
    assert har["log"]["version"] == "1.2"
    members(har["log"]["creator"], "name version", "comment")
    for entry in har["log"]["entries"]:
        members(entry, "startedDateTime time request response cache timings", "pageref serverIPAddress connection comment")
        assert datetime.fromisoformat(entry["startedDateTime"]).tzinfo
        request, response = entry["request"], entry["response"]
        members(request, "method url httpVersion cookies headers queryString headersSize bodySize", "postData comment")
        members(
            response, "status statusText httpVersion cookies headers content redirectURL headersSize bodySize", "comment"
        )
        for header in request["headers"] + response["headers"]:
            members(header, "name value", "comment")
        if "postData" in request:
            members(request["postData"], "mimeType params text", "comment")
        members(response["content"], "size mimeType", "compression text encoding comment")
        members(entry["timings"], "send wait receive", "blocked dns connect ssl comment")
        spent = [entry["timings"][part] for part in ("blocked", "dns", "connect", "send", "wait", "receive")]
        assert abs(sum(time for time in spent if time != -1) - entry["time"]) < 0.01
        assert all(entry["timings"][part] >= 0 for part in ("send", "wait", "receive"))
    return har["log"]["entries"]


def test_archive(call, tmp_path):
    file = tmp_path / "calls.har"
    use = f"log,format=har,file={file},bodies=true"
    assert call("Hello", "-H", "x-api-key: k", "--use", use, data='{"name":"Ada"}').err == ""
    (entry,) = check_har(json.loads(file.read_text()))
    assert entry["request"]["url"].endswith(f"/{DEMO}/Hello")
    assert {"name": "x-api-key", "value": "[redacted]"} in entry["request"]["headers"]
    assert json.loads(entry["request"]["postData"]["text"]) == {"name": "Ada"}
    content = entry["response"]["content"]
    assert content["encoding"] == "base64"
    assert json.loads(base64.b64decode(content["text"])) == {"message": "Hello, Ada!", "name": "Ada"}
    by_get = "; sent by GET if --connect-get is given" if call.protocol == "connect" else ""
    assert (entry["response"]["status"], entry["comment"]) == (200, f"ok; unary over {call.protocol}{by_get}")
    assert entry["response"]["httpVersion"] == ("HTTP/2.0" if call.protocol == "grpc" else "HTTP/1.1")
    assert entry["time"] > 0 and file.stat().st_mode & 0o777 == 0o600


def test_archive_of_a_stream_and_of_a_failure(call, tmp_path):
    file = tmp_path / "calls.har"
    use = f"log,format=har,file={file},bodies=true"
    call("Count", "--use", use, data='{"from":1,"to":3}')
    (entry,) = check_har(json.loads(file.read_text()))
    content = entry["response"]["content"]
    assert content["mimeType"] == "application/x-ndjson"
    assert base64.b64decode(content["text"]).split() == [b'{"number":1}', b'{"number":2}', b'{"number":3}']
    call("Find", "--use", use, data='{"id":"9"}')
    (entry,) = check_har(json.loads(file.read_text()))
    assert entry["comment"].startswith('not_found (5): no item "9"')


def test_archive_of_a_failed_connection(rpcurl, descriptor_set, tmp_path):
    file = tmp_path / "calls.har"
    options = ["--descriptor-set", descriptor_set, "--use", f"log,format=har,file={file}"]
    assert rpcurl(*options, "-d", "{}", f"http://127.0.0.1:1/{DEMO}/Hello").code == 5
    (entry,) = check_har(json.loads(file.read_text()))
    assert entry["response"]["status"] == 0 and entry["comment"].startswith("unavailable")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("format=xml", ["log: format:", "human, ndjson, har"]),
        ("format=har", ["log: file:", "format=har requires a file"]),
        ("file=/no/such/file", ["log: file:", "/no/such/file"]),
        ("max-body=x", ["log: max-body:", "whole number"]),
    ],
)
def test_wrong_configuration_names_the_key(rpcurl, descriptor_set, setting, words):
    options = ["--descriptor-set", descriptor_set, "--plaintext"]
    result = rpcurl(*options, "--use", f"log,{setting}", "localhost:1", f"{DEMO}/Hello").exits(7, "")
    assert all(word in result.err for word in words), result.err


def test_examples_of_the_manual(tmp_path, descriptor_set, grpc_server):
    (example,) = manual.examples("rpcurl-log.7")
    result = manual.run(example, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert result.returncode == 0
    assert '> message 0, 5 bytes: {"name":"[redacted]"}' in result.stderr and "< ok after" in result.stderr
    assert len(check_har(json.loads((tmp_path / "calls.har").read_text()))) == 1


@pytest.mark.parametrize("form", ["human", "ndjson", "har"])
def test_what_a_response_repeats_of_a_credential_is_redacted(call, tmp_path, form):
    """In headers and trailers, also in base64."""
    secret = "hunter2-long"
    echo = base64.b64encode(f"my-client:{secret}".encode()).decode()
    headers = [f"x-api-key: {secret}", f"demo-header: x-echo=got {secret}", f"demo-trailer: x-login={echo}"]
    options = [word for header in headers for word in ("-H", header)]
    log = tmp_path / "log"
    result = call("Hello", "-v", "--use", f"log,file={log},format={form}", *options, data='{"name":"Ada"}').exits(0)
    for text in (result.err, log.read_text()):
        assert "[redacted]" in text and secret not in text and echo[-10:] not in text, text
    assert "x-echo: got [redacted]" in result.err
    assert f"got {secret}" in call("Hello", "-v", "--show-secrets", *options, data='{"name":"Ada"}').err
