"""The examples in Swift of README, DocC and the tutorials run as they are written, with servers of every protocol."""

import http.server
import os
import re
import subprocess
import threading

import pytest

import swift_examples
from harness import HTTP3_LIBCURL, ROOT

# What examples print, with every server.
PRINTED = {
    "FirstCall_1": "Hello, Ada!\n",
    "FirstCall_2": "1\n2\n3\nyou said: hello\n",
    "first_call_3": "Hello, Ada!\n1\n2\n3\n",
    "first_call_4": "Hello, Ada!\n1\n2\n3\n",
}


@pytest.fixture(scope="module")
def built():
    return swift_examples.build()


@pytest.fixture
def directory(tmp_path, descriptor_set):
    (tmp_path / "demo.binpb").write_bytes(descriptor_set.read_bytes())
    # A comment of the step has its content.
    step = (swift_examples.DOCUMENTS / "Resources" / "testing-2.swift").read_text()
    (tmp_path / "greet.json").write_text(re.search(r"// greet.json: (.*)", step)[1])
    return tmp_path


class Tokens(http.server.BaseHTTPRequestHandler):
    """Responds with a token."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "5")
        self.end_headers()
        self.wfile.write(b"token")

    def log_message(self, *_):
        pass


def run(command, directory, server, protocol):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as tokens:
        threading.Thread(target=tokens.serve_forever, daemon=True).start()
        environment = os.environ | {
            "EXAMPLES_SERVER": server.url, "EXAMPLES_PROTOCOL": protocol, "EXAMPLES_TOKENS": f"http://127.0.0.1:{tokens.server_port}/token",
        }  # fmt: skip
        # A libcurl that loses no responses, as the system's may.
        if HTTP3_LIBCURL.exists():
            environment["RPCURL_LIBCURL"] = str(HTTP3_LIBCURL)
        result = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=120)
        tokens.shutdown()
        return result


@pytest.mark.parametrize("protocol", ["grpc", "grpc-web", "connect"])
def test_examples_run_with_a_server(built, directory, protocol, grpc_server, connect_server):
    server = grpc_server if protocol == "grpc" else connect_server
    result = run([built / "Examples"], directory, server, protocol)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    parts = re.split(r"^== (\w+)\n", result.stdout, flags=re.M)[1:]
    printed = dict(zip(parts[::2], parts[1::2], strict=True))
    assert {name: printed[name] for name in PRINTED} == PRINTED
    assert set(printed) == {example.name for example in swift_examples.examples() if not example.has_tests}


def test_examples_of_tests_pass(built, directory, grpc_server):
    (program,) = built.glob("*PackageTests.xctest")
    tests = sorted(example.name for example in swift_examples.examples() if example.has_tests)
    # The last replays what the one before has recorded.
    assert tests[-2:] == ["testing_3", "testing_4"]
    for name in tests:
        result = run([program, "--testing-library", "swift-testing", "--filter", rf"[./]{name}\b"], directory, grpc_server, "grpc")
        assert result.returncode == 0, result.stdout + result.stderr
        assert "Test run with 1 test" in result.stderr, result.stderr


def test_generated_types_pass_their_unit_tests(built, directory, grpc_server):
    (program,) = built.glob("*PackageTests.xctest")
    result = run([program, "--testing-library", "swift-testing", "--filter", "GeneratedTypesTests"], directory, grpc_server, "grpc")
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"Test run with \d+ tests", result.stderr), result.stderr


def test_page_of_migration_has_pairs():
    text = (swift_examples.DOCUMENTS / "Migration.md").read_text()
    libraries = re.findall(r"^```swift\n// (\S+)$", text, re.M)
    assert len(libraries) == text.count("```swift") >= 20
    assert set(libraries[::2]) == {"grpc-swift-2", "connect-swift"}
    assert set(libraries[1::2]) == {"rpcurl"}


def test_declarations_with_the_trait_are_those_of_docs_api(built):
    modules = ["RPCurlClientSwiftProtobuf", "RPCurlClientTesting"]
    result = subprocess.run([ROOT / "scripts/api", "--check", *modules], capture_output=True, text=True)
    assert result.returncode == 0, f"{result.stderr}\nIf the change is intended: make api"
