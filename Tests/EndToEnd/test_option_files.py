"""Files that options name: their limit, pipes without a writer, and files without an end."""

import os
import re
import signal
import subprocess
import threading

import pytest
from harness import RPCURL, Process, wait_until, write

HELLO = "demo.v1.Demo/Hello"
ECHO = "demo.v1.Demo/EchoMetadata"
# An address that nothing listens on: a call that gets so far fails at once.
NOWHERE = f"http://127.0.0.1:1/{HELLO}"
LIMITED = "the limit for such a file"

# Each option with a file for a call.
OPTIONS = {
    "bearer": lambda file: ["--bearer", f"@{file}"],
    "header": lambda file: ["-H", f"@{file}"],
    "rpc-header": lambda file: ["--rpc-header", f"@{file}"],
    "variables": lambda file: ["--expand", "--var", f"@{file}"],
    "cert": lambda file: ["--cert", file],
    "cacert": lambda file: ["--cacert", file],
    "netrc-file": lambda file: ["--netrc-file", file],
    "auth": lambda file: ["--use", f"auth,bearer=@{file}"],
    "set": lambda file: ["--use", f"header,set=x:@{file}"],
    "policy": lambda file: ["--use", f"retry,policy={file}"],
    "setting": lambda file: ["--use", f"header,set=@{file}"],
    "setting of a plugin": lambda file: ["--plugin", f"none,key=@{file}"],
}
# The exit codes of errors. Those of interceptors are 7 when the chain is built, and a status during a call.
CODES = {"bearer": 2, "header": 2, "rpc-header": 2, "variables": 2, "netrc-file": 2, "cert": 6, "cacert": 6, "auth": 64 + 16, "set": 64 + 9}
# Files that may be large.
LARGE = {"mock": lambda file: ["--use", f"mock,file={file}"], "replay": lambda file: ["--use", f"replay,file={file}"]}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("kind", ["endless", "large"])
def test_a_file_over_the_limit_is_an_error(demo, tmp_path, option, kind):
    file = "/dev/zero"
    if kind == "large":
        file = tmp_path / "large"
        with file.open("wb") as sparse:
            sparse.truncate((16 << 20) + 1)
    result = demo("-d", "{}", *OPTIONS[option](file), NOWHERE).exits(CODES.get(option, 7))
    # On a busy machine it is reported first that the reading of the file has blocked the call.
    error = result.err.splitlines()[-1]
    assert error.startswith("rpcurl: ") and LIMITED in error and "16 MiB" in error


@pytest.mark.parametrize("option", LARGE)
def test_a_large_file_has_a_limit_too(demo, option):
    demo("-d", "{}", *LARGE[option]("/dev/zero"), NOWHERE, timeout=60).exits(7).reports(LIMITED, "256 MiB")


def test_endless_schema_is_an_error(rpcurl):
    rpcurl("list", "--descriptor-set", "/dev/zero", timeout=60).exits(3).reports(LIMITED, "256 MiB")


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("option", OPTIONS | LARGE)
def test_max_time_ends_the_wait_for_a_pipe_without_a_writer(demo, pipe, option):
    options = (OPTIONS | LARGE)[option](pipe)
    demo("-d", "{}", "--max-time", "0.5", *options, NOWHERE).exits(CODES.get(option, 7)).reports("no data came within --max-time")


def test_a_pipe_for_authorities_is_an_error(demo, pipe):
    """OpenSSL would wait for a writer, and take no notice of signals."""
    result = demo("-d", "{}", f"https://127.0.0.1:1/{HELLO}", env={"SSL_CERT_FILE": f"{pipe}"}).exits(6)
    assert result.err.startswith("rpcurl: ") and f"SSL_CERT_FILE={pipe}: is a pipe" in result.err


@pytest.mark.parametrize("place", ["suite", "rows", "export"])
def test_max_time_ends_the_wait_for_a_pipe_of_suites_and_sessions(rpcurl, descriptor_set, pipe, tmp_path, place):
    options = ("--descriptor-set", descriptor_set, "--max-time", "0.5")
    suite = write(tmp_path / "suite.rpcurl", f"target http://127.0.0.1:1\ntest t\nrows {pipe}\ncall Hello\n")
    if place == "export":
        result = rpcurl("session", *options, "http://127.0.0.1:1", input=f"export {pipe}\n")
        why = "the pipe got no reader within --max-time"
    else:
        result = rpcurl("test", *options, pipe if place == "suite" else suite)
        why = "no data came within --max-time"
    assert why in result.out + result.err


DATA = {
    "message": ("demo.v1.Demo/Hello", lambda file: ("-d", f"@{file}"), 4),
    "stream": ("demo.v1.Demo/Sum", lambda file: ("-d", f"@{file}"), 64 + 4),
    # Its limit is that of each call.
    "batch": ("demo.v1.Demo/Hello", lambda file: ("--each", "-d", f"@{file}"), 0),
    "chunks": ("demo.v1.Demo/Chat", lambda file: ("--set-file", f"text={file}", "--chunk", "4"), 64 + 4),
}


@pytest.mark.parametrize("data", sorted(DATA.keys() - {"batch"}))
def test_max_time_ends_the_wait_for_data_in_a_pipe(demo, grpc_server, pipe, data):
    method, options, code = DATA[data]
    demo("--max-time", "0.5", *options(pipe), f"{grpc_server.url}/{method}").exits(code)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_data_in_a_pipe(demo, grpc_server, pipe, data, number):
    method, options, _ = DATA[data]
    with demo.start(*options(pipe), f"{grpc_server.url}/{method}") as process:
        writer = wait_until(lambda: open_writer(pipe), "the pipe is open")
        process.send_signal(number)
        ended = process.wait()
        os.close(writer)
    assert ended in (-number, 128 + number)


def test_max_time_ends_the_wait_for_a_schema_in_a_pipe(rpcurl, pipe):
    rpcurl("--descriptor-set", pipe, "-d", "{}", "--max-time", "0.5", NOWHERE).exits(3).reports("no data came within --max-time")


@pytest.mark.parametrize("option", ["bearer", "auth", "set", "setting"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_for_a_pipe(demo, pipe, option, number):
    with demo.start("-d", "{}", *OPTIONS[option](pipe), NOWHERE) as process:
        # Opened without waiting, this fails until rpcurl has the pipe open.
        writer = wait_until(lambda: open_writer(pipe), "the pipe is open")
        process.send_signal(number)
        ended = process.wait()
        os.close(writer)
    assert ended in (-number, 128 + number)


def open_writer(pipe):
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


@pytest.mark.parametrize("option", ["bearer", "auth"])
def test_a_pipe_that_is_written_later_is_read_to_its_end(demo, grpc_server, pipe, option):
    def write():
        with pipe.open("wb", buffering=0) as file:
            for piece in [b"to", b"ken", b"\n"]:
                file.write(piece)

    threading.Thread(target=write, daemon=True).start()
    demo("-d", "{}", *OPTIONS[option](pipe), f"{grpc_server.url}/{ECHO}").exits(0).prints("Bearer token")


def test_a_certificate_may_be_in_a_pipe(rpcurl, demo, grpc_tls_server):
    command = demo.command(("--cacert", "/dev/stdin", "-d", '{"name":"Ada"}', f"{grpc_tls_server.url}/{HELLO}"))
    with open(grpc_tls_server.ca, "rb") as authorities:
        done = subprocess.run(
            command, input=authorities.read(), capture_output=True, env=rpcurl.environment(None), timeout=60
        )
    assert (done.returncode, done.stderr) == (0, b"")


# What rpcurl writes

SUITE = "target http://127.0.0.1:1\ntest a\nset x = 1\n"
CALL = ["-d", "{}", NOWHERE]

# Each way to name a file that is written, for a schema and a pipe.
WRITERS = {
    "output": lambda schema, pipe: [*schema, "-o", pipe, *CALL],
    "record": lambda schema, pipe: [*schema, "--use", f"record,file={pipe}", *CALL],
    "log": lambda schema, pipe: [*schema, "--use", f"log,file={pipe}", *CALL],
    "har": lambda schema, pipe: [*schema, "--use", f"log,format=har,file={pipe}", *CALL],
    "trace": lambda schema, pipe: [*schema, "--use", f"trace,file={pipe}", *CALL],
    "export": lambda schema, pipe: ["export", *schema, "-o", pipe],
    "session": lambda schema, pipe: ["run", *schema, f"record {pipe}"],
    "load": lambda schema, pipe: ["load", *schema, "--requests", "1", "--html", pipe, *CALL],
    "histogram": lambda schema, pipe: ["load", *schema, "--requests", "1", "--hdr", pipe, *CALL],
    "latencies": lambda schema, pipe: ["load", *schema, "--requests", "1", "--raw", pipe, *CALL],
    "test": lambda schema, pipe: ["test", *schema, "--report", f"junit={pipe}", "-"],
}


@pytest.mark.parametrize("writer", WRITERS)
def test_max_time_ends_the_wait_for_a_pipe_without_a_reader(rpcurl, descriptor_set, pipe, writer):
    words = WRITERS[writer](["--descriptor-set", descriptor_set], pipe)
    if writer == "session":
        words, input = words[:-1] + ["-"], words[-1]
    else:
        input = SUITE
    result = rpcurl(*words, "--max-time", "0.5", input=input)
    assert result.code != 0 and "the pipe got no reader within --max-time" in result.err, result.err


def test_max_time_ends_the_wait_for_a_configuration_in_a_pipe(rpcurl, pipe):
    pipe.chmod(0o600)
    rpcurl("--config", pipe, "--max-time", "0.5", *CALL).exits(2).reports("no data came within --max-time")


@pytest.mark.parametrize("writer", sorted(WRITERS.keys() - {"session", "test"}))
def test_a_signal_ends_the_wait_for_a_pipe_without_a_reader(rpcurl, descriptor_set, pipe, tmp_path, writer):
    words = WRITERS[writer](["--descriptor-set", descriptor_set], pipe)
    trace = tmp_path / "trace"
    traced = ["strace", "-f", "-qq", "-e", "trace=openat", "-o", trace, *rpcurl.command(words)]
    with Process(list(map(str, traced)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=rpcurl.environment(None)) as process:
        # The thread that waits, after the first attempt to open the pipe.
        attempt = wait_until(lambda: trace.exists() and re.search(r"^(\d+) .*ENXIO", trace.read_text(), re.M), "the pipe has no reader")
        os.kill(int(attempt[1]), signal.SIGTERM)
        assert process.wait() in (-signal.SIGTERM, 128 + signal.SIGTERM)



@pytest.mark.parametrize(
    "number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGKILL]
)
def test_a_signal_leaves_no_temporary_file_beside_the_output(
    rpcurl, descriptor_set, tmp_path, silent_server, number, default_signals
):
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / "reply.json").write_text("before")
    arguments = ["--descriptor-set", descriptor_set, "-d", "{}", "-o", directory / "reply.json"]
    url, connected = silent_server
    # Where Swift prints backtraces, SIGQUIT does not end a process.
    with rpcurl.start(*arguments, url, env={"SWIFT_BACKTRACE": "enable=no"}) as process:
        try:
            assert connected.wait(60)
            process.send_signal(number)
            process.wait()
        finally:
            process.kill()
    assert [file.name for file in directory.iterdir()] == ["reply.json"]
    assert (directory / "reply.json").read_text() == "before"


@pytest.fixture
def default_signals():
    """Jobs in the background of a shell ignore SIGQUIT, and so do their children."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGQUIT, before)


@pytest.fixture
def silent_server(raw_server):
    """A silent server: its URL, and an event that is set when a client has connected."""
    connected = threading.Event()

    def serve(connection):
        connected.set()
        while connection.recv(1 << 16):
            pass

    return f"http://{raw_server(serve).address}/{HELLO}", connected


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_output_file_has_the_mode_of_a_new_file(rpcurl, demo, grpc_server, tmp_path, umask):
    file = tmp_path / "reply.json"
    command = demo.command(("-d", '{"name":"Ada"}', "-o", file, f"{grpc_server.url}/{HELLO}"))
    subprocess.run(command, env=rpcurl.environment(None), umask=umask, check=True, timeout=60)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask
    file.chmod(0o640)
    subprocess.run(command, env=rpcurl.environment(None), umask=umask, check=True, timeout=60)
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["reply.json"]


@pytest.mark.parametrize(
    "spec", ["log,file={}", "log,file={},append=true", "log,format=har,file={}", "record,file={}"]
)
def test_an_existing_log_becomes_private(demo, grpc_server, tmp_path, spec):
    file = write(tmp_path / "file", "")
    file.chmod(0o644)
    use = ["--use", spec.format(file)]
    demo("-d", '{"name":"Ada"}', *use, f"{grpc_server.url}/{HELLO}").exits(0)
    assert file.stat().st_size > 0 and file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_reports_of_suites_follow_the_umask(rpcurl, tmp_path, umask):
    suite = write(tmp_path / "a.rpcurl", "test a\nset x = 1\n")
    names = ["junit", "html", "ndjson"]
    words = [f"--report={name}={tmp_path / name}" for name in names]
    subprocess.run([RPCURL, "test", *words, suite], env=rpcurl.environment(None), umask=umask, check=True, timeout=60)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in names] == [0o666 & ~umask] * 3


def test_a_report_keeps_the_mode_of_the_file(rpcurl, descriptor_set, grpc_server, tmp_path):
    """Another program reads it, maybe as another user; it holds no messages but those of failed assertions."""
    file = tmp_path / "report.xml"
    call = ["--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', "--use", f"assert,check=status ok,junit={file}"]
    for mode in (0o600, 0o640):
        assert rpcurl(*call, f"{grpc_server.url}/{HELLO}").code == 0
        assert file.stat().st_mode & 0o777 == mode
        file.chmod(0o640)


# Files of variables


def test_variables_of_a_file(rpcurl, grpc_server, grpc_call, descriptor_set, tmp_path):
    file = write(tmp_path / "variables", f"# of the tests\n\nserver={grpc_server.url}\nuser=Ada L\nids=[1,2]\nuser2=\"42\"\n")
    text = 'call Hello {"name":"${user} ${ids[1]}"}\nexpect .name == Ada L 2\ncall Hello {"name":$user2}\nexpect .name == 42\n'
    script = write(tmp_path / "script", f"target $server\n{text}")
    suite = write(tmp_path / "a.rpcurl", f"target ${{server}}\ntest one\n{text}")
    for command, path in (("run", script), ("test", suite)):
        rpcurl(command, "--descriptor-set", descriptor_set, "--var", f"@{file}", path).exits(0, err="")
        other = rpcurl(command, "--descriptor-set", descriptor_set, "--var", f"@{file}", "--var", "user=Eve", path).exits(8)
        assert "Eve 2" in other.out + other.err
    grpc_call("Hello", "--expand", "--var", "user=x", "--var", f"@{file}", "-d", '{"name":"${user}"}').exits(0).prints('"name":"Ada L"')
    rpcurl("session", "--descriptor-set", descriptor_set, "--var", f"@{file}", input="print $ids\n").exits(0).prints("[1,2]")


def test_options_of_a_session_set_the_variables_of_a_file(rpcurl, tmp_path):
    write(tmp_path / "variables", "user=Ada\n")
    script = write(tmp_path / "script", f"options --var @{tmp_path}/variables\nprint $user\n")
    rpcurl("run", script).exits(0, '"Ada"\n')
    write(script, f"options --var @{tmp_path}/variables\nprint $usr\n")
    rpcurl("run", script).exits(4, "").reports("usr: no such variable")


def test_secret_variable_of_a_file_is_not_reported(rpcurl, grpc_server, descriptor_set, tmp_path):
    file = write(tmp_path / "variables", "api_token=swordfish\nuser=plain-value\n")
    text = f'target {grpc_server.url}\ntest one\ncall Hello {{"name":"${{api_token}} ${{user}}"}}\nexpect .name == Eve\n'
    result = rpcurl("test", "--descriptor-set", descriptor_set, "--var", f"@{file}", write(tmp_path / "a.rpcurl", text)).exits(8)
    assert "swordfish" not in result.out and "plain-value" in result.out


@pytest.mark.parametrize(("line", "why"), [("user", "not NAME=VALUE"), ("id=cmd:id", "contains values"), ("last=1", "has this name")])
def test_invalid_line_of_a_file_of_variables(grpc_call, tmp_path, line, why):
    file = write(tmp_path / "variables", f"ok=1\n{line}\n")
    grpc_call("Hello", "--expand", "--var", f"@{file}", "-d", "{}").fails(2, f"{file}, line 2", why)
