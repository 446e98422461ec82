"""The interceptor `auth`, with real servers and a token server of its own."""

import base64
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

import manual
from harness import silent

ECHO = "demo.v1.Demo/EchoMetadata"
CALLS = {
    "Hello": ['{"name":"Ada"}'],
    "Count": ['{"from":1,"to":3}'],
    "Sum": ['{"value":2}', '{"value":3}'],
    "Chat": ['{"text":"a"}', '{"text":"b"}'],
}


class TokenServer(ThreadingHTTPServer):
    """An OAuth 2.0 token endpoint: gives the client "me" with the secret "s3 cret" the tokens t1, t2, …"""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), TokenHandler)
        self.requests = []
        self.expires_in = 3600
        self.given = 0
        self.url = f"http://127.0.0.1:{self.server_port}/token"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class TokenHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.server.requests.append(form)
        client = (form.get("client_id"), form.get("client_secret"))
        if credentials := self.headers["authorization"]:
            pair = base64.b64decode(credentials.removeprefix("Basic ")).decode()
            client = tuple(parse_qs(f"x={part}")["x"][0] for part in pair.split(":"))
        if self.headers["content-type"] != "application/x-www-form-urlencoded":
            self.respond(415, {})
        elif form.get("grant_type") != "client_credentials":
            self.respond(400, {"error": "unsupported_grant_type"})
        elif client not in [("me", "s3 cret"), ("me", "secret")]:
            self.respond(401, {"error": "invalid_client", "error_description": f"who is {client}?"})
        elif form.get("scope") == "everything":
            self.respond(400, {"error": "invalid_scope", "error_description": "not for you"})
        else:
            self.server.given += 1
            token = {"access_token": f"t{self.server.given}", "token_type": "Bearer", "expires_in": self.server.expires_in}
            self.respond(200, token)

    def respond(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def tokens():
    server = TokenServer()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def oauth(tokens):
    return f"auth,token-url={tokens.url},client-id=me,client-secret=s3 cret"


def header(result, name="authorization"):
    """What reached the server in a header."""
    assert (result.code, result.err) == (0, "")
    return [field.get("value", "") for field in result.json()["headers"] if field["name"] == name]


def test_values_of_all_kinds_reach_the_server(call, tmp_path):
    (tmp_path / "token").write_text("from-file\n")
    for setting, value in [
        ("bearer=abc", "Bearer abc"),
        ("bearer=env:TOKEN", "Bearer from-env"),
        (f"bearer=@{tmp_path}/token", "Bearer from-file"),
        ("bearer=cmd:printf from-command", "Bearer from-command"),
        ("basic=Aladdin:open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
    ]:
        result = call(ECHO, "-d", "{}", "--use", f"auth,{setting}", env={"TOKEN": "from-env"})
        assert header(result) == [value], setting
    assert header(call(ECHO, "-d", "{}", "--use", "auth,bearer=abc,header=x-key"), "x-key") == ["abc"]


@pytest.mark.parametrize("method", CALLS)
def test_a_fetched_token_is_renewed_after_unauthenticated(call, tokens, oauth, method):
    options = [word for one in CALLS[method] for word in ("-d", one)]
    plain = call(f"demo.v1.Demo/{method}", *options)
    options += ["--use", f"{oauth},scope=a b", "-H", "demo-token: t2"]
    result = call(f"demo.v1.Demo/{method}", *options).exits(0, plain.out)
    assert result.err == "auth: the server rejected the token; trying a new one\n"
    assert [request["scope"] for request in tokens.requests] == ["a b", "a b"]


def test_a_token_is_renewed_once_only(call, tokens, oauth):
    call(ECHO, "-d", "{}", "--use", oauth, "-H", "demo-token: t9").exits(64 + 16).reports("that is not the token")
    assert tokens.given == 2


@pytest.mark.parametrize("where", ["basic", "body"])
def test_client_credentials_in_the_header_and_in_the_body(call, tokens, oauth, where):
    assert header(call(ECHO, "-d", "{}", "--use", f"{oauth},client-auth={where},audience=api")) == ["Bearer t1"]
    assert ("client_secret" in tokens.requests[0]) == (where == "body")
    assert tokens.requests[0]["audience"] == "api"


def test_a_refusal_of_the_token_server_is_reported_and_nothing_is_sent(demo, raw_server, tokens, oauth):
    server = raw_server(lambda connection: None)

    def fails(spec, *words):
        result = demo("-v", "-d", "{}", "--use", spec, f"http://{server.address}/{ECHO}").exits(64 + 16, "")
        assert all(word in result.err for word in ["interceptor auth", "unauthenticated", *words]), result.err
        assert "s3 cret" not in result.err
        assert server.connections == 0

    fails(f"{oauth},scope=everything", "invalid_scope", "not for you", f"127.0.0.1:{tokens.server_port}")
    fails(oauth.replace("=me", "=you"), "token server", "refused")
    mute = raw_server(silent)
    fails(f"auth,token-url=http://{mute.address}/,client-id=me,client-secret=x,timeout=50ms", "longer")
    fails("auth,bearer=cmd:sh -c 'exit 3'", "no token", "exit code 3")
    fails("auth,bearer=cmd:sleep 60,timeout=100ms", "took too long")
    fails("auth,bearer=@/no/such/file", "/no/such/file")


def test_unreachable_token_server(demo, grpc_server, tokens, oauth):
    tokens.shutdown()
    tokens.server_close()
    demo("-d", "{}", "--use", oauth, f"{grpc_server.url}/{ECHO}").exits(64 + 16).reports(f"127.0.0.1:{tokens.server_port}")


def test_credentials_do_not_travel_in_clear_text(demo):
    result = demo("-d", "{}", "--use", "auth,bearer=t0p", f"http://192.0.2.1/{ECHO}").exits(64 + 16)
    assert "without TLS" in result.err and "allow-plaintext=true" in result.err and "t0p" not in result.err


@pytest.fixture
def listener():
    """A server that must not be connected to: it shows whether a client did."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def was_connected_to(listener):
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("way", ["--proxy", "http_proxy", "ALL_PROXY", "--resolve"])
@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_a_local_name_that_leads_elsewhere_gets_no_credentials(demo, listener, way, protocol):
    port = listener.getsockname()[1]
    proxy = f"http://127.0.0.1:{port}"
    # Its address is this machine's, so that a connection would be seen.
    elsewhere = {"--proxy": ["--proxy", proxy], "--resolve": ["--resolve", f"localhost:{port}:0.0.0.0"]}
    result = demo(
        "-d", "{}", "--protocol", protocol, "--use", "auth,bearer=t0p",
        "--max-time", "10", *elsewhere.get(way, []), f"http://localhost:{port}/{ECHO}",
        env={} if way in elsewhere else {way: proxy},
    ).exits(64 + 16)  # fmt: skip
    assert "without TLS" in result.err and "allow-plaintext=true" in result.err and "t0p" not in result.err
    assert not was_connected_to(listener)


@pytest.mark.parametrize("way", ["--proxy", "--resolve"])
def test_a_local_token_server_that_leads_elsewhere_gets_no_secret(call, listener, way):
    port = listener.getsockname()[1]
    elsewhere = {
        "--proxy": ["--proxy", f"http://127.0.0.1:{port}"],
        "--resolve": ["--resolve", f"localhost:{port}:0.0.0.0"],
    }
    spec = f"auth,token-url=http://localhost:{port}/token,client-id=me,client-secret=t0p"
    result = call(ECHO, "-d", "{}", "--use", spec, *elsewhere[way]).exits(64 + 16)
    assert "without TLS" in result.err and "t0p" not in result.err
    assert not was_connected_to(listener)


def test_plaintext_through_a_proxy_can_be_allowed(call, grpc_server):
    spec = "auth,bearer=abc,allow-plaintext=true"
    result = call(ECHO, "-d", "{}", "--use", spec, "--resolve", f"127.0.0.1:{grpc_server.port}:0.0.0.0")
    assert header(result) == ["Bearer abc"]


def test_credentials_go_over_tls(demo, grpc_tls_server):
    result = demo(
        "--cacert", grpc_tls_server.ca, "-d", "{}",
        "--use", "auth,bearer=abc,hosts=localhost", f"{grpc_tls_server.url}/{ECHO}",
    )  # fmt: skip
    assert header(result) == ["Bearer abc"]


def test_other_hosts_get_nothing(call):
    result = call(ECHO, "-d", "{}", "--use", "auth,bearer=abc,hosts=example.com")
    assert result.err.startswith("auth: no credentials for ")
    assert "abc" not in result.out + result.err


@pytest.mark.parametrize("options", [["-v"], ["-v", "--format", "events"]])
@pytest.mark.parametrize("name", ["authorization", "x-plain"])
def test_output_of_a_call_contains_no_credentials(call, options, name):
    result = call(
        "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}', "--use", f"auth,bearer=t0psecret,header={name}", *options
    ).exits(0)
    assert "t0psecret" not in result.out + result.err
    assert f"> {name}: " in result.err and "[redacted]" in result.err
    call(
        "demo.v1.Demo/Hello", "-d", '{"name":"Ada"}', "--use", f"auth,bearer=t0psecret,header={name}", "-v",
        "--show-secrets",
    ).reports("t0psecret")  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("auth", ["auth", "bearer, token-url, basic"]),
        ("auth,bearer-file=token", ["auth: bearer-file", "write bearer=@FILE"]),
        ("auth,command=date", ["auth: command", "write bearer=cmd:COMMAND"]),
        ("header,set-env=x-a:B", ["header: set-env", "write set=NAME:env:VARIABLE"]),
        ("header,set-file=x-a:B", ["header: set-file", "write set=NAME:@FILE"]),
        ("header,set-command=x-a:B", ["header: set-command", "write set=NAME:cmd:COMMAND"]),
        ("auth,bearer=cmd:date | t0p", ["auth: bearer", "no shell runs the command", "cmd:sh -c"]),
        ("auth,bearer=t0p secret", ["auth: bearer"]),
        ("auth,bearer=t0p,basic=a:b", ["auth: basic", "combined with bearer"]),
        ("auth,token-url=http://192.0.2.1/,client-id=a,client-secret=t0p", ["auth: token-url", "without TLS"]),
    ],
)
def test_wrong_configuration_is_refused(demo, spec, words):
    result = demo("--plaintext", "--use", spec, "localhost:1", ECHO).exits(7, "")
    assert all(word in result.err for word in words) and "t0p" not in result.err, result.err


@pytest.mark.parametrize("index", [0, 1])
def test_the_examples_of_the_manual(grpc_server, descriptor_set, tmp_path, tokens, index):
    script = manual.examples("rpcurl-auth.7")[index]
    places = [("localhost:50051", grpc_server.address)]
    if index == 1:
        places.append(("http://localhost:8080/token", tokens.url))
    done = manual.run(script, tmp_path, descriptor_set, places)
    assert (done.returncode, done.stderr) == (0, "")
    fields = {field["name"]: field.get("value") for field in json.loads(done.stdout)["headers"]}
    assert fields["authorization"] == ["Bearer secret", "Bearer t1"][index]
