"""The interceptor `retry`, around calls that fail."""

import json

import pytest

import manual
from harness import write

HELLO = "demo.v1.Demo/Hello"
QUICK = "retry,initial=10ms,jitter=0"

# The requests and the responses of each kind of method.
CALLS = {
    "Hello": (['{"name":"Ada"}'], [{"message": "Hello, Ada!", "name": "Ada"}]),
    "Count": (['{"from":1,"to":3}'], [{"number": "1"}, {"number": "2"}, {"number": "3"}]),
    "Sum": (['{"value":2}', '{"value":3}'], None),
    "Chat": (['{"text":"a"}', '{"text":"b"}'], None),
}


@pytest.mark.parametrize("method", CALLS)
def test_calls_of_all_kinds_are_retried(call, method):
    data, _ = CALLS[method]
    options = [word for one in data for word in ("-d", one)]
    plain = call(f"demo.v1.Demo/{method}", *options).succeeds()
    options += ["--use", QUICK, "-H", "demo-fail-attempts: 2"]
    result = call(f"demo.v1.Demo/{method}", *options).exits(0, plain.out)
    assert result.err.splitlines() == [
        "retry: attempt 1 of 5 failed: unavailable (attempt 1 is to fail); retrying in 10 ms",
        "retry: attempt 2 of 5 failed: unavailable (attempt 2 is to fail); retrying in 20 ms",
    ]
    shown = call(f"demo.v1.Demo/{method}", "--format", "events", *options)
    assert [event["attempts"] for event in shown.events("metrics")] == [3]
    assert len(shown.events("headers")) == len(shown.events("end")) == 1


def test_times_after_a_retry_count_from_the_start_of_the_call(call):
    words = ["-d", '{"name":"Ada"}', "--use", "retry,initial=200ms,jitter=0", "-H", "demo-fail-attempts: 1"]
    (metrics,) = call(HELLO, "--format", "events", *words).events("metrics")
    # The connection of the first attempt, the response to the second.
    assert 0 < metrics["resolve_ms"] <= metrics["connect_ms"] < 200
    assert 200 <= metrics["first_byte_ms"] <= metrics["total_ms"]


def test_the_server_receives_the_number_of_attempts(call):
    result = call("demo.v1.Demo/EchoMetadata", "-d", "{}", "--use", QUICK, "-H", "demo-fail-attempts: 3")
    fields = {field["name"]: field.get("value") for field in result.json()["headers"]}
    assert fields["grpc-previous-rpc-attempts"] == "3"


def test_attempts_are_limited(call):
    result = call(HELLO, "-d", '{"name":"Ada"}', "--use", f"{QUICK},attempts=3", "-H", "demo-fail-attempts: 9").exits(64 + 14, "").reports(
        "attempt 3 of 3 failed: unavailable (attempt 3 is to fail); not retried",
    )
    assert "attempt 4" not in result.err


@pytest.mark.parametrize(
    ("pushback", "words"), [("-1", "the server refused retries"), ("soon", "the server refused retries"), ("30", "retrying in 30 ms")]
)
def test_pushback_of_the_server_is_obeyed(call, pushback, words):
    result = call(
        HELLO, "-d", '{"name":"Ada"}', "--use", f"{QUICK},attempts=2",
        "-H", "demo-code: 14", "-H", f"demo-trailer: grpc-retry-pushback-ms={pushback}",
    ).exits(64 + 14)  # fmt: skip
    assert words in result.err.splitlines()[0]


@pytest.mark.parametrize("method", ["FailStream"])
def test_a_response_that_has_begun_is_not_retried(call, method):
    data = json.dumps({"code": 14, "message": "gone", "afterMessages": 2})
    result = call(f"demo.v1.Demo/{method}", "-d", data, "--use", QUICK).exits(64 + 14)
    assert len(result.out.splitlines()) == 2
    assert "not retried: the response has started" in result.err


def test_an_attempt_that_the_deadline_ends_is_one_event(call):
    result = call("demo.v1.Demo/Delay", "-d", '{"milliseconds":60000}', "--use", QUICK, "--max-time", "1", "--format", "events").exits(64 + 4)
    assert [(event["number"], event["code"]) for event in result.events("attempt")] == [(1, "deadline_exceeded")]


def test_an_unreachable_server_is_retried(demo, raw_server):
    server = raw_server(lambda connection: None)
    result = demo("-d", '{"name":"Ada"}', "--use", f"{QUICK},attempts=3", f"http://{server.address}/{HELLO}").exits(5)
    assert server.connections >= 3
    assert result.err.count("retry: attempt") == 3


@pytest.fixture
def policy(tmp_path):
    path = write(tmp_path / "service-config.json", manual.examples("rpcurl-retry.7")[1])
    return path


def test_policies_come_from_a_service_config(call, policy):
    options = ["-d", '{"name":"Ada"}', "--use", f"retry,policy={policy},seed=1", "-H", "demo-fail-attempts: 9"]
    call(HELLO, *options).exits(64 + 14).reports("attempt 4 of 4")
    policy.write_text(policy.read_text().replace('"service": "demo.v1.Demo"', '"service": "demo.v1.Demo", "method": "Find"'))
    assert "attempt" not in call(HELLO, *options).err.partition("rpcurl:")[0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"methodConfig":[{"name":[{}],"hedgingPolicy":{}}]}', ["methodConfig[0].hedgingPolicy", "not supported"]),
        ("{", ["line 1, column 2"]),
        ('{"retryThrottling":{}}', ["retryThrottling", "maxTokens"]),
    ],
)
def test_a_wrong_service_config_is_refused(demo, tmp_path, content, words):
    path = write(tmp_path / "service-config.json", content)
    result = demo("--plaintext", "--use", f"retry,policy={path}", "localhost:1", HELLO).exits(7, "")
    assert all(word in result.err for word in ["retry: policy", str(path), *words]), result.err


def test_the_example_of_the_manual(grpc_server, descriptor_set, tmp_path):
    script = manual.examples("rpcurl-retry.7")[0]
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (done.returncode, json.loads(done.stdout)["message"]) == (0, "Hello, Ada!")
    assert "attempt 2 of 4 failed" in done.stderr
