"""`rpcurl template`: a message with every field, which is valid input."""


import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, empty_pb2, json_format, message_factory
from test_describe_round_trip import HERE, ROOT, protoc
from harness import write


@pytest.fixture
def schema(rpcurl, descriptor_set):
    def run(command, *words, **options):
        return rpcurl(command, "--descriptor-set", descriptor_set, *words, **options)

    return run


def class_of(path, type):
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file:
        pool.Add(file)
    # What the template of an Any holds.
    empty = descriptor_pb2.FileDescriptorProto()
    empty_pb2.DESCRIPTOR.CopyToProto(empty)
    pool.Add(empty)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(type)), pool


def test_of_a_method_and_of_a_type(schema):
    expected = '{\n  "name": "",\n  "language": ""\n}\n'
    for name in ["demo.v1.Demo/Hello", "Hello", "demo.v1.HelloRequest"]:
        result = schema("template", name)
        assert (result.code, result.err, result.out) == (0, "", expected)
    assert "message" in schema("template", "Hello", "--response").json()


def test_every_field_is_present(schema, descriptor_set):
    template = schema("template", "demo.v1.AllTypes").json()
    new, _ = class_of(descriptor_set, "demo.v1.AllTypes")
    assert list(template) == [field.json_name for field in sorted(new.DESCRIPTOR.fields, key=lambda f: f.number)]
    assert template["self"] is None, "recursion is cut"
    assert template["nested"] == {"label": "", "number": 0, "child": None}
    choices = [value for name, value in template.items() if name.startswith("choice")]
    assert choices == [0, None, None, None]


@pytest.mark.parametrize(
    "file, types",
    [
        (ROOT / "Tests/Schemas/proto2.proto", ["diff2.All", "diff2.Strict", "diff2.SetItem", "diff2.Expanded"]),
        (ROOT / "Tests/Schemas/proto3.proto", None),
        (ROOT / "Tests/Schemas/editions.proto", None),
        (ROOT / "Tests/Servers/demo.proto", None),
        (HERE / "old.proto", ["describe.old.Everything"]),
    ],
    ids=lambda value: value.stem if hasattr(value, "stem") else "",
)
def test_is_valid_input(rpcurl, tmp_path, file, types):
    path = tmp_path / "schema.binpb"
    protoc(path, file.name, file.parent)
    if types is None:
        types = rpcurl("list", "--descriptor-set", path, "--kind", "message").out.split()
        types = [name for name in types if not name.startswith("google.")]
    assert types
    for type in types:
        template = rpcurl("template", "--descriptor-set", path, type)
        assert (template.code, template.err) == (0, ""), type
        words = ["--descriptor-set", path, "--type", type, "--from", "json", "--to", "binary"]
        converted = rpcurl("convert", *words, input=template.out_bytes)
        assert (converted.code, converted.err) == (0, ""), (type, template.out)
        new, pool = class_of(path, type)
        parsed = json_format.Parse(template.out, new(), descriptor_pool=pool)
        assert new.FromString(converted.out_bytes) == parsed, type


def test_can_be_sent(rpcurl, grpc_server):
    template = rpcurl("template", "--plaintext", grpc_server.address, "Echo").succeeds()
    rpcurl("--plaintext", "-d", "@-", grpc_server.address, "Echo", input=template.out_bytes).succeeds()


def test_comments_are_on_standard_error(schema):
    plain = schema("template", "demo.v1.AllTypes")
    explained = schema("template", "demo.v1.AllTypes", "--comments")
    assert explained.out == plain.out
    lines = explained.err.splitlines()
    assert "nested.label: string" in lines
    assert "choiceNumber: int32; oneof choice, instead of choiceText, choiceNested, choiceFlag" in lines
    assert any(line.startswith("color: enum demo.v1.Color: COLOR_UNSPECIFIED, COLOR_RED") for line in lines)
    assert "stringToInt32{}: map<string, int32>" in lines


def test_large_messages_are_cut(rpcurl, tmp_path):
    """Thirty messages, each of which holds the next one twice, would be a thousand million fields."""
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", syntax="proto3")
    for index in range(30):
        message = file.message_type.add(name=f"M{index}")
        for number in (1, 2):
            message.field.add(name=f"f{number}", number=number, type=11, label=1, type_name=f".M{min(index + 1, 29)}")
    path = write(tmp_path / "wide.binpb", descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    result = rpcurl("template", "--descriptor-set", path, "M0").succeeds()
    assert len(result.out_bytes) < 1_000_000
    words = ["--descriptor-set", path, "--type", "M0", "--from", "json", "--to", "binary"]
    assert rpcurl("convert", *words, input=result.out_bytes).code == 0


def test_needs_a_name(schema):
    result = schema("template")
    assert (result.code, result.out_bytes) == (2, b"")
    assert "missing argument: METHOD or TYPE" in result.err


def test_required_messages_are_cut_too(rpcurl, tmp_path):
    """No message can satisfy them, but the command ends."""
    file = descriptor_pb2.FileDescriptorProto(name="x.proto")
    for index in range(60):
        message = file.message_type.add(name=f"M{index}")
        for number in (1, 2, 3):
            message.field.add(name=f"f{number}", number=number, type=11, label=2, type_name=f".M{min(index + 1, 59)}")
    path = write(tmp_path / "required.binpb", descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    assert rpcurl("template", "--descriptor-set", path, "M0").code == 0


def test_many_fields_of_a_large_enum(rpcurl, tmp_path):
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", syntax="proto3")
    file.enum_type.add(name="E")
    for number in range(50_000):
        file.enum_type[0].value.add(name=f"V{number}", number=number)
    file.message_type.add(name="M")
    for number in range(1, 18_000):
        file.message_type[0].field.add(name=f"f{number}", number=number, type=14, label=1, type_name=".E")
    path = write(tmp_path / "enums.binpb", descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    rpcurl("template", "--descriptor-set", path, "M").succeeds()


def test_service_is_an_error(schema):
    result = schema("template", "demo.v1.Demo")
    assert (result.code, result.out_bytes) == (3, b"")
    assert result.err == "rpcurl: demo.v1.Demo: this is a service\nhint: name a method, or a message\n"


def test_default_with_a_nul_byte(rpcurl, tmp_path):
    (tmp_path / "a.proto").write_text('syntax = "proto2"; message M { optional string a = 1 [default = "de\\000f"]; }')
    assert rpcurl("template", "--proto", tmp_path / "a.proto", "M").exits(0).json() == {"a": "de\0f"}
