"""Calls of one server."""

import json
from typing import Any

from harness.program import Result, Rpcurl
from harness.servers import RawServer, Server


class Caller:
    """Calls a server: `call(METHOD, *options)`. A method without a service is one of the demo's."""

    def __init__(
        self, rpcurl: Rpcurl, server: Server | RawServer | str, *options: object, protocol: str = "", service: str = "demo.v1.Demo"
    ) -> None:
        self.rpcurl, self.server, self.protocol, self.service = rpcurl, server, protocol, service
        self.options = (*(["--protocol", protocol] if protocol else []), *options)

    def __call__(
        self, method: str, *options: object, data: object = None, to: Server | RawServer | str | None = None, **run: Any
    ) -> Result:
        server = to or self.server
        url = server if isinstance(server, str) else server.url
        name = method if "/" in method else f"{self.service}/{method}"
        words = [] if data is None else ["-d", json.dumps(data) if isinstance(data, dict) else data]
        return self.rpcurl(*self.options, *words, *options, f"{url}/{name}", **run)
