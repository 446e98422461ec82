"""`rpcurl export`: a schema, or what a name needs of it, as a descriptor set."""

import fcntl
import os
import pty
import signal
import subprocess

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from test_describe_round_trip import HERE, protoc
from harness import write


def load(data: bytes) -> descriptor_pool.DescriptorPool:
    """Read by Python, which requires each file after its imports."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.Add(file)
        pool.FindFileByName(file.name)
    return pool


def names(data: bytes) -> list[str]:
    return [file.name for file in descriptor_pb2.FileDescriptorSet.FromString(data).file]


@pytest.mark.parametrize("symbol", [[], ["demo.v1.Demo"], ["Hello"], ["demo.v1.AllTypes"]])
def test_from_a_set(rpcurl, descriptor_set, symbol):
    result = rpcurl("export", "--descriptor-set", descriptor_set, *symbol).succeeds()
    load(result.out_bytes).FindServiceByName("demo.v1.Demo")
    assert ("google/rpc/error_details.proto" in names(result.out_bytes)) == (not symbol)
    assert rpcurl("export", "--descriptor-set", "-", *symbol, input=result.out_bytes).out_bytes == result.out_bytes


def test_only_what_is_needed(rpcurl, tmp_path):
    whole = tmp_path / "whole.binpb"
    protoc(whole, "old.proto", HERE)
    result = rpcurl("export", "--descriptor-set", whole, "opt.Rule")
    assert names(result.out_bytes) == ["google/protobuf/any.proto", "google/protobuf/descriptor.proto", "options.proto"]


def test_from_a_server(rpcurl, grpc_server, tmp_path):
    file = tmp_path / "demo.binpb"
    result = rpcurl("export", "--plaintext", grpc_server.address, "demo.v1.Demo", "-o", file)
    assert (result.code, result.err, result.out_bytes) == (0, "", b"")
    load(file.read_bytes()).FindServiceByName("demo.v1.Demo")
    rpcurl(
        "--descriptor-set", file, "--plaintext", "-d", '{"name":"Ada"}', grpc_server.address, "demo.v1.Demo/Hello"
    ).succeeds()
    everything = rpcurl("export", "--plaintext", grpc_server.address)
    load(everything.out_bytes).FindServiceByName("demo.v1.Demo")
    assert everything.out_bytes == rpcurl("export", "--plaintext", grpc_server.address).out_bytes


def test_protoc_reads_it(rpcurl, descriptor_set, tmp_path):
    file = tmp_path / "demo.binpb"
    rpcurl("export", "--descriptor-set", descriptor_set, "Hello", "--output", file)
    command = ["protoc", f"--descriptor_set_in={file}", f"--python_out={tmp_path}", "demo.proto"]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "demo_pb2.py").exists()


def test_missing_imports_are_reported(rpcurl, tmp_path):
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", dependency=["gone.proto"])
    path = write(tmp_path / "x.binpb", descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    result = rpcurl("export", "--descriptor-set", path)
    assert (result.code, names(result.out_bytes)) == (0, ["x.proto"])
    hint = "hint: was the set made with all imports, as by `protoc --include_imports`?"
    assert result.err == f"rpcurl: imported files not found in any source: gone.proto\n{hint}\n"


def test_not_to_a_terminal(rpcurl, descriptor_set):
    main, other = pty.openpty()
    done = subprocess.run(
        rpcurl.command(("export", "--descriptor-set", descriptor_set)),
        stdout=other, stderr=subprocess.PIPE, env=rpcurl.environment(None), timeout=60,
    )  # fmt: skip
    os.close(other)
    os.close(main)
    assert done.returncode == 2
    assert b"standard output is a terminal" in done.stderr and b"-o FILE" in done.stderr


def test_write_errors_are_reported(rpcurl, descriptor_set, tmp_path):
    for path, why in [(tmp_path / "no" / "file", "No such file"), ("/dev/full", "No space left")]:
        rpcurl("export", "--descriptor-set", descriptor_set, "-o", path).exits(1).reports(f"rpcurl: {path}: {why}")


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_may_get_its_reader_later(rpcurl, grpc_server, pipe):
    with rpcurl.start("export", "-v", "--no-cache", grpc_server.url, "-o", pipe) as process:
        assert b"* schema: reflection" in process.stderr.readline()
        data = pipe.read_bytes()
        assert process.wait() == 0
    load(data).FindServiceByName("demo.v1.Demo")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_wait_for_the_reader_of_a_pipe(rpcurl, grpc_server, pipe, number, code):
    with rpcurl.start("export", "-v", "--no-cache", grpc_server.url, "-o", pipe) as process:
        assert b"* schema: reflection" in process.stderr.readline()
        process.send_signal(number)
        assert process.wait() == code


def test_a_signal_ends_the_wait_for_room_in_a_pipe(rpcurl, grpc_server, pipe):
    with open(pipe, "r+b", buffering=0) as reader:
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        with rpcurl.start("export", grpc_server.url, "-o", pipe) as process:
            process.wait_until_idle()
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
