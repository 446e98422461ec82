"""Files that several processes write at the same time: cassettes, and the record of trusted files."""

import json

import pytest
from harness import wait_until

NAMES = ["Ada", "Bob", "Cy"]
PROCESSES = 12


@pytest.fixture
def cassette(tmp_path):
    return tmp_path / "calls.rec"


@pytest.fixture
def replayed(rpcurl, descriptor_set, cassette):
    """`replayed(name)`: the response to a call from the cassette."""

    def replay(name):
        words = ["--descriptor-set", descriptor_set, "--use", f"replay,file={cassette}", "-d", json.dumps({"name": name})]
        return rpcurl(*words, "http://127.0.0.1:1/demo.v1.Demo/Hello").exits(0).json()["name"]

    return replay


def starts(cassette):
    return [line for line in map(json.loads, cassette.read_text().splitlines()) if line.get("event") == "start"]


def test_numbers_of_another_process_are_not_continued(rpcurl, grpc_server, cassette):
    """It may still run, and continue with the same."""
    call = ["--use", f"record,file={cassette},append=true", "-d", '{"name":"Ada"}', f"{grpc_server.url}/demo.v1.Demo/Hello"]
    rpcurl(*call).exits(0)
    other = 1 << 41
    cassette.write_text(cassette.read_text().replace('"call":1,', f'"call":{other},'))
    for _ in range(2):
        rpcurl(*call).exits(0)
    first, second, third = [line["call"] for line in starts(cassette)]
    assert first == other and len({first, first + 1, second, third}) == 4


@pytest.mark.parametrize("key", ["append=false", "append=true"])
def test_sessions_record_side_by_side(rpcurl, grpc_server, descriptor_set, cassette, replayed, key):
    """The calls of the others are kept, also those that are in progress."""
    cassette.write_text("")
    options = ["--descriptor-set", descriptor_set, "--use", f"record,file={cassette},{key}"]
    sessions = [rpcurl.start("session", *options, grpc_server.url) for _ in NAMES]
    try:
        # In turn, so that the calls of each overlap with those of the others.
        for count, session in enumerate(sessions, 1):
            session.stdin.write(b"open Chat\n")
            wait_until(lambda: len(starts(cassette)) == count, "the stream is recorded")
        for count, (session, name) in enumerate(zip(sessions, NAMES), 1):
            session.stdin.write(b'call Hello {"name":"%s"}\n' % name.encode())
            wait_until(lambda: cassette.read_text().count('"event":"end"') == count, "the call is recorded")
        for session in sessions:
            _, errors = session.communicate()
            assert session.returncode == 0, errors
    finally:
        for session in sessions:
            session.kill()
            session.wait()
    assert [replayed(name) for name in NAMES] == NAMES
    assert len(starts(cassette)) == 2 * len(NAMES)


@pytest.mark.parametrize("spec", ["record,file={},append=true", "replay,file={},miss=record"])
def test_many_processes_append_to_a_cassette(rpcurl, grpc_server, descriptor_set, cassette, replayed, spec):
    command = ["--descriptor-set", descriptor_set, "--use", spec.format(cassette), "-d"]
    names = [f"name{number}" for number in range(PROCESSES)]
    calls = [rpcurl.start(*command, json.dumps({"name": name}), f"{grpc_server.url}/demo.v1.Demo/Hello") for name in names]
    for call in calls:
        _, errors = call.communicate()
        assert call.returncode == 0, errors
    assert len(starts(cassette)) == PROCESSES
    assert [replayed(name) for name in names[:3]] == names[:3]


def test_many_processes_trust_a_file(rpcurl):
    (rpcurl.home / ".rpcurl").write_text("-k\n")
    commands = [rpcurl.start("trust") for _ in range(PROCESSES)]
    for command in commands:
        _, errors = command.communicate()
        assert command.returncode == 0, errors
