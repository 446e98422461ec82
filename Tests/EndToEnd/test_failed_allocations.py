"""Allocations that fail in C: in libcurl, nghttp2 and OpenSSL, with the system's libcurl, in the libraries that the program
loads, and in the modules of Sources.

Of each: the program ends by itself with an exit code of the manual, and output is complete or the exit code is not 0.
"""

import json
import os
import random
import re
import string
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import ALL_TESTS, FAILURES, PATIENCE_SECONDS, ROOT
from google.protobuf.descriptor_pb2 import FileDescriptorSet

FAULTS = Path(__file__).parent / "faults"
SERVICE = "demo.v1.Demo"
# The failures that represent all of them: some of the whole run, and each of the last ones. OpenSSL makes most of the first
# ones when it starts.
SELECTED, LAST = 40, 120
NETWORK = "libcurl.:libnghttp2.:libssl.:libcrypto."
# Longer than the pieces of a codec's output, and short enough for an argument.
LONG = json.dumps({"name": "".join(random.Random(1).choices(string.ascii_letters, k=80_000))})


@pytest.fixture(scope="session")
def failing_allocations(tmp_path_factory):
    """A library to preload, which makes allocations fail."""
    library = tmp_path_factory.mktemp("allocations") / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(FAULTS / "failing_allocations.c")], check=True)
    return library


@pytest.fixture(scope="session")
def system_libcurl():
    directory = subprocess.run(
        ["pkg-config", "--variable=libdir", "libcurl"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return Path(directory) / "libcurl.so.4"


@dataclass(frozen=True)
class Call:
    """A call, the libraries whose allocations fail, and the least number of allocations that a call has."""

    server: str
    method: str
    data: str
    options: tuple[str, ...] = ()
    libraries: str = NETWORK
    least: int = 100
    # Whether the library ends the process by exit(1) if it gets no memory.
    ends_process: bool = False


def compressed(compression, library, least, ends_process=False):
    options = ("--protocol", "connect", "--compression", compression, "--accept-compression", compression)
    return Call("connect_server", "Hello", LONG, options, library, least, ends_process)


CALLS = {
    "unary": Call("grpc_server", "Hello", '{"name":"Ada"}'),
    "stream": Call("grpc_server", "Count", '{"from":1,"to":20}'),
    "TLS": Call("grpc_tls_server", "Hello", '{"name":"Ada"}'),
    "Connect": Call("connect_server", "Hello", '{"name":"Ada"}', ("--protocol", "connect", "--compression", "gzip")),
    # A codec and its memory, in each direction. The program contains the other formats.
    "zstd": compressed("zstd", "libzstd.", 4),
    "request in br": compressed("br", "libbrotlienc.", 5, ends_process=True),
    "response in br": compressed("br", "libbrotlidec.", 5),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("until", ["once", "from then on"])
def test_failed_allocation_in_libraries(
    request, rpcurl, demo, failing_allocations, system_libcurl, tmp_path, call, until
):
    chosen = CALLS[call]
    server, options = request.getfixturevalue(chosen.server), chosen.options
    if server.ca:
        options = (*options, "--cacert", server.ca)
    url = f"{server.url}/{SERVICE}/{chosen.method}"
    command = demo.command((*options, "--max-time", "30", "-d", chosen.data, url))

    def run(first, last):
        count = tmp_path / f"{first}-{last}"
        env = {
            "LD_PRELOAD": str(failing_allocations), "RPCURL_LIBCURL": str(system_libcurl), "FAILING_LIBRARIES": chosen.libraries,
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
    assert (whole.returncode, whole.stderr) == (0, b"") and total >= chosen.least
    everyone = range(1, total + 1)
    numbers = everyone if ALL_TESTS else sorted({*everyone[:: max(total // SELECTED, 1)], *everyone[-LAST:]})

    def check(number):
        done, _ = run(number, number if until == "once" else 1 << 40)
        if done.returncode == 0:
            return None if done.stdout == whole.stdout else (number, done)
        if chosen.ends_process and (done.returncode, done.stdout, done.stderr) == (1, b"", b""):
            return None
        is_reported = done.returncode in FAILURES and done.stderr.startswith(b"rpcurl: ")
        return None if is_reported and whole.stdout.startswith(done.stdout) else (number, done)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [found for found in pool.map(check, numbers) if found]
    assert not wrong


def test_session_without_memory_for_the_line_editor(terminal, grpc_server, failing_allocations):
    """Lines are read as the terminal sends them."""
    screen = terminal(
        "session", "--plaintext", grpc_server.address, LD_PRELOAD=str(failing_allocations), FAILING_LIBRARIES="libedit.",
        FAIL_ALLOCATIONS=f"1-{1 << 40}",
    )  # fmt: skip
    screen.wait(lambda: "it did not initialise" in screen.text, "the reason")
    screen.send('call Hello {"name":"Ada"}\n')
    screen.wait(lambda: '"message": "Hello, Ada!"' in screen.text, "the response")
    assert screen.is_given_back
    screen.send("exit\n")
    assert screen.end() == (0, None)


# The modules in C

MODULES = {
    "CCompression": ["CCompression.c", "SnappyFraming.c"],
    "CPlugins": ["crash.c", "objects.c", "record.c", "watchdog.c"],
    "CInput": ["CLineEditor.c"],
    "CSystem": ["Histogram/hdr_histogram.c"],
    "CSchemas": ["descriptor.pb-c.c", "google_rpc_status.pb-c.c", "reflection.pb-c.c"],
}
# The cases of module_allocations.c.
CASES = [
    *(f"{name}-{direction}" for name in ("gzip", "deflate", "zstd", "br", "snappy") for direction in ("encode", "decode")),
    "load", "histogram", "plugin", "record", "file", "status", "reflection", "editor",
]  # fmt: skip


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """A program of the modules in C, whose allocations fail."""
    program, sources = tmp_path_factory.mktemp("modules") / "module_allocations", ROOT / "Sources"
    files = [str(sources / module / name) for module, names in MODULES.items() for name in names]
    includes = [f"-I{sources / module / 'include'}" for module in MODULES]
    command = ["cc", "-O1", "-o", str(program), *includes, str(FAULTS / "module_allocations.c"), *files, "-lprotobuf-c", "-lm"]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("case", CASES)
def test_failed_allocation_in_modules(modules, descriptor_set, tmp_path, case):
    files = FileDescriptorSet.FromString(descriptor_set.read_bytes()).file
    (demo,) = (file for file in files if file.name.endswith("demo.proto"))
    (tmp_path / "demo.binpb").write_bytes(demo.SerializeToString())
    done = subprocess.run([modules, case, tmp_path / "demo.binpb"], capture_output=True, text=True, timeout=10 * PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0


def test_each_module_that_allocates_has_a_case():
    allocates = re.compile(r"\b(?:[mc]alloc|realloc|strn?dup|v?asprintf|getline)\(")
    found = {file.parent.name for file in (ROOT / "Sources").glob("C*/*.c") if allocates.search(file.read_text())}
    # HdrHistogram calls them by names of its own, and the code of schemas calls libprotobuf-c.
    assert found | {"CSystem", "CSchemas"} == MODULES.keys()
