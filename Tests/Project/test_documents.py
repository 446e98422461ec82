"""Files, tests, targets and headings that the documents name exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/PACKAGES.md", "docs/PERFORMANCE.md", "docs/RELIABILITY.md"]


def text(document):
    return (ROOT / document).read_text()


def prose(document):
    """Without the blocks of code."""
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.M | re.S)


def headings(document):
    titles = re.findall(r"^#+ (.*)$", prose(document), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_begin_with_their_title(document):
    assert text(document).startswith("# ")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_targets_of_links_exist(document):
    for target in re.findall(r"\]\(([^)]+)\)", prose(document)):
        if target.startswith(("http:", "https:")):
            continue
        file, _, heading = target.partition("#")
        assert not file or (ROOT / document).parent.joinpath(file).exists(), target
        if heading:
            assert heading in headings(file or document), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document):
    named = re.findall(r"`((?:Sources|Tests|Plugins|scripts|man|completions)/[^`\s]*)`", prose(document))
    assert named
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert missing == []


def test_make_help_lists_the_targets_that_documents_name():
    output = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    listed = set(re.findall(r"^  make (\S+)", output, re.M))
    named = {target for document in DOCUMENTS for target in re.findall(r"`make ([\w-]+)", prose(document))}
    described = set(re.findall(r"^([\w-]+):.* ## ", (ROOT / "Makefile").read_text(), re.M))
    assert named and named | described <= listed


def test_tests_that_security_names_exist():
    named = re.findall(r"`((?:EndToEnd|Project|\w+Tests)/[\w./-]+)(?:::(\w+))?`", prose("SECURITY.md"))
    assert named
    for file, name in named:
        path = ROOT / "Tests" / file
        assert path.exists(), file
        assert not name or re.search(rf"\b(?:def|func) {name}\(", path.read_text()), f"{file}::{name}"


def changes():
    """The rows of "Where to make a change": the change, its folder, and its files there."""
    section = text("CONTRIBUTING.md").split("## Where to make a change")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    return [(row[0], row[1].strip("`"), re.findall(r"`([^`]+)`", row[2])) for row in rows[2:]]


def test_every_change_has_one_folder_and_at_most_three_files():
    assert len(changes()) > 10
    for change, folder, files in changes():
        assert (ROOT / folder).is_dir(), change
        assert 1 <= len(files) <= 3, change
        for file in files:
            assert (ROOT / folder / file).is_file(), f"{change}: {file}"
