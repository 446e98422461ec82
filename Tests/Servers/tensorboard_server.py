#!/usr/bin/env python3
"""TensorBoard's data server, on tonic (Rust), with the events of one run: a scalar "loss" at each step, and an image.

It reads them after it has begun to listen.
"""

import struct
from pathlib import Path

import foreign_server
import tensorboard_data_server

STEPS = 1000
# Longer than one message of the response that has it.
IMAGE = bytes(range(256)) * (40 << 10)


def varint(value: int) -> bytes:
    rest = value >> 7
    return bytes([value & 0x7F | (0x80 if rest else 0)]) + (varint(rest) if rest else b"")


def field(number: int, value: int | float | bytes) -> bytes:
    """A field of protobuf: of type int64, double, or bytes (also a message or a string)."""
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3) + varint(value)


def event(step: int, tag: str, value: bytes) -> bytes:
    """tensorflow.Event with wall_time, step and summary."""
    return field(1, 1e9 + step) + field(2, step) + field(5, field(1, field(1, tag.encode()) + value))


def record(data: bytes) -> bytes:
    """A record of TFRecord. The server does not verify the checksum of the data."""
    length = struct.pack("<Q", len(data))
    checksum = crc32c(length)
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return length + struct.pack("<I", masked) + data + bytes(4)


def crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def write_events(file: Path) -> None:
    # Summary.Value.simple_value is a float, field 2, and image is field 4.
    losses = [event(step, "loss", b"\x15" + struct.pack("<f", 1 / (step + 1))) for step in range(STEPS)]
    image = field(1, 2) + field(2, 3) + field(3, 3) + field(4, IMAGE)
    version = field(1, 1e9) + field(3, b"brain.Event:2")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(map(record, [version, event(0, "image", field(4, image)), *losses])))


def main() -> None:
    options = foreign_server.arguments(__doc__).parse_args()
    # The package has no program for some machines.
    program = tensorboard_data_server.server_binary() or foreign_server.program("tensorboard-data-server")
    logs = options.directory / "logs"
    write_events(logs / "training" / "events.out.tfevents.1")

    def command(port: int) -> list[str]:
        return [program, "--logdir", str(logs), "--reload", "once", "--host", "127.0.0.1", "--port", str(port)]

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
