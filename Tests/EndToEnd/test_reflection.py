"""Server reflection: the schema from the server, its cache, and servers without reflection or with a broken one."""

import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from harness import RPCURL, http_server, pump, relay, write
from harness.grpcio import ECHO, REFLECTION, reflection, serve

grpc = pytest.importorskip("grpc")

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_reflection.v1alpha import reflection_pb2

DELAY = "demo.v1.Demo/Delay"  # takes an empty message
HEALTH = "grpc.health.v1.Health/Check"


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def protocol(request):
    return request.param


@pytest.fixture
def server(request, protocol):
    return request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")


@pytest.fixture
def call(rpcurl, protocol):
    return lambda *arguments, **options: rpcurl("--protocol", protocol, *arguments, **options)


def cache_files(rpcurl):
    return sorted((rpcurl.home / ".cache" / "rpcurl" / "reflection").glob("*"))


def schema_line(result):
    lines = [line for line in result.err.splitlines() if line.startswith("* schema: ")]
    assert len(lines) == 1, result.err
    return lines[0].removeprefix("* schema: ")


# The schema from the server


def test_a_call_needs_no_descriptor_set(call, server):
    result = call("-v", "-d", '{"name":"Ada"}', f"{server.url}/demo.v1.Demo/Hello").exits(0).prints('"Hello, Ada!"')
    assert schema_line(result).startswith("reflection v1, 7 files, ")
    assert schema_line(result).endswith(" ms")


def test_over_tls(call, request, protocol, certificates):
    server = request.getfixturevalue("grpc_tls_server" if protocol == "grpc" else "connect_tls_server")
    call("--cacert", certificates / "ca.pem", f"{server.url}/{DELAY}").exits(0)


def test_types_of_imports_are_known(call, server):
    data = '{"timestamp":"2024-02-29T12:00:00Z","duration":"1.500s","any":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}}'
    assert call("-d", data, f"{server.url}/demo.v1.Demo/Echo").exits(0).json() == json.loads(data)


def test_reflection_itself_can_be_reflected_on(call, server):
    result = call("--reflect-version", "v1alpha", "-v", f"{server.url}/{HEALTH}").exits(0).prints("SERVING")
    assert schema_line(result).startswith("reflection v1alpha, ")


def test_reflection_and_the_call_share_a_connection(call, server, raw_server):
    proxy = raw_server(lambda client: relay(client, server.port))
    call("--plaintext", proxy.address, DELAY).exits(0)
    assert proxy.connections == 1


def test_the_call_reconnects_if_the_connection_of_reflection_is_closed(rpcurl, grpc_server, raw_server):
    """libcurl 7.88 requests HTTP/2 differently on new and on reused connections."""
    connections = []

    def forward(client):
        connections.append(client)
        with socket.create_connection(("127.0.0.1", grpc_server.port)) as upstream:
            def respond():
                try:
                    while data := upstream.recv(1 << 16):
                        is_last = client is connections[0] and b"grpc-status" in data
                        # The end arrives with the response, and so before the call.
                        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, is_last)
                        client.sendall(data)
                        if is_last:
                            return client.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

            back = threading.Thread(target=respond, daemon=True)
            back.start()
            pump(client, upstream)
            back.join()

    proxy = raw_server(forward)
    rpcurl("--plaintext", proxy.address, DELAY).exits(0)
    assert proxy.connections > 1


def test_headers_are_sent_to_the_call_to_reflection_or_to_both(call, server, rpcurl):
    note = f"note-{time.monotonic_ns()}"
    result = call(
        "-H", f"demo-note: {note}-both", "--reflect-header", f"demo-other: {note}-schema",
        "--rpc-header", f"demo-call: {note}-call", "--format", "events", f"{server.url}/{DELAY}",
    ).exits(0)
    start = result.out.splitlines()[0]
    assert f"{note}-both" in start and f"{note}-call" in start and f"{note}-schema" not in start
    assert f"reflection file_containing_symbol demo.v1.Demo {note}-both" in server.log()
    call("--reflect-header", f"demo-note: {note}-only", f"{server.url}/{DELAY}").exits(0)
    assert f"{note}-only" in server.log()
    call("--no-cache", "--rpc-header", f"demo-note: {note}-hidden", f"{server.url}/{DELAY}").exits(0)
    assert f"{note}-hidden" not in server.log()


@pytest.mark.parametrize("option", ["--reflect-header", "--rpc-header"])
def test_bad_header_names_its_option(rpcurl, option):
    rpcurl(option, "nonsense", f"http://localhost:1/{DELAY}").fails(2, option, "missing colon")


# Built-in schemas


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_services_of_grpc_need_no_schema(current_rpcurl, start_server, version):
    rpcurl = current_rpcurl
    server = start_server("grpc_server.py", "--no-reflection")
    for options in ([], ["--no-reflect"]):
        rpcurl("-v", *options, f"{server.url}/{HEALTH}").exits(0, '{"status":"SERVING"}\n')
    rpcurl(f"{server.url}/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo").exits(64 + 12).reports("unimplemented")
    rpcurl(f"{server.url}/grpc.channelz.v1.Channelz/GetTopChannels").exits(64 + 12).reports("unimplemented")


def test_built_in_schemas_come_last(rpcurl, grpc_server):
    assert schema_line(rpcurl("-v", f"{grpc_server.url}/{HEALTH}")) == "built in"
    assert schema_line(rpcurl("-v", "--no-cache", "--reflect", f"{grpc_server.url}/{HEALTH}")).startswith("reflection v1, ")


def test_schema_commands_use_built_in_schemas_last(rpcurl, start_server, descriptor_set, grpc_server):
    declaration = "rpc Check(HealthCheckRequest) returns (HealthCheckResponse)"
    server = start_server("grpc_server.py", "--no-reflection")
    for source in ([], ["--no-reflect"], ["--descriptor-set", descriptor_set], [server.url], [grpc_server.url]):
        result = rpcurl("describe", *source, "grpc.health.v1.Health")
        assert (result.code, result.err) == (0, ""), source
        assert declaration in result.out
        assert rpcurl("template", *source, HEALTH).exits(0).json() == {"service": ""}
    assert rpcurl("list", "grpc.health.v1.Health").out.split() == [
        "grpc.health.v1.Health/Check", "grpc.health.v1.Health/List", "grpc.health.v1.Health/Watch",
    ]  # fmt: skip
    assert "message RetryInfo {" in rpcurl("describe", "google.rpc.RetryInfo").out
    rpcurl("describe", "grpc.health.v1.Helth").exits(3).reports("not found in the schema")
    # They are not among the services of other sources.
    rpcurl("list", server.url).exits(3).reports("does not offer reflection", "--proto FILE")
    assert "grpc.health" not in rpcurl("list", "--descriptor-set", descriptor_set).out


# Together with descriptor sets


def test_descriptor_set_comes_first(call, server, descriptor_set):
    note = f"note-{time.monotonic_ns()}"
    options = ["--descriptor-set", descriptor_set, "--reflect", "-v", "--reflect-header", f"demo-note: {note}"]
    known = call(*options, f"{server.url}/{DELAY}").exits(0)
    assert note not in server.log() and "* schema" not in known.err
    assert schema_line(call(*options, f"{server.url}/{HEALTH}").exits(0)).startswith("reflection v1, ")


def test_descriptor_set_alone_makes_no_reflection(call, server, descriptor_set):
    result = call("--descriptor-set", descriptor_set, f"{server.url}/demo.v1.Other/Hello")
    result.fails(3, "no service demo.v1.Other in the schema")


def test_no_reflect_and_no_other_source(call, server):
    call("--no-reflect", f"{server.url}/{DELAY}").fails(3, "no schema: reflection is off", "--descriptor-set")


# Missing names and services


def test_unknown_service_suggests_the_nearest(call, server):
    result = call(f"{server.url}/demo.v1.Dem/Hello")
    result.fails(3, "the server has no service demo.v1.Dem", "did you mean demo.v1.Demo/Hello?")


def test_unknown_service_lists_the_existing_ones(call, server):
    call(f"{server.url}/a.b.C/D").fails(3, "no service a.b.C", "services: demo.v1.Demo, grpc.health.v1.Health")


def test_unknown_method_suggests_the_nearest(call, server):
    call(f"{server.url}/demo.v1.Demo/Dela").fails(3, "no method Dela", "did you mean demo.v1.Demo/Delay?")


def test_symbol_that_is_not_a_service(call, server):
    call(f"{server.url}/demo.v1.HelloRequest/Hello").fails(3, "no service demo.v1.HelloRequest")


@pytest.fixture(scope="module")
def bare_server(start_server):
    return start_server("grpc_server.py", "--no-reflection")


@pytest.fixture(scope="module")
def v1alpha_server(start_server):
    return start_server("grpc_server.py", "--reflection-version", "v1alpha")


def test_server_without_reflection(rpcurl, bare_server):
    result = rpcurl(f"{bare_server.url}/{DELAY}")
    result.fails(3, bare_server.url, "offer reflection", "--descriptor-set")


def test_http_server_without_reflection(rpcurl, raw_server):
    def respond(connection):
        while connection.recv(1 << 16):
            connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno")

    result = rpcurl("--protocol", "connect", f"http://{raw_server(respond).address}/{DELAY}")
    result.fails(3, "probably does not offer reflection", "HTTP 404")


def test_v1alpha_if_there_is_no_v1(rpcurl, v1alpha_server):
    assert schema_line(rpcurl("-v", f"{v1alpha_server.url}/{DELAY}").exits(0)).startswith("reflection v1alpha, 7 files, ")
    assert schema_line(rpcurl("-v", f"{v1alpha_server.url}/{DELAY}")) == "reflection v1alpha, 7 files, cached"


def test_requested_version_is_the_only_one(rpcurl, v1alpha_server):
    message = ["offer reflection v1", "hint: omit --reflect-version, which asks for one version only"]
    for words in (["list", v1alpha_server.url], ["describe", v1alpha_server.url, "demo.v1.Demo"], [f"{v1alpha_server.url}/{DELAY}"]):
        rpcurl(words[0], "--reflect-version", "v1", *words[1:]).exits(3).reports(*message)
    rpcurl("session", "--reflect-version", "v1", v1alpha_server.url, input="list\n").reports(*message)
    rpcurl("--reflect-version", "v2", f"{v1alpha_server.url}/{DELAY}").fails(2, "v2", "v1alpha")


REFUSALS = ["UNIMPLEMENTED", "UNAVAILABLE", "NOT_FOUND", "UNKNOWN", "INTERNAL", "PERMISSION_DENIED", "UNAUTHENTICATED"]


@pytest.fixture
def refusing():
    """`refusing(v1, v1alpha)` starts a server whose reflection fails with these codes, as a proxy without a route does.

    A version whose code is None works. Returns the URL of a method, and the versions that were requested, in order.
    """
    servers = []

    def start(**codes):
        requested = []

        def reflection_of(version, code):
            def reflect(requests, context):
                requested.append(version)
                # To the end: a reset that follows the status at once makes libcurl 7.88 lose it, and ask again.
                questions = list(requests)
                if code:
                    context.abort(grpc.StatusCode[code], f"{version}: no route")
                yield from (response_with(service_file("t.proto"), TYPES) for _ in questions)

            return reflection(reflect)

        services = {f"grpc.reflection.{version}.ServerReflection": reflection_of(version, code) for version, code in codes.items()}
        server, url = serve({"a.S": {"M": ECHO}} | services, threads=2)
        servers.append(server)
        return f"{url}/a.S/M", requested

    yield start
    for server in servers:
        server.stop(0)


@pytest.mark.parametrize("code", REFUSALS)
def test_v1alpha_where_v1_is_refused(rpcurl, refusing, code):
    url, requested = refusing(v1=code, v1alpha=None)
    assert schema_line(rpcurl("-v", url).exits(0)).startswith("reflection v1alpha, 2 files, ")
    # After NOT_FOUND, which may mean the symbol, the list of services is requested.
    assert requested == ["v1"] * (2 if code == "NOT_FOUND" else 1) + ["v1alpha"]


@pytest.mark.parametrize("code", ["UNAVAILABLE", "UNKNOWN", "PERMISSION_DENIED"])
@pytest.mark.parametrize("other", ["UNAVAILABLE", "UNIMPLEMENTED"])
def test_refusal_of_v1_is_reported_where_v1alpha_is_refused_too(rpcurl, refusing, code, other):
    url, requested = refusing(v1=code, v1alpha=other)
    rpcurl(url).fails(64 + grpc.StatusCode[code].value[0], "v1: no route")
    assert requested == ["v1", "v1alpha"]


@pytest.mark.parametrize("code", ["UNAUTHENTICATED", "PERMISSION_DENIED"])
def test_check_names_the_refusal_of_reflection(rpcurl, refusing, code):
    url, _ = refusing(v1=code, v1alpha=code)
    result = rpcurl("check", url.removesuffix("/a.S/M"))
    [line] = [line for line in result.out.splitlines() if "reflection" in line and "refuses" in line]
    assert code.lower() in line, result.out
    assert "--bearer" in result.out


@pytest.mark.parametrize("code", ["DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED"])
def test_v1alpha_is_not_tried_after_a_timeout_or_limit_of_v1(rpcurl, refusing, code):
    url, requested = refusing(v1=code, v1alpha=None)
    rpcurl(url).fails(64 + grpc.StatusCode[code].value[0], "v1: no route")
    assert requested == ["v1"]


@pytest.mark.parametrize("status", ["401 Unauthorized", "404 Not Found", "405 Method Not Allowed", "503 Service Unavailable"])
@pytest.mark.parametrize("protocol", ["grpc-web", "connect"], indirect=True)
def test_v1alpha_where_a_proxy_has_no_route_for_v1(call, server, raw_server, status):
    refused = []

    def proxy(client):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(1 << 16)
            if not piece:
                return
            head += piece
        if b"/grpc.reflection.v1.ServerReflection/" in head:
            refused.append(head)
            client.sendall(f"HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno".encode())
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass
            return
        with socket.create_connection(("127.0.0.1", server.port)) as upstream:
            def respond():
                try:
                    while data := upstream.recv(1 << 16):
                        client.sendall(data)
                except OSError:
                    pass

            back = threading.Thread(target=respond, daemon=True)
            back.start()
            upstream.sendall(head)
            pump(client, upstream)
            back.join()

    result = call("-v", "--http1.1", f"http://{raw_server(proxy).address}/{DELAY}").exits(0)
    assert schema_line(result).startswith("reflection v1alpha, 7 files, ")
    assert len(refused) == 1


# The cache


def test_second_call_uses_the_cache(call, server, rpcurl):
    note = f"note-{time.monotonic_ns()}"
    for count in (1, 1):
        result = call("-v", "-H", f"demo-note: {note}", f"{server.url}/{DELAY}").exits(0)
        assert server.log().count(note) == count
    assert schema_line(result) == "reflection v1, 7 files, cached"
    (file,) = cache_files(rpcurl)
    assert file.name.startswith(f"127.0.0.1_{server.port}-demo.v1.Demo-")
    assert file.stat().st_mode & 0o777 == 0o600
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in [*file.parents][:3])


def test_headers_of_calls_do_not_change_what_is_cached(call, server, rpcurl):
    for number in range(4):
        result = call("-v", "-H", f"x-request-id: r{number}", f"{server.url}/{DELAY}").exits(0)
        assert schema_line(result).endswith(", cached") == (number > 0)
    assert len(cache_files(rpcurl)) == 1
    result = call("-v", "--reflect-header", "x-tenant: a", f"{server.url}/{DELAY}").exits(0)
    assert not schema_line(result).endswith(", cached") and len(cache_files(rpcurl)) == 2


@pytest.mark.parametrize("method", [DELAY.split("/")[1], DELAY.removeprefix("demo.v1.")])
def test_a_suffix_uses_the_cache(call, server, method):
    note = f"note-{time.monotonic_ns()}"
    assert not schema_line(call("-v", "-H", f"demo-note: {note}", server.url, method)).endswith("cached")
    assert schema_line(call("-v", "-H", f"demo-note: {note}", server.url, method)).endswith(", cached")


def test_cache_file_is_a_descriptor_set(call, server, rpcurl):
    assert call(f"{server.url}/{DELAY}").code == 0
    (file,) = cache_files(rpcurl)
    assert FileDescriptorSet.FromString(file.read_bytes()).file[0].name == "demo.proto"
    assert call("--descriptor-set", file, f"{server.url}/{DELAY}").code == 0


def test_cache_is_in_the_xdg_directory(call, server, rpcurl, tmp_path):
    assert call(f"{server.url}/{DELAY}", env={"XDG_CACHE_HOME": str(tmp_path / "c")}).code == 0
    assert len(list((tmp_path / "c" / "rpcurl" / "reflection").iterdir())) == 1
    assert cache_files(rpcurl) == []


def test_no_cache(call, server, rpcurl):
    for _ in range(2):
        assert schema_line(call("-v", "--no-cache", f"{server.url}/{DELAY}")).endswith(" ms")
    assert cache_files(rpcurl) == []
    assert call(f"{server.url}/{DELAY}").code == 0
    assert schema_line(call("-v", "--no-cache", f"{server.url}/{DELAY}")).endswith(" ms")


@pytest.mark.parametrize("seconds", [-301, 3600], ids=["old", "from the future"])
def test_old_cache_is_refreshed(call, server, rpcurl, seconds):
    assert call(f"{server.url}/{DELAY}").code == 0
    (file,) = cache_files(rpcurl)
    os.utime(file, (time.time() + seconds, time.time() + seconds))
    assert schema_line(call("-v", f"{server.url}/{DELAY}")).endswith(" ms")
    assert schema_line(call("-v", f"{server.url}/{DELAY}")).endswith("cached")


@pytest.mark.parametrize("damage", ["empty", "truncated", "garbage", "flipped", "link", "folder"])
def test_damaged_cache_is_replaced(rpcurl, grpc_server, damage, tmp_path):
    url = f"{grpc_server.url}/{DELAY}"
    assert rpcurl(url).code == 0
    (file,) = cache_files(rpcurl)
    content = bytearray(file.read_bytes())
    match damage:
        case "empty":
            file.write_bytes(b"")
        case "truncated":
            file.write_bytes(content[: len(content) // 2])
        case "garbage":
            file.write_bytes(os.urandom(4096))
        case "flipped":
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
        case "link":
            file.rename(tmp_path / "elsewhere")
            file.symlink_to(tmp_path / "elsewhere")
        case "folder":
            file.unlink()
            file.mkdir()
    result = rpcurl("-v", url).exits(0)
    assert " ms\n" in result.err and "cached" not in result.err
    if damage != "folder":
        assert schema_line(rpcurl("-v", url)).endswith("cached")
        assert not file.is_symlink()
    assert [f for f in cache_files(rpcurl) if f.name.endswith(".part")] == []


def stamped(descriptor_set):
    """The cache's form of a set: the format, v1 and one file, and the checksum, in a field of their own."""
    body = descriptor_set + b"\x8a\xb5\x18\x0e\x01\x01" + struct.pack("<I", 1)
    total, prime, mask = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
    whole = len(body) & ~7
    for (word,) in struct.iter_unpack("<Q", body[:whole]):
        total = (total ^ word) * prime & mask
        total ^= total >> 32
    for byte in body[whole:]:
        total = (total ^ byte) * prime & mask
    return body + struct.pack("<Q", total)


def test_method_missing_from_the_cache_is_fetched(rpcurl, grpc_server):
    url = f"{grpc_server.url}/{DELAY}"
    assert rpcurl(url).code == 0
    (file,) = cache_files(rpcurl)
    old = FileDescriptorProto(name="demo.proto", package="demo.v1", syntax="proto3")
    old.service.add(name="Demo")
    file.write_bytes(stamped(FileDescriptorSet(file=[old]).SerializeToString()))
    assert schema_line(rpcurl("-v", url)).endswith(" ms")
    assert schema_line(rpcurl("-v", url)).endswith("cached")


def test_unwritable_cache_is_not_an_error(rpcurl, grpc_server, tmp_path):
    (tmp_path / "file").write_text("")
    for environment in ({"XDG_CACHE_HOME": str(tmp_path / "file")}, {"XDG_CACHE_HOME": "relative", "HOME": ""}):
        rpcurl("-v", f"{grpc_server.url}/{DELAY}", env=environment).exits(0)
    assert not (rpcurl.home / "relative").exists()


def test_targets_do_not_share_the_cache(rpcurl, grpc_server, v1alpha_server):
    for server in (grpc_server, v1alpha_server):
        assert schema_line(rpcurl("-v", f"{server.url}/{DELAY}")).endswith(" ms")
    assert schema_line(rpcurl("-v", "--reflect", f"{grpc_server.url}/{HEALTH}")).endswith(" ms")
    assert schema_line(rpcurl("-v", "--reflect-header", "x-tenant: blue", f"{grpc_server.url}/{DELAY}")).endswith(" ms")
    assert schema_line(rpcurl("-v", "-H", "authorization: Bearer x", f"{grpc_server.url}/{DELAY}")).endswith("cached")
    assert len(cache_files(rpcurl)) == 4


# Failures on the way


def test_refused_connection(call):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    call(f"http://127.0.0.1:{port}/{DELAY}").fails(5, "connect", str(port))


def test_certificate_of_an_unknown_authority(call, request, protocol):
    server = request.getfixturevalue("grpc_tls_server" if protocol == "grpc" else "connect_tls_server")
    call(f"{server.url}/{DELAY}").fails(6, "certificate", "--cacert")


def test_silent_peer_meets_the_deadline(call, raw_server):
    def listen(connection):
        while connection.recv(1 << 16):
            pass

    result = call("--max-time", "300ms", f"http://{raw_server(listen).address}/{DELAY}")
    result.fails(64 + 4, "reflection failed: deadline_exceeded (4): it took longer than 0.3 seconds")


def test_interrupt(rpcurl, raw_server):
    received = threading.Event()

    def listen(connection):
        while connection.recv(1 << 16):
            received.set()

    with rpcurl.start(f"http://{raw_server(listen).address}/{DELAY}") as process:
        assert received.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


# Broken servers


@pytest.fixture
def reflecting():
    """`reflecting(function)` starts a server whose reflection is `function(requests, context)`, of v1.

    Its method a.S/M returns its request."""
    servers = []

    def start(function):
        server, url = serve({REFLECTION: reflection(function), "a.S": {"M": ECHO}}, threads=2)
        servers.append(server)
        return f"{url}/a.S/M"

    yield start
    for server in servers:
        server.stop(0)


TYPES = FileDescriptorProto(name="t.proto", package="a", syntax="proto3")
TYPES.message_type.add(name="T")


def response_with(*files, request=None):
    respond = reflection_pb2.ServerReflectionResponse(original_request=request)
    respond.file_descriptor_response.file_descriptor_proto.extend(f.SerializeToString() for f in files)
    return respond


def file(name, *imports, **fields):
    return FileDescriptorProto(name=name, package="a", syntax="proto3", dependency=imports, **fields)


def service_file(*imports):
    made = file("s.proto", *imports)
    made.service.add(name="S").method.add(name="M", input_type=".a.T", output_type=".a.T")
    return made


def test_files_one_by_one(rpcurl, reflecting):
    """Each round requests all missing files at once."""
    types = file("t.proto", "u.proto")
    types.message_type.add(name="T").field.add(name="u", number=1, label=1, type=11, type_name=".a.U")
    leaf = file("u.proto")
    leaf.message_type.add(name="U")
    known = {f.name: f for f in (types, leaf, file("other.proto", "u.proto"))}
    streams = []

    def reflect(requests, context):
        requested = []
        streams.append(requested)
        for request in requests:
            kind = request.WhichOneof("message_request")
            requested.append(getattr(request, kind))
            found = service_file("t.proto", "other.proto", "gone.proto")
            if kind == "file_by_filename":
                found = known.get(request.file_by_filename)
            if found:
                yield response_with(found)
            else:
                yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 5})

    result = rpcurl("-v", "-d", '{"u":{}}', reflecting(reflect)).exits(0, '{"u":{}}\n')
    assert schema_line(result).startswith("reflection v1, 4 files, ")
    assert streams == [["a.S"], ["t.proto", "other.proto", "gone.proto"], ["u.proto"]]


def test_missing_import_that_is_needed(rpcurl, reflecting):
    def reflect(requests, context):
        for request in requests:
            if request.HasField("file_containing_symbol"):
                yield response_with(service_file("t.proto"))
            else:
                yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 5})

    rpcurl(reflecting(reflect)).fails(3, "a.T", "t.proto", "reflection of http://127.0.0.1")


def test_missing_import_is_found_by_a_symbol(rpcurl, reflecting):
    """The server has the file by another name than its importer gives it."""
    types = file("t.proto", "dir/u.proto")
    types.message_type.add(name="T").field.add(name="u", number=1, label=1, type=11, type_name=".a.U", json_name="u")
    leaf = file("u.proto")
    leaf.message_type.add(name="U").field.add(name="x", number=1, label=1, type=5, json_name="x")
    requested = []

    def reflect(requests, context):
        for request in requests:
            kind = request.WhichOneof("message_request")
            requested.append(getattr(request, kind))
            found = {"a.S": service_file("t.proto"), "t.proto": types, "a.U": leaf}.get(requested[-1])
            if found:
                yield response_with(found)
            else:
                respond = reflection_pb2.ServerReflectionResponse()
                respond.error_response.error_code = 5
                yield respond

    rpcurl("-d", '{"u":{"x":1}}', reflecting(reflect)).exits(0, '{"u":{"x":1}}\n')
    assert requested == ["a.S", "t.proto", "dir/u.proto", "a.U"]


def test_services_that_the_server_does_not_describe(rpcurl, reflecting, tmp_path):
    def reflect(requests, context):
        for request in requests:
            if request.WhichOneof("message_request") == "list_services":
                services = [{"name": name} for name in ("a.S", "b.T", HEALTH.split("/")[0])]
                yield reflection_pb2.ServerReflectionResponse(list_services_response={"service": services})
            elif request.file_containing_symbol == "a.S":
                yield response_with(service_file("t.proto"), TYPES)
            else:
                yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 5})

    server = reflecting(reflect).removesuffix("/a.S/M")
    remark = "services that the server lists but does not describe: b.T\n"
    for words in (["describe"], ["list", "--kind", "method"], ["export", "-o", tmp_path / "a.binpb"]):
        rpcurl(*words, server).exits(0, err=f"rpcurl: {remark}")
    listed = rpcurl("list", server).out.split()
    assert rpcurl("list", "--kind", "service", server).out.split() == listed
    services = rpcurl("list", "--format", "json", server).json()
    assert [service["name"] for service in services] == listed == ["a.S", "b.T", HEALTH.split("/")[0]]
    assert [service.get("file") for service in services] == ["s.proto", None, None]
    rpcurl("list", server, "b.T").fails(3, "rpcurl: b.T: the server lists this service but does not describe it\n")
    hint = f'hint: run "rpcurl list {server}" to see what exists\n'
    rpcurl("describe", server, "grpc.health.v1.Missing").fails(3, "not found in the schema", hint)
    rpcurl("diff", server, tmp_path / "a.binpb").fails(3, remark, "hint: name a descriptor set")


def test_services_are_listed_with_a_leading_dot(rpcurl, reflecting):
    def reflect(requests, context):
        for request in requests:
            if request.WhichOneof("message_request") == "list_services":
                yield reflection_pb2.ServerReflectionResponse(list_services_response={"service": [{"name": ".a.S"}]})
            elif request.file_containing_symbol == "a.S":
                yield response_with(service_file("t.proto"), TYPES)
            else:
                yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 5})

    server = reflecting(reflect).removesuffix("/a.S/M")
    assert rpcurl("list", server).out == "a.S\n"
    assert rpcurl("list", server, "--kind", "method").out == "a.S/M\n"
    for method in ("a.S/M", "S/M", "M"):
        rpcurl("--no-cache", server, method).exits(0, "{}\n")


def test_other_sources_suffice_for_a_server_without_reflection(rpcurl, refusing, tmp_path):
    url, requested = refusing(v1="UNIMPLEMENTED", v1alpha="UNIMPLEMENTED")
    server = url.removesuffix("/a.S/M")
    schema = write(tmp_path / "a.binpb", FileDescriptorSet(file=[TYPES, service_file("t.proto")]).SerializeToString())
    options = ["--no-cache", "--descriptor-set", schema, "--reflect"]
    script = write(tmp_path / "a.rpcurl", "call M\ncall a.S/M {}\n")
    for command in (["session", server], ["run", server, script], ["call", url]):
        result = rpcurl(command[0], *options, *command[1:], input=script.read_text() if command[0] == "session" else "")
        assert (result.code, set(result.out.split()), result.err) == (0, {"{}"}, "")
    script.write_text(f"target {server}\ntest a\ncall M\nexpect . == {{}}\n")
    result = rpcurl("test", *options, script)
    assert (result.code, "1 passed" in result.out + result.err) == (0, True), result.out + result.err
    assert requested == []
    remark = f"rpcurl: {server}: the server does not offer reflection; only other sources are used\n"
    for command in (["list"], ["list", "--kind", "method"], ["describe"], ["export", "-o", tmp_path / "b.binpb"]):
        result = rpcurl(command[0], *options[1:], *command[1:], server).exits(0, err=remark)
        assert command[0] == "export" or "S" in result.out
    rpcurl("session", *options, server, input="list\nlist\ncall M\n").exits(0, "a.S\na.S\n{}\n", remark)
    result = rpcurl("session", *options, server, input="call N\n")
    assert result.err.startswith(f"{remark}rpcurl: N: not found in the schema\n"), result.err
    # Without another source, its lack is an error.
    rpcurl("list", server).fails(3, "the server does not offer reflection")


# Types that no method names


UNNAMED = {"@type": "type.googleapis.com/grpc.health.v1.HealthCheckResponse", "@value": "CAE="}
UNKNOWN = {"@type": "type.googleapis.com/no.such.Type", "@value": "CAE="}
SERVING = {"@type": UNNAMED["@type"], "status": "SERVING"}


def questions(server, note):
    lines = [line.split() for line in server.log().splitlines() if line.endswith(note)]
    return [words[2] for words in lines if words[:1] == ["reflection"]]


@pytest.fixture
def asking(call, server):
    """Makes a call whose header marks its reflection requests; returns the result and those requests."""

    def run(method, message, *options, **keywords):
        note = f"note-{time.monotonic_ns()}"
        data = [] if message is None else ["-d", json.dumps(message)]
        result = call("--no-cache", "-H", f"demo-note: {note}", *options, *data, f"{server.url}/demo.v1.Demo/{method}", **keywords)
        return result, questions(server, note)

    return run


def test_types_in_an_any_are_looked_up(asking):
    result, requested = asking("Echo", {"any": UNNAMED, "anys": [UNKNOWN, UNNAMED, UNKNOWN]})
    assert (result.code, result.err) == (0, "")
    assert result.json() == {"any": SERVING, "anys": [UNKNOWN, SERVING, UNKNOWN]}
    # Each once, also the one that is not found.
    assert sorted(requested) == ["demo.v1.Demo", "grpc.health.v1.HealthCheckResponse", "no.such.Type"]


def test_types_of_details_are_looked_up(asking):
    message = {"code": 5, "details": [UNNAMED, UNKNOWN], "afterMessages": 3}
    result, requested = asking("FailStream", message, "--format", "events")
    assert result.code == 69
    assert 'grpc.health.v1.HealthCheckResponse: {"status":"SERVING"}' in result.err
    assert "no.such.Type: 2 bytes" in result.err
    events = result.lines()
    assert [e["event"] for e in events] == ["start", "sent", "headers", "message", "message", "message", "end", "metrics"]
    assert sorted(requested) == ["demo.v1.Demo", "grpc.health.v1.HealthCheckResponse", "no.such.Type"]


def test_calls_of_a_batch_share_lookups(asking):
    result, requested = asking("Echo", None, "--each", "--jobs", 4, input=json.dumps({"any": UNNAMED}) * 20)
    assert (result.code, result.err) == (0, "")
    assert result.lines() == [{"any": SERVING}] * 20
    assert len(requested) == 2


def test_look_ups_have_a_limit(asking):
    anys = [{"@type": f"type.googleapis.com/no.such.Type{n}", "@value": ""} for n in range(200)]
    result, requested = asking("Echo", {"anys": anys})
    assert result.code == 0, result.err
    assert len(result.json()["anys"]) == 200
    assert len(requested) == 1 + 32


def test_nothing_is_looked_up_without_reflection(asking, descriptor_set):
    result, requested = asking("Echo", {"any": UNNAMED}, "--descriptor-set", descriptor_set)
    assert result.json() == {"any": UNNAMED}
    assert requested == []


def test_look_ups_keep_the_deadline(rpcurl, reflecting):
    """The server sends its schema, and no further responses."""
    types = file("t.proto", "google/protobuf/any.proto")
    types.message_type.add(name="T").field.add(
        name="any", number=1, label=1, type=11, type_name=".google.protobuf.Any", json_name="any"
    )
    release = threading.Event()

    def reflect(requests, context):
        for request in requests:
            if request.file_containing_symbol != "a.S":
                release.wait(120)
                return
            yield response_with(service_file("t.proto"), types)

    url = reflecting(reflect)
    result = rpcurl("--max-time", "600ms", "-d", json.dumps({"any": UNKNOWN}), url)
    release.set()
    assert (result.code, result.json()) == (0, {"any": UNKNOWN}), result.err


def test_endless_responses(rpcurl, reflecting):
    def reflect(requests, context):
        while True:
            yield response_with(file("x.proto"))

    rpcurl(reflecting(reflect)).fails(3)


def test_endless_imports(rpcurl, reflecting):
    def reflect(requests, context):
        for number, request in enumerate(requests):
            yield response_with(file(f"{number}.proto", f"{number + 1}.proto"))

    result = rpcurl("--max-time", "1s", reflecting(reflect))
    assert result.code in (3, 64 + 4), result.err


def test_circle_of_imports(rpcurl, reflecting):
    def reflect(requests, context):
        for request in requests:
            if request.HasField("file_containing_symbol"):
                yield response_with(service_file("t.proto"))
            else:
                yield response_with(file("t.proto", "s.proto"))

    rpcurl(reflecting(reflect)).fails(3, "import cycle: ")


@pytest.mark.parametrize("response", [b"\xff\xff", b"", response_with(), b"\x22\x04\x0a\x02\xff\xff"])
def test_invalid_responses(rpcurl, reflecting, response):
    def reflect(requests, context):
        for _ in requests:
            yield response

    rpcurl(reflecting(reflect)).fails(3)


def test_stream_that_ends_without_a_response(rpcurl, reflecting):
    def reflect(requests, context):
        next(requests)
        yield from ()

    rpcurl(reflecting(reflect)).fails(3, "without a response")


def test_response_after_the_schema_is_complete(rpcurl, reflecting):
    types = file("t.proto")
    types.message_type.add(name="T")

    def reflect(requests, context):
        next(requests)
        yield response_with(service_file("t.proto"), types)
        yield response_with()

    rpcurl(reflecting(reflect)).exits(0, "{}\n")


def test_not_found_as_the_status_of_the_stream(rpcurl, reflecting):
    def reflect(requests, context):
        for request in requests:
            if not request.HasField("list_services"):
                context.abort(grpc.StatusCode.NOT_FOUND, "no")
            yield reflection_pb2.ServerReflectionResponse(list_services_response={"service": [{"name": "a.SS"}]})

    rpcurl(reflecting(reflect)).fails(3, "no service a.S", "did you mean a.SS/M?")


@pytest.mark.parametrize("code", ["UNAUTHENTICATED", "UNAVAILABLE", "PERMISSION_DENIED"])
def test_status_of_reflection_is_the_exit_code(rpcurl, reflecting, code):
    status = grpc.StatusCode[code]

    def reflect(requests, context):
        next(requests)
        context.abort(status, "not \x1b[31mnow")

    result = rpcurl(reflecting(reflect))
    result.fails(64 + status.value[0], "reflection failed", status.value[1].replace(" ", "_"), "not \\u{1B}[31mnow")
    assert (CREDENTIALS in result.err) == (code != "UNAVAILABLE"), result.err


CREDENTIALS = "hint: reflection may need credentials: --bearer TOKEN, --user NAME or -H; --descriptor-set FILE or --proto FILE"


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("protocol", ["connect", "grpc-web"])
def test_http_status_of_reflection_has_a_hint(rpcurl, protocol, status):
    class Refusal(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http_server(Refusal) as url:
        for command in (["list", url], ["call", f"{url}/a.S/M"]):
            result = rpcurl(*command, "--protocol", protocol)
            result.fails({401: 80, 403: 71}[status], CREDENTIALS)


def test_error_in_a_response(rpcurl, reflecting):
    def reflect(requests, context):
        for _ in requests:
            yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 7, "error_message": "not you"})

    rpcurl(reflecting(reflect)).fails(3, "refused a.S", "permission_denied (7): not you", CREDENTIALS)


def test_http_2_if_a_server_requires_it_for_streams(rpcurl, raw_server):
    """connect-go responds to a bidi stream over HTTP/1.1 with 505."""
    beginnings = []

    def respond(connection):
        beginnings.append(connection.recv(1 << 16)[:14])
        connection.sendall(b"HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    result = rpcurl("--protocol", "connect", f"http://{raw_server(respond).address}/{DELAY}")
    assert result.code != 0 and result.out == ""
    # Further connections find out why there is no response.
    assert beginnings[:2] == [b"POST /grpc.ref", b"PRI * HTTP/2.0"]


def test_unfinished_files_of_other_processes_are_kept(rpcurl, grpc_server):
    """A process of another container, with the same home, may have the same number."""
    directory = rpcurl.home / ".cache" / "rpcurl" / "reflection"
    script = f'mkdir -p {directory} && echo theirs >{directory}/.$$.part && exec "$@"'
    command = ["sh", "-c", script, "sh", str(RPCURL), f"{grpc_server.url}/{DELAY}"]
    assert subprocess.run(command, env={"HOME": str(rpcurl.home), "PATH": os.environ["PATH"]}, timeout=60).returncode == 0
    (theirs,) = directory.glob(".*.part")
    assert theirs.read_text() == "theirs\n"
    assert len(list(directory.glob("*.binpb"))) == 1
