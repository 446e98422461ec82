"""Command lines as users of grpcurl, buf curl and curl type them, and mistakes that people make.

What the parser alone decides is in Tests/ProgramTests/CommandLine; here are the command lines that reach a server, or would.
"""

import json

import pexpect
import pytest
from harness import RPCURL

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"
ADA = '{"name":"Ada"}'
GREETING = "Hello, Ada!"


def greets(result):
    assert (result.code, result.err) == (0, ""), result.err
    assert result.json()["message"] == GREETING


@pytest.mark.parametrize(
    "options",
    [
        ["-plaintext", "-d", ADA], ["-plaintext", f"-d{ADA}"], ["-plaintext", f"-d={ADA}"],
        ["-plaintext", "-max-time", "5", "-d", ADA], ["-plaintext", "-max-time=5", "-d", ADA],
        ["-plaintext", "-rpc-header", "a:b", "-d", ADA], ["-plaintext", "-format", "json", "-d", ADA],
        ["-plaintext", "-emit-defaults", "-use-reflection", "-connect-timeout", "5", "-max-msg-sz", "10000", "-d", ADA],
        ["-plaintext", "-reflect-header", "a:b", "-H", "c: d", "-user-agent", "x", "-authority", "h", "-d", ADA],
        ["--plaintext", "-m", "5", f"-sSd{ADA}"], ["--plaintext", "-m5", "-Hx:y", "-d", ADA],
        ["--plaintext", "--timeout", "5s", "--data", ADA], ["--plaintext", "--json", ADA],
        ["--plaintext=true", "--data-raw", ADA], ["--plaintext", "-x", "", "-d", ADA],
        ["--plaintext", "--oauth2-bearer", "t", "-d", ADA],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_call_as_others_type_it(rpcurl, grpc_server, options):
    greets(rpcurl(*options, grpc_server.address, HELLO))
    greets(rpcurl(grpc_server.address, *options, HELLO))
    greets(rpcurl(grpc_server.address, HELLO, *options))


def test_text_format_of_grpcurl_is_for_both_directions(rpcurl, grpc_server):
    rpcurl("-plaintext", "-format", "text", "-d", 'name: "Ada"', grpc_server.address, HELLO).succeeds().prints(f'message: "{GREETING}"')


@pytest.mark.parametrize("data", ["@", "@-"])
def test_data_from_standard_input(rpcurl, grpc_server, data):
    greets(rpcurl("-plaintext", "-d", data, grpc_server.address, HELLO, input=ADA))
    greets(rpcurl("-plaintext", f"-d{data}", grpc_server.address, HELLO, input=ADA))


def test_grpc_web_as_buf_writes_it(rpcurl, connect_server):
    greets(rpcurl("--protocol", "grpcweb", "-d", ADA, f"{connect_server.url}/{HELLO}"))


def test_options_with_files_as_grpcurl_has_them(rpcurl, grpc_server, descriptor_set, tmp_path):
    greets(rpcurl("-plaintext", "-protoset", descriptor_set, "-d", ADA, grpc_server.address, HELLO))
    (tmp_path / "a.proto").write_text('syntax = "proto3"; package a; message M { string x = 1; }')
    for words in [["-import-path", tmp_path], [f"-I{tmp_path}"], ["-I", tmp_path]]:
        rpcurl("describe", *words, "-proto", "a.proto", "a.M").succeeds().prints("message M {")


@pytest.mark.parametrize(
    "words",
    [
        ["-plaintext", "SERVER", "list"], ["-plaintext", "list", "SERVER"], ["--plaintext", "SERVER", "list", SERVICE],
        ["list", "-plaintext", "SERVER"], ["SERVER", "-plaintext", "list"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_verbs_of_grpcurl(rpcurl, grpc_server, words):
    result = rpcurl(*(word.replace("SERVER", grpc_server.address) for word in words)).succeeds()
    assert any(line.startswith(SERVICE) for line in result.out.splitlines())


def test_describe_as_grpcurl_has_it(rpcurl, grpc_server):
    rpcurl("-plaintext", grpc_server.address, "describe", f"{SERVICE}").exits(0).prints("service Demo {")


def test_a_server_beside_a_descriptor_set(rpcurl, descriptor_set):
    for target in ["http://127.0.0.1:1", "127.0.0.1:1", "unix:/no/such"]:
        assert rpcurl("list", "--descriptor-set", descriptor_set, target).out == f"{SERVICE}\n"
        rpcurl("describe", "--descriptor-set", descriptor_set, target, "HelloRequest").prints("message HelloRequest {")


def test_a_bare_method_with_a_target_of_the_configuration(rpcurl, grpc_server):
    file = rpcurl.home / ".config" / "rpcurl" / "config"
    file.parent.mkdir(parents=True)
    file.write_text(f"target {grpc_server.url}\n")
    for method in ["Hello", HELLO, f"{SERVICE}.Hello"]:
        greets(rpcurl(method, "-d", ADA))


# Mistakes


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["lst", "--plaintext", "h:1"], "lst: no such command", "did you mean list?"),
        (["describ", "h:1", SERVICE], "describ: no such command", "did you mean describe?"),
        (["lst"], "lst: no such command", "did you mean list? a server is written HOST:PORT"),
        (["completions", "bash"], "completions: no such command", "did you mean completion? a server is written HOST:PORT"),
        (["completion"], "missing argument: SHELL", "see \"rpcurl completion --help\""),
        (["completion", "tcsh"], "completion: no script for 'tcsh'", "use bash, zsh or fish"),
        (["help", "retri"], "help retri: no such command, interceptor or option", "did you mean retry?"),
        (["help", "sessions"], "help sessions: no such command, interceptor or option", "did you mean session?"),
        (["help", "--max-tim"], "help --max-tim: no such command, interceptor or option", "did you mean --max-time?"),
        (["help", "history"], "help history: no such command", "there are call, session"),
        (["ping", "localhost:1"], "ping: no such command", "\"rpcurl help\" lists the commands; a server is written HOST:PORT"),
        (["bench", "h:1"], "bench: no such command", "\"rpcurl help\" lists the commands; a server is written HOST:PORT"),
        (["mock", "http://h:1"], "mock: no such command", "\"rpcurl help\" lists"),
        (["show", "unix:/x"], "show: no such command", "\"rpcurl help\" lists"),
        (["history"], "history: no such command", "\"rpcurl help\" lists the commands; a server is written HOST:PORT"),
        (["--list", "h:1"], "--list: unknown option", "it is a command: rpcurl list"),
        (["web1", "bash"], "web1: no such command", "\"rpcurl help\" lists"),
        (["call", "web"], "web: no method to call", "add it after the target"),
        (["localhost"], "localhost: no method to call", "add it after the target"),
        (["shop.v1.Catalogue/Get"], "shop.v1.Catalogue/Get: no server to call", "write rpcurl HOST:PORT shop.v1.Catalogue/Get"),
        (["shop.v1.Catalogue"], "shop.v1.Catalogue: no server to call", "write rpcurl HOST:PORT shop.v1.Catalogue/METHOD"),
        (["shop.v1.Catalogue.Get"], "shop.v1.Catalogue.Get: no server to call", "write rpcurl HOST:PORT"),
        (["a.b.C/D", "h:1"], "a.b.C/D: a method where the target belongs", "write rpcurl h:1 a.b.C/D"),
        (["a.b.C.D", "http://h:1"], "a.b.C.D: a method where the target belongs", "write rpcurl http://h:1 a.b.C.D"),
        (["h:99999", "a.b.C/D"], "h:99999: the port is not a number from 1 to 65535", None),
        (["http://h:0/a.b.C/D"], "http://h:0/a.b.C/D: the port is not a number from 1 to 65535", None),
        (["ftp://h:1", "a.b.C/D"], "ftp://h:1: not a URL of http or https", "write HOST:PORT, http://HOST:PORT,"),
        (["xds:///h:1", "a.b.C/D"], "xds:///h:1: rpcurl asks no xDS server for addresses", "write HOST:PORT"),
        (["ipv4:1.2.3.4:5,1.2.3.5:5", "a.b.C/D"], "ipv4:1.2.3.4:5,1.2.3.5:5: several addresses", "write one of them"),
        (["", "a.b.C/D"], "'': missing host", "write HOST:PORT"),
        (["ls", "h:1"], "ls: no such command", "did you mean list?"),
        (["desc", "h:1", "a.b.C"], "desc: no such command", "did you mean describe?"),
        (["–plaintext", "h:1", HELLO], "–plaintext: unknown option", "it begins with U+2013, which is not a hyphen: write --plaintext"),
        (["h:1", HELLO, " "], "' ': unexpected argument", "to continue a line, let \\ be its last character"),
        (["h:1", HELLO, ADA], f"{ADA}: unexpected argument", f"write -d before the message: -d '{ADA}'"),
        (["h:1", SERVICE, "Hello"], "Hello: unexpected argument", f"did you mean {HELLO}?"),
        (["grpcurl", "-plaintext", "h:1", HELLO], f"{HELLO}: unexpected argument", "omit grpcurl: "),
        (["rpcurl", "list", "h:1"], "h:1: unexpected argument", "omit rpcurl: "),
        (["--format", "JSON", "h:1", HELLO], "--format JSON: not one of pretty,", "did you mean json?"),
        (["-maxtime", "5", "h:1", HELLO], "-maxtime: unknown option", "did you mean --max-time?"),
        (["-output", "f", "h:1", HELLO], "-output: unknown option", "did you mean --output?"),
        (["-H=x", "h:1", HELLO], "-H: ", "write -H 'NAME: VALUE'"),
        (["http://h/a.b.C/D", "a.b.C/D"], "a.b.C/D: the URL names the method a.b.C/D already", "omit the argument"),
        (["http://h/a.b.C/D", "E"], "E: the URL names the method a.b.C/D already", "omit the argument"),
        (["--list-services", "http://h"], "--list-services: unknown option", 'use "rpcurl list"'),
        (["--schema", "x", "http://h"], "--schema: unknown option", "use --descriptor-set FILE"),
        (["-msg-template", "h:1", "describe", "x"], "-msg-template: unknown option", 'use "rpcurl template'),
        (["-protoset-out", "x", "h:1", "list"], "-protoset-out: unknown option", 'use "rpcurl export'),
        (["-chain", "h:1", HELLO], "-chain: unknown option", 'see "rpcurl call --help"'),
        (["--plain", "h:1", HELLO], "--plain: unknown option", "did you mean --plaintext?"),
        (["--retry", "3", "h:1", HELLO], "--retry: unknown option", "use --use retry,attempts=N"),
        (["--d", "{}", "h:1", HELLO], "--d: unknown option", "did you mean -d?"),
        (["-H", "Content-Type: text/plain", "h:1", HELLO], "-H: the header content-type is set by --protocol and --codec and cannot be changed", "omit it; "),
        (["-X", "POST", "h:1", HELLO], "-X: unknown option", "omit it"),
        (["-w", "x", "h:1", HELLO], "-w: unknown option", "use --timing"),
        (["list", "-d", "{}", "h:1"], "-d: list has no such option, but call or load has", 'see "rpcurl list --help"'),
        (["-d", "--plaintext", "h:1", HELLO], "-d: missing value", 'see "rpcurl call --help"'),
        ([], "missing argument: TARGET", 'see "rpcurl --help", which lists the commands'),
        (["run", "--plaintext", "localhost:1"], "missing argument: FILE", "localhost:1 is a target: rpcurl run [OPTIONS] TARGET FILE"),
        (["--plaintext", "h:1"], "h:1: no method to call", "add it after the target, or at the end of the URL: http://h:1/pkg.Service/Method; "),
        (["--use", "retry", "attempts=3", "h:1", HELLO], f"{HELLO}: unexpected argument", "attempts=3 is not a target: "),
        (["--set-file", "value", "f.bin", "h:1", HELLO], "--set-file value: not of the form PATH=FILE", 'see "rpcurl call --help"'),
    ],
)  # fmt: skip
def test_mistakes(rpcurl, words, error, hint):
    first, *rest = rpcurl(*words).exits(2, "").err.splitlines()
    assert first.startswith(f"rpcurl: {error}") and (first == f"rpcurl: {error}" or error[-1] in " ,")
    assert rest if hint else not rest
    assert all(line.startswith(f"hint: {hint}") for line in rest)


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["Demo/Helo"], f"{SERVICE}/Helo: no method Helo in {SERVICE}", f"did you mean {HELLO}?"),
        ([SERVICE], f"{SERVICE}: this is a service; a method is missing", f"write {SERVICE}/METHOD; its methods are "),
        (["-d", ADA, "-d", ADA, "Hello"], "-d: second message (line 1, column 1), but Hello accepts one message", "--each makes one call"),
        (["Helo"], "Helo: not found in the schema", 'did you mean demo.v1.Demo/Hello?; --reflect also asks the server'),
        (["-d", "request.json", "Hello"], "-d: expected an object (demo.v1.HelloRequest) (line 1, column 1)", "a file is given by -d @request.json"),
        (["-d", "name=Ada", "Hello"], "-d: expected a value (line 1, column 1)", "write JSON, or --set name=Ada"),
        (["-d", "{'name':'Ada'}", "Hello"], '-d: expected a key or "}" (line 1, column 2)', "names are in double quotes:"),
        (["-d", '{name:"Ada"}', "Hello"], '-d: expected a key or "}" (line 1, column 2)', "names are in double quotes:"),
        (["-d", '{"name":"Ada",}', "Hello"], "-d: expected a key (line 1, column 15)", 'remove the comma before "}"'),
        (["-d", f"[{ADA}]", "Hello"], "-d: expected an object (demo.v1.HelloRequest) (line 1, column 1)", "jq -c '.[]' splits an array"),
    ],
)  # fmt: skip
def test_mistakes_that_the_schema_shows(demo, words, error, hint):
    *options, method = words
    result = demo(*options, "http://127.0.0.1:1", method)
    assert result.out == "" and result.code in (3, 4)
    lines = result.err.splitlines()
    assert lines[0] == f"rpcurl: {error}"
    assert lines[-1].startswith(f"hint: {hint}")


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (["--use", "record=c.rec"], "did you mean record,file=…?"),
        (["--use", "retry:attempts=3"], "did you mean retry,attempts=…?"),
        (["--use", "retries"], "did you mean retry?"),
        (["--use", "nonsense"], "built-in: "),
        (["--plugin", "retry,attempts=2"], "retry is built in: write --use instead of --plugin"),
    ],
)
def test_mistakes_in_interceptors(demo, option, hint):
    assert demo(*option, "http://127.0.0.1:1", HELLO).exits(7).err.splitlines()[-1].startswith(f"hint: {hint}")


def test_a_blank_after_the_comma_is_ignored(rpcurl, grpc_server):
    greets(rpcurl("--use", "retry, attempts=3", "--plaintext", "-d", ADA, grpc_server.address, HELLO))


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        ("retry,attempts=2", "retry does not apply to the request for the schema; --descriptor-set FILE avoids it"),
        ("replay,file={0}/cassette,miss=record", 'replay needs the schema: run "rpcurl export TARGET -o api.binpb" while a server runs, then add --descriptor-set api.binpb'),
    ],
)
def test_interceptors_do_not_apply_to_the_request_for_the_schema(rpcurl, tmp_path, use, hint):
    result = rpcurl("--plaintext", "--use", use.format(tmp_path), "-d", "{}", "localhost:1", HELLO).exits(5)
    assert result.err.splitlines()[-1].endswith(hint)


@pytest.mark.parametrize("command", ["describe", "template", "export"])
def test_hints_at_names_name_the_server(rpcurl, grpc_server, tmp_path, command):
    options = ["-o", tmp_path / "out"] if command == "export" else []
    result = rpcurl(command, "--plaintext", *options, grpc_server.address, "Nonsense").exits(3)
    assert result.err.endswith(f'hint: run "rpcurl list http://{grpc_server.address}" to see what exists\n')


def test_hints_at_names_name_the_files(rpcurl, grpc_server, descriptor_set):
    source = f"--descriptor-set {descriptor_set}"
    for command in (["list"], ["describe"], ["template"]):
        rpcurl(*command, *source.split(), "Nonsense").exits(3).reports(f'hint: run "rpcurl list {source}')
    rpcurl("convert", *source.split(), "--type", "Nonsense", "--from", "json", "--to", "text").exits(3).reports(f'hint: run "rpcurl list {source} --kind message"')
    rpcurl("template", *source.split()).exits(2).reports(f'hint: run "rpcurl list {source}"')
    rpcurl(*source.split(), "http://localhost:1", "Nonsense").exits(3).reports(f'hint: run "rpcurl list {source} --kind method"')
    rpcurl("template", "--plaintext", grpc_server.address).exits(2).reports(f'hint: run "rpcurl list http://{grpc_server.address}"')
    rpcurl("--plaintext", grpc_server.address, "Nonsense").exits(3).reports(f'hint: run "rpcurl list http://{grpc_server.address} --kind method"')


def test_default_port_is_named(demo):
    demo("--connect-to", "localhost:80:127.0.0.1:1", "http://localhost", HELLO).exits(5).reports("localhost:80")


def test_a_type_by_the_end_of_its_name(rpcurl, descriptor_set):
    words = ["convert", "--descriptor-set", descriptor_set, "--from", "json", "--to", "text", "--type"]
    for name in ["demo.v1.HelloRequest", "v1.HelloRequest", "HelloRequest"]:
        assert rpcurl(*words, name, input=ADA).out == 'name: "Ada"\n'
    assert rpcurl(*words, "Duration", input='"1s"').out == "seconds: 1\n"
    rpcurl(*words, "HelloReqest", input=ADA).exits(3).reports("hint: did you mean demo.v1.HelloRequest?")


def test_a_path_of_http_as_the_method(rpcurl, grpc_server):
    greets(rpcurl("--plaintext", "-d", ADA, grpc_server.address, f"/{HELLO}"))
    greets(rpcurl("--plaintext", "-d", ADA, grpc_server.address, "call", HELLO))


def test_a_method_in_the_prefix_of_a_url_may_stay(rpcurl, grpc_server, descriptor_set):
    """Only what looks like a method is one."""
    result = rpcurl("--explain", "--format", "json", "--descriptor-set", descriptor_set, "http://h/api/v1", HELLO)
    assert result.json()["url"] == f"http://h/api/v1/{HELLO}"


def test_silence_and_form_of_errors_hold_wherever_they_are(rpcurl):
    assert json.loads(rpcurl("--nope", "--error-format", "json").err)["error"]["what"] == "--nope"
    assert rpcurl("--nope", "-s").err == ""
    assert rpcurl("--nope", "-sS").err != ""


def test_short_help_is_one_screen(rpcurl):
    for words in (["-h"], ["call", "-h"], ["list", "-h"]):
        result = rpcurl(*words).succeeds()
        assert len(result.out.splitlines()) <= 34
        assert "--plaintext" in result.out
    assert len(rpcurl("call", "--help").out.splitlines()) > 200


@pytest.mark.parametrize(("words", "rows", "pager", "is_paged"), [
    (["--help"], 24, "sed s/^/PAGE:/", True), (["call", "--help"], 100, "sed s/^/PAGE:/", True), (["--help"], 200, "sed s/^/PAGE:/", False),
    (["-h"], 10, "sed s/^/PAGE:/", False), (["--help"], 24, "cat", False), (["--help"], 24, "no-such-pager", False),
])  # fmt: skip
def test_long_help_is_paged_on_a_terminal(rpcurl, words, rows, pager, is_paged):
    environment = rpcurl.environment({"PAGER": pager, "TERM": "xterm"})
    terminal = pexpect.spawn(str(RPCURL), words, env=environment, dimensions=(rows, 100), timeout=60)
    lines = terminal.read().decode().splitlines()
    terminal.close()
    assert terminal.exitstatus == 0
    plain = rpcurl(*words).succeeds().out.splitlines()
    assert lines[-len(plain) :] == [f"PAGE:{line}" for line in plain] if is_paged else lines[-len(plain) :] == plain
