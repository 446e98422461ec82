"""Pages of the manual, by mandoc."""

import html
import re
import subprocess
from pathlib import Path

from .page import Page

SECTIONS = {"1": "Commands", "5": "Files", "7": "Interceptors and guides", "3": "Plugins"}


def names(root: Path):
    """The names of the pages, such as `rpcurl-load(1)`."""
    return {f"{file.stem}({file.suffix[1:]})" for file in (root / "man").iterdir()}


def pages(root: Path):
    """A page for each page of the manual, and their list."""
    found, entries = [], {}
    known = names(root)
    for file in sorted((root / "man").iterdir(), key=lambda file: file.stem):
        name, section = file.stem, file.suffix[1:]
        command = ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", file]
        content = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # Pages of other programs are not here.
        content = re.sub(
            r'<a class="Xr" href="[^"]*">([^<]*)</a>',
            lambda match: match.group(0) if match.group(1) in known else match.group(1),
            content,
        )
        content = content.replace(' style="width: auto;"', "")
        content = re.sub(r'<table class="(head|foot)">.*?</table>', "", content, flags=re.DOTALL)
        # The page has one heading of the first level, its name.
        content = re.sub(r"<(/?)h([12])\b", lambda match: f"<{match.group(1)}h{int(match.group(2)) + 1}", content)
        purpose = " ".join(re.search(r"^\.Nd (.*)", file.read_text(), re.MULTILINE).group(1).split())
        entries.setdefault(section, []).append((name, purpose))
        found.append(
            Page(f"manual/{name}.{section}.html", f"{name}({section})", f"<h1>{name}({section})</h1>\n{content}", depth=3)
        )
    rows = ""
    for section, title in SECTIONS.items():
        rows += f'<h2 id="section-{section}">{title}</h2>\n<table>\n'
        for name, purpose in entries.pop(section):
            rows += f'<tr><td><a href="{name}.{section}.html">{name}({section})</a></td><td>{html.escape(purpose)}</td></tr>\n'
        rows += "</table>\n"
    assert not entries, f"sections without a title: {list(entries)}"
    found.append(Page("manual/index.html", "Manual", f"<h1>Manual</h1>\n{rows}"))
    return found
