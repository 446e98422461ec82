"""Unary calls through the built binary against real servers."""

import json
import os
import signal
import subprocess

import pytest
from harness import write

HELLO = "demo.v1.Demo/Hello"
DELAY = "demo.v1.Demo/Delay"


@pytest.fixture(params=["grpc h2c", "grpc tls", "connect http", "connect tls"])
def server_arguments(request, descriptor_set, certificates):
    """The options that reach each kind of server, and its address."""
    protocol, transport = request.param.split()
    encrypted = transport == "tls"
    server = request.getfixturevalue(f"{protocol}_tls_server" if encrypted else f"{protocol}_server")
    security = ["--cacert", certificates / "ca.pem"] if encrypted else ["--plaintext"]
    host = f"localhost:{server.port}"
    return ["--protocol", protocol, "--descriptor-set", descriptor_set, *security], host


def test_response_is_one_line_of_json_in_a_pipe(rpcurl, server_arguments):
    options, host = server_arguments
    result = rpcurl(*options, "-d", '{"name":"Ada"}', host, HELLO)
    assert result.err == ""
    assert result.code == 0
    assert result.out.count("\n") == 1
    assert result.json() == {"message": "Hello, Ada!", "name": "Ada"}


def test_jq_reads_the_response(demo, grpc_server):
    result = demo("--plaintext", "-d", '{"name":"Ada"}', grpc_server.address, HELLO).exits(0)
    jq = subprocess.run(["jq", "-r", ".message"], input=result.out_bytes, capture_output=True, check=True)
    assert jq.stdout == b"Hello, Ada!\n"


def test_pretty_format_indents(rpcurl, server_arguments):
    options, host = server_arguments
    result = rpcurl(*options, "--format", "pretty", "-d", '{"name":"Ada"}', host, HELLO).exits(0)
    assert result.out == '{\n  "message": "Hello, Ada!",\n  "name": "Ada"\n}\n'


@pytest.mark.parametrize("spelling", ["url", "dotted method", "url and method", "call command", "prefix slash"])
def test_forms_of_method_names(rpcurl, grpc_server, descriptor_set, spelling):
    address = grpc_server.address
    words = {
        "url": [f"http://{address}/{HELLO}"],
        "dotted method": ["--plaintext", address, "demo.v1.Demo.Hello"],
        "url and method": [f"http://{address}", HELLO],
        "call command": ["--plaintext", address, HELLO],
        "prefix slash": [f"http://{address}/", HELLO],
    }[spelling]
    command = ["call"] if spelling == "call command" else []
    result = rpcurl(*command, "--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', *words).succeeds()
    assert result.json()["message"] == "Hello, Ada!"


def test_data_from_a_file_and_from_standard_input(rpcurl, grpc_server, descriptor_set, tmp_path):
    options = ["--descriptor-set", descriptor_set, "--plaintext"]
    file = write(tmp_path / "request.json", '{"name": "Grace"}\n')
    assert rpcurl(*options, "-d", f"@{file}", grpc_server.address, HELLO).json()["name"] == "Grace"
    assert rpcurl(*options, "-d", "@-", grpc_server.address, HELLO, input='{"name":\n"Alan"}').json()["name"] == "Alan"


def test_no_data_sends_an_empty_message(demo, grpc_server):
    demo("--plaintext", grpc_server.address, "demo.v1.Demo/Echo").exits(0, "{}\n")


def test_json_codec_sends_json(demo, connect_server):
    result = demo(
        "--protocol", "connect", "--codec", "json", "--format", "events",
        "-d", '{"name":"Ada"}', f"{connect_server.url}/{HELLO}",
    ).exits(0)  # fmt: skip
    events = result.lines()
    assert ["content-type", "application/json"] in events[0]["headers"]
    message = next(e for e in events if e["event"] == "message")
    assert message["message"] == {"message": "Hello, Ada!", "name": "Ada"}


@pytest.mark.parametrize("option", ["-H", "--rpc-header", "--reflect-header"])
def test_content_type_is_that_of_the_codec(rpcurl, grpc_server, connect_server, descriptor_set, option):
    """As in every command line of curl. The call sends the header itself."""
    words = ["--protocol", "connect", option, "Content-Type: application/json", "-d", '{"name":"Ada"}']
    json_codec = rpcurl(*words, "--codec", "json", "--descriptor-set", descriptor_set, f"{connect_server.url}/{HELLO}")
    assert (json_codec.code, json_codec.json()["message"]) == (0, "Hello, Ada!"), json_codec.err
    for target in (connect_server.url, grpc_server.url):
        result = rpcurl(*words, f"{target}/{HELLO}").exits(2, "")
        assert result.err == (
            f"rpcurl: {option}: the header content-type is set by --protocol and --codec and cannot be changed\n"
            "hint: omit it; --protocol connect --codec json sends application/json\n"
        )


def test_headers_reach_the_server_in_order(rpcurl, server_arguments):
    options, host = server_arguments
    result = rpcurl(
        *options, "-H", "x-first: 1", "-H", "X-Twice: a", "-H", "x-twice: b", "-H", "x-data-bin: AAEC",
        host, "demo.v1.Demo/EchoMetadata",
    ).succeeds()  # fmt: skip
    headers = result.json()["headers"]
    own = [(h["name"], h.get("value") or h.get("binary")) for h in headers if h["name"].startswith("x-") and "envoy" not in h["name"] and "forwarded" not in h["name"] and "request-id" not in h["name"]]
    flat = [(name, v.strip()) for name, value in own for v in (value or "").split(",")]
    assert ("x-first", "1") in flat
    assert [v for n, v in flat if n == "x-twice"] == ["a", "b"]
    assert ("x-data-bin", "AAEC") in flat


def test_max_time_is_sent_and_ends_the_call(rpcurl, server_arguments):
    options, host = server_arguments
    echoed = rpcurl(*options, "--max-time", "20", host, "demo.v1.Demo/EchoMetadata")
    assert 10_000 < int(echoed.json()["timeoutMs"]) <= 20_000
    late = rpcurl(*options, "--max-time", "300ms", "-d", '{"milliseconds":10000}', host, "demo.v1.Demo/Delay").exits(64 + 4).reports("deadline_exceeded (4)")
    assert late.out == ""


def test_failed_call_shows_code_message_and_details(rpcurl, server_arguments):
    options, host = server_arguments
    result = rpcurl(*options, "-d", '{"id":"42"}', host, "demo.v1.Demo/Find").exits(64 + 5)
    assert result.out == ""
    lines = result.err.splitlines()
    assert lines[0] == 'rpcurl: demo.v1.Demo/Find: not_found (5): no item "42"'
    assert lines[1].startswith('  google.rpc.ErrorInfo: {"reason":')
    assert lines[2].startswith('  google.rpc.ResourceInfo: {"resourceType":')


@pytest.mark.parametrize("code", range(1, 17))
def test_exit_code_reports_the_status(demo, grpc_server, connect_server, code):
    data = json.dumps({"code": code, "message": "so: 100% – ✓"})
    for server, protocol in ((grpc_server, "grpc"), (connect_server, "connect")):
        demo(
            "--protocol", protocol, "-d", data,
            f"{server.url}/demo.v1.Demo/Fail",
        ).exits(64 + code).reports(f"({code}): so: 100% – ✓\n")  # fmt: skip


def test_events_describe_the_whole_call(rpcurl, server_arguments):
    options, host = server_arguments
    request = {
        "headers": [{"name": "x-lead", "value": "1"}],
        "trailers": [{"name": "x-trail", "value": "2"}, {"name": "x-trail-bin", "binary": "AAEC"}],
    }
    # Compressed responses can be shorter than their messages.
    arguments = ["--accept-compression", "identity", "--format", "events", "-d", json.dumps(request)]
    events = rpcurl(*options, *arguments, host, "demo.v1.Demo/EchoMetadata").exits(0).lines()
    assert [e["event"] for e in events] == ["start", "sent", "headers", "message", "end", "metrics"]
    start, sent, headers, message, end, metrics = events
    assert (start["method"], start["kind"]) == ("demo.v1.Demo/EchoMetadata", "unary")
    assert start["url"].endswith("/demo.v1.Demo/EchoMetadata")
    assert sent["index"] == 0 and sent["bytes"] > 0
    assert headers["http_status"] == 200
    assert headers["http_version"] == ("2" if start["protocol"] == "grpc" or start["url"].startswith("https") else "1.1")
    assert ["x-lead", "1"] in headers["headers"]
    assert message["index"] == 0 and message["message"]["httpMethod"] == "POST"
    assert (end["code"], end["code_number"], end["details"]) == ("ok", 0, [])
    assert (end["sent"], end["received"]) == (1, 1)
    assert ["x-trail", "2"] in end["trailers"]
    assert [v.rstrip("=") for n, v in end["trailers"] if n == "x-trail-bin"] == ["AAEC"]
    assert metrics["attempts"] == 1 and metrics["total_ms"] > 0
    assert metrics["bytes_sent"] >= sent["bytes"] and metrics["bytes_received"] >= message["bytes"]


def test_events_of_a_failed_call(rpcurl, server_arguments):
    options, host = server_arguments
    result = rpcurl(*options, "--format", "events", "-d", '{"id":"42"}', host, "demo.v1.Demo/Find").exits(69)
    end = next(e for e in result.lines() if e["event"] == "end")
    assert (end["code"], end["code_number"], end["message"]) == ("not_found", 5, 'no item "42"')
    assert [d["type"] for d in end["details"]] == ["google.rpc.ErrorInfo", "google.rpc.ResourceInfo"]
    assert end["details"][0]["debug"]["reason"]
    assert (end["sent"], end["received"]) == (1, 0)


def test_verbose_shows_metadata_and_redacts_secrets(rpcurl, server_arguments):
    options, host = server_arguments
    arguments = [*options, "-v", "-H", "authorization: Bearer s3cret", "-d", '{"name":"Ada"}', host, HELLO]
    result = rpcurl(*arguments).exits(0)
    assert result.json()["name"] == "Ada"
    assert "> authorization: Bearer [redacted]\n" in result.err
    assert "s3cret" not in result.err
    assert "< HTTP/" in result.err
    assert "* ok (0)\n" in result.err
    assert "> authorization: Bearer s3cret\n" in rpcurl("--show-secrets", *arguments).err


def test_events_redact_secrets(demo, grpc_server):
    result = demo(
        "--plaintext", "--format", "events", "-H", "authorization: Bearer s3cret",
        "-d", '{"name":"Ada"}', grpc_server.address, HELLO,
    )  # fmt: skip
    assert result.code == 0 and "s3cret" not in result.out


def test_insecure_accepts_any_certificate(demo, grpc_tls_server):
    demo("-k", "-d", '{"name":"Ada"}', grpc_tls_server.url, HELLO).succeeds()


def test_protocol_from_the_environment(rpcurl, connect_server, descriptor_set):
    arguments = ["--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', f"{connect_server.url}/{HELLO}"]
    result = rpcurl(*arguments, "--format", "events", env={"RPCURL_PROTOCOL": "connect"})
    assert json.loads(result.out.splitlines()[0])["protocol"] == "connect"
    assert rpcurl(*arguments, env={"RPCURL_PROTOCOL": "soap"}).code == 2


def test_large_message_and_its_limit(rpcurl, server_arguments):
    options, host = server_arguments
    arguments = ["-d", '{"sizeBytes":3000000}', host, "demo.v1.Demo/Large"]
    assert len(rpcurl(*options, *arguments).exits(0).json()["payload"]) == 4_000_000
    assert rpcurl(*options, "--max-message-size", "1m", *arguments).exits(64 + 8).reports("the limit is 1048576").out == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_cancels_on_the_wire(rpcurl, grpc_server, descriptor_set, number, code):
    before = grpc_server.canceled_calls("demo.v1.Demo/Count")
    arguments = [
        "--descriptor-set", descriptor_set, "--plaintext", "--format", "events",
        "-d", '{"from":1,"to":1000000,"intervalMs":20}', grpc_server.address, "demo.v1.Demo/Count",
    ]  # fmt: skip
    with rpcurl.start(*arguments) as process:
        # With a message here, the call has reached the server.
        while json.loads(process.stdout.readline())["event"] != "message":
            pass
        process.send_signal(number)
        rest = [json.loads(line) for line in process.stdout.read().splitlines()]
        assert process.wait() == code
        word = b"interrupted" if code == 130 else b"terminated"
        assert b"canceled (1): " + word in process.stderr.read()
    assert next(e for e in rest if e["event"] == "end")["code"] == "canceled"
    grpc_server.wait_for_canceled_calls("demo.v1.Demo/Count", before + 1)


NOTE = "note: standard input has data, which the call does not read; -d @- sends it, and -d '{}' an empty message\n"


def test_standard_input_that_is_not_read(rpcurl, grpc_server, descriptor_set, tmp_path):
    """Data that was meant for the call is not ignored silently, and data of others is not read."""
    data = write(tmp_path / "data", '{"name":"Ada"}\n{"name":"Bob"}\n')
    words = ["--descriptor-set", descriptor_set, grpc_server.url]

    def run(stdin, *options, method=DELAY):
        done = subprocess.run(rpcurl.command([*words, method, *options]), stdin=stdin, capture_output=True, env=rpcurl.environment(None))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    refused = "rpcurl: standard input: a file is given that the call does not read\nhint: -d @- sends it, and -d '{}' an empty message\n"
    empty = "{}\n"
    with open(data, "rb") as file:
        assert run(file) == (2, "", refused)
        assert run(file, "-d", "{}") == (0, empty, "")
        assert run(file, "--explain")[0] == 0
        assert run(file, "-s")[0] == 2 and file.tell() == 0
        # Partly read, as by `while read`.
        file.seek(15)
        assert run(file) == (0, empty, NOTE) and file.tell() == 15
        assert run(file, "-s") == (0, empty, "")
        file.seek(0, 2)
        assert run(file) == (0, empty, "")
    with open(data, "rb") as file:
        assert run(file, "-d", "@-")[0] == 4
    empty_file = write(tmp_path / "empty", "")
    with open(empty_file, "rb") as file:
        assert run(file) == (0, empty, "")
    assert run(subprocess.DEVNULL) == (0, empty, "")
    reading, writing = os.pipe()
    try:
        assert run(reading) == (0, empty, "")
        os.write(writing, b"a line\n")
        assert run(reading) == (0, empty, NOTE)
        assert os.read(reading, 100) == b"a line\n"
    finally:
        os.close(reading)
        os.close(writing)
    command = ["sh", "-c", '"$@" <&-', "sh", *map(str, rpcurl.command([*words, DELAY]))]
    closed = subprocess.run(command, capture_output=True, env=rpcurl.environment(None))
    assert (closed.returncode, closed.stdout.decode(), closed.stderr) == (0, empty, b"")
    loop = f'while read line; do "$@"; done < {data}'
    looped = subprocess.run(["sh", "-c", loop, "sh", *map(str, rpcurl.command([*words, DELAY]))], capture_output=True, env=rpcurl.environment(None))
    assert looped.stdout.decode() == empty * 2
