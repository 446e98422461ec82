"""Which libcurl is used, and which authorities it trusts."""

import json
import shutil
import subprocess

import pytest

from harness import RPCURL, Caller, Result

HELLO = "demo.v1.Demo/Hello"
HINT = "hint: unset RPCURL_LIBCURL, or set it to the absolute path of libcurl 7.88 or newer\n"


@pytest.fixture(scope="module")
def system_libcurl():
    """The path of the system's libcurl."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    paths = [line.split(" => ")[1] for line in listed.splitlines() if line.strip().startswith("libcurl.so.4 ")]
    if not paths:
        pytest.skip("the system has no libcurl.so.4")
    return paths[0]


def libcurl(rpcurl, **env):
    return rpcurl("version", "--format", "json", env=env).json()["libcurl"]


# RPCURL_LIBCURL


def test_version_as_json(rpcurl):
    version = rpcurl("version", "--format", "json").succeeds().json()
    lines = rpcurl("version").out.splitlines()
    assert lines[0] == f"rpcurl {version['version']}"
    assert lines[1] == version["libcurl"]["libraries"]
    assert lines[2] == f"HTTP: {', '.join(version['libcurl']['httpVersions'])}"
    assert lines[3] == f"features: {', '.join(version['libcurl']['features'])}"
    assert lines[5] == f"compression: {', '.join(version['compressions'])}"
    assert version["libcurl"]["libraries"].startswith(f"libcurl/{version['libcurl']['version']} ")


def test_the_variable_names_a_libcurl(rpcurl, system_libcurl, grpc_server, descriptor_set):
    env = {"RPCURL_LIBCURL": system_libcurl}
    found = libcurl(rpcurl, **env)
    assert (found["source"], found["path"]) == ("named", system_libcurl)
    assert f"libcurl: {system_libcurl} (RPCURL_LIBCURL)\n" in rpcurl("version", env=env).out
    result = rpcurl(
        "-vv", "--descriptor-set", descriptor_set, "-d", '{"name":"Ada"}', f"{grpc_server.url}/{HELLO}", env=env
    )
    assert result.code == 0 and result.json()["name"] == "Ada"


def test_an_empty_variable_is_ignored(rpcurl):
    assert libcurl(rpcurl, RPCURL_LIBCURL="")["source"] in ("built-in", "system")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("libcurl.so.4", "not an absolute path"),
        ("/no/such/libcurl.so.4", "cannot open shared object file: No such file or directory"),
        ("/etc/passwd", "file too short|invalid ELF header"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--http3"]])
def test_unloadable_libcurl(rpcurl, demo, path, why, options):
    env = {"RPCURL_LIBCURL": path}
    result = demo(*options, f"https://localhost:1/{HELLO}", env=env).exits(2, "")
    assert result.err in [f"rpcurl: RPCURL_LIBCURL: {path}: {reason}\n{HINT}" for reason in why.split("|")]
    rpcurl("version", env=env).exits(0).prints(f"libcurl: not available: RPCURL_LIBCURL: {path}: ")
    assert libcurl(rpcurl, **env)["error"].startswith(f"RPCURL_LIBCURL: {path}: ")


def test_a_library_that_is_not_libcurl(rpcurl, tmp_path):
    other = tmp_path / "other.so"
    (tmp_path / "other.c").write_text("int other(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", other, tmp_path / "other.c"], check=True)
    assert libcurl(rpcurl, RPCURL_LIBCURL=str(other)) == {
        "source": "named", "path": str(other),
        "error": f"RPCURL_LIBCURL: {other}: libcurl lacks the function curl_global_init",
    }  # fmt: skip


# Authorities


@pytest.fixture
def call(demo, grpc_tls_server):
    return lambda *options, **env: Caller(demo, grpc_tls_server)("Hello", *options, data='{"name":"Ada"}', env=env)


def is_trusted(result):
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith('{"message":"Hello')
    return True


def is_not_trusted(result):
    assert (result.code, result.out) == (6, "")
    assert "\nhint: use --cacert FILE to trust its authority" in result.err
    return True


@pytest.fixture
def hashed(certificates, tmp_path):
    """A directory with the tests' authority, prepared for OpenSSL."""
    directory = tmp_path / "authorities"
    directory.mkdir()
    shutil.copy(certificates / "ca.pem", directory)
    subprocess.run(["openssl", "rehash", directory], check=True)
    return directory


def test_file_of_the_environment(call, certificates):
    assert is_not_trusted(call())
    assert is_trusted(call(SSL_CERT_FILE=str(certificates / "ca.pem")))
    assert is_not_trusted(call(SSL_CERT_FILE=""))


def test_directory_of_the_environment(call, hashed):
    assert is_trusted(call(SSL_CERT_DIR=str(hashed)))
    assert is_not_trusted(call(SSL_CERT_DIR=""))


def test_options_take_precedence_over_the_environment(call, certificates, hashed, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    other = tmp_path / "other.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
         "/CN=other", "-keyout", tmp_path / "other.key", "-out", other],
        check=True, capture_output=True,
    )  # fmt: skip
    trusted = str(certificates / "ca.pem")
    assert is_not_trusted(call("--cacert", other, SSL_CERT_FILE=trusted, SSL_CERT_DIR=str(hashed)))
    assert is_not_trusted(call("--capath", empty, SSL_CERT_FILE=trusted))
    assert is_trusted(call("--cacert", trusted, SSL_CERT_FILE=str(other)))
    assert is_trusted(call("--capath", hashed, SSL_CERT_FILE=str(other)))


def test_file_of_the_environment_that_is_missing(call):
    call(SSL_CERT_FILE="/no/such/file.pem").exits(6, "").reports("/no/such/file.pem")


@pytest.fixture
def call_where_authorities_are_in(rpcurl, descriptor_set, grpc_tls_server, certificates):
    """Calls where /etc/ssl is empty but for a file with the tests' authority, if a path is given."""
    script = """
      mount -t tmpfs none /etc/ssl
      if [ -n "$1" ]; then mkdir -p "$(dirname "$1")"; cp "$2" "$1"; fi
      shift 2
      exec "$@"
    """
    within = ["unshare", "--map-root-user", "--mount", "sh", "-e", "-c"]
    if subprocess.run([*within, "mount -t tmpfs none /etc/ssl"], capture_output=True).returncode != 0:
        pytest.skip("no mounts in a namespace are permitted here")

    def run(path, *options):
        command = [
            *within, script, "sh", path or "", certificates / "ca.pem", RPCURL, "--descriptor-set", descriptor_set,
            "-d", '{"name":"Ada"}', *options, f"{grpc_tls_server.url}/{HELLO}",
        ]  # fmt: skip
        done = subprocess.run(command, env=rpcurl.environment(None), cwd=rpcurl.home, input=b"", capture_output=True)
        return Result(done.returncode, done.stdout, done.stderr.decode())

    return run


@pytest.mark.parametrize("path", ["certs/ca-certificates.crt", "ca-bundle.pem", "cert.pem"])
def test_usual_places(call_where_authorities_are_in, path):
    assert is_trusted(call_where_authorities_are_in(f"/etc/ssl/{path}"))


def test_no_authorities_at_all(call_where_authorities_are_in, certificates):
    call_where_authorities_are_in(None).exits(6, "").reports(
        "no certificate authorities found on this machine\n", "hint: install ca-certificates, set SSL_CERT_FILE, or use --cacert FILE\n",
    )
    assert is_trusted(call_where_authorities_are_in(None, "--cacert", certificates / "ca.pem"))
    assert is_trusted(call_where_authorities_are_in(None, "-k"))


# The program


@pytest.mark.skipif(RPCURL.name != "rpcurl", reason="another binary is tested")
def test_a_copied_binary_calls_over_tls(tmp_path, grpc_tls_server, certificates, descriptor_set):
    """The program needs nothing beside itself, and no variable of the environment."""
    program = tmp_path / "rpcurl"
    shutil.copy(RPCURL, program)
    done = subprocess.run(
        [program, "--descriptor-set", descriptor_set, "--cacert", certificates / "ca.pem", "-d", '{"name":"Ada"}',
         f"{grpc_tls_server.url}/{HELLO}"],
        env={}, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["name"] == "Ada"
