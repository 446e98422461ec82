"""Random messages through rpcurl and through implementations that share nothing with it, in both directions:
Python protobuf (upb), `protoc --encode` and `--decode`, and protobuf-c."""

import difflib
import json
import re
import struct
import subprocess
from pathlib import Path
from random import Random

import pytest
from google.protobuf import descriptor_pool, json_format, message_factory, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import DecodeError
from random_messages import RandomMessages
from harness import varint

SCHEMAS = Path(__file__).resolve().parents[1] / "Schemas"
ORACLE = Path(__file__).parent / "oracle" / "repack_plain.c"
PACKAGES = ["diff2", "diff3", "diff23", "plain"]
COUNT = 500


# Schemas and messages


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    from grpc_tools import protoc

    file = tmp_path_factory.mktemp("schemas") / "schemas.binpb"
    sources = [str(path) for path in sorted(SCHEMAS.glob("*.proto"))]
    include = Path(protoc.__file__).parent / "_proto"
    arguments = [f"-I{SCHEMAS}", f"-I{include}", "--include_imports", f"--descriptor_set_out={file}"]
    assert protoc.main(["protoc", *arguments, *sources]) == 0
    return file


@pytest.fixture(scope="module")
def pool(schema):
    pool = descriptor_pool.DescriptorPool()
    files = FileDescriptorSet.FromString(schema.read_bytes()).file
    for file in files:
        pool.Add(file)
    message_factory.GetMessageClassesForFiles([file.name for file in files], pool)
    return pool


@pytest.fixture(scope="module")
def type_of(pool):
    """The class of a message by its full name."""
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


@pytest.fixture(scope="module")
def messages(pool, type_of):
    """The random messages of a package's `All`."""
    made = {}
    any_types = {
        "diff3": ["diff3.All", "google.protobuf.Duration", "google.protobuf.Int64Value", "google.protobuf.FieldMask"],
        "diff23": ["diff23.All.GroupLike", "diff23.All"],
    }

    def make(package, without=()):
        if (package, without) not in made:
            types = [type_of(name) for name in any_types.get(package, [])]
            source = RandomMessages(pool, package, types, zero_bytes_in_text=package != "plain", without=without)
            All = type_of(f"{package}.All")
            made[package, without] = [source.fill(All()) for _ in range(COUNT)]
        return made[package, without]

    return make


def serialized(message):
    return message.SerializePartialToString(deterministic=True)


# rpcurl


@pytest.fixture
def convert(rpcurl, schema):
    def run(type, source, target, data, *arguments):
        words = ["--descriptor-set", schema, "--type", type, "--from", source, "--to", target, *arguments]
        result = rpcurl("convert", *words, input=data, timeout=120)
        assert result.err == ""
        assert result.code == 0
        return result.out_bytes

    return run


def delimit(items):
    return b"".join(varint(len(item)) + item for item in items)


def split(data):
    items = []
    position = 0
    while position < len(data):
        length = shift = 0
        while True:
            byte = data[position]
            position += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        items.append(data[position : position + length])
        position += length
    return items


def lines(data):
    assert data.endswith(b"\n")
    return data[:-1].split(b"\n")


def same(type, found, expected):
    """That serialized messages mean the same to Python."""
    assert len(found) == len(expected)
    for index, (a, b) in enumerate(zip(found, expected)):
        a, b = (type.FromString(item) for item in (a, b))
        if serialized(a) != serialized(b):
            pytest.fail(f"message {index}:\n{difference(str(a), str(b))}", pytrace=False)


def difference(found, expected):
    return "\n".join([*difflib.unified_diff(expected.split("\n"), found.split("\n"), "expected", "found", n=2)][:60])


# Binary


def field_of(number, wire_type, content):
    return varint(number << 3 | wire_type) + content


def unknown_fields(random):
    number = random.choice([777, 99999, 15000])
    return random.choice([
        field_of(number, 0, varint(random.getrandbits(64))), field_of(number, 1, random.randbytes(8)),
        field_of(number, 2, b"\x03abc"), field_of(number, 5, random.randbytes(4)),
        field_of(number, 3, field_of(1, 0, b"\x01") + field_of(number, 4, b"")),
    ])  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_binary_is_read_and_written_as_python_does(convert, messages, type_of, package):
    expected = [serialized(message) for message in messages(package)]
    found = split(convert(f"{package}.All", "binary", "binary", delimit(expected), "--delimited"))
    same(type_of(f"{package}.All"), found, expected)


@pytest.mark.parametrize("package", PACKAGES)
def test_concatenated_messages_merge_as_python_merges_them(convert, messages, type_of, package):
    random = Random(package)
    # Python replaces an item of a message set, where protoc merges it: see below.
    items = [serialized(message) for message in messages(package, without=("diff2.Set",))]
    merged = [a + unknown_fields(random) + b + unknown_fields(random) for a, b in zip(items, items[1:])]
    found = split(convert(f"{package}.All", "binary", "binary", delimit(merged), "--delimited"))
    same(type_of(f"{package}.All"), found, merged)
    All = type_of(f"{package}.All")
    with_json = [item for item in merged if json_or_none(All.FromString(item))]
    assert len(with_json) > COUNT / 2
    text = convert(f"{package}.All", "binary", "json", delimit(with_json), "--delimited")
    for line, item in zip(lines(text), with_json, strict=True):
        same_json(line, json_of(All.FromString(item)))


# protobuf-c is no oracle for message sets: their items are groups, and it refuses each message with a group, known or
# unknown. Its generator omits extensions.
def test_items_of_message_sets_merge_as_protoc_merges_them(pool, convert, type_of):
    source = RandomMessages(pool, "sets")
    items = [serialized(source.fill(type_of("diff2.Batch")(), density=1)) for _ in range(3)]
    sets = [serialized(source.fill(type_of("diff2.Set")(), density=0.7)) for _ in range(50)]
    as_field = [field_of(1, 2, varint(len(inner)) + inner) for inner in (field_of(92, 2, varint(len(a + b)) + a + b) for a, b in zip(sets, sets[1:]))]
    batch = b"".join(items + as_field)
    same(type_of("diff2.Batch"), [protoc("encode", "diff2", protoc("decode", "diff2", batch))], [convert("diff2.Batch", "binary", "binary", batch)])


@pytest.mark.parametrize(("written", "read"), [("Packed", "Expanded"), ("Expanded", "Packed")])
def test_packed_and_expanded_lists_are_both_read(pool, convert, type_of, written, read):
    source = RandomMessages(pool, written)
    items = [serialized(source.fill(type_of(f"diff2.{written}")(), density=0.7)) for _ in range(COUNT)]
    found = split(convert(f"diff2.{read}", "binary", "binary", delimit(items), "--delimited"))
    expected = [serialized(type_of(f"diff2.{read}").FromString(item)) for item in items]
    assert found == expected
    json_found = convert(f"diff2.{read}", "binary", "json", delimit(items), "--delimited")
    assert [parse_json(line) for line in lines(json_found)] == [
        json_of(type_of(f"diff2.{read}").FromString(item)) for item in items
    ]


def test_bytes_equal_those_of_protobuf_c(convert, messages, protobuf_c):
    items = [serialized(message) for message in messages("plain")]
    framed = b"".join(struct.pack("<I", len(item)) + item for item in items)
    repacked = subprocess.run([protobuf_c], input=framed, capture_output=True, check=True).stdout
    expected = []
    while repacked:
        (size,) = struct.unpack_from("<I", repacked)
        expected.append(repacked[4 : 4 + size])
        repacked = repacked[4 + size :]
    assert len(expected) == COUNT
    assert split(convert("plain.All", "binary", "binary", delimit(items), "--delimited")) == expected
    text = convert("plain.All", "binary", "json", delimit(expected), "--delimited")
    assert split(convert("plain.All", "json", "binary", text, "--delimited")) == expected


@pytest.fixture(scope="module")
def protobuf_c(tmp_path_factory):
    """A program that unpacks messages of plain.All with protobuf-c and packs them again."""
    directory = tmp_path_factory.mktemp("protobuf-c")
    subprocess.run(["protoc-c", f"-I{SCHEMAS}", f"--c_out={directory}", SCHEMAS / "plain.proto"], check=True)
    program = directory / "repack"
    sources = [directory / "plain.pb-c.c", ORACLE]
    subprocess.run(["gcc", f"-I{directory}", "-o", program, *sources, "-lprotobuf-c"], check=True)
    return program


@pytest.mark.parametrize("package", PACKAGES)
def test_damaged_messages_are_refused_when_python_refuses_them(rpcurl, schema, messages, type_of, package):
    random = Random(package)
    All = type_of(f"{package}.All")
    damaged = [damage(random, serialized(message)) for message in messages(package) if message.ByteSize()][:300]
    accepted = dict(accepted_messages(rpcurl, schema, f"{package}.All", damaged))
    for index, item in enumerate(damaged):
        try:
            expected = serialized(All.FromString(item))
        except DecodeError:
            expected = None
        found = accepted.get(index)
        if found is not None and expected is not None:
            found = serialized(All.FromString(found))
            if found != expected:
                found, expected = (without_maps(All.FromString(bytes)) for bytes in (found, expected))
        if found != expected:
            texts = [bytes and str(All.FromString(bytes)) or repr(bytes) for bytes in (found, expected)]
            pytest.fail(f"{item.hex()}:\n{difference(*texts)}", pytrace=False)


def without_maps(message):
    """Python takes a map entry in which a field is unknown for an unknown field; rpcurl drops the field, as C++ does."""
    def strip(message):
        for field, value in message.ListFields():
            if field.message_type and field.message_type.GetOptions().map_entry:
                message.ClearField(field.name)
            elif field.message_type:
                for nested in value if field.is_repeated else [value]:
                    strip(nested)

    message.DiscardUnknownFields()
    strip(message)
    return serialized(message)


def damage(random, item):
    item = bytearray(item)
    for _ in range(random.choice([1, 1, 2, 5])):
        position = random.randrange(len(item) + 1)
        match random.randrange(4):
            case 0 if position < len(item): item[position] ^= 1 << random.randrange(8)
            case 1 if position < len(item): del item[position]
            case 2: item[position:position] = random.randbytes(random.choice([1, 2, 10]))
            case 3: item[position:] = b""
    return bytes(item)


def accepted_messages(rpcurl, schema, type, items):
    """The messages that rpcurl takes, with their places: it stops at the first that it refuses, so it runs again."""
    start = 0
    while start < len(items):
        words = ["--descriptor-set", schema, "--type", type, "--from", "binary", "--to", "binary"]
        result = rpcurl("convert", *words, "--delimited", "--allow-partial", input=delimit(items[start:]), timeout=120)
        taken = split(result.out_bytes)
        yield from enumerate(taken, start)
        if result.code == 0:
            return
        assert result.code == 4, result.err
        start += len(taken) + 1


# JSON


def parse_number(text):
    """Python prints more digits of a float than it has; how the digits are read is another test's question."""
    value = float(text)
    return struct.pack("<f", value) if abs(value) <= 3.4028235e38 else value


def parse_json(text):
    return json.loads(text, parse_float=parse_number, parse_int=parse_number)


def same_json(line, expected):
    found = parse_json(line)
    if found != expected:
        found, expected = (json.dumps(value, indent=1, sort_keys=True, default=str) for value in (found, expected))
        pytest.fail(difference(found, expected), pytrace=False)


def json_of(message, **options):
    text = json_format.MessageToJson(message, descriptor_pool=message.DESCRIPTOR.file.pool, **options)
    # Python writes NullValue as a number when it writes enums so; it has no other form than null.
    return parse_json(text.replace('"oNull": 0', '"oNull": null'))


def json_or_none(message):
    """Two durations of different signs merge into an invalid one."""
    try:
        return json_of(message)
    except json_format.SerializeToJsonError:
        return None




@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("style", ["plain", "proto-names", "enum-numbers"])
def test_json_equals_pythons(convert, messages, package, style):
    options = {
        "plain": ([], {}),
        "proto-names": (["--proto-names"], {"preserving_proto_field_name": True}),
        "enum-numbers": (["--enum-numbers"], {"use_integers_for_enums": True}),
    }[style]
    items = messages(package)
    data = delimit([serialized(message) for message in items])
    found = lines(convert(f"{package}.All", "binary", "json", data, "--delimited", *options[0]))
    for line, message in zip(found, items, strict=True):
        same_json(line, json_of(message, **options[1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_json_is_read_as_python_reads_it(convert, messages, type_of, pool, package):
    items = messages(package)
    for options in [{}, {"preserving_proto_field_name": True}, {"use_integers_for_enums": True, "indent": 7}, {"ensure_ascii": False, "indent": None}]:
        text = "\n".join(json_format.MessageToJson(message, descriptor_pool=pool, **options) for message in items)
        found = split(convert(f"{package}.All", "json", "binary", text, "--delimited"))
        same(type_of(f"{package}.All"), found, [serialized(message) for message in items])


@pytest.mark.parametrize("package", PACKAGES)
def test_python_reads_the_json(convert, messages, type_of, pool, package):
    items = messages(package)
    All = type_of(f"{package}.All")
    data = delimit([serialized(message) for message in items])
    for line, message in zip(lines(convert(f"{package}.All", "binary", "json", data, "--delimited")), items):
        # Python takes no float above the largest one's exact value, not even when it is rounded to it.
        line = line.replace(b"3.4028235e+38", b"3.4028234e+38")
        same(All, [serialized(json_format.Parse(line, All(), descriptor_pool=pool))], [serialized(message)])


@pytest.mark.parametrize("package", PACKAGES)
def test_defaults_are_emitted_as_python_emits_them(convert, messages, package):
    items = messages(package)[:100]
    data = delimit([serialized(message) for message in items])
    found = lines(convert(f"{package}.All", "binary", "json", data, "--delimited", "--emit-defaults"))
    for line, message in zip(found, items, strict=True):
        same_json(line, json_of(message, always_print_fields_with_no_presence=True))


# Text format


@pytest.mark.parametrize("package", PACKAGES)
def test_text_is_read_as_python_writes_it(convert, messages, type_of, pool, package):
    items = messages(package)
    expected = [serialized(message) for message in items]
    for options in [{}, {"as_utf8": False}, {"pointy_brackets": True, "use_short_repeated_primitives": True}]:
        text = "".join(text_format.MessageToString(item, as_one_line=True, descriptor_pool=pool, **options) + "\n" for item in items)
        found = split(convert(f"{package}.All", "text", "binary", text, "--delimited"))
        same(type_of(f"{package}.All"), found, expected)


@pytest.mark.parametrize("package", PACKAGES)
def test_python_reads_the_text(convert, messages, type_of, pool, package):
    items = messages(package)
    All = type_of(f"{package}.All")
    data = delimit([serialized(message) for message in items])
    for line, message in zip(lines(convert(f"{package}.All", "binary", "text", data, "--delimited")), items, strict=True):
        same(All, [serialized(text_format.Parse(line, All(), descriptor_pool=pool))], [serialized(message)])


@pytest.mark.parametrize("package", ["diff2", "diff3", "plain"])
def test_protoc_reads_the_text_and_writes_what_is_read(convert, messages, type_of, package):
    Batch = type_of(f"{package}.Batch")
    batch = serialized(Batch(all=messages(package)))
    text = convert(f"{package}.Batch", "binary", "text", batch)
    same(Batch, [protoc("encode", package, text)], [batch])
    decoded = protoc("decode", package, batch)
    same(Batch, [convert(f"{package}.Batch", "text", "binary", decoded)], [batch])


def protoc(action, package, data):
    file = {"diff2": "proto2", "diff3": "proto3", "plain": "plain"}[package]
    command = ["protoc", f"-I{SCHEMAS}", f"--{action}={package}.Batch", f"{file}.proto"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def test_unknown_fields_are_printed_as_protoc_prints_them(convert):
    random = Random(1)
    items = [b"".join(unknown_fields(random) for _ in range(5)) for _ in range(50)]
    nested = [field_of(777, 2, varint(len(item)) + item) for item in items]
    for item in items + nested:
        assert convert("diff3.Batch", "binary", "text", item) == protoc("decode", "diff3", item)
    text = convert("diff3.Batch", "binary", "text", b"".join(items))
    assert re.search(rb"^777: 0x[0-9a-f]{16}$", text, re.M)
