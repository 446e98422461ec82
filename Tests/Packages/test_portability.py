"""The program on systems that lack something, against a real server."""

import json
import re
import shutil

import pytest
from conftest import MACHINE, ROOT, System, package

HELLO = "demo.v1.Demo/Hello"
RPCURL = "/usr/bin/rpcurl"


def greeting(done):
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)["message"]


def test_without_anything_but_the_c_library(bare_system, grpc_server):
    """No HOME, /etc, /proc, /dev and /tmp, as in an image FROM scratch."""
    assert greeting(bare_system(RPCURL, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}")) == "Hello, Ada!"


def test_sources_are_compiled_without_anything_but_the_c_library(bare_system, grpc_server):
    folder = bare_system.root / "protos"
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "Tests/Servers/demo.proto", folder)
    done = bare_system(RPCURL, "--proto", "/protos", "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}")
    assert greeting(done) == "Hello, Ada!"
    assert json.loads(bare_system(RPCURL, "template", "--proto", "/protos/demo.proto", "Demo/Hello").stdout) == {"name": "", "language": ""}


def test_health_of_a_service_in_a_container(bare_system, grpc_server):
    done = bare_system(RPCURL, "health", "--plaintext", grpc_server.address)
    assert done.returncode == 0 and "SERVING" in done.stdout


def test_without_certificate_authorities(bare_system, grpc_tls_server):
    done = bare_system(RPCURL, "-d", "{}", f"{grpc_tls_server.url}/{HELLO}", check=False)
    assert done.returncode == 6 and "no certificate authorities" in done.stderr, done
    (bare_system.root / "ca.pem").write_bytes(grpc_tls_server.ca.read_bytes())
    for options, env in ((["--cacert", "/ca.pem"], {}), ([], {"SSL_CERT_FILE": "/ca.pem"})):
        done = bare_system(
            RPCURL, *options, "-d", '{"name":"Ada"}', "--resolve", f"localhost:{grpc_tls_server.port}:127.0.0.1",
            f"{grpc_tls_server.url}/{HELLO}", env=env,
        )  # fmt: skip
        assert greeting(done) == "Hello, Ada!"


def test_on_a_file_system_that_is_read_only(bare_system, grpc_server):
    (bare_system.root / "home").mkdir(exist_ok=True)
    done = bare_system(
        RPCURL, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}", read_only=True, env={"HOME": "/home"}
    )  # fmt: skip
    assert greeting(done) == "Hello, Ada!"
    assert list((bare_system.root / "home").iterdir()) == []


@pytest.mark.parametrize("locale", ["C", "POSIX", "xx_YY.none"])
def test_in_the_locale_c(bare_system, grpc_server, locale):
    done = bare_system(RPCURL, "-d", '{"name":"Zoë"}', f"{grpc_server.url}/{HELLO}", env={"LC_ALL": locale})
    assert greeting(done) == "Hello, Zoë!"


@pytest.mark.parametrize(("jobs", "are_enough"), [(40, True), (100, False)])
def test_with_64_file_descriptors(bare_system, connect_server, jobs, are_enough):
    """Over HTTP/1.1 each call at the same time has a connection."""
    names = [f"name {number}" for number in range(200)]
    done = bare_system(
        RPCURL, "--protocol", "connect", "--http1.1", "--each", "--jobs", jobs, "-d", "@-",
        f"{connect_server.url}/{HELLO}", descriptors=64, check=False,
        input="\n".join(json.dumps({"name": name}) for name in names),
    )  # fmt: skip
    received = [json.loads(line)["name"] for line in done.stdout.splitlines()]
    failed = re.findall(r"^rpcurl: call (\d+): .*Too many open files$", done.stderr, re.M)
    assert received == [name for number, name in enumerate(names, 1) if str(number) not in failed], done
    assert (done.returncode, done.stderr) == (0, "") if are_enough else done.returncode == 5 and failed, done


def test_with_the_oldest_c_library(old_system, grpc_server):
    assert "2.31" in old_system(f"/lib/{MACHINE}-linux-gnu/libc.so.6").stdout
    assert greeting(old_system(RPCURL, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}")) == "Hello, Ada!"


def test_names_are_resolved_with_the_oldest_c_library(old_system, grpc_server):
    (old_system.root / "etc").mkdir(exist_ok=True)
    (old_system.root / "etc/hosts").write_text("127.0.0.1 server.example\n")
    url = f"http://server.example:{grpc_server.port}/{HELLO}"
    assert greeting(old_system(RPCURL, "-d", '{"name":"Ada"}', url)) == "Hello, Ada!"


def test_unpacked_with_busybox_where_there_is_no_glibc(may_chroot, grpc_server, tmp_path):
    """As on Alpine, whose own C library is at another place."""
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/busybox", tmp_path / "bin/busybox")
    shutil.copy(package("*-libc.tar.gz"), tmp_path / "rpcurl.tar.gz")
    system = System(tmp_path)
    system("/bin/busybox", "tar", "-xzf", "/rpcurl.tar.gz", "-C", "/")
    call = f"""{RPCURL} -d '{{"name":"Ada"}}' {grpc_server.url}/{HELLO}"""
    assert greeting(system("/bin/busybox", "sh", "-c", call)) == "Hello, Ada!"
