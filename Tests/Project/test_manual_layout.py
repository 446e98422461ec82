"""The manual's pages fit a terminal, have the same footer, and describe what other pages refer to."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "man").iterdir())
COLUMNS = 90


def rendered(page: Path) -> list[str]:
    command = ["mandoc", "-T", "ascii", "-O", f"width={COLUMNS}", page]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    # Bold and underlined characters are overstruck.
    return re.sub(r".\x08", "", text).splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_fits_a_terminal(page: Path) -> None:
    assert [line for line in rendered(page) if len(line) > COLUMNS] == []


def test_each_literal_has_its_own_quotes() -> None:
    """The macro Ql, of a list, quotes the whole list once."""
    lists = re.compile(r'^\.(?:It )?Ql [^"\n]* , .*$', re.M)
    assert [(page.name, line) for page in PAGES for line in lists.findall(page.read_text())] == []


def test_pages_have_one_footer() -> None:
    (file,) = (ROOT / "Sources").rglob("Version.swift")
    version = re.search(r'current = "(.*)"', file.read_text())[1]
    footers = {tuple(re.split(r"\s{2,}", rendered(page)[-1])[:2]) for page in PAGES}
    assert len(footers) == 1 and footers.pop()[0] == f"rpcurl {version}"


def test_keys_of_all_interceptors_are_described() -> None:
    """The pages of interceptors refer to rpcurl(1) for them."""
    section = (ROOT / "man" / "rpcurl.1").read_text().split(".Sh INTERCEPTORS\n")[1].split("\n.Sh ")[0]
    items = "\n".join(re.findall(r"^\.It (.*)$", section, re.M))
    assert set(re.findall(r"Cm ([\w-]+) Ns =", items)) == {
        "priority", "before", "after", "methods", "kinds", "hosts", "header", "attribute", "percent", "seed", "strict",
    }  # fmt: skip
    interceptors = set(re.findall(r"Xr rpcurl-(\w+) 7", section.split("built-in interceptors are:")[1]))
    built_in = (ROOT / "Sources" / "Interceptors" / "BuiltIns.swift").read_text()
    names = [name.lower() for name in re.findall(r"^    \.?(\w+?)(?:Factory\.description)?,$", built_in, re.M)]
    assert sorted(interceptors) == sorted(names)
    for name in interceptors:
        text = (ROOT / "man" / f"rpcurl-{name}.7").read_text()
        assert ".Cm methods" in text and ".Xr rpcurl 1 ,\nsection INTERCEPTORS" in text, name
