"""The soak of `make soak`, for a moment: it passes, and it fails if the session does not do what it must."""

import asyncio
import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import RPCURL
from faults import soak


@pytest.fixture
def world(rpcurl, grpc_server):
    return soak.World(RPCURL, rpcurl.environment(None), rpcurl.home, grpc_server.port, None)


def test_soak(world):
    samples = asyncio.run(soak.soak(world, 0.5, 1))
    assert len(samples.memory) == len(samples.files) > 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('"$RPCURL" "$@"; exit 3', "the session ended with 3"),
        ('exec "$RPCURL" "$@" 2> /dev/null', "round 1, .*: output"),
        ('exec "$RPCURL" "$@" --max-time x', "the session ended with 2"),
    ],
)
def test_soak_of_a_wrong_program(world, tmp_path, script, reason):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script.replace('$RPCURL', str(RPCURL))}\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit, match=reason):
        asyncio.run(soak.soak(replace(world, program=program), 0.5, 1))


def test_soak_of_a_missing_plugin(world):
    with pytest.raises(SystemExit, match="no such file"):
        asyncio.run(soak.soak(replace(world, plugin=Path("/none.so")), 0.5, 1))


def lines(number):
    payload = {"payload": base64.b64encode(bytes(200_000)).decode()}
    items = [payload if isinstance(item, dict) and "payload" in item else item for item in soak.output(number)]
    sent = {"headers": [{"name": "x-round", "value": f"{number}"}, {"name": "x-stamp", "value": "soak"}]}
    return [item if isinstance(item, str) else json.dumps(item) for item in [*items, sent]]


def test_soak_rejects_wrong_output():
    clean = lines(7)
    assert soak.problems(clean, 7, True, False) == []
    # Of the clean round.
    for number in range(len(clean)):
        for changed in ([*clean[:number], *clean[number + 1 :]], [*clean[: number + 1], *clean[number:]]):
            assert soak.problems(changed, 7, True, False) != [], changed[number - 1]
    assert soak.problems(["rpcurl: a: b"], 7, True, False) != []
    assert soak.problems([], 7, True, False) != []
    # Of a round with a fault: the errors of its calls, and nothing that is not in the clean round.
    assert soak.problems([clean[0], "rpcurl: a: b"], 7, True, True) == []
    assert soak.problems(clean, 7, True, True) != []
    assert soak.problems([*lines(8), "rpcurl: a: b"], 7, True, True) != []
    assert soak.problems([], 7, True, True) != []


def test_soak_requires_the_header_of_the_plugin():
    unstamped = [line.replace("x-stamp", "x-other") for line in lines(7)]
    assert soak.problems(unstamped, 7, False, False) == []
    assert soak.problems(unstamped, 7, True, False) != []
