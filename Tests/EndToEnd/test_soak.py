"""The soak of `make soak`, for a moment: it passes, and it fails if the session does not do what it must."""

import asyncio
import base64
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from harness import RPCURL, write
from faults import plugins, soak


@pytest.fixture
def world(rpcurl, grpc_server):
    return soak.World(RPCURL, rpcurl.environment(None), rpcurl.home, grpc_server.port)


@pytest.fixture
def plugin_world(world, tmp_path):
    """The same, with a plugin whose file is replaced by another build."""
    return replace(world, builds=plugins.build(tmp_path))


def test_soak(plugin_world):
    # Until the file was replaced, and its first build has come back.
    samples = asyncio.run(soak.soak(plugin_world, 0.5, 1, least_rounds=2 * plugins.ROUNDS_OF_BUILD))
    assert len(samples.memory) == len(samples.files) >= 2 * plugins.ROUNDS_OF_BUILD


def test_soak_of_a_plugin_that_is_not_replaced(plugin_world):
    """The file has the name of another build and the same content."""
    one = plugin_world.builds["one"]
    same = replace(plugin_world, builds={"one": one, "two": one})
    with pytest.raises(SystemExit, match=f"round {plugins.ROUNDS_OF_BUILD}, .*: headers .*'x-build': 'one'"):
        asyncio.run(soak.soak(same, 0.5, 1, least_rounds=plugins.ROUNDS_OF_BUILD))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ('"$RPCURL" "$@"; exit 3', "the session ended with 3"),
        ('exec "$RPCURL" "$@" 2> /dev/null', "round 1, .*: output"),
        ('exec "$RPCURL" "$@" --max-time x', "the session ended with 2"),
    ],
)
def test_soak_of_a_wrong_program(world, tmp_path, script, reason):
    program = write(tmp_path / "program", f"#!/bin/sh\n{script.replace('$RPCURL', str(RPCURL))}\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit, match=reason):
        asyncio.run(soak.soak(replace(world, program=program), 0.5, 1))


def test_soak_of_a_missing_plugin(world):
    with pytest.raises(SystemExit, match="no such file"):
        asyncio.run(soak.soak(replace(world, plugin=Path("/none.so")), 0.5, 1))


STAMP = {"x-stamp": "soak"}


def lines(number):
    payload = {"payload": base64.b64encode(bytes(200_000)).decode()}
    items = [payload if isinstance(item, dict) and "payload" in item else item for item in soak.output(number)]
    sent = {"headers": [{"name": "x-round", "value": f"{number}"}, {"name": "x-stamp", "value": "soak"}]}
    return [item if isinstance(item, str) else json.dumps(item) for item in [*items, sent]]


def test_soak_rejects_wrong_output():
    clean = lines(7)
    assert soak.problems(clean, 7, STAMP, False) == []
    # Of the clean round.
    for number in range(len(clean)):
        for changed in ([*clean[:number], *clean[number + 1 :]], [*clean[: number + 1], *clean[number:]]):
            assert soak.problems(changed, 7, STAMP, False) != [], changed[number - 1]
    assert soak.problems(["rpcurl: a: b"], 7, STAMP, False) != []
    assert soak.problems([], 7, STAMP, False) != []
    # Of a round with a fault: the errors of its calls, and nothing that is not in the clean round.
    assert soak.problems([clean[0], "rpcurl: a: b"], 7, STAMP, True) == []
    assert soak.problems(clean, 7, STAMP, True) != []
    assert soak.problems([*lines(8), "rpcurl: a: b"], 7, STAMP, True) != []
    assert soak.problems([], 7, STAMP, True) != []


def test_soak_requires_the_header_of_the_plugin():
    unstamped = [line.replace("x-stamp", "x-other") for line in lines(7)]
    assert soak.problems(unstamped, 7, {}, False) == []
    assert soak.problems(unstamped, 7, STAMP, False) != []


# Growth

ROUNDS = 400
FLAT, NOISY = [12_000] * ROUNDS, [12_000 + random.Random(1).randrange(3_000) for _ in range(ROUNDS)]
# Until the end of the warm-up.
WARMING = [12_000 + 40 * min(number, ROUNDS // 2) for number in range(ROUNDS)]
# A leak of 8 kB for each round, alone and among noise, and one that frees a part of it now and then.
LEAKING = [12_000 + 8 * number for number in range(ROUNDS)]
NOISY_LEAK = [leaking + noise - 12_000 for leaking, noise in zip(LEAKING, NOISY)]
SAWTOOTH = [12_000 + 20 * number - 300 * (number % 10 == 0) for number in range(ROUNDS)]
# A single step, as of a cache without a limit.
STEP = [12_000 + 2_000 * (number > 3 * ROUNDS // 4) for number in range(ROUNDS)]


@pytest.mark.parametrize("memory", [FLAT, NOISY, WARMING, [12_000], LEAKING[::-1]])
def test_flat_memory_passes(memory):
    assert not soak.grows(soak.Samples(memory, [9] * len(memory)))


@pytest.mark.parametrize("memory", [LEAKING, NOISY_LEAK, SAWTOOTH, STEP])
def test_growing_memory_is_rejected(memory):
    assert soak.grows(soak.Samples(memory, [9] * len(memory)))


def test_growth_of_descriptors_is_that_of_most_rounds():
    def grows(files):
        return soak.grows(soak.Samples([12_000] * len(files), files))

    # Of a connection that is being closed at the end of a round.
    assert not grows([9 + (number % 3 == 0) for number in range(ROUNDS)])
    # Of the one round that left no connection.
    assert not grows([9 - (number == ROUNDS // 2) for number in range(ROUNDS)])
    assert not grows([min(9 + number, 30) for number in range(ROUNDS)])
    assert grows([9 + number for number in range(ROUNDS)])
    # One descriptor in the second half of the run.
    assert grows([9 + (number > 3 * ROUNDS // 4) for number in range(ROUNDS)])
    assert grows([9 + number // 100 + (number % 3 == 0) for number in range(ROUNDS)])


@pytest.mark.parametrize(("files", "kilobytes", "is_growth"), [(1, 26, False), (2, 26, True), (1, 60, True)])
def test_each_build_of_a_plugin_may_keep_a_counted_part(monkeypatch, files, kilobytes, is_growth):
    samples = soak.Samples()
    for number in range(ROUNDS):
        builds = number // 4
        monkeypatch.setattr(soak, "resident_kilobytes", lambda _: 12_000 + builds * kilobytes)
        monkeypatch.setattr(soak, "open_files", lambda _: 9 + builds * files)
        samples.add(1, builds)
    assert soak.grows(samples) == is_growth
