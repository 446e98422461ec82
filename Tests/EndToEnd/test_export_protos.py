"""`rpcurl export --proto-dir`: the schema as .proto files, whose names may be hostile."""

import subprocess

import pytest
from harness import VENV, names
from google.protobuf import descriptor_pb2
from test_describe_round_trip import HERE, normal, protoc


def schema(path, *names):
    """A descriptor set of files with these names."""
    files = [descriptor_pb2.FileDescriptorProto(name=name, syntax="proto3") for name in names]
    path.write_bytes(descriptor_pb2.FileDescriptorSet(file=files).SerializeToString())
    return path


def below(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


@pytest.fixture
def export(rpcurl, tmp_path):
    """`export(name…)` exports files of these names to tmp_path/out."""

    def export(*names):
        return rpcurl("export", "--descriptor-set", schema(tmp_path / "set.binpb", *names), "--proto-dir", tmp_path / "out")

    return export


@pytest.mark.parametrize("name", ["old.proto", "modern.proto", "edition.proto", "importer.proto"])
def test_protoc_makes_the_same_descriptors(rpcurl, tmp_path, name):
    first, second, out = tmp_path / "first.binpb", tmp_path / "second.binpb", tmp_path / "out"
    protoc(first, name, HERE)
    rpcurl("export", "--descriptor-set", first, "--proto-dir", out).exits(0, "", "")
    names = [file.name for file in descriptor_pb2.FileDescriptorSet.FromString(first.read_bytes()).file]
    assert sorted(names) == [str(file.relative_to(out)) for file in sorted(out.rglob("*.proto"))]
    # The files of the folder alone, without those of the compiler.
    command = [VENV / "bin" / "python", "-m", "grpc_tools.protoc", f"-I{out}", "--include_imports", f"--descriptor_set_out={second}"]
    subprocess.run([*command, name], check=True, timeout=60)
    for file in names:
        assert normal(first, file) == normal(second, file)


def test_from_a_server_with_a_symbol(rpcurl, grpc_server, tmp_path):
    rpcurl("export", grpc_server.url, "demo.v1.Demo", "--proto-dir", tmp_path / "out", "-o", tmp_path / "set.binpb").succeeds()
    assert "demo.proto" in below(tmp_path / "out") and (tmp_path / "set.binpb").stat().st_size > 100
    command = [VENV / "bin" / "python", "-m", "grpc_tools.protoc", f"-I{tmp_path / 'out'}", "--descriptor_set_out=/dev/null"]
    subprocess.run([*command, "demo.proto"], check=True, timeout=60)


@pytest.mark.parametrize(
    "name",
    ["/tmp/x.proto", "../x.proto", "a/../../x.proto", "a/./x.proto", "a//x.proto", "a/", "x\n.proto", "x\x1b.proto",
     "a\x7f/x.proto", "", "x" * 300 + ".proto", ".bashrc", "Makefile"],
)  # fmt: skip
def test_hostile_names_are_refused(export, tmp_path, name):
    result = export("good.proto", name)
    assert result.code in (1, 3) and result.out == ""
    assert "\x1b" not in result.err
    assert not (tmp_path / "out").exists() or below(tmp_path / "out") == []
    assert not (tmp_path / "x.proto").exists()


def test_a_file_is_no_folder(export, tmp_path):
    export("a.proto/b.proto", "a.proto").exits(1).reports("a.proto: is also the name of a folder")
    assert not (tmp_path / "out").exists()


def test_symbolic_links_are_not_followed(export, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "a").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "out" / "b.proto").symlink_to(tmp_path / "target")
    for name in ["a/x.proto", "b.proto"]:
        export("good.proto", name).exits(1).reports(f"rpcurl: {name}: ")
    assert below(tmp_path / "elsewhere") == [] and not (tmp_path / "target").exists()
    assert not (tmp_path / "out" / "good.proto").exists()
    # The folder itself is the user's choice.
    (tmp_path / "out").rename(tmp_path / "old")
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    assert export("good.proto").code == 0
    assert below(tmp_path / "elsewhere") == ["good.proto"]


def test_existing_files_are_kept(export, tmp_path):
    assert export("a/b.proto", "c.proto").code == 0
    assert export("a/b.proto", "c.proto", "d.proto").code == 0
    (tmp_path / "out" / "c.proto").write_text("mine")
    result = export("a/b.proto", "c.proto", "e/e.proto").exits(1)
    assert result.err == "rpcurl: c.proto: exists with other content\nhint: nothing was written; use an empty directory, or -o FILE\n"
    assert (tmp_path / "out" / "c.proto").read_text() == "mine"
    assert below(tmp_path / "out") == ["a", "a/b.proto", "c.proto", "d.proto"]


def test_the_folder_must_exist_or_be_creatable(rpcurl, descriptor_set, tmp_path):
    words = ["export", "--descriptor-set", descriptor_set]
    assert rpcurl(*words, "--proto-dir", tmp_path / "new" / "folder").code == 0
    assert (tmp_path / "new" / "folder" / "demo.proto").exists()
    (tmp_path / "file").touch()
    rpcurl(*words, "--proto-dir", tmp_path / "file" / "folder").exits(1).reports(f"rpcurl: --proto-dir {tmp_path}/file/folder: Not a directory")
    result = rpcurl(*words, "-o", tmp_path)
    assert result.code == 1 and result.err.endswith("hint: --proto-dir DIR writes .proto files into a directory\n")


def message(name, *fields):
    """A message with fields of types by name; others are numbers."""
    message = descriptor_pb2.DescriptorProto(name=name)
    for number, (field, type, json) in enumerate(fields, 1):
        message.field.add(name=field, number=number, label=1, type=11 if type else 5, type_name=type, json_name=json)
    return message


def files(path, *files):
    """A descriptor set of files with these messages: a name, imports, and messages."""
    set = descriptor_pb2.FileDescriptorSet()
    for name, imports, messages in files:
        set.file.add(name=name, package="p", syntax="proto3", dependency=imports, message_type=messages)
    path.write_bytes(set.SerializeToString())
    return path


GONE = message("A", ("gone", ".p.Gone", "gone"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([("a.proto", [], [GONE])], '"p.Gone" is not defined.'),
        ([("a.proto", ["gone.proto"], [GONE])], '"p.Gone" is not defined.'),
        ([("a.proto", [], [message("A"), message("A")])], '"A" is already defined in "p".'),
        ([("b.proto", [], [message("A")]), ("a.proto", [], [message("A")])], '"p.A" is already defined in file "b.proto".'),
        ([("a.proto", [], [message("A", ("b", "", "b"), ("b", "", "b"))])], '"b" is already defined in "p.A".'),
    ],
    ids=["type", "import", "message", "file", "field"],
)  # fmt: skip
def test_what_no_compiler_accepts_is_refused(rpcurl, tmp_path, given, reason):
    words = ["export", "--descriptor-set", files(tmp_path / "set.binpb", *given)]
    result = rpcurl(*words, "--proto-dir", tmp_path / "out").exits(3)
    lines = [f"rpcurl: a.proto: no compiler accepts its source: {reason}", "hint: -o FILE writes a descriptor set"]
    assert result.err.splitlines()[-2:] == lines
    assert not (tmp_path / "out").exists()
    assert rpcurl(*words, "-o", tmp_path / "again.binpb").code == 0


def test_an_import_that_nothing_needs_may_be_missing(rpcurl, tmp_path):
    set = files(tmp_path / "set.binpb", ("a.proto", ["gone.proto"], [message("A")]))
    result = rpcurl("export", "--descriptor-set", set, "--proto-dir", tmp_path / "out").exits(0)
    hint = "hint: was the set made with all imports, as by `protoc --include_imports`?\n"
    assert result.err == f"rpcurl: imported files not found in any source: gone.proto\n{hint}"
    assert below(tmp_path / "out") == ["a.proto"]


def test_names_in_json_that_collide_are_accepted(rpcurl, tmp_path):
    collide = message("A", ("foo_bar", "", "fooBar"), ("other", "", "fooBar"))
    set = files(tmp_path / "set.binpb", ("a.proto", [], [collide, message("B", ("a", "", "b"), ("b", "", "a"))]))
    rpcurl("export", "--descriptor-set", set, "--proto-dir", tmp_path / "out").exits(0, "", "")
    protoc(tmp_path / "again.binpb", "a.proto", tmp_path / "out")
    (first, second) = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "again.binpb").read_bytes()).file[0].message_type
    assert [field.json_name for field in first.field] == ["fooBar", "fooBar"]
    assert first.options.deprecated_legacy_json_field_conflicts and not second.HasField("options")
