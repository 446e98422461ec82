"""What is required of a case. `findings` returns the requirements that its outcome does not meet.

Of every case:
- the process ends by itself, in time, and neither crashes nor reports a wrong command line, schema or input;
- the exit code is 0 only if a complete response was forwarded, and a failure has one error, with text that states it;
- each message of the output was forwarded, in this order, and as the bytes are;
- of a stream, each message that was forwarded whole is in the output;
- each call has one result, and a complete response with a message is a success: in a batch, a load, a suite and a session too;
- without `retry`, each call is sent at most once, also over a connection that others have used; with it, a call is made
  again if, and only if, its connection is lost before its response has begun (retries.py).
"""

import json
import re
import statistics
from collections.abc import Iterable

# It adds the directory of demo_pb2 to the path.
import harness  # noqa: F401
import demo_pb2 as demo
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from . import retries
from .cases import BATCHES, Case, Method
from .outcome import Outcome, answers, requests
from .proxy import CHANGES, DATAGRAMS, ENDINGS, REQUEST, Fault

CONNECTION, DEADLINE, FAILED_TESTS = 5, 68, 8
STATUSES = range(65, 81)


def decoded(method: Method, message: bytes) -> dict | None:
    try:
        return MessageToDict(getattr(demo, method.output).FromString(message))
    except (DecodeError, UnicodeDecodeError):
        return None


def printed(outcome: Outcome) -> list[dict] | None:
    """The messages of the output; None if a line is not a message."""
    if outcome.out and not outcome.out.endswith("\n"):
        return None
    try:
        return [json.loads(line) for line in outcome.out.splitlines()]
    except json.JSONDecodeError:
        return None


def is_subsequence(part: list, whole: list) -> bool:
    rest = iter(whole)
    return all(any(item == other for other in rest) for item in part)


def findings(case: Case, outcome: Outcome) -> list[str]:
    found = general(case, outcome)
    if outcome.code is not None:
        found += {
            "single": single, "batch": batch, "load": load, "test": suite, "session": session,
        }[case.route.mode](case, outcome)  # fmt: skip
    return found


# The last line of a batch with failed calls.
SUMMARY = re.compile(r"rpcurl: (\d+) of (\d+) calls failed, the first is call (\d+)")


def general(case: Case, outcome: Outcome) -> list[str]:
    if outcome.code is None:
        return [f"did not end within {outcome.seconds:.1f} s"]
    found = []
    if outcome.code not in (0, CONNECTION, FAILED_TESTS, *STATUSES):
        found.append(f"exit code {outcome.code}")
    # The calls of a session do not decide its exit code.
    if outcome.code == 0 and outcome.errors and case.route.mode != "session":
        found.append("an error, but exit code 0")
    for line in outcome.errors:
        if not re.match(r"rpcurl: \S.*: \S", line) and not SUMMARY.fullmatch(line):
            found.append(f"an error without WHAT: WHY: {line}")
    if case.fault.kind not in CHANGES:
        sent, most = requests(case, outcome), retries.most_requests(case, outcome)
        if sent > most:
            found.append(f"{sent} requests for {case.route.calls} calls, of which {most} are allowed")
        found += retries.wrong_headers(case, outcome)
        if outcome.code == DEADLINE and outcome.seconds < outcome.deadline:
            found.append(f"a deadline of {outcome.deadline} s ends the call after {outcome.seconds} s")
    if "Fatal error" in outcome.err or "Sanitizer" in outcome.err:
        found.append("a crash")
    return found


# One call


def single(case: Case, outcome: Outcome) -> list[str]:
    found = []
    fault, method = case.fault, case.route.method
    replies = answers(case, outcome)
    messages = printed(outcome)
    if messages is None:
        return ["the output is not whole messages"]
    changed = fault.kind in CHANGES
    # An attempt that was made again has no messages in the output: those of the last response count. What follows a
    # response is not read, if bytes were added.
    counting = replies if changed else replies[-1:]
    texts = [[decoded(method, message) for message in reply.messages] for reply in counting]
    has_succeeded = any(reply.has_succeeded for reply in counting)
    if outcome.code == 0:
        if not any(reply.is_complete or reply.lacks_only_end for reply in counting):
            found.append("exit code 0, but the response is incomplete")
        if messages not in texts:
            found.append(f"exit code 0, but {shown(texts)} was forwarded")
        if not method.streams_response and len(messages) != 1:
            found.append(f"exit code 0, but {len(messages)} messages")
        return found
    if len(outcome.errors) != 1:
        found.append(f"{len(outcome.errors)} errors")
    if not any(messages == text[: len(messages)] for text in [*texts, []]):
        found.append(f"messages that were not forwarded: {shown(messages)}")
    if method.streams_response and not changed and messages not in (texts or [[]]):
        found.append(f"messages are lost: {shown(texts)} was forwarded")
    if not changed:
        found += ending(case, outcome, has_succeeded)
    return found


def ending(case: Case, outcome: Outcome, has_succeeded: bool) -> list[str]:
    """The code of a failed call whose bytes arrived unchanged, as far as they arrived."""
    fault = case.fault
    if has_succeeded and not may_be_discarded(fault):
        return ["a complete response is a failure"]
    if fault.kind not in ENDINGS:
        return ["a failure, but nothing is lost"]
    if outcome.code == CONNECTION and retries.least_successes(case, outcome):
        return ["the connection was lost before the response had begun, but the call is not made again"]
    if fault.kind == "stall":
        return [] if outcome.code == DEADLINE else [f"a stall is not exit code {DEADLINE}"]
    # A server that gets half of a request may respond with a status, or wait for the rest. The end of a stream of QUIC within a
    # frame is an error of the connection (RFC 9114, section 7.1). Between frames it ends the response, which its protocol finds
    # incomplete.
    is_ended = case.route.transport == "quic" and not any(reply.is_broken for reply in answers(case, outcome))
    if fault.kind == "half" and (fault.direction == REQUEST or is_ended):
        return []
    return [] if outcome.code == CONNECTION else [f"a lost connection is not exit code {CONNECTION}"]


def may_be_discarded(fault: Fault) -> bool:
    """Whether a response may be complete although its request has not ended: it may be discarded, or be a failure."""
    return fault.direction == REQUEST and fault.kind in ("half", "stall")


def shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 300 else f"{text[:300]}…"


# Many calls


def successes(case: Case, outcome: Outcome, count: int) -> list[str]:
    """Whether the number of calls that succeeded is that of the complete responses."""
    fault, total = case.fault, case.route.calls
    if fault.kind in CHANGES:
        return []
    replies = answers(case, outcome)
    least = sum(reply.has_succeeded and reply.is_certain for reply in replies)
    # A server that gets no whole message of a request may end its stream without a message.
    is_empty = case.route.method.streams_response and fault.kind == "half" and fault.direction == REQUEST
    most = min(sum(reply.has_succeeded or reply.lacks_only_end or (is_empty and reply.is_complete) for reply in replies), total)
    if fault.kind not in ENDINGS:
        least = total
    elif may_be_discarded(fault):
        least = 0
    if not may_be_discarded(fault):
        least = max(least, retries.least_successes(case, outcome))
    if least <= count <= most:
        return []
    return [f"{count} of {total} calls succeeded, but {least} to {most} responses are complete"]


def batch(case: Case, outcome: Outcome) -> list[str]:
    messages = printed(outcome)
    if messages is None:
        return ["the output is not whole messages"]
    method, total, found = case.route.method, case.route.calls, []
    replies = answers(case, outcome)
    forwarded = [decoded(method, message) for reply in replies for message in reply.messages]
    changed = case.fault.kind in CHANGES
    for message in messages:
        if message not in forwarded:
            found.append(f"a message that was not forwarded: {shown(message)}")
    failed = [int(number) - 1 for number in re.findall(r"^rpcurl: call (\d+): ", outcome.err, re.M)]
    if not changed:
        replies_in_order = [reply for _, reply, _ in BATCHES[case.route.kind]]
        order = [replies_in_order.index(message) for message in messages if message in replies_in_order]
        if order != sorted(set(order)):
            found.append(f"order {order}")
        if sorted(order + failed) != list(range(total)):
            found.append(f"the messages of the calls {order} and errors of the calls {failed}")
        found += successes(case, outcome, len(messages))
    if failed != sorted(set(failed)):
        found.append(f"errors of the calls {failed}")
    if len(messages) + len(failed) != total:
        found.append(f"{len(messages)} messages and {len(failed)} errors for {total} calls")
    summaries = [tuple(map(int, summary)) for summary in SUMMARY.findall(outcome.err)]
    if summaries != ([(len(failed), total, failed[0] + 1)] if failed else []):
        found.append(f"the summary {summaries} of the failed calls {failed}")
    if len(outcome.errors) != len(failed) + len(summaries):
        found.append(f"{len(outcome.errors)} errors for {len(failed)} failed calls")
    if (outcome.code == 0) != (not failed):
        found.append(f"exit code {outcome.code} with {len(failed)} failed calls")
    return found


def load(case: Case, outcome: Outcome) -> list[str]:
    try:
        report = json.loads(outcome.out)
    except json.JSONDecodeError:
        return ["no report"]
    found = []
    statuses = {status["status"]: status["calls"] for status in report["statuses"]}
    succeeded, total = statuses.get("ok", 0), sum(statuses.values())
    if total != case.route.calls or report["calls"] != case.route.calls:
        found.append(f"{total} calls of {case.route.calls}")
    if report["errors"] != total - succeeded:
        found.append("the number of errors is not that of the statuses")
    if outcome.code != 0 or outcome.errors:
        found.append(f"exit code {outcome.code} and {len(outcome.errors)} errors of a load without thresholds")
    return found + successes(case, outcome, succeeded)


def suite(case: Case, outcome: Outcome) -> list[str]:
    events = printed(outcome)
    if events is None:
        return ["the report is not whole events"]
    found = []
    tests = [event["outcome"] for event in events if event["event"] == "test"]
    passed = tests.count("passed")
    if len(tests) != case.route.calls:
        found.append(f"{len(tests)} tests")
    ends = [(event["passed"], event["failed"]) for event in events if event["event"] == "end"]
    if ends != [(passed, tests.count("failed"))]:
        found.append(f"the end {ends} of the tests {tests}")
    if outcome.code != (0 if passed == case.route.calls else FAILED_TESTS):
        found.append(f"exit code {outcome.code} with {passed} passed tests")
    return found + successes(case, outcome, passed)


def session(case: Case, outcome: Outcome) -> list[str]:
    """Of three calls, a fault that ends the connection of the first or the second does not concern the third."""
    messages = printed(outcome)
    if messages is None:
        return ["the output is not whole messages"]
    method, found, kind, total = case.route.method, [], case.fault.kind, case.route.calls
    replies = answers(case, outcome)
    forwarded = [decoded(method, message) for reply in replies for message in reply.messages]
    # A changed end of a header over HTTP/1.1 hides where the body begins.
    is_readable = kind not in CHANGES or case.route.http != "1.1"
    if is_readable and not is_subsequence(messages, forwarded):
        found.append(f"messages that were not forwarded: {shown(messages)}")
    if outcome.code != 0:
        found.append(f"exit code {outcome.code}")
    if kind not in CHANGES:
        if method.streams_response and messages != forwarded:
            found.append(f"messages are lost: {shown(forwarded)} was forwarded")
        found += successes(case, outcome, total - len(outcome.errors))
    if not method.streams_response and len(messages) + len(outcome.errors) != total:
        found.append(f"{len(messages)} messages and {len(outcome.errors)} errors for {total} calls")
    is_before_last = sum(reply.is_complete for reply in answers(case, outcome.first)) < total - 1
    if kind in ("none", "delay", "trickle", *DATAGRAMS) or (kind in ("close", "reset", "violate") and is_before_last):
        clean = list(method.responses)
        if messages[-len(clean) :] != clean:
            found.append("the call after the fault fails")
    return found


# Many cases

# Cases without which a median means nothing.
LEAST_CASES = 4
# How long after its deadline a call may end in most cases, apart from the time that a run without a stall takes.
LATE_SECONDS = 1.0


def lateness(results: Iterable[tuple[Case, Outcome]]) -> list[str]:
    """Whether most calls that a stall blocks end near their deadline. A machine with much else to do delays single cases."""
    stalled, quick = {}, {}
    for case, outcome in results:
        mode = case.route.mode
        if outcome.code == 0 and case.fault.kind not in (*CHANGES, *ENDINGS):
            quick.setdefault(mode, []).append(outcome.seconds)
        elif outcome.code is not None and outcome.errors and case.fault.kind == "stall":
            stalled.setdefault(mode, []).append(outcome.seconds - outcome.deadline * case.route.rounds)
    found = []
    for mode, seconds in stalled.items():
        if min(len(seconds), len(quick.get(mode, []))) >= LEAST_CASES:
            late, usual = statistics.median(seconds), statistics.median(quick[mode])
            if late > usual + LATE_SECONDS:
                found.append(f"{mode}: most stalled runs end {late:.2f} s after the deadline, others after {usual:.2f} s")
    return found
