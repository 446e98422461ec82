"""Pages of Markdown files."""

import html
import posixpath
import re
from pathlib import Path

import markdown

from .page import Page

# The file of each page, with its title.
DOCUMENTS = {
    "README.md": ("index.html", "rpcurl"),
    "docs/PERFORMANCE.md": ("performance.html", "Performance"),
    "docs/COMPARISON.md": ("comparison.html", "Comparison"),
    "docs/RELIABILITY.md": ("reliability.html", "Reliability"),
    "docs/PACKAGES.md": ("packages.html", "Packages"),
    "SECURITY.md": ("security.html", "Security"),
    "CONTRIBUTING.md": ("contributing.html", "Contributing"),
    "CODE_OF_CONDUCT.md": ("conduct.html", "Code of conduct"),
    "CHANGELOG.md": ("changes.html", "Changes"),
}


def slug(text, separator="-"):
    """The anchor of a heading, as hosts of repositories make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def render(text):
    """The HTML of Markdown."""
    return markdown.markdown(
        text, output_format="html", extensions=["tables", "fenced_code", "toc", "sane_lists"],
        extension_configs={"toc": {"slugify": slug}, "tables": {"use_align_attribute": True}},
    )


def pages(root: Path, manual: set[str]):
    """The pages, and the files that they show, as paths in the repository with those in the site.

    `manual`: the names of manual pages, such as `rpcurl-load(1)`, which become links.
    """
    found, files = [], {}
    for source, (path, title) in DOCUMENTS.items():
        if not (root / source).exists():
            continue

        def link(match):
            name, target = match.group(1), html.unescape(match.group(2))
            if re.match(r"[a-z]+:|#", target):
                return match.group(0)
            target, _, anchor = target.partition("#")
            file = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
            if file in DOCUMENTS:
                target = DOCUMENTS[file][0]
            elif (root / file).is_file():
                files[file] = target = posixpath.join("files", file)
            else:
                raise SystemExit(f"{source}: the link {target} leads to no file")
            return f'{name}="{html.escape(target)}{"#" + anchor if anchor else ""}"'

        content = re.sub(r'(href|src)="([^"]*)"', link, render((root / source).read_text()))
        content = re.sub(
            r"(?:<code>)?(rpcurl[a-z-]*)\((\d)\)(?:</code>)?",
            lambda match: f'<a href="manual/{match.group(1)}.{match.group(2)}.html">{match.group(1)}({match.group(2)})</a>'
            if f"{match.group(1)}({match.group(2)})" in manual
            else match.group(0),
            content,
        )
        found.append(Page(path, title, content))
    return found, files
