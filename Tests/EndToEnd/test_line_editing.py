"""Editing of the input of rpcurl session: undo, words of earlier lines, the editor, and the search of the history."""

import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Server, write
from terminal import Terminal
from test_session_terminal import CTRL_C, CTRL_R, LEFT, UP, after

CTRL_G, CTRL_S, ENTER, ESCAPE, UNDO, LAST_WORD, EDIT = "\x07", "\x13", "\r", "\x1b", "\x1f", "\x1b.", "\x18\x05"
CALL_HINT = "call METHOD [JSON]"
SEARCH = "(reverse-i-search)`"


@pytest.fixture
def session(terminal: Callable[..., Terminal], grpc_server: Server) -> Callable[..., Terminal]:
    """`session()` starts a session and waits for its prompt."""

    def start(*options: object, **settings: object) -> Terminal:
        started = terminal("session", "--plaintext", "--format", "none", *options, grpc_server.address, **settings)
        started.shows("rpcurl>")
        return started

    return start


def typed(screen: Terminal, keys: str, *rows: str) -> None:
    """Types keys, and waits until these are the last rows, without hints."""
    screen.send(keys)

    def plain() -> tuple[str, ...]:
        lines = screen.lines[-len(rows) :]
        return tuple(line if line == row else line.split("   ")[0].rstrip() for line, row in zip(lines, rows, strict=False))

    screen.wait(lambda: plain() == rows, repr(rows))


@pytest.fixture
def used(session: Callable[..., Terminal]) -> Terminal:
    """A session with a history."""
    screen = session()
    for line in ['call Hello {"name": "Ada"}', "set x = 1", 'call Hello {"name": "Bob"}']:
        screen.send(line + ENTER)
        screen.shows(f"rpcurl> {line}", "rpcurl>")
    return screen


def test_undo(session: Callable[..., Terminal]) -> None:
    screen = session()
    typed(screen, "call", "rpcurl> call")
    typed(screen, " ", "rpcurl> call")
    typed(screen, "Hello", "rpcurl> call Hello")
    typed(screen, "\x17", "rpcurl> call")
    typed(screen, UNDO, "rpcurl> call Hello")
    typed(screen, UNDO, "rpcurl> call")
    typed(screen, "\x18\x15", "rpcurl>")
    # Nothing is left to undo, and what follows is a change of its own.
    typed(screen, UNDO + "x", "rpcurl> x")
    typed(screen, "\x1b[200~a 'b'\x1b[201~", "rpcurl> xa 'b'")
    typed(screen, UNDO, "rpcurl> x")
    # The next line does not bring back this one.
    typed(screen, CTRL_C, "rpcurl>")
    typed(screen, UNDO + "y", "rpcurl> y")


def test_undo_of_a_completion(session: Callable[..., Terminal]) -> None:
    screen = session()
    typed(screen, "call Ech", "rpcurl> call Ech")
    screen.send("\t")
    screen.wait(lambda: "EchoMetadata" in screen.last, "the menu")
    screen.send("\t")
    screen.wait(lambda: screen.typed.startswith("rpcurl> call EchoMetadata") and screen.last == ">EchoMetadata  Echo", "a choice")
    typed(screen, "\r", "rpcurl> call EchoMetadata")
    typed(screen, UNDO, "rpcurl> call Ech")


def test_last_word_of_earlier_lines(used: Terminal) -> None:
    typed(used, f"print {LAST_WORD}", 'rpcurl> print {"name": "Bob"}')
    typed(used, LAST_WORD, "rpcurl> print 1")
    typed(used, LAST_WORD, 'rpcurl> print {"name": "Ada"}')
    # The oldest line stays.
    typed(used, LAST_WORD, 'rpcurl> print {"name": "Ada"}')
    typed(used, UNDO, "rpcurl> print 1")
    typed(used, " " + LAST_WORD, 'rpcurl> print 1 {"name": "Bob"}')


def test_an_editor_changes_the_line(session: Callable[..., Terminal], tmp_path: Path) -> None:
    editor = write(tmp_path / "editor", 'cat "$1"; stty -a | grep -o " icanon"; echo \'call Hello {"name":"Eve"}\' > "$1"\n')
    screen = session(EDITOR=f"sh {editor}")
    screen.send("call Hel" + LEFT + EDIT)
    screen.wait(lambda: "call Hel icanon" in screen.lines, "the text, and the terminal's modes")
    typed(screen, "", 'rpcurl> call Hello {"name":"Eve"}')
    assert not screen.is_given_back
    typed(screen, UNDO, "rpcurl> call Hel")
    typed(screen, EDIT, 'rpcurl> call Hello {"name":"Eve"}')
    screen.send(ENTER)
    screen.shows('rpcurl> call Hello {"name":"Eve"}', "rpcurl>")


@pytest.mark.parametrize("editor", ["false", "no-such-editor"])
def test_an_editor_that_fails_changes_nothing(session: Callable[..., Terminal], editor: str) -> None:
    screen = session(EDITOR="ignored", VISUAL=editor)
    screen.send("call Hel" + LEFT + EDIT)
    screen.shows(
        f"rpcurl: {editor}: the editor failed; the line is not changed", "hint: set VISUAL or EDITOR", after("rpcurl> call Hel", CALL_HINT)
    )
    typed(screen, "x", "rpcurl> call Hexl")


def test_search_of_the_history(used: Terminal) -> None:
    typed(used, "pri", "rpcurl> pri")
    typed(used, CTRL_R, f"{SEARCH}': pri")
    typed(used, "Hello", f"""{SEARCH}Hello': call Hello {{"name": "Bob"}}""")
    assert used.cursor[1] == len(SEARCH + "Hello': call ")
    typed(used, CTRL_R, f"""{SEARCH}Hello': call Hello {{"name": "Ada"}}""")
    typed(used, CTRL_R, f"""(failed reverse-i-search)`Hello': call Hello {{"name": "Ada"}}""")
    typed(used, CTRL_G, "rpcurl> pri")
    # A search without a pattern is for the last one.
    typed(used, CTRL_R + CTRL_R, f"""{SEARCH}Hello': call Hello {{"name": "Bob"}}""")
    typed(used, "\x7f" * 5 + "set", f"{SEARCH}set': set x = 1")
    typed(used, ESCAPE, "rpcurl> pri")
    # Another key keeps the line, and acts on it.
    typed(used, CTRL_R + "x =" + "\x05" + "2", "rpcurl> set x = 12")
    typed(used, UNDO, "rpcurl> set x = 1")
    typed(used, UNDO, "rpcurl> pri")
    # Enter runs it.
    used.send(CTRL_R + "set" + ENTER + "print $x" + ENTER)
    used.shows("rpcurl> set x = 1", "rpcurl> print $x", "1", "rpcurl>")


def test_search_towards_newer_lines(used: Terminal) -> None:
    modes = termios.tcgetattr(used.process.child_fd)
    if modes[0] & termios.IXON:
        # The terminal takes Ctrl-S for itself.
        modes[0] &= ~termios.IXON
        termios.tcsetattr(used.process.child_fd, termios.TCSANOW, modes)
    typed(used, CTRL_R + "Hello" + CTRL_R, f"""{SEARCH}Hello': call Hello {{"name": "Ada"}}""")
    typed(used, CTRL_S, """(i-search)`Hello': call Hello {"name": "Bob"}""")
    typed(used, CTRL_S, """(failed i-search)`Hello': call Hello {"name": "Bob"}""")
    typed(used, CTRL_R, f"""{SEARCH}Hello': call Hello {{"name": "Ada"}}""")


def test_search_with_a_pasted_pattern(used: Terminal) -> None:
    typed(used, CTRL_R + '\x1b[200~"Ada\x1b[201~', f"""{SEARCH}"Ada': call Hello {{"name": "Ada"}}""")
    typed(used, CTRL_C, 'rpcurl> call Hello {"name": "Ada"}^C', "rpcurl>")
    typed(used, UP, 'rpcurl> call Hello {"name": "Bob"}')


def test_keys_of_the_vi_mode(session: Callable[..., Terminal], tmp_path: Path) -> None:
    write(tmp_path / ".editrc", "bind -v\n")
    screen = session(EDITOR="echo 'print 7' >")
    screen.send("set x = 1" + ENTER)
    screen.shows("rpcurl> set x = 1", "rpcurl>")
    typed(screen, CTRL_R + "set", f"{SEARCH}set': set x = 1")
    typed(screen, CTRL_G + "abc" + ESCAPE + "0x", "rpcurl> bc")
    typed(screen, "v", "rpcurl> print 7")
