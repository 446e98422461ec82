"""-v and -vv: the details of a call and its connection on standard error, without secrets."""

import base64
import json
import re

import pytest
from harness import Caller, build_plugin, write

SERVICE = "demo.v1.Demo"
SECRET = "c2VjcmV0LXNlY3JldA"


@pytest.fixture
def call(demo, grpc_server):
    def call(*options, data='{"name":"A"}', method="Hello", server=grpc_server, run=demo, **more):
        return Caller(run, server)(method, *options, data=data, **more).exits(0).err

    return call


def test_once_shows_metadata_only(call):
    err = call("-v")
    assert err == call("--verbose")
    assert all(re.match(r"[*<>]", line) for line in err.splitlines())
    assert "> POST " in err and "< HTTP/2 200" in err and "* ok (0)" in err
    assert "Trying" not in err and "on the wire" not in err


def test_a_request_that_was_not_sent_is_not_shown(call, tmp_path):
    stubs = write(tmp_path / "stubs", '{"method":"demo.v1.Demo/Hello","response":{}}')
    err = call("-v", "--use", f"mock,file={stubs}")
    assert not re.search(r"^>", err, re.M)
    assert "* no request was sent: the call ended before\n< (local response)\n" in err


@pytest.mark.parametrize("options", [["-vv"], ["-v", "-v"], ["--verbose", "--verbose"], ["-v", "--verbose"], ["-vvv"]])
def test_twice_shows_the_connection_and_messages(call, grpc_server, options):
    err = call(*options)
    assert re.search(r"^\*   Trying 127\.0\.0\.1:\d+", err, re.M)
    # The second form is that of libcurl 8.16 and later.
    assert re.search(rf"^\* (Connected|Established connection) to 127\.0\.0\.1 .*port {grpc_server.port}\b", err, re.M)
    assert "* sent message 0: 3 bytes (8 on the wire)\n" in err
    assert "* received message 0: 14 bytes (19 on the wire)\n" in err
    lines = [line for line in call("-v").splitlines() if not line.startswith("< date")]
    assert [line for line in err.splitlines() if line in lines] == lines


def test_shows_the_message_that_left(call, grpc_server):
    err = call("-v", "--set", "name=Ada", "--use", "edit,set=name=Eve", data="{}")
    assert '\n>\n> {"name":"Eve"}\n< HTTP/2 200' in err
    long = call("-v", data=json.dumps({"name": "x" * 5000}))
    assert re.search(r'^> {"name":"x{4087}… \(5011 bytes of text\)$', long, re.M)
    assert f'> {{"name":"{"x" * 5000}"}}\n' in call("-vv", data=json.dumps({"name": "x" * 5000}))
    assert '> {"name":"[redacted]"}\n' in call("-v", "--redact", "name")
    assert '> {"name":"A"}\n' in call("-v", "--redact", "name", "--show-secrets")


@pytest.mark.parametrize(("option", "count"), [("-v", 1), ("-vv", 3)])
def test_shows_the_message_of_each_attempt(demo, grpc_server, option, count):
    use = ["--use", "retry,attempts=3,codes=not_found,initial=1ms", "-d", '{"id":"9"}']
    err = demo(option, *use, f"{grpc_server.url}/{SERVICE}/Find").exits(69).err
    assert err.count('> {"id":"9"}\n') == count


def test_compression_of_messages(call):
    err = call("-vv", "--compression", "gzip", data=json.dumps({"stringValue": "x" * 4000}), method="Echo")
    (sent,) = re.findall(r"^\* sent message 0: 4003 bytes \((\d+) on the wire, gzip\)$", err, re.M)
    assert int(sent) < 100
    assert re.search(r"^\* received message 0: 4003 bytes \(4008 on the wire\)$", err, re.M)


def test_each_message_of_a_stream(call):
    err = call("-vv", data='{"from":1,"to":3}', method="Count")
    assert re.findall(r"received message (\d)", err) == ["0", "1", "2"]
    err = call("-vv", data='{"value":1}{"value":300}', method="Sum")
    assert re.findall(r"sent message (\d): (\d+) bytes \((\d+)", err) == [("0", "2", "7"), ("1", "3", "8")]


def test_connect_and_get(call, connect_server):
    err = call("-vv", "--protocol", "connect", server=connect_server)
    assert "* sent message 0: 3 bytes (3 on the wire)\n" in err and re.search(r"received message 0: 14 bytes \(\d+ on", err)
    err = call("-vv", "--protocol", "connect", "--connect-get", data='{"id":"1"}', method="Find", server=connect_server)
    assert "* sent message 0: 3 bytes (in the URL)\n" in err


@pytest.mark.parametrize("codec", ["proto", "json"])
@pytest.mark.parametrize("options", [["--redact", "name"], ["--redact", "name", "--compression", "gzip"], ["--bearer", SECRET]], ids=" ".join)
def test_secrets_of_a_message_in_the_url(rpcurl, connect_server, descriptor_set, codec, options):
    words = ["--protocol", "connect", "--connect-get", "--codec", codec, "--descriptor-set", descriptor_set, *options]
    words += ["-d", json.dumps({"name": SECRET}), f"{connect_server.url}/{SERVICE}/Hello"]
    shown = rpcurl("-v", *words).err
    event = json.loads(rpcurl("--format", "events", *words).out.splitlines()[0])
    bare = base64.urlsafe_b64encode(b"\n" + bytes([len(SECRET)]) + SECRET.encode()).decode()
    for text in (shown, event["url"]):
        assert "[redacted]" in text and SECRET not in text and bare[4:-4] not in text, text
    if "name" in options:
        assert "&message=[redacted]\n" in shown and event["url"].endswith("&message=[redacted]")
        assert "[redacted]" not in next(line for line in rpcurl("-v", "--show-secrets", *words).err.splitlines() if "> GET" in line)


@pytest.mark.parametrize("binary", ["rpcurl", "http3_rpcurl"])
@pytest.mark.parametrize(("protocol", "options"), [("grpc", []), ("connect", ["--http1.1"]), ("connect", ["--http2"])])
def test_tls_without_secrets(request, call, certificates, binary, protocol, options):
    server = request.getfixturevalue(f"{protocol}_tls_server")
    run = request.getfixturevalue(binary)
    secrets = ["-H", f"authorization: Bearer {SECRET}", "-H", f"x-api-key: {SECRET}"]
    words = ["-vv", "--protocol", protocol, *options, *secrets, "--cacert", certificates / "ca.pem"]
    err = call(*words, server=server, run=run)
    assert re.search(r"^\* +SSL connection using TLSv1\.\d / \w+", err, re.M)
    assert re.search(r"^\* +subject: ", err, re.M) and "ALPN" in err
    assert "> authorization: Bearer [redacted]" in err and "> x-api-key: [redacted]" in err
    assert SECRET not in err
    # Nor by any other way to write it.
    assert not re.search(r"^\* .*authorization", err, re.M | re.I)


def test_secrets_of_a_proxy(rpcurl, descriptor_set):
    words = ["-vv", "--descriptor-set", descriptor_set, f"http://host.test/{SERVICE}/Hello"]
    proxy = f"http://me:{SECRET}@127.0.0.1:1"
    result = rpcurl(*words, env={"http_proxy": proxy})
    assert result.code == 5 and SECRET not in result.err
    assert "http_proxy == 'http://[redacted]@127.0.0.1:1'" in result.err
    assert SECRET in rpcurl("--show-secrets", *words, env={"http_proxy": proxy}).err
    assert SECRET not in rpcurl("--proxy", proxy, *words).err
    # A proxy needs no scheme, and an invalid URL is reported too.
    for proxy in [f"me:{SECRET}@127.0.0.1:1", f"http://me:a/{SECRET}@127.0.0.1:1", f"http://me:a '{SECRET}@127.0.0.1:1"]:
        assert SECRET not in rpcurl(*words, env={"http_proxy": proxy}).reports("@127.0.0.1:1'").err


def test_reused_connection(call):
    err = call("-vv", "--each", "-d", '{"name":"B"}')
    assert len(re.findall("Re-?using existing", err)) >= 1
    assert len(re.findall(r"^\*   Trying", err, re.M)) == 1



def test_schema_commands(rpcurl, grpc_server):
    once = rpcurl("list", "-v", "--plaintext", grpc_server.address)
    assert once.err.startswith("* schema: reflection v1") and "Trying" not in once.err
    twice = rpcurl("list", "-vv", "--plaintext", grpc_server.address).reports("*   Trying", "* schema: reflection v1")
    assert twice.out == once.out


def test_the_configuration_file_may_contain_it(rpcurl, call):
    (rpcurl.home / "config").write_text("--verbose\n")
    assert "Trying" not in call("--config", rpcurl.home / "config")
    assert "Trying" in call("--config", rpcurl.home / "config", "-v")


CHATTY = """
#include "minimal.h"

static int32_t load(const rpcurl_host *host, void **plugin) {
  host->log(host, RPCURL_LOG_DEBUG, text("a detail"));
  host->log(host, RPCURL_LOG_INFO, text("a word"));
  return keep_host(host, plugin);
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "chatty", .load = load};
RPCURL_PLUGIN(plugin)
"""


def test_interceptors_log_more(rpcurl, call, tmp_path):
    plugin = build_plugin(write(tmp_path / "chatty.c", CHATTY), tmp_path / "chatty.so")
    once = call("-v", "--plugin", plugin)
    assert "chatty: a word\n" in once and "a detail" not in once
    assert "chatty: a detail\n" in call("-vv", "--plugin", plugin)
    assert "chatty" not in call("-s", "--plugin", plugin)
