"""What a response contains, read by decoders that have nothing in common with rpcurl.

HTTP is read twice: strictly, by h2 and h11, and leniently, by the code here. A client that succeeds must have read what one of
them reads, since neither decides alone what a client may accept:

- The lenient reader reads a stream also if the connection breaks a rule of HTTP elsewhere, such as a frame for an unknown
  stream. nghttp2 ignores some violations that h2 does not, and a response may be complete before a violation.
- h11 rejects bytes in header fields that libcurl accepts, and several equal lengths; h2 rejects spaces around values.
- libcurl ends a line at LF, with or without CR.
- The part of a DATA frame that has arrived may contain whole messages, also the last one.

Of several equal names of gRPC and Connect, such as grpc-status, the first field counts, as for rpcurl. A content type is not
compared: a wrong one is not wrong data.
"""

import gzip
import json
import zlib
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h11
import hpack

from . import wire

Fields = list[tuple[bytes, bytes]]

# No message of the recorded calls is larger, also when it was changed.
MOST_BYTES = 1 << 24


@dataclass
class Response:
    """The response of HTTP to one request, as far as it was read."""

    headers: Fields = field(default_factory=list)
    body: bytes = b""
    trailers: Fields = field(default_factory=list)
    has_ended: bool = False
    # Why nothing more could be read.
    error: str = ""

    @property
    def is_readable(self) -> bool:
        """Whether it has the headers of a final response."""
        return self.status is not None

    @property
    def status(self) -> int | None:
        try:
            return int(last(self.headers, b":status") or b"")
        except ValueError:
            return None


def last(fields: Fields, name: bytes) -> bytes | None:
    return next((value for key, value in reversed(fields) if key.lower() == name), None)


def first(fields: Fields, name: bytes) -> bytes | None:
    return next((value for key, value in fields if key.lower() == name), None)


# HTTP/2


def strict_http2(data: bytes, has_closed: bool) -> Response:
    """As h2 reads stream 1 of a connection that the server begins with these bytes."""
    response = Response()
    settings = h2.config.H2Configuration(client_side=True, header_encoding=None)
    connection = h2.connection.H2Connection(settings)
    connection.initiate_connection()
    connection.increment_flow_control_window(MOST_BYTES)
    request = [(":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/")]
    connection.send_headers(1, request, end_stream=True)
    connection.increment_flow_control_window(MOST_BYTES, 1)
    try:
        for position, *_, payload, is_whole in wire.frames(data):
            # One frame at a time, so that events before an error are seen.
            for event in connection.receive_data(data[position : position + 9 + len(payload)]):
                if getattr(event, "stream_id", 1) == 1:
                    apply(event, response)
            if response.has_ended or response.error:
                break
    except (h2.exceptions.ProtocolError, hpack.HPACKError, KeyError, ValueError, IndexError) as error:
        response.error = f"{type(error).__name__}: {error}"
    return response


def apply(event: object, response: Response) -> None:
    """Add an event of h2 to the response of the stream."""
    if isinstance(event, h2.events.ResponseReceived):
        response.headers = list(event.headers)
    elif isinstance(event, h2.events.DataReceived):
        response.body += event.data
    elif isinstance(event, h2.events.TrailersReceived):
        response.trailers = list(event.headers)
    elif isinstance(event, h2.events.StreamEnded):
        response.has_ended = True
    elif isinstance(event, h2.events.StreamReset):
        response.error = f"reset: {event.error_code}"


def lenient_http2(data: bytes, has_closed: bool) -> Response:
    """Stream 1, also if another part of the connection is wrong."""
    response, decoder = Response(), hpack.Decoder(max_header_list_size=MOST_BYTES)
    block, block_flags, block_stream = b"", 0, 0
    for position, kind, flags, stream, payload, is_whole in wire.frames(data):
        if not is_whole and kind != wire.DATA:
            break
        length = int.from_bytes(data[position : position + 3], "big")
        content = unpadded(payload, flags, length) if kind in (wire.DATA, wire.HEADERS) else payload
        if kind == wire.HEADERS:
            # A priority (RFC 9113, section 6.2).
            block, block_flags, block_stream = content[5 if flags & 0x20 else 0 :], flags, stream
        elif kind == wire.CONTINUATION and stream == block_stream:
            block += content
        if kind in (wire.HEADERS, wire.CONTINUATION) and flags & wire.END_HEADERS:
            try:
                fields = [(bytes(name), bytes(value).strip(b" \t")) for name, value in decoder.decode(block, raw=True)]
            except (hpack.HPACKError, IndexError, ValueError) as error:
                response.error = f"HPACK: {error}"
                break
            if stream == 1 == block_stream:
                add_block(response, fields, bool(block_flags & wire.END_STREAM))
        elif stream == 1 and kind == wire.DATA and response.is_readable:
            response.body += content
            response.has_ended = bool(is_whole and flags & wire.END_STREAM)
        elif stream == 1 and kind == wire.RST_STREAM:
            response.error = "reset"
        if response.has_ended or response.error:
            break
    return response


def add_block(response: Response, fields: Fields, ends: bool) -> None:
    """Add a block of fields: headers, those of an interim response, or trailers."""
    if response.is_readable:
        response.trailers = fields
    else:
        response.headers = fields
        if (response.status or 0) < 200:
            response.headers = []
    response.has_ended = ends


def unpadded(payload: bytes, flags: int, length: int) -> bytes:
    """The content of a frame of `length` bytes, of which the payload may be only the first ones."""
    if not flags & wire.PADDED or not payload:
        return payload
    return payload[1 : max(length - payload[0], 1)]


# HTTP/1.1


def strict_http1(data: bytes, has_closed: bool) -> Response:
    """As h11 reads the first response of a connection."""
    response, connection = Response(), h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_BYTES)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "a"), ("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    try:
        connection.receive_data(data)
        if has_closed:
            connection.receive_data(b"")
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Response):
                response.headers = [(b":status", b"%d" % event.status_code), *event.headers]
            elif isinstance(event, h11.Data):
                response.body += event.data
            elif isinstance(event, h11.EndOfMessage):
                response.trailers, response.has_ended = list(event.headers), True
                break
            elif isinstance(event, h11.ConnectionClosed):
                break
    except h11.RemoteProtocolError as error:
        response.error = f"{error}"
    return response


def lenient_http1(data: bytes, has_closed: bool) -> Response:
    """The first final response, with lines that end at LF."""
    response = Response()
    while not response.is_readable:
        end = wire.HEAD_END.search(data)
        if not end:
            return response
        first, *lines = data[: end.start()].split(b"\n")
        data = data[end.end() :]
        words = first.split()
        if not words or not words[0].startswith(b"HTTP/") or len(words) < 2 or not words[1][:3].isdigit():
            response.error = "no status line"
            return response
        response.headers = [] if words[1][:1] == b"1" else [(b":status", words[1][:3]), *fields_of(lines)]
    codings = last(response.headers, b"transfer-encoding") or b""
    length = last(response.headers, b"content-length")
    if b"chunked" in codings.lower():
        read_chunks(response, data)
    elif length is not None:
        if not length.isdigit():
            response.error = "content-length"
            return response
        response.body, response.has_ended = data[: int(length)], len(data) >= int(length)
    else:
        response.body, response.has_ended = data, has_closed
    return response


def fields_of(lines: list[bytes]) -> Fields:
    fields: Fields = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and fields:
            fields[-1] = (fields[-1][0], (fields[-1][1] + b" " + line.strip()).strip())
        else:
            name, _, value = line.partition(b":")
            fields.append((name.lower(), value.strip()))
    return fields


def read_chunks(response: Response, data: bytes) -> None:
    while True:
        line, separator, data = data.partition(b"\n")
        digits = wire.CHUNK_LENGTH.match(line.strip())
        if not separator or not digits:
            response.error = "no chunk" if separator else ""
            return
        length = int(digits[0], 16)
        if length >= 1 << 63:
            response.error = "a chunk without an end"
            return
        if length == 0:
            # Trailers up to an empty line.
            lines = data.split(b"\n")
            empty = next((number for number, line in enumerate(lines[:-1]) if not line.strip(b"\r")), None)
            if empty is not None:
                response.trailers, response.has_ended = fields_of(lines[:empty]), True
            return
        part, rest = data[:length], data[length:]
        response.body += part
        end = wire.LINE_END.match(rest)
        if len(part) < length or not end:
            response.error = "no end of a chunk" if len(rest) > 1 else ""
            return
        data = rest[end.end() :]


READERS = {"2": (strict_http2, lenient_http2), "1.1": (strict_http1, lenient_http1)}


# Protocols


@dataclass
class Reading:
    """A response, read by a protocol."""

    # The messages that can be read, in order.
    messages: list[bytes] = field(default_factory=list)
    # Of a response that is complete by its protocol; None of another one.
    status: int | None = None
    error: str = ""


class Unreadable(Exception):
    """A response that its protocol does not allow."""


def decompressed(data: bytes, coding: bytes | None) -> bytes:
    try:
        match (coding or b"").lower():
            case b"" | b"identity":
                return data
            # Connect and gRPC have no empty message in gzip; rpcurl and connect-go read one.
            case b"gzip":
                return gzip.decompress(data) if data else b""
            case b"deflate":
                return zlib.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"compression: {error}") from None
    raise Unreadable("unknown compression")


def read(protocol: str, is_unary: bool, response: Response) -> Reading:
    """Read a response. `is_unary` matters for Connect, whose unary message is the body."""
    reading = Reading(error=response.error)
    try:
        if not response.is_readable:
            raise Unreadable(response.error or "no headers")
        if protocol == "connect" and is_unary:
            read_connect_unary(response, reading)
        else:
            read_envelopes(protocol, response, reading)
    except Unreadable as error:
        reading.error, reading.status = f"{error}", None
    return reading


def read_connect_unary(response: Response, reading: Reading) -> None:
    if not response.has_ended:
        raise Unreadable("incomplete")
    body = decompressed(response.body, first(response.headers, b"content-encoding"))
    if response.status == 200:
        reading.messages, reading.status = [body], 0
    else:
        # Which error it is does not matter to what is required.
        reading.status = 2


def read_envelopes(protocol: str, response: Response, reading: Reading) -> None:
    is_connect = protocol == "connect"
    coding = first(response.headers, b"connect-content-encoding" if is_connect else b"grpc-encoding")
    end_flag = {"connect": wire.END_OF_CONNECT, "grpc-web": wire.TRAILERS_OF_WEB}.get(protocol)
    body, position, end = response.body, 0, None
    while position + wire.ENVELOPE_HEAD <= len(body) and end is None:
        flags = body[position]
        length = int.from_bytes(body[position + 1 : position + wire.ENVELOPE_HEAD], "big")
        content = body[position + wire.ENVELOPE_HEAD :][:length]
        if len(content) < length:
            raise Unreadable("half of a message")
        position += wire.ENVELOPE_HEAD + length
        kind = flags & ~wire.COMPRESSED
        if kind not in (0, end_flag):
            raise Unreadable(f"flags {flags}")
        if flags & wire.COMPRESSED:
            content = decompressed(content, coding or b"none")
        if kind:
            end = content
        else:
            reading.messages.append(content)
    if position != len(body):
        raise Unreadable("bytes after the last message")
    if response.status != 200:
        raise Unreadable(f"status {response.status}")
    # After the last envelope, the end of the HTTP response has no content: docs/RELIABILITY.md.
    if is_connect:
        if end is None:
            raise Unreadable("no end of the stream")
        try:
            document = json.loads(end)
            reading.status = 2 if document.get("error") is not None else 0
        except (ValueError, AttributeError):
            raise Unreadable("no JSON at the end of the stream") from None
        return
    if end is None and not response.has_ended:
        raise Unreadable("incomplete")
    if end is not None:
        trailers = fields_of(end.splitlines())
    else:
        # Without messages, the headers may be the trailers.
        trailers = response.trailers if protocol == "grpc" and response.trailers else response.headers
    status = first(trailers, b"grpc-status")
    if status is None or not status.isdigit():
        raise Unreadable("no grpc-status")
    reading.status = int(status)
