#!/usr/bin/env python3
"""The service of gRPC's interoperability tests on grpcio, without TLS: see interop.proto.

grpcio does not report to a handler whether a request was compressed, so `expect_compressed` is not checked.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
from grpc import aio
from grpc_reflection.v1alpha import reflection

import server_process

server_process.use_generated_code()

import interop_pb2 as messages  # noqa: E402
import interop_pb2_grpc as service  # noqa: E402

CODES = {code.value[0]: code for code in grpc.StatusCode}
MAX_PAYLOAD = 64 << 20
# To a handler, a cancelled stream looks like one whose client has sent everything; grpcio cancels the handler a moment later.
CANCELLATION_SECONDS = 0.01
ECHO_INITIAL, ECHO_TRAILING = "x-grpc-test-echo-initial", "x-grpc-test-echo-trailing-bin"


async def echo_metadata(context: aio.ServicerContext) -> None:
    """Send back the two header fields that the tests of metadata send.

    The headers are sent in any case: grpcio compresses the response of a unary call only after them.
    """
    received = context.invocation_metadata() or ()
    context.set_trailing_metadata(tuple(field for field in received if field[0] == ECHO_TRAILING))
    await context.send_initial_metadata(tuple(field for field in received if field[0] == ECHO_INITIAL))


async def end_as_requested(request: Any, context: aio.ServicerContext) -> None:
    if request.response_status.code:
        await context.abort(CODES[request.response_status.code], request.response_status.message)


async def payload(kind: int, size: int, context: aio.ServicerContext) -> Any:
    if kind != messages.COMPRESSABLE or not 0 <= size <= MAX_PAYLOAD:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no payload of type {kind} with {size} bytes")
    return messages.Payload(type=kind, body=bytes(size))


def compress(context: aio.ServicerContext, wanted: Any) -> None:
    """Compress the next message if `wanted`, a message BoolValue, is true."""
    if not wanted.value:
        context.disable_next_message_compression()


async def respond(request: Any, context: aio.ServicerContext) -> AsyncIterator[Any]:
    await end_as_requested(request, context)
    for wanted in request.response_parameters:
        await asyncio.sleep(wanted.interval_us / 1e6)
        compress(context, wanted.compressed)
        yield messages.StreamingOutputCallResponse(payload=await payload(request.response_type, wanted.size, context))


class Interop(service.TestServiceServicer):
    """Only what it does not inherit: the base class ends UnimplementedCall with UNIMPLEMENTED."""

    async def EmptyCall(self, request: Any, context: aio.ServicerContext) -> Any:
        await echo_metadata(context)
        return messages.Empty()

    async def UnaryCall(self, request: Any, context: aio.ServicerContext) -> Any:
        context.set_compression(grpc.Compression.Gzip)
        await echo_metadata(context)
        await end_as_requested(request, context)
        compress(context, request.response_compressed)
        return messages.SimpleResponse(payload=await payload(request.response_type, request.response_size, context))

    async def CacheableUnaryCall(self, request: Any, context: aio.ServicerContext) -> Any:
        await context.send_initial_metadata((("cache-control", "max-age=60, public"),))
        return messages.SimpleResponse(payload=messages.Payload(body=str(time.time_ns()).encode()))

    async def StreamingOutputCall(self, request: Any, context: aio.ServicerContext) -> AsyncIterator[Any]:
        context.set_compression(grpc.Compression.Gzip)
        async for response in respond(request, context):
            yield response

    async def StreamingInputCall(self, requests: AsyncIterator[Any], context: aio.ServicerContext) -> Any:
        size = 0
        async for request in requests:
            size += len(request.payload.body)
        return messages.StreamingInputCallResponse(aggregated_payload_size=size)

    async def FullDuplexCall(self, requests: AsyncIterator[Any], context: aio.ServicerContext) -> AsyncIterator[Any]:
        await echo_metadata(context)
        async for request in requests:
            async for response in respond(request, context):
                yield response

    async def HalfDuplexCall(self, requests: AsyncIterator[Any], context: aio.ServicerContext) -> AsyncIterator[Any]:
        received = [request async for request in requests]
        for request in received:
            async for response in respond(request, context):
                yield response


class LogCancellation(aio.ServerInterceptor):
    """Logs each call that arrives with a stream of requests, and its cancellation, also by its deadline."""

    async def intercept_service(self, proceed: Any, details: grpc.HandlerCallDetails) -> Any:
        handler = await proceed(details)
        if handler is None or not handler.request_streaming:
            return handler

        def log(context: aio.ServicerContext) -> None:
            if not context.done():
                server_process.log_canceled(details.method)

        def watch(context: aio.ServicerContext) -> None:
            server_process.log_received(details.method)
            context.add_done_callback(log)

        if handler.response_streaming:
            async def stream(requests: AsyncIterator[Any], context: aio.ServicerContext) -> AsyncIterator[Any]:
                watch(context)
                async for response in handler.stream_stream(requests, context):
                    yield response
                await asyncio.sleep(CANCELLATION_SECONDS)

            return handler._replace(stream_stream=stream)

        async def single(requests: AsyncIterator[Any], context: aio.ServicerContext) -> Any:
            watch(context)
            response = await handler.stream_unary(requests, context)
            await asyncio.sleep(CANCELLATION_SECONDS)
            return response

        return handler._replace(stream_unary=single)


async def serve() -> None:
    options = [("grpc.max_receive_message_length", MAX_PAYLOAD), ("grpc.so_reuseport", 0)]
    server = aio.server(interceptors=[LogCancellation()], options=options)
    service.add_TestServiceServicer_to_server(Interop(), server)
    names = [messages.DESCRIPTOR.services_by_name["TestService"].full_name, reflection.SERVICE_NAME]
    reflection.enable_server_reflection(names, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    server_process.announce(f"127.0.0.1:{port}")
    await server.wait_for_termination()


def main() -> None:
    parser = server_process.arguments(__doc__)
    parser.add_argument("--program", type=Path, help="run this server instead: interop_server.go, or the one in grpc-swift")
    options = parser.parse_args()
    if options.program:
        # It prints the same line, and ends with standard input too.
        os.execv(options.program, [options.program])
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if options.exit_with_stdin:
        server_process.exit_with_stdin()
    asyncio.run(serve())


if __name__ == "__main__":
    main()
