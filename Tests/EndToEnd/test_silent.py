"""-s and -S: standard error is empty except for requested output, as with curl."""


import pytest
from harness import write



@pytest.fixture
def call(grpc_call):
    return lambda *options, data="{}", method="Hello", **more: grpc_call(method, *options, data=data, **more)


FAILED = "rpcurl: demo.v1.Demo/Fail: not_found (5)\n"


@pytest.mark.parametrize(
    ("options", "err"),
    [
        ([], FAILED), (["-s"], ""), (["--silent"], ""), (["-sS"], FAILED), (["-Ss"], FAILED), (["-s", "-S"], FAILED),
        (["-S"], FAILED), (["--silent", "--show-error"], FAILED), (["-sH", "x-a: 1"], ""), (["-sSH", "x-a: 1"], FAILED),
    ],
)  # fmt: skip
def test_errors_of_a_call(call, options, err):
    call(*options, data='{"code":5}', method="Fail").exits(69, "", err)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--no-such-option"], 2),
        (["--max-time", "soon"], 2),
        (["-d", "nonsense"], 4),
        (["--descriptor-set", "/no/such"], 3),
        (["--use", "nothing"], 7),
        (["--config", "/no/such"], 2),
        (["--each", "-d", "[]"], 4),
        (["--use", "assert,check=status not_found"], 8),
    ],
)
def test_errors_of_every_kind(call, words, code):
    data = '{"name":"A"}'
    call("-s", *words, data=data).exits(code, err="")
    shown = call("-sS", *words, data=data)
    assert shown.code == code and shown.err.startswith("rpcurl: ")
    assert shown.err == call(*words, data=data).err


@pytest.mark.parametrize(
    "words",
    [
        ["list", "--no-such-option"], ["describe", "--descriptor-set", "/no/such"], ["template"], ["export", "-o", "x"],
        ["convert", "--type", "x", "--from", "json", "--to", "json"], ["plugins", "check", "/no/such.so"],
        ["plugins", "new", "x/y"],
    ],
)  # fmt: skip
def test_errors_of_other_commands(rpcurl, words):
    assert rpcurl(*words, "-s").exits(rpcurl(*words).code, err="").code != 0
    assert rpcurl(*words, "-sS").err == rpcurl(*words).err != ""


def test_requested_output_is_printed(call):
    result = call("-s", "-v", "--timing", data='{"code":5}', method="Fail").exits(69).reports("> POST ", "* not_found (5)", "timing: ")
    assert "rpcurl: " not in result.err
    flags = call("-sv", data='{"code":5}', method="Fail").err
    assert "> POST " in flags and "rpcurl: " not in flags


def test_warnings_are_omitted(rpcurl, tmp_path):
    (tmp_path / "a.proto").write_text('syntax = "proto3";\nimport "google/protobuf/empty.proto";\nmessage M {}\n')
    words = ["describe", "-v", "-I", tmp_path, "--proto", "a.proto", "M"]
    assert "unused" in rpcurl(*words).err
    assert rpcurl(*words, "-s").succeeds().out == rpcurl(*words).out


def test_the_argument_after_an_option_is_its_value(call):
    """An argument that looks like the flag may be the value of an option."""
    assert call("-H", "x: -s", data='{"code":5}', method="Fail").err == FAILED


def test_the_configuration_file_may_contain_it(rpcurl, call):
    file = write(rpcurl.home / "config", "--silent\n")
    assert call("--config", file, data='{"code":5}', method="Fail").err == ""
    assert call("--config", file, "-S", data='{"code":5}', method="Fail").err == FAILED


def test_responses_are_not_errors(call):
    result = call("-s", data='{"name":"A"}')
    assert (result.code, result.err, result.json()["name"]) == (0, "", "A")
