"""A server on tonic, the gRPC of Rust: TensorBoard's data server. Results equal those of grpcio."""

import base64
import json

import grpc
import pytest
from harness import Caller, wait_until
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICE = "tensorboard.data.TensorBoardDataProvider"
SCALARS, IMAGES = ({"pluginFilter": {"pluginName": name}} for name in ("scalars", "images"))
ALL = {"downsample": {"numPoints": 1000}}
INVALID_ARGUMENT, UNIMPLEMENTED = 64 + 3, 64 + 12


@pytest.fixture(scope="session")
def server(start_foreign_server):
    return start_foreign_server("tensorboard_server.py")


@pytest.fixture(scope="session")
def grpcio(server):
    """`grpcio(method, request)`: the response or responses that grpcio receives."""
    with grpc.insecure_channel(server.address, [("grpc.max_receive_message_length", -1)]) as channel:
        service = DescriptorPool(ProtoReflectionDescriptorDatabase(channel)).FindServiceByName(SERVICE)

        def call(name, request):
            method = service.FindMethodByName(name)
            kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            stub = kind(
                f"/{SERVICE}/{name}",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=GetMessageClass(method.output_type).FromString,
            )
            response = stub(json_format.ParseDict(request, GetMessageClass(method.input_type)()))
            return list(response) if method.server_streaming else [response]

        # It reads its data after it has begun to listen.
        wait_until(lambda: '"maxStep": "999"' in json_format.MessageToJson(call("ListScalars", SCALARS)[0]), "step 999 is read")
        yield call


@pytest.fixture
def call(rpcurl, server):
    """The schema is the server's."""
    return Caller(rpcurl, server, service=SERVICE)


def test_reflection(rpcurl, server):
    """tonic has v1alpha only."""
    assert rpcurl("list", "--no-cache", server.url).exits(0).out.split() == ["grpc.reflection.v1alpha.ServerReflection", SERVICE]
    rpcurl("describe", server.url, f"{SERVICE}.ReadScalars").exits(0).prints("rpc ReadScalars(ReadScalarsRequest) returns (ReadScalarsResponse)")


@pytest.mark.parametrize(
    ("method", "data"),
    [
        # Not ListPlugins, whose order differs from call to call.
        ("GetExperiment", {}), ("ListRuns", {}), ("ListScalars", SCALARS), ("ReadScalars", SCALARS | ALL),
        ("ListBlobSequences", IMAGES), ("ReadBlobSequences", IMAGES | ALL),
    ],
)  # fmt: skip
def test_responses_equal_those_of_grpcio(call, grpcio, method, data):
    [expected] = grpcio(method, data)
    assert json_format.Parse(call(method, data=data).succeeds().out, type(expected)()) == expected


def test_stream_of_large_messages(call, grpcio):
    [images] = grpcio("ReadBlobSequences", IMAGES | ALL)
    # After the texts of width and height.
    key = images.runs[0].tags[0].data.values[0].blob_refs[2].blob_key
    result = call("ReadBlob", data={"blobKey": key}).succeeds()
    pieces = [base64.b64decode(json.loads(line)["data"]) for line in result.out.splitlines()]
    assert pieces == [response.data for response in grpcio("ReadBlob", {"blobKey": key})]
    assert len(pieces) > 1 and b"".join(pieces) == bytes(range(256)) * (40 << 10)


@pytest.mark.parametrize(
    ("method", "options", "code", "words"),
    [
        ("ReadBlob", [], INVALID_ARGUMENT, "failed to parse blob key"),
        ("ReadScalars", [], INVALID_ARGUMENT, "must specify non-empty plugin name"),
        ("ReadScalars", ["--compression", "gzip"], UNIMPLEMENTED, "compression support not enabled"),
    ],
)
def test_errors(call, keeps_early_responses, method, options, code, words):
    call(method, *options, data={}).exits(code, "").reports(words)
