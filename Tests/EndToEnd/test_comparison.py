"""The commands of docs/COMPARISON.md: each runs as it is written, and the document names no option that does not exist."""

import json
import re
import subprocess

import manual
import pytest
from harness import ROOT, RPCURL

PAGE = (ROOT / "docs" / "COMPARISON.md").read_text()
SCRIPTS = {title: script for title, script in re.findall(r"^## (.*?)\n.*?^```sh\n(.*?)^```$", PAGE, re.M | re.S)}


@pytest.mark.parametrize("title", SCRIPTS)
def test_commands_run_as_written(title, tmp_path, descriptor_set, grpc_server, libcurl_version):
    # Several connections of a load need libcurl 8.8.
    script = SCRIPTS[title] if libcurl_version >= (8, 8) else SCRIPTS[title].replace(" --connections 2", "")
    result = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert result.returncode == 0, result.stdout + result.stderr


def test_options_of_rpcurl_exist():
    """The first column after the name of a row is that of rpcurl."""
    dump = json.loads(subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True).stdout)
    options = {name for command in dump["commands"] for option in command["options"] for name in option["names"] + option["aliases"]}
    cells = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ")]
    named = {option for cell in cells for option in re.findall(r"(?<![\w-])--[a-z][\w.-]*\w", cell)}
    assert len(named) >= 10 and named <= options
