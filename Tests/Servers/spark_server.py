#!/usr/bin/env python3
"""Spark Connect, a server on grpc-java, with one thread."""

from pathlib import Path

import foreign_server

# Packages of Java whose internals Spark and Arrow use.
OPENED = ["java.lang", "java.lang.invoke", "java.nio", "java.util", "sun.nio.ch"]


def main() -> None:
    parser = foreign_server.arguments(__doc__)
    parser.add_argument("--jars", type=Path, required=True, metavar="DIR", help="see scripts/spark")
    options = parser.parse_args()
    java = foreign_server.program("java")

    def command(port: int) -> list[str]:
        settings = {
            "spark.master": "local[1]",
            "spark.app.name": "test",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.local.dir": str(options.directory),
            "spark.sql.warehouse.dir": str(options.directory / "warehouse"),
        }
        return [
            java, "-Xmx512m", *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
            *(f"-D{name}={value}" for name, value in settings.items()), "-cp", f"{options.jars}/*",
            "org.apache.spark.sql.connect.service.SparkConnectServer",
        ]  # fmt: skip

    foreign_server.serve(options, command)


if __name__ == "__main__":
    main()
