"""The interceptors record and replay: calls from a cassette, recorded from real servers."""

import json
import re
import signal
import subprocess
import time

import manual
import pytest
from harness import Caller

DEMO = "demo.v1.Demo"
NOWHERE = "http://127.0.0.1:1"
CALLS = [
    ("Hello", '{"name":"Ada"}'),
    ("Find", '{"id":"9"}'),
    ("Count", '{"from":1,"to":3}'),
    ("Sum", '{"value":1}{"value":2}'),
    ("Chat", '{"text":"a"}{"text":"b"}'),
    ("FailStream", '{"code":9,"message":"over","afterMessages":2}'),
    ("EchoMetadata", '{"headers":[{"name":"x-a","value":"1"}],"trailers":[{"name":"x-b-bin","binary":"AQI="}]}'),
]


@pytest.fixture
def call(demo):
    """`call(server, method, *options, data=…)`."""
    return lambda server, *words, **more: Caller(demo, server)(*words, **more)


@pytest.fixture
def cassette(tmp_path):
    return tmp_path / "calls.rec"


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
@pytest.mark.parametrize("codec", ["proto", "json"])
def test_all_kinds_of_calls_are_replayed(call, cassette, request, protocol, codec):
    server = request.getfixturevalue(f"{protocol}_server")
    options = ["--protocol", protocol, "--codec", codec, "--format", "events", "--http2-prior-knowledge"]
    if protocol == "grpc" and codec == "json":
        pytest.skip("the gRPC server speaks protobuf only")

    def events(result):
        kept = [e for e in result.lines() if e["event"] in ("headers", "message", "end")]
        for event in kept:
            for name in ("http_status", "http_version", "sent", "bytes"):
                event.pop(name, None)
            for detail in event.get("details", []):
                detail.pop("debug", None)
        return result.code, kept

    recorded = []
    for number, (method, data) in enumerate(CALLS):
        append = "true" if number else "false"
        result = call(server.url, method, *options, "--use", f"record,file={cassette},append={append}", data=data)
        recorded.append(events(result))
    for (method, data), expected in zip(CALLS, recorded):
        result = call(NOWHERE, method, *options, "--use", f"replay,file={cassette}", data=data)
        assert events(result) == expected, method


def test_cassette_of_one_protocol_is_replayed_in_another(call, cassette, connect_server):
    use = ["--use", f"record,file={cassette}"]
    assert call(connect_server.url, "Hello", "--protocol", "connect", "--codec", "json", *use, data='{"name":"Ada"}').code == 0
    result = call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data='{"name":"Ada"}')
    assert result.json() == {"message": "Hello, Ada!", "name": "Ada"}


def test_cassette_has_no_secrets_and_is_private(call, cassette, grpc_server):
    headers = ["authorization: Bearer SECRET", "cookie: a=SECRET", "x-api-key: SECRET", "x-id-token: SECRET", "x-mine: SECRET"]
    options = [word for header in headers for word in ("-H", header)]
    data = '{"name":"SECRET"}'
    use = f"record,file={cassette},redact=x-mine,redact-field=name,redact-field=message"
    assert call(grpc_server.url, "Hello", *options, "--use", use, data=data).code == 0
    text = cassette.read_text()
    assert "SECRET" not in text and "U0VDUkVU" not in text
    assert cassette.stat().st_mode & 0o777 == 0o600
    assert all(json.loads(line) for line in text.splitlines())
    result = call(NOWHERE, "Hello", "--use", f"replay,file={cassette},redact-field=name", data=data)
    assert result.json() == {"message": "[redacted]", "name": "[redacted]"}


def test_interrupted_session_is_readable(call, rpcurl, descriptor_set, cassette, grpc_server):
    options = ["--descriptor-set", descriptor_set, "--use", f"record,file={cassette}"]
    with rpcurl.start(*options, f"{grpc_server.url}/{DEMO}/Chat") as process:
        process.stdin.write(b'{"text":"a"}')
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    events = [json.loads(line) for line in cassette.read_text().splitlines()[1:]]
    assert [event["event"] for event in events] == ["start", "sent", "headers", "received"]
    result = call(NOWHERE, "Chat", "--use", f"replay,file={cassette}", data='{"text":"a"}')
    assert result.json() == {"text": "you said: a"}
    assert result.code == 64 + 14 and "calls.rec:2: the recorded call was interrupted" in result.err


@pytest.mark.parametrize("use", ["record", "log", "log,format=har", "trace", "shadow,to=localhost:1"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["-d", '{"nam":"Ada"}'], 4),
        (["-d", "{}", "--use", "retry,attempts=0"], 7),
        (["-d", "{}", "--use", "nosuch"], 7),
        (["-d", "{}", "--connect-get"], 2),
    ],
)
def test_run_that_fails_before_its_call_keeps_the_file(demo, cassette, use, words, code):
    cassette.write_text("before")
    result = demo("--use", f"{use},file={cassette}", *words, f"{NOWHERE}/{DEMO}/Hello")
    assert (result.code, cassette.read_text()) == (code, "before")


def test_server_without_a_schema_keeps_the_cassette(rpcurl, cassette):
    cassette.write_text("before")
    result = rpcurl("--no-cache", "--use", f"record,file={cassette}", "-d", "{}", f"{NOWHERE}/{DEMO}/Hello")
    assert (result.code, cassette.read_text()) == (5, "before")


@pytest.mark.parametrize("order", [["replay", "record"], ["record", "replay"]])
def test_recording_of_a_replay_keeps_the_call(call, cassette, grpc_server, order):
    """Also if both use the same file."""
    data = '{"name":"Ada"}'
    recorded = call(grpc_server.url, "Hello", "--use", f"record,file={cassette}", data=data)
    for _ in range(2):
        call(NOWHERE, "Hello", *[word for name in order for word in ("--use", f"{name},file={cassette}")], data=data).exits(0, recorded.out)


def test_bidi_stream_is_replayed_by_turns(call, demo, cassette, grpc_server):
    def chat(url, use):
        with demo.start("--use", use, f"{url}/{DEMO}/Chat") as process:
            for text in "abc":
                process.stdin.write(json.dumps({"text": text}).encode())
                assert json.loads(process.stdout.readline()) == {"text": f"you said: {text}"}
            process.stdin.close()
            assert process.wait() == 0

    chat(grpc_server.url, f"record,file={cassette}")
    chat(NOWHERE, f"replay,file={cassette}")


def test_time_is_kept_when_asked(call, cassette, grpc_server):
    data = '{"from":1,"to":3,"intervalMs":100}'
    assert call(grpc_server.url, "Count", "--use", f"record,file={cassette}", data=data).code == 0
    begin = time.monotonic()
    assert call(NOWHERE, "Count", "--use", f"replay,file={cassette},timing=original", data=data).code == 0
    assert time.monotonic() - begin > 0.2
    # Without it, a replay does not wait, though the call took an hour.
    cassette.write_text(re.sub(r'"ms":(\d+)', r'"ms":36000\1', cassette.read_text()))
    assert call(NOWHERE, "Count", "--use", f"replay,file={cassette},timing=none", data=data).code == 0


@pytest.mark.parametrize(
    "file, redirected",
    [
        ("/dev/stdout", '"$@" > calls.rec'),
        ("/dev/stdout", '"$@" > calls.rec && "$@" >> calls.rec'),
        ("/dev/stdout", '"$@" | cat > calls.rec'),
        ("-", '"$@" 2> calls.rec'),
        ("-", '"$@" 2> calls.rec && "$@" 2>> calls.rec'),
        ("-", '"$@" 2>&1 | cat > calls.rec'),
    ],
)
def test_cassette_in_a_stream_is_replayed(call, rpcurl, cassette, descriptor_set, grpc_server, file, redirected):
    names = ["Ada", "Bob"]
    data = "".join(json.dumps({"name": name}) for name in names)
    options = ["--descriptor-set", descriptor_set, "--each", "-o", "/dev/null", "--use", f"record,file={file}", "-d", data]
    command = rpcurl.command((*options, f"{grpc_server.url}/{DEMO}/Hello"))
    subprocess.run(["bash", "-c", redirected, "bash", *command], cwd=cassette.parent, env=rpcurl.environment(None), check=True)
    for name in names:
        result = call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data={"name": name}).exits(0)
        assert result.json()["name"] == name


def test_match_by_fields_and_by_order(call, cassette, grpc_server):
    for number, name in enumerate(["Ada", "Eve"]):
        data = json.dumps({"name": name, "language": "de"})
        append = "true" if number else "false"
        assert call(grpc_server.url, "Hello", "--use", f"record,file={cassette},append={append}", data=data).code == 0

    def name(data, settings):
        result = call(NOWHERE, "Hello", "--use", f"replay,file={cassette},{settings}", data=data)
        return result.json()["name"] if result.code == 0 else result.code

    assert name('{"name":"Eve"}', "match=fields,fields=name") == "Eve"
    assert name('{"language":"de"}', "match=fields,fields=language") == "Ada"
    assert name('{"name":"Eve"}', "match=fields,fields=name,fields=language") == 64 + 12
    assert name("{}", "match=order") == "Ada"


def test_miss(call, cassette, grpc_server):
    assert call(grpc_server.url, "Hello", "--use", f"record,file={cassette}", data='{"name":"Ada"}').code == 0
    call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data='{"name":"Eve"}').exits(64 + 12, "").reports('calls.rec:2: name is "Eve", recorded is "Ada"')
    call(NOWHERE, "Sum", "--use", f"replay,file={cassette}", data='{"value":1}').exits(64 + 12).reports(f"no call of {DEMO}/Sum was recorded")
    size = cassette.stat().st_size
    result = call(grpc_server.url, "Hello", "--use", f"replay,file={cassette},miss=pass", data='{"name":"Eve"}')
    assert (result.code, cassette.stat().st_size) == (0, size)
    for method, data in [("Hello", '{"name":"Eve"}'), *CALLS[2:5]]:
        first = call(grpc_server.url, method, "--use", f"replay,file={cassette},miss=record", data=data)
        size = cassette.stat().st_size
        again = call(NOWHERE, method, "--use", f"replay,file={cassette},miss=record", data=data)
        assert (first.code, again.code) == (0, 0), again.err
        assert (again.out, cassette.stat().st_size) == (first.out, size)


def test_failed_connection_is_replayed_as_one(call, cassette):
    assert call(NOWHERE, "Hello", "--use", f"record,file={cassette}", data="{}").code == 5
    assert call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data="{}").code == 5


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "calls.rec: is empty, not a cassette"),
        (b"hello\n", "calls.rec:1: expected a value"),
        (b'{"cassette":"rpcurl","version":1}\n{"call":"x","event":"start"}', "calls.rec:2: call: must be a whole number"),
        (b'{"cassette":"rpcurl","version":9}\n', "calls.rec:1: version: 9 is newer"),
        (b'{"cassette":"rpcurl","version":1}\n' + b"[" * 1_000_000, "calls.rec:2: nested deeper than 100 levels"),
        (b"\xff\xfe\x00" * 1000, "calls.rec:1: "),
    ],
)
def test_wrong_cassettes_are_refused(call, cassette, content, words):
    cassette.write_bytes(content)
    call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data="{}").exits(7, "").reports("replay: file: ", words)


def test_missing_cassette(call, cassette):
    call(NOWHERE, "Hello", "--use", f"replay,file={cassette}", data="{}").exits(7).reports("hint: record a cassette")
    call(NOWHERE, "Hello", "--use", "record,file=/no/such/file", data="{}").exits(7).reports("record: file: /no/such/file: ")


def test_examples_of_the_manual(tmp_path, descriptor_set, grpc_server):
    address = [("localhost:50051", grpc_server.address)]
    (example,) = manual.examples("rpcurl-record.7")
    result = manual.run(example, tmp_path, descriptor_set, address)
    assert (result.returncode, result.stderr, len(result.stdout.splitlines())) == (0, "", 4)
    (tmp_path / "calls.rec").unlink()
    (example,) = manual.examples("rpcurl-replay.7")
    result = manual.run(example, tmp_path, descriptor_set, address)
    assert (result.returncode, result.stderr) == (0, "")
    first, second = result.stdout.splitlines()
    assert first == second
