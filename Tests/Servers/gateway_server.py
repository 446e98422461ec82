#!/usr/bin/env python3
"""HAProxy, Caddy or stunnel in front of a gRPC server without TLS.

HAProxy and Caddy serve HTTP/1.1 and HTTP/2, in cleartext with prior knowledge, or over TLS. HAProxy prefers HTTP/1.1 to
HTTP/2 where a client offers both. Caddy also serves HTTP/3 over TLS. stunnel always serves TLS, without ALPN, and passes
on the bytes.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import foreign_server

HAPROXY = """\
defaults
  mode http
  timeout connect 10s
  # Longer than a test waits.
  timeout client 1h
  timeout server 1h
listen gateway
  bind 127.0.0.1:{port} {tls}
  server backend {backend} proto h2
"""

STUNNEL = """\
foreground = yes
pid =
syslog = no
[gateway]
accept = 127.0.0.1:{port}
connect = {backend}
cert = {certificate}
key = {key}
"""


def haproxy(options: argparse.Namespace, port: int) -> list[str]:
    tls = ""
    if options.tls_dir:
        # It reads both from one file.
        pair = options.directory / "pair.pem"
        pair.write_bytes(b"".join(file.read_bytes() for file in certificate_and_key(options)))
        tls = f"ssl crt {pair} alpn http/1.1,h2"
    file = options.directory / "haproxy.cfg"
    file.write_text(HAPROXY.format(port=port, tls=tls, backend=options.backend))
    return [foreign_server.program("haproxy"), "-f", str(file)]


def stunnel(options: argparse.Namespace, port: int) -> list[str]:
    certificate, key = certificate_and_key(options)
    file = options.directory / "stunnel.conf"
    file.write_text(STUNNEL.format(port=port, backend=options.backend, certificate=certificate, key=key))
    return [foreign_server.program("stunnel4"), str(file)]


def caddy(options: argparse.Namespace, port: int) -> list[str]:
    forward = {
        "handler": "reverse_proxy",
        "upstreams": [{"dial": options.backend}],
        "transport": {"protocol": "http", "versions": ["h2c"]},
        # Each message is sent at once.
        "flush_interval": -1,
    }
    server = {
        "listen": [f"127.0.0.1:{port}"],
        "protocols": ["h1", "h2", "h3"] if options.tls_dir else ["h1", "h2c"],
        "routes": [{"handle": [forward]}],
        # It would ask an authority for certificates.
        "automatic_https": {"disable": True},
    }
    apps: dict[str, object] = {"http": {"servers": {"gateway": server}}}
    if options.tls_dir:
        certificate, key = certificate_and_key(options)
        server["tls_connection_policies"] = [{}]
        apps["tls"] = {"certificates": {"load_files": [{"certificate": str(certificate), "key": str(key)}]}}
    configuration = {
        "admin": {"disabled": True, "config": {"persist": False}},
        "storage": {"module": "file_system", "root": str(options.directory)},
        "apps": apps,
    }
    file = options.directory / "caddy.json"
    file.write_text(json.dumps(configuration))
    return [foreign_server.program("caddy"), "run", "--config", str(file)]


def certificate_and_key(options: argparse.Namespace) -> tuple[Path, Path]:
    return options.tls_dir / "server.pem", options.tls_dir / "server-key.pem"


KINDS: dict[str, Callable[[argparse.Namespace, int], list[str]]] = {"haproxy": haproxy, "caddy": caddy, "stunnel": stunnel}


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--backend", metavar="ADDRESS", required=True, help="where calls are forwarded to")
    parser.add_argument("--tls-dir", type=Path, metavar="DIR", help="serve TLS; see certificates.py")
    options = parser.parse_args()
    if options.kind == "stunnel" and not options.tls_dir:
        parser.error("stunnel needs --tls-dir")
    foreign_server.serve(options, lambda port: KINDS[options.kind](options, port))


if __name__ == "__main__":
    main()
