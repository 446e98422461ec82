"""Names that only the server knows: extensions, and types in an Any, in files that the service does not import."""

import json
import threading
import time

import pytest

grpc = pytest.importorskip("grpc")

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, MethodOptions
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection import ReflectionServicer

from harness import wait_until, write
from harness.grpcio import ECHO_STREAM, REFLECTION, reflection, serve
from test_session_terminal import CTRL_D

STRING, INT32, MESSAGE = (getattr(FieldDescriptorProto, f"TYPE_{name}") for name in ("STRING", "INT32", "MESSAGE"))
SERVICE = "x.S"
# name: "n", (x.nick): "q", (x.extra): {z: 7}
REPLY = b"\x0a\x01n\xa2\x06\x01q\xaa\x06\x02\x08\x07"
TYPED = {"name": "n", "[x.nick]": "q", "[x.extra]": {"z": 7}}
UNKNOWN_NUMBER = b"\x0a\x01n\xda\x06\x01q"  # name: "n", 107: "q"
IN_ANY = {"any": {"@type": "type.googleapis.com/x.Extra", "z": 4, "[x.deep]": "d"}}


def add_field(fields, name, number, kind, **details):
    fields.add(name=name, number=number, type=kind, label=1, json_name=name, **details)


def all_files():
    base = FileDescriptorProto(name="base.proto", package="x", syntax="proto2", dependency=["google/protobuf/any.proto"])
    message = base.message_type.add(name="Base")
    add_field(message.field, "name", 1, STRING)
    add_field(message.field, "any", 2, MESSAGE, type_name=".google.protobuf.Any")
    message.extension_range.add(start=100, end=1000)
    service = base.service.add(name="S")
    service.method.add(name="Echo", input_type=".x.Base", output_type=".x.Base")
    service.method.add(
        name="Chat", input_type=".x.Base", output_type=".x.Base", client_streaming=True, server_streaming=True
    )
    more = FileDescriptorProto(name="more.proto", package="x", syntax="proto2", dependency=["base.proto"])
    add_field(more.extension, "nick", 100, STRING, extendee=".x.Base")
    add_field(more.extension, "extra", 101, MESSAGE, type_name=".x.Extra", extendee=".x.Base")
    extra = more.message_type.add(name="Extra")
    add_field(extra.field, "z", 1, INT32)
    extra.extension_range.add(start=100, end=101)
    deep = FileDescriptorProto(name="deep.proto", package="x", syntax="proto2", dependency=["more.proto"])
    add_field(deep.extension, "deep", 100, STRING, extendee=".x.Extra")
    return base, more, deep


def file_of_extension(index):
    file = FileDescriptorProto(name=f"part{index}.proto", package="x", syntax="proto2", dependency=["base.proto"])
    add_field(file.extension, f"part{index}", 600 + index, INT32, extendee=".x.Base")
    return file


class Server:
    """A server whose reflection is grpcio's, which records what is requested."""

    def __init__(self, files=None):
        pool = descriptor_pool.DescriptorPool()
        from google.protobuf import any_pb2

        pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
        for file in files or all_files():
            pool.Add(file)
        self.known = ReflectionServicer([SERVICE], pool=pool)
        self.requested = []
        self.release = threading.Event()
        self.release.set()
        self.refuses_extensions = False
        self.delay_seconds = 0
        # How many lookups of names fail, and how.
        self.failures = 0
        self.failure = grpc.StatusCode.UNAVAILABLE
        echo = grpc.unary_unary_rpc_method_handler(lambda request, context: request or REPLY)
        self.server, self.url = serve({REFLECTION: reflection(self.reflect), SERVICE: {"Echo": echo, "Chat": ECHO_STREAM}})

    def reflect(self, requests, context):
        for request in requests:
            kind = request.WhichOneof("message_request")
            asked = getattr(request, kind)
            if kind == "file_containing_extension":
                asked = f"{asked.containing_type} {asked.extension_number}"
            if kind != "file_by_filename":
                self.requested.append(asked)
            if asked not in (SERVICE, "x.Base") and kind != "list_services":
                self.release.wait(120)
                time.sleep(self.delay_seconds)
                if self.failures > 0:
                    self.failures -= 1
                    context.abort(self.failure, "busy")
            if kind == "file_containing_extension" and self.refuses_extensions:
                yield reflection_pb2.ServerReflectionResponse(error_response={"error_code": 12})
                continue
            yield from self.known.ServerReflectionInfo(iter([request]), context)

    def asked(self):
        """What was requested since the last use, besides the service."""
        names = sorted(name for name in self.requested if name not in (SERVICE, "", "*"))
        self.requested.clear()
        return names


@pytest.fixture
def server():
    server = Server()
    yield server
    server.release.set()
    server.server.stop(0)


@pytest.fixture
def echo(rpcurl, server):
    def run(*arguments, **options):
        return rpcurl("--no-cache", *arguments, f"{server.url}/{SERVICE}/Echo", **options)

    return run


EXTENSIONS = ["x.Base 100", "x.Base 101"]


# Responses


@pytest.mark.parametrize("options", [[], ["--format", "pretty"], ["-v"]])
def test_extensions_of_responses(echo, server, options):
    assert echo(*options).exits(0).json() == TYPED
    assert server.asked() == EXTENSIONS


def test_extensions_of_responses_in_other_formats(echo, server):
    text = echo("--format", "text").out
    assert text == 'name: "n"\n[x.nick]: "q"\n[x.extra] {\n  z: 7\n}\n'
    assert echo("--filter", "[x.extra].z").out == "7\n"
    events = echo("--format", "events").lines()
    assert [event["message"] for event in events if event["event"] == "message"] == [TYPED]
    server.asked()
    assert echo("--format", "binary").out_bytes == REPLY
    assert echo("--format", "none").out == ""
    assert server.asked() == []


def test_names_within_types_that_were_looked_up(echo, server):
    # Extra, with its extension 100, in an Any.
    content = b"\x08\x04\xa2\x06\x01d"
    anything = b"\x0a\x1btype.googleapis.com/x.Extra\x12" + bytes([len(content)]) + content
    message = b"\x12" + bytes([len(anything)]) + anything
    assert echo("--data-format", "binary", "-d", "@-", input=message).exits(0).json() == IN_ANY
    assert server.asked() == ["x.Extra", "x.Extra 100"]


def test_a_number_that_the_server_does_not_know_stays_unknown(echo, server):
    result = echo("--data-format", "binary", "-d", "@-", "--unknown-fields", "show", input=UNKNOWN_NUMBER)
    assert result.json() == {"name": "n", "107": [{"string": "q", "bytes": "cQ=="}]}
    assert server.asked() == ["x.Base 107"]


def test_numbers_have_a_limit(echo, server):
    fields = b"".join(bytes([(n << 3) & 0x7F | 0x80, n >> 4, 1]) for n in range(200, 400))
    echo("--data-format", "binary", "-d", "@-", input=fields).exits(0, "{}\n")
    assert len(server.asked()) == 32


def test_other_names_are_found_if_the_server_refuses_numbers(echo, server):
    server.refuses_extensions = True
    result = echo("-d", json.dumps({"any": {"@type": "x/x.Extra", "@value": "CAQ="}, "name": "n"}))
    assert result.json() == {"any": {"@type": "x/x.Extra", "z": 4}, "name": "n"}
    assert echo().json() == {"name": "n"}


@pytest.mark.parametrize("options", [[], ["--use", "log"]])
def test_lookups_keep_the_deadline(echo, server, options):
    server.release.clear()
    assert echo("--max-time", "1", *options).exits(0).json() == {"name": "n"}


def test_without_reflection_nothing_is_asked(rpcurl, server, tmp_path):
    schema = tmp_path / "base.binpb"
    assert rpcurl("export", "-o", schema, server.url).code == 0
    server.asked()
    result = rpcurl("--descriptor-set", schema, f"{server.url}/{SERVICE}/Echo")
    assert (result.json(), server.asked()) == ({"name": "n"}, [])
    result = rpcurl("--descriptor-set", schema, "--reflect", f"{server.url}/{SERVICE}/Echo")
    assert (result.json(), server.asked()) == (TYPED, EXTENSIONS)


def test_cached_schema(rpcurl, server):
    for _ in range(2):
        rpcurl("-d", '{"[x.nick]":"q"}', f"{server.url}/{SERVICE}/Echo").exits(0, '{"[x.nick]":"q"}\n')
    assert server.asked() == ["x.nick", "x.nick"]


# Requests


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-d", '{"[x.nick]":"a","[x.extra]":{"z":1}}'], {"[x.nick]": "a", "[x.extra]": {"z": 1}}),
        (["-d", json.dumps(IN_ANY)], IN_ANY),
        (["--data-format", "text", "-d", '[x.nick]: "a"'], {"[x.nick]": "a"}),
        (["--data-format", "text", "-d", "any { [x/x.Extra] { z: 4 } }"], {"any": {"@type": "x/x.Extra", "z": 4}}),
        (["--set", "[x.nick]=a"], {"[x.nick]": "a"}),
        (["--set", 'any={"@type":"x/x.Extra","z":4}'], {"any": {"@type": "x/x.Extra", "z": 4}}),
        (["-d", '{"name":"${random(0,0)}","[x.nick]":"a"}', "--expand"], {"name": "0", "[x.nick]": "a"}),
    ],
)
def test_names_in_requests(echo, server, arguments, shown):
    assert echo(*arguments).succeeds().json() == shown


def test_lookups_before_a_call_have_one_time_limit(rpcurl, server):
    server.release.clear()
    data = [word for name in "abc" for word in ("-d", json.dumps({f"[x.{name}]": 1}))]
    options = ["--no-cache", "-v", "--max-time", "2", "--allow-unknown-fields"]
    result = rpcurl(*options, *data, f"{server.url}/{SERVICE}/Chat")
    assert (result.code, server.asked()) == (0, ["x.a"]), result.err
    assert "* schema: the lookup of x.a failed: reflection failed: deadline_exceeded (4)" in result.err
    assert "* schema: the lookup of x.b failed: no time is left\n* schema: the lookup of x.c failed: no time is left\n" in result.err


@pytest.mark.parametrize("options", [[], ["--each"]])
def test_lookups_for_a_message_have_one_time_limit(rpcurl, options):
    server = Server([*all_files(), *(file_of_extension(index) for index in range(4))])
    server.delay_seconds = 0.8
    try:
        data = json.dumps({f"[x.part{index}]": 1 for index in range(4)})
        rpcurl("--no-cache", "--max-time", "2", *options, "-d", data, f"{server.url}/{SERVICE}/Echo").exits(4).reports("has no field")
        # The third lookup would end after 2.4 seconds.
        assert "x.part3" not in server.asked()
    finally:
        server.server.stop(0)


@pytest.mark.parametrize("options", [[], ["--each"]])
def test_only_names_that_the_server_does_not_know_are_ignored(echo, server, options):
    options = [*options, "--allow-unknown-fields"]
    assert echo(*options, "-d", '{"[x.nick]":"a","[x.no]":1,"no":{"[x.extra]":2}}').exits(0).json() == {"[x.nick]": "a"}
    assert server.asked() == ["x.extra", "x.nick", "x.no"]
    assert echo(*options, "--data-format", "text", "-d", '[x.nick]: "a" [x.no]: 1').exits(0).json() == {"[x.nick]": "a"}


def test_names_in_requests_that_the_server_does_not_know(echo, server):
    echo("-d", '{"[x.no]":1}').exits(4, "").reports('x.Base has no field "[x.no]"')
    assert server.asked() == ["x.no"]
    echo("--set", "[x.no]=1").exits(3).reports("x.Base has no field [x.no]")
    echo("-d", '{"any":{"@type":"x/x.No"}}').exits(4).reports("the schema does not define the type x.No")


def test_explain_asks_nothing(echo, server):
    assert echo().code == 0
    server.asked()
    echo("--explain", "-d", '{"[x.nick]":"a"}', "--set", "[x.nick]=b")
    assert server.asked() == []


@pytest.mark.parametrize("options", [[], ["--use", "log"]])
def test_messages_of_a_stream(rpcurl, server, options):
    lines = [{"[x.nick]": "a"}, {"name": "b"}, {"[x.extra]": {"z": 1}}, {"[x.nick]": "c"}, IN_ANY]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    result = rpcurl("--no-cache", *options, "--format", "json", "-d", "@-", f"{server.url}/{SERVICE}/Chat", input=text).exits(0)
    assert result.lines() == lines
    assert server.asked() == ["x.deep", "x.nick"]


def test_calls_of_a_batch_share_lookups(echo, server):
    text = json.dumps({"[x.nick]": "a"}) * 20 + json.dumps({"any": {"@type": "x/x.Extra", "z": 1}}) * 20
    result = echo("--each", "--jobs", 4, "--format", "json", "-d", "@-", input=text).succeeds()
    assert result.lines() == [{"[x.nick]": "a"}] * 20 + [{"any": {"@type": "x/x.Extra", "z": 1}}] * 20
    assert server.asked() == ["x.nick"]


def test_invalid_call_of_a_batch(echo, server):
    text = '{"[x.nick]":"a"}{"[x.no]":1}{"[x.nick]":"c"}'
    echo("--each", "--format", "json", "-d", "@-", input=text).exits(4, '{"[x.nick]":"a"}\n').reports('call 2: standard input: x.Base has no field "[x.no]"')


def test_typed_messages_after_one_whose_name_the_server_lacks(terminal, server):
    options = ["--no-cache", "--format", "json", "-d", "@-"]
    screen = terminal(*options, f"{server.url}/{SERVICE}/Chat", columns=120)
    screen.shows("* type messages in JSON for Chat; Ctrl-D ends the request")
    server.release.clear()
    screen.send('{"[x.no]":1} {"name":"same line"}\r{"name":"next line"}\r')
    wait_until(lambda: "x.no" in server.requested, "the request for the name")
    server.release.set()
    screen.wait(lambda: screen.lines.count('{"name":"next line"}') == 2, "the response")
    assert 'x.Base has no field "[x.no]"' in screen.text
    screen.send(CTRL_D)
    assert screen.end() == (0, None)
    assert screen.lines.count('{"name":"same line"}') == 0


# Interceptors, sessions, suites, load


def test_names_in_responses_of_the_cache(rpcurl):
    files = all_files()
    files[0].service[0].method[0].options.idempotency_level = MethodOptions.NO_SIDE_EFFECTS
    server = Server(files)
    try:
        # The second response is from the cache, so its names are looked up after the interceptors.
        for _ in range(2):
            options = ["--no-cache", "--format", "events", "--use", "edit,response-set=name=w", "--use", "cache,ttl=60s"]
            events = rpcurl(*options, f"{server.url}/{SERVICE}/Echo").exits(0).lines()
            assert [event["message"] for event in events if event["event"] == "message"] == [{**TYPED, "name": "w"}]
            assert server.asked() == EXTENSIONS
    finally:
        server.server.stop(0)


def test_interceptors_receive_names(echo):
    result = echo("--use", 'assert,check=.[x.nick] == q', "--use", "log,bodies=true")
    assert (result.code, result.json()) == (0, TYPED), result.err
    assert json.dumps(TYPED, separators=(",", ":")) in result.err
    result = echo("--use", "edit,response-set=name=w")
    assert result.json() == {**TYPED, "name": "w"}, result.err
    result = echo("--use", "edit,set=[x.nick]=w,response-set=[x.extra].z=8")
    assert result.json() == {"[x.nick]": "w", "[x.extra]": {"z": 8}}, result.err


def test_session_asks_for_each_name_once(rpcurl, server):
    commands = [
        "call Echo {}",
        'call Echo {"[x.nick]":"a"}',
        'call Echo {"any":{"@type":"x/x.Extra","z":4}}',
        "call Echo {}",
        "open Chat",
        '{"[x.extra]":{"z":5}}',
        "receive",
        "close",
    ]
    result = rpcurl("session", "--no-cache", server.url, input="\n".join(commands)).succeeds().prints('{"[x.extra]":{"z":5}}')
    assert "warning" not in result.out
    assert server.asked() == EXTENSIONS


@pytest.fixture
def session(rpcurl, server, tmp_path):
    """A session with the schema of a file: it has the service, and the server has further names."""
    schema = tmp_path / "base.binpb"
    assert rpcurl("export", "-o", schema, server.url).code == 0
    server.asked()

    def run(*commands, url=server.url):
        options = ["--no-cache", "-v", "--descriptor-set", schema, "--reflect", "--format", "json"]
        result = rpcurl("session", *options, url, input="\n".join(commands)).exits(0)
        return [json.loads(line) for line in result.out.splitlines() if line.startswith("{")], result.out + result.err

    return run


def test_session_asks_once_more_after_a_failure(session, server):
    server.failures = 1
    untyped = {"name": "n"}
    responses, text = session(*["call Echo {}"] * 3)
    assert responses == [untyped, TYPED, TYPED]
    why = "* schema: the lookup of extension 100 of x.Base and 1 more failed: reflection failed: unavailable (14): busy"
    assert text.count(why) == 1
    assert server.asked() == sorted(["x.Base 100", *EXTENSIONS])
    server.failures = 10
    responses, text = session(*["call Echo {}"] * 4)
    assert responses == [untyped] * 4
    assert text.count(why) == 2
    assert server.asked() == ["x.Base 100"] * 2


@pytest.mark.parametrize("code", ["NOT_FOUND", "UNIMPLEMENTED", "PERMISSION_DENIED"])
def test_session_asks_once_if_the_server_refuses(session, server, code):
    server.failures, server.failure = 10, grpc.StatusCode[code]
    assert session(*["call Echo {}"] * 3)[0] == [{"name": "n"}] * 3
    requested = server.asked()
    assert len(requested) == len(set(requested)) > 0


def test_session_asks_another_target_again(session, server):
    lacking = Server(all_files()[:1])
    try:
        commands = ["call Echo {}", f"target {server.url}", "call Echo {}", f"target {lacking.url}", "call Echo {}"]
        assert session(*commands, url=lacking.url)[0] == [{"name": "n"}, TYPED, {"name": "n"}]
        assert (lacking.asked(), server.asked()) == (sorted(EXTENSIONS * 2), EXTENSIONS)
    finally:
        lacking.server.stop(0)


def test_suite_names_extensions(rpcurl, server, tmp_path):
    suite = write(tmp_path / "a.rpcurl", (
        f"""target {server.url}
test unset
call Echo {{"name":"n"}}
expect .[x.nick] absent
test whole
call Echo {{}}
expect .[x.nick] == "q"
expect . == {json.dumps(TYPED)}
"""
    ))
    result = rpcurl("test", "--no-cache", suite)
    assert (result.code, "2 passed" in result.out + result.err) == (0, True), result.out + result.err


def test_load(rpcurl, server):
    arguments = ["--requests", 20, "--threshold", "errors < 1%", "-d", '{"[x.nick]":"a"}']
    result = rpcurl("load", *arguments, "--use", 'assert,check=.[x.nick] == a', f"{server.url}/{SERVICE}/Echo")
    assert result.code == 0, result.out + result.err
    assert server.asked() == ["x.nick"]
