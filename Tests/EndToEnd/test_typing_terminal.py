"""Messages of one call that are typed on a terminal."""

from collections.abc import Callable

import pytest
from harness import Server
from terminal import Terminal
from test_session_terminal import CTRL_C, CTRL_D

AWAITED = "* type messages in JSON for Chat; Ctrl-D ends the request"


@pytest.fixture
def chat(terminal: Callable[..., Terminal], grpc_server: Server) -> Callable[..., Terminal]:
    def start(*options: object) -> Terminal:
        return terminal("--plaintext", "--format", "json", *options, grpc_server.address, "demo.v1.Demo/Chat", columns=120)

    return start


def test_a_call_says_that_messages_are_awaited(chat: Callable[..., Terminal]) -> None:
    screen = chat()
    screen.shows(AWAITED)
    screen.send('{"text":"a"}\r')
    screen.shows('{"text":"a"}', '{"text":"you said: a"}')
    screen.send(CTRL_D)
    assert screen.end() == (0, None)


def test_text_format_is_announced(chat: Callable[..., Terminal]) -> None:
    screen = chat("--data-format", "text")
    screen.shows("* type messages in text format, one on each line, for Chat; Ctrl-D ends the request")
    screen.send('txt: "a"\rtext: "b"\r')
    screen.wait(lambda: '{"text":"you said: b"}' in screen.lines, "the response")
    assert 'has no field "txt"' in screen.text
    screen.send(CTRL_D)
    assert screen.end() == (0, None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"txt":"a"}', 'demo.v1.ChatRequest has no field "txt" (line 2, column 2)'),
        ('{"text":1}', "text: expected a string (line 2, column 9)"),
        ('{"text":"a"', None),
        ("text", "expected an object (demo.v1.ChatRequest) (line 2, column 1)"),
        (")", "expected a JSON value (line 2, column 1)"),
        ('{"text":"a', 'missing closing quote "'),
        ('{"text": "a": 1}', "(line 2, column 13)"),
    ],
)
def test_a_mistake_does_not_end_the_stream(chat: Callable[..., Terminal], line: str, why: str | None) -> None:
    screen = chat()
    screen.shows(AWAITED)
    screen.send('{"text":"one"}\r')
    screen.wait(lambda: '{"text":"you said: one"}' in screen.lines, "the first response")
    screen.send(f"{line}\r")
    if why:
        screen.wait(lambda: why in screen.text, "the error")
        screen.send('{"text":"two"}\r')
    else:
        # The message goes on.
        screen.send("}\r")
    screen.wait(lambda: f'{{"text":"you said: {"two" if why else "a"}"}}' in screen.lines, "the next response")
    screen.send(CTRL_D)
    assert screen.end() == (0, None)


def test_a_line_has_one_error(chat: Callable[..., Terminal]) -> None:
    screen = chat()
    screen.shows(AWAITED)
    screen.send("hello without json\r")
    screen.wait(lambda: "(line 1, column 1)" in screen.text, "the error")
    screen.send('{"text":"two"}{"txt":"a"}\r')
    screen.wait(lambda: "(line 2, column 16)" in screen.text, "the second error")
    screen.wait(lambda: '{"text":"you said: two"}' in screen.lines, "the response")
    assert screen.text.count("rpcurl:") == 2
    screen.send(CTRL_D)
    assert screen.end() == (0, None)


def test_a_typed_unary_message_is_announced(terminal: Callable[..., Terminal], grpc_server: Server) -> None:
    screen = terminal("--plaintext", "--format", "json", "-d", "@-", grpc_server.address, "demo.v1.Demo/Hello")
    screen.shows("* type a message for Hello; Ctrl-D ends it")
    screen.send('{"name":"Ada"}\r' + CTRL_D)
    screen.wait(lambda: "Hello, Ada!" in screen.text, "the response")


def test_ctrl_c_has_a_line_of_its_own(chat: Callable[..., Terminal]) -> None:
    screen = chat()
    screen.shows(AWAITED)
    screen.send('{"text":"one"}\r')
    screen.wait(lambda: '{"text":"you said: one"}' in screen.lines, "the response")
    screen.send(CTRL_C)
    screen.shows("^C", "rpcurl: demo.v1.Demo/Chat: canceled (1): interrupted")
    assert screen.end() == (130, None)


def test_ctrl_c_in_a_batch_has_a_line_of_its_own(terminal: Callable[..., Terminal], grpc_server: Server) -> None:
    data = ["-d", '{"milliseconds":1}', "-d", '{"milliseconds":600000}']
    screen = terminal("--plaintext", "--each", *data, "--format", "json", grpc_server.address, "demo.v1.Demo/Delay", columns=120)
    screen.shows('{"milliseconds":"1"}')
    screen.send(CTRL_C)
    screen.shows("^C", "rpcurl: interrupted: 1 call was completed")
    assert screen.end() == (130, None)


def test_the_end_within_a_message_is_an_error(chat: Callable[..., Terminal]) -> None:
    screen = chat()
    screen.shows(AWAITED)
    screen.send('{"text":\r')
    screen.send(CTRL_D)
    assert screen.end() == (4, None)
    assert "unexpected end of the JSON" in screen.text


def test_input_of_a_pipe_ends_at_a_mistake(rpcurl, grpc_server: Server) -> None:
    result = rpcurl(
        "--plaintext", grpc_server.address, "demo.v1.Demo/Chat", input='{"text":"a"}\n{"txt":"b"}\n{"text":"c"}\n'
    ).exits(4)
    assert "you said: c" not in result.out and "type messages" not in result.err
