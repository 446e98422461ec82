"""Pages in a real browser, Chromium, that call a plain gRPC server through `rpcurl proxy`, with gRPC-Web and Connect."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import Proxy, QuietHandler, http_server

CHROMIUM = shutil.which("chromium")
PAGE = Path(__file__).parent / "browser" / "calls.html"


class Page(QuietHandler):
    """Has one page."""

    def do_GET(self) -> None:  # noqa: N802
        content = PAGE.read_bytes()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def page() -> Iterator[str]:
    with http_server(Page) as url:
        yield url


@pytest.fixture
def browse(tmp_path: Path) -> Callable[[str], str]:
    """`browse(url)`: what the page shows when it is done."""
    if not CHROMIUM:
        pytest.skip("chromium is not installed")

    def browse(url: str) -> str:
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=10000", "--dump-dom", url,
        ]  # fmt: skip
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        found = re.search(r"<pre>(.*?)</pre>", shown, re.S)
        assert found, shown
        return found[1]

    return browse


def test_page_of_an_allowed_origin(rpcurl, tmp_path, grpc_server, page, browse):
    proxy = Proxy(rpcurl, tmp_path, "proxy", "--protocol", "grpc", "--allow-origin", page, grpc_server.url)
    assert browse(f"{page}/#{proxy.url}").splitlines() == [
        'Connect: 200 {"message":"Hello, Ada!","name":"Ada"}', "gRPC-Web: 200 Hello, Ada! Ada grpc-status: 0",
    ]  # fmt: skip
    assert proxy.stop() == 0
    assert [line.split()[1:3] for line in proxy.lines()] == [["demo.v1.Demo/Hello", "ok"]] * 2


def test_page_of_another_origin(rpcurl, tmp_path, grpc_server, page, browse):
    proxy = Proxy(rpcurl, tmp_path, "proxy", "--protocol", "grpc", grpc_server.url)
    shown = browse(f"{page}/#{proxy.url}")
    assert shown.count("TypeError: Failed to fetch") == 2
    assert proxy.stop() == 0
    refusal = "HTTP 403: The origin of the request is not allowed; --allow-origin allows it."
    assert all(line.endswith(refusal) for line in proxy.lines())
