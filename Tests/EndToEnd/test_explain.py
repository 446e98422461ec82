"""--explain prints what a call would be, and sends nothing."""

import os
import threading

import pytest
from harness import ROOT, build_plugin, write

SERVICE = "demo.v1.Demo"


@pytest.fixture
def server(raw_server):
    """A server to which no client may connect."""
    server = raw_server(lambda connection: None)
    yield server
    assert server.connections == 0


def test_text(rpcurl, server, descriptor_set):
    result = rpcurl(
        "--explain", "--descriptor-set", descriptor_set, "-H", "Authorization: Bearer secret", "-H", "x-a: b",
        "--max-time", "1500ms", "--use", "header,set=authorization:y", "-d", '{"from": 1}', "-d", "@/no/such/file", "--use", "header,set=a:b,priority=5",
        "--use", "header,set=c:d,methods=other.Service/*", f"http://{server.address}/{SERVICE}/Count",
    ).succeeds()  # fmt: skip
    assert result.out == f"""\
call         demo.v1.Demo/Count (server_streaming)
target       http://{server.address}
url          http://{server.address}/demo.v1.Demo/Count
http method  POST
protocol     grpc
codec        proto
http         2
schema       descriptor set {descriptor_set}
compression  identity
deadline     1.5 seconds after the start
header       authorization: Bearer [redacted]
header       x-a: b
data         {{"from": 1}}
data         @/no/such/file
chain        1. header (built in): set=a:b,priority=5
                  scope: all calls
                  stages: request_start (changes headers)
                  place: priority=5
             2. header (built in): set=[redacted]
                  scope: all calls
                  stages: request_start (changes headers)
                  place: as given
not for it   header (built in): set=c:d,methods=other.Service/*
                  scope: methods other.Service/*, not met: methods
"""


def test_json(rpcurl, server, descriptor_set):
    plan = rpcurl(
            "--explain", "--format", "json", "--protocol", "connect", "--codec", "json", "--compression", "gzip",
            "--max-time", "2", "--bearer", "t", "--show-secrets", "--descriptor-set", descriptor_set,
            "--use", "header,set=a:b", f"http://{server.address}/prefix/{SERVICE}/Hello",
        ).succeeds().json()  # fmt: skip
    assert plan == {
        "method": "demo.v1.Demo/Hello",
        "kind": "unary",
        "target": f"http://{server.address}/prefix",
        "url": f"http://{server.address}/prefix/demo.v1.Demo/Hello",
        "http_method": "POST",
        "protocol": "connect",
        "codec": "json",
        "http_version": "1.1",
        "schema": f"descriptor set {descriptor_set}",
        "compression": "gzip",
        "timeout_ms": 2000,
        "headers": [["authorization", "Bearer t"]],
        "data": [],
        "interceptors": [
            {
                "name": "header", "kind": "built-in", "priority": 0, "methods": "*", "settings": "set=a:b", "defaults": [],
                "scope": "all calls", "stages": ["request_start"], "effects": ["changes headers"], "place": "as given",
                "used": True,
            }
        ],
        "warnings": [],
    }


def test_the_kind_of_the_method_selects_the_http_version(rpcurl, server, descriptor_set):
    words = ["--explain", "--format", "json", "--protocol", "connect", "--descriptor-set", descriptor_set]
    chat = rpcurl(*words, f"http://{server.address}/{SERVICE}/Chat").succeeds().json()
    assert (chat["kind"], chat["http_version"]) == ("bidi_streaming", "2")
    tls = rpcurl(*words, f"https://{server.address}/{SERVICE}/Hello").succeeds().json()
    assert tls["http_version"] == "2 or 1.1, as negotiated"


def test_no_reflection_is_made(rpcurl, server):
    words = ["--explain", "--format", "json", f"http://{server.address}/{SERVICE}/Hello"]
    plan = rpcurl(*words).succeeds().json()
    assert (plan["kind"], plan["schema"], plan["http_version"]) == (None, "reflection, when the call is made", "2")
    plan = rpcurl("--protocol", "connect", *words).succeeds().json()
    assert plan["http_version"] == "1.1, or 2 for a bidi method"


def test_the_cached_schema_is_used(rpcurl, grpc_server):
    words = ["--format", "json", "-d", '{"name":"A"}', f"{grpc_server.url}/{SERVICE}/Hello"]
    assert rpcurl(*words).code == 0
    plan = rpcurl("--explain", *words).succeeds().json()
    assert (plan["kind"], plan["schema"]) == ("unary", "reflection, from the cache")


@pytest.fixture
def declaring(tmp_path):
    """`declaring(name, flags)` gives a plugin of that name which declares effects."""

    def build(name, flags):
        text = (ROOT / "Plugins/stamp/stamp.c").read_text().replace('.name = "stamp"', f'.flags = {flags}, .name = "{name}"')
        assert flags in text
        return build_plugin(write(tmp_path / f"{name}.c", text), tmp_path / f"{name}.so")

    return build


def test_plugins_that_may_change_the_request_are_named(rpcurl, server, descriptor_set, declaring):
    router = declaring("router", "0")
    words = ["--explain", "--descriptor-set", descriptor_set, f"http://{server.address}/{SERVICE}/Hello"]
    uses = [
        f"--use=log,methods={SERVICE}/Count", "--use=metrics,attribute=tier", "--use=deadline,max=1s,header=x-a",
        f"--use=trace,methods={SERVICE}/Count,kinds=server_streaming",
    ]  # fmt: skip
    plan = rpcurl("--plugin", f"{router},priority=1", *uses, *words, "--format", "json").succeeds().json()
    unmet = {i["name"]: (i["unused_because"], i.get("unless_changed_by")) for i in plan["interceptors"] if not i["used"]}
    assert unmet == {
        "log": ("methods", ["router"]), "metrics": ("attribute", ["router"]), "deadline": ("header", None),
        "trace": ("methods", None),
    }  # fmt: skip
    text = rpcurl("--plugin", f"{router},priority=1", *uses, *words).out
    assert f"scope: methods {SERVICE}/Count, not met: methods, unless router changes it\n" in text
    # After the others it has no influence.
    plan = rpcurl("--plugin", f"{router},priority=-1", *uses, *words, "--format", "json").succeeds().json()
    assert not any("unless_changed_by" in i for i in plan["interceptors"])


SIGN = ("signer", "RPCURL_READS_HEADERS")
LOGIN = ("login", "RPCURL_CHANGES_HEADERS | RPCURL_AUTHENTICATES")
STORE = ("store", "RPCURL_RESPONDS | RPCURL_REUSES_RESPONSES")


@pytest.mark.parametrize(
    ("plugins", "warnings"),
    [
        ([SIGN, LOGIN], ["signer precedes login: login changes headers after signer has read them"]),
        ([LOGIN, SIGN], []),
        ([STORE, LOGIN], ["store precedes login: store responds before login adds credentials, so one caller may get the response to another"]),
        ([LOGIN, STORE], []),
        # Names have no meaning.
        ([("cache", "0"), ("oauth", "0"), ("sign", "0"), ("redact", "0"), ("log", "0")], []),
    ],
)  # fmt: skip
def test_declared_effects_cause_warnings(rpcurl, server, descriptor_set, declaring, plugins, warnings):
    options = [word for plugin in plugins for word in ("--plugin", f"{declaring(*plugin)},header=x-stamp:1")]
    words = ["--explain", "--descriptor-set", descriptor_set, *options, f"http://{server.address}/{SERVICE}/Hello"]
    plan = rpcurl(*words, "--format", "json").succeeds().json()
    assert [(i["name"], i["kind"]) for i in plan["interceptors"]] == [(name, "plugin") for name, _ in plugins]
    assert all("request_start" in i["stages"] for i in plan["interceptors"])
    assert plan["warnings"] == warnings
    text = rpcurl(*words).out
    assert [line.removeprefix("warning      ") for line in text.splitlines() if line.startswith("warning")] == warnings


@pytest.mark.parametrize(
    "use",
    [
        "log,file", "log,format=har,file", "record,file", "shadow,to=localhost:1,file", "trace,file", "assert,junit",
        "metrics,file",
    ],
)  # fmt: skip
def test_files_of_interceptors_are_unchanged(rpcurl, server, descriptor_set, tmp_path, use):
    file = tmp_path / "file"
    options = ["--descriptor-set", descriptor_set, "--use", f"{use}={file}"]
    words = ["--explain", *options, f"http://{server.address}/{SERVICE}/Hello"]
    rpcurl(*words).succeeds()
    assert list(tmp_path.iterdir()) == []
    file.write_text("before")
    rpcurl(*words).succeeds()
    assert file.read_text() == "before"


@pytest.mark.parametrize("use", ["log,file", "log,format=har,file", "record,file", "trace,file", "assert,junit"])
def test_file_that_cannot_be_written_is_an_error(rpcurl, server, descriptor_set, use):
    words = ["--descriptor-set", descriptor_set, "--use", f"{use}=/no/such/file", f"http://{server.address}/{SERVICE}/Hello"]
    explained, called = rpcurl("--explain", *words), rpcurl(*words, "-d", "{}")
    assert explained == called
    assert explained.code == 7 and "/no/such/file: No such file or directory" in explained.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--use", "nothing"], 7),
        (["-d", "{"], 4),
        (["--jobs", "2"], 2),
        (["--connect-get"], 2),
        (["--http1.1"], 2),
        (["-H", "nonsense"], 2),
    ],
)
def test_errors_are_the_same_as_those_of_the_call(rpcurl, server, descriptor_set, words, code):
    words = ["--descriptor-set", descriptor_set, *words, f"http://{server.address}/{SERVICE}/Hello"]
    explained, called = rpcurl("--explain", *words), rpcurl(*words)
    assert explained == called
    assert explained.code == code


def test_headers_and_tokens_may_come_from_a_pipe(rpcurl, grpc_server, tmp_path):
    """Each is read once, although reflection uses them too."""
    pipes = [tmp_path / "headers", tmp_path / "token"]
    for pipe, text in zip(pipes, ["x-from: pipe\n", "secret\n"]):
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
    result = rpcurl("-H", f"@{pipes[0]}", "--bearer", f"@{pipes[1]}", f"{grpc_server.url}/{SERVICE}/EchoMetadata").exits(0)
    headers = {h["name"]: h.get("value") for h in result.json()["headers"]}
    assert (headers["x-from"], headers["authorization"]) == ("pipe", "Bearer secret")


@pytest.mark.parametrize(("flags", "version"), [(["--http2", "--http1.1"], "1.1"), (["--http1.1", "--http2"], "2")])
def test_the_last_http_version_applies(rpcurl, descriptor_set, flags, version):
    plan = rpcurl("--explain", "--format", "json", "--descriptor-set", descriptor_set, "--protocol", "connect", *flags,
               f"http://localhost:1/{SERVICE}/Hello").succeeds().json()  # fmt: skip
    assert plan["http_version"] == version


def test_method_that_only_the_server_has(rpcurl):
    plan = rpcurl("--explain", "--format", "json", "--no-cache", "http://localhost:1", "Hello").json()
    assert (plan["method"], plan["url"]) == ("Hello", "http://localhost:1")
