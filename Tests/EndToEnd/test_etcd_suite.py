"""The suites of etcd/ with every word of rpcurl-test(5): with a server, recorded, and replayed without one."""

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import ROOT, Result, Rpcurl, closed_port

SUITES = Path(__file__).parent / "etcd"
PAGE = ROOT / "man" / "rpcurl-test.5"


@dataclass(frozen=True)
class Run:
    """A run of all suites with a server, and the folder of its reports and recordings."""

    folder: Path
    schema: Path
    result: Result

    def again(self, *options: object) -> Result:
        """Run the suites with the address of no server, except those about the connection, which a recording does not have."""
        return test(self.folder, self.schema, f"http://127.0.0.1:{closed_port()}", "https://127.0.0.1:1", "--skip", "@tls", *options)

    def events(self, name: str) -> list[dict]:
        events = map(json.loads, (self.folder / "events.ndjson").read_text().splitlines())
        return [event for event in events if event["event"] == name]

    def outcomes(self) -> set[tuple]:
        """The outcomes of the tests that can be replayed."""
        return {outcome(event) for event in self.events("test") if "tls" not in event["tags"]}


def outcome(event: dict) -> tuple:
    return event["file"], event["name"], event.get("row"), event["outcome"]


def test(folder: Path, schema: Path, url: str, tls: str, *options: object) -> Result:
    (folder / "servers").write_text(f"# The servers of the suites\netcd={url}\ntls={tls}\n")
    return Rpcurl(folder)("test", "--descriptor-set", schema, "--var", "@servers", *options, ".")


test.__test__ = False


@pytest.fixture(scope="module")
def only_run(start_foreign_server, etcd_mtls_server, certificates, etcd_schema, tmp_path_factory):
    folder = tmp_path_factory.mktemp("etcd_suites")
    shutil.copytree(SUITES, folder, dirs_exist_ok=True)
    for name in ("ca.pem", "client.pem", "client-key.pem"):
        shutil.copy(certificates / name, folder)
    reports = [f"--report={name}" for name in ("terminal", "junit=junit.xml", "ndjson=events.ndjson", "tap=tests.tap", "html=tests.html")]
    coverage = ["--coverage", "json=coverage.json", "--coverage-of", "etcdserverpb", "--coverage-min", 70]
    server = start_foreign_server("etcd_server.py")
    urls = server.url, etcd_mtls_server.url
    return Run(folder, etcd_schema, test(folder, etcd_schema, *urls, *reports, *coverage, "--record", "cassettes"))


@pytest.fixture
def run(keeps_early_responses, only_run):
    """The run of the module; etcd responds early to calls that it refuses."""
    return only_run


def test_suites_pass(run):
    run.result.exits(0, err="").prints(" passed, 1 skipped in ", " (7 files, 1 of shared steps)")
    names = [line for file in SUITES.glob("*.rpcurl") for line in file.read_text().splitlines() if line.startswith("test ")]
    assert len(names) >= 50


def test_reports_have_the_same_tests(run):
    events = run.events("test")
    outcomes = [event["outcome"] for event in events]
    (end,) = run.events("end")
    assert (outcomes.count("passed"), outcomes.count("skipped"), len(outcomes)) == (end["passed"], 1, end["passed"] + 1)
    suites = ElementTree.parse(run.folder / "junit.xml").getroot()
    assert {suite.get("name"): int(suite.get("tests")) for suite in suites} == {
        event["file"]: event["tests"] for event in run.events("file")
    }
    lines = (run.folder / "tests.tap").read_text().splitlines()
    assert sum(line.startswith("ok ") for line in lines) == len(events)
    page = (run.folder / "tests.html").read_text()
    assert all(event["name"] in page for event in events)


def test_recordings_replace_the_server(run):
    replayed = run.again("--replay", "cassettes", "--report", "ndjson").exits(0, err="")
    assert {outcome(event) for event in replayed.lines() if event["event"] == "test"} == run.outcomes()


def test_tests_are_selected_by_tag(run):
    replayed = run.again("--replay", "cassettes", "--only", "@smoke", "--report", "ndjson").exits(0, err="")
    events = [event for event in replayed.lines() if event["event"] == "test" and event["outcome"] != "skipped"]
    assert len(events) == 7 and all("smoke" in event["tags"] for event in events)


def test_without_a_server_and_recordings_the_suites_fail(run):
    assert " passed" not in run.again().exits(8).out


def test_coverage_counts_the_methods(run):
    coverage = json.loads((run.folder / "coverage.json").read_text())
    called = {name for name, statuses in coverage["methods"].items() if statuses}
    assert {f"etcdserverpb.KV/{name}" for name in ("Compact", "DeleteRange", "Put", "Range", "Txn")} <= called
    assert {"etcdserverpb.Watch/Watch", "etcdserverpb.Lease/LeaseKeepAlive", "etcdserverpb.Maintenance/Snapshot"} <= called
    assert not any(name.startswith("v3lockpb") for name in called)


def test_suites_are_formatted(rpcurl):
    rpcurl("test", "--format-files", SUITES).exits(0, "", "")


def test_suites_have_every_word_of_the_page():
    text = "\n".join(file.read_text() for file in SUITES.glob("*.rpcurl"))
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    used = {word for line in lines for word in [*line.split(), *re.split(r"[\s=,:]+", line)]}
    assert words_of_the_page() - used == set()


def words_of_the_page() -> set[str]:
    """What rpcurl-test(5) has as words to type, except options and their values."""
    page = PAGE.read_text().partition(".Sh DESCRIPTION")[2].partition(".Sh FILES")[0]
    words = set()
    for line in page.splitlines():
        if line.startswith((".Cm ", ".It ", ".Op ", ".Pq ")) and "Fl " not in line:
            parts = re.split(r"\b(Cm|Ar|Fl|Op|Oo|Oc|Ns|Xr|Ql|Pa)\b", line.removeprefix("."))
            words |= {word for name, text in zip(parts[1::2], parts[2::2]) if name == "Cm" for word in re.findall(r"[a-z]{2,}|[=!<>~]+", text)}
    return words
