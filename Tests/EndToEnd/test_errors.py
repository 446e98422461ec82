"""Bad input: one clear line on standard error, the documented exit code, nothing on standard output."""

import os
import socket

import pytest
from harness import varint, write

HELLO = "demo.v1.Demo/Hello"


@pytest.fixture
def call(demo):
    """Calls with the demo's schema."""
    return lambda *arguments, **options: demo("--plaintext", *arguments, **options)


# Usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["missing argument: TARGET"]),
        (["--no-such-option", "localhost:1", HELLO], ["--no-such-option"]),
        (["--protocol", "soap", "localhost:1", HELLO], ["soap", "grpc", "connect"]),
        (["--max-time", "soon", "localhost:1", HELLO], ["--max-time", "soon"]),
        (["--format", "xml", "localhost:1", HELLO], ["xml", "json"]),
        (["localhost:1"], ["no method"]),
        (["localhost:1", "Hel-lo"], ["not a method name", "pkg.Service/Method"]),
        (["ftp://localhost:1", HELLO], ["not a URL of http or https"]),
        (["https://localhost:1", HELLO], ["https://", "--plaintext"]),
        (["-H", "nonsense", "localhost:1", HELLO], ["-H", "missing colon"]),
        (["-H", "a b: c", "localhost:1", HELLO], ["not a header name"]),
        (["-H", "x: a\nb", "localhost:1", HELLO], ["control character"]),
        (["-H", "x-bin: !!", "localhost:1", HELLO], ["x-bin", "base64"]),
        (["-H", "content-length: 1", "localhost:1", HELLO], ["content-length"]),
        (["-H", "@/no/such/headers", "localhost:1", HELLO], ["/no/such/headers", "No such file"]),
    ],
)
def test_wrong_usage(call, arguments, words):
    call(*arguments).fails(2, *words)


@pytest.mark.parametrize(
    ("arguments", "what", "why", "hint"),
    [
        (["--no-such-option", "http://a/b.C/D"], "--no-such-option", "unknown option", None),
        (["--protocl", "grpc", "http://a/b.C/D"], "--protocl", "unknown option", "did you mean --protocol?"),
        (["-Z", "http://a/b.C/D"], "-Z", "unknown option", None),
        (["http://a/b.C/D", "--data"], "--data", "missing value", None),
        (["--max-time", "soon", "http://a/b.C/D"], "--max-time soon", "not a valid duration", None),
        (["--protocol", "soap", "http://a/b.C/D"], "--protocol soap", "not one of grpc, grpc-web, connect", None),
        (["--format=x'y", "http://a/b.C/D"], "--format x'y", "not one of pretty, json, text, binary, tsv, csv, events, none, sh, curl, grpcurl, buf", None),
        (["http://a", "b.C/D", "more", "and more"], "more and more", "unexpected arguments", None),
        (["http://a", "b.C/D", "more"], "more", "unexpected argument", None),
        (["--plaintext=yes", "http://a/b.C/D"], "--plaintext", "expected true or false", None),
        ([], "missing argument", "TARGET", 'see "rpcurl --help", which lists the commands'),
        (["convert"], "missing option", "--type", 'see "rpcurl convert --help"'),
        # The argument is missing because of the wrong one.
        (["convert", "--nope"], "--nope", "unknown option", None),
        (["convert", "--tipe=a.B"], "--tipe", "unknown option", "did you mean --type?"),
        (["--plaintxt"], "--plaintxt", "unknown option", "did you mean --plaintext?"),
        (["plugins", "check", "--call-tim", "2s"], "--call-tim", "unknown option", "did you mean --call-time?"),
        (["plugins", "check", "--call-time", "2s"], "missing argument", "NAME|PATH[,KEY=VALUE…]|COMMAND", 'see "rpcurl plugins check --help"'),
        # Help of what there is not.
        (["help", "descrbe"], "help descrbe", "no such command, interceptor or option", "did you mean describe?"),
        (["help", "plugins", "chek"], "help chek", "no such command, interceptor or option", "did you mean check?"),
        # Flags that would do nothing.
        (["--format", "text", "--enum-numbers", "http://a/b.C/D"], "--enum-numbers", "only for JSON; the output is text", None),
        (["--format", "binary", "--proto-names", "http://a/b.C/D"], "--proto-names", "only for JSON; the output is binary", None),
    ],
)  # fmt: skip
def test_unexpected_arguments(rpcurl, arguments, what, why, hint):
    first, *rest = rpcurl(*arguments).exits(2, "").err.splitlines()
    assert first == f"rpcurl: {what}: {why}"
    if hint:
        assert rest == [f"hint: {hint}"]


def test_help_of_commands(rpcurl):
    for words in (["help"], ["help", "call"], ["help", "plugins", "check"], ["help", "help"]):
        assert rpcurl(*words).code == 0, words
    for command in ("plugins", "version"):
        assert f"Usage: rpcurl {command}" in rpcurl(command, "--help").out


# Schema


def test_no_schema(rpcurl):
    rpcurl("--no-reflect", "--plaintext", "localhost:1", HELLO).fails(3, "--descriptor-set")


def test_missing_descriptor_set(rpcurl):
    rpcurl("--descriptor-set", "/no/such.binpb", "localhost:1", HELLO).fails(3, "/no/such.binpb", "No such file")


def test_descriptor_set_that_is_a_directory(rpcurl, tmp_path):
    rpcurl("--descriptor-set", tmp_path, "localhost:1", HELLO).fails(3, str(tmp_path), "directory")


@pytest.mark.parametrize(
    "content",
    [b"", b'syntax = "proto3";\n', b'{"file":[]}', b"\x00\x01\x02\x03", os.urandom(4096), b"\x0a\xff\xff\xff\xff\x0f"],
    ids=["empty", "proto source", "json", "binary", "random", "overlong"],
)
def test_file_that_is_not_a_descriptor_set(rpcurl, tmp_path, content):
    file = write(tmp_path / "x.binpb", content)
    rpcurl("--descriptor-set", file, "localhost:1", HELLO).fails(3, str(file), "descriptor set")


def schema_with(*files):
    """A serialized set of one service `a.S` with a method `M`, and the fields `files` of its file."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="a.proto", package="a", syntax="proto3")
    method = file.service.add(name="S").method.add(name="M")
    method.input_type = method.output_type = ".a.T"
    body = file.SerializeToString() + b"".join(files)
    return b"\x0a" + varint(len(body)) + body


def test_descriptor_set_without_its_imports(rpcurl, tmp_path):
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    bare = FileDescriptorProto(dependency=["other/b.proto"])
    bare.message_type.add(name="T").field.add(name="b", number=1, label=1, type=11, type_name=".other.B")
    file = write(tmp_path / "bare.binpb", schema_with(bare.SerializeToString()))
    result = rpcurl("--descriptor-set", file, "--plaintext", "localhost:1", "a.S/M")
    result.fails(3, "a.proto", "other/b.proto", "--include_imports")


HINT = "hint: was the set made with all imports, as by `protoc --include_imports`?"
REMARK = f"rpcurl: imported files not found in any source: other/b.proto\n{HINT}\n"


@pytest.mark.parametrize(
    ("words", "code", "error"), [
        (["template", "a.T"], 3, HINT), (["convert", "--from", "json", "--to", "text", "--type", "a.T"], 3, HINT),
        (["call", "--plaintext", "localhost:1", "a.S/M"], 3, HINT), (["describe", "a.T"], 0, REMARK), (["list"], 0, REMARK),
        (["list", "--kind", "message"], 0, REMARK), (["export"], 0, REMARK), (["export", "a.T"], 0, REMARK),
        (["diff", "SET", "SET"], 0, REMARK), (["describe", "zzz.Other"], 3, "other/b.proto, which is imported, is in no source"),
        (["list", "-s"], 0, ""),
    ],
)  # fmt: skip
def test_each_command_says_that_a_set_lacks_imports(rpcurl, tmp_path, words, code, error):
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    bare = FileDescriptorProto(package="a", dependency=["other/b.proto"])
    bare.message_type.add(name="T").field.add(name="b", number=1, label=1, type=11, type_name=".other.B")
    bare.service.add(name="S").method.add(name="M", input_type=".a.T", output_type=".a.T")
    file = write(tmp_path / "bare.binpb", schema_with(bare.SerializeToString()))
    words = [str(file) if word == "SET" else word for word in words]
    sources = [] if "diff" in words else ["--descriptor-set", file]
    result = rpcurl(*words, *sources, input="{}").exits(code)
    assert error in result.err if error else result.err == ""


def test_deeply_nested_descriptor_is_refused(rpcurl, tmp_path):
    nested = b""
    for _ in range(20_000):
        body = b"\x0a\x01T" + (b"\x1a" + varint(len(nested)) + nested if nested else b"")
        nested = body
    file = write(tmp_path / "deep.binpb", schema_with(b"\x22" + varint(len(nested)) + nested))
    rpcurl("--descriptor-set", file, "--plaintext", "localhost:1", "a.S/M").fails(3, "deep.binpb", "nested deeper")


def test_unknown_method_suggests_the_nearest(call):
    call("localhost:1", "demo.v1.Demo/Helo").fails(3, "no method Helo", "did you mean demo.v1.Demo/Hello")


def test_unknown_service_suggests_the_nearest(call):
    call("localhost:1", "demo.v1.Dem/Hello").fails(3, "no service demo.v1.Dem", "did you mean demo.v1.Demo/Hello")


# Input


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"nam":"Ada"}', ["line 1, column 2", "nam", "did you mean name?"]),
        ('{"name":1}', ["line 1, column 9", "name", "string"]),
        ('{\n  "name": "Ada",\n}', ["line 3, column 1"]),
        ('{"name":"Ada"', ["line 1, column 14", "unexpected end"]),
        ("", ["empty"]),
        ("[]", ["line 1, column 1"]),
        ('{"name":"A"} {"name":"B"}', ["line 1, column 14", "one message"]),
        ("@/no/such/file", ["/no/such/file", "No such file"]),
        (b'{"name":"\xff"}', ["UTF-8", "column 10"]),
    ],
)
def test_data_that_does_not_match_the_schema(call, grpc_server, data, words):
    if isinstance(data, bytes):
        call("-d", "@-", grpc_server.address, HELLO, input=data).fails(4, *words)
    else:
        call("-d", data, grpc_server.address, HELLO).fails(4, *words)


def test_field_path_of_wrong_data(call):
    result = call("-d", '{"nested":{"child":{"number":"x"}}}', "localhost:1", "demo.v1.Demo/Echo")
    result.fails(4, "nested.child.number", "line 1, column 30")


def test_streams_of_wrong_data_are_not_sent(call, raw_server):
    server = raw_server(lambda connection: None)
    call("-d", '{"nam":1}', server.address, HELLO).fails(4)
    assert server.connections == 0


# Connection and TLS


def test_refused_connection(call):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    call(f"127.0.0.1:{port}", HELLO).fails(5, "connect", str(port))


@pytest.mark.parametrize("make", [False, True])
def test_socket_without_a_listener(rpcurl, demo, tmp_path, make):
    path = tmp_path / "socket"
    if make:
        with socket.socket(socket.AF_UNIX) as unused:
            unused.bind(str(path))
    why = "Connection refused" if make else "No such file or directory"
    words = f"failed to connect to the socket {path}: {why}"
    demo("--plaintext", f"unix:{path}", HELLO).fails(5, f"unix:{path}", words)
    demo("--unix-socket", path, f"http://a/{HELLO}").fails(5, "http://a", words)
    rpcurl("list", "--plaintext", f"unix:{path}").fails(5, words)


def test_unknown_host(call):
    call("no-such-host.invalid:1", HELLO).fails(5, "no-such-host.invalid", "resolve")


def test_peer_that_closes_at_once(call, raw_server):
    server = raw_server(lambda connection: connection.recv(1))
    call(server.address, HELLO).fails(5)


def test_peer_that_is_not_an_http_server(call, raw_server):
    def speak(connection):
        connection.recv(100)
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n" * 10)

    call(raw_server(speak).address, HELLO).fails(5)
    call("--protocol", "connect", raw_server(speak).address, HELLO).fails(5)


def test_silent_peer_meets_the_deadline(call, raw_server):
    def listen(connection):
        while connection.recv(1 << 16):
            pass

    server = raw_server(listen)
    call("--max-time", "300ms", server.address, HELLO).fails(64 + 4, "deadline_exceeded")


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_certificate_of_an_unknown_authority(rpcurl, request, descriptor_set, certificates, protocol):
    server = request.getfixturevalue(f"{protocol}_tls_server")
    options = ["--descriptor-set", descriptor_set, "--protocol", protocol]
    rpcurl(*options, server.url, HELLO).fails(6, "certificate", "--cacert")
    rpcurl(*options, "--cacert", certificates / "other-ca.pem", server.url, HELLO).fails(6, "certificate")


def test_certificate_for_another_name(demo, raw_server, grpc_tls_server, certificates):
    url = grpc_tls_server.url.replace("localhost", "ip6-localhost-is-no-name.localhost")
    result = demo("--cacert", certificates / "ca.pem", url, HELLO)
    result.fails(6, "not for ip6-localhost-is-no-name.localhost", "localhost, 127.0.0.1")


def test_missing_and_damaged_authority_file(rpcurl, grpc_tls_server, descriptor_set, tmp_path):
    options = ["--descriptor-set", descriptor_set, "--cacert"]
    rpcurl(*options, "/no/such.pem", grpc_tls_server.url, HELLO).fails(6, "/no/such.pem", "No such file")
    (tmp_path / "bad.pem").write_text("no certificate")
    rpcurl(*options, tmp_path / "bad.pem", grpc_tls_server.url, HELLO).fails(6, "bad.pem")


def test_tls_to_a_plain_server_and_the_reverse(rpcurl, grpc_server, grpc_tls_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set]
    rpcurl(*options, f"https://{grpc_server.address}", HELLO).fails(6, "--plaintext")
    assert rpcurl(*options, "--plaintext", grpc_tls_server.address, HELLO).code == 5


# Protocol


def test_wrong_protocol_has_a_hint(demo, connect_server, grpc_server, raw_server):
    def page(connection):
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi")

    result = demo("--protocol", "connect", f"http://{raw_server(page).address}/{HELLO}")
    result.fails(64 + 12, "HTTP 404", "--protocol grpc")


def test_control_characters_of_a_server_do_not_reach_the_terminal(call, grpc_server):
    result = call("-d", '{"code":3,"message":"\\u001b[31mred\\u0007\\u009b2J"}', grpc_server.address, "demo.v1.Demo/Fail").exits(64 + 3).reports(
        "\\u{1B}[31mred\\u{07}\\u{009B}2J",
    )
    assert not any(ord(c) < 32 and c != "\n" or 0x7F <= ord(c) <= 0x9F for c in result.err)


@pytest.mark.parametrize(
    "target",
    [
        "https://host/demo.v1.Demo/Hello?key=s3cret", "https://host/?key=s3cret", "host:1?key=s3cret",
        "ftp://me:s3cret@host", "https://me:s3cret@host/a", "ftp://me:s3/s3cret@host", "https://host#s3cret",
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [[], ["demo.v1.Demo/Hello"], ["demo.v1.Demo/Hello?key=s3cret"]])
def test_an_error_does_not_contain_credentials_of_a_target(rpcurl, target, words):
    for result in [rpcurl("--plaintext", target, *words), rpcurl(target, *words), rpcurl("list", target)]:
        assert result.code == 2
        assert "s3cret" not in result.err and "s3" not in result.err
