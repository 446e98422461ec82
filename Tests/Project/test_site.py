"""The web site: each page is made, each link leads somewhere, and the search finds what is written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site. DocC ends with an error for a warning, and the program for a link that leads nowhere."""
    if not any((ROOT / build / "debug/Modules/RPCurlClient.swiftmodule").exists() for build in (".build", ".build/address")):
        pytest.skip("the modules of a debug build do not exist")
    directory = tmp_path_factory.mktemp("site")
    subprocess.run([ROOT / "scripts/api", "--pages", directory / "archive"], check=True)
    command = [sys.executable, "-B", ROOT / "scripts/site", directory / "pages", directory / "archive"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return directory / "pages"


@pytest.fixture(scope="module")
def browse(site, tmp_path_factory):
    """`browse(path)`: a page as Chromium has it after its scripts have run."""
    if not CHROMIUM:
        pytest.skip("chromium is not installed")
    profile = tmp_path_factory.mktemp("profile")

    def browse(path):
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
        command += ["--virtual-time-budget=10000", "--dump-dom", f"file://{site}/{path}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    return browse


def test_each_document_and_manual_page_has_a_page(site):
    for file in (ROOT / "man").iterdir():
        assert (site / "manual" / f"{file.name}.html").exists()
    for name in ("index", "performance", "changes", "manual/index", "library/index", "library/RPCurlClient/RPCClient"):
        assert (site / f"{name}.html").exists()


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"([^\"]*)\"", page.read_text())
        assert [url for url in loaded if ":" in url or url.startswith("//")] == []
        assert not re.search(r"<[^>]*\s(?:style|on[a-z]+)=", page.read_text()), page


def test_a_dead_link_is_an_error(site):
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from website.page import Page, dead_links
    finally:
        sys.path.pop(0)
    page = Page("a/b.html", "B", '<h1 id="top">B</h1><a href="#top"></a><a href="../c.html#x"></a><a href="none.html"></a>')
    other = Page("c.html", "C", "<h1>C</h1>")
    assert dead_links([page, other], set()) == ["a/b.html: ../c.html#x", "a/b.html: none.html"]
    assert dead_links([page, other], {"a/none.html"}) == ["a/b.html: ../c.html#x"]


@pytest.mark.parametrize(
    ("page", "words", "found"),
    [
        ("index.html", "hedging policy", "manual/rpcurl-hedge.7.html"),
        ("manual/rpcurl-call.1.html", "addInterceptor", "../library/RPCurlClient/RPCClient.html"),
        ("library/RPCurlClient/RPCClient.html", "--max-time", "../../manual/rpcurl-options.7.html"),
    ],
)
def test_the_search_finds_words(browse, page, words, found):
    shown = re.search(r"<search.*?</search>", browse(f"{page}?q={words.replace(' ', '+')}"), re.DOTALL)[0]
    assert found in [link.split("#")[0] for link in re.findall(r'href="([^"]*)"', shown)]


def test_the_search_says_that_nothing_is_found(browse):
    assert "Nothing found" in browse("index.html?q=zzzzqqq")
