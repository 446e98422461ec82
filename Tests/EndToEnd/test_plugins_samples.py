"""The sample plugins, around real calls."""

import hashlib
import hmac
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest

from harness import ROOT, QuietHandler, http_server, shown_on, write

SAMPLES = ROOT / ".build" / "plugins"
SOURCES = ROOT / "Plugins"
KEY = "k3y"


# sign


def headers(result):
    assert (result.code, result.err) == (0, "")
    return {h["name"]: h.get("value", "") for h in result.json()["headers"]}


def signature(method, timestamp, body):
    return hmac.new(KEY.encode(), f"demo.v1.Demo/{method}\n{timestamp}\n".encode() + body, hashlib.sha256).hexdigest()


def test_sign_signs_method_time_and_body(call):
    sent = '{"headers":[{"name":"x","value":"y"}]}'
    result = headers(call("EchoMetadata", "-d", sent, "--plugin", f"{SAMPLES}/sign.so,key=env:KEY", env={"KEY": KEY}))
    body = b"\x0a\x06\x0a\x01x\x12\x01y"
    timestamp = result["x-signature-timestamp"]
    assert abs(time.time() - int(timestamp)) < 60
    assert result["x-signature-scope"] == "body"
    assert result["x-signature"] == signature("EchoMetadata", timestamp, body)


def test_sign_signs_the_message_as_changed_by_earlier_interceptors(call):
    stamp = f"{SAMPLES}/stamp.so,request-field=headers[0].value,request-value=z"
    result = headers(
        call(
            "EchoMetadata", "-d", '{"headers":[{"name":"x","value":"y"}]}', "--plugin", stamp,
            "--plugin", f"{SAMPLES}/sign.so,key={KEY}",
        )
    )  # fmt: skip
    body = b"\x0a\x06\x0a\x01x\x12\x01z"
    assert result["x-signature"] == signature("EchoMetadata", result["x-signature-timestamp"], body)


@pytest.fixture
def recording_server():
    """An HTTP server that records requests, and responds with an empty message of Connect's unary protocol."""
    received = []

    class Handler(QuietHandler):
        def do_POST(self):
            received.append((self.headers, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-type", "application/proto")
            self.send_header("content-length", "0")
            self.end_headers()

    with http_server(Handler) as url:
        yield url, received


@pytest.mark.parametrize("is_first", [True, False], ids=["sign-first", "sign-last"])
@pytest.mark.parametrize("neighbour", ["log", "record", "replay", "both"])
def test_sign_signs_the_body_that_is_sent_in_every_order(
    rpcurl, recording_server, descriptor_set, tmp_path, neighbour, is_first
):
    url, received = recording_server
    uses = {
        "log": ["--use", f"log,file={tmp_path}/log"],
        "record": ["--use", f"record,file={tmp_path}/cassette"],
        "replay": ["--use", f"replay,file={tmp_path}/cassette,miss=record"],
    }
    uses["both"] = uses["log"] + uses["replay"]
    sign = ["--plugin", f"{SAMPLES}/sign.so,key={KEY}"]
    chain = sign + uses[neighbour] if is_first else uses[neighbour] + sign
    rpcurl(
        *chain, "--protocol", "connect", "--http1.1", "--descriptor-set", descriptor_set,
        "-d", '{"headers":[{"name":"x","value":"y"}]}', f"{url}/demo.v1.Demo/EchoMetadata",
    ).succeeds()  # fmt: skip
    [(headers, body)] = received
    assert body != b""
    assert headers["x-signature-scope"] == "body"
    assert headers["x-signature"] == signature("EchoMetadata", headers["x-signature-timestamp"], body)


def test_sign_signs_what_it_receives_and_explain_warns_of_a_later_change(rpcurl, recording_server, descriptor_set):
    url, received = recording_server
    stamp = f"{SAMPLES}/stamp.so,request-field=headers[0].value,request-value=z"
    words = [
        "--plugin", f"{SAMPLES}/sign.so,key={KEY}", "--plugin", stamp, "--protocol", "connect", "--descriptor-set",
        descriptor_set, "-d", '{"headers":[{"name":"x","value":"y"}]}', f"{url}/demo.v1.Demo/EchoMetadata",
    ]  # fmt: skip
    assert rpcurl(*words).code == 0
    [(headers, body)] = received
    assert body == b"\x0a\x06\x0a\x01x\x12\x01z"
    signed = b"\x0a\x06\x0a\x01x\x12\x01y"
    assert headers["x-signature"] == signature("EchoMetadata", headers["x-signature-timestamp"], signed)
    plan = rpcurl("--explain", "--format", "json", *words).json()
    assert plan["warnings"] == ["sign precedes stamp: stamp changes messages after sign has read them"]


def test_sign_before_credentials_causes_no_warning(rpcurl, recording_server, descriptor_set):
    url, _ = recording_server
    words = [
        "--plugin", f"{SAMPLES}/sign.so,key={KEY}", "--use", "auth,bearer=x", "--descriptor-set", descriptor_set,
        f"{url}/demo.v1.Demo/EchoMetadata",
    ]  # fmt: skip
    assert rpcurl("--explain", "--format", "json", *words).json()["warnings"] == []


def test_explain_warns_of_a_cache_after_sign(rpcurl, recording_server, descriptor_set):
    """A new signature is another key; after the cache, the settings of sign are part of the key."""
    url, received = recording_server
    sign, cache = ["--plugin", f"{SAMPLES}/sign.so,key={KEY}"], ["--use", "cache"]
    words = ["--protocol", "connect", "--descriptor-set", descriptor_set, f"{url}/demo.v1.Demo/EchoMetadata"]
    warning = "sign precedes cache: cache compares the headers that sign makes, and finds no response if they differ in each request"
    for chain, warnings in [(sign + cache, [warning]), (cache + sign, [])]:
        assert rpcurl("--explain", "--format", "json", *chain, *words).json()["warnings"] == warnings
    for _ in range(2):
        assert rpcurl(*cache, *sign, *words).code == 0
    assert len(received) == 1


def test_sign_signs_a_message_larger_than_the_window_of_streams(rpcurl, recording_server, descriptor_set):
    url, received = recording_server
    rpcurl(
        "--plugin", f"{SAMPLES}/sign.so,key={KEY}", "--protocol", "connect", "--descriptor-set", descriptor_set,
        "-d", "@-", f"{url}/demo.v1.Demo/EchoMetadata",
        input='{"headers":[{"name":"x","value":"%s"}]}' % ("y" * 5_000_000),
    ).succeeds()  # fmt: skip
    [(headers, body)] = received
    assert headers["x-signature"] == signature("EchoMetadata", headers["x-signature-timestamp"], body)


@pytest.mark.parametrize("how", ["method", "all"])
def test_sign_signs_streams(demo, grpc_server, how):
    """The headers come back as a person sees them with -v."""
    result = demo(
        "-d", '{"value":1}{"value":300}', "-v", "--show-secrets",
        "--plugin", f"{SAMPLES}/sign.so,key={KEY},stream={how}", f"{grpc_server.url}/demo.v1.Demo/Sum",
    ).exits(0)  # fmt: skip
    assert result.json() == {"total": "301", "count": 2}
    sent = dict(re.findall(r"^> ([\w-]+): (.*)$", result.err, re.M))
    body = b"\x00\x00\x00\x02\x08\x01\x00\x00\x00\x03\x08\xac\x02" if how == "all" else b""
    assert sent["x-signature-scope"] == {"all": "body", "method": "method"}[how]
    assert sent["x-signature"] == signature("Sum", sent["x-signature-timestamp"], body)


def test_sign_refuses(rpcurl, raw_server, descriptor_set):
    server = raw_server(lambda connection: None)
    arguments = ["--descriptor-set", descriptor_set, "-d", '{"value":1}', f"http://{server.address}/demo.v1.Demo/Sum"]
    result = rpcurl("--plugin", f"{SAMPLES}/sign.so,key={KEY},stream=refuse", *arguments)
    assert result.code > 64 and "streams cannot be signed" in result.err
    assert rpcurl("--plugin", f"{SAMPLES}/sign.so", *arguments).code == 7
    rpcurl("--plugin", f"{SAMPLES}/sign.so,key=env:NONE", *arguments).exits(7).reports("NONE is not set")
    assert server.connections == 0


def test_sign_of_a_stream_longer_than_its_window_fails(demo, grpc_server):
    long = '{"text":"%s"}' % ("x" * 1_000_000)
    demo(
        "-d", "@-", "--plugin", f"{SAMPLES}/sign.so,key={KEY},stream=all",
        f"{grpc_server.url}/demo.v1.Demo/Chat", input=long * 6,
    ).exits(64 + 8).reports("sign collects values at request_start, and they exceed the window of 4194304 bytes")  # fmt: skip


# redact

ALL = {
    "stringValue": "secret", "int32Value": 7, "nesteds": [{"label": "a", "number": 1}, {"label": "b", "number": 2}],
    "strings": ["s", "t"], "stringToNested": {'q"': {"label": "c"}}, "int32s": [1, 2, 3], "int32ToString": {"-5": "x"},
}  # fmt: skip


def redact(*fields):
    return f"{SAMPLES}/redact.so," + ",".join(f"field={field}" for field in fields)


def test_redact_hides_fields_of_every_shape(call):
    fields = [
        "string_value", "int32_value", "nesteds[*].label", "nesteds[1].number", "strings[*]", "string_to_nested[*].label",
        "int32s[*]", "int32_to_string[*]",
    ]  # fmt: skip
    result = call("Echo", "-d", json.dumps(ALL), "--plugin", redact(*fields)).succeeds()
    hidden = "[redacted]"
    assert result.json() == {
        "stringValue": hidden, "nesteds": [{"label": hidden, "number": 1}, {"label": hidden}], "strings": [hidden, hidden],
        "stringToNested": {'q"': {"label": hidden}}, "int32ToString": {"-5": hidden},
    }  # fmt: skip


def test_redact_hides_values_of_keys_with_brackets(call):
    sent = {"stringToInt32": {"x[*]": 7, "y": 8}, "stringToNested": {'\\"[*]': {"label": "a"}, "b[*]": {"label": "c"}}}
    fields = ["string_to_int32[*]", "string_to_nested[*].label"]
    result = call("Echo", "-d", json.dumps(sent), "--plugin", redact(*fields)).succeeds()
    hidden = {"label": "[redacted]"}
    assert result.json() == {"stringToNested": {'\\"[*]': hidden, "b[*]": hidden}}
    result = call("Echo", "-d", json.dumps(sent), "--plugin", redact('string_to_nested["b[*]"].label')).succeeds()
    sent["stringToNested"]["b[*]"] = hidden
    assert result.json() == sent


def test_redact_warns_of_a_path_that_never_matched(call):
    result = call("Hello", "-d", '{"name":"Ada"}', "--plugin", redact("nmae")).exits(0)
    assert result.err == "redact: no message of the call has a field nmae\n"


@pytest.fixture
def rules(rpcurl, tmp_path):
    """Makes a file of rules, with rpcurl itself."""

    def make(value):
        schema = tmp_path / "redact.binpb"
        subprocess.run(["protoc", f"-I{SOURCES}/redact", f"--descriptor_set_out={schema}", "redact.proto"], check=True)
        done = rpcurl(
            "convert", "--descriptor-set", schema, "--type", "redact.v1.Rules", "--from", "json", "--to", "binary",
            input=json.dumps(value),
        ).exits(0)  # fmt: skip
        file = write(tmp_path / "rules.binpb", done.out_bytes)
        return file

    return make


def test_redact_reads_its_own_configuration_message(call, rules):
    file = rules(
        {
            "rules": [
                {"fields": ["message"], "direction": "RESPONSE", "replacement": "***", "messageType": "demo.v1.HelloReply"},
                {"fields": ["name"], "direction": "REQUEST", "replacement": "Grace"},
                {"fields": ["nothing"], "messageType": "demo.v1.Other"},
            ]
        }
    )
    result = call("Hello", "-d", '{"name":"Ada"}', "--plugin", f"{SAMPLES}/redact.so,rules={file}").succeeds()
    assert result.json() == {"message": "***", "name": "Grace"}


def test_redact_fails_calls_that_it_cannot_redact(rpcurl, raw_server, descriptor_set, rules):
    server = raw_server(lambda connection: None)
    file = rules({"rules": [{"fields": ["nmae"], "messageType": "demo.v1.HelloRequest"}]})
    arguments = ["--descriptor-set", descriptor_set, f"http://{server.address}/demo.v1.Demo/Hello"]
    result = rpcurl("--plugin", f"{SAMPLES}/redact.so,rules={file}", *arguments)
    assert result.code > 64 and "has no field nmae; did you mean name?" in result.err
    file.write_bytes(b"\xff")
    for configuration in ["", f",rules={file}", ",rules=/no/such", ",field="]:
        assert rpcurl("--plugin", f"{SAMPLES}/redact.so{configuration}", *arguments).code == 7
    assert server.connections == 0


@pytest.mark.parametrize(
    ("direction", "uses", "warnings"),
    [
        ("RESPONSE", ["log,bodies=true", "redact"], []),
        ("RESPONSE", ["redact", "log,bodies=true"], ["redact precedes log: log receives responses before redact redacts them"]),
        ("REQUEST", ["redact", "log,bodies=true"], []),
        ("REQUEST", ["log,bodies=true", "redact"], ["log precedes redact: log receives requests before redact redacts them"]),
        ("RESPONSE", ["redact", "log"], []),
        ("REQUEST", ["log", "redact"], []),
    ],
)  # fmt: skip
def test_explain_warns_of_the_wrong_order_of_redact_and_log_only(rpcurl, descriptor_set, rules, direction, uses, warnings):
    file = rules({"rules": [{"fields": ["name"], "direction": direction}]})
    options = {"redact": ["--plugin", f"{SAMPLES}/redact.so,rules={file}"]}
    chain = [word for use in uses for word in options.get(use, ["--use", use])]
    words = ["--explain", "--format", "json", *chain, "--descriptor-set", descriptor_set, "http://localhost:1/demo.v1.Demo/Hello"]
    assert rpcurl(*words).json()["warnings"] == warnings


def test_generated_code_of_redact_is_current(tmp_path):
    subprocess.run([SOURCES / "redact" / "generate.sh", tmp_path], check=True)
    for name in ["redact.pb-c.c", "redact.pb-c.h"]:
        assert (tmp_path / name).read_text() == (SOURCES / "redact" / name).read_text()


# approve

# The log prints a line before the plugin after it holds the call.
HOLDING = ["--use", "log", "--plugin"]


def test_approve_waits_for_a_file(rpcurl, grpc_server, descriptor_set, tmp_path):
    file = tmp_path / "yes"
    arguments = [
        "--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', *HOLDING, f"{SAMPLES}/approve.so,file={file}",
        f"{grpc_server.url}/demo.v1.Demo/Hello",
    ]  # fmt: skip
    with rpcurl.start(*arguments) as process:
        assert b"> unary over grpc" in process.stderr.readline()
        assert process.poll() is None
        file.touch()
        out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["message"] == "Hello, Ada!"


def test_approve_times_out_and_sends_nothing(demo, raw_server, tmp_path):
    server = raw_server(lambda connection: None)
    plugin = f"{SAMPLES}/approve.so,file={tmp_path}/never,timeout=0.1"
    demo("--plugin", plugin, f"http://{server.address}/demo.v1.Demo/Hello").exits(64 + 7).reports("the call was not approved in time")
    assert server.connections == 0


def test_deadline_and_interrupt_end_the_wait_of_approve(rpcurl, descriptor_set, tmp_path):
    plugin = f"{SAMPLES}/approve.so,file={tmp_path}/never"
    arguments = ["--descriptor-set", descriptor_set, *HOLDING, plugin, "http://localhost:1/demo.v1.Demo/Hello"]
    rpcurl("--max-time", "0.2", *arguments).exits(64 + 4).reports("approve")
    with rpcurl.start(*arguments) as process:
        assert b"> unary over grpc" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130


@pytest.mark.parametrize(("response", "code"), [(b"y\n", 0), (b"n\n", 71), (b"\n", 71)])
def test_approve_asks_on_the_terminal(rpcurl, grpc_server, descriptor_set, response, code):
    arguments = [
        "--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', "--plugin", f"{SAMPLES}/approve.so",
        f"{grpc_server.url}/demo.v1.Demo/Hello",
    ]  # fmt: skip
    child, terminal = pty.fork()
    if child == 0:
        command = rpcurl.command(arguments)
        os.execve(command[0], command, rpcurl.environment(None))
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(terminal, 1024)
    assert b"approve: call demo.v1.Demo/Hello of http" in seen
    os.write(terminal, response)
    seen += b"".join(shown_on(terminal))
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == code, seen
    assert (b"Hello, Ada!" in seen) == (code == 0)


def test_approve_needs_a_terminal(rpcurl, demo):
    command = demo.command(("--plugin", f"{SAMPLES}/approve.so", "http://localhost:1/demo.v1.Demo/Hello"))
    done = subprocess.run(
        command, env=rpcurl.environment(None), start_new_session=True, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 64 + 14 and b"no terminal" in done.stderr


# count, in Swift


@pytest.mark.parametrize("runtime", ["count", "count-shared"])
def test_count_shows_a_table_at_the_end(call, runtime):
    options = ["--plugin", f"{SAMPLES}/{runtime}.so,field=number"]
    result = call("Count", "-d", '{"from":1,"to":3}', *options).exits(0)
    assert [json.loads(line)["number"] for line in result.out.splitlines()] == [1, 2, 3]
    assert result.err == "count: response messages by number\ncount:   1  1\ncount:   1  2\ncount:   1  3\n"


def test_count_counts_values_of_requests(demo, grpc_server):
    sent = "".join(f'{{"text":"{text}"}}' for text in ["b", "a", "b", ""] + ["a"] * 9)
    result = demo(
        "-d", sent, "--plugin", f"{SAMPLES}/count.so,field=text,of=request,most=2",
        f"{grpc_server.url}/demo.v1.Demo/Chat",
    ).exits(0)  # fmt: skip
    words = ["request messages by text", "  10  a", "   2  b", "   1  (other values)"]
    assert result.err == "".join(f"count: {line}\n" for line in words)


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ("color", "COLOR_RED"), ("nested.label", "x"), ("bool_value", "true"), ("strings", '["a"]'), ("strings[5]", "(none)"),
        ("bytes_value", '"AQ=="'), ("string_value", "(empty)"), ("double_value", "1.5"), ("string_to_int32[\"k\"]", "4"),
    ],
)  # fmt: skip
def test_count_shows_values_in_readable_form(demo, grpc_server, field, shown):
    sent = {
        "color": 1, "nested": {"label": "x"}, "boolValue": True, "strings": ["a"], "bytesValue": "AQ==", "doubleValue": 1.5,
        "stringToInt32": {"k": 4},
    }  # fmt: skip
    result = demo(
        "-d", json.dumps(sent), "--plugin", f"{SAMPLES}/count.so,field={field}",
        f"{grpc_server.url}/demo.v1.Demo/Echo",
    ).exits(0)  # fmt: skip
    assert result.err.splitlines()[1] == f"count:   1  {shown}"


def test_count_refuses_wrong_configuration(demo):
    for configuration in ["", ",field=a,of=both", ",field=a,most=0", ",colour=red"]:
        result = demo("--plugin", f"{SAMPLES}/count.so{configuration}", "http://localhost:1/demo.v1.Demo/Count")
        assert result.code == 7 and result.err.startswith("rpcurl: plugin count: "), result.err


# All of them


@pytest.mark.parametrize("name", ["stamp", "sign", "redact", "approve"])
def test_sample_builds_alone_against_an_installed_header(tmp_path, name):
    folder = tmp_path / name
    shutil.copytree(SOURCES / name, folder, ignore=shutil.ignore_patterns("*.so"))
    headers = tmp_path / "include" / "rpcurl"
    headers.mkdir(parents=True)
    shutil.copy(ROOT / "Sources/CPlugins/include/rpcurl/plugin.h", headers)
    subprocess.run(["make", "-s", "-C", folder, f"HEADERS={headers.parent}", "CFLAGS=-Werror"], check=True)
    assert (folder / f"{name}.so").exists()


@pytest.mark.parametrize("name", ["count", "count-shared"])
def test_swift_plugin_does_not_name_the_build_as_the_place_of_libraries(name):
    dynamic = subprocess.run(["readelf", "-d", SAMPLES / f"{name}.so"], capture_output=True, text=True, check=True).stdout
    paths = re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    needed = re.findall(r"NEEDED\).*\[(.*)\]", dynamic)
    assert any("swiftCore" in library for library in needed) == (name == "count-shared")
    assert not any("ORIGIN" in path or str(ROOT) in path for path in paths)
    assert len(paths) == (1 if name == "count-shared" else 0)
