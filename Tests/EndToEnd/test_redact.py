"""What each output shows of credentials, and of what a server repeats of them."""

import base64
import json
import os
import subprocess

import pytest
import raw_http2
from harness import RPCURL, write

BEARER = "hunter2-bearer"
NAMED = "hunter2-named"
LOGIN = base64.b64encode(f"client:{NAMED}".encode()).decode()
DATA = json.dumps(
    {
        "code": 3,
        "message": f"the token {BEARER} of {NAMED} is invalid",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": f"got {BEARER}", "metadata": {"login": LOGIN}},
            {"@type": "type.googleapis.com/google.rpc.DebugInfo", "stackEntries": ["first", f"called with {NAMED}"]},
        ],
    }
)
HEADERS = [f"x-mine: {NAMED}", f"demo-header: x-echo=got {BEARER}", f"demo-trailer: x-login={LOGIN}"]

# Each output: the options, and whether it is the standard output, standard error or a file.
OUTPUTS = {
    "errors": ([], "err"),
    "--error-format json": (["--error-format", "json"], "err"),
    "-v": (["-v"], "err"),
    "--format events": (["--format", "events"], "out"),
    "log": (["--use", "log,file=FILE"], "file"),
    "log,format=ndjson": (["--use", "log,file=FILE,format=ndjson"], "file"),
    "log,format=har": (["--use", "log,file=FILE,format=har"], "file"),
    # The request itself contains what the server is to repeat.
    "record": (["--use", "record,file=FILE,redact-field=message,redact-field=details"], "file"),
    "assert": (["--use", "assert,check='error == x'", "--use", "assert,check='trailer x-login == x'"], "err"),
    "assert,junit=": (["--use", "assert,check='error == x',junit=FILE", "--use", "assert,check='detail DebugInfo .stack_entries == []',junit=FILE"], "file"),
    "trace": (["--use", "trace,file=FILE"], "file"),
    "retry": (["--use", "retry,attempts=2,codes=invalid_argument,initial=1ms", "-vv"], "err"),
}


@pytest.mark.parametrize("source", ["option", "configuration", "netrc"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_repeats_credentials(rpcurl, grpc_server, tmp_path, output, source):
    options, place = OUTPUTS[output]
    file = tmp_path / "file"
    options = [option.replace("FILE", str(file)) for option in options]
    headers = [word for header in HEADERS for word in ("-H", header)]
    if source == "option":
        options += [*headers, "--bearer", BEARER, "--redact", "X-Mine"]
    elif source == "configuration":
        config = write(tmp_path / "config", "--redact x-mi*\n")
        options += [*headers, "--bearer", BEARER, "--config", config]
    else:
        entries = [("127.0.0.1", "client", NAMED), ("other.test", "me", BEARER)]
        netrc = "".join(f"machine {host} login {name} password {password}\n" for host, name, password in entries)
        options += [*headers[2:], "--netrc-file", write(tmp_path / "netrc", netrc)]
    result = rpcurl(*options, "-d", DATA, grpc_server.url, "Fail").exits(8 if "assert" in output else 67)
    text = {"out": result.out, "err": result.err, "file": file.read_bytes().decode(errors="replace") if file.exists() else ""}[place]
    assert text
    for shown in (result.out, result.err, text):
        assert BEARER not in shown and NAMED not in shown and LOGIN not in shown, shown
    assert "[redacted]" in text, text


def test_details_are_shown_without_credentials(rpcurl, grpc_server):
    rpcurl("--bearer", BEARER, "-d", DATA, grpc_server.url, "Fail").reports('"reason":"got [redacted]"', "ErrorInfo")
    rpcurl("--bearer", BEARER, "--show-secrets", "-d", DATA, grpc_server.url, "Fail").reports(f'"reason":"got {BEARER}"')


def test_expected_credentials(rpcurl, grpc_server, descriptor_set, tmp_path):
    condition, shown = f"header authorization == Bearer {NAMED}", "header authorization == Bearer [redacted]"
    stub = write(tmp_path / "stub.json", json.dumps({"method": "demo.v1.Demo/Find", "where": [condition], "response": {}}))
    mock = ["--use", f"mock,file={stub}", "--descriptor-set", descriptor_set]
    junit = tmp_path / "junit.xml"
    results = [
        rpcurl(*mock, "http://nowhere.test", "demo.v1.Demo/Find"),
        rpcurl("--use", f"assert,check={condition},junit={junit}", grpc_server.url, "Hello"),
        rpcurl("session", grpc_server.url, input=f"call Hello\nexpect {condition}\n"),
    ]
    for text in [*(result.err for result in results), junit.read_text()]:
        assert f"{shown}: expected == Bearer [redacted], got no authorization" in text and NAMED not in text, text


def test_responses_are_not_changed(rpcurl, grpc_server):
    result = rpcurl("--bearer", BEARER, "-d", json.dumps({"name": BEARER}), "--format", "events", grpc_server.url, "Hello")
    message = next(event for event in result.lines() if event["event"] == "message")
    assert message["message"]["name"] == BEARER


def test_reports_of_suites_and_sessions_hide_named_headers(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "suite.rpcurl"
    suite.write_text(f"target {grpc_server.url}\nheader x-mine: {NAMED}\ntest t\nheader demo-header: x-echo=got {NAMED}\ncall Hello\nexpect header x-echo == x\n")
    assert NAMED not in rpcurl("test", "--redact", "x-mine", suite).exits(8).prints("got [redacted]").out
    saved, transcript = tmp_path / "saved.rpcurl", tmp_path / "transcript"
    script = f"record {transcript}\nheader x-mine: {NAMED}\nheader\ncall Hello\nsave {saved}\n"
    rpcurl("session", "--redact", "x-mine", grpc_server.url, input=script).prints("x-mine: [redacted]")
    for file in (saved, transcript):
        assert "x-mine" in file.read_text() and NAMED not in file.read_text()


TRANSCRIBED = {
    "a variable with the name of a secret": [f'set token = "{NAMED}"', "print"],
    "a field of it": [f'set token = {{"a":"{NAMED}"}}', "print $token.a"],
    "a variable from elsewhere": ["options --var k=env:K", "print"],
    "one of the command line": ["print", "print $c"],
    "a variable of the environment": ['set x = "${env.MY_TOKEN}"', "print $x"],
    "a header that is named later": ["options --redact x-mine", f"header x-mine: {NAMED}", "header demo-header: x-echo=1", 'call Hello {"name":"%s"}' % NAMED],
    "one that was set before": [f"header x-mine: {NAMED}", "record", "options --redact x-mine", 'call Hello {"name":"%s"}' % NAMED],
    "the password of a proxy": [f"options --proxy http://me:{NAMED}@proxy.test:1", "call EchoMetadata", 'call Hello {"name":"%s"}' % NAMED],
    "an attribute": [f"attribute token={NAMED}", 'call Hello {"name":"%s"}' % NAMED],
}


@pytest.mark.parametrize("case", TRANSCRIBED)
def test_transcripts_hide_what_the_session_knows(rpcurl, grpc_server, tmp_path, case):
    transcript = tmp_path / "transcript"
    begin = f"record {transcript}"
    lines = [begin if line == "record" else line for line in TRANSCRIBED[case]]
    lines = [*([] if begin in lines else [begin]), *lines, "record off"]
    environment = {"K": NAMED, "MY_TOKEN": NAMED, "no_proxy": "127.0.0.1"}
    options = ["--var", "c=env:K"] if "command line" in case else []
    result = rpcurl("session", *options, grpc_server.url, input="\n".join(lines) + "\n", env=environment)
    assert result.code == 0 and result.err == "", result.err
    text = transcript.read_text()
    assert NAMED not in text and "[redacted]" in text, text


def test_transcripts_hide_options_of_other_commands(rpcurl, grpc_server, tmp_path):
    transcript = tmp_path / "transcript"
    lines = [
        f'call Hello {{"name":"a"}} --bearer {NAMED}', f'call Hello {{"name":"a"}} -H "authorization: Bearer {NAMED}"', f"open Chat --bearer {NAMED}",
        f"list --bearer {NAMED}", f'describe Hello -H "x-api-key: {NAMED}"', f"repeat 2 call Hello --bearer {NAMED}", f'header "authorization: Bearer {NAMED}"',
    ]  # fmt: skip
    rpcurl("session", grpc_server.url, input="\n".join([f"record {transcript}", *lines, "record off"]) + "\n")
    assert transcript.read_text().count("${env.RPCURL_OPTIONS}") == 6 and NAMED not in transcript.read_text()


SAVED = {
    "a header": ["header x-b: ${env.MY_TOKEN}", "call EchoMetadata"],
    "a header of credentials": ["header authorization: Bearer ${env.MY_TOKEN}", 'call Hello {"name":"${env.MY_TOKEN}"}'],
    "an interceptor": ["use header,set=x-c:${env.MY_TOKEN}", "call EchoMetadata"],
    "a variable": [f'set token = "{NAMED}"', 'call Hello {"name":"${token}"}'],
    "a variable from elsewhere": ["options --var k=env:MY_TOKEN", "header x-b: ${k}", "call EchoMetadata"],
    "a stream": ["open Chat", '{"text":"$${env.HOME} \\" ${env.MY_TOKEN}"}', "close", "wait"],
}


@pytest.mark.parametrize("case", SAVED)
def test_saved_shell_scripts_have_variables_in_place_of_secrets(rpcurl, grpc_server, tmp_path, case):
    saved = tmp_path / "saved.sh"
    rpcurl("session", grpc_server.url, input="\n".join([*SAVED[case], f"save {saved}"]) + "\n", env={"MY_TOKEN": NAMED}).exits(0)
    assert NAMED not in saved.read_text(), saved.read_text()
    values = {"AUTHORIZATION": f"Bearer {NAMED}", "TOKEN": NAMED, "K": NAMED, "MY_TOKEN": NAMED}
    environment = rpcurl.environment(values) | {"PATH": f"{RPCURL.parent}:{os.environ['PATH']}"}
    result = subprocess.run(["sh", saved], capture_output=True, text=True, env=environment, check=True)
    assert NAMED in result.stdout and (case != "a stream" or f'${{env.HOME}} \\" {NAMED}"' in result.stdout), result.stdout


@pytest.mark.parametrize("protocol, programs", [("connect", ["sh", "curl", "buf"]), ("grpc", ["sh", "grpcurl", "buf"])])
def test_copied_commands_have_variables_in_place_of_secrets(rpcurl, connect_server, grpc_server, protocol, programs):
    server = connect_server if protocol == "connect" else grpc_server
    lines = ["header x-b: ${env.MY_TOKEN}", 'call Hello {"name":"${env.MY_TOKEN}"} > /dev/null', *(f"copy {program}" for program in programs)]
    result = rpcurl("session", "--protocol", protocol, server.url, input="\n".join(lines) + "\n", env={"MY_TOKEN": NAMED}).succeeds()
    assert NAMED not in result.out and result.out.count("x-b: ${MY_TOKEN}") == 3 and result.out.count('\\":\\"${MY_TOKEN}\\"') == 3, result.out


def test_settings_of_sessions_hide_values_from_elsewhere(rpcurl, grpc_server):
    lines = ["use header,set=x-c:${env.MY_TOKEN}", "attribute q=${env.MY_TOKEN}", "header x-b: ${env.MY_TOKEN}", "header", "attribute", "options", "chain"]
    options = ["--expand", "--var", "k=env:TOK", "-H", "x-d: ${k}"]
    result = rpcurl("session", *options, grpc_server.url, input="\n".join(lines) + "\n", env={"TOK": NAMED, "MY_TOKEN": NAMED}).exits(0)
    assert NAMED not in result.out and "x-d: [redacted]\nx-b: [redacted]\nq=[redacted]\n" in result.out, result.out


def test_names_that_are_secret_later_hold_for_open_streams(rpcurl, grpc_server):
    lines = ["verbose 1", "open Chat", '{"text":"a"}', "receive", "options --redact x-mine", "close", "wait"]
    headers = ["-H", f"x-mine: {NAMED}", "-H", f"demo-trailer: x-echo={NAMED}"]
    result = rpcurl("session", *headers, grpc_server.url, input="\n".join(lines) + "\n")
    assert f"> x-mine: {NAMED}" in result.err and "< x-echo: [redacted]" in result.err, result.err


@pytest.mark.parametrize("setting", ["bearer=@FILE", "bearer=cmd:cat FILE"])
def test_reports_and_transcripts_hide_what_interceptors_add(rpcurl, grpc_server, tmp_path, setting):
    setting = "auth," + setting.replace("FILE", str(write(tmp_path / "token", NAMED)))
    suite, transcript = tmp_path / "suite.rpcurl", tmp_path / "transcript"
    test = f'test t\ncall EchoMetadata\ncall Hello {{"name":"{NAMED}"}}\nexpect .name == x\n'
    suite.write_text(f"target {grpc_server.url}\nuse {setting}\n{test}")
    assert NAMED not in rpcurl("test", suite).exits(8).out
    suite.write_text(f"target {grpc_server.url}\n{test}")
    assert NAMED not in rpcurl("test", "--use", setting, suite).exits(8).prints("[redacted]").out
    rpcurl("session", grpc_server.url, input=f"record {transcript}\nuse {setting}\ncall EchoMetadata\n").exits(0)
    assert "Bearer [redacted]" in transcript.read_text() and NAMED not in transcript.read_text()


def test_names_in_a_suite_reach_its_reports(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "suite.rpcurl"
    suite.write_text(f"target {grpc_server.url}\ntest t\noptions --redact x-mine\nheader x-mine: {NAMED}\ncall Hello\nexpect header x-echo == x\n")
    assert NAMED not in rpcurl("test", suite).exits(8).prints("X_MINE").out


# Values that are read from elsewhere, and named headers, where no call prints them itself.


VARIABLE = ["--expand", "--var", "k=env:TOK", "-H", "x-b: ${k}", "-H", "authorization: Bearer ${k}", "-d", '{"code":3,"message":"bad ${k}"}']


@pytest.mark.parametrize("options", [["-v"], ["--format", "events"], ["--use", "log"], ["--explain"]], ids=" ".join)
def test_variables_from_elsewhere_are_secret(rpcurl, grpc_server, descriptor_set, options):
    result = rpcurl(*VARIABLE, *options, "--descriptor-set", descriptor_set, grpc_server.url, "demo.v1.Demo/Fail", env={"TOK": BEARER})
    assert BEARER not in result.out + result.err, result


@pytest.mark.parametrize("options", [["-v"], ["--explain", "--format", "grpcurl"], ["--explain", "--format", "buf"]], ids=" ".join)
@pytest.mark.parametrize("name", ["password", "api_token"])
def test_variables_with_the_name_of_a_secret_are_secret(rpcurl, grpc_server, descriptor_set, name, options):
    words = ["--expand", "--var", f"{name}={NAMED}", "-d", '{"name":"${%s}"}' % name, "-H", "x-b: ${%s}" % name]
    result = rpcurl(*words, *options, "--descriptor-set", descriptor_set, grpc_server.url, "demo.v1.Demo/Hello").exits(0)
    # The response is the output of the call.
    assert NAMED not in result.err + result.out * ("--explain" in options), result


@pytest.mark.parametrize("secret", [BEARER, 'hunter2 "and" \\ more'])
@pytest.mark.parametrize("options", [["curl", "--protocol", "connect"], ["curl"], ["grpcurl"], ["buf"]], ids=" ".join)
def test_commands_of_programs_have_variables_in_place_of_secrets(rpcurl, descriptor_set, options, secret):
    words = ["--explain", "--format", *options, "--descriptor-set", descriptor_set, "http://127.0.0.1:1", "demo.v1.Demo/Fail"]
    result = rpcurl(*VARIABLE, *words, env={"TOK": secret})
    shown = rpcurl(*VARIABLE, *words, "--show-secrets", env={"TOK": secret})
    assert shown.code == 0 and "hunter2" in shown.out, shown
    assert "hunter2" not in result.out + result.err
    if options == ["curl"]:
        # The message of gRPC is in an envelope, which has the length.
        assert result.code == 2 and "has a secret value" in result.err and "--show-secrets" in result.err, result.err
    else:
        assert result.code == 0 and "bad ${K}" in result.out and "# Set K in the environment: the value of the variable k" in result.out, result
        assert "--var" not in result.out


def test_scripts_of_loads_have_variables_in_place_of_secrets(rpcurl, descriptor_set):
    words = ["load", "--expand", "--var", "k=env:TOK", "-H", "x-b: a ${k}", "-d", "{}", "--export", "k6", "--descriptor-set", descriptor_set, "--requests", "9"]
    result = rpcurl(*words, "http://127.0.0.1:1", "demo.v1.Demo/Hello", env={"TOK": BEARER})
    assert result.code == 0 and BEARER not in result.out and "__ENV.X_B" in result.out, result


def test_explain_hides_what_repeats_a_credential(rpcurl, grpc_server, descriptor_set):
    words = ["--bearer", BEARER, "-H", f"x-copy: a {BEARER} b", "--explain", "--descriptor-set", descriptor_set]
    result = rpcurl(*words, grpc_server.url, "demo.v1.Demo/Hello", "-d", "{}")
    assert result.code == 0 and BEARER not in result.out and "a [redacted] b" in result.out, result.out


@pytest.mark.parametrize("options", [["-v"], ["--format", "events"], ["--use", "log"], ["--explain"]], ids=" ".join)
def test_what_repeats_a_secret_attribute_is_hidden(rpcurl, grpc_server, descriptor_set, options):
    words = ["--redact", "x-mine", "--attribute", f"x-mine={NAMED}", "-H", f"demo-header: x-echo=got {NAMED}", *options]
    result = rpcurl(*words, "--descriptor-set", descriptor_set, grpc_server.url, "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}')
    assert result.code == 0 and NAMED not in result.out + result.err and "=got [redacted]" in result.out + result.err, result


NAMES_OF_COMMANDS = {"reflection of a call": ["-d", "{}", "URL", "demo.v1.Demo/Hello"], "list": ["list", "URL"], "check": ["check", "URL"], "health": ["health", "URL"]}


@pytest.mark.parametrize("command", NAMES_OF_COMMANDS)
def test_named_headers_are_secret_in_each_command(rpcurl, raw_server, tmp_path, command):
    """A server that refuses each call, and repeats a header."""

    def respond(stream):
        status = [("grpc-status", "7"), ("grpc-message", f"no access with {NAMED}")]
        stream.headers([(":status", "200"), ("content-type", "application/grpc"), *status], end=True)

    server = raw_server(raw_http2.handler(respond))
    config = write(tmp_path / "config", "--redact x-mine\n")
    words = [f"http://{server.address}" if word == "URL" else word for word in NAMES_OF_COMMANDS[command]]
    result = rpcurl(*words, "--config", config, "-H", f"x-mine: {NAMED}")
    assert NAMED not in result.out + result.err, result.out + result.err


@pytest.mark.parametrize("name", ["", "x-mine:", "X-MINE: v", " x-mine", "x-mi*ne", "a b", "*"])
def test_what_is_no_name_is_an_error(rpcurl, grpc_server, name):
    rpcurl("--redact", name, "-d", "{}", grpc_server.url, "Hello").exits(2, "").reports("not the name of a header or an attribute")
