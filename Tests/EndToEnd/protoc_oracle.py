"""scripts/compare-protoc as a module, with protoc of the packages that tests need."""

import importlib.machinery
import importlib.util
import shlex
from argparse import Namespace

from harness import ROOT, VENV

loader = importlib.machinery.SourceFileLoader("compare_protoc", str(ROOT / "scripts" / "compare-protoc"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_protoc", loader))
loader.exec_module(compare)

# The directory with descriptor.proto and the like of protoc.
INCLUDE = next(VENV.glob("lib/python3*/site-packages/grpc_tools/_proto"))


def runner(program, written=False):
    """Runs protoc, and `rpcurl export`."""
    protoc = shlex.join([str(VENV / "bin" / "python"), "-m", "grpc_tools.protoc"])
    command = [str(program), "export", "--proto", "{files}", "{roots}", "-o", "{out}"]
    return compare.Runner(Namespace(protoc=protoc, include=INCLUDE, written=written), command)
