"""Interceptors, built in and from plugins, around real calls."""


import pytest

from harness import ROOT, Caller, build_plugin, write

STAMP = ROOT / ".build" / "plugins" / "stamp.so"
HELLO = "demo.v1.Demo/Hello"
ECHO = "demo.v1.Demo/EchoMetadata"


@pytest.fixture(params=["grpc", "connect"])
def call(request, demo):
    return Caller(demo, request.getfixturevalue(f"{request.param}_server"), protocol=request.param)


def headers(result, prefix="x-test"):
    """The headers that the server received whose name starts with `prefix`, in order."""
    assert (result.code, result.err) == (0, "")
    fields = [(h["name"], h.get("value", "")) for h in result.json()["headers"]]
    return [(name, one.strip()) for name, value in fields if name.startswith(prefix) for one in value.split(",")]


# Built in


def test_header_sets_adds_and_removes(call):
    result = call(
        ECHO, "-H", "x-test-a: 1", "-H", "x-test-b: 2", "--use",
        "header,set=x-test-a:one,add=x-test-c:3,add=x-test-c:4,remove=x-test-b", data={},
    )  # fmt: skip
    assert sorted(headers(result)) == [("x-test-a", "one"), ("x-test-c", "3"), ("x-test-c", "4")]


def test_values_come_from_the_environment_and_from_files(call, tmp_path):
    file = write(tmp_path / "value", "x-test-f:from file\n")
    result = call(
        ECHO, "--use", f"header,set=env:HEADER,set=@{file},set=x-test-comma:a,,b", env={"HEADER": "x-test-e:from env"}, data={}
    )
    assert sorted(headers(result)) == [
        ("x-test-comma", "a"), ("x-test-comma", "b"), ("x-test-e", "from env"), ("x-test-f", "from file"),
    ]  # fmt: skip


def test_interceptors_act_in_the_order_written(call):
    stamp = ["--plugin", f"{STAMP},header=x-test:plugin"]
    use = ["--use", "header,set=x-test:use"]
    assert headers(call(ECHO, *stamp, *use, data={})) == [("x-test", "use")]
    assert headers(call(ECHO, *use, *stamp, data={})) == [("x-test", "plugin")]


def test_priority_reorders_and_methods_restrict(call):
    first, second = "header,set=x-test:first", "header,set=x-test:second"
    assert headers(call(ECHO, "--use", first, "--use", second, data={})) == [("x-test", "second")]
    assert headers(call(ECHO, "--use", first, "--use", f"{second},priority=1", data={})) == [("x-test", "first")]
    scoped = f"{second},methods=demo.v1.Demo/Hello"
    assert headers(call(ECHO, "--use", first, "--use", scoped, data={})) == [("x-test", "first")]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nosuch", ["nosuch", "header"]),
        ("header,set=x", ["header: set", "NAME:VALUE"]),
        ("header,colour=red", ["header: colour", "unknown key"]),
        ("header,set", ["header", "KEY=VALUE"]),
        ("header,priority=high", ["priority", "whole number"]),
        ("header,methods=a/b/c", ["methods", "pkg.Service/*"]),
        ("header,set=content-length:5", ["header: set", "content-length"]),
        ("header,set=authorization:Bearer abc,def", ["header", "setting 2", "KEY='a,b'"]),
        ("header,set=env:NO_SUCH_VARIABLE", ["set", "NO_SUCH_VARIABLE"]),
        ("header,set=@/no/such/file", ["set", "/no/such/file"]),
    ],
)
def test_wrong_configuration_names_the_key(demo, spec, words):
    result = demo("--plaintext", "--use", spec, "localhost:1", HELLO).exits(7, "")
    assert result.err.startswith("rpcurl: ")
    assert all(word in result.err for word in words), result.err


def test_a_mistake_is_reported_before_a_server_is_contacted(rpcurl, raw_server):
    requested = []
    server = raw_server(lambda connection: requested.append(connection.recv(1)))
    assert (rpcurl("--use", "no-such-one", f"http://{server.address}/{HELLO}").code, requested) == (7, [])


def test_values_are_never_repeated_in_errors(rpcurl, descriptor_set):
    for spec in ["header,set=env:T", "header,remove=env:T", "header,methods=env:T", "header,priority=env:T", "header,x=env:T"]:
        options = ["--descriptor-set", descriptor_set, "--plaintext", "--use", spec]
        result = rpcurl(*options, "localhost:1", HELLO, env={"T": "top secret"})
        assert result.code == 7 and "top secret" not in result.err


# Plugins


def test_plugin_adds_a_header_and_changes_request_and_response(call):
    plugin = f"{STAMP},header=x-test:1,request-field=name,request-suffix= Lovelace,response-field=message,response-prefix=-> "
    result = call(HELLO, "--plugin", plugin, "-v", data={"name": "Ada"}).exits(0)
    assert result.json() == {"message": "-> Hello, Ada Lovelace!", "name": "Ada Lovelace"}
    assert "> x-test: 1\n" in result.err


def test_plugin_is_found_by_its_name(call):
    directory = str(STAMP.parent)
    result = call(ECHO, "--plugin", "stamp,header=x-test:1", env={"RPCURL_PLUGIN_PATH": directory}, data={})
    assert headers(result) == [("x-test", "1")]
    # The working directory is never searched.
    assert call(ECHO, "--plugin", "stamp", env={"RPCURL_PLUGIN_PATH": "."}, data={}).code == 7


def test_unknown_field_fails_the_call_before_it_is_sent(demo, raw_server):
    server = raw_server(lambda connection: None)
    result = demo("--plugin", f"{STAMP},request-field=nam", f"http://{server.address}/{HELLO}")
    assert result.code > 64
    assert "stamp" in result.err and "nam" in result.err
    assert server.connections == 0


def load(rpcurl, descriptor_set, plugin):
    return rpcurl("--descriptor-set", descriptor_set, "--plaintext", "--plugin", plugin, "localhost:1", HELLO)


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("/no/such/plugin.so", ["/no/such/plugin.so", "no such file"]),
        ("nosuchplugin", ["nosuchplugin", "not found", "RPCURL_PLUGIN_PATH"]),
        ("/etc/passwd", ["/etc/passwd", "not a shared object"]),
        ("/", ["plugin /", "not a file"]),
        ("/bin/true", ["/bin/true"]),
    ],
)
def test_files_that_are_not_plugins(rpcurl, descriptor_set, plugin, words):
    result = load(rpcurl, descriptor_set, plugin).exits(7, "")
    assert result.err.startswith("rpcurl: plugin ")
    assert all(word in result.err for word in words), result.err


def test_library_without_the_version_note(rpcurl, descriptor_set, tmp_path):
    load(rpcurl, descriptor_set, build_plugin(write(tmp_path / "plugin.c", "int nothing;\n"), tmp_path / "plugin.so")).exits(7, "").reports("not an rpcurl plugin")


def test_plugin_without_the_entry_symbol(rpcurl, descriptor_set, tmp_path):
    source = '#include <rpcurl/plugin.h>\nRPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, 0)\n'
    load(rpcurl, descriptor_set, build_plugin(write(tmp_path / "plugin.c", source), tmp_path / "plugin.so")).exits(7, "").reports("missing symbol rpcurl_plugin_entry")


def test_plugin_of_another_abi_version_is_refused_before_it_runs(rpcurl, descriptor_set, tmp_path):
    source = (
        "#include <rpcurl/plugin.h>\n#include <stdio.h>\nRPCURL_NOTE_(7, 3, 0)\n"
        '__attribute__((constructor)) static void run(void) { puts("I run"); }\n'
        "const rpcurl_plugin *rpcurl_plugin_entry(void) { return 0; }\n"
    )
    load(rpcurl, descriptor_set, build_plugin(write(tmp_path / "plugin.c", source), tmp_path / "plugin.so")).exits(7, "").reports("version 7.3", "this rpcurl has 1.")


def test_plugin_that_others_can_write_is_refused(rpcurl, descriptor_set, tmp_path):
    plugin = write(tmp_path / "stamp.so", STAMP.read_bytes())
    plugin.chmod(0o666)
    load(rpcurl, descriptor_set, plugin).exits(7).reports("chmod go-w")
    plugin.chmod(0o644)
    tmp_path.chmod(0o777)
    load(rpcurl, descriptor_set, plugin).exits(7).reports(f"the directory {tmp_path}")
    tmp_path.chmod(0o755)
    assert load(rpcurl, descriptor_set, plugin).code == 5
