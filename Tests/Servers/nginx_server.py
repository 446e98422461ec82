#!/usr/bin/env python3
"""nginx in front of another server, for gRPC (--mode grpc) or as a reverse proxy of HTTP/1.1 (--mode http).

With --mode grpc it serves HTTP/2, in cleartext with prior knowledge only, and with --mode http HTTP/1.1 only. Each
request is one line on standard error: `access METHOD PATH VERSION STATUS AUTHORIZATION`.
"""

from pathlib import Path

import foreign_server

CONFIGURATION = """\
daemon off;
# One process, which ends when it is killed.
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 512; }}
http {{
  log_format one_line 'access $request_method $uri $server_protocol $status "$http_authorization"';
  access_log /dev/stderr one_line;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests {keepalive_requests};
  keepalive_timeout {keepalive_timeout};
  client_max_body_size {max_body};
  # Longer than a test waits: nginx closes a connection for the reasons above only.
  client_header_timeout 1h;
  client_body_timeout 1h;
  send_timeout 1h;
  map $http_content_type $is_grpc {{
    application/grpc 1;
  }}
  server {{
    listen 127.0.0.1:{port} {listen};
    {certificate}
    location / {{
      {rule}
      {forward}
    }}
  }}
}}
"""

FORWARD = {
    "grpc": "grpc_pass grpc://{backend}; grpc_read_timeout 1h; grpc_send_timeout 1h;",
    "http": "proxy_pass http://{backend}; proxy_http_version 1.1; proxy_read_timeout 1h; proxy_buffering off; proxy_request_buffering off;",
}


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--mode", choices=FORWARD, required=True)
    parser.add_argument("--backend", metavar="ADDRESS", required=True, help="where requests are forwarded to")
    parser.add_argument("--tls-dir", type=Path, metavar="DIR", help="serve TLS; see certificates.py")
    parser.add_argument("--require-client-certificate", action="store_true", help="with --tls-dir")
    parser.add_argument(
        "--only-grpc", action="store_true", help="respond with 404 to a content type other than application/grpc"
    )
    parser.add_argument("--max-body", default="0", help="the limit of a request's body (default: none)")
    parser.add_argument("--keepalive-requests", type=int, default=100_000, help="of one connection")
    parser.add_argument("--keepalive-timeout", default="60s", help="how long an idle connection stays open")
    options = parser.parse_args()
    nginx = foreign_server.program("nginx")

    def command(port: int) -> list[str]:
        words = ["ssl"] * bool(options.tls_dir) + ["http2"] * (options.mode == "grpc")
        pair = f"ssl_certificate {options.tls_dir}/server.pem; ssl_certificate_key {options.tls_dir}/server-key.pem;"
        if options.require_client_certificate:
            pair += f" ssl_verify_client on; ssl_client_certificate {options.tls_dir}/ca.pem;"
        file = options.directory / "nginx.conf"
        file.write_text(
            CONFIGURATION.format(
                port=port,
                listen=" ".join(words),
                certificate=pair if options.tls_dir else "",
                rule="if ($is_grpc = '') { return 404; }" if options.only_grpc else "",
                forward=FORWARD[options.mode].format(backend=options.backend),
                max_body=options.max_body,
                keepalive_requests=options.keepalive_requests,
                keepalive_timeout=options.keepalive_timeout,
            )
        )
        return [nginx, "-p", str(options.directory), "-c", str(file), "-e", "stderr"]

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
