"""The examples of the README: each runs as it is written, and prints what the README shows."""

import json
import os
import re

import manual
import pexpect
import pytest
from harness import ROOT, RPCURL

README = (ROOT / "README.md").read_text()
PAIR = re.compile(r"^```sh\n(.*?)^```\n\n```\n(.*?)^```$", re.M | re.S)
THINGS = PAIR.findall(README.split("## Six things people do")[1].split("\n## ")[0])


def on_terminal(script, directory):
    """What a shell script prints on a terminal, on a machine without compilers of `.proto` files."""
    absent = directory / "absent"
    absent.mkdir()
    for name in ("protoc", "buf"):
        (absent / name).write_text("#!/bin/sh\nexit 127\n")
        (absent / name).chmod(0o755)
    path = f"{absent}:{RPCURL.resolve().parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(directory), "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"}
    shell = pexpect.spawn("sh", ["-ec", script], cwd=str(directory), env=environment, dimensions=(60, 200), timeout=60)
    shown = shell.read().decode().replace("\r\n", "\n")
    shell.close()
    assert shell.exitstatus == 0, shown
    return shown


def test_there_are_six_things():
    assert len(THINGS) == 6


@pytest.mark.parametrize(("script", "output"), THINGS, ids=range(1, len(THINGS) + 1))
def test_thing_prints_what_is_shown(script, output, tmp_path, descriptor_set, grpc_server):
    (tmp_path / "demo.binpb").write_bytes(descriptor_set.read_bytes())
    (tmp_path / "Tests").symlink_to(ROOT / "Tests")
    assert "localhost:50051" in script
    assert on_terminal(script.replace("localhost:50051", grpc_server.address), tmp_path) == output


def test_new_plugin_adds_a_header(tmp_path, descriptor_set, grpc_server):
    (script,) = re.findall(r"^```sh\n(rpcurl plugins new.*?)^```$", README, re.M | re.S)
    result = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert result.returncode == 0, result.stderr
    assert {"name": "x-hello", "value": "1"} in json.loads(result.stdout.splitlines()[-1])["headers"]


def test_script_signs_requests(tmp_path, descriptor_set, grpc_server):
    (tmp_path / "sign.py").write_text(re.search(r"^```python\n(.*?)^```$", README, re.M | re.S)[1])
    command = "chmod +x sign.py; rpcurl --descriptor-set demo.binpb --script ./sign.py localhost:50051 demo.v1.Demo/EchoMetadata -d '{}'"
    kit = str(ROOT / "Plugins" / "ScriptKit")
    result = manual.run(command, tmp_path, descriptor_set, [("localhost:50051", grpc_server.url)], PYTHONPATH=kit, PYTHONDONTWRITEBYTECODE="1")
    assert {"name": "x-signature", "value": "signed demo.v1.Demo/EchoMetadata"} in json.loads(result.stdout)["headers"], result.stderr


def test_suite_for_ci_passes(tmp_path, descriptor_set, grpc_server):
    section = README.split("## In CI")[1].split("\n## ")[0]
    (script,) = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    result = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("1 passed in ")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", section, re.M | re.S)
    # YAML's keys and braces; the reports are those of the program.
    (command,) = re.findall(r"rpcurl (test .*?)}", workflow)
    (tmp_path / "report.xml").unlink(missing_ok=True)
    result = manual.run(f"rpcurl {command}", tmp_path, descriptor_set)
    assert result.returncode == 0, result.stderr
    assert 'tests="1"' in (tmp_path / "report.xml").read_text()
