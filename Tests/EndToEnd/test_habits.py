"""Command lines as users of grpcurl, buf curl and curl type them, and mistakes that people make.

What the parser alone decides is in Tests/ProgramTests/CommandLine; here are the command lines that reach a server, or would.
"""

import json
import shlex

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


def says(result, error, hint, is_whole=False):
    """The result is an error whose first line is, or begins with, `error`; the last line is its hint, if it has one."""
    first, *rest = result.err.splitlines()
    assert result.out == ""
    assert first == f"rpcurl: {error}" if is_whole else first.startswith(f"rpcurl: {error}")
    assert [line.startswith(f"hint: {hint}") for line in rest if line.startswith("hint:")] == [True] * (hint is not None)


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
        (["curl", f"http://h/{HELLO}"], "curl: no such command", "omit curl: the arguments begin after the program's name; a server"),
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
        (["list", SERVICE, "http://h:1"], f"{SERVICE}: a name where the target belongs", f"write rpcurl list http://h:1 {SERVICE}"),
        (["load", HELLO, "http://h:1"], f"{HELLO}: a method where the target belongs", f"write rpcurl load http://h:1 {HELLO}"),
        (["./h.sock", "Hello"], "./h.sock: a path where a server belongs", "write unix:./h.sock for a Unix socket"),
        (["h:1", HELLO, "name=Ada"], "name=Ada: unexpected argument", "a field is set by --set name=Ada"),
        (["--use", "retry", "attempts=3", "h:1", HELLO], f"{HELLO}: unexpected argument", "attempts=3 is not a target: "),
        (["--set-file", "value", "f.bin", "h:1", HELLO], "--set-file value: not of the form PATH=FILE", 'see "rpcurl call --help"'),
    ],
)  # fmt: skip
def test_mistakes(rpcurl, words, error, hint):
    says(rpcurl(*words).exits(2), error, hint, is_whole=error[-1:] not in " ,")


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["Demo/Helo"], f"{SERVICE}/Helo: no method Helo in {SERVICE}", f"did you mean {HELLO}?"),
        ([SERVICE], f"{SERVICE}: this is a service; a method is missing", f"write {SERVICE}/METHOD; its methods are "),
        (["-d", ADA, "-d", ADA, "Hello"], "-d: second message (line 1, column 1), but Hello accepts one message", "--each makes one call"),
        (["Helo"], "Helo: not found in the schema", 'did you mean demo.v1.Demo/Hello?; --reflect also asks the server'),
        (["-d", "request.json", "Hello"], "-d: expected an object (demo.v1.HelloRequest) (line 1, column 1)", "a file is given by -d @request.json"),
        (["-d", 'name: "Ada"', "Hello"], "-d: expected a value (line 1, column 1)", "for protobuf's text format, add --data-format text"),
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
    assert result.code in (3, 4)
    says(result, error, hint, is_whole=True)


DATA_MISTAKES = {
    '{"stringValue":5}': ("stringValue: expected a string", None),
    '{"nme":"Ada"}': ('demo.v1.AllTypes has no field "nme"', None),
    '{"color":"PURPLE"}': ('color: demo.v1.Color has no value "PURPLE"', "demo.v1.Color has COLOR_UNSPECIFIED, COLOR_RED"),
    '{"color":"RED"}': ('color: demo.v1.Color has no value "RED"', "did you mean COLOR_RED?"),
    '{"int32Value":1.5}': ("int32Value: expected a whole number (int32)", None),
    '{"int32Value":"x"}': ("int32Value: expected a number (int32)", None),
    '{"int32Value":99999999999}': ("int32Value: number out of range for int32", None),
    '{"boolValue":"yes"}': ("boolValue: expected true or false", None),
    '{"bytesValue":"a b"}': ("bytesValue: not base64", '"YSBi" is the base64 of this text; --set-file bytesValue=FILE'),
    '{"timestamp":"today"}': ("timestamp: not a timestamp such as 2024-05-01T12:00:00Z", None),
    '{"timestamp":1700000000}': ('timestamp: expected a timestamp such as "2024-05-01T12:00:00Z"', None),
    '{"duration":60}': ('duration: expected a duration such as "1.5s"', None),
    '{"duration":"1m"}': ("duration: not a duration such as 1.5s", None),
    '{"fieldMask":["a"]}': ('fieldMask: expected a field mask such as "user.displayName,photo", a string with commas', None),
    '{"any":{"name":"x"}}': ('any: an Any requires "@type"', None),
    '{"any":{"@type":"demo.v1.HelloReqest"}}': ("any.@type: the schema does not define the type demo.v1.HelloReqest", "did you mean demo.v1.HelloRequest"),
    '{"nested":"x"}': ("nested: expected an object (demo.v1.AllTypes.Nested)", None),
    '{"nested":[]}': ("nested: expected an object (demo.v1.AllTypes.Nested)", None),
    '{"strings":"x"}': ("strings: expected a list", None),
    '{"boolValue":true': ("unexpected end of the JSON", None),
    '{"boolValue":true}}': ("expected a JSON value", None),
    '{"boolValue":true "x":1}': ('expected "," or "}"', None),
}


@pytest.mark.parametrize(("data", "outcome"), DATA_MISTAKES.items(), ids=DATA_MISTAKES)
def test_mistakes_in_data(demo, data, outcome):
    error, hint = outcome
    result = demo("-d", data, "http://127.0.0.1:1", "Echo").exits(4)
    says(result, f"-d: {error} (line 1, column ", hint)
    excerpt = result.err.splitlines()[1]
    assert excerpt == f"  {data}" or "…" in excerpt


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["--set", "nme=Ada"], "--set nme: demo.v1.HelloRequest has no field nme", "did you mean name?"),
        (["--set", "name"], "--set name: not of the form PATH=VALUE", None),
        (["--filter", ".mesage"], "--filter .mesage: demo.v1.HelloReply has no field mesage", "did you mean message?"),
        (["--filter", "message[0]"], "--filter message[0]: message is neither a list nor a map", None),
        (["--filter", ".message | length"], '--filter .message | length: expected "." or "["', "use a path such as user.addresses[0].city"),
        (["-H", "x y: z"], '-H: "x y" is not a header name', None),
        (["-H", "nocolon"], "-H: missing colon in the header", "write -H 'NAME: VALUE'"),
        (["-H", ":path: x"], '-H: ":path" is a part of HTTP, not a header', "the target, the method and --authority set these parts"),
        (["-m", "abc"], "-m abc: not a valid duration", "write seconds, or a unit: 1.5, 500ms, 2m"),
        (["-m", "5x"], "-m 5x: not a valid duration", "write seconds, or a unit"),
        (["-m", "-1"], "-m -1: not a valid duration", "write seconds, or a unit"),
        (["--max-msg-sz", "big"], "--max-msg-sz big: not a valid number of bytes", "write a number, or a unit: 65536, 512k, 64m"),
        (["--protocol", "rest"], "--protocol rest: not one of grpc, grpc-web, connect", 'see "rpcurl call --help"'),
        (["--codec", "xml"], "--codec xml: not one of proto, json", 'see "rpcurl call --help"'),
        (["--reflect-version", "v2"], "--reflect-version v2: not one of v1, v1alpha", "did you mean v1?"),
        (["-d", "@none.json"], "none.json: No such file or directory", None),
        (["-d", ""], "-d: the data is empty", "omit -d to send an empty message, or use {}"),
        (["--connect-get"], "--connect-get: grpc has no GET requests", "add --protocol connect"),
        (["--limit", "0"], "--limit: must be at least 1", None),
        (["--jobs", "2"], "--jobs: there is only one call", "add --each to make one call per message"),
        (["--chunk", "4k"], "--chunk: requires one --set-file PATH=FILE", None),
        (["--bearer", "@none"], "--bearer @none: No such file or directory", "text that begins with @ is written @@none"),
        (["--bearer", "env:NONE_X"], "--bearer env:NONE_X: the environment variable is not set", "export NONE_X=VALUE"),
        (["--profile", "prod"], "--profile prod: ", "write [profile prod] and its options into it"),
        (["--connect-timeout", "0"], "--connect-timeout 0: a duration is above 0", "omit --connect-timeout for its default"),
        (["--http1.1"], "--http1.1: gRPC needs HTTP/2", "use --protocol grpc-web or --protocol connect"),
        (["--plugin", "none.so"], "plugin none.so: not found in ", "give the path with a slash, as in ./NAME.so"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_in_values_of_options(demo, words, error, hint):
    result = demo(*words, "http://127.0.0.1:1", HELLO)
    assert result.code in (2, 3, 4, 7)
    says(result, error, hint)


# Command lines of the documentation of other programs. A call that greets, or the hint of the error.
HABITS = {
    "grpcurl": {
        "-plaintext -d DATA SERVER demo.v1.Demo.Hello": None,
        "-plaintext -allow-unknown-fields -d DATA SERVER METHOD": None,
        "-plaintext -keepalive-time 10 -d DATA SERVER METHOD": None,
        "-plaintext -servername x -d DATA SERVER METHOD": None,
        "-plaintext -H x-a:b -rpc-header c:d -reflect-header e:f -d DATA SERVER METHOD": None,
        "-format-error -d DATA SERVER METHOD": "use --error-format json",
        "-proto-out-dir out SERVER describe demo.v1.Demo": 'use "rpcurl export TARGET [SYMBOL] --proto-dir DIR"',
        "-protoset-out out.bin SERVER list": 'use "rpcurl export TARGET [SYMBOL] -o FILE"',
        "-msg-template SERVER describe demo.v1.HelloRequest": 'use "rpcurl template TARGET METHOD|TYPE"',
        "-expand-headers SERVER METHOD": "use --expand, and write ${env.NAME} for a variable of the environment",
        "-unix /tmp/none.sock list": "write the target as unix:PATH",
        "-alts SERVER list": "ALTS is not available",
    },
    "buf curl": {
        "--protocol grpc --http2-prior-knowledge -d DATA http://SERVER/METHOD": None,
        "--reflect-protocol grpc-v1 -d DATA http://SERVER/METHOD": None,
        "--emit-defaults -d DATA http://SERVER/METHOD": None,
        "--netrc -d DATA http://SERVER/METHOD": None,
        "--user-agent x --header a:b -d DATA http://SERVER/METHOD": None,
        "--http2-prior-knowledge --list-methods http://SERVER": 'use "rpcurl list --kind method"',
        "--list-services http://SERVER": 'use "rpcurl list"',
        "--schema demo.binpb -d DATA http://SERVER/METHOD": "use --descriptor-set FILE for an image of buf build, or --proto FILE for sources",
        "curl -d DATA http://SERVER/METHOD": "omit curl: ",
    },
    "curl": {
        "-sS -d DATA http://SERVER/METHOD": None,
        "-u ada:secret -d DATA http://SERVER/METHOD": None,
        "-k -d DATA http://SERVER/METHOD": None,
        "--http2 -d DATA http://SERVER/METHOD": None,
        "--resolve a:1:127.0.0.1 -d DATA http://SERVER/METHOD": None,
        "--connect-timeout 5 --max-time 10 -A agent -d DATA http://SERVER/METHOD": None,
        "--json DATA http://SERVER/METHOD": None,
        "--data-binary DATA http://SERVER/METHOD": None,
        "-X POST -d DATA http://SERVER/METHOD": "omit it: the protocol determines the method; --connect-get uses GET",
        "-f -d DATA http://SERVER/METHOD": "use -d @FILE for data; a failed call has an exit code of its own, without an option",
        "-L -d DATA http://SERVER/METHOD": "omit it: redirects are errors",
        "-b a=b -d DATA http://SERVER/METHOD": "use -H 'cookie: NAME=VALUE'",
        "-e http://x -d DATA http://SERVER/METHOD": "the configuration is a text file, see rpcurl-config(5); -H 'referer: URL'",
        "--compressed -d DATA http://SERVER/METHOD": "omit it: all available compressions are accepted",
        "-w %{http_code} -d DATA http://SERVER/METHOD": "use --timing, or --format events",
        "-F a=b http://SERVER/METHOD": "use -d @FILE for the message",
        "-G http://SERVER/METHOD": "use --connect-get",
        "-T request.json http://SERVER/METHOD": "use -d @FILE for the message",
        "--data-urlencode a=b http://SERVER/METHOD": "use -d JSON",
        "--url http://SERVER/METHOD": "the target is an argument: rpcurl TARGET METHOD",
        "--retry 3 http://SERVER/METHOD": "use --use retry,attempts=N",
        "--fail-with-body http://SERVER/METHOD": "omit it: a failed call has an exit code of its own",
        "-D headers.txt http://SERVER/METHOD": "-v shows the headers on standard error",
        "--trace - http://SERVER/METHOD": "use -vv",
        "-N http://SERVER/METHOD": "omit it: each message is printed when it arrives",
        "--parallel http://SERVER/METHOD": "use --each --jobs NUMBER",
    },
    "evans": {
        "-r repl": "omit it: reflection is used if no file is named",
        "repl": "did you mean session?",
        "--host localhost --port 50051 -r repl": "the target is an argument: HOST:PORT",
        "-p 50051 repl": "the target is an argument: HOST:PORT",
        "--package demo.v1 --service Demo": "any unique suffix of a method's name is accepted",
        "call --file request.json Hello": "use -d @FILE for data",
        "--header a=b --web": "use --protocol grpc-web",
        "evans repl": "omit evans: ",
    },
    "k6, ghz, wrk and hey": {
        "load --vus 10 --duration 30s": "use --jobs NUMBER",
        "load --rps 10 SERVER METHOD": "use --rate CALLS",
        "load -n 10 -c 2 SERVER METHOD": "use --jobs NUMBER",
        "load -z 5s SERVER METHOD": "use --duration DURATION",
        "--insecure --proto a.proto --call demo.v1.Demo.Hello localhost:1": "the method is the last argument",
    },
    "hurl": {"hurl --test a.hurl": 'see "rpcurl call --help"'},
}


@pytest.mark.parametrize(
    ("line", "hint"), [pytest.param(*row, id=f"{tool}: {row[0]}") for tool, rows in HABITS.items() for row in rows.items()]
)
def test_habits(rpcurl, grpc_server, line, hint):
    values = {"DATA": ADA, "METHOD": HELLO}
    words = [values.get(word, word).replace("SERVER", grpc_server.address).replace("METHOD", HELLO) for word in line.split()]
    result = rpcurl(*words)
    if hint is None:
        greets(result)
    else:
        assert result.exits(2, "").err.splitlines()[-1].startswith(f"hint: {hint}")


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (["--use", "record=c.rec"], "did you mean record,file=…?"),
        (["--use", "retry:attempts=3"], "did you mean retry,attempts=…?"),
        (["--use", "retries"], "did you mean retry?"),
        (["--use", "nonsense"], "built-in: "),
        (["--use", "lgo"], "did you mean log?"),
        (["--use", "retry,attempt=3"], "did you mean attempts?"),
        (["--use", "retry,nonsense=3"], "valid keys: attempts=N, "),
        (["--use", "assert,check=latency < 100"], "write 100ms or 100s"),
        (["--use", "assert,check=message == x"], "a path starts with a full stop: .message == x"),
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


@pytest.mark.parametrize(
    ("command", "name"), [([], ["Nonsense"]), ([], []), (["list"], ["Nonsense"]), (["describe"], ["Nonsense"]), (["template"], [])]
)
def test_hints_have_the_options_of_the_server(rpcurl, grpc_tls_server, certificates, command, name):
    """The command of a hint works."""
    options = ["--cacert", certificates / "ca.pem", "-H", "x-a: b c"]
    result = rpcurl(*command, *options, grpc_tls_server.address, *name)
    assert result.code in (2, 3), result
    suggested = shlex.split(result.err.rpartition('"rpcurl ')[2].partition('"')[0])
    assert suggested[0] == "list" and "x-a: b c" in suggested
    rpcurl(*suggested).succeeds().prints(SERVICE)


def test_hints_name_the_socket(rpcurl, tmp_path):
    words = ["--unix-socket", tmp_path / "s", "http://localhost"]
    rpcurl(*words).exits(2).reports(f'"rpcurl list --unix-socket {tmp_path}/s http://localhost"')
    hint = rpcurl(f"unix:{tmp_path}/s").exits(2).err.splitlines()[-1]
    assert hint == f'hint: add it after the target; "rpcurl list unix:{tmp_path}/s" lists the services'


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
