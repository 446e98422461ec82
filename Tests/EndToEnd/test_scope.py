"""The keys of every interceptor that select calls and its place on the chain."""

import json
import re

import pytest
from harness import ROOT

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"
SAMPLES = ROOT / ".build" / "plugins"


@pytest.fixture
def stamped(demo, grpc_server):
    """`stamped(settings, *options)`: whether `header,set=x-stamp:1,SETTINGS` changed the request of a call."""

    def run(settings, *options, url=None):
        result = demo(
            "--format", "json", *options, "-d", "{}",
            "--use", f"header,set=x-stamp:1,{settings}", f"{url or grpc_server.url}/{SERVICE}/EchoMetadata",
        ).succeeds()  # fmt: skip
        return "x-stamp" in [field["name"] for field in result.json()["headers"]]

    return run


@pytest.mark.parametrize(
    ("settings", "options", "is_stamped"),
    [
        ("methods=demo.v1.*/*+!grpc.health.v1.Health/*", [], True),
        ("methods=!demo.v1.*/Echo*", [], None),
        ("methods=Demo/EchoMetadata", [], True),
        ("methods=!v1.Demo/*", [], False),
        ("methods=*+!*/EchoMetadata", [], False),
        ("kinds=unary+bidi_streaming", [], True),
        ("kinds=!unary", [], False),
        ("hosts=127.0.0.1+*.example.com", [], True),
        ("hosts=*.example.com", [], False),
        ("header=x-debug", ["-H", "X-Debug: 1"], True),
        ("header=x-debug == 2", ["-H", "X-Debug: 1"], False),
        ("header=x-debug absent", [], True),
        ("percent=100", [], True),
        ("percent=0", [], False),
    ],
)
def test_scope_selects_calls(rpcurl, stamped, settings, options, is_stamped):
    if is_stamped is None:
        rpcurl("--use", f"header,set=x-stamp:1,{settings}", "localhost:1", HELLO).exits(7).reports("rpcurl: header: methods: !demo.v1.*/Echo*: none of")
    else:
        assert stamped(settings, *options) is is_stamped


def test_pattern_of_a_method_that_does_not_exist_is_reported(rpcurl, demo, grpc_server, descriptor_set):
    warning = "header: methods: demo.v1.Demo has no method Helo; did you mean Hello?\n"
    use = "header,set=x-a:1,methods=Demo/Helo+demo.v1.Demo/Find+*/Helo"
    demo("-d", '{"name":"a"}', "--use", use, f"{grpc_server.url}/{HELLO}").exits(0, err=warning)
    lines = 'call Hello {"name":"a"}\n' * 2
    rpcurl("session", "--descriptor-set", descriptor_set, "--use", use, grpc_server.url, input=lines).exits(0, err=warning)


def test_share_of_a_batch_is_repeatable(demo, grpc_server):
    def stamped(seed):
        result = demo(
            "--format", "json", "--each", "-d", "{}" * 40,
            "--use", f"header,set=x-stamp:1,percent=50,seed={seed}", f"{grpc_server.url}/{SERVICE}/EchoMetadata",
        ).exits(0)  # fmt: skip
        lines = result.out.splitlines()
        assert len(lines) == 40
        return ["x-stamp" in line for line in lines]

    first = stamped(1)
    assert 5 < sum(first) < 35
    assert stamped(1) == first
    assert stamped(2) != first


def test_plugin_has_the_same_keys(demo, grpc_server):
    def stamped(settings):
        result = demo(
            "--format", "json", "-d", "{}",
            "--plugin", f"{SAMPLES / 'stamp.so'},{settings}", f"{grpc_server.url}/{SERVICE}/EchoMetadata",
        ).succeeds()  # fmt: skip
        return "x-stamp" in result.out

    assert stamped("header=x-stamp:1")
    assert not stamped("header=x-stamp:1,kinds=!unary")
    # `header` is a key of the plugin; with the prefix it is the chain's.
    assert not stamped("header=x-stamp:1,chain-header=x-debug")


def test_credentials_have_the_same_hosts(demo, grpc_server):
    def sends(hosts):
        result = demo(
            "--format", "json", "-d", "{}", "--use", f"auth,bearer=t,hosts={hosts}",
            f"{grpc_server.url}/{SERVICE}/EchoMetadata",
        ).exits(0)  # fmt: skip
        return "authorization" in result.out

    assert sends("127.0.0.1+*.example.com")
    assert not sends("127.0.0.1+!127.0.0.1")


def test_placement_orders_the_chain(demo, grpc_server):
    def last(*placements):
        options = [word for index, place in enumerate(placements) for word in ("--use", f"header,set=x-last:{index}{place}")]
        result = demo(
            "--format", "json", "-d", "{}", *options, "--use", "log,file=/dev/null",
            f"{grpc_server.url}/{SERVICE}/EchoMetadata",
        ).succeeds()  # fmt: skip
        (field,) = [field for field in result.json()["headers"] if field["name"] == "x-last"]
        return field["value"]

    assert last("", "") == "1"
    assert last(",after=log", "") == "0"
    assert last("", ",before=log,priority=1") == "0"
    assert last(",after=?none", "") == "1"


@pytest.mark.parametrize(
    ("options", "error", "hint"),
    [
        (
            ["--use", "log,before=aut", "--use", "auth,bearer=t"],
            "log: before: no other interceptor on the chain is named aut",
            "on the chain: auth; before=?aut also accepts a chain without it",
        ),
        (
            ["--use", "log,before=retry", "--use", "retry,before=log"],
            "retry: before: the placements contradict each other: retry before log before retry",
            "remove or change a placement: retry (before=log), log (before=retry)",
        ),
    ],
)
def test_impossible_placement_is_an_error(rpcurl, options, error, hint):
    assert rpcurl(*options, "localhost:1", HELLO).exits(7).err == f"rpcurl: {error}\nhint: {hint}\n"


def test_session_places_interceptors(rpcurl, descriptor_set):
    script = """\
use retry
use log,file=/dev/null,before=retry
use header,set=a:b,priority=1
chain
move header before=retry
move log after=retry
remove retry
use auth,bearer=t,after=none
move 1 after=1
move retry 1
"""
    result = rpcurl("session", "--descriptor-set", descriptor_set, "localhost:1", input=script)
    names = re.findall(r"^(\d) (\w+)", result.out, re.MULTILINE)
    assert names == [("1", "header"), ("2", "log"), ("3", "retry")]
    assert "2 log,file=/dev/null,before=retry (built in, before=retry, all calls)" in result.out
    errors = [line for line in result.err.splitlines() if "rpcurl:" in line]
    assert len(errors) == 6, result.err
    assert "header: priorities and placements do not allow this position" in errors[0]
    assert "log: priorities and placements do not allow this position" in errors[1]
    assert "log: before: no other interceptor on the chain is named retry" in errors[2]
    assert "auth: after: no other interceptor on the chain is named none" in errors[3]


def test_session_moves_interceptors(rpcurl, descriptor_set):
    script = "use retry\nuse log,file=/dev/null\nuse header,set=a:b\nmove header before=retry\nmove retry after=log\nchain\n"
    result = rpcurl("session", "--descriptor-set", descriptor_set, "localhost:1", input=script).succeeds()
    assert re.findall(r"^\d (\w+)", result.out, re.MULTILINE) == ["header", "log", "retry"]


def test_explain_states_settings_scope_stages_and_place(rpcurl, descriptor_set):
    result = rpcurl(
        "--explain", "--format", "json", "--descriptor-set", descriptor_set, "--use", "retry,attempts=3,codes=aborted",
        "--use", "log,before=retry,header=authorization == Bearer x,percent=12.5,file=/dev/null", "--use", "assert,check=status ok,kinds=!unary",
        "-H", "authorization: Bearer x", f"localhost:1/{HELLO}",
    ).exits(0)  # fmt: skip
    log, retry, check = result.json()["interceptors"]
    assert (log["name"], retry["name"], check["name"]) == ("log", "retry", "assert")
    assert log["scope"] == "header authorization == Bearer [redacted]; 12.5 % of them, at random"
    assert "Bearer x" not in json.dumps(log)
    assert (log["place"], log["effects"]) == ("before=retry", [])
    assert retry["defaults"] == ["initial=100ms", "max=5s", "multiplier=2", "jitter=0.2", "only=all", "buffer=1m"]
    assert retry["stages"] == ["request_start", "response_start", "response_message", "response_end"]
    assert (retry["scope"], retry["place"]) == ("all calls", "as given")
    assert (check["used"], check["unused_because"], check["scope"]) == (False, "kinds", "kinds !unary")


def test_completion_has_the_keys_of_every_interceptor(rpcurl):
    result = rpcurl("complete", "use", "log,", "", "")
    keys = [line.split("\t")[0] for line in result.out.splitlines()]
    for key in ["priority", "before", "after", "methods", "kinds", "hosts", "header", "percent"]:
        assert f"log,{key}=" in keys
