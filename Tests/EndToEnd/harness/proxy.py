"""Runs of `rpcurl proxy` and `rpcurl serve`."""

import re
import signal
import subprocess
from pathlib import Path

from harness.program import Process, Rpcurl, wait_until


class Proxy:
    """A running `rpcurl proxy` or `rpcurl serve`."""

    def __init__(self, rpcurl: Rpcurl, directory: Path, *arguments: object) -> None:
        self.output = directory / "output"
        self.log_file = directory / "log"
        with self.output.open("wb") as out, self.log_file.open("wb") as log:
            self.process = Process(
                rpcurl.command(arguments), stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                env=rpcurl.environment(None), cwd=directory,
            )  # fmt: skip
        wait_until(lambda: "listening on" in self.log() or self.process.poll() is not None, "the proxy listens")
        found = re.search(r"listening on (\S+)", self.log())
        assert found, self.log()
        self.url = found[1]
        self.address = self.url.rpartition("//")[2]
        self.port = self.address.rpartition(":")[2]
        # The authority of its certificate, if a test gave it one.
        self.ca: Path | None = None

    def log(self) -> str:
        return self.log_file.read_text()

    def lines(self) -> list[str]:
        return self.output.read_text().splitlines()

    def wait_for(self, *parts: str) -> str:
        """Wait for a line of output with these parts."""
        matches = lambda: [line for line in self.lines() if all(part in line for part in parts)]
        return wait_until(matches, f"a line with {parts} in {self.lines()}")[-1]

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait()
