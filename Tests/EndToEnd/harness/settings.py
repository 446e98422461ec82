"""Paths and settings, by environment variable, with defaults below the repository's root:

    RPCURL          the binary under test       .build/release/rpcurl
    DEMO_VENV       Python with the servers     .build/servers/venv
    DEMO_GENERATED  output of generate.py       .build/servers/generated
    HTTP3_LIBCURL   a libcurl with HTTP/3       .build/http3-libcurl/libcurl.so.4 (make http3-libcurl)
    RPCURL_LIBCURL  the libcurl that rpcurl uses, in all tests; by default its own
    RPCURL_TESTS    `all`: also the cases that a selection represents by default (make test-all)
"""

import importlib.util
import os
import re
import signal
import sys
from pathlib import Path
from types import ModuleType

# Before grpc is imported: else the threads of its clients go on in each child that runs in a terminal.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

ROOT = Path(__file__).resolve().parents[3]
SERVERS = ROOT / "Tests" / "Servers"
RPCURL = Path(os.environ.get("RPCURL") or ROOT / ".build" / "release" / "rpcurl").absolute()
VENV = Path(os.environ.get("DEMO_VENV") or ROOT / ".build" / "servers" / "venv")
GENERATED = Path(os.environ.get("DEMO_GENERATED") or ROOT / ".build" / "servers" / "generated")

HTTP3_LIBCURL = Path(os.environ.get("HTTP3_LIBCURL") or ROOT / ".build" / "http3-libcurl" / "libcurl.so.4")

ALL_TESTS = os.environ.get("RPCURL_TESTS") == "all"

# The tests also call the servers with grpcio, to verify them.
sys.path.insert(0, str(GENERATED))

# Below nohup, or in the background of a shell, a process ignores these, and so would those that the tests send them to.
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# What rpcurl may see of the environment: nothing that changes what it does,
# but the settings of sanitizers and of the dynamic loader.
KEPT_VARIABLES = re.compile(
    r"PATH|LD_LIBRARY_PATH|RPCURL_LIBCURL|(A|L|T|UB)SAN_OPTIONS|LLVM_PROFILE_FILE|SWIFT_BACKTRACE"
)

# No test takes this long, even on a machine with much else to do: what takes longer hangs.
PATIENCE_SECONDS = 60

# The documented exit codes of a failure; a signal that ends the process is not one.
FAILURES = {*range(1, 9), *range(65, 81)}


def server_module(name: str) -> ModuleType:
    """A module of Tests/Servers."""
    specification = importlib.util.spec_from_file_location(name, SERVERS / f"{name}.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
