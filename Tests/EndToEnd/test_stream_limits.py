"""Servers that limit the streams of a connection (SETTINGS_MAX_CONCURRENT_STREAMS)."""

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
    result = rpcurl("call", *options, f"{limited_server}/{HELLO}")
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == CALLS


@LIMITS
@pytest.mark.usefixtures("leads_connections")
def test_a_load_has_no_errors_because_of_the_limit(rpcurl, descriptor_set, limited_server):
    options = ("--descriptor-set", descriptor_set, "--requests", 4 * CALLS, "--jobs", JOBS, "--format", "json", "-d", "{}")
    result = rpcurl("load", *options, limited_server, HELLO)
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert (report["calls"], report["errors"]) == (4 * CALLS, 0)


@LIMITS
@pytest.mark.usefixtures("leads_connections")
def test_streams_of_a_session_beyond_the_limit_have_connections_of_their_own(rpcurl, descriptor_set, limited_server):
    with rpcurl.start("session", "--descriptor-set", descriptor_set, limited_server) as process:
        process.stdin.write(b"open Count {}\n" * 3)
        lines = sorted(process.stdout.readline() for _ in range(9))
        assert lines == [b'Count[%d] {"number":%d}\n' % (stream, number) for stream in (1, 2, 3) for number in (1, 2, 3)]
        process.kill()


@pytest.mark.usefixtures("leads_connections")
def test_calls_at_a_server_that_refuses_streams_beyond_its_limit(rpcurl, descriptor_set, raw_server):
    """Only a request beyond the limit is refused."""
    refused, limit = [], 2

    def serve(connection):
        raw_http2.read_exactly(connection, 24)
        control = raw_http2.Stream(connection, 0)
        control.frame(raw_http2.SETTINGS, 0, struct.pack(">HI", MAX_CONCURRENT_STREAMS, limit))
        open_streams = []
        while True:
            if open_streams and not select.select([connection], [], [], 0.002)[0]:
                stream = open_streams.pop(0)
                stream.headers(OK)
                stream.data(RESPONSE)
                stream.headers(STATUS_OK, end=True)
                continue
            kind, flags, number, _ = raw_http2.read_frame(connection)
            if kind in (raw_http2.DATA, raw_http2.HEADERS) and flags & raw_http2.END_STREAM:
                stream = raw_http2.Stream(connection, number)
                if len(open_streams) < limit:
                    open_streams.append(stream)
                else:
                    refused.append(number)
                    stream.reset(7)

    def until_the_end(connection):
        try:
            serve(connection)
        except EOFError:
            return

    url = f"http://{raw_server(until_the_end).address}/{HELLO}"
    options = ("--descriptor-set", descriptor_set, "--each", "--jobs", JOBS, "-d", "{}" * CALLS)
    result = rpcurl("call", *options, url)
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == CALLS
    assert refused == []


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
    result = rpcurl("call", *options, f"http://{server.address}/{HELLO}")
    assert (result.code, result.err) == (0, "")
    assert leader_alone.is_set() and server.connections == 1
