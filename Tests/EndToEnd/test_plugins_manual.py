"""rpcurl-plugin(3): its plugins build and run, and it describes every function."""

import re
import shutil
import subprocess

import pytest

from harness import ROOT, QuietHandler, http_server

MANUAL = ROOT / "man" / "rpcurl-plugin.3"
HEADER = ROOT / "Sources" / "CPlugins" / "include" / "rpcurl" / "plugin.h"


def displays():
    """The literal displays of the page, as they are to be typed."""
    found = re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", MANUAL.read_text(), re.M | re.S)
    return [text.replace("\\e", "\\").replace("\\&", "") for text in found]


def members(structure):
    """The function pointers of a structure of the header."""
    body = re.search(rf"struct {structure} {{\n(.*?)\n}}", HEADER.read_text(), re.S)[1]
    return re.findall(r"\(\*(\w+)\)\(", body)


def test_plugin_of_the_manual_builds_and_runs(rpcurl, demo, grpc_server, tmp_path):
    source, commands = displays()[:2]
    (tmp_path / "tally.c").write_text(source)
    compiler = next(line for line in commands.splitlines() if line.startswith("cc "))
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{HEADER.parents[1]}"]
    subprocess.run([*compiler.split(), *flags], cwd=tmp_path, check=True)
    plugin = tmp_path / "tally.so"
    assert rpcurl("plugins", "check", plugin).code == 0
    demo(
        "--plugin", plugin, "-d", '{"from":1,"to":3}', "-v",
        f"{grpc_server.url}/demo.v1.Demo/Count",
    ).exits(0).reports("> x-counted: yes\n", "tally: 3 messages, status 0\n")  # fmt: skip


def built(rpcurl, folder, name):
    """The plugin of the page with a name, which passes its check."""
    source, again = (next(text for text in displays() if f'(.name = "{one}"' in text) for one in (name, "again"))
    # What is the same in several plugins is shown once.
    for function in ("close_call", "release_start", "needs", "open_call"):
        if re.search(rf"\b{function}\b", source) and not re.search(rf"^static .*\b{function}\(", source, re.M):
            shared = re.search(rf"^static [^\n]*\b{function}\((?:.|\n)*?^}}\n", again, re.M)[0]
            source = re.sub(r"^struct state {(?:.|\n)*?^};\n", lambda state: f"{state[0]}\n{shared}", source, count=1, flags=re.M)
    (folder / f"{name}.c").write_text(source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HEADER.parents[1]}"]
    subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c", *flags], cwd=folder, check=True)
    plugin = folder / f"{name}.so"
    rpcurl("plugins", "check", plugin).exits(0)
    return plugin


def test_refresh_of_the_manual_fetches_a_token_and_retries(rpcurl, demo, grpc_server, tmp_path):
    plugin = built(rpcurl, tmp_path, "refresh")

    class Handler(QuietHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/token" else 500)
            self.end_headers()
            self.wfile.write(b"secret")

    with http_server(Handler) as url:
        for path, code in [("token", 0), ("none", 64 + 16)]:
            result = demo(
                "-H", "demo-token: secret", "-d", '{"name":"Ada"}',
                "--plugin", f"{plugin},url={url}/{path}",
                f"{grpc_server.url}/demo.v1.Demo/Hello",
            ).exits(code)  # fmt: skip
            assert ("Hello, Ada!" in result.out) == (code == 0)


@pytest.mark.parametrize("count", [1, 2])
def test_digest_of_the_manual_is_that_of_the_body(rpcurl, demo, grpc_server, tmp_path, count):
    plugin = built(rpcurl, tmp_path, "digest")
    digest = 0xCBF29CE484222325
    for byte in b"\x08\x07" * count:
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    demo(
        "--plugin", plugin, "-d", '{"value":7}' * count, "-v",
        f"{grpc_server.url}/demo.v1.Demo/Sum",
    ).exits(0).reports(f"> x-digest: {digest:016x}\n")  # fmt: skip


def test_retry_of_the_manual_builds_and_retries(rpcurl, grpc_server, descriptor_set, tmp_path):
    plugin = built(rpcurl, tmp_path, "again")
    arguments = ["--descriptor-set", descriptor_set, "--plugin", plugin, "-d"]
    result = rpcurl(*arguments, '{"code":14,"message":"busy"}', f"{grpc_server.url}/demo.v1.Demo/Fail").exits(64 + 14)
    assert result.err.count("again: unavailable: retrying\n") == 2
    rpcurl(*arguments, '{"from":1,"to":3}', f"{grpc_server.url}/demo.v1.Demo/Count").succeeds()


@pytest.mark.parametrize("codec", ["proto", "json"])
def test_waiting_of_the_manual_builds_and_waits(rpcurl, demo, connect_server, tmp_path, codec):
    plugin = built(rpcurl, tmp_path, "twice")
    result = demo(
        "--plugin", plugin, "--codec", codec, "-d", '{"name":"Ada"}',
        "--protocol", "connect", f"{connect_server.url}/demo.v1.Demo/Hello",
    ).exits(0)  # fmt: skip
    # Escaped for the terminal: the server's JSON has lines.
    assert re.search(r'twice: the copy ended with status 0: \{.*"message": ?"Hello, Ada!"', result.err)


@pytest.mark.parametrize("structure", ["rpcurl_host", "rpcurl_plugin"])
def test_manual_has_every_function_of_the_header(structure):
    described = re.findall(r'^\.It Ft (?:"[^"]*"|\S+) Fn (\w+)', MANUAL.read_text(), re.M)
    assert [name for name in members(structure) if name not in described] == []
    assert len(members(structure)) > 10


def test_manual_has_every_result_of_the_header():
    codes = re.findall(r"#define (RPCURL_E[A-Z]+) \(-", HEADER.read_text())
    page = MANUAL.read_text()
    assert len(codes) == 16 and [code for code in codes if f".It Dv {code}" not in page] == []


def test_manual_describes_only_what_the_header_has():
    known = set(members("rpcurl_host") + members("rpcurl_plugin"))
    described = re.findall(r'^\.It Ft (?:"[^"]*"|\S+) Fn (\w+)', MANUAL.read_text(), re.M)
    assert [name for name in described if name not in known] == []


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_manual_is_well_formed():
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", MANUAL], capture_output=True, text=True)
    # Which other manuals are installed is not the page's matter.
    faults = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
    assert faults == []
