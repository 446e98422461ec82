"""The demo service, without a word about any RPC library.

`methods()` lists every method with its handler. grpc_server.py and
connect_app.py register them with their library and translate `Failure` and
`Call`. Handlers are asynchronous functions; those that stream a response are
asynchronous generators.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from server_process import log_received, use_generated_code

use_generated_code()

import demo_pb2 as demo
from google.protobuf import descriptor_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import code_pb2, error_details_pb2

SERVICE = demo.DESCRIPTOR.services_by_name["Demo"]
ITEMS = {"1": "Analytical Engine", "2": "Jacquard loom", "3": "Antikythera mechanism"}
GREETINGS = {"": "Hello", "en": "Hello", "de": "Hallo", "fr": "Bonjour"}

# The calls so far with each key of `demo-fail-first`.
failures: Counter[str] = Counter()

# Text, or bytes for a name that ends in "-bin".
Metadata = list[tuple[str, str | bytes]]


class Failure(Exception):
    """Ends a call with a status. Details are `google.protobuf.Any` messages."""

    def __init__(self, code: int, message: str, details: Iterable[Message] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = [packed(detail) for detail in details]


class Call(Protocol):
    """What a handler may ask about its call, and do to it besides answering."""

    http_method: str
    http_version: str

    def request_headers(self) -> Metadata: ...

    def timeout_seconds(self) -> float | None: ...

    async def send_headers(self, headers: Metadata) -> None: ...

    def set_trailers(self, trailers: Metadata) -> None: ...


@dataclass(frozen=True)
class Method:
    """A method and what serves it."""

    path: str
    input: type[Message]
    output: type[Message]
    client_streaming: bool
    server_streaming: bool
    has_side_effects: bool
    handler: Callable[..., Any]
    # The handler receives the request's bytes instead of a message.
    takes_bytes: bool = False


def methods() -> list[Method]:
    handlers = {
        "Hello": hello,
        "Find": find,
        "Fail": fail,
        "EchoMetadata": echo_metadata,
        "Echo": echo,
        "Raw": raw,
        "Delay": delay,
        "Large": large,
        "Count": count,
        "Sum": sum_up,
        "Chat": chat,
        "FailStream": fail_stream,
    }
    no_side_effects = descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS
    return [
        Method(
            path=f"/{SERVICE.full_name}/{method.name}",
            input=GetMessageClass(method.input_type),
            output=GetMessageClass(method.output_type),
            client_streaming=method.client_streaming,
            server_streaming=method.server_streaming,
            has_side_effects=method.GetOptions().idempotency_level != no_side_effects,
            handler=obeying_headers(f"/{SERVICE.full_name}/{method.name}", handlers[method.name], method.server_streaming),
            takes_bytes=method.name == "Raw",
        )
        for method in SERVICE.methods
    ]


def obeying_headers(path: str, handler: Callable[..., Any], streams: bool) -> Callable[..., Any]:
    """The handler of a method of which the request's headers may ask more than its messages can.

    `demo-header` and `demo-trailer` (NAME=VALUE) add to the response's metadata, and
    `demo-code` ends the call with that status after the last message. `demo-fail-attempts`
    has the first attempts at the call, this many, fail with UNAVAILABLE; `demo-fail-first`
    (KEY=COUNT) does so for the first calls with this key, after the headers that were asked for.
    With `demo-token`, a call without that bearer token is UNAUTHENTICATED.
    """

    def asked(call: Call, name: str) -> list[str]:
        # Intermediaries may join headers with commas.
        values = [value for key, value in call.request_headers() if key == name]
        return [part.strip() for value in values for part in value.split(",")]

    async def refuse(code: int, message: str, request: Any) -> None:
        # The whole request, so that clients that are still sending do not receive a reset instead.
        if isinstance(request, AsyncIterable):
            [message async for message in request]
        raise Failure(code, message)

    async def begin(request: Any, call: Call) -> None:
        log_received(path)
        for token in asked(call, "demo-token"):
            if asked(call, "authorization") != [f"Bearer {token}"]:
                await refuse(code_pb2.UNAUTHENTICATED, "that is not the token", request)
        before = sum(map(int, asked(call, "grpc-previous-rpc-attempts")))
        for count in asked(call, "demo-fail-attempts"):
            if before < int(count):
                await refuse(code_pb2.UNAVAILABLE, f"attempt {before + 1} is to fail", request)
        if trailers := asked(call, "demo-trailer"):
            call.set_trailers([to_pair(text) for text in trailers])
        if headers := asked(call, "demo-header"):
            await call.send_headers([to_pair(text) for text in headers])
        for key, _, count in (text.partition("=") for text in asked(call, "demo-fail-first")):
            failures[key] += 1
            if failures[key] <= int(count):
                await refuse(code_pb2.UNAVAILABLE, f"call {failures[key]} of {key} is to fail", request)

    def finish(call: Call) -> None:
        for code in asked(call, "demo-code"):
            detail = error_details_pb2.ErrorInfo(reason="ASKED_FOR", domain="demo.test")
            raise Failure(int(code), "as demo-code asks: 100% ✓", [detail])

    async def respond(request: Any, call: Call) -> Any:
        await begin(request, call)
        reply = await handler(request, call)
        finish(call)
        return reply

    async def stream(request: Any, call: Call) -> AsyncIterator[Any]:
        await begin(request, call)
        async for message in handler(request, call):
            yield message
        finish(call)

    return stream if streams else respond


def to_pair(text: str) -> tuple[str, str | bytes]:
    """NAME=VALUE, with the value of a name in "-bin" in hexadecimal."""
    name, _, value = text.partition("=")
    return name, bytes.fromhex(value) if name.endswith("-bin") else value


def packed(message: Message) -> AnyMessage:
    if isinstance(message, AnyMessage):
        return message
    result = AnyMessage()
    result.Pack(message)
    return result


# Unary


async def hello(request: demo.HelloRequest, call: Call) -> demo.HelloReply:
    if not request.name:
        violation = error_details_pb2.BadRequest.FieldViolation(
            field="name", description="must not be empty"
        )
        detail = error_details_pb2.BadRequest(field_violations=[violation])
        raise Failure(code_pb2.INVALID_ARGUMENT, "name must not be empty", [detail])
    greeting = GREETINGS.get(request.language)
    if greeting is None:
        raise Failure(code_pb2.INVALID_ARGUMENT, f'no greeting in "{request.language}"')
    return demo.HelloReply(message=f"{greeting}, {request.name}!", name=request.name)


async def find(request: demo.FindRequest, call: Call) -> demo.FindReply:
    title = ITEMS.get(request.id)
    if title is None:
        raise Failure(
            code_pb2.NOT_FOUND,
            f'no item "{request.id}"',
            [
                error_details_pb2.ErrorInfo(
                    reason="ITEM_NOT_FOUND", domain="demo.test", metadata={"id": request.id}
                ),
                error_details_pb2.ResourceInfo(
                    resource_type="demo.v1.Item",
                    resource_name=request.id,
                    description="Known ids are 1, 2 and 3.",
                ),
            ],
        )
    return demo.FindReply(id=request.id, title=title)


def raise_wanted(request: demo.FailRequest) -> None:
    if request.code not in range(17):
        raise Failure(code_pb2.INVALID_ARGUMENT, f"{request.code} is not a status code")
    if request.code != code_pb2.OK:
        raise Failure(request.code, request.message, request.details)


async def fail(request: demo.FailRequest, call: Call) -> demo.FailReply:
    raise_wanted(request)
    return demo.FailReply()


async def echo_metadata(request: demo.MetadataRequest, call: Call) -> demo.MetadataReply:
    call.set_trailers(to_metadata(request.trailers))
    await call.send_headers(to_metadata(request.headers))
    timeout = call.timeout_seconds()
    return demo.MetadataReply(
        headers=[to_header(name, value) for name, value in call.request_headers()],
        http_method=call.http_method,
        http_version=call.http_version,
        timeout_ms=None if timeout is None else int(timeout * 1000),
    )


def to_metadata(headers: Iterable[demo.Header]) -> Metadata:
    return [
        (header.name, header.binary if header.name.endswith("-bin") else header.value)
        for header in headers
    ]


def to_header(name: str, value: str | bytes) -> demo.Header:
    if isinstance(value, bytes):
        return demo.Header(name=name, binary=value)
    return demo.Header(name=name, value=value)


async def echo(request: demo.AllTypes, call: Call) -> demo.AllTypes:
    return request


async def raw(request: bytes, call: Call) -> demo.RawReply:
    return demo.RawReply(request=request)


async def delay(request: demo.DelayRequest, call: Call) -> demo.DelayReply:
    await asyncio.sleep(request.milliseconds / 1000)
    return demo.DelayReply(milliseconds=request.milliseconds)


async def large(request: demo.LargeRequest, call: Call) -> demo.LargeReply:
    size = request.size_bytes
    if size < 0:
        raise Failure(code_pb2.INVALID_ARGUMENT, "size_bytes must not be negative")
    pattern = bytes(range(251))
    return demo.LargeReply(payload=(pattern * (size // len(pattern) + 1))[:size])


# Streams


async def count(request: demo.CountRequest, call: Call) -> AsyncIterator[demo.CountReply]:
    first = getattr(request, "from")  # "from" is a Python keyword
    for number in range(first, request.to + 1):
        if request.interval_ms and number != first:
            await asyncio.sleep(request.interval_ms / 1000)
        yield demo.CountReply(number=number)


async def sum_up(requests: AsyncIterator[demo.SumRequest], call: Call) -> demo.SumReply:
    total = messages = 0
    async for request in requests:
        total += request.value
        messages += 1
    wrapped = (total + 2**63) % 2**64 - 2**63
    return demo.SumReply(total=wrapped, count=messages)


async def chat(
    requests: AsyncIterator[demo.ChatRequest], call: Call
) -> AsyncIterator[demo.ChatReply]:
    async for request in requests:
        yield demo.ChatReply(text=f"you said: {request.text}")


async def fail_stream(request: demo.FailRequest, call: Call) -> AsyncIterator[demo.CountReply]:
    for number in range(1, request.after_messages + 1):
        yield demo.CountReply(number=number)
    raise_wanted(request)
