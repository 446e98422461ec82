"""A selection of mutated responses: `make mutation-fuzz` runs others for as long as MUTATION_SECONDS.

`faults/fuzz.py` states what is required of each case.
"""

import asyncio
import os
from dataclasses import replace

import pytest
from harness import ALL_TESTS
from faults import fuzz, reference, wire
from faults.fuzz import Ending
from faults.mutations import Call, Mutant
from google.protobuf import json_format
from raw_http2 import frame, header_block

SEED = 1
CASES = 10_000 if ALL_TESTS else 600
JOBS = 4 * (os.cpu_count() or 1)


@pytest.fixture
def world(rpcurl, certificates):
    return fuzz.World.make(rpcurl.home, certificates)


def test_mutations(world, grpc_server, connect_server, has_mended_libcurl):
    if not has_mended_libcurl:
        pytest.skip("this libcurl takes some responses that are cut for complete ones")

    async def run():
        recordings = await fuzz.record(world, grpc_server.port, connect_server.port, fuzz.calls())
        return [result async for result in fuzz.results(world, recordings, SEED, range(CASES), JOBS)]

    results = asyncio.run(run())
    assert len(results) == CASES
    wrong = [result for result in results if result.found]
    assert not wrong, "\n".join(map(str, wrong))
    # The responses are neither all destroyed nor all unchanged.
    succeeded = sum(result.ending.code == 0 for result in results)
    assert CASES / 20 < succeeded < CASES / 2


CALL = Call("grpc-web", "1.1", "Count", (), "CountReply", streams_response=True)
# The numbers 1 and 2, and the status ok.
BODY = b"\0\0\0\0\x02\x08\x01\0\0\0\0\x02\x08\x02\x80\0\0\0\x0fgrpc-status:0\r\n"
OUT = '{"number":1}\n{"number":2}\n'
ERROR = "rpcurl: a: b\n"


def findings(code, out="", err="", body=BODY, seconds=0.1):
    data = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(BODY) + body
    responses = [reader(data, True) for reader in reference.READERS["1.1"]]
    return fuzz.findings(Mutant(CALL, data, []), Ending(code, out, err, seconds), responses)


def test_right_outcomes_have_no_findings():
    assert findings(0, OUT) == []
    assert findings(77, OUT, ERROR) == findings(77, "", ERROR) == findings(5, '{"number":1}\n', ERROR) == []
    assert findings(5, OUT, ERROR, BODY[:-1]) == findings(5, "", ERROR, b"") == []


@pytest.mark.parametrize(
    "outcome",
    [
        {"code": 0, "out": ""},
        {"code": 0, "out": '{"number":1}\n'},
        {"code": 0, "out": '{"number":2}\n{"number":1}\n'},
        {"code": 0, "out": OUT * 2},
        {"code": 0, "out": OUT + "{}\n"},
        {"code": 0, "out": OUT, "err": ERROR},
        {"code": 0, "out": OUT[:-1]},
        {"code": 0, "out": OUT, "body": BODY[:-1]},
        {"code": 0, "out": OUT, "body": BODY.replace(b"status:0", b"status:5")},
        {"code": 5, "out": '{"number":2}\n', "err": ERROR},
        {"code": 5, "out": '{"number":1}\n{"num', "err": ERROR},
        {"code": 5, "out": OUT, "err": ""},
        {"code": 5, "out": OUT, "err": ERROR * 2},
        {"code": 5, "out": OUT, "err": f"{ERROR}Fatal error: a\n"},
        {"code": 2, "err": ERROR},
        {"code": -4, "err": ERROR},
        {"code": None},
    ],
)
def test_wrong_outcomes_have_findings(outcome):
    assert findings(**outcome) != []


@pytest.mark.parametrize(
    ("data", "out"),
    [
        (b"\x09\x01\0\0\0\0\0\xf0\xff", '{"doubleValue":"NaN"}'),
        (b"\x82\x02\x04\x01\0\x80\xff", '{"floats":["NaN"]}'),
        (b"\xda\x04\0", '{"value":null}'),
        (b"\xd2\x04\x07\x0a\x05\x0a\x01k\x12\0", '{"struct":{"k":null}}'),
    ],
)
def test_values_with_one_form_in_json_are_equal(data, out):
    call = replace(CALL, method="Echo", output="AllTypes", streams_response=False)
    printed = fuzz.parsed(call, lambda message: json_format.Parse(out, message))
    assert printed and printed == fuzz.parsed(call, lambda message: message.ParseFromString(data))


def test_a_late_end_is_found():
    late = Ending(68, "", ERROR, fuzz.MAX_TIME + fuzz.LATE + 0.1)
    assert fuzz.is_late(late)
    # The machine delayed this process as long.
    assert not fuzz.is_late(replace(late, lag=0.2))
    assert not fuzz.is_late(replace(late, seconds=fuzz.MAX_TIME))


@pytest.mark.parametrize(("received", "body"), [(2, b"a"), (3, b"ab"), (4, b"ab"), (6, b"ab")])
def test_the_content_of_a_padded_frame_counts_before_its_padding_is_received(received, body):
    padded = frame(wire.DATA, wire.PADDED, 1, b"\x03ab\0\0\0")
    head = frame(wire.HEADERS, wire.END_HEADERS, 1, header_block([(":status", "200")]))
    response = reference.lenient_http2(head + padded[: 9 + received], True)
    assert (response.body, response.has_ended) == (body, False)
