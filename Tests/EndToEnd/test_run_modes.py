"""What a failure and a signal mean for each way to run steps: the table of rpcurl(1), FAILURES AND SIGNALS, cell by cell.

Each run has a step before the event, the event, and a step after it. The exit code, and whether the step after it ran,
show the effect.
"""

import contextlib
import json
import signal
import socket
import threading

import pytest
from harness import pump

DELAY = "demo.v1.Demo/Delay"
BEFORE, AFTER = '{"name":"Ada"}', '{"name":"Zoe"}'

# The exit code, and whether the step after the event is run, by event and mode. Reports of a load say what failed.
MODES = ["prompt", "file", "suite", "rows", "load"]
EFFECTS = {
    "the server refuses": [(0, True), (67, False), (8, True), (67, True), (0, True)],
    "the connection is lost": [(0, True), (5, False), (8, True), (5, True), (0, True)],
    "the deadline": [(0, True), (68, False), (8, True), (68, True), (0, True)],
    "a check": [(0, True), (8, False), (8, True), (8, True), (0, True)],
    "invalid data": [(0, True), (4, False), (4, True), (4, False), (4, False)],
    "Ctrl-C": [(0, True), (130, False), (130, False), (130, False), (130, False)],
    "SIGTERM": [(143, False), (143, False), (143, False), (143, False), (143, False)],
}
CELLS = [(event, mode, *effects[number]) for event, effects in EFFECTS.items() for number, mode in enumerate(MODES)]

# What the step of the event sends, and the words of its message in the response.
MESSAGES = {
    "the server refuses": '{"name":""}', "the connection is lost": '{"name":"Lost"}', "a check": '{"name":"Eve"}',
    "invalid data": '{"nome":"Eve"}',
}  # fmt: skip
SLOW = '{"milliseconds":60000}'


@pytest.fixture
def losing_server(grpc_server):
    """Forwards to the server, but closes a connection with a request that contains "Lost"."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def handle(client):
            with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", grpc_server.port)) as server:
                threading.Thread(target=pump, args=(server, client), daemon=True).start()
                while (data := client.recv(65536)) and b"Lost" not in data:
                    server.sendall(data)
                server.shutdown(socket.SHUT_RDWR)

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=handle, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def command(event, mode, url, descriptor_set, path):
    """The arguments of a run with an event, and its standard input."""
    is_slow = event not in MESSAGES
    method, message = ("Delay", SLOW) if is_slow else ("Hello", MESSAGES[event])
    options = ["--descriptor-set", descriptor_set]
    lines = [f"call Hello {BEFORE}", f"call {method} {message}", f"call Hello {AFTER}"]
    if event == "a check":
        options += ["--use", "assert,check='.message != \"Hello, Eve!\"'"]
    if event == "the deadline" and mode in ("rows", "load"):
        options += ["-m", "0.5"]
    elif event == "the deadline":
        lines.insert(1, "deadline 100ms")
        lines.insert(3, "deadline none")
    if mode == "prompt":
        return ["session", *options, url], "".join(f"{line}\n" for line in lines)
    if mode == "file":
        path.write_text("\n".join(lines))
        return ["run", *options, url, path], ""
    if mode == "suite":
        path.write_text("\n".join([f"target {url}", "test one", *lines[:-1], "test two", lines[-1], "teardown", lines[0]]))
        return ["test", "--report", "ndjson", *options, path], ""
    # Of the method that is slow, all steps are. Ctrl-C comes in the first one.
    data = SLOW if is_slow else "\n".join([BEFORE, message, AFTER])
    if mode == "rows":
        return ["call", *options, "--each", "-d", data * 3 if is_slow else data, f"{url}/demo.v1.Demo/{method}"], ""
    counts = ["--requests", "3", "--jobs", "1", "--format", "json"]
    return ["load", *options, *counts, "-d", data, url, f"demo.v1.Demo/{method}"], ""


def has_gone_on(mode, event, out, err):
    """Whether the step after the event was run."""
    if mode == "load":
        return out != "" and json.loads(out)["calls"] == 3
    if mode == "suite":
        tests = [event for line in out.splitlines() if (event := json.loads(line))["event"] == "test"]
        return [test["outcome"] for test in tests[1:]] == ["passed"]
    if mode == "rows" and event == "the deadline":
        return "3 of 3 calls failed" in err
    return "Zoe" in out


@pytest.mark.parametrize(("event", "mode", "code", "goes_on"), CELLS)
def test_effect(rpcurl, start_server, losing_server, descriptor_set, tmp_path, event, mode, code, goes_on):
    number = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}.get(event)
    server = start_server("grpc_server.py") if number else losing_server
    url = losing_server if number is None else server.url
    arguments, text = command(event, mode, url, descriptor_set, tmp_path / "steps")
    with rpcurl.start(*arguments) as process:
        process.stdin.write(text.encode())
        if number:
            server.wait_for_calls(DELAY, 1)
            process.send_signal(number)
        out, err = process.communicate()
    assert (process.returncode, has_gone_on(mode, event, out.decode(), err.decode())) == (code, goes_on), (out, err)
