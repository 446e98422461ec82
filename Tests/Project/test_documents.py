"""What README, CONTRIBUTING and SECURITY name is there: files, tests, and headings that links lead to."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]


def text(document):
    return (ROOT / document).read_text()


def prose(document):
    """Without the blocks of code."""
    return re.sub(r"^```.*?^```$", "", text(document), flags=re.M | re.S)


def headings(document):
    titles = re.findall(r"^#+ (.*)$", prose(document), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)]+)\)", prose(document)):
        if target.startswith(("http:", "https:")):
            continue
        file, _, heading = target.partition("#")
        assert not file or (ROOT / file).exists(), target
        if heading:
            assert heading in headings(file or document), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_are_there(document):
    named = re.findall(r"`((?:Sources|Tests|Plugins|scripts|man|completions)/[^`\s]*)`", prose(document))
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_tests_are_there(document):
    named = re.findall(r"`((?:EndToEnd|Project|\w+Tests)/[\w./-]+)(?:::(\w+))?`", prose(document))
    assert named or document != "SECURITY.md"
    for file, name in named:
        path = ROOT / "Tests" / file
        assert path.exists(), file
        assert not name or re.search(rf"\b(?:def|func) {name}\(", path.read_text()), f"{file}::{name}"
