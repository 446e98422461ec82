"""The recorded session of the README is what a terminal shows.

To record it again:

    RPCURL_GOLDEN=write pytest Tests/EndToEnd/test_recording.py
"""

import os
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pyte
import pytest
from harness import ROOT, RPCURL, Rpcurl, Server
from picture import svg
from terminal import Terminal

RECORDING = ROOT / "docs" / "session.svg"
CTRL_D = "\x04"
SERVER = "localhost:50051"


@pytest.fixture
def shell(rpcurl: Rpcurl, grpc_server: Server, tmp_path: Path) -> Iterator[Terminal]:
    """A shell in which the server of the README exists."""
    config = tmp_path / ".config" / "rpcurl" / "config"
    config.parent.mkdir(parents=True)
    config.write_text(f"--connect-to {SERVER}:127.0.0.1:{grpc_server.port}\n")
    environment = rpcurl.environment({"HOME": str(tmp_path), "PS1": "$ ", "TERM": "xterm-256color"})
    del environment["NO_COLOR"]
    environment["PATH"] = f"{RPCURL.resolve().parent}:{environment['PATH']}"
    started = Terminal(["sh", "-i"], environment, rows=60, cwd=str(tmp_path))
    started.shows("$")
    yield started
    started.close()


def record(shell: Terminal) -> None:
    """Types the session. Each line is typed when what it follows is shown."""

    def type_line(text: str, *shown: str) -> None:
        shell.send(text)
        shell.shows(*shown)

    type_line(f"rpcurl session --plaintext {SERVER}\r", "rpcurl>")
    shell.send("call F\t")
    shell.wait(lambda: any(line.startswith(" FailStream") for line in shell.lines), "the methods")
    shell.send("ind\t")
    shell.wait(lambda: shell.last.startswith("rpcurl> call Find "), "the method's name")
    shell.send('{"i\t')
    shell.wait(lambda: shell.last.startswith('rpcurl> call Find {"id":'), "the field's name")
    type_line('"2"}\r', '  "title": "Jacquard loom"', "}", "rpcurl>")
    type_line("open Chat\r", "* ● Chat[1] is open", "● Chat[1]>")
    type_line('{"text": "about the ${last.title}"}\r', '  "text": "you said: about the Jacquard loom"', "}", "● Chat[1]>")
    type_line("use retry,attempts=3\r", "● Chat[1]> use retry,attempts=3", "● Chat[1]>")
    type_line("chain\r", "1 retry,attempts=3 (built in, as given, all calls)", "● Chat[1]>")
    type_line('{"text": "good bye"}\r', '  "text": "you said: good bye"', "}", "● Chat[1]>")
    type_line(CTRL_D, "* ● Chat[1] is half-closed", "* ● Chat[1] ended: ok (0), 2 responses", "rpcurl>")
    type_line("save looms.rpcurl\r", "rpcurl> save looms.rpcurl", "rpcurl>")
    type_line("quit\r", "rpcurl> quit", "$")
    type_line("rpcurl run looms.rpcurl\r", '{"text":"you said: good bye"}', "$")


def test_recording_is_what_the_terminal_shows(shell: Terminal) -> None:
    record(shell)
    shown = svg(shell.screen, "A session: call a method, open a stream, change the chain, save, run")
    if os.environ.get("RPCURL_GOLDEN") == "write":
        RECORDING.write_text(shown)
    assert shown == RECORDING.read_text()


def test_picture_escapes_text_and_keeps_colors() -> None:
    screen = pyte.Screen(20, 3)
    pyte.Stream(screen).feed('<a & "b">\r\n  \x1b[1;32mgreen\x1b[0m plain\r\n')
    text = ElementTree.fromstring(svg(screen, "t")).findall("{*}text/{*}tspan")
    assert [span.text for span in text] == ['<a & "b">', "green", "plain"]
    assert text[1].get("font-weight") == "bold" and text[1].get("fill") not in (None, text[2].get("fill"))
    assert len({span.get("y") for span in text}) == 2
