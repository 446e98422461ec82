"""A selection of the fault matrix: faults of the network at chosen bytes of calls of each kind, protocol, mode and transport.

`make fault-matrix`, and RPCURL_TESTS=all, run all of it. `faults/oracle.py` states what is required of each case. A smaller
selection has `rpcurl proxy` in front of the servers: what a client observes must be the same.
"""

import asyncio
import json
import os
import sys
from dataclasses import replace

import pytest
from harness import ALL_TESTS, RPCURL
from faults import cases, matrix, oracle, wire
from faults.outcome import Outcome, requests
from faults.proxy import REQUEST, RESPONSE, Fault

SEED = 1
# Cases of a route, as a part of those in the whole matrix.
PARTS = dict.fromkeys(cases.TRANSPORTS, 1) if ALL_TESTS else {"clear": 0.025, "tls": 0.008, "quic": 0.01}
PART_WITH_PROXY = 0.25 if ALL_TESTS else 0.006
# Each parameter of test_faults selects at least so many cases of the whole matrix.
CASES_OF_MODE = 200
# Cases at a time: most wait.
JOBS = 8


@pytest.fixture
def world(rpcurl, grpc_server, connect_server, descriptor_set, certificates):
    return matrix.World(
        RPCURL, descriptor_set, rpcurl.home, grpc_server.port, connect_server.port, rpcurl.environment(None),
        certificates,
    )  # fmt: skip


@pytest.fixture
def worlds(request, world):
    """The world of a transport: HTTP/3 needs a server and a libcurl of its own."""

    def of(transport):
        if transport != "quic":
            return world
        http3, server = (request.getfixturevalue(name) for name in ("http3_rpcurl", "connect_http3_server"))
        return replace(world, quic_port=server.port, http3=http3.environment(None))

    return of


@pytest.fixture
def world_with_proxy(world, grpc_server, connect_server, shared_proxy):
    """The faults are between clients and `rpcurl proxy`."""
    ports = [int(shared_proxy("proxy", server.url).port) for server in (grpc_server, connect_server)]
    return replace(world, grpc_port=ports[0], connect_port=ports[1])


MODES = ["single-grpc-http", "single-grpc-web", "single-connect", "batch", "load", "test", "session"]


def check(world, transports, part, mode):
    failures, counts = asyncio.run(matrix.check(world, transports, SEED, part, mode, JOBS))
    assert not failures, "\n".join(map(str, failures))
    # A fault at the last bytes of a call is not made if the response is shorter than the recorded one, and none after the deadline.
    made = sum(count for (_, code, made), count in counts.items() if made == "made" or code == oracle.DEADLINE)
    assert sum(counts.values()) >= CASES_OF_MODE * part
    assert made >= 0.9 * sum(counts.values()) - 1, counts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", cases.TRANSPORTS)
def test_faults(worlds, transport, mode):
    check(worlds(transport), [transport], PARTS[transport], mode)


@pytest.mark.parametrize("mode", MODES)
def test_faults_before_the_proxy(world_with_proxy, mode, keeps_early_responses):
    check(world_with_proxy, ["clear", "tls"], PART_WITH_PROXY, mode)


def size_of_content(outcome):
    """The bytes of messages in the only response of an outcome."""
    [response] = wire.read_http2(bytes(outcome.connections[0].forwarded[RESPONSE])).values()
    return len(response.body)


def test_oracle_rejects_wrong_outcomes(world):
    """The requirements can fail: an outcome is changed as a defect would change it."""
    route = cases.Route("single", "grpc", "2", "server")
    clean = asyncio.run(matrix.run(world, cases.Case(route, Fault("none"))))
    case = cases.Case(route, Fault("close", RESPONSE, size_of_content(clean), of_content=True))
    outcome = asyncio.run(matrix.run(world, case))
    assert oracle.findings(case, outcome) == []
    assert len(outcome.out.splitlines()) == 5
    for change in (
        {"code": 0},
        {"code": 139},
        {"code": None},
        {"code": oracle.DEADLINE},
        {"err": ""},
        {"err": outcome.err * 2},
        {"err": "rpcurl: what\n"},
        {"out": outcome.out.rpartition("\n")[0]},
        {"out": outcome.out.split("\n", 1)[1]},
        {"out": outcome.out * 2},
        {"out": outcome.out + '{"number":6}\n'},
    ):
        assert oracle.findings(case, replace(outcome, **change)) != [], change


# What a defect would make of a run in which all calls succeed, in each mode.


def lines(outcome, change):
    return {"out": "".join(f"{line}\n" for line in change(outcome.out.splitlines()))}


def report(outcome, **change):
    return {"out": json.dumps(json.loads(outcome.out) | change)}


def replaced(outcome, old, new):
    return {"out": outcome.out.replace(old, new)}


UNAVAILABLE = [{"status": "unavailable", "calls": cases.CALLS["load"]}]
FAILED_CALL = "rpcurl: call 1: a: b\n"
WRONG_OUTCOMES = {
    "batch": [
        lambda o: {"err": FAILED_CALL},
        lambda o: {"err": FAILED_CALL, "code": oracle.CONNECTION},
        lambda o: {"out": "", "err": "".join(f"rpcurl: call {n}: a: b\n" for n in range(1, 5)), "code": oracle.CONNECTION},
        lambda o: lines(o, lambda all: all * 2),
        lambda o: lines(o, lambda all: all[:-1]),
        lambda o: lines(o, lambda all: all[::-1]),
        lambda o: {"code": oracle.CONNECTION},
    ],
    "load": [
        lambda o: report(o, statuses=UNAVAILABLE, errors=cases.CALLS["load"]),
        lambda o: report(o, statuses=[{"status": "ok", "calls": 11}, *UNAVAILABLE], errors=1),
        lambda o: report(o, statuses=[{"status": "ok", "calls": 11}, {"status": "unavailable", "calls": 1}], errors=1),
        lambda o: report(o, errors=1),
        lambda o: report(o, calls=11),
        lambda o: {"code": oracle.CONNECTION},
        lambda o: {"err": "rpcurl: a: b\n"},
    ],
    "test": [
        lambda o: replaced(o, '"outcome":"passed"', '"outcome":"failed"') | {"code": oracle.FAILED_TESTS},
        lambda o: replaced(o, '"event":"end","passed":4,"failed":0', '"event":"end","passed":0,"failed":4'),
        lambda o: lines(o, lambda all: [line for line in all if '"name":"1"' not in line]),
        lambda o: lines(o, lambda all: [*all, *all[-3:]]),
        lambda o: {"code": oracle.FAILED_TESTS},
        lambda o: {"code": oracle.CONNECTION},
    ],
    "session": [
        lambda o: lines(o, lambda all: all[:-1]),
        lambda o: lines(o, lambda all: all[1:]),
        lambda o: lines(o, lambda all: all * 2),
        lambda o: lines(o, lambda all: []),
        lambda o: {"err": "rpcurl: a: b\n"},
        lambda o: {"code": oracle.CONNECTION},
    ],
}  # fmt: skip


@pytest.mark.parametrize("mode", WRONG_OUTCOMES)
@pytest.mark.parametrize("kind", ["none", "delay", "trickle"])
def test_oracle_rejects_wrong_outcomes_of_many_calls(world, mode, kind):
    """Without a lost byte."""
    case = cases.Case(cases.Route(mode, "grpc", "2", "unary"), Fault(kind, RESPONSE, 100, 9))
    outcome = asyncio.run(matrix.run(world, case))
    assert oracle.findings(case, outcome) == []
    for number, change in enumerate(WRONG_OUTCOMES[mode]):
        changed = replace(outcome, **change(outcome))
        assert changed != outcome and oracle.findings(case, changed) != [], number


def test_oracle_rejects_wrong_errors_of_a_batch(world):
    """Of a batch whose connection is lost."""
    route = cases.Route("batch", "connect", "1.1", "unary")
    case = cases.Case(route, Fault("close", RESPONSE, 20))
    outcome = asyncio.run(matrix.run(world, case))
    assert oracle.findings(case, outcome) == []
    *failed, summary = outcome.err.splitlines(keepends=True)
    assert len(failed) == 4 and summary == "rpcurl: 4 of 4 calls failed, the first is call 1\n"
    for errors in (
        [], failed, [summary], [*failed, summary] * 2, [*failed, *failed, summary], [*failed, summary, summary],
        [*failed[:3], summary], [*failed[:3], failed[0], summary], [*failed[::-1], summary],
        [*failed, summary.replace("4 of", "3 of")], [*failed, summary.replace("call 1", "call 2")],
        [*failed, "rpcurl: what: why\n", summary],
    ):  # fmt: skip
        assert oracle.findings(case, replace(outcome, err="".join(errors))) != [], errors


# What `retry` promises

BEFORE_THE_HEADERS = Fault("close", RESPONSE, 20)
LOST = [
    (cases.Route(mode, protocol, http, kind, "retry", transport), fault if isinstance(fault, Fault) else Fault(fault, RESPONSE, 20))
    for mode, protocol, http, kind, transport, fault in [
        ("single", "grpc", "2", "unary", "clear", "close"),
        ("single", "grpc-web", "1.1", "server", "clear", "reset"),
        ("single", "connect", "1.1", "client", "tls", "half"),
        ("single", "connect", "2", "bidi", "tls", "close"),
        # Before the first frame of the server.
        ("single", "grpc", "2", "unary", "tls", Fault("violate", violation="ping")),
        ("batch", "connect", "1.1", "large", "clear", "close"),
        ("load", "grpc", "2", "server", "clear", "close"),
        ("test", "grpc-web", "2", "client", "clear", "reset"),
        ("session", "grpc", "2", "bidi", "tls", "half"),
        ("single", "grpc", "3", "unary", "quic", "reset"),
        ("load", "connect", "3", "server", "quic", "close"),
    ]
]


def changed_retry(world, tmp_path, settings):
    """A program whose interceptor `retry` has other settings; without settings, it has no effect."""
    program = tmp_path / "program"
    other = f'"retry,{settings}"' if settings else '"header,set=x-b: c"'
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        f"arguments = [{other} if word.startswith('retry,') else word for word in sys.argv[1:]]\n"
        f"os.execv('{RPCURL}', ['rpcurl', *arguments])\n"
    )
    program.chmod(0o755)
    return replace(world, program=program)


@pytest.mark.parametrize(("route", "fault"), LOST, ids=str)
def test_oracle_rejects_a_retry_that_is_not_made(worlds, tmp_path, route, fault):
    world = worlds(route.transport)
    case = cases.Case(route, fault)
    outcome = asyncio.run(matrix.run(world, case))
    assert outcome.faulted and oracle.findings(case, outcome) == []
    for settings in ("", "attempts=1,codes=unavailable", "codes=internal"):
        outcome = asyncio.run(matrix.run(changed_retry(world, tmp_path, settings), case))
        assert outcome.faulted and oracle.findings(case, outcome) != [], settings


@pytest.mark.parametrize(("protocol", "http", "kind"), [("grpc", "2", "server"), ("grpc", "2", "unary"), ("connect", "2", "large")])
def test_oracle_rejects_a_retry_after_the_response_has_begun(world, tmp_path, protocol, http, kind):
    """In a gRPC or Connect response whose last message is not whole."""
    route = cases.Route("single", protocol, http, kind, "retry")
    clean = asyncio.run(matrix.run(world, cases.Case(route, Fault("none"))))
    case = cases.Case(route, Fault("close", RESPONSE, size_of_content(clean) - 5, of_content=True))
    outcome = asyncio.run(matrix.run(world, case))
    assert oracle.findings(case, outcome) == [] and outcome.code == oracle.CONNECTION
    # A program that holds headers longer makes the call again, unless a message has arrived.
    again = asyncio.run(matrix.run(changed_retry(world, tmp_path, "hold-headers=20s,initial=1ms"), case))
    assert requests(case, again) == (2 if kind == "unary" else 1)
    if kind == "unary":
        assert oracle.findings(case, again) != []
    # The same calls, as another defect could make them.
    twice = replace(outcome, connections=[*outcome.connections, *clean.connections])
    assert oracle.findings(case, twice) != []
    assert oracle.findings(case, replace(twice, code=0, out=clean.out, err="")) != []


def test_oracle_rejects_attempts_with_wrong_headers(world):
    route = cases.Route("single", "connect", "1.1", "unary", "retry")
    case = cases.Case(route, BEFORE_THE_HEADERS)
    outcome = asyncio.run(matrix.run(world, case))
    assert oracle.findings(case, outcome) == []
    first, second = outcome.connections
    for old, new in ((b"attempts: 1", b"attempts: 2"), (b"grpc-previous", b"grpc-next")):
        sent = second.forwarded[REQUEST].replace(old, new)
        assert sent != second.forwarded[REQUEST]
        changed = replace(second, forwarded=second.forwarded | {REQUEST: sent})
        assert oracle.findings(case, replace(outcome, connections=[first, changed])) != [], new
    # More attempts than the setting allows.
    assert oracle.findings(case, replace(outcome, connections=[first, second, second, second])) != []
    header = cases.Case(replace(route, chain="header"), Fault("none"))
    outcome = asyncio.run(matrix.run(world, header))
    assert oracle.findings(header, outcome) == []
    sent = outcome.connections[0].forwarded[REQUEST]
    sent[:] = sent.replace(b"x-a: b", b"x-a: c")
    assert oracle.findings(header, outcome) != []


# Deadlines


def test_oracle_rejects_a_wrong_deadline(world):
    route = cases.Route("single", "grpc", "2", "unary")
    case = cases.Case(route, Fault("stall", RESPONSE, 20))
    outcome = asyncio.run(matrix.run(world, case))
    assert outcome.code == oracle.DEADLINE and oracle.findings(case, outcome) == []
    assert oracle.findings(case, replace(outcome, seconds=0.9 * outcome.deadline)) != []


@pytest.mark.parametrize("mode", cases.CALLS)
def test_oracle_rejects_stalls_that_most_calls_end_late(mode):
    route = cases.Route(mode, "grpc", "2", "unary")

    def results(*late, usual=0.2):
        quick = [(cases.Case(route, Fault("delay")), Outcome(0, "", "", usual, 20, [])) for _ in range(5)]
        seconds = [route.rounds * matrix.SHORT + value for value in late]
        stalled = cases.Case(route, Fault("stall"))
        return quick + [
            (stalled, Outcome(oracle.DEADLINE, "", "rpcurl: a: b", value, matrix.SHORT, [])) for value in seconds
        ]

    assert oracle.lateness(results(0.1, 0.2, 0.3, 0.2, 0.1)) == []
    # One process that starts late, and a slow machine.
    assert oracle.lateness(results(0.1, 0.2, 0.3, 0.2, 14.0)) == []
    assert oracle.lateness(results(5, 6, 7, 8, 9, usual=6)) == []
    assert oracle.lateness(results(1.5, 1.5, 1.5, 0.1, 9)) != []
    assert oracle.lateness(results(*[3.0] * 5)) != []


# What faults leave behind in a process that continues

# One of each kind, in turn. The number of faults between two samples is a multiple of theirs.
KINDS_IN_A_SESSION = [
    *((kind, direction) for direction in (RESPONSE, REQUEST) for kind in ("close", "reset", "half")),
    ("drop", RESPONSE), ("flip", RESPONSE), ("twice", RESPONSE), ("stall", RESPONSE),
]  # fmt: skip
FAULTS_IN_A_SESSION = 300 if ALL_TESTS else 60
# The deadline of calls that a fault may block.
BLOCKED = {"clear": "50ms", "quic": "200ms"}


@pytest.mark.parametrize(
    "route",
    [
        cases.Route("session", protocol, http, kind, chain, "quic" if http == "3" else "clear")
        for protocol, http, kind, chain in [
            ("grpc", "2", "server", "plain"),
            ("grpc-web", "1.1", "server", "plain"),
            ("connect", "1.1", "server", "header"),
            ("grpc", "2", "bidi", "retry"),
            ("grpc-web", "2", "client", "header"),
            ("connect", "1.1", "unary", "retry"),
            ("connect", "2", "large", "plain"),
            ("grpc", "3", "server", "plain"),
        ]
    ],
    ids=str,
)
def test_faults_leave_no_descriptors_and_no_memory(worlds, route):
    """Of calls in one session, each over a connection with a fault at another byte."""
    samples, faulted = asyncio.run(session_with_faults(worlds(route.transport), route))
    (files_before, memory_before), (files_after, memory_after) = samples
    assert faulted >= FAULTS_IN_A_SESSION * 9 // 10
    assert files_after <= files_before
    assert memory_after - memory_before < 512, "kilobytes"


async def session_with_faults(world, route):
    """Returns the files and the memory of the session at half of the faults and at the end, and the number of faults."""
    call = f"call {route.method.name} {' '.join(route.method.requests)}\n"
    clean = cases.Case(route, Fault("none"))
    async with world.proxy(clean, 1 << 30) as proxy:
        arguments, _ = matrix.command(world, clean, proxy.port)
        process = await asyncio.create_subprocess_exec(
            world.program, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, cwd=world.home, env=world.environment_of(route), limit=1 << 20,
        )  # fmt: skip
        samples, faulted = [], 0
        for number in range(FAULTS_IN_A_SESSION):
            kind, direction = KINDS_IN_A_SESSION[number % len(KINDS_IN_A_SESSION)]
            # The call makes another connection, which has the fault.
            await proxy.end_all()
            proxy.connections.clear()
            proxy.fault = fault = Fault(kind, direction, 1 + number % 150, 9)
            deadline = BLOCKED[route.transport] if matrix.may_block(cases.Case(route, fault)) else f"{matrix.LONG}"
            process.stdin.write(f"deadline {deadline}\n{call}set mark = {number}\nprint $mark\n".encode())
            while (await asyncio.wait_for(process.stdout.readline(), 60)).decode() != f"{number}\n":
                pass
            faulted += proxy.faulted
            # Twice after the same kind of fault: a connection that is half open remains until the next call.
            if number in (FAULTS_IN_A_SESSION // 2 - 1, FAULTS_IN_A_SESSION - 1):
                samples.append((open_files(process.pid), resident(process.pid)))
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0
        return samples, faulted


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def resident(process: int) -> int:
    for line in open(f"/proc/{process}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
