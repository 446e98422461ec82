"""Servers that limit the streams of a connection (SETTINGS_MAX_CONCURRENT_STREAMS)."""

import collections
import contextlib
import json
import select
import struct
import threading
from concurrent import futures

import grpc
import pytest

import raw_http2
from raw_http2 import OK, RESPONSE, STATUS_OK

HELLO = "demo.v1.Demo/Hello"
CALLS, JOBS = 50, 16
MAX_CONCURRENT_STREAMS = 3


@pytest.fixture
def limited_server(request):
    """A server with grpcio whose connections have this many streams; calls wait until several are in progress."""

    def hello(_, context):
        return RESPONSE[5:]

    def count(_, context):
        for number in range(1, 4):
            yield bytes([8, number])
        ended.wait(60)

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            if details.method.endswith("Hello"):
                return grpc.unary_unary_rpc_method_handler(hello)
            return grpc.unary_stream_rpc_method_handler(count)

    ended = threading.Event()
    options = [("grpc.max_concurrent_streams", request.param)]
    server = grpc.server(futures.ThreadPoolExecutor(2 * JOBS), options=options)
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"http://127.0.0.1:{port}"
    ended.set()
    server.stop(None).wait()


LIMITS = pytest.mark.parametrize("limited_server", [1, 4], indirect=True)


@LIMITS
@pytest.mark.usefixtures("leads_connections")
def test_calls_of_a_batch_stay_within_the_limit(rpcurl, descriptor_set, limited_server):
    options = ("--descriptor-set", descriptor_set, "--each", "--jobs", JOBS, "-d", "{}" * CALLS)
    assert len(rpcurl("call", *options, f"{limited_server}/{HELLO}").succeeds().out.splitlines()) == CALLS


@LIMITS
@pytest.mark.usefixtures("leads_connections")
def test_a_load_has_no_errors_because_of_the_limit(rpcurl, descriptor_set, limited_server):
    options = ("--descriptor-set", descriptor_set, "--requests", 4 * CALLS, "--jobs", JOBS, "--format", "json", "-d", "{}")
    report = rpcurl("load", *options, limited_server, HELLO).exits(0).json()
    assert (report["calls"], report["errors"]) == (4 * CALLS, 0)


@LIMITS
@pytest.mark.usefixtures("leads_connections")
def test_streams_of_a_session_beyond_the_limit_have_connections_of_their_own(rpcurl, descriptor_set, limited_server):
    with rpcurl.start("session", "--descriptor-set", descriptor_set, limited_server) as process:
        process.stdin.write(b"open Count {}\n" * 3)
        lines = sorted(process.stdout.readline() for _ in range(9))
        assert lines == [b'Count[%d] {"number":%d}\n' % (stream, number) for stream in (1, 2, 3) for number in (1, 2, 3)]
        process.kill()


class RefusingServer:
    """Refuses the requests on a connection beyond its limit; it responds to the others when no more requests come, and on the
    first connection not before this many have come."""

    def __init__(self, raw_server, limit, settings=b"", first=1):
        self.limit, self.settings, self.first = limit, settings, first
        self.received, self.refused = collections.Counter(), []
        self.server = raw_server(self.serve)

    def serve(self, connection):
        awaited = self.first if self.server.connections == 1 else 1
        with contextlib.suppress(EOFError):
            raw_http2.read_exactly(connection, 24)
            raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS, 0, self.settings)
            streams = []
            while True:
                if streams and awaited <= 0 and not select.select([connection], [], [], 0.002)[0]:
                    stream = streams.pop(0)
                    stream.headers(OK)
                    stream.data(RESPONSE)
                    stream.headers(STATUS_OK, end=True)
                    continue
                kind, flags, number, payload = raw_http2.read_frame(connection)
                if kind == raw_http2.DATA and flags & raw_http2.END_STREAM:
                    awaited -= 1
                    self.received[payload] += 1
                    stream = raw_http2.Stream(connection, number)
                    if len(streams) < self.limit:
                        streams.append(stream)
                    else:
                        self.refused.append(payload)
                        stream.reset(7)


@pytest.mark.usefixtures("leads_connections")
def test_calls_at_a_server_that_refuses_streams_beyond_its_limit(rpcurl, descriptor_set, raw_server):
    """Only a request beyond the limit is refused."""
    server = RefusingServer(raw_server, 2, settings=struct.pack(">HI", MAX_CONCURRENT_STREAMS, 2))
    options = ("--descriptor-set", descriptor_set, "--each", "--jobs", JOBS, "-d", "{}" * CALLS)
    assert len(rpcurl("call", *options, f"http://{server.server.address}/{HELLO}").succeeds().out.splitlines()) == CALLS
    assert server.refused == []


@pytest.mark.parametrize("limit", [1, 4])
@pytest.mark.usefixtures("leads_connections")
def test_calls_at_a_server_that_does_not_announce_its_limit(rpcurl, descriptor_set, raw_server, limit):
    """A request that is refused three times is the first one of a connection."""
    server = RefusingServer(raw_server, limit, first=limit + 1)
    data = "".join(json.dumps({"name": str(number)}) for number in range(2 * CALLS))
    options = ("--descriptor-set", descriptor_set, "--each", "--jobs", JOBS, "-d", data)
    assert len(rpcurl("call", *options, f"http://{server.server.address}/{HELLO}").succeeds().out.splitlines()) == 2 * CALLS
    assert len(server.received) == 2 * CALLS and max(server.received.values()) <= 4
    assert server.refused


@pytest.mark.parametrize("options", [(), ("--connections", 2)], ids=["any", "connections"])
@pytest.mark.parametrize("limit", [1, 4])
@pytest.mark.usefixtures("leads_connections")
def test_a_load_has_no_errors_because_of_a_limit_that_is_not_announced(rpcurl, descriptor_set, raw_server, limit, options):
    server = RefusingServer(raw_server, limit)
    options = (*options, "--requests", 4 * CALLS, "--jobs", JOBS, "--format", "json", "-d", "{}")
    url = f"http://{server.server.address}"
    report = rpcurl("load", "--descriptor-set", descriptor_set, *options, url, HELLO).exits(0).json()
    assert (report["calls"], report["errors"]) == (4 * CALLS, 0)


@pytest.mark.usefixtures("leads_connections")
def test_one_call_leads_a_connection_until_the_settings_arrive(rpcurl, descriptor_set, raw_server):
    """A response may wait for the request: the settings come first, without a request."""
    leader_alone = threading.Event()

    def serve(connection):
        raw_http2.read_exactly(connection, 24)
        streams = []

        def read_request():
            while True:
                kind, flags, number, _ = raw_http2.read_frame(connection)
                if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                    streams.append(raw_http2.Stream(connection, number))
                    return

        read_request()
        # Nothing more is sent, however long the settings take.
        if not select.select([connection], [], [], 0.1)[0]:
            leader_alone.set()
        raw_http2.Stream(connection, 0).frame(raw_http2.SETTINGS)
        for _ in range(3):
            read_request()
        for stream in streams:
            stream.headers(OK)
            stream.data(RESPONSE)
            stream.headers(STATUS_OK, end=True)
        streams[0].wait_for_the_end()

    server = raw_server(serve)
    options = ("--descriptor-set", descriptor_set, "--each", "--jobs", 4, "-d", "{}" * 4)
    rpcurl("call", *options, f"http://{server.address}/{HELLO}").succeeds()
    assert leader_alone.is_set() and server.connections == 1
