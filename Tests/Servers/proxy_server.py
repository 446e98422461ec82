#!/usr/bin/env python3
"""A forward proxy: tinyproxy (--kind http), squid (--kind squid) or microsocks (--kind socks5).

tinyproxy and microsocks log requests to standard error. squid only opens tunnels, and only to this machine.
"""

import argparse
import hashlib

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

SQUID = """\
http_port 127.0.0.1:{port}
pid_filename none
coredump_dir none
access_log none
cache_log /dev/stderr
cache deny all
shutdown_lifetime 0 seconds
acl tunnel method CONNECT
acl local dstdomain localhost 127.0.0.1
{authentication}
http_access deny !tunnel
http_access deny !local
http_access allow {users}
http_access deny all
"""

BASIC_AUTHENTICATION = """\
auth_param basic program /usr/lib/squid/basic_ncsa_auth passwords
auth_param basic children 1 startup=1 idle=1
acl users proxy_auth REQUIRED
"""


def tinyproxy(options: argparse.Namespace, port: int) -> list[str]:
    name, password = credentials(options)
    file = options.directory / "tinyproxy.conf"
    authentication = f"BasicAuth {name} {password}" if name else ""
    file.write_text(TINYPROXY.format(port=port, authentication=authentication))
    return [foreign_server.program("tinyproxy"), "-d", "-c", str(file)]


def squid(options: argparse.Namespace, port: int) -> list[str]:
    name, password = credentials(options)
    # Its user reads the files in its working directory, which may be below one that it may not enter.
    options.directory.chmod(0o755)
    (options.directory / "passwords").write_text(f"{name}:{hashlib.md5(password.encode()).hexdigest()}\n")
    authentication, users = (BASIC_AUTHENTICATION, "users") if name else ("", "all")
    file = options.directory / "squid.conf"
    file.write_text(SQUID.format(port=port, authentication=authentication, users=users))
    # The name is of a shared memory, which another squid would have.
    return [foreign_server.program("squid"), "-N", "-n", f"squid{port}", "-f", file.name]


def microsocks(options: argparse.Namespace, port: int) -> list[str]:
    name, password = credentials(options)
    words = ["-u", name, "-P", password] if name else []
    return [foreign_server.program("microsocks"), "-i", "127.0.0.1", "-p", str(port), *words]


def credentials(options: argparse.Namespace) -> tuple[str, str]:
    name, _, password = (options.user or "").partition(":")
    return name, password


KINDS = {"http": tinyproxy, "squid": squid, "socks5": microsocks}


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--user", metavar="NAME:PASSWORD", help="refuse clients without these credentials")
    options = parser.parse_args()
    foreign_server.serve(
        options,
        lambda port: KINDS[options.kind](options, port),
        # squid refuses to run as root.
        user="proxy" if options.kind == "squid" else None,
    )


if __name__ == "__main__":
    main()
