"""One session process that runs for long: calls, streams, cancels, faults, and reloads of the schema and of plugins.

`make soak` runs it. It samples memory and descriptors, and fails if they grow. It also fails if the output of a round is not
the required one.

    python -m faults.soak [--seconds N] [--seed N]
"""

import argparse
import asyncio
import base64
import contextlib
import json
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import plugins
from .plugins import Plugins
from .proxy import NO_FAULT, RESPONSE, Fault, Proxy

# The first part of the run, in which memory may grow: buffers get their size, and the session keeps its first 10,000
# commands for `save`.
WARM_UP = 0.5
# Growth of the resident memory after the warm-up that is not a leak, in kilobytes: the allocator keeps pages.
NOISE_KILOBYTES = 1024
# How long one round may take.
PATIENCE_SECONDS = 60

ROUND = """\
call Hello {{"name":"{number}"}}
call Count {{"from":1,"to":50}}
call Large {{"sizeBytes":200000}}
call Find {{"id":"none"}}
open Chat
{{"text":"a"}}
receive
{{"text":"b"}}
close
wait
open Count {{"from":1,"to":2000000000,"intervalMs":5}}
receive 3
cancel
set last_name = "{number}"
use header,set=x-round: {number}
call Hello {{"name":$last_name}}
call EchoMetadata {{}}
remove header
"""
# The server's schema again, with calls whose types are those of the new one.
RELOAD = "reflect\ncall Echo {{\"stringValue\":\"{number}\",\"nested\":{{\"child\":{{\"number\":1}}}}}}\n"
# The messages for which a round waits before it cancels a stream, and the one before that stream.
RECEIVED = 3
LAST_OF_CHAT = {"text": "you said: b"}


def output(number: int) -> list[dict | str]:
    """The output of a round without faults and its reload: messages, and errors. Headers that were sent are not in it."""
    hello = {"message": f"Hello, {number}!", "name": f"{number}"}
    return [
        hello, *({"number": n} for n in range(1, 51)), {"payload": "200000 bytes"},
        'rpcurl: demo.v1.Demo/Find: not_found (5): no item "none"',
        {"text": "you said: a"}, LAST_OF_CHAT, *({"number": n} for n in range(1, RECEIVED + 1)), hello,
        "4 services", {"stringValue": f"{number}", "nested": {"child": {"number": 1}}},
    ]  # fmt: skip


def read(lines: list[str]) -> tuple[list[dict | str], list[dict[str, str]]]:
    """The messages and errors in lines of output; the headers that the server received, by call."""
    result: list[dict | str] = []
    headers = []
    for line in lines:
        # Details and hints of errors.
        if line.startswith(("  ", "hint: ")):
            continue
        item = json.loads(line) if line.startswith("{") else line
        if isinstance(item, dict) and "headers" in item:
            headers.append({header["name"]: header["value"] for header in item["headers"]})
            continue
        if isinstance(item, dict) and "payload" in item:
            item = {"payload": f"{len(base64.b64decode(item['payload']))} bytes"}
        # The stream that is canceled may send more before it ends.
        if isinstance(item, dict) and item.get("number", 0) > RECEIVED and LAST_OF_CHAT in result:
            continue
        result.append(item)
    return result, headers


def problems(lines: list[str], number: int, added: dict[str, str], has_fault: bool) -> list[str]:
    """The requirements that the output of a round does not meet. `added` are the headers that plugins add to each call."""
    items, headers = read(lines)
    expected = output(number)
    own = added | {"x-round": f"{number}"}
    found = [f"headers {sent}" for sent in headers if not own.items() <= sent.items()]
    if not has_fault:
        found += [] if items == expected else [f"output {items}"]
        return found if len(headers) == 1 else [*found, f"{len(headers)} calls of EchoMetadata"]
    errors = [item for item in items if isinstance(item, str) and item.startswith("rpcurl: ")]
    found += [f"output {item}" for item in items if item not in expected and item not in errors]
    # A fault ends at least the call with the large response.
    return found if [error for error in errors if error not in expected] else [*found, "no error"]


@dataclass
class Samples:
    """What the process used, round by round, without what the builds of a plugin keep by design."""

    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def add(self, process: int, rebuilds: int = 0) -> None:
        """Take a sample of a process that has loaded a plugin again so many times after it was built."""
        self.memory.append(resident_kilobytes(process) - rebuilds * plugins.KILOBYTES_OF_BUILD)
        self.files.append(open_files(process) - rebuilds * plugins.FILES_OF_BUILD)

    def growth(self) -> tuple[int, int]:
        """Of memory, in kilobytes, and of descriptors, from the end of the warm-up to the end.

        Of memory the least of some samples, since a round may end while something is being freed. Of descriptors the
        usual number, since the last fault of a round may or may not leave a connection.
        """
        start = int(len(self.memory) * WARM_UP)
        part = max(1, (len(self.memory) - start) // 5)
        early, late = slice(start, start + part), slice(-part, None)
        usual = statistics.median_low
        return min(self.memory[late]) - min(self.memory[early]), usual(self.files[late]) - usual(self.files[early])


def grows(samples: Samples) -> bool:
    """Whether a process uses more and more memory or descriptors."""
    memory, files = samples.growth()
    return memory > NOISE_KILOBYTES or files > 0


def open_files(process: int) -> int:
    """The number of descriptors of a process."""
    return len(os.listdir(f"/proc/{process}/fd"))


def resident_kilobytes(process: int) -> int:
    """The memory of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


@dataclass
class Session:
    """A session in a pipe."""

    process: asyncio.subprocess.Process

    async def run(self, commands: str, mark: str) -> list[str]:
        """Run commands, and wait until all were done; returns what they printed."""
        # The value of a variable marks the end.
        self.process.stdin.write(f'{commands}set mark = "{mark}"\nprint $mark\n'.encode())
        # If the session has ended, so does its output, which the loop handles.
        with contextlib.suppress(ConnectionError):
            await self.process.stdin.drain()
        lines: list[str] = []
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_SECONDS)
            if not line:
                raise SystemExit(f"the session ended with {await self.process.wait()}")
            lines.append(line.decode().rstrip("\n"))
            if lines[-1] == f'"{mark}"':
                return lines[:-1]

    async def quiet(self, command: str, mark: str) -> None:
        """Run a command that prints nothing, unless it fails."""
        if lines := await self.run(command, mark):
            raise SystemExit(f"{command}{lines}")


@dataclass(frozen=True)
class World:
    program: Path
    environment: dict[str, str]
    home: Path
    port: int
    # The plugin `stamp`, which is loaded again; None without it.
    plugin: Path | None = None
    # Builds of another plugin, which replace each other.
    builds: dict[str, Path] = field(default_factory=dict)


async def soak(world: World, seconds: float, seed: int, report=print, least_rounds: int = 1) -> Samples:
    """Run rounds for a time, and at least so many; returns the samples. Ends the process if a round prints something else than required."""
    chance, samples = random.Random(seed), Samples()
    async with Proxy(world.port, NO_FAULT, 1 << 30) as proxy:
        process = await asyncio.create_subprocess_exec(
            world.program, "session", "--no-cache", "--max-time", "5", f"http://127.0.0.1:{proxy.port}",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            cwd=world.home, env=world.environment, limit=1 << 24,
        )  # fmt: skip
        try:
            session, loaded = Session(process), Plugins(world.plugin, world.builds, world.home / "build.so")
            start, number = time.monotonic(), 0
            await loaded.load(session)
            while time.monotonic() - start < seconds or number < least_rounds:
                number += 1
                await loaded.reload(session, number)
                await rounds(session, proxy, number, loaded.headers, chance)
                samples.add(process.pid, loaded.rebuilds)
                if number % 20 == 0:
                    report(
                        f"{time.monotonic() - start:6.0f} s, round {number}: {samples.memory[-1]} kB, {samples.files[-1]} files",
                        flush=True,
                    )
            process.stdin.close()
            if code := await asyncio.wait_for(process.wait(), PATIENCE_SECONDS):
                raise SystemExit(f"the session ended with {code}")
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return samples


async def rounds(session: Session, proxy: Proxy, number: int, added: dict[str, str], chance: random.Random) -> None:
    """A round without faults, and one with each fault."""
    proxy.fault = NO_FAULT
    require(await session.run((ROUND + RELOAD).format(number=number), f"clean {number}"), number, added, NO_FAULT)
    # This fault ends the connection of the clean calls, and the next one has another.
    for kind in ("close", "reset", "half"):
        await proxy.end_all()
        proxy.connections.clear()
        proxy.fault = Fault(kind, RESPONSE, chance.randrange(1, 3000))
        require(await session.run(ROUND.format(number=number), f"{kind} {number}"), number, added, proxy.fault)
        if not proxy.faulted:
            raise SystemExit(f"round {number}: {proxy.fault} was not made")
    await proxy.end_all()
    proxy.connections.clear()


def require(lines: list[str], number: int, added: dict[str, str], fault: Fault) -> None:
    """End the process if a round has printed something else than required."""
    if found := problems(lines, number, added, fault != NO_FAULT):
        raise SystemExit(f"round {number}, {fault}: {'; '.join(found)}")


def main() -> int:
    import harness

    from .matrix import servers

    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plugin", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, servers(harness) as (port, _):
        environment = harness.Rpcurl(Path(home)).environment(None)
        builds = plugins.build(Path(home)) if chosen.plugin else {}
        world = World(harness.RPCURL, environment, Path(home), port, chosen.plugin, builds)
        samples = asyncio.run(soak(world, chosen.seconds, chosen.seed))
    memory, files = samples.growth()
    print(f"{len(samples.memory)} rounds: {memory} kB and {files} descriptors more after the warm-up")
    return 1 if grows(samples) else 0


if __name__ == "__main__":
    sys.exit(main())
