"""`rpcurl proxy --interactive`: calls that wait at break points, and what its prompt does with them."""

import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from harness import PATIENCE_SECONDS, ROOT, Prompt, Rpcurl, Server
from harness.grpcio import serve
from terminal import Terminal

import demo_pb2 as messages

DEMO = "demo.v1.Demo"
CTRL_C, CTRL_D = "\x03", "\x04"


class Client:
    """A client of the proxy, whose calls run while the test types."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel = grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)])
        self.pool = ThreadPoolExecutor(8)

    def hello(self, name: str, **options: object) -> Future:
        method = self.channel.unary_unary(
            f"/{DEMO}/Hello", messages.HelloRequest.SerializeToString, messages.HelloReply.FromString
        )
        return self.pool.submit(method, messages.HelloRequest(name=name), timeout=options.pop("timeout", PATIENCE_SECONDS), **options)

    def close(self) -> None:
        self.channel.close()
        self.pool.shutdown()


def message(call: Future) -> str:
    return call.result(PATIENCE_SECONDS).message


def status(call: Future) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as error:
        call.result(PATIENCE_SECONDS)
    return error.value.code(), error.value.details()


class Piped:
    """A proxy whose commands come from a pipe."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt = prompt
        line = prompt.error()
        while not line.startswith("listening on "):
            line = prompt.error()
        self.client = Client(line.split()[2].rpartition("//")[2])

    def type(self, *lines: str) -> None:
        self.prompt.type(*lines)

    def line(self) -> str:
        return self.prompt.line()


@pytest.fixture
def piped(rpcurl: Rpcurl, grpc_server: Server) -> Iterator[Callable[..., Piped]]:
    """`piped(BREAKPOINT…)`: a proxy with break points."""
    started: list[Piped] = []

    def start(*points: str, target: str = grpc_server.url, env: dict[str, str] | None = None) -> Piped:
        options = [word for point in points for word in ("--break", point)]
        process = rpcurl.start("proxy", "--interactive", *options, "--protocol", "grpc", target, env=env)
        started.append(Piped(Prompt(process)))
        return started[-1]

    yield start
    for proxy in started:
        proxy.client.close()
        proxy.prompt.process.kill()
        proxy.prompt.process.wait()


# Requests


def test_a_request_is_shown_changed_and_sent_on(piped):
    proxy = piped("Hello where .name == Ada")
    call = proxy.client.hello("Ada", metadata=[("x-tenant", "blue"), ("authorization", "Bearer s3cret")])
    assert proxy.line() == f'1 {DEMO}/Hello held: request {{"name":"Ada"}}'
    proxy.type("show")
    shown = [proxy.line()]
    while shown[-1] != "}":
        shown.append(proxy.line())
    assert shown[0] == f"1 {DEMO}/Hello, request:" and shown[-3:] == ["{", '  "name": "Ada"', "}"]
    assert "x-tenant: blue" in shown and not any("s3cret" in line for line in shown)
    proxy.type("set name=Bob", "set 1 language=de", "calls", "continue")
    assert [proxy.line() for _ in range(3)] == [
        f'1 {DEMO}/Hello held: request {{"name":"Bob"}}', *[f'1 {DEMO}/Hello held: request {{"name":"Bob","language":"de"}}'] * 2
    ]  # fmt: skip
    assert message(call) == "Hallo, Bob!"
    assert proxy.line().startswith(f"1 {DEMO}/Hello ok ")


def test_other_calls_run_on(piped):
    proxy = piped("Hello where .name == Ada")
    call = proxy.client.hello("Ada")
    assert "held" in proxy.line()
    assert message(proxy.client.hello("Bob")) == "Hello, Bob!"
    assert not call.done()
    proxy.type("continue 1")
    assert message(call) == "Hello, Ada!"


def test_calls_are_failed_and_responded_to_in_any_order(piped):
    proxy = piped()
    proxy.type("break Hello")
    assert proxy.line() == "1 request */Hello"
    calls = []
    for number, name in enumerate(["a", "b", "c"], 1):
        calls.append(proxy.client.hello(name))
        assert proxy.line().startswith(f"{number} {DEMO}/Hello held: ")
    proxy.type('respond 3 {"message": "local"}', "fail 2 resource_exhausted not today")
    assert message(calls[2]) == "local"
    assert status(calls[1]) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "not today")
    proxy.type("continue")
    assert message(calls[0]) == "Hello, a!"


def test_the_editor_changes_a_request(piped, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(f"""cat "$1" >> {tmp_path}/seen
if grep -q Bob "$1"; then echo '{{"name": "Bob"}}' > "$1"; else echo '{{"nam": "Bob"}}' > "$1"; fi
""")
    proxy = piped("Hello", env={"EDITOR": f"sh {editor}"})
    call = proxy.client.hello("Ada")
    assert "held" in proxy.line()
    proxy.type("edit")
    assert "call 1: " in proxy.prompt.error()
    proxy.type("calls")
    assert '{"name":"Ada"}' in proxy.line()
    proxy.type("edit 1")
    assert message(call) == "Hello, Bob!"
    assert (tmp_path / "seen").read_text() == '{\n  "name": "Ada"\n}{"nam": "Bob"}\n'


def test_what_a_client_sends_does_not_control_the_terminal(piped):
    proxy = piped("Hello")
    call = proxy.client.hello("\x1b[31m\u202e\r\n")
    assert proxy.line() == f'1 {DEMO}/Hello held: request {{"name":"\\u001b[31m\\u{{202E}}\\r\\n"}}'
    proxy.type("continue")
    assert message(call).startswith("Hello, \x1b")


def test_a_large_message_is_held_and_shown_cut(piped):
    proxy = piped("Hello")
    name = "x" * (20 << 20)
    call = proxy.client.hello(name)
    assert proxy.line() == f"1 {DEMO}/Hello held: request … ({len(name) + 5} bytes)"
    proxy.type("continue")
    assert message(call) == f"Hello, {name}!"


def test_calls_above_the_limit_pass(piped):
    proxy = piped("Delay")
    # A connection has at most 100 open calls.
    channels = [grpc.insecure_channel(proxy.client.address, [("grpc.use_local_subchannel_pool", 1)]) for _ in range(2)]
    calls = []
    for number in range(101):
        method = channels[number % 2].unary_unary(f"/{DEMO}/Delay", messages.DelayRequest.SerializeToString, messages.DelayReply.FromString)
        calls.append(method.future(messages.DelayRequest()))
        state = "held: request " if number < 100 else "not held: 100 calls are held, of at most 100 and 64 MiB"
        assert proxy.line().startswith(f"{number + 1} {DEMO}/Delay {state}")
    calls[100].result(PATIENCE_SECONDS)
    proxy.type("continue all")
    for call in calls:
        call.result(PATIENCE_SECONDS)
    for channel in channels:
        channel.close()


# Responses


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_a_response_becomes_an_error_in_each_protocol(piped, demo, protocol):
    proxy = piped("response Hello")
    run = proxy.client.pool.submit(
        demo, "--protocol", protocol, "-d", '{"name":"Ada"}', f"http://{proxy.client.address}/{DEMO}/Hello"
    )  # fmt: skip
    assert proxy.line().startswith(f'1 {DEMO}/Hello held: response {{"message":"Hello, Ada!"')
    proxy.type("fail data_loss broken")
    result = run.result(PATIENCE_SECONDS)
    assert (result.out, result.err) == ("", f"rpcurl: {DEMO}/Hello: data_loss (15): broken\n")


def test_a_response_is_changed(piped):
    proxy = piped('response Hello where .message == "Hello, Ada!"')
    call = proxy.client.hello("Ada")
    assert proxy.line().startswith(f'1 {DEMO}/Hello held: response {{"message":"Hello, Ada!"')
    assert message(proxy.client.hello("Bob")) == "Hello, Bob!"
    assert proxy.line().startswith("2 ")
    proxy.type("set message=changed", "continue")
    assert message(call) == "changed"


def test_an_error_is_held_and_replaced(piped):
    proxy = piped("response Hello where status invalid_argument")
    calls = []
    for number in (1, 2, 3):
        calls.append(proxy.client.hello(""))
        assert proxy.line().startswith(f"{number} {DEMO}/Hello held: end of the response: invalid_argument: ")
    proxy.type('respond 1 {"message":"fine"}', "fail 2 unavailable later", "continue 3")
    assert message(calls[0]) == "fine"
    assert status(calls[1]) == (grpc.StatusCode.UNAVAILABLE, "later")
    assert status(calls[2])[0] == grpc.StatusCode.INVALID_ARGUMENT


# Streams


def test_messages_of_a_stream_are_held_one_by_one(piped):
    proxy = piped("Chat where .text == b", 'response Chat where .text == "you said: c"')
    chat = proxy.client.channel.stream_stream(f"/{DEMO}/Chat", messages.ChatRequest.SerializeToString, messages.ChatReply.FromString)
    texts = chat(iter([messages.ChatRequest(text=text) for text in "abc"]), timeout=PATIENCE_SECONDS)
    assert next(texts).text == "you said: a"
    assert proxy.line() == f'1 {DEMO}/Chat held: request {{"text":"b"}}'
    proxy.type("set text=x", "continue")
    assert "held" in proxy.line()
    assert next(texts).text == "you said: x"
    assert proxy.line().startswith(f'1 {DEMO}/Chat held: response {{"text":"you said: c"')
    proxy.type("fail aborted enough")
    with pytest.raises(grpc.RpcError) as error:
        next(texts)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.ABORTED, "enough")


def test_the_start_of_a_stream_is_held(piped):
    proxy = piped("Sum where header x-tenant == blue")
    total = proxy.client.channel.stream_unary(f"/{DEMO}/Sum", messages.SumRequest.SerializeToString, messages.SumReply.FromString)
    call = total.future(iter([messages.SumRequest(value=1), messages.SumRequest(value=2)]), metadata=[("x-tenant", "blue")])
    assert proxy.line() == f"1 {DEMO}/Sum held: start of the request"
    proxy.type("continue")
    assert proxy.line().startswith(f"1 {DEMO}/Sum held: request ")
    proxy.type("set value=10", "continue")
    assert "10" in proxy.line()
    # The second message reaches the break point after the command: one that deletes it might be first.
    assert "held: request" in proxy.line()
    proxy.type("delete 1", "continue")
    assert call.result(PATIENCE_SECONDS).total == 12


def test_methods_without_a_schema_are_held_as_bytes(piped):
    server, url = serve({DEMO: {"Hello": grpc.unary_unary_rpc_method_handler(lambda request, context: request)}})
    proxy = piped("*", target=url)
    call = proxy.client.hello("Ada")
    assert proxy.line() == f"1 {DEMO}/Hello held: start of the request"
    proxy.type("show", "continue")
    assert proxy.line() == f"1 {DEMO}/Hello, request:"
    while not (line := proxy.line()).endswith(" bytes"):
        pass
    assert line == f"1 {DEMO}/Hello held: request of 5 bytes"
    proxy.type("edit", "fail aborted")
    assert "call 1: the schema does not have the method" in proxy.prompt.error()
    assert status(call)[0] == grpc.StatusCode.ABORTED
    server.stop(None)


def test_a_server_without_a_target_holds_calls_too(rpcurl, descriptor_set):
    prompt = Prompt(rpcurl.start("serve", "--interactive", "--break", "Hello", "--descriptor-set", descriptor_set, "--default"))
    proxy = Piped(prompt)
    call = proxy.client.hello("Ada")
    assert proxy.line() == f'1 {DEMO}/Hello held: request {{"name":"Ada"}}'
    proxy.type('respond {"message":"by hand"}')
    assert message(call) == "by hand"
    proxy.client.close()
    prompt.end()


# Ends


def test_cancellation_and_deadlines_of_clients_end_held_calls(piped):
    proxy = piped("Hello")
    method = proxy.client.channel.unary_unary(f"/{DEMO}/Hello", messages.HelloRequest.SerializeToString, messages.HelloReply.FromString)
    call = method.future(messages.HelloRequest(name="Ada"))
    assert "held: request" in proxy.line()
    call.cancel()
    assert proxy.line() == f"1 {DEMO}/Hello no longer held: canceled: the client has canceled the call"
    assert proxy.line().startswith(f"1 {DEMO}/Hello canceled ")
    late = proxy.client.hello("Ada", timeout=3)
    assert "held: request" in proxy.line()
    assert status(late)[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    assert proxy.line().startswith(f"2 {DEMO}/Hello no longer held: ")
    proxy.type("continue 2")
    assert "no call is held" in proxy.prompt.error()


@pytest.mark.parametrize("way", ["quit", "end of input", "signal"])
def test_the_end_fails_held_calls(piped, way):
    proxy = piped("Hello")
    call = proxy.client.hello("Ada")
    assert "held" in proxy.line()
    if way == "quit":
        proxy.type("quit")
    elif way == "signal":
        proxy.prompt.process.send_signal(signal.SIGINT)
    else:
        proxy.prompt.process.stdin.close()
    assert status(call) == (grpc.StatusCode.UNAVAILABLE, "rpcurl was stopped")
    assert proxy.prompt.process.wait() == 0


# Errors


@pytest.mark.parametrize(
    ("point", "why", "hint"),
    [
        ("Hello where .nam == x", "HelloRequest has no field nam", "did you mean name?"),
        ("Helo", "the schema has no method */Helo", "did you mean */Hello?"),
        ("Hello where .name =", "", ""),
        ("Hello where status ok", "status ok is not a condition on one message of the request", "such as .user.id == 7"),
        ("response Hello when .x", "when follows the method", "write break [request|response] METHOD [where CONDITION]"),
    ],
)
def test_break_points_are_checked(rpcurl, piped, grpc_server, point, why, hint):
    result = rpcurl("proxy", "--interactive", "--break", point, grpc_server.url)
    assert result.code == 2 and f"rpcurl: --break {point}: " in result.err and "listening" not in result.err
    assert why in result.err and hint in result.err and "hint: " in result.err
    proxy = piped()
    proxy.type(f"break {point}", "break *")
    assert proxy.prompt.error().startswith("rpcurl: break: ")
    assert proxy.line() == "1 request *"


def test_break_requires_interactive(rpcurl, grpc_server):
    result = rpcurl("proxy", "--break", "Hello", grpc_server.url)
    assert (result.code, result.err) == (2, "rpcurl: --break: requires --interactive\n")


def test_interactive_excludes_formats(rpcurl, grpc_server):
    rpcurl("proxy", "--interactive", "--format", "json", grpc_server.url).fails(2, "--interactive", "--format", "-v shows the calls")


def test_commands_are_in_the_page(rpcurl, grpc_server):
    """In both directions."""
    lines = rpcurl("proxy", "--interactive", grpc_server.url, input="help\n").out.splitlines()
    page = (ROOT / "man" / "rpcurl-proxy.1").read_text().split(".Sh BREAK POINTS")[1].split(".Sh ")[0]
    assert {line.split()[0] for line in lines[:-1]} == set(re.findall(r"^\.It Cm (\w+)", page, re.M))


# On a terminal


@pytest.fixture
def screen(terminal: Callable[..., Terminal], grpc_server: Server) -> Iterator[Callable[..., tuple[Terminal, Client]]]:
    """`screen(option…)`: a proxy on a terminal, and a client of it."""
    clients: list[Client] = []

    def start(*options: object, **settings: object) -> tuple[Terminal, Client]:
        started = terminal("proxy", "--interactive", *options, "--protocol", "grpc", grpc_server.url, columns=100, **settings)
        started.shows('* TAB completes, and "help" lists the commands; Ctrl-D ends', "proxy>")
        address = started.lines[0].split()[2].rpartition("//")[2]
        clients.append(Client(address))
        return started, clients[-1]

    yield start
    for client in clients:
        client.close()


def test_a_call_is_changed_in_the_editor(screen, tmp_path):
    editor, go = tmp_path / "editor", tmp_path / "go"
    editor.write_text(f'cat "$1"; while [ ! -e {go} ]; do sleep 0.05; done; echo \'{{"name": "Bob"}}\' > "$1"\n')
    terminal, client = screen("--break", "Hello where .name == Ada", EDITOR=f"sh {editor}")
    call = client.hello("Ada")
    terminal.shows(f'1 {DEMO}/Hello held: request {{"name":"Ada"}}', "proxy (1 held)>")
    terminal.send("edit\r")
    terminal.wait(lambda: '  "name": "Ada"' in terminal.lines, "the editor")
    # Other calls run on; the screen belongs to the editor.
    assert message(client.hello("Eve")) == "Hello, Eve!"
    assert terminal.last == "}"
    go.touch()
    assert message(call) == "Hello, Bob!"
    terminal.wait(lambda: terminal.last == "proxy>" and f"1 {DEMO}/Hello ok" in terminal.text, "the end of the call")


def test_what_is_typed_stays_below_what_calls_print(screen):
    terminal, client = screen()
    terminal.send("break Hel")
    terminal.wait(lambda: terminal.typed.startswith("proxy> break Hel"), "the text")
    assert message(client.hello("Ada")) == "Hello, Ada!"
    terminal.wait(lambda: terminal.lines[-2].startswith(f"1 {DEMO}/Hello ok") and terminal.typed.startswith("proxy> break Hel"), "the line")
    terminal.send("lo where .na\t== Bob\r")
    terminal.shows("1 request */Hello where .name == Bob", "proxy>")
    call = client.hello("Bob")
    terminal.shows(f'2 {DEMO}/Hello held: request {{"name":"Bob"}}', "proxy (1 held)>")
    terminal.send("fa\tunav\tnot now\r")
    assert status(call) == (grpc.StatusCode.UNAVAILABLE, "not now")
    terminal.send("sho\t\r")
    terminal.wait(lambda: "rpcurl: no call is held" in terminal.text, "the error")


def test_methods_and_messages_are_completed(screen):
    terminal, client = screen()
    terminal.send(f"break res\t{DEMO}/Hel\twhere .mess\t\r")
    terminal.wait(lambda: "where .message" in terminal.text, "the condition")
    terminal.send(f"break {DEMO}/Hello\r")
    terminal.shows(f"2 request {DEMO}/Hello" if "1 response" in terminal.text else f"1 request {DEMO}/Hello", "proxy>")
    call = client.hello("Ada")
    terminal.wait(lambda: terminal.typed == "proxy (1 held)>", "the call")
    terminal.send('respond {"mess\t"x"}\r')
    assert message(call) == "x"


def test_ctrl_c_clears_the_line_and_twice_ends(screen):
    terminal, client = screen("--break", "Hello")
    call = client.hello("Ada")
    terminal.wait(lambda: terminal.typed == "proxy (1 held)>", "the call")
    terminal.send("continue" + CTRL_C)
    terminal.wait(lambda: terminal.typed == "proxy (1 held)>", "an empty line")
    terminal.send(CTRL_C)
    terminal.shows("* press Ctrl-C again, or Ctrl-D, to end", "proxy (1 held)>")
    terminal.send(CTRL_C)
    assert status(call) == (grpc.StatusCode.UNAVAILABLE, "rpcurl was stopped")
    assert terminal.end() == (0, None)
    assert terminal.is_given_back


def test_ctrl_d_ends(screen):
    terminal, _ = screen()
    terminal.send(CTRL_D)
    assert terminal.end() == (0, None)
