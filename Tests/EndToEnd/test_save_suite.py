"""--save-suite of rpcurl proxy: the calls of clients become a suite, which rpcurl test runs again; --default of rpcurl serve."""

import json
import signal

import pytest
from harness import wait_until, write


def listen(rpcurl, *arguments):
    """A command that listens, and its address."""
    process = rpcurl.start(*arguments)
    line = process.stderr.readline()
    assert line.startswith(b"listening on http://"), line + process.stderr.read()
    return process, line.split()[2].decode().removeprefix("http://")


def stop(process):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def test_calls_of_clients_become_a_suite(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "app.rpcurl"
    process, address = listen(rpcurl, "proxy", "--save-suite", suite, "--plaintext", grpc_server.address)
    call = ["--plaintext", address]
    rpcurl(*call, "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}', "-H", "authorization: Bearer secret-token").exits(0)
    rpcurl(*call, "demo.v1.Demo/Find", "-d", '{"id":"2"}').exits(0)
    rpcurl(*call, "demo.v1.Demo/Hello", "-d", '{"name":"Jacquard loom"}', "--protocol", "grpc").exits(0)
    rpcurl(*call, "demo.v1.Demo/Find", "-d", '{"id":"9"}').exits(64 + 5)
    rpcurl(*call, "demo.v1.Demo/Chat", "-d", '{"text":"a"}{"text":"b"}').exits(0)
    stop(process)
    text = suite.read_text()
    assert "secret-token" not in text and "header authorization: ${env.AUTHORIZATION}" in text
    assert "set title = $last.title" in text and '{"name":"${title}"}' in text
    assert "AUTHORIZATION" in rpcurl("test", suite).exits(4).out
    rpcurl("test", suite, env={"AUTHORIZATION": "Bearer secret-token"}).exits(0)
    changed = write(tmp_path / "changed.rpcurl", text.replace("Hello, Ada!", "Goodbye!"))
    rpcurl("test", changed, env={"AUTHORIZATION": "Bearer secret-token"}).exits(8)


def test_texts_of_a_client_are_no_values(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "app.rpcurl"
    process, address = listen(rpcurl, "proxy", "--save-suite", suite, "--plaintext", grpc_server.address)
    request = json.dumps({"stringValue": "${z}", "stringToInt32": {"${env.HOME}": 1, "$last.id": 2}})
    headers = ["-H", "x-first: $last.id", "-H", "authorization: $env.HOME"]
    rpcurl("--plaintext", address, "demo.v1.Demo/Echo", "-d", request, *headers).exits(0)
    stop(process)
    text = suite.read_text()
    assert '"$${env.HOME}"' in text and "header x-first: ${'$last.id'}" in text and "$env.HOME" not in text
    rpcurl("test", suite, env={"AUTHORIZATION": "$env.HOME"}).exits(0)


def test_calls_that_the_proxy_ends_are_not_part_of_the_suite(rpcurl, grpc_server, tmp_path):
    suite = tmp_path / "app.rpcurl"
    process, address = listen(rpcurl, "proxy", "--save-suite", suite, "--plaintext", grpc_server.address)
    rpcurl("--plaintext", address, "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}').exits(0)
    with rpcurl.start("--plaintext", address, "demo.v1.Demo/Chat", "-d", "@-") as chat:
        chat.stdin.write(b'{"text":"a"}\n')
        chat.stdin.flush()
        assert chat.stdout.readline()
        process.send_signal(signal.SIGINT)
        # Written before the open call ends: a second signal would end the program.
        wait_until(suite.exists, "the suite is written")
        assert process.poll() is None and "demo.v1.Demo/Hello" in suite.read_text()
        process.communicate()
        assert process.returncode == 0
    assert "demo.v1.Demo/Hello" in suite.read_text() and "demo.v1.Demo/Chat" not in suite.read_text()


def test_call_that_is_held_at_the_end_is_not_part_of_the_suite(rpcurl, grpc_server, tmp_path):
    suite = write(tmp_path / "app.rpcurl", "# An older one\n")
    arguments = ["--save-suite", suite, "--interactive", "--break", "Hello", "--plaintext", grpc_server.address]
    process = rpcurl.start("proxy", *arguments)
    address = process.stderr.readline().split()[2].decode().removeprefix("http://")
    with rpcurl.start("--plaintext", address, "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}') as hello:
        while b"held" not in (line := process.stdout.readline()):
            assert line
        _, err = process.communicate()
        assert process.returncode == 0 and b"no call was recorded" in err
        assert hello.wait() == 64 + 14
    assert suite.read_text() == "# An older one\n"


def test_serve_responds_with_plausible_values(rpcurl, descriptor_set):
    def responses(seed):
        process, address = listen(rpcurl, "serve", "--descriptor-set", descriptor_set, "--default", "--seed", seed)
        call = ["--plaintext", address]
        found = [rpcurl(*call, f"demo.v1.Demo/{method}", "-d", "{}").exits(0).out for method in ("Hello", "Count", "Echo")]
        rpcurl("health", *call).exits(0)
        stop(process)
        return found

    first = responses(7)
    assert first == responses(7) != responses(8)
    assert '"name":"' in first[0] and first[1].count("\n") == 3 and '"color":"COLOR_' in first[2]


@pytest.mark.parametrize("path", ["/nonexistent/app.rpcurl", "/dev/full", "/"])
def test_suite_that_cannot_be_written(rpcurl, path):
    rpcurl("proxy", "--save-suite", path, "http://127.0.0.1:1").exits(2).reports("--save-suite")
