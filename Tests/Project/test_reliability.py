"""docs/RELIABILITY.md names a test for each promise, and each of them exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "RELIABILITY.md").read_text()
TEST = re.compile(r"`([\w/.]+)::(\w+)`")


def test_tests_exist():
    named = TEST.findall(PAGE)
    assert len(named) > 20
    for file, name in named:
        text = (ROOT / "Tests" / file).read_text()
        assert re.search(rf"^ *(?:@Suite |@Test )?(?:async )?(?:def|struct|func) {name}\b", text, re.M), f"{file} has no {name}"


def test_each_promise_has_a_test():
    for table in re.findall(r"^\|.*Test \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.M):
        for row in table.splitlines():
            assert TEST.search(row.rsplit("|", 2)[1]), row

