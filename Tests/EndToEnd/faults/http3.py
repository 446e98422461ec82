"""Responses over HTTP/3: written as bytes of a stream, read, and sent by a server of aioquic.

The bytes of QUIC cannot be recorded, since packets are encrypted with other keys each time. What is changed is the stream: its
frames, their fields and contents, and its end.
"""

import asyncio
import contextlib
import functools
import random
import re
import ssl
from dataclasses import dataclass
from pathlib import Path

import pylsqpack
from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.buffer import encode_uint_var
from aioquic.h3 import events
from aioquic.h3.connection import H3Connection
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import StreamDataReceived

from . import mutations, reference, wire
from .mutations import Mutant
from .reference import Fields, Response
from .wire import DATA, FORBIDDEN, HEADERS

CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID = 3, 4, 5, 7, 13
LARGEST = (1 << 62) - 1
# Of a reset stream and of a connection that is closed: H3_REQUEST_REJECTED and others (RFC 9114, section 8.1). Not H3_NO_ERROR, which
# a libcurl that is not the built-in one takes for the end of a stream.
CODES = (0x102, 0x10B, 0x10C, 0x101, 0)


# Writing


def integer(value: int, bits: int, first: int = 0) -> bytes:
    """An integer with a prefix of some bits (RFC 7541, section 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    result, value = bytes([first | most]), value - most
    while value >= 128:
        result, value = result + bytes([value % 128 + 128]), value // 128
    return result + bytes([value])


def field_section(fields: Fields) -> bytes:
    """Fields in QPACK, each a literal with a literal name (RFC 9204, section 4.5.6)."""
    # pylsqpack decodes no empty name; nghttp3 ignores such a field.
    lines = (integer(len(name), 3, 0x20) + name + integer(len(value), 7) + value for name, value in fields if name)
    return b"\0\0" + b"".join(lines)


STATUS_OK = field_section([(b"grpc-status", b"0")])[2:]


@dataclass
class Frame:
    kind: int
    payload: bytes
    # Of its head; None if it is that of the payload.
    length: int | None = None

    def encode(self) -> bytes:
        length = len(self.payload) if self.length is None else self.length
        return encode_uint_var(self.kind) + encode_uint_var(length) + self.payload


def frames_of_response(chance: random.Random, response: Response) -> list[Frame]:
    """Write a response as frames of its stream."""
    data = [Frame(DATA, part) for part in mutations.pieces(chance, response.body)] if response.body else []
    trailers = [Frame(HEADERS, field_section(response.trailers))] if response.trailers else []
    return [Frame(HEADERS, field_section(response.headers)), *data, *trailers]


def change_frames(chance: random.Random, frames: list[Frame], others: list[Frame]) -> str:
    kind = chance.choice(["list", "kind", "length", "payload", "add", "add", "splice"])
    if kind == "add" or not frames:
        added = [
            Frame(DATA, b""), Frame(HEADERS, field_section([(b":status", b"103")])), Frame(HEADERS, field_section([(b"grpc-status", b"0")])),
            Frame(CANCEL_PUSH, b"\0"), Frame(SETTINGS, b""), Frame(PUSH_PROMISE, b"\0\0\0"), Frame(GOAWAY, b"\0"), Frame(MAX_PUSH_ID, b"\1"),
            Frame(0x21, b"grease"), Frame(0x42, chance.randbytes(9)), Frame(2, b""),
        ]  # fmt: skip
        frames.insert(chance.randrange(len(frames) + 1), chance.choice(added))
        return "frame add"
    place = chance.randrange(len(frames))
    changed = frames[place] = Frame(frames[place].kind, frames[place].payload)
    match kind:
        case "list":
            return "frame " + mutations.change_list(chance, frames)
        case "splice":
            frames[place:] = others[chance.randrange(len(others) + 1) :]
        case "kind":
            changed.kind = chance.choice([*range(14), 0x21, LARGEST])
        case "length":
            size = len(changed.payload)
            changed.length = chance.choice([max(size - 1, 0), size + 1, 0, size + 9, 1 << 20, LARGEST, chance.randrange(300)])
        case "payload":
            changed.payload = chance.choice(mutations.OF_BYTES)(chance, changed.payload or b"\0")
    return f"frame {kind}"


# Reading


def strict(data: bytes, has_closed: bool) -> Response:
    """As aioquic reads the first stream."""
    response, quic = Response(), QuicConnection(configuration=QuicConfiguration(is_client=True, alpn_protocols=["h3"]))
    quic._close_event = None
    connection = H3Connection(quic)
    request = [(b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"a"), (b":path", b"/")]
    connection.send_headers(0, request, end_stream=True)
    for event in connection.handle_event(StreamDataReceived(data=data, end_stream=has_closed, stream_id=0)):
        if isinstance(event, events.HeadersReceived):
            reference.add_block(response, list(event.headers), event.stream_ended)
        elif isinstance(event, events.DataReceived):
            response.body += event.data
            response.has_ended = event.stream_ended
    if quic._close_event:
        response.error, response.has_ended = quic._close_event.reason_phrase or "error", False
    return response


CONTROLS = re.compile(rb"[\0-\x08\x0a-\x1f\x7f]")


def lenient(data: bytes, has_closed: bool) -> Response:
    """Each frame that can be read, also if a later one cannot.

    Trailers end a response: nothing but the end of the stream may follow. libcurl delivers their fields before the frame is
    whole, so that grpc-status is read also if the rest of them is missing or invalid. A field with a control character in its
    value is ignored, as by nghttp3.
    """
    response, decoder = Response(), pylsqpack.Decoder(0, 0)
    for _, kind, _, payload, is_whole in wire.http3_frames(data):
        if kind in FORBIDDEN:
            response.error = f"frame {kind}"
            break
        if kind == DATA and response.is_readable:
            response.body += payload
        if kind == HEADERS:
            try:
                _, fields = decoder.feed_header(0, payload if is_whole else b"")
            except (pylsqpack.DecompressionFailed, pylsqpack.StreamBlocked) as error:
                response.error = f"QPACK: {type(error).__name__}"
                if response.is_readable and STATUS_OK in payload:
                    response.trailers = [(b"grpc-status", b"0")]
            else:
                valid = [(name, value.strip(b" \t")) for name, value in fields if not CONTROLS.search(value)]
                reference.add_block(response, valid, False)
        if not is_whole or response.error or response.trailers:
            break
    response.has_ended = response.is_readable and (has_closed or bool(response.trailers))
    return response


# The server


class Protocol(QuicConnectionProtocol):
    """A connection whose requests get the bytes of a mutant."""

    def __init__(self, *arguments, mutant: Mutant, **options) -> None:
        super().__init__(*arguments, **options)
        self.mutant, self.http = mutant, None
        self.answered: set[int] = set()
        self.tasks: set[asyncio.Task] = set()

    def quic_event_received(self, event) -> None:
        if self.http is None and self._quic.tls.alpn_negotiated:
            self.http = H3Connection(self._quic)
        for received in self.http.handle_event(event) if self.http else []:
            is_request = isinstance(received, events.HeadersReceived | events.DataReceived)
            if is_request and (received.stream_ended or self.mutant.is_early) and received.stream_id not in self.answered:
                self.answered.add(received.stream_id)
                task = asyncio.create_task(self.respond(received.stream_id))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)

    async def respond(self, stream: int) -> None:
        # The client may have stopped the stream.
        with contextlib.suppress(RuntimeError):
            await self.send(stream)

    async def send(self, stream: int) -> None:
        mutant, quic = self.mutant, self._quic
        for start, end in zip([0, *mutant.cuts], [*mutant.cuts, len(mutant.data)], strict=True):
            if start:
                await asyncio.sleep(0.01)
            is_last = end == len(mutant.data) and mutant.end == "close"
            quic.send_stream_data(stream, mutant.data[start:end], is_last)
            self.transmit()
            if is_last:
                return
        if mutant.end in ("reset", "gone"):
            # After the client has had time to read.
            await asyncio.sleep(0.02)
            code = CODES[len(mutant.data) % len(CODES)]
            if mutant.end == "gone":
                quic.close(error_code=code)
            else:
                quic.reset_stream(stream, code)
            self.transmit()


class Replay:
    """Answers each request over HTTP/3 with the bytes of a mutant."""

    def __init__(self, mutant: Mutant, certificates: Path) -> None:
        self.mutant, self.certificates = mutant, certificates

    async def __aenter__(self) -> "Replay":
        self.server = await serve(
            "127.0.0.1", 0, configuration=configuration(self.certificates),
            create_protocol=functools.partial(Protocol, mutant=self.mutant),
        )  # fmt: skip
        self.port = self.server._transport.get_extra_info("sockname")[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for protocol in set(self.server._protocols.values()):
            for task in list(protocol.tasks):
                task.cancel()
        self.server.close()


@functools.cache
def configuration(certificates: Path) -> QuicConfiguration:
    result = QuicConfiguration(is_client=False, alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE)
    result.load_cert_chain(certificates / "server.pem", certificates / "server-key.pem")
    return result
