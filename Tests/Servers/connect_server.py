#!/usr/bin/env python3
"""The demo service on connectrpc: Connect, gRPC-Web and gRPC on one port.

HTTP/1.1 and HTTP/2 with prior knowledge in cleartext; with --tls-dir, ALPN
chooses between them, or with --http3, HTTP/3 is spoken. Served by pyvoy, which is Envoy with Python inside: this
process starts Envoy, and Envoy imports connect_app.py.
"""

import asyncio
import os
import signal
import sys
from typing import Any

import server_process

# Fail here, with a readable message, rather than inside Envoy.
server_process.use_generated_code()

from pyvoy import PyvoyServer


async def serve(options: Any) -> int:
    tls = {}
    if options.tls_dir:
        tls = {
            "tls_cert": options.tls_dir / "server.pem",
            "tls_key": options.tls_dir / "server-key.pem",
            "tls_enable_http3": options.http3,
        }
        if options.require_client_certificate:
            tls["tls_ca_cert"] = options.tls_dir / "ca.pem"
    server = PyvoyServer(
        "connect_app:app",
        port=options.port,
        log_level="critical",
        # Standard output is for the line with the server's address.
        stdout=sys.stderr,
        stderr=sys.stderr,
        env={server_process.LAUNCHER_VARIABLE: str(os.getpid())},
        additional_envoy_args=["--concurrency", "1"],
        **tls,
    )
    await server.start()
    port = server.listener_port_quic if options.http3 else server.listener_port
    server_process.announce(f"127.0.0.1:{port}")
    return await server.wait() or 0


def main() -> None:
    parser = server_process.arguments(__doc__)
    parser.add_argument("--http3", action="store_true", help="with --tls-dir: speak HTTP/3 instead, over UDP")
    options = parser.parse_args()
    server_process.check(parser, options)
    # Envoy has itself killed when this process ends: server_process.die_with_launcher.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if options.exit_with_stdin:
        server_process.exit_with_stdin()
    try:
        sys.exit(asyncio.run(serve(options)))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
