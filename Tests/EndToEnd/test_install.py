"""The files of `make install`: all are installed, work in their places, and are uninstalled."""

import os
import re
import shutil
import subprocess

import pytest

from harness import ROOT, RPCURL, Rpcurl

HELLO = "demo.v1.Demo/Hello"

# Where there are many files, the folder stands for them.
PLACES = {
    "bin/rpcurl",
    "include/rpcurl/plugin.h",
    "lib/pkgconfig/rpcurl.pc",
    "share/bash-completion/completions/rpcurl",
    "share/doc/rpcurl/CHANGELOG.md",
    "share/doc/rpcurl/LICENSE",
    "share/doc/rpcurl/docs/COMPARISON.md",
    "share/doc/rpcurl/README.md",
    "share/doc/rpcurl/docs/proxy.svg",
    "share/doc/rpcurl/docs/session.svg",
    "share/fish/vendor_completions.d/rpcurl.fish",
    "share/rpcurl/directories",
    "share/rpcurl/rpcurl.tmLanguage.json",
    "share/zsh/site-functions/_rpcurl",
}
FOLDERS = {
    "share/doc/rpcurl/examples": ["stamp", "sign", "redact", "approve", "count", "scripts/sign.py"],
    "share/man": ["man1/rpcurl.1", "man3/rpcurl-plugin.3", "man5/rpcurl-config.5", "man7/rpcurl-retry.7"],
    "share/rpcurl/RustKit": ["rpcurl.rs"],
    "share/rpcurl/ScriptKit": ["rpcurl.py", "rpcurl.js"],
    "share/rpcurl/SwiftKit": ["Package.swift", "plugin.mk", "Sources/CRPCURLPlugin/include/rpcurl/plugin.h"],
}

pytestmark = pytest.mark.skipif(RPCURL.parent != ROOT / ".build" / "release", reason="another binary is tested")


def make(*words, **options):
    return subprocess.run(["make", "-s", *words], cwd=ROOT, check=True, capture_output=True, text=True, **options)


def files(root):
    return {str(file.relative_to(root)) for file in root.rglob("*") if not file.is_dir()}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("install") / "prefix"
    make("install-built", f"PREFIX={prefix}")
    return prefix


@pytest.fixture(scope="module")
def environment(prefix):
    """What a shell has where rpcurl is installed below the prefix."""
    paths = {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    return os.environ | paths | {"MAKEFLAGS": "", "HOME": str(prefix.parent)}


class Installed(Rpcurl):
    """Runs the binary below a prefix."""

    def command(self, arguments):
        return [str(self.home / "prefix" / "bin" / "rpcurl"), *map(str, arguments)]


@pytest.fixture
def installed(prefix):
    return Installed(prefix.parent)


def pkg_config(environment, *words):
    done = subprocess.run(["pkg-config", *words, "rpcurl"], env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def version():
    return re.search(r'current = "(.*)"', (ROOT / "Sources/Engine/Calls/Version.swift").read_text())[1]


# The files


def test_all_files_are_installed(prefix):
    found = files(prefix)
    assert {f for f in found if not any(f.startswith(f"{folder}/") for folder in FOLDERS)} == PLACES
    for folder, parts in FOLDERS.items():
        for part in parts:
            assert (prefix / folder / part).exists()
    pages = {page.name for page in (ROOT / "man").iterdir()}
    assert {page.name for page in (prefix / "share" / "man").rglob("*.?")} == pages
    assert not [f for f in found if (prefix / f).is_symlink()]
    executable = {f for f in found if os.access(prefix / f, os.X_OK)}
    examples = "share/doc/rpcurl/examples"
    scripts = {f"{examples}/scripts/{path.name}" for path in (ROOT / "Plugins/ScriptKit/examples").iterdir()}
    assert executable == {"bin/rpcurl", f"{examples}/redact/generate.sh"} | scripts


def test_links_of_the_readme_are_installed(prefix):
    folder = prefix / "share" / "doc" / "rpcurl"
    links = re.findall(r"\]\(([^)]+)\)", (folder / "README.md").read_text())
    missing = [link for link in links if not link.startswith("https:") and not (folder / link).exists()]
    assert links and missing == []


def test_the_binary_is_stripped_and_runs(installed, prefix):
    assert installed("version").succeeds().out.startswith(f"rpcurl {version()}\n")
    assert (prefix / "bin" / "rpcurl").stat().st_size < RPCURL.stat().st_size


def test_version_lists_the_features_of_libcurl(installed):
    lines = installed("version").out.splitlines()
    assert lines[1].startswith("libcurl/")
    assert [line.split(": ")[0] for line in lines[2:]] == ["HTTP", "features", "libcurl", "compression"]
    assert {"TLS", "unix sockets", "IPv6"} <= set(lines[3].removeprefix("features: ").split(", "))


def test_the_version_has_a_single_source(environment):
    header = (ROOT / "Sources/CPlugins/include/rpcurl/plugin.h").read_text()
    major, minor = (re.search(rf"define RPCURL_ABI_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR"))
    assert pkg_config(environment, "--modversion") == version()
    assert pkg_config(environment, "--variable=abi") == f"{major}.{minor}"
    for page in (ROOT / "man").iterdir():
        assert re.findall(r'^\.Os "rpcurl (.*)"$', page.read_text(), re.M) == [version()], page
    literal = re.compile(rf'"{re.escape(version())}"')
    shown = [file for file in (ROOT / "Sources").rglob("*.swift") if literal.search(file.read_text())]
    assert shown == [ROOT / "Sources/Engine/Calls/Version.swift"]


def test_man_finds_the_pages(prefix):
    for page in (prefix / "share" / "man").rglob("*.?"):
        done = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(f"{page.stem.upper()}({page.suffix[1:]})")
        assert page.parent.name == f"man{page.suffix[1:]}"


def test_shells_find_their_completions(prefix):
    bash = (prefix / "share/bash-completion/completions/rpcurl").read_text()
    assert re.search(r"complete .* rpcurl$", bash, re.M)
    assert (prefix / "share/zsh/site-functions/_rpcurl").read_text().startswith("#compdef rpcurl")
    fish = (prefix / "share/fish/vendor_completions.d/rpcurl.fish").read_text()
    assert re.search(r"^complete -c '?rpcurl'?", fish, re.M)


def test_all_users_can_read_what_is_installed(tmp_path):
    prefix = tmp_path / "a&b"
    make("install-built", f"PREFIX={prefix}", umask=0o077)
    assert {path.stat().st_mode & 0o777 for path in (prefix, *prefix.rglob("*"))} == {0o755, 0o644}
    assert (prefix / "lib/pkgconfig/rpcurl.pc").read_text().startswith(f"prefix={prefix}\n")


# Plugins


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    """A copy, as one makes it to change it."""
    folder = tmp_path_factory.mktemp("copy") / "examples"
    shutil.copytree(prefix / "share/doc/rpcurl/examples", folder)
    return folder


def build(examples, name, environment, place):
    done = subprocess.run(
        ["make", "-s", "-C", examples / name, f"OUT={place}"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def plugins(environment, prefix):
    """The directory below the prefix that is searched. It is removed after the test."""
    place = pkg_config(environment, "--variable=plugindir")
    assert place == f"{prefix}/lib/rpcurl/plugins"
    os.makedirs(place)
    yield place
    shutil.rmtree(prefix / "lib" / "rpcurl")


def test_a_plugin_in_c(installed, examples, environment, plugins, grpc_server):
    assert pkg_config(environment, "--cflags").endswith("/prefix/include")
    build(examples, "stamp", environment, plugins)
    assert "stamp" in installed("plugins").out
    result = installed(
        "--plugin", "stamp,request-field=name,request-suffix=!", "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}"
    ).succeeds()
    assert result.json()["name"] == "Ada!"


@pytest.mark.parametrize("name", ["stamp", "sign,key=x", "redact,field=string_value", "approve,file=/"])
def test_installed_samples_pass_the_check(installed, examples, environment, plugins, name):
    build(examples, name.split(",")[0], environment, plugins)
    assert installed("plugins", "check", name).succeeds().out.endswith("no problems found\n")


@pytest.mark.parametrize(("script", "program"), [("redact.py name", "python3"), ("mock.js", "node")])
def test_scripts_find_the_kits_below_the_prefix(installed, prefix, grpc_server, descriptor_set, script, program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    run = f"script,run={prefix}/share/doc/rpcurl/examples/scripts/{script}"
    result = installed("--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', "--use", run, f"{grpc_server.url}/{HELLO}").succeeds()
    assert "[redacted]" in result.out or "Hello from the mock" in result.out


def test_a_plugin_in_swift(installed, examples, environment, plugins, grpc_server, descriptor_set):
    build(examples, "count", environment, plugins)
    result = installed(
        "--descriptor-set", descriptor_set, "--plugin", "count,field=number", "-d", '{"from":1,"to":3}',
        f"{grpc_server.url}/demo.v1.Demo/Count",
    ).exits(0)  # fmt: skip
    assert len(result.out.splitlines()) == 3 and "count:   1  " in result.err


@pytest.mark.parametrize("language", ["c", "cpp", "swift", "rust"])
def test_new_plugins_find_what_is_installed_by_pkg_config(rpcurl, environment, prefix, tmp_path, language):
    if language == "rust" and shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    folder = tmp_path / "mine"
    assert rpcurl("plugins", "new", "mine", "--lang", language, "--dir", folder).code == 0
    # No paths of the rpcurl that wrote it.
    for file in folder.rglob("*"):
        assert not file.is_file() or str(ROOT) not in file.read_text()
    # The home of the user has the toolchain of Rust.
    home = {"HOME": os.environ["HOME"]} if language == "rust" else {}
    done = subprocess.run(["make", "-C", folder, "test"], env=environment | home, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{prefix}/include" in done.stdout if language in ("c", "cpp") else (folder / "mine.so").exists()
    assert "no problems found" in done.stdout


def test_new_plugins_report_missing_rpcurl(rpcurl, tmp_path):
    environment = os.environ | {
        "PKG_CONFIG_PATH": str(tmp_path), "PKG_CONFIG_LIBDIR": str(tmp_path), "MAKEFLAGS": "", "RPCURL": "none",
    }  # fmt: skip
    for language in ["c", "cpp", "swift", "rust"]:
        folder = tmp_path / language
        assert rpcurl("plugins", "new", "mine", "--lang", language, "--dir", folder).code == 0
        done = subprocess.run(["make", "-C", folder], env=environment, capture_output=True, text=True)
        assert done.returncode != 0 and "pkg-config does not find rpcurl: install rpcurl-dev" in done.stderr
        make = shutil.which("make")
        done = subprocess.run([make, "-C", folder], env=environment | {"PATH": str(tmp_path)}, capture_output=True, text=True)
        assert done.returncode != 0 and "pkg-config is not installed" in done.stderr
        if language != "swift":  # whose rules are in the kit
            subprocess.run(["make", "-C", folder, "clean"], env=environment, capture_output=True, check=True)


def test_new_plugins_find_rpcurl_by_the_path(rpcurl, prefix, tmp_path):
    environment = os.environ | {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "MAKEFLAGS": ""}
    environment.pop("PKG_CONFIG_PATH", None)
    for language in ["c", "cpp"]:
        folder = tmp_path / language
        assert rpcurl("plugins", "new", "mine", "--lang", language, "--dir", folder).code == 0
        done = subprocess.run(["make", "-C", folder, "test"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and f"-I{prefix}/include" in done.stdout, done.stderr


# Away again


def test_uninstall_leaves_nothing(tmp_path):
    prefix = tmp_path / "a" / "prefix"
    prefix.parent.mkdir()
    make("install-built", f"PREFIX={prefix}")
    make("install-built", f"PREFIX={prefix}")
    make("uninstall", f"PREFIX={prefix}")
    assert list(prefix.parent.iterdir()) == []


def test_uninstall_keeps_other_files(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "share" / "man").mkdir(parents=True)
    make("install-built", f"PREFIX={tmp_path}")
    (tmp_path / "share" / "doc" / "other").mkdir()
    (tmp_path / "share" / "doc" / "other" / "README").write_text("of another package")
    make("uninstall", f"PREFIX={tmp_path}")
    assert files(tmp_path) == {"share/doc/other/README"}
    assert {str(d.relative_to(tmp_path)) for d in tmp_path.rglob("*") if d.is_dir()} == {
        "bin", "share", "share/doc", "share/doc/other", "share/man",
    }  # fmt: skip


def test_install_into_the_tree_of_a_package(tmp_path):
    make("install-built", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert (tmp_path / "usr" / "bin" / "rpcurl").exists()
    assert (tmp_path / "usr/lib/pkgconfig/rpcurl.pc").read_text().startswith("prefix=/usr\n")
    assert not [f for f in files(tmp_path) if f != "usr/bin/rpcurl" and str(tmp_path).encode() in (tmp_path / f).read_bytes()]
    make("uninstall", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert files(tmp_path) == set()
