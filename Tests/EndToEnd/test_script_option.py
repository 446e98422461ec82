"""--script, and what else the program says of scripts: errors of their commands, --explain, sessions, completion, checks."""

import json
import os
import signal
import subprocess
import time

import pytest

from harness import RPCURL, wait_until

HELLO = "demo.v1.Demo/Hello"
# Sets a header, with what the arguments name; a script of a few lines without a kit.
STAMP = """#!/usr/bin/env python3
import json, sys
out = lambda line: print(json.dumps(line), flush=True)
sys.stdin.readline()
out({"rpcurl": 1, "stages": ["request_start"], "effects": ["changes headers"], "summary": "stamps requests", "methods": ["demo.v1.Demo/*"]})
for line in sys.stdin:
    value = json.loads(line)
    out({"call": value["call"], "value": value["value"], "headers": {"set": {"x-stamp": " ".join(sys.argv[1:])}}})
"""
# The body of the loop is given; it replies to all values, and to questions.
FRAME = """#!/usr/bin/env python3
import json, sys, time
out = lambda line: print(json.dumps(line), flush=True)
sys.stdin.readline()
out({"rpcurl": 1, "stages": ["request_start", "response_end"], "summary": "x"%s})
for line in sys.stdin:
    value = json.loads(line)
    call, number = value.get("call"), value.get("value")
%s
"""


@pytest.fixture
def script(rpcurl):
    """Writes a script into the directory in which the program runs."""

    def write(content=STAMP, name="sign.py", mode=0o755):
        path = rpcurl.home / name
        path.write_text(content)
        path.chmod(mode)
        return path

    return write


@pytest.fixture
def framed(script):
    def write(body, more="", name="sign.py"):
        return script(FRAME % (more, "".join(f"    {line}\n" for line in body.splitlines())), name)

    return write


# --script


def sent(rpcurl, server, *options, **keys):
    return rpcurl("-v", *options, "--plaintext", "-d", '{"name":"Ada"}', server.address, HELLO, **keys).exits(0).err


def test_arguments_have_quotes_as_in_a_shell(rpcurl, grpc_server, script):
    path = script()
    assert "> x-stamp: a b c,d\n" in sent(rpcurl, grpc_server, "--script", f"{path} 'a b' c,d")
    assert "> x-stamp: a b c,d\n" in sent(rpcurl, grpc_server, "--use", f"script,run='{path} \"a b\" c,d'")


def test_scripts_have_their_place_in_the_order(rpcurl, grpc_server, script):
    path = script()
    err = sent(rpcurl, grpc_server, "--script", f"{path} 1", "--use", "header,set=x-stamp:2")
    assert "> x-stamp: 2\n" in err
    err = sent(rpcurl, grpc_server, "--use", "header,set=x-stamp:2", "--script", f"{path} 1")
    assert "> x-stamp: 1\n" in err


def test_a_configuration_file_names_scripts(rpcurl, grpc_server, script, tmp_path):
    path = script()
    (tmp_path / "config").write_text(f"--script {path} --key k\n")
    assert "> x-stamp: --key k\n" in sent(rpcurl, grpc_server, "--config", tmp_path / "config")
    assert "x-stamp" not in sent(rpcurl, grpc_server, "--config", tmp_path / "config", "--no-use", "sign.py")


def test_commands_that_cannot_run_say_what_to_do(rpcurl, script):
    script()
    script(name="locked.py", mode=0o644)
    script("print()", name="bare.py")
    script("#!/none/python\n", name="lost.py")
    (rpcurl.home / "x.so").write_bytes(b"\x7fELF")
    for command, reason, hint in [
        ("./none.py", "./none.py: No such file or directory", None),
        ("./locked.py", "./locked.py: is not executable", "chmod +x ./locked.py"),
        ("./bare.py", "its first line does not name its interpreter", "begin it with a line such as #!/usr/bin/env python3"),
        ("./lost.py", "its interpreter /none/python cannot be run", None),
        ("sign.py", "sign.py: not found in $PATH", "write ./sign.py"),
        ("./x.so", "./x.so: is a plugin, and no script", "write --plugin ./x.so"),
        ("./sign.py | cat", "no shell runs the command, so | has no effect", "quote the sign, or write run=sh -c 'COMMAND'"),
        ("", "missing command after run=", "write it with its arguments: run=./sign.py --key k"),
    ]:
        err = rpcurl("--script", command, "http://127.0.0.1:1", HELLO).exits(7).err
        assert reason in err and (hint is None or f"hint: {hint}\n" in err), err
    for plugin in ("./sign.py", "./sign.py,key=x", "?./sign.py"):
        err = rpcurl("--plugin", plugin, "http://127.0.0.1:1", HELLO).exits(7).err
        assert "hint: it is a script: write --script ./sign.py\n" in err


def test_explain_knows_scripts(rpcurl, script):
    path = script()
    words = ("--explain", "--use", "header,set=a:b", "--script", f"{path} k", "http://127.0.0.1:1")
    out = rpcurl(*words, HELLO).succeeds().out
    assert f"sign.py (script): run='{path} k'" in out
    assert "stages: request_start (changes headers)" in out and "messages: request json, response json" in out
    header, own = json.loads(rpcurl(*words, HELLO, "--format", "json").succeeds().out)["interceptors"]
    assert (header["kind"], own["kind"], own["name"]) == ("built-in", "script", "sign.py")
    assert (own["stages"], own["effects"], own["methods"]) == (["request_start"], ["changes headers"], "demo.v1.Demo/*")
    assert (own["request"], own["response"]) == ("json", "json")
    other = json.loads(rpcurl(*words, "a.B/C", "--format", "json").succeeds().out)["interceptors"]
    assert [entry["used"] for entry in other] == [True, False]


def test_sessions_have_scripts(rpcurl, grpc_server, script):
    path = script()
    lines = f"use script,run='{path} k'\nchain\ncall {HELLO} " + '{"name":"Ada"}' + "\nremove sign.py\nchain\n"
    result = rpcurl("session", "-v", "--plaintext", grpc_server.address, input=lines).exits(0)
    assert f"1 sign.py,run='{path} k' (script, " in result.out and "no interceptors" in result.out
    assert "> x-stamp: k\n" in result.err


def test_nothing_is_left_running(rpcurl, grpc_server, framed):
    path = framed("out({'call': call, 'value': number})\n", name="stays.py")
    path.write_text(path.read_text() + "time.sleep(60)\n")
    started = time.monotonic()
    rpcurl("--explain", "--script", path, "http://127.0.0.1:1", HELLO).succeeds()
    rpcurl("--script", path, "--plaintext", "-d", '{"name":"Ada"}', grpc_server.address, HELLO).succeeds()
    assert time.monotonic() - started < 20
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(path) not in running


# plugins check


def check(rpcurl, command, code=0, **keys):
    return rpcurl("plugins", "check", command, **keys).exits(code)


def test_check_starts_a_script_and_makes_calls(rpcurl, script):
    path = script()
    lines = check(rpcurl, f"{path} --key k").out.splitlines()
    assert lines[0] == f"ok    started: {path} --key k"
    assert "ok    first line: stages: request_start" in lines and "ok    first line: methods: demo.v1.Demo/*" in lines
    # The calls have names that it wants.
    assert "ok    call: demo.v1.Demo/Unary (Unary), success" in lines and lines[-1] == "no problems found"
    path.write_text(STAMP.replace(', "methods": ["demo.v1.Demo/*"]', ""))
    lines = check(rpcurl, path).out.splitlines()
    assert "ok    call: BidiStreaming, cancellation, between interceptors that hold every value" in lines
    assert lines[-2:] == ["ok    ended", "no problems found"]


def test_check_replies_to_questions(rpcurl, framed):
    body = """if value["stage"] == "asked":
    out({"call": call, "value": first} if value["reply"] == "y" else {"call": call, "value": first, "fail": {"code": "aborted"}})
elif value["stage"] == "request_start":
    first = number
    out({"call": call, "ask": {"id": 1, "text": "Delete? [y/N] "}})
else:
    out({"call": call, "value": number})"""
    lines = check(rpcurl, framed(body)).out.splitlines()
    assert lines.count('note  it asks a person: "Delete? [y/N] "; the check replied y') == 1
    assert lines[-1] == "no problems found"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("out({'call': call, 'valu': number})", "the script misbehaves: "),
        ("print('hello', flush=True)", "the script misbehaves: "),
        ("sys.exit('no way')", "no way"),
        ("out({'call': call, 'value': number, 'fail': {'code': 'aborted', 'message': 'never'}})", "the script failed every call: aborted: never"),
        ("time.sleep(0)", "the script did not reply to the value of request_start within 1 s"),
    ],
)
def test_check_finds_faults(rpcurl, framed, body, reason):
    result = rpcurl("plugins", "check", "--call-time", "1", framed(body)).exits(7)
    assert reason in result.err and "rpcurl: call" in result.err


def test_check_passes_what_fails_some_calls(rpcurl, framed):
    body = """if value["stage"] == "request_start":
    fails = call % 3 == 0
out({"call": call, "value": number, "fail": {"code": "unavailable"}} if fails else {"call": call, "value": number})
fails = False"""
    assert check(rpcurl, framed(body)).out.endswith("no problems found\n")


def test_check_names_a_method_for_what_needs_certain_messages(rpcurl, framed):
    body = "out({'call': call, 'value': number, 'fail': {'code': 'aborted'}})"
    lines = check(rpcurl, framed(body, ", 'methods': ['a.B/Delete']")).out.splitlines()
    assert any(line.startswith("note  not exercised: the success of a.B/Delete (Unary), ") and "--method" in line for line in lines)
    assert lines[-1] == "no problems found in what was exercised"


def test_check_names_the_step(rpcurl, script, framed):
    script(name="locked.py", mode=0o644)
    err = check(rpcurl, "./locked.py", 7).err
    assert "start: ./locked.py: is not executable" in err and "hint: chmod +x ./locked.py" in err
    err = check(rpcurl, framed("pass", ", 'stagess': []"), 7).err
    assert "start: " in err and "stagess" in err
    path = framed("out({'call': call, 'value': number})")
    path.write_text(path.read_text() + "time.sleep(60)\n")
    err = check(rpcurl, path, 7).err
    assert "end: the script did not end within 2 s after its standard input was closed" in err
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(path) not in running


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_check_and_its_script(rpcurl, framed, signal_number):
    path = framed("time.sleep(60)", name="hangs.py")
    with rpcurl.start("plugins", "check", "--call-time", "50", path) as process:
        while b"ok    first line: messages" not in process.stdout.readline():
            pass
        process.send_signal(signal_number)
        assert process.wait(20) == 128 + signal_number
    wait_until(lambda: str(path) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout, "the script has ended")


def test_check_tells_scripts_from_plugins(rpcurl, script):
    script(STAMP, name="sign", mode=0o755)
    assert "ok    started" in check(rpcurl, "./sign").out
    assert "ok    started" in check(rpcurl, "python3 ./sign x").out
    assert "hint: write ./sign.py" in check(rpcurl, script().name, 7).err
    (rpcurl.home / "p.so").write_text("x")
    assert "plugin ./p.so: " in check(rpcurl, "./p.so", 7).err


def test_check_runs_without_a_terminal(script):
    with open(os.devnull) as nothing:
        result = subprocess.run([str(RPCURL), "plugins", "check", str(script())], stdin=nothing, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
