"""The interceptor `cache`, between processes and within batches."""

import json
import os
import re

import pytest

import manual
from harness import ROOT, Caller, write

SAMPLES = ROOT / ".build" / "plugins"
FIND = "demo.v1.Demo/Find"
HELLO = "demo.v1.Demo/Hello"
DELAY = "demo.v1.Demo/Delay"
METADATA = "demo.v1.Demo/EchoMetadata"


class Calls(Caller):
    """Calls a server, and counts the calls that it receives."""

    def __call__(self, method, *options, use="cache", **more):
        return super().__call__(method, "-v", "--use", use, *options, **more)

    def count(self, method):
        return self.server.log().splitlines().count(f"received {method}")

    def files(self):
        return sorted(path for path in (self.rpcurl.home / ".cache/rpcurl/responses").iterdir() if path.name != "lock")


@pytest.fixture(params=["grpc", "grpc-web", "connect", "connect-json"])
def call(request, demo):
    protocol = request.param.removesuffix("-json")
    server = request.getfixturevalue("grpc_server" if protocol == "grpc" else "connect_server")
    return Calls(demo, server, *(["--codec", "json"] if protocol != request.param else []), protocol=protocol)


@pytest.fixture
def connect(demo, connect_server):
    return Calls(demo, connect_server, "--connect-get", protocol="connect")


def test_another_process_uses_the_response(call):
    before = call.count(FIND)
    first, second = (call(FIND, "-d", '{"id":"1"}', "-H", "demo-trailer: x-cost=1") for _ in range(2))
    assert (first.code, second.code) == (0, 0), second.err
    assert first.out == second.out and second.json()["id"] == "1"
    # The time of the call, and the seconds since the header Date, are part of the age.
    assert "* cache: miss\n" in first.err
    assert re.search(r"\* cache: stored for (29\d\.\d+|300\.0) seconds\n", first.err), first.err
    assert "* cache: hit: age " in second.err and "(local response)" in second.err
    assert "x-cost: 1" in second.err
    assert call.count(FIND) == before + 1
    assert call(FIND, "-d", '{"id":"2"}').code == 0 and call.count(FIND) == before + 2
    assert call(FIND, "-d", '{"id":"1"}', use="cache,refresh=true").code == 0 and call.count(FIND) == before + 3


def test_files_are_private_and_damage_is_ignored(call):
    call(FIND, "-d", '{"id":"3"}')
    (file,) = call.files()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[:80], whole.replace(b'"version":2', b'"version":3'), os.urandom(4096)):
        file.write_bytes(damaged)
        before = call.count(FIND)
        assert call(FIND, "-d", '{"id":"3"}').exits(0).json()["id"] == "3"
        assert call.count(FIND) == before + 1


def test_errors_are_not_stored(call):
    for _ in range(2):
        before = call.count(FIND)
        call(FIND, "-d", '{"id":"9"}').exits(64 + 5).reports("* cache: not stored: the call failed")
        assert call.count(FIND) == before + 1


def test_credentials_separate_responses(call):
    def get(token, *options):
        return "cache: hit" in call(FIND, "-d", '{"id":"1"}', *options, "-H", f"authorization: Bearer {token}").exits(0).err

    assert [get("a"), get("b"), get("a"), get("b")] == [False, False, True, True]
    assert not any(b"Bearer" in file.read_bytes() for file in call.files())


def test_other_sockets_are_other_servers(demo, start_server, tmp_path):
    for number in range(2):
        options = ["--unix-socket", tmp_path / "socket"] if number else []
        result = demo(
            "--plaintext", "-v", "--use", "cache,methods=*", *options,
            "--use", "mock,file=" + str(stub(tmp_path, str(number))), "-d", "{}", "localhost:1", HELLO,
        )  # fmt: skip
        assert result.json() == {"message": str(number)}, result.err


def stub(directory, message):
    path = write(directory / f"{message}.json", json.dumps({"response": {"message": {"message": message}}}))
    return path


def test_identical_calls_of_a_batch_are_sent_once(call):
    before = call.count(DELAY)
    data = '{"milliseconds":400}' * 6
    result = call(DELAY, "--each", "--jobs", 3, use=f"cache,methods={DELAY}", input=data)
    assert (result.code, len(result.out.splitlines())) == (0, 6), result.err
    assert call.count(DELAY) == before + 1
    assert result.err.count("cache: shared with an identical call") == 2
    assert result.err.count("cache: hit") == 3


def test_methods_with_side_effects_pass(call):
    before = call.count(DELAY)
    for _ in range(2):
        call(DELAY, "-d", "{}").exits(0).reports("* cache: not used: the schema does not mark Delay as free of side effects; methods=")
    assert call.count(DELAY) == before + 2


def test_responses_of_mock_are_used_with_the_same_stubs_only(call, tmp_path):
    stubs = tmp_path / "stub.json"
    before = call.count(FIND)

    def find(*options):
        result = call(FIND, "-d", '{"id":"1"}', *options).exits(0)
        return result.json().get("title"), re.findall(r"\* cache: (\w+)", result.err)

    def mock(title):
        stubs.write_text(json.dumps({"response": {"message": {"id": "1", "title": title}}}))
        return find("--use", f"mock,file={stubs}")

    assert mock("MOCK") == ("MOCK", ["miss", "stored"])
    assert call.count(FIND) == before
    title, notes = find()
    assert title != "MOCK" and notes == ["miss", "stored"] and call.count(FIND) == before + 1
    assert find() == (title, ["hit"])
    assert mock("MOCK") == ("MOCK", ["hit"])
    assert mock("OTHER") == ("OTHER", ["miss", "stored"])
    assert find("--use", "log,file=/dev/null") == (title, ["hit"])
    assert call.count(FIND) == before + 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--use", "edit,response-set=title=X"),
        ("--plugin", f"{SAMPLES}/stamp.so,response-field=title,response-value=X"),
    ],
)
def test_responses_that_are_changed_are_used_with_the_same_change_only(call, option, value):
    change = [option, value]
    for expected in (["miss", "stored"], ["hit"]):
        result = call(FIND, "-d", '{"id":"1"}', *change)
        assert (result.code, result.json()["title"]) == (0, "X"), result.err
        assert re.findall(r"\* cache: (\w+)", result.err) == expected
    result = call(FIND, "-d", '{"id":"1"}')
    assert result.json().get("title") != "X" and "* cache: miss" in result.err


def test_explain_states_what_is_part_of_the_key(rpcurl, descriptor_set, tmp_path):
    stubs = write(tmp_path / "stub.json", '{"response":{"message":{}}}')
    words = ["--use", "cache", "--use", f"mock,file={stubs}", "--descriptor-set", descriptor_set]
    plan = rpcurl("--explain", "--format", "json", *words, f"http://localhost:1/{FIND}").json()
    assert plan["warnings"] == [
        "cache precedes mock: cache stores responses that mock may make or change, and uses them only with the same "
        "settings of mock"
    ]


def test_events(call):
    for text in ("miss", "hit: age "):
        result = call(FIND, "-d", '{"id":"1"}', "--format", "events")
        notes = [json.loads(line) for line in result.out.splitlines() if '"note"' in line]
        assert notes[0]["interceptor"] == "cache" and notes[0]["text"].startswith(text)


def test_cache_control_of_get_responses(connect):
    def request(*headers):
        return json.dumps({"headers": [{"name": name, "value": value} for name, value in headers]})

    for headers, expected in [
        ([("cache-control", "max-age=60, private")], "hit: age "), ([("cache-control", "no-store")], "miss"),
        ([("cache-control", "no-cache")], "miss"), ([("cache-control", "max-age=60"), ("age", "60")], "miss"),
    ]:  # fmt: skip
        connect(METADATA, "-d", request(*headers))
        result = connect(METADATA, "-d", request(*headers))
        assert f"* cache: {expected}" in result.err, (headers, result.err)
        assert result.json()["httpMethod"] == "GET"


def test_size(rpcurl, connect):
    for number in range(30):
        assert connect(HELLO, "-d", json.dumps({"name": f"{number:05}" * 800}), use="cache,size=64k").code == 0
    assert sum(file.stat().st_size for file in connect.files()) <= 64 << 10


@pytest.mark.parametrize("environment", [{"XDG_CACHE_HOME": "/dev/null"}, {"XDG_CACHE_HOME": "/proc/none"}])
def test_a_directory_that_cannot_be_written(call, environment):
    result = call(FIND, "-d", '{"id":"1"}', env=environment)
    assert (result.code, result.json()["id"]) == (0, "1")
    assert "* cache: not stored: /" in result.err


def test_no_directory(call):
    result = call(FIND, "-d", '{"id":"1"}', env={"HOME": ""})
    assert result.code != 0 and "hint: set XDG_CACHE_HOME" in result.err


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    find, batch = manual.examples("rpcurl-cache.7")
    counts = []
    for script in (find, find, batch):
        ran = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
        assert ran.returncode == 0, ran.stderr
        log = grpc_server.log().splitlines()
        counts.append((log.count(f"received {FIND}"), log.count(f"received {DELAY}")))
    assert counts[1][0] == counts[0][0] and counts[2][1] == counts[1][1] + 1
    assert len(ran.stdout.splitlines()) == 5
