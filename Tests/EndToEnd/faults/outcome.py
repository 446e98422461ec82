"""How a run of the program ended, and the requests and responses that the proxy forwarded during it."""

from dataclasses import dataclass, replace

from . import wire
from .cases import PREFACE_BYTES, SERVICE, Case
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
    def faulted(self) -> bool:
        return any(connection.faulted for connection in self.connections)


def answers(case: Case, outcome: Outcome) -> list[wire.Answer]:
    """The responses that were forwarded, connection by connection."""
    route, result = case.route, []
    for connection in outcome.connections:
        data = bytes(connection.forwarded[RESPONSE])
        # After a failure without a response, rpcurl asks the server which version of HTTP it has.
        has_http1 = data.startswith(b"HTTP/")
        if route.http == "2" and not has_http1:
            responses = [response for _, response in sorted(wire.read_http2(data).items())]
        elif route.http == "1.1" and has_http1 and is_called(case, bytes(connection.forwarded[REQUEST])):
            responses = wire.read_http1(data)
        else:
            responses = []
        result += [wire.read(route.protocol, route.method.is_unary, response) for response in responses]
    return result


def is_called(case: Case, request: bytes) -> bool:
    """Whether a connection of HTTP/1.1 has calls. A change may concern the first of them only."""
    return request.startswith(b"POST ") or f" /{SERVICE}/{case.route.method.name} ".encode() in request


def requests(case: Case, outcome: Outcome) -> int:
    """The number of requests that were sent."""
    count = 0
    for connection in outcome.connections:
        data = bytes(connection.forwarded[REQUEST])
        if data.startswith(b"PRI "):
            count += sum(kind == wire.HEADERS for _, kind, *_ in wire.frames(data, PREFACE_BYTES))
        else:
            count += data.count(b"POST /")
    return count
