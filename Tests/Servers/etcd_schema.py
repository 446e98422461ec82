"""The schema of the installed etcd: the descriptors of its .proto files, which its program contains.

Go's generated code registers each file as a compressed FileDescriptorProto.
"""

import re
import zlib
from pathlib import Path

from google.api import annotations_pb2, http_pb2
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

# The start of what Go's gzip writes: no flags, no time of modification.
GZIP = re.compile(rb"\x1f\x8b\x08\0\0\0\0\0")
LONGEST = 1 << 20

# The names under which the other files import them, by the names under which they are registered.
FILES = {
    "gogo.proto": "gogoproto/gogo.proto",
    "kv.proto": "etcd/mvcc/mvccpb/kv.proto",
    "auth.proto": "etcd/auth/authpb/auth.proto",
    "rpc.proto": "etcd/etcdserver/etcdserverpb/rpc.proto",
    "v3lock.proto": "etcd/etcdserver/api/v3lock/v3lockpb/v3lock.proto",
    "v3election.proto": "etcd/etcdserver/api/v3election/v3electionpb/v3election.proto",
    "grpc/health/v1/health.proto": "grpc/health/v1/health.proto",
}
IMPORTS = FILES | {"descriptor.proto": "google/protobuf/descriptor.proto"}


def descriptor_set(program: Path) -> descriptor_pb2.FileDescriptorSet:
    """The services of etcd's gRPC interface, and everything that they import, before the files that import it."""
    files = descriptor_pb2.FileDescriptorSet()
    for module in (descriptor_pb2, http_pb2, annotations_pb2):
        module.DESCRIPTOR.CopyToProto(files.file.add())
    registered = registered_files(program.read_bytes())
    for name, imported_as in FILES.items():
        file = registered[name]
        file.name = imported_as
        file.dependency[:] = [IMPORTS.get(dependency, dependency) for dependency in file.dependency]
        files.file.append(file)
    return files


def add_missing_methods(files: descriptor_pb2.FileDescriptorSet) -> None:
    """Declare methods that etcd does not have: Missing and MissingStream of its Watch and of a service Missing."""
    file = next(file for file in files.file if file.package == "etcdserverpb")
    put, watch = ".etcdserverpb.PutRequest", ".etcdserverpb.WatchRequest"
    missing = [
        descriptor_pb2.MethodDescriptorProto(
            name="MissingStream" if streams else "Missing",
            input_type=watch if streams else put,
            output_type=".etcdserverpb.WatchResponse" if streams else ".etcdserverpb.PutResponse",
            client_streaming=streams,
            server_streaming=streams,
        )
        for streams in (False, True)
    ]
    file.service.add(name="Missing", method=missing)
    next(service for service in file.service if service.name == "Watch").method.extend(missing)


def registered_files(program: bytes) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    files = {}
    for start in (match.start() for match in GZIP.finditer(program)):
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(program[start : start + LONGEST], LONGEST)
            file = descriptor_pb2.FileDescriptorProto.FromString(data)
        except (zlib.error, DecodeError):
            continue
        files[file.name] = file
    return files
