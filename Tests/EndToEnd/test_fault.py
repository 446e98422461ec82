"""The interceptor `fault`, on calls to servers that work."""

import json

import pytest

import manual

HELLO = "demo.v1.Demo/Hello"
ADA = ["-d", '{"name":"Ada"}']


@pytest.mark.parametrize(
    ("setting", "code", "words"),
    [("abort=unavailable", 14, "fault filter abort"), ("abort=401", 16, "HTTP 401"), ("abort=5", 5, "not_found")],
)
@pytest.mark.parametrize(
    ("method", "data"), [("Hello", ADA), ("Count", ["-d", '{"from":1,"to":3}']), ("Sum", []), ("Chat", [])]
)
def test_aborts_send_nothing(demo, raw_server, setting, code, words, method, data):
    server = raw_server(lambda connection: None)
    demo(
        *data, "--use", f"fault,{setting}",
        f"http://{server.address}/demo.v1.Demo/{method}",
    ).exits(64 + code, "").reports("interceptor fault", words)  # fmt: skip
    assert server.connections == 0


@pytest.mark.parametrize(
    ("chain", "interceptor", "direction"),
    [
        (["fault,delay=100ms,corrupt-request=0.0001", "edit,set=name=Grace"], "edit", "requests"),
        (["fault,truncate-request=1", "log"], "log", "requests"),
        (["log", "fault,corrupt-response=1"], "log", "responses"),
    ],
)
def test_typed_messages_that_may_be_damaged_are_an_error(raw_server, rpcurl, descriptor_set, chain, interceptor, direction):
    server = raw_server(lambda connection: None)
    words = [word for text in chain for word in ("--use", text)]
    words += ["--descriptor-set", descriptor_set, *ADA, f"http://{server.address}/{HELLO}"]
    for options in ([], ["--explain"]):
        rpcurl(*options, *words).exits(7, "").reports(
            f"rpcurl: {interceptor}: receives typed {direction} that fault has made impossible to parse", f"hint: place {interceptor} on the other side of fault, with before= or after=",
        )
    assert server.connections == 0
    moved = [f"{word},before=fault" if word == chain[1] else word for word in words]
    assert chain[0].startswith("log") or rpcurl("--explain", *moved).code == 0


def test_corrupted_messages_are_detected(call):
    result = call(HELLO, *ADA, "--use", "fault,truncate-request=100,seed=2")
    assert result.code != 0 and "truncated message 0 of the request to" in result.err
    call(HELLO, *ADA, "--use", "fault,truncate-response=100,seed=2").exits(64 + 13).reports("invalid response: not a demo.v1.HelloReply")


@pytest.mark.parametrize(
    ("method", "data"),
    [("Hello", ADA), ("Count", ["-d", '{"from":1,"to":3}']), ("Sum", ["-d", '{"value":2}']), ("Chat", ["-d", '{"text":"a"}'])],
)
def test_calls_of_all_kinds_succeed_with_retries(call, method, data):
    plain = call(f"demo.v1.Demo/{method}", *data)
    call(
        f"demo.v1.Demo/{method}", *data, "--use", "retry,attempts=20,initial=1ms,max=2ms",
        "--use", "fault,abort=14,abort-percent=60,seed=5",
    ).exits(0, plain.out).reports("retry: attempt 1 of 20 failed")  # fmt: skip


def test_the_example_of_the_manual(grpc_server, descriptor_set, tmp_path):
    [script] = manual.examples("rpcurl-fault.7")
    done = manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)])
    assert (done.returncode, json.loads(done.stdout)["message"]) == (0, "Hello, Ada!")
    assert "attempt 1 of 10 failed: unavailable (fault filter abort)" in done.stderr
