"""The interceptor `validate`: what a call prints and sends. `test_validate_oracle.py` compares the rules with protovalidate."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

import manual
from harness import ROOT, write

PROTOS = ROOT / "Tests" / "EndToEnd" / "validate"
SERVER = "http://localhost:1"

FILE = """syntax = "proto3";
package demo.v1;
import "buf/validate/validate.proto";
message HelloRequest { string name = 1 [(buf.validate.field).string.min_len = 2]; string language = 2 [(buf.validate.field).string.max_len = 2]; }
message HelloReply { string message = 1 [(buf.validate.field).string.prefix = "Hi"]; string name = 2; }
message ChatMessage { string text = 1 [(buf.validate.field).string.min_len = 1]; }
service Demo { rpc Hello(HelloRequest) returns (HelloReply); rpc Chat(stream ChatMessage) returns (stream ChatMessage); }
"""


@pytest.fixture
def proto(tmp_path):
    path = write(tmp_path / "demo.proto", FILE)
    return path


def test_invalid_request_is_not_sent(rpcurl, raw_server, proto):
    server = raw_server(lambda connection: None)
    words = ["--plaintext", "--proto", proto, "-d", '{"name":"A","language":"english"}', "--use", "validate"]
    rpcurl(*words, server.address, "demo.v1.Demo/Hello").exits(64 + 3, "").reports(
        "interceptor validate: invalid_argument (3): invalid request: name: must be at least 2 characters", "[string.min_len] (and 1 more)", '  google.rpc.BadRequest: {"fieldViolations":[',
    )
    error = json.loads(rpcurl("--error-format", "json", *words, server.address, "demo.v1.Demo/Hello").err)["error"]
    assert error["code"] == "invalid_argument" and error["interceptor"] == "validate"
    assert error["details"] == [
        {
            "type": "google.rpc.BadRequest", "value": error["details"][0]["value"], "debug": {
                "fieldViolations": [
                    {"field": "name", "description": "must be at least 2 characters", "reason": "string.min_len"},
                    {"field": "language", "description": "must be at most 2 characters", "reason": "string.max_len"},
                ]
            },
        }
    ]  # fmt: skip
    assert server.connections == 0


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_every_protocol(rpcurl, request, proto, protocol):
    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    words = ["--protocol", protocol, "--proto", proto, "--use", "validate,responses=fail"]
    rpcurl(*words, "-d", '{"name":"Ada"}', f"{server.url}/demo.v1.Demo/Hello").exits(64 + 13, "").reports(
        "internal (13): invalid response: message: does not have prefix `Hi` [string.prefix]",
    )
    words[-1] = "validate,responses=warn"
    result = rpcurl(*words, "-d", '{"name":"Ada"}', f"{server.url}/demo.v1.Demo/Hello")
    assert (result.code, result.json()["message"]) == (0, "Hello, Ada!")
    assert "validate: invalid response: message: does not have prefix `Hi` [string.prefix]" in result.err
    rpcurl(*words, "-d", '{"text":"a"}{"text":""}{"text":"b"}', f"{server.url}/demo.v1.Demo/Chat").exits(64 + 3).reports(
        "invalid request 1: text: must be at least 1 characters [string.min_len]",
    )


def older_rules():
    """A schema with rules of protoc-gen-validate, and for each message the number of its violations.

    `older_rules.txt` has the declarations that several messages use, and then the fields of each message; each line below them has
    a number of violations and messages. These are the cases of protoc-gen-validate, with one difference: an `optional` message that
    is required must be set, which code for Go does not check.
    """
    imports = ["validate/validate.proto", *(f"google/protobuf/{name}.proto" for name in ("any", "duration", "timestamp", "wrappers"))]
    head, table = (PROTOS / "older_rules.txt").read_text().split("\n\n")
    types, cases = [], []
    for line in table.splitlines():
        if not line.startswith("  "):
            types.append(line)
            continue
        count, messages = line.split(maxsplit=1)
        messages = re.sub(r"NOW([+-]\d+)", lambda match: later(int(match[1])), messages)
        cases += [(f"m{len(types)}", json.loads(message), int(count)) for message in messages.split("\t")]
    lines = ['syntax = "proto3";', "package older;", *(f'import "{name}";' for name in imports), head]
    lines += [f"message M{number} {{ {fields} }}" for number, fields in enumerate(types, 1)]
    fields = " ".join(f"M{number} m{number} = {number};" for number in range(1, len(types) + 1))
    lines += [f"message All {{ {fields} }}", "service Older { rpc Check(All) returns (All); }"]
    return "\n".join(lines), cases


def later(seconds):
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_rules_of_protoc_gen_validate(rpcurl, tmp_path):
    proto, cases = older_rules()
    write(tmp_path / "older.proto", proto)
    write(tmp_path / "stubs.json", '{"response":{}}')
    write(tmp_path / "data.json", "\n".join(json.dumps({name: message}) for name, message, _ in cases))
    result = rpcurl(
        "--error-format", "json", "--proto", tmp_path / "older.proto", "--each", "-d", f"@{tmp_path / 'data.json'}",
        "--use", "validate", "--use", f"mock,file={tmp_path / 'stubs.json'}", "http://localhost:1/older.Older/Check", timeout=120,
    )  # fmt: skip
    found = [0] * len(cases)
    for line in result.err.splitlines():
        error = json.loads(line).get("error", {})
        if "call" in error:
            found[error["call"] - 1] = len(error["details"][0]["debug"]["fieldViolations"])
    wrong = [(case, count) for case, count in zip(cases, found, strict=True) if case[2] != count]
    assert len(cases) > 1000
    assert not wrong, "\n".join(f"{case}: {count}" for case, count in wrong)


def test_batch_continues_after_invalid_requests(rpcurl, grpc_server, proto):
    result = rpcurl(
        "--plaintext", "--proto", proto, "--each", "--use", "validate", "-d", '{"name":"Ada"}{"name":"B"}{"name":"Cy"}',
        grpc_server.address, "demo.v1.Demo/Hello",
    )  # fmt: skip
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == ["Ada", "Cy"]
    assert result.err.count("invalid request") == 1


def test_rules_that_cannot_be_compiled_are_named_once(rpcurl, grpc_server, tmp_path):
    (tmp_path / "demo.proto").write_text(
        """syntax = "proto3";
        package demo.v1;
        import "buf/validate/validate.proto";
        message HelloRequest {
          string name = 1 [
            (buf.validate.field).string = {pattern: "(", min_len: 2},
            (buf.validate.field).cel = {id: "one", expression: "this.unheard()"},
            (buf.validate.field).cel = {id: "two", expression: "this.size() / 0 == 1"},
            (buf.validate.field).cel = {id: "three", expression: "this != 'BB'"}
          ];
          string language = 2 [(buf.validate.field).int32.gt = 2];
        }
        message HelloReply { string message = 1; string name = 2; }
        service Demo { rpc Hello(HelloRequest) returns (HelloReply); }
        """
    )
    result = rpcurl(
        "--plaintext", "--proto", tmp_path / "demo.proto", "--each", "--use", "validate",
        "-d", '{"name":"AA"}{"name":"BB"}{"name":"C"}{"name":"CC"}', grpc_server.address, "demo.v1.Demo/Hello",
    )  # fmt: skip
    assert [json.loads(line)["name"] for line in result.out.splitlines()] == ["AA", "CC"]
    for line in [
        'demo.v1.HelloRequest.name: string.pattern: "(" is not a valid regular expression: missing )',
        "demo.v1.HelloRequest.name: one: the function unheard with 0 arguments is not supported",
        "name: two is skipped: division by zero",
        "demo.v1.HelloRequest.language: the rules are for int32, but the type is string",
    ]:
        assert result.err.count(line) == 1, result.err
    assert result.err.count("invalid request: name") == 2


def test_a_hostile_pattern_ends(rpcurl, grpc_server, tmp_path):
    (tmp_path / "demo.proto").write_text(
        """syntax = "proto3";
        package demo.v1;
        import "buf/validate/validate.proto";
        message HelloRequest { string name = 1 [(buf.validate.field).string.pattern = "(((a?){10}){10}){10}b$"]; string language = 2; }
        message HelloReply { string message = 1; string name = 2; }
        service Demo { rpc Hello(HelloRequest) returns (HelloReply); }
        """
    )
    (tmp_path / "data.json").write_text(json.dumps({"name": "a" * 100_000}))
    rpcurl(
        "--plaintext", "--proto", tmp_path / "demo.proto", "--use", "validate", "-d", f"@{tmp_path / 'data.json'}",
        grpc_server.address, "demo.v1.Demo/Hello",
    ).exits(0).reports("string.pattern is skipped: the regular expression takes too long")  # fmt: skip


def test_schema_from_reflection_has_the_rules(rpcurl, tmp_path, grpc_server):
    # The server's own schema has no rules: everything is sent.
    rpcurl("--plaintext", "-d", '{"name":"A"}', "--use", "validate", grpc_server.address, "demo.v1.Demo/Hello").succeeds()


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    invalid, warned = [
        manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
        for script in manual.examples("rpcurl-validate.7")
    ]
    assert (invalid.returncode, invalid.stdout) == (67, "")
    assert "invalid request: name: must be at least 2 characters [string.min_len] (and 1 more)" in invalid.stderr
    assert "must be a code of two letters" in invalid.stderr
    assert (warned.returncode, json.loads(warned.stdout)) == (0, {"message": "Hello, Ada!"})
    assert "invalid response: message: does not have prefix `Hi` [string.prefix]" in warned.stderr
