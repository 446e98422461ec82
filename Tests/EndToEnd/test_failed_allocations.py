"""Allocations that fail in the C libraries: libcurl, nghttp2 and OpenSSL, with the system's libcurl.

Of each: the program ends by itself with an exit code of the manual, and output is complete or the exit code is not 0.
"""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ALL_TESTS, FAILURES, PATIENCE_SECONDS

SOURCE = Path(__file__).parent / "faults" / "failing_allocations.c"
SERVICE = "demo.v1.Demo"
# The failures that represent all of them: some of the whole run, and each of the last ones. OpenSSL makes most of the first
# ones when it starts.
SELECTED, LAST = 40, 120


@pytest.fixture(scope="session")
def failing_allocations(tmp_path_factory):
    """A library to preload, which makes allocations fail."""
    library = tmp_path_factory.mktemp("allocations") / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)], check=True)
    return library


@pytest.fixture(scope="session")
def system_libcurl():
    directory = subprocess.run(
        ["pkg-config", "--variable=libdir", "libcurl"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return Path(directory) / "libcurl.so.4"


CALLS = {
    "unary": ("grpc_server", "Hello", '{"name":"Ada"}', ()),
    "stream": ("grpc_server", "Count", '{"from":1,"to":20}', ()),
    "TLS": ("grpc_tls_server", "Hello", '{"name":"Ada"}', ()),
    "Connect": ("connect_server", "Hello", '{"name":"Ada"}', ("--protocol", "connect", "--compression", "gzip")),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("until", ["once", "from then on"])
def test_failed_allocation_in_libraries(
    request, rpcurl, descriptor_set, failing_allocations, system_libcurl, tmp_path, call, until
):
    name, method, data, options = CALLS[call]
    server = request.getfixturevalue(name)
    if server.ca:
        options = (*options, "--cacert", server.ca)
    command = rpcurl.command(
        ("--descriptor-set", descriptor_set, *options, "--max-time", "30", "-d", data, f"{server.url}/{SERVICE}/{method}")
    )

    def run(first, last):
        count = tmp_path / f"{first}-{last}"
        env = {
            "LD_PRELOAD": str(failing_allocations), "RPCURL_LIBCURL": str(system_libcurl),
            "FAIL_ALLOCATIONS": f"{first}-{last}", "ALLOCATIONS_FILE": str(count),
        }  # fmt: skip
        if server.ca:
            # libcurl 7.88 frees the host of a TLS session twice if it cannot copy the session's settings.
            env["KEEP_STRINGS"] = "1"
            # OpenSSL 3.0 ends the process if it cannot allocate its context, as soon as it is asked for its random state.
            env["STARTED_LIBRARY"] = "libcrypto.so.3"
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env=rpcurl.environment(env), cwd=rpcurl.home,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        return done, int(count.read_text()) if count.exists() else 0

    whole, total = run(0, 0)
    assert (whole.returncode, whole.stderr) == (0, b"") and total > 100
    everyone = range(1, total + 1)
    numbers = everyone if ALL_TESTS else sorted({*everyone[:: total // SELECTED], *everyone[-LAST:]})

    def check(number):
        done, _ = run(number, number if until == "once" else 1 << 40)
        if done.returncode == 0:
            return None if done.stdout == whole.stdout else (number, done)
        is_reported = done.returncode in FAILURES and done.stderr.startswith(b"rpcurl: ")
        return None if is_reported and whole.stdout.startswith(done.stdout) else (number, done)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [found for found in pool.map(check, numbers) if found]
    assert not wrong
