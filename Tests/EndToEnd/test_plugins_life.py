"""A plugin is notified once of the end of each call that it was notified of, however the call ends; and it can change
the deadline."""

import signal

import pytest




@pytest.fixture
def witness(built_plugin):
    return built_plugin("witness")


@pytest.fixture
def call(grpc_call, grpc_server, witness):
    def run(method, *options, plugins=("",), server=grpc_server, **more):
        specs = [option for settings in plugins for option in ("--plugin", f"{witness}{settings}")]
        return grpc_call(method, *specs, *options, to=server, **more)

    return run


def reported(text, name="witness"):
    return [line.removeprefix(f"{name}: ") for line in text.splitlines() if line.startswith(f"{name}: ")]


def life(method, code):
    return [f"open demo.v1.Demo/{method} 0", f"end demo.v1.Demo/{method} {code}", f"close demo.v1.Demo/{method} {code}"]


def deaf(connection):
    """Reads until the client closes the connection, and does not respond."""
    while connection.recv(1 << 16):
        pass


# The end, once


@pytest.mark.parametrize(
    ("method", "arguments", "code"),
    [
        ("Hello", ["-d", '{"name":"Ada"}'], 0),
        ("Count", ["-d", '{"from":1,"to":3}'], 0),
        ("Fail", ["-d", '{"code":5,"message":"none"}'], 5),
        ("Delay", ["-d", '{"milliseconds":5000}', "--max-time", "0.3"], 4),
    ],
    ids=["success", "stream", "failure", "deadline"],
)  # fmt: skip
def test_plugin_is_notified_of_the_end_once(call, method, arguments, code):
    assert reported(call(method, *arguments).exits(64 + code if code else 0).err) == life(method, code)


def test_plugin_is_notified_of_the_end_once_when_the_peer_crashes(call, raw_server):
    def crash(connection):
        connection.recv(24)

    result = call("Hello", "-d", "{}", server=raw_server(crash))
    assert result.code != 0
    lines = reported(result.err)
    assert [line.split()[0] for line in lines] == ["open", "end", "close"]


def test_plugin_is_notified_of_the_end_once_when_the_connection_is_refused(call, raw_server):
    server = raw_server(deaf)
    server.stop()
    lines = reported(call("Hello", "-d", "{}", server=server).err)
    assert [line.split()[0] for line in lines] == ["open", "end", "close"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_plugin_is_notified_of_the_end_once_when_it_is_interrupted(
    rpcurl, grpc_server, descriptor_set, witness, number
):
    arguments = [
        "--descriptor-set", descriptor_set, "--plaintext", "--plugin", witness,
        "-d", '{"from":1,"to":1000000,"intervalMs":20}', grpc_server.address, "demo.v1.Demo/Count",
    ]  # fmt: skip
    with rpcurl.start(*arguments) as process:
        process.stdout.readline()
        process.send_signal(number)
        process.stdout.read()
        assert process.wait() == 128 + number
        assert reported(process.stderr.read().decode()) == life("Count", 1)


def test_own_calls_of_a_plugin_end_with_the_call(call, raw_server):
    """The second plugin takes part in the call that the first one makes, and waits for."""
    result = call(
        "Hello", "-d", "{}", "--max-time", "0.3", plugins=[",own=demo.v1.Demo/Find", ""], server=raw_server(deaf)
    ).exits(64 + 4)
    lines = reported(result.err)
    assert lines.count("open demo.v1.Demo/Find 0") == 1
    assert lines.count("close demo.v1.Demo/Find 1") == 1


# Deadlines


def test_plugin_shortens_the_deadline_and_rpcurl_keeps_it(call, raw_server):
    call("Hello", "-d", "{}", "--max-time", "15", plugins=[",timeout=300"], server=raw_server(deaf)).exits(64 + 4).reports("the call took longer than 0.3")


@pytest.mark.parametrize("options", [["--max-time", "0.2"], []], ids=["longer", "without"])
def test_plugin_gives_a_call_more_time(call, options):
    result = call("Delay", "-d", '{"milliseconds":700}', *options, plugins=[",timeout=10000"])
    assert (result.code, reported(result.err)) == (0, life("Delay", 0))


def test_plugin_that_gives_each_attempt_less_time_leaves_the_call_the_rest(call, raw_server):
    result = call(
        "Hello", "-d", "{}", "--max-time", "15", plugins=[",retry=4", ",timeout=200"], server=raw_server(deaf)
    ).exits(64 + 4).reports("the attempt took longer than 0.2")
    # The outer one, and for each attempt an inner one.
    assert reported(result.err).count("open demo.v1.Demo/Hello 0") == 3
    assert reported(result.err).count("close demo.v1.Demo/Hello 4") == 3
