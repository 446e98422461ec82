"""What both servers share about being a process: arguments and end of life."""

import argparse
import ctypes
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

GENERATED_VARIABLE = "DEMO_GENERATED"
LAUNCHER_VARIABLE = "DEMO_LAUNCHER_PID"
PR_SET_PDEATHSIG = 1
HERE = Path(__file__).resolve().parent


def generated_dir() -> Path:
    """Where generate.py put demo_pb2.py and demo.binpb."""
    default = HERE.parent.parent / ".build" / "servers" / "generated"
    return Path(os.environ.get(GENERATED_VARIABLE) or default)


def use_generated_code() -> None:
    """Make `import demo_pb2` work, or report what is missing."""
    directory = generated_dir()
    if not (directory / "demo_pb2.py").is_file():
        sys.exit(
            f"{directory}/demo_pb2.py is missing: run Tests/Servers/generate.py {directory}"
            f" or set {GENERATED_VARIABLE}"
        )
    sys.path.insert(0, str(directory))


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"""\
The generated code (demo_pb2.py) is looked for in ${GENERATED_VARIABLE}, or else in
.build/servers/generated at the root of the repository. Tests/Servers/generate.py makes it.

When the server can be called, it prints one line to standard output:
    listening 127.0.0.1:PORT
Each call that the client cancels, or whose deadline passes, is one line on
standard error:
    canceled demo.v1.Demo/METHOD
and each question of reflection, with the request's header demo-note:
    reflection file_containing_symbol demo.v1.Demo""",
    )
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument(
        "--tls-dir",
        type=Path,
        metavar="DIR",
        help="serve TLS with DIR/server.pem and DIR/server-key.pem (see certificates.py)",
    )
    parser.add_argument(
        "--require-client-certificate",
        action="store_true",
        help="with --tls-dir: refuse clients without a certificate signed by DIR/ca.pem",
    )
    parser.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="exit when standard input ends, so that a killed test run leaves no server behind",
    )
    return parser


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.require_client_certificate and not options.tls_dir:
        parser.error("--require-client-certificate needs --tls-dir")


def announce(address: str) -> None:
    print(f"listening {address}", flush=True)


def log_received(path: str) -> None:
    """Report to the tests that a call arrived; `path` is as in HTTP, "/pkg.Service/Method"."""
    print(f"received {path.removeprefix('/')}", file=sys.stderr, flush=True)


def log_canceled(path: str) -> None:
    """Report to the tests that a cancellation arrived; `path` is as in HTTP, "/pkg.Service/Method"."""
    print(f"canceled {path.removeprefix('/')}", file=sys.stderr, flush=True)


def log_reflection(request: Any, note: str) -> None:
    """Report a request for reflection to the tests: `reflection file_containing_symbol demo.v1.Demo NOTE`."""
    kind = request.WhichOneof("message_request")
    print(f"reflection {kind} {getattr(request, kind)} {note}".rstrip(), file=sys.stderr, flush=True)


def exit_with_stdin() -> None:
    """End the process when standard input does. It ends at once: a test must not wait."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def die_with_launcher() -> None:
    """Have the kernel kill this process when the one that launched it ends, however it ends.

    Does nothing in a process that was not started with $DEMO_LAUNCHER_PID.
    """
    launcher = os.environ.get(LAUNCHER_VARIABLE)
    if launcher is not None:
        die_with(int(launcher))


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent, the process with this id, ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before prctl
        os._exit(1)
