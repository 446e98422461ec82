"""The examples of rpcurl-config(5): their files and calls, verbatim."""

import json

import pytest

import manual

FILE, CALLS, PROJECT, TRUSTED = manual.examples("rpcurl-config.5")


@pytest.fixture
def call(tmp_path, descriptor_set, grpc_server):
    """Runs one of the calls with the file in its place."""
    config = tmp_path / ".config" / "rpcurl" / "config"
    config.parent.mkdir(parents=True)
    assert "http://localhost:50051" in FILE
    config.write_text(FILE.replace("http://localhost:50051", grpc_server.url))
    config.chmod(0o600)

    def run(index):
        result = manual.run(CALLS.splitlines()[index], tmp_path, descriptor_set)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return run


def test_a_profile_has_all_options_of_a_call(call):
    assert call(0)["message"] == "Hello, Ada!"


def test_the_command_line_takes_precedence(call):
    response = call(1)
    headers = [(h["name"], h.get("value")) for h in response["headers"]]
    assert [value for name, value in headers if name == "x-tenant"] == ["green"]
    assert ("x-client", "rpcurl # the whole rest of the line") in headers
    assert ("x-from", "the file") in headers
    assert 0 < int(response["timeoutMs"]) <= 10_000


def test_explain_shows_the_resulting_options(call):
    plan = call(2)
    assert plan["timeout_ms"] == 2000
    assert [i["name"] for i in plan["interceptors"]] == ["header"]
    assert ["x-tenant", "blue"] in plan["headers"]


def test_a_project_file(tmp_path, descriptor_set, grpc_server):
    replacing = [("http://localhost:50051", grpc_server.url)]
    (tmp_path / ".rpcurl").write_text(PROJECT.replace(*replacing[0]))
    result = manual.run(TRUSTED, tmp_path, descriptor_set, replacing, USER="ada")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == [f"trusted: {tmp_path}/.rpcurl", "line 4: --use"]
    hello, omitted, environment = map(json.loads, lines[2:])
    assert hello["message"] == "Hello, Ada!"
    sent = [{h["name"]: h.get("value") for h in response["headers"]} for response in (omitted, environment)]
    assert [headers["x-tenant"] for headers in sent] == ["demo", "demo"]
    assert ["x-user" in headers for headers in sent] == [False, True]
