"""Each plugin has one place on the chain: held values, failures and declared forms beside other interceptors."""


import pytest

from harness import ROOT

SAMPLES = ROOT / ".build" / "plugins"


@pytest.fixture
def demo(rpcurl, grpc_server, descriptor_set):
    def call(method, data, *chain):
        return rpcurl(
            "--descriptor-set", descriptor_set, *chain, "--format", "json", "--max-time", "20", "-d", "@-",
            f"{grpc_server.url}/demo.v1.Demo/{method}", input=data,
        )  # fmt: skip

    return call


def in_both_orders(*members):
    return [[*members[0], *members[1]], [*members[1], *members[0]]]


@pytest.mark.parametrize("form", ["typed", "bytes"])
def test_plugin_holds_request_until_its_end_beside_plugin_of_other_form(demo, built_plugin, form):
    batch = ["--plugin", f"{built_plugin('batch')},on=request,of={form}"]
    for chain in in_both_orders(["--plugin", built_plugin("enc")], batch):
        result = demo("Sum", '{"value":1}{"value":2}', *chain)
        assert (result.code, result.lines()) == (0, [{"total": "3", "count": 2}])
        assert "batch: 2 held\n" in result.err


@pytest.mark.parametrize("form", ["typed", "bytes"])
@pytest.mark.parametrize("use", ["log,file={}/log", "record,file={}/cassette", "edit,response-set=number=77"])
def test_plugin_holds_response_until_its_end_beside_interceptor(demo, built_plugin, tmp_path, form, use):
    batch = ["--plugin", f"{built_plugin('batch')},on=response,of={form}"]
    for index, chain in enumerate(in_both_orders(["--use", use.format(tmp_path)], batch)):
        result = demo("Count", '{"from":1,"to":3}', *chain)
        numbers = [77, 77, 77] if "edit" in use else [1, 2, 3]
        assert (result.code, [message["number"] for message in result.lines()]) == (0, numbers), index
        assert "batch: 3 held\n" in result.err


def test_failure_while_messages_are_kept_shows_only_redacted_ones(demo, built_plugin):
    redact = ["--plugin", f"{SAMPLES}/redact.so,field=number"]
    for chain in in_both_orders(["--plugin", built_plugin("leak")], redact):
        result = demo("Count", '{"from":11,"to":20}', *chain)
        assert (result.code, result.lines()) == (64 + 13, [{}, {}])
        assert "the quota is used up" in result.err


@pytest.mark.parametrize("form", ["typed", "bytes"])
def test_failure_after_a_held_message_shows_only_edited_ones(demo, built_plugin, form):
    late = ["--plugin", f"{built_plugin('late')},of={form}"]
    for chain in in_both_orders(late, ["--use", "edit,response-set=number=77"]):
        assert demo("Count", '{"from":1,"to":5}', *chain).exits(64 + 13).lines() == [{"number": 77}, {"number": 77}]


@pytest.mark.parametrize("milliseconds", [0, 50])
def test_delayed_start_before_a_changer_works_as_an_undelayed_one(demo, built_plugin, milliseconds):
    chain = ["--plugin", f"{built_plugin('gate')},ms={milliseconds}", "--use", "edit,set=name=Grace"]
    result = demo("Hello", '{"name":"Ada"}', *chain)
    assert (result.code, result.lines()[0]["message"]) == (0, "Hello, Grace!")
    assert "gate: 5 bytes\n" in result.err


@pytest.mark.parametrize("signer", ["sign", "sig2"])
@pytest.mark.parametrize("method", ["Hello", "Sum"])
def test_signer_after_a_changer_of_bytes_signs_what_is_sent(demo, built_plugin, signer, method):
    last = f"{SAMPLES}/sign.so,key=k,stream=all" if signer == "sign" else built_plugin("sig2")
    data = '{"name":"Ada"}' if method == "Hello" else '{"value":1}{"value":2}'
    demo(method, data, "--plugin", built_plugin("enc"), "--plugin", last).succeeds()


def test_serial_plugin_that_collects_is_a_configuration_error(demo, built_plugin):
    result = demo("Hello", "{}", "--plugin", f"{built_plugin('declared')},serial=yes,collects=yes")
    assert result.code != 0 and result.out == ""
    assert "is_serial and collects exclude each other" in result.err
