"""Editing of the input of rpcurl session: undo, words of earlier lines, the editor, and the search of the history."""

import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Server, write
from terminal import Terminal
from test_session_terminal import CTRL_C, CTRL_D, CTRL_R, DOWN, LEFT, UP, after, paste

BACKSPACE, HOME = "\x7f", "\x01"
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


# A text of several lines

TEXT = ["rpcurl> call Hello {", '... "name":', '... "Ada"', "... }"]


def test_a_message_of_several_lines_is_one_text(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    typed(screen, 'call Hello {\r"nam":\r"Ada"\r', *TEXT[:1], '... "nam":', '... "Ada"', "...")
    # Up and left, to the end of the name, which is not right.
    typed(screen, UP * 2 + "\x05" + LEFT * 2, *TEXT[:1], '... "nam":', '... "Ada"', "...")
    top = len(screen.lines) - 4
    screen.wait(lambda: screen.cursor == (top + 1, len('... "nam')), "the cursor")
    typed(screen, "e", *TEXT[:3], "...")
    typed(screen, DOWN * 2 + "}", *TEXT)
    screen.send(ENTER)
    screen.shows(*TEXT, '{"message":"Hello, Ada!","name":"Ada"}', "rpcurl>")
    # The whole text comes back, and Up moves within it before it finds older lines.
    screen.send("set x = 1\r")
    screen.shows("rpcurl> set x = 1", "rpcurl>")
    typed(screen, UP, "rpcurl> set x = 1")
    typed(screen, UP, *TEXT)
    top = len(screen.lines) - 4
    assert screen.cursor == (top + 3, len("... }"))
    screen.send(HOME + UP * 3)
    screen.wait(lambda: screen.cursor == (top, 0 + len("rpcurl> ")), "the cursor in the first row")
    typed(screen, DOWN * 4, "rpcurl> set x = 1")
    # History and undo have the same text.
    typed(screen, UP, *TEXT)
    typed(screen, BACKSPACE, *TEXT[:3], "...")
    typed(screen, UNDO, *TEXT)
    screen.send(CTRL_C + "history 2\r")
    screen.shows("rpcurl> history 2", "set x = 1", "history 2", "rpcurl>")
    screen.send("history 3\r")
    screen.shows("rpcurl> history 3", "set x = 1", "history 2", "history 3", "rpcurl>")


def test_backspace_joins_lines(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    typed(screen, "call Hello {\r", "rpcurl> call Hello {", "...")
    typed(screen, '"name":"Ada"', "rpcurl> call Hello {", '... "name":"Ada"')
    typed(screen, HOME + BACKSPACE, 'rpcurl> call Hello {"name":"Ada"')
    typed(screen, "\x05}", 'rpcurl> call Hello {"name":"Ada"}')
    # A line feed without the end of the statement.
    typed(screen, LEFT + "\x1b\r", 'rpcurl> call Hello {"name":"Ada"', "... }")
    typed(screen, "\x16\x0a", 'rpcurl> call Hello {"name":"Ada"', "...", "... }")
    # Ctrl-D does not end the session.
    typed(screen, "\x05" + CTRL_D, 'rpcurl> call Hello {"name":"Ada"', "...", "... }")
    screen.send(ENTER)
    screen.shows("... }", '{"message":"Hello, Ada!","name":"Ada"}', "rpcurl>")


def test_an_invalid_text_comes_back_as_a_whole(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    paste(screen, 'call Hello {\n"name":\n"Ada"\n}')
    typed(screen, "", *TEXT)
    typed(screen, UP * 2 + "x", "rpcurl> call Hello {", '... "xname":', *TEXT[2:])
    typed(screen, BACKSPACE * 3, "rpcurl> call Hello {name\":", *TEXT[2:])
    screen.send(ENTER)
    screen.wait(lambda: "missing closing quote" in screen.text and screen.last == "rpcurl>", "the error")
    typed(screen, UP, "rpcurl> call Hello {name\":", *TEXT[2:])


def test_a_text_of_two_statements(session: Callable[..., Terminal], tmp_path: Path) -> None:
    editor = write(tmp_path / "editor", """printf 'set x = {\\n"a": 1\\n}\\nprint $x\\nsleep 600s\\nprint 2\\n' > "$1"\n""")
    screen = session(EDITOR=f"sh {editor}")
    screen.send(EDIT)
    rows = ["rpcurl> set x = {", '... "a": 1', "... }", "... print $x", "... sleep 600s", "... print 2"]
    typed(screen, "", *rows)
    screen.send(ENTER)
    screen.wait(lambda: "* waiting" in screen.text or screen.last == '{"a":1}', "the first statements")
    screen.send(CTRL_C)
    screen.wait(lambda: "* the rest of what was typed is dropped" in screen.lines, "the notice")
    screen.shows("rpcurl>")
    assert "2" not in screen.lines


def test_history_keeps_lines_across_sessions(session: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = session()
    screen.send('call Hello {\r"name":\r"Ada"\r}\r' + CTRL_D)
    assert screen.end() == (0, None)
    file = tmp_path / ".local" / "state" / "rpcurl" / "history"
    assert file.read_text() == 'call Hello {\v"name":\v"Ada"\v}\n'
    screen = session()
    typed(screen, UP, *TEXT)
    typed(screen, CTRL_C + CTRL_R + '"Ad', """(reverse-i-search)`"Ad': call Hello {""", *TEXT[1:])


def test_a_text_that_is_higher_than_the_window(session: Callable[..., Terminal]) -> None:
    screen = session(rows=8, columns=40)
    paste(screen, "set list = [" + ",\n".join(str(number) for number in range(100)))
    screen.wait(lambda: screen.lines[-1] == "... 99" and len(screen.lines) == 8, "the end of the text")
    screen.send(UP * 50)
    screen.wait(lambda: screen.typed == "... 49,", "the cursor's row")
    assert screen.lines[0] == "... 45,"
    screen.resize(40, 20)
    screen.wait(lambda: len(screen.lines) == 20 and screen.typed == "... 49,", "the larger window")
    screen.send(DOWN * 50 + "]\rprint $list[99]\r")
    screen.shows("rpcurl> print $list[99]", "99", "rpcurl>")


def test_a_paste_within_a_text_runs_nothing(session: Callable[..., Terminal]) -> None:
    screen = session()
    typed(screen, "print 1" + LEFT, "rpcurl> print 1")
    typed(screen, "\x1b[200~2\nprint \x1b[201~", "rpcurl> print 2", "... print 1")
    screen.send(ENTER)
    screen.shows("rpcurl> print 2", "... print 1", "2", "1", "rpcurl>")
