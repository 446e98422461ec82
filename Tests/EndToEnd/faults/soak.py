"""One session process that runs for long: calls, streams, cancels, faults, and reloads of the schema and of plugins.

`make soak` runs it. It samples memory and descriptors, and fails if they grow.

    python -m faults.soak [--seconds N] [--seed N]
"""

import argparse
import asyncio
import contextlib
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .proxy import NO_FAULT, RESPONSE, Fault, Proxy

# The first part of the run, in which memory may grow: buffers get their size, and the session keeps its first 10,000
# commands for `save`.
WARM_UP = 0.5
# Growth of the resident memory after the warm-up that is not a leak, in kilobytes: the allocator keeps pages.
NOISE_KILOBYTES = 1024
# A plugin is loaded again in one of so many rounds: each load keeps 3 kB, since a plugin may use its host at any time.
ROUNDS_OF_PLUGIN = 50
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
remove header
"""
# The server's schema again, with calls whose types are those of the new one.
RELOAD = "reflect\ncall Echo {{\"stringValue\":\"{number}\",\"nested\":{{\"child\":{{\"number\":1}}}}}}\n"


@dataclass
class Samples:
    """What the process used, round by round."""

    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def add(self, process: int) -> None:
        self.memory.append(resident_kilobytes(process))
        self.files.append(open_files(process))

    def growth(self) -> tuple[int, int]:
        """Of memory, in kilobytes, and of descriptors, from the end of the warm-up to the end.

        The least of some samples: a round may end while something is being freed.
        """
        start = int(len(self.memory) * WARM_UP)
        part = max(1, (len(self.memory) - start) // 5)
        early, late = slice(start, start + part), slice(-part, None)
        return min(self.memory[late]) - min(self.memory[early]), min(self.files[late]) - min(self.files[early])


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
    """A session in a pipe. What it prints is read all the time."""

    process: asyncio.subprocess.Process
    lines: int = 0

    async def run(self, commands: str, mark: str) -> None:
        """Run commands, and wait until all were done."""
        # The value of a variable marks the end.
        self.process.stdin.write(f'{commands}set mark = "{mark}"\nprint $mark\n'.encode())
        await self.process.stdin.drain()
        while True:
            line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_SECONDS)
            if not line:
                raise SystemExit(f"the session ended with {await self.process.wait()}")
            self.lines += 1
            if line.decode().strip() == f'"{mark}"':
                return


@dataclass(frozen=True)
class World:
    program: Path
    environment: dict[str, str]
    home: Path
    port: int
    # A plugin that is loaded again; None without plugins.
    plugin: Path | None


async def soak(world: World, seconds: float, seed: int, report=print) -> Samples:
    """Run rounds for a time; returns the samples."""
    chance, samples = random.Random(seed), Samples()
    async with Proxy(world.port, NO_FAULT, 1 << 30) as proxy:
        process = await asyncio.create_subprocess_exec(
            world.program, "session", "--no-cache", "--max-time", "2", f"http://127.0.0.1:{proxy.port}",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            cwd=world.home, env=world.environment, limit=1 << 24,
        )  # fmt: skip
        try:
            session = Session(process)
            start, number = time.monotonic(), 0
            if world.plugin:
                await session.run(f"plugin load {world.plugin}\n", "plugin")
            while time.monotonic() - start < seconds:
                number += 1
                proxy.fault = NO_FAULT
                await session.run((ROUND + RELOAD).format(number=number), f"clean {number}")
                if world.plugin and number % ROUNDS_OF_PLUGIN == 1:
                    await session.run("plugin reload 1\n", f"plugin {number}")
                # This fault ends the connection of the clean calls, and the next one has another.
                for kind in ("close", "reset", "half"):
                    proxy.end_all()
                    proxy.fault = Fault(kind, RESPONSE, chance.randrange(1, 3000))
                    await session.run(ROUND.format(number=number), f"{kind} {number}")
                proxy.end_all()
                proxy.connections.clear()
                samples.add(process.pid)
                if number % 20 == 0:
                    report(
                        f"{time.monotonic() - start:6.0f} s, round {number}: {samples.memory[-1]} kB, {samples.files[-1]} files",
                        flush=True,
                    )
            process.stdin.close()
            await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return samples


def main() -> int:
    import conftest

    from .matrix import servers

    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plugin", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, servers(conftest) as (port, _):
        environment = conftest.Rpcurl(Path(home)).environment(None)
        world = World(conftest.RPCURL, environment, Path(home), port, chosen.plugin)
        samples = asyncio.run(soak(world, chosen.seconds, chosen.seed))
    memory, files = samples.growth()
    print(f"{len(samples.memory)} rounds: {memory} kB and {files} descriptors more after the warm-up")
    return 1 if memory > NOISE_KILOBYTES or files > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
