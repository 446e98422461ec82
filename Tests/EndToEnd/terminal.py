"""A terminal in which rpcurl runs, and the contents of its screen."""

import os
import select
import termios
import time
from collections.abc import Callable

import pexpect
import pyte

from harness import PATIENCE_SECONDS


class Terminal:
    """A program in a terminal of its own. Waits until the screen shows the expected text."""

    def __init__(
        self, command: list[str], env: dict[str, str], columns: int = 80, rows: int = 24, cwd: str | None = None
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self.stream = pyte.ByteStream(self.screen)
        self.process = pexpect.spawn(
            command[0], command[1:], env=env, cwd=cwd, dimensions=(rows, columns), timeout=PATIENCE_SECONDS
        )
        # Input is sent at once.
        self.process.delaybeforesend = None
        self.output = b""

    def send(self, text: str | bytes) -> None:
        """Types a text. Takes meanwhile what the program writes, as a terminal does: each side may wait for the other to read."""
        rest = text.encode() if isinstance(text, str) else text
        descriptor = self.process.child_fd
        os.set_blocking(descriptor, False)
        end = time.monotonic() + PATIENCE_SECONDS
        while rest:
            assert time.monotonic() < end, f"not typed in time: {rest[:80]!r}; the screen shows:\n{self.text}"
            readable, writable, _ = select.select([descriptor], [descriptor], [], 1)
            if writable:
                try:
                    rest = rest[os.write(descriptor, rest) :]
                except BlockingIOError:
                    pass
            if readable and rest:
                self.read(0)
        os.set_blocking(descriptor, True)

    def read(self, timeout: float) -> bool:
        """Takes what the program has written; False when there was nothing, or it has ended."""
        try:
            data = self.process.read_nonblocking(1 << 16, timeout)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.output += data
        self.stream.feed(data)
        return True

    def wait(self, is_done: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_done():
            assert time.monotonic() < end, f"not in time: {what}; the screen shows:\n{self.text}"
            self.read(0.05)

    @property
    def lines(self) -> list[str]:
        """The rows that hold something."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    @property
    def last(self) -> str:
        """The last row that holds something."""
        return self.lines[-1] if self.lines else ""

    @property
    def typed(self) -> str:
        """The row of the cursor."""
        return self.screen.display[self.screen.cursor.y].rstrip()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column."""
        return self.screen.cursor.y, self.screen.cursor.x

    def shows(self, *lines: str) -> None:
        """Waits until these are the last rows."""
        self.wait(lambda: tuple(self.lines[-len(lines) :]) == lines, repr(lines))

    @property
    def is_given_back(self) -> bool:
        """Whether the terminal is in line mode, as it is without a line editor."""
        return bool(termios.tcgetattr(self.process.child_fd)[3] & termios.ICANON)

    def resize(self, columns: int, rows: int = 24) -> None:
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def end(self) -> tuple[int | None, int | None]:
        """Waits for the program's end: its exit code, or the signal."""
        self.wait(lambda: self.process.flag_eof, "the end")
        self.process.wait()
        return self.process.exitstatus, self.process.signalstatus

    def close(self) -> None:
        self.process.close(force=True)
