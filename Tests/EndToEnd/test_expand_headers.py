"""--expand-headers: values of the environment in headers, as in grpcurl."""

import json

import pytest

SERVICE = "demo.v1.Demo"
ENV = {"KEY": "a key", "OTHER": "b", "NESTED": "${KEY}", "LINES": "a\nb", "RETURN": "a\rb", "EMPTY": "", "_x9": "c", "BIN": "AAE="}


@pytest.fixture
def explain(rpcurl):
    """The headers that a call would have."""

    def explain(*options, env=ENV):
        result = rpcurl("--explain", "--protocol", "connect", "--show-secrets", "--format", "json", *options, "http://host", f"{SERVICE}/Hello", env=env)
        return dict(json.loads(result.out)["headers"]) if result.code == 0 else result

    return explain


@pytest.mark.parametrize(
    ("value", "expanded"),
    [
        ("${KEY}", "a key"), ("Bearer ${KEY}!", "Bearer a key!"), ("${KEY}${OTHER}", "a keyb"), ("${NESTED}", "${KEY}"),
        ("x${EMPTY}y", "xy"), ("${_x9}", "c"), ("$KEY", "$KEY"), ("${}", "${}"), ("${a-b}", "${a-b}"), ("${KEY", "${KEY"),
        ("$${KEY}", "$a key"), ("$ {KEY} ${", "$ {KEY} ${"), ("${${KEY}}", "${a key}"), ("é ${KEY}", "é a key"),
    ],
)  # fmt: skip
def test_variables(explain, value, expanded):
    assert explain("--expand-headers", "-H", f"x-h: {value}") == {"x-h": expanded}
    assert explain("-H", f"x-h: {value}") == {"x-h": value}


@pytest.mark.parametrize("option", ["-H", "--rpc-header", "--reflect-header"])
def test_unset_variable(rpcurl, option):
    words = ["--expand-headers", option, "authorization: Bearer ${NO_SUCH} secret", "http://127.0.0.1:1", f"{SERVICE}/Hello"]
    result = rpcurl(*words)
    assert result.code == 2
    line = f"rpcurl: {option}: the value of authorization refers to the variable NO_SUCH, which is not set\n"
    assert result.err.startswith(line) and "secret" not in result.err


@pytest.mark.parametrize("name", ["LINES", "RETURN"])
def test_a_line_break_is_refused(explain, name):
    result = explain("--expand-headers", "-H", f"x-h: ${{{name}}}")
    assert result.code == 2
    assert result.err == f"rpcurl: -H: the variable {name} in the value of x-h contains a line break\n"


def test_files(explain, tmp_path):
    (tmp_path / "headers").write_text("# comment ${NO_SUCH}\nx-a: ${KEY}\n\nx-b: ${OTHER}\n")
    assert explain("--expand-headers", "-H", f"@{tmp_path}/headers") == {"x-a": "a key", "x-b": "b"}
    (tmp_path / "headers").write_text("x-a: b\nx-a: ${NO_SUCH}\n")
    result = explain("--expand-headers", "-H", f"@{tmp_path}/headers")
    assert result.err.startswith(f"rpcurl: {tmp_path}/headers, line 2: the value of x-a refers to the variable NO_SUCH")


def test_binary_values_are_checked_after_expansion(explain):
    assert explain("--expand-headers", "-H", "x-bin: ${BIN}") == {"x-bin": "AAE="}
    assert "base64" in explain("--expand-headers", "-H", "x-bin: ${KEY}").err


def test_the_server_gets_the_value(rpcurl, grpc_server):
    url = f"{grpc_server.url}/{SERVICE}/EchoMetadata"
    words = ["--expand-headers", "--no-cache", "-H", "x-a: ${KEY}", "--rpc-header", "x-b: ${OTHER}", "--reflect-header", "x-c: ${OTHER}"]
    result = rpcurl(*words, url, env=ENV)
    assert result.code == 0, result.err
    headers = {h["name"]: h.get("value") for h in json.loads(result.out)["headers"]}
    assert (headers["x-a"], headers["x-b"], "x-c" in headers) == ("a key", "b", False)


def test_schema_commands(rpcurl, grpc_server):
    words = ["list", "--plaintext", "-H", "demo-token: ${KEY}", grpc_server.address]
    result = rpcurl(*words, "--expand-headers")
    assert (result.code, "variable KEY" in result.err) == (2, True)
    assert rpcurl(*words, "--expand-headers", env=ENV).code == 0
    assert "variable KEY" in rpcurl(*words[:-1], "--reflect-header", "x: ${KEY}", grpc_server.address, "--expand-headers").err
