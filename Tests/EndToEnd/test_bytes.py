"""The bytes of a request, compared with two other implementations: Python protobuf (upb) and protobuf-c."""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from harness import write

ORACLE = Path(__file__).parent / "oracle" / "repack.c"

MESSAGES = {
    "empty": {},
    "scalars": {
        "doubleValue": -1.5e300, "floatValue": 3.25, "int32Value": -(2**31), "int64Value": str(-(2**63)),
        "uint32Value": 2**32 - 1, "uint64Value": str(2**64 - 1), "sint32Value": -(2**31), "sint64Value": str(2**63 - 1),
        "fixed32Value": 7, "fixed64Value": "8", "sfixed32Value": -9, "sfixed64Value": "-10", "boolValue": True,
        "stringValue": "grün ✓ \U0001f600 \n", "bytesValue": "AAH//g==", "color": "COLOR_INFRARED",
    },
    "special numbers": {"doubleValue": "NaN", "floatValue": "-Infinity", "doubles": ["Infinity", -0.0, 0]},
    "presence of zero": {"optionalInt32": 0, "optionalString": "", "optionalBool": False, "optionalNested": {}},
    "nested": {"nested": {"label": "a", "child": {"number": -1, "child": {"label": "b"}}}, "self": {"self": {"boolValue": True}}},
    "repeated": {
        "doubles": [0, 1.5], "floats": [0.1], "int32s": [0, -1, 300], "int64s": ["1", "-2"], "uint32s": [0, 4294967295],
        "uint64s": ["18446744073709551615"], "sint32s": [-1, 1, -64, 64], "sint64s": ["-1"], "fixed32s": [1],
        "fixed64s": ["2"], "sfixed32s": [-3], "sfixed64s": ["-4"], "bools": [True, False], "strings": ["", "x"],
        "bytesList": ["", "/w=="], "colors": ["COLOR_RED", "COLOR_GREEN", 17], "nesteds": [{}, {"label": "z"}],
        "unpackedInt32s": [1, -1],
    },
    "maps": {
        "stringToInt32": {"": -1}, "int32ToString": {"-10": "x"}, "stringToNested": {"k": {"label": "v"}},
        "boolToBytes": {"true": "AA=="}, "stringToColor": {"r": "COLOR_RED"},
    },
    "map entries of defaults": {"stringToInt32": {"": 0}, "stringToNested": {"": {}}, "boolToBytes": {"false": ""}},
    "oneof number": {"choiceNumber": 0},
    "oneof text": {"choiceText": ""},
    "oneof message": {"choiceNested": {"number": 1}},
    "well-known": {
        "timestamp": "1969-12-31T23:59:59.999999999Z", "duration": "-1.500s", "fieldMask": "a.fooBar,b",
        "struct": {"a": 1, "b": [None, True, "x", {"c": {}}]}, "value": [1, "two"], "listValue": [{}, []], "nullValue": None,
        "any": {"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "Ada"},
        "wrappedDouble": 0, "wrappedFloat": 1, "wrappedInt64": "0", "wrappedUint64": "1", "wrappedInt32": 0,
        "wrappedUint32": 1, "wrappedBool": False, "wrappedString": "", "wrappedBytes": "",
        "timestamps": ["2024-02-29T12:00:00+01:00"], "anotherName": "renamed",
    },
}  # fmt: skip


@pytest.fixture(scope="session")
def protobuf_c(tmp_path_factory, descriptor_set):
    """A program that unpacks AllTypes with protobuf-c and packs it again."""
    directory = tmp_path_factory.mktemp("protobuf-c")
    schema = write(directory / "schema.binpb", as_proto2(FileDescriptorSet.FromString(descriptor_set.read_bytes())).SerializeToString())
    names = ["any", "duration", "field_mask", "struct", "timestamp", "wrappers"]
    protos = [f"google/protobuf/{name}.proto" for name in names]
    subprocess.run(["protoc", f"--descriptor_set_in={schema}", f"--c_out={directory}", *protos, "demo.proto"], check=True)
    program = directory / "repack"
    sources = [*directory.glob("**/*.c"), ORACLE]
    subprocess.run(["gcc", f"-I{directory}", "-o", program, *sources, "-lprotobuf-c"], check=True)
    return program


def as_proto2(files):
    """The same messages on the wire, in proto2: Debian's protoc-c refuses `optional` in proto3."""
    for file in files.file:
        file.syntax = "proto2"
        for message in file.message_type:
            use_proto2(message)
    return files


def use_proto2(message):
    unpackable = {FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES, FieldDescriptorProto.TYPE_MESSAGE}
    for field in message.field:
        if field.label == FieldDescriptorProto.LABEL_REPEATED and field.type not in unpackable:
            field.options.packed = not field.options.HasField("packed") or field.options.packed
        if field.proto3_optional:
            field.ClearField("proto3_optional")
            field.ClearField("oneof_index")
    # The synthetic oneofs of optional fields come after the real ones.
    used = {field.oneof_index for field in message.field if field.HasField("oneof_index")}
    del message.oneof_decl[len(used) :]
    for nested in message.nested_type:
        use_proto2(nested)


def sent_bytes(rpcurl, server, protocol, descriptor_set, data):
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--protocol", protocol, "-d", "@-", f"{server.url}/demo.v1.Demo/Raw",
        input=data,
    ).succeeds()  # fmt: skip
    return base64.b64decode(result.json().get("request", ""))


@pytest.mark.parametrize("name", MESSAGES)
def test_request_bytes_equal_those_of_python_and_protobuf_c(
    rpcurl, grpc_server, connect_server, descriptor_set, protobuf_c, name
):
    import demo_pb2

    data = json.dumps(MESSAGES[name])
    expected = json_format.Parse(data, demo_pb2.AllTypes()).SerializeToString(deterministic=True)
    repacked = subprocess.run([protobuf_c], input=expected, capture_output=True, check=True).stdout
    sent = sent_bytes(rpcurl, grpc_server, "grpc", descriptor_set, data)
    assert sent.hex() == expected.hex()
    assert sent.hex() == repacked.hex()
    assert sent == sent_bytes(rpcurl, connect_server, "connect", descriptor_set, data)


def test_map_entries_are_sent_sorted_by_key(rpcurl, grpc_server, descriptor_set):
    """Python's own order is another one, so the entries are compared one by one."""
    import demo_pb2

    maps = {"stringToInt32": {"b": 2, "a": 0, "": -1}, "int32ToString": {"10": "x", "-1": "", "2": "y"}}
    sent = sent_bytes(rpcurl, grpc_server, "grpc", descriptor_set, json.dumps(maps))
    expected = [
        demo_pb2.AllTypes(string_to_int32={"": -1}), demo_pb2.AllTypes(string_to_int32={"a": 0}),
        demo_pb2.AllTypes(string_to_int32={"b": 2}), demo_pb2.AllTypes(int32_to_string={-1: ""}),
        demo_pb2.AllTypes(int32_to_string={2: "y"}), demo_pb2.AllTypes(int32_to_string={10: "x"}),
    ]  # fmt: skip
    assert sent == b"".join(message.SerializeToString() for message in expected)


def test_string_with_a_zero_byte_equals_pythons(rpcurl, grpc_server, descriptor_set):
    """protobuf-c is no oracle here, because its strings end at a zero byte."""
    import demo_pb2

    data = json.dumps({"stringValue": "a\0b"})
    sent = sent_bytes(rpcurl, grpc_server, "grpc", descriptor_set, data)
    assert sent == demo_pb2.AllTypes(string_value="a\0b").SerializeToString()


@pytest.mark.parametrize("name", MESSAGES)
def test_response_equals_what_python_prints(demo, grpc_server, name):
    import demo_pb2

    data = json.dumps(MESSAGES[name])
    message = json_format.Parse(data, demo_pb2.AllTypes())
    result = demo("-d", "@-", f"{grpc_server.url}/demo.v1.Demo/Echo", input=data).succeeds()
    assert result.json() == json.loads(json_format.MessageToJson(message))
