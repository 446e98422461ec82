"""What a client can have received: the messages in the bytes that were forwarded, and whether the calls are complete."""

import re
from dataclasses import dataclass, field

DATA, HEADERS, RST_STREAM, CONTINUATION = 0, 1, 3, 9
END_STREAM, END_HEADERS, PADDED = 1, 4, 8

# What a server may not send on the stream of a request over HTTP/3: CANCEL_PUSH, SETTINGS, GOAWAY and MAX_PUSH_ID, which belong to other
# streams, frames of HTTP/2 (RFC 9114, sections 7.2 and 7.2.8), and PUSH_PROMISE, which libcurl does not allow.
FORBIDDEN = {2, 3, 4, 5, 6, 7, 8, 9, 13}

# Lines of HTTP/1.1. libcurl accepts several CR at the end of a line.
# libcurl takes a line that begins with CR, which no server sends, for the end of the head.
HEAD_END, LINE_END = re.compile(rb"\r*\n(\r[^\n]*)?\n"), re.compile(rb"\r*\n")
CHUNK_LENGTH = re.compile(rb"[0-9a-fA-F]+")

# Flags of an envelope: compressed, and the last one of Connect and of gRPC-Web.
COMPRESSED, END_OF_CONNECT, TRAILERS_OF_WEB = 0x01, 0x02, 0x80
ENVELOPE_HEAD = 5


@dataclass
class Response:
    """One response on the wire."""

    # Whether the head is whole, and its status, if HTTP/1.1 shows it without HPACK.
    has_head: bool = False
    status: int | None = None
    body: bytes = b""
    # Whether the body, and for gRPC the trailers, have ended.
    has_ended: bool = False
    # Whether its framing is invalid, or what follows cannot be divided into frames.
    is_broken: bool = False


@dataclass
class Answer:
    """One response, read by a protocol."""

    messages: list[bytes] = field(default_factory=list)
    # Whether all that the protocol requires of a response has arrived.
    is_complete: bool = False
    # The same, but the end of the HTTP response, which has no content, is missing.
    lacks_only_end: bool = False
    # Whether its headers arrived.
    has_begun: bool = False
    # Whether the client has received all of it that was forwarded. Another stream of its connection may have ended that.
    is_certain: bool = True
    is_broken: bool = False

    @property
    def has_succeeded(self) -> bool:
        """A server may notice a deadline before its client, and end the call with that status: without a message."""
        return self.is_complete and bool(self.messages)


def frames(data: bytes, start: int = 0):
    """The whole frames of HTTP/2 and the last part of one: (offset, type, flags, stream, payload, is whole)."""
    while start + 9 <= len(data):
        length = int.from_bytes(data[start : start + 3], "big")
        stream = int.from_bytes(data[start + 5 : start + 9], "big") & 0x7FFFFFFF
        payload = data[start + 9 : start + 9 + length]
        yield start, data[start + 3], data[start + 4], stream, payload, len(payload) == length
        start += 9 + length


def place_of_content(data: bytes, size: int) -> int | None:
    """The position in HTTP/2 behind `size` bytes of content; None if there is less."""
    for position, kind, _, _, payload, _ in frames(data):
        if kind == DATA:
            if size <= len(payload):
                return position + 9 + size
            size -= len(payload)
    return None


def read_http2(data: bytes) -> dict[int, Response]:
    """The responses by stream."""
    responses: dict[int, Response] = {}
    open_block: int | None = None
    ends = False
    for _, kind, flags, stream, payload, is_whole in frames(data):
        if stream == 0 or kind not in (DATA, HEADERS, CONTINUATION, RST_STREAM):
            continue
        response = responses.setdefault(stream, Response())
        if kind == DATA:
            if flags & PADDED:
                padding = payload[0] if payload else 0
                payload = payload[1 : len(payload) - padding] if is_whole else payload[1:]
            if not response.has_ended:
                response.body += payload
            response.has_ended |= bool(is_whole and flags & END_STREAM)
        elif kind == HEADERS and is_whole:
            ends = bool(flags & END_STREAM)
            open_block = stream
        if kind in (HEADERS, CONTINUATION) and is_whole and flags & END_HEADERS and open_block == stream:
            response.has_head = True
            response.has_ended |= ends
        if kind == RST_STREAM and is_whole and not response.has_ended:
            response.is_broken = True
    return responses


def integer(data: bytes, position: int) -> tuple[int, int] | None:
    """An integer of QUIC (RFC 9000, section 16) and the position after it; None if it is not whole."""
    size = 1 << (data[position] >> 6) if position < len(data) else 9
    if position + size > len(data):
        return None
    return int.from_bytes(data[position : position + size], "big") & ((1 << 8 * size - 2) - 1), position + size


def http3_frames(data: bytes):
    """The frames of the stream of a request, and the last part of one: (offset, type, offset of the payload, payload, is whole)."""
    position = 0
    while (kind := integer(data, position)) and (length := integer(data, kind[1])):
        start, end = length[1], length[1] + length[0]
        payload = data[start:end]
        yield position, kind[0], start, payload, len(payload) == length[0]
        position = end


def read_http3(data: bytes, has_ended: bool, needs_trailers: bool) -> Response:
    """The response in the bytes of a stream, whose end was forwarded or not. Of gRPC, only trailers complete it."""
    response, position, blocks = Response(), 0, 0
    for _, kind, start, payload, is_whole in http3_frames(data):
        position = start + len(payload)
        if kind == DATA:
            response.body += payload
        if kind == HEADERS and is_whole:
            response.has_head = True
            blocks += 1
        if kind in FORBIDDEN:
            response.is_broken = True
            return response
        if not is_whole:
            response.is_broken = has_ended
            return response
        if blocks > 1:
            # Nothing but the end of the stream may follow trailers.
            response.has_ended = True
            return response
    # The head of a frame may be incomplete, or there may be no frame.
    response.is_broken = has_ended and (position < len(data) or not response.has_head)
    response.has_ended = has_ended and not response.is_broken and not needs_trailers
    return response


def read_http1(data: bytes) -> list[Response]:
    """The responses of a connection, in order."""
    responses: list[Response] = []
    while data:
        if responses:
            # libcurl drops what arrives together with the end of a chunked body.
            data = data[max(data.find(b"HTTP/"), 0) :]
        response = Response()
        responses.append(response)
        # A line may end with LF alone (RFC 9112, section 2.2).
        end = HEAD_END.search(data)
        if not end:
            break
        head, rest = data[: end.start()], data[end.end() :]
        response.has_head = True
        lines = head.split(b"\n")
        try:
            response.status = int(lines[0].split()[1])
        except (IndexError, ValueError):
            response.is_broken = True
            break
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            fields[name.strip().lower()] = value.strip()
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            data = read_chunks(response, rest)
        elif b"content-length" in fields:
            try:
                length = int(fields[b"content-length"])
            except ValueError:
                response.is_broken = True
                break
            response.body = rest[:length]
            response.has_ended = len(rest) >= length
            data = rest[length:]
        else:
            # Until the connection is closed, which the caller knows of.
            response.body = rest
            break
        if not response.has_ended:
            break
    return responses


def read_chunks(response: Response, data: bytes) -> bytes:
    """Read a chunked body; returns what follows it."""
    while True:
        line, separator, rest = data.partition(b"\n")
        if not separator:
            return b""
        try:
            length = int(CHUNK_LENGTH.match(line)[0], 16)
        except (TypeError, ValueError):
            response.is_broken = True
            return b""
        # Without trailers, an empty line ends the body.
        part = rest[:length]
        end = LINE_END.match(rest, length)
        response.body += part
        if not end:
            response.is_broken = len(rest) >= length + 2
            return b""
        if length == 0:
            response.has_ended = True
            return rest[end.end() :]
        data = rest[end.end() :]


def read(protocol: str, is_unary: bool, response: Response) -> Answer:
    """Read the response of a protocol. `is_unary` matters for Connect, whose unary message is the body."""
    answer = Answer(has_begun=response.has_head, is_broken=response.is_broken)
    if protocol == "connect" and is_unary:
        answer.is_complete = response.has_ended
        if response.has_ended and response.status in (None, 200):
            answer.messages = [response.body]
        return answer
    body, position, ended = response.body, 0, False
    while position + ENVELOPE_HEAD <= len(body):
        flags = body[position]
        length = int.from_bytes(body[position + 1 : position + ENVELOPE_HEAD], "big")
        end = position + ENVELOPE_HEAD + length
        if ended or flags not in (0, END_OF_CONNECT if protocol == "connect" else TRAILERS_OF_WEB):
            answer.is_broken = True
            break
        if end > len(body):
            break
        content = body[position + ENVELOPE_HEAD : end]
        position = end
        if flags:
            ended = True
        else:
            answer.messages.append(content)
    is_divided = position == len(body)
    if protocol == "grpc":
        answer.is_complete = response.has_ended and is_divided
    else:
        answer.is_complete = ended and response.has_ended and is_divided
        answer.lacks_only_end = ended and is_divided and not response.has_ended
    return answer
