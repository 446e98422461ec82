"""The project file .rpcurl, which may be hostile, and the command that trusts it."""

import os
import re
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import PATIENCE_SECONDS, ROOT, SERVERS, Result, Rpcurl, write

SERVICE = "demo.v1.Demo"
ECHO = f"{SERVICE}/EchoMetadata"
EXPLAIN = ["--explain", "--format", "json"]
NEEDS_TRUST = "the file is not trusted, and this setting needs trust"

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


@dataclass
class Project:
    """A repository with a project file, in the home directory."""

    rpcurl: Rpcurl
    directory: Path

    @property
    def file(self) -> Path:
        return self.directory / ".rpcurl"

    @property
    def record(self) -> Path:
        return self.rpcurl.home / ".local" / "state" / "rpcurl" / "trust"

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def own(self, text: str) -> Path:
        """Write the user's configuration."""
        file = self.rpcurl.home / ".config" / "rpcurl" / "config"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o600)
        return file

    def __call__(self, *arguments: object, at: Path | str = ".", env: dict[str, str] | None = None, input: bytes = b"") -> Result:
        done = subprocess.run(
            self.rpcurl.command(arguments), input=input, capture_output=True, env=self.rpcurl.environment(env),
            cwd=self.directory / at, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="replace"))

    def plan(self, *arguments: object, **keywords) -> dict:
        return self(*EXPLAIN, *arguments, **keywords).exits(0).json()

    def received(self, *arguments: object, **keywords) -> dict[str, str]:
        """The headers that the server has received from a call."""
        result = self(*arguments, **keywords).exits(0)
        return {h["name"]: h.get("value") for h in result.json()["headers"]}

    def refused(self, *arguments: object, line: int = 1, why: str = NEEDS_TRUST, **keywords) -> None:
        """Nothing is sent, and the error names the line."""
        result = self(*arguments, **keywords).exits(2, "")
        assert result.err.startswith(f"rpcurl: {self.file}, line {line}: "), result.err
        assert why in result.err and '\nhint: read the file, then run "rpcurl trust"\n' in result.err


@pytest.fixture
def project(rpcurl):
    directory = rpcurl.home / "project"
    (directory / ".git").mkdir(parents=True)
    return Project(rpcurl, directory)


# What it is for


def test_a_method_alone_goes_to_the_target_of_the_project(project, grpc_server, descriptor_set):
    (project.directory / "schema.binpb").write_bytes(descriptor_set.read_bytes())
    (project.directory / "a" / "b").mkdir(parents=True)
    project.write(f"target {grpc_server.url}\n--descriptor-set schema.binpb\n-H x-tenant: blue\n[profile dry]\n--explain\n")
    for at in (".", "a", "a/b"):
        headers = project.received("EchoMetadata", at=at)
        assert headers["x-tenant"] == "blue"
    assert project.plan("EchoMetadata")["configuration"] == [{"path": str(project.file), "trusted": False}]
    assert project(*EXPLAIN, "EchoMetadata", at="..").code == 2
    assert SERVICE in project("list").out
    assert "message HelloRequest" in project("describe", "HelloRequest").out
    assert project("template", "Hello").code == 0
    assert "Hello, Ada!" in project("session", input=b'call Hello {"name":"Ada"}\n').out


def test_verbose_output_names_the_files_that_were_read(project, grpc_server):
    project.write(f"# comment\ntarget {grpc_server.url}\n")
    own = project.own("--max-time 20\n")
    lines = project("-v", "EchoMetadata").err.splitlines()
    assert lines[:3] == [
        f"* configuration: {own}",
        f"* configuration: {project.file} (not trusted)",
        f"* target: {grpc_server.url} ({project.file}, line 2)",
    ]
    assert project("trust").code == 0
    assert f"* configuration: {project.file} (trusted)" in project("-v", "EchoMetadata").err
    assert "config       " + str(own) in project("--explain", "EchoMetadata").out
    named = project("-v", "--config", "/dev/null", grpc_server.url, ECHO).err
    assert named.startswith("* configuration: /dev/null\n") and named.count("* configuration") == 1


def test_sources_of_proto_files_are_relative_to_the_file(project):
    (project.directory / "protos").mkdir()
    (project.directory / "sub").mkdir()
    (project.directory / "protos" / "own.proto").write_text('syntax = "proto3"; package own; message Thing { int32 a = 1; }')
    for text in ("-I protos\n--proto own.proto\n", "--proto protos/own.proto\n", "--proto ./protos/own.proto\n-I protos"):
        project.write(text)
        assert "message Thing" in project("describe", "Thing", at="sub").out, text


def test_the_nearest_file_of_a_repository_is_used(project):
    (project.directory / "sub" / "deep").mkdir(parents=True)
    project.write("target http://outer\n")
    (project.directory / "sub" / ".rpcurl").write_text("target http://inner\n")
    assert project.plan("M")["target"] == "http://outer"
    assert project.plan("M", at="sub/deep")["target"] == "http://inner"
    # A work tree has a file .git.
    (project.directory / "sub" / "deep" / ".git").write_text("gitdir: elsewhere\n")
    assert project("M", at="sub/deep").err.startswith("rpcurl: M: no server to call\n")


def test_a_file_outside_of_a_repository_is_only_for_its_directory(project):
    (project.directory / ".git").rmdir()
    (project.directory / "sub").mkdir()
    project.write("target http://here\n")
    assert project.plan("M")["target"] == "http://here"
    assert project(*EXPLAIN, "M", at="sub").code == 2


def test_a_removed_working_directory_has_no_project(project):
    gone = project.directory / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD"; exec "$0" "$@"'
    command = ["sh", "-c", script, *project.rpcurl.command((*EXPLAIN, "http://host", ECHO))]
    done = subprocess.run(command, cwd=gone, env=project.rpcurl.environment(None), capture_output=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr


# Precedence


def test_precedence_of_targets(project):
    project.own("target http://user\n[profile p]\ntarget http://profile\n")
    assert project.plan("M")["target"] == "http://user"
    project.write("target http://project\n")
    assert project.plan("M")["target"] == "http://project"
    environment = {"RPCURL_TARGET": "http://environment"}
    assert project.plan("M", env=environment)["target"] == "http://environment"
    assert project.plan("M", env={"RPCURL_TARGET": ""})["target"] == "http://project"
    assert project.plan("--profile", "p", "M", env=environment)["target"] == "http://profile"
    assert project.plan("http://typed", "M", env=environment)["target"] == "http://typed"
    assert project.plan("http://typed/a.B/M", env=environment)["target"] == "http://typed"


def test_the_target_of_the_environment_is_for_all_commands(project, grpc_server):
    environment = {"RPCURL_TARGET": grpc_server.url}
    assert "headers" in project("EchoMetadata", env=environment).json()
    assert SERVICE in project("list", env=environment).out
    assert "rpc Hello" in project("describe", SERVICE, env=environment).out
    assert project("template", "Hello", env=environment).json()["name"] == ""
    assert project("export", SERVICE, "-o", "set.binpb", env=environment).code == 0
    assert "Hello, Ada!" in project("session", env=environment, input=b'call Hello {"name":"Ada"}\n').out
    (project.directory / "script").write_text('call Hello {"name":"Ada"}\n')
    assert "Hello, Ada!" in project("run", "script", env=environment).out
    assert "SERVING" in project("health", env=environment).out
    # A single argument without a colon is the service.
    assert "not_found" in project("health", "no.such.Service", env=environment).err
    assert project("check", env=environment).code == 0
    for command in ("health", "check"):
        project(command).exits(2, err=f'rpcurl: missing argument: TARGET\nhint: see "rpcurl {command} --help"\n')
    wrong = project("M", env={"RPCURL_TARGET": "ftp://host"})
    assert wrong.code == 2 and wrong.err.startswith("rpcurl: RPCURL_TARGET: ftp://host: not a URL of http or https\n")


def test_config_reads_only_the_named_file(project):
    project.write("nonsense")
    assert project(*EXPLAIN, "http://host", ECHO).code == 2
    assert "configuration" in project.plan("--config", "/dev/null", "http://host", ECHO)
    assert project.plan("--config", "/dev/null", "http://host", ECHO)["configuration"] == [{"path": "/dev/null"}]
    for words in (["version"], ["call", "--help"], ["plugins"]):
        assert project(*words).code == 0


# What needs trust

EFFECTS = [
    "--use auth,bearer=cmd:touch ran", "--use header,set=x:cmd:touch ran", "--bearer cmd:touch ran", "-u cmd:touch ran", "--plugin x,key=cmd:touch ran", "--use record,file=written",
    "--use log,file=written", "--use header,set=x:env:SECRET", "--plugin ./evil.so", "--script ./evil.py", "--use script,run=./evil.py", "--use script,connect=unix:s", "--plugin ?evil", "-o written",
    "-d @/etc/hostname", "-d {}", "--bearer @/etc/hostname", "--bearer x", "-u a:b", "-n", "--netrc-file netrc",
    "--cert c.pem", "--key k.pem", "--pass @f", "-k", "--insecure=false", "--cacert ca.pem", "--capath ca", "--servername x",
    "--authority x", "-x http://proxy:1", "--proxy-user a:b", "--resolve a:1:127.0.0.1", "--connect-to a:1:b:2",
    "--unix-socket s", "--plaintext", "--tlsv1.3=false", "--expand", "--expand=files", "-H authorization: x",
    "-H cookie: x", "-H x-api-key: x", "-H @/etc/hostname", "--show-secrets", "--silent", "--raw", "--max-message-size 1g",
]  # fmt: skip


@pytest.mark.parametrize("line", EFFECTS)
def test_settings_with_effects_need_trust(project, line):
    project.write(f"target http://127.0.0.1:1\n{line}\n")
    for words in (["M"], ["http://127.0.0.1:1", ECHO], ["list"], ["session"]):
        project.refused(*words, line=2)
    assert not (project.directory / "ran").exists() and not (project.directory / "written").exists()
    # A profile that is not selected does not count.
    project.write(f"target http://127.0.0.1:1\n[profile p]\n{line}\n")
    assert project.plan("M")["target"] == "http://127.0.0.1:1"
    project.refused(*EXPLAIN, "--profile", "p", "M", line=3)


@pytest.mark.parametrize("line", ["--var a=1", "--set a=1", "--config x"])
def test_what_is_only_typed_is_refused_with_and_without_trust(project, line):
    project.write(f"{line}\n")
    for _ in range(2):
        project("http://127.0.0.1:1", ECHO).exits(2).reports("only for the command line", "hint: remove the line, and type --")
        project("trust")


def test_trust_allows_everything_until_the_file_changes(project, grpc_server):
    project.write(f"target {grpc_server.url}\n--bearer secret\n--use header,set=x-ran:cmd:echo it\n")
    project.refused("EchoMetadata", line=2)
    assert project("trust").succeeds().out == f"trusted: {project.file}\nline 2: --bearer\nline 3: --use\n"
    headers = project.received("EchoMetadata")
    assert (headers["authorization"], headers["x-ran"]) == ("Bearer secret", "it")
    with project.file.open("a") as file:
        file.write("# more\n")
    project.refused("EchoMetadata", line=2, why="the file changed after it was trusted, and this setting needs trust")
    assert project("trust", "--list").out == f"changed  {project.file}\n"
    assert project("trust", at=".git").code == 0
    assert project.received("EchoMetadata")["x-ran"] == "it"
    # Another path with the same contents is not trusted.
    other = project.directory / "other"
    other.mkdir()
    (other / ".rpcurl").write_text(project.file.read_text())
    assert NEEDS_TRUST in project("EchoMetadata", at="other").err


def test_list_and_revoke(project):
    project.write("-k\n")
    assert project("trust", "--list").out == ""
    assert project("trust", project.file).code == 0
    assert project("trust", "--list").out == f"trusted  {project.file}\n"
    (entry,) = project.record.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600 and project.record.stat().st_mode & 0o777 == 0o700
    assert project("trust", "--revoke").out == f"not trusted: {project.file}\n"
    project.refused("http://host", ECHO)
    again = project("trust", "--revoke", project.directory)
    assert again.code == 2 and again.err.startswith(f"rpcurl: {project.file}: not a trusted file\n")
    # The file may be gone.
    assert project("trust", ".").code == 0
    project.file.unlink()
    assert project("trust", "--list").out == f"missing  {project.file}\n"
    assert project("trust", "--revoke").code == 0
    assert project("trust", "--list").out == ""
    assert project("trust").err.startswith("rpcurl: .rpcurl: no project file in this directory or above it")
    assert project("trust", "--list", "--revoke").code == 2
    assert project("trust", "none").err == "rpcurl: none: No such file or directory\n"


def test_a_damaged_or_open_record_is_refused(project):
    project.write("-k\n")
    assert project("trust").code == 0
    (entry,) = project.record.iterdir()
    entry.chmod(0o666)
    project(*EXPLAIN, "http://host", ECHO).exits(2).reports(f"others can write the file {entry}")
    entry.chmod(0o600)
    entry.write_text("rpcurl trust 1\n")
    assert project(*EXPLAIN, "http://host", ECHO).err.startswith(f"rpcurl: {entry}: not a file of rpcurl trust\n")


def test_an_invalid_file_is_not_trusted(project):
    project.write("nonsense\n")
    result = project("trust")
    assert result.code == 2 and result.err.startswith(f"rpcurl: {project.file}, line 1: neither an option nor target\n")
    assert not project.record.exists()


# Files


@pytest.mark.parametrize("line", ["--descriptor-set link.binpb", "--proto link.proto", "-I dir\n--proto x.proto", "target unix:dir/s"])
def test_schema_outside_of_the_folder_needs_trust(project, tmp_path, descriptor_set, line):
    (tmp_path / "x.proto").write_text('syntax = "proto3"; message Outside {}')
    (project.directory / "link.binpb").symlink_to(descriptor_set)
    (project.directory / "link.proto").symlink_to(tmp_path / "x.proto")
    (project.directory / "dir").symlink_to(tmp_path)
    project.write(f"{line}\n")
    project.refused("list", "http://127.0.0.1:1")
    assert project("trust").code == 0
    assert NEEDS_TRUST not in project("describe", "Outside").err


def test_without_trust_no_program_runs_and_only_the_target_is_contacted(project, grpc_server):
    """With the settings that need no trust and name anything outside of the program, and a server of their own choice in each file
    that another program might read."""
    shutil.copy(SERVERS / "demo.proto", project.directory)
    (project.directory / "buf.yaml").write_text("version: v2\ndeps:\n  - 127.0.0.1:9/acme/types\n")
    (project.directory / "other.proto").write_text('syntax = "proto3"; import "missing.proto"; message M { missing.T t = 1; }')
    lines = [
        f"target {grpc_server.url}", "--proto demo.proto", "-H x-a: b", "--rpc-header x-b: c", "--reflect-header x-c: d",
        "--reflect", "--no-cache", "--compression gzip", "--accept-compression gzip", "--max-time 20", "--keepalive-time 5", "-4",
        "--attribute a=b", "-A agent", "-v", "--color always",
    ]  # fmt: skip
    shared = "\n".join(lines)
    project.write(f"{shared}\n[profile missing]\n--proto other.proto\n")
    trace = project.rpcurl.home / "trace"
    for words, code in [
        (["-d", "{}", ECHO], 0), (["list"], 0), (["describe", "grpc.health.v1.Health"], 0), (["session"], 0),
        (["--profile", "missing", "list"], 3),
    ]:  # fmt: skip
        done = subprocess.run(
            ["strace", "-f", "-qq", "-e", "trace=execve,connect", "-o", trace, *project.rpcurl.command(words)], input=b"call EchoMetadata\n",
            capture_output=True, env=project.rpcurl.environment(None), cwd=project.directory, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        text = trace.read_text()
        started = {Path(path).name for path in re.findall(r'execve\("([^"]*)".*\) = 0$', text, re.M)}
        assert started == {Path(project.rpcurl.command([])[0]).name}
        reached = re.findall(r"connect\(.*sin6?_port=htons\((\d+)\)", text)
        assert set(reached) <= {grpc_server.address.split(":")[1]}, text
        assert "sa_family=AF_UNIX" not in text


def test_headers_cannot_read_the_environment(project, grpc_server):
    environment = {"SECRET": "s3cret"}
    project.write("-H x-leak: ${SECRET}\n")
    project.refused("--expand", grpc_server.url, ECHO, env=environment)
    project.own("--expand\n")
    project.refused(grpc_server.url, ECHO, env=environment)


# Credentials of the user

CREDENTIALS = """\
--bearer s3cret
-H x-user: s3cret
--rpc-header x-rpc: s3cret
--use header,set=x-chain:s3cret
--use retry
"""


def test_an_untrusted_target_receives_no_credentials_of_the_user(project, grpc_server):
    own = project.own(CREDENTIALS)
    project.write(f"target {grpc_server.url}\n")
    result = project("EchoMetadata")
    assert result.code == 0 and "s3cret" not in result.out
    assert result.err == (
        f"rpcurl: warning: {project.file} is not trusted, so its target does not receive "
        f"--bearer (line 1), -H (line 2), --rpc-header (line 3), --use (line 4) of {own}\n"
        'hint: run "rpcurl trust"\n'
    )
    assert project("-s", "EchoMetadata").err == ""
    # --explain shows the same.
    plan = project.plan("EchoMetadata")
    assert (plan["headers"], [i["name"] for i in plan["interceptors"]]) == ([], ["retry"])
    assert "does not receive" in plan["warnings"][0]
    # What is typed is sent.
    assert project.received("--bearer", "typed", "EchoMetadata")["authorization"] == "Bearer typed"
    # The user's own targets receive them.
    for words, env in (((grpc_server.url, ECHO), {}), (("EchoMetadata",), {"RPCURL_TARGET": grpc_server.url})):
        result = project(*words, env=env)
        assert result.err == "" and result.out.count("s3cret") == 4
    assert project("trust").code == 0
    result = project("EchoMetadata")
    assert result.err == "" and result.out.count("s3cret") == 4


@pytest.mark.parametrize("words", [["list"], ["describe"], ["session"], ["run", "script"], ["template", "Hello"], ["export", "-o", "x"], ["health"], ["check"]])
def test_other_commands_send_no_credentials_either(project, grpc_server, words):
    project.own("-H x-user: s3cret\n")
    project.write(f"target {grpc_server.url}\n")
    (project.directory / "script").write_text("call EchoMetadata\n")
    result = project(*words, input=b"call EchoMetadata\n")
    assert result.code == 0 and "s3cret" not in result.out
    assert "does not receive -H (line 1)" in result.err


def test_a_client_certificate_is_not_shown_to_an_untrusted_target(project, grpc_mtls_server, certificates):
    project.own(f"--cacert {certificates}/ca.pem\n--cert {certificates}/client.pem\n--key {certificates}/client-key.pem\n")
    project.write(f"target {grpc_mtls_server.url}\n")
    result = project("EchoMetadata")
    assert result.code != 0 and "does not receive --cert (line 2), --key (line 3)" in result.err
    assert project("trust").code == 0
    assert project("EchoMetadata").code == 0


# Hostile files


def test_what_is_not_a_regular_file_is_refused_at_once(project, tmp_path):
    def refused(why):
        for words, hint in (([*EXPLAIN, "http://host", ECHO], "hint: --config /dev/null ignores it\n"), (["trust"], None)):
            result = project(*words).exits(2)
            assert result.err.startswith(f"rpcurl: {project.file}: {why}\n{hint or ''}"), result.err
            assert ("--config" in result.err) == (hint is not None), result.err
        assert project(*EXPLAIN, "--config", "/dev/null", "http://host", ECHO).code == 0
        assert project("version").code == 0

    project.file.mkdir()
    refused("a directory, not a project file of rpcurl")
    project.file.rmdir()
    os.mkfifo(project.file)
    refused("not a regular file")
    project.file.unlink()
    with socket.socket(socket.AF_UNIX) as listener:
        directory = os.open(project.directory, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{directory}/.rpcurl")
        os.close(directory)
        refused("not a regular file")
    project.file.unlink()
    (tmp_path / "target").write_text("target http://host\n")
    for target in (tmp_path / "target", "/dev/zero", "/dev/stdin", ".rpcurl", "none"):
        project.file.symlink_to(target)
        refused("a symbolic link, which a project file must not be")
        project.file.unlink()
    if os.geteuid() == 0:
        os.mknod(project.file, 0o600 | 0o020000, os.makedev(1, 5))
        refused("not a regular file")


def test_a_huge_file_is_refused(project):
    with project.file.open("wb") as file:
        file.truncate(1 << 40)
    project(*EXPLAIN, "http://host", ECHO).exits(2, err=f"rpcurl: {project.file}: more than 1048576 bytes\n")
    assert project("trust").code == 2


def test_a_file_that_every_user_can_write_is_refused(project):
    project.write("target http://host\n")
    for mode in (0o666, 0o602):
        project.file.chmod(mode)
        for words in ([*EXPLAIN, "M"], ["trust"]):
            result = project(*words).exits(2)
            assert result.err == (
                f"rpcurl: {project.file}: every user can write the file, so it is not used\nhint: chmod o-w {project.file}\n"
            )
    # The usual mode with the umask 002: what is trusted is the contents.
    project.file.chmod(0o664)
    assert project.plan("M")["target"] == "http://host"


@root_only
def test_a_file_of_another_user_is_not_used_without_trust(project):
    project.write("target http://host\n")
    os.chown(project.file, 65534, -1)
    result = project(*EXPLAIN, "M").exits(2)
    assert result.err.startswith(f"rpcurl: {project.file}: it belongs to another user (65534), so it is not used\nhint: read it")
    assert project("trust").code == 0
    assert project.plan("M")["target"] == "http://host"
    project.write("target http://other\n")
    assert project(*EXPLAIN, "M").code == 2


@root_only
def test_files_above_a_directory_of_others_are_not_found(project):
    (project.directory / "sub").mkdir()
    project.write("target http://evil\n")
    os.chown(project.directory, 65534, -1)
    assert project(*EXPLAIN, "M", at="sub").code == 2
    os.chown(project.directory, 0, -1)
    assert project.plan("M", at="sub")["target"] == "http://evil"
    # As in /tmp, every user can create such a file.
    project.directory.chmod(0o1777)
    assert project(*EXPLAIN, "M", at="sub").code == 2


def test_control_characters_are_escaped(project, rpcurl):
    directory = rpcurl.home / "a\x1b]0;x\x07\nb\u202e"
    directory.mkdir()
    hostile = Project(rpcurl, directory)
    for text in ("-k\n", "--\x1b[31mx 1\n", "\x1b[31m\n", "[profile \x1b[31m]\n[profile \x1b[31m]\n", "target http://\x1b[31m\n", "--max-time \x1b[31m\n"):
        hostile.write(text)
        for words in (["-v", "M"], ["--explain", "-v", "M"], ["--profile", "x", "M"], ["trust"], ["trust", "--list"], ["list"]):
            result = hostile(*words)
            assert not any(c in result.err + result.out for c in "\x1b\x07\u202e"), (text, words)
            assert "\nb" not in result.err + result.out
    hostile.write("-k\n")
    assert hostile("trust").code == 0
    assert hostile("trust", "--list").out.count("\n") == 1
    assert hostile("trust", "--revoke").code == 0


def test_bytes_that_are_not_text_are_errors(project):
    project.file.write_bytes(b"\xff\xfe--max-time 1\n\0")
    assert project(*EXPLAIN, "http://host", ECHO).code == 2


# --no-use


def test_no_use_omits_an_interceptor_of_the_configuration(project):
    own = project.own("--use retry,attempts=5\n--use log\n--plugin ./none/sign.so\n")
    assert project(*EXPLAIN, "http://host", ECHO).code == 7
    plan = project.plan("--no-use", "sign", "--no-use", "retry", "--use", "fault,abort=aborted", "http://host", ECHO)
    assert [i["name"] for i in plan["interceptors"]] == ["log", "fault"]
    assert plan["omitted"] == [f"retry (--no-use; {own}, line 1)", f"sign (--no-use; {own}, line 3)"]
    text = project("--explain", "--no-use", "sign", "http://host", ECHO).out
    assert f"omitted      sign (--no-use; {own}, line 3)\n" in text
    project("--no-use", "retri", "http://host", ECHO).exits(2, err="rpcurl: --no-use retri: not an interceptor of the configuration\nhint: did you mean retry?\n")
    none = project("--config", "/dev/null", "--use", "retry", "--no-use", "retry", "http://host", ECHO)
    assert none.code == 2 and none.err.endswith("hint: no configuration file that was read has interceptors\n")


def test_no_use_in_a_session(project):
    own = project.own("--use retry\n--use log\n")
    project("session", "--no-use", "retry", "http://127.0.0.1:1", input=b"chain\noptions --no-use log\nuse retry\nchain\n").prints(f"1 log (built in, as given, all calls)\nomitted: retry (--no-use; {own}, line 1)\n", "2 retry (built in, as given, all calls)").reports(
        "--no-use is only accepted at the start of the session", "hint: remove N|NAME",
    )


# Contradictions


@pytest.mark.parametrize("option", [["--bearer", "t"], ["-u", "a:b"]])
def test_two_credentials_of_the_command_line_contradict_each_other(project, option, tmp_path):
    file = write(tmp_path / "headers", "Authorization: x\n")
    for header in ("authorization: x", f"@{file}"):
        result = project(*EXPLAIN, *option, "-H", header, "http://host", ECHO).exits(2)
        assert result.err == (
            f"rpcurl: {option[0]}: {option[0]} and the header authorization of -H contradict each other\n"
            "hint: omit one of them\n"
        )
        assert project("list", *option, "-H", header, "http://host").code == 2
    # A header of the call alone differs from that of requests for the schema.
    plan = project.plan("--show-secrets", *option, "--rpc-header", "authorization: x", "http://host", ECHO)
    assert ["authorization", "x"] in plan["headers"]


def test_typed_credentials_replace_those_of_the_configuration(project):
    project.own("--bearer own\n")
    plan = project.plan("--show-secrets", "-H", "Authorization: typed", "http://host", ECHO)
    assert plan["headers"] == [["authorization", "typed"]]
    project.own("-H authorization: own\n")
    plan = project.plan("--show-secrets", "--bearer", "typed", "http://host", ECHO)
    assert plan["headers"] == [["authorization", "Bearer typed"]]


def test_two_hosts_of_the_command_line_contradict_each_other(project):
    for command in (["list"], [*EXPLAIN]):
        method = [ECHO] if command[0] != "list" else []
        result = project(*command, "--authority", "a", "-H", "Host: b", "http://host", *method).exits(2, "")
        assert result.err == "rpcurl: --authority: --authority and the header host of -H contradict each other\nhint: omit one of them\n"
        result = project(*command, "-H", "host: a", "-H", "Host: b", "http://host", *method).exits(2, "")
        assert result.err == "rpcurl: -H: the header host is given more than once\nhint: give it once\n"
    plan = project.plan("--authority", "a", "--rpc-header", "host: b", "http://host", ECHO)
    assert plan["headers"] == [["host", "b"]]


def test_typed_host_replaces_that_of_the_configuration(project):
    project.own("--authority own\n")
    assert project.plan("-H", "Host: typed", "http://host", ECHO)["headers"] == [["host", "typed"]]
    project.own("-H host: own\n")
    assert project.plan("--authority", "typed", "http://host", ECHO)["headers"] == [["host", "typed"]]


def test_a_session_can_replace_its_credentials(project, grpc_server):
    result = project("session", "--bearer", "first", grpc_server.url, input=b"header authorization: second\ncall EchoMetadata\n")
    assert '"second"' in result.out and "first" not in result.out


def test_the_manual_lists_what_needs_no_trust(rpcurl):
    """In both directions."""
    table = rpcurl("--dump-options").json()["commands"]
    harmless = {"harmless", "projectPath", "header"}
    expected = {
        tuple(option["names"]) for command in table for option in command["options"]
        if option["configurable"] and option["trust"] in harmless
    }  # fmt: skip
    page = (ROOT / "man" / "rpcurl-config.5").read_text()
    section = page.split("These settings need no trust:")[1].split(".El")[0]
    words = {f"-{word}" for line in re.findall(r"^\.Fl (.*)$", section, re.M) for word in re.findall(r"[\w.-]*\w", line)}
    assert {names for names in expected if words & set(names)} == expected
    assert words <= {name for names in expected for name in names}


def test_completion_reads_the_project_file(project):
    project.write("target http://one\n[profile stage]\ntarget http://two\n--bearer x\n")
    assert project("complete", "profile", "", "", "").out == "stage\thttp://two\n"
    assert project("complete", "target", "", "", "").out == "http://one\tconfigured\n"
    # A line that needs trust prevents nothing else.
    project.write("target http://one\n-k\n")
    assert project("complete", "target", "", "", "").code == 0
    project.file.unlink()
    os.mkfifo(project.file)
    assert project("complete", "target", "", "", "").code == 0
