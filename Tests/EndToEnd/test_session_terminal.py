"""rpcurl session on a terminal: the screen while lines are typed."""

import os
import re
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import RPCURL, RawServer, Rpcurl, Server, wait_until, write
from terminal import PATIENCE_SECONDS, Terminal

UP, DOWN, LEFT = "\x1b[A", "\x1b[B", "\x1b[D"
HOME, CTRL_C, CTRL_D, CTRL_R, CTRL_Z = "\x01", "\x03", "\x04", "\x12", "\x1a"


@pytest.fixture
def session(terminal: Callable[..., Terminal], grpc_server: Server) -> Callable[..., Terminal]:
    """`session()` starts a session and waits for its prompt."""

    def start(*options: object, **settings: object) -> Terminal:
        started = terminal("session", "--plaintext", *options, grpc_server.address, **settings)
        started.shows("rpcurl>")
        return started

    return start


def after(prompt: str, hint: str, columns: int = 80) -> str:
    """A row with a hint on its right; the last column stays free."""
    return prompt + hint.rjust(columns - 1 - len(prompt))


# The greeting, and help


def test_greets_with_the_server_and_the_way_to_help(terminal: Callable[..., Terminal], grpc_server: Server) -> None:
    screen = terminal("session", "--plaintext", grpc_server.address)
    screen.shows(f'* {grpc_server.address}, 1 service; TAB completes, and "help" lists the commands', "rpcurl>")
    screen = terminal("session")
    screen.shows('* no server yet: "target URL" sets one, and "help" lists the commands', "rpcurl>")
    screen = terminal("session", "-s", "--plaintext", grpc_server.address)
    screen.shows("rpcurl>")
    assert screen.lines == ["rpcurl>"]


def test_a_server_that_is_not_there_does_not_delay_the_prompt(
    terminal: Callable[..., Terminal], raw_server: Callable[..., RawServer]
) -> None:
    address = raw_server(lambda connection: connection.recv(1)).address
    screen = terminal("session", "--plaintext", address)
    screen.shows(f'* {address}; TAB completes, and "help" lists the commands', "rpcurl>")
    screen = terminal("session", "--plaintext", "127.0.0.1:1", columns=40)
    screen.shows('* 127.0.0.1:1; TAB completes, and "help"', "  lists the commands", "rpcurl>")


@pytest.mark.parametrize("command", ["help", "?"])
def test_help_is_wrapped_between_words(session: Callable[..., Terminal], command: str) -> None:
    screen = session(columns=40, rows=200)
    screen.send(f"{command}\r")
    screen.wait(lambda: screen.last == "rpcurl>" and "on the current stream." in screen.text, "the help")
    start = screen.lines.index(f"rpcurl> {command}") + 1
    text = " ".join(line.strip() for line in screen.lines[start:-1])
    assert "  " not in re.sub(r"([^ ]) {2,}", r"\1 ", text)
    assert "open METHOD [JSON] start a stream and make it the current one" in " ".join(text.split())
    # Bracketed alternatives are one word, which may be longer than the line; all others fit.
    assert "append a plugin to the chain; reload NAME|N: load its file again, in its place" in " ".join(text.split())
    screen.send(f"{command} save\r")
    screen.shows(
        f"rpcurl> {command} save", "save [--show-secrets] FILE: write the", "  session as a script",
        '"rpcurl run FILE" repeats the session,', "and cancels streams that are still open.", "With a name in .sh, the script is one of",
        "shell commands. Failed commands are", "omitted. Credentials become environment",
        "variables unless --show-secrets is", "given. At most 10,000 commands and 16", "MiB are kept.", "rpcurl>",
    )  # fmt: skip


def pager(directory: Path) -> str:
    """A pager that keeps what it is given, and waits for a line of the terminal."""
    script = f"cat > {directory}/shown; echo paged; read line < /dev/tty; echo end of $line\n"
    return f"sh {write(directory / 'pager', script)}"


def paged(screen: Terminal, directory: Path) -> str:
    """Waits for the pager, and ends it; returns what it was given."""
    screen.wait(lambda: "paged" in screen.lines, "the pager")
    assert screen.is_given_back
    screen.send("paging\n")
    screen.shows("end of paging", "rpcurl>")
    return (directory / "shown").read_text()


def test_long_help_is_shown_in_the_pager(session: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = session(PAGER=pager(tmp_path))
    screen.send("help\r")
    shown = paged(screen, tmp_path)
    assert shown.startswith("call METHOD [JSON] ") and shown.endswith("on the current stream.\n")
    # What fits is printed.
    screen.send("help exit\r")
    screen.shows("rpcurl> help exit", "exit: cancel open streams and end the session", "rpcurl>")


@pytest.mark.parametrize("pager", ["", "cat", "no-such-pager"])
def test_long_help_is_printed_without_a_pager(session: Callable[..., Terminal], pager: str) -> None:
    screen = session(PAGER=pager)
    screen.send("help\r")
    screen.wait(lambda: "on the current stream." in screen.text and screen.last == "rpcurl>", "the help")
    assert b"call METHOD [JSON]  " in screen.output


LONG = "call Echo {\"int32s\":[" + ",".join(map(str, range(40))) + "]}"


def test_a_long_response_is_shown_in_the_pager(session: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = session("--color", "always", PAGER=pager(tmp_path))
    screen.send(f"{LONG}\r")
    shown = paged(screen, tmp_path)
    assert shown.startswith('{\n  \x1b[1m"int32s"\x1b[0m: [') and shown.endswith("39\n  ]\n}\n")
    assert shown.count("\n") == 44
    # So are a value, and what follows wraps to more rows than the terminal has.
    screen.send("print $last\r")
    screen.wait(lambda: screen.lines.count("paged") == 2, "the pager again")
    screen.send("\n")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    screen.send("set x = \"" + "x" * 3000 + "\"\rprint $x\r")
    screen.wait(lambda: screen.lines.count("paged") >= 1 and screen.last == "paged", "the pager for one line")
    screen.send("\n")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    # What fits is printed, and so are the responses of a stream.
    (tmp_path / "shown").unlink()
    screen.send('call Hello {"name":"Ada"}\rcall Count {"from":1,"to":30}\r')
    screen.wait(lambda: screen.last == "rpcurl>" and '\x1b[1m"number"\x1b[0m: 30'.encode() in screen.output, "the last response")
    assert not (tmp_path / "shown").exists()
    # A transcript has it once.
    screen.send(f"record {tmp_path}/log\r{LONG}\r")
    screen.wait(lambda: (tmp_path / "shown").exists() and screen.last == "paged", "the pager once more")
    screen.send("\nrecord off\r")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    assert (tmp_path / "log").read_text().count("    39\n") == 1
    # Errors follow what is paged.
    screen.send("print $last.nothing\r")
    screen.wait(lambda: "nothing" in screen.lines[-2] and screen.last == "rpcurl>", "the error")


@pytest.mark.parametrize("pager", ["", "cat", "no-such-pager"])
def test_a_long_response_is_printed_without_a_pager(session: Callable[..., Terminal], pager: str) -> None:
    screen = session(PAGER=pager)
    screen.send(f"{LONG}\r")
    screen.wait(lambda: screen.lines[-4:] == ["    39", "  ]", "}", "rpcurl>"], "the response")
    screen.send("set value = $last\ropen Chat\rprint $value\r")
    screen.wait(lambda: screen.lines[-4:] == ["    39", "  ]", "}", "● Chat[1]>"], "the value")


# Typing


def test_calls_print_their_responses(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send('call Hello {"name":"Ada"}\r')
    screen.shows('rpcurl> call Hello {"name":"Ada"}', "{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    screen.send("quit\r")
    assert screen.end() == (0, None)


def test_responses_appear_above_the_line_that_is_typed(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send('open Count {"from":1,"to":3,"intervalMs":200}\r')
    screen.wait(lambda: "* ● Count[1] is open" in screen.lines, "the stream")
    screen.send("echo" + LEFT + LEFT)
    screen.wait(lambda: "Count[1] ended" in screen.text, "the stream's end")
    screen.wait(lambda: screen.last == "rpcurl> echo", "the line")
    start = screen.lines.index("* ● Count[1] is open")
    assert screen.lines[start + 1 : -1] == [
        *(line for number in (1, 2, 3) for line in ("{", f'  "number": {number}', "}")),
        "* ● Count[1] ended: ok (0), 3 responses",
    ]
    screen.wait(lambda: screen.cursor == (len(screen.lines) - 1, len("rpcurl> ec")), "the cursor in its place")


def test_lines_that_wrap_stay_whole(session: Callable[..., Terminal]) -> None:
    screen = session(columns=30)
    screen.send("open Chat\r")
    screen.shows("* ● Chat[1] is open", "● Chat[1]>")
    # The response arrives before or while the next line is typed; the screen is the same at the end.
    screen.send('{"text":"one"}\r' + '{"text":"a line of 中文 that wraps twice, at least, and stays"' + LEFT * 3)
    screen.wait(lambda: "said: one" in screen.text, "the answer")
    screen.shows(
        '● Chat[1]> {"text":"one"}',
        "{",
        '  "text": "you said: one"',
        "}",
        '● Chat[1]> {"text":"a line of',
        "中文 that wraps twice, at leas",
        after('t, and stays"', "text: string", 30),
    )
    screen.wait(lambda: screen.cursor == (len(screen.lines) - 1, len("t, and sta")), "the cursor in its place")
    # The line is emptied from its start on.
    screen.send(HOME + "\x0b")
    screen.shows("}", "● Chat[1]>")


def test_text_of_any_script_is_accepted(session: Callable[..., Terminal]) -> None:
    screen = session(LC_ALL="C")
    screen.send("open Chat\r")
    screen.shows("* ● Chat[1] is open", "● Chat[1]>")
    screen.send('{"text":"größ€ 中文 e\u0301"}')
    screen.wait(lambda: "中" in screen.text, "the text")
    screen.send(LEFT * 2 + "\x7f\x7f😀\r")
    screen.shows("{", '  "text": "you said: größ€ 中文 😀"', "}", "● Chat[1]>")


def test_pasted_lines_arrive_as_lines(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send('\x1b[200~call Hello {\n\t"name":\r\n "Ada"\n}\x1b[201~')
    screen.shows("rpcurl> call Hello {", '...  "name":', '...  "Ada"', after("... }", "HelloRequest"))
    screen.send("\r")
    screen.shows('  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    # They come back as they were.
    screen.send(UP)
    screen.shows("rpcurl> call Hello {", '...  "name":', '...  "Ada"', after("... }", "HelloRequest"))


def paste(screen: Terminal, text: str) -> None:
    screen.send(f"\x1b[200~{text}\x1b[201~")


def test_many_lines_are_pasted(session: Callable[..., Terminal]) -> None:
    screen = session()
    start = time.monotonic()
    values = ",\n".join(f'{{\n"id": {number},\n"name": "v"\n}}' for number in range(3000))
    paste(screen, f"set list = [{values}]\nprint $list[2999].id\n")
    screen.shows("rpcurl> print $list[2999].id", "2999", "rpcurl>")
    # 12,000 lines; the time is that of a debug build on a machine with much else to do.
    assert time.monotonic() - start < 40
    # Lines that are statements of their own; the history is written once.
    paste(screen, "".join(f"set x{number} = {number}\n" for number in range(1000)) + "print $x999\n")
    screen.shows("rpcurl> print $x999", "999", "rpcurl>")


def test_ctrl_c_drops_what_was_pasted(session: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = session("--format", "json")
    slow = 'call Count {"from":1,"to":3,"intervalMs":60000}\n'
    paste(screen, slow + "set x = 1\n" + slow * 2)
    screen.wait(lambda: '{"number":1}' in screen.lines, "the first call")
    screen.send(CTRL_C)
    screen.wait(lambda: "* the rest of what was pasted is dropped" in screen.lines, "the notice")
    screen.send("print $x\r")
    screen.shows("rpcurl: x: no such variable", "rpcurl>")
    assert screen.lines.count(f"rpcurl> {slow.strip()}") == 1


def test_a_method_needs_no_command(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    for line in ['Hello {"name":"a"}', 'Hello{"name":"a"}', 'demo.v1.Demo/Hello {"name":"a"} --limit 1']:
        screen.send(f"{line}\r")
        screen.shows(f"rpcurl> {line}", '{"message":"Hello, a!","name":"a"}', "rpcurl>")
    screen.send('repeat 2 Hello {"name":"b"}\r')
    screen.shows(*['{"message":"Hello, b!","name":"b"}'] * 2, "rpcurl>")


def test_commands_of_the_shell(session: Callable[..., Terminal], tmp_path: Path) -> None:
    screen = session("--format", "json")
    screen.send('Hello {"name":"Ada"} | tr a-z A-Z; echo $((1+1))\r')
    screen.shows('{"MESSAGE":"HELLO, ADA!","NAME":"ADA"}', "2", "rpcurl>")
    screen.send('Echo {"bytesValue":"+/8AgQ=="} --raw --filter bytesValue | od -An -tx1\r')
    screen.shows(" fb ff 00 81", "rpcurl>")
    screen.send(f"cd {tmp_path}\r!pwd\r")
    screen.shows("rpcurl> !pwd", str(tmp_path), "rpcurl>")
    screen.send("!exit 3\r")
    screen.shows("* the command ended with exit 3", "rpcurl>")
    screen.send("history 2\r")
    screen.shows("rpcurl> history 2", "!exit 3", "history 2", "rpcurl>")
    screen.send("clear\r")
    screen.wait(lambda: screen.lines == ["rpcurl>"], "an empty screen")
    screen.send("expect count == 1\r")
    screen.shows("rpcurl> expect count == 1", "✓", "rpcurl>")
    screen.send('repeat every 10ms Hello {"name":"Ada"} --filter name\r')
    screen.wait(lambda: screen.lines.count("Ada") > 3, "some calls")
    screen.send(CTRL_C)
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")


def test_responses_follow_the_lines_that_were_typed_ahead(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    screen.send('call Hello {"name":"a"}\rcall Hello {"name":"b"}\rset done = 1\r')
    screen.shows(
        'rpcurl> call Hello {"name":"a"}', '{"message":"Hello, a!","name":"a"}',
        'rpcurl> call Hello {"name":"b"}', '{"message":"Hello, b!","name":"b"}', "rpcurl> set done = 1", "rpcurl>",
    )  # fmt: skip


def test_a_long_line_is_pasted(session: Callable[..., Terminal]) -> None:
    # So many characters that a quadratic algorithm would take minutes.
    name = "x" * 300_000
    screen = session("--format", "none")
    paste(screen, f'call Hello {{"name":"{name}"}}')
    screen.send("set done = 1")
    screen.wait(lambda: screen.text.endswith('x"}set done = 1'), "all of it")
    screen.send(CTRL_C)
    screen.shows("rpcurl>")


def test_a_string_without_its_end_is_reported(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send('call Hello {"name":"Ada\r')
    screen.shows(
        'rpcurl: missing closing quote " (line 1, column 24)', '  call Hello {"name":"Ada',
        "                         ^", "hint: write \\n for a line feed within a string", "rpcurl>",
    )  # fmt: skip
    # The line comes back, to be completed.
    screen.send(UP + '"}\r')
    screen.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    screen.send("describe 'x\r")
    screen.shows("rpcurl: missing closing quote '", "rpcurl>")


def test_ctrl_c_drops_a_statement_that_is_not_complete(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("call Hello {\r")
    screen.wait(lambda: screen.last.startswith("..."), "the next line")
    screen.send('"name":')
    screen.wait(lambda: screen.last.startswith('... "name":'), "the text")
    screen.send(CTRL_C)
    screen.shows('... "name":^C', "rpcurl>")
    screen.send("call Hello {\r")
    screen.wait(lambda: screen.last.startswith("..."), "the next line")
    screen.send(CTRL_C)
    screen.shows("... ^C", "rpcurl>")
    screen.send('call Hello {"name":"Ada"}\r')
    screen.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")


def test_an_editor_that_is_left_without_saving_sends_nothing(
    session: Callable[..., Terminal], start_server: Callable[..., Server]
) -> None:
    screen = session(EDITOR="true")
    screen.send("edit Hello\r")
    screen.shows(
        "rpcurl: Hello: the text is not changed; nothing was sent", "hint: call Hello sends an empty message",
        "rpcurl>",
    )  # fmt: skip


# Windows


def test_narrow_windows(session: Callable[..., Terminal]) -> None:
    screen = session(columns=16, rows=6)
    screen.send("describe abcdefghijklmnopqrstuvwxyz0123456789")
    screen.shows("rpcurl> describe", " abcdefghijklmno", "pqrstuvwxyz01234", "56789")
    # More than fits into the window: the text around the cursor is shown.
    screen.send("x" * 100 + HOME)
    screen.wait(lambda: screen.cursor == (0, 8), "the cursor at the start")
    assert screen.lines[0] == "rpcurl> describe"
    assert len(screen.lines) == 6


def test_the_line_follows_the_window(session: Callable[..., Terminal]) -> None:
    screen = session(columns=40)
    screen.send("describe abcdefghijklmnopqrstuvwxyz")
    screen.shows("rpcurl> describe abcdefghijklmnopqrstuvw", after("xyz", "describe [SYMBOL…]", 40))
    screen.resize(60)
    screen.shows("rpcurl> describe abcdefghijklmnopqrstuvwxyz")
    screen.send("0")
    screen.shows("rpcurl> describe abcdefghijklmnopqrstuvwxyz0")
    screen.resize(30)
    screen.shows("rpcurl> describe abcdefghijklm", "nopqrstuvwxyz0")


# Completion and hints


def test_completes_methods_fields_and_enum_values(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("cal\tEch\t")
    screen.shows(after("rpcurl> call Echo", "call METHOD [JSON]"), " EchoMetadata  Echo")
    screen.send(" \toptionalCol\t")
    screen.wait(lambda: 'call Echo {"optionalColor":' in screen.text, "the field")
    screen.send("\t")
    screen.shows(
        'rpcurl> call Echo {"optionalColor": "COLOR_',
        " COLOR_UNSPECIFIED  0",
        " COLOR_RED          1",
        " COLOR_GREEN        2",
        " COLOR_LIME         2",
        " COLOR_INFRARED     -1",
    )
    screen.send("in\t}\r")
    screen.shows(
        'rpcurl> call Echo {"optionalColor": "COLOR_INFRARED"}',
        "{",
        '  "optionalColor": "COLOR_INFRARED"',
        "}",
        "rpcurl>",
    )


def test_a_menu_is_below_the_line_until_it_ends(session: Callable[..., Terminal]) -> None:
    screen = session("--color", "always")
    screen.send("call Ech\t")
    screen.shows(after("rpcurl> call Echo", "call METHOD [JSON]"), " EchoMetadata  Echo")
    # TAB and arrows select; the selected candidate is in the line.
    screen.send("\t")
    screen.wait(lambda: screen.typed.startswith("rpcurl> call EchoMetadata "), "the first")
    assert b"\x1b[7m EchoMetadata \x1b[0m" in screen.output
    screen.send("\x1b[B")
    screen.wait(lambda: re.match("rpcurl> call Echo  ", screen.typed), "the second")
    screen.send("\x1b[Z")
    screen.wait(lambda: "EchoMetadata" in screen.typed, "the first again")
    assert screen.last == " EchoMetadata  Echo"
    # Escape restores what was typed.
    screen.send("\x1b")
    screen.shows(after("rpcurl> call Echo", "call METHOD [JSON]"))
    # Further letters leave fewer candidates; any other key ends the menu.
    screen.send("\t\x07\t")
    screen.shows(after("rpcurl> call Echo", "call METHOD [JSON]"), " EchoMetadata  Echo")
    screen.send("\x7f\x7f\x7f\x7f\t")
    screen.wait(lambda: len(screen.lines) > 3, "more candidates")
    screen.send("Ech")
    screen.shows(after("rpcurl> call Ech", "call METHOD [JSON]"), " EchoMetadata  Echo")
    screen.send("\t")
    screen.shows(after("rpcurl> call EchoMetadata", "MetadataRequest"), " EchoMetadata  Echo")
    # Enter keeps the selected candidate.
    screen.send("\r")
    screen.shows(after("rpcurl> call EchoMetadata", "MetadataRequest"))
    screen.send(CTRL_C)
    screen.shows("rpcurl> call EchoMetadata ^C", "rpcurl>")


def test_a_menu_follows_the_window(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("call \t")
    screen.wait(lambda: len(screen.lines) > 3, "the menu")
    wide = len(screen.lines)
    screen.resize(30)
    screen.wait(lambda: len(screen.lines) > wide and all(len(line) < 30 for line in screen.lines[-8:]), "more rows")
    screen.send("\t\x1b[C")
    screen.wait(lambda: any(">" in line[1:] for line in screen.lines[-8:]), "a mark without colours")


def test_a_menu_of_wide_characters(session: Callable[..., Terminal], tmp_path: Path) -> None:
    folder = tmp_path / "wide"
    folder.mkdir()
    for name in ["中文一.rpcurl", "中.rpcurl", "ab.rpcurl", "größe.rpcurl", "e\u0301.rpcurl", "😀.rpcurl"]:
        (folder / name).touch()
    screen = session(cwd=folder)
    screen.send("source \t")
    screen.wait(lambda: "ab.rpcurl" in screen.text and len(screen.lines) > 2, "the menu")
    # The names begin in the same columns of the terminal.
    top = screen.screen.cursor.y + 1
    columns = [
        [x for x in range(1, 80) if row[x].data.strip() and row[x - 1].data == " "]
        for row in (screen.screen.buffer[y] for y in range(top, len(screen.lines)))
    ]
    assert all(row == columns[0][: len(row)] for row in columns) and columns[0][0] == 1
    screen.send("\t\t")
    screen.wait(lambda: re.match(r"rpcurl> source \S+\.rpcurl", screen.typed), "a choice")
    screen.send("\x07中文\t")
    screen.wait(lambda: screen.typed.startswith("rpcurl> source 中文一.rpcurl"), "the file")
    assert screen.cursor[1] == len("rpcurl> source ") + 6 + len(".rpcurl ")


@pytest.mark.parametrize("columns", [80, 200])
def test_a_menu_fits_its_window(session: Callable[..., Terminal], columns: int) -> None:
    screen = session(columns=columns)
    screen.send("call \t")
    screen.wait(lambda: "EchoMetadata" in screen.text and len(screen.lines) > 2, "the menu")
    assert max(map(len, screen.lines)) < columns
    widths = {len(line) for line in screen.lines[2:]}
    # The width is used.
    assert max(widths) > columns // 2
    assert screen.lines[1] == after("rpcurl> call", "call METHOD [JSON]", columns)
    # The selected one is described on the last row if not all have a row.
    screen.send("\t")
    screen.wait(lambda: screen.typed.startswith("rpcurl> call ") and len(screen.typed.split()[2]) > 1, "the first")


def test_colours_suit_light_and_dark_terminals(session: Callable[..., Terminal]) -> None:
    screen = session("--color", "always")
    screen.send('call Hello {"name":"Ada"}\rexpect count == 1\ropen Chat\rcall Ech\t\t')
    screen.wait(lambda: "EchoMetadata" in screen.typed, "the menu")
    screen.send("\r\x03call No {}\r\x12he")
    screen.wait(lambda: "reverse-i-search" in screen.text, "the search")
    codes = set(re.findall(rb"\x1b\[([0-9;]*)m", screen.output))
    # Bold, dim, reverse, and colours that are not those of a background: neither black nor white, and no background.
    assert {b"1", b"2", b"7"} <= codes
    numbers = {int(number) for code in codes for number in code.split(b";") if number}
    assert numbers <= {0, 1, 2, 7, *range(31, 37), 39}
    # Text that carries meaning has the colour of text or magenta; only the marks of streams have others.
    rows = [row for row in screen.screen.buffer.values()]
    others = {cell.data for row in rows for cell in row.values() if cell.fg not in ("default", "magenta", "red")}
    assert others <= set("●■▲◆★")


def test_types_of_the_user_come_first(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("describe \t")
    screen.wait(lambda: "demo.v1.AllTypes" in screen.text, "the names")
    assert "google.protobuf" not in screen.text
    screen.send(CTRL_C)
    screen.send('call Echo {"any": {"\t')
    screen.wait(lambda: 'call Echo {"any": {"@type": "type.googleapis.com/' in screen.text, "the key")
    screen.send("\t")
    screen.wait(lambda: " demo.v1.ChatReply" in screen.lines, "the types")
    assert "google.protobuf" not in screen.text


def test_methods_of_the_user_come_first(session: Callable[..., Terminal]) -> None:
    screen = session(rows=40)
    screen.send("call \t")
    screen.wait(lambda: "EchoMetadata" in screen.text and "grpc.health.v1.Health/" not in screen.text, "the methods")
    methods = [word for line in screen.lines[1:-1] for word in line.split()]
    assert methods.index("Hello") < methods.index("Check")
    screen.send("Demo/Hel\t")
    screen.wait(lambda: screen.last.startswith("rpcurl> call Demo/Hello "), "the method")


def test_completes_fields_of_variables(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send('call Hello {"name":"Ada"}\r')
    screen.wait(lambda: screen.last == "rpcurl>" and "Hello, Ada!" in screen.text, "the response")
    screen.send("print $last.me\t\r")
    screen.shows("rpcurl> print $last.message", '"Hello, Ada!"', "rpcurl>")
    screen.send("print\r")
    screen.shows(
        "rpcurl> print", "last = {", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "request = {",
        '  "name": "Ada"', "}", "rpcurl>",
    )  # fmt: skip


def test_a_template_shows_the_values_of_enums(session: Callable[..., Terminal]) -> None:
    screen = session(rows=200, columns=120)
    screen.send("template AllTypes\r")
    values = "COLOR_UNSPECIFIED, COLOR_RED, COLOR_GREEN, COLOR_LIME, COLOR_INFRARED"
    screen.wait(lambda: f"* color: enum demo.v1.Color: {values}" in screen.lines, "the values")


def test_lists_are_bounded(session: Callable[..., Terminal]) -> None:
    screen = session(rows=10, columns=30)
    screen.send('call Echo {"\t')
    screen.wait(lambda: re.fullmatch(r" … and \d+ more", screen.last), "a list that is cut")
    assert screen.typed == 'rpcurl> call Echo {"'
    assert len(screen.lines) < 10


def test_completes_files(session: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "smoke.rpcurl").write_text('call Hello {"name":"Ada"}\n')
    screen = session()
    screen.send(f"source {tmp_path}/fol\tsm\t\r")
    screen.wait(lambda: "Hello, Ada!" in screen.text, "the answer")


def test_reports_that_the_schema_is_not_available(terminal: Callable[..., Terminal]) -> None:
    screen = terminal("session", "--no-reflect", "http://localhost:1")
    screen.shows("rpcurl>")
    screen.send("call He\tx")
    screen.wait(lambda: "no schema" in screen.text, "the reason")
    screen.wait(lambda: screen.last.startswith("rpcurl> call Hex"), "the line")


def test_hints_show_the_expected_argument(session: Callable[..., Terminal]) -> None:
    screen = session("--color", "always")
    screen.send("call")
    screen.shows(after("rpcurl> call", "call METHOD [JSON]"))
    assert b"\x1b[2mcall METHOD [JSON]\x1b[0m" in screen.output
    screen.send(" \t")
    screen.wait(lambda: "EchoMetadata" in screen.text, "the methods")
    screen.send('Echo {"color":')
    screen.wait(lambda: screen.last.endswith('{"color":'), "no hint, where there is no room")
    screen.resize(120)
    hint = "color: enum Color (COLOR_UNSPECIFIED, COLOR_RED, COLOR_GREEN, COLOR_LIME, …)"
    screen.shows(after('rpcurl> call Echo {"color":', hint, 120))
    screen.send('1,"nested":{"label":')
    screen.wait(lambda: screen.last.endswith("label: string"), "the hint")
    screen.resize(50)
    screen.wait(lambda: screen.last.endswith('{"label":'), "no hint, where there is no room")


def test_hints_have_no_colour_with_no_color(session: Callable[..., Terminal]) -> None:
    screen = session(NO_COLOR="1")
    screen.send("call")
    screen.shows(after("rpcurl> call", "call METHOD [JSON]"))
    assert b"\x1b[1m" not in screen.output
    assert b"\x1b[2m" not in screen.output


# History


def test_history_that_cannot_be_read_is_reported(session: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / ".local" / "state" / "rpcurl" / "history").mkdir(parents=True)
    assert "* no history:" in session().text


def test_history_reaches_across_sessions(session: Callable[..., Terminal], tmp_path: Path) -> None:
    first, second = session(), session()
    for screen, name in ((first, "Ada"), (second, "Bob"), (first, "Cy")):
        screen.send(f'call Hello {{"name":"{name}"}}\r')
        screen.shows("{", f'  "message": "Hello, {name}!",', f'  "name": "{name}"', "}", "rpcurl>")
    first.send("call Hello {} --bearer secret\r")
    first.shows("rpcurl: --bearer: not an option of one call", "hint: options --bearer sets it for all calls", "rpcurl>")
    first.send("header authorization: Bearer secret\r")
    first.shows("rpcurl> header authorization: Bearer secret", "rpcurl>")
    first.send(UP)
    first.shows(after("rpcurl> header authorization: Bearer secret", "header NAME: VALUE"))
    first.send(CTRL_C + CTRL_D)
    assert first.end() == (0, None)
    second.send(CTRL_D)
    assert second.end() == (0, None)

    file = tmp_path / ".local" / "state" / "rpcurl" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert file.read_text() == "".join(f'call Hello {{"name":"{name}"}}\n' for name in ("Ada", "Bob", "Cy"))

    third = session()
    third.send(UP + UP)
    third.shows(after('rpcurl> call Hello {"name":"Bob"}', "HelloRequest"))
    third.send(DOWN)
    third.shows(after('rpcurl> call Hello {"name":"Cy"}', "HelloRequest"))
    third.send(CTRL_C + CTRL_R + "Ad")
    third.shows("""(reverse-i-search)`Ad': call Hello {"name":"Ada"}""")
    third.send("\r")
    third.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")


# Ctrl-C, Ctrl-D, and how it ends


def test_ctrl_c_drops_the_line_first(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("open Chat\r")
    screen.shows("* ● Chat[1] is open", "● Chat[1]>")
    screen.send('{"te' + CTRL_C)
    screen.shows('● Chat[1]> {"te^C', "● Chat[1]>")
    screen.send(CTRL_C)
    screen.shows("● Chat[1]> ^C", "* ● Chat[1] canceled", "rpcurl>")
    screen.send(CTRL_C)
    screen.shows("rpcurl> ^C", "* press Ctrl-C again, or Ctrl-D, to end the session", "rpcurl>")
    screen.send(CTRL_C)
    assert screen.end() == (130, None)


def test_ctrl_c_cancels_a_call(session: Callable[..., Terminal], grpc_server: Server) -> None:
    before = grpc_server.canceled_calls("demo.v1.Demo/Count")
    screen = session()
    screen.send('call Count {"from":1,"to":100000,"intervalMs":100}\r')
    screen.wait(lambda: '  "number": 2' in screen.lines, "responses")
    # The terminal is given back for the call, and Ctrl-C is a signal.
    assert screen.is_given_back
    screen.send(CTRL_C)
    screen.shows("^C", "* Count canceled", "rpcurl>")
    assert not screen.is_given_back
    grpc_server.wait_for_canceled_calls("demo.v1.Demo/Count", before + 1)


def test_ctrl_c_ends_only_the_wait_for_a_response(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("open Chat\r")
    screen.wait(lambda: screen.last == "● Chat[1]>", "the stream")
    screen.send("receive\r")
    screen.wait(lambda: "* waiting for a response of Chat[1]; Ctrl-C stops waiting" in screen.text, "the notice")
    screen.send(CTRL_C)
    screen.wait(lambda: "interrupted before the response arrived" in screen.text and screen.last == "● Chat[1]>", "the prompt")
    screen.send('{"text":"a"}\r')
    screen.wait(lambda: '"text": "you said: a"' in screen.text, "a response")
    screen.send('open Count {"from":1,"to":100000,"intervalMs":10000}\r')
    screen.wait(lambda: "* ■ Count[2] is open" in screen.text, "the second stream")
    screen.send("wait 2\r")
    screen.wait(lambda: "* waiting for the end of Count[2]; Ctrl-C cancels it" in screen.text, "the notice")
    screen.send(CTRL_C)
    screen.wait(lambda: "* ■ Count[2] canceled" in screen.text, "the end")


def test_a_stream_without_messages_is_explained(session: Callable[..., Terminal]) -> None:
    screen = session()
    screen.send("call Chat\r")
    screen.wait(lambda: "* Chat ended: ok (0), no responses; open Chat keeps it open" in screen.text, "the notice")


# Ctrl-Z, signals, and terminals that cannot be drawn on


def test_suspends_and_resumes(terminal: Callable[..., Terminal], grpc_server: Server) -> None:
    screen = terminal("--norc", "--noprofile", "-i", program="bash", PS1="$ ")
    screen.shows("$")
    screen.send(f"{RPCURL} session --plaintext {grpc_server.address}\r")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    screen.send("call Hel" + LEFT)
    screen.wait(lambda: screen.last.startswith("rpcurl> call Hel"), "the line")
    screen.send(CTRL_Z)
    screen.wait(lambda: "Stopped" in screen.text and screen.last == "$", "the shell")
    screen.send("echo al''ive\r")
    screen.shows("alive", "$")
    screen.send("fg\r")
    screen.wait(lambda: screen.last.startswith("rpcurl> call Hel"), "the line, again")
    screen.wait(lambda: screen.cursor[1] == len("rpcurl> call He"), "the cursor in its place")
    screen.send('\x05lo {"name":"Ada"}\r')
    screen.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    screen.send("quit\r")
    screen.shows("rpcurl> quit", "$")


def test_continues_in_the_background_and_resumes(terminal: Callable[..., Terminal], grpc_server: Server) -> None:
    screen = terminal("--norc", "--noprofile", "-i", program="bash", PS1="$ ")
    screen.shows("$")
    screen.send(f"{RPCURL} session --plaintext {grpc_server.address}\r")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    screen.send("call Hel")
    screen.wait(lambda: screen.last.startswith("rpcurl> call Hel"), "the line")
    screen.send(CTRL_Z)
    screen.wait(lambda: "Stopped" in screen.text and screen.last == "$", "the shell")
    screen.send("bg\r")
    screen.wait(lambda: screen.last == "$", "the shell")
    # The shell has the input.
    for word in ("one", "two", "three"):
        screen.send(f"echo {word[:2]}''{word[2:]}\r")
        screen.shows(word, "$")
    screen.send("jobs -r | grep -c session\r")
    screen.shows("1", "$")
    # A running job is not printed.
    screen.send("fg\r")
    screen.wait(lambda: screen.last.startswith("rpcurl> call Hel"), "the line, again")
    screen.send('lo {"name":"Ada"}\r')
    screen.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    screen.send("quit\r")
    screen.shows("rpcurl> quit", "$")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV])
def test_restores_the_terminal_when_a_signal_ends_it(
    terminal: Callable[..., Terminal], grpc_server: Server, number: signal.Signals
) -> None:
    script = f'stty -g; sh -c \'echo pid $$; exec "$0" "$@"\' {RPCURL} session --plaintext {grpc_server.address}; stty -g'
    screen = terminal("-c", script, program="sh", SWIFT_BACKTRACE="enable=no")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    assert not screen.is_given_back
    process = int(re.findall(r"^pid (\d+)$", screen.text, re.M)[0])
    os.kill(process, number)
    screen.end()
    modes = re.findall(r"(?:[0-9a-f]+:){20,}[0-9a-f]+", screen.output.decode())
    assert len(modes) == 2
    assert modes[0] == modes[1]
    assert screen.output.rindex(b"\x1b[?2004l") > screen.output.rindex(b"\x1b[?2004h")


@pytest.mark.parametrize(
    ("how", "signals", "ends"),
    [
        # The watchdog ends the process.
        ("hang", 1, {(7, None)}),
        # The second signal does, or the watchdog where it comes late.
        ("hang", 2, {(None, signal.SIGTERM), (7, None)}),
        ("exit", 0, {(7, None)}),
    ],
)
def test_restores_the_terminal_when_a_plugin_prevents_the_end(
    session: Callable[..., Terminal], crash: Path, how: str, signals: int, ends: set[tuple[int | None, int | None]]
) -> None:
    screen = session(CRASH_AT="response_message", CRASH_HOW=how)
    assert not screen.is_given_back
    screen.send(f"plugin load {crash}\r")
    screen.wait(lambda: screen.last == "rpcurl>", "the prompt")
    # The response comes while the next line is typed.
    screen.send('open Count {"from":1,"to":3,"intervalMs":100}\r')
    if how == "hang":
        screen.wait(lambda: "has been running" in screen.text, "the report of the watchdog")
        assert not screen.is_given_back
    for _ in range(signals):
        os.kill(screen.process.pid, signal.SIGTERM)
        wait_until_delivered(screen.process.pid)
    assert screen.end() in ends
    assert screen.is_given_back


def wait_until_delivered(process: int) -> None:
    """A signal that is sent while another of its kind is pending would be lost."""
    status = Path(f"/proc/{process}/status")

    def is_delivered() -> bool:
        return not status.exists() or not int(re.findall(r"^ShdPnd:\t(\w+)$", status.read_text(), re.M)[0], 16)

    wait_until(is_delivered, "the signal is delivered")


@pytest.mark.parametrize("kind", ["dumb", "", "no-such-terminal"])
def test_terminals_without_cursor_control(session: Callable[..., Terminal], kind: str) -> None:
    screen = session(TERM=kind)
    assert '; "help" lists the commands' in screen.text
    screen.send('call Hello {"name":"Ada"}\r')
    screen.shows('rpcurl> call Hello {"name":"Ada"}', "{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    # Nothing is drawn again, or marked.
    screen.send("open Chat\r")
    screen.shows("* Chat[1] is open", "Chat[1]>")
    for line, prompt in [("{", "Chat[1]> "), ('"text":"a"', "... ")]:
        screen.send(f"{line}\r")
        # The terminal would show the next line before its prompt.
        screen.wait(lambda: screen.lines[-2:] == [f"{prompt}{line}", "..."], "the next line")
    screen.send("}\r")
    screen.shows("Chat[1]> {", '... "text":"a"', "... }", "Chat[1]> {", '  "text": "you said: a"', "}")
    screen.send(CTRL_D)
    screen.wait(lambda: "* Chat[1] ended: ok (0), 1 response" in screen.text, "the end")
    screen.send(CTRL_D)
    assert screen.end() == (0, None)
    assert b"\x1b" not in screen.output


def test_works_without_libedit(session: Callable[..., Terminal], tmp_path: Path) -> None:
    (tmp_path / "libedit.so.2").write_text("no library")
    path = ":".join(filter(None, [str(tmp_path), os.environ.get("LD_LIBRARY_PATH")]))
    screen = session(LD_LIBRARY_PATH=path)
    assert "* no line editing: libedit:" in screen.text
    screen.send('call Hello {"name":"Ada"}\r')
    screen.shows("{", '  "message": "Hello, Ada!",', '  "name": "Ada"', "}", "rpcurl>")
    assert screen.text.count("libedit:") == 1


def test_no_line_editing_in_a_pipe(rpcurl: Rpcurl, grpc_server: Server) -> None:
    result = rpcurl("session", "--plaintext", grpc_server.address, input='call Hello {"name":"Ada"}\n').exits(0)
    assert "\x1b" not in result.out
    assert "rpcurl>" not in result.out


# Beside the prompt


def test_streams_continue_while_an_editor_has_the_terminal(session: Callable[..., Terminal], tmp_path: Path) -> None:
    editor, log, go = tmp_path / "editor", tmp_path / "log", tmp_path / "go"
    # It takes Ctrl-C for itself, as ed does.
    editor.write_text(f'trap "echo caught" INT; echo editing; while [ ! -e {go} ]; do sleep 0.05; done; echo \'{{"name":"Ada"}}\' > "$1"\n')
    screen = session(rows=60, EDITOR=f"sh {editor}")
    screen.send(f"use log,format=ndjson,bodies=true,file={log}\r")
    screen.send('open Count {"from":1,"to":9,"intervalMs":200}\r')
    screen.wait(lambda: "* ● Count[1] is open" in screen.lines, "the stream")
    screen.send("edit Hello\r")
    screen.wait(lambda: "editing" in screen.lines, "the editor")
    assert screen.is_given_back
    screen.wait(lambda: "9" in re.findall(r'"number": ?"?(\d+)', log.read_text()), "the end of the stream")
    screen.send(CTRL_C)
    screen.wait(lambda: screen.last == "^Ccaught", "the editor again")
    # Nothing else was written into what the editor shows.
    assert screen.lines[-2] == "editing"
    go.touch()
    screen.wait(lambda: '  "message": "Hello, Ada!",' in screen.lines and screen.last == "rpcurl>", "the answer")
    assert [line for line in screen.lines if '"number"' in line] == [f'  "number": {n}' for n in range(1, 10)]
    assert "* ● Count[1] ended: ok (0), 9 responses" in screen.lines


# Streams


def test_streams_have_marks_and_colours(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json", "--color", "always", rows=40, columns=100)
    for number, mark in enumerate("●■▲◆★●", 1):
        screen.send("open Chat\r")
        screen.shows(f"* {mark} Chat[{number}] is open", f"{mark} Chat[{number}]>")
    screen.send('{"text":"a"}\r')
    screen.shows('● Chat[6] {"text":"you said: a"}', "● Chat[6]>")
    screen.send("switch 2\r")
    screen.shows("● Chat[6]> switch 2", "■ Chat[2]>")
    screen.send('{"text":"b"}\r')
    screen.shows('■ Chat[2] {"text":"you said: b"}', "■ Chat[2]>")
    row = screen.screen.buffer[screen.screen.cursor.y - 1]
    assert [row[column].fg for column in (0, 2)] == ["green", "default"]
    row = screen.screen.buffer[screen.screen.cursor.y]
    assert [(row[column].fg, row[column].bold) for column in (0, 2)] == [("green", True), ("default", True)]
    screen.send("streams\r")
    screen.wait(lambda: "* ■ Chat[2] demo.v1.Demo/Chat open, 1 received" in screen.lines, "the list")
    screen.send("close 1\r")
    screen.wait(lambda: "* ● Chat[1] ended: ok (0), no responses" in screen.lines, "the end")
    screen.send("close\r")
    screen.wait(lambda: "* ■ Chat[2] ended: ok (0), 1 response" in screen.lines, "the end")


def test_marks_have_no_colours_with_no_color(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json", NO_COLOR="1")
    screen.send('open Chat\ropen Chat {"text":"a"}\r')
    screen.shows('■ Chat[2] {"text":"you said: a"}', "■ Chat[2]>")
    assert not re.search(rb"\x1b\[[0-9;]*m", screen.output)


def test_the_end_of_a_stream_that_failed_has_its_count(session: Callable[..., Terminal]) -> None:
    screen = session("--format", "json")
    screen.send('open Fail {"code":5}\r')
    screen.wait(lambda: re.search(r"^\* ● Fail\[1\] ended: not_found \(5\), no responses$", screen.text, re.M), "the end")
