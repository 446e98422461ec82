"""Sessions in a pipe: commands and messages in, responses out, over one connection."""

import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import pytest

import raw_http2
from harness import PATIENCE_SECONDS, RPCURL, build_plugin, relay, write

ADA = '{"message":"Hello, Ada!","name":"Ada"}'


@pytest.fixture(params=["grpc", "grpc tls", "connect", "connect tls", "grpc-web"])
def options(request, certificates):
    """The options that reach each kind of server, and its URL."""
    protocol, *tls = request.param.split()
    kind = "grpc" if protocol == "grpc" else "connect"
    server = request.getfixturevalue(f"{kind}_tls_server" if tls else f"{kind}_server")
    return ["--protocol", protocol, *(["--cacert", certificates / "ca.pem"] if tls else []), server.url]


def run(rpcurl, *arguments, lines, **more):
    return rpcurl("session", *arguments, input="".join(f"{line}\n" for line in lines), **more)


# Calls


def test_calls_by_their_own_names_over_each_protocol(rpcurl, options):
    result = run(rpcurl, *options, lines=['call Hello {"name":"Ada"}', 'call demo.v1.Demo/Find {"id":"2"}', "call Demo.Hello"]).exits(0)
    assert result.out.splitlines() == [ADA, '{"id":"2","title":"Jacquard loom"}']
    assert result.err.startswith("rpcurl: demo.v1.Demo/Hello: invalid_argument (3): name must not be empty\n")


def test_errors_are_those_of_call_and_the_session_continues(rpcurl, grpc_server, descriptor_set):
    plain = rpcurl("-d", '{"id":"9"}', grpc_server.url, "demo.v1.Demo/Find")
    run(rpcurl, grpc_server.url, lines=['call Find {"id":"9"}', 'call Hello {"name":"Ada"}']).exits(0, ADA + "\n", plain.err)


def test_responses_are_data_in_commands(rpcurl, grpc_server, tmp_path):
    (tmp_path / "private").write_text("from the file")
    lines = []
    for reply, command in [(f"@{tmp_path}/private", "use auth,bearer=${last.name}"), ("cmd:true", "use header,set=x-c:${last.name}"), (f"a,set=x-b:cmd:touch {tmp_path}/made", "use header,set=x-a:${last.name}")]:
        lines += [f"call Hello {json.dumps({'name': reply})}", command, "call EchoMetadata"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    metadata = [{field["name"]: field["value"] for field in json.loads(line)["headers"]} for line in result.out.splitlines() if "headers" in line]
    assert metadata[0]["authorization"] == f"Bearer @{tmp_path}/private", result.err
    assert metadata[1]["x-c"] == "cmd:true"
    assert metadata[2]["x-a"] == f"a,set=x-b:cmd:touch {tmp_path}/made"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("command, reply", [("options ${last.name}", "--insecure"), ("options --bearer ${last.name}", "env:HOME"), ("use ${last.name}", "log,file=x"), ("header ${last.name}: b", "x-c: a"), ("export schema.pb ${last.name}", "-oother.pb")])
def test_responses_that_would_be_syntax_are_refused(rpcurl, grpc_server, command, reply):
    result = run(rpcurl, grpc_server.url, lines=[f"call Hello {json.dumps({'name': reply})}", command, "header", "chain"]).reports("value", "hint: ")
    assert result.out.splitlines()[1:] == ["no interceptors"]


def test_json_may_span_lines(rpcurl, grpc_server):
    result = run(rpcurl, grpc_server.url, lines=["call Hello {", "", '  "name":', ' "A}da"', "}", 'call Find {"id":"1"}'])
    assert result.err == ""
    assert [json.loads(line)["message" if i == 0 else "id"] for i, line in enumerate(result.out.splitlines())] == ["Hello, A}da!", "1"]


def test_server_stream_and_client_stream_by_call(rpcurl, grpc_server):
    lines = ['call Count {"from":1,"to":3}', 'call Sum {"value":1} {"value":2}{"value":"39"}', "call Sum"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.out.splitlines() == ['{"number":1}', '{"number":2}', '{"number":3}', '{"total":"42","count":3}', "{}"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exut", "rpcurl: exut: no such command\nhint: did you mean exit?"),
        ("proxy", "rpcurl: proxy: no such command in a session\nhint: run it in another shell: rpcurl proxy"),
        (":", "rpcurl: :: missing command\nhint: run \"help\" to list the commands"),
        ("exit 3", "rpcurl: exit: wrong usage\nhint: exit"),
        ("chain x", "hint: chain"),
        ("desc X", "hint: did you mean describe?"),
        ("call Hallo", "did you mean demo.v1.Demo/Hello?"),
        ('call Hello {"nam":"x"}', 'no field "nam"'),
        ("call Hello nonsense", "line 1, column 1"),
        ('call Hello {"name":"a"}{"name":"b"}', "2 messages given, but the method accepts one"),
        ('{"text":"a"}', "no open stream accepts messages"),
        ("close", "no stream is open"),
        ("switch 7", "rpcurl: 7: no such stream is open"),
        ("expect stream", "rpcurl: stream: missing number"),
        ("use nonsense", "no built-in interceptor has this name"),
        ("use header,colour=blue", "colour"),
        ("plugin load ./missing.so", "missing.so"),
        ("remove 3", "the chain is empty"),
        ("protocol carrier-pigeon", "carrier-pigeon"),
        ("deadline soon", "soon"),
        ("format binary", "format text, or format json"),
        ("target http://", "missing host"),
        ("header novalue", "header NAME: VALUE"),
        ("header a b: c", "not a header name"),
        ("options --each", "--each"),
        ("options --use log", "interceptors are added by commands"),
        ("describe NoSuchThing", "not found in the schema"),
        ("source /no/such/file", "No such file"),
        ("help nonsense", "no such command"),
        ("list 'unclosed", "missing closing quote '"),
        ("call", "call METHOD [JSON]"),
        ("call Xyzzy", 'rpcurl: Xyzzy: not found in the schema\nhint: run "list --kind method" to see what exists'),
        ("list Xyzzy", 'hint: run "list'),
        ("call Demo/Helo", "rpcurl: demo.v1.Demo/Helo: no method Helo in demo.v1.Demo\nhint: did you mean demo.v1.Demo/Hello?"),
        ("call Hello @nowhere", "rpcurl: nowhere: No such file or directory"),
        ('call Hello {"history": "2024": PA}, "card": 1}', 'expected "," or "}" (line 1, column 30)'),
        ('call Hello {"history": "2024": PA}, "card": 1} > f', 'expected "," or "}" (line 1, column 30)'),
        ("call Hello > /no/such/file", "rpcurl: > /no/such/file: No such file or directory"),
        ('open Chat {"text":"a"} > f', "only the responses of call can be written to a file"),
        ("timing maybe", "hint: timing [on|off]"),
    ],
)
def test_mistakes_are_reported_and_the_session_continues(rpcurl, grpc_server, line, words):
    result = run(rpcurl, grpc_server.url, lines=[line, "header", 'call Hello {"name":"Ada"}']).exits(0)
    assert result.out.splitlines()[-1] == ADA
    assert words in result.err, result.err
    assert result.err.count("rpcurl: ") == 1


def test_values_of_headers_have_no_quotes(rpcurl, grpc_server):
    run(rpcurl, grpc_server.url, lines=["header x: 'unclosed", "header"]).exits(0, "x: 'unclosed\n", "")


def test_unfinished_json(rpcurl, grpc_server):
    run(rpcurl, grpc_server.url, lines=['call Hello {"name":"Ada"', "exit"]).exits(4, err="rpcurl: standard input: unexpected end of the JSON\n")


def test_no_part_of_a_statement_that_is_not_utf8_is_a_command(rpcurl, grpc_server, tmp_path):
    error = 'not UTF-8\nhint: convert it with "iconv -f LATIN1 -t UTF-8"\n'
    invalid = b'call Hello {"name":"\xe9","x":\nexit\n{"name":"Bob"}\n}\n'
    last = b'call Hello {"name":"Ada"}\n'
    rpcurl("session", grpc_server.url, input=invalid + last).exits(0, ADA + "\n", f"rpcurl: standard input: {error}")
    rpcurl("session", grpc_server.url, input=invalid[:-2] + last).exits(4, "", f"rpcurl: standard input: {error}")
    script = write(tmp_path / "script", invalid + last)
    result = run(rpcurl, grpc_server.url, lines=[f"source --keep-going {script}"])
    assert (result.out, result.err) == (ADA + "\n", f"rpcurl: {script}, line 1: {error}")
    script.write_bytes(invalid[:-2])
    rpcurl("run", grpc_server.url, script).exits(4, "", f"rpcurl: {script}, line 1: {error}")


def test_no_server_is_needed_until_a_call(rpcurl):
    result = run(rpcurl, "--plaintext", "127.0.0.1:1", lines=["help", "set a = 1", "print", "call Hello", "print"]).exits(0)
    assert result.out.endswith("a = 1\na = 1\n")
    assert result.err.startswith("rpcurl: http://127.0.0.1:1: ")


def test_target_is_set_later(rpcurl, grpc_server):
    result = run(rpcurl, lines=["call Hello", f"target {grpc_server.url}", 'call Hello {"name":"Ada"}'])
    assert (result.out, result.err) == (ADA + "\n", "rpcurl: missing target: the session has no server\nhint: target URL\n")


def test_control_characters_of_the_server_are_escaped(rpcurl, grpc_server):
    lines = [r'call Fail {"code":3,"message":"\u001b[31mred"}', r'call Hello {"name":"\u001b[2J"}', "print"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert "\x1b" not in result.out + result.err


def test_help_names_every_command(rpcurl):
    text = run(rpcurl, lines=["help"]).out
    names = re.findall(r"^([a-z]+)", text, re.M)
    for name in names:
        explained = run(rpcurl, lines=[f"help {name}"])
        assert explained.err == "" and explained.out.startswith(name)
    assert {"call", "open", "edit", "streams", "switch", "close", "cancel", "set", "chain", "use", "plugin", "save", "source"} <= set(names)


# Streams


def test_each_response_is_printed_before_the_next_message_is_read(prompt, options):
    if options[1] == "grpc-web" or options[-1].startswith("http:") and options[1] == "connect":
        options = ["--http2", *options]
    session = prompt(*options)
    session.type("open Chat")
    for number in range(20):
        session.type('{"text":"%d"}' % number)
        assert session.line() == '{"text":"you said: %d"}' % number
    session.type("close", "wait", 'call Hello {"name":"Ada"}')
    assert session.line() == ADA
    session.end()


def test_streams_of_all_kinds_at_once_over_one_connection(prompt, start_server, raw_server):
    server = start_server("grpc_server.py")
    proxy = raw_server(lambda client: relay(client, server.port))
    session = prompt("--plaintext", f"127.0.0.1:{proxy.port}")
    session.type("open Chat", "open Sum", "open Chat", 'open Count {"from":7,"to":8}')
    assert {session.line(), session.line()} == {'Count[4] {"number":7}', 'Count[4] {"number":8}'}
    session.type('{"text":"third"}')
    assert session.line() == 'Chat[3] {"text":"you said: third"}'
    session.type("switch 2", '{"value":1}', '{"value":41}', "switch 1", '{"text":"first"}')
    assert session.line() == 'Chat[1] {"text":"you said: first"}'
    session.type('call Hello {"name":"Ada"}')
    assert session.line() == ADA
    session.type("streams")
    assert [session.line() for _ in range(3)] == [
        "* Chat[1] demo.v1.Demo/Chat open, 1 received",
        "  Sum[2] demo.v1.Demo/Sum open, 0 received",
        "  Chat[3] demo.v1.Demo/Chat open, 1 received",
    ]
    session.type("wait 2")
    assert session.line() == 'Sum[2] {"total":"42","count":2}'
    session.type("cancel 3", "streams")
    assert session.line() == "* Chat[1] demo.v1.Demo/Chat open, 1 received"
    session.type('{"text":"alone"}')
    assert session.line() == '{"text":"you said: alone"}'
    session.end()
    assert proxy.connections == 1
    server.wait_for_canceled_calls("demo.v1.Demo/Chat", 1)


def test_end_of_a_pipe_half_closes_and_waits(rpcurl, grpc_server):
    result = run(rpcurl, grpc_server.url, lines=["open Sum", '{"value":2}', "open Chat", '{"text":"a"}', "switch Sum[1]", '{"value":3}']).succeeds()
    assert sorted(result.out.splitlines())[-2:] in (
        ['Chat[2] {"text":"you said: a"}', 'Sum[1] {"total":"5","count":2}'],
        ['Chat[2] {"text":"you said: a"}', '{"total":"5","count":2}'],
    )


def test_exit_cancels_open_streams(prompt, start_server):
    server = start_server("grpc_server.py")
    session = prompt(server.url)
    session.type("open Chat", '{"text":"a"}')
    session.line()
    session.type("exit")
    assert session.process.wait() == 0
    server.wait_for_canceled_calls("demo.v1.Demo/Chat", 1)


def test_wrong_message_leaves_its_stream_open(prompt, grpc_server):
    session = prompt(grpc_server.url)
    session.type("open Chat", '{"tex":"a"}')
    assert session.error().startswith('rpcurl: Chat: demo.v1.ChatRequest has no field "tex"')
    session.type('{"text":"b"}')
    assert session.line() == '{"text":"you said: b"}'
    session.end()


def test_interrupt_cancels_the_stream_then_the_session(prompt, start_server):
    server = start_server("grpc_server.py")
    session = prompt(server.url)
    session.type("open Chat", '{"text":"a"}')
    session.line()
    session.process.send_signal(signal.SIGINT)
    server.wait_for_canceled_calls("demo.v1.Demo/Chat", 1)
    session.type('call Hello {"name":"Ada"}')
    assert session.line() == ADA
    session.type('call Count {"from":1,"to":9,"intervalMs":60000}')
    assert session.line() == '{"number":1}'
    session.process.send_signal(signal.SIGINT)
    server.wait_for_canceled_calls("demo.v1.Demo/Count", 1)
    session.type('call Hello {"name":"Ada"}')
    assert session.line() == ADA
    session.process.send_signal(signal.SIGINT)
    assert session.process.wait() == 130


def test_receive_ends_when_the_stream_does(rpcurl, grpc_server):
    lines = ['open Count {"from":1,"to":3}', "receive", "receive 9223372036854775807", 'call Hello {"name":"Ada"}']
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert (result.code, result.out.splitlines()[-1]) == (0, ADA)
    assert result.err == "rpcurl: Count[1]: the stream ended before the response arrived\n"


def test_responses_that_are_not_kept_do_not_displace_ended_streams(rpcurl, grpc_server):
    """Of 72 MB of responses, the first one and the last one are kept; 64 MiB of ended streams are."""
    text = json.dumps({"text": "x" * 9_000_000})
    lines = ['open Count {"from":1,"to":2}', "receive 2", "wait", "open Chat", *[text, "receive"] * 8, "close", "wait"]
    result = run(rpcurl, grpc_server.url, lines=[*lines, "expect stream 1 last .number == 2", "expect stream 2 count == 8"])
    assert (result.code, result.err) == (0, "")


def test_termination_ends_it(prompt, grpc_server):
    session = prompt(grpc_server.url)
    session.type("open Chat", '{"text":"a"}')
    session.line()
    session.process.send_signal(signal.SIGTERM)
    assert session.process.wait() == 143


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("last", ["sleep 600s", "receive", "wait"])
def test_the_status_of_a_script_that_a_signal_ends_is_that_of_the_signal(rpcurl, grpc_server, tmp_path, number, last):
    script = write(tmp_path / "script", f'open Count {{"from":1,"to":2000000000,"intervalMs":600000}}\nreceive\n{last}\n')
    with rpcurl.start("run", grpc_server.url, script) as process:
        assert process.stdout.readline() == b'{"number":1}\n'
        process.send_signal(number)
        assert process.wait() == 128 + number


def test_a_killed_server_is_reported_and_called_again(prompt, start_server):
    server = start_server("grpc_server.py")
    session = prompt(server.url)
    session.type("open Chat", '{"text":"a"}')
    session.line()
    server.process.kill()
    server.process.wait()
    shown = session.error()
    assert shown.startswith(f"rpcurl: Chat[1]: {server.url}: ")
    session.type('call Hello {"name":"Ada"}')
    assert session.error().startswith(f"rpcurl: {server.url}: ")
    start_server("grpc_server.py", "--port", server.port)
    session.type('call Hello {"name":"Ada"}')
    assert session.line() == ADA
    session.end()


def test_a_million_responses_in_flat_memory(prompt, raw_server, descriptor_set):
    def respond(stream):
        # demo.v1.CountReply{number: 5}, and 7 for the last one: less in all than the window that libcurl grants.
        stream.headers(raw_http2.OK)
        for _ in range(500):
            stream.data(b"\0\0\0\0\x02\x08\x05" * 2000)
        stream.data(b"\0\0\0\0\x02\x08\x07")
        stream.headers(raw_http2.STATUS_OK, end=True)

    server = raw_server(raw_http2.handler(respond))
    session = prompt("--descriptor-set", descriptor_set, f"http://{server.address}")
    session.type('open Count {"from":1}')
    for _ in range(20_000):
        session.line()
    before = session.process.resident_kilobytes()
    for _ in range(980_000):
        assert session.line(60) == '{"number":5}'
    assert session.process.resident_kilobytes() < before + 4_000
    assert session.line() == '{"number":7}'
    session.type("set n = $last.number", "print")
    assert session.line() == "n = 7"
    session.end()


def test_a_slow_reader_slows_the_server_down(prompt, grpc_server):
    session = prompt(grpc_server.url)
    session.type('open Count {"from":1,"to":2000000000}')
    session.line()
    before = session.process.resident_kilobytes()
    session.process.wait_until_idle()
    assert session.process.resident_kilobytes() < before + 8_000


# Variables


def test_variables_are_printed(rpcurl, grpc_server):
    lines = ['call Hello {"name":"Ada"}', 'set who = {"name":"Bob"}', "print $last", "print $who.name", "print last.name", "format pretty", "print", "print ${who}"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.err == ""
    pretty = 'who = {\n  "name": "Bob"\n}\nlast = {\n  "message": "Hello, Ada!",\n  "name": "Ada"\n}\nrequest = {\n  "name": "Ada"\n}\n'
    assert result.out == f'{ADA}\n{ADA}\n"Bob"\n"Ada"\n{pretty}{{\n  "name": "Bob"\n}}\n'


# Files of messages and responses, and bytes


def test_messages_of_files(rpcurl, grpc_server, tmp_path):
    (tmp_path / "one.json").write_text('{"name": "A$who",\n "language": ""}\n')
    (tmp_path / "my values").write_text('{"value":1} {"value":2}\n{"value":"39"}\n')
    (tmp_path / "wrong.json").write_text('{"name": "a"}\n\n  {"nam": "b"}\n')
    (tmp_path / "early.json").write_text('{"a": "b": 1}\n, "c": 2}\n')
    lines = [
        f"call Hello @{tmp_path}/one.json", "set d = \"values\"", "call Sum @'" + f"{tmp_path}/my values'", "open Sum", f'@"{tmp_path}/my ${{d}}"', "wait",
        f"call Hello @{tmp_path}/wrong.json", f"call Sum @{tmp_path}/wrong.json", f"call Sum @{tmp_path}/early.json", f"set one = @{tmp_path}/one.json", "print $one.name",
    ]  # fmt: skip
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.out.splitlines() == ['{"message":"Hello, A$who!","name":"A$who"}', *['{"total":"42","count":3}'] * 2, '"A$who"']
    first, second, third = result.err.split("rpcurl: ")[1:]
    assert first.startswith("Hello: 2 messages given, but the method accepts one")
    assert second.startswith(f'{tmp_path}/wrong.json: demo.v1.SumRequest has no field "name" (line 1, column 2)')
    assert third.startswith(f"{tmp_path}/early.json: expected a JSON value (line 2, column 1)")


def test_responses_of_a_call_in_a_file(rpcurl, grpc_server, tmp_path):
    out, kept = tmp_path / "out file", tmp_path / "kept"
    kept.write_text("before")
    lines = [f"call Count {{\"from\":1,\"to\":2}} > '{out}'", "print $last.number", f'call Find {{"id":"9"}} > {kept}', f'call Hello {{"nam":1}} > {kept}', "print $last.number"]
    result = run(rpcurl, "--format", "json", grpc_server.url, lines=lines)
    assert (result.out, out.read_text(), kept.read_text()) == ("2\n", '{"number":1}\n{"number":2}\n', "before")
    assert 'no field "nam"' in result.err
    assert "rpcurl: last.number: Find has no response; its status is not_found\n" in result.err


# Settings


def test_settings_without_a_value_are_printed(rpcurl, connect_server):
    names = ["protocol", "codec", "format", "deadline", "verbose", "timing", "timestamps"]
    lines = [*names, "header", "format none", "format", "protocol connect", "codec json", "deadline 2s", "timing on", "timestamps on", "verbose 2", "format text", "header x: y", *names, "header", f"save {connect_server.log_file}.script"]
    result = run(rpcurl, connect_server.url, lines=lines, env={"RPCURL_PROTOCOL": "grpc-web"})
    assert result.err == ""
    assert result.out.splitlines() == ["grpc-web", "proto", "json", "none", "0", "off", "off", "none", "connect", "json", "text", "2s", "2", "on", "on", "x: y"]


def test_settings_reach_open_streams(prompt, grpc_server):
    session = prompt("--format", "pretty", grpc_server.url)
    session.type("open Chat", '{"text":"a"}')
    assert [session.line() for _ in range(3)] == ["{", '  "text": "you said: a"', "}"]
    session.type("open Chat", '{"text":"b"}')
    # With several streams, each line names its own.
    assert [session.line() for _ in range(3)] == ["Chat[2] {", 'Chat[2]   "text": "you said: b"', "Chat[2] }"]
    session.type("format json", '{"text":"c"}')
    assert session.line() == 'Chat[2] {"text":"you said: c"}'
    session.type("format events", '{"text":"d"}')
    assert json.loads(session.line()) == {"event": "sent", "call": 2, "index": 2, "bytes": 3}
    assert json.loads(session.line()) == {"event": "message", "call": 2, "index": 2, "bytes": 13, "message": {"text": "you said: d"}}
    session.type("format text", "options --allow-unknown-fields", '{"text":"e","other":1}')
    assert session.line() == 'Chat[2] text: "you said: e"'
    session.type("format none", "switch 1", '{"text":"f"}', "receive 2", "format json", '{"text":"g"}')
    assert session.line() == 'Chat[1] {"text":"you said: g"}'
    session.end()


def test_each_option_is_shown_once(rpcurl, grpc_server):
    lines = ["options --bearer a", "options --bearer b -k", "options", "use auth,bearer=abc", "chain"]
    result = run(rpcurl, "--bearer", "c", grpc_server.url, lines=lines)
    assert result.out.splitlines() == ["options --bearer [redacted] -k", "1 auth,bearer=[redacted] (built in, as given, all calls)"]


@pytest.mark.parametrize("line, words", [
    ("use nonsense", "load plugins with plugin load"),
    ("options --cert missing.pem", "missing.pem"),
    ("call Hello {", "rpcurl: standard input: unexpected end"),
    ("header :authority: x", '":authority" is a part of HTTP, not a header', ),
    ("options -H ':path: x'", '":path" is a part of HTTP, not a header'),
    ("options -H ': x'", "the header has no name"),
])  # fmt: skip
def test_hints_name_the_commands_of_a_session(rpcurl, grpc_server, line, words):
    result = run(rpcurl, grpc_server.url, lines=[line])
    assert words in result.err and "--plugin" not in result.err


def test_a_server_without_tls_or_reflection_is_explained_by_commands(rpcurl, grpc_server, start_server):
    result = run(rpcurl, f"https://{grpc_server.address}", lines=["call Hello {}"])
    assert "hint: write target http://HOST:PORT" in result.err
    server = start_server("grpc_server.py", "--no-reflection")
    result = run(rpcurl, server.url, lines=["call Hello {}"])
    assert "options --proto FILE" in result.err and " or --descriptor-set FILE" in result.err


def test_a_tilde_is_the_home_directory(rpcurl, grpc_server, tmp_path):
    (tmp_path / "ada.json").write_text('{"name":"Ada"}')
    (tmp_path / "script").write_text("print 5\n")
    lines = ["call Hello @~/ada.json > ~/out", "source ~/script", "save ~/saved", "record ~/record", "record off", "print 6", "export ~/set", "call Hello @'~/ada.json'"]
    result = run(rpcurl, grpc_server.url, lines=lines, env={"HOME": str(tmp_path)})
    assert result.out.splitlines() == ["5", "6"]
    assert result.err == "rpcurl: ~/ada.json: No such file or directory\n"
    assert (tmp_path / "out").read_text() == ADA + "\n"
    assert all((tmp_path / name).stat().st_size for name in ["saved", "record", "set"])


def test_the_last_call_is_one_that_failed(rpcurl, grpc_server):
    result = run(rpcurl, grpc_server.url, lines=['call Hello {"name":"Ada"}', 'call Find {"id":"9"}', "print $last"])
    assert result.out == ADA + "\n"
    assert "Find has no response; its status is not_found" in result.err


def test_several_names_are_described(rpcurl, grpc_server, descriptor_set):
    names = ["HelloRequest", "demo.v1.Demo/Hello"]
    one, two = (rpcurl("describe", "--descriptor-set", descriptor_set, name).succeeds().out for name in names)
    assert run(rpcurl, grpc_server.url, lines=[f"describe {' '.join(names)}"]).out.count("message HelloRequest {") == 1
    assert rpcurl("describe", "--descriptor-set", descriptor_set, *names).out == f"{one}\n{two}"
    assert rpcurl("describe", grpc_server.url, *names).succeeds().out.count("HelloRequest {") == 1
    assert len(rpcurl("describe", "--descriptor-set", descriptor_set, "--format", "json", *names).out.splitlines()) == 2
    rpcurl("describe", "--descriptor-set", descriptor_set, *names, "None").exits(3)
    out = rpcurl("describe", "google.protobuf.Timestamp", "google.protobuf.Duration").succeeds().out
    assert "message Timestamp" in out and "message Duration" in out


@pytest.mark.parametrize("options", ["--filter bytesValue --raw > FILE", "--raw --filter bytesValue > FILE"])
def test_raw_of_one_call_has_no_value(rpcurl, grpc_server, tmp_path, options):
    """In contrast to that of a load."""
    line = 'call Echo {"bytesValue":"+/8AgQ=="} ' + options.replace("FILE", str(tmp_path / "raw"))
    result = run(rpcurl, grpc_server.url, lines=[line])
    assert (result.err, (tmp_path / "raw").read_bytes()) == ("", b"\xfb\xff\x00\x81")


def test_input_that_cannot_be_read_is_an_error(grpc_server, tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    result = subprocess.run([RPCURL, "session", grpc_server.url], stdin=descriptor, capture_output=True, text=True)
    os.close(descriptor)
    assert (result.returncode, result.stderr) == (4, "rpcurl: standard input: Is a directory\n")


def test_options_of_one_call(rpcurl, grpc_server, tmp_path):
    lines = [
        'call Hello {"name":"Ada"} --filter message', "call Hello {", '"name":"Ada"}  --filter=name', 'call Count {"from":1,"to":9} --limit 2 --filter number',
        'call Hello {"name":"Ada"}', f'call Hello {{"name":"Ada"}} --filter message > {tmp_path}/out', 'set f = "name"', 'call Hello {"name":"Ada"} --filter $f',
    ]  # fmt: skip
    result = run(rpcurl, grpc_server.url, lines=[*lines, f"save {tmp_path}/a.sh", f"save {tmp_path}/a"]).exits(0)
    assert result.out.splitlines() == ["Hello, Ada!", "Ada", "1", "2", ADA, "Ada"]
    assert (tmp_path / "out").read_text() == "Hello, Ada!\n"
    assert (tmp_path / "a.sh").read_text().count(" --filter ") == 5
    assert rpcurl("run", tmp_path / "a").succeeds().out == result.out
    for line, words in [
        ("call Hello {} --bearer x", "--bearer: not an option of one call\nhint: options --bearer"), ("call Hello {} -H 'x: 1'", "-H: not an option of one call"),
        ("call Hello {} --filter message --filter nope", "--filter nope"), ("call Hello {} --format csv", "requires --filter"), ("call Hello {} --filter", "--filter"), ("set a = 1 --filter b", "only call and open have options"),
    ]:  # fmt: skip
        assert words in run(rpcurl, grpc_server.url, lines=[line]).err


def test_the_limit_of_a_call_ends_its_stream(rpcurl, grpc_server, tmp_path):
    for command, end in [("call", ""), ("open", "wait\n")]:
        line = f'{command} Count {{"from":1,"to":1000000,"intervalMs":1}} --limit 2'
        script = write(tmp_path / "script", f"{line}\n{end}expect count == 2\nexpect .number == 2\nexpect status canceled\n")
        rpcurl("run", grpc_server.url, script).exits(0, '{"number":1}\n{"number":2}\n')


def test_calls_are_repeated(rpcurl, grpc_server, tmp_path):
    lines = ['repeat 3 call Hello {"name":"Ada"} --filter name', "repeat 2 every 10ms call Hello {", '"name":"Bob"} --filter name', 'repeat 3 call Find {"id":"9"}']
    result = run(rpcurl, grpc_server.url, lines=[*lines, f"save {tmp_path}/saved"])
    assert result.out.split() == ["Ada"] * 3 + ["Bob"] * 2
    assert result.err.count("not_found") == 1
    assert (tmp_path / "saved").read_text().count('call Hello {"name":"Ada"} --filter name\n') == 3
    script = write(tmp_path / "script", 'repeat 3 call Find {"id":"9"}\nexpect status not_found\n')
    assert rpcurl("run", grpc_server.url, script).exits(0).err.count("no item") == 1
    for line, words in [("repeat every 1s call Hello {}", "only possible at the prompt"), ("repeat 0 call Hello {}", "wrong usage"), ("repeat 2 describe X", "wrong usage"), ("repeat 2", "wrong usage")]:
        assert words in run(rpcurl, grpc_server.url, lines=[line]).err


@pytest.mark.parametrize("line, name", [("call Hello {} | cat", "|"), ("!touch made-by-a-session", "!"), ("cd /", "cd"), ("history", "history"), ("clear", "clear")])
def test_files_and_pipes_run_no_commands_of_the_shell(rpcurl, grpc_server, tmp_path, line, name):
    assert f"{name}: only possible at the prompt of a terminal" in run(rpcurl, grpc_server.url, lines=[line]).err
    assert "only possible at the prompt" in rpcurl("run", grpc_server.url, write(tmp_path / "file", line + "\n")).err
    assert not Path("made-by-a-session").exists()


def test_the_last_call_is_printed_as_a_command(rpcurl, grpc_server):
    lines = ["copy", 'call Hello {"name":"Ada"} --filter name', "copy", "copy curl", "copy grpcurl", "copy pigeon"]
    result = run(rpcurl, "--bearer", "geheim", grpc_server.url, lines=lines)
    assert f"rpcurl call --bearer \"${{RPCURL_BEARER}}\" --filter name -d '{{\"name\":\"Ada\"}}' {grpc_server.url} demo.v1.Demo/Hello" in result.out
    assert "\ngrpcurl " in result.out and "| curl " in result.out and "geheim" not in result.out
    assert "copy: no call was made" in result.err and "pigeon: no such program" in result.err
    lines = ["open Chat", 'call Hello {"name":"Ada"}', "switch 1", "copy"]
    assert run(rpcurl, grpc_server.url, lines=lines).out.splitlines()[-1].endswith(" demo.v1.Demo/Chat </dev/null")


def test_help_describes_options_and_interceptors(rpcurl):
    result = run(rpcurl, lines=["help --filter", "help retry", "help -k"]).exits(0)
    assert "--filter PATH: Print only this field" in result.out and "attempts=" in result.out and "-k, --insecure" in result.out


def test_timestamps_of_messages(rpcurl, grpc_server):
    lines = ["timestamps on", 'call Count {"from":1,"to":2}', "timestamps off", 'call Hello {"name":"Ada"}']
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.out.splitlines() == ['{"number":1}', '{"number":2}', ADA]
    times = re.findall(r"^\* \d\d:\d\d:\d\d\.\d{3}Z (.*)$", result.err, re.M)
    assert times == ["Count request 1", "Count response 1", "Count response 2"]
    assert len(result.err.splitlines()) == 3


def test_question_mark_is_help(rpcurl):
    help_text = run(rpcurl, lines=["help"]).out
    assert run(rpcurl, lines=["?"]).out == help_text
    assert run(rpcurl, lines=["? call"]).out == run(rpcurl, lines=["help call"]).out


def test_settings_apply_to_the_next_call(rpcurl, connect_server):
    lines = [
        "header x-a: 1",
        "header x-a: 2",
        "header x-b: 3",
        "call EchoMetadata",
        "unset header x-a",
        "deadline 7s",
        "protocol connect",
        "call EchoMetadata",
        "deadline none",
        "unset header x-b",
        "format text",
        'call Hello {"name":"Ada"}',
        "verbose on",
        "timing on",
        'call Hello {"name":"Ada"}',
    ]
    result = run(rpcurl, connect_server.url, lines=lines)
    first, second, *text = result.out.splitlines()
    headers = [(h["name"], h["value"]) for h in json.loads(first)["headers"]]
    assert ("x-a", "2") in headers and ("x-a", "1") not in headers and ("x-b", "3") in headers
    second = json.loads(second)
    assert "x-a" not in [h["name"] for h in second["headers"]]
    assert 6000 < int(second["timeoutMs"]) <= 7000
    assert text == ['message: "Hello, Ada!"', 'name: "Ada"'] * 2
    assert "> POST " in result.err and "timing: " in result.err


def test_secrets_are_not_shown(rpcurl, grpc_server):
    lines = ["header authorization: Bearer abc123", "header", "options --bearer def456", "options", "use auth,bearer=ghi789", "chain"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert not re.search("abc123|def456|ghi789", result.out + result.err)
    assert "authorization: Bearer [redacted]\n" in result.out
    assert "auth,bearer=[redacted]" in result.out


def test_secrets_of_an_open_stream_are_not_shown_after_a_change_of_the_output(rpcurl, grpc_server):
    headers = ["header authorization: Bearer hunter2", "header demo-trailer: note=hunter2"]
    lines = [*headers, "open Chat", "{}", "receive", "verbose 1", "close", "wait"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert "< note: [redacted]\n" in result.err and "hunter2" not in result.err


def test_options_of_the_command_line_and_of_a_file(rpcurl, grpc_server, tmp_path):
    config = write(tmp_path / "config", f"target {grpc_server.url}\n--header x-config: yes\n--max-time 9\n")
    result = run(rpcurl, "--config", config, "-H", "x-line: too", "-v", lines=["header", "deadline", "verbose off", 'call Hello {"name":"Ada"}'])
    assert result.out.splitlines() == ["x-config: yes", "x-line: too", "9", ADA]
    assert result.err == f"* configuration: {config}\n* target: {grpc_server.url} ({config}, line 1)\n"


def test_configuration_for_calls_only_is_ignored(rpcurl, grpc_server, tmp_path):
    config = tmp_path / "config"
    config.write_text(f'target {grpc_server.url}\n--each\n-d {{"name":"Bob"}}\n-o nowhere\n-H x-config: yes\n[profile fast]\n--max-time 9\n--jobs 4\n')
    result = run(rpcurl, "--config", config, "--profile", "fast", lines=["header", "deadline", 'call Hello {"name":"Ada"}'])
    assert (result.code, result.out.splitlines(), result.err) == (0, ["x-config: yes", "9", ADA], "")
    script = write(tmp_path / "script", 'call Hello {"name":"Ada"}\n')
    rpcurl("run", "--config", config, script).exits(0, ADA + "\n", "")
    config.write_text("--colour blue\n")
    run(rpcurl, "--config", config, grpc_server.url, lines=["header"]).exits(2, "").reports(f"{config}, line 1: ")


def test_verbosity_counts(rpcurl, grpc_server):
    call = 'call Hello {"name":"Ada"}'
    result = run(rpcurl, "-kvv", "--plaintext", grpc_server.address, lines=["options", "verbose 0", call, "verbose on", call, "verbose 2", call, "verbose 7", "verbose"])
    assert result.out.splitlines() == ["options -k --plaintext -vv", *[ADA] * 3, "2"]
    assert result.err.count("> POST ") == 2
    assert result.err.count("* received message 0: 18 bytes") == 1
    assert "hint: verbose [0|1|2|on|off]" in result.err


def test_headers_are_expanded_once(rpcurl, grpc_server):
    environment = {"API_KEY": "abc", "TRICK": "${API_KEY}"}
    start = ["--expand", "-H", "x-start: ${env.API_KEY}", grpc_server.url]
    result = run(rpcurl, *start, lines=["header x-own: ${env.API_KEY}", "header"], env=environment)
    assert result.out.splitlines() == ["x-start: abc", "x-own: abc"]
    # The value of a variable is not expanded again.
    for line in ["header x-own: ${env.TRICK}", 'options -H "x-own: ${env.TRICK}"']:
        result = run(rpcurl, *start, lines=[line, "header"], env=environment)
        assert result.out.splitlines() == ["x-start: abc"]
        assert "rpcurl: the value contains ${ after variables are replaced\nhint: omit --expand" in result.err
    result = run(rpcurl, grpc_server.url, lines=["header x-own: ${env.TRICK}", "options --expand", "header"], env=environment)
    assert (result.out.splitlines(), result.err) == (["x-own: ${API_KEY}"], "")
    run(rpcurl, *start, lines=["header"], env={}).reports("env.API_KEY: the environment variable is not set")


def test_files_of_headers_are_expanded(rpcurl, grpc_server, tmp_path):
    headers = write(tmp_path / "headers", "# for the server\nx-one: ${env.ONE}\n\nx-two-bin: ${env.TWO}\n")
    arguments = ["--expand=all", "-H", f"@{headers}", grpc_server.url]
    result = run(rpcurl, *arguments, lines=["header"], env={"ONE": "1", "TWO": "AAE="})
    assert result.out.splitlines() == ["x-one: 1", "x-two-bin: AAE="]
    run(rpcurl, *arguments, lines=["header"], env={"ONE": "1", "TWO": "!"}).exits(2, "").reports(f"{headers}, line 4: ")


# Errors for programs, and silence


def test_errors_as_json(rpcurl, grpc_server, tmp_path):
    lines = ['call Find {"id":"9"}', "exut", 'call Hello {"nam":1}', 'open Find {"id":"9"}', "wait", "options --error-format text", "exut"]
    result = run(rpcurl, "--error-format", "json", grpc_server.url, lines=lines)
    objects = [json.loads(line)["error"] for line in result.err.splitlines() if line.startswith("{")]
    assert [(o["what"], o["exit"], o.get("code"), o.get("call")) for o in objects] == [
        ("demo.v1.Demo/Find", 69, "not_found", None), ("exut", 2, None, None), ("Hello", 4, None, None),
        ("demo.v1.Demo/Find", 69, "not_found", 1),
    ]  # fmt: skip
    assert objects[2]["excerpt"] == '{"nam":1}' and objects[2]["column"] == 2
    assert result.err.endswith("rpcurl: exut: no such command\nhint: did you mean exit?\n")
    script = write(tmp_path / "script", 'call Hello {"name":"Ada"}\ncall Hello {"nam":1}\n')
    result = rpcurl("run", "--error-format", "json", grpc_server.url, script)
    (error,) = [json.loads(line)["error"] for line in result.err.splitlines()]
    assert result.code == error["exit"] == 4
    assert (error["what"], error["column"]) == (f"{script}, line 2: Hello", 2)


def test_silence(rpcurl, grpc_server, tmp_path):
    lines = ["exut", 'call Find {"id":"9"}', 'call Hello {"name":"Ada"}']
    run(rpcurl, "-s", grpc_server.url, lines=lines).exits(0, ADA + "\n", "")
    loud = run(rpcurl, "-sS", grpc_server.url, lines=lines)
    assert loud.out == ADA + "\n" and loud.err.count("rpcurl: ") == 2
    script = write(tmp_path / "script", "exut\n")
    rpcurl("run", "-s", grpc_server.url, script).exits(2, "", "")


# The chain


def test_chain_changes_between_calls(rpcurl, grpc_server):
    ask = "call EchoMetadata"
    lines = [
        "use header,set=x-one:1", "use header,set=x-two:2", "move 2 1", "chain", ask,
        "remove 1", "use header,nonsense=1", ask, "remove header", "chain", ask,
    ]  # fmt: skip
    result = run(rpcurl, grpc_server.url, lines=lines)
    out = result.out.splitlines()
    assert out[:2] == [
        "1 header,set=x-two:2 (built in, as given, all calls)", "2 header,set=x-one:1 (built in, as given, all calls)",
    ]
    assert out[4] == "no interceptors"
    for line, names in zip([out[2], out[3], out[5]], [{"x-one", "x-two"}, {"x-one"}, set()], strict=True):
        assert {h["name"] for h in json.loads(line)["headers"]} & {"x-one", "x-two"} == names
    assert result.err.count("rpcurl: ") == 1


def test_positions_outside_of_the_chain_are_refused(rpcurl, grpc_server):
    places = [0, 3, -1, 2**63 - 1, -(2**63)]
    wrong = [command for n in places for command in (f"move {n} 1", f"move 1 {n}", f"remove {n}")]
    lines = ["use header,set=x-one:1", "use header,set=x-two:2", *wrong, "chain"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.err.count("not a position from 1 to 2") == len(wrong)
    assert [line[0] for line in result.out.splitlines()] == ["1", "2"]


def test_open_streams_keep_their_chain(prompt, grpc_server, tmp_path):
    log = tmp_path / "log"
    session = prompt(grpc_server.url)
    session.type(f"use log,format=ndjson,bodies=true,file={log}", "open Chat", "remove log", 'call Hello {"name":"unseen"}')
    assert "unseen" in session.line()
    session.type('{"text":"seen"}')
    assert session.line() == '{"text":"you said: seen"}'
    session.type("wait", "call Hello")
    assert session.error().startswith("rpcurl: demo.v1.Demo/Hello: ")
    session.end()
    assert "seen" in log.read_text() and "unseen" not in log.read_text()


VERSION = r"""
#include "minimal.h"

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  host->header_set(host, token, RPCURL_TEXT("x-version"), RPCURL_TEXT("%s"));
  return RPCURL_OK;
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "version", .load = keep_host, .request_start = request_start};
RPCURL_PLUGIN(plugin)
"""


def version_of(line):
    return {h["name"]: h.get("value") for h in json.loads(line)["headers"]}.get("x-version")


def test_rebuilt_plugin_is_reloaded(prompt, grpc_server, tmp_path):
    plugin = tmp_path / "version.so"
    build_plugin(write(plugin.with_suffix(".c"), VERSION % "one"), plugin)
    session = prompt(grpc_server.url)
    session.type(f"plugin load {plugin}", "call EchoMetadata")
    assert version_of(session.line()) == "one"
    for before, version in [("one", "two"), ("two", "three")]:
        build_plugin(write(plugin.with_suffix(".c"), VERSION % version), plugin)
        session.type("call EchoMetadata")
        assert version_of(session.line()) == before
        session.type("plugin reload version", "call EchoMetadata")
        assert version_of(session.line()) == version
    # Also after it was removed from the chain, and if the file was written in place.
    session.type("remove version", "call EchoMetadata")
    assert version_of(session.line()) is None
    build_plugin(write(plugin.with_suffix(".c"), VERSION % "four"), plugin)
    session.type(f"plugin load {plugin}", "call EchoMetadata")
    assert version_of(session.line()) == "four"
    # What cannot be loaded leaves the chain as it was.
    plugin.unlink()
    session.type("plugin reload 1")
    assert "version.so" in session.error()
    plugin.write_text("no plugin")
    session.type("plugin reload 1")
    assert session.error().startswith("rpcurl: plugin ")
    session.type("call EchoMetadata")
    assert version_of(session.line()) == "four"
    session.end()


# Scripts


def test_script_expects_the_status_of_a_call(rpcurl, grpc_server, tmp_path):
    script = write(tmp_path / "script", (
        'call Find {"id":"9"}\nexpect status not_found\nexpect error =~ item\n'
        'open FailStream {"code":5,"message":"m","afterMessages":1}\nwait\nwait\nexpect count == 1\nexpect status not_found\ncall Hello {"name":"Ada"}\n'
    ))
    result = rpcurl("run", grpc_server.url, script)
    assert result.code == 0 and result.out.endswith('"name":"Ada"}\n'), result.err


def test_sourced_call_with_its_check_is_saved(rpcurl, grpc_server, tmp_path):
    script, saved = tmp_path / "script", tmp_path / "saved"
    script.write_text('call Find {"id":"9"}\nexpect status not_found\n')
    run(rpcurl, grpc_server.url, lines=[f"source {script}", f"save {saved}"])
    text = saved.read_text()
    assert text.index("call Find") < text.index("expect status not_found")
    assert rpcurl("run", saved).code == 0


def test_file_that_each_call_reads_is_no_pipe(rpcurl, grpc_server, tmp_path):
    script = write(tmp_path / "script", "call EchoMetadata\n")
    for options, hint in [(("--bearer", "@-"), "use env:NAME, cmd:COMMAND or a file"), (("--netrc-file", "/dev/stdin"), "write it to a file")]:
        result = rpcurl("run", *options, grpc_server.url, script, input="token")
        why = f"each call reads it, and a pipe can be read once\nhint: {hint}\n"
        assert (result.code, result.err) == (2, f"rpcurl: {' '.join(options)}: {why}")


def test_flag_that_is_off_is_saved(rpcurl, grpc_server, tmp_path):
    saved = tmp_path / "saved"
    options = ["-k=false", "--no-reflect=false", "--connect-get=false"]
    rpcurl("session", *options, grpc_server.url, input=f'call Hello {{"name":"Ada"}}\nsave {saved}\n').exits(0)
    assert "options -k=false --no-reflect=false --connect-get=false\n" in saved.read_text()
    assert rpcurl("run", saved).out == ADA + "\n"


def test_source_stops_at_the_first_failed_command(rpcurl, grpc_server, tmp_path):
    (tmp_path / "inner").write_text('# a comment\ncall Hello {"name":\n  "Ada"}\ncall Find {"id":"9"}\ncall Hello {"name":"never"}\n')
    (tmp_path / "outer").write_text(f"header x-a: 1\nsource {tmp_path}/inner\nheader x-b: 2\n")
    result = run(rpcurl, grpc_server.url, lines=[f"source {tmp_path}/outer", "header", f"source --keep-going {tmp_path}/inner"]).exits(0)
    assert result.out.splitlines() == [ADA, "x-a: 1", ADA, '{"message":"Hello, never!","name":"never"}']
    assert f"rpcurl: {tmp_path}/inner, line 4: the command failed\n" in result.err


def test_run_ends_with_the_first_failure(rpcurl, grpc_server, tmp_path):
    script = write(tmp_path / "script", '#!/usr/bin/env -S rpcurl run\ncall Hello {"name":"Ada"}\n\ncall Find {"id":"9"}\ncall Hello\n')
    result = rpcurl("run", grpc_server.url, script).exits(64 + 5, ADA + "\n")
    assert result.err.endswith(f"rpcurl: {script}, line 4: the command failed\n")
    script.write_text("nonsense\n")
    rpcurl("run", script).exits(2, err=f"rpcurl: {script}, line 1: nonsense: no such command\nhint: run \"help\" to list the commands\n")
    script.write_text('call Hello {"name":\n')
    assert rpcurl("run", script).code == 4


@pytest.mark.parametrize("end", ["close\n", "wait\n", ""])
@pytest.mark.parametrize("is_mocked", [False, True])
def test_half_close_without_the_only_message_fails(rpcurl, grpc_server, tmp_path, is_mocked, end):
    (tmp_path / "stubs.json").write_text('{"response":{"message":{}}}')
    chain = f"use mock,file={tmp_path}/stubs.json\n" if is_mocked else ""
    script = write(tmp_path / "script", f"{chain}open Hello\n{end}")
    rpcurl("run", grpc_server.url, script).exits(64 + 3).reports("the request has no message, but the method requires exactly one\nhint: send a message after open")
    script.write_text(f"{chain}call Hello @/dev/null\n")
    rpcurl("run", grpc_server.url, script).exits(4).reports("Hello: the data is empty\n")


def test_lines_of_scripts_end_as_those_of_the_prompt(rpcurl, grpc_server, tmp_path):
    script = write(tmp_path / "script", 'call Hello {"name":"a\u2028b\x85"}\r\ncall Nope'.encode())
    result = rpcurl("run", grpc_server.url, script)
    assert result.json()["name"] == "a\u2028b\x85"
    assert result.err.startswith(f"rpcurl: {script}, line 2: Nope: not found in the schema\n")


def test_script_runs_by_its_interpreter_line(rpcurl, grpc_server, tmp_path):
    script = write(tmp_path / "script", f"#!/usr/bin/env -S {RPCURL} run\ntarget {grpc_server.url}\ncall Hello {{\"name\":\"Ada\"}}\n")
    script.chmod(0o700)
    done = subprocess.run([script], capture_output=True, text=True, env=rpcurl.environment(None))
    assert (done.returncode, done.stdout, done.stderr) == (0, ADA + "\n", "")


SAVED = [
    "set who = \"Ada's friend\"",
    "header x-tenant: it's blue",
    "header authorization: Bearer hunter2",
    'call Hello {"name":',
    "$who}",
    'call Find {"id":"9"}',
    "use header,set=x-one:1",
    "call EchoMetadata",
    "open Chat",
    '{"text":"a"}',
    '{"text":"$(reboot) `b` ${who}"}',
    "receive 2",
    "close",
    "wait",
    "open Sum",
    '{"value":1}{"value":2}',
    "wait",
]


def masked(out):
    """The responses, without the values that differ from call to call."""
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        if "headers" in line:
            line["headers"] = [h for h in line["headers"] if h["name"].startswith(("x-", "auth"))]
    return lines


def test_file_before_the_target_is_an_error(rpcurl, tmp_path):
    script = write(tmp_path / "script", "list\n")
    result = rpcurl("run", script, "localhost:1").exits(2, "")
    assert result.err == f"rpcurl: {script}: this file is in the place of the target\nhint: rpcurl run [OPTIONS] TARGET FILE\n"


def test_saved_scripts_print_the_same_responses(rpcurl, grpc_server, tmp_path):
    script, shell = tmp_path / "saved", tmp_path / "saved.sh"
    result = run(rpcurl, "-H", "x-first: 1", grpc_server.url, lines=[*SAVED, "list", f"save {script}", f"save {shell}"])
    responses = masked("".join(line + "\n" for line in result.out.splitlines() if line.startswith("{")))
    assert len(responses) == 5
    secret = {"AUTHORIZATION": "Bearer hunter2"}
    for file in (script, shell):
        assert "hunter2" not in file.read_text()
        assert file.stat().st_mode & 0o077 == 0
    again = rpcurl("run", script, env=secret)
    assert (again.code, again.err, masked(again.out)) == (0, "", responses)
    rpcurl("run", script).exits(4).reports("AUTHORIZATION")
    environment = rpcurl.environment(secret) | {"PATH": f"{RPCURL.parent}:{os.environ['PATH']}"}
    by_shell = subprocess.run(["sh", shell], capture_output=True, text=True, env=environment)
    assert (by_shell.returncode, by_shell.stderr, masked(by_shell.stdout)) == (0, "", responses)
    del environment["AUTHORIZATION"]
    assert "AUTHORIZATION" in subprocess.run(["sh", shell], capture_output=True, text=True, env=environment).stderr


@pytest.mark.parametrize("configuration", ["", "--expand\n--seed 5\n"])
def test_shell_scripts_do_not_expand_messages_again(rpcurl, grpc_server, tmp_path, configuration):
    (rpcurl.home / ".config/rpcurl").mkdir(parents=True)
    (rpcurl.home / ".config/rpcurl/config").write_text(configuration)
    shell = tmp_path / "saved.sh"
    lines = ['call Echo {"stringValue":"$${env(HOME)} ${random(1,9)}"}', 'call Echo {"stringValue":"${last.stringValue}"}', f"save {shell}"]
    result = run(rpcurl, "--expand", "--seed", 1, grpc_server.url, lines=lines).succeeds()
    assert result.out.count('"${env(HOME)} ') == 2
    environment = rpcurl.environment(None) | {"PATH": f"{RPCURL.parent}:{os.environ['PATH']}"}
    by_shell = subprocess.run(["sh", shell], capture_output=True, text=True, env=environment)
    # A note names the functions that are sent as text.
    assert (by_shell.returncode, by_shell.stdout) == (0, result.out), by_shell.stderr


def test_shell_scripts_write_the_files_of_calls(rpcurl, grpc_server, tmp_path):
    shell, out = tmp_path / "saved.sh", tmp_path / "it's"
    run(rpcurl, grpc_server.url, lines=[f'set name = "{out.name}"', f'call Hello {{"name":"Ada"}} > {tmp_path}/${{name}}', f"save {shell}"])
    written = out.read_text()
    out.unlink()
    environment = rpcurl.environment(None) | {"PATH": f"{RPCURL.parent}:{os.environ['PATH']}"}
    by_shell = subprocess.run(["sh", shell], capture_output=True, text=True, env=environment)
    assert (by_shell.returncode, by_shell.stderr, by_shell.stdout) == (0, "", "")
    assert (written, out.read_text()) == (ADA + "\n", ADA + "\n")


def test_saved_scripts_end_open_streams(rpcurl, prompt, grpc_server, tmp_path):
    script = tmp_path / "saved"
    session = prompt(grpc_server.url)
    session.type("format json", 'open Count {"from":1,"to":100000,"intervalMs":100}')
    session.line()
    shell = tmp_path / "saved.sh"
    session.type(f"save {script}", f"save {shell}", "exit")
    assert session.process.wait() == 0
    last = script.read_text().splitlines()[-2:]
    assert last[0].startswith("receive ") and last[1] == "cancel 1"
    assert rpcurl("run", script).succeeds().out.startswith('{"number":1}\n')
    environment = rpcurl.environment(None) | {"PATH": f"{RPCURL.parent}:{os.environ['PATH']}"}
    by_shell = subprocess.run(["sh", shell], capture_output=True, text=True, env=environment, timeout=60)
    assert (by_shell.returncode, by_shell.stderr) == (0, "")
    assert by_shell.stdout.startswith('{"number":1}\n')


def test_checks_are_saved_with_the_calls_that_they_check(rpcurl, grpc_server, tmp_path):
    script, shell = tmp_path / "saved", tmp_path / "saved.sh"
    kept = ['call Hello {"name":"Ada"}', 'call Find {"id":"9"}', "expect error =~ .", "expect status not_found"]
    lines = [
        *kept[:1], 'call Find {"id":"8"}', *kept[1:3], "expect status ok", kept[3], 'call Find {"id":"7"}', "expect error =~ .",
        'open FailStream {"code":5}', "wait", f"save {script}", f"save {shell}",
    ]  # fmt: skip
    run(rpcurl, grpc_server.url, lines=lines)
    assert [line for line in script.read_text().splitlines() if line.startswith(("call", "expect"))] == kept
    assert [line.split("/")[-1] for line in shell.read_text().splitlines() if line.startswith("rpcurl")] == ["Hello"]


def test_saved_scripts_omit_streams_that_failed(rpcurl, grpc_server, tmp_path):
    script = tmp_path / "saved"
    lines = [
        'open FailStream {"code":5}', "wait 1", "expect count == 0", "open Chat", '{"text":"a"}', "receive",
        'open FailStream {"code":5}', "wait 3", "expect status not_found", "expect stream 3 count == 0",
        'open FailStream {"code":5}', "open Chat", "wait 4", ":close 2", "wait 2", f"save {script}",
    ]  # fmt: skip
    run(rpcurl, grpc_server.url, lines=lines)
    assert script.read_text().splitlines()[2:] == [
        "open Chat", '{"text":"a"}', "receive", 'open FailStream {"code":5}', "wait 2", "expect status not_found",
        "expect stream 2 count == 0", "open Chat", ":close 1", "wait 1", "cancel 3",
    ]  # fmt: skip
    assert rpcurl("run", script).code == 0


def test_arguments_of_waits_and_names_of_methods_may_be_variables(rpcurl, grpc_server):
    lines = [
        "set n = 2", 'set d = "1ms"', 'set m = "Hello"', 'call ${m} {"name":"Ada"}', 'open Count{"from":1,"to":3}',
        "receive $n", "sleep ${d}", "wait",
    ]  # fmt: skip
    result = run(rpcurl, grpc_server.url, lines=lines).succeeds()
    assert result.out.splitlines() == [ADA, *(f'{{"number":{number}}}' for number in (1, 2, 3))]


def test_sleep_waits_while_streams_go_on(rpcurl, grpc_server):
    lines = ['open Count {"from":1,"to":100000,"intervalMs":1}', "sleep 300ms", "cancel", "sleep soon"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.out.startswith('{"number":1}\n{"number":2}\n')
    assert result.err == "rpcurl: sleep: wrong usage\nhint: sleep DURATION\n"


def test_a_method_in_place_of_a_command_is_explained(rpcurl, grpc_server):
    result = run(rpcurl, grpc_server.url, lines=['Hello {"name":"Ada"}', "demo.v1.Demo/Hello"])
    hint = "hint: to call a method, write: call {0} {{…}}; open {0} keeps a stream open"
    assert [line for line in result.err.splitlines() if line.startswith("hint")] == [
        hint.format("Hello"), hint.format("demo.v1.Demo/Hello"),
    ]  # fmt: skip


def test_secrets_are_saved_on_request(rpcurl, grpc_server, tmp_path):
    run(rpcurl, "--bearer", "s3", grpc_server.url, lines=["header x-token: s4", 'call Hello {"name":"Ada"}', f"save --show-secrets {tmp_path}/a", f"save --show-secrets {tmp_path}/a.sh", f"save {tmp_path}/b"])
    for name in ("a", "a.sh"):
        text = (tmp_path / name).read_text()
        assert "s3" in text and "s4" in text
    text = (tmp_path / "b").read_text()
    assert "s3" not in text and "s4" not in text
    assert '${env.RPCURL_BEARER}' in text and '${env.X_TOKEN}' in text


def test_secrets_are_found_however_options_are_written(rpcurl, grpc_server, tmp_path):
    lines = ['set agent = "me/1"', 'options -ku Ada:s3 -A $agent', "options -vH 'x-token: s4'", "header", "unset header x-token", f"record {tmp_path}/c", "target http://Ada:s5@nowhere", 'options -u Ada:s6 -H "x: ${agent}"', 'call EchoMetadata', f"save {tmp_path}/a", f"save {tmp_path}/b.sh"]
    run(rpcurl, "-kvu", "Ada:s2", grpc_server.url, lines=lines).prints("x-token: [redacted]")
    for name in ("a", "b.sh", "c"):
        text = (tmp_path / name).read_text()
        assert not any(secret in text for secret in ("s2", "s3", "s4", "s5", "s6"))
    rpcurl("run", tmp_path / "a", env={"RPCURL_USER": "Ada:s2", "X_TOKEN": "s4"}).prints('{"name":"user-agent","value":"me/1', '{"name":"x","value":"me/1"}')


def test_record_contains_input_and_output(rpcurl, grpc_server, tmp_path):
    file = tmp_path / "transcript"
    run(rpcurl, grpc_server.url, lines=[f"record {file}", 'call Hello {"name":"Ada"}', "header authorization: hunter2", "nonsense", "record off", "print"])
    assert file.read_text() == (
        'rpcurl> call Hello {"name":"Ada"}\n' + ADA + "\n"
        "rpcurl> header authorization: ${env.AUTHORIZATION}\n"
        "rpcurl> nonsense\nrpcurl: nonsense: no such command\nhint: run \"help\" to list the commands\n"
        "rpcurl> record off\n"
    )
    assert file.stat().st_mode & 0o077 == 0


def test_the_rest_of_a_secret_is_not_recorded(rpcurl, grpc_server, tmp_path):
    file = tmp_path / "record"
    run(rpcurl, grpc_server.url, lines=[f"record {file}", 'set password = {"a":', '"hunter2"}', "record off"])
    assert file.read_text() == 'rpcurl> set password = ${env.PASSWORD}\n... …\nrpcurl> record off\n'


def test_edit_sends_the_saved_message(rpcurl, grpc_server, tmp_path):
    editor = write(tmp_path / "editor", '#!/bin/sh\ncp "$1" "$0.seen"; sed -i \'s/"name": ""/"name": "Ada"/; s/Ada\\(+*\\)"/Ada\\1+"/\' "$1"\n')
    editor.chmod(0o700)
    result = run(rpcurl, grpc_server.url, lines=["edit Hello", "edit Hello"], env={"EDITOR": str(editor)})
    assert result.err == ""
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == ["Ada+", "Ada++"]
    assert json.loads((tmp_path / "editor.seen").read_text())["name"] == "Ada+"
    result = run(rpcurl, grpc_server.url, lines=["edit Hello"], env={"VISUAL": "false"})
    assert "the editor failed" in result.err and result.out == ""


@pytest.mark.parametrize("editor", ["true", "touch"])
def test_edit_sends_nothing_if_the_text_is_not_changed(rpcurl, start_server, editor):
    server = start_server("grpc_server.py")
    result = run(rpcurl, server.url, lines=["edit Hello", 'call Hello {"name":"Ada"}'], env={"EDITOR": editor})
    assert result.out == ADA + "\n"
    assert result.err == (
        "rpcurl: Hello: the text is not changed; nothing was sent\nhint: call Hello sends an empty message\n"
    )
    assert server.log().count("received demo.v1.Demo/Hello") == 1


# The schema


def test_schema_commands_are_those_of_the_command_line(rpcurl, grpc_server, descriptor_set, tmp_path):
    lines = ["list", "list demo.v1.Demo", "list --kind service", "describe HelloRequest", "template Hello", f"export {tmp_path}/x.binpb", "reflect"]
    result = run(rpcurl, grpc_server.url, lines=lines)
    assert result.err == ""
    expected = [
        rpcurl("list", grpc_server.url), rpcurl("list", grpc_server.url, "demo.v1.Demo"),
        rpcurl("list", grpc_server.url, "--kind", "service"), rpcurl("describe", grpc_server.url, "HelloRequest"),
        rpcurl("template", grpc_server.url, "Hello"),
    ]  # fmt: skip
    # The server lists reflection, and does not describe it.
    assert "grpc.reflection.v1.ServerReflection\n" in expected[0].out
    assert result.out == "".join(each.out for each in expected) + "4 services\n"
    rpcurl("list", "--descriptor-set", tmp_path / "x.binpb").prints("demo.v1.Demo\n")


def test_schema_of_files(rpcurl, grpc_server, descriptor_set):
    before = grpc_server.log().count("reflection ")
    result = run(rpcurl, "--descriptor-set", descriptor_set, grpc_server.url, lines=['call Hello {"name":"Ada"}', "list", "reflect"])
    assert result.out.splitlines() == [ADA, "demo.v1.Demo"]
    assert "options --reflect" in result.err
    assert grpc_server.log().count("reflection ") == before


def test_schema_of_the_server_is_fetched_once(rpcurl, start_server):
    server = start_server("grpc_server.py")
    run(rpcurl, server.url, lines=["call Hello", "call Find", "list"])
    first = server.log().count("reflection list_services")
    assert first == 1
    run(rpcurl, server.url, lines=["call Hello"])
    assert server.log().count("reflection list_services") == first
    run(rpcurl, server.url, lines=["reflect"])
    assert server.log().count("reflection list_services") == first + 1


# FIFOs


def test_input_and_output_through_fifos(rpcurl, grpc_server, tmp_path):
    commands, responses = tmp_path / "in", tmp_path / "out"
    os.mkfifo(commands)
    os.mkfifo(responses)
    shell = f'exec "$0" session {grpc_server.url} <{commands} >{responses}'
    with subprocess.Popen(["sh", "-c", shell, RPCURL], env=rpcurl.environment(None), stderr=subprocess.PIPE) as process:
        lines = []

        def read():
            with responses.open() as file:
                lines.extend(file)

        reader = threading.Thread(target=read)
        reader.start()
        with commands.open("w", buffering=1) as file:
            file.write("open Chat\n")
            for number in range(500):
                file.write('{"text":"%d"}\n' % number)
            # The last line has no end.
            file.write('call Hello {"name":"Ada"}')
        reader.join(PATIENCE_SECONDS)
        assert (process.wait(PATIENCE_SECONDS), process.stderr.read()) == (0, b"")
    assert sorted(lines) == sorted(['{"text":"you said: %d"}\n' % number for number in range(500)] + [ADA + "\n"]) or (
        [line for line in lines if "Hello" in line] == [ADA + "\n"] and len(lines) == 501
    )


def test_a_writer_of_a_fifo_may_be_slow(rpcurl, grpc_server, tmp_path):
    commands = tmp_path / "in"
    os.mkfifo(commands)
    with subprocess.Popen(["sh", "-c", f'exec "$0" session {grpc_server.url} <{commands}', RPCURL], env=rpcurl.environment(None), stdout=subprocess.PIPE) as process:
        with commands.open("w", buffering=1) as file:
            # Each half of a line is read on its own: the response to the line before shows that.
            file.write('call Hello {"name":"Ada"}\ncall Hel')
            assert process.stdout.readline().decode() == ADA + "\n"
            file.write('lo {"name":"Ada"}\n')
            assert process.stdout.readline().decode() == ADA + "\n"
        assert process.stdout.read() == b""
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_script_comes_from_a_fifo(rpcurl, grpc_server, tmp_path):
    script = tmp_path / "script"
    os.mkfifo(script)
    lines = "".join('call Hello {"name":"%d"}\n' % number for number in range(50))
    writer = threading.Thread(target=script.write_text, args=(lines,))
    writer.start()
    result = rpcurl("run", grpc_server.url, script)
    writer.join(PATIENCE_SECONDS)
    assert (result.code, result.err) == (0, "")
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == [str(number) for number in range(50)]


def test_values_name_no_files_of_other_directories_and_no_commands(rpcurl, grpc_server):
    """The values are what the server responds."""
    files = [
        "use record,file=${last.name}.rec", "use log,format=har,file=${last.name}", "use metrics,file=${last.name}.prom",
        "use trace,file=${last.name}", "use assert,junit=${last.name}.xml", "use header,set=x-a:@${last.name}",
        "use auth,bearer=@${last.name}", "options --bearer @${last.name}",
        "options -H @${last.name}", "options --cacert ${last.name}", "options --netrc-file=${last.name}",
        "options --unix-socket ${last.name}", "options --proto ${last.name}", 
    ]  # fmt: skip
    commands = ["use header,set=x-a:cmd:${last.name}", "use auth,bearer=cmd:${last.name}", "use auth,bearer=cmd:cat ${last.name}"]
    for lines, why in [(files, "the value of a reference in the name of a file contains /"), (commands, "a value cannot be part of a command"), (["target unix:${last.name}", "target $last.name"], "a value that a server sent cannot be a part of the target")]:
        for line in lines:
            script = f'call Hello {{"name":"../evil"}}\n{line}\ncall Hello {{}}\n'
            result = rpcurl("session", grpc_server.url, input=script)
            assert why in result.err, (line, result.err)
    assert not [*rpcurl.home.parent.glob("evil*"), *rpcurl.home.glob("evil*")]
