"""`rpcurl diff` breaks the rules that `buf breaking` breaks, for random changes of schemas."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import ALL_TESTS, ROOT, VENV
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from schema_mutations import Mutator, messages, without_message_sets
from test_describe_round_trip import protoc

FILES = [
    *(ROOT / "Tests" / "Schemas" / f"{name}.proto" for name in ("proto2", "proto3", "editions")),
    ROOT / "Tests" / "Servers" / "demo.proto",
]
CATEGORIES = ["FILE", "PACKAGE", "WIRE_JSON", "WIRE"]
SEEDS = range(60 if ALL_TESTS else 12)


@pytest.fixture(scope="session")
def buf() -> Path:
    """The real buf: that of BUF, of the environment of the tests (buf-bin), or of the PATH."""
    found = os.environ.get("BUF") or VENV / "bin" / "buf"
    if not Path(found).exists():
        found = shutil.which("buf")
    if not found:
        pytest.skip("buf is missing: pip install buf-bin")
    return Path(found)


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> FileDescriptorSet:
    """One set of all files."""
    folder = tmp_path_factory.mktemp("base")
    schema = FileDescriptorSet()
    for file in FILES:
        protoc(folder / "one.binpb", file.name, file.parent)
        known = {each.name for each in schema.file}
        one = FileDescriptorSet.FromString((folder / "one.binpb").read_bytes())
        schema.file.extend(each for each in one.file if each.name not in known)
    without_message_sets(schema)
    return schema


def theirs(buf: Path, old: Path, new: Path, rules: list[str], home: Path) -> set | None:
    """The rules that buf reports, each with the file; None if it refuses a schema."""
    config = json.dumps({"version": "v2", "breaking": {"use": rules}})
    done = subprocess.run(
        [buf, "breaking", new, "--against", old, "--config", config, "--against-config", config, "--error-format", "json"],
        capture_output=True, text=True, timeout=60, env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    if done.returncode not in (0, 100):
        assert done.returncode == 1, done.stderr
        return None
    return {(found["type"], found.get("path")) for found in map(json.loads, done.stdout.splitlines())}


def ours(rpcurl, old: Path, new: Path, category: str) -> set:
    result = rpcurl("diff", "--format", "json", "--rules", category, old, new)
    assert (result.code, result.err) == (8 if result.out else 0, "")
    return {(found["rule"], found["file"]) for found in result.lines()}


def is_gap(rule: str, file: str, old: FileDescriptorSet, new: FileDescriptorSet) -> bool:
    """Whether buf does not report a break: required fields of editions, and the removal of all enums of a package."""
    (before,) = [each for each in old.file if each.name == file]
    if rule == "MESSAGE_SAME_REQUIRED_FIELDS":
        return before.syntax == "editions"
    rest = [each for each in new.file if each.package == before.package]
    nested = [message for each in rest for _, message in messages(each, "")]
    match rule:
        case "PACKAGE_ENUM_NO_DELETE":
            return not any(each.enum_type for each in [*rest, *nested])
        case "PACKAGE_EXTENSION_NO_DELETE":
            return not any(each.extension for each in [*rest, *nested])
        case "PACKAGE_MESSAGE_NO_DELETE":
            return not nested
        case _:
            return False


def compare(buf: Path, rpcurl, old: Path, new: Path, home: Path) -> bool:
    """Compares both programs, in both directions and in all categories. Returns false if buf refuses a schema."""
    for first, second in ((old, new), (new, old)):
        schemas = [FileDescriptorSet.FromString(path.read_bytes()) for path in (first, second)]
        for category in CATEGORIES:
            expected = theirs(buf, first, second, [category], home)
            if expected is None:
                return False
            found = ours(rpcurl, first, second, category)
            # buf names no file if a declaration of a file that is gone, or a package, was removed.
            unplaced = {rule for rule, file in expected if file is None}
            assert {rule for rule, file in expected} <= {rule for rule, file in found}, category
            assert {each for each in expected if each[1]} <= found, category
            extra = {(rule, file) for rule, file in found - expected if rule not in unplaced}
            assert {each for each in extra if not is_gap(*each, *schemas)} == set(), category
    return True


def test_categories_have_the_rules_of_buf(buf, rpcurl):
    done = subprocess.run(
        [buf, "config", "ls-breaking-rules", "--version", "v2", "--format", "json"], capture_output=True, text=True, check=True
    )
    rules = {rule["id"]: set(rule["categories"]) & set(CATEGORIES) for rule in map(json.loads, done.stdout.splitlines())}
    known = {line.split("\t")[0] for line in rpcurl("complete", "rule", "", "", "").out.splitlines()}
    assert {name for name, categories in rules.items() if categories} == known


@pytest.mark.parametrize("seed", SEEDS)
def test_random_changes_break_the_same_rules(buf, rpcurl, base, tmp_path, seed):
    old, new = tmp_path / "old.binpb", tmp_path / "new.binpb"
    changed = FileDescriptorSet()
    changed.CopyFrom(base)
    Mutator(changed, [file.name for file in FILES], seed).run(25)
    old.write_bytes(base.SerializeToString())
    new.write_bytes(changed.SerializeToString())
    if not compare(buf, rpcurl, old, new, tmp_path):
        pytest.skip(f"buf refuses the schema of seed {seed}")


PROTO3 = 'syntax = "proto3"; package p; '
CASES = {
    "package": (PROTO3 + "message M {}", 'syntax = "proto3"; package q; message M {}'),
    "syntax": (PROTO3 + "message M { string a = 1; }", 'syntax = "proto2"; package p; message M { optional string a = 1; }'),
    "edition": (PROTO3 + "message M { string a = 1; }", 'edition = "2023"; package p; message M { string a = 1; }'),
    "closed": (
        'edition = "2023"; package p; enum E { Z = 0; }',
        'edition = "2023"; package p; option features.enum_type = CLOSED; enum E { Z = 0; }',
    ),
    "last enum": (PROTO3 + "enum E { Z = 0; } message M {}", PROTO3 + "message M {}"),
    "last message": (PROTO3 + "enum E { Z = 0; } message M { enum F { Y = 0; } }", PROTO3 + "enum E { Z = 0; }"),
    "map to list": (
        PROTO3 + "message M { map<string, int32> a = 1; }",
        PROTO3 + "message M { message AEntry { string key = 1; int32 value = 2; } repeated AEntry a = 1; }",
    ),
    "map values": (PROTO3 + "message M { map<string, int32> a = 1; }", PROTO3 + "message M { map<string, uint32> a = 1; }"),
    "presence": (PROTO3 + "message M { string a = 1; }", PROTO3 + "message M { optional string a = 1; }"),
    "string": (PROTO3 + "message M { string a = 1; }", PROTO3 + "message M { bytes a = 1; }"),
    "enum that moves": (
        PROTO3 + "message M { E a = 1; } enum E { Z = 0; A = 1; }",
        PROTO3 + "message M { enum E { Z = 0; A = 1; B = 2; } E a = 1; } enum F { Y = 0; }",
    ),
    "enum to number": (PROTO3 + "message M { E a = 1; } enum E { Z = 0; }", PROTO3 + "message M { int32 a = 1; } enum E { Z = 0; }"),
    "message type": (
        PROTO3 + "message M { A a = 1; } message A {} message B {}", PROTO3 + "message M { B a = 1; } message A {} message B {}",
    ),
    "delimited": (
        'edition = "2023"; package p; message M { M a = 1; }',
        'edition = "2023"; package p; message M { M a = 1 [features.message_encoding = DELIMITED]; }',
    ),
    "group": (
        'syntax = "proto2"; package p; message M { optional group A = 1 {} }',
        'syntax = "proto2"; package p; message M { optional A a = 1; message A {} }',
    ),
    "oneofs": (
        PROTO3 + "message M { oneof x { string a = 1; string b = 2; } oneof y { string c = 3; } }",
        PROTO3 + "message M { oneof x { string a = 1; } oneof y { string b = 2; } string c = 3; }",
    ),
    "required": (
        'syntax = "proto2"; package p; message M { optional int32 a = 1; required int32 b = 2; }',
        'syntax = "proto2"; package p; message M { required int32 a = 1; required int32 c = 3; }',
    ),
    "defaults": (
        'syntax = "proto2"; package p; enum E { A = 1; B = 2; } message M { optional E a = 1; optional float b = 2 [default = nan]; optional bool c = 3; }',
        'syntax = "proto2"; package p; enum E { B = 2; A = 1; } message M { optional E a = 1; optional double b = 2 [default = 1.5]; optional bool c = 3 [default = true]; }',
    ),
    "default of another type": (
        'syntax = "proto2"; package p; message M { optional float a = 1 [default = 0.1]; optional int32 b = 2 [default = 5]; optional string c = 3 [default = "7"]; }',
        'syntax = "proto2"; package p; message M { optional double a = 1 [default = 0.1]; optional int64 b = 2 [default = 5]; optional int32 c = 3 [default = 7]; }',
    ),
    "extensions": (
        'syntax = "proto2"; package p; message M { extensions 100 to max; } extend M { optional string a = 100; optional int32 b = 101; }',
        'syntax = "proto2"; package p; message M { extensions 100 to 200; extend M { optional bytes c = 100; } } extend M { optional int32 b = 101; }',
    ),
    "aliases": (
        PROTO3 + "enum E { option allow_alias = true; Z = 0; A = 1; B = 1; }", PROTO3 + "enum E { option allow_alias = true; Z = 0; A = 1; C = 1; }",
    ),
    "numbers": (
        PROTO3 + "message M { string a = 1; string b = 2; } enum E { Z = 0; A = 1; B = 2; }",
        PROTO3 + "message M { string b = 3; string a = 2; } enum E { Z = 0; B = 3; A = 2; }",
    ),
    "reserved": (
        PROTO3 + 'message M { reserved 1 to 5, 9; reserved "a"; } enum E { reserved 1 to max; reserved "A"; Z = 0; }',
        PROTO3 + 'message M { reserved 1, 3 to 9; } enum E { reserved 2 to 7; Z = 0; }',
    ),
    "java": (
        PROTO3 + "message M { string a = 1; }", PROTO3 + "option java_string_check_utf8 = true; message M { string a = 1; }",
    ),
    "file options": (PROTO3 + "message M {}", PROTO3 + 'option java_package = "j"; option cc_enable_arenas = false; message M {}'),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_changes_break_the_same_rules(buf, rpcurl, tmp_path, name):
    for version, text in zip(("old", "new"), CASES[name], strict=True):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.proto").write_text(text)
        protoc(tmp_path / f"{version}.binpb", "a.proto", tmp_path / version)
    assert compare(buf, rpcurl, tmp_path / "old.binpb", tmp_path / "new.binpb", tmp_path)


def test_files_that_move_break_the_same_rules(buf, rpcurl, tmp_path):
    """Declarations in another file of the package, a file that is gone, and a package that is gone."""
    texts = {
        "old": {"a.proto": PROTO3 + "message A {} message B {}", "b.proto": PROTO3 + "service S {} enum E { Z = 0; } enum F { Y = 0; }"},
        "new": {"a.proto": PROTO3 + "message A {} enum F { Y = 0; }", "c.proto": 'syntax = "proto3"; package r; message B {}'},
    }  # fmt: skip
    for version, files in texts.items():
        schema = FileDescriptorSet()
        for name, text in files.items():
            (tmp_path / version).mkdir(exist_ok=True)
            (tmp_path / version / name).write_text(text)
            protoc(tmp_path / "one.binpb", name, tmp_path / version)
            schema.MergeFromString((tmp_path / "one.binpb").read_bytes())
        (tmp_path / f"{version}.binpb").write_bytes(schema.SerializeToString())
    assert compare(buf, rpcurl, tmp_path / "old.binpb", tmp_path / "new.binpb", tmp_path)


# Places

# buf names the number of a value that changes its name, and the start of the file for what this no longer has.
OTHER_PLACES = {"ENUM_VALUE_SAME_NAME"}
START = (1, 1)


@pytest.mark.parametrize("name", CASES)
def test_changes_are_at_the_same_places(buf, rpcurl, tmp_path, name):
    for version, text in zip(("old", "new"), CASES[name], strict=True):
        folder = tmp_path / version
        folder.mkdir()
        (folder / "a.proto").write_text(text.replace("; ", ";\n ").replace("{ ", "{\n  ") + "\n")
    for old, new in (("old", "new"), ("new", "old")):
        done = subprocess.run(
            [buf, "breaking", new, "--against", old, "--error-format", "json"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert done.returncode in (0, 100), done.stderr
        expected = {(found["type"], found["start_line"], found["start_column"]) for found in map(json.loads, done.stdout.splitlines())}
        found = rpcurl("diff", "--rules", "FILE", "--format", "json", tmp_path / old, tmp_path / new).lines()
        places = {(each["rule"], each["line"], each["column"]) for each in found if "line" in each}
        assert {each for each in expected if each[0] not in OTHER_PLACES and each[1:] != START} <= places
        # The place in the old schema is that of the opposite comparison, if that finds the same.
        back = rpcurl("diff", "--rules", "FILE", "--format", "json", tmp_path / new, tmp_path / old).lines()
        for each in found:
            for other in back:
                if (each["rule"], each["symbol"]) == (other["rule"], other["symbol"]):
                    assert (other["line"], other["column"]) in {(o["old"]["line"], o["old"]["column"]) for o in found if o["symbol"] == each["symbol"]}


# The part "breaking" of a buf.yaml

OLD_FILES = {
    "proto/shop/v1/shop.proto": """syntax = "proto3";
package shop.v1;
message Item {
  string id = 1;
  int32 count = 2;
}
enum Kind { ZERO = 0; ONE = 1; }
service Shop { rpc Find(Item) returns (Item); rpc Drop(Item) returns (Item); }
""",
    "proto/shop/v1beta1/beta.proto": 'syntax = "proto3";\npackage shop.v1beta1;\nmessage Beta { string a = 1; }\nmessage Lost {}\n',
    "proto/gone/v1/gone.proto": 'syntax = "proto3";\npackage gone.v1;\nmessage Gone {}\n',
    "vendor/lib/v1/lib.proto": 'syntax = "proto3";\npackage lib.v1;\noption go_package = "a";\nmessage Lib { string a = 1; }\nmessage Moved {}\n',
    "vendor/lib/v1/more.proto": 'syntax = "proto3";\npackage lib.v1;\nmessage More {}\n',
}  # fmt: skip
NEW_FILES = {
    "proto/shop/v1/shop.proto": OLD_FILES["proto/shop/v1/shop.proto"]
    .replace("string id", "string key").replace("int32 count", "int64 count").replace("ONE", "UNO").replace("rpc Drop(Item) returns (Item);", ""),
    "proto/shop/v1beta1/beta.proto": 'syntax = "proto3";\npackage shop.v1beta1;\nmessage Beta { bytes a = 1; }\n',
    "vendor/lib/v1/lib.proto": 'syntax = "proto3";\npackage lib.v1;\noption go_package = "b";\nmessage Lib { bytes a = 1; }\n',
    "vendor/lib/v1/more.proto": OLD_FILES["vendor/lib/v1/more.proto"] + "message Moved {}\n",
}  # fmt: skip
MODULES = "version: v2\nmodules: [{path: proto}, {path: vendor}]\n"
SETTINGS = {
    "file": MODULES + "breaking: {use: [FILE]}",
    "package": MODULES + "breaking: {use: [PACKAGE]}",
    "wire": MODULES + "breaking: {use: [WIRE]}",
    "rules": MODULES + "breaking: {use: [FIELD_SAME_TYPE, RPC_NO_DELETE, WIRE]}",
    "except": MODULES + "breaking: {use: [FILE], except: [FIELD_SAME_TYPE, WIRE]}",
    "a directory": MODULES + "breaking:\n  use: [FILE]\n  ignore:\n    - proto/shop/v1 # stays\n",
    "a file": MODULES + "breaking: {use: [FILE], ignore: [vendor/lib/v1/lib.proto]}",
    "a removed file": MODULES + "breaking: {use: [FILE], ignore: [proto/gone/v1/gone.proto]}",
    "a removed directory": MODULES + "breaking: {use: [PACKAGE], ignore: [proto/gone]}",
    "a module": MODULES + "breaking: {use: [FILE], ignore: [vendor]}",
    "a rule of a file": MODULES + "breaking: {use: [FILE], ignore_only: {FIELD_SAME_TYPE: [proto/shop/v1/shop.proto], FILE: [vendor/lib]}}",
    "unstable": MODULES + "breaking: {use: [FILE], ignore_unstable_packages: true}",
    "a module with its own": "version: v2\nmodules:\n  - path: proto\n  - path: vendor\n    breaking: {use: [WIRE]}\nbreaking: {use: [FILE], ignore: [proto/gone]}",
}  # fmt: skip


@pytest.fixture
def workspace(rpcurl):
    for version, files in (("old", OLD_FILES), ("new", NEW_FILES)):
        for name, text in files.items():
            path = rpcurl.home / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return rpcurl.home


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_buf_yaml_have_the_same_meaning(buf, rpcurl, workspace, name):
    (workspace / "new" / "buf.yaml").write_text(SETTINGS[name])
    (workspace / "old" / "buf.yaml").write_text(MODULES)
    same_in_both(buf, rpcurl, workspace, "new", "old")


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_settings_of_older_versions_have_the_same_meaning(buf, rpcurl, workspace, version):
    settings = "breaking: {use: [FILE], ignore: [shop/v1beta1], ignore_only: {RPC_NO_DELETE: [shop/v1]}, except: [FIELD_SAME_NAME, FIELD_SAME_LABEL, FILE_SAME_PHP_GENERIC_SERVICES]}"
    for folder in ("old", "new"):
        (workspace / folder / "proto" / "buf.yaml").write_text(f"version: {version}\n{settings}\n")
    same_in_both(buf, rpcurl, workspace, "new/proto", "old/proto")


def same_in_both(buf, rpcurl, workspace, new, old):
    done = subprocess.run(
        [buf, "breaking", new, "--against", old, "--error-format", "json"],
        cwd=workspace, capture_output=True, text=True, timeout=60, env={"HOME": str(workspace), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.returncode in (0, 100), done.stderr
    expected = [json.loads(line) for line in done.stdout.splitlines()]
    result = rpcurl("diff", "--format", "json", old, new)
    assert (result.code, result.err) == (8 if expected else 0, "")
    found = {(each["rule"], each["path"], each.get("line")) for each in result.lines()}
    assert {each["type"] for each in expected} == {rule for rule, _, _ in found}
    placed = {(each["type"], each["path"], each["start_line"]) for each in expected if "path" in each}
    # buf names the first line for what was removed from a file, and no path of a removed file.
    assert {each for each in placed if each[2] != 1} <= found
    assert {each[:2] for each in placed} <= {each[:2] for each in found}
    unplaced = {each["type"] for each in expected if "path" not in each}
    assert {each[:2] for each in found if each[0] not in unplaced} <= {each[:2] for each in placed}
