"""The examples of rpcurl-migrate(7): the commands of rpcurl, verbatim, do what the page describes."""

import json
import re
import shutil

import pytest

import manual
from harness import ROOT

EXAMPLES = manual.examples("rpcurl-migrate.7")


def block(word):
    (found,) = [example for example in EXAMPLES if word in example]
    return found.split("\n\n")


@pytest.fixture
def run(tmp_path, descriptor_set, grpc_server, connect_server):
    """Runs the commands of rpcurl in the example that holds a word, against the test's servers."""

    def run(word, theirs=False):
        script = block(word)[0 if theirs else 1]
        old = [a for a in ("localhost:50051", "localhost:8080") if a in script]
        new = {"localhost:50051": grpc_server.address, "localhost:8080": connect_server.address}
        result = manual.run(script, tmp_path, descriptor_set, [(a, new[a]) for a in old])
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    return run


HELLO = {"message": "Hello, Ada!", "name": "Ada"}


def test_every_example_has_both_sides():
    for example in EXAMPLES:
        theirs, ours = example.split("\n\n")
        assert "rpcurl" not in theirs.replace("grpcurl", "")
        assert "rpcurl " in ours and "grpcurl" not in ours


def test_one_call(run):
    out = run("grpcurl -plaintext -d '{")
    assert json.loads(out) == HELLO
    assert len(out.splitlines()) > 1


def test_headers_for_reflection_and_for_the_call(run):
    headers = [(h["name"], h.get("value")) for h in json.loads(run("-reflect-header"))["headers"]]
    assert [value for name, value in headers if name == "x-for"] == ["call"]


def test_stream_from_standard_input(run):
    assert json.loads(run("-d @ ")) == {"total": "3", "count": 2}


def test_descriptor_set_and_text_format(run):
    assert run("-format text").splitlines() == ['message: "Hello, Ada!"', 'name: "Ada"']


def test_contents_of_a_schema(run, tmp_path):
    lines = run("-msg-template").splitlines()
    assert "demo.v1.Demo" in lines
    assert any(line.startswith("message HelloRequest") for line in lines)
    assert (tmp_path / "out.binpb").stat().st_size > 100


def test_a_call_in_connect(run):
    assert json.loads(run("buf curl --schema demo.binpb -d")) == HELLO


def test_all_methods_of_a_schema(run):
    assert "demo.v1.Demo.Hello" in run("--list-methods").replace("/", ".").split()


def test_a_message_on_standard_input(run):
    assert json.loads(run("evans")) == HELLO


def test_curl_receives_the_same_response(run):
    assert json.loads(run("curl -s -H", theirs=True)) == json.loads(run("curl -s -H")) == HELLO


# Loads of k6 and ghz, whose times are shorter here.

LOADS = manual.literals("rpcurl-migrate.7", "K6 AND GHZ")


def test_the_commonest_lines_of_k6_and_ghz_are_there():
    assert len(LOADS) >= 20
    assert sum(load.startswith("ghz") for load in LOADS) >= 12


@pytest.mark.parametrize("number", range(len(LOADS)))
def test_load(number, tmp_path, descriptor_set, grpc_server, request):
    theirs, ours = LOADS[number].split("\n\n")
    assert "rpcurl" not in theirs and "rpcurl load " in ours
    ours = re.sub(r"\b[123]0s\b", "100ms", ours).replace("--requests 1000", "--requests 50")
    replacing = [("localhost:50051", grpc_server.address)] if "localhost:50051" in ours else []
    if "localhost:50053" in ours:
        server = request.getfixturevalue("grpc_mtls_server")
        replacing.append(("localhost:50053", f"localhost:{server.port}"))
        for file in request.getfixturevalue("certificates").iterdir():
            shutil.copy(file, tmp_path)
    if "protos" in ours:
        (tmp_path / "protos").mkdir()
        shutil.copy(ROOT / "Tests" / "Servers" / "demo.proto", tmp_path / "protos")
    result = manual.run(ours, tmp_path, descriptor_set, replacing)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    report = result.stdout + "".join(path.read_text() for path in tmp_path.glob("load.[cj]s*"))
    assert "Hello" in report and re.search(r'\berrors +0 |"errors":0,|\bok,|,\d+,0,0,', report), report
