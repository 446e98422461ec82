"""The interceptor `header`, on real requests and responses of all kinds."""

import base64
import json
import os
import re
import signal

import pytest

import manual

ECHO = "demo.v1.Demo/EchoMetadata"


def fields(result):
    """What reached the server, by name."""
    assert (result.code, result.err) == (0, "")
    return {h["name"]: h.get("value") or base64.b64decode(h.get("binary", "")) for h in result.json()["headers"]}


def test_values_come_from_all_sources(call, tmp_path):
    (tmp_path / "text").write_text("from file\n")
    (tmp_path / "bytes").write_bytes(b"\x00\xff\n")
    spec = (
        f"header,set=x-env:env:VALUE,set=x-file:@{tmp_path}/text,set=x-file-bin:@{tmp_path}/bytes,"
        "set=x-command:cmd:echo from 'command',set=x-command-bin:cmd:printf '\\001\\002',set=x-bin:AAE,"
        "rename=x-old:x-new"
    )
    found = fields(call(ECHO, "-d", "{}", "-H", "x-old: old", "--use", spec, env={"VALUE": "from env"}))
    assert {name: value for name, value in found.items() if name.startswith("x-")} == {
        "x-env": "from env", "x-file": "from file", "x-file-bin": b"\x00\xff\n", "x-command": "from command",
        "x-command-bin": b"\x01\x02", "x-bin": b"\x00\x01", "x-new": "old",
    } | ({"x-grpc-web": "1"} if "x-grpc-web" in found else {})  # fmt: skip


@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("Hello", ['{"name":"Ada"}']),
        ("Count", ['{"from":1,"to":2}']),
        ("Sum", ['{"value":2}', '{"value":3}']),
        ("Chat", ['{"text":"a"}', '{"text":"b"}']),
    ],
)
def test_headers_and_trailers_of_responses_of_all_kinds(call, method, data):
    spec = (
        "header,response-set=x-h:new,response-add=x-h2:2,response-rename=x-r:x-renamed,response-remove=x-gone,"
        "trailer-set=x-t:new,trailer-add=x-t2:2,trailer-rename=x-q:x-also,trailer-remove=x-away"
    )
    result = call(
        f"demo.v1.Demo/{method}", *[word for one in data for word in ("-d", one)], "--format", "events", "--use", spec,
        *[word for text in ["x-h=1", "x-r=r", "x-gone=1"] for word in ("-H", f"demo-header: {text}")],
        *[word for text in ["x-t=1", "x-q=q", "x-away=1"] for word in ("-H", f"demo-trailer: {text}")],
    ).succeeds()  # fmt: skip
    events = {event["event"]: event for event in result.lines()}
    mine = {name: value for name, value in events["headers"]["headers"] if name.startswith("x-")}
    assert mine == {"x-h": "new", "x-h2": "2", "x-renamed": "r"}
    mine = {name: value for name, value in events["end"]["trailers"] if name.startswith("x-")}
    assert mine == {"x-t": "new", "x-t2": "2", "x-also": "q"}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("set=x-a:env:NO_SUCH_VARIABLE", ["NO_SUCH_VARIABLE", "not set"]),
        ("set=x-a:@/no/such/file", ["/no/such/file"]),
        ("set=x-a:cmd:sh -c 'exit 7'", ["exit code 7"]),
        ("set=x-a:cmd:sleep 60,timeout=100ms", ["took too long"]),
        ("set=x-a:cmd:printf 'a\\nb'", ["control characters"]),
    ],
)
def test_an_unavailable_value_fails_the_call_before_it_is_sent(demo, raw_server, setting, words):
    server = raw_server(lambda connection: None)
    result = demo("-d", "{}", "--use", f"header,{setting}", f"http://{server.address}/{ECHO}").exits(64 + 9, "")
    assert all(word in result.err for word in ["interceptor header", "the value of x-a", *words]), result.err
    assert server.connections == 0


@pytest.mark.parametrize("use", ["header,set=x-a:cmd:", "auth,bearer=cmd:"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_ends_with_the_program(rpcurl, descriptor_set, grpc_server, tmp_path, use, number):
    """With its processes: each has the pipe open, so that reading it ends when all have ended."""
    os.mkfifo(tmp_path / "pipe")
    command = f"exec 3> {tmp_path}/pipe; echo started >&3; sleep 1000 & sleep 1000"
    words = ["--descriptor-set", descriptor_set, "-d", "{}", "--use", f"{use}sh -c '{command}'", f"{grpc_server.url}/{ECHO}"]
    with rpcurl.start(*words) as process, open(tmp_path / "pipe") as pipe:
        assert pipe.readline() == "started\n"
        process.send_signal(number)
        process.wait()
        assert pipe.read() == ""


def test_the_time_limit_includes_the_end_of_a_command(demo, grpc_server):
    demo(
        "-d", "{}", "--use",
        "header,timeout=100ms,set=x-a:cmd:sh -c 'echo a; exec 1>&-; sleep 1000'", f"{grpc_server.url}/{ECHO}",
    ).exits(64 + 9).reports("the command took too long")  # fmt: skip


@pytest.mark.parametrize("name", ["authorization", "my-key-bin"])
def test_a_renamed_secret_is_redacted(call, tmp_path, name):
    log = tmp_path / "log"
    new = "x-corp-bin" if name.endswith("-bin") else "x-corp"
    words = ["-v", "-H", f"{name}: U0VDUkVU", "--use", f"header,rename={name}:{new}", "--use", f"log,format=ndjson,file={log}"]
    result = call(ECHO, "-d", "{}", *words, "--format", "none").exits(0)
    assert f"> {new}: [redacted]" in result.err and "U0VDUkVU" not in result.err
    assert f'["{new}","[redacted]"]' in log.read_text() and "U0VDUkVU" not in log.read_text()


def test_the_example_of_the_manual(grpc_server, descriptor_set, tmp_path):
    [script] = manual.examples("rpcurl-header.7")
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["message"] == "Hello, Ada!"
    assert "> x-tenant: blue\n" in done.stderr and re.search(r"^> x-request-id: \d+$", done.stderr, re.M)
    assert "< x-new: 1\n" in done.stderr and "x-old: 1\n" not in done.stderr
