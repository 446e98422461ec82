"""rpcurl plugins: list, check and new; and --plugin ?NAME."""

import os
import shutil
import subprocess

import pytest

from harness import ROOT, RPCURL, build_plugin, pkg_config_of_sources, write
from terminal import Terminal

SAMPLES = ROOT / ".build" / "plugins"
HELLO = "demo.v1.Demo/Hello"


@pytest.fixture
def directory(tmp_path):
    """A search path with a good plugin, a hidden one and some that are refused."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    shutil.copy(SAMPLES / "stamp.so", first)
    shutil.copy(SAMPLES / "redact.so", second / "stamp.so")
    (first / "text.so").write_text("hello\n")
    (first / "notes.txt").write_text("not looked at\n")
    shutil.copy(SAMPLES / "sign.so", first / "open.so")
    (first / "open.so").chmod(0o666)
    build_plugin("other_version.c", second / "other_version.so")
    build_plugin("no_symbol.c", second / "no_symbol.so")
    return first, second


# list


@pytest.mark.parametrize("columns", [40, 80])
def test_list_is_wrapped_between_words_on_a_terminal(rpcurl, columns):
    environment = rpcurl.environment({"TERM": "xterm"})
    screen = Terminal([str(RPCURL), "plugins"], environment, columns, rows=1000)
    screen.end()
    words = {word for line in screen.lines for word in line.split()}
    screen.close()
    whole = rpcurl("plugins").out
    # What is longer than a line is cut by the terminal only.
    assert {word for word in whole.split() if len(word) <= columns // 2} <= words
    assert any(len(line) > columns for line in whole.splitlines())


@pytest.mark.parametrize("words", [["plugins"], ["plugins", "list"]])
def test_list_shows_built_in_found_and_refused_plugins(rpcurl, directory, words):
    first, second = directory
    result = rpcurl(*words, env={"RPCURL_PLUGIN_PATH": f"{first}:{second}"}).succeeds()
    built_in, rest = result.out.split("Plugins, for --plugin:\n")
    plugins, refused = rest.split("Refused:\n")
    assert "  header: " in built_in and "set=NAME:VALUE" in built_in
    assert plugins.startswith("  stamp 1.0: stamps calls") and "      header=NAME:VALUE" in plugins
    assert f"      {first}/stamp.so\n" in plugins and f"{second}/stamp.so" not in plugins
    assert f"plugin {first}/open.so: the file is writable by everyone" in refused and "chmod go-w" in refused
    assert f"plugin {first}/text.so: not a shared object" in refused
    assert "version 2.0 of the plugin ABI, but this rpcurl has 1.0" in refused
    assert "missing symbol rpcurl_plugin_entry" in refused
    assert "notes.txt" not in result.out


def test_list_as_json(rpcurl, directory):
    result = rpcurl("plugins", "list", "--format", "json", env={"RPCURL_PLUGIN_PATH": ":".join(map(str, directory))}).succeeds()
    listed = result.json()
    header = next(entry for entry in listed["builtIns"] if entry["name"] == "header")
    assert {"form", "summary"} <= header["keys"][0].keys()
    (stamp,) = listed["plugins"]
    assert (stamp["name"], stamp["version"], stamp["path"]) == ("stamp", "1.0", f"{directory[0]}/stamp.so")
    assert any(key.startswith("header=") for key in stamp["keys"])
    assert len(listed["refused"]) == 4 and all(entry["reason"] for entry in listed["refused"])
    assert listed["searchPath"][:2] == [str(path) for path in directory]


def test_list_runs_no_code_of_refused_plugins(rpcurl, tmp_path):
    file = write(tmp_path / "plugin.c", (
        "#include <rpcurl/plugin.h>\n#include <stdio.h>\nRPCURL_NOTE_(2, 0, 0)\n"
        '__attribute__((constructor)) static void run(void) { puts("I run"); }\n'
        "const rpcurl_plugin *rpcurl_plugin_entry(void) { return 0; }\n"
    ))
    build_plugin(file, tmp_path / "p.so")
    result = rpcurl("plugins", env={"RPCURL_PLUGIN_PATH": str(tmp_path)})
    assert result.code == 0 and "I run" not in result.out


def test_list_survives_plugins_that_crash_and_exit(rpcurl, tmp_path):
    build_plugin("crash.c", tmp_path / "crash.so")
    shutil.copy(SAMPLES / "stamp.so", tmp_path)
    environment = {"RPCURL_PLUGIN_PATH": str(tmp_path), "CRASH_AT": "entry"}
    for how, words in [("", "crashed (SIGSEGV)"), ("exit", "ended the process")]:
        rpcurl("plugins", env=environment | {"CRASH_HOW": how}).succeeds().prints("  stamp 1.0: ", f"plugin {tmp_path}/crash.so: it {words} while it was loaded\n")


def test_list_names_relative_directories_that_are_ignored(rpcurl, tmp_path):
    rpcurl("plugins", env={"RPCURL_PLUGIN_PATH": f"relative:{tmp_path}"}).exits(0).prints("ignored in RPCURL_PLUGIN_PATH: 'relative' is not absolute\n")
    result = rpcurl("plugins", "--format", "json", env={"RPCURL_PLUGIN_PATH": f"relative:{tmp_path}"})
    assert result.json()["ignoredDirectories"] == ["relative"]


def test_list_of_an_empty_path_names_it(rpcurl, tmp_path):
    rpcurl("plugins", env={"RPCURL_PLUGIN_PATH": str(tmp_path)}).exits(0).prints(f"none found in {tmp_path}")


# check


@pytest.mark.parametrize(
    "plugin",
    ["stamp", "sign,key=k", "sign,key=k,stream=all", "redact,field=string_value", "count,field=string_value", "count-shared,field=string_value"],
)
def test_check_passes_the_samples(rpcurl, plugin):
    name, *configuration = plugin.split(",")
    lines = rpcurl("plugins", "check", ",".join([f"{SAMPLES}/{name}.so", *configuration])).exits(0).out.splitlines()
    assert lines[-1] == "no problems found"
    assert "ok    symbol: rpcurl_plugin_entry" in lines
    # Four kinds: three courses, alone and among interceptors that hold, and with one that responds or fails.
    assert sum(line.startswith("ok    call: ") for line in lines) == 32


def test_check_finds_a_token_that_is_never_used(rpcurl):
    plugin = f"{SAMPLES}/approve.so,file=/no/such/file"
    rpcurl("plugins", "check", "--call-time", "50ms", plugin).exits(7).reports(
        "rpcurl: call: Unary, success: the plugin did not use the token of request_start within 50 ms",
    )


def test_check_finds_a_plugin_that_fails_every_call(rpcurl):
    rpcurl("plugins", "check", f"{SAMPLES}/stamp.so,request-field=nonsense").exits(7).prints("the plugin failed the call: internal: google.protobuf.Value has no field nonsense").reports(
        "rpcurl: calls: Unary: the plugin failed every call: internal: ", "--method",
    )


def test_check_calls_a_method_of_the_schema(rpcurl, descriptor_set):
    plugin = f"{SAMPLES}/stamp.so,request-field=name,request-prefix=x,response-field=message,response-value=y"
    result = rpcurl("plugins", "check", "--descriptor-set", descriptor_set, "--method", HELLO, plugin).exits(0)
    calls = [line for line in result.out.splitlines() if "call: " in line]
    assert len(calls) == 8 and all(line.startswith("ok    call: Hello, ") for line in calls)
    rpcurl("plugins", "check", "--descriptor-set", descriptor_set, plugin).exits(2).reports("missing option: --method")
    rpcurl("plugins", "check", "--descriptor-set", descriptor_set, "--method", "demo.v1.Demo/Helo", plugin).exits(3).reports("Hello")


def test_check_ends_a_callback_that_never_returns(rpcurl, tmp_path):
    plugin = build_plugin("crash.c", tmp_path / "crash.so")
    rpcurl(
        "plugins", "check", "--call-time", "50ms", plugin, env={"CRASH_AT": "request_start", "CRASH_HOW": "hang"}
    ).exits(7).reports("plugin crash: did not return after the deadline, in request_start, in the call rpcurl.check")


def test_check_states_what_it_did_not_exercise(rpcurl, tmp_path):
    plugin = build_plugin("declining.c", tmp_path / "declining.so")
    result = rpcurl("plugins", "check", plugin).succeeds()
    assert result.out.splitlines()[-2:] == [
        "note  not exercised: the plugin declined all 32 calls", "no problems found in what was exercised",
    ]  # fmt: skip
    rpcurl("plugins", "check", f"{plugin},calls=yes").exits(0).prints("note  not exercised: a response to its HTTP request, made 32 times\n")


def test_check_reports_callbacks_that_block(rpcurl, tmp_path):
    seen = tmp_path / "seen"
    plugin = build_plugin("blocking.c", tmp_path / "blocking.so")
    with rpcurl.start("plugins", "check", "--call-time", "15s", f"{plugin},seen={seen}") as process:
        # The callback blocks until the file exists.
        for line in process.stderr:
            if b"request_message has been running for 100 ms" in line:
                seen.write_text("")
        lines = process.stdout.read().splitlines()
        assert process.wait() == 0
    assert b"warn  request_message blocked the loop for more than 100 ms" in lines
    assert lines[-1] == b"only warnings found"


def test_check_finds_misuse(rpcurl, tmp_path):
    result = rpcurl("plugins", "check", build_plugin("misbehaving.c", tmp_path / "misbehaving.so")).exits(7).reports(
        "rpcurl: call: Unary, success: the plugin misbehaves: proceed with a token that it never received\n",
    )
    assert "nothing wrong" not in result.out


@pytest.mark.parametrize(
    ("fixture", "step", "words"),
    [
        ("no_symbol", "inspection", "missing symbol rpcurl_plugin_entry"),
        ("no_note", "inspection", "no ABI version note"),
        ("other_version", "inspection", "version 2.0"),
        ("null_entry", "loading", "returns null"),
        ("undefined", "loading", "nobody_has_this"),
        ("fussy", "loading", "the only key is fail"),
    ],
)
def test_check_names_the_step_at_which_a_plugin_fails(rpcurl, tmp_path, fixture, step, words):
    plugin = build_plugin(f"{fixture}.c", tmp_path / f"{fixture}.so")
    result = rpcurl("plugins", "check", f"{plugin},colour=red").exits(7)
    assert result.err.startswith(f"rpcurl: {step}: ") and words in result.err


def test_check_reports_a_crash_after_the_steps_that_passed(rpcurl, tmp_path):
    rpcurl("plugins", "check", build_plugin("crash.c", tmp_path / "crash.so"), env={"CRASH_AT": "response_end"}).exits(7).prints("ok    loaded: crash").reports(
        "plugin crash: crashed (SIGSEGV) in response_end, in the call rpcurl.check.Check/Unary",
    )


def test_check_of_a_missing_file(rpcurl):
    rpcurl("plugins", "check", "nosuchplugin").exits(7).reports("not found in")
    assert rpcurl("plugins", "check").code == 2


# new


def make(folder, *arguments, is_valid=True, environment={}):
    done = subprocess.run(
        ["make", "-C", folder, *arguments, f"RPCURL={RPCURL}"], capture_output=True, text=True,
        env=os.environ | {"MAKEFLAGS": ""} | pkg_config_of_sources() | environment,
    )  # fmt: skip
    assert (done.returncode == 0) == is_valid, done.stdout + done.stderr
    return done


@pytest.mark.parametrize(("language", "ending", "flags"), [("c", "c", "CFLAGS"), ("cpp", "cpp", "CXXFLAGS")])
def test_new_in_c_builds_and_passes_its_own_test(rpcurl, tmp_path, language, ending, flags):
    folder = tmp_path / "my-plugin"
    rpcurl("plugins", "new", "my-plugin", "--lang", language, "--dir", folder).succeeds().prints(str(folder))
    make(folder, "test", f"{flags}=-Werror")
    rpcurl("plugins", "check", f"{folder}/my-plugin.so").exits(7).reports("needs name=TEXT")
    result = make(folder, "check", "CONFIG=colour=red", is_valid=False)
    assert "colour: unknown key" in result.stderr
    # The loaded plugin does not change: the file is replaced, not overwritten.
    before = (folder / "my-plugin.so").stat().st_ino
    os.utime(folder / f"my-plugin.{ending}")
    with open(folder / "my-plugin.so") as _:
        make(folder)
    assert (folder / "my-plugin.so").stat().st_ino != before


def test_new_in_c_uses_the_flags_of_the_user(rpcurl, tmp_path):
    folder = tmp_path / "my-plugin"
    assert rpcurl("plugins", "new", "my-plugin", "--dir", folder).code == 0
    source = folder / "my-plugin.c"
    # Functions of POSIX, and of a library.
    source.write_text(
        "#include <math.h>\n#include <time.h>\n" + source.read_text()
        + "double root(double number) { struct timespec now; return sqrt(number) + clock_gettime(CLOCK_REALTIME, &now); }\n"
    )  # fmt: skip
    done = make(folder, "CPPFLAGS=-DMINE", "LDFLAGS=-Wl,-z,now", "LDLIBS=-lm -lpthread", "CFLAGS=-Werror")
    assert "-DMINE" in done.stdout and "-Wl,-z,now" in done.stdout and done.stdout.split(" my-plugin.c ")[1].startswith("-lm")
    dynamic = subprocess.run(["readelf", "-d", folder / "my-plugin.so"], capture_output=True, text=True, check=True).stdout
    assert "libm.so" in dynamic and "NOW" in dynamic


def toolchain(name, home):
    """The environment in which `make` finds a toolchain."""
    if name == "rust" and shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    if name != "rust of debian":
        return {}
    folder = ROOT / ".build" / "debian-rust" / "usr"
    if not (folder / "bin" / "cargo").exists():
        pytest.skip("make debian-rust has not fetched it")
    [library] = folder.glob("lib/*/librustc_driver-*.so")
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(library.parent), "CARGO_HOME": str(home)}


@pytest.mark.parametrize("language", ["swift", "rust", "rust of debian"])
def test_new_in_other_languages_builds_and_passes_its_own_test(
    rpcurl, demo, tmp_path, grpc_server, language
):
    environment = toolchain(language, tmp_path / "cargo")
    language = language.split()[0]
    folder = tmp_path / "my-plugin"
    assert rpcurl("plugins", "new", "--lang", language, "my-plugin", "--dir", folder).code == 0
    assert "name=TEXT" in (folder / "README.md").read_text()
    done = make(folder, "test", environment=environment)
    assert "warning" not in done.stdout + done.stderr
    result = demo(
        "-d", "{}", "--plugin", f"{folder}/my-plugin.so,name=X-Mine",
        f"{grpc_server.url}/demo.v1.Demo/EchoMetadata",
    )  # fmt: skip
    assert {"name": "x-mine", "value": "1"} in result.json()["headers"]



@pytest.mark.parametrize(("language", "ending"), [("python", "py"), ("js", "js"), ("sh", "sh")])
def test_new_script_passes_its_own_test(rpcurl, tmp_path, language, ending):
    if shutil.which({"python": "python3", "js": "node", "sh": "jq"}[language]) is None:
        pytest.skip(f"{language} is not installed")
    folder = tmp_path / "my-script"
    rpcurl("plugins", "new", "my-script", "--lang", language, "--dir", folder).succeeds().prints(f"make -C {folder} test")
    executable = {path.name for path in folder.iterdir() if os.access(path, os.X_OK)}
    assert executable == {f"my-script.{ending}", f"test_my-script.{ending}"} and "@" not in (folder / "README.md").read_text()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NODE_PATH")}
    subprocess.run([folder / f"test_my-script.{ending}"], check=True, env=environment, capture_output=True)
    assert "no problems found" in make(folder, "test").stdout
    kit = folder / f"rpcurl.{ending}"
    assert not kit.exists() or kit.read_text() == (ROOT / "Plugins" / "ScriptKit" / kit.name).read_text()


def test_new_script_has_another_name_than_the_kit(rpcurl, tmp_path):
    rpcurl("plugins", "new", "rpcurl", "--lang", "js", "--dir", tmp_path / "d").fails(2, "'rpcurl' is the name of the kit")


@pytest.mark.parametrize("name", ["json", "select", "token"])
def test_new_script_has_another_name_than_a_module_of_python(rpcurl, tmp_path, name):
    made = rpcurl("plugins", "new", name, "--lang", "python", "--dir", tmp_path / "d")
    made.fails(2, f"'{name}' is the name of a module of Python, which the script would replace")
    rpcurl("plugins", "new", name, "--lang", "sh", "--dir", tmp_path / "e").exits(0)


def test_new_overwrites_nothing(rpcurl, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "Makefile").write_text("mine\n")
    rpcurl("plugins", "new", "hello", "--dir", folder).exits(2).reports("the files exist already")
    assert (folder / "Makefile").read_text() == "mine\n" and len(list(folder.iterdir())) == 1


def test_new_leaves_nothing_after_a_failure(rpcurl, tmp_path):
    # The shell limits the size of files to 0 bytes.
    script = "ulimit -f 0; trap '' XFSZ; exec \"$0\" plugins new hello --dir a/b"
    done = subprocess.run(["sh", "-c", script, RPCURL], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "File too large" in done.stderr and list(tmp_path.iterdir()) == []
    rpcurl("plugins", "new", "hello", "--dir", "/proc/none").exits(1).reports("/proc/none/")


@pytest.mark.parametrize("name", ["", "Hello", "../up", "a b", "1st", "x-", "é"])
def test_new_refuses_names(rpcurl, tmp_path, name):
    assert rpcurl("plugins", "new", name, "--dir", tmp_path / "d").code == 2 and not (tmp_path / "d").exists()


# --plugin ?NAME


def test_optional_plugin_may_be_missing(demo, grpc_server, tmp_path):
    def call(plugin, *options):
        return demo("-d", '{"name":"Ada"}', "--plugin", plugin, *options, f"{grpc_server.url}/{HELLO}")

    for missing in ["?nosuchplugin,key=value", f"?{tmp_path}/none.so"]:
        call(missing).succeeds()
        result = call(missing, "-v")
        name = missing[1:].split(",")[0]
        assert f"* plugin {name}: not found, skipped\n" in result.err
    changed = call(f"?{SAMPLES}/stamp.so,response-field=message,response-value=new").json()
    assert changed["message"] == "new"
    # One that is there must be right.
    broken = write(tmp_path / "broken.so", "x")
    assert call(f"?{broken}").code == 7
    assert call(f"?{SAMPLES}/stamp.so,colour=red").code == 7


def test_strict_fails_calls_of_a_plugin_that_misbehaves(rpcurl, grpc_server, descriptor_set, tmp_path):
    plugin = build_plugin("misbehaving.c", tmp_path / "misbehaving.so")
    arguments = ["--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}"]
    rpcurl("--plugin", f"{plugin},strict=true", *arguments).exits(64 + 13).reports("the plugin misbehaves: ")
    rpcurl("--plugin", f"{plugin},strict=perhaps", *arguments).exits(7).reports("strict: neither true nor false")
