"""`--proto` and `-I`: the schema from .proto files."""

import dataclasses
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


def test_links_to_directories_are_followed(rpcurl):
    tmp_path = rpcurl.home
    for name in ("p", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.proto").write_text(f'syntax = "proto3"; package {name}; message M {{}}')
    (tmp_path / "p" / "c").symlink_to("../c")
    (tmp_path / "p" / "self").symlink_to(".")
    words = ["list", "--kind", "message", "--proto"]
    rpcurl(*words, "p").exits(0, "c.M\np.M\n", "")
    rpcurl(*words, "p/*/*.proto").exits(0, "c.M\np.M\n", "")
    (tmp_path / "p" / "gone.proto").symlink_to("nowhere")
    rpcurl(*words, "p").exits(0, "c.M\np.M\n", "rpcurl: p/gone.proto: warning: not read: a symbolic link to nothing\n")


def test_the_working_directory_is_no_pattern(rpcurl, tmp_path):
    for folder, name in (("v[12]", "right"), ("v1", "wrong")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "m.proto").write_text(f'syntax = "proto3"; package {name}; message M {{}}')
    for pattern in ("*.proto", "**/*.proto"):
        dataclasses.replace(rpcurl, home=tmp_path / "v[12]")("list", "--kind", "message", "--proto", pattern).exits(0, "right.M\n", "")


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


def test_errors(rpcurl, proto):
    proto.write_text('syntax = "proto3";\nmessage X { Missing x = 1; }\nmessage Y { Lost y = 1; }\n')
    lines = rpcurl("list", "--proto", proto).exits(3).err.splitlines()
    assert [line for line in lines if "own.proto" in line] == [
        f'rpcurl: {proto}:2:13: "Missing" is not defined.', f'rpcurl: {proto}:3:13: "Lost" is not defined.'
    ]  # fmt: skip
    assert lines[1:3] == ["  message X { Missing x = 1; }", "              ^"]
    rpcurl("list", "--proto", "/no/such.proto").fails(3, "rpcurl: /no/such.proto: No such file or directory")
    # Errors of all files.
    (rpcurl.home / "a.proto").write_text("message A { int32 x = 0; }")
    (rpcurl.home / "b.proto").write_text("message B { int32 x }")
    shown = rpcurl("list", "--proto", "a.proto", "--proto", "b.proto").exits(3).err
    assert "a.proto:1:" in shown and "b.proto:1:" in shown


def test_warnings_need_a_v(rpcurl, proto):
    proto.write_text(FILE.replace("package", 'import "google/protobuf/empty.proto";\npackage'))
    words = ["list", "--kind", "message", "--proto", proto, "-I", proto.parent, "-I", WELL_KNOWN]
    assert rpcurl(*words).exits(0).prints("own.Own").err == ""
    rpcurl(*words, "-v").exits(0).prints("own.Own").reports("own.proto:2:1: warning: ", "empty.proto")


def test_an_import_that_only_options_need(rpcurl, proto):
    proto.write_text(
        'syntax = "proto3";\npackage own;\nimport "acme/options.proto";\nmessage Own { string text = 1 [(acme.tag) = "x"]; }\n'
    )
    assert rpcurl("template", "--proto", proto, "Own").exits(0).json() == {"text": ""}
    rpcurl("template", "--proto", proto, "Own", "-v").exits(0).reports("acme/options.proto")
    proto.write_text('syntax = "proto3";\nimport "acme/types.proto";\nmessage Own { acme.T t = 1; }\n')
    rpcurl("template", "--proto", proto, "Own").exits(3).reports('own.proto:2:1: import "acme/types.proto" not found')


def test_missing_import_says_where_it_was_searched_or_what_is_near(rpcurl):
    folder = rpcurl.home / "protos" / "shop" / "v1"
    folder.mkdir(parents=True)
    (folder / "types.proto").write_text('syntax = "proto3"; package shop.v1; message Product {}')
    text = 'syntax = "proto3"; package shop.v1; import "{}"; message Order {{ Product product = 1; }}'
    for name, hint in {
        "shop/v1/typs.proto": 'did you mean import "shop/v1/types.proto"?',
        "acme/x.proto": "use -I DIR, the directory that contains acme/x.proto; searched: protos, ., protos/shop/v1",
    }.items():
        (folder / "order.proto").write_text(text.format(name))
        result = rpcurl("list", "--kind", "message", "--proto", "protos/shop/v1/order.proto").exits(3, "")
        result.reports(f'protos/shop/v1/order.proto:1:37: import "{name}" not found').reports(hint)
    (folder / "order.proto").write_text(text.format("../v1/types.proto"))
    result = rpcurl("list", "--kind", "message", "--proto", "protos/shop/v1/order.proto").exits(3, "")
    result.reports('Import "../v1/types.proto" has an empty part, "." or ".."').reports("named from a directory of imports")


def test_what_is_no_source_file(rpcurl, descriptor_set):
    (rpcurl.home / "set.json").write_text('{"file": []}')
    for path in (descriptor_set, "set.json"):
        result = rpcurl("list", "--proto", path).exits(3, "")
        result.reports(f"{path}:1:1: not a .proto source file: this is a descriptor set").reports(f"--descriptor-set {path}")
    rpcurl("list", "--proto", "").exits(3, "").reports("--proto . means all files below this directory")


def test_no_program_is_needed(rpcurl, proto, tmp_path):
    assert rpcurl("list", "--kind", "message", "--proto", proto, env={"PATH": str(tmp_path)}).out == "own.Own\n"


@pytest.fixture
def tree(rpcurl):
    """A directory with two services, and what is no part of it."""
    for name, package in {"shop/v1/a": "shop.v1", "shop/v2/b": "shop.v2", ".old/c": "old", "node_modules/d": "d"}.items():
        path = rpcurl.home / "protos" / f"{name}.proto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'syntax = "proto3"; package {package}; message M {{}} service S {{ rpc Do(M) returns (M); }}')
    (rpcurl.home / "empty").mkdir()
    return rpcurl.home / "protos"


def test_directories_and_patterns(rpcurl, tree):
    both = "shop.v1.S\nshop.v2.S\n"
    for words in [["protos"], [tree], ["protos/**/*.proto"], ["protos/shop/*/?.proto"], ["protos/shop/v1", "--proto", "protos/shop/v2/b.proto"]]:
        rpcurl("list", "--proto", *words).exits(0, both, "")
    rpcurl("list", "--proto", "protos/**/b.proto").exits(0, "shop.v2.S\n", "")
    rpcurl("list", "--proto", "empty").fails(3, "rpcurl: empty: a directory without .proto files")
    rpcurl("list", "--proto", "*.proto").fails(3, "rpcurl: *.proto: matches no .proto file")
    assert rpcurl("diff", "protos/**/*.proto", "protos").out == "no breaking changes (PACKAGE)\n"


def test_names_of_imports(rpcurl, tree):
    own = rpcurl.home / "own.proto"
    own.write_text('syntax = "proto3"; import "github.com/acme/shop/v1/a.proto"; message Own { shop.v1.M m = 1; }')
    rpcurl("list", "--kind", "message", "-I", f"github.com/acme=protos", "--proto", "own.proto").exits(0).prints("Own\nshop.v1.M\n")
    # One file by two names.
    own.write_text('syntax = "proto3"; import "shop/v1/a.proto"; import "protos/shop/v1/a.proto"; message Own { shop.v1.M m = 1; }')
    rpcurl("describe", "-I", ".", "-I", "protos", "--proto", own, "--proto", "protos/shop/v1/a.proto", "Own").exits(0).prints("shop.v1.M m = 1;")
    # A Go module: the names begin with its path.
    (rpcurl.home / ".git").mkdir()
    own.write_text('syntax = "proto3"; import "github.com/acme/home/protos/shop/v1/a.proto"; message Own { shop.v1.M m = 1; }')
    rpcurl("describe", "--proto", "own.proto", "Own").exits(0).prints("shop.v1.M m = 1;")


def test_modules_in_the_cache_of_buf(rpcurl, tree):
    (rpcurl.home / "own.proto").write_text('syntax = "proto3"; import "acme/t.proto"; message Own { acme.T t = 1; }')
    write(rpcurl.home / "buf.yaml", "{version: v2, deps: [buf.build/acme/types]}\n")
    write(rpcurl.home / "buf.lock", "version: v2\ndeps:\n  - name: buf.build/acme/types\n    commit: 00ff\n    digest: b5:00\n")
    place = rpcurl.home / ".cache" / "buf" / "v3" / "modules" / "b5" / "buf.build" / "acme" / "types" / "00ff"
    (place / "files" / "acme").mkdir(parents=True)
    (place / "files" / "acme" / "t.proto").write_text('syntax = "proto3"; package acme; message T {}')
    rpcurl("describe", "--proto", "own.proto", "Own").exits(3)
    (place / "module.yaml").touch()
    rpcurl("describe", "--proto", "own.proto", "Own").exits(0).prints("acme.T t = 1;")
    write(rpcurl.home / "buf.yaml", "version: v2\nmodules: own\n")
    rpcurl("describe", "--proto", "own.proto", "Own").fails(3, f"rpcurl: {rpcurl.home}/buf.yaml:2:10: expected a list")


def test_large_sources_are_compiled_once(rpcurl, proto):
    proto.write_text(FILE + "".join(f"message M{number} {{ string text = 1; }}\n" for number in range(3_000)))
    words = ["list", "--kind", "message", "--proto", proto]
    cache = rpcurl.home / ".cache" / "rpcurl" / "sources"
    first = rpcurl(*words, "--no-cache").exits(0)
    assert not cache.exists()
    assert rpcurl(*words).out == rpcurl(*words).out == first.out
    # There is a stamp too if the source is not too new for one.
    file = max((path for path in cache.iterdir() if path.name != "lock"), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:-1])
    assert rpcurl(*words).out == first.out
    proto.write_text(proto.read_text() + "message New {}\n")
    assert "own.New\n" in rpcurl(*words).out


def test_old_sources_are_not_read_again(rpcurl):
    words = ["list", "--proto", "buf/validate/validate.proto", "--kind", "message", "-I", ROOT / "Sources/Protobuf/WellKnown/common"]
    cache = rpcurl.home / ".cache" / "rpcurl" / "sources"
    first = rpcurl(*words).exits(0)
    found = [path for path in cache.iterdir() if path.name != "lock"]
    file = max(found, key=lambda path: path.stat().st_size)
    assert len(found) == 2
    # The content of the set is not checked if its own status is the same.
    status = file.stat()
    file.write_bytes(file.read_bytes().replace(b"StringRules", b"StringRulez"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "buf.validate.StringRulez\n" in rpcurl(*words).out
    file.unlink()
    assert rpcurl(*words).out == first.out


def test_the_output_of_buf(rpcurl, files, tmp_path):
    """It is a file in $TMPDIR, readable by its owner only, and unlinked from the start."""
    fake, directory, shown = tmp_path / "bin", tmp_path / "tmp", tmp_path / "shown"
    fake.mkdir()
    directory.mkdir()
    (fake / "buf").write_text(
        f"#!/bin/sh\n(readlink /proc/$$/fd/1; stat -L -c %a /proc/$$/fd/1; ls -A {directory} | wc -l) > {shown}\nexit 1\n"
    )
    (fake / "buf").chmod(0o755)
    env = {"PATH": f"{fake}:{os.environ['PATH']}", "TMPDIR": str(directory)}
    rpcurl("list", "--proto", "b.proto", env=env).fails(3)
    link, mode, count = shown.read_text().split("\n")[:3]
    assert link.startswith(f"{directory}/rpcurl.")
    assert (mode, count.strip()) == ("600", "0")
    missing = rpcurl("list", "--proto", "b.proto", env=env | {"TMPDIR": str(tmp_path / "none")})
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
    assert '"Missing" is not defined.' in rpcurl("list", "-sS", "--proto", proto).err
    assert rpcurl("list", "-s", "--proto", proto).err == ""
    shown = json.loads(rpcurl("list", "--error-format", "json", "--proto", proto).err)
    assert shown["error"]["what"].endswith("own.proto:2:13")
    assert shown["error"]["why"] == '"Missing" is not defined.'
    assert shown["error"]["excerpt"] == "message X { Missing x = 1; }"


def test_a_file_that_can_be_read_only_once(rpcurl, proto):
    for name in ("/dev/stdin", "-"):
        assert rpcurl("list", "--kind", "message", "--proto", name, input=FILE).out == "own.Own\n"
    # It is not a part of a directory.
    os.mkfifo(proto.with_name("pipe.proto"))
    assert rpcurl("diff", proto.parent, proto).out == "no breaking changes (PACKAGE)\n"


def test_files_that_imports_name_from_a_directory_above(rpcurl):
    folder = rpcurl.home / "proto" / "demo" / "v1"
    folder.mkdir(parents=True)
    (folder / "a.proto").write_text(FILE.replace("package own;", 'package demo.v1; import "proto/demo/v1/b.proto";'))
    (folder / "b.proto").write_text('syntax = "proto3"; package demo.v1; message B {}')
    rpcurl("list", "--kind", "message", "--proto", "proto/demo/v1/a.proto", "--proto", "proto/demo/v1/b.proto").exits(0).prints("demo.v1.B\n")
    assert rpcurl("diff", "proto", ".").code == 0


def test_a_directory_of_imports_that_does_not_exist(rpcurl, proto):
    result = rpcurl("list", "--kind", "message", "-I", "none", "--proto", proto)
    result.exits(0, "own.Own\n", "rpcurl: -I none: warning: not a directory\n")
