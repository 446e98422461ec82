"""An HTTP/2 server that sends the given frames, valid or not.

It writes frames by hand, since libraries refuse to send what a broken server sends.
"""

import socket
import struct
from collections.abc import Callable

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
CANCEL = 8

OK = [(":status", "200"), ("content-type", "application/grpc")]
STATUS_OK = [("grpc-status", "0")]
# demo.v1.HelloReply{message: "Ada"}
RESPONSE = b"\0\0\0\0\x05\x0a\x03Ada"


def header_block(fields: list[tuple[str, str | bytes]]) -> bytes:
    """Fields in HPACK, each a literal that is not indexed (RFC 7541, section 6.2.2)."""

    def text(value: str | bytes) -> bytes:
        value = value if isinstance(value, bytes) else value.encode()
        length, encoded = len(value), b""
        if length < 127:
            return bytes([length]) + value
        length -= 127
        while length >= 128:
            encoded += bytes([length % 128 + 128])
            length //= 128
        return b"\x7f" + encoded + bytes([length]) + value

    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def frame(kind: int, flags: int, stream: int, payload: bytes, length: int | None = None) -> bytes:
    """A frame; with `length`, that of its head is another than that of its payload."""
    length = len(payload) if length is None else length
    return struct.pack(">I", length)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


# What ends an HTTP/2 connection with an error (RFC 9113, section 5.4.1), for a connection whose open stream is 1.
VIOLATIONS = {
    "large-headers": frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(20_000)),
    "large-data": frame(DATA, 0, 1, bytes(20_000)),
    "large-unknown": frame(0x42, 0, 1, bytes(20_000)),
    "large-head": frame(DATA, 0, 1, b"", length=20_000),
    "hpack": frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\x7f"),
    "ping": frame(PING, 0, 0, b"abc"),
    "settings": frame(SETTINGS, 0, 0, b"abc"),
    "idle-stream": frame(DATA, 0, 99, b"abc"),
    "continuation": frame(CONTINUATION, END_HEADERS, 1, b""),
    "garbage": b"\xff" * 500,
}


class Stream:
    """The server's side of one call."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self.connection = connection
        self.number = number

    def frame(self, kind: int, flags: int = 0, payload: bytes = b"", stream: int | None = None) -> None:
        self.connection.sendall(frame(kind, flags, self.number if stream is None else stream, payload))

    def headers(self, fields, end: bool = False) -> None:
        self.frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), header_block(fields))

    def data(self, payload: bytes, end: bool = False) -> None:
        self.frame(DATA, END_STREAM if end else 0, payload)

    def reset(self, code: int) -> None:
        self.frame(RST_STREAM, 0, struct.pack(">I", code))

    def go_away(self, last_stream: int, code: int = 0, text: bytes = b"") -> None:
        self.frame(GOAWAY, 0, struct.pack(">II", last_stream, code) + text, stream=0)

    def wait_until_read(self) -> None:
        """Wait until the client has read all frames that were sent so far: it acknowledges a PING."""
        self.frame(PING, 0, b"8 bytes.", stream=0)
        while True:
            kind, flags, _, _ = read_frame(self.connection)
            if kind == PING and flags & ACK:
                return

    def wait_for_the_end(self) -> list[int]:
        """Read until the client closes; returns the types of the frames that came."""
        kinds = []
        try:
            while True:
                kinds.append(read_frame(self.connection)[0])
        except EOFError:
            return kinds


def read_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def read_frame(connection: socket.socket) -> tuple[int, int, int, bytes]:
    header = read_exactly(connection, 9)
    payload = read_exactly(connection, int.from_bytes(header[:3], "big"))
    return header[3], header[4], int.from_bytes(header[5:], "big"), payload


def handler(respond: Callable[[Stream], None], waits: bool = True) -> Callable[[socket.socket], None]:
    """A handler for `raw_server`: it receives a request over HTTP/2 and then calls `respond`.

    Without `waits`, it calls it after the request's headers, and does not read the body.
    """

    def handle(connection: socket.socket) -> None:
        try:
            read_exactly(connection, 24)
            control = Stream(connection, 0)
            control.frame(SETTINGS)
            while True:
                kind, flags, number, payload = read_frame(connection)
                if kind == SETTINGS and not flags & ACK:
                    control.frame(SETTINGS, ACK)
                if kind == DATA and payload and waits:
                    grant = struct.pack(">I", len(payload))
                    control.frame(WINDOW_UPDATE, 0, grant)
                    control.frame(WINDOW_UPDATE, 0, grant, stream=number)
                if (kind in (DATA, HEADERS) and flags & END_STREAM) or (kind == HEADERS and not waits):
                    break
            stream = Stream(connection, number)
            respond(stream)
            # Closing a connection with unread bytes would reset it, and the response would be lost.
            stream.wait_for_the_end()
        except EOFError:
            return

    return handle
