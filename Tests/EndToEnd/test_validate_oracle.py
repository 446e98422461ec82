"""The interceptor `validate` against protovalidate for Python: the same violations for thousands of messages.

Requests pass `validate` and then `mock`, so that no server is required. Each line of the errors has the violations of one call.
"""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import grpc
import protovalidate
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc_tools import protoc

from harness import PATIENCE_SECONDS, ROOT, Proxy

PROTOS = ROOT / "Tests" / "EndToEnd" / "validate"
BUILT_IN = ROOT / "Sources" / "Protobuf" / "WellKnown" / "common"
WELL_KNOWN = Path(protoc.__file__).parent / "_proto"


def compiled(directory, *files):
    """The descriptor set of files with rules, and a pool with them."""
    output = directory / "rules.binpb"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{directory}", f"-I{PROTOS}", f"-I{BUILT_IN}", f"-I{WELL_KNOWN}"]
    subprocess.run([*command, "--include_imports", f"--descriptor_set_out={output}", *files], check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes()).file:
        pool.Add(file)
    return output, pool


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("rules"), "rules.proto", "predefined.proto")


def path_text(path):
    text = ""
    for element in path.elements if path else []:
        text += ("." if text else "") + element.field_name
        if element.subscript is not None:
            text += f"[{json.dumps(element.subscript.value, ensure_ascii=False)}]"
    return text


def expected(message):
    """What protovalidate reports."""
    violations = [violation.proto for violation in protovalidate.collect_violations(message)]
    return [
        (path_text(found.field), found.rule_id, ("key: " if found.for_key else "") + found.message) for found in violations
    ]


def reported(result, count):
    """What rpcurl reports for each call of a batch."""
    found = [[] for _ in range(count)]
    for line in result.err.splitlines():
        error = json.loads(line).get("error", {})
        if "details" not in error:
            continue
        detail = error["details"][0]
        fields = detail["debug"]["fieldViolations"]
        found[error["call"] - 1] = [
            (field.get("field", ""), field.get("reason", ""), field.get("description", "")) for field in fields
        ]
    return found


def compare(rpcurl, tmp_path, schema, method, messages):
    """Fails unless both report the same for each message."""
    output, pool = schema
    (tmp_path / "stubs.json").write_text('{"response":{}}')
    (tmp_path / "data.json").write_text(
        "\n".join(json_format.MessageToJson(message, indent=None, descriptor_pool=pool) for message in messages)
    )
    result = rpcurl(
        "--error-format", "json", "--descriptor-set", output, "--each", "-d", f"@{tmp_path / 'data.json'}", "--use", "validate",
        "--use", f"mock,file={tmp_path / 'stubs.json'}", f"http://localhost:1/{method}", timeout=120,
    )  # fmt: skip
    found = reported(result, len(messages))
    violations = 0
    for message, actual in zip(messages, found, strict=True):
        wanted = expected(message)
        violations += len(wanted)
        # The order of the entries of a map differs.
        assert sorted(actual) == sorted(wanted), json_format.MessageToJson(message, indent=None, descriptor_pool=pool)
    return violations


def message_class(schema, name):
    return message_factory.GetMessageClass(schema[1].FindMessageTypeByName(name))


NUMBERS = [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, -1, -5, -6, 12, 15]
REALS = [*NUMBERS, 0.1, 0.05, 1.5, 2.5, 1e20, 1e21, -1e-7, -1e-6, 1e30, 1e31, "NaN", "Infinity", "-Infinity", -0.0]
TEXTS = [
    "", "a", "b", "c", "é", "ab", "abc", "abcd", "abcde", "éé", "ééé", "😀a", "ab-yz", "ab--yz", "x1", "X1 ", "a3", "a٣", "xyz", "z",
]  # fmt: skip
BYTES = ["", "YQ==", "Yg==", "YWI=", "YWL/", "YWFh", "YWFhYWE=", "YWItLXl6", "AAAAAA==", "AAAAAAAAAAAAAAAAAAAAAA=="]
DURATIONS = ["0s", "1s", "1.5s", "1.500000001s", "60s", "59.9s", "-3.120s", "61s", "0.000000007s"]
TIMES = [
    "1970-01-01T00:00:00Z", "1969-12-31T23:59:50Z", "1969-12-31T23:59:49.999Z", "2023-11-14T22:13:20.120Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z", "1970-01-01T00:00:01Z",
]  # fmt: skip


class Generator:
    """Makes messages as JSON, with values near the bounds of the rules."""

    def __init__(self, seed):
        self.random = Random(seed)

    def message(self, descriptor, depth=0, density=0.4):
        special = {
            "google.protobuf.Duration": DURATIONS, "google.protobuf.Timestamp": TIMES,
            "google.protobuf.FieldMask": ["", "a", "a.b", "a.b.x,c", "c.d", "a,b", "ab"], "google.protobuf.StringValue": TEXTS,
            "google.protobuf.Int64Value": NUMBERS, "google.protobuf.Int32Value": NUMBERS, "google.protobuf.BoolValue": [True, False],
            "google.protobuf.DoubleValue": REALS, "google.protobuf.BytesValue": BYTES,
            "google.protobuf.Any": [{"@type": f"type.googleapis.com/rules.v1.{name}"} for name in ("Named", "Choices")],
        }.get(descriptor.full_name)  # fmt: skip
        if special:
            return self.random.choice(special)
        result = {}
        oneofs = set()
        for field in descriptor.fields:
            oneof = field.containing_oneof
            if self.random.random() > density or oneof and oneof.name in oneofs or depth > 3 and field.message_type:
                continue
            if oneof:
                oneofs.add(oneof.name)
            if field.message_type and field.message_type.GetOptions().map_entry:
                key, value = field.message_type.fields
                pairs = [(self.value(key, depth), self.value(value, depth)) for _ in range(self.random.randrange(4))]
                result[field.name] = {json.dumps(k) if isinstance(k, bool) else str(k): v for k, v in pairs}
            elif field.is_repeated:
                result[field.name] = [self.value(field, depth) for _ in range(self.random.randrange(5))]
            else:
                result[field.name] = self.value(field, depth)
        return result

    def value(self, field, depth):
        if field.message_type:
            return self.message(field.message_type, depth + 1)
        kinds = type(field)
        if field.type in (kinds.TYPE_DOUBLE, kinds.TYPE_FLOAT):
            return self.random.choice(REALS)
        if field.type == kinds.TYPE_STRING:
            return self.random.choice(TEXTS)
        if field.type == kinds.TYPE_BYTES:
            return self.random.choice(BYTES[:4] + BYTES[5:] if field.name == "pattern" else BYTES)
        if field.type == kinds.TYPE_BOOL:
            return self.random.choice([True, False])
        if field.type == kinds.TYPE_ENUM:
            return self.random.choice([0, 1, 2, 3, 7])
        unsigned = field.cpp_type in (kinds.CPPTYPE_UINT32, kinds.CPPTYPE_UINT64)
        return self.random.choice([number for number in NUMBERS if number >= 0 or not unsigned])


def test_rules(rpcurl, tmp_path, rules):
    make = message_class(rules, "rules.v1.All")
    generator = Generator(1)
    messages = []
    for number in range(1500):
        message = make()
        # One kind of rules for each message, so that no message has more violations than are listed.
        field = make.DESCRIPTOR.fields[number % len(make.DESCRIPTOR.fields)]
        content = {field.name: generator.message(field.message_type)}
        messages.append(json_format.ParseDict(content, message, descriptor_pool=rules[1]))
    assert compare(rpcurl, tmp_path, rules, "rules.v1.Rules/Check", messages) > 5000


FORMATS = {
    "email": "a.b+c@example.com", "hostname": "a-1.example.com.", "ip": "fe80:0:1::1.2.3.4%eth0", "ipv4": "192.168.0.255",
    "ipv6": "1:22:333:4444::6:7", "uri": "http://u:p@h.x:80/p;a=b/%20?q=/?#f", "uri_ref": "//h:8/a?b#c", "address": "1.22.example",
    "uuid": "00000000-0000-0000-0000-00000000abCD", "tuuid": "000000000000000000000000abCDef00", "ip_with_prefixlen": "1::2:3/64",
    "ipv4_with_prefixlen": "10.2.3.4/24", "ipv6_with_prefixlen": "1:2::/17", "ip_prefix": "128.0.0.0/1", "ipv4_prefix": "10.4.0.0/14",
    "ipv6_prefix": "fe80::/10", "host_and_port": "[::1%z]:8080", "ulid": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "protobuf_fqn": "a.B_1._c",
    "protobuf_dot_fqn": ".a.b1", "header_name": ":X-a_b.c~", "header_value": "a b\t", "loose_header_name": "a b",
    "loose_header_value": "a", "not_email": "x",
}  # fmt: skip
MORE_URIS = [
    "a:", "urn:x:y", "http://[v1.x:y]/", "http://[fe80::1%25eth0]/", "http://%c3%a9/", "mailto:a@b", "/a", "?q", "#f", "./a:b", "",
    "http://[::1]:80/", "http://1.2.3.4:80", "a//b", "a:/b//c", "x://@h", "http://h:/p",
]  # fmt: skip
MORE_HOSTS = [
    "h:1", "1.2.3.4:0", "[::1]:65535", "h:65536", "::1", "1.2.3.0/24", "::1.2.3.4/128", "a.1", "1::", "::", ":::", "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "01.2.3.4", "1.2.3", "0.0.0.0/0", "fe80::1%25eth0",
]  # fmt: skip
CHARACTERS = ".:/%[]@-_#?+~ 019agzAGZ\téü\x7f\"<>\\^`{|}=&;,!$'()*"


def mutated(random, text):
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        index = random.randrange(len(text) + 1)
        part = random.choice([random.choice(CHARACTERS), "::", "%41", "%ff", "%c3%a9", text[index : index + 3]])
        text = text[:index] + random.choice([part, ""]) + text[index + random.choice([0, 1, 1, 2]) :]
    return text


def test_formats(rpcurl, tmp_path, rules):
    make = message_class(rules, "rules.v1.All")
    random = Random(2)
    messages = []
    for _ in range(600):
        message = make()
        for name, text in FORMATS.items():
            seeds = [text] * 4 + (MORE_URIS if "uri" in name else MORE_HOSTS if "ip" in name or "host" in name or name == "address" else [])
            setattr(message.formats, name, mutated(random, random.choice(seeds)))
        messages.append(message)
    assert compare(rpcurl, tmp_path, rules, "rules.v1.Rules/Check", messages) > 3000


EXPRESSIONS = (PROTOS / "expressions.txt").read_text().splitlines()

CONTENT = {
    "i32": -3, "i64": "7", "u32": 5, "u64": "6", "d": 1.5, "b": True, "s": "héllo", "by": "YWL/", "e": "A", "inner": {"s": "x", "n": 2},
    "li": [1, 2, 3], "ls": ["a", "b"], "lin": [{"s": "q"}], "m": {"a": 1, "b": 2}, "mi": {"3": {"n": 9}}, "w": "W",
    "ts": "2024-02-29T12:34:56.789Z", "du": "90.5s", "o": 0, "xb": "t", "any": {"@type": "type.googleapis.com/c.Inner", "s": "any"},
    "st": {"k": [1, "a", None]}, "le": [1, 0], "mb": {"true": "y"}, "mu": {"7": "z"},
}  # fmt: skip

FIELDS = """
  int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; double d = 5; bool b = 7; string s = 8; bytes by = 9; E e = 10;
  Inner inner = 11; repeated int32 li = 12; repeated string ls = 13; repeated Inner lin = 14; map<string, int32> m = 15;
  map<int32, Inner> mi = 16; google.protobuf.StringValue w = 17; google.protobuf.Timestamp ts = 18; google.protobuf.Duration du = 19;
  optional int32 o = 20; oneof x { int32 xa = 21; string xb = 22; } google.protobuf.Any any = 23; google.protobuf.Struct st = 24;
  repeated E le = 26; map<bool, string> mb = 27; map<uint64, string> mu = 28; google.protobuf.Int32Value unset = 29;
"""


def test_expressions(rpcurl, tmp_path):
    """One message type for each expression: the result, a string that is the message, or no result."""
    file = 'syntax = "proto3"; package c; import "buf/validate/validate.proto";'
    file += "".join(f'import "google/protobuf/{name}.proto";' for name in ["any", "duration", "struct", "timestamp", "wrappers"])
    file += "enum E { Z = 0; A = 1; } message Inner { string s = 1; int32 n = 2; Inner nested = 3; }"
    for number, expression in enumerate(EXPRESSIONS):
        rule = f"option (buf.validate.message).cel = {{ id: 'x', expression: {json.dumps(expression, ensure_ascii=False)} }};"
        file += f"message M{number} {{ {rule} {FIELDS} }}\n"
    file += "message All {" + "".join(f"M{number} m{number} = {number + 1};" for number in range(len(EXPRESSIONS))) + "}"
    (tmp_path / "c.proto").write_text(file + "service S { rpc Check(All) returns (All); }")
    output, pool = compiled(tmp_path, "c.proto")
    wanted = {}
    for number in range(len(EXPRESSIONS)):
        make = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"c.M{number}"))
        message = json_format.ParseDict(CONTENT, make(), descriptor_pool=pool)
        try:
            wanted[number] = [found.proto.message for found in protovalidate.collect_violations(message)]
        except (protovalidate.EvaluationError, protovalidate.CompilationError):
            wanted[number] = "error"
    (tmp_path / "stubs.json").write_text('{"response":{}}')
    data = "\n".join(json.dumps({f"m{number}": CONTENT}) for number in range(len(EXPRESSIONS)))
    result = rpcurl(
        "--error-format", "json", "--descriptor-set", output, "--each", "-d", "@-", "--use", "validate",
        "--use", f"mock,file={tmp_path / 'stubs.json'}", "http://localhost:1/c.S/Check", input=data, timeout=120,
    )  # fmt: skip
    found = {number: [] for number in range(len(EXPRESSIONS))}
    for line in result.err.splitlines():
        if '"details":[' in line:
            error = json.loads(line)["error"]
            found[error["call"] - 1] = [field["description"] for field in error["details"][0]["debug"]["fieldViolations"]]
        for number in found:
            if f"m{number}: x is skipped" in line or f"c.M{number}: x: " in line:
                found[number] = "error"
    different = {EXPRESSIONS[number]: (found[number], wanted[number]) for number in found if found[number] != wanted[number]}
    assert not different, json.dumps(different, indent=1, ensure_ascii=False)
    assert sum(value == [] for value in wanted.values()) > 40


def test_messages_of_serve(rpcurl, tmp_path, rules):
    """The plausible messages of `rpcurl serve --default` obey the rules, and those of a seed are the same."""
    make = message_class(rules, "rules.v1.All")
    found = []
    for run in range(2):
        directory = tmp_path / f"run{run}"
        directory.mkdir()
        served = Proxy(rpcurl, directory, "serve", "--descriptor-set", rules[0], "--default", "--seed", 5)
        with grpc.insecure_channel(served.address) as channel:
            check = channel.unary_unary("/rules.v1.Rules/Check", make.SerializeToString, make.FromString)
            messages = [check(make(), timeout=PATIENCE_SECONDS) for _ in range(30)]
        assert served.stop() == 0
        for message in messages:
            assert expected(message) == []
            # The time of the call is part of it.
            message.known.ClearField("near")
        found.append(messages)
    assert found[0] == found[1]
    assert all(field.name in {name.name for name, _ in found[0][0].ListFields()} for field in make.DESCRIPTOR.fields)
