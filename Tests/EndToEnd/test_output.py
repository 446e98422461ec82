"""What a call prints, and where: --filter, -o, --color, --timing."""

import json
import os
import pty
import re
import subprocess

import pytest
from harness import Process, shown_on, write

SERVICE = "demo.v1.Demo"
ALL = {
    "stringValue": 'a "b"\n', "int64Value": "-5", "boolValue": True, "bytesValue": "/wA=", "color": "COLOR_RED",
    "nested": {"label": "x", "child": {"number": 3}}, "strings": ["one", "two words"], "int32s": [1, 2],
    "nesteds": [{"label": "p"}, {}], "stringToInt32": {"k": 7},
}  # fmt: skip


@pytest.fixture
def echo(rpcurl, grpc_server, descriptor_set):
    """Echoes a message with some options."""

    def echo(*options, data=ALL, method="Echo", **more):
        words = ["--descriptor-set", descriptor_set, *options, "-d", json.dumps(data)]
        return rpcurl(*words, f"{grpc_server.url}/{SERVICE}/{method}", **more)

    return echo


def on_terminal(rpcurl, *words, env=None, errors=False):
    """The exit code and what the terminal gets when standard output, or standard error, is one."""
    reading, writing = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": writing} if errors else {"stdout": writing, "stderr": subprocess.PIPE}
    with Process(rpcurl.command(words), stdin=subprocess.DEVNULL, **streams, env=rpcurl.environment(env)) as process:
        os.close(writing)
        shown = b"".join(shown_on(reading))
        process.communicate()
    os.close(reading)
    return process.returncode, shown.decode().replace("\r\n", "\n")


# Rows


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (["--filter", "int64Value", "--filter", ".strings"], '-5\t["one","two words"]\n'),
        (["--filter", "stringValue", "--filter", "nesteds[].label"], 'a "b"\\n\t["p",""]\n'),
        (["--filter", "stringValue", "--filter", "color", "--format", "csv"], 'stringValue,color\n"a ""b""\n",COLOR_RED\n'),
        (["--filter", ".color", "--format", "tsv"], "color\nCOLOR_RED\n"),
        (["--filter", "color", "--filter", "timestamp", "--filter-missing", "null"], "COLOR_RED\t\n"),
        (["--filter", "color", "--filter", "timestamp", "--filter-missing", "skip", "--format", "csv"], "color,timestamp\n"),
    ],
)
def test_several_fields_are_a_row(echo, options, out):
    echo(*options).exits(0, out)


def test_names_of_columns_are_printed_once(rpcurl, grpc_server, descriptor_set):
    words = ["--descriptor-set", descriptor_set, "--format", "csv", "--filter", "number", f"{grpc_server.url}/{SERVICE}/Count"]
    rpcurl(*words, "-d", '{"from":1,"to":3}').exits(0, "number\n1\n2\n3\n")
    rpcurl(*words, "-d", '{"from":1}').exits(0, "number\n")
    rpcurl(*words, "--each", "--jobs", 2, "-d", '{"from":1,"to":2}' * 2).exits(0, "number\n1\n2\n1\n2\n")


def test_filters_of_the_command_line_replace_those_of_the_configuration(echo, tmp_path):
    config = write(tmp_path / "config", "--filter color\n--filter boolValue\n")
    echo("--config", config).exits(0, "COLOR_RED\ttrue\n")
    echo("--config", config, "--filter", "int64Value").exits(0, "-5\n")


@pytest.mark.parametrize(("form", "text"), [("hex", "ff00"), ("text", "\ufffd\0"), ("escape", "\\377\\000"), ("base64", "/wA=")])
def test_forms_of_bytes(echo, form, text):
    assert json.loads(echo("--bytes", form).out)["bytesValue"] == text
    echo("--bytes", form, "--filter", "bytesValue").exits(0, text + "\n")


# --filter


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("stringValue", 'a "b"\n\n'),
        ("string_value", 'a "b"\n\n'),
        ("int64_value", "-5\n"),
        ("boolValue", "true\n"),
        ("bytesValue", "/wA=\n"),
        ("color", "COLOR_RED\n"),
        ("nested", '{"label":"x","child":{"number":3}}\n'),
        ("nested.child.number", "3\n"),
        ("nested.number", "0\n"),
        ("strings", "one\ntwo words\n"),
        ("strings[1]", "two words\n"),
        ("int32s", "1\n2\n"),
        ("nesteds", '{"label":"p"}\n{}\n'),
        ("stringToInt32", '{"k":7}\n'),
        ('stringToInt32["k"]', "7\n"),
        ("doubles", ""),
        ("int32Value", "0\n"),
    ],
)
@pytest.mark.parametrize("format", ["json", "pretty"])
def test_filter_prints_one_field_raw(echo, path, out, format):
    result = echo("--filter", path, "--format", format)
    assert (result.code, result.err, result.out) == (0, "", out)


def test_filter_of_a_stream_and_of_a_batch(echo):
    echo("--filter", "number", data={"from": 1, "to": 3}, method="Count").exits(0, "1\n2\n3\n")
    echo("--each", "--filter", "name", "-d", '{"name":"B"}', data={"name": "A"}, method="Hello").exits(0, "B\nA\n")


@pytest.mark.parametrize("path", ["optionalString", "self.stringValue", 'stringToInt32["other"]', "strings[9]"])
def test_a_response_without_the_field(echo, path):
    result = echo("--filter", path).exits(8, "")
    hint = "hint: --filter-missing skip, or null, accepts such messages\n"
    assert result.err == f"rpcurl: --filter {path}: response message 0 has no such field\n{hint}"


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("stringvalue", 3, "demo.v1.AllTypes has no field stringvalue\nhint: did you mean string"),
        ("strings.x", 2, "--filter strings.x: "),
        ("nesteds.label", 2, "hint: nesteds[0] is an element, and nesteds[] means all elements"),
        ("a[", 2, "hint: use a path such as user.addresses[0].city"),
    ],
)
def test_a_wrong_path_is_reported_before_the_call(demo, raw_server, path, code, said):
    server = raw_server(lambda connection: None)
    demo("--filter", path, f"http://{server.address}/{SERVICE}/Echo").exits(code, "").reports(said)
    assert server.connections == 0


def test_filter_needs_a_format_with_fields(echo):
    echo("--filter", "color", "--format", "events").exits(2, err="rpcurl: --filter: cannot be combined with --format events\n")


def test_a_failed_call_prints_its_own_error(echo):
    echo("--filter", "xyz", data={"code": 5}, method="Fail").exits(3)
    echo("--filter", "number", data={"code": 5}, method="FailStream").exits(69)


def test_a_filtered_string_cannot_control_a_terminal(rpcurl, grpc_server, descriptor_set):
    words = ("--descriptor-set", descriptor_set, "--filter", "stringValue", "-d", '{"stringValue":"\\u001b[31m"}', f"{grpc_server.url}/{SERVICE}/Echo")
    assert on_terminal(rpcurl, *words) == (0, "\\u{1B}[31m\n")
    assert rpcurl(*words).out == "\x1b[31m\n"


# -o


def test_output_goes_to_the_file(echo, tmp_path):
    file = tmp_path / "reply.json"
    echo("-o", file, data={"name": "Ada"}, method="Hello").exits(0, "", "")
    assert file.read_text() == '{"message":"Hello, Ada!","name":"Ada"}\n'
    assert [f.name for f in tmp_path.iterdir()] == ["reply.json"]
    assert echo("-o", "-", data={"name": "Ada"}, method="Hello").out == file.read_text()


def test_the_file_of_the_input_is_replaced(rpcurl, grpc_server, descriptor_set, tmp_path):
    """After it was read."""
    file = write(tmp_path / "data.json", '{"name":"Ada"}')
    words = ["--descriptor-set", descriptor_set, "-d", "@-", "-o", file, f"{grpc_server.url}/{SERVICE}/Hello"]
    with open(file) as data:
        done = subprocess.run(rpcurl.command(words), stdin=data, capture_output=True, env=rpcurl.environment(None), timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads((tmp_path / "data.json").read_text()) == {"message": "Hello, Ada!", "name": "Ada"}


@pytest.mark.parametrize("input", ["@-", "@{}"])
@pytest.mark.parametrize("options", [["--each"], []])
def test_the_file_of_an_input_that_is_read_during_the_calls_is_kept(rpcurl, grpc_server, descriptor_set, tmp_path, input, options):
    content = '{"name":"Ada"}\n{"name":"Bob"}\n' if options else '{"text":"a"}\n'
    file = write(tmp_path / "data.json", content)
    (tmp_path / "link").symlink_to(file)
    method = "Hello" if options else "Chat"
    words = ["--descriptor-set", descriptor_set, "-d", input.format(file), *options, "-o", tmp_path / "link", f"{grpc_server.url}/{SERVICE}/{method}"]
    with open(file) as data:
        done = subprocess.run(rpcurl.command(words), stdin=data, capture_output=True, text=True, env=rpcurl.environment(None), timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"rpcurl: -o {tmp_path}/link: the data of the requests is read from this file while it is written\nhint: ")
    assert (tmp_path / "data.json").read_text() == content


def test_a_failed_call_leaves_the_file_as_it_was(echo, tmp_path):
    file = write(tmp_path / "reply.json", "before")
    file.chmod(0o640)
    assert echo("-o", file, data={"code": 5}, method="Fail").code == 69
    assert file.read_text() == "before"
    new = tmp_path / "new"
    assert echo("-o", new, data={"code": 5}, method="Fail").code == 69
    assert not new.exists()
    assert echo("-o", file, data={"name": "A"}, method="Hello").code == 0
    assert file.stat().st_mode & 0o777 == 0o640
    assert [f.name for f in tmp_path.iterdir()] == ["reply.json"]


def test_a_symbolic_link_is_kept(echo, tmp_path):
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    assert echo("-o", tmp_path / "link", "--format", "text", data={"name": "A"}, method="Hello").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == 'message: "Hello, A!"\nname: "A"\n'


@pytest.mark.parametrize("method", ["Hello", "Count"])
def test_a_dangling_symbolic_link_is_kept(echo, tmp_path, method):
    (tmp_path / "inner").mkdir()
    (tmp_path / "link").symlink_to("inner/link")
    (tmp_path / "inner" / "link").symlink_to("real")
    data = {"from": 1, "to": 1} if method == "Count" else {"name": "A"}
    assert echo("-o", tmp_path / "link", data=data, method=method).code == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "inner" / "link").is_symlink()
    assert json.loads((tmp_path / "inner" / "real").read_text())


def test_a_long_file_name(echo, tmp_path):
    assert echo("-o", tmp_path / ("x" * 255), data={"name": "A"}, method="Hello").code == 0
    assert json.loads((tmp_path / ("x" * 255)).read_text())["name"] == "A"
    echo("-o", tmp_path / ("x" * 256), data={"name": "A"}, method="Hello").exits(1, err=f"rpcurl: -o {tmp_path}/{'x' * 256}: File name too long\n")


def test_streams_and_events_are_written_as_they_arrive(echo, tmp_path):
    file = tmp_path / "out"
    assert echo("-o", file, data={"code": 5, "afterMessages": 2}, method="FailStream").code == 69
    assert file.read_text() == '{"number":1}\n{"number":2}\n'
    assert echo("-o", file, "--format", "events", data={"code": 5}, method="Fail").code == 69
    events = [json.loads(line)["event"] for line in file.read_text().splitlines()]
    assert events == ["start", "sent", "headers", "end", "metrics"]


@pytest.mark.parametrize("method", ["Hello", "Count"])
def test_unwritable_file(echo, tmp_path, method):
    echo("-o", tmp_path / "none" / "file", data={}, method=method).exits(1, err=f"rpcurl: -o {tmp_path}/none/file: No such file or directory\n")
    data = {"from": 1, "to": 3} if method == "Count" else {"name": "A"}
    echo("-o", "/dev/full", data=data, method=method).exits(1, err="rpcurl: /dev/full: No space left on device\n")


def test_full_standard_output(rpcurl, grpc_server, descriptor_set):
    words = ("--descriptor-set", descriptor_set, f"{grpc_server.url}/{SERVICE}/Echo")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(rpcurl.command(words), stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, env=rpcurl.environment(None), timeout=60)
    assert (done.returncode, done.stderr) == (1, b"rpcurl: standard output: No space left on device\n")


def test_a_pipe_is_written_not_replaced(echo, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Process(["cat", pipe], stdout=subprocess.PIPE) as reader:
        try:
            assert echo("-o", pipe, data={"name": "A"}, method="Hello").code == 0
            assert json.loads(reader.communicate(timeout=60)[0])["name"] == "A"
        finally:
            reader.kill()


# --color

COLORED = '{\n  \x1b[1m"message"\x1b[0m: \x1b[35m"Hello, A\\"!"\x1b[0m,\n  \x1b[1m"name"\x1b[0m: \x1b[35m"A\\""\x1b[0m\n}\n'


def plain(text):
    return re.sub(r"\x1b\[\d+m", "", text)


def test_color_always(echo):
    echo("--color", "always", "--format", "pretty", data={"name": 'A"'}, method="Hello").exits(0, COLORED)
    chosen = echo("--color", "always", data={"name": "A"}, method="Hello", env={"RPCURL_COLORS": "::::32:::34"}).out
    assert chosen == '{\x1b[34m"message"\x1b[0m:\x1b[32m"Hello, A!"\x1b[0m,\x1b[34m"name"\x1b[0m:\x1b[32m"A"\x1b[0m}\n'
    line = echo("--color", "always", data=ALL).out
    assert plain(line) == echo(data=ALL).out != line
    for words in (["--format", "text"], ["--format", "events"], ["--filter", "name"]):
        assert "\x1b" not in echo("--color", "always", *words, data={"name": "A"}, method="Hello").out
    assert "\x1b" not in echo("--format", "pretty", data={"name": "A"}, method="Hello").out


@pytest.mark.parametrize(
    ("options", "env", "colored"),
    [
        ([], {"NO_COLOR": "", "TERM": "xterm"}, True),
        ([], {"NO_COLOR": "1", "TERM": "xterm"}, False),
        ([], {"NO_COLOR": "", "TERM": "dumb"}, False),
        ([], {"NO_COLOR": ""}, False),
        (["--color", "never"], {"NO_COLOR": "", "TERM": "xterm"}, False),
        (["--color", "always"], {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_color_on_a_terminal(rpcurl, grpc_server, descriptor_set, options, env, colored):
    words = ["--descriptor-set", descriptor_set, *options, "-d", '{"name":"A\\""}', f"{grpc_server.url}/{SERVICE}/Hello"]
    assert on_terminal(rpcurl, *words, env=env) == (0, COLORED if colored else plain(COLORED))


def test_errors_headers_and_declarations_on_a_terminal(rpcurl, grpc_server, descriptor_set):
    env = {"NO_COLOR": "", "TERM": "xterm"}
    schema = ["--descriptor-set", descriptor_set]
    code, text = on_terminal(rpcurl, *schema, "-d", '{"nam":"A"}', f"{grpc_server.url}/{SERVICE}/Hello", env=env, errors=True)
    assert code == 4 and text.startswith("\x1b[1;31mrpcurl:\x1b[0m \x1b[1m-d:\x1b[0m ")
    assert "\x1b[2mhint: did you mean name?\x1b[0m\n" in text
    _, text = on_terminal(rpcurl, "-v", *schema, f"{grpc_server.url}/{SERVICE}/Hello", env=env, errors=True)
    assert "> \x1b[1mcontent-type:\x1b[0m application/grpc" in text
    code, text = on_terminal(rpcurl, "describe", *schema, "HelloRequest", env=env)
    assert code == 0 and "\x1b[2m// " in text and "message \x1b[1mHelloRequest\x1b[0m {\n" in text
    assert "\n  string \x1b[1mname\x1b[0m = 1;" in text
    code, text = on_terminal(rpcurl, "template", *schema, "HelloRequest", env=env)
    assert code == 0 and '\x1b[1m"name"\x1b[0m: \x1b[35m""\x1b[0m' in text
    assert "\x1b" not in on_terminal(rpcurl, "describe", *schema, "HelloRequest", env={"NO_COLOR": "1", "TERM": "xterm"})[1]
    assert rpcurl("describe", "--color", "always", "--descriptor-set", descriptor_set, "x").err.startswith("\x1b[1;31mrpcurl:")


# --timing


def test_timing_is_printed_on_standard_error(echo, rpcurl, grpc_tls_server, descriptor_set, certificates):
    result = echo("--timing", data={"name": "A"}, method="Hello")
    assert result.json()["name"] == "A"
    number = r"\d+\.\d ms"
    assert re.fullmatch(rf"timing: resolve {number}, connect {number}, first byte {number}, total {number}\n", result.err)
    url = f"{grpc_tls_server.url}/{SERVICE}/Hello"
    result = rpcurl("--timing", "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", "-d", '{"name":"A"}', url)
    order = rf"timing: resolve {number}, connect {number}, TLS {number}, first byte {number}, total {number}\n"
    assert re.fullmatch(order, result.err)
    times = [float(n) for n in re.findall(r"(\d+\.\d) ms", result.err)]
    assert times == sorted(times)


def test_timing_of_events_and_batches(echo):
    metrics = json.loads(echo("--format", "events", data={"name": "A"}, method="Hello").out.splitlines()[-1])
    assert 0 < metrics["resolve_ms"] <= metrics["connect_ms"] <= metrics["first_byte_ms"] <= metrics["total_ms"]
    *calls, summary = echo("--each", "--timing", "-d", '{"name":"B"}', data={"name": "A"}, method="Hello").err.splitlines()
    assert [line.split(":")[:2] for line in calls] == [["call 1", " timing"], ["call 2", " timing"]]
    assert summary.startswith("timing of 2 calls: least ")
    # The second used the first one's connection.
    assert "connect" not in calls[1]


def test_timing_of_a_call_without_a_connection(rpcurl, descriptor_set):
    result = rpcurl("--timing", "--descriptor-set", descriptor_set, f"http://127.0.0.1:1/{SERVICE}/Hello").exits(5)
    assert re.fullmatch(r"timing: total \d+\.\d ms", result.err.splitlines()[-1])
