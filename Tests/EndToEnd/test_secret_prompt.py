"""The prompt for a password: signals while it waits."""

import os
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Server
from terminal import Terminal
from test_session_terminal import CTRL_C, CTRL_D

PROMPT = "password of ada:"


def echoes(screen: Terminal) -> bool:
    return bool(termios.tcgetattr(screen.process.child_fd)[3] & termios.ECHO)


@pytest.mark.parametrize("command", ["call", "session"])
def test_ctrl_c_ends_the_command_with_echo(
    terminal: Callable[..., Terminal], grpc_server: Server, command: str
) -> None:
    method = ["demo.v1.Demo/Hello"] if command == "call" else []
    screen = terminal(command, "-u", "ada", grpc_server.url, *method)
    screen.shows(PROMPT)
    assert not echoes(screen)
    screen.send(CTRL_C)
    assert screen.end() == (130, None)
    screen.shows("rpcurl: interrupted")
    assert echoes(screen)


def test_a_password_that_is_not_utf8(
    terminal: Callable[..., Terminal], grpc_server: Server
) -> None:
    screen = terminal("call", "-u", "ada", grpc_server.url, "demo.v1.Demo/Hello")
    screen.shows(PROMPT)
    screen.send(b"J\xfcrgen\r")
    assert screen.end() == (2, None)
    screen.shows("rpcurl: password of ada: is not UTF-8 text")
    assert echoes(screen)


def test_ctrl_c_after_the_prompt(
    terminal: Callable[..., Terminal], grpc_server: Server, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "data")
    screen = terminal("call", "-u", "ada", "-d", f"@{tmp_path}/data", grpc_server.url, "demo.v1.Demo/Hello")
    screen.shows(PROMPT)
    screen.send("open sesame\r")
    screen.wait(lambda: echoes(screen), "the end of the prompt")
    screen.send(CTRL_C)
    assert screen.end() == (130, None)


def test_ctrl_c_ends_only_the_command_of_a_session(
    terminal: Callable[..., Terminal], grpc_server: Server
) -> None:
    screen = terminal("session", grpc_server.url)
    screen.shows("rpcurl>")
    screen.send("options -u ada\r")
    screen.shows(PROMPT)
    screen.send(CTRL_C)
    screen.shows("rpcurl: interrupted", "rpcurl>")
    screen.send('call Hello {"name":"Ada"}\r')
    screen.shows('  "name": "Ada"', "}", "rpcurl>")
    screen.send(CTRL_D)
    assert screen.end() == (0, None)
    assert echoes(screen)
