"""Recorded responses of servers, and mutations of them at each level: fields, envelopes, frames and lines, bytes.

A mutation is a function of a generator of random numbers, so that a seed makes the same bytes each time.
"""

import gzip
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import raw_http2
from raw_http2 import frame, header_block

from . import reference, wire
from .reference import Fields, Response


@dataclass(frozen=True)
class Call:
    """A call that is recorded, and made again with each mutation of its response."""

    protocol: str
    http: str
    method: str
    requests: tuple[str, ...]
    # The name of the type of the response.
    output: str
    options: tuple[str, ...] = ()
    # Whether the request and the response have one message each.
    is_unary: bool = False
    streams_response: bool = False
    coding: str = "identity"

    def __str__(self) -> str:
        words = [self.protocol, f"http{self.http}", self.method, self.coding, *(["failed"] if self.options else [])]
        return "-".join(words)


@dataclass(frozen=True)
class Recording:
    """The bytes that a server sent in response to a call."""

    call: Call
    data: bytes
    response: Response


@dataclass
class Mutant:
    """A changed response, and how it is sent."""

    call: Call
    data: bytes
    # What was done, by name.
    changes: list[str]
    # Where the bytes are divided, with a pause between two pieces.
    cuts: list[int] = field(default_factory=list)
    # How the connection ends, or over HTTP/3 the stream: "close", "reset", or "open", if it does not; over HTTP/3 also "gone", if
    # the connection ends instead.
    end: str = "close"
    # Of HTTP/2: whether the server sends SETTINGS first and acknowledges those of the client, or only sends its bytes.
    has_handshake: bool = False
    # Whether the bytes are sent before the request has ended.
    is_early: bool = False


# Bytes


def span(chance: random.Random, size: int, most: int = 40) -> tuple[int, int]:
    """A range of positions below `size`, usually a short one."""
    start = chance.randrange(size + 1)
    return start, min(size, start + chance.choice([1, 1, 2, 3, 4, 5, 9, chance.randint(1, most)]))


def flip(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


def overwrite(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + chance.choice([b"\0", b"\xff", b"\r", b"\n", b"0", chance.randbytes(1)]) + data[place + 1 :]


def delete(chance: random.Random, data: bytes) -> bytes:
    start, end = span(chance, len(data))
    return data[:start] + data[end:]


def duplicate(chance: random.Random, data: bytes) -> bytes:
    start, end = span(chance, len(data))
    return data[:end] + data[start:]


def swap(chance: random.Random, data: bytes) -> bytes:
    first, second, third, fourth = sorted(chance.randrange(len(data) + 1) for _ in range(4))
    return data[:first] + data[third:fourth] + data[second:third] + data[first:second] + data[fourth:]


def truncate(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def insert(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(chance.choice([1, 2, 5, 9, 40])) + data[place:]


OF_BYTES = (flip, flip, overwrite, delete, duplicate, swap, truncate, insert)


def change_list(chance: random.Random, items: list) -> str:
    """Delete, duplicate, move, or end after an item; returns which."""
    if not items:
        return "nothing"
    place, kind = chance.randrange(len(items)), chance.choice(["delete", "duplicate", "move", "truncate"])
    match kind:
        case "delete":
            del items[place]
        case "duplicate":
            items.insert(chance.randrange(len(items) + 1), items[place])
        case "move":
            items.insert(chance.randrange(len(items)), items.pop(place))
        case "truncate":
            del items[place:]
    return kind


# Fields

VALUES = (
    b"", b"0", b"1", b"-1", b"00", b"16", b"17", b"99", b"999999999999", b"+0", b" 0", b"0 ", b"0,0", b"200", b"100", b"204",
    b"gzip", b"identity", b"deflate", b"br", b"chunked", b"gzip, chunked", b"application/grpc", b"application/grpc-web-text",
    b"application/proto", b"application/json", b"application/connect+proto", b"text/html", b"%41%", b"%00%0a", b"a\xff",
)  # fmt: skip
NAMES = (
    b"grpc-status", b"grpc-message", b"grpc-encoding", b"grpc-status-details-bin", b"content-type", b"content-encoding",
    b"content-length", b"connect-content-encoding", b"transfer-encoding", b"trailer-grpc-status", b"connection", b"x-a",
    b"X-Upper", b"", b":status", b":path", b"trailer", b"te", b"x-bin",
)  # fmt: skip


def change_fields(chance: random.Random, fields: Fields) -> str:
    kind = chance.choice(["list", "value", "value", "add", "name", "byte", "status"])
    if kind == "list" or not fields:
        return "field " + change_list(chance, fields)
    place = chance.randrange(len(fields))
    name, value = fields[place]
    match kind:
        case "value":
            fields[place] = name, chance.choice(VALUES)
        case "add":
            fields.insert(place, (chance.choice(NAMES), chance.choice([*VALUES, chance.randbytes(3).hex().encode()])))
        case "name":
            fields[place] = chance.choice([chance.choice(NAMES), name.upper(), name + b" "]), value
        case "byte":
            fields[place] = name, chance.choice(OF_BYTES)(chance, value or b"0")
        case "status":
            fields[:] = [(key, chance.choice(VALUES) if key in (b"grpc-status", b":status") else old) for key, old in fields]
    return f"field {kind}"


# Envelopes


def envelopes(body: bytes) -> list[tuple[int, bytes]]:
    """The flags and contents of the envelopes of a recorded body."""
    result, position = [], 0
    while position + wire.ENVELOPE_HEAD <= len(body):
        length = int.from_bytes(body[position + 1 : position + wire.ENVELOPE_HEAD], "big")
        position += wire.ENVELOPE_HEAD
        result.append((body[position - wire.ENVELOPE_HEAD], body[position : position + length]))
        position += length
    return result


def change_body(chance: random.Random, body: bytes, call: Call) -> tuple[bytes, str]:
    """Change the body by its envelopes, or the message of a unary call of Connect."""
    if call.protocol == "connect" and call.is_unary:
        change = chance.choice(OF_BYTES)
        return change(chance, body or b"\0"), f"message {change.__name__}"
    items = envelopes(body)
    kind = chance.choice(["list", "flags", "length", "message", "message", "add", "compress"])
    place = chance.randrange(len(items)) if items else 0
    if kind in ("list", "add") or not items:
        kind = "add" if not items else kind
        if kind == "list":
            kind = "list " + change_list(chance, items)
        else:
            added = chance.choice([(0, b""), (1, b""), (2, b"{}"), (0x80, b"grpc-status: 0\r\n"), (0, b"\x08\x07"), (3, b""), (0x40, b"a")])
            items.insert(chance.randrange(len(items) + 1), added)
        return encoded(items), f"envelope {kind}"
    flags, content = items[place]
    match kind:
        case "flags":
            items[place] = chance.choice([flags ^ (1 << chance.randrange(8)), chance.randrange(256)]), content
        case "message":
            items[place] = flags, chance.choice(OF_BYTES)(chance, content or b"\0")
        case "compress":
            items[place] = flags | 1, gzip.compress(content)
        case "length":
            length = chance.choice([len(content) - 1, len(content) + 1, 0, 0xFFFF_FFFF, 0x7FFF_FFFF, 1 << 22, chance.randrange(300)])
            head = bytes([flags]) + struct.pack(">I", max(length, 0))
            return encoded(items[:place]) + head + content + encoded(items[place + 1 :]), "envelope length"
    return encoded(items), f"envelope {kind}"


def encoded(items: list[tuple[int, bytes]]) -> bytes:
    return b"".join(bytes([flags]) + struct.pack(">I", len(content)) + content for flags, content in items)


def change_response(chance: random.Random, response: Response, call: Call) -> tuple[Response, str]:
    """Change fields or envelopes, which are the same in each version of HTTP."""
    part = chance.choice(["headers", "body", "body", "trailers"])
    if part == "body":
        body, what = change_body(chance, response.body, call)
        return replace(response, body=body), what
    fields = list(getattr(response, part))
    what = change_fields(chance, fields)
    return replace(response, **{part: fields}), f"{part} {what}"


# Frames of HTTP/2


@dataclass
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes
    # Of its head; None if it is that of the payload.
    length: int | None = None

    def encode(self) -> bytes:
        return frame(self.kind, self.flags, self.stream, self.payload, self.length)


def frames_of(data: bytes) -> list[Frame]:
    return [Frame(kind, flags, stream, payload) for _, kind, flags, stream, payload, _ in wire.frames(data)]


def pieces(chance: random.Random, data: bytes, most: int = 3) -> list[bytes]:
    """Divide data at random places; the pieces may be empty."""
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(most)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def frames_of_response(chance: random.Random, response: Response) -> list[Frame]:
    """Write a response as frames of stream 1."""
    result = []
    ends_with_headers = not response.body and not response.trailers
    for number, part in enumerate(pieces(chance, header_block_of(response.headers))):
        result.append(Frame(wire.CONTINUATION if number else wire.HEADERS, 0, 1, part))
    result[-1].flags |= wire.END_HEADERS
    if ends_with_headers:
        result[0].flags |= wire.END_STREAM
        return result
    result += [Frame(wire.DATA, 0, 1, part) for part in pieces(chance, response.body)]
    if response.trailers:
        flags = wire.END_HEADERS | wire.END_STREAM
        result.append(Frame(wire.HEADERS, flags, 1, header_block_of(response.trailers)))
    else:
        result[-1].flags |= wire.END_STREAM
    return result


def header_block_of(fields: Fields) -> bytes:
    return header_block([(name, value) for name, value in fields])


def other_frame(chance: random.Random) -> Frame:
    """A frame that may come between those of a response, or may not."""
    number = chance.choice([0, 1, 2, 7, 65_535, 1 << 24, 0x7FFF_FFFF, 0xFFFF_FFFF])
    four = struct.pack(">I", number)
    return chance.choice(
        [
            Frame(raw_http2.PING, 0, 0, b"12345678"),
            Frame(raw_http2.PING, raw_http2.ACK, 0, b"12345678"),
            Frame(raw_http2.SETTINGS, 0, 0, struct.pack(">HI", chance.randrange(1, 10), number)),
            Frame(raw_http2.SETTINGS, raw_http2.ACK, 0, b""),
            Frame(raw_http2.WINDOW_UPDATE, 0, chance.choice([0, 1, 3]), four),
            Frame(raw_http2.GOAWAY, 0, 0, struct.pack(">II", chance.choice([0, 1, 0x7FFF_FFFF]), chance.randrange(14)) + b"why"),
            Frame(raw_http2.RST_STREAM, 0, chance.choice([1, 1, 3]), struct.pack(">I", chance.randrange(14))),
            # PRIORITY, PUSH_PROMISE, ALTSVC, ORIGIN, and an unknown type.
            Frame(2, 0, 1, b"\0\0\0\0\x10"),
            Frame(5, 4, 1, b"\0\0\0\x02" + header_block([(":method", "GET")])),
            Frame(10, 0, 0, b"\0\x01ah3=\":443\""),
            Frame(12, 0, 0, b"\0\x08http://a"),
            Frame(0x42, chance.randrange(256), chance.choice([0, 1, 5]), b"unknown"),
            Frame(wire.CONTINUATION, wire.END_HEADERS, 1, b""),
            Frame(wire.DATA, 0, chance.choice([1, 3]), b""),
            Frame(wire.HEADERS, wire.END_HEADERS, 1, header_block([(":status", "103")])),
            Frame(wire.HEADERS, wire.END_HEADERS | wire.END_STREAM, chance.choice([1, 3]), header_block([("grpc-status", "0")])),
        ]
    )


def change_frames(chance: random.Random, frames: list[Frame], others: list[Frame]) -> str:
    kind = chance.choice(["list", "kind", "flags", "stream", "length", "payload", "add", "add", "pad", "divide", "splice"])
    if kind == "add" or not frames:
        frames.insert(chance.randrange(len(frames) + 1), other_frame(chance))
        return "frame add"
    place = chance.randrange(len(frames))
    changed = replace(frames[place])
    match kind:
        case "list":
            return "frame " + change_list(chance, frames)
        case "splice":
            start = chance.randrange(len(others) + 1)
            frames[place:] = others[start:]
            return "frame splice"
        case "kind":
            changed.kind = chance.choice([*range(10), chance.randrange(256)])
        case "flags":
            changed.flags = chance.choice([changed.flags ^ (1 << chance.choice([0, 0, 2, 3, 5])), chance.randrange(256)])
        case "stream":
            changed.stream = chance.choice([0, 1, 2, 3, 0x7FFF_FFFF, 0x8000_0001])
        case "length":
            size = len(changed.payload)
            changed.length = chance.choice([max(size - 1, 0), size + 1, 0, size + 9, 16_384, 16_385, 0xFF_FFFF, chance.randrange(300)])
        case "payload":
            changed.payload = chance.choice(OF_BYTES)(chance, changed.payload or b"\0")
        case "pad":
            padding = chance.randrange(256)
            changed.payload = bytes([padding]) + changed.payload + bytes(chance.choice([padding, padding, 3]))
            changed.flags |= wire.PADDED
        case "divide":
            parts = pieces(chance, changed.payload, 5)
            first = [replace(changed, payload=part, flags=changed.flags & ~wire.END_STREAM) for part in parts]
            first[-1].flags = changed.flags
            frames[place : place + 1] = first
            return "frame divide"
    frames[place] = changed
    return f"frame {kind}"


# Lines of HTTP/1.1

LINES = (
    b"transfer-encoding: chunked", b"content-length: 5", b"content-length: 0", b"content-encoding: gzip", b" folded", b"no colon",
    b"connection: close", b"connection: keep-alive", b"upgrade: h2c", b": no name", b"x-nul: a\0b", b"content-length: -1",
    b"content-length: 99999999999999999999", b"transfer-encoding: gzip, chunked", b"trailer: grpc-status", b"set-cookie: a=b",
)  # fmt: skip
FIRST_LINES = (
    b"HTTP/1.1 200 OK", b"HTTP/1.0 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 Early Hints", b"HTTP/1.1 204 No Content",
    b"HTTP/1.1 304 Not Modified", b"HTTP/1.1 500 Error", b"HTTP/1.1 101 Switching Protocols", b"HTTP/2 200", b"HTTP/0.9 200 OK",
    b"HTTP/1.1 407 Proxy", b"HTTP/1.1 302 Found", b"HTTP/1.1 999 x", b"HTTP/1.1 20 x", b"ICY 200 OK", b"http/1.1 200 ok",
)  # fmt: skip


def lines_of_response(chance: random.Random, response: Response) -> list[bytes]:
    """Write a response as lines, with a length or in chunks, each with its end; the content of a chunk is a line too."""
    status = reference.last(response.headers, b":status") or b"200"
    lines = [b"HTTP/1.1 " + status + b" x\r\n"]
    skipped = (b":status", b"content-length", b"transfer-encoding")
    lines += [name + b": " + value + b"\r\n" for name, value in response.headers if name not in skipped]
    form = "chunked" if response.trailers else chance.choice(["chunked", "chunked", "length", "close"])
    if form == "length":
        lines.append(b"content-length: %d\r\n" % len(response.body))
    if form != "chunked":
        return [*lines, b"\r\n", response.body]
    lines += [b"transfer-encoding: chunked\r\n", b"\r\n"]
    for part in pieces(chance, response.body):
        if part:
            extension = chance.choice([b"", b"", b"", b";a=b", b" "])
            lines += [b"%x%s\r\n" % (len(part), extension), part + b"\r\n"]
    trailers = [name + b": " + value + b"\r\n" for name, value in response.trailers]
    return [*lines, b"0\r\n", *trailers, b"\r\n"]


def change_lines(chance: random.Random, lines: list[bytes], others: list[bytes]) -> str:
    kind = chance.choice(["list", "bytes", "add", "first", "end", "splice", "length", "interim"])
    place = chance.randrange(len(lines)) if lines else 0
    if kind == "list" or not lines:
        return "line " + change_list(chance, lines)
    match kind:
        case "bytes":
            lines[place] = chance.choice(OF_BYTES)(chance, lines[place] or b"0")
        case "add":
            lines.insert(place, chance.choice(LINES) + b"\r\n")
        case "first":
            lines[0] = chance.choice(FIRST_LINES) + b"\r\n"
        case "interim":
            lines[:0] = [chance.choice(FIRST_LINES) + b"\r\n", b"x-a: b\r\n", b"\r\n"]
        case "end":
            lines[place] = lines[place].rstrip(b"\r\n") + chance.choice([b"\n", b"\r", b"", b"\r\r\n", b"\n\n", b" \r\n"])
        case "splice":
            lines[place:] = others[chance.randrange(len(others) + 1) :]
        case "length":
            numbers = [number for number, line in enumerate(lines) if line.lower().startswith(b"content-length")]
            sizes = [number for number, line in enumerate(lines) if wire.CHUNK_LENGTH.match(line.rstrip()) and len(line) < 8]
            if numbers or sizes:
                chosen = chance.choice(numbers or sizes)
                value = chance.choice([b"0", b"1", b"5", b"7fffffff", b"ffffffffffffffff", b"10000000000000000", b"-5", b"0x5", b"+5"])
                lines[chosen] = (b"content-length: " if numbers else b"") + value + b"\r\n"
    return f"line {kind}"


# Together


@dataclass(frozen=True)
class Form:
    """How a version of HTTP writes a response: as units, which are frames or lines."""

    write: Callable[[random.Random, Response], list]
    # Changes a list of units, or replaces some by those of another response; returns what was done.
    change: Callable[[random.Random, list, list], str]
    # The units of recorded bytes; None if only `write` makes units.
    units: Callable[[bytes], list] | None = None
    ends: tuple[str, ...] = ("close",) * 6 + ("reset", "open", "open")


FORMS = {"2": Form(frames_of_response, change_frames, frames_of), "1.1": Form(lines_of_response, change_lines)}


def encode_units(units: list) -> bytes:
    return b"".join(unit if isinstance(unit, bytes) else unit.encode() for unit in units)


def mutant(chance: random.Random, recordings: list[Recording], number: int, forms: dict[str, Form] = FORMS) -> Mutant:
    """A changed response to the call of a recording, by its number."""
    recording = recordings[number % len(recordings)]
    other = chance.choice([each for each in recordings if each.call.http == recording.call.http])
    call, changes, data = recording.call, [], recording.data
    # Recorded bytes have a handshake of their own.
    has_handshake = False
    level = chance.choice(["response", "response", "unit", "unit", "bytes", "splice", "both"])
    form = forms[call.http]
    if level in ("response", "unit", "both"):
        response = recording.response
        for _ in range(chance.choice([1, 1, 1, 2, 3]) if level != "unit" else 0):
            response, what = change_response(chance, response, call)
            changes.append(what)
        units, others = form.write(chance, response), form.write(chance, other.response)
        if form.units and level == "unit" and chance.random() < 0.5:
            # As the server wrote them.
            units, others = form.units(recording.data), form.units(other.data)
        elif call.http == "2":
            has_handshake = chance.random() < 0.7
            if not has_handshake:
                units.insert(0, Frame(raw_http2.SETTINGS, 0, 0, b""))
        for _ in range(chance.choice([1, 1, 1, 2, 3]) if level != "response" else 0):
            changes.append(form.change(chance, units, others))
        data = encode_units(units)
    elif level == "splice":
        data = data[: chance.randrange(len(data))] + other.data[chance.randrange(len(other.data)) :]
        changes.append("splice")
    if level == "bytes" or chance.random() < 0.1:
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            if data:
                change = chance.choice(OF_BYTES)
                data = change(chance, data)
                changes.append(f"byte {change.__name__}")
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice([0, 0, 0, 1, 2, 3])))
    return Mutant(
        call, data, changes, cuts, chance.choice(form.ends), has_handshake, chance.random() < 0.2
    )
