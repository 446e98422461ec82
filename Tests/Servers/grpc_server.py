#!/usr/bin/env python3
"""The demo service on grpcio: gRPC over HTTP/2, cleartext or TLS.

Also serves reflection (v1 and v1alpha) and the health service. A request with
the header `demo-compression: gzip` (or deflate) has a compressed response. Each
request for reflection is logged, with its header `demo-note`.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2
from google.rpc import status_pb2

import server_process
from demo_service import SERVICE, Failure, Metadata, Method, methods

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
CANCELLATION_SECONDS = 0.01
CODES = {code.value[0]: code for code in grpc.StatusCode}
COMPRESSION = {"gzip": grpc.Compression.Gzip, "deflate": grpc.Compression.Deflate}


class GrpcCall:
    """demo_service.Call on grpcio's context."""

    http_method = "POST"
    http_version = "2"

    def __init__(self, context: aio.ServicerContext) -> None:
        self.context = context
        self.trailers: Metadata = []
        for name, value in self.request_headers():
            if name == "demo-compression" and value in COMPRESSION:
                context.set_compression(COMPRESSION[value])

    def request_headers(self) -> Metadata:
        """grpcio keeps some headers to itself: content-type, te, grpc-timeout, grpc-encoding."""
        return [(name, value) for name, value in self.context.invocation_metadata() or ()]

    def timeout_seconds(self) -> float | None:
        return self.context.time_remaining()

    async def send_headers(self, headers: Metadata) -> None:
        await self.context.send_initial_metadata(tuple(headers))

    def set_trailers(self, trailers: Metadata) -> None:
        self.trailers = trailers
        self.context.set_trailing_metadata(tuple(trailers))

    async def abort(self, failure: Failure) -> None:
        trailers = list(self.trailers)
        if failure.details:
            status = status_pb2.Status(
                code=failure.code, message=failure.message, details=failure.details
            )
            trailers.append(("grpc-status-details-bin", status.SerializeToString()))
        await self.context.abort(CODES[failure.code], failure.message, tuple(trailers))


def rpc_handler(method: Method) -> grpc.RpcMethodHandler:
    def log_unless_answered(context: aio.ServicerContext) -> None:
        if not context.done():
            server_process.log_canceled(method.path)

    async def tell_end_from_cancellation() -> None:
        # To a handler that reads a stream, a cancelled call looks like one whose
        # client has sent everything; grpcio cancels the handler a moment later.
        if method.client_streaming:
            await asyncio.sleep(CANCELLATION_SECONDS)

    async def respond(request: Any, context: aio.ServicerContext) -> Any:
        call = GrpcCall(context)
        context.add_done_callback(log_unless_answered)
        try:
            reply = await method.handler(request, call)
            await tell_end_from_cancellation()
            return reply
        except Failure as failure:
            await call.abort(failure)

    async def stream(request: Any, context: aio.ServicerContext) -> AsyncIterator[Any]:
        call = GrpcCall(context)
        context.add_done_callback(log_unless_answered)
        try:
            async for message in method.handler(request, call):
                yield message
            await tell_end_from_cancellation()
        except Failure as failure:
            await call.abort(failure)

    if method.client_streaming:
        make = (
            grpc.stream_stream_rpc_method_handler
            if method.server_streaming
            else grpc.stream_unary_rpc_method_handler
        )
    else:
        make = (
            grpc.unary_stream_rpc_method_handler
            if method.server_streaming
            else grpc.unary_unary_rpc_method_handler
        )
    return make(
        stream if method.server_streaming else respond,
        # Without a deserializer the handler gets the bytes.
        request_deserializer=None if method.takes_bytes else method.input.FromString,
        response_serializer=method.output.SerializeToString,
    )


def add_reflection(server: aio.Server, versions: list[str]) -> None:
    """Serve these versions of reflection.

    grpcio-reflection has v1alpha only. The messages of v1 are the same on the
    wire, so its servicer serves both names.
    """
    services = [f"grpc.reflection.{version}.ServerReflection" for version in versions]
    servicer = reflection.aio.ReflectionServicer([SERVICE.full_name, health.SERVICE_NAME, *services])

    async def reflect(requests: Any, context: aio.ServicerContext) -> AsyncIterator[Any]:
        metadata = dict(context.invocation_metadata() or ())
        async for request in requests:
            server_process.log_reflection(request, metadata.get("demo-note", ""))
            yield await anext(servicer.ServerReflectionInfo(one(request), context))

    handler = grpc.stream_stream_rpc_method_handler(
        reflect,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for service in services:
        generic = grpc.method_handlers_generic_handler(service, {"ServerReflectionInfo": handler})
        server.add_generic_rpc_handlers((generic,))


async def one(request: Any) -> AsyncIterator[Any]:
    yield request


async def add_health(server: aio.Server) -> None:
    servicer = health.aio.HealthServicer()
    for name in ("", SERVICE.full_name):
        await servicer.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)


def tls_credentials(directory: Path, require_client: bool) -> grpc.ServerCredentials:
    pair = ((directory / "server-key.pem").read_bytes(), (directory / "server.pem").read_bytes())
    authority = (directory / "ca.pem").read_bytes() if require_client else None
    return grpc.ssl_server_credentials([pair], authority, require_client)


async def serve(options: Any) -> None:
    server = aio.server(
        options=[
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_receive_message_length", options.max_message_bytes),
            # Two servers on one port would hide a test's mistake.
            ("grpc.so_reuseport", 0),
            # Accept the PINGs of clients with a short keepalive.
            ("grpc.http2.min_ping_interval_without_data_ms", 10),
            ("grpc.http2.max_ping_strikes", 0),
        ]
    )
    handlers = {method.path.rpartition("/")[2]: rpc_handler(method) for method in methods()}
    generic = grpc.method_handlers_generic_handler(SERVICE.full_name, handlers)
    server.add_generic_rpc_handlers((generic,))
    add_reflection(server, options.reflection_version)
    await add_health(server)

    address = f"unix:{options.unix}" if options.unix else f"127.0.0.1:{options.port}"
    if options.tls_dir:
        credentials = tls_credentials(options.tls_dir, options.require_client_certificate)
        port = server.add_secure_port(address, credentials)
    else:
        port = server.add_insecure_port(address)
    await server.start()
    server_process.announce(address if options.unix else f"127.0.0.1:{port}")
    await server.wait_for_termination()


def main() -> None:
    parser = server_process.arguments(__doc__)
    parser.add_argument("--unix", type=Path, metavar="PATH", help="listen on a socket file instead")
    parser.add_argument(
        "--reflection-version",
        action="append",
        choices=["v1", "v1alpha"],
        help="serve this version of reflection; may repeat (default: both)",
    )
    parser.add_argument(
        "--no-reflection",
        dest="reflection_version",
        action="store_const",
        const=[],
        help="serve no reflection",
    )
    parser.add_argument(
        "--max-message-bytes", type=int, default=MAX_MESSAGE_BYTES, help="the limit for a request's message"
    )
    options = parser.parse_args()
    if options.reflection_version is None:
        options.reflection_version = ["v1", "v1alpha"]
    server_process.check(parser, options)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if options.exit_with_stdin:
        server_process.exit_with_stdin()
    try:
        asyncio.run(serve(options))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
