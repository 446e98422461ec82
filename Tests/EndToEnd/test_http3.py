"""HTTP/3, with a libcurl that has it, named by RPCURL_LIBCURL."""

import json

import pytest

SERVICE = "demo.v1.Demo"


@pytest.fixture
def call(http3_rpcurl, descriptor_set):
    return lambda *arguments, **options: http3_rpcurl("--descriptor-set", descriptor_set, *arguments, **options)


def test_version_shows_http3(http3_rpcurl):
    assert json.loads(http3_rpcurl("version", "--format", "json").out)["libcurl"]["httpVersions"] == ["1.1", "2", "3"]


@pytest.fixture(params=["grpc", "grpc-web", "connect"])
def http3(request, call, connect_http3_server, certificates):
    def run(method, *data, **options):
        words = [word for item in data for word in ("-d", item)]
        return call(
            "--protocol", request.param, "--http3", "--cacert", certificates / "ca.pem", "--format", "events",
            "--max-time", "5", *words, f"{connect_http3_server.url}/{SERVICE}/{method}", **options,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("method", "data", "messages", "code"),
    [
        ("Hello", ['{"name":"Ada"}'], [{"message": "Hello, Ada!", "name": "Ada"}], 0),
        ("Count", ['{"from":1,"to":3}'], [{"number": 1}, {"number": 2}, {"number": 3}], 0),
        ("Sum", ['{"value":1}', '{"value":3}'], [{"total": "4", "count": 2}], 0),
        ("Chat", ['{"text":"a"}', '{"text":"b"}'], [{"text": "you said: a"}, {"text": "you said: b"}], 0),
        ("Fail", ['{"code":5,"message":"not here"}'], [], 69),
        ("FailStream", ['{"code":5,"afterMessages":2}'], [{"number": 1}, {"number": 2}], 69),
    ],
)
def test_http3(http3, method, data, messages, code):
    result = http3(method, *data)
    assert result.code == code, result.err
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [e["http_version"] for e in events if e["event"] == "headers"] == ["3"]
    assert [e["message"] for e in events if e["event"] == "message"] == messages


def test_http3_meets_the_deadline(call, connect_http3_server, certificates):
    options = ["--http3", "--cacert", certificates / "ca.pem", "--max-time", "400ms", "-d", '{"milliseconds":9000}']
    result = call(*options, f"{connect_http3_server.url}/{SERVICE}/Delay")
    assert result.code == 68, result.err
    connect_http3_server.wait_for_canceled_calls(f"{SERVICE}/Delay", 1)


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_http3_is_full_duplex(http3_rpcurl, descriptor_set, connect_http3_server, certificates, protocol):
    arguments = [
        "--protocol", protocol, "--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem",
        f"{connect_http3_server.url}/{SERVICE}/Chat",
    ]  # fmt: skip
    with http3_rpcurl.start(*arguments) as process:
        for number in range(50):
            process.stdin.write(b'{"text":"%d"}' % number)
            assert process.stdout.readline() == b'{"text":"you said: %d"}\n' % number
        process.stdin.close()
        assert process.wait() == 0


# libcurl has timers that would hide a missing event: the longest one ends after a deadline.
PACED = ("--connect-timeout", "60", "--max-time", "25")


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_the_end_of_a_paced_request_is_sent_at_once(http3_rpcurl, descriptor_set, connect_http3_server, certificates, protocol):
    """All else has been sent and acknowledged when the input ends."""
    arguments = [
        "--protocol", protocol, "--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem",
        *PACED, f"{connect_http3_server.url}/{SERVICE}/Sum",
    ]  # fmt: skip
    with http3_rpcurl.start(*arguments) as process:
        for number in (1, 2):
            process.stdin.write(b'{"value":%d}' % number)
            process.wait_until_idle()
        process.stdin.close()
        assert process.wait() == 0, process.stderr.read()
        assert json.loads(process.stdout.read()) == {"total": "3", "count": 2}


def test_the_end_of_a_stream_of_a_session_is_sent_at_once(http3_rpcurl, descriptor_set, connect_http3_server, certificates):
    arguments = ["--http3", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", *PACED]
    with http3_rpcurl.start("session", *arguments, connect_http3_server.url) as process:
        for line in ("open Sum", '{"value":1}', "close"):
            process.stdin.write(f"{line}\n".encode())
            process.wait_until_idle()
        assert b'"total":"1"' in process.stdout.readline()
        process.stdin.close()
        assert process.wait() == 0


def test_http3_needs_tls(call):
    result = call("--http3", "--plaintext", "localhost:1", f"{SERVICE}/Hello")
    assert result.code == 2 and "HTTP/3 needs TLS" in result.err


def test_no_server_for_http3(call):
    result = call("--http3", "-k", "--connect-timeout", "1", "https://127.0.0.1:1", f"{SERVICE}/Hello")
    assert result.code == 5, result.err
