"""The interceptor `edit`, on messages of each protocol and kind of method."""

import json

import pytest

import manual

HELLO = "demo.v1.Demo/Hello"


def test_requests_are_changed(call):
    result = call(HELLO, "-d", '{"name":"Ada"}', "--use", "edit,transform=name:upper,set=language=de")
    assert (result.code, result.json()) == (0, {"message": "Hallo, ADA!", "name": "ADA"}), result.err


def test_responses_are_changed(call):
    result = call(HELLO, "-d", '{"name":"Ada"}', "--use", "edit,response-copy=name:message,response-clear=name")
    assert (result.code, result.json()) == (0, {"message": "Ada"}), result.err


def test_json_codec(demo, connect_server):
    result = demo(
        "--protocol", "connect", "--codec", "json", "-d", '{"name":"Ada"}',
        "--use", "edit,set=name=Grace,response-transform=message:upper", f"{connect_server.url}/{HELLO}",
    )  # fmt: skip
    assert (result.code, result.json()) == (0, {"message": "HELLO, GRACE!", "name": "Grace"}), result.err


def test_messages_of_streams_are_changed(call):
    call("demo.v1.Demo/Chat", "-d", '{"text":"a"}{"text":"b"}', "--use", "edit,set=text=x").exits(0, '{"text":"you said: x"}\n' * 2)
    result = call("demo.v1.Demo/Count", "-d", '{"from":1,"to":3}', "--use", "edit,response-transform=number:add(-2)")
    assert [json.loads(line).get("number", 0) for line in result.out.splitlines()] == [-1, 0, 1], result.err


def test_nested_fields_lists_and_maps(call):
    data = {"nested": {"label": "a"}, "int32s": [1, 2], "stringToInt32": {"k": 3}, "nesteds": [{"number": 4}, {}]}
    changes = [
        "set=nested.child.number=7", "transform=nested.label:suffix(b)", "clear=int32s[0]", "append=int32s=5",
        'set=string_to_int32["l"]=6', "set=nesteds[].label=x", "copy=nested.label:string_value",
    ]  # fmt: skip
    result = call("demo.v1.Demo/Echo", "-d", json.dumps(data), "--use", ",".join(["edit", *changes])).exits(0)
    assert result.json() == {
        "nested": {"label": "ab", "child": {"number": 7}}, "int32s": [2, 5], "stringToInt32": {"k": 3, "l": 6},
        "nesteds": [{"label": "x", "number": 4}, {"label": "x"}], "stringValue": "ab",
    }  # fmt: skip


def test_retries_send_the_changed_request(call):
    result = call(
        HELLO, "-d", '{"name":"Ada"}', "-H", "demo-fail-attempts: 1", "--use", "retry,initial=1ms",
        "--use", "edit,transform=name:suffix(!)",
    )  # fmt: skip
    assert (result.code, result.json()["name"]) == (0, "Ada!"), result.err


def test_value_functions_are_new_for_each_message(call):
    use = ["--use", "edit,set=name=${uuid()},expand=true"]
    result = call(HELLO, "--each", *use, input="{}" * 3)
    names = {json.loads(line)["name"] for line in result.out.splitlines()}
    assert (result.code, len(names)) == (0, 3) and all(len(name) == 36 for name in names), result.err


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("set=nam=x", "set nam: demo.v1.HelloRequest has no field nam; did you mean name?"),
        ("response-clear=total", "response-clear total: demo.v1.HelloReply has no field total"),
    ],
)
def test_unknown_fields_fail_before_sending(demo, raw_server, setting, words):
    server = raw_server(lambda connection: None)
    demo(
        "-d", '{"name":"Ada"}', "--use", f"edit,{setting}",
        f"http://{server.address}/{HELLO}",
    ).exits(64 + 9, "").reports(f"interceptor edit: failed_precondition (9): {words}")  # fmt: skip
    assert server.connections == 0


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    scripts = manual.examples("rpcurl-edit.7")
    ran = [manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)]) for script in scripts]
    named, numbers = ran
    assert named.returncode == 0, named.stderr
    reply = json.loads(named.stdout)
    assert reply["message"].startswith("HELLO, USER-") and reply["name"].startswith("Hello, user-"), reply
    assert (numbers.returncode, numbers.stdout) == (0, '{"number":101}\n{"number":102}\n{"number":103}\n'), numbers.stderr
