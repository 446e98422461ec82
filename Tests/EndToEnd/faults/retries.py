"""What the interceptor `retry` promises, as rpcurl-retry(7) states it, of calls whose bytes arrive unchanged.

- A call that fails with one of its codes is made again, `attempts` times in all, unless its response has begun. A lost
  connection has the code `unavailable`, which is one of them.
- The response has begun when its headers were received. Those of gRPC-Web and of streams of Connect are held until a
  message follows, for at most a second. A single message counts although it is delivered only with the status.
- An attempt after a failed one has a header with the number of earlier attempts.

Only the first connection of a run with `retry` has the fault, so the second attempt succeeds.
"""

import re

from .cases import ATTEMPTS, CONCURRENT, Case
from .outcome import Outcome, answers
from .proxy import REQUEST
from .wire import Answer

# How long headers are held for a message.
HOLD_SECONDS = 1.0
# The faults that end a connection.
LOSSES = ("close", "half", "reset", "violate")


def is_repeated(case: Case, outcome: Outcome) -> bool:
    """Whether `retry` makes calls again."""
    return case.route.chain == "retry" and case.fault.kind in LOSSES and outcome.first.faulted


def has_begun(case: Case, outcome: Outcome, answer: Answer) -> bool | None:
    """Whether a response has begun; None if that depends on the time at which its parts arrived."""
    route = case.route
    if not answer.has_begun:
        return False
    if not answer.is_certain:
        return None
    if route.protocol == "grpc" or (route.protocol == "connect" and route.method.is_unary):
        return True
    if answer.messages:
        return True
    return False if outcome.seconds < HOLD_SECONDS else None


def begun(case: Case, outcome: Outcome) -> list[bool | None]:
    """Of the responses that are lost in part, whether they have begun."""
    lost = [answer for answer in answers(case, outcome.carrier) if not answer.is_complete or not answer.is_certain]
    return [has_begun(case, outcome, answer) for answer in lost]


def least_successes(case: Case, outcome: Outcome) -> int:
    """The number of calls that succeed at least, because of `retry`."""
    if not is_repeated(case, outcome):
        return 0
    return case.route.calls - sum(each is not False for each in begun(case, outcome))


def most_requests(case: Case, outcome: Outcome) -> int:
    """The number of requests that are allowed: one for each call, and those of further attempts."""
    calls, concurrent = case.route.calls, CONCURRENT[case.route.mode]
    if not is_repeated(case, outcome):
        return calls
    return calls + (ATTEMPTS - 1) * max(concurrent - begun(case, outcome).count(True), 0)


# HTTP/1.1 shows headers without HPACK.
POST, NUMBER, ADDED = (
    re.compile(pattern, re.DOTALL | re.IGNORECASE)
    for pattern in (rb"POST /.*?\r\n\r\n", rb"\r\ngrpc-previous-rpc-attempts: (\d+)\r\n", rb"\r\nx-a: b\r\n")
)


def wrong_headers(case: Case, outcome: Outcome) -> list[str]:
    """Whether requests over HTTP/1.1 have the headers of their interceptors."""
    if case.route.http != "1.1":
        return []
    sent = [POST.findall(bytes(connection.forwarded[REQUEST])) for connection in outcome.connections]
    heads = [head for each in sent for head in each]
    found = []
    if case.route.chain == "header" and not all(map(ADDED.search, heads)):
        found.append("a request without the header of its interceptor")
    # Attempts of one call: the first is over the connection with the fault, which may have received nothing of it.
    numbers = [[int(number[1]) if (number := NUMBER.search(head)) else 0 for head in each] for each in sent]
    later = [number for each in numbers[1:] for number in each]
    if case.route.mode == "single" and (any(sum(numbers[:1], [])) or later != list(range(1, len(later) + 1))):
        found.append(f"attempts with the numbers {numbers}")
    return found
