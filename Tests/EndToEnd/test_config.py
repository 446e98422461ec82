"""The configuration file: options of every call, and of profiles."""

import json
import os
import subprocess

import pytest

from harness import RPCURL, Process, write

SERVICE = "demo.v1.Demo"
HELLO = f"{SERVICE}/Hello"


@pytest.fixture
def config(rpcurl):
    """`config(text)` writes the file where rpcurl looks for it."""
    file = rpcurl.home / ".config" / "rpcurl" / "config"
    file.parent.mkdir(parents=True)

    def write(text):
        file.write_text(text)
        file.chmod(0o600)
        return file

    return write


EXPLAIN = ["--explain", "--format", "json"]


def test_a_profile_has_all_options_of_a_call(rpcurl, config, grpc_server, descriptor_set):
    config(f"""
        # for every call
        --max-time 10
        -H x-all: 1
        [profile demo]
        target {grpc_server.url}
        --descriptor-set {descriptor_set}
        --header x-who: the profile
        --use header,set=x-from:it
        """)
    result = rpcurl("--profile", "demo", f"{SERVICE}/EchoMetadata").succeeds()
    headers = {h["name"]: h.get("value") for h in result.json()["headers"]}
    assert (headers["x-all"], headers["x-who"], headers["x-from"]) == ("1", "the profile", "it")
    assert "timeoutMs" in result.json()
    without = rpcurl(*EXPLAIN, "http://host", HELLO).succeeds().json()
    assert (without["headers"], without["timeout_ms"]) == ([["x-all", "1"]], 10000)


def test_places_of_the_file(rpcurl, config, tmp_path):
    config("--max-time 1")
    (tmp_path / "rpcurl").mkdir()
    (tmp_path / "rpcurl" / "config").write_text("--max-time 2")
    (tmp_path / "own").write_text("--max-time 3\n")
    words = [*EXPLAIN, "http://host", HELLO]
    assert rpcurl(*words).succeeds().json()["timeout_ms"] == 1000
    assert rpcurl(*words, env={"XDG_CONFIG_HOME": str(tmp_path)}).succeeds().json()["timeout_ms"] == 2000
    assert rpcurl("--config", tmp_path / "own", *words).succeeds().json()["timeout_ms"] == 3000
    assert rpcurl("call", f"--config={tmp_path}/own", *words).succeeds().json()["timeout_ms"] == 3000


def test_the_command_line_takes_precedence(rpcurl, config, grpc_server, descriptor_set, tmp_path):
    (tmp_path / "other").write_bytes(descriptor_set.read_bytes())
    config(f"""
        target http://unused
        --max-time 10
        --protocol connect
        --http2
        --no-reflect
        --bearer fromfile
        -H X-Tenant: file
        -H x-other: file
        --descriptor-set {tmp_path / "other"}
        """)
    words = [
        "--max-time", "5", "--protocol", "grpc-web", "--http1.1", "--reflect", "-u", "a:b", "-H", "x-tenant: typed",
        "--descriptor-set", descriptor_set,
    ]  # fmt: skip
    typed = rpcurl(*EXPLAIN, *words, "--show-secrets", f"{grpc_server.url}/{HELLO}").succeeds().json()
    assert (typed["timeout_ms"], typed["protocol"], typed["http_version"]) == (5000, "grpc-web", "1.1")
    assert typed["headers"] == [["x-other", "file"], ["x-tenant", "typed"], ["authorization", "Basic YTpi"]]
    assert typed["target"] == grpc_server.url
    assert typed["schema"].startswith(f"descriptor set {descriptor_set}, ")


@pytest.mark.parametrize("words", [["-H", "X-A: typed"], ["--header=x-a: typed"], ["--rpc-header", "x-a:typed"]])
def test_a_header_of_the_command_line_takes_precedence(rpcurl, config, words):
    config("-H x-a: file\n--header=x-b: file")
    headers = rpcurl(*EXPLAIN, *words, "http://host", HELLO).succeeds().json()["headers"]
    assert sorted(headers) == [["x-a", "typed"], ["x-b", "file"]]


def test_a_profile_takes_precedence_over_general_lines(rpcurl, config):
    config("""
        target http://first
        --max-time 10
        -H x-a: common
        -H x-b: common
        -u a:b
        [profile p]
        target http://second
        --max-time 5
        -H X-A: own
        --bearer own
        """)
    chosen = rpcurl(*EXPLAIN, "--show-secrets", "--profile", "p", HELLO).succeeds().json()
    assert (chosen["target"], chosen["timeout_ms"]) == ("http://second", 5000)
    assert chosen["headers"] == [["x-b", "common"], ["x-a", "own"], ["authorization", "Bearer own"]]
    assert rpcurl(*EXPLAIN, HELLO).succeeds().json()["headers"][:2] == [["x-a", "common"], ["x-b", "common"]]


def test_a_schema_of_the_command_line_is_searched_first(rpcurl, config, tmp_path):
    for name, field in (("typed", "mine"), ("file", "theirs")):
        (tmp_path / f"{name}.proto").write_text(
            f'syntax = "proto3"; package {name}; message M {{ string {field} = 1; }}'
            f" service S {{ rpc Do(M) returns (M); }}"
        )
    config(f"-I {tmp_path}\n--proto file.proto\n--proto typed.proto")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "typed.proto").write_text(
        'syntax = "proto3"; package typed; message M { string other = 1; }'
        " service S { rpc Do(M) returns (stream M); }"
    )
    chosen = rpcurl(*EXPLAIN, "http://host", "typed.S/Do").succeeds().json()
    assert chosen["kind"] == "unary"
    chosen = rpcurl(*EXPLAIN, "-I", tmp_path / "other", "http://host", "typed.S/Do").succeeds().json()
    assert chosen["kind"] == "server_streaming"


def test_interceptors_keep_their_order(rpcurl, config):
    config("--use header,set=a:b,priority=0\n--use header,set=c:d")
    chain = rpcurl(*EXPLAIN, "--use", "header,set=e:f,priority=1", "http://host", HELLO).succeeds().json()["interceptors"]
    assert [i["priority"] for i in chain] == [1, 0, 0]


@pytest.mark.parametrize("word", [HELLO, "demo.v1.Demo.Hello"])
def test_a_method_alone_goes_to_the_target_of_the_file(rpcurl, config, word):
    config("target https://demo.example/prefix")
    assert rpcurl(*EXPLAIN, word).succeeds().json()["url"] == "https://demo.example/prefix/demo.v1.Demo/Hello"
    assert rpcurl(word, *EXPLAIN).succeeds().json()["url"] == "https://demo.example/prefix/demo.v1.Demo/Hello"
    assert rpcurl(*EXPLAIN, "http://other", word).succeeds().json()["target"] == "http://other"


def test_flags_for_json_in_the_file_do_not_prevent_text(rpcurl, config, grpc_server, descriptor_set):
    config("--emit-defaults\n--proto-names")
    words = ("--descriptor-set", descriptor_set, "--format", "text", f"{grpc_server.url}/demo.v1.Demo/Hello")
    rpcurl(*words, "-d", '{"name":"Ada"}').succeeds().prints('name: "Ada"')


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("\n--no-such-option 1", 2, "--no-such-option: unknown option"),
        ("--max-time soon", 1, "--max-time soon: not a valid duration"),
        ("--max-time 5 --bearer s3cr3t", 1, "--max-time 5 …: another option follows\nhint: write each option on a line"),
        ("--cacert ca.pem -H 'authorization: s3cr3t'", 1, "--cacert ca.pem …: another option follows"),
        ("--resolve a:1:b -u ada:s3cr3t", 1, "--resolve a:1:b …: another option follows"),
        ("target http://h --bearer=s3cr3t", 1, "target http://h …: another option follows"),
        ("--verbose yes", 1, "--verbose: expected true or false"),
        ("max-time 1", 1, "neither an option nor target"),
        ("[staging]", 1, "not a section"),
        ("[profile ]", 1, "missing profile name"),
        ("[profile a]\n[profile a]", 2, "duplicate profile a"),
        ("--profile x", 1, "--profile: only for the command line"),
        ("target", 1, "target needs a URL or HOST:PORT"),
        ("\x1b[31m", 1, "neither an option nor target"),
        ("--\x1b]0;x\x07", 1, "--: unknown option"),
        ("-uada:s3cr3t", 1, "-u …: missing blank after the name\nhint: write -u "),
        ("-Hauthorization:Bearer_s3cr3t", 1, "-H …: missing blank after the name"),
        ("-bearer=s3cr3t", 1, "-bearer: unknown option\nhint: did you mean --bearer?"),
        ("--bearer:s3cr3t", 1, "--bearer …: missing blank after the name"),
    ],
)
def test_an_error_names_file_and_line(rpcurl, config, text, line, why):
    file = config(text)
    result = rpcurl("http://host", HELLO).exits(2)
    assert result.err.startswith(f"rpcurl: {file}, line {line}: {why}")
    assert "\x1b" not in result.err and "s3cr3t" not in result.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-d @nofile", "nofile: No such file or directory"),
        ("--proto nofile.proto", "nofile.proto: "),
        ("--proxy bad://x", "--proxy: unknown scheme of the URL"),
        ("--limit 0", "--limit: must be at least 1"),
        ("--jobs 2", "--jobs: there is only one call"),
        ("--jobs 0\n--each", "--jobs 0: not a number from 1 to 1000"),
        ("--filter nope", "--filter nope: demo.v1.HelloReply has no field nope"),
        ("--filter a[", "--filter a[: "),
        ("--key nofile", "--key: no certificate"),
        ("-o /nodir/x", "-o /nodir/x: No such file or directory"),
        ("--bearer a\x01b", "authorization: the value contains a control character"),
        ("--user-agent a\x01b", "user-agent: the value contains a control character"),
        ("--authority a\x01b", "--authority: the value of host is not a host with an optional port"),
    ],
)
def test_an_error_of_the_use_of_a_line_names_file_and_line(rpcurl, tmp_path, descriptor_set, text, why):
    (tmp_path / "own").write_text(text)
    result = rpcurl("--config", tmp_path / "own", "--descriptor-set", descriptor_set, "http://host", HELLO)
    assert result.err.startswith(f"rpcurl: {tmp_path}/own, line 1: {why}")
    assert (result.out, result.code != 0) == ("", True)


def test_missing_file_or_profile(rpcurl, config, tmp_path):
    rpcurl("--config", tmp_path / "none", "http://host", HELLO).exits(2, err=f"rpcurl: {tmp_path}/none: No such file or directory\n")
    file = config("[profile a]\n[profile b]")
    rpcurl("--profile", "c", "http://host", HELLO).exits(2, err=f"rpcurl: --profile c: {file} has no such profile\nhint: profiles: a, b\n")
    assert rpcurl("http://host", HELLO, "--profile").err == 'rpcurl: --profile: missing value\nhint: see "rpcurl call --help"\n'


# Trust

NOT_USED = "so the configuration is not used"


@pytest.mark.parametrize(
    "option",
    ["--plugin /tmp/x.so", "--use log", "-o FILE", "target http://h", "--proxy http://h", "-k", "-d @FILE", "# nothing"],
)
@pytest.mark.parametrize("mode", [0o622, 0o620, 0o602])
def test_a_file_that_others_can_write_is_refused(rpcurl, config, option, mode):
    file = config(f"--max-time 1\n[profile x]\n{option}")
    file.chmod(mode)
    result = rpcurl(*EXPLAIN, "http://host", HELLO).exits(2, "")
    why = f"others can write the file {file}, {NOT_USED}"
    assert result.err == f"rpcurl: {file}: {why}\nhint: chmod go-w {file}\n"
    for words in [["list"], ["session"], ["--config", file, *EXPLAIN, "http://host", HELLO]]:
        assert (result := rpcurl(*words)).code == 2 and why in result.err, words
    file.chmod(0o644)
    file.write_text("--max-time 1")
    assert rpcurl(*EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 1000


@pytest.mark.parametrize("level", [".config/rpcurl", ".config", "."])
def test_a_directory_that_others_can_write_is_refused(rpcurl, config, level):
    file = config("--max-time 1")
    directory = (rpcurl.home / level).resolve()
    directory.chmod(0o777)
    result = rpcurl(*EXPLAIN, "http://host", HELLO)
    why = f"others can write the directory {directory}, {NOT_USED}"
    assert (result.code, result.err) == (2, f"rpcurl: {file}: {why}\nhint: chmod go-w {directory}\n")
    # In a sticky directory, as /tmp is one, others cannot replace the file.
    directory.chmod(0o1777)
    assert rpcurl(*EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 1000


@pytest.fixture
def open_directory(tmp_path):
    """A directory that others can write."""
    directory = tmp_path / "open"
    directory.mkdir()
    directory.chmod(0o777)
    return directory


def config_refused_for(rpcurl, file, culprit):
    result = rpcurl("--config", file, *EXPLAIN, "http://host", HELLO).exits(2, "")
    assert result.err.startswith(f"rpcurl: {file}: ") and NOT_USED in result.err
    assert f" {culprit}" in result.err.splitlines()[0]


def test_links_are_followed_one_by_one(rpcurl, config, tmp_path, open_directory):
    file = config("--max-time 1")
    # A link in such a directory leads to a file that is safe now, and could lead elsewhere the next time.
    middle = open_directory / "link"
    middle.symlink_to(file)
    first = tmp_path / "first"
    first.symlink_to("open/link")
    config_refused_for(rpcurl, first, open_directory)
    config_refused_for(rpcurl, middle, open_directory)
    config_refused_for(rpcurl, open_directory / ".." / "first", open_directory)
    # A link to a directory, and one to a file in such a directory.
    (tmp_path / "way").symlink_to(open_directory, target_is_directory=True)
    (open_directory / "config").write_text("--max-time 1")
    config_refused_for(rpcurl, tmp_path / "way" / "config", open_directory)
    # A link to a safe file is accepted.
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(file)
    assert rpcurl("--config", tmp_path / "one", *EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 1000
    (tmp_path / "loop").symlink_to("loop")
    assert rpcurl("--config", tmp_path / "loop", *EXPLAIN, "http://host", HELLO).code == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("culprit", ["file", "directory", "link"])
def test_files_of_another_user_are_refused(rpcurl, tmp_path, culprit):
    directory = tmp_path / "directory"
    directory.mkdir()
    directory.chmod(0o755)
    file = write(directory / "file", "--max-time 1")
    file.chmod(0o644)
    link = tmp_path / "link"
    link.symlink_to(file)
    assert rpcurl("--config", link, *EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 1000
    os.chown(tmp_path / ("directory" if culprit == "directory" else "link" if culprit == "link" else "directory/file"), 65534, -1, follow_symlinks=False)
    rpcurl("--config", link, *EXPLAIN, "http://host", HELLO).exits(2, "").reports("belongs to another user (65534)", "--config FILE")


def test_a_named_pipe_in_a_directory_of_others_is_refused(rpcurl, open_directory):
    os.mkfifo(open_directory / "pipe", 0o600)
    config_refused_for(rpcurl, open_directory / "pipe", open_directory)


def test_a_named_pipe_may_get_its_writer_later(rpcurl, tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with rpcurl.start("--config", tmp_path / "pipe", *EXPLAIN, "http://host", HELLO) as process:
        process.wait_until_idle()
        with open(tmp_path / "pipe", "r+b", buffering=0) as pipe:
            pipe.write(b"--max-time 1\n")
        out, err = process.communicate()
    assert (process.returncode, err, json.loads(out)["timeout_ms"]) == (0, b"", 1000)


def test_help_and_other_commands_need_no_file(rpcurl, config):
    config("nonsense")
    assert rpcurl("call", "--help").code == 0
    assert rpcurl("version").code == 0


# Commands that look into a schema


@pytest.fixture
def shared(config, grpc_server, descriptor_set):
    """A file for calls and for everything else."""
    return config(f"""
        target {grpc_server.url}
        --max-time 10
        -d {{"name":"A"}}
        --use header,set=a:b
        --format events
        --rpc-header x: y
        --no-cache
        -v
        [profile set]
        --descriptor-set {descriptor_set}
        [profile wrong]
        --no-such-option
        """)


@pytest.mark.parametrize("profile", [[], ["--profile", "set"]])
def test_schema_commands_use_the_options_that_they_have(rpcurl, shared, profile, grpc_server):
    assert SERVICE in rpcurl("list", *profile).out.splitlines()
    assert f"{HELLO}" in rpcurl("list", *profile, SERVICE).out.replace("Demo.Hello", "Demo/Hello")
    assert "message HelloRequest {" in rpcurl("describe", *profile, "HelloRequest").out
    assert rpcurl("template", *profile, HELLO).json()["name"] == ""
    assert rpcurl("export", *profile, "-o", "set", SERVICE).code == 0
    assert (rpcurl.home / "set").stat().st_size > 100
    requested = rpcurl("list", *profile, SERVICE).err
    assert ("* schema: reflection" in requested) == (not profile)
    # What they do not have, or mean otherwise, is left out.
    assert not rpcurl("list", *profile).out.startswith(("[", "{"))


def test_a_target_of_the_command_line_takes_precedence_in_schema_commands(rpcurl, shared, grpc_server):
    assert rpcurl("list", "http://127.0.0.1:1").code == 5
    assert rpcurl("list", "http://127.0.0.1:1", SERVICE).code == 5
    assert rpcurl("list", grpc_server.url, SERVICE).code == 0


def test_sources_of_the_command_line_keep_their_order(rpcurl, config, grpc_server, descriptor_set, tmp_path):
    (tmp_path / "own.proto").write_text('syntax = "proto3";\npackage demo.v1;\nmessage HelloRequest { int32 own = 1; }\n')
    config(f"--proto own.proto\n-I {tmp_path}\n")
    assert "int32 own = 1" in rpcurl("describe", "HelloRequest").out
    assert "int32 own" not in rpcurl("describe", "--descriptor-set", descriptor_set, "demo.v1.HelloRequest").out
    (tmp_path / "typed").mkdir()
    (tmp_path / "typed" / "own.proto").write_text('syntax = "proto3";\nmessage Typed {}\n')
    assert "message Typed" in rpcurl("describe", "-I", tmp_path / "typed", "Typed").out


def test_an_unknown_option_is_an_error_of_all_commands(rpcurl, shared):
    for command in ("list", "describe", "template", "export"):
        result = rpcurl(command, "--profile", "wrong", "x").exits(2)
        assert result.err.splitlines()[0] == f"rpcurl: {shared}, line 13: --no-such-option: unknown option"


@pytest.mark.parametrize(
    ("text", "code", "rest"),
    [
        ("--cacert /no/such.pem", 6, "--cacert /no/such.pem: No such file"),
        ("--descriptor-set /no/such", 3, "/no/such: No such file"),
        ("-H nonsense", 2, "missing colon in the header"),
        ("--header @/no/such", 2, "-H @/no/such: No such file"),
        ("--use nothing", 7, ""),
        ("--use retry,attempts=x", 7, ""),
        ("--plugin /no/such.so", 7, ""),
        ("--bearer @/no/such", 2, "--bearer @/no/such: No such file"),
        ("--netrc-file /no/such", 2, "--netrc-file /no/such: No such file"),
    ],
)
def test_errors_found_later_name_the_line_too(rpcurl, config, text, code, rest):
    file = config(f"# first\n{text}\n")
    assert rpcurl("http://127.0.0.1:1", HELLO, "--explain").exits(code).err.startswith(f"rpcurl: {file}, line 2: {rest}")
    if not text.startswith(("--use", "--plugin")):
        assert rpcurl("list", "http://127.0.0.1:1", "--reflect").exits(code).err.startswith(f"rpcurl: {file}, line 2: {rest}")


def test_a_wrong_target_names_its_line(rpcurl, config):
    file = config("\ntarget ftp://host\n")
    for words in ([HELLO], ["list"], ["describe", "x"]):
        result = rpcurl(*words).exits(2)
        assert result.err.startswith(f"rpcurl: {file}, line 2: ftp://host: not a URL of http or https\nhint: write ")


def test_errors_of_the_command_line_do_not_name_the_file(rpcurl, config):
    config("--cacert /no/such.pem\n")
    result = rpcurl("http://127.0.0.1:1", HELLO, "--explain", "--cacert", "/no/such.pem")
    assert result.err.startswith("rpcurl: --cacert /no/such.pem: ")


def test_a_byte_order_mark(rpcurl, config):
    config("\ufeff# Written elsewhere.\r\n--max-time 7\r\n")
    assert rpcurl(*EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 7000
    config("\ufeff--max-time 8\r\n")
    assert rpcurl(*EXPLAIN, "http://host", HELLO).succeeds().json()["timeout_ms"] == 8000


def test_a_pipe_is_read_to_its_end(rpcurl):
    command = [str(RPCURL), "--config", "/dev/stdin", *EXPLAIN, "http://host", HELLO]
    process = Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"HOME": str(rpcurl.home)})
    for part in ["--max-time 7\n", "# …\n" * 20_000, "-H x-last: 1\n"]:
        process.stdin.write(part)
        process.stdin.flush()
    out, _ = process.communicate()
    shown = json.loads(out)
    assert (shown["timeout_ms"], shown["headers"]) == (7000, [["x-last", "1"]])


def test_missing_value(rpcurl, config, descriptor_set):
    """The line is an error of all commands, and the next argument is not its value."""
    file = config("--user\n")
    for words in [["list", "--descriptor-set", descriptor_set], ["http://host", HELLO]]:
        result = rpcurl(*words).exits(2)
        assert result.err.startswith(f"rpcurl: {file}, line 1: --user: missing value"), result.err
