"""Runs a server of another project (etcd, nginx, a proxy) on a free port, as a child of this process.

The child ends with this process, however this process ends. SIGTERM is passed on to the child.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import server_process

# Spark needs ten, and more beside other work.
START_SECONDS = 50
ATTEMPTS = 5


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that all of these servers have."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--directory", type=Path, required=True, help="an empty directory for the server's files")
    parser.add_argument("--exit-with-stdin", action="store_true", help="exit when standard input ends")
    return parser


def program(name: str) -> str:
    """The path of a program that a package of Python has, or of the system; some are only in the administrator's search path."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not path:
        # Standard output, so that the tests find it where they expect the address.
        print(f"{name} is not installed", flush=True)
        sys.exit(1)
    return path


def serve(options: argparse.Namespace, command: Callable[[int], list[str]], user: str | None = None) -> None:
    """Start `command(port)` and exit with its status. Prints `listening ADDRESS` when it accepts connections.

    A `user` is the one that it has if this process runs as root.
    """
    identity: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user and os.getuid() == 0 else {}
    if options.exit_with_stdin:
        server_process.exit_with_stdin()
    parent = os.getpid()
    for _ in range(ATTEMPTS):
        port = free_port()
        child = subprocess.Popen(
            command(port),
            cwd=options.directory,
            stdin=subprocess.DEVNULL,
            # Standard output is for the line with the server's address.
            stdout=sys.stderr,
            preexec_fn=lambda: server_process.die_with(parent),
            **identity,
        )
        if accepts_connections(child, port):
            break
        child.kill()
        child.wait()
    else:
        sys.exit("the server does not accept connections")

    def pass_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    server_process.announce(f"127.0.0.1:{port}")
    sys.exit(abs(child.wait()))


def free_port() -> int:
    # Another process may bind it before the server does; `serve` then tries another one.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def accepts_connections(child: subprocess.Popen, port: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return child.poll() is None
        except OSError:
            # Nothing announces that a server of another program listens.
            time.sleep(0.02)
    return False
