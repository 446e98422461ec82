"""--keepalive-time: HTTP/2's PING, which a peer that is there acknowledges at once."""

import json
import queue

import pytest
import raw_http2

CHAT = "demo.v1.Demo/Chat"


@pytest.fixture
def call(current_rpcurl, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--max-time", "20", "--plaintext", "--keepalive-time"]
    return lambda server, time, *more: current_rpcurl.start(*options, time, *more, server.address, CHAT)


def test_a_peer_that_acknowledges_pings_stays_connected(call, raw_server):
    """The server sends nothing but acknowledgements until it has seen two PINGs."""
    pings = []

    def respond(stream):
        stream.headers(raw_http2.OK)
        while len(pings) < 2:
            kind, flags, _, payload = raw_http2.read_frame(stream.connection)
            if kind == raw_http2.PING and not flags & raw_http2.ACK:
                pings.append(payload)
                stream.frame(raw_http2.PING, raw_http2.ACK, payload, stream=0)
        stream.data(b"\0\0\0\0\x04\x0a\x02hi")
        stream.headers(raw_http2.STATUS_OK, end=True)
        stream.reset(0)

    # Long enough for a server on a busy machine.
    with call(raw_server(raw_http2.handler(respond, waits=False)), "2s") as process:
        out = process.stdout.read()
        assert (process.wait(), process.stderr.read()) == (0, b"")
    assert json.loads(out) == {"text": "hi"}


def test_a_silent_peer_ends_the_call(call, raw_server):
    """The kernel still acknowledges TCP segments, as a NAT or a proxy does for a lost peer."""
    seen = queue.SimpleQueue()

    def respond(stream):
        stream.headers(raw_http2.OK)
        seen.put(stream.wait_for_the_end())

    with call(raw_server(raw_http2.handler(respond, waits=False)), "300ms") as process:
        error = process.stderr.read().decode()
        assert process.wait() == 5
    assert "did not respond to an HTTP/2 PING within 0.3 seconds" in error
    assert raw_http2.PING in seen.get(timeout=60)


def test_time_for_a_response_to_a_ping(call, raw_server):
    def respond(stream):
        stream.headers(raw_http2.OK)
        stream.wait_for_the_end()

    with call(raw_server(raw_http2.handler(respond, waits=False)), "300ms", "--keepalive-timeout", "200ms") as process:
        error = process.stderr.read().decode()
        assert process.wait() == 5
    assert "did not respond to an HTTP/2 PING within 0.2 seconds" in error


def test_timeout_without_a_time_is_an_error(rpcurl):
    result = rpcurl("--keepalive-timeout", "2s", "--plaintext", "localhost:1", CHAT).exits(2)
    result.reports("--keepalive-timeout: no probe is sent without --keepalive-time", "hint: add --keepalive-time DURATION")


def test_calls_of_a_batch_share_the_pings_of_a_connection(current_rpcurl, raw_server, descriptor_set):
    """Each call looks after its connection, but what one receives shows the others that the peer is there."""
    pings = []

    def handle(connection):
        control = raw_http2.Stream(connection, 0)
        raw_http2.read_exactly(connection, 24)
        control.frame(raw_http2.SETTINGS)
        streams = []
        try:
            while True:
                kind, flags, number, payload = raw_http2.read_frame(connection)
                if kind == raw_http2.PING and not flags & raw_http2.ACK:
                    pings.append(payload)
                    control.frame(raw_http2.PING, raw_http2.ACK, payload)
                    if len(pings) == 3:
                        for stream in streams:
                            stream.headers(raw_http2.OK)
                            stream.data(raw_http2.RESPONSE)
                            stream.headers(raw_http2.STATUS_OK, end=True)
                if kind == raw_http2.DATA and flags & raw_http2.END_STREAM:
                    streams.append(raw_http2.Stream(connection, number))
        except EOFError:
            pass

    server = raw_server(handle)
    current_rpcurl(
        "--descriptor-set", descriptor_set, "--keepalive-time", "2s", "--plaintext", "--each", "--jobs", "8",
        server.address, "demo.v1.Demo/Hello", input='{"name":"x"}' * 8,
    ).succeeds()  # fmt: skip
    # Eight calls with PINGs of their own would have sent 24.
    assert 3 <= len(pings) < 12
