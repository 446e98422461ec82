#!/usr/bin/env python3
"""An Arrow Flight server: tables in memory, on the gRPC of C++.

It has the table "numbers", and keeps what DoPut sends. DoExchange sends each batch back. The action "fail" ends with
the error that its body names.
"""

import os
import signal
from collections.abc import Iterator

import pyarrow
import server_process
from pyarrow import flight

ERRORS = {
    "cancelled": flight.FlightCancelledError, "invalid": pyarrow.ArrowInvalid, "timed out": flight.FlightTimedOutError,
    "not found": pyarrow.ArrowKeyError, "unauthorized": flight.FlightUnauthorizedError,
    "not implemented": pyarrow.ArrowNotImplementedError, "internal": flight.FlightInternalError,
    "unavailable": flight.FlightUnavailableError, "unauthenticated": flight.FlightUnauthenticatedError,
}  # fmt: skip


def numbers() -> pyarrow.Table:
    """200,000 rows, in two batches."""
    count = 200_000
    columns = {
        "number": pyarrow.array(range(count), pyarrow.int64()),
        "text": pyarrow.array([f"Größe {number % 7}" if number % 5 else None for number in range(count)]),
    }
    table = pyarrow.table(columns)
    return pyarrow.Table.from_batches(table.to_batches(max_chunksize=count // 2))


class PasswordHandler(flight.ServerAuthHandler):
    """A handshake with a password gives the token that calls have."""

    def __init__(self, password: str) -> None:
        super().__init__()
        self.password = password.encode()

    def authenticate(self, outgoing, incoming) -> None:
        if incoming.read() != self.password:
            raise flight.FlightUnauthenticatedError("wrong password")
        outgoing.write(b"token")

    def is_valid(self, token: bytes) -> bytes:
        if token != b"token":
            raise flight.FlightUnauthenticatedError("no token")
        return b"ada"


class Tables(flight.FlightServerBase):
    def __init__(self, password: str | None) -> None:
        super().__init__("grpc://127.0.0.1:0", auth_handler=PasswordHandler(password) if password else None)
        self.tables = {"numbers": numbers()}

    def info(self, name: str) -> flight.FlightInfo:
        table = self.tables[name]
        endpoint = flight.FlightEndpoint(name.encode(), [])
        return flight.FlightInfo(
            table.schema, flight.FlightDescriptor.for_path(name), [endpoint], table.num_rows, table.nbytes
        )

    def list_flights(self, context, criteria: bytes) -> Iterator[flight.FlightInfo]:
        for name in self.tables:
            yield self.info(name)

    def get_flight_info(self, context, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
        return self.info(descriptor.path[0].decode())

    def do_get(self, context, ticket: flight.Ticket) -> flight.FlightDataStream:
        return flight.RecordBatchStream(self.tables[ticket.ticket.decode()])

    def do_put(self, context, descriptor: flight.FlightDescriptor, reader, writer) -> None:
        table = reader.read_all()
        self.tables[descriptor.path[0].decode()] = table
        writer.write(f"{table.num_rows} rows".encode())

    def do_exchange(self, context, descriptor: flight.FlightDescriptor, reader, writer) -> None:
        writer.begin(reader.schema)
        for chunk in reader:
            writer.write_batch(chunk.data)

    def do_action(self, context, action: flight.Action) -> list[bytes]:
        if action.type == "fail":
            raise ERRORS[action.body.to_pybytes().decode()]("Größe 100 %")
        return [action.body.to_pybytes(), action.body.to_pybytes()]


def main() -> None:
    parser = server_process.arguments(__doc__)
    parser.add_argument("--password", help="require a handshake with it")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if options.exit_with_stdin:
        server_process.exit_with_stdin()
    server = Tables(options.password)
    server_process.announce(f"127.0.0.1:{server.port}")
    server.serve()


if __name__ == "__main__":
    main()
