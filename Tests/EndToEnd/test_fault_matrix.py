"""A selection of the fault matrix: faults of the network at chosen bytes of calls of each kind, protocol and mode.

`make fault-matrix`, and RPCURL_TESTS=all, run all of it. `faults/oracle.py` states what is required of each case.
"""

import asyncio
import json
import os
from dataclasses import replace

import pytest
from conftest import ALL_TESTS, RPCURL
from faults import cases, matrix, oracle
from faults.proxy import RESPONSE, Fault, Proxy

SEED = 1
# Cases of a route, as a part of those in the whole matrix.
PART = 1 if ALL_TESTS else 0.04
# Each parameter of test_faults selects at least so many cases of the whole matrix.
CASES_OF_MODE = 450
# Cases at a time: most wait.
JOBS = 8


@pytest.fixture
def world(rpcurl, grpc_server, connect_server, descriptor_set, certificates):
    return matrix.World(
        RPCURL, descriptor_set, rpcurl.home, grpc_server.port, connect_server.port, rpcurl.environment(None),
        certificates,
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["single-grpc-http2", "single-grpc-web", "single-connect", "batch", "load", "test", "session"])
def test_faults(world, mode):
    failures, counts = asyncio.run(matrix.check(world, SEED, PART, mode, JOBS))
    assert not failures, "\n".join(map(str, failures))
    made = sum(count for (_, _, made), count in counts.items() if made == "made")
    assert sum(counts.values()) >= CASES_OF_MODE * PART
    # A fault at the last bytes of a call is not made if the response is shorter than the recorded one.
    assert made >= 0.9 * sum(counts.values()), counts


def test_oracle_rejects_wrong_outcomes(world):
    """The requirements can fail: an outcome is changed as a defect would change it."""
    route = cases.Route("single", "grpc", "2", "server")
    clean = asyncio.run(matrix.run(world, cases.Case(route, Fault("none"))))
    size = len(clean.connections[0].forwarded[RESPONSE])
    case = cases.Case(route, Fault("close", RESPONSE, size - 10))
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


UNAVAILABLE = [{"status": "unavailable", "calls": oracle.LOAD_CALLS}]
FAILED_CALL = "rpcurl: call 0: a: b\n"
WRONG_OUTCOMES = {
    "batch": [
        lambda o: {"err": FAILED_CALL},
        lambda o: {"err": FAILED_CALL, "code": oracle.CONNECTION},
        lambda o: {"out": "", "err": "".join(f"rpcurl: call {n}: a: b\n" for n in range(4)), "code": oracle.CONNECTION},
        lambda o: lines(o, lambda all: all * 2),
        lambda o: lines(o, lambda all: all[:-1]),
        lambda o: lines(o, lambda all: all[::-1]),
        lambda o: {"code": oracle.CONNECTION},
    ],
    "load": [
        lambda o: report(o, statuses=UNAVAILABLE, errors=oracle.LOAD_CALLS),
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
        lambda o: lines(o, lambda all: [line for line in all if '"name":"Bob"' not in line]),
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
    assert len(failed) == 4 and summary == "rpcurl: 4 of 4 calls failed, the first is call 0\n"
    for errors in (
        [], failed, [summary], [*failed, summary] * 2, [*failed, *failed, summary], [*failed, summary, summary],
        [*failed[:3], summary], [*failed[:3], failed[0], summary], [*failed[::-1], summary],
        [*failed, summary.replace("4 of", "3 of")], [*failed, summary.replace("call 0", "call 1")],
        [*failed, "rpcurl: what: why\n", summary],
    ):  # fmt: skip
        assert oracle.findings(case, replace(outcome, err="".join(errors))) != [], errors


# What faults leave behind in a process that continues

FAULTS_IN_A_SESSION = 300 if ALL_TESTS else 60


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_faults_leave_no_descriptors_and_no_memory(rpcurl, world, protocol):
    """Of calls in one session, each over a connection that is cut at another byte."""
    route = cases.Route("session", protocol, "2" if protocol == "grpc" else "1.1", "server")

    async def run():
        async with Proxy(world.port(route), Fault("none"), 1 << 30) as proxy:
            arguments, _ = matrix.command(world, cases.Case(route, Fault("none")), proxy.port)
            process = await asyncio.create_subprocess_exec(
                world.program, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT, cwd=world.home, env=world.environment,
            )  # fmt: skip
            samples = []
            for number in range(FAULTS_IN_A_SESSION):
                kind = ("close", "reset", "half")[number % 3]
                # The connection of the call before was ended by its fault, so this call makes another.
                proxy.fault = Fault(kind, RESPONSE, 1 + number % 150)
                process.stdin.write(f"call Count {route.method.requests[0]}\nset mark = {number}\nprint $mark\n".encode())
                while (await asyncio.wait_for(process.stdout.readline(), 60)).decode() != f"{number}\n":
                    pass
                # Twice after the same kind of fault: a connection that is half open remains until the next call.
                if number in (FAULTS_IN_A_SESSION // 2 - 1, FAULTS_IN_A_SESSION - 1):
                    samples.append((open_files(process.pid), resident(process.pid)))
            process.stdin.close()
            assert await asyncio.wait_for(process.wait(), 60) in (0, 5, *range(65, 81))
            return samples, len(proxy.connections)

    ((files_before, memory_before), (files_after, memory_after)), connections = asyncio.run(run())
    assert connections >= FAULTS_IN_A_SESSION * 9 // 10
    assert files_after <= files_before
    assert memory_after - memory_before < 512, "kilobytes"


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def resident(process: int) -> int:
    for line in open(f"/proc/{process}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
