"""How a run of the program ended, and the requests and responses that the proxy forwarded during it."""

from dataclasses import dataclass, replace

from . import wire
from .cases import CONCURRENT, PREFACE_BYTES, SERVICE, Case
from .proxy import REQUEST, RESPONSE, Connection


@dataclass
class Outcome:
    """How a run of the program ended, and what was forwarded during it."""

    code: int | None
    out: str
    err: str
    seconds: float
    # The deadline of each call.
    deadline: float
    connections: list[Connection]

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("rpcurl: ")]

    @property
    def first(self) -> "Outcome":
        """The same, with the first connection only, which has the fault if one of them has."""
        return replace(self, connections=self.connections[:1])

    @property
    def carrier(self) -> "Outcome":
        """The same, with all streams of the first connection."""
        return replace(self, connections=[each for each in self.connections if each.carrier == self.connections[0].carrier])

    @property
    def faulted(self) -> bool:
        return any(connection.faulted for connection in self.connections)


def answers(case: Case, outcome: Outcome) -> list[wire.Answer]:
    """The responses that were forwarded, connection by connection."""
    route, result = case.route, []
    for connection in outcome.connections:
        data = bytes(connection.forwarded[RESPONSE])
        # After a failure without a response, rpcurl asks the server which version of HTTP it has.
        has_http1 = data.startswith(b"HTTP/")
        if route.http == "3":
            responses = [wire.read_http3(data, RESPONSE in connection.ended, needs_trailers=route.protocol == "grpc")]
        elif route.http == "2" and not has_http1:
            responses = [response for _, response in sorted(wire.read_http2(data).items())]
        elif route.http == "1.1" and has_http1 and is_called(case, bytes(connection.forwarded[REQUEST])):
            responses = wire.read_http1(data)
        else:
            responses = []
        for response in responses:
            result.append(wire.read(route.protocol, route.method.is_unary, response))
            result[-1].is_certain = is_certain(case, outcome, connection)
    return result


def is_certain(case: Case, outcome: Outcome, connection: Connection) -> bool:
    """Whether the client has received what was forwarded: not if it has closed the connection of QUIC because of a concurrent stream."""
    if case.route.transport != "quic" or CONCURRENT[case.route.mode] == 1 or case.fault.kind != "half":
        return True
    return connection.faulted or not any(each.faulted and each.carrier == connection.carrier for each in outcome.connections)


def is_called(case: Case, request: bytes) -> bool:
    """Whether a connection of HTTP/1.1 has calls. A change may concern the first of them only."""
    return request.startswith(b"POST ") or f" /{SERVICE}/{case.route.method.name} ".encode() in request


def requests(case: Case, outcome: Outcome) -> int:
    """The number of requests that were sent."""
    count = 0
    for connection in outcome.connections:
        data = bytes(connection.forwarded[REQUEST])
        if case.route.http == "3":
            # Each stream has one.
            count += bool(data)
        elif data.startswith(b"PRI "):
            count += sum(kind == wire.HEADERS for _, kind, *_ in wire.frames(data, PREFACE_BYTES))
        else:
            count += data.count(b"POST /")
    return count
