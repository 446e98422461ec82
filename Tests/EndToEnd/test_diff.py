"""`rpcurl diff`: breaking changes between two schemas."""

import os
import pty
import re
import shutil
import subprocess

import pytest
from harness import ROOT
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from test_describe_round_trip import protoc

OLD = """syntax = "proto3";
package shop.v1;
message Item {
  string id = 1;
  string name = 2;
}
service Shop {
  rpc Find(Item) returns (Item);
}
"""
NEW = OLD.replace("string name = 2;", "int32 name = 2;\n  string note = 3;")
TYPE = 'shop/v1/shop.proto:5:3: message shop.v1.Item: field 2 "name" changed its type from string to int32'
ADDED = 'shop/v1/shop.proto:6:3: message shop.v1.Item: field 3 "note" was added'


@pytest.fixture
def schemas(tmp_path):
    """Directories and descriptor sets of two versions of a schema."""

    def write(**texts):
        for version, text in texts.items():
            folder = tmp_path / version / "shop" / "v1"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "shop.proto").write_text(text)
            protoc(tmp_path / f"{version}.binpb", "shop/v1/shop.proto", tmp_path / version)
        return tmp_path

    write(old=OLD, new=NEW)
    return write


@pytest.fixture
def place(schemas, tmp_path):
    return tmp_path


# Schemas


@pytest.mark.parametrize("old", ["old.binpb", "old", "old/shop/v1/shop.proto"])
@pytest.mark.parametrize("new", ["new.binpb", "new", "new/shop/v1/shop.proto"])
def test_sets_files_and_directories(rpcurl, place, old, new):
    result = rpcurl("diff", place / old, place / new).exits(8, err="")
    source, before = ("" if name.endswith(".binpb") else f"{place}/{version}/" for name, version in ((new, "new"), (old, "old")))
    was = f" [was {before}shop/v1/shop.proto:5:3]" if source != before else ""
    assert result.out == f"{source}{TYPE}{was} (FIELD_SAME_TYPE)\n1 breaking change (PACKAGE), 1 addition\n"
    rpcurl("diff", place / old, place / old).exits(0, "no breaking changes (PACKAGE)\n", "")


def test_standard_input(rpcurl, place):
    old = (place / "old.binpb").read_bytes()
    assert rpcurl("diff", "-", place / "new.binpb", input=old).code == 8
    assert rpcurl("diff", place / "old.binpb", "-", input=old).code == 0
    rpcurl("diff", "-", "-", input=old).exits(2, err="rpcurl: -: only one of OLD and NEW can be standard input\n")


def test_a_server(rpcurl, grpc_server, place):
    proto = (ROOT / "Tests" / "Servers" / "demo.proto").read_text()
    (place / "demo").mkdir()
    (place / "demo" / "demo.proto").write_text(proto)
    words = ["diff", "--plaintext", grpc_server.address, place / "demo", "--only", "demo.v1"]
    rpcurl(*words).exits(0, "no breaking changes (PACKAGE)\n", "")
    (place / "demo" / "demo.proto").write_text(proto.replace("rpc Hello(HelloRequest)", "rpc Hello(stream HelloRequest)"))
    result = rpcurl(*words, "-v").exits(8).reports("* schema: reflection v1")
    line = proto[: proto.index("rpc Hello(")].count("\n") + 1
    assert result.out.splitlines()[0] == (
        f"{place}/demo/demo.proto:{line}:3: service demo.v1.Demo: method Hello changed its request from one message to a stream "
        "(RPC_SAME_CLIENT_STREAMING)"
    )


def test_imports_of_a_directory(rpcurl, tmp_path):
    for version, kind in (("old", "string"), ("new", "bytes")):
        for name, text in {
            "a/v1/a.proto": 'package a.v1; import "b/v1/b.proto"; message A { b.v1.B b = 1; }',
            "b/v1/b.proto": f'package b.v1; import "google/protobuf/any.proto"; message B {{ {kind} x = 1; }}',
        }.items():
            (tmp_path / version / "proto" / name).parent.mkdir(parents=True)
            (tmp_path / version / "proto" / name).write_text(f'syntax = "proto3"; {text}')
    result = rpcurl("diff", tmp_path / "old", tmp_path / "new")
    assert result.code == 8 and result.out.startswith(f"{tmp_path}/new/proto/b/v1/b.proto:1:82: message b.v1.B: field 1")
    with_path = rpcurl("diff", "-I", tmp_path / "new" / "proto", tmp_path / "old" / "proto", tmp_path / "new" / "proto")
    assert with_path.code in (0, 8) and with_path.out.splitlines()[-1].endswith("(PACKAGE)")


def test_modules_of_buf(rpcurl, tmp_path):
    for version, kind in (("old", "string"), ("new", "bytes")):
        for name, text in {
            "buf.yaml": "version: v2\nmodules:\n  - path: proto\n  - path: other\n",
            "proto/a/a.proto": 'syntax = "proto3"; package q; import "b.proto"; message A { zzz.B b = 1; }',
            "other/b.proto": f'syntax = "proto3"; package zzz; message B {{ {kind} x = 1; }}',
        }.items():
            (tmp_path / version / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / version / name).write_text(text)
    result = rpcurl("diff", tmp_path / "old", tmp_path / "new")
    assert result.code == 8 and result.out.startswith(f"{tmp_path}/new/other/b.proto:1:45: message zzz.B: field 1"), result.err
    # The innermost directory names a file, in any order.
    (tmp_path / "new" / "buf.yaml").unlink()
    paths = ["-I", tmp_path / "new" / "proto", "-I", tmp_path / "new" / "other"]
    rpcurl("diff", *paths, tmp_path / "new", tmp_path / "new").exits(0, "no breaking changes (PACKAGE)\n")


def test_imports_that_one_schema_lacks_are_not_compared(rpcurl, place):
    (place / "use.proto").write_text('syntax = "proto3"; import "shop/v1/shop.proto"; message Use { shop.v1.Item item = 1; }')
    whole = place / "whole.binpb"
    (place / "old" / "use.proto").write_text((place / "use.proto").read_text())
    protoc(whole, "use.proto", place / "old")
    part = FileDescriptorSet.FromString(whole.read_bytes())
    part.file.remove(next(file for file in part.file if file.name == "shop/v1/shop.proto"))
    (place / "part.binpb").write_bytes(part.SerializeToString())
    for words in (["whole.binpb", "part.binpb"], ["part.binpb", "whole.binpb"]):
        result = rpcurl("diff", *(place / word for word in words)).exits(0, "no breaking changes (PACKAGE)\n")
        assert result.err.startswith("rpcurl: imported files not found in any source: shop/v1/shop.proto\nhint: was the set made with")


def test_comments_are_no_changes(rpcurl, schemas):
    place = schemas(new=OLD.replace("message", "// A comment.\nmessage"))
    assert rpcurl("diff", "-v", place / "old", place / "new").out == "no breaking changes (PACKAGE)\n"


# Revisions of a git repository


@pytest.fixture
def repository(rpcurl):
    """A repository whose tag v1 has the old schema, and whose files have the new one."""

    def git(*words):
        subprocess.run(["git", "-C", rpcurl.home, "-c", "user.name=a", "-c", "user.email=a@test.invalid", *words], check=True, capture_output=True)

    source = rpcurl.home / "protos" / "shop" / "v1" / "shop.proto"
    source.parent.mkdir(parents=True)
    (source.parent / "note.proto").write_text('syntax = "proto3";\npackage shop.v1;\nmessage Note {}\n')
    source.write_text(OLD)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "old")
    git("tag", "v1")
    source.write_text(NEW)
    return rpcurl.home


@pytest.mark.parametrize(
    "words",
    [
        ["--against", "git:main", "protos"],
        ["--against", "git:v1"],
        ["git:v1:protos", "protos"],
        ["git:main", "protos/shop/v1/shop.proto"],
        ["-I", "protos", "--against", "git:v1", "protos/shop/v1"],
    ],
)
def test_a_revision_of_a_repository(rpcurl, repository, words):
    place = "protos/shop/v1/shop.proto"
    result = rpcurl("diff", *words).exits(8, err="")
    line, summary = result.out.splitlines()
    assert re.fullmatch(f"{re.escape(TYPE.replace('shop/v1/shop.proto', place))} \\[was git:(main|v1):{place}:5:3\\] \\(FIELD_SAME_TYPE\\)", line)
    assert summary == "1 breaking change (PACKAGE), 1 addition"
    annotations = rpcurl("diff", "--format", "github", *words).exits(8).out
    assert annotations.startswith(f"::error file={place},line=5,col=3,title=FIELD_SAME_TYPE::")


def test_two_revisions_and_a_revision_as_the_new_schema(rpcurl, repository):
    for words in (["git:v1:protos", "git:main:protos"], ["git:v1", "git:main"], ["git:v1:protos", "git:main"], ["git:v1", "git:main:protos"]):
        rpcurl("diff", *words).exits(0, "no breaking changes (PACKAGE)\n")
    result = rpcurl("diff", "protos", "git:v1").exits(8)
    assert result.out.startswith("git:v1:protos/shop/v1/shop.proto:5:3: message shop.v1.Item: field 2")


def test_an_error_in_a_revision_names_it(rpcurl, repository):
    (repository / "protos" / "shop" / "v1" / "note.proto").write_text('syntax = "proto3";\nmessage {')
    subprocess.run(["git", "-C", repository, "-c", "user.name=a", "-c", "user.email=a@test.invalid", "commit", "-q", "-am", "x"], check=True)
    rpcurl("diff", "git:main:protos", "git:v1:protos").exits(3, "").reports("rpcurl: git:main:protos/shop/v1/note.proto:2:9: ")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["--against", "git:none", "protos"], 3, "rpcurl: git:none: git: Not a valid object name none\nhint: "),
        (["--against", "git:main:none", "protos"], 3, "rpcurl: git:main:none: has no .proto files in none\nhint: "),
        (["--against", "git:--output=x", "protos"], 2, 'rpcurl: git:--output=x: a revision and a path cannot begin with "-"\nhint: '),
        (["--against", "git:main:-x", "protos"], 2, 'rpcurl: git:main:-x: a revision and a path cannot begin with "-"\nhint: '),
        (["--against", "git:", "protos"], 2, "rpcurl: git:: names no revision and path\nhint: "),
        (["--against", "git:main", "protos", "protos"], 2, "rpcurl: --against git:main: names OLD, so that only NEW can follow\n"),
    ],
)
def test_errors_of_revisions(rpcurl, repository, words, code, error):
    assert rpcurl("diff", *words).exits(code, "").err.startswith(error)


def test_a_revision_is_never_the_working_tree(rpcurl, repository, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(repository)
    for path in (link / "protos", link / "protos" / "shop" / ".." / "shop", f"../{repository.name}/protos"):
        assert "[was git:v1:protos/" in rpcurl("diff", "--against", "git:v1", path).exits(8, err="").out
    # A directory for imports that a link leads to is that of the revision, too.
    assert rpcurl("diff", "-I", link / "protos", "--against", "git:v1", "protos").exits(8, err="").out
    other = tmp_path / "other"
    shutil.copytree(repository / "protos", other)
    rpcurl("diff", "--against", "git:v1", other).fails(3, f"git:v1: {other} is in no git repository")
    rpcurl("diff", "git:v1:../other", "protos").fails(3, f"git:v1:../other: {repository.parent}/other is outside of the repository {repository}")


def test_a_schema_in_another_repository_has_the_revision_of_that(rpcurl, repository, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(repository, other)
    subprocess.run(["git", "-C", repository, "tag", "-d", "v1"], check=True, capture_output=True)
    assert "[was " in rpcurl("diff", "--against", "git:v1", other / "protos").exits(8, err="").out


def test_links_and_submodules_of_a_revision(rpcurl, repository):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@test.invalid", *words], cwd=repository, check=True, capture_output=True)

    source, links = repository / "protos" / "shop" / "v1" / "shop.proto", repository / "links"
    source.write_text(OLD)
    links.mkdir()
    (links / "shop").symlink_to("../protos/shop")
    git("init", "-q", "links/sub")
    git("-C", "links/sub", "commit", "-q", "--allow-empty", "-m", "sub")
    git("add", ".")
    git("commit", "-q", "-m", "links")
    source.write_text(NEW)
    warning = "rpcurl: git:main:links/sub: warning: not read: a submodule, or a symbolic link to nothing in the revision\n"
    result = rpcurl("diff", "--against", "git:main", "links").exits(8, err=warning)
    assert result.out.startswith("links/shop/v1/shop.proto:5:3: message shop.v1.Item: field 2")


def test_a_revision_without_a_repository_or_git(rpcurl, repository, tmp_path):
    rpcurl("diff", "git:main", "protos", env={"PATH": str(tmp_path)}).fails(3, "git:main: git is not installed", "hint: install git")
    (repository / ".git").rename(tmp_path / "git")
    rpcurl("diff", "git:main", "protos").fails(3, f"git:main: {repository} is in no git repository")


# Rules and names


def test_categories(rpcurl, schemas):
    place = schemas(new=NEW.replace("rpc Find(Item) returns (Item);", "").replace("string id", "string key"))
    lines = {c: rpcurl("diff", "--rules", c, place / "old.binpb", place / "new.binpb").out for c in ("FILE", "PACKAGE", "WIRE_JSON", "WIRE")}
    found = {category: re.findall(r"\(([A-Z_0-9]+)\)$", text, re.M) for category, text in lines.items()}
    assert found == {
        "FILE": ["FIELD_SAME_NAME", "FIELD_SAME_JSON_NAME", "FIELD_SAME_TYPE", "RPC_NO_DELETE"],
        "PACKAGE": ["FIELD_SAME_NAME", "FIELD_SAME_JSON_NAME", "FIELD_SAME_TYPE", "RPC_NO_DELETE"],
        "WIRE_JSON": ["FIELD_SAME_NAME", "FIELD_SAME_JSON_NAME", "FIELD_WIRE_JSON_COMPATIBLE_TYPE"],
        "WIRE": ["FIELD_WIRE_COMPATIBLE_TYPE"],
    }
    assert lines["WIRE"].splitlines()[-1] == "1 breaking change (WIRE), 1 addition"


def test_ignored_rules(rpcurl, place):
    words = ["diff", place / "old.binpb", place / "new.binpb"]
    rpcurl(*words, "--ignore", "FIELD_SAME_TYPE", "--ignore", "RPC_NO_DELETE").exits(0, "no breaking changes (PACKAGE), 1 addition\n")
    rpcurl(*words, "--ignore", "FIELD_SAME_TYP").exits(2, err="rpcurl: --ignore FIELD_SAME_TYP: not a rule\nhint: did you mean FIELD_SAME_TYPE?\n")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("", '--ignore: the value is empty\nhint: "--ignore ." ignores everything\n'),
        ("FIELD_SAME_TYPE:", '--ignore FIELD_SAME_TYPE:: a name or a path must follow the colon\nhint: "--ignore FIELD_SAME_TYPE" ignores it everywhere\n'),
    ],
    ids=["value", "scope"],
)  # fmt: skip
def test_an_empty_exception(rpcurl, place, value, error):
    rpcurl("diff", "--ignore", value, place / "old.binpb", place / "new.binpb").exits(2, "", f"rpcurl: {error}")
    rpcurl("diff", "--ignore", ".", place / "old.binpb", place / "new.binpb").exits(0, "no breaking changes (PACKAGE), 1 ignored\n", "")


@pytest.mark.parametrize(
    ("name", "code"),
    [("shop.v1", 8), ("shop", 8), ("shop.v1.Item", 8), ("shop.v1.Item.name", 8), ("shop.v1.Item.id", 0), ("shop.v1.Shop", 0), ("shop.v1.Shop/Find", 0)],
)  # fmt: skip
def test_only_some_names(rpcurl, place, name, code):
    result = rpcurl("diff", "--only", name, place / "old.binpb", place / "new.binpb").exits(code, err="")
    assert (TYPE in result.out) == (code == 8)


def test_methods_of_only_one_service(rpcurl, schemas):
    place = schemas(new=OLD.replace("rpc Find", "rpc Get"))
    for name in ("shop.v1.Shop/Find", "shop.v1.Shop.Find"):
        assert rpcurl("diff", "--only", name, place / "old.binpb", place / "new.binpb").code == 8


def test_a_name_that_neither_schema_has(rpcurl, place):
    result = rpcurl("diff", "--only", "shop.v2", place / "old.binpb", place / "new.binpb").exits(3, "")
    assert result.err.startswith("rpcurl: --only shop.v2: neither schema declares it\nhint: ")


def test_settings_of_a_configuration_file(rpcurl, place):
    (place / "conf").write_text("--rules WIRE\n--ignore FIELD_WIRE_COMPATIBLE_TYPE\n")
    rpcurl("diff", "--config", place / "conf", place / "old.binpb", place / "new.binpb").exits(0, "no breaking changes (WIRE), 1 addition\n")


# Exceptions

BETA = 'syntax = "proto3"; package shop.v1beta1; message Beta { string a = 1; }'


@pytest.fixture
def packages(rpcurl, schemas):
    """A change in each of two packages; the working directory has both versions as directories."""
    for version, text in (("old", OLD), ("new", NEW)):
        for name, content in (("shop/v1/shop.proto", text), ("shop/v1beta1/beta.proto", BETA.replace("string", "string" if version == "old" else "bytes"))):
            path = rpcurl.home / version / "proto" / name
            path.parent.mkdir(parents=True)
            path.write_text(content)
    return rpcurl.home


BOTH = {"shop.v1.Item.name", "shop.v1beta1.Beta.a"}


@pytest.mark.parametrize(
    ("words", "rest"),
    [
        ([], BOTH),
        (["--ignore", "shop.v1beta1"], {"shop.v1.Item.name"}),
        (["--ignore", "shop"], set()),
        (["--ignore", "shop.v1.Item"], {"shop.v1beta1.Beta.a"}),
        (["--ignore", "new/proto/shop/v1"], {"shop.v1beta1.Beta.a"}),
        (["--ignore", "shop/v1beta1/beta.proto"], {"shop.v1.Item.name"}),
        (["--ignore", "FIELD_SAME_TYPE"], set()),
        (["--ignore", "FIELD_SAME_TYPE:shop.v1"], {"shop.v1beta1.Beta.a"}),
        (["--ignore", "PACKAGE"], set()),
        (["--ignore", "PACKAGE:shop.v1"], {"shop.v1beta1.Beta.a"}),
        (["--ignore", "FIELD_SAME_LABEL"], BOTH),
        (["--ignore", "FIELD_SAME_NAME:shop.v1", "--rules", "FILE"], BOTH),
        (["--ignore-unstable"], {"shop.v1.Item.name"}),
        (["--ignore-unstable", "--ignore", "shop.v1.Item.name"], set()),
    ],
)
def test_exceptions_of_options(rpcurl, packages, words, rest):
    result = rpcurl("diff", "--format", "json", *words, "old/proto", "new/proto").exits(8 if rest else 0, err="")
    assert {each["symbol"] for each in result.lines()} == rest


def test_paths_that_are_printed_are_exceptions(rpcurl, packages):
    paths = {"new/proto/shop/v1/shop.proto", "./new/../new/proto/shop/v1/", f"../{packages.name}/new/proto/shop/v1/shop.proto"}
    for words in (["old/proto", "new/proto"], [packages / "old/proto", packages / "new/proto"]):
        printed = {result["path"] for result in rpcurl("diff", "--format", "json", *words).exits(8).lines() if "/v1/" in result["path"]}
        assert len(printed) == 1
        for path in paths | printed:
            result = rpcurl("diff", "--format", "json", "--ignore", path, *words).exits(8, err="")
            assert {each["symbol"] for each in result.lines()} == {"shop.v1beta1.Beta.a"}, path


def test_exceptions_of_a_buf_yaml(rpcurl, packages):
    settings = "version: v2\nmodules:\n  - path: proto\nbreaking:\n  use: [WIRE, FIELD_SAME_TYPE]\n  ignore:\n    - shop.v1 # a package\n"
    (packages / "new" / "buf.yaml").write_text(settings)
    result = rpcurl("diff", "old", "new").exits(8, err="")
    assert "beta.proto" in result.out and result.out.splitlines()[-1] == "1 breaking change (WIRE, FIELD_SAME_TYPE), 2 ignored"
    # The options take precedence, and are added.
    assert rpcurl("diff", "--rules", "PACKAGE", "--ignore-unstable", "old", "new").exits(0).out == "no breaking changes (PACKAGE), 2 ignored\n"
    assert rpcurl("diff", "--rules-from", "/dev/null", "old", "new").exits(8).out.endswith("\n2 breaking changes (PACKAGE), 1 addition\n")
    # Other schemas have none, and may use the file.
    for version in ("old", "new"):
        rpcurl("export", "--proto", f"{version}/proto", "-o", f"{version}.binpb").exits(0)
    assert rpcurl("diff", "old.binpb", "new.binpb").exits(8).out.endswith("(PACKAGE), 1 addition\n")
    assert rpcurl("diff", "--rules-from", "new/buf.yaml", "old.binpb", "new.binpb").exits(8).out.endswith(", 2 ignored\n")


def test_a_removed_file_is_not_hidden_by_another_module(rpcurl):
    lines = ["version: v2", "modules:", "  - path: a", "    breaking: {use: [FILE]}", "  - path: b", "    breaking: {use: [FILE], ignore: [b]}"]
    for name in ("old/a/x", "old/a/gone", "old/b/y", "new/a/x", "new/b/y"):
        path = rpcurl.home / f"{name}.proto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'syntax = "proto3"; package {path.parent.name}; message {path.stem.upper()} {{}}')
    for version in ("old", "new"):
        (rpcurl.home / version / "buf.yaml").write_text("\n".join(lines))
    rpcurl("export", "--proto", "old", "-o", "old.binpb").exits(0)
    for old in ("old", "old.binpb"):
        assert "file gone.proto was removed (FILE_NO_DELETE)" in rpcurl("diff", old, "new").exits(8, err="").out


def test_what_ignores_nothing_is_reported(rpcurl, packages):
    lines = [
        "version: v2", "modules: [{path: proto}]", "breaking:", "  use: [WIRE_JSON]", "  ignore:", "    - proto/shop/v1", "    - proto/other", "    - shop.v2",
        "  ignore_only:", "    RPC_NO_DELETE: [proto/shop]", "    FIELD_WIRE_JSON_COMPATIBLE_TYPE: [proto/shop/v1beta1]",
    ]  # fmt: skip
    (packages / "new" / "buf.yaml").write_text("\n".join(lines) + "\n")
    warnings = [
        "rpcurl: new/buf.yaml:7:7: warning: ignores nothing: neither schema has proto/other",
        "rpcurl: new/buf.yaml:8:7: warning: ignores nothing: neither schema has shop.v2",
        "rpcurl: new/buf.yaml:10:21: warning: ignores nothing: the rule is not applied",
    ]
    result = rpcurl("diff", "old", "new").exits(0, "no breaking changes (WIRE_JSON), 2 ignored\n")
    assert result.err.splitlines() == warnings
    verbose = rpcurl("diff", "-v", "old", "new").exits(0)
    assert "rpcurl: new/buf.yaml:6:7: 2 changes ignored" in verbose.err and "rpcurl: new/buf.yaml:11:39: 1 change ignored" in verbose.err
    assert rpcurl("diff", "-s", "old", "new").exits(0).err == ""
    option = rpcurl("diff", "--ignore", "shop.v3", "old/proto", "old/proto").exits(0)
    assert "rpcurl: --ignore shop.v3: warning: ignores nothing: neither schema has shop.v3" in option.err
    rule = rpcurl("diff", "--ignore", "field_same_type:shop", "old/proto", "old/proto").exits(0)
    assert rule.err.splitlines() == [
        "rpcurl: --ignore field_same_type:shop: warning: ignores nothing: neither schema has field_same_type:shop",
        "hint: did you mean FIELD_SAME_TYPE?",
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("breaking: {use: [FILES]}", "new/buf.yaml:1:18: FILES is not a rule\nhint: "),
        ("breaking: {except: [FIELD_SAME_TYP]}", "new/buf.yaml:1:21: FIELD_SAME_TYP is not a rule\nhint: did you mean FIELD_SAME_TYPE?"),
        ("breaking: {ignore_only: {X: [a]}}", "new/buf.yaml:1:30: X is not a rule\nhint: "),
        ("breaking: {ignore: a}", "new/buf.yaml:1:20: expected a list"),
    ],
)
def test_errors_of_a_buf_yaml(rpcurl, packages, text, error):
    (packages / "new" / "buf.yaml").write_text(text + "\n")
    result = rpcurl("diff", "old", "new").exits(3, "")
    assert error in result.err


def test_a_missing_file_of_rules(rpcurl, packages):
    rpcurl("diff", "--rules-from", "none.yaml", "old", "new").exits(3, "").reports("none.yaml: No such file or directory")


# Output


def test_markdown(rpcurl, packages):
    result = rpcurl("diff", "-v", "--format", "markdown", "old/proto", "new/proto").exits(8, err="")
    change = TYPE.split(": ", 1)[1]
    assert result.out == f"""### rpcurl diff: 2 breaking changes (PACKAGE), 1 addition

#### `new/proto/shop/v1/shop.proto`: 2 changes

| Line | Before | Change | Rule |
|---|---|---|---|
| 5:3 | `old/proto/shop/v1/shop.proto:5:3` | `{change}` | `FIELD_SAME_TYPE` |
| 6:3 |  | `{ADDED.split(": ", 1)[1]}` | addition |

#### `new/proto/shop/v1beta1/beta.proto`: 1 change

| Line | Before | Change | Rule |
|---|---|---|---|
| 1:57 | `old/proto/shop/v1beta1/beta.proto:1:57` | `message shop.v1beta1.Beta: field 1 "a" changed its type from string to bytes` | `FIELD_SAME_TYPE` |
"""
    rpcurl("diff", "--format", "markdown", "old/proto", "old/proto").exits(0, "### rpcurl diff: no breaking changes (PACKAGE)\n")


def test_the_summary_names_few_rules(rpcurl, packages):
    source = (ROOT / "Sources" / "SchemaTools" / "Difference" / "Rule.swift").read_text()
    rules = ["FIELD_SAME_TYPE", *re.findall(r'case rpc\w+ = "([A-Z_]+)"', source), *re.findall(r'case enum\w+ = "([A-Z_]+)"', source)]
    assert len(rules) > 10
    (packages / "new" / "buf.yaml").write_text("version: v2\nmodules: [{path: proto}]\nbreaking:\n  use:\n" + "".join(f"    - {rule}\n" for rule in rules * 100))
    result = rpcurl("diff", "--format", "markdown", "old", "new").exits(8, err="")
    heading = f"### rpcurl diff: 2 breaking changes ({', '.join(rules[:8])} and {len(rules) - 8} more)"
    assert result.out.splitlines()[0] == f"{heading}, 1 addition"


def test_additions(rpcurl, place):
    result = rpcurl("diff", "-v", place / "old.binpb", place / "new.binpb")
    assert result.out.splitlines() == [f"{TYPE} (FIELD_SAME_TYPE)", ADDED, "1 breaking change (PACKAGE), 1 addition"]


def test_json(rpcurl, place):
    result = rpcurl("diff", "-v", "--format", "json", place / "old.binpb", place / "new.binpb").exits(8)
    assert result.lines() == [
        {"breaking": True, "rule": "FIELD_SAME_TYPE", "file": "shop/v1/shop.proto", "symbol": "shop.v1.Item.name", "message": TYPE.split(": ", 1)[1], "line": 5, "column": 3,
         "old": {"file": "shop/v1/shop.proto", "line": 5, "column": 3}},
        {"breaking": False, "file": "shop/v1/shop.proto", "symbol": "shop.v1.Item.note", "message": ADDED.split(": ", 1)[1], "line": 6, "column": 3},
    ]  # fmt: skip
    assert rpcurl("diff", "--format", "json", place / "old.binpb", place / "old.binpb").out == ""


def test_annotations(rpcurl, schemas):
    place = schemas(old=OLD.replace("package", 'option go_package = "a%:,b";\npackage'))
    result = rpcurl("diff", "--format", "github", place / "old.binpb", place / "new.binpb", "-v")
    assert result.out.splitlines() == [
        '::error file=shop/v1/shop.proto,line=2,col=1,title=FILE_SAME_GO_PACKAGE::option go_package changed from "a%25:,b" to ""',
        f"::error file=shop/v1/shop.proto,line=5,col=3,title=FIELD_SAME_TYPE::{TYPE.split(': ', 1)[1]}",
        f"::notice file=shop/v1/shop.proto,line=6,col=3,title=addition::{ADDED.split(': ', 1)[1]}",
    ]


def test_text_of_a_schema_cannot_control_the_terminal(rpcurl, place):
    schema = FileDescriptorSet.FromString((place / "old.binpb").read_bytes())
    schema.file[0].options.go_package = "\x1b[31mred\n::error::x"
    (place / "hostile.binpb").write_bytes(schema.SerializeToString())
    for form in ("text", "json", "github", "markdown"):
        result = rpcurl("diff", "--format", form, place / "old.binpb", place / "hostile.binpb")
        assert result.code == 8 and "\x1b" not in result.out and "\n::error::x" not in result.out
    leader, follower = pty.openpty()
    command = rpcurl.command(("diff", place / "old.binpb", place / "hostile.binpb"))
    subprocess.run(command, stdout=follower, env=rpcurl.environment(None), timeout=60)
    os.close(follower)
    shown = os.read(leader, 10_000)
    os.close(leader)
    assert b"\x1b[31m" not in shown and b"FILE_SAME_GO_PACKAGE" in shown


# Errors


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ([], 2, "rpcurl: missing argument: OLD\n"),
        (["{old}.binpb"], 2, "rpcurl: missing argument: NEW\n"),
        (["{old}.binpb", "{old}.binpb", "x"], 2, "rpcurl: x: unexpected argument\n"),
        (["{old}.binpb", "missing.binpb"], 3, "rpcurl: missing.binpb: No such file or directory\n"),
        (["./missing", "{old}.binpb"], 3, "rpcurl: ./missing: No such file or directory\nhint: a schema is a descriptor set, "),
        (["{old}.binpb", "missing/"], 3, "rpcurl: missing/: No such file or directory\n"),
        (["{empty}", "{old}.binpb"], 3, "rpcurl: {empty}: a directory without .proto files\n"),
        (["{old}.binpb", "/dev/null"], 3, "rpcurl: /dev/null: "),
        (["--rules", "STRICT", "{old}.binpb", "{old}.binpb"], 2, "rpcurl: --rules STRICT: "),
        (["{old}.binpb", "127.0.0.1:1", "--plaintext"], 5, "rpcurl: "),
    ],
)
def test_errors(rpcurl, place, words, code, error):
    (place / "empty").mkdir()
    names = {"old": place / "old", "empty": place / "empty"}
    assert rpcurl("diff", *(word.format(**names) for word in words)).exits(code, "").err.startswith(error.format(**names))


def test_a_misspelt_name_of_a_file(rpcurl, place):
    result = rpcurl("diff", place / "old", "misspelt.invalid")
    assert result.code == 5 and result.err.endswith("; there is no file or directory misspelt.invalid\n")


def test_a_file_that_is_no_schema(rpcurl, place):
    (place / "text.binpb").write_text("not a descriptor set")
    result = rpcurl("diff", place / "old.binpb", place / "text.binpb")
    assert result.code == 3 and result.err.startswith(f"rpcurl: {place}/text.binpb: ")
    (place / "new" / "shop" / "v1" / "shop.proto").write_text("message {")
    rpcurl("diff", place / "old", place / "new").exits(3).reports("shop.proto")


def test_the_manual_lists_every_rule():
    source = (ROOT / "Sources" / "SchemaTools" / "Difference" / "Rule.swift").read_text()
    page = (ROOT / "scripts" / "docs" / "prose" / "rpcurl-diff.mdoc").read_text()
    rules = set(re.findall(r'case \w+ = "([A-Z0-9_]+_[A-Z0-9_]+)"', source)) - {"WIRE_JSON"}
    assert len(rules) == 64 and rules == set(re.findall(r"[A-Z0-9]+(?:_[A-Z0-9]+)+", page)) - {"WIRE_JSON"}


def test_completes_rules(rpcurl):
    out = rpcurl("complete", "rule", "RPC_NO", "", "").out
    assert out == "RPC_NO_DELETE\t\n"
