"""Files that several processes write at the same time: none becomes unreadable, and no update is lost without a message."""

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from harness import Result, wait_until, write

HELLO = "demo.v1.Demo/Hello"
NAMES = ["Ada", "Bob", "Cy"]
PROCESSES = 12
CTRL_D = "\x04"
INCOMPLETE = "the line is incomplete, and ignored: the process that wrote it was ended"


@pytest.fixture
def at_once(rpcurl):
    """`at_once(commands)`: the results of processes that run at the same time."""

    def run(commands):
        processes = [rpcurl.start(*command) for command in commands]
        ended = [(process, *process.communicate()) for process in processes]
        return [Result(process.returncode, out, errors.decode()) for process, out, errors in ended]

    return run


@pytest.fixture
def call(grpc_server, descriptor_set):
    """`call(name, *options)`: the words of a call."""
    return lambda name, *options: [
        "--descriptor-set", descriptor_set, *options, "-d", json.dumps({"name": name}), f"{grpc_server.url}/{HELLO}",
    ]  # fmt: skip


def parts(folder):
    """The files that processes have left unfinished."""
    return [path for path in folder.rglob("*") if path.name.endswith(".part")]


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


def test_many_processes_trust_and_revoke_files(rpcurl, at_once):
    folders = [rpcurl.home / f"{number}" for number in range(2 * PROCESSES)]
    for folder in folders:
        folder.mkdir()
        write(folder / ".rpcurl", "-k\n")
    files, more = folders[:PROCESSES], folders[PROCESSES:]
    for result in at_once([["trust", file] for file in files]):
        result.exits(0)
    half = PROCESSES // 2
    for result in at_once([["trust", "--revoke", file] for file in files[:half]] + [["trust", file] for file in more]):
        result.exits(0)
    listed = rpcurl("trust", "--list").exits(0).out
    assert [folder for folder in folders if f"{folder}/.rpcurl" in listed] == folders[half:]
    assert parts(rpcurl.home) == []


# Files to which processes append


@pytest.mark.parametrize("key", ["append=true", "append=false"])
def test_many_processes_write_a_log(at_once, call, tmp_path, key):
    log = tmp_path / "log"
    for result in at_once([call(f"name{number}", "--use", f"log,format=ndjson,file={log},bodies=true,{key}") for number in range(PROCESSES)]):
        result.exits(0)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines
    if key == "append=true":
        for number in range(PROCESSES):
            assert sum(f'"name{number}"' in json.dumps(line) for line in lines) == 2


def test_many_processes_write_spans(at_once, call, tmp_path):
    file = tmp_path / "spans"
    for result in at_once([call("Ada", "--use", f"trace,file={file}") for _ in range(PROCESSES)]):
        result.exits(0)
    assert TracesData.FromString(file.read_bytes()).resource_spans


def test_sessions_write_one_transcript(prompt, grpc_server, descriptor_set, tmp_path):
    file = tmp_path / "transcript"
    sessions = [prompt("--descriptor-set", descriptor_set, grpc_server.url) for _ in NAMES]
    for turn in range(2):
        for name, session in zip(NAMES, sessions):
            session.type(*([] if turn else [f"record {file}"]), f'call Hello {{"name":"{name}{turn}"}}')
            assert f"{name}{turn}" in session.line()
    for session in sessions:
        session.end()
    shown = [line for line in file.read_text().splitlines() if line.startswith("{")]
    assert sorted(json.loads(line)["name"] for line in shown) == sorted(f"{name}{turn}" for name in NAMES for turn in range(2))


def test_many_processes_record_a_suite(rpcurl, at_once, grpc_server, descriptor_set, tmp_path):
    """All of them to one cassette, and its schema."""
    suite = write(tmp_path / "suite.rpcurl", f'target {grpc_server.url}\ntest t\ncall Hello {{"name":"Ada"}}\n')
    command = ["test", "--descriptor-set", descriptor_set, "--record", tmp_path / "calls", suite]
    for result in at_once([command] * PROCESSES):
        result.exits(0)
    rpcurl("test", "--descriptor-set", descriptor_set, "--replay", tmp_path / "calls", suite).exits(0)
    assert parts(tmp_path) == []


# A process that is killed within a line


def test_next_line_begins_after_one_that_is_incomplete(prompt, rpcurl, grpc_server, descriptor_set, cassette):
    """Also in a session that has opened the file before."""
    record = ["--descriptor-set", descriptor_set, "--use", f"record,file={cassette},append=true"]
    session = prompt(*record, grpc_server.url)
    for name in NAMES[:2]:
        session.type(f'call Hello {{"name":"{name}"}}')
        assert name in session.line()
        with cassette.open("a") as file:
            file.write('{"call":3,"event":"sta')
    session.end()
    words = ["-d", '{"name":"Cy"}', f"{grpc_server.url}/{HELLO}"]
    rpcurl(*record, *words).exits(0).reports(f"record: {cassette}:", INCOMPLETE)
    for name in NAMES:
        words = ["--descriptor-set", descriptor_set, "--use", f"replay,file={cassette}", "-d", json.dumps({"name": name})]
        result = rpcurl(*words, "http://127.0.0.1:1/demo.v1.Demo/Hello").exits(0)
        assert result.json()["name"] == name
        # One warning of two lines.
        assert result.err.count(INCOMPLETE) == 1 and result.err.startswith("replay: ")


def test_killed_processes_leave_the_calls_of_the_others(rpcurl, call, cassette, replayed):
    """Each message is many pages, between two of which a signal can end a write."""
    names = [f"{number} {'x' * 500_000}" for number in range(PROCESSES)]
    processes = []
    for name in names:
        words = call("", "--use", f"record,file={cassette},append=true")
        words[words.index("-d") + 1] = f"@{write(cassette.parent / f'{len(processes)}.json', json.dumps({'name': name}))}"
        processes.append(rpcurl.start(*words))
    killed, others = processes[: PROCESSES // 2], processes[PROCESSES // 2 :]
    # One after the other, while the rest write.
    for count, process in enumerate(killed, 1):
        wait_until(lambda: cassette.exists() and cassette.stat().st_size > count * 500_000, "lines are written")
        process.kill()
        process.communicate()
    for process in others:
        _, errors = process.communicate()
        assert process.returncode == 0 and set(re.sub(r".*:\d+: ", "", errors.decode()).splitlines()) <= {INCOMPLETE}, errors
    survivors = [name for name in names[PROCESSES // 2 :]]
    for name in survivors[:2]:
        words = ["--descriptor-set", call("")[1], "--use", f"replay,file={cassette},match=fields,fields=name"]
        data = write(cassette.parent / "data", json.dumps({"name": name}))
        assert rpcurl(*words, "-d", f"@{data}", "http://127.0.0.1:1/demo.v1.Demo/Hello").exits(0).json()["name"] == name


# Files that another program has changed


def test_cassette_that_another_program_truncates(prompt, grpc_server, descriptor_set, cassette, replayed):
    session = prompt("--descriptor-set", descriptor_set, "--use", f"record,file={cassette}", grpc_server.url)
    for name in NAMES:
        session.type(f'call Hello {{"name":"{name}"}}')
        assert name in session.line()
        if name != NAMES[-1]:
            cassette.write_text("")
    session.end()
    assert replayed("Cy") == "Cy" and len(starts(cassette)) == 1


# Files to which a write fails


def limited(rpcurl, words, kibibytes=4):
    """Run with a limit of the size of files, whose signal ends a process that does not expect it."""
    command = ["bash", "-c", f'ulimit -c 0 -f {kibibytes}; exec "$@"', "bash", *rpcurl.command(tuple(words))]
    done = subprocess.run(command, input=b"", capture_output=True, env=rpcurl.environment(None), cwd=rpcurl.home, timeout=60)
    return Result(done.returncode, done.stdout, done.stderr.decode())


def test_failed_write_leaves_whole_lines(rpcurl, call, cassette, replayed):
    rpcurl(*call("Ada", "--use", f"record,file={cassette}")).exits(0)
    before = cassette.read_bytes()
    name = "x" * 5000
    result = limited(rpcurl, call(name, "--use", f"record,file={cassette},append=true"))
    result.exits(64 + 13).reports("File too large")
    lines = cassette.read_bytes()
    assert lines.startswith(before) and lines.endswith(b"\n")
    assert all(json.loads(line) for line in lines.splitlines())
    rpcurl(*call("Bob", "--use", f"record,file={cassette},append=true")).exits(0, err="")
    assert [replayed(name) for name in NAMES[:2]] == NAMES[:2]


@pytest.mark.parametrize("option", ["-o {}", "--use log,format=har,file={}", "--use metrics,format=json,file={}"])
def test_failed_write_keeps_the_file(rpcurl, call, tmp_path, option):
    file = write(tmp_path / "file", "before\n")
    result = limited(rpcurl, call("x" * 2000, *option.format(file).split()), kibibytes=0)
    result.reports(str(file), "File too large")
    assert file.read_text() == "before\n" and parts(tmp_path) == []


def test_failed_write_of_an_archive_keeps_the_one_before(rpcurl, call, tmp_path):
    file = tmp_path / "calls.har"
    limited(rpcurl, call("x" * 2000, "--use", f"log,format=har,bodies=true,file={file}"), kibibytes=1).exits(7).reports("File too large")
    assert json.loads(file.read_text())["log"]["entries"] == []


# Files that one process replaces


WHOLE = {
    "output": (lambda file: ["-o", file], json.loads),
    "metrics": (lambda file: ["--use", f"metrics,format=json,file={file}"], json.loads),
    "har": (lambda file: ["--use", f"log,format=har,file={file},bodies=true"], json.loads),
    "assert": (lambda file: ["--use", f"assert,junit={file},check=.name exists"], ElementTree.fromstring),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("is_link", [False, True], ids=["file", "link"])
def test_many_processes_replace_a_file(at_once, call, tmp_path, name, is_link):
    """The content is that of one process. The others report a loss, unless they had ended before."""
    options, parse = WHOLE[name]
    file = write(tmp_path / "file", "before")
    path = tmp_path / "link" if is_link else file
    if is_link:
        path.symlink_to("file")
    results = at_once([call(f"name{number}", *options(path)) for number in range(PROCESSES)])
    for result in results:
        assert result.code in (0, 7, 8), result
        assert (result.code == 0) == (result.err == ""), result
    parse(file.read_text())
    assert path.is_symlink() == is_link and parts(tmp_path) == []


def test_session_keeps_the_archive_of_another_one(prompt, grpc_server, descriptor_set, tmp_path):
    """Both write the file repeatedly, with their own calls."""
    file = tmp_path / "calls.har"
    words = ["--descriptor-set", descriptor_set, "--use", f"log,format=har,file={file},bodies=true", grpc_server.url]
    first, second = sessions = [prompt(*words) for _ in range(2)]
    for session, name in [(first, "Ada"), (second, "Bob"), (first, "Cy"), (second, "Dan")]:
        session.type(f'call Hello {{"name":"{name}"}}')
        assert name in session.line()
    for session in sessions:
        session.process.stdin.close()
        session.process.wait()
    assert [session.process.returncode for session in sessions] == [7, 0]
    assert first.error() == f"log: cannot write {file}: another process has replaced the file"
    entries = json.loads(file.read_text())["log"]["entries"]
    assert [name for entry in entries for name in ("Ada", "Bob", "Cy", "Dan") if f'"{name}' in entry["request"]["postData"]["text"]] == ["Bob", "Dan"]


def test_many_processes_write_reports_of_a_suite(at_once, grpc_server, descriptor_set, tmp_path):
    """Reports, coverage and golden files; one of the golden files is a link."""
    (tmp_path / "target.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("target.json")
    steps = 'call Hello {"name":"Ada"}\nexpect . golden golden/hello.json\nexpect . golden link.json\n'
    suite = write(tmp_path / "suite.rpcurl", f"target {grpc_server.url}\ntest t\n{steps}")
    command = ["test", "--descriptor-set", descriptor_set, "--update", suite]
    reports = ["--report", f"junit={tmp_path / 'junit'}", "--report", f"html={tmp_path / 'html'}", "--coverage", f"json={tmp_path / 'coverage'}"]
    for result in at_once([[*command, *reports]] * PROCESSES):
        result.exits(0)
    for file in ("golden/hello.json", "target.json"):
        assert json.loads((tmp_path / file).read_text())["name"] == "Ada"
    assert (tmp_path / "link.json").is_symlink()
    ElementTree.fromstring((tmp_path / "junit").read_text())
    assert (tmp_path / "html").read_text().rstrip().endswith("</html>")
    json.loads((tmp_path / "coverage").read_text())
    assert parts(tmp_path) == []


@pytest.mark.parametrize(("names", "code"), [(["Ada"] * 4, 0), (["Ada", "Bob"], 4)], ids=["same", "different"])
def test_suites_of_a_run_update_one_golden_file(rpcurl, grpc_server, descriptor_set, tmp_path, names, code):
    """A value that another suite has written stays, so that it is not lost without a message."""
    suites = []
    for number, name in enumerate(names):
        steps = f'call Hello {{"name":"{name}"}}\nexpect . golden shared.json\n'
        suites.append(write(tmp_path / f"{number}.rpcurl", f"target {grpc_server.url}\ntest t\n{steps}"))
    result = rpcurl("test", "--descriptor-set", descriptor_set, "--update", "--jobs", len(names), *suites).exits(code)
    assert result.out.count("another check of this run has another value") == (code != 0), result.out
    assert json.loads((tmp_path / "shared.json").read_text())["name"] in names


def test_many_processes_export_a_schema(at_once, descriptor_set, tmp_path):
    file = tmp_path / "set"
    for result in at_once([["export", "--descriptor-set", descriptor_set, "-o", file]] * PROCESSES):
        result.exits(0)
    assert FileDescriptorSet.FromString(file.read_bytes()).file and parts(tmp_path) == []


# What the home directory keeps


def test_many_processes_fill_the_caches(rpcurl, at_once, grpc_server, tmp_path):
    """Schemas of servers, compiled sources and responses: no process reads a damaged file."""
    fields = "".join(f"  // {'x' * 80}\n  string field_{number} = {number};\n" for number in range(1, 1000))
    source = write(tmp_path / "big.proto", f'syntax = "proto3";\nmessage Big {{\n{fields}}}\n')
    reflected = ["-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}"]
    cached = ["--use", "cache", "-d", '{"id":"1"}', f"{grpc_server.url}/demo.v1.Demo/Find"]
    compiled = ["describe", "--proto", source, "Big"]
    for result in at_once([reflected, cached, compiled] * (PROCESSES // 2)):
        result.exits(0, err="")
    caches = rpcurl.home / ".cache/rpcurl"
    assert {path.parent.name for path in caches.rglob("*") if path.is_file()} >= {"reflection", "sources"}
    assert parts(caches) == []
    assert rpcurl("-v", *reflected).exits(0).err.count("cached")
    # Files that another program has truncated are absent.
    for path in caches.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1])
    for result in at_once([reflected, cached, compiled] * 2):
        result.exits(0, err="")
    shutil.rmtree(caches)


def test_sessions_keep_the_lines_of_each_other(terminal, tmp_path):
    """Each adds a line, and ends, at the same time as the others."""
    terminals = [terminal("session") for _ in range(5)]
    for one in terminals:
        one.shows("rpcurl>")
    for number, one in enumerate(terminals):
        one.send(f"print {number}\r")
    for number, one in enumerate(terminals):
        one.shows(str(number), "rpcurl>")
    for one in terminals:
        one.send(CTRL_D)
    for one in terminals:
        assert one.end() == (0, None)
        assert "history" not in one.text
    history = tmp_path / ".local/state/rpcurl/history"
    assert sorted(history.read_text().splitlines()) == [f"print {number}" for number in range(5)]


def test_history_in_another_place(terminal, tmp_path):
    """The file is a link, which stays."""
    history = tmp_path / ".local/state/rpcurl/history"
    history.parent.mkdir(parents=True)
    write(tmp_path / "elsewhere", "help\n")
    history.symlink_to(tmp_path / "elsewhere")
    one = terminal("session")
    one.shows("rpcurl>")
    one.send("print 1\r")
    one.shows("1", "rpcurl>")
    one.send(CTRL_D)
    assert one.end() == (0, None)
    assert history.is_symlink() and (tmp_path / "elsewhere").read_text() == "help\nprint 1\n"


def test_session_reports_lines_that_are_not_in_the_history(terminal, tmp_path):
    history = tmp_path / ".local/state/rpcurl/history"
    one = terminal("session")
    one.shows("rpcurl>")
    history.mkdir(parents=True)
    one.send("print 1\r")
    one.shows("1", "rpcurl>")
    one.send(CTRL_D)
    assert one.end() == (0, None)
    # The terminal breaks lines within words.
    shown = re.sub(r"\s+", "", one.text)
    assert "thelastlinesarenotinthehistory" in shown and "notaregularfile" in shown
