"""The proxy of faults for HTTP/3: it ends QUIC on both sides, and forwards the bytes of streams as they are.

A fault is at a byte of the stream of a request, as it is at a byte of a connection of TCP. The streams of settings and of QPACK are
forwarded without faults. A lost, repeated or changed datagram is repaired by QUIC, so that it makes no difference to a call.
"""

import asyncio
import functools
import ssl
from collections.abc import Callable
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection

from . import http3
from .proxy import DATAGRAMS, NO_FAULT, REQUEST, RESPONSE, Connection, Fault, Proxy
from .stream import DELAY_SECONDS, READ_SECONDS, Stream

# H3_INTERNAL_ERROR, of streams that are reset and of connections that are closed.
ERROR = 0x102
# What aioquic raises for a stream that has ended, is reset, or was stopped by the peer.
REFUSALS = (AssertionError, RuntimeError, ValueError)


class QUICStream(Stream):
    """One side of the stream of a request."""

    def __init__(self, side: "Side", number: int) -> None:
        self.side, self.number = side, number
        # Bytes, none at the end, None if the peer has reset the stream or closed the connection.
        self.received: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def receive(self) -> bytes:
        data = await self.received.get()
        if data is None:
            raise ConnectionResetError
        return data

    async def send(self, data: bytes, is_last: bool = False) -> None:
        try:
            self.side._quic.send_stream_data(self.number, data, is_last)
        except REFUSALS:
            raise ConnectionResetError from None
        self.side.transmit()

    async def end_output(self) -> None:
        await self.send(b"", True)

    async def close(self) -> None:
        """Close the connection when the peer has read what was sent. Nothing more is forwarded."""
        self.side.is_closing = True
        await self.drain()
        self.side.close(ERROR)

    async def drain(self) -> None:
        """Wait until the peer has acknowledged what was sent, and a moment longer, until it has handled it."""
        # As `ping` of aioquic does, which leaves an exception if its task is canceled before the connection ends.
        acknowledged = asyncio.get_running_loop().create_future()
        acknowledged.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.side._ping_waiters[id(acknowledged)] = acknowledged
        self.side._quic.send_ping(id(acknowledged))
        self.side.transmit()
        await asyncio.wait([acknowledged], timeout=READ_SECONDS)
        await asyncio.sleep(DELAY_SECONDS)

    def reset(self) -> None:
        for end in (self.side._quic.reset_stream, self.side._quic.stop_stream):
            try:
                end(self.number, ERROR)
            except REFUSALS:
                pass
        self.side.transmit()


class Side(QuicConnectionProtocol):
    """The connection with the client, or the one with the server."""

    def __init__(
        self, quic: QuicConnection, stream_handler: object = None, *, received: Callable[["Side", events.QuicEvent], None]
    ) -> None:
        super().__init__(quic)
        self.is_closing = False
        self.streams: dict[int, QUICStream] = {}
        # By kind of stream, the number of the next one that this side opens.
        self.next: dict[int, int] = {}
        self.quic_event_received = functools.partial(received, self)

    def stream(self, number: int) -> QUICStream:
        if number not in self.streams:
            self.streams[number] = QUICStream(self, number)
        return self.streams[number]

    def open(self, number: int) -> None:
        """Open a stream and those before it: for aioquic, a stream before an open one has ended."""
        kind = number % 4
        for each in range(self.next.get(kind, kind), number + 1, 4):
            self._quic.send_stream_data(each, b"")
            self.next[kind] = each + 4


class Near(Side):
    """The connection with the client, whose datagrams may have a fault."""

    fault: Fault = NO_FAULT
    mark: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.counts = {REQUEST: 0, RESPONSE: 0}

    def connection_made(self, transport) -> None:
        super().connection_made(Sender(self, transport))

    def datagram_received(self, data: bytes, address) -> None:
        for each in self.changed(REQUEST, data):
            super().datagram_received(each, address)

    def changed(self, direction: str, data: bytes) -> list[bytes]:
        """The datagrams that arrive for one that is sent."""
        fault, number = self.fault, self.counts[direction]
        self.counts[direction] += 1
        if fault.kind not in DATAGRAMS or fault.direction != direction or not fault.offset <= number < fault.offset + fault.length:
            return [data]
        self.mark()
        if fault.kind == "lose":
            return []
        if fault.kind == "repeat":
            return [data, data]
        return [data[:-1] + bytes([data[-1] ^ fault.mask])]


class Sender:
    """The transport of a connection with the client."""

    def __init__(self, near: Near, transport) -> None:
        self.near, self.transport = near, transport

    def sendto(self, data: bytes, address) -> None:
        for each in self.near.changed(RESPONSE, data):
            self.transport.sendto(each, address)


class QUICProxy(Proxy):
    """Forwards connections of QUIC to a port. The first `connections` streams of requests have the fault."""

    def __init__(self, port: int, fault: Fault, connections: int, certificates: Path) -> None:
        super().__init__(port, fault, connections)
        self.certificates = certificates
        self.carriers = 0
        # Those of which a datagram had a fault.
        self.changed: set[int] = set()

    async def __aenter__(self) -> "QUICProxy":
        self.server = await serve(
            "127.0.0.1", 0, configuration=http3.configuration(self.certificates), create_protocol=self.accept_connection,
        )  # fmt: skip
        self.port: int = self.server._transport.get_extra_info("sockname")[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end_all()
        self.server.close()

    def accept_connection(self, quic: QuicConnection, stream_handler: object = None) -> Near:
        queue: asyncio.Queue[tuple[Side, events.QuicEvent]] = asyncio.Queue()
        near = Near(quic, received=lambda side, event: queue.put_nowait((side, event)))
        if self.carriers < self.limit:
            near.fault, near.mark = self.fault, functools.partial(self.mark, self.carriers)
        self.start(self.relay(near, queue, self.carriers))
        self.carriers += 1
        return near

    def mark(self, carrier: int) -> None:
        """Record that a datagram of a connection had the fault."""
        self.changed.add(carrier)
        for connection in self.connections:
            connection.faulted |= connection.carrier == carrier

    async def relay(self, near: Near, queue: asyncio.Queue, carrier: int) -> None:
        """Forward one connection, from its first event."""
        event = await queue.get()
        configuration = QuicConfiguration(is_client=True, alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE, server_name="localhost")
        transport, far = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Side(QuicConnection(configuration=configuration), received=lambda side, event: queue.put_nowait((side, event))),
            local_addr=("127.0.0.1", 0),
        )
        try:
            far.connect(("127.0.0.1", self.upstream_port))
            while not isinstance(event[1], events.ConnectionTerminated):
                side, received = event
                self.handle_event(side, far if side is near else near, received, carrier)
                event = await queue.get()
        finally:
            for side in (near, far):
                side.close(ERROR)
                for stream in side.streams.values():
                    stream.received.put_nowait(None)
            transport.close()

    def handle_event(self, side: Side, other: Side, event: events.QuicEvent, carrier: int) -> None:
        number = getattr(event, "stream_id", None)
        is_request = number is not None and number % 4 == 0
        if side.is_closing or other.is_closing:
            return
        match event:
            case events.StreamDataReceived() if is_request:
                if number not in side.streams:
                    # A client opens the streams of requests.
                    other.open(number)
                    fault = self.fault if len(self.connections) < self.limit and self.fault.kind not in DATAGRAMS else NO_FAULT
                    self.connections.append(Connection(carrier, faulted=carrier in self.changed))
                    self.start(self.forward(side.stream(number), other.stream(number), self.connections[-1], fault))
                received = side.stream(number).received
                if event.data:
                    received.put_nowait(event.data)
                if event.end_stream:
                    received.put_nowait(b"")
            case events.StreamReset() if is_request:
                side.stream(number).received.put_nowait(None)
            case events.StreamDataReceived():
                other.open(number)
                other._quic.send_stream_data(number, event.data, event.end_stream)
                other.transmit()
            case events.StopSendingReceived() if number in other.streams:
                try:
                    other._quic.stop_stream(number, event.error_code)
                except REFUSALS:
                    return
                other.transmit()
