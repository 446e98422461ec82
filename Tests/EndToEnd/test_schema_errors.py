"""Errors about names, files and imports of a schema lead to the solution."""

import os
import shlex
import sys

import pytest
from test_describe_round_trip import WELL_KNOWN

SERVICE = "demo.v1.Demo"


def fails(result, code, error, *hints):
    """The output is the error and the hint, which contains all of `hints`."""
    assert (result.code, result.out_bytes) == (code, b""), result.err
    # Without the line of a source and its mark.
    first, *rest = [line for line in result.err.splitlines() if not line.startswith("  ")]
    assert first == f"rpcurl: {error}"
    assert len(rest) == (1 if hints else 0), result.err
    for hint in hints:
        assert rest[0].startswith("hint: ") and hint in rest[0]


# Methods


@pytest.fixture(params=["reflection", "file"])
def source(request, grpc_server, descriptor_set):
    """The arguments for a schema from the server, and from a file."""
    files = ["--descriptor-set", descriptor_set] if request.param == "file" else []
    return [*files, "--plaintext", grpc_server.address]


METHODS = [
    ("Demo/Helo", f"{SERVICE}/Helo: no method Helo in {SERVICE}", f"did you mean {SERVICE}/Hello?"),
    (f"{SERVICE}/Helo", f"{SERVICE}/Helo: no method Helo in {SERVICE}", f"did you mean {SERVICE}/Hello?"),
    (SERVICE, f"{SERVICE}: this is a service; a method is missing", f"write {SERVICE}/METHOD; its methods are Hello, "),
    ("Demo", f"{SERVICE}: this is a service; a method is missing", f"write {SERVICE}/METHOD; its methods are Hello, "),
    ("Helo", "Helo: not found in the schema", f"did you mean {SERVICE}/Hello"),
]


@pytest.mark.parametrize(("method", "error", "hint"), METHODS)
def test_method(rpcurl, source, method, error, hint):
    fails(rpcurl(*source, method), 3, error, hint)


def test_method_in_a_session(rpcurl, source):
    script = "".join(f"call {method} {{}}\n" for method, _, _ in METHODS)
    lines = rpcurl("session", *source, input=script).err.splitlines()
    for method, error, hint in METHODS:
        assert f"rpcurl: {error}" in lines
        assert any(line.startswith(f"hint: {hint}") for line in lines)


@pytest.mark.parametrize(
    ("type", "error", "hint"),
    [
        ("HelloReqest", "HelloReqest: not found in the schema", "did you mean demo.v1.HelloRequest"),
        ("Demo", "Demo: this is a service", "name a message"),
        ("Nonsense", "Nonsense: not found in the schema", 'run "rpcurl list --descriptor-set {} --kind message"'),
    ],
)
def test_type_of_convert(rpcurl, descriptor_set, type, error, hint):
    words = ["--type", type, "--from", "json", "--to", "text"]
    fails(rpcurl("convert", "--descriptor-set", descriptor_set, *words), 3, error, hint.format(descriptor_set))


# Files and their imports


def write(directory, **files):
    """Write .proto files below a directory: `api__v1__a` is api/v1/a.proto; a value is the content after `syntax`."""
    for name, content in files.items():
        path = directory / (name.replace("__", "/") + ".proto")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('syntax = "proto3";\n' + content)


TYPES = "package api.v1;\nmessage Item { string name = 1; }\n"
SERVICE_FILE = 'package api.v1;\nimport "api/v1/types.proto";\nservice Items { rpc Get(Item) returns (Item); }\n'


@pytest.fixture
def items(rpcurl):
    """A service whose import has the folders of its package; protos/ is not the working directory."""
    write(rpcurl.home / "protos", api__v1__items=SERVICE_FILE, api__v1__types=TYPES)
    return "protos/api/v1/items.proto"


def test_the_package_gives_the_directory_of_imports(rpcurl, items, tmp_path):
    for path in [items, rpcurl.home / items, f"./protos/../{items}"]:
        rpcurl("list", "--proto", path).exits(0, "api.v1.Items\n", "")
    # Both files have the name by which others import them.
    rpcurl("list", "--kind", "message", "--proto", items, "--proto", "protos/api/v1/types.proto").exits(0, "api.v1.Item\n")
    assert rpcurl("describe", "--proto", items, "api/v1/items.proto").code == 0
    inside = tmp_path / "link"
    inside.symlink_to(rpcurl.home / "protos" / "api" / "v1")
    assert rpcurl("list", "-I", rpcurl.home / "protos", "--proto", "api/v1/items.proto").out == "api.v1.Items\n"


def test_imports_give_the_directory_of_imports(rpcurl):
    content = SERVICE_FILE.replace("package api.v1", "package acme.api.v1").replace("(Item)", "(.api.v1.Item)")
    write(rpcurl.home / "x", api__v1__items=content, api__v1__types=TYPES)
    rpcurl("list", "--proto", "x/api/v1/items.proto").exits(0, "acme.api.v1.Items\n", "")


def test_common_imports_need_no_directory(rpcurl):
    imports = [
        "google/api/annotations.proto", "google/api/http.proto", "google/api/field_behavior.proto",
        "google/api/resource.proto", "google/api/client.proto", "google/api/httpbody.proto", "google/rpc/status.proto",
        "google/rpc/code.proto", "google/rpc/error_details.proto", "google/type/money.proto",
        "google/longrunning/operations.proto", "buf/validate/validate.proto",
    ]  # fmt: skip
    content = "".join(f'import "{name}";\n' for name in imports)
    content += """package own;
    service S { rpc Get(M) returns (google.longrunning.Operation) { option (google.api.http) = { get: "/m/{id}" }; } }
    message M {
      string id = 1 [(buf.validate.field).string.min_len = 3, (google.api.field_behavior) = REQUIRED];
      google.type.Money price = 2;
    }
    """
    write(rpcurl.home, own=content)
    rpcurl("describe", "--proto", "own.proto", "own.S", "-s").exits(0).prints('get: "/m/{id}"')
    message = rpcurl("describe", "--proto", "own.proto", "own.M", "-s").out
    assert "(buf.validate.field)" in message and "min_len: 3" in message and "REQUIRED" in message
    # Those of -I take precedence.
    write(rpcurl.home / "other", google__type__money="package google.type;\nmessage Money { int32 own = 1; }\n")
    own = ["-I", rpcurl.home, "-I", rpcurl.home / "other", "-I", WELL_KNOWN]
    assert "int32 own = 1" in rpcurl("describe", *own, "--proto", "own.proto", "google.type.Money", "-s").out


@pytest.mark.parametrize("place", ["third_party/googleapis", "../third_party", "proto", "../vendor"])
def test_copies_of_imports_need_no_directory(rpcurl, tmp_path, place):
    home = tmp_path / "repository" / "api"
    home.mkdir(parents=True)
    write((home / place).resolve(), acme__x="message X { }\n")
    write(home, own='import "acme/x.proto";\nmessage M { X x = 1; }\n')
    assert type(rpcurl)(home)("list", "--kind", "message", "--proto", "own.proto").out == "M\nX\n"


@pytest.mark.parametrize("place", ["deps/apis", "../deps"])
def test_missing_import_names_its_directory(rpcurl, tmp_path, place):
    home = tmp_path / "repository" / "api"
    home.mkdir(parents=True)
    rpcurl = type(rpcurl)(home)
    found = (home / place).resolve()
    write(found, acme__x="message X { }\n", acme__y="message Y { }\n")
    write(home, own='import "acme/x.proto";\nimport "acme/y.proto";\nmessage M { X x = 1; Y y = 2; Z z = 3; }\n')
    error = 'own.proto:2:1: imports "acme/x.proto", "acme/y.proto" not found'
    shown = place if not place.startswith("..") else found
    fails(rpcurl("list", "--proto", "own.proto"), 3, error, f"use -I {shown}")
    fails(rpcurl("list", "-I", ".", "--proto", "own.proto"), 3, error, f"add -I {shown}")
    write(home, own='import "acme/x.proto";\nmessage M { X x = 1; }\n')
    words = shlex.split(rpcurl("list", "--proto", "own.proto").err.split("hint: use ")[1])
    assert rpcurl("list", "--kind", "message", *words, "--proto", "own.proto").out == "M\nX\n"


def test_missing_import_of_an_import(rpcurl):
    write(rpcurl.home, a='import "b.proto";\nmessage A { B b = 1; }\n', b='import "no/c.proto";\nmessage B { C c = 1; }\n')
    error = 'b.proto:2:1: import "no/c.proto" not found'
    fails(rpcurl("list", "--proto", "a.proto"), 3, error, "use -I DIR, the directory that contains no/c.proto")


def test_all_errors(rpcurl):
    write(rpcurl.home, own="message M { X x = 1; Y y = 2; }\n")
    lines = [f'rpcurl: own.proto:2:{column}: "{name}" is not defined.' for name, column in (("X", 13), ("Y", 22))]
    assert [line for line in rpcurl("list", "--proto", "own.proto").exits(3).err.splitlines() if line.startswith("rpcurl")] == lines


def test_missing_file(rpcurl, items):
    error = "api/v1/items.proto: No such file or directory"
    fails(rpcurl("list", "--proto", "api/v1/items.proto"), 3, error, f"did you mean --proto {items}?")
    fails(rpcurl("list", "-I", ".", "--proto", "api/v1/items.proto"), 3, error, "add -I protos")
    fails(rpcurl("list", "--proto", "none.proto"), 3, "none.proto: No such file or directory")


# Modules of buf


@pytest.mark.parametrize(
    "files",
    [
        {"buf.yaml": "version: v2\nmodules:\n  - path: protos\n  - path: common\n"},
        {"buf.work.yaml": "version: v1\ndirectories:\n  - protos\n  - common\n", "protos/buf.yaml": "version: v1\n"},
        {"buf.yaml": "version: v1beta1\nbuild:\n  roots: [protos, common]\n"},
    ],
)
def test_modules(rpcurl, files):
    write(rpcurl.home, protos__api__v1__items=SERVICE_FILE, common__api__v1__types=TYPES)
    for name, content in files.items():
        (rpcurl.home / name).write_text(content)
    # By its path, and by its name in the module.
    for name in ["protos/api/v1/items.proto", "api/v1/items.proto"]:
        rpcurl("list", "--proto", name).exits(0, "api.v1.Items\n", "")


# As `buf build`: it prints the image of the files, with the modules that it has fetched.
BUF = r"""#!{python}
import os, subprocess, sys
assert sys.argv[1:5] == ["build", {home!r}, "--as-file-descriptor-set", "-o"] and sys.argv[5] == "-", sys.argv
assert sys.argv[6::2] == ["--path"] * len(sys.argv[7::2]) and sys.argv[7:], sys.argv
if {fails}:
    sys.exit("Failure: the server hosted at that remote is unavailable\nmore")
print("WARN of buf", file=sys.stderr)
roots = ["-I{home}/protos", "-I{cache}"]
files = [os.path.abspath(name) for name in sys.argv[7::2]]
sys.exit(subprocess.run(["protoc", *roots, "--include_imports", "-o", "/dev/stdout", *files]).returncode)
"""


@pytest.fixture
def modules(rpcurl, items):
    """A module with a dependency. Returns what makes the program buf; its argument is whether it fails."""
    (rpcurl.home / "buf.yaml").write_text("version: v2\nmodules:\n  - path: protos\ndeps:\n  - buf.build/acme/types\n")
    (rpcurl.home / "protos" / "api" / "v1" / "types.proto").unlink()
    cache = rpcurl.home / ".cache" / "buf"
    write(cache, api__v1__types=TYPES)
    directory = rpcurl.home / ".bin"
    directory.mkdir()

    def make(fails=False):
        program = directory / "buf"
        program.write_text(BUF.format(python=sys.executable, home=str(rpcurl.home), cache=cache, fails=fails))
        program.chmod(0o755)
        return {"PATH": f"{directory}:{os.environ['PATH']}"}

    return make


def test_buf_fetches_dependencies(rpcurl, items, modules):
    rpcurl("list", "--proto", items, env=modules()).exits(0, "api.v1.Items\n", "* buf build has read buf.build/acme/types, which buf.yaml needs\n")


def test_buf_is_missing(rpcurl, items, modules):
    error = 'protos/api/v1/items.proto:3:1: import "api/v1/types.proto" not found'
    hint = "install buf, which fetches the dependencies of buf.yaml, or use -I DIR"
    fails(rpcurl("list", "--proto", items), 3, error, hint)


def test_buf_does_not_run_for_an_untrusted_project_file(rpcurl, items, modules):
    """buf connects to any host that a buf.yaml names, and both files may come from the same stranger."""
    (rpcurl.home / ".rpcurl").write_text(f"target http://127.0.0.1:1\n--proto {items}\n")
    environment = modules(fails=True)
    error = 'protos/api/v1/items.proto:3:1: import "api/v1/types.proto" not found'
    hint = 'read the project file, then run "rpcurl trust": buf fetches the dependencies of buf.yaml only with trust; or use -I DIR'
    for words in [
        ["list"], ["describe", "api.v1.Items"], ["template", "api.v1.Items/Get"], ["export"], ["api.v1.Items/Get"],
        ["load", "--requests", "1", "api.v1.Items/Get"], ["list", "--proto", items],
    ]:  # fmt: skip
        rpcurl(*words, env=environment).exits(3).reports(error, hint)
    # Typed alone, or with trust, it runs.
    fails(rpcurl("list", "--config", "/dev/null", "--proto", items, env=environment), 3, "buf build: Failure: the server hosted at that remote is unavailable", "with -I DIR")
    assert rpcurl("trust").code == 0
    assert rpcurl("list", env=modules()).out == "api.v1.Items\n"


def test_buf_does_not_run_in_a_session_for_an_untrusted_project_file(rpcurl, items, modules):
    """The text decides that names the files: a line of the project file, or what the user types."""
    project = rpcurl.home / ".rpcurl"
    project.write_text(f"target http://127.0.0.1:1\n--proto {items}\n")
    (rpcurl.home / "script").write_text("list\n")
    (rpcurl.home / "suite.rpcurl").write_text("test list\nlist\n")
    environment = modules(fails=True)
    error = 'import "api/v1/types.proto" not found'
    for words in [["session"], ["session", "http://127.0.0.1:1"], ["run", "script"], ["test", "suite.rpcurl"]]:
        result = rpcurl(*words, input="list\n", env=environment)
        output = result.out + result.err
        assert error in output and "buf build" not in output, output
    started = "buf build: Failure"
    assert started in rpcurl("diff", items, items, env=environment).err
    project.write_text("target http://127.0.0.1:1\n")
    assert started in rpcurl("session", input=f"options --no-reflect --proto {items}\nlist\n", env=environment).err


def test_buf_fails(rpcurl, items, modules):
    error = "buf build: Failure: the server hosted at that remote is unavailable"
    fails(rpcurl("list", "--proto", items, env=modules(fails=True)), 3, error, "with -I DIR")
    # With -I, or if nothing is missing, it is not needed.
    words = ["-I", "protos", "-I", ".cache/buf", "--proto", "api/v1/items.proto"]
    assert rpcurl("list", *words, env=modules(fails=True)).code == 0
    write(rpcurl.home, protos__api__v1__types=TYPES)
    assert rpcurl("list", "--proto", items, env=modules(fails=True)).code == 0
