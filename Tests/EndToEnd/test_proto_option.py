"""`--proto` and `-I`: the schema from .proto files, with the help of protoc."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from harness import wait_until, write
from test_describe_round_trip import ROOT, WELL_KNOWN

SERVERS = ROOT / "Tests" / "Servers"

FILE = 'syntax = "proto3";\npackage own;\n// Said.\nmessage Own { string text = 1; }\n'


@pytest.fixture
def proto(tmp_path) -> Path:
    path = tmp_path / "protos" / "own.proto"
    path.parent.mkdir()
    path.write_text(FILE)
    return path


def test_every_command(rpcurl, grpc_server):
    source = ["-I", SERVERS, "--import-path", WELL_KNOWN, "--proto", "demo.proto"]
    assert rpcurl("list", *source).out == "demo.v1.Demo\n"
    assert "Hello greets by name" in rpcurl("describe", *source, "Hello").out
    assert rpcurl("template", *source, "Hello").json() == {"name": "", "language": ""}
    rpcurl(*source, "--plaintext", "-d", '{"name":"Ada"}', grpc_server.address, "demo.v1.Demo/Hello").succeeds()
    words = ["--type", "demo.v1.HelloRequest", "--from", "json", "--to", "text"]
    assert rpcurl("convert", *source, *words, input='{"name":"Ada"}').out == 'name: "Ada"\n'
    assert rpcurl("export", *source).code == 0


def test_protoc_without_the_well_known_types(rpcurl, tmp_path):
    """As in the package protobuf-compiler alone: protoc searches for them beside itself."""
    (tmp_path / "bin").mkdir()
    shutil.copy(shutil.which("protoc"), tmp_path / "bin")
    (tmp_path / "own.proto").write_text(
        'syntax = "proto3";\nimport "google/protobuf/any.proto";\nimport "google/protobuf/descriptor.proto";\n'
        "extend google.protobuf.FieldOptions { string tag = 50001; }\n"
        'message Own { google.protobuf.Any any = 1 [(tag) = "t"]; }\n'
    )
    path = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    bare = subprocess.run(["protoc", "-I", tmp_path, "-o", os.devnull, "own.proto"], env=os.environ | path)
    assert bare.returncode != 0
    rpcurl("describe", "-I", tmp_path, "--proto", "own.proto", "Own", env=path).succeeds().prints("google.protobuf.Any any = 1")


def test_paths(rpcurl, proto):
    # Where a file is by its full name it is found without -I.
    assert rpcurl("describe", "--proto", proto, "own.Own").out.endswith("// Said.\nmessage Own {\n  string text = 1;\n}\n")
    (rpcurl.home / "below.proto").write_text(FILE)
    assert rpcurl("describe", "--proto", "below.proto", "Own").code == 0
    (rpcurl.home / "-o.proto").write_text(FILE.replace("own", "dash"))
    assert "dash.Own" in rpcurl("describe", "--proto=-o.proto", "Own").out
    assert not (rpcurl.home / ".proto").exists()


def test_order_of_sources(rpcurl, proto, tmp_path):
    exported = tmp_path / "first.binpb"
    assert rpcurl("export", "--proto", proto, "-o", exported).code == 0
    proto.write_text(FILE.replace("text = 1", "changed = 1"))
    both = ["--proto", proto, "--descriptor-set", exported]
    assert "string text = 1;" in rpcurl("describe", *both, "own.Own").out
    assert "string changed = 1;" in rpcurl("describe", "--proto", proto, "own.Own").out
    other = proto.with_name("other.proto")
    other.write_text(FILE.replace("own", "other"))
    two = ["--proto", proto, "--proto", other]
    assert rpcurl("list", "--kind", "message", *two).out.split() == ["other.Own", "own.Own"]


def test_errors_pass_through(rpcurl, proto):
    proto.write_text('syntax = "proto3";\nmessage X { Missing x = 1; }\n')
    assert rpcurl("list", "--proto", proto).err.endswith('own.proto:2:13: "Missing" is not defined\n')
    rpcurl("list", "--proto", "/no/such.proto").fails(3, "rpcurl: /no/such.proto: No such file or directory")
    proto.write_text(FILE.replace("package", 'import "google/protobuf/empty.proto";\npackage'))
    rpcurl("list", "--kind", "message", "--proto", proto, "-I", proto.parent, "-I", WELL_KNOWN).exits(0).prints("own.Own").reports("empty.proto is unused")


def test_missing_protoc(rpcurl, proto, tmp_path):
    result = rpcurl("list", "--proto", proto, env={"PATH": str(tmp_path)})
    result.fails(3, "rpcurl: protoc: not found", "Debian and Ubuntu: protobuf-compiler")


def test_temporary_file(rpcurl, proto, tmp_path):
    """It is in $TMPDIR, readable by its owner only, and unlinked from the start."""
    fake, directory, shown = tmp_path / "bin", tmp_path / "tmp", tmp_path / "told"
    fake.mkdir()
    directory.mkdir()
    (fake / "protoc").write_text(
        f'#!/bin/sh\nfor a; do case "$a" in --descriptor_set_out=*) out="${{a#*=}}";; esac; done\n'
        f'(readlink "$out"; stat -L -c %a "$out"; ls -A {directory} | wc -l) > {shown}\nexit 1\n'
    )
    (fake / "protoc").chmod(0o755)
    env = {"PATH": f"{fake}:{os.environ['PATH']}", "TMPDIR": str(directory)}
    rpcurl("list", "--proto", proto, env=env).fails(3)
    link, mode, files = shown.read_text().split("\n")[:3]
    assert link.startswith(f"{directory}/rpcurl.")
    assert (mode, files.strip()) == ("600", "0")
    missing = rpcurl("list", "--proto", proto, env={"TMPDIR": str(tmp_path / "none")})
    missing.fails(3, "none: No such file or directory")


# A program that starts another one, holds a pipe, and does not end.
ENDLESS = """#!/bin/sh
exec 3> {pipe}
echo started >&3
sleep 1000 &
exec sleep 1000
"""


@pytest.fixture
def endless(tmp_path):
    """`endless(name)`: the environment in which a program does not end, and the pipe that it holds with all that it starts."""
    (tmp_path / "bin").mkdir()
    os.mkfifo(tmp_path / "held")

    def make(name):
        program = write(tmp_path / "bin" / name, ENDLESS.format(pipe=tmp_path / "held"))
        program.chmod(0o755)
        # Opened without waiting for the writer; it waits for the end of the one that opens it.
        return {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}, os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)

    return make


COMMANDS = {
    "protoc": (["list", "--proto", "a.proto"], 3),
    "buf": (["list", "--proto", "b.proto"], 3),
    "secret": (["--proto", "a.proto", "--use", "header,set=x:cmd:secret", "http://127.0.0.1:1/a.A/M", "-d", "{}"], 64 + 4),
}


def started(held):
    """Whether the program has written, and so holds the pipe."""
    try:
        return os.read(held, 100) == b"started\n"
    except BlockingIOError:
        return False


def ends(held):
    """All programs that hold the pipe have ended."""
    os.set_blocking(held, True)
    assert os.read(held, 100) == b""
    os.close(held)


@pytest.fixture
def files(rpcurl):
    (rpcurl.home / "a.proto").write_text('syntax = "proto3"; package a; message E {} service A { rpc M(E) returns (E); }')
    (rpcurl.home / "b.proto").write_text('syntax = "proto3"; import "missing.proto";')
    (rpcurl.home / "buf.yaml").write_text("version: v2\ndeps:\n  - buf.build/acme/types\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_max_time_ends_programs_with_all_that_they_have_started(rpcurl, files, endless, name):
    environment, held = endless(name)
    words, code = COMMANDS[name]
    rpcurl("--max-time", "2", *words, env=environment).exits(code)
    assert started(held)
    ends(held)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_programs_with_all_that_they_have_started(rpcurl, files, endless, name, number):
    environment, held = endless(name)
    with rpcurl.start(*COMMANDS[name][0], env=environment) as process:
        wait_until(lambda: started(held), f"{name} runs")
        process.send_signal(number)
        assert process.wait() == 128 + number
    ends(held)


def test_errors_cannot_control_a_terminal(rpcurl, proto):
    proto.write_text('syntax = "proto3";\nmessage \x1b[31mX { }\n')
    result = rpcurl("list", "--proto", proto)
    assert result.code == 3 and "\x1b" not in result.err


def test_a_file_beside_the_working_directory(rpcurl):
    (rpcurl.home / "one").mkdir()
    (rpcurl.home / "two").mkdir()
    (rpcurl.home / "two" / "own.proto").write_text(FILE)
    for path in ["one/../two/own.proto", "../" + rpcurl.home.name + "/two/own.proto"]:
        result = rpcurl("list", "--kind", "message", "--proto", path)
        assert (result.code, result.err, result.out) == (0, "", "own.Own\n")


def test_the_reason_is_part_of_the_error(rpcurl, proto):
    proto.write_text('syntax = "proto3";\nmessage X { Missing x = 1; }\n')
    assert '"Missing" is not defined' in rpcurl("list", "-sS", "--proto", proto).err
    assert rpcurl("list", "-s", "--proto", proto).err == ""
    shown = json.loads(rpcurl("list", "--error-format", "json", "--proto", proto).err)
    assert shown["error"]["what"].endswith("own.proto:2:13")
    assert shown["error"]["why"] == '"Missing" is not defined'


def test_a_file_that_can_be_read_only_once(rpcurl, proto):
    pipe = proto.with_name("pipe.proto")
    os.mkfifo(pipe)
    for file in (pipe, "/dev/stdin"):
        rpcurl("list", "--proto", file, input=FILE).fails(3, f"rpcurl: {file}: is not a regular file, ", "hint: ")
    # It is not a part of a directory.
    assert rpcurl("diff", proto.parent, proto).out == "no breaking changes (PACKAGE)\n"


def test_files_that_imports_name_from_a_directory_above(rpcurl):
    folder = rpcurl.home / "proto" / "demo" / "v1"
    folder.mkdir(parents=True)
    (folder / "a.proto").write_text(FILE.replace("package own;", 'package demo.v1; import "proto/demo/v1/b.proto";'))
    (folder / "b.proto").write_text('syntax = "proto3"; package demo.v1; message B {}')
    rpcurl("list", "--kind", "message", "--proto", "proto/demo/v1/a.proto", "--proto", "proto/demo/v1/b.proto").exits(0).prints("demo.v1.B\n")
    assert rpcurl("diff", "proto", ".").code == 0


def test_a_directory_of_imports_that_does_not_exist(rpcurl, proto):
    proto.write_text('syntax = "proto3";\nmessage X { Missing x = 1; }\n')
    result = rpcurl("list", "-I", "none", "-I", proto.parent, "--proto", proto)
    result.fails(3, 'own.proto:2:13: "Missing" is not defined\n')
    hint = f"hint: none is not a directory; add -I {proto.parent}\n"
    rpcurl("list", "-I", "none", "--proto", proto).fails(3, f"rpcurl: {proto}: is in no directory of -I\n{hint}")


def test_a_name_with_an_at_sign_is_no_file_of_options(rpcurl):
    (rpcurl.home / "evil").write_text("--plugin=protoc-gen-x=./run\n--x_out=.\nx.proto\n")
    (rpcurl.home / "x.proto").write_text('syntax = "proto3"; message X {}')
    (rpcurl.home / "@own.proto").write_text(FILE)
    run = write(rpcurl.home / "run", "#!/bin/sh\ntouch ran\n")
    run.chmod(0o755)
    assert rpcurl("list", "--proto", "@evil").code == 3
    assert not (rpcurl.home / "ran").exists()
    assert rpcurl("list", "--kind", "message", "--proto", "@own.proto").out == "own.Own\n"
