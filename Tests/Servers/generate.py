#!/usr/bin/env python3
"""Generate the files that are not committed: the Python code and the descriptor set.

OUTDIR receives `demo_pb2.py`, `demo_pb2_grpc.py` and the same of interop.proto
for the servers and their tests, the descriptor set `interop.binpb`, and
`demo.binpb`, a descriptor set with everything demo.proto imports, the comments, and google/rpc/error_details.proto, so that a client can print
the details of the errors that the servers send.
"""

import argparse
import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent
WELL_KNOWN = str(files("grpc_tools") / "_proto")
# googleapis-common-protos installs its .proto files next to its Python code.
GOOGLE_APIS = str(Path(protoc.__file__).resolve().parent.parent)


def run(*arguments: str) -> None:
    if protoc.main(["protoc", *arguments]) != 0:
        sys.exit("generate.py: protoc failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=Path, metavar="OUTDIR")
    outdir: Path = parser.parse_args().outdir
    outdir.mkdir(parents=True, exist_ok=True)

    run(
        f"-I{HERE}",
        f"-I{WELL_KNOWN}",
        f"--python_out={outdir}",
        f"--pyi_out={outdir}",
        f"--grpc_python_out={outdir}",
        "demo.proto",
        "interop.proto",
    )
    run(f"-I{HERE}", f"--descriptor_set_out={outdir / 'interop.binpb'}", "interop.proto")
    run(
        f"-I{HERE}",
        f"-I{WELL_KNOWN}",
        f"-I{GOOGLE_APIS}",
        "--include_imports",
        "--include_source_info",
        f"--descriptor_set_out={outdir / 'demo.binpb'}",
        "demo.proto",
        "google/rpc/error_details.proto",
    )


if __name__ == "__main__":
    main()
