"""Attributes of calls: values for interceptors, from the command line and the session, which are never sent."""

import json

import collector
import pytest
from harness import write

HELLO = "demo.v1.Demo/Hello"
ECHO = "demo.v1.Demo/EchoMetadata"
ADA = '{"name":"Ada"}'
# Adds a header to calls with the attribute tier=gold.
GOLD = "header,attribute=tier == gold,set=x-tier:gold"


def received(result):
    assert result.code == 0, result.err
    return {header["name"]: header["value"] for header in result.json()["headers"]}


@pytest.fixture
def explain(demo):
    """`explain(*options)` explains a call of Hello."""

    def run(*options):
        return demo("--explain", *options, f"http://localhost:1/{HELLO}")

    return run


@pytest.fixture
def session(rpcurl, grpc_server, descriptor_set):
    """`session(lines, *options)` runs the lines of a session."""

    def run(lines, *options, **keywords):
        options = ["--descriptor-set", descriptor_set, *options, grpc_server.url]
        return rpcurl("session", *options, input="".join(f"{line}\n" for line in lines), **keywords)

    return run


# Calls


@pytest.mark.parametrize(
    ("attributes", "condition", "matches"),
    [
        (["tier=gold"], "tier == gold", True),
        (["tier=gold"], "tier", True),
        (["tier=gold"], "tier != silver", True),
        (["tier=gold"], "tier absent", False),
        (["tier=silver"], "tier == gold", False),
        (["tier=gold", "tier=silver"], "tier == gold", False),
        (["tier=gold", "tier="], "tier", False),
        ([], "tier", False),
        ([], "tier != gold", True),
        (["a=b=c:d e"], "a == b=c:d e", True),
    ],
)
def test_an_attribute_selects_calls_for_an_interceptor(demo, grpc_server, attributes, condition, matches):
    options = [word for text in attributes for word in ("--attribute", text)]
    use = f"header,attribute={condition},set=x-tier:yes"
    assert (received(demo(*options, "--use", use, f"{grpc_server.url}/{ECHO}")).get("x-tier") == "yes") == matches


def test_attributes_are_never_sent(call):
    result = call(ECHO, "-d", "{}", "--attribute", "tier=gold", "--attribute", "api_token=canary", "--use", GOLD)
    headers = received(result)
    assert headers["x-tier"] == "gold"
    assert "tier" not in headers and "api_token" not in headers and "canary" not in result.out


def test_attributes_are_those_of_each_call_of_a_batch_and_a_load(rpcurl, grpc_server, descriptor_set):
    options = ["--descriptor-set", descriptor_set, "--attribute", "tier=gold", "--use", GOLD]
    assert rpcurl(*options, "--each", "-d", "{}", "-d", "{}", f"{grpc_server.url}/{ECHO}").exits(0).out.count("x-tier") == 2
    # A call without the attribute fails.
    options[-1] = "fault,attribute=tier != gold,abort=internal"
    load = rpcurl("load", *options, "-d", ADA, "--requests", "3", "--threshold", "errors<1%", f"{grpc_server.url}/{HELLO}")
    assert load.code == 0, (load.out, load.err)
    options.remove("tier=gold")
    options.remove("--attribute")
    load = rpcurl("load", *options, "-d", ADA, "--requests", "3", "--threshold", "errors<1%", f"{grpc_server.url}/{HELLO}")
    assert load.code == 8, (load.out, load.err)


@pytest.mark.parametrize(
    ("text", "why", "hint"),
    [
        ("tier", "missing = in the attribute", "write --attribute KEY=VALUE"),
        ("=gold", "missing key of the attribute", "a key is ASCII without blanks, colons and control characters"),
        ("a b=gold", '"a b" is not a key of an attribute', "a key is ASCII without blanks, colons and control characters"),
        (
            f"tier={'x' * 4097}", "the attribute tier is longer than 4096 bytes",
            "a call has at most 64 attributes of 4096 bytes; --attribute KEY= removes one",
        ),
    ],
)  # fmt: skip
def test_an_invalid_attribute_is_an_error_of_usage(explain, text, why, hint):
    explain("--attribute", text).exits(2, "", f"rpcurl: --attribute: {why}\nhint: {hint}\n")


def test_more_than_64_attributes_are_an_error_of_usage(explain):
    options = [word for number in range(64) for word in ("--attribute", f"a{number}={'x' * 4096}")]
    assert explain(*options).code == 0
    explain(*options, "--attribute", "b=1").exits(2).reports("a call has at most 64 attributes")


# Output


def test_explain_shows_attributes_and_masks_secrets(explain):
    options = ["--attribute", "tier=gold", "--attribute", "api_token=canary", "--use", GOLD, "--use", "log,attribute=Token == canary"]
    result = explain(*options).exits(0)
    lines = [line.split(maxsplit=1) for line in result.out.splitlines()]
    assert ["attribute", "tier=gold"] in lines and ["attribute", "api_token=[redacted]"] in lines
    assert "     scope: attribute tier == gold\n" in result.out
    assert "     scope: attribute Token == [redacted], not met: attribute\n" in result.out
    assert "canary" not in result.out + result.err
    shown = explain(*options, "--show-secrets").out
    assert "api_token=canary\n" in shown and "scope: attribute Token == canary, not met: attribute\n" in shown

    described = explain(*options, "--format", "json").json()
    assert described["attributes"] == {"api_token": "[redacted]", "tier": "gold"}
    used = [(one["name"], one["used"], one.get("unused_because")) for one in described["interceptors"]]
    assert used == [("header", True, None), ("log", False, "attribute")]
    assert "attributes" not in explain("--format", "json").json()


def test_the_command_of_explain_has_attributes(explain):
    result = explain("--attribute", "tier=gold", "--attribute", "api_token=canary", "--format", "sh").prints(
        '--attribute tier=gold', '--attribute "api_token=${API_TOKEN}"',
    )
    assert "canary" not in result.out


def test_events_log_and_trace_show_the_attributes_of_the_start(call, tmp_path):
    with collector.running() as otlp:
        result = call(
            HELLO, "-d", ADA, "--attribute", "tier=gold", "--attribute", "api_token=canary", "--format", "events",
            "--use", f"trace,endpoint={otlp.url}", "--use", "log", "--use", f"log,format=ndjson,file={tmp_path}/log",
            "--use", f"log,format=har,file={tmp_path}/har",
        )  # fmt: skip
    assert result.code == 0, result.err
    shown = {"api_token": "[redacted]", "tier": "gold"}
    events = result.lines()
    assert [event["event"] for event in events if "attributes" in event] == ["start"]
    assert events[0]["attributes"] == shown
    logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in logged if "attributes" in line] == ["start"]
    assert logged[0]["attributes"] == shown
    assert "* attribute api_token=[redacted]\n" in result.err and "* attribute tier=gold\n" in result.err
    (entry,) = json.loads((tmp_path / "har").read_text())["log"]["entries"]
    assert entry["comment"].endswith("; attribute api_token=[redacted]; attribute tier=gold")
    spans = [collector.attributes(span) for span in otlp.spans]
    expected = {f"rpcurl.attribute.{key}": value for key, value in shown.items()}
    assert [{key: span[key] for key in span if key.startswith("rpcurl.attribute.")} for span in spans] == [expected] * 2
    everything = result.out + result.err + "".join((tmp_path / name).read_text() for name in ("log", "har"))
    assert "canary" not in everything + str(spans)


def test_events_of_calls_without_attributes_have_none(call):
    result = call(HELLO, "-d", ADA, "--format", "events")
    assert result.code == 0 and "attributes" not in result.out


def test_the_configuration_has_attributes_that_the_command_line_replaces(rpcurl, tmp_path, descriptor_set):
    path = write(tmp_path / "config", '--attribute tier=gold\n--attribute=b=1\n')

    def attributes(*options):
        words = ["--config", path, "--descriptor-set", descriptor_set, "--explain", "--format", "json", *options]
        return rpcurl(*words, f"http://localhost:1/{HELLO}").json().get("attributes")

    assert attributes() == {"b": "1", "tier": "gold"}
    assert attributes("--attribute", "tier=silver", "--attribute", "b=") == {"tier": "silver"}


# Sessions


def test_a_session_sets_lists_and_removes_attributes(session):
    lines = [
        f"use {GOLD}", "call EchoMetadata {}", "attribute tier=gold", "call EchoMetadata {}", 'set secret = "canary"',
        "attribute api_token=${secret}", "attribute", "attribute tier=", "call EchoMetadata {}", "attribute",
    ]  # fmt: skip
    result = session(lines).succeeds()
    first, second, *listed, third, last = result.out.splitlines()
    assert [("x-tier" in line) for line in (first, second, third)] == [False, True, False]
    assert listed == ["api_token=[redacted]", "tier=gold"] and last == "api_token=[redacted]"
    assert "canary" not in result.out


def test_mistakes_in_a_session_are_reported(session):
    lines = ["attribute tier", "attribute tier=", "attribute a b=1", 'set x = "a=b"', "attribute $x", f"attribute a={'x' * 4097}"]
    result = session(lines, "--attribute", "first=1")
    assert result.out == ""
    assert [line for line in result.err.splitlines() if line.startswith("rpcurl")] == [
        "rpcurl: attribute: wrong usage",
        "rpcurl: tier: no such attribute is set",
        'rpcurl: attribute: "a b" is not a key of an attribute',
        "rpcurl: attribute: wrong usage",
        "rpcurl: attribute: the attribute a is longer than 4096 bytes",
    ]
    assert "hint: attributes: first\n" in result.err


def test_a_saved_session_sets_its_attributes_without_secrets(rpcurl, session, tmp_path):
    script, shell = tmp_path / "script", tmp_path / "shell.sh"
    lines = ["attribute api_token=canary", f"use {GOLD}", "call EchoMetadata {}", f"save {script}", f"save {shell}"]
    session(lines, "--attribute", "tier=gold").exits(0)
    saved = script.read_text()
    assert "attribute tier=gold\n" in saved and "attribute api_token=${env.API_TOKEN}\n" in saved
    written = shell.read_text()
    assert "--attribute tier=gold" in written and '--attribute "api_token=${API_TOKEN}"' in written
    assert "canary" not in saved + written
    assert received(rpcurl("run", script, env={"API_TOKEN": "other"}))["x-tier"] == "gold"


def test_a_suite_sets_attributes_for_a_test(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "suite.rpcurl"
    gold = '{"headers":[{"name":"x-tier","value":"gold"}]}'
    suite.write_text(
        f"target {grpc_server.url}\nuse {GOLD}\n\n"
        f"test gold\nattribute tier=gold\ncall EchoMetadata\nexpect . contains {gold}\n\n"
        f"test plain\ncall EchoMetadata\nexpect . contains {gold}\n"
    )
    tests = [event for event in rpcurl("test", "--report", "ndjson", suite).lines() if event["event"] == "test"]
    assert {test["name"]: test["outcome"] for test in tests} == {"gold": "passed", "plain": "failed"}
