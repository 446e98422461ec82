"""The interceptor `edit`, on messages of each protocol and kind of method."""

import json


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


def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path):
    scripts = manual.examples("rpcurl-edit.7")
    ran = [manual.run(script, tmp_path, descriptor_set, [("localhost:50051", grpc_server.address)]) for script in scripts]
    named, numbers = ran
    assert named.returncode == 0, named.stderr
    reply = json.loads(named.stdout)
    assert reply["message"].startswith("HELLO, USER-") and reply["name"].startswith("Hello, user-"), reply
    assert (numbers.returncode, numbers.stdout) == (0, '{"number":101}\n{"number":102}\n{"number":103}\n'), numbers.stderr
