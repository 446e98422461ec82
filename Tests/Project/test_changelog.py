"""The form of the changelog, which is that of Keep a Changelog 1.1, and its versions."""

import re
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text()
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
RELEASE = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)")


def sections(text, marks):
    """The head of a text and the titles of its sections with their content."""
    head, *parts = re.split(rf"^{marks} ", text, flags=re.M)
    return head, [part.split("\n", 1) for part in parts]


def test_sections_are_unreleased_changes_and_then_releases_newest_first():
    head, found = sections(TEXT, "##")
    assert head.startswith("# Changelog\n") and "https://keepachangelog.com/en/1.1.0/" in head
    titles = [title for title, _ in found]
    assert titles[0] == "[Unreleased]"
    releases = [RELEASE.fullmatch(title) for title in titles[1:]]
    assert None not in releases, titles
    versions = [tuple(map(int, release.groups()[:3])) for release in releases]
    days = [date.fromisoformat(release[4]) for release in releases]
    assert versions == sorted(set(versions), reverse=True) and days == sorted(days, reverse=True)


def test_changes_are_in_the_kinds_of_the_form():
    for title, content in sections(TEXT, "##")[1]:
        blank, kinds = sections(content, "###")
        assert blank.strip() == "", f"{title}: text that is not in a kind"
        names = [name for name, _ in kinds]
        assert names == [name for name in KINDS if name in names], f"{title}: {names}"
        for name, entries in kinds:
            lines = entries.strip("\n").split("\n")
            assert lines[0].startswith("- "), f"{title}, {name}: no entry"
            assert not [line for line in lines if not line.startswith(("- ", "  "))], f"{title}, {name}"


def test_before_the_first_release_nothing_has_changed():
    if not RELEASE.search(TEXT):
        assert [name for name, _ in sections(sections(TEXT, "##")[1][0][1], "###")[1]] == ["Added"]


def test_the_version_of_the_sources_is_the_newest_release_or_a_later_version():
    current = re.search(r'current = "(\d+)\.(\d+)\.(\d+)"', (ROOT / "Sources/Engine/Calls/Version.swift").read_text())
    releases = [tuple(map(int, release[:3])) for release in RELEASE.findall(TEXT)]
    assert tuple(map(int, current.groups())) >= max(releases, default=(0, 0, 0))
