"""The demo service as an ASGI application on connectrpc: Connect, gRPC-Web, gRPC.

connect_server.py runs it. Also serves reflection (v1 and v1alpha) and the
health service's Check, so that they can be called over every protocol.
"""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import cramjam
from connectrpc.code import Code
from connectrpc.codec import Codec
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.compression import Compression
from connectrpc.compression.brotli import BrotliCompression
from connectrpc.compression.gzip import GzipCompression
from connectrpc.compression.zstd import ZstdCompression
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2
from protobuf.wkt import Any as AnyDetail

import server_process
from demo_service import SERVICE, Call, Failure, Metadata, Method, methods

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
CODES = dict(enumerate(Code, start=1))
REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"
HEALTH = "grpc.health.v1.Health"

# The ASGI scope of the request being served: connectrpc's own view of the
# headers does not keep the order of repeated names.
scope_of_request: ContextVar[dict[str, Any]] = ContextVar("scope_of_request")


class ConnectCall:
    """demo_service.Call on connectrpc's context."""

    def __init__(self, context: RequestContext) -> None:
        self.context = context
        self.scope = scope_of_request.get()
        self.http_method: str = self.scope["method"]
        self.http_version: str = self.scope["http_version"]

    def request_headers(self) -> Metadata:
        headers: Metadata = []
        for raw_name, raw_value in self.scope["headers"]:
            name, value = raw_name.decode(), raw_value.decode("latin-1")
            if name.endswith("-bin"):
                headers.extend((name, decoded(part)) for part in value.split(","))
            else:
                headers.append((name, value))
        return headers

    def timeout_seconds(self) -> float | None:
        timeout_ms = self.context.timeout_ms
        return None if timeout_ms is None else timeout_ms / 1000

    async def send_headers(self, headers: Metadata) -> None:
        for name, value in headers:
            self.context.response_headers.add(name, encoded(value))

    def set_trailers(self, trailers: Metadata) -> None:
        for name, value in trailers:
            self.context.response_trailers.add(name, encoded(value))


def decoded(value: str) -> str | bytes:
    """A "-bin" header's value; the text itself where it is not base64, so that a test sees it."""
    unpadded = value.strip().rstrip("=")
    try:
        return base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)
    except binascii.Error:
        return value


def encoded(value: str | bytes) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode().rstrip("=")
    return value


class RawBytes:
    """The request type of a method that takes bytes: see `RawCodec`."""


class RawCodec(Codec):
    """A codec that hands a `RawBytes` request over undecoded, and does all else as `codec`."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def name(self) -> str:
        return self.codec.name()

    def encode(self, message: Any) -> bytes:
        return self.codec.encode(message)

    def decode(self, data: bytes | bytearray, message_class: type) -> Any:
        if message_class is RawBytes:
            return bytes(data)
        return self.codec.decode(bytes(data), message_class)


class SnappyCompression(Compression):
    """The framing format of snappy, by the `snap` library of Rust. connectrpc has none of its own."""

    def name(self) -> str:
        return "snappy"

    def compress(self, data: bytes | bytearray | memoryview) -> bytes:
        # An empty message is a stream without chunks, which cramjam writes as no bytes at all.
        return bytes(cramjam.snappy.compress(bytes(data)))

    def decompress(
        self, data: bytes | bytearray | memoryview, read_max_bytes: int | None = None
    ) -> bytes:
        output = bytes(cramjam.snappy.decompress(bytes(data)))
        if read_max_bytes is not None and len(output) > read_max_bytes:
            raise ConnectError(Code.RESOURCE_EXHAUSTED, f"message is larger than {read_max_bytes} bytes")
        return output


def connect_error(failure: Failure) -> ConnectError:
    details = [
        ErrorDetail(AnyDetail(type_url=detail.type_url, value=detail.value))
        for detail in failure.details
    ]
    return ConnectError(CODES[failure.code], failure.message, details)


def endpoint(method: Method) -> Endpoint:
    def is_cancellation(error: BaseException) -> bool:
        # While the client still sends, connectrpc raises its disconnect from
        # the request stream; afterwards it cancels the handler.
        if isinstance(error, ConnectError):
            return error.code == Code.CANCELED
        return isinstance(error, (asyncio.CancelledError, GeneratorExit))

    async def respond(request: Any, context: RequestContext) -> Any:
        try:
            return await method.handler(request, ConnectCall(context))
        except Failure as failure:
            raise connect_error(failure) from None
        except BaseException as error:
            if is_cancellation(error):
                server_process.log_canceled(method.path)
            raise

    async def stream(request: Any, context: RequestContext) -> AsyncIterator[Any]:
        try:
            async for message in method.handler(request, ConnectCall(context)):
                yield message
        except Failure as failure:
            raise connect_error(failure) from None
        except BaseException as error:
            if is_cancellation(error):
                server_process.log_canceled(method.path)
            raise

    stream_type, make, function = {
        (False, False): (StreamType.UNARY, Endpoint.unary, respond),
        (False, True): (StreamType.SERVER_STREAM, Endpoint.server_stream, stream),
        (True, False): (StreamType.CLIENT_STREAM, Endpoint.client_stream, respond),
        (True, True): (StreamType.BIDI_STREAM, Endpoint.bidi_stream, stream),
    }[method.client_streaming, method.server_streaming]
    service, _, name = method.path.removeprefix("/").partition("/")
    info = MethodInfo(
        name=name,
        service_name=service,
        input=RawBytes if method.takes_bytes else method.input,
        output=method.output,
        idempotency_level=(
            IdempotencyLevel.UNKNOWN
            if method.has_side_effects
            else IdempotencyLevel.NO_SIDE_EFFECTS
        ),
        stream_type=stream_type,
    )
    return make(method=info, function=function)


def infrastructure_methods() -> list[Method]:
    """Reflection, by grpcio's servicer, and health."""
    services = [SERVICE.full_name, HEALTH, reflection.SERVICE_NAME, REFLECTION_V1]
    servicer = reflection.ReflectionServicer(services)

    async def reflect(requests: AsyncIterator[Any], call: Call) -> AsyncIterator[Any]:
        notes = [value for name, value in call.request_headers() if name == "demo-note"]
        async for request in requests:
            server_process.log_reflection(request, " ".join(notes))
            for reply in servicer.ServerReflectionInfo(iter([request]), None):
                yield reply

    async def check(request: Any, call: Call) -> Any:
        if request.service not in ("", SERVICE.full_name):
            raise Failure(5, f'unknown service "{request.service}"')
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)

    reflections = [
        Method(
            path=f"/{service}/ServerReflectionInfo",
            input=reflection_pb2.ServerReflectionRequest,
            output=reflection_pb2.ServerReflectionResponse,
            client_streaming=True,
            server_streaming=True,
            has_side_effects=True,
            handler=reflect,
        )
        for service in (REFLECTION_V1, reflection.SERVICE_NAME)
    ]
    health_check = Method(
        path=f"/{HEALTH}/Check",
        input=health_pb2.HealthCheckRequest,
        output=health_pb2.HealthCheckResponse,
        client_streaming=False,
        server_streaming=False,
        has_side_effects=True,
        handler=check,
    )
    return [*reflections, health_check]


def ignore_late_disconnect(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Keep pyvoy's noise out of the log.

    connectrpc waits for a disconnect while a handler runs, and cancels the
    wait afterwards; pyvoy then completes the cancelled future all the same.
    """
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


class DemoApplication(ConnectASGIApplication):
    path = f"/{SERVICE.full_name}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            asyncio.get_running_loop().set_exception_handler(ignore_late_disconnect)
        scope_of_request.set(scope)
        await super().__call__(scope, receive, send)


server_process.die_with_launcher()
app = DemoApplication(
    service=[*methods(), *infrastructure_methods()],
    endpoints=lambda served: {method.path: endpoint(method) for method in served},
    read_max_bytes=MAX_MESSAGE_BYTES,
    compressions=[GzipCompression(), BrotliCompression(), ZstdCompression(), SnappyCompression()],
    codecs=[
        RawCodec(google_protobuf_binary_codec()),
        RawCodec(google_protobuf_json_codec(ignore_unknown_fields=False)),
    ],
)
