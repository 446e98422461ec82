"""Bytes of the wire: the binary format of Protobuf and the messages of gRPC, written by hand."""

import struct


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def delimited(number: int, content: bytes) -> bytes:
    """A field with a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def envelope(message: bytes, flags: int = 0) -> bytes:
    """A message of gRPC, with its prefix."""
    return struct.pack(">BI", flags, len(message)) + message
