"""A session that a test types into."""

import os
import selectors
import time
from collections import deque

from harness.program import Process
from harness.settings import PATIENCE_SECONDS


class Prompt:
    """A running session, and the lines that it has printed."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: dict = {process.stdout: deque(), process.stderr: deque()}
        self.rests = {pipe: b"" for pipe in self.lines}
        self.selector = selectors.DefaultSelector()
        for pipe in self.lines:
            self.selector.register(pipe, selectors.EVENT_READ)

    def type(self, *lines: str) -> None:
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def line(self, timeout: float = PATIENCE_SECONDS) -> str:
        """The next line of standard output."""
        return self.take(self.process.stdout, timeout)

    def error(self, timeout: float = PATIENCE_SECONDS) -> str:
        """The next line of standard error."""
        return self.take(self.process.stderr, timeout)

    def take(self, pipe: object, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        while not self.lines[pipe]:
            ready = self.selector.select(max(0, deadline - time.monotonic()))
            assert ready, f"nothing came in time; there was {self.lines}"
            for key, _ in ready:
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    self.selector.unregister(key.fileobj)
                    assert key.fileobj is not pipe, f"it ended; there was {self.lines}"
                *lines, self.rests[key.fileobj] = (self.rests[key.fileobj] + piece).split(b"\n")
                self.lines[key.fileobj].extend(lines)
        return self.lines[pipe].popleft().decode()

    def end(self, code: int = 0) -> None:
        self.process.stdin.close()
        assert self.process.wait() == code
