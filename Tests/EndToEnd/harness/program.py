"""Runs of rpcurl, and what a test expects of them."""

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.settings import HTTP3_LIBCURL, KEPT_VARIABLES, PATIENCE_SECONDS, ROOT, RPCURL


def pkg_config_of_sources() -> dict[str, str]:
    """The variables of the environment in which pkg-config finds the files for plugins in the source tree."""
    folder = ROOT / ".build" / "pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    places = {
        "includedir": "Sources/CPlugins/include", "swiftkit": "Plugins/SwiftKit", "rustkit": "Plugins/RustKit",
    }  # fmt: skip
    lines = [f"{name}={ROOT / place}" for name, place in places.items()]
    new = folder / f"rpcurl.pc.{os.getpid()}"
    new.write_text("\n".join([*lines, "Name: rpcurl", "Description: the source tree", "Version: 0", ""]))
    # Other tests may read it at the same time.
    new.rename(folder / "rpcurl.pc")
    return {"PKG_CONFIG_PATH": str(folder)}


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds of which nothing sends an event, such as the state of another process.

    Returns the condition's value.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} seconds: {what}"
        time.sleep(0.01)
    return value


def names(count: int) -> str:
    """Requests of Hello with so many names."""
    return "".join(f'{{"name":"{number}"}}' for number in range(count))


def shown_on(terminal: int) -> Iterator[bytes]:
    """What a terminal shows, in pieces, until the other side is closed."""
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            yield piece


@dataclass(frozen=True)
class Result:
    """How a run of rpcurl ended."""

    code: int
    out_bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.out_bytes.decode()

    def json(self) -> Any:
        """The value of the output."""
        return json.loads(self.out)

    def lines(self) -> list[Any]:
        """The values of the output's lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        """The events of a name, with --format events."""
        return [event for event in self.lines() if event["event"] == name]

    def named_events(self) -> dict[str, dict[str, Any]]:
        """The last event of each name."""
        return {event["event"]: event for event in self.lines()}

    # What a test expects. Each method returns the result, for more of them.

    def exits(self, code: int, out: str | None = None, err: str | None = None) -> "Result":
        """Expect an exit code, and an output and errors if they are given."""
        __tracebackhide__ = True
        assert self.code == code, self.err
        assert out is None or self.out == out, self.err
        assert err is None or self.err == err
        return self

    def succeeds(self) -> "Result":
        """Expect success, and nothing on standard error."""
        __tracebackhide__ = True
        assert (self.code, self.err) == (0, "")
        return self

    def prints(self, *parts: str) -> "Result":
        """Expect parts of the output."""
        __tracebackhide__ = True
        for part in parts:
            assert part in self.out, self.err
        return self

    def reports(self, *parts: str) -> "Result":
        """Expect parts of standard error."""
        __tracebackhide__ = True
        for part in parts:
            assert part in self.err
        return self

    def fails(self, code: int, *parts: str, out: bytes = b"") -> "Result":
        """Expect an exit code and one error, which has at most an excerpt of the input and a hint, with these parts."""
        __tracebackhide__ = True
        assert (self.code, self.out_bytes) == (code, out), self.err
        first, *rest = self.err.splitlines()
        assert first.startswith("rpcurl: ")
        # The line of the input, and a mark below the place in it.
        if rest and rest[0].startswith("  "):
            assert rest[1].strip() == "^", self.err
            del rest[:2]
        assert len(rest) <= 1 and all(line.startswith("hint: ") for line in rest), self.err
        return self.reports(*parts)


class Process(subprocess.Popen):
    """A process that is killed when it does not end in time, so that a test fails and does not hang."""

    def wait(self, timeout: float | None = PATIENCE_SECONDS) -> int:
        try:
            return super().wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def communicate(self, input: bytes | None = None, timeout: float | None = PATIENCE_SECONDS) -> tuple[Any, Any]:
        return super().communicate(input, timeout)

    def activity(self) -> tuple | None:
        """How often each thread was scheduled so far; None while a thread is running or waits for a processor."""
        threads = []
        for status in Path(f"/proc/{self.pid}/task").glob("*/status"):
            try:
                fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            except (FileNotFoundError, ProcessLookupError):  # The thread has just ended.
                return None
            if fields["State"][0] == "R":
                return None
            threads.append((status, fields["voluntary_ctxt_switches"], fields["nonvoluntary_ctxt_switches"]))
        return tuple(threads)

    def wait_until_idle(self) -> None:
        """Wait until the process has nothing to do: no thread of it ran for a tenth of a second, nor wanted to."""
        before = None
        deadline = time.monotonic() + PATIENCE_SECONDS
        while before is None or before != self.activity():
            assert time.monotonic() < deadline, "the process is never idle"
            before = self.activity()
            # Nothing announces that a process does nothing.
            time.sleep(0.1)

    def processor_ticks(self) -> int:
        """The processor time of the process, in hundredths of a second."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def peak_kilobytes(self) -> int:
        """The most memory that it has had."""
        return self.memory("VmHWM")

    def resident_kilobytes(self) -> int:
        return self.memory("VmRSS")

    def memory(self, name: str) -> int:
        (value,) = re.findall(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{self.pid}/status").read_text(), re.M)
        return int(value)


@dataclass(frozen=True)
class Rpcurl:
    """Runs the binary in an environment of its own, without settings and without colour."""

    home: Path

    def __call__(
        self,
        *arguments: object,
        input: str | bytes | None = None,
        env: dict[str, str] | None = None,
        timeout: float = PATIENCE_SECONDS,
    ) -> Result:
        """Run to the end. Without `input`, standard input is at its end from the start."""
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            self.command(arguments),
            input=b"" if data is None else data,
            capture_output=True,
            env=self.environment(env),
            cwd=self.home,
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def start(self, *arguments: object, env: dict[str, str] | None = None) -> "Process":
        """Start, for a test that talks to it through unbuffered pipes. For a `with` statement."""
        return Process(
            self.command(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=self.environment(env),
            cwd=self.home,
        )

    def command(self, arguments: tuple[object, ...]) -> list[str]:
        return [str(RPCURL), *(str(argument) for argument in arguments)]

    def environment(self, extra: dict[str, str] | None) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if KEPT_VARIABLES.fullmatch(k)}
        own = {"HOME": str(self.home), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        return kept | own | (extra or {})


@dataclass(frozen=True)
class HTTP3Rpcurl(Rpcurl):
    """Runs the binary with a libcurl that has HTTP/3."""

    def environment(self, extra: dict[str, str] | None) -> dict[str, str]:
        return super().environment({"RPCURL_LIBCURL": str(HTTP3_LIBCURL)} | (extra or {}))


def http3_rpcurl(home: Path) -> Rpcurl | None:
    """rpcurl with its own libcurl if that has HTTP/3, or with HTTP3_LIBCURL; None without either."""
    rpcurl = Rpcurl(home)
    if "3" in rpcurl("version", "--format", "json").json()["libcurl"]["httpVersions"]:
        return rpcurl
    return HTTP3Rpcurl(home) if HTTP3_LIBCURL.exists() else None


def messages(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """The messages that a program has printed, as JSON values one after the other."""
    assert done.returncode == 0, done.stderr
    decoder, text, found = json.JSONDecoder(), done.stdout.lstrip(), []
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found
