"""Arguments in another order, or of another command: the hint names what works."""

import pytest


@pytest.mark.parametrize("command", ["list", "describe", "template", "export", "health"])
@pytest.mark.parametrize("target", ["localhost:1", "http://localhost:1"])
def test_name_before_the_target(rpcurl, command, target):
    result = rpcurl(command, "demo.v1.Demo", target).exits(2)
    assert result.err.endswith(f": a name where the target belongs\nhint: write rpcurl {command} {target} demo.v1.Demo\n")


def test_arguments_of_suites(rpcurl, tmp_path):
    suite = tmp_path / "a.rpcurl"
    suite.write_text("test a\ncall Hello\n")
    hint = "begin the file with a line: target URL; or set RPCURL_TARGET=URL\n"
    for command in ("test", "load"):
        result = rpcurl(command, suite)
        assert hint in result.out + result.err, command
    for words in ([suite, tmp_path / "b.rpcurl"], ["http://localhost:1", suite]):
        result = rpcurl("load", *words).exits(2)
        assert "a suite is the only argument of a load\nhint: write rpcurl load " in result.err
    result = rpcurl("test", suite, "http://localhost:1").exits(2)
    assert "a server where a file belongs\nhint: begin the suite with a line: target http://localhost:1" in result.err


def test_a_configured_target_needs_a_method(rpcurl):
    for command in ("call", "load"):
        result = rpcurl(command, "-d", "{}", env={"RPCURL_TARGET": "http://localhost:1"}).exits(2)
        assert result.err.startswith("rpcurl: missing argument: METHOD")
