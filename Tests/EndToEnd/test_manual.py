"""The manual's pages of commands: each example succeeds verbatim, and each option has one."""

import json
import re
import shutil
import subprocess

import pytest

import manual
from harness import ROOT, RPCURL, closed_port

PAGES = sorted(page.name for page in (ROOT / "man").glob("rpcurl*.1"))
EXAMPLES = [(page, number) for page in PAGES for number in range(len(manual.examples(page)))]


def commands():
    """All commands of the binary that take arguments, each with its definition."""
    dump = subprocess.run([RPCURL, "--dump-options"], capture_output=True, check=True)
    for command in json.loads(dump.stdout)["commands"]:
        yield tuple(command["name"].split()), command


def options():
    """Each option of any command, by all its names, with its examples."""
    found = {}
    for _, command in commands():
        for option in command["options"]:
            found.setdefault(tuple(sorted(option["names"])), []).append(option["example"])
    return found


def is_used(name, script):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script)


@pytest.fixture
def place(tmp_path, certificates):
    """Where an example runs, with the files that it names."""
    for file in certificates.iterdir():
        shutil.copy(file, tmp_path)
    (tmp_path / "protos").mkdir()
    shutil.copy(ROOT / "Tests" / "Servers" / "demo.proto", tmp_path / "protos")
    return tmp_path


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_examples_succeed(page, number, place, descriptor_set, request, tmp_path_factory, start_server):
    script = manual.examples(page)[number]
    if "make -C" in script and not shutil.which("make"):
        pytest.skip("make is missing")
    servers = {
        "localhost:50051": "grpc_server", "localhost:50052": "grpc_tls_server", "localhost:50053": "grpc_mtls_server",
        "localhost:8080": "connect_server",
    }  # fmt: skip
    replacing = []
    for address, fixture in servers.items():
        if address in script:
            server = request.getfixturevalue(fixture)
            replacing.append((address, f"localhost:{server.port}"))
    if "127.0.0.1:8090" in script:
        replacing.append(("127.0.0.1:8090", f"127.0.0.1:{closed_port()}"))
    if "demo.sock" in script:
        # A socket's name must be short.
        socket = tmp_path_factory.mktemp("socket") / "s"
        start_server("grpc_server.py", "--unix", socket)
        replacing.append(("demo.sock", str(socket)))
    done = manual.run(script, place, descriptor_set, replacing, RPCURL_PLUGIN_PATH=str(ROOT / ".build" / "plugins"))
    assert done.returncode == 0, done.stderr
    assert not re.search(r"^rpcurl: ", done.stderr, re.M), done.stderr


def test_each_option_has_an_example_that_uses_it():
    examples = options()
    assert len(examples) > 50
    assert [
        (names, example)
        for names, found in examples.items()
        for example in found
        if not any(is_used(name, example) for name in names)
    ] == []


def test_every_command_has_its_page():
    names = {path[0] for path, _ in commands()}
    assert {f"rpcurl-{name}.1" for name in names} | {"rpcurl.1"} == set(PAGES)


def test_every_option_is_described_on_the_pages_of_its_commands():
    """On its page, or in a group of rpcurl-options(7) that the page names: the whole group, or this option of it."""
    groups = (ROOT / "man" / "rpcurl-options.7").read_text().split(".Sh OPTIONS\n")[1].split(".Ss ")
    for path, command in commands():
        page = (ROOT / "man" / f"rpcurl-{path[0]}.1").read_text()
        if len(path) > 1:
            page = page.split(f".Ss {' '.join(path)}\n")[1].split(".Ss ")[0]
        whole = " ".join(re.findall(r"^All options of the groups (.*) of$", page, re.M))
        for option in command["options"]:
            assert option["summary"], option
            for name in option["names"]:
                item = rf"^\.It .*Fl {re.escape(name[1:])}(?![\w-])"
                if not re.search(item, page, re.M):
                    (group,) = (one.partition("\n")[0] for one in groups if re.search(item, one, re.M))
                    listed = re.search(rf"^\.It {group}\n\.Fl (.*)$", page, re.M)
                    assert group in whole or name[1:] in listed[1].split(" , "), f"{name} in {page[:40]}"


def test_the_first_page_names_all_others():
    text = (ROOT / "man" / "rpcurl.1").read_text().split(".Sh SEE ALSO\n")[1]
    named = set(re.findall(r"^\.Xr (\S+) (\d)", text, re.M))
    pages = {(page.stem, page.suffix[1:]) for page in (ROOT / "man").iterdir()} - {("rpcurl", "1")}
    assert pages <= named


def test_pages_of_see_also_exist():
    own = {(page.stem, page.suffix[1:]) for page in (ROOT / "man").iterdir()}
    for page in (ROOT / "man").iterdir():
        for name, number in re.findall(r"^\.Xr (rpcurl\S*) (\d)", page.read_text(), re.M):
            assert (name, number) in own, f"{page.name} names {name}({number})"


def test_events_of_the_manual_are_those_of_a_call(rpcurl, grpc_server, descriptor_set):
    """rpcurl-call(1) describes each event with its members."""
    text = (ROOT / "man" / "rpcurl-call.1").read_text()
    described = {}
    for event in re.findall(r'^\{"event".*?\}$', text, re.M | re.S):
        described[re.search(r'"event":"(\w+)"', event)[1]] = set(re.findall(r'"(\w+)":', event))
    seen = {}
    assertion = "assert,check=.message == Eve"
    retried = ["--attribute", "tier=gold", "--use", "retry,initial=10ms", "--use", "hedge,attempts=2", "-H", "demo-fail-attempts: 2"]
    for options in (["-d", '{"name":"Ada"}'], ["-d", '{"name":"Ada"}', "--use", assertion], ["-d", '{"name":"Ada"}', *retried]):
        result = rpcurl(
            "--format", "events", "--descriptor-set", descriptor_set, *options, f"{grpc_server.url}/demo.v1.Demo/Hello"
        )
        for line in result.out.splitlines():
            event = json.loads(line)
            seen.setdefault(event["event"], set()).update(event)
    assert set(described) == set(seen)
    optional = {"resolve_ms", "connect_ms", "tls_ms", "first_byte_ms"}
    for name, members in seen.items():
        assert members - optional == described[name], name
    assert all(member in text for member in optional)


def test_keys_of_interceptors_are_those_of_their_pages(rpcurl):
    """In both directions. Completion, errors and `rpcurl plugins` use the same list of keys."""
    for interceptor in rpcurl("plugins", "list", "--format", "json").json()["builtIns"]:
        page = (ROOT / "man" / f"rpcurl-{interceptor['name']}.7").read_text().split(".Sh EXAMPLES")[0]
        keys = {key["form"].partition("=")[0] for key in interceptor["keys"]}
        described = set()
        for item in re.findall(r"^\.It (.*)$", page, re.M):
            described.update(re.findall(r"Cm ([a-z][a-z-]*) Ns =", item))
        assert keys == described, interceptor["name"]


def test_keys_of_interceptors_in_documents_exist(rpcurl):
    """Of `NAME,KEY=VALUE` in text and examples, also of those that no test runs."""
    common = set(re.findall(r"^\.It Cm ([a-z]+) Ns =", (ROOT / "man" / "rpcurl.1").read_text(), re.M))
    interceptors = rpcurl("plugins", "list", "--format", "json").json()["builtIns"]
    keys = {one["name"]: {key["form"].partition("=")[0] for key in one["keys"]} for one in interceptors}
    use = re.compile(rf"(?<![\w./-])({'|'.join(keys)})(,[a-z][a-z-]*=[^\s'\"`\\)]*)")
    found = 0
    for path in [*(ROOT / "man").iterdir(), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for name, settings in use.findall(path.read_text()):
            for key in re.findall(r",([a-z][a-z-]*)=", settings):
                found += 1
                assert key in keys[name] or key.removeprefix("chain-") in common, f"{path.name}: {name},{key}"
    assert found > 100


def test_commands_of_a_session_are_in_its_page(rpcurl):
    """In both directions, without the arguments of commands."""
    lines = rpcurl("session", "http://localhost:1", input="help\n").out.split("\n\n")[0].splitlines()
    page = (ROOT / "man" / "rpcurl-session.1").read_text().split(".Sh LINES")[1].split(".Sh ")[0]
    items = " ".join(re.findall(r"^\.It (.*)$", page, re.M))
    named = {word for words in re.findall(r"Cm ((?:[a-z]+(?: , )?)+)", items) for word in words.split(" , ")}
    # Not commands: words that follow one. `!` and `|` have their paragraph.
    assert named - {"load", "reload", "off", "every", "stream"} == {line.split()[0] for line in lines} - {"!COMMAND"}
