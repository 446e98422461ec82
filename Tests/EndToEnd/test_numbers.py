"""No number from outside ends the process by a signal, wherever a command line, a session or an interceptor takes one.

The places come from the program's own tables, so an option or a setting that is added is tried as well.
"""

import functools
import json
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import RPCURL

HELLO = "demo.v1.Demo/Hello"
NUMBERS = [
    "-9223372036854775808", "9223372036854775807", "-9223372036854775809", "9223372036854775808", "18446744073709551615",
    "-2147483648", "4294967296", "99999999999999999999999999", "-1", "0", "1e308", "-1e308", "1e400", "nan", "inf", "-inf", "0x7f",
]  # fmt: skip
UNITS = ["", "ns", "s", "h", "d", "k", "g", "t", "%"]
TEXTS = NUMBERS + [number + unit for number in NUMBERS[:5] for unit in UNITS[1:]]
# What a shell and Swift report for a process that a trap has ended.
SIGNALS = {-signal.SIGILL, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGFPE, -signal.SIGBUS, -signal.SIGTRAP}


@functools.cache
def built_ins():
    return json.loads(subprocess.check_output([RPCURL, "plugins", "list", "--format", "json"]))["builtIns"]


def settings():
    """`NAME,KEY=NUMBER` for each setting of each interceptor, also where the number follows other words."""
    for interceptor in built_ins():
        for key in interceptor["keys"]:
            name, equals, value = key["form"].partition("=")
            if not equals:
                continue
            forms = {"%s"}
            # Each word in capitals may be the number: RATE/DURATION, TOKENS:RATIO, A..B.
            for word in re.findall(r"[A-Z]{1,}", value):
                forms.add(value.replace(word, "%s", 1))
            for form in sorted(forms):
                # The rest of the form has small numbers.
                filled = re.sub(r"[A-Z]+", "1", form.replace("%s", "\0"))
                yield f"{interceptor['name']},{name}={filled.split('|')[0]}"


@pytest.mark.parametrize("name", [one["name"] for one in built_ins()])
def test_settings_of_interceptors(rpcurl, grpc_server, descriptor_set, name):
    lines = ["deadline 5ms"]
    for setting in settings():
        if not setting.startswith(f"{name},"):
            continue
        for number in TEXTS if "\0" in setting else []:
            lines += [f"use {setting.replace(chr(0), number)}", f"call {HELLO} {{}}", f"remove {name}"]
    check_session(rpcurl, grpc_server, descriptor_set, lines)


def check_session(rpcurl, server, descriptor_set, lines):
    """Runs the lines; the last of them shows that the session still goes on."""
    script = "\n".join([*lines, 'set end = "reached"', "format json", "print $end", ""])
    result = rpcurl("session", "--descriptor-set", descriptor_set, server.url, input=script)
    assert result.code not in SIGNALS and result.out.endswith('"reached"\n'), (result.code, result.out[-300:], result.err[-2000:])


COMMANDS = [
    "switch %s", "close %s", "cancel %s", "receive %s", "wait %s", "verbose %s", "deadline %s", "sleep %s", "remove %s", "move %s 1",
    "move 1 %s", "move header before=%s", "move %s after=%s", "plugin reload %s", "expect %s", "expect count %s", "expect time < %s",
    "expect messages[%s].name == 1", "expect .name[%s] == 1", "expect .name == %s", "set a = %s", "print $list[%s]", "print $last[%s].name",
    "options --limit %s", "options --max-time %s", "options --max-message-size %s", "call demo.v1.Demo/Hello {\"name\":\"${random(%s,%s)}\"}",
    "call demo.v1.Demo/Hello {\"name\":\"${now(%s)}\"}", "call demo.v1.Demo/Echo {\"int32Value\":%s}", "call demo.v1.Demo/Echo {\"duration\":\"%ss\"}",
    "call --set strings[%s]=a demo.v1.Demo/Echo {}", "call --filter strings[%s] demo.v1.Demo/Echo {}", "attribute a=%s", "header a: ${random(%s,1)}",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_a_session(rpcurl, grpc_server, descriptor_set, command):
    setup = ["deadline 5ms", "use header,set=a:b", "set list = [1,2]", f"call {HELLO} {{}}", "open demo.v1.Demo/Chat"]
    numbers = [text for text in TEXTS if not command.startswith("sleep") or text.startswith(("-", "n", "1e400"))]
    lines = setup + [command.replace("%s", number) for number in numbers]
    check_session(rpcurl, grpc_server, descriptor_set, lines)


def options():
    """The words of each option with a number, for the first command that has it."""
    table = json.loads(subprocess.check_output([RPCURL, "--dump-options"]))
    seen = set()
    for command in table["commands"]:
        for option in command["options"]:
            if option["names"][0] in seen:
                continue
            seen.add(option["names"][0])
            if re.search("DURATION|NUMBER|BYTES|PERCENT|CALLS|CONDITIONS|PORT|LIST|PATH=VALUE", option["value"] or ""):
                forms = {"CONDITIONS": ["p99<%s", "errors<%s"], "CALLS": ["%s", "%s/1s", "1/%s"], "PATH=VALUE": ["strings[%s]=a", "a=%s"]}
                word = option["value"]
                default = [re.sub("[A-Z]+", "1", word.replace("PORT", "\0", 1)).replace("\0", "%s") if "PORT" in word else "%s"]
                for form in forms.get(word, default):
                    yield command["name"], option["names"][0], form


@pytest.mark.parametrize(("command", "option", "form"), list(options()))
def test_options(rpcurl, descriptor_set, command, option, form):
    """Nothing listens at the target, so calls end at once; what goes on, such as a long load, is interrupted."""

    def run(number):
        words = [*command.split(), option, form.replace("%s", number), "--descriptor-set", descriptor_set]
        with rpcurl.start(*words, "http://127.0.0.1:1", *([HELLO] if command in ("call", "load") else [])) as process:
            process.stdin.close()
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            code = process.wait()
            return code, process.stderr.read()

    with ThreadPoolExecutor(4) as threads:
        for number, (code, error) in zip(NUMBERS, threads.map(run, NUMBERS), strict=True):
            assert code not in SIGNALS and b"Fatal error" not in error, (number, error)
