"""Errors about names, files and imports of a schema lead to the solution."""

import pytest

SERVICE = "demo.v1.Demo"


def fails(result, code, error, *hints):
    """The output is the error and the hint, which contains all of `hints`."""
    assert (result.code, result.out_bytes) == (code, b""), result.err
    first, *rest = result.err.splitlines()
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
        ("Nonsense", "Nonsense: not found in the schema", 'run "rpcurl list --kind message"'),
    ],
)
def test_type_of_convert(rpcurl, descriptor_set, type, error, hint):
    words = ["--type", type, "--from", "json", "--to", "text"]
    fails(rpcurl("convert", "--descriptor-set", descriptor_set, *words), 3, error, hint)
