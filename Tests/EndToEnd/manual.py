"""The examples of the manual's pages, to be run verbatim."""

import os
import re
import shutil
import subprocess

from harness import ROOT, RPCURL, pkg_config_of_sources


def examples(page):
    """The literal blocks of the page's EXAMPLES, as a reader sees them."""
    return literals(page, "EXAMPLES")


def literals(page, section):
    """The literal blocks of a section of a page, as a reader sees them."""
    text = (ROOT / "man" / page).read_text()
    section = text.split(f".Sh {section}\n")[1].split("\n.Sh ")[0]
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", section, re.M | re.S)
    return [block.replace("\\e", "\\").replace("\\&", "") for block in blocks]


def run(script, directory, descriptor_set, replacing=(), **environment):
    """Run an example as a shell script, with other addresses than those of the page."""
    shutil.copy(descriptor_set, directory / "demo.binpb")
    for old, new in replacing:
        assert old in script, f"{old} is not in the example"
        script = script.replace(old, new)
    path = f"{RPCURL.resolve().parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-ec", script], cwd=directory, capture_output=True, text=True, timeout=60,
        env={"PATH": path, "HOME": str(directory), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        | pkg_config_of_sources() | environment,
    )  # fmt: skip
