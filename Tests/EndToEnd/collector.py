"""A collector that receives OTLP over HTTP, and parses what arrives with OpenTelemetry's own schemas."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TYPES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


class Collector(ThreadingHTTPServer):
    """Stores requests, and responds with `status`, after `is_open` is set."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.requests = []
        self.headers = []
        self.is_open = threading.Event()
        self.is_open.set()

    @property
    def address(self):
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self):
        return f"http://{self.address}"

    @property
    def spans(self):
        """All spans, in the order in which they arrived."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert self.headers["content-type"] == "application/x-protobuf"
        message = TYPES[self.path].FromString(body)
        message.DiscardUnknownFields()
        assert message.ByteSize() == len(body), "the request has fields that the schema lacks"
        self.server.headers.append(dict(self.headers))
        self.server.requests.append(message)
        self.server.is_open.wait(60)
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def running() -> Iterator[Collector]:
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.is_open.set()
        server.shutdown()


def attributes(message):
    """The attributes of a message as a dictionary."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in message.attributes}
