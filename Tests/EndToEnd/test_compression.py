"""Compression and Connect's GET through the built binary, where the matrix does not look."""

import gzip
import json
import os
import subprocess

import pytest
from harness import PATIENCE_SECONDS, Process

HELLO = "demo.v1.Demo/Hello"
ALL = ["gzip", "deflate", "br", "zstd", "snappy"]


def test_version_lists_the_compressions(rpcurl):
    assert "compression: identity, gzip, deflate, br, zstd, snappy\n" in rpcurl("version").out


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_all_compressions_are_accepted_by_default(demo, connect_server, protocol):
    arguments = ["--protocol", protocol, "--format", "events", "-d", '{"name":"Ada"}', f"{connect_server.url}/{HELLO}"]
    name = "accept-encoding" if protocol == "connect" else "grpc-accept-encoding"
    for options, expected in [
        ([], ",".join(ALL)),
        (["--accept-compression", "zstd,identity,gzip,zstd"], "zstd,gzip"),
        (["--accept-compression", "identity"], "identity"),
    ]:
        start = demo(*options, *arguments).named_events()["start"]
        assert dict(start["headers"])[name] == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compression", "lzma"], ["--compression", "lzma", "zstd"]),
        (["--accept-compression", "gzip,lzma"], ["--accept-compression", "gzip,lzma"]),
        (["--accept-compression", ""], ["--accept-compression"]),
        (["--connect-get"], ["--connect-get", "grpc has no GET requests", "--protocol connect"]),
        (["--connect-get", "--protocol", "grpc-web"], ["grpc-web has no GET requests"]),
    ],
)
def test_wrong_usage(demo, arguments, words):
    result = demo(*arguments, "http://localhost:1", HELLO).exits(2, "")
    for word in words:
        assert word in result.err


def test_missing_library_is_an_error_when_its_compression_is_requested(demo, rpcurl, connect_server, tmp_path):
    # Writing and reading brotli are two libraries; libcurl needs the second itself.
    (tmp_path / "libbrotlienc.so.1").write_bytes(b"no library")
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    arguments = ["--protocol", "connect", "--format", "events", "-d", '{"name":"Ada"}', f"{connect_server.url}/{HELLO}"]
    demo("--compression", "br", *arguments, env=env).exits(2, "").reports("--compression br: ", "libbrotlienc.so.1")
    result = demo("--accept-compression", "br", *arguments, env=env).exits(0)
    assert ["content-encoding", "br"] in result.named_events()["headers"]["headers"]
    assert "compression: identity, gzip, deflate, zstd, snappy\n" in rpcurl("version", env=env).out


def test_libraries_are_not_loaded_only_to_be_offered(demo, rpcurl, grpc_server, has_mended_libcurl, tmp_path):
    if not has_mended_libcurl:
        pytest.skip("this libcurl loads libraries of its own")
    trace = tmp_path / "trace"

    def loaded(*options):
        command = demo.command([*options, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}"])
        traced = ["strace", "-f", "-qq", "-e", "trace=openat,open", "-o", trace, *command]
        subprocess.run(list(map(str, traced)), env=rpcurl.environment(None), stdout=subprocess.DEVNULL, check=True, timeout=PATIENCE_SECONDS)
        return [name for name in ("brotlidec", "brotlienc", "zstd") if f"lib{name}." in trace.read_text()]

    assert loaded() == []
    assert loaded("--accept-compression", "zstd") == ["zstd"]


@pytest.mark.parametrize("protocol", ["grpc-web", "connect"])
def test_server_without_the_compression_reports_it(demo, connect_server, protocol):
    demo("--protocol", protocol, "--compression", "deflate", "-d", '{"name":"Ada"}', f"{connect_server.url}/{HELLO}").exits(64 + 12).reports(
        "unimplemented (12): ", "deflate",
    )


@pytest.mark.parametrize("compression", ["identity", "gzip", "br", "zstd", "snappy"])
@pytest.mark.parametrize("codec", ["proto", "json"])
@pytest.mark.parametrize("transport", ["http1.1", "http2"])
def test_connect_get(demo, connect_server, codec, compression, transport):
    arguments = [
        "--protocol", "connect", "--connect-get", "--codec", codec, "--compression", compression, f"--{transport}",
        "--format", "events", "-H", "x-own: 1",
    ]  # fmt: skip
    name = "Ada / ✓ & + = ?"
    found = demo(*arguments, "-d", json.dumps({"name": name}), f"{connect_server.url}/{HELLO}").succeeds().named_events()
    assert found["message"]["message"] == {"message": f"Hello, {name}!", "name": name}
    assert (found["sent"]["index"], found["end"]["sent"], found["metrics"]["bytes_sent"]) == (0, 1, 0)
    reply = demo(*arguments, f"{connect_server.url}/demo.v1.Demo/EchoMetadata").named_events()["message"]["message"]
    assert reply["httpMethod"] == "GET"
    names = [header["name"] for header in reply["headers"]]
    assert "x-own" in names
    assert not {"content-type", "content-length", "transfer-encoding", "content-encoding"} & set(names)


@pytest.mark.parametrize("get", [True, False])
def test_message_without_a_byte_counts_as_sent(demo, connect_server, get):
    options = ["--protocol", "connect", "--format", "events", *(["--connect-get"] if get else [])]
    result = demo(*options, f"{connect_server.url}/demo.v1.Demo/EchoMetadata")
    assert [json.loads(line)["event"] for line in result.out.splitlines()] == ["start", "sent", "headers", "message", "end", "metrics"]


def test_connect_get_becomes_post_if_the_url_is_too_long(demo, connect_server):
    url = f"{connect_server.url}/{HELLO}"
    options = ["--protocol", "connect", "--connect-get", "--codec", "json", "-v"]

    def run(length):
        result = demo(*options, "-d", "@-", url, input=json.dumps({"name": "x" * length})).exits(0)
        assert result.json()["name"] == "x" * length
        return result.err

    head = next(line for line in run(1).splitlines() if line.startswith("> GET "))
    room = 8192 - len(head.removeprefix("> GET ")) + 1
    assert f"> GET {url}?" in run(room)
    assert "longer than 8192 bytes" not in run(room)
    longer = run(room + 1)
    assert f"> POST {url}\n" in longer
    assert "* POST instead of GET: the URL would be longer than 8192 bytes\n" in longer
    assert "content-type: application/json" in longer


def test_connect_get_fails_like_any_call(demo, connect_server):
    demo("--protocol", "connect", "--connect-get", "-d", '{"id":"42"}', f"{connect_server.url}/demo.v1.Demo/Find").exits(64 + 5).reports(
        'not_found (5): no item "42"', "google.rpc.ResourceInfo",
    )


@pytest.mark.parametrize(
    ("method", "words"), [("Echo", ["Echo", "side effects", "NO_SIDE_EFFECTS"]), ("Count", ["Count", "stream"])]
)
def test_connect_get_needs_a_method_without_side_effects(demo, method, words):
    result = demo("--protocol", "connect", "--connect-get", f"http://localhost:1/demo.v1.Demo/{method}").exits(2, "")
    for word in words:
        assert word in result.err


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)


def test_bomb_stops_at_the_limit_in_flat_memory(rpcurl, demo, raw_server):
    def peak_kib(body):
        def respond(connection):
            read_request(connection)
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-encoding: gzip\r\n"
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

        command = demo.command((
            "--protocol", "connect", "--max-message-size", "1m", "-d", "{}",
            f"http://{raw_server(respond).address}/demo.v1.Demo/Large",
        ))  # fmt: skip
        process = Process(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=rpcurl.environment(None))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with process.stderr as errors:
            return process.returncode, errors.read().decode(), usage.ru_maxrss

    code, _, small = peak_kib(gzip.compress(b""))
    assert code == 0
    code, err, large = peak_kib(gzip.compress(bytes(256 << 20)))
    assert code == 64 + 8
    assert "the limit is 1048576" in err
    assert large < small + 8 * 1024
