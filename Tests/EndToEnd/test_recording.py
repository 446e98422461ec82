"""The recorded sessions of the README are what a terminal shows.

To record them again:

    RPCURL_GOLDEN=write pytest Tests/EndToEnd/test_recording.py
"""

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import grpc
import pyte
import pytest
from harness import ROOT, RPCURL, Rpcurl, Server
from picture import svg
from terminal import Terminal

import demo_pb2 as messages

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
    type_line("set title = $last.title\r", "rpcurl> set title = $last.title", "rpcurl>")
    type_line("open Chat\r", "* ● Chat[1] is open", "● Chat[1]>")
    type_line('{"text": "about the ${title}"}\r', '  "text": "you said: about the Jacquard loom"', "}", "● Chat[1]>")
    type_line("use retry,attempts=3\r", "● Chat[1]> use retry,attempts=3", "● Chat[1]>")
    type_line("chain\r", "1 retry,attempts=3 (built in, as given, all calls)", "● Chat[1]>")
    type_line('{"text": "good bye"}\r', '  "text": "you said: good bye"', "}", "● Chat[1]>")
    type_line(CTRL_D, "* ● Chat[1] is half-closed", "* ● Chat[1] ended: ok (0), 2 responses", "rpcurl>")
    type_line("save looms.rpcurl\r", "rpcurl> save looms.rpcurl", "rpcurl>")
    type_line("quit\r", "rpcurl> quit", "$")
    type_line("rpcurl run looms.rpcurl\r", '{"text":"you said: good bye"}', "$")


def record_proxy(shell: Terminal, socket: Path) -> None:
    """Types what holds and changes the calls of another client, whose name is Ada."""

    def hello(name: str) -> str:
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            method = channel.unary_unary(
                "/demo.v1.Demo/Hello", messages.HelloRequest.SerializeToString, messages.HelloReply.FromString
            )
            return method(messages.HelloRequest(name=name)).message

    def has(line: str) -> None:
        shell.wait(lambda: any(shown.startswith(line) for shown in shell.lines), line)

    shell.send(f"rpcurl proxy --interactive --listen unix:app.sock --plaintext {SERVER}\r")
    shell.wait(lambda: shell.typed == "proxy>", "the prompt")
    with ThreadPoolExecutor() as client:
        assert client.submit(hello, "Eve").result() == "Hello, Eve!"
        has("1 demo.v1.Demo/Hello ok")
        shell.send("break Hello where .name == Ada\r")
        has("1 request */Hello where .name == Ada")
        changed = client.submit(hello, "Ada")
        shell.wait(lambda: shell.typed == "proxy (1 held)>", "the held call")
        shell.send("set name=Grace\r")
        has('2 demo.v1.Demo/Hello held: request {"name":"Grace"}')
        shell.send("continue\r")
        assert changed.result() == "Hello, Grace!"
        has("2 demo.v1.Demo/Hello ok")
        failed = client.submit(hello, "Ada")
        shell.wait(lambda: shell.typed == "proxy (1 held)>", "the next held call")
        shell.send("fail resource_exhausted no looms left\r")
        assert failed.exception().code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        has("3 demo.v1.Demo/Hello resource_exhausted")
    shell.send("quit\r")
    shell.wait(lambda: shell.typed == "$", "the end")


def fix_times(screen: pyte.Screen) -> None:
    """Replaces the times, which differ from run to run."""
    for y in range(screen.lines):
        row = screen.buffer[y]
        text = "".join(row[x].data for x in range(screen.columns))
        fixed = re.sub(r"\d+\.\d+ ms", "1.4 ms", text).ljust(screen.columns)
        if fixed.rstrip() != text.rstrip():
            for x, character in enumerate(fixed[: screen.columns]):
                row[x] = row[x]._replace(data=character)


def check(shell: Terminal, name: str, title: str) -> None:
    """Whether the picture in docs shows what the terminal does."""
    shown, recording = svg(shell.screen, title), ROOT / "docs" / name
    if os.environ.get("RPCURL_GOLDEN") == "write":
        recording.write_text(shown)
    assert shown == recording.read_text()


def test_recording_of_a_session(shell: Terminal) -> None:
    record(shell)
    check(shell, "session.svg", "A session: call a method, open a stream, change the chain, save, run")


def test_recording_of_a_proxy(shell: Terminal, tmp_path: Path) -> None:
    record_proxy(shell, tmp_path / "app.sock")
    fix_times(shell.screen)
    check(shell, "proxy.svg", "The calls of an app through a proxy: watch them, hold one, change it, fail one")


def test_picture_escapes_text_and_keeps_colors() -> None:
    screen = pyte.Screen(20, 3)
    pyte.Stream(screen).feed('<a & "b">\r\n  \x1b[1;32mgreen\x1b[0m plain\r\n')
    text = ElementTree.fromstring(svg(screen, "t")).findall("{*}text/{*}tspan")
    assert [span.text for span in text] == ['<a & "b">', "green", "plain"]
    assert text[1].get("font-weight") == "bold" and text[1].get("fill") not in (None, text[2].get("fill"))
    assert len({span.get("y") for span in text}) == 2
