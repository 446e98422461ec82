"""The scripts of the README, run as they stand there."""

import json
import os
import re
import subprocess

import pytest

import manual
from conftest import ROOT, RPCURL


def blocks(language):
    """The blocks of code in a language, or without one."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    return [text for named, text in found if named == language]


def block(containing, language="sh"):
    """The block of the README that has these words."""
    (found,) = [text for text in blocks(language) if containing in text]
    return found


@pytest.fixture
def suite():
    """The test suite of an API."""
    return block("tape=replay")


def test_suite_runs_without_a_server(suite, tmp_path, descriptor_set, grpc_server):
    assert len(suite.splitlines()) == 10
    recorded = manual.run(f"RECORD={grpc_server.url}\n{suite}", tmp_path, descriptor_set)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, "all as expected\n", "")
    replayed = manual.run(suite, tmp_path, descriptor_set)
    assert (replayed.returncode, replayed.stdout, replayed.stderr) == (0, "all as expected\n", "")


def test_suite_tells_what_does_not_hold(suite, tmp_path, descriptor_set, grpc_server):
    manual.run(f"RECORD={grpc_server.url}\n{suite}", tmp_path, descriptor_set)
    result = manual.run(suite.replace("messages=3", "messages=4"), tmp_path, descriptor_set)
    assert result.returncode == 8
    assert result.stderr == "rpcurl: assertion failed: counts to three: messages: expected 4, found 3\n"


def test_stub_answers_without_a_server(tmp_path, descriptor_set):
    result = manual.run(block("stubs.json"), tmp_path, descriptor_set)
    assert (result.returncode, result.stdout) == (0, '{"message":"Good day, Ada!"}\n')


# Six things people do


def run(words, tmp_path, descriptor_set, grpc_server):
    result = manual.run(block(words), tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert result.returncode == 0, result.stderr
    return result


def test_things_people_do(tmp_path, descriptor_set, grpc_server):
    here = (tmp_path, descriptor_set, grpc_server)
    stream = run("good bye", *here)
    assert [json.loads(line)["text"] for line in stream.stdout.splitlines()] == ["you said: hello", "you said: good bye"]
    changed = run("--use log --use retry", *here)
    assert json.loads(changed.stdout)["message"] == "Hello, Ada!"
    assert "demo.v1.Demo/Hello" in changed.stderr
    assert run("--use 'assert,code=not_found", *here).stdout == ""


def test_the_first_thing(tmp_path, descriptor_set, grpc_server):
    text = (ROOT / "README.md").read_text().split("## Six things people do")[1]
    first = re.search(r"^```sh\n(.*?)^```$", text, re.M | re.S)[1]
    result = manual.run(first, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert json.loads(result.stdout) == {"message": "Hello, Ada!", "name": "Ada"}


def test_a_plugin_in_ten_minutes(tmp_path, descriptor_set, grpc_server):
    first = run("rpcurl plugins new hello", tmp_path, descriptor_set, grpc_server)
    assert {"name": "x-hello", "value": "1"} in json.loads(first.stdout.splitlines()[-1])["headers"]
    (function,) = blocks("c")
    source = tmp_path / "hello" / "hello.c"
    text = source.read_text().replace("static const rpcurl_plugin", f"{function}\nstatic const rpcurl_plugin")
    member = "    .request_start = request_start,\n"
    assert member in text
    source.write_text(text.replace(member, f"{member}    .response_message = response_message,\n"))
    call = f"make -s -C hello CFLAGS=-Werror && rpcurl --plugin ./hello/hello.so,header=x -d '{{\"name\":\"Ada\"}}' {grpc_server.url}/demo.v1.Demo/Hello"
    result = manual.run(call, tmp_path, descriptor_set)
    assert json.loads(result.stdout) == {"message": "Hello, Ada!", "name": "somebody"}


def test_profile(tmp_path, descriptor_set):
    text = block("[profile", language="")
    config = tmp_path / ".config" / "rpcurl" / "config"
    config.parent.mkdir(parents=True)
    (tmp_path / "token").write_text("abc")
    config.write_text(text.replace("/run/secrets/token", str(tmp_path / "token")))
    config.chmod(0o600)
    line = block("--profile staging").strip()
    result = manual.run(f"{line} --explain --format json --descriptor-set demo.binpb", tmp_path, descriptor_set)
    plan = json.loads(result.stdout)
    assert (plan["url"], plan["timeout_ms"]) == ("https://staging.example/demo.v1.Demo/Hello", 10_000)
    assert ["authorization", "Bearer [redacted]"] in plan["headers"]


def test_library_is_used_as_the_sample_does():
    (code,) = blocks("swift")
    sample = (ROOT / "Tests/SamplePackage/Sources/Sample/main.swift").read_text().splitlines()
    assert [line for line in code.splitlines() if line not in sample] == []


# The script for CI


@pytest.fixture
def ci(tmp_path):
    """Runs the script with the settings that CI would have."""
    path = tmp_path / "check.sh"
    path.write_text(block("API_TOKEN"))

    def run(url, token="t", edit=lambda text: text):
        path.write_text(edit(block("API_TOKEN")))
        environment = {"PATH": f"{RPCURL.resolve().parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "API_URL": url}
        return subprocess.run(
            ["bash", path], cwd=tmp_path, capture_output=True, text=True, timeout=30,
            env=environment | ({} if token is None else {"API_TOKEN": token}),
        )  # fmt: skip

    return run


def test_ci_script_passes(ci, grpc_server):
    result = ci(grpc_server.url)
    assert (result.returncode, result.stdout, result.stderr) == (0, "Analytical Engine\n", "")


def test_ci_script_tells_failures_apart(ci, grpc_server):
    missing = ci(grpc_server.url, edit=lambda text: text.replace('"id":"1"', '"id":"9"'))
    assert (missing.returncode, missing.stdout) == (1, "") and missing.stderr.startswith("refused: not_found: ")
    away = ci("http://127.0.0.1:1")
    assert (away.returncode, away.stdout) == (75, "") and away.stderr.startswith("not reached, try again later: ")
    wrong = ci(grpc_server.url, edit=lambda text: text.replace('"id"', '"idd"'))
    assert wrong.returncode == 4 and 'no field' in wrong.stderr
    assert ci(grpc_server.url, token=None).returncode == 2


def test_ci_script_is_needed_to_be_fast(ci, grpc_server):
    slow = ci(grpc_server.url, edit=lambda text: text.replace("< 5000", "< 0"))
    assert (slow.returncode, slow.stderr) == (1, "too slow\n")
