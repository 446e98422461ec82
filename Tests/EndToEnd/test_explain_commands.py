"""--explain --format sh|curl|grpcurl|buf: the call as a shell command, which makes the same call."""

import json
import os
import subprocess

import pytest
from harness import ROOT, RPCURL, VENV, write
from google.protobuf.json_format import MessageToDict

import demo_pb2

SERVICE = "demo.v1.Demo"


@pytest.fixture
def run(rpcurl, tmp_path):
    """`run(script, **environment)` runs a printed script in a shell, in which rpcurl is the one under test."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "rpcurl").symlink_to(RPCURL.resolve())

    def run(script, input=b"", **environment):
        path = {"PATH": f"{programs}:{os.environ['PATH']}"}
        file = write(tmp_path / "script", script)
        return subprocess.run(
            ["sh", "-e", file], input=input, capture_output=True, timeout=60, cwd=rpcurl.home,
            env=rpcurl.environment(path | environment),
        )  # fmt: skip

    return run


@pytest.fixture
def printed(rpcurl):
    """`printed(format, *words)` is the script for a call."""

    def printed(format, *words, **options):
        return rpcurl("--explain", "--format", format, *words, **options).succeeds().out

    return printed


def frames(data):
    """The messages of a framed response, with their flags."""
    while data:
        length = int.from_bytes(data[1:5], "big")
        yield data[0], data[5 : 5 + length]
        data = data[5 + length :]


# rpcurl


def test_the_command_of_rpcurl_makes_the_same_call(rpcurl, run, printed, grpc_server, descriptor_set):
    config = rpcurl.home / ".config" / "rpcurl"
    config.mkdir(parents=True)
    (config / "config").write_text(
        f"target {grpc_server.url}\n--header x-common: it's\n--emit-defaults\n[profile p]\n--header x-own: 1\n--max-time 60\n"
    )
    words = ["--profile", "p", "-H", "x-api-key: geheim", "-u", "ada:geheim", "-H", "x-odd: $HOME `id` \"\\",
             "--use", "header,set=x-chain:1", "--descriptor-set", descriptor_set, f"{SERVICE}/EchoMetadata"]  # fmt: skip
    script = printed("sh", *words)
    assert "geheim" not in script
    assert f"{grpc_server.url} \\\n  {SERVICE}/EchoMetadata\n" in script
    called = rpcurl(*words)
    again = run(script, X_API_KEY="geheim", RPCURL_USER="ada:geheim")
    assert (called.code, called.err, again.returncode, again.stderr) == (0, "", 0, b"")

    def headers(output):
        return sorted((h["name"], h["value"]) for h in json.loads(output)["headers"] if h["name"] != "grpc-timeout")

    assert headers(called.out) == headers(again.stdout)
    assert ("x-odd", "$HOME `id` \"\\") in headers(called.out)
    # The configuration file of the user applies once, whatever it contains.
    assert [value for name, value in headers(again.stdout) if name == "x-common"] == ["it's"]


def test_standard_input_is_that_of_the_script(run, printed, grpc_server, descriptor_set):
    script = printed("sh", "--descriptor-set", descriptor_set, f"{grpc_server.url}/{SERVICE}/Sum")
    done = run(script, input=b'{"value":1}{"value":2}')
    assert json.loads(done.stdout) == {"total": "3", "count": 2}


# curl


@pytest.mark.parametrize("options", [[], ["--connect-get"], ["--codec", "json"], ["--http2"], ["--set", "name=Eve's"], ["--data-format", "text"]])
def test_curl_makes_unary_calls_of_connect(rpcurl, run, printed, connect_server, descriptor_set, options):
    data = 'name: "Ada"' if "text" in options else '{"name":"Ada"}'
    words = ["--protocol", "connect", "--descriptor-set", descriptor_set, *options, "-d", data,
             f"{connect_server.url}/{SERVICE}/Hello"]  # fmt: skip
    done = run(printed("curl", *words))
    assert (done.returncode, json.loads(done.stdout)) == (0, rpcurl(*words).json())


def test_curl_makes_calls_over_tls(rpcurl, run, printed, connect_tls_server, descriptor_set):
    port = connect_tls_server.port
    words = ["--protocol", "connect", "--descriptor-set", descriptor_set, "--cacert", connect_tls_server.ca, "--servername", "localhost",
             "--bearer", "geheim", "-m", "30", "-A", "me", f"https://127.0.0.1:{port}/{SERVICE}/EchoMetadata"]  # fmt: skip
    done = run(printed("curl", *words), RPCURL_BEARER="geheim")
    assert done.returncode == 0, done.stderr
    headers = {h["name"]: h["value"] for h in json.loads(done.stdout)["headers"]}
    called = {h["name"]: h["value"] for h in rpcurl(*words).json()["headers"]}
    for name in ["authorization", "user-agent", "connect-protocol-version"]:
        assert headers[name] == called[name]
    assert headers["connect-timeout-ms"] == "30000"


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web"])
@pytest.mark.parametrize("size", [3, 100_000])
def test_curl_sends_prepared_bodies(run, printed, connect_server, grpc_server, descriptor_set, protocol, size):
    """A short body is an argument of printf, and a long one base64."""
    server = grpc_server if protocol == "grpc" else connect_server
    name = "A%\\'" * size
    script = printed("curl", "--protocol", protocol, "--descriptor-set", descriptor_set, "-d", "@-",
                     f"{server.url}/{SERVICE}/Hello", input=json.dumps({"name": name}))  # fmt: skip
    assert ("base64" in script) == (size > 1000)
    done = run(script)
    assert done.returncode == 0, done.stderr
    message = next(frames(done.stdout))[1]
    assert demo_pb2.HelloReply.FromString(message).name == name


@pytest.mark.parametrize("options", [[], ["--compression", "gzip"]])
def test_curl_sends_streams(run, printed, grpc_server, connect_server, descriptor_set, options):
    words = ["--descriptor-set", descriptor_set, *options, "-d", '{"value":1}{"value":2}']
    done = run(printed("curl", *words, f"{grpc_server.url}/{SERVICE}/Sum"))
    ((_, message),) = frames(done.stdout)
    assert MessageToDict(demo_pb2.SumReply.FromString(message)) == {"total": "3", "count": 2}
    done = run(printed("curl", "--protocol", "connect", *words, f"{connect_server.url}/{SERVICE}/Sum"))
    (_, message), _end = frames(done.stdout)
    assert json.loads(message) == {"total": "3", "count": 2}


@pytest.mark.parametrize("name", [f"{SERVICE}/Hello", "Hello"])
def test_the_cached_schema_is_used(rpcurl, run, printed, grpc_server, name):
    words = ["-d", '{"name":"A"}', f"{grpc_server.url}/{SERVICE}/Hello"]
    rpcurl("--explain", "--format", "curl", *words).exits(3, "").reports("make the call once")
    # The call by a short name stores the schema of all services.
    assert rpcurl(*words[:2], grpc_server.url, name).code == 0
    assert run(printed("curl", *words)).returncode == 0


# Sources


@pytest.fixture
def sources(rpcurl):
    """The sources of the server in the working directory: the services import a file, after which a package has a directory."""
    folder = rpcurl.home / "protos" / "demo" / "v1"
    folder.mkdir(parents=True)
    (folder / "empty.proto").write_text('syntax = "proto3"; package demo.v1; message Nothing {}\n')
    text = (ROOT / "Tests/Servers/demo.proto").read_text()
    (folder / "demo.proto").write_text(text.replace("package demo.v1;", 'package demo.v1;\nimport "demo/v1/empty.proto";'))
    return rpcurl.home


FORMS = [
    ["--proto", "protos/demo/v1/demo.proto"],
    ["--proto", "protos"],
    ["--proto", "protos/**/*.proto"],
    ["--proto", "demo/v1/demo.proto", "-I", "protos"],
    ["--proto", "demo/v1/demo.proto", "-I", "demo=protos/demo"],
]


@pytest.mark.parametrize("words", FORMS, ids=" ".join)
def test_buf_reads_the_sources(run, printed, grpc_server, sources, words):
    script = printed("buf", *words, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{SERVICE}/Hello")
    first = next((line.removeprefix("# First run: ") for line in script.splitlines() if "First run" in line), "true")
    assert ("=" in first) == ("demo=protos/demo" in words)
    done = run(f"{first}\nPATH={VENV}/bin:$PATH\n{script}")
    assert (done.returncode, json.loads(done.stdout or "{}").get("message")) == (0, "Hello, Ada!"), done.stderr


@pytest.mark.parametrize("words", FORMS, ids=" ".join)
def test_grpcurl_and_k6_read_the_sources(rpcurl, run, printed, sources, words):
    """They search imports as protoc does."""
    words = [*words, "--plaintext", "-d", '{"name":"Ada"}', "localhost:1", f"{SERVICE}/Hello"]
    script = printed("grpcurl", *words)
    given = run(f"grpcurl() {{ printf '%s\\n' \"$@\"; }}\n{script}").stdout.decode().split("\n")
    load = rpcurl("load", "--export", "k6", *words).succeeds().out
    if "demo=protos/demo" in words:
        command = "rpcurl export --proto demo/v1/demo.proto -I demo=protos/demo -o schema.binpb"
        assert f"# First run: {command}\n" in script and f"// First run: {command}\n" in load
        assert given[:2] == ["-protoset", "schema.binpb"] and 'client.loadProtoset("schema.binpb");' in load
        return
    options = dict(zip(given[:4:2], given[1:4:2]))
    assert options == {"-import-path": "protos", "-proto": "demo/v1/demo.proto"}
    assert 'client.load(["protos"], "demo/v1/demo.proto");' in load
    protoc = [VENV / "bin/python", "-m", "grpc_tools.protoc", "-I", options["-import-path"], "-o", os.devnull]
    assert subprocess.run([*protoc, options["-proto"]], cwd=sources).returncode == 0


# All of them


@pytest.mark.parametrize("format", ["sh", "curl", "grpcurl", "buf"])
def test_nothing_is_sent(rpcurl, raw_server, descriptor_set, format):
    server = raw_server(lambda connection: None)
    url = f"http://{server.address}/{SERVICE}/Hello"
    assert rpcurl("--explain", "--format", format, "--descriptor-set", descriptor_set, "-d", "{}", url).code == 0
    assert server.connections == 0


@pytest.mark.parametrize("format", ["sh", "curl", "grpcurl", "buf"])
def test_the_command_controls_no_terminal(run, printed, descriptor_set, format):
    name = "\x1b[2J\x9b\u202e'$(id)"
    script = printed(format, "--descriptor-set", descriptor_set, "--allow-unknown-fields", "-d", json.dumps({"name": name}, ensure_ascii=False),
                     f"http://localhost:1/{SERVICE}/Hello")  # fmt: skip
    assert not set("\x1b\x9b\u202e") & set(script)
    if format == "grpcurl":
        words = run(f"grpcurl() {{ printf '%s\\n' \"$@\"; }}\n{script}").stdout.decode().split("\n")
        assert json.loads(words[words.index("-d") + 1]) == {"name": name}


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["--format", "sh"], 2, "rpcurl: --format sh: requires --explain"),
        (["--explain", "--format", "grpcurl", "--protocol", "connect"], 2, "rpcurl: --explain --format grpcurl: grpcurl has only gRPC"),
        (["--explain", "--format", "buf", "--each"], 2, "rpcurl: --explain --format buf: a command of buf curl makes one call"),
        (["--explain", "--format", "curl", "-d", "{"], 4, "rpcurl: -d: "),
    ],
)  # fmt: skip
def test_what_is_not_possible_is_an_error(rpcurl, descriptor_set, words, code, error):
    result = rpcurl(*words, "--descriptor-set", descriptor_set, f"http://localhost:1/{SERVICE}/Hello").exits(code, "")
    assert result.err.startswith(error)


def test_sessions_have_no_such_format(rpcurl):
    rpcurl("session", "http://localhost:1", input="format curl\n").reports("requires --explain")
