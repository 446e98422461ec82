"""Memory as a multiple of the input, for input that is small on the wire and large in memory."""

import json
import subprocess

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from harness import delimited, varint, write

BYTES = 1 << 18
# Memory that malloc keeps because it gets it in steps.
SLACK = 2 << 20


# The schema


def schema_set():
    file = FileDescriptorProto(name="w.proto", package="w", syntax="proto2")
    wide = file.message_type.add(name="Wide")
    for number in range(1, 2001):
        wide.field.add(name=f"f{number}", number=number, label=1, type=Field.TYPE_INT32)
    old = file.enum_type.add(name="E")
    old.value.add(name="A", number=0)
    old.value.add(name="AN_ENUM_VALUE_WITH_A_LONG_NAME", number=1)
    w = file.message_type.add(name="W")
    w.oneof_decl.add(name="o")

    def add(name, type, label=3, type_name="", packed=None, **more):
        field = w.field.add(name=name, number=len(w.field) + 1, label=label, type=type, type_name=type_name, **more)
        if packed is not None:
            field.options.packed = packed

    def add_map(name, key, value, type_name=""):
        entry = w.nested_type.add(name=name.title() + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=key)
        entry.field.add(name="value", number=2, label=1, type=value, type_name=type_name)
        add(name, Field.TYPE_MESSAGE, type_name=".w.W." + entry.name)

    add("w", Field.TYPE_MESSAGE, type_name=".w.W")  # 1
    add("s", Field.TYPE_STRING)  # 2
    add("b", Field.TYPE_BOOL, packed=True)  # 3
    add("u", Field.TYPE_BOOL, packed=False)  # 4
    add_map("n", Field.TYPE_INT32, Field.TYPE_BOOL)  # 5
    add_map("m", Field.TYPE_INT32, Field.TYPE_MESSAGE, ".w.W")  # 6
    add("x", Field.TYPE_MESSAGE, 1, ".w.W", oneof_index=0)  # 7
    add("y", Field.TYPE_STRING, 1, oneof_index=0)  # 8
    add("wide", Field.TYPE_MESSAGE, type_name=".w.Wide")  # 9
    add("one", Field.TYPE_MESSAGE, 1, ".w.W")  # 10
    add("d", Field.TYPE_DOUBLE, packed=False)  # 11
    add("e", Field.TYPE_ENUM, type_name=".w.E", packed=True)  # 12
    add("g", Field.TYPE_GROUP, type_name=".w.W")  # 13
    add("raw", Field.TYPE_BYTES)  # 14
    add_map("t", Field.TYPE_STRING, Field.TYPE_STRING)  # 15
    file.dependency.append("google/protobuf/any.proto")
    add("any", Field.TYPE_MESSAGE, 1, ".google.protobuf.Any")  # 16
    return FileDescriptorSet(file=[file])


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    file = write(tmp_path_factory.mktemp("schema") / "w.binpb", schema_set().SerializeToString())
    return file


# Messages


def nested(number, depth):
    content = b""
    for _ in range(depth):
        content = delimited(number, content)
    return content


def groups(depth):
    return b"\x6b" * depth + b"\x6c" * depth


def in_any(content, levels, before=b""):
    """Content in an Any in an Any …; `before` precedes the Any of each level."""
    for _ in range(levels):
        content = before + delimited(16, delimited(1, b"/w.W") + delimited(2, content))
    return content


def repeat(part):
    return part * (BYTES // len(part))


def numbered(make, most=BYTES):
    """As many parts, each made from another number, as fit."""
    out = bytearray()
    number = 0
    while len(out) < BYTES and number < most:
        out += make(number)
        number += 1
    return bytes(out)


def key(number):
    return b"\x08" + varint(number)


BINARY = {
    "empty messages": repeat(b"\x0a\0"),
    "empty messages of many fields": repeat(b"\x4a\0"),
    "messages with one of many fields": repeat(delimited(9, b"\x08\x01")),
    "messages with the last of many fields": repeat(delimited(9, b"\x80\x7d\x01")),
    "empty strings": repeat(b"\x12\0"),
    "short strings": repeat(delimited(2, b"a")),
    "strings that are no longer inline": repeat(delimited(2, b"a" * 16)),
    "packed": delimited(3, b"\1" * BYTES),
    "packed in pieces": repeat(delimited(3, b"\1")),
    "not packed": repeat(b"\x20\1"),
    "enums": delimited(12, b"\1" * BYTES),
    "enums in pieces": repeat(delimited(12, b"\1")),
    "one map entry again and again": repeat(b"\x2a\0"),
    "two map entries in turn": repeat(b"\x2a\0" + delimited(5, key(1))),
    "map entries": numbered(lambda number: delimited(5, key(number))),
    "map entries with messages": numbered(lambda number: delimited(6, key(number) + b"\x12\0")),
    "map entries with messages, backwards": numbered(lambda number: delimited(6, key(BYTES - number) + b"\x12\0")),
    "map entries of text": numbered(lambda number: delimited(15, delimited(1, b"%x" % number))),
    "nested lists": repeat(nested(1, 60)),
    "deeply nested lists": repeat(nested(1, 99)),
    "nested messages": repeat(delimited(1, nested(10, 59))),
    "nested groups": repeat(groups(99)),
    "nested maps": repeat(nested(6, 49)),
    "oneof": repeat(b"\x3a\0\x42\0"),
    "oneof with content": repeat(delimited(7, nested(10, 50)) + b"\x42\0"),
    "unknown fields": repeat(b"\xf8\x7f\1"),
    "messages with an unknown field": repeat(delimited(1, b"\xf8\x01\1")),
    "unknown groups": repeat(b"\xfb\x01\xfc\x01"),
    "fields in no order": repeat(b"\x12\0\x0a\0"),
    "empty bytes": repeat(b"\x72\0"),
    "short bytes": repeat(delimited(14, b"a")),
    "nested Any": in_any(delimited(14, bytes(BYTES)), 45),
    "nested Any whose fields are in no order": in_any(delimited(14, bytes(BYTES)), 45, b"\x90\x01\1\x72\0\x12\0"),
}
TEXT = {
    "empty messages": repeat(b"w{}"),
    "empty messages in brackets": b"w:[" + repeat(b"{},") + b"{}]",
    "messages of many fields": repeat(b"wide{f1:1}"),
    "nested lists": repeat(b"w{" * 99 + b"}" * 99),
    "nested messages": repeat(b"w{" + b"one{" * 98 + b"}" * 99),
    "nested maps": repeat(b"m{value{" * 49 + b"}}" * 49),
    "flags": b"u:[" + repeat(b"1,") + b"1]",
    "empty strings": b"s:[" + repeat(b"'',") + b"'']",
    "strings in parts": b"s:" + repeat(b"'a'"),
    "map entries": numbered(lambda number: b"n{key:%d}" % number),
    "one map entry again and again": repeat(b"n{}"),
    "map entries with messages": numbered(lambda number: b"m{key:%d}" % number),
}
JSON = {
    "empty messages": b'{"w":[' + repeat(b"{},") + b"{}]}",
    "messages of many fields": b'{"wide":[' + repeat(b'{"f1":1},') + b"{}]}",
    "nested lists": b'{"w":[' + repeat(b'{"w":[' * 98 + b"]}" * 98 + b",") + b"{}]}",
    "nested messages": b'{"w":[' + repeat(b'{"one":' * 98 + b"{}" + b"}" * 98 + b",") + b"{}]}",
    "numbers": b'{"d":[' + repeat(b"1,") + b"1]}",
    "flags": b'{"u":[' + repeat(b"true,") + b"true]}",
    "empty strings": b'{"s":[' + repeat(b'"",') + b'""]}',
    "escapes": b'{"s":["' + repeat(b"\\u0001") + b'"]}',
    "enums": b'{"e":[' + repeat(b"1,") + b"1]}",
    "map entries": b'{"n":{' + numbered(lambda number: b'"%d":true,' % number) + b'"-1":true}}',
    "map entries, backwards": b'{"n":{' + numbered(lambda number: b'"%d":true,' % (BYTES - number)) + b'"-1":true}}',
    "map entries of text": b'{"t":{' + numbered(lambda number: b'"%x":"",' % number) + b'"":""}}',
    "map entries with messages": b'{"m":{' + numbered(lambda number: b'"%d":{},' % number) + b'"-1":{}}}',
    "fields in no order": b'{"w":[' + repeat(b'{"s":[""],"w":[{}]},') + b"{}]}",
    "lists in no order": b'{"s":[' + repeat(b'"",') + b'""],"w":[' + repeat(b"{},") + b"{}]}",
}


# Measuring

# A small process that starts the runs: the peak of a process includes the memory of the one that it was forked from. It
# takes lines of [file for the output, command], and prints the exit code and the peak of each run.
LAUNCHER = """
import json, os, subprocess, sys
for line in sys.stdin:
    file, command = json.loads(line)
    with open(file, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, flush=True)
"""


@pytest.fixture
def peak(rpcurl, tmp_path):
    """Exit code of a run of rpcurl, its peak of memory, and the size of its output, both in bytes."""
    with subprocess.Popen(
        ["python3", "-ISc", LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as launcher:

        def measure(*words):
            out = tmp_path / "out"
            launcher.stdin.write(json.dumps([str(out), rpcurl.command(words)]) + "\n")
            launcher.stdin.flush()
            code, bytes = map(int, launcher.stdout.readline().split())
            return code, bytes, out.stat().st_size

        yield measure
        launcher.stdin.close()


@pytest.fixture
def check(peak, schema, tmp_path):
    """Checks that no conversion takes more than so many times the input, and three times the output."""

    def check(source, target, inputs, multiple):
        file = tmp_path / "input"
        words = ["--descriptor-set", schema, "--type", "w.W", "--from", source, "--to", target, file]
        file.write_bytes(b"{}" if source == "json" else b"")
        code, empty, _ = peak("convert", *words)
        assert code == 0
        failed, larger = {}, {}
        for name, data in inputs.items():
            file.write_bytes(data)
            code, bytes, output = peak("convert", *words)
            if code != 0:
                failed[name] = code
            times = (bytes - empty - SLACK - 3 * output) / len(data)
            if times > multiple:
                larger[name] = times
        assert (failed, larger) == ({}, {})

    return check


@pytest.mark.parametrize("target", ["binary", "json", "text"])
def test_binary(check, target):
    check("binary", target, BINARY, 100)


def test_text(check):
    check("text", "binary", TEXT, 100)


@pytest.mark.parametrize(("target", "multiple"), [("binary", 40), ("text", 100)])
def test_json(check, target, multiple):
    check("json", target, JSON, multiple)


# Descriptor sets


def in_file(content):
    """A set of one file, with a message that can be looked up."""
    return delimited(1, delimited(1, b"f.proto") + delimited(2, b"p") + delimited(4, delimited(1, b"M")) + content)


def in_message(content):
    return delimited(1, delimited(1, b"f.proto") + delimited(2, b"p") + delimited(4, delimited(1, b"M") + content))


def ident(number):
    return b"%x" % number


def nested_messages(depth):
    content = b""
    for level in range(depth):
        content = delimited(3, delimited(1, b"a") + content)
    return content


SETS = {
    "files": numbered(lambda n: delimited(1, delimited(1, ident(n)))) + in_file(b""),
    "files of packages": numbered(lambda n: delimited(1, delimited(1, ident(n)) + delimited(2, ident(n)))) + in_file(b""),
    "the same file": repeat(delimited(1, delimited(1, b"a"))) + in_file(b""),
    "messages without a name": in_file(repeat(delimited(4, b""))),
    "messages": in_file(numbered(lambda n: delimited(4, delimited(1, ident(n))))),
    "nested messages": in_file(repeat(delimited(4, delimited(1, b"a") + nested_messages(50)))),
    "fields without a name": in_message(repeat(delimited(2, b""))),
    "fields": in_message(numbered(lambda n: delimited(2, delimited(1, ident(n)) + b"\x18" + varint(n + 1) + b"\x28\x05"), 18_998)),
    "enums without a name": in_file(repeat(delimited(5, b""))),
    "enums": in_file(numbered(lambda n: delimited(5, delimited(1, ident(n))))),
    "values of an enum": in_file(delimited(5, delimited(1, b"E") + numbered(lambda n: delimited(2, delimited(1, ident(n)))))),
    "services without a name": in_file(repeat(delimited(6, b""))),
    "services": in_file(numbered(lambda n: delimited(6, delimited(1, ident(n))))),
    "methods without a name": in_file(delimited(6, delimited(1, b"S") + repeat(delimited(2, b"")))),
    "methods": in_file(delimited(6, delimited(1, b"S") + numbered(lambda n: delimited(2, delimited(1, ident(n)))))),
    "extensions without a name": in_file(repeat(delimited(7, b""))),
    "extensions": in_file(numbered(lambda n: delimited(7, delimited(1, ident(n)) + delimited(2, b"M") + b"\x18" + varint(n + 1)))),
    "imports": in_file(repeat(delimited(3, b""))),
    "extension ranges": in_message(repeat(delimited(5, b""))),
    "extension ranges that are valid": in_message(repeat(delimited(5, b"\x08\1\x10\2"))),
    "oneofs": in_message(repeat(delimited(8, b""))),
    "oneofs with options": in_message(repeat(delimited(8, delimited(2, delimited(1, b""))))),
    "reserved names": in_message(repeat(delimited(10, b""))),
    "unknown options": in_file(delimited(8, repeat(b"\xfa\x01\0"))),
    "options of files": in_file(repeat(delimited(8, b""))),
    "options of messages": in_file(numbered(lambda n: delimited(4, delimited(1, b"a") + delimited(7, b"\x62\0")))),
    "unknown fields": in_file(repeat(b"\x4a\0")),
}


# The exit codes of the sets that are invalid.
REFUSED = {"messages without a name": 3, "fields without a name": 3, "extension ranges": 3}


def test_descriptor_sets(peak, tmp_path):
    file = tmp_path / "set"
    words = ["convert", "--type", "p.M", "--from", "binary", "--to", "json", "--descriptor-set", file, "/dev/null"]
    file.write_bytes(in_file(b""))
    code, empty, _ = peak(*words)
    assert code == 0
    refused, larger = {}, {}
    for name, data in SETS.items():
        file.write_bytes(data)
        code, bytes, _ = peak(*words)
        if code != 0:
            refused[name] = code
        times = (bytes - empty - SLACK) / len(data)
        if times > 100:
            larger[name] = times
    assert (refused, larger) == (REFUSED, {})
