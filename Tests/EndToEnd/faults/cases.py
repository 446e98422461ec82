"""The cases: calls of every kind and protocol, in every mode of the program, with a fault at every interesting byte."""

import base64
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from raw_http2 import VIOLATIONS

from . import wire
from .proxy import CHANGES, DATAGRAMS, REQUEST, RESPONSE, Fault

SERVICE = "demo.v1.Demo"
# Larger than one frame of HTTP/2, so that a message is divided.
LARGE_BYTES = 40_000

# The protocols with their versions of HTTP, and the transports of these.
ROUTES = [("grpc", "2"), ("grpc-web", "1.1"), ("grpc-web", "2"), ("connect", "1.1"), ("connect", "2")]
ROUTES += [(protocol, "3") for protocol in ("grpc", "grpc-web", "connect")]
TRANSPORTS = ("clear", "tls", "quic")


def large_reply(size: int) -> dict:
    """The response of the method Large: bytes that repeat a pattern."""
    pattern = bytes(range(251))
    return {"payload": base64.b64encode((pattern * (size // len(pattern) + 1))[:size]).decode()}


@dataclass(frozen=True)
class Method:
    """A method of the demo service, a request, and the response without faults."""

    kind: str
    name: str
    output: str
    requests: tuple[str, ...]
    responses: tuple[dict, ...]
    # What a suite requires of the response; BATCHES has this for unary calls.
    check: str = ""

    @property
    def is_unary(self) -> bool:
        return self.kind in ("unary", "large")

    @property
    def streams_response(self) -> bool:
        return self.kind in ("server", "bidi")


METHODS = {
    method.kind: method
    for method in (
        Method("unary", "Hello", "HelloReply", ('{"name":"Ada"}',), ({"message": "Hello, Ada!", "name": "Ada"},)),
        Method("large", "Large", "LargeReply", (json.dumps({"sizeBytes": LARGE_BYTES}),), (large_reply(LARGE_BYTES),)),
        Method(
            "server", "Count", "CountReply", ('{"from":1,"to":5}',), tuple({"number": n} for n in range(1, 6)),
            "list .number == [1,2,3,4,5]",
        ),
        Method(
            "client", "Sum", "SumReply", ('{"value":1}', '{"value":2}', '{"value":3}'), ({"total": "6", "count": 3},),
            ".total == 6",
        ),
        Method(
            "bidi", "Chat", "ChatReply", tuple(f'{{"text":"{t}"}}' for t in "abc"),
            tuple({"text": f"you said: {t}"} for t in "abc"), "count == 3",
        ),
    )
}  # fmt: skip

# The interceptors of a case. With `retry`, a call that fails is made again, over a connection without a fault.
ATTEMPTS = 3
CHAINS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "header": ("--use", "header,set=x-a: b", "--use", "validate"),
    "retry": ("--use", f"retry,attempts={ATTEMPTS},initial=1ms,max=2ms,codes=unavailable+internal+unknown"),
}
# The calls of a batch, which are different: the requests, their responses, and what a suite requires of these.
NAMES = ("Ada", "Bob", "Cyd", "Dan")
BATCHES: dict[str, tuple[tuple[str, dict, str], ...]] = {
    "unary": tuple(
        (json.dumps({"name": name}), {"message": f"Hello, {name}!", "name": name}, f'.name == "{name}"') for name in NAMES
    ),
    "large": tuple(
        (json.dumps({"sizeBytes": size}), large_reply(size), f".payload size == {size}")
        for size in range(LARGE_BYTES, LARGE_BYTES + len(NAMES))
    ),
}
# The kinds of methods that each mode calls. A batch makes unary calls.
KINDS_OF_MODES = {"single": METHODS, "batch": BATCHES, "load": METHODS, "test": METHODS, "session": METHODS}
# The calls of a run in each mode, and how many of them can be in progress at a time.
CALLS = {"single": 1, "batch": len(NAMES), "load": 12, "test": len(NAMES), "session": 3}
CONCURRENT = {"single": 1, "batch": 1, "load": 3, "test": 1, "session": 1}


@dataclass(frozen=True)
class Route:
    """A way over which calls are made, and how."""

    mode: str
    protocol: str
    http: str
    kind: str
    chain: str = "plain"
    transport: str = "clear"

    @property
    def method(self) -> Method:
        return METHODS[self.kind]

    @property
    def calls(self) -> int:
        """The number of calls of a run."""
        return CALLS[self.mode]

    @property
    def rounds(self) -> int:
        """How many deadlines pass at most, one after the other, if each call is blocked."""
        return -(-self.calls // CONCURRENT[self.mode])

    def __str__(self) -> str:
        return f"{self.mode}-{self.protocol}-http{self.http}-{self.kind}-{self.chain}-{self.transport}"


@dataclass(frozen=True)
class Case:
    route: Route
    fault: Fault

    def __str__(self) -> str:
        return f"{self.route}-{self.fault}"


def can_call(http: str, kind: str) -> bool:
    return http != "1.1" or kind != "bidi"


def routes(transports: Iterable[str] = TRANSPORTS) -> Iterator[Route]:
    for mode, (protocol, http), kind in itertools.product(KINDS_OF_MODES, ROUTES, METHODS):
        if can_call(http, kind) and kind in KINDS_OF_MODES[mode]:
            for chain, transport in itertools.product(CHAINS, transports):
                if (http == "3") == (transport == "quic"):
                    yield Route(mode, protocol, http, kind, chain, transport)


# Which bytes are interesting

# Of HTTP/2, before the first frame of a client.
PREFACE_BYTES = 24


def offsets(data: bytes, http: str, direction: str) -> list[int]:
    """The bytes of a clean call around which something begins or ends."""
    found = {0, 1, len(data)}
    if http == "2":
        start = PREFACE_BYTES if direction == REQUEST else 0
        found |= {start}
        for position, kind, _, _, payload, _ in wire.frames(data, start):
            found |= {position, position + 9, position + 9 + len(payload)}
            if kind == wire.DATA:
                found |= {position + 9 + wire.ENVELOPE_HEAD, position + 9 + len(payload) // 2}
            else:
                found |= {position + 3, position + 9 + len(payload) // 2}
    elif http == "3":
        for position, kind, start, payload, _ in wire.http3_frames(data):
            found |= {position, start, start + len(payload), start + len(payload) // 2}
            if kind == wire.DATA:
                found.add(start + wire.ENVELOPE_HEAD)
    else:
        position = 0
        while (line := data.find(b"\r\n", position)) >= 0:
            found |= {line, line + 2}
            position = line + 2
        found |= {data.find(b"\r\n\r\n") + 4 + wire.ENVELOPE_HEAD, len(data) // 2}
    around = {place + step for place in found for step in (-1, 0, 1)}
    return sorted(place for place in around if 0 <= place <= len(data))


@dataclass
class Recording:
    """The bytes of a call without a fault."""

    bytes_of: dict[str, bytes] = field(default_factory=dict)


# Datagrams of each direction that a call over HTTP/3 has at least.
LEAST_DATAGRAMS = 6
KINDS = ("close", "half", "reset", "stall", "delay", "trickle", "drop", "flip", "twice")


def faults(recording: Recording, http: str, chance: random.Random) -> Iterator[Fault]:
    """All faults of a call, by direction, place and kind."""
    for direction in (RESPONSE, REQUEST):
        data = recording.bytes_of[direction]
        for offset, kind in itertools.product(offsets(data, http, direction), KINDS):
            if kind in CHANGES and offset == len(data):
                continue
            # The server with connectrpc decides by its first read which version of HTTP a connection has.
            if kind in ("delay", "trickle") and direction == REQUEST and http == "2" and offset < PREFACE_BYTES:
                continue
            length = 1
            if kind == "trickle":
                length = 64
            elif kind in ("drop", "twice"):
                length = chance.choice([1, 2, 9, 17])
            yield Fault(kind, direction, offset, length, chance.choice([0x01, 0x04, 0x80, 0xFF]))
    if http == "2":
        places = [position for position, *_ in wire.frames(recording.bytes_of[RESPONSE])]
        for offset, violation in itertools.product(places, VIOLATIONS):
            yield Fault("violate", RESPONSE, offset, violation=violation)
    if http == "3":
        for kind, direction, offset in itertools.product(DATAGRAMS, (RESPONSE, REQUEST), range(LEAST_DATAGRAMS)):
            yield Fault(kind, direction, offset, chance.choice([1, 2, 3]), chance.choice([0x01, 0xFF]))


# How many cases a route has at most in the whole matrix, by its chain: single calls, and the other modes, of which more routes are.
SHARES = {"single": {"plain": 75, "header": 25, "retry": 40}, "other": {"plain": 20, "header": 6, "retry": 12}}


def share(route: Route) -> int:
    return SHARES["single" if route.mode == "single" else "other"][route.chain]


def counts(selected: Iterable[Route], seed: int, part: float = 1) -> dict[Route, int]:
    """The number of cases of each route in the matrix, or in a part of it, where some routes have none."""
    result = {}
    for route in selected:
        whole, fraction = divmod(share(route) * part, 1)
        result[route] = int(whole) + (random.Random(f"{seed} {route}").random() < fraction)
    return {route: count for route, count in result.items() if count}


def select(recordings: dict[Route, Recording], seed: int, part: float = 1) -> list[Case]:
    """The cases of the matrix, or a part of them: the same for a seed, whatever the machine."""
    cases = []
    for route, count in counts(recordings, seed, part).items():
        chance = random.Random(f"{seed} {route}")
        all_faults = list(faults(recordings[route], route.http, chance))
        cases += [Case(route, fault) for fault in chance.sample(all_faults, min(count, len(all_faults)))]
    return cases
