"""What the shells offer, with the completions of completions/, in the shells themselves."""

import os
import re
import shutil
import socket
import subprocess

import pytest
from google.protobuf import descriptor_pb2

from harness import RPCURL, varint
from shells import COMPLETIONS, Bash, Fish, Shell, Zsh

SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}


@pytest.fixture
def directory(tmp_path, descriptor_set):
    shutil.copy(descriptor_set, tmp_path / "demo.binpb")
    (tmp_path / "request.json").write_text("{}")
    return tmp_path


@pytest.fixture
def bash(directory):
    return Bash(directory)


@pytest.fixture
def zsh(directory):
    return Zsh(directory)


@pytest.fixture
def fish(directory):
    return Fish(directory)


@pytest.fixture
def complete(directory):
    """The hidden command itself: candidates with their descriptions."""

    def run(kind, typed, *words, first="", second="", home=None):
        out = Shell(home or directory).run(str(RPCURL), "complete", kind, typed, first, second, *words)
        return dict(line.split("\t") for line in out.splitlines())

    return run


SET = "--protoset demo.binpb"


def test_program_prints_the_scripts() -> None:
    for shell, name in {"bash": "rpcurl.bash", "zsh": "_rpcurl", "fish": "rpcurl.fish"}.items():
        printed = subprocess.run([RPCURL, "completion", shell], capture_output=True, text=True, check=True).stdout
        assert printed == (COMPLETIONS / name).read_text(), shell


def test_zsh_reads_the_script_as_it_reads_other_files(zsh):
    zsh.script = COMPLETIONS / "_rpcurl"
    assert zsh.typed("rpcurl completion z")[0] == "rpcurl completion zsh "
# The line, and what becomes of it with TAB. In each there is one way to go on.
INSERTED = [
    (f"rpcurl {SET} http://demo.example Hello --filter mess", f"rpcurl {SET} http://demo.example Hello --filter message "),
    (f"rpcurl {SET} http://demo.example Demo/Hello --filter mess", f"rpcurl {SET} http://demo.example Demo/Hello --filter message "),
    (f"rpcurl {SET} http://demo.example Hello --set lang", f"rpcurl {SET} http://demo.example Hello --set language="),
    ("rpcurl lis", "rpcurl list "),
    ("rpcurl --plai", "rpcurl --plaintext "),
    ("rpcurl call --plai", "rpcurl call --plaintext "),
    ("rpcurl --protocol co", "rpcurl --protocol connect "),
    ("rpcurl --protocol=co", "rpcurl --protocol=connect "),
    ("rpcurl --plaintext --format ev", "rpcurl --plaintext --format events "),
    ("rpcurl list --format j", "rpcurl list --format json "),
    ("rpcurl plugins n", "rpcurl plugins new "),
    ("rpcurl plugins new --lang sw", "rpcurl plugins new --lang swift "),
    ("rpcurl --protoset de", "rpcurl --protoset demo.binpb "),
    ("rpcurl --protoset=de", "rpcurl --protoset=demo.binpb "),
    ("rpcurl -d @req", "rpcurl -d @request.json "),
    ("rpcurl --expand=fi", "rpcurl --expand=files "),
    ("rpcurl -H x-api", "rpcurl -H x-api-key:"),
    (f"rpcurl {SET} localhost:1 demo.v1.Demo/He", f"rpcurl {SET} localhost:1 demo.v1.Demo/Hello "),
    (f"rpcurl {SET} localhost:1 demo.v1.Demo.He", f"rpcurl {SET} localhost:1 demo.v1.Demo.Hello "),
    # The names of other programs are read, and not offered.
    (f"rpcurl --timeout 5 {SET} localhost:1 demo.v1.Demo/He", f"rpcurl --timeout 5 {SET} localhost:1 demo.v1.Demo/Hello "),
    (f"rpcurl {SET} localhost:1 Hel", f"rpcurl {SET} localhost:1 Hello "),
    # In another case than that of the name.
    (f"rpcurl {SET} localhost:1 hel", f"rpcurl {SET} localhost:1 Hello "),
    (f"rpcurl {SET} localhost:1 demo.v1.demo/he", f"rpcurl {SET} localhost:1 demo.v1.Demo/Hello "),
    (f"rpcurl {SET} http://localhost:1/demo.v1.demo/he", f"rpcurl {SET} http://localhost:1/demo.v1.Demo/Hello "),
    (f"rpcurl describe {SET} demo.v1.hellorep", f"rpcurl describe {SET} demo.v1.HelloReply "),
    (f"rpcurl {SET} http://demo.example Hello --filter MESS", f"rpcurl {SET} http://demo.example Hello --filter message "),
    (f"rpcurl {SET} http://localhost:1/demo.v1.Demo/He", f"rpcurl {SET} http://localhost:1/demo.v1.Demo/Hello "),
    ("rpcurl --protoset=demo.binpb localhost:1/demo.v1.Demo/He", "rpcurl --protoset=demo.binpb localhost:1/demo.v1.Demo/Hello "),
    (f"rpcurl {SET} h:1 demo.v1.Demo/Hello --filter m", f"rpcurl {SET} h:1 demo.v1.Demo/Hello --filter message "),
    (f"rpcurl describe {SET} demo.v1.HelloRep", f"rpcurl describe {SET} demo.v1.HelloReply "),
    (f"rpcurl convert {SET} --type demo.v1.HelloRep", f"rpcurl convert {SET} --type demo.v1.HelloReply "),
    ("rpcurl --use header,trailer-se", "rpcurl --use header,trailer-set="),
    ("rpcurl --use replay,miss=e", "rpcurl --use replay,miss=error"),
    ("rpcurl test --coverage te", "rpcurl test --coverage text "),
    ("rpcurl test --coverage re", "rpcurl test --coverage report "),
]  # fmt: skip


# fish puts a blank after each candidate that does not end with a separator.
INSERTED_BY_FISH = {"rpcurl --use replay,miss=e": "rpcurl --use replay,miss=error "}


def completed(shell, lines):
    return {line: result for line, (result, _) in zip(lines, shell.all_typed(lines), strict=True)}


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_the_line(shell, directory):
    expected = dict(INSERTED) | (INSERTED_BY_FISH if shell == "fish" else {})
    assert completed(SHELLS[shell](directory), list(expected)) == expected


def test_fish_has_one_candidate(fish):
    for line, result in INSERTED:
        start = line.rpartition(" ")[0]
        assert [f"{start} {candidate}" for candidate in fish.candidates(line)] == [result.rstrip()], line


def test_results_are_the_same_with_the_package_bash_completion(directory):
    expected = dict(INSERTED[:8] + INSERTED[13:17])
    assert completed(Bash(directory, package=True), list(expected)) == expected


@pytest.mark.parametrize("breaks", [" \t\n\"'><=;|&(:", " \t\n\"'><;|&(", " \t\n\"'@><=;|&(:"])
def test_bash_replaces_the_text_after_its_word_breaks(directory, breaks):
    bash = Bash(directory, breaks)
    kept = "http://localhost:" if ":" in breaks else ""
    whole = "http://localhost:1/demo.v1.Demo/Hello"
    assert bash.candidates(f"rpcurl {SET} http://localhost:1/demo.v1.Demo/He") == [whole.removeprefix(kept)]
    kept = "--protocol=" if "=" in breaks else ""
    assert bash.candidates("rpcurl --protocol=co") == ["--protocol=connect".removeprefix(kept)]
    assert bash.candidates("rpcurl --data=@req") == ["--data=@request.json".removeprefix("--data=" if "=" in breaks else "")]


def test_options_are_offered_once_unless_they_are_repeatable(bash, fish, zsh):
    assert bash.candidates("rpcurl --pl") == ["--plaintext", "--plugin"]
    assert bash.candidates("rpcurl --plaintext --plugin x --pl") == ["--plugin"]
    assert bash.candidates("rpcurl -k --ins") == []
    assert bash.candidates("rpcurl --timeout 5 --max-t") == []
    assert bash.candidates("rpcurl --timeo") == []
    # Options after the cursor count too.
    assert bash.candidates("rpcurl --pl", " --plaintext") == ["--plugin"]
    assert list(fish.candidates("rpcurl --plaintext --plugin x --pl")) == ["--plugin"]
    assert list(fish.candidates("rpcurl -k --ins")) == []
    assert list(fish.candidates("rpcurl --timeout 5 --max-t")) == []
    assert zsh.typed("rpcurl --plaintext --plugin x --plu")[0] == "rpcurl --plaintext --plugin x --plugin="
    assert zsh.typed("rpcurl -k --ins")[0] == "rpcurl -k --ins"
    assert zsh.typed("rpcurl --timeout 5 --max-t")[0] == "rpcurl --timeout 5 --max-t"
    assert zsh.typed("rpcurl --timeo")[0] == "rpcurl --timeo"


def test_no_options_are_offered_after_two_dashes(bash, fish):
    assert bash.candidates("rpcurl -- --pl") == []
    assert fish.candidates("rpcurl -- --pl") == {}


def test_quoted_arguments_are_read(bash):
    shutil.copy(bash.directory / "demo.binpb", bash.directory / "my demo.binpb")
    for name in ["'my demo.binpb'", '"my demo.binpb"', "my\\ demo.binpb"]:
        assert bash.candidates(f"rpcurl --protoset {name} h:1 demo.v1.Demo/He") == ["demo.v1.Demo/Hello"]
    assert bash.candidates(f"rpcurl {SET} h:1 'demo.v1.Demo/He") == ["demo.v1.Demo/Hello"]
    assert bash.typed("rpcurl --protoset my")[0] == "rpcurl --protoset my\\ demo.binpb "


def test_home_and_variables_are_expanded(bash):
    for path in ["~/demo.binpb", "$HOME/demo.binpb", "${HOME}/demo.binpb"]:
        assert bash.candidates(f"rpcurl --protoset {path} h:1 demo.v1.Demo/He") == ["demo.v1.Demo/Hello"]


def test_descriptions_are_shown(fish, zsh):
    assert fish.candidates(f"rpcurl {SET} h:1 demo.v1.Demo/Ch") == {
        "demo.v1.Demo/Chat": "bidi streaming: ChatRequest → ChatReply"
    }
    assert fish.candidates("rpcurl --plaint")["--plaintext"] == "Use HTTP without TLS if the target is not a URL"
    shown = zsh.typed(f"rpcurl {SET} h:1 demo.v1.Demo/C", tabs=1)[1]
    assert "demo.v1.Demo/Count  -- server streaming: CountRequest → CountReply" in shown


def test_names_of_services_end_with_a_slash(directory, complete):
    """Of several services each ends with its slash, and no space follows."""
    two = descriptor_pb2.FileDescriptorSet()
    for package in ["one", "two"]:
        file = two.file.add(name=f"{package}.proto", package=package)
        file.service.add(name="Store").method.add(name="Get", input_type=".google.protobuf.Empty", output_type=".google.protobuf.Empty")
    (directory / "two.binpb").write_bytes(two.SerializeToString())
    assert complete("method", "", "--protoset", "two.binpb", first="h:1") == {"one.Store/": "service", "two.Store/": "service"}
    assert Bash(directory).typed("rpcurl --protoset two.binpb h:1 o")[0] == "rpcurl --protoset two.binpb h:1 one.Store/Get "
    assert Zsh(directory).typed("rpcurl --protoset two.binpb h:1 o")[0] == "rpcurl --protoset two.binpb h:1 one.Store/Get "


def large_set(path, files=3000):
    """Many packages, and many names in one of them: 20 MB."""
    file = descriptor_pb2.FileDescriptorProto()
    for number in range(40):
        message = file.message_type.add(name=f"Message{number}")
        for field in range(6):
            message.field.add(name=f"a_field_of_some_length_{field}", number=field + 1, label=1, type=9)
    service = file.service.add(name="Service")
    for number in range(5):
        service.method.add(name=f"Method{number}", input_type=".Message0", output_type=".Message1")
    body = file.SerializeToString()
    with path.open("wb") as out:
        for number in range(files):
            head = descriptor_pb2.FileDescriptorProto(name=f"{number}.proto", package=f"org{number % 7}.team{number}.v1")
            whole = head.SerializeToString() + body
            out.write(b"\n" + varint(len(whole)) + whole)


def test_packages_are_offered_instead_of_many_names(directory, complete, bash):
    large_set(directory / "large.binpb")
    words = ("--protoset", "large.binpb")
    packages = {f"org{number}.": "package" for number in range(7)}
    assert complete("method", "", *words, first="h:1") == packages
    assert complete("describe", "", *words) == packages
    teams = complete("type", "org3.", *words)
    assert len(teams) == 429 and set(teams.values()) == {"package"} and "org3.team3." in teams
    assert len(complete("type", "org3.team3.", *words)) == 40
    assert complete("method", "org3.team3.", *words, first="h:1")["org3.team3.v1.Service/Method0"] == "unary: Message0 → Message1"
    # Ends of names are as many, and bounded.
    assert len(complete("method", "Method", *words, first="h:1")) == 5
    assert bash.typed("rpcurl --protoset large.binpb h:1 org3.team3.")[0] == "rpcurl --protoset large.binpb h:1 org3.team3.v1.Service/Method"


def test_unsafe_names_are_omitted(directory, complete, bash):
    bad = descriptor_pb2.FileDescriptorSet()
    file = bad.file.add(name="bad.proto", package="bad")
    for name in ["Good", "$(touch harm)", "a;touch harm", "a b", "\x1b[31m", "quo'te", "ta\tb", "li\nne"]:
        service = file.service.add(name=name)
        service.method.add(name="Get", input_type=".bad.\x1b[31mX", output_type=".bad.X\n")
    (directory / "bad.binpb").write_bytes(bad.SerializeToString())
    found = complete("list", "", "--protoset", "bad.binpb")
    assert list(found) == ["bad.Good"]
    (method,) = complete("method", "bad.Good/", "--protoset", "bad.binpb", first="h:1").values()
    assert "\x1b" not in method and "\n" not in method
    assert bash.typed("rpcurl list --protoset bad.binpb b")[0] == "rpcurl list --protoset bad.binpb bad.Good "
    assert not (directory / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"text", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x03\x0a\x01a" * 5])
def test_damaged_sets_have_no_names(directory, complete, content):
    (directory / "damaged.binpb").write_bytes(content)
    assert complete("method", "", "--protoset", "damaged.binpb", first="h:1") == {}
    assert complete("describe", "", "--protoset", "damaged.binpb") == {}


def test_the_cached_schema_of_a_server_is_used(rpcurl, grpc_server, directory, complete, bash):
    """Its services after list, and their methods after describe or a call."""
    environment = {"XDG_CACHE_HOME": str(directory / "cache")}
    url, address = grpc_server.url, grpc_server.address
    assert complete("method", "", first=url) == {}
    assert rpcurl("list", url, env=environment).code == 0
    services = complete("list", "", first=url)
    assert services["demo.v1.Demo"] == "service" and "grpc.health.v1.Health" in services
    assert complete("method", "demo.", first=url) == {"demo.v1.Demo/": "service"}
    assert complete("list", "")[address] == "used before"
    assert rpcurl("describe", url, "demo.v1.Demo", env=environment).code == 0
    assert complete("method", "demo.v1.Demo/He", first=url) == {"demo.v1.Demo/Hello": "unary: HelloRequest → HelloReply"}
    assert complete("filter", "m", first=f"{url}/demo.v1.Demo/Hello") == {"message": "string"}
    assert complete("filter", ".m", first=f"{url}/demo.v1.Demo/Hello") == {".message": "string"}
    echo = f"{url}/demo.v1.Demo/Echo"
    assert complete("filter", "nesteds[].l", first=echo) == {"nesteds[].label": "string"}
    assert complete("filter", ".nested.child.la", first=echo) == {".nested.child.label": "string"}
    assert complete("set", "n", first=f"{url}/demo.v1.Demo/Hello") == {"name=": "string"}
    assert complete("set", "strings", first=echo) == {"strings[]=": "repeated string"}
    assert complete("set", "nesteds", first=echo) == {"nesteds[].": "a field of each element"}
    assert complete("set", "nested.label=", first=echo) == {}
    assert bash.typed(f"rpcurl {url}/demo.v1.Demo/He")[0] == f"rpcurl {url}/demo.v1.Demo/Hello "
    assert bash.typed(f"rpcurl --plaintext {address} demo.v1.Demo/He")[0] == f"rpcurl --plaintext {address} demo.v1.Demo/Hello "
    # Not where it is not wanted, and not of another server.
    assert complete("method", "demo.v1.Demo/He", "--no-cache", first=url) == {}
    assert complete("method", "demo.v1.Demo/He", first="http://127.0.0.1:1") == {}


def test_the_cached_schema_of_a_socket_is_used(rpcurl, start_server, tmp_path_factory, directory, complete):
    socket = tmp_path_factory.mktemp("socket") / "s"
    start_server("grpc_server.py", "--unix", socket)
    environment = {"XDG_CACHE_HOME": str(directory / "cache")}
    words = ("--plaintext", "--unix-socket", str(socket))
    assert rpcurl("describe", *words, "localhost", "demo.v1.Demo", env=environment).code == 0
    found = {"demo.v1.Demo/Hello": "unary: HelloRequest → HelloReply"}
    assert complete("method", "demo.v1.Demo/He", *words, first="localhost") == found
    assert complete("method", "demo.v1.Demo/He", "--plaintext", first=f"unix:{socket}") == found


@pytest.mark.parametrize("command", [("list",), ("describe",), ("describe", "demo.v1.Demo"), ("export", "-o", "out.binpb")])
def test_no_cache_writes_no_file(rpcurl, grpc_server, tmp_path, command):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    name, *rest = command
    assert rpcurl(name, grpc_server.url, *rest, "--no-cache", env=environment).code == 0
    assert list(tmp_path.iterdir()) == []
    assert rpcurl(name, grpc_server.url, *rest, env=environment).code == 0
    kept = list((tmp_path / "rpcurl" / "reflection").iterdir())
    assert kept and all(file.stat().st_mode & 0o777 == 0o600 for file in kept)


def test_a_call_uses_the_schema_that_describe_fetched(rpcurl, grpc_server, tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    assert rpcurl("describe", grpc_server.url, "demo.v1.Demo", env=environment).code == 0
    rpcurl("-v", "-d", '{"name":"Ada"}', f"{grpc_server.url}/demo.v1.Demo/Hello", env=environment).exits(0).reports("cached")


def test_no_server_is_contacted(raw_server, complete):
    server = raw_server(lambda connection: None)
    complete("method", "", "--plaintext", first=server.address)
    complete("target", f"http://{server.address}/")
    complete("list", "", "--plaintext", first=server.address)
    assert server.connections == 0


def test_configuration_is_read(directory, complete, fish):
    place = directory / ".config" / "rpcurl"
    place.mkdir(parents=True)
    (place / "config").write_text(
        f"--descriptor-set {directory}/demo.binpb\n[profile blue]\ntarget http://blue.example\n[profile two words]\n"
    )
    assert complete("profile", "") == {"blue": "http://blue.example", "two words": ""}
    assert complete("method", "demo.v1.Demo/He", first="h:1") == {"demo.v1.Demo/Hello": "unary: HelloRequest → HelloReply"}
    # With a target of its own, a method may come first.
    assert "demo.v1.Demo/Hello" in complete("target", "demo.v1.Demo/He", "--profile", "blue")
    assert complete("target", "ht", "--profile", "blue") == {"http://blue.example": "configured"}
    assert list(fish.candidates("rpcurl --profile b")) == ["blue"]
    assert Bash(directory).typed("rpcurl --profile two")[0] == "rpcurl --profile two\\ words "
    (place / "config").write_text("this is none\n")
    assert complete("profile", "") == {}


def test_keys_of_interceptors(complete):
    assert "retry" in complete("use", "")
    keys = complete("use", "replay,file=x,")
    assert "replay,file=x,file=" not in keys and "replay,file=x,fields=" in keys and "replay,file=x,priority=" in keys
    # Of those that repeat, again.
    assert "replay,fields=a,fields=" in complete("use", "replay,fields=a,")
    assert list(complete("use", "replay,match=")) == ["replay,match=exact", "replay,match=fields", "replay,match=order"]
    assert list(complete("use", "retry,codes=unavailable+ab")) == ["retry,codes=unavailable+aborted"]
    # A comma within a value does not end it.
    assert complete("use", "header,set=a:b,,c") == {}
    assert "header,set=a:b,,c,set=" in complete("use", "header,set=a:b,,c,")
    assert complete("use", "nothing,") == {}


def test_files_of_keys(directory, complete):
    (directory / "tape.ndjson").write_text("")
    (directory / "tapes").mkdir()
    assert list(complete("use", "replay,file=ta")) == ["replay,file=tape.ndjson", "replay,file=tapes/"]


def test_plugins_are_found_and_not_loaded(directory, complete, monkeypatch):
    place = directory / ".local" / "share" / "rpcurl" / "plugins"
    place.mkdir(parents=True)
    (place / "broken.so").write_text("not a plugin")
    (directory / "other.so").write_text("")
    assert complete("plugin", "") == {"broken": str(place)}
    assert list(complete("plugin", "?b")) == ["?broken"]
    assert list(complete("plugin", "./o")) == ["./other.so"]
    assert list(complete("plugin", "broken,str")) == ["broken,strict="]


def test_scripts_are_files_that_can_run(directory, complete):
    for name, mode in [("sign.py", 0o755), ("other.py", 0o644), ("sub/x.sh", 0o755), ("a.so", 0o755)]:
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_bytes(b"\x7fELF" + bytes(60) if name == "a.so" else b"#!/bin/sh\n")
        (directory / name).chmod(mode)
    assert list(complete("script", "")) == ["./sign.py", "./sub/"]
    assert list(complete("script", "./s")) == ["./sign.py", "./sub/"]
    assert list(complete("script", "sub/")) == ["sub/x.sh"]
    assert list(complete("checked", "./")) == ["./a.so", "./sub/", "./sign.py"]
    # It would be searched in $PATH.
    assert list(complete("script", "si")) == []


def test_errors_are_not_printed(rpcurl):
    for words in [(), ("use",), ("nothing", "", "", ""), ("method", "", "::", "", "--protoset"), ("method", "", "", "", "--protoset", "/none")]:
        rpcurl("complete", *words).succeeds()


def test_help_does_not_show_it(rpcurl):
    assert not re.search(r"\bcomplete\b", rpcurl("--help").out)


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_no_shell_needs_rpcurl_to_load(shell, directory):
    """A shell starts as fast as before: the scripts run nothing when they are read."""
    file = {"bash": "rpcurl.bash", "fish": "rpcurl.fish"}[shell]
    subprocess.run(
        [shutil.which(shell), "-c", f"source {COMPLETIONS / file}"], check=True, env={"PATH": "/nowhere", "HOME": str(directory)},
    )  # fmt: skip


def test_completion_never_blocks(complete, directory):
    """Endless files, pipes without a writer and standard input are not read."""
    os.mkfifo(directory / "pipe")
    for file in ["pipe", "/dev/zero", "-", "."]:
        assert complete("describe", "demo", "--descriptor-set", file) == {}
        assert complete("describe", "demo", "--config", file) == {}
    # A chain of packages with one member each is completed at once, up to a limit.
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", package=".".join(["a"] * 40_000), syntax="proto3")
    for number in range(200):
        file.message_type.add(name=f"M{number}")
    (directory / "deep.binpb").write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    assert len(complete("describe", "a", "--descriptor-set", "deep.binpb")) <= 1


def test_sockets_are_completed(complete, directory):
    (directory / "run").mkdir()
    (directory / "run" / "notes.txt").write_text("")
    (directory / "run" / "deep").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "run" / "demo.sock"))
        assert complete("target", "un") == {"unix:": "a Unix socket"}
        assert complete("target", "unix:ru") == {"unix:run/": "directory"}
        assert complete("target", "unix:run/") == {"unix:run/deep/": "directory", "unix:run/demo.sock": "socket"}
        assert complete("list", f"unix:{directory}/run/de") == {
            f"unix:{directory}/run/deep/": "directory", f"unix:{directory}/run/demo.sock": "socket",
        }  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_complete_sockets(shell, directory):
    lines = {f"{command} unix:de": f"{command} unix:demo.sock " for command in ("rpcurl", "rpcurl list", "rpcurl session")}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "demo.sock"))
        assert completed(SHELLS[shell](directory), list(lines)) == lines


def test_success_is_not_a_code_to_retry(complete):
    codes = complete("use", "retry,codes=")
    assert "retry,codes=unavailable" in codes and "retry,codes=ok" not in codes
    assert "retry,codes=unavailable+ok" not in complete("use", "retry,codes=unavailable+")
