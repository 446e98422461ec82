"""`--descriptor-set`: every form in which people have descriptors."""

import gzip
import shutil
import subprocess
import zipfile

import pytest
import zstandard
from google.protobuf import json_format, text_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from harness import GENERATED, VENV

BUF = VENV / "bin" / "buf"
OWN = (
    'syntax = "proto3";\npackage own.v1;\nimport "google/protobuf/descriptor.proto";\n'
    "extend google.protobuf.FieldOptions { string tag = 50001; }\n"
    'message Own { string text = 1 [(tag) = "t"]; }\nservice Owner { rpc Get(Own) returns (Own); }\n'
)


@pytest.fixture(scope="module")
def demo_set():
    return FileDescriptorSet.FromString((GENERATED / "demo.binpb").read_bytes())


FORMS = {
    "gzip": lambda demo: gzip.compress(demo.SerializeToString()),
    "zstd": lambda demo: zstandard.compress(demo.SerializeToString()),
    "json": lambda demo: json_format.MessageToJson(demo).encode(),
    "json.gz": lambda demo: gzip.compress(json_format.MessageToJson(demo).encode()),
    "text": lambda demo: text_format.MessageToString(demo).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(rpcurl, demo_set, grpc_server, form):
    path = rpcurl.home / f"demo.{form}"
    path.write_bytes(FORMS[form](demo_set))
    rpcurl("list", "--descriptor-set", path).exits(0).prints("demo.v1.Demo\n")
    rpcurl("--descriptor-set", path, "--plaintext", grpc_server.address, "Demo/Hello", "-d", '{"name":"Ada"}').succeeds()
    rpcurl("list", "--descriptor-set", "-", input=path.read_bytes()).exits(0).prints("demo.v1.Demo\n")
    assert rpcurl("diff", path, GENERATED / "demo.binpb").out == "no breaking changes (PACKAGE)\n"


@pytest.mark.parametrize("name", ["image.binpb", "image.binpb.gz", "image.binpb.zst", "image.json", "image.json.gz", "image.txtpb"])
def test_images_of_buf(rpcurl, name):
    (rpcurl.home / "own.proto").write_text(OWN)
    subprocess.run([BUF, "build", "-o", name], cwd=rpcurl.home, check=True)
    assert '[(.own.v1.tag) = "t"]' in rpcurl("describe", "--descriptor-set", name, "Own").out.replace("(own", "(.own").replace("(tag", "(.own.v1.tag")


def test_a_program_of_go(rpcurl):
    """buf: descriptors as in current Go programs."""
    rpcurl("list", "--descriptor-set", BUF).exits(0).prints("buf.registry.module.v1.CommitService")


@pytest.mark.skipif(shutil.which("etcd") is None, reason="etcd is not installed")
def test_an_older_program_of_go(rpcurl):
    """etcd of Debian 12: descriptors that are compressed with gzip."""
    rpcurl("list", "--descriptor-set", shutil.which("etcd")).exits(0).prints("etcdserverpb.KV")


def test_a_library_of_cpp_and_code_of_python(rpcurl, tmp_path):
    library = next((VENV / "lib").glob("python3*/site-packages/grpc_tools/_protoc_compiler*.so"))
    rpcurl("list", "--kind", "message", "--descriptor-set", library).exits(0).prints("google.protobuf.compiler.CodeGeneratorRequest")
    code = GENERATED / "demo_pb2.py"
    rpcurl("list", "--descriptor-set", code).exits(0).prints("demo.v1.Demo\n")
    with zipfile.ZipFile(tmp_path / "demo.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(code, "demo/demo_pb2.py")
    rpcurl("list", "--descriptor-set", tmp_path / "demo.whl").exits(0).prints("demo.v1.Demo\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x1f\x8bno gzip", "is not valid gzip, or is larger than the limit"),
        (b'{"file": [{"name": 1}]}', "not a descriptor set: "),
        (b"file { name: }", "not a descriptor set: "),
        (b"\x7fELF\x02\x01\x01 a program", "this is an ELF file"),
        (b'syntax = "proto3";', "this is a .proto source file"),
    ],
)
def test_what_is_invalid(rpcurl, content, why):
    (rpcurl.home / "x").write_bytes(content)
    result = rpcurl("list", "--descriptor-set", "x")
    assert result.code == 3 and why in result.err, result.err
