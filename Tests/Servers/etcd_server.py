#!/usr/bin/env python3
"""etcd, a server on grpc-go, as a cluster of one member.

With --tls-dir it serves TLS and refuses clients without a certificate signed by DIR/ca.pem.
"""

from pathlib import Path

import foreign_server


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--tls-dir", type=Path, metavar="DIR", help="see certificates.py")
    options = parser.parse_args()
    etcd = foreign_server.program("etcd")

    def command(port: int) -> list[str]:
        scheme = "https" if options.tls_dir else "http"
        url = f"{scheme}://localhost:{port}" if options.tls_dir else f"{scheme}://127.0.0.1:{port}"
        # Nothing connects to the peer's address, so that it needs no port.
        peer = f"http://127.0.0.1:{port}"
        words = [
            etcd, "--name", "member", "--data-dir", f"data-{port}", "--logger", "zap", "--log-outputs", "stderr",
            "--listen-client-urls", f"{scheme}://127.0.0.1:{port}", "--advertise-client-urls", url,
            "--listen-peer-urls", f"unix://peer:{port}", "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"member={peer}",
        ]  # fmt: skip
        if options.tls_dir:
            words += [
                "--cert-file", str(options.tls_dir / "server.pem"), "--key-file", str(options.tls_dir / "server-key.pem"),
                "--trusted-ca-file", str(options.tls_dir / "ca.pem"), "--client-cert-auth",
            ]  # fmt: skip
        return words

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
