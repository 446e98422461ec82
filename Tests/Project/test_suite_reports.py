"""Readers of each format accept the reports of suites, whose text the unit tests compare with the same files.

JUnit is validated against its schema by xmllint, TAP is read by prove and TAP::Parser of Perl, and HTML by a parser.
"""

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1] / "ReportsTests" / "Suites"
NAMES = sorted(path.stem for path in (TESTS / "Golden").glob("*.ndjson"))


def golden(name, suffix):
    return TESTS / "Golden" / f"{name}.{suffix}"


def events(name):
    return [json.loads(line) for line in golden(name, "ndjson").read_text().splitlines()]


def points(name):
    """The titles of what is a test point or a test case: (passed, skipped) in the order of the events."""
    for event in events(name):
        if event["event"] == "test":
            yield event["outcome"] in ("passed", "skipped"), event["outcome"] == "skipped"
        elif event["event"] == "file-end":
            yield from [(False, False)] * len(event.get("errors", []))


def test_each_kind_of_failure_has_a_report_in_each_format():
    assert {"passed", "failed-check", "several-checks", "setup-error", "call-error", "invalid-check"} <= set(NAMES)
    assert {"skipped", "retry", "rows", "timeout", "no-tests", "hostile"} <= set(NAMES)
    for suffix in ("txt", "ansi", "tap", "xml", "html", "github"):
        assert sorted(path.stem for path in (TESTS / "Golden").glob(f"*.{suffix}")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_junit_is_valid(name):
    command = ["xmllint", "--noout", "--nonet", "--schema", TESTS / "junit.xsd", golden(name, "xml")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_schema_of_junit_refuses_other_documents(tmp_path):
    text = golden("several-checks", "xml").read_text()
    for old, new in [(' time="', ' group="x" time="'), ("<testsuites tests", '<testsuites count="1" tests'), ("<properties/>", "")]:
        assert old in text
        (tmp_path / "x.xml").write_text(text.replace(old, new))
        command = ["xmllint", "--noout", "--nonet", "--schema", TESTS / "junit.xsd", tmp_path / "x.xml"]
        assert subprocess.run(command, capture_output=True).returncode != 0, new


# Prints each result, and the errors of the parser, as JSON lines.
PARSER = r"""
use strict; use warnings; use TAP::Parser; use JSON::PP;
my $json = JSON::PP->new->ascii->canonical;
my $parser = TAP::Parser->new({ exec => ['cat', $ARGV[0]] });
while (my $result = $parser->next) {
  print $json->encode(['test', $result->is_actual_ok ? 1 : 0, $result->has_skip ? 1 : 0]), "\n" if $result->is_test;
  print $json->encode(['yaml', $result->data]), "\n" if $result->is_yaml;
  print $json->encode(['unknown', $result->raw]), "\n" if $result->is_unknown;
}
print $json->encode(['errors', [$parser->parse_errors]]), "\n";
"""


@pytest.mark.parametrize("name", NAMES)
def test_tap_is_read_by_perl(name):
    result = subprocess.run(["perl", "-e", PARSER, golden(name, "tap")], capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert results.pop() == ["errors", []]
    expected = list(points(name))
    assert [(bool(ok), bool(skip)) for kind, ok, skip in (r for r in results if r[0] == "test")] == expected
    assert [r for r in results if r[0] == "unknown"] == []
    diagnostics = [data for kind, data in (r for r in results if r[0] == "yaml")]
    assert len(diagnostics) == sum(not skip for _, skip in expected)
    tests = [event for event in events(name) if event["event"] == "test" and event["outcome"] != "skipped"]
    for test, data in zip(tests, diagnostics):
        checks = [failure for step in test.get("steps", []) for failure in step.get("failures", [])]
        assert [int(failure["line"]) for failure in data.get("failures") or []] == [check["line"] for check in checks]


@pytest.mark.parametrize("name", NAMES)
def test_tap_is_summarised_by_prove(name):
    command = ["prove", "--norc", "--exec", "cat", golden(name, "tap")]
    result = subprocess.run(command, capture_output=True, text=True)
    failed = sum(not ok for ok, _ in points(name))
    assert (result.returncode != 0) == (failed > 0), result.stdout
    assert "Parse errors" not in result.stdout
    if failed:
        assert f"Failed {failed}/" in result.stdout and "Result: FAIL" in result.stdout
    else:
        assert ("Result: PASS" if list(points(name)) else "Result: NOTESTS") in result.stdout


class Page(HTMLParser):
    VOID = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read_page(path):
    page = Page()
    page.feed(path.read_text())
    page.close()
    assert page.open == []
    return page


@pytest.mark.parametrize("path", sorted((TESTS / "Golden").glob("*.coverage-*")), ids=lambda path: path.name)
def test_coverage_is_valid_and_contains_no_control_characters(path):
    text = path.read_text()
    if path.suffix == ".coverage-html":
        page = read_page(path)
        assert page.tags.isdisjoint({"script", "link", "img"}) and "methods called" in page.text
    if path.suffix == ".coverage-json":
        document = json.loads(text)
        assert document["summary"]["methods"]["of"] == len(document["methods"])
        assert document["summary"]["enum_values"]["of"] == sum(map(len, document["enums"].values()))
    # JSON is for programs; only control characters are escaped in it.
    allowed = {".coverage-ansi": "\x1b", ".coverage-json": "\u202e"}.get(path.suffix, "")
    assert not set(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)) - set(allowed)


@pytest.mark.parametrize("name", NAMES)
def test_page_is_well_formed_and_needs_no_network(name):
    page = read_page(golden(name, "html"))
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object", "a", "form"})
    assert {key for key, _ in page.attributes}.isdisjoint({"src", "href", "onclick", "onload"})
    assert "url(" not in page.text and "@import" not in page.text
    for event in events(name):
        if event["event"] == "test" and event["outcome"] == "failed":
            for failure in (failure for step in event["steps"] for failure in step.get("failures", [])):
                assert f":{failure['line']}: expect " in page.text


@pytest.mark.parametrize("name", NAMES)
def test_annotations_are_one_command_per_line(name):
    lines = golden(name, "github").read_text().splitlines()
    assert all(re.match(r"::(error file=[^:,]+(,line=\d+)?,|notice )title=[^:,]*::.", line) for line in lines[:-1])
    assert lines[-1].startswith("::notice title=rpcurl test::")
    failures = [f for e in events(name) if e["event"] == "test" for s in e.get("steps", []) for f in s.get("failures", [])]
    errors = [error for e in events(name) for error in ([e["error"]] if "error" in e else e.get("errors", []) if e["event"] == "file-end" else [])]
    outputs = [e for e in events(name) if e["event"] == "file-end" and "output" in e]
    assert len(lines) - 1 == len(failures) + len(errors) + len(outputs)


@pytest.mark.parametrize("name", NAMES)
def test_reports_for_people_contain_no_control_characters(name):
    for suffix in ("txt", "github", "tap", "html"):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", golden(name, suffix).read_text()), suffix
