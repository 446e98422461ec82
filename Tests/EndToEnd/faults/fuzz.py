"""Calls of rpcurl whose responses are mutations of recorded ones, and what is required of each. The program of
`make mutation-fuzz`.

    python -m faults.fuzz [--seconds N] [--seed N] [--cases N] [--only NUMBER] [--jobs N]

A case is a seed and a number: `--seed S --only N` makes the same bytes again, and prints all of the case.

Required of every case:
- the process ends within a second of `--max-time`, with a documented exit code, and without a crash;
- with exit code 0, the response is complete by its protocol as a reference reads it (reference.py), its status is ok, and
  the output is its messages; there is no error;
- with another code, there is one error, and the output is the first messages that a reference reads, without a part of one.

That a response is an error although a reference reads it is not counted as wrong: many clients are stricter.
"""

import argparse
import asyncio
import contextlib
import math
import os
import random
import re
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

# It adds the directory of demo_pb2 to the path.
import harness
import demo_pb2 as demo
import hpack
from google.protobuf import json_format, struct_pb2
from google.protobuf.message import DecodeError, Message
from raw_http2 import ACK, SETTINGS, frame

from . import http3, mutations, reference, wire
from .mutations import Call, Mutant, Recording
from .proxy import NO_FAULT, RESPONSE, Proxy

SERVICE = "demo.v1.Demo"
MAX_TIME = 1.0
# How much later a process may end, apart from what the machine delays.
LATE = 1.0
# After this a process is killed: it hangs, however busy the machine is.
HANGS = 60.0
# The exit codes that a server can cause, rpcurl(1): the connection, and statuses.
CODES = {0, 5, *range(65, 81)}
# How often a case that ended late is run again; a machine with much to do delays any process.
TRIES = 4

DETAILS = '{"code":5,"message":"not here","afterMessages":2,"details":[{"@type":"type.googleapis.com/google.protobuf.Duration","value":"3s"}]}'
# Without a map: the parser of Python takes an entry with an unknown field for an unknown field of the message; rpcurl, Go and C++
# keep the entry.
EVERYTHING = (
    '{"doubleValue":1.5,"int64Value":"-3","stringValue":"text","bytesValue":"AAEC","color":"COLOR_GREEN","nested":{"label":"a",'
    '"child":{"number":7}},"int32s":[1,2,300],"strings":["a","b"],"choiceText":"c",'
    '"wrappedInt64":"5","fieldMask":"a.b"}'
)
ROUTES = [("grpc", "2"), ("grpc-web", "1.1"), ("grpc-web", "2"), ("connect", "1.1"), ("connect", "2")]


def calls() -> list[Call]:
    """Each protocol, version of HTTP and kind of method, with and without compression, and with errors."""
    result = []
    for protocol, http in ROUTES:
        for coding in ("identity", "gzip"):

            def add(method: str, output: str, *requests: str, unary: bool = False, stream: bool = False, fails: bool = False) -> None:
                options = ("-H", "demo-code: 8", "-H", "demo-trailer: x-a=b") if fails else ()
                result.append(Call(protocol, http, method, requests, output, options, unary, stream, coding))

            add("Hello", "HelloReply", '{"name":"Ada"}', unary=True)
            add("Hello", "HelloReply", '{"name":"Ada"}', unary=True, fails=True)
            add("Echo", "AllTypes", EVERYTHING, unary=True)
            add("Large", "LargeReply", '{"sizeBytes":3000}', unary=True)
            add("Fail", "FailReply", DETAILS, unary=True)
            add("Count", "CountReply", '{"from":1,"to":5}', stream=True)
            add("Count", "CountReply", '{"from":1,"to":3}', stream=True, fails=True)
            add("FailStream", "CountReply", DETAILS, stream=True)
            add("Sum", "SumReply", '{"value":1}', '{"value":3}')
            if http == "2":
                add("Chat", "ChatReply", '{"text":"a"}', '{"text":"b"}', stream=True)
    return result


@dataclass(frozen=True)
class World:
    """What cases run with."""

    program: Path
    descriptor_set: Path
    home: Path
    environment: dict[str, str]
    # Where certificates.py has written.
    certificates: Path
    # The environment in which the program has HTTP/3; None if no libcurl has it.
    http3: dict[str, str] | None = None

    @staticmethod
    def make(home: Path, certificates: Path) -> "World":
        """With a directory in which there are the certificates, or to which they are written."""
        if not certificates.exists():
            harness.server_module("certificates").write_certificates(certificates)
        http3 = harness.http3_rpcurl(home)
        return World(
            harness.RPCURL, harness.GENERATED / "demo.binpb", home, harness.Rpcurl(home).environment(None), certificates,
            http3 and http3.environment(None),
        )  # fmt: skip


@dataclass
class Ending:
    """How a process ended."""

    code: int | None
    out: str
    err: str
    seconds: float
    # How much later than asked for the events of this process came in the same time.
    lag: float = 0


def arguments(world: World, call: Call, url: str) -> list[str]:
    """The arguments of a call."""
    words = ["--descriptor-set", f"{world.descriptor_set}", "--protocol", call.protocol, "--accept-compression", call.coding]
    if call.http == "3":
        words += ["--http3", "--cacert", f"{world.certificates / 'ca.pem'}"]
    elif call.protocol == "grpc":
        # The server with grpcio compresses if it is asked to.
        words += ["-H", f"demo-compression: {call.coding}"] if call.coding != "identity" else []
    else:
        words.append("--http1.1" if call.http == "1.1" else "--http2-prior-knowledge")
    data = [word for request in call.requests for word in ("-d", request)]
    return [*words, *call.options, "--max-time", f"{MAX_TIME}", *data, f"{url}/{SERVICE}/{call.method}"]


class Lag:
    """Measures how late the events of this process come, which is how late those of its children come too."""

    STEP = 0.05

    def __init__(self) -> None:
        self.total = 0.0

    async def run(self) -> None:
        while True:
            start = time.monotonic()
            await asyncio.sleep(self.STEP)
            self.total += max(time.monotonic() - start - self.STEP, 0)


async def start(world: World, call: Call, port: int, lag: Lag) -> Ending:
    """Make a call of a server on this machine."""
    is_http3 = call.http == "3"
    words = arguments(world, call, f"{'https' if is_http3 else 'http'}://127.0.0.1:{port}")
    before, begin = lag.total, time.monotonic()
    process = await asyncio.create_subprocess_exec(
        world.program, *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, cwd=world.home, env=world.http3 if is_http3 else world.environment,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), HANGS)
        code = process.returncode
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
        out, err, code = b"", b"", None
    seconds = time.monotonic() - begin
    return Ending(code, out.decode(errors="replace"), err.decode(errors="replace"), seconds, lag.total - before)


# Recording

# What differs from one recording to the next.
DATE = b"Sat, 28 Nov 2026 12:00:00 GMT"
DATE_OF_HTTP1 = re.compile(rb"(?<=\r\ndate: )[^\r]*")
TIME_OF_GZIP = re.compile(rb"(?<=\x1f\x8b\x08\0).{4}", re.DOTALL)


def steady(data: bytes, http: str) -> bytes:
    """The same response at another time."""
    data = TIME_OF_GZIP.sub(bytes(4), data)
    if http == "1.1":
        return DATE_OF_HTTP1.sub(DATE, data)
    frames, decoder, encoder = mutations.frames_of(data), hpack.Decoder(), hpack.Encoder()
    for each in frames:
        if each.kind == wire.HEADERS:
            fields = decoder.decode(each.payload, raw=True)
            each.payload = encoder.encode([(name, DATE if name == b"date" else value) for name, value in fields])
    return b"".join(each.encode() for each in frames)


async def record(world: World, grpc_port: int, connect_port: int, all_calls: list[Call]) -> list[Recording]:
    """Make calls of real servers, and keep what these send."""
    recordings, lag = [], Lag()
    for call in all_calls:
        async with Proxy(grpc_port if call.protocol == "grpc" else connect_port, NO_FAULT) as proxy:
            ending = await start(world, call, proxy.port, lag)
            data = bytes(proxy.connections[0].forwarded[RESPONSE]) if proxy.connections else b""
        data = steady(data, call.http)
        for reader in reference.READERS[call.http]:
            response = reader(data, False)
            mutant = Mutant(call, data, [])
            fails = bool(call.options) or call.method.startswith("Fail")
            found = findings(mutant, ending, [response])
            if found or (ending.code == 0) == fails or not response.has_ended:
                raise SystemExit(f"{call}: {reader.__name__}: {found}, {response}\n{ending}")
        recordings.append(Recording(call, data, response))
        if call.http == "2" and world.http3:
            frames = http3.frames_of_response(random.Random(0), response)
            recordings.append(Recording(replace(call, http="3"), mutations.encode_units(frames), response))
    return recordings


# The server

READERS = reference.READERS | {"3": (http3.strict, http3.lenient)}
FORMS = mutations.FORMS | {
    "3": mutations.Form(
        http3.frames_of_response, http3.change_frames, ends=("close",) * 5 + ("reset", "gone", "open", "open")
    )
}  # fmt: skip


class Replay:
    """Answers each connection with the bytes of a mutant."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.tasks: set[asyncio.Task] = set()

    async def __aenter__(self) -> "Replay":
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
                await self.respond(reader, writer)
        finally:
            self.tasks.discard(task)
            writer.transport.abort()

    async def respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        mutant = self.mutant
        if mutant.has_handshake:
            writer.write(frame(SETTINGS, 0, 0, b""))
        if not mutant.is_early:
            await (self.read_http2 if mutant.call.http == "2" else self.read_http1)(reader, writer)
        for start, end in zip([0, *mutant.cuts], [*mutant.cuts, len(mutant.data)], strict=True):
            if start:
                await asyncio.sleep(0.01)
            writer.write(mutant.data[start:end])
            await writer.drain()
        if mutant.end == "reset":
            # After the client has had time to read.
            await asyncio.sleep(0.02)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        if mutant.end == "close":
            writer.write_eof()
        # Unread bytes would make the end a reset.
        while await reader.read(1 << 16):
            pass

    async def read_http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read up to the end of the request."""
        await reader.readexactly(24)
        while True:
            head = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(head[:3], "big"))
            kind, flags = head[3], head[4]
            if kind == SETTINGS and not flags & ACK and self.mutant.has_handshake:
                writer.write(frame(SETTINGS, ACK, 0, b""))
            if kind in (wire.DATA, wire.HEADERS) and flags & wire.END_STREAM:
                return

    async def read_http1(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        _, _, length = head.partition(b"\r\ncontent-length:")
        if length:
            await reader.readexactly(int(length.split()[0]))
        elif b"chunked" in head:
            await reader.readuntil(b"0\r\n\r\n")


# What is required


def normalize(message: Message) -> None:
    """Make equal what has one form in JSON: NaN of any bits, and a `Value` without a kind, which is null."""
    if isinstance(message, struct_pb2.Value) and not message.WhichOneof("kind"):
        message.null_value = struct_pb2.NULL_VALUE
    for each, value in message.ListFields():
        is_map = each.message_type and each.message_type.GetOptions().map_entry
        if is_map and each.message_type.fields_by_name["value"].message_type:
            normalize_all(value.values())
        elif each.message_type and not is_map:
            normalize_all(value if each.is_repeated else [value])
        elif each.is_repeated and not is_map:
            value[:] = [math.nan if number != number else number for number in value]
        elif value != value:
            setattr(message, each.name, math.nan)


def normalize_all(messages: Iterable[Message]) -> None:
    for message in messages:
        normalize(message)


def parsed(call: Call, parse: Callable[[Message], object]) -> bytes | None:
    """A message in binary, without unknown fields; None if it cannot be parsed, or has no form in JSON."""
    message = getattr(demo, call.output)()
    try:
        parse(message)
        message.DiscardUnknownFields()
        normalize(message)
        json_format.MessageToJson(message)
    except (DecodeError, json_format.Error, ValueError, TypeError):
        return None
    return message.SerializeToString(deterministic=True)


def findings(mutant: Mutant, ending: Ending, responses: list[reference.Response]) -> list[str]:
    """The requirements that a case does not meet."""
    if ending.code is None:
        return [f"no end within {HANGS} s, {TRIES} times"]
    call, found = mutant.call, []
    errors = [line for line in ending.err.splitlines() if line.startswith("rpcurl: ")]
    if ending.code not in CODES:
        found.append(f"exit code {ending.code}")
    if "Fatal error" in ending.err or "Sanitizer" in ending.err:
        found.append("a crash")
    if len(errors) != (ending.code != 0):
        found.append(f"exit code {ending.code}, but {len(errors)} errors")
    if ending.out and not ending.out.endswith("\n"):
        found.append("a part of a line")
    printed = [parsed(call, lambda message, line=line: json_format.Parse(line, message)) for line in ending.out.splitlines()]
    if None in printed:
        return [*found, "a line that is no message"]
    readings = [reference.read(call.protocol, call.is_unary, response) for response in responses]
    texts = [[parsed(call, lambda message, data=data: message.ParseFromString(data)) for data in each.messages] for each in readings]
    if ending.code == 0:
        if not any(each.status == 0 and text == printed for each, text in zip(readings, texts, strict=True)):
            found.append("exit code 0, but no reference reads this")
        if not call.streams_response and len(printed) != 1:
            found.append(f"exit code 0, but {len(printed)} messages")
    elif not any(printed == text[: len(printed)] for text in texts):
        found.append("messages that no reference reads")
    return found


def is_late(ending: Ending) -> bool:
    return ending.seconds > MAX_TIME + LATE + ending.lag


# Cases


@dataclass
class Result:
    number: int
    mutant: Mutant
    ending: Ending
    found: list[str]
    # Whether h2 or h11, and the lenient reader, read a success.
    reads: tuple[bool, ...]
    # How often it ended late.
    late: int = 0
    responses: list[reference.Response] = field(default_factory=list)

    def __str__(self) -> str:
        mutant, ending = self.mutant, self.ending
        lines = [
            f"case {self.number}: {mutant.call}: {'; '.join(self.found) or 'as required'}",
            f"    changes: {', '.join(mutant.changes)}; cuts {mutant.cuts}, end {mutant.end}"
            f"{', handshake' * mutant.has_handshake}{', early' * mutant.is_early}",
            f"    exit code {ending.code} after {ending.seconds:.2f} s, of which {ending.lag:.2f} s of the machine",
            *(f"    out: {line[:200]}" for line in ending.out.splitlines()[:10]),
            *(f"    err: {line[:300]}" for line in ending.err.splitlines()[:10]),
            *(f"    reference: {f'{response}'[:600]}" for response in self.responses),
            f"    bytes: {mutant.data[:3000]!r}",
        ]
        return "\n".join(lines)


async def run(world: World, recordings: list[Recording], seed: int, number: int, lag: Lag) -> Result:
    """Run a case."""
    mutant = mutations.mutant(random.Random(f"{seed} {number}"), recordings, number, FORMS)
    late = 0
    while True:
        replay = http3.Replay(mutant, world.certificates) if mutant.call.http == "3" else Replay(mutant)
        async with replay:
            ending = await start(world, mutant.call, replay.port, lag)
        if not is_late(ending):
            break
        late += 1
        print(f"case {number}: end after {ending.seconds:.1f} s, of which {ending.lag:.1f} s of the machine, run {late}", flush=True)
        if late == TRIES:
            break
    responses = [reader(mutant.data, mutant.end == "close") for reader in READERS[mutant.call.http]]
    found = findings(mutant, ending, responses)
    if late == TRIES:
        found.append(f"{TRIES} times more than {LATE} s after --max-time")
    reads = tuple(reference.read(mutant.call.protocol, mutant.call.is_unary, each).status == 0 for each in responses)
    return Result(number, mutant, ending, found, reads, late, responses)


async def results(
    world: World, recordings: list[Recording], seed: int, numbers: range, jobs: int, seconds: float = float("inf")
) -> AsyncIterator[Result]:
    """Run cases in order, `jobs` at a time, until the time has passed."""
    lag = Lag()
    measure = asyncio.create_task(lag.run())
    end, running, rest = time.monotonic() + seconds, set(), iter(numbers)
    try:
        while True:
            while len(running) < jobs and time.monotonic() < end and (number := next(rest, None)) is not None:
                running.add(asyncio.create_task(run(world, recordings, seed, number, lag)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        measure.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(measure, *running, return_exceptions=True)


def outcome(result: Result) -> str:
    """A line of the summary."""
    strict, lenient = result.reads
    reads = {(True, True): "both read", (True, False): "only the strict one reads", (False, True): "only the lenient one reads"}
    code = "success" if result.ending.code == 0 else "failure"
    return f"{result.mutant.call.protocol} over {result.mutant.call.http}: {code}, {reads.get((strict, lenient), 'neither reads')}"


async def fuzz(world: World, ports: list[int], chosen: argparse.Namespace) -> int:
    """Run cases for a time; returns the number of those that are wrong."""
    recordings = await record(world, *ports, calls())
    missing = "" if world.http3 else ", without HTTP/3: make http3-libcurl"
    print(f"{len(recordings)} recorded calls, seed {chosen.seed}{missing}", flush=True)
    numbers = range(chosen.cases) if chosen.only is None else range(chosen.only, chosen.only + 1)
    counts, wrong, total, late, begin, reported = Counter(), 0, 0, 0, time.monotonic(), time.monotonic()
    async with contextlib.aclosing(results(world, recordings, chosen.seed, numbers, chosen.jobs, chosen.seconds)) as ended:
        async for result in ended:
            total, late = total + 1, late + result.late
            counts[outcome(result)] += 1
            if result.found or chosen.only is not None:
                wrong += bool(result.found)
                print(result, flush=True)
            if time.monotonic() - reported >= 60:
                reported = time.monotonic()
                print(f"{reported - begin:6.0f} s: {total} cases, {wrong} wrong, {late} late runs", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    print(f"seed {chosen.seed}: {total} cases in {time.monotonic() - begin:.0f} s, {late} late runs, {wrong} wrong")
    return wrong


def main() -> int:
    from .matrix import servers

    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--cases", type=int, default=1 << 62)
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=4 * (os.cpu_count() or 1))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, servers(harness) as ports:
        world = World.make(Path(home), Path(home) / "certificates")
        return 1 if asyncio.run(fuzz(world, ports, chosen)) else 0


if __name__ == "__main__":
    sys.exit(main())
