"""Every option that the documents name exists in the parser, and so does every target of make."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl").absolute()
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
# By hand; rpcurl.1 is generated, and rpcurl-migrate(7) has a test of its own.
PAGES = sorted(p for p in (ROOT / "man").iterdir() if p.suffix != ".1" and p.stem != "rpcurl-migrate")

MAKEFILES = [ROOT / "Makefile", ROOT / "scripts/packages/packages.mk"]

# Options of other programs (protoc, swift, pytest, pkg-config, the test servers, scripts), and the form of options.
OTHERS = {
    "--include_imports", "--descriptor_set_out", "--port", "--product", "--build-tests", "--skip-build", "--cflags", "--option",
    "--strip-components", "--quiet", "--written", "--unbuffered", "--prefix", "--uninstall", "--ignore-missing",
}  # fmt: skip


@pytest.fixture(scope="module")
def options():
    dump = subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True).stdout
    commands = json.loads(dump)["commands"]
    return {name for command in commands for option in command["options"] for name in option["names"] + option["aliases"]}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_options_of_documents(document, options):
    named = set(re.findall(r"(?<![\w-])--[a-z][\w.-]*\w", (ROOT / document).read_text()))
    assert named - options - OTHERS == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_of_pages(page, options):
    text = page.read_text()
    named = {f"-{flag}" for line in text.splitlines() for flag in re.findall(r"\bFl ([\w.-]+)", line)}
    named |= {f"-{flag}" for line in re.findall(r"^\..*Fl ([^A-Z].*)$", text, re.M) for flag in re.findall(r"(?<= , )(-[\w.-]+)", line)}
    named |= {option for option in re.findall(r"(?<![\w-])--[a-z][\w.-]*\w", text)}
    assert named - options - OTHERS == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_targets_of_make(document):
    targets = set(re.findall(r"^([a-z-]+):", "".join(file.read_text() for file in MAKEFILES), re.M))
    text = (ROOT / document).read_text()
    named = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^(?:sudo )?make ([a-z][a-z-]+)", text, re.M))
    assert named - targets == set()
