#!/usr/bin/env python3
"""A forward proxy: tinyproxy (--kind http) or microsocks (--kind socks5).

Both log requests to standard error.
"""

import foreign_server

TINYPROXY = """\
Listen 127.0.0.1
Port {port}
Timeout 60
MaxClients 100
Allow 127.0.0.1
LogLevel Info
{authentication}
"""


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--kind", choices=["http", "socks5"], required=True)
    parser.add_argument("--user", metavar="NAME:PASSWORD", help="refuse clients without these credentials")
    options = parser.parse_args()
    program = foreign_server.program("tinyproxy" if options.kind == "http" else "microsocks")
    name, _, password = (options.user or "").partition(":")

    def command(port: int) -> list[str]:
        if options.kind == "socks5":
            credentials = ["-u", name, "-P", password] if options.user else []
            return [program, "-i", "127.0.0.1", "-p", str(port), *credentials]
        file = options.directory / "tinyproxy.conf"
        authentication = f"BasicAuth {name} {password}" if options.user else ""
        file.write_text(TINYPROXY.format(port=port, authentication=authentication))
        return [program, "-d", "-c", str(file)]

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
