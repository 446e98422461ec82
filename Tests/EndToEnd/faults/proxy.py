"""A TCP proxy on 127.0.0.1 that makes one fault at a chosen byte of one direction of a connection.

With a context of TLS, clients use TLS and the server does not: the byte is one of the contents, and an end has no alert.
"""

import asyncio
import contextlib
import socket
import ssl
from dataclasses import dataclass, field

from raw_http2 import VIOLATIONS

from . import wire
from .stream import DELAY_SECONDS, SecureStream, Stream

REQUEST, RESPONSE = "request", "response"


@dataclass(frozen=True)
class Fault:
    """What happens after `offset` bytes of one direction were forwarded.

    kind:
        none       nothing
        delay      a pause, then the rest
        trickle    a pause, then each byte in a segment of its own, for `length` bytes
        close      both directions end, with FIN
        half       this direction ends with FIN; the other continues
        reset      both sides receive RST, after they have read what was forwarded
        stall      nothing more is forwarded in this direction, and nothing ends
        drop       the next `length` bytes are missing
        flip       the next byte is changed by an exclusive or with `mask`
        twice      the next `length` bytes come twice
        violate    what HTTP/2 forbids, by its name in VIOLATIONS; then as `stall`. It is sent after the frame at the offset
        lose, repeat, spoil   of QUIC: `length` datagrams of this direction after the first `offset` do not arrive, arrive twice, or are
                   changed

    Over HTTP/3, the bytes are those of the stream of a request: `close` closes its connection, `half` ends this direction of the stream,
    and `reset` resets the stream.

    With `of_content`, only bytes of content count, of HTTP/2: peers send settings and windows when they like.
    """

    kind: str
    direction: str = RESPONSE
    offset: int = 0
    length: int = 1
    mask: int = 0xFF
    violation: str = ""
    of_content: bool = False

    def __str__(self) -> str:
        extra = {
            **dict.fromkeys(("drop", "twice", *DATAGRAMS), f"+{self.length}"), "flip": f"^{self.mask:#04x}", "violate": f"+{self.violation}",
        }.get(self.kind, "")  # fmt: skip
        return f"{self.kind}@{self.direction}:{self.offset}{extra}"


NO_FAULT = Fault("none")
# The faults that end the forwarding of a direction.
ENDINGS = ("close", "half", "reset", "stall", "violate")
# Those that change bytes.
CHANGES = ("drop", "flip", "twice")
# Those of datagrams, which QUIC repairs.
DATAGRAMS = ("lose", "repeat", "spoil")


class Ended(Exception):
    """Nothing more is forwarded in a direction."""


@dataclass
class Connection:
    """What passed through one connection of TCP, or one stream of QUIC."""

    # The number of the connection. Streams of one connection have the same.
    carrier: int
    forwarded: dict[str, bytearray] = field(default_factory=lambda: {REQUEST: bytearray(), RESPONSE: bytearray()})
    # The directions whose end was forwarded.
    ended: set[str] = field(default_factory=set)
    # Whether the fault was made.
    faulted: bool = False


class Proxy:
    """Forwards connections to a port. The first `connections` of them have the fault."""

    accepting: asyncio.Task | None = None

    def __init__(
        self, port: int, fault: Fault, connections: int = 1, context: ssl.SSLContext | None = None
    ) -> None:
        self.upstream_port, self.fault, self.limit, self.context = port, fault, connections, context
        self.connections: list[Connection] = []
        self.tasks: set[asyncio.Task] = set()

    async def __aenter__(self) -> "Proxy":
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.listener.setblocking(False)
        self.port: int = self.listener.getsockname()[1]
        self.accepting = self.start(self.accept())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.accepting = None
        await self.end_all()
        self.listener.close()

    async def end_all(self) -> None:
        """End all connections, but accept others."""
        tasks = [task for task in self.tasks if task is not self.accepting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def start(self, work) -> asyncio.Task:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    @property
    def faulted(self) -> bool:
        return any(connection.faulted for connection in self.connections)

    async def accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(self.listener)
            fault = self.fault if len(self.connections) < self.limit else NO_FAULT
            self.connections.append(Connection(len(self.connections)))
            self.start(self.handle(client, self.connections[-1], fault))

    async def handle(self, client: socket.socket, connection: Connection, fault: Fault) -> None:
        with client, socket.socket() as server:
            near, far = SecureStream(client, self.context) if self.context else Stream(client), Stream(server)
            if isinstance(near, SecureStream):
                try:
                    await near.accept()
                except OSError:
                    return
            await asyncio.get_running_loop().sock_connect(server, ("127.0.0.1", self.upstream_port))
            await self.forward(near, far, connection, fault)

    async def forward(self, near: Stream, far: Stream, connection: Connection, fault: Fault) -> None:
        """Forward both directions between a client and a server."""
        pipes = [Pipe(near, far, REQUEST, connection, fault), Pipe(far, near, RESPONSE, connection, fault)]
        tasks = [self.start(pipe.run()) for pipe in pipes]
        results = await asyncio.gather(*(self.until_reset(task, tasks) for task in tasks))
        if any(results):
            for end in (near, far):
                end.reset()

    async def until_reset(self, task: asyncio.Task, all_tasks: list[asyncio.Task]) -> bool:
        """Wait for a direction; a reset ends both. Returns whether it was reset."""
        try:
            await task
        except Ended:
            return False
        except Reset:
            for other in all_tasks:
                other.cancel()
            return True
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
        return False


class Reset(Exception):
    """The fault, or a peer, resets the connection."""


@dataclass
class Pipe:
    """One direction of a connection."""

    source: Stream
    sink: Stream
    direction: str
    connection: Connection
    fault: Fault
    # Bytes received so far.
    received: int = 0

    async def run(self) -> None:
        applies = self.fault.kind != "none" and self.fault.direction == self.direction
        if applies and self.fault.offset == 0:
            await self.end()
        while True:
            try:
                data = await self.source.receive()
            except OSError:
                # The peer reset its side: so is the other.
                raise Reset from None
            if not data:
                await self.end_output()
                return
            start = self.received
            self.received += len(data)
            place = self.place(data) if applies else None
            if place is None or self.received < place:
                await self.forward(data)
                continue
            cut = max(place - start, 0)
            if not self.connection.faulted:
                await self.forward(data[:cut])
                await self.end()
                data = data[cut:]
            await self.forward(await self.changed(data, max(start - self.fault.offset, 0)))

    def place(self, data: bytes) -> int | None:
        """The number of bytes after which the fault is made; None if that is not known before more is received."""
        if self.fault.of_content:
            return wire.place_of_content(bytes(self.connection.forwarded[self.direction]) + data, self.fault.offset)
        if self.fault.kind != "violate":
            return self.fault.offset
        frames = wire.frames(bytes(self.connection.forwarded[self.direction]) + data)
        ends = [position + 9 + len(payload) for position, *_, payload, is_whole in frames if is_whole]
        return next((end for end in [0, *ends] if end >= self.fault.offset), None)

    async def end(self) -> None:
        """Make a fault that ends something, or pause."""
        kind = self.fault.kind
        if kind in CHANGES:
            return
        self.connection.faulted = True
        if kind == "reset":
            for end in (self.sink, self.source):
                await end.drain()
            raise Reset
        if kind == "close":
            for end in (self.sink, self.source):
                with contextlib.suppress(OSError):
                    await end.close()
        if kind == "half":
            await self.end_output()
        if kind == "violate":
            # Not recorded: no part of a response.
            try:
                await self.sink.send(VIOLATIONS[self.fault.violation])
            except OSError:
                raise Reset from None
        if kind != "delay" and kind != "trickle":
            await self.discard()
        await asyncio.sleep(DELAY_SECONDS)

    async def end_output(self) -> None:
        """End this direction, unless the peer has ended it. Recorded first, as what is forwarded."""
        self.connection.ended.add(self.direction)
        try:
            await self.sink.end_output()
        except OSError:
            self.connection.ended.remove(self.direction)

    async def discard(self) -> None:
        """Receive without forwarding, so that the source is not blocked and its end is no reset."""
        try:
            while await self.source.receive():
                pass
        except OSError:
            raise Reset from None
        # A stall is kept until the other side ends.
        raise Ended

    async def changed(self, data: bytes, position: int) -> bytes:
        """The bytes that are forwarded for `data`, which begins `position` bytes after the fault's offset."""
        fault = self.fault
        if not data:
            return data
        if fault.kind == "trickle" and position < fault.length:
            single = data[: fault.length - position]
            for byte in single:
                await self.forward(bytes([byte]))
                await asyncio.sleep(0)
            return data[len(single) :]
        if fault.kind == "flip" and position == 0 and not self.connection.faulted:
            self.connection.faulted = True
            return bytes([data[0] ^ fault.mask]) + data[1:]
        if fault.kind == "drop" and position < fault.length:
            self.connection.faulted = True
            return data[fault.length - position :]
        if fault.kind == "twice" and not self.connection.faulted and position == 0:
            self.connection.faulted = True
            return data[: fault.length] + data
        return data

    async def forward(self, data: bytes) -> None:
        if not data:
            return
        # Recorded first: all that arrives is recorded.
        forwarded = self.connection.forwarded[self.direction]
        forwarded += data
        try:
            await self.sink.send(data)
        except OSError:
            del forwarded[-len(data) :]
            # A close has ended this direction too.
            raise Ended if self.connection.faulted and self.fault.kind == "close" else Reset from None
