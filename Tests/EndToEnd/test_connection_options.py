"""How the server is reached: certificates, names, proxies, sockets, credentials."""

import base64
import os
import pty
import shutil
import socket
import struct
import subprocess
import threading

import pytest
import raw_http2
from harness import shown_on, write

HELLO = "demo.v1.Demo/Hello"
ECHO = "demo.v1.Demo/EchoMetadata"


@pytest.fixture
def call(demo):
    return lambda *arguments, **options: demo("-d", '{"name":"Ada"}', *arguments, **options)


def succeeds(result):
    assert (result.code, result.err) == (0, "")
    assert result.json()["message"] == "Hello, Ada!"


def echoed(rpcurl, descriptor_set, server, *options, **keywords):
    """The headers that reached a Connect server, which hides none."""
    result = rpcurl(
        "--descriptor-set", descriptor_set, "--protocol", "connect", *options, f"{server.url}/{ECHO}", **keywords
    ).succeeds()
    return {h["name"]: h.get("value", "") for h in result.json()["headers"]}


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_are_not_ascii(call, connect_server, locale):
    """libcurl resolves each name below localhost by itself."""
    for name in ("grün.localhost", "GRÜN.localhost"):
        url = f"http://{name}:{connect_server.port}/{HELLO}"
        succeeds(call("--protocol", "connect", url, env={"LC_ALL": locale}))
    url = f"http://grün.test:{connect_server.port}/{HELLO}"
    succeeds(call("--protocol", "connect", "--resolve", f"grün.test:{connect_server.port}:127.0.0.1", url))


# TLS


def test_client_certificate(call, grpc_mtls_server, certificates):
    url = f"{grpc_mtls_server.url}/{HELLO}"
    trust = ["--cacert", certificates / "ca.pem"]
    assert call(*trust, url).code in (5, 6)
    succeeds(call(*trust, "--cert", certificates / "client.pem", "--key", certificates / "client-key.pem", url))
    assert call(*trust, "-E", certificates / "other-client.pem", url).code in (5, 6)


@pytest.fixture
def encrypted_key(certificates, tmp_path):
    key = tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "pkey", "-in", certificates / "client-key.pem", "-aes256", "-passout", "pass:open sesame", "-out", key],
        check=True, capture_output=True,
    )  # fmt: skip
    return key


def test_encrypted_key(call, grpc_mtls_server, certificates, encrypted_key, tmp_path):
    url = f"{grpc_mtls_server.url}/{HELLO}"
    options = ["--cacert", certificates / "ca.pem", "--cert", certificates / "client.pem", "--key", encrypted_key]
    (tmp_path / "pass").write_text("open sesame\n")
    succeeds(call(*options, "--pass", f"@{tmp_path / 'pass'}", url))
    succeeds(call(*options, "--pass", "env:PHRASE", url, env={"PHRASE": "open sesame"}))
    call(*options, "--pass", "env:PHRASE", url, env={"PHRASE": "wrong"}).exits(6).reports(f"the passphrase of {encrypted_key} is wrong")
    other = [*options[:-1], certificates / "other-client.pem"]
    call(*other, "--pass", "env:PHRASE", url, env={"PHRASE": "wrong"}).exits(6).reports("other-client.pem cannot be used with the client certificate")
    call(*options, "--pass", "open sesame", url).exits(2).reports("hint: put it into a file (--pass @FILE)")
    # As curl has it.
    result = call("--cert", f"{certificates / 'client.pem'}:open sesame", url).exits(6)
    assert result.err == (
        f"rpcurl: --cert {certificates / 'client.pem'}:…: No such file or directory\n"
        "hint: the passphrase is given with --pass @FILE, env:NAME or cmd:COMMAND\n"
    )


def typed_at_the_prompt(rpcurl, arguments, prompt):
    """What a terminal shows of a call that succeeds once "open sesame" is typed at the prompt."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(arguments[0], arguments, rpcurl.environment(None))
    shown = b""
    while prompt not in shown:
        shown += os.read(terminal, 1000)
    os.write(terminal, b"open sesame\n")
    shown += b"".join(shown_on(terminal))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
    return shown


def test_passphrase_of_an_encrypted_key_is_prompted_for(rpcurl, demo, grpc_mtls_server, certificates, encrypted_key):
    arguments = demo.command(
        (
            "--cacert", certificates / "ca.pem", "--cert",
            certificates / "client.pem", "--key", encrypted_key, "-d", '{"name":"Ada"}', f"{grpc_mtls_server.url}/{HELLO}",
        )
    )  # fmt: skip
    shown = typed_at_the_prompt(rpcurl, arguments, b"passphrase of")
    assert b"Hello, Ada!" in shown
    assert b"open sesame" not in shown


def test_authorities_in_a_directory(call, grpc_tls_server, certificates, tmp_path):
    shutil.copy(certificates / "ca.pem", tmp_path / "ca.pem")
    subprocess.run(["openssl", "rehash", tmp_path], check=True)
    # libcurl also trusts the system's file, so only the contents of the directory make the difference.
    succeeds(call("--capath", tmp_path, f"{grpc_tls_server.url}/{HELLO}"))
    assert call("--capath", "/no/such/directory", f"{grpc_tls_server.url}/{HELLO}").code == 6


def test_server_name_and_authority(call, rpcurl, descriptor_set, grpc_tls_server, connect_tls_server, certificates):
    trust = ["--cacert", certificates / "ca.pem", "--resolve", f"elsewhere.test:{grpc_tls_server.port}:127.0.0.1"]
    elsewhere = f"https://elsewhere.test:{grpc_tls_server.port}/{HELLO}"
    assert call(*trust, elsewhere).code == 6
    succeeds(call(*trust, "--servername", "localhost", elsewhere))
    trust = ["--cacert", certificates / "ca.pem"]
    headers = echoed(rpcurl, descriptor_set, connect_tls_server, *trust, "--authority", "tenant.example")
    assert "tenant.example" in (headers.get("host"), headers.get(":authority"))


@pytest.mark.parametrize("version", ["--tlsv1.2", "--tlsv1.3"])
def test_tls_versions(call, grpc_tls_server, certificates, version):
    succeeds(call("--cacert", certificates / "ca.pem", version, f"{grpc_tls_server.url}/{HELLO}"))


def test_http3_is_refused_if_libcurl_has_none(call, rpcurl):
    if "3" in rpcurl("version").out.splitlines()[2].removeprefix("HTTP: ").split(", "):
        pytest.skip("this libcurl speaks HTTP/3")
    result = call("--http3", "https://localhost:1", HELLO)
    number = rpcurl("version").out.splitlines()[1].split()[0].removeprefix("libcurl/")
    assert result.code == 2 and f"libcurl {number} does not support HTTP/3" in result.err


# Ways


def test_unix_socket(call, start_server, tmp_path):
    path = tmp_path / "s"
    start_server("grpc_server.py", "--unix", path)
    succeeds(call(f"unix:{path}", HELLO))
    succeeds(call("--plaintext", f"unix:{path}", HELLO))
    succeeds(call("--plaintext", "--unix-socket", path, "any.test", HELLO))
    call("--plaintext", f"unix:{tmp_path / 'none'}", HELLO).exits(5).reports(f"unix:{tmp_path / 'none'}")


def test_unix_socket_with_tls(call, start_server, certificates, tmp_path):
    path = tmp_path / "s"
    start_server("grpc_server.py", "--unix", path, "--tls-dir", certificates)
    trust = ["--cacert", certificates / "ca.pem"]
    succeeds(call(*trust, f"unix:{path}", HELLO))
    succeeds(call("-k", f"unix:{path}", HELLO))
    succeeds(call(*trust, "--unix-socket", path, "https://localhost", HELLO))
    result = call(f"unix:{path}", HELLO)
    hint = f"hint: use --unix-socket {path} https://localhost"
    assert (result.code, result.err.splitlines()) == (
        5, [f"rpcurl: unix:{path}: the server requires TLS on this port", hint],
    )  # fmt: skip


def proxy(log):
    """A handler for `raw_server`: a proxy that tunnels (CONNECT), and forwards nothing else."""

    def pump(source, target):
        try:
            while piece := source.recv(1 << 16):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def handle(connection):
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1 << 16)
        method, target, _ = head.split(b"\r\n")[0].split()
        log.append((method, target))
        if method != b"CONNECT":
            connection.sendall(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")
            return
        host, port = target.decode().rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port))) as upstream:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            thread = threading.Thread(target=pump, args=(upstream, connection), daemon=True)
            thread.start()
            pump(connection, upstream)
            thread.join(60)

    return handle


def test_proxy(call, raw_server, grpc_tls_server, certificates):
    log = []
    server = raw_server(proxy(log))
    url, trust = f"{grpc_tls_server.url}/{HELLO}", ["--cacert", certificates / "ca.pem"]
    succeeds(call(*trust, "--proxy", f"http://{server.address}", url))
    succeeds(call(*trust, url, env={"https_proxy": f"http://{server.address}"}))
    assert log == [(b"CONNECT", b"localhost:%d" % grpc_tls_server.port)] * 2
    succeeds(call(*trust, url, env={"https_proxy": f"http://{server.address}", "no_proxy": "localhost"}))
    assert len(log) == 2
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert call(*trust, "--proxy", f"http://127.0.0.1:{port}", url).code == 5


def test_connect_timeout(call, raw_server):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        # The handshake never completes, because the server does not accept.
        port = listener.getsockname()[1]
        result = call("-k", "--connect-timeout", "200ms", f"https://127.0.0.1:{port}", HELLO)
    assert result.code == 5


def test_keepalive_is_accepted(call, grpc_server):
    succeeds(call("--keepalive-time", "1s", f"{grpc_server.url}/{HELLO}"))


def test_keepalive_detects_a_peer_that_reads_nothing(rpcurl, raw_server, descriptor_set):
    """It grants a window as large as HTTP/2 has, and then reads nothing: an upload would wait for ever."""
    release = threading.Event()

    def serve(connection):
        # A probe for the cause may follow, and end before it has sent anything.
        if not connection.recv(24, socket.MSG_WAITALL).startswith(b"PRI"):
            return
        control = raw_http2.Stream(connection, 0)
        control.frame(raw_http2.SETTINGS, 0, struct.pack(">HI", 4, 0x7FFF0000))
        control.frame(raw_http2.WINDOW_UPDATE, 0, struct.pack(">I", 0x7FFF0000 - 65_535))
        release.wait(120)

    server = raw_server(serve)
    arguments = ["--descriptor-set", descriptor_set, "--keepalive-time", "1s", f"http://{server.address}/demo.v1.Demo/Sum"]
    with rpcurl.start(*arguments) as process:
        feeder = threading.Thread(target=feed_values, args=(process,), daemon=True)
        feeder.start()
        code = process.wait()
        release.set()
        assert code == 5, process.stderr.read()
        feeder.join(60)


def feed_values(process):
    try:
        while True:
            os.write(process.stdin.fileno(), b'{"value":"1234567"}' * 2000)
    except OSError:
        pass


# Who calls


def test_credentials(rpcurl, descriptor_set, connect_server, tmp_path):
    def authorization(*options, **keywords):
        return echoed(rpcurl, descriptor_set, connect_server, *options, **keywords).get("authorization")

    (tmp_path / "token").write_text("abc\n")
    assert authorization("-u", "ada:secret") == "Basic YWRhOnNlY3JldA=="
    assert authorization("--bearer", "abc") == "Bearer abc"
    assert authorization("--bearer", f"@{tmp_path / 'token'}") == "Bearer abc"
    assert authorization("--bearer", "env:TOKEN", env={"TOKEN": "xyz"}) == "Bearer xyz"
    assert authorization("--bearer", "abc", "--rpc-header", "authorization: mine") == "mine"
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    assert authorization("--netrc-file", tmp_path / "netrc") == "Basic YWRhOnNlY3JldA=="
    assert echoed(rpcurl, descriptor_set, connect_server, "-A", "mine/1")["user-agent"] == "mine/1"


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
def test_longest_password_of_a_netrc_file_is_sent(rpcurl, descriptor_set, connect_server, tmp_path, protocol, libcurl_version):
    # libcurl 7.88 ignores lines of more than 4,095 bytes.
    password = "p" * (4095 if libcurl_version >= (8, 14) else 4000)
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login ada password {password}\n")
    options = ["--protocol", protocol, "--http2-prior-knowledge", "--netrc"]
    sent = echoed(rpcurl, descriptor_set, connect_server, *options, env={"HOME": str(tmp_path)})["authorization"]
    assert sent == "Basic " + base64.b64encode(f"ada:{password}".encode()).decode()


UNREADABLE_NETRC = {
    "value": (lambda host: f"machine {host} login ada password {'p' * 4096}", "a value in line 1 has more than 4095 bytes"),
    "file": (
        lambda host: "machine other login ada password p\n" * 12_000 + f"machine {host} login ada password p\n",
        "the file has more than 131070 bytes without its comments",
    ),
    "line": (lambda host: f"machine {host} login ada password p {' ' * 16_384}", "line 1 has more than 16382 bytes"),
    "quotation": (lambda host: f'machine {host} login ada\npassword "p\n', "missing closing quotation mark of the one in line 2"),
    "garbage": (lambda host: f"{host}:ada:p\n", "it contains neither machine nor default"),
}


@pytest.mark.parametrize("command", ["call", "health", "list", "load", "session"])
@pytest.mark.parametrize("problem", UNREADABLE_NETRC)
def test_unreadable_netrc_file_is_an_error(rpcurl, raw_server, descriptor_set, tmp_path, problem, command):
    """libcurl would send the request without credentials."""
    server = raw_server(lambda connection: None)
    text, why = UNREADABLE_NETRC[problem]
    file = write(tmp_path / ".netrc", text("127.0.0.1"))
    schema = ["--descriptor-set", descriptor_set] if command in ("call", "load", "session") else []
    method = [HELLO] if command in ("call", "load") else []
    for option in (["--netrc"], ["--netrc-file", file]):
        result = rpcurl(
            command, *option, *schema, f"http://{server.address}", *method, env={"HOME": str(tmp_path)},
            input=f"call {HELLO} {{}}\n" if command == "session" else None,
        )  # fmt: skip
        assert (result.code, server.connections) == (2, 0), result.err
        assert f"rpcurl: {option[0]} {file}: {why}" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-u", "a:b", "--bearer", "c"], 2, ["--user: cannot be combined with --bearer"]),
        (["--bearer", "@/no/such/token"], 2, ["/no/such/token", "No such file"]),
        (["--bearer", "a\nb"], 2, ["control character"]),
        (["--bearer", "env:NO_SUCH_TOKEN"], 2, ["--bearer env:NO_SUCH_TOKEN: the environment variable is not set"]),
        (["-U", "ada"], 2, ["-U: missing password", "write -U NAME:PASSWORD"]),
        (["--key", "/etc/passwd"], 2, ["--cert"]),
        (["--cert", "/no/such/cert"], 6, ["/no/such/cert"]),
        (["--netrc-file", "/no/such/netrc"], 2, ["/no/such/netrc"]),
    ],
)
def test_wrong_options(call, arguments, code, words):
    result = call("-k", *arguments, "https://localhost:1", HELLO).exits(code, "")
    assert all(word in result.err for word in words), result.err


@pytest.mark.parametrize(
    "target", ["https://user:s3cret@localhost:1", "localhost:99999", "localhost:", "local[host:1", "[::1", "a b:1"]
)
def test_wrong_targets(demo, target):
    assert "s3cret" not in demo(target, HELLO).exits(2, "").err


# Options that curl has


def test_connect_to(call, grpc_server, grpc_tls_server, certificates):
    succeeds(call("--connect-to", f"elsewhere.test:1:127.0.0.1:{grpc_server.port}", f"http://elsewhere.test:1/{HELLO}"))
    succeeds(call("--connect-to", f"::127.0.0.1:{grpc_server.port}", f"http://elsewhere.test:1/{HELLO}"))
    # Together with another name for TLS.
    entry = f"elsewhere.test:1:127.0.0.1:{grpc_tls_server.port}"
    url = f"https://elsewhere.test:1/{HELLO}"
    trust = ["--cacert", certificates / "ca.pem", "--connect-to", entry]
    assert call(*trust, url).code == 6
    succeeds(call(*trust, "--servername", "localhost", url))
    for wrong in ["a:1:b", "a:1:b:2:c", "[::1:1:b:2"]:
        result = call("--connect-to", wrong, url)
        assert (result.code, result.err.splitlines()[0]) == (2, f"rpcurl: --connect-to {wrong}: not of the form HOST:PORT:HOST:PORT")


def test_credentials_do_not_follow_connect_to(call, rpcurl, grpc_server):
    """A host on this machine may be replaced by one that is elsewhere."""
    use = ["--use", "auth,bearer=s3cret,hosts=localhost:1"]
    result = call(*use, "--connect-to", "localhost:1:192.0.2.1:80", f"http://localhost:1/{HELLO}")
    assert result.code == 64 + 16 and "192.0.2.1" in result.err and "s3cret" not in result.err
    succeeds(call(*use, "--connect-to", f"localhost:1:127.0.0.1:{grpc_server.port}", f"http://localhost:1/{HELLO}"))


def test_version_of_ip(call, grpc_server):
    """The server listens on 127.0.0.1 only."""
    address = f"http://localhost:{grpc_server.port}/{HELLO}"
    succeeds(call("-4", address))
    succeeds(call("-6", "--ipv4", address))
    assert call("-6", address).code == 5


@pytest.fixture
def pkcs12(certificates, tmp_path):
    """A client certificate with its key, encrypted."""
    file = tmp_path / "client.p12"
    subprocess.run(
        ["openssl", "pkcs12", "-export", "-in", certificates / "client.pem", "-inkey", certificates / "client-key.pem",
         "-passout", "pass:open sesame", "-out", file],
        check=True, capture_output=True,
    )  # fmt: skip
    return file


def test_certificate_in_pkcs12(call, grpc_mtls_server, certificates, pkcs12):
    options = ["--cacert", certificates / "ca.pem", "--cert", pkcs12, "--pass", "env:PHRASE"]
    url = f"{grpc_mtls_server.url}/{HELLO}"
    succeeds(call(*options, "--cert-type", "P12", url, env={"PHRASE": "open sesame"}))
    succeeds(call(*options, "--cert-type", "p12", url, env={"PHRASE": "open sesame"}))
    call(*options, "--cert-type", "P12", url, env={"PHRASE": "wrong"}).exits(6).reports(f"the passphrase of {pkcs12} is wrong")
    call(*options, url, env={"PHRASE": "open sesame"}).exits(6).reports("hint: a PKCS #12 file requires --cert-type P12")


def test_passphrase_of_pkcs12_is_asked_for_on_the_terminal(rpcurl, descriptor_set, grpc_mtls_server, certificates, pkcs12):
    words = [
        "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", "--cert", pkcs12, "--cert-type", "P12",
        "-d", '{"name":"Ada"}', f"{grpc_mtls_server.url}/{HELLO}",
    ]  # fmt: skip
    shown = typed_at_the_prompt(rpcurl, rpcurl.command(tuple(words)), b"passphrase of")
    assert b"Hello, Ada!" in shown and b"open sesame" not in shown
    # Without a terminal nothing is asked.
    rpcurl(*words).exits(6).reports("hint: give the passphrase with --pass @FILE")


@pytest.fixture
def abstract_socket(grpc_server):
    """A socket of the abstract namespace that leads to the server."""
    name = f"rpcurl-test-{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{name}")
    listener.listen()

    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", grpc_server.port))
            for pair in [(client, server), (server, client)]:
                threading.Thread(target=copy, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield name
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_abstract_unix_socket(call, rpcurl, abstract_socket):
    succeeds(call("--abstract-unix-socket", abstract_socket, f"http://localhost/{HELLO}"))
    succeeds(call(f"unix-abstract:{abstract_socket}", HELLO))
    result = rpcurl("check", f"unix-abstract:{abstract_socket}")
    assert f"abstract socket {abstract_socket}\n" in result.out, result.out
    result = rpcurl("check", "--abstract-unix-socket", abstract_socket, "http://localhost")
    assert f"abstract socket {abstract_socket}\n" in result.out, result.out


def test_password_is_prompted_for(rpcurl, demo, connect_server):
    arguments = demo.command(("--protocol", "connect", "-u", "ada", f"{connect_server.url}/{ECHO}"))
    shown = typed_at_the_prompt(rpcurl, arguments, b"password of ada")
    # ada:open sesame
    assert b"Basic YWRhOm9wZW4gc2VzYW1l" in shown
    assert b"open sesame" not in shown


def test_no_password_without_a_terminal(rpcurl, demo):
    command = demo.command(("-u", "ada", f"http://127.0.0.1:1/{HELLO}"))
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=rpcurl.environment(None),
        start_new_session=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rpcurl: -u: missing password, and there is no terminal for a prompt\n")
