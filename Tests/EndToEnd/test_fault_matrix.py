"""A selection of the fault matrix: faults of the network at chosen bytes of calls of each kind, protocol and mode.

`make fault-matrix`, and RPCURL_TESTS=all, run all of it. `faults/oracle.py` states what is required of each case.
"""

import asyncio
import os

import pytest
from conftest import ALL_TESTS, RPCURL
from faults import cases, matrix, oracle
from faults.proxy import RESPONSE, Fault, Proxy

SEED = 1
# Cases of a route, as a part of those in the whole matrix.
PART = 1 if ALL_TESTS else 0.04
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
    assert made > 20 * PART, "hardly any fault was made"


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
        assert oracle.findings(case, oracle.Outcome(**{**vars(outcome), **change})) != [], change


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
