"""`rpcurl list` and `rpcurl describe`: names and declarations of a schema, from all its sources."""

import os
import resource

import pytest
from google.protobuf import descriptor_pb2
from harness import write


@pytest.fixture
def schema(rpcurl, descriptor_set):
    """Runs a command on the demo's schema: schema("list", …)."""

    def run(command, *words, **options):
        return rpcurl(command, "--descriptor-set", descriptor_set, *words, **options)

    return run


def file_set(*files: descriptor_pb2.FileDescriptorProto) -> bytes:
    return descriptor_pb2.FileDescriptorSet(file=files).SerializeToString()


def small(name: str, package: str, *messages: str) -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
    for message in messages:
        file.message_type.add(name=message)
    file.service.add(name="Service").method.add(
        name="Call", input_type=f".{package}.{messages[0]}", output_type=f".{package}.{messages[0]}"
    )
    return file


METHODS = ["Chat", "Count", "Delay", "Echo", "EchoMetadata", "Fail", "FailStream", "Find", "Hello", "Large", "Raw", "Sum"]


# list


def test_list_services(schema):
    result = schema("list")
    assert (result.code, result.err, result.out) == (0, "", "demo.v1.Demo\n")


@pytest.mark.parametrize("name", ["demo.v1.Demo", "v1.Demo", "Demo"])
def test_list_methods(schema, name):
    assert schema("list", name).succeeds().out.split() == [f"demo.v1.Demo/{method}" for method in METHODS]


def test_list_members_of_others(schema):
    assert schema("list", "HelloRequest").out.split() == ["demo.v1.HelloRequest.language", "demo.v1.HelloRequest.name"]
    assert "demo.v1.Color.COLOR_RED" in schema("list", "demo.v1.Color").out.split()


def test_list_kinds(schema):
    enums = schema("list", "--kind", "enum").out.split()
    assert enums == sorted(enums) and "demo.v1.Color" in enums
    messages = schema("list", "--kind", "message").out.split()
    assert "demo.v1.AllTypes.Nested" in messages
    assert not any("Entry" in name for name in messages), "entries of maps are no messages"
    both = schema("list", "--kind", "enum", "--kind", "service").out.split()
    assert both == sorted([*enums, "demo.v1.Demo"])


def test_list_as_json(schema):
    assert schema("list", "--format", "json").json() == [{"name": "demo.v1.Demo", "kind": "service", "file": "demo.proto"}]
    methods = schema("list", "Demo", "--format", "json").json()
    assert methods[0] == {"name": "demo.v1.Demo/Chat", "kind": "method", "file": "demo.proto"}


# describe


def test_describe_a_method(schema):
    result = schema("describe", "demo.v1.Demo/Hello").succeeds()
    assert result.out == (
        "// demo.v1.Demo/Hello: method, demo.proto\n"
        "// Hello greets by name. An empty name is INVALID_ARGUMENT, with a\n"
        "// google.rpc.BadRequest that names the field.\n"
        "rpc Hello(HelloRequest) returns (HelloReply) {\n"
        "  option idempotency_level = NO_SIDE_EFFECTS;\n"
        "}\n"
    )
    assert schema("describe", "demo.v1.Demo.Hello").out == result.out
    assert schema("describe", "Hello").out == result.out


@pytest.mark.parametrize(
    "symbol, kind, line",
    [
        ("demo.v1.AllTypes", "message", "message AllTypes {"),
        ("AllTypes.Nested", "message", "message Nested {"),
        ("demo.v1.Color", "enum", "enum Color {"),
        ("COLOR_RED", "value", "COLOR_RED = 1;"),
        ("demo.v1.COLOR_RED", "value", "COLOR_RED = 1;"),
        ("HelloRequest.name", "field", "string name = 1;"),
        ("AllTypes.choice", "oneof", "oneof choice {"),
        ("demo.v1.Demo", "service", "service Demo {"),
    ],
)
def test_describe_kinds(schema, symbol, kind, line):
    result = schema("describe", symbol).succeeds()
    assert f": {kind}" in result.out.splitlines()[0]
    assert line in result.out.splitlines()
    described = schema("describe", symbol, "--format", "json").json()
    assert described["kind"] == kind
    assert line in described["proto"]


def test_oneofs_of_optional_fields_are_not_shown(schema):
    """They are the compiler's, and no .proto file has them."""
    assert schema("list", "--kind", "oneof").out.splitlines() == ["demo.v1.AllTypes.choice", "google.protobuf.Value.kind"]
    schema("describe", "demo.v1.AllTypes._optional_bool").exits(3, "")


def test_describe_without_symbol_shows_services(schema):
    assert schema("describe").out == schema("describe", "demo.v1.Demo").out


def test_describe_as_json(schema):
    message = schema("describe", "HelloRequest", "--format", "json").json()
    assert message["name"] == "demo.v1.HelloRequest"
    assert message["fields"][0] == {
        "name": "name",
        "jsonName": "name",
        "number": 1,
        "type": "string",
        "comment": "Who to greet. Must not be empty.",
    }
    method = schema("describe", "Demo/Hello", "--format", "json").json()
    assert (method["input"], method["output"]) == ("demo.v1.HelloRequest", "demo.v1.HelloReply")
    assert method["options"] == {"idempotency_level": "NO_SIDE_EFFECTS"}
    assert method["clientStreaming"] is False
    file = schema("describe", "demo.proto", "--format", "json").json()
    assert (file["kind"], file["syntax"], file["services"]) == ("file", "proto3", ["demo.v1.Demo"])


# Names


@pytest.mark.parametrize("command", ["describe", "template", "export"])
def test_unknown_name(schema, command):
    schema(command, "demo.v1.HelloRequst").fails(3, "did you mean demo.v1.HelloRequest")
    schema(command, "Helo").fails(3, "did you mean demo.v1.Demo/Hello")
    schema(command, "no.such.ThingAtAll").fails(3, "not found in the schema")


def test_unknown_file(schema):
    schema("describe", "demmo.proto").fails(3, "did you mean demo.proto")


def test_ambiguous_name(rpcurl, tmp_path):
    file = write(tmp_path / "two.binpb", file_set(small("a.proto", "a", "Same"), small("b.proto", "b", "Same")))
    rpcurl("describe", "--descriptor-set", file, "Same").fails(3, "2 names end with this", "a.Same, b.Same")
    assert rpcurl("describe", "--descriptor-set", file, "b.Same").code == 0
    # A full name is not ambiguous, though others end with it.
    file.write_bytes(file_set(small("a.proto", "a.b", "Same"), small("b.proto", "b", "Same")))
    assert "b.proto" in rpcurl("describe", "--descriptor-set", file, "b.Same").out


def test_own_names_come_before_the_standard_ones(rpcurl, tmp_path):
    file = write(tmp_path / "own.binpb", file_set(small("own.proto", "own", "Timestamp")))
    assert rpcurl("describe", "--descriptor-set", file, "Timestamp").out.startswith("// own.Timestamp:")
    assert rpcurl("describe", "--descriptor-set", file, "Duration").out.startswith("// google.protobuf.Duration:")


@pytest.mark.parametrize("method", ["Hello", "Demo/Hello", "v1.Demo.Hello"])
@pytest.mark.parametrize("source", ["set", "reflection"])
def test_suffix_of_a_name_is_enough_for_calls(rpcurl, grpc_server, descriptor_set, method, source):
    sources = ["--descriptor-set", descriptor_set] if source == "set" else []
    result = rpcurl(*sources, "--plaintext", "-d", '{"name":"Ada"}', grpc_server.address, method).succeeds()
    assert result.json()["message"] == "Hello, Ada!"


def test_unknown_suffix_of_a_name_in_calls(rpcurl, grpc_server, descriptor_set):
    for sources in [["--descriptor-set", descriptor_set], []]:
        rpcurl(*sources, "--plaintext", grpc_server.address, "Helo").fails(3, "did you mean demo.v1.Demo/Hello")


# Sources


def test_reflection(rpcurl, grpc_server, schema):
    assert "demo.v1.Demo" in rpcurl("list", "--plaintext", grpc_server.address).succeeds().out.split()
    for words in (["demo.v1.Demo"], ["Demo"], ["--format", "json", "Demo"]):
        result = rpcurl("list", "--plaintext", grpc_server.address, *words)
        assert (result.code, result.err, result.out) == (0, "", schema("list", *words).out)
    described = rpcurl("describe", "--plaintext", grpc_server.address, "demo.v1.HelloRequest")
    # Reflection has no comments.
    assert described.out.splitlines()[1:] == ["message HelloRequest {", "  string name = 1;", "  string language = 2;", "}"]
    # The name as grpcurl prints it.
    rpcurl("describe", "--plaintext", grpc_server.address, ".demo.v1.HelloRequest").exits(0, described.out)
    rpcurl("describe", "--plaintext", grpc_server.address, "Helo").fails(3, "did you mean demo.v1.Demo/Hello")


def test_several_sources(rpcurl, grpc_server, tmp_path, descriptor_set):
    first, second = tmp_path / "first.binpb", tmp_path / "second.binpb"
    first.write_bytes(file_set(small("first.proto", "one", "First")))
    second.write_bytes(file_set(small("second.proto", "two", "Second")))
    sets = ["--descriptor-set", first, "--protoset", second]
    assert rpcurl("list", *sets).out.split() == ["one.Service", "two.Service"]
    with_server = rpcurl("list", *sets, "--reflect", "--plaintext", grpc_server.address)
    assert {"one.Service", "two.Service", "demo.v1.Demo"} <= set(with_server.out.split())
    # A target that is not needed is not contacted.
    assert rpcurl("list", *sets, "127.0.0.1:1", "one.Service").out == "one.Service/Call\n"
    rpcurl("list", "--descriptor-set", "-", input=descriptor_set.read_bytes()).exits(0, "demo.v1.Demo\n")


def test_no_source(rpcurl):
    for command in ["list", "describe", "export"]:
        rpcurl(command).fails(3, "no schema: ", "--descriptor-set FILE", "--proto FILE")
    rpcurl("list", "--no-reflect", "x").fails(3, "no schema: ")


def test_no_server(rpcurl):
    rpcurl("list", "--plaintext", "127.0.0.1:1").fails(5, "127.0.0.1:1")


def test_too_many_words(schema):
    schema("list", "a", "b", "c").fails(2, "c: unexpected argument")


def test_without_a_server_libcurl_is_not_loaded(rpcurl, descriptor_set, tmp_path):
    broken = write(tmp_path / "libcurl.so.4", b"not a library")
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    for words in (["list"], ["describe"], ["template", "Hello"], ["export", "-o", tmp_path / "out"]):
        rpcurl(words[0], "--descriptor-set", descriptor_set, *words[1:], env=env).succeeds()


# Hostile schemas


HOSTILE = "\x1b[31m\x07\x9b\u202e\r\nnew line"


def test_schemas_cannot_control_a_terminal(rpcurl, tmp_path):
    file = small(f"x{HOSTILE}.proto", "x", f"Bad{HOSTILE}")
    message = file.message_type[0]
    field = message.field.add(name=f"f{HOSTILE}", number=1, type=9, label=1, json_name=HOSTILE)
    field.default_value = HOSTILE
    message.reserved_name.append(HOSTILE)
    file.options.java_package = HOSTILE
    file.dependency.append(HOSTILE)
    place = file.source_code_info.location.add(path=[4, 0])
    place.leading_comments, place.trailing_comments = HOSTILE, HOSTILE
    place.leading_detached_comments.append(HOSTILE)
    path = write(tmp_path / "hostile.binpb", file_set(file))
    name = f"x.Bad{HOSTILE}"
    commands = [
        ["list"],
        ["list", "--kind", "message"],
        ["list", "--kind", "message", "--format", "json"],
        ["list", name],
        ["describe"],
        ["describe", name],
        ["describe", f"x{HOSTILE}.proto"],
        ["describe", name, "--format", "json"],
        ["describe", "x.Bad"],
        ["template", name, "--comments"],
        ["export", name, "-o", tmp_path / "out"],
    ]
    for words in commands:
        result = rpcurl(words[0], "--descriptor-set", path, *words[1:])
        for text in (result.out, result.err):
            assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")], words
            assert not [line for line in text.splitlines() if line.startswith("new line")], words


def test_a_truncated_set_is_an_error(rpcurl, tmp_path, descriptor_set):
    whole = descriptor_set.read_bytes()
    file = tmp_path / "damaged.binpb"
    for end in range(0, 400, 57):
        file.write_bytes(whole[:end])
        for words in (["list"], ["describe"], ["export", "-o", os.devnull]):
            result = rpcurl(words[0], "--descriptor-set", file, *words[1:])
            assert result.code == 3, (end, words, result.err)


def test_large_schemas_take_linear_time(rpcurl, tmp_path):
    """A quadratic algorithm would exceed the limit for a run of rpcurl."""
    file = descriptor_pb2.FileDescriptorProto(name="large.proto", package="p", syntax="proto3")
    for name in ("Maps", "Nested"):
        message = file.message_type.add(name=name)
        for number in range(1, 15_000):
            nested = message.nested_type.add(name=f"F{number}Entry" if name == "Maps" else f"N{number}")
            label = 1
            if name == "Maps":
                nested.options.map_entry = True
                nested.field.add(name="key", number=1, label=1, type=9)
                nested.field.add(name="value", number=2, label=1, type=9)
                label = 3
            type_name = f".p.{name}.{nested.name}"
            message.field.add(name=f"f{number}", number=number, label=label, type=11, type_name=type_name)
    for number in range(10_000):
        service = file.service.add(name=f"S{number}")
        for method in range(5):
            service.method.add(name=f"M{method}", input_type=".p.Maps", output_type=".p.Nested")
    path = write(tmp_path / "large.binpb", file_set(file))
    for words in [[], ["large.proto"], ["p.Maps"], ["p.Nested"]]:
        for form in ["text", "json"]:
            rpcurl("describe", "--descriptor-set", path, "--format", form, *words).succeeds()


def test_describe_reads_each_file_once(rpcurl, tmp_path):
    """Also if services of two files alternate."""

    def processor_seconds(*services):
        files = []
        for index, names in enumerate(services):
            files.append(descriptor_pb2.FileDescriptorProto(name=f"{index}.proto", package="p", syntax="proto3"))
            files[-1].message_type.add(name=f"M{index}")
            for name in names:
                service = files[-1].service.add(name=name)
                for method in range(5):
                    service.method.add(name=f"Call{method}", input_type=f".p.M{index}", output_type=f".p.M{index}")
        (tmp_path / "set").write_bytes(file_set(*files))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        rpcurl("describe", "--descriptor-set", tmp_path / "set").succeeds()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    names = [f"S{number:04}" for number in range(3000)]
    in_order = processor_seconds(names[:1500], names[1500:])
    assert processor_seconds(names[::2], names[1::2]) < 5 * in_order + 0.1


def test_comments_of_a_file_with_carriage_returns(rpcurl):
    text = 'syntax = "proto3";\r\n// One.\r\n// Two.\r\nmessage M {\r\n  // A field.\r\n  string a = 1;\r\n}\r\n'
    (rpcurl.home / "crlf.proto").write_bytes(text.encode())
    shown = rpcurl("describe", "--proto", "crlf.proto", "M")
    assert shown.out.split("\n", 1)[1] == "// One.\n// Two.\nmessage M {\n  // A field.\n  string a = 1;\n}\n"
    printed = rpcurl("describe", "--proto", "crlf.proto", "M", "--format", "json").json()
    assert printed["comment"] == "One.\nTwo."
