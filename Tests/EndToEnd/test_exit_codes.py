"""Each exit code of the manual has a scenario, and each exit code of a scenario is in the manual."""

import json
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from harness import ROOT, Result, Rpcurl, write

SERVICE = "demo.v1.Demo"
HELLO = ("-d", '{"name":"Ada"}')
RESPONSE = b'{"message":"Hello, Ada!","name":"Ada"}\n'
STATUS = 64
STATUS_NAMES = (
    "ok", "canceled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
    "permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented",
    "internal", "unavailable", "data_loss", "unauthenticated",
)  # fmt: skip


# Documentation


def documented_codes(page: str) -> set[int]:
    """The codes of the section EXIT STATUS. An item is one of them, or a range, in whatever markup."""
    section = re.search(r'^\.S[hH] "?EXIT STATUS"?\n(.*?)(?=^\.S[hH] |\Z)', page, re.M | re.S)
    assert section, "there is no section EXIT STATUS"
    codes: set[int] = set()
    for item in re.findall(r"^\.(?:It|TP|IP)\b(.*(?:\n\.[BI]R? .*)?)", section[1], re.M):
        text = re.sub(r"\\\(en|\\\[en\]|\\-|–|\.\.| to ", "-", item)
        numbers = re.search(r"(\d+)(?:\s*-\s*(\d+))?", text)
        assert numbers, f"an item without a code: {item}"
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        codes |= set(range(first, last + 1))
    return codes


MANUAL = documented_codes((ROOT / "man" / "rpcurl.1").read_text())


# Scenarios


@dataclass(frozen=True)
class World:
    """What scenarios run with."""

    rpcurl: Rpcurl
    request: pytest.FixtureRequest

    def value(self, fixture: str):
        return self.request.getfixturevalue(fixture)

    def call(self, method: str, *words: object, server: str = "grpc_server", **more) -> Result:
        """A call with the demo's schema."""
        url = f"{self.value(server).url}/{SERVICE}/{method}"
        return self.rpcurl("--descriptor-set", self.value("descriptor_set"), *words, url, **more)

    def fail(self, code: int, *words: object, **more) -> Result:
        """A call that the server ends with this status."""
        return self.call("Fail", *words, "-d", json.dumps({"code": code, "message": "as asked"}), **more)

    def stop_stream(self, number: signal.Signals) -> Result:
        """Sends a signal while a stream is open."""
        url = f"{self.value('grpc_server').url}/{SERVICE}/Chat"
        with self.rpcurl.start("--descriptor-set", self.value("descriptor_set"), url) as process:
            process.stdin.write(b'{"text":"a"}\n')
            out = process.stdout.read(len(CHAT))
            process.send_signal(number)
            out += process.stdout.read()
            errors = process.stderr.read().decode()
            return Result(process.wait(), out, errors)


CHAT = b'{"text":"you said: a"}\n'


@dataclass(frozen=True)
class Scenario:
    code: int
    name: str
    run: Callable[[World], Result]
    # All that may be on standard output.
    response: bytes = b""
    # A part of the error.
    said: str = ""


SCENARIOS: list[Scenario] = []


def scenario(code: int, said: str = "", response: bytes = b""):
    """The function below runs rpcurl so that it exits with this code."""

    def add(run: Callable[[World], Result]):
        SCENARIOS.append(Scenario(code, run.__name__, run, response, said))
        return run

    return add


@scenario(0, response=RESPONSE)
def a_call_that_succeeds(world):
    return world.call("Hello", *HELLO)


@scenario(0)
def the_status_that_is_expected(world):
    return world.fail(5, "--use", "assert,check=status not_found")


@scenario(1, "No space left on device")
def an_output_that_is_full(world):
    with open("/dev/full", "wb") as full:
        url = f"{world.value('grpc_server').url}/{SERVICE}/Hello"
        words = world.rpcurl.command(("--descriptor-set", world.value("descriptor_set"), *HELLO, url))
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, env=world.rpcurl.environment(None), timeout=60
        )
    return Result(done.returncode, b"", done.stderr.decode())


@scenario(1, "No such file or directory")
def an_output_that_cannot_be_made(world):
    return world.call("Hello", *HELLO, "-o", "/no/such/directory/reply")


@scenario(2, "RPCURL_LIBCURL")
def a_libcurl_that_is_not_one(world):
    path = write(world.value("tmp_path") / "libcurl.so.4", b"not a library")
    return world.call("Hello", *HELLO, env={"RPCURL_LIBCURL": str(path)})


@scenario(2, "--max-time soon: not a valid duration")
def a_value_that_is_no_duration(world):
    return world.call("Hello", "--max-time", "soon")


@scenario(2, "--no-such-option: unknown option")
def an_option_that_there_is_not(world):
    return world.call("Hello", "--no-such-option")


@scenario(2, "no method")
def no_method(world):
    return world.rpcurl("--plaintext", "localhost:1")


@scenario(3, "/no/such.binpb")
def a_descriptor_set_that_is_missing(world):
    return world.rpcurl("--descriptor-set", "/no/such.binpb", "--plaintext", "localhost:1", f"{SERVICE}/Hello")


@scenario(3, "Helo")
def a_method_that_the_schema_lacks(world):
    return world.call("Helo")


@scenario(3, "Nothing")
def a_symbol_that_the_schema_lacks(world):
    return world.rpcurl("describe", "--descriptor-set", world.value("descriptor_set"), "demo.v1.Nothing")


@scenario(4, "line 1, column 2")
def data_of_another_message(world):
    return world.call("Hello", "-d", '{"nam":"Ada"}')


@scenario(4, "standard input")
def a_message_that_is_none(world):
    words = ("--descriptor-set", world.value("descriptor_set"), "--type", f"{SERVICE[:-4]}HelloRequest")
    return world.rpcurl("convert", *words, "--from", "binary", "--to", "json", input=b"\xff")


@scenario(5, "connect")
def a_refused_port(world):
    return world.rpcurl("--descriptor-set", world.value("descriptor_set"), f"http://127.0.0.1:1/{SERVICE}/Hello")


@scenario(5, "127.0.0.1:1")
def a_refused_port_when_asked_for_the_schema(world):
    return world.rpcurl("list", "--plaintext", "127.0.0.1:1")


@scenario(5)
def a_peer_that_closes_at_once(world):
    server = world.value("raw_server")(lambda connection: connection.recv(1))
    return world.rpcurl("--descriptor-set", world.value("descriptor_set"), f"http://{server.address}/{SERVICE}/Hello")


@scenario(6, "certificate")
def a_certificate_that_nobody_trusts(world):
    return world.call("Hello", *HELLO, server="grpc_tls_server")


@scenario(6, "certificate")
def a_certificate_of_another_authority(world):
    cacert = world.value("certificates") / "other-ca.pem"
    return world.call("Hello", *HELLO, "--protocol", "connect", "--cacert", cacert, server="connect_tls_server")


@scenario(7, "built-in interceptor")
def an_interceptor_that_there_is_not(world):
    return world.call("Hello", "--use", "no-such-interceptor")


@scenario(7, "header")
def an_interceptor_with_a_wrong_value(world):
    return world.call("Hello", "--use", "header,no-such-key=1")


@scenario(7, "/no/such.so")
def a_plugin_that_is_missing(world):
    return world.call("Hello", "--plugin", "/no/such.so")


@scenario(8, "expected not_found, got ok", response=RESPONSE)
def an_assertion_that_does_not_hold(world):
    return world.call("Hello", *HELLO, "--use", "assert,check=status not_found")


@scenario(8, "optionalString")
def a_response_without_the_field(world):
    return world.call("Echo", "--filter", "optionalString")


@scenario(130, "interrupted", response=CHAT)
def an_interrupt_while_a_stream_is_open(world):
    return world.stop_stream(signal.SIGINT)


@scenario(143, "terminated", response=CHAT)
def a_termination_while_a_stream_is_open(world):
    return world.stop_stream(signal.SIGTERM)


@scenario(STATUS + 4, "deadline_exceeded (4)")
def a_deadline_that_passes(world):
    return world.call("Delay", "-d", '{"milliseconds":20000}', "--max-time", "200ms")


@scenario(STATUS + 5, "not_found (5): as asked", response=b'{"number":1}\n{"number":2}\n')
def a_status_behind_messages(world):
    return world.call("FailStream", "-d", '{"code":5,"message":"as asked","afterMessages":2}')


def add_statuses() -> None:
    """Each status that a server can send, over gRPC and Connect."""
    for protocol in ("grpc", "connect"):
        for number, name in enumerate(STATUS_NAMES[1:], 1):

            def run(world, number=number, protocol=protocol):
                return world.fail(number, "--protocol", protocol, server=f"{protocol}_server")

            said = f"{name} ({number}): as asked"
            SCENARIOS.append(Scenario(STATUS + number, f"{name}_by_{protocol}", run, said=said))


add_statuses()


# Tests


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: f"{scenario.code}-{scenario.name}")
def test_exit_code(rpcurl, request, scenario):
    result = scenario.run(World(rpcurl, request)).exits(scenario.code)
    assert result.out_bytes == scenario.response
    if scenario.code == 0:
        assert result.err == ""
        return
    first, *rest = result.err.splitlines()
    assert re.fullmatch(r"rpcurl: \S.*: \S.*", first), "WHAT: WHY is missing"
    # Hints, and indented what belongs to the error: the details of a status, the place in the input.
    assert not [line for line in rest if not re.match(r"hint: \S|  +\S", line)]
    assert scenario.said in first


def test_documented_codes_and_tested_codes_are_the_same():
    assert MANUAL, "the manual has no exit codes"
    reached = {scenario.code for scenario in SCENARIOS}
    assert MANUAL - reached == set(), "documented, but without a scenario"
    assert reached - MANUAL == set(), "reached, but not documented"


def test_contract_of_exit_codes():
    """Scripts depend on the codes: none is removed or changes its meaning."""
    assert MANUAL >= {*range(9), *range(65, 81), 130, 143}


@pytest.mark.parametrize(
    "items",
    [
        ".It 0\nok\n.It 65\\(en67\nstatus\n",
        ".It Sy 0\nok\n.It Li 65 \\(en 67\nstatus\n",
        ".TP\n.B 0\nok 9\n.TP\n.BR 65 \\-67\nstatus\n",
        ".IP 0 4\nok\n.It 65–67\nstatus\n",
    ],
)
def test_codes_are_found_in_any_markup(items):
    page = f".Sh NAME\nx\n.Sh EXIT STATUS\n.Bl -tag\n{items}.El\n.Sh EXAMPLES\n.It 99\n"
    assert documented_codes(page) == {0, 65, 66, 67}


def test_help_lists_the_same_codes(rpcurl):
    shown = rpcurl("--help").out.split("Exit codes:", 1)[1].split("USAGE", 1)[0]
    numbers = {int(number) for number in re.findall(r"\d+", shown)}
    assert MANUAL - set(range(65, 81)) | {STATUS} == numbers
