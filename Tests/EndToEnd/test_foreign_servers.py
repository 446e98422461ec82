"""The servers of other projects end with the test run, however it ends."""

import os
import select
import signal
import socket
import subprocess

import pytest
from harness import SERVERS, VENV, Process, announced_address

NO_SERVER = ["--backend", "127.0.0.1:1"]
GATEWAY = ["gateway_server.py", *NO_SERVER, "--kind"]
PROXY = ["proxy_server.py", "--kind"]


@pytest.fixture(params=[["etcd_server.py"], ["nginx_server.py", "--mode", "http", *NO_SERVER], ["envoy_server.py", *NO_SERVER],
                        [*GATEWAY, "haproxy"], [*GATEWAY, "caddy"], [*GATEWAY, "stunnel"],
                        [*PROXY, "http"], [*PROXY, "squid"], [*PROXY, "socks5"]],
                ids=["etcd", "nginx", "envoy", "haproxy", "caddy", "stunnel", "tinyproxy", "squid", "microsocks"])  # fmt: skip
def launcher(request, tmp_path, certificates):
    """Gives the process that runs the server, and the server's id."""
    script, *options = request.param
    if "stunnel" in options:
        options += ["--tls-dir", certificates]
    command = [VENV / "bin" / "python", SERVERS / script, "--directory", tmp_path, "--exit-with-stdin", *options]
    with Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        address = announced_address(process)
        assert address
        [child] = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        yield process, int(child), int(address.rpartition(":")[2])
        process.kill()


@pytest.mark.parametrize("end", ["killed", "terminated", "standard input ends"])
def test_server_ends_with_its_launcher(launcher, end):
    process, child, port = launcher
    # Readable when the process has ended.
    descriptor = os.pidfd_open(child)
    try:
        if end == "killed":
            process.kill()
        elif end == "terminated":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(10_000), "the server still runs"
    finally:
        os.close(descriptor)
    process.wait()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
