"""Runs cases, a bounded number at a time, and is the program of `make fault-matrix`.

    python -m faults.matrix [--transport NAME] [--part FRACTION] [--seed N] [--only TEXT] [--jobs N] [--proxy]

The transports are clear, tls and quic; the default is all of them, the last one if there is a libcurl with HTTP/3. With --proxy, the
faults are between clients and `rpcurl proxy`, which is in front of the servers, and not over QUIC.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import ssl
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import cases, oracle
from .cases import SERVICE, Case, Recording, Route
from .outcome import Outcome
from .proxy import NO_FAULT, REQUEST, RESPONSE, Proxy
from .quic import QUICProxy

# The deadline of calls that a fault may block, and of all others: only a call that waits for nothing reaches that, also on a machine
# with much else to do.
SHORT, LONG = 1.0, 120.0
# Above the deadline: starting and ending the process.
GRACE = 60.0


@dataclass(frozen=True)
class World:
    """What cases run with."""

    program: Path
    descriptor_set: Path
    home: Path
    # The ports of the servers with grpcio and connectrpc.
    grpc_port: int
    connect_port: int
    environment: dict[str, str]
    # Where certificates.py has written.
    certificates: Path
    # Of the server with HTTP/3, and the environment of a program that has it.
    quic_port: int = 0
    http3: dict[str, str] | None = None

    def port(self, route: Route) -> int:
        if route.transport == "quic":
            return self.quic_port
        return self.grpc_port if route.protocol == "grpc" else self.connect_port

    def environment_of(self, route: Route) -> dict[str, str] | None:
        return self.http3 if route.transport == "quic" else self.environment

    def proxy(self, case: Case, connections: int) -> Proxy:
        """The proxy that makes the fault of a case in the first connections."""
        port = self.port(case.route)
        if case.route.transport == "quic":
            return QUICProxy(port, case.fault, connections, self.certificates)
        return Proxy(port, case.fault, connections, self.tls(case.route))

    def tls(self, route: Route) -> ssl.SSLContext | None:
        """What the proxy uses for TLS; None without."""
        if route.transport != "tls":
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificates / "server.pem", self.certificates / "server-key.pem")
        context.set_alpn_protocols(["h2" if route.http == "2" else "http/1.1"])
        return context


def may_block(case: Case) -> bool:
    """Whether a call may wait for bytes that never come, so that its deadline ends it."""
    fault = case.fault
    return fault.kind in ("stall", "drop", "flip", "twice") or (fault.kind == "half" and fault.direction == REQUEST)


def deadline(case: Case) -> float:
    """The deadline of each call, in seconds."""
    return SHORT if may_block(case) else LONG


def command(world: World, case: Case, port: int) -> tuple[list[str], str]:
    """The arguments of a case, and its standard input."""
    route, seconds = case.route, deadline(case)
    is_clear = route.transport == "clear"
    url, method = f"{'http' if is_clear else 'https'}://127.0.0.1:{port}", f"{SERVICE}/{route.method.name}"
    options = ["--descriptor-set", str(world.descriptor_set), "--protocol", route.protocol]
    options += ["--max-time", f"{seconds}", "--connect-timeout", f"{LONG}"]
    # The oracle reads messages as they are sent.
    options += ["--accept-compression", "identity"]
    if not is_clear:
        options += ["--cacert", str(world.certificates / "ca.pem")]
    if route.http == "3":
        options.append("--http3")
    elif is_clear and route.protocol != "grpc":
        options.append("--http1.1" if route.http == "1.1" else "--http2-prior-knowledge")
    options += cases.CHAINS[route.chain]
    data = "".join(route.method.requests)
    call = f"call {route.method.name} {' '.join(route.method.requests)}\n"
    if route.mode == "single":
        return [*options, "-d", data, f"{url}/{method}"], ""
    if route.mode == "batch":
        each = "\n".join(request for request, *_ in cases.BATCHES[route.kind])
        return ["call", *options, "--each", "-d", each, f"{url}/{method}"], ""
    if route.mode == "load":
        jobs = cases.CONCURRENT[route.mode]
        words = ["--requests", f"{route.calls}", "--jobs", f"{jobs}", "--format", "json", "-d", data]
        return ["load", *options, *words, url, method], ""
    if route.mode == "session":
        return ["session", *options, url], call * route.calls
    # A suite is read from standard input.
    batch = [(f"call {route.method.name} {request}\n", check) for request, _, check in cases.BATCHES.get(route.kind, ())]
    calls = batch or [(call, route.method.check)] * route.calls
    tests = "".join(f"test {number}\n{line}expect {check}\n" for number, (line, check) in enumerate(calls))
    return ["test", "--report", "ndjson", *options, "-"], f"target {url}\n{tests}"


async def run(world: World, case: Case) -> Outcome:
    """Run a case."""
    connections = 1 if case.route.chain == "retry" or case.route.mode == "session" else 1 << 30
    async with world.proxy(case, connections) as proxy:
        arguments, text = command(world, case, proxy.port)
        seconds = deadline(case)
        with tempfile.TemporaryFile() as file:
            # A file and not a pipe: the program can read all of it, also if this process is late.
            file.write(text.encode())
            file.seek(0)
            start = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                world.program, *arguments, stdin=file, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                cwd=world.home, env=world.environment_of(case.route),
            )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), seconds * case.route.rounds + GRACE)
            code = process.returncode
        except asyncio.TimeoutError:
            process.send_signal(signal.SIGKILL)
            await process.wait()
            out, err, code = b"", b"", None
        took = time.monotonic() - start
    return Outcome(
        code, out.decode(errors="replace"), err.decode(errors="replace"), took, seconds, proxy.connections
    )


async def record(world: World, routes: Iterable[Route], jobs: int) -> dict[Route, Recording]:
    """Make the calls of routes without a fault."""
    recordings = {}
    async for case, outcome, failed in results(world, [Case(route, NO_FAULT) for route in routes], jobs):
        if outcome.code != 0 or failed or not outcome.connections:
            raise SystemExit(f"{case.route} fails without a fault: {outcome.code}\n{failed}\n{outcome.out}\n{outcome.err}")
        connection = outcome.connections[0]
        recordings[case.route] = Recording({name: bytes(connection.forwarded[name]) for name in (REQUEST, RESPONSE)})
    return recordings


@dataclass
class Failure:
    case: Case
    outcome: Outcome
    findings: list[str]

    def __str__(self) -> str:
        outcome = self.outcome
        sizes = [{name: len(data) for name, data in each.forwarded.items()} for each in outcome.connections]
        return "\n".join(
            [
                f"{self.case}: {'; '.join(self.findings)}",
                f"    exit code {outcome.code} after {outcome.seconds:.2f} s, forwarded {sizes}",
                *(f"    out: {line[:200]}" for line in outcome.out.splitlines()[:10]),
                *(f"    err: {line[:300]}" for line in outcome.err.splitlines()[:10]),
            ]
        )


async def results(world: World, selected: Sequence[Case], jobs: int) -> AsyncIterator[tuple[Case, Outcome, list[str]]]:
    """Run cases, `jobs` at a time."""
    places = asyncio.Semaphore(jobs)

    async def one(case: Case) -> tuple[Case, Outcome, list[str]]:
        async with places:
            outcome = await run(world, case)
            return case, outcome, oracle.findings(case, outcome)

    for done in asyncio.as_completed([one(case) for case in selected]):
        yield await done


async def check(
    world: World, transports: Iterable[str], seed: int, part: float, only: str, jobs: int
) -> tuple[list[Failure | str], Counter]:
    """Run the matrix, or a part. Returns the failures, and how many cases there were of each kind and code.

    `only` is a part of the names of cases, or the name of one.
    """
    routes = [route for route in cases.routes(transports) if only in str(route) or only.startswith(f"{route}-")]
    recordings = await record(world, cases.counts(routes, seed, part), jobs)
    selected = [case for case in cases.select(recordings, seed, part) if only in str(case)]
    failures: list[Failure | str] = []
    all_results, counts = [], Counter()
    async with contextlib.aclosing(results(world, selected, jobs)) as ended:
        async for case, outcome, found in ended:
            counts[f"{case.fault.kind}", outcome.code, "made" if outcome.faulted else "not made"] += 1
            if found:
                failures.append(Failure(case, outcome, found))
            all_results.append((case, replace(outcome, connections=[])))
    return failures + oracle.lateness(all_results), counts


def main() -> int:
    import harness

    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=cases.TRANSPORTS)
    parser.add_argument("--part", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--proxy", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        certificates = home / "certificates"
        harness.server_module("certificates").write_certificates(certificates)
        http3 = harness.http3_rpcurl(home)
        possible = [each for each in cases.TRANSPORTS if each != "quic" or (http3 and not chosen.proxy)]
        if not http3:
            print(f"not over HTTP/3: {harness.HTTP3_LIBCURL} is missing: make http3-libcurl")
        transports = [each for each in possible if chosen.transport in (None, each)]
        if not transports:
            parser.error("these options select no case")
        start = time.monotonic()
        with servers(harness, chosen.proxy, certificates if "quic" in transports else None) as ports:
            world = World(
                harness.RPCURL, harness.GENERATED / "demo.binpb", home, ports[0], ports[1], harness.Rpcurl(home).environment(None),
                certificates, *ports[2:], http3=http3 and http3.environment(None),
            )  # fmt: skip
            failures, counts = asyncio.run(check(world, transports, chosen.seed, chosen.part, chosen.only, chosen.jobs))
    for failure in failures:
        print(failure)
    for (kind, code, made), count in sorted(counts.items(), key=str):
        print(f"{kind:8} {made:8} exit code {code}: {count}")
    print(f"{sum(counts.values())} cases in {time.monotonic() - start:.0f} s, {len(failures)} failed")
    return 1 if failures else 0


@contextlib.contextmanager
def servers(harness, has_proxy: bool = False, certificates: Path | None = None):
    """The servers of the matrix, or proxies in front of them, and with certificates one with HTTP/3; gives their ports."""
    import subprocess

    with contextlib.ExitStack() as stack:
        ports = []
        commands = [["grpc_server.py"], ["connect_server.py"]]
        if certificates:
            commands.append(["connect_server.py", "--http3", "--tls-dir", certificates])
        for script, *options in commands:
            process = stack.enter_context(
                subprocess.Popen(
                    [harness.VENV / "bin" / "python", harness.SERVERS / script, "--exit-with-stdin", *options],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env=os.environ | {"DEMO_GENERATED": str(harness.GENERATED)},
                )  # fmt: skip
            )
            stack.callback(process.terminate)
            line = harness.first_line(process, harness.PATIENCE_SECONDS)
            ports.append(int(line.rpartition(":")[2]))
            if has_proxy:
                home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                proxy = harness.Proxy(harness.Rpcurl(home), home, "proxy", f"http://127.0.0.1:{ports[-1]}")
                stack.callback(proxy.stop)
                ports[-1] = int(proxy.port)
        yield ports


if __name__ == "__main__":
    sys.exit(main())
