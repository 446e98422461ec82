"""What `rpcurl describe` shows of a file is what protoc makes the same descriptor of."""

import subprocess
from pathlib import Path

import pytest
from harness import ROOT, VENV
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

HERE = Path(__file__).resolve().parent / "describe"
WELL_KNOWN = next(VENV.glob("lib/python3*/site-packages/grpc_tools/_proto"))
FIXTURES = ROOT / "Tests" / "ProtobufSupport" / "protos"
FILES = [
    HERE / "options.proto",
    HERE / "old.proto",
    HERE / "modern.proto",
    HERE / "edition.proto",
    HERE / "styles.proto",
    HERE / "legacy.proto",
    HERE / "importer.proto",
    ROOT / "Tests" / "Schemas" / "proto2.proto",
    ROOT / "Tests" / "Schemas" / "proto3.proto",
    ROOT / "Tests" / "Schemas" / "editions.proto",
    FIXTURES / "options.proto",
    FIXTURES / "ranges.proto",
    ROOT / "Tests" / "Servers" / "demo.proto",
]


def protoc(out: Path, file: str, *paths: Path, system: bool = False) -> None:
    """Compile with a protoc that supports editions, or with the system's."""
    command = ["protoc"] if system else [VENV / "bin" / "python", "-m", "grpc_tools.protoc"]
    words = [f"-I{path}" for path in (*paths, WELL_KNOWN)]
    words += ["--include_imports", "--include_source_info", f"--descriptor_set_out={out}"]
    done = subprocess.run([*command, *words, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def normal(path: Path, name: str, without_comments: bool = True) -> str:
    """The descriptor of one file as text, in which options have their names."""
    data = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in data.file:
        pool.Add(file)
    try:
        type = pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto")
        new = message_factory.GetMessageClass(type)
    except KeyError:
        new = descriptor_pb2.FileDescriptorProto
    file = next(file for file in data.file if file.name == name)
    message = new.FromString(file.SerializeToString())
    if without_comments:
        message.ClearField("source_code_info")
    return text_format.MessageToString(message, descriptor_pool=pool)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_file(rpcurl, tmp_path, file):
    first, second = tmp_path / "first.binpb", tmp_path / "second.binpb"
    protoc(first, file.name, file.parent)
    shown = rpcurl("describe", "--descriptor-set", first, file.name).succeeds()
    written = tmp_path / "again"
    written.mkdir()
    (written / file.name).write_bytes(shown.out_bytes)
    protoc(second, file.name, written, file.parent)
    assert normal(first, file.name) == normal(second, file.name)
    # The declarations of the second set are the same, with their comments.
    again = rpcurl("describe", "--descriptor-set", second, file.name)
    assert again.out.replace("\n\n", "\n") == shown.out.replace("\n\n", "\n")


def test_unknown_fields_of_option_values_are_reported(rpcurl, tmp_path):
    path = tmp_path / "set.binpb"
    protoc(path, "old.proto", HERE)
    whole = rpcurl("describe", "--descriptor-set", path, "old.proto").out
    set = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
    rule = next(m for file in set.file for m in file.message_type if (file.package, m.name) == ("opt", "Rule"))
    del rule.field[[field.name for field in rule.field].index("mode")]
    path.write_bytes(set.SerializeToString())
    printed = "// and options that the schema does not define"
    lines = rpcurl("describe", "--descriptor-set", path, "old.proto").out.splitlines()
    assert printed not in whole
    # In the option of the file, and within one in that of a message.
    assert printed in lines and f"  {printed}" in lines


@pytest.mark.parametrize("name", ["old.proto", "modern.proto"])
def test_with_the_protoc_of_the_system(rpcurl, tmp_path, name):
    first, second = tmp_path / "first.binpb", tmp_path / "second.binpb"
    protoc(first, name, HERE)
    (tmp_path / name).write_bytes(rpcurl("describe", "--descriptor-set", first, name).out_bytes)
    protoc(second, name, tmp_path, HERE, system=True)
    assert normal(first, name) == normal(second, name)


@pytest.mark.parametrize("name", ["old.proto", "modern.proto", "edition.proto"])
def test_declarations_one_by_one(rpcurl, tmp_path, name):
    """The head of a file and its declarations, each described separately, compile to the same file."""
    first, second = tmp_path / "first.binpb", tmp_path / "second.binpb"
    protoc(first, name, HERE)
    data = descriptor_pb2.FileDescriptorSet.FromString(first.read_bytes())
    file = next(file for file in data.file if file.name == name)
    whole = rpcurl("describe", "--descriptor-set", first, name).out
    heads = ("syntax", "edition", "package", "import", "option ")
    end = next(i for i, line in enumerate(whole.split("\n")) if line.startswith(("message", "enum")))
    head = "\n".join(line for line in whole.split("\n")[:end] if not line.startswith("//"))
    assert all(line.startswith((*heads, " ", "}")) for line in head.split("\n") if line)
    groups = {field.type_name for field in file.extension if field.type == 10}
    shown = [head]
    for declared in (file.enum_type, file.message_type, file.extension, file.service):
        for declaration in declared:
            full = f"{file.package}.{declaration.name}"
            if f".{full}" not in groups:
                shown.append(rpcurl("describe", "--descriptor-set", first, full).out)
    (tmp_path / name).write_text("\n".join(shown))
    protoc(second, name, tmp_path, HERE)
    before, after = (sorted(normal(path, name).split("\n")) for path in (first, second))
    assert before == after


def test_comments_survive(rpcurl, tmp_path):
    first = tmp_path / "first.binpb"
    protoc(first, "old.proto", HERE)
    shown = rpcurl("describe", "--descriptor-set", first, "old.proto").out
    for comment in ["A licence.", "Leading of Everything.\n// Second line.", "Detached.", "About the oneof."]:
        assert f"// {comment}" in shown
    assert "  // Trailing of a field.\n" in shown


