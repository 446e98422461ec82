"""Servers of grpcio within the process of a test; their methods are functions."""

from collections.abc import Callable
from concurrent import futures
from typing import Any

import grpc
from grpc_reflection.v1alpha import reflection_pb2

REFLECTION = "grpc.reflection.v1.ServerReflection"
# Handlers of methods: the bytes of the request, or of each request, are the response.
ECHO = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
ECHO_STREAM = grpc.stream_stream_rpc_method_handler(lambda requests, context: requests)


def serve(services: dict[str, dict[str, Any]], address: str = "127.0.0.1:0", threads: int = 8) -> tuple[grpc.Server, str]:
    """Start a server with methods by service and name. Returns it with its URL; `stop` ends it."""
    server = grpc.server(futures.ThreadPoolExecutor(threads))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(*service) for service in services.items()])
    url = f"http://127.0.0.1:{server.add_insecure_port(address)}"
    server.start()
    return server, url


def reflection(function: Callable[..., Any]) -> dict[str, Any]:
    """The methods of a service of reflection, whose responses are messages or their bytes."""
    return {
        "ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(
            function,
            request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
            response_serializer=lambda response: response if isinstance(response, bytes) else response.SerializeToString(),
        )
    }
