"""Spark Connect, a server on grpc-java: results of SQL are streams of Arrow's IPC format."""

import base64
import json
import os
import uuid
import zlib
from pathlib import Path

import pytest
from harness import ROOT

# Needed to read the results.
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

SPARK = Path(os.environ.get("SPARK") or ROOT / ".build" / "spark")
SERVICE = "spark.connect.SparkConnectService"
INTERNAL = 64 + 13


@pytest.fixture(scope="session")
def server(start_foreign_server):
    if not (SPARK / "spark.binpb").exists():
        pytest.skip("make test-all installs Spark: make spark")
    return start_foreign_server("spark_server.py", "--jars", SPARK / "jars")


@pytest.fixture
def call(rpcurl, server):
    """`call(method, *requests, …)`: all in one session of Spark."""
    session = {"sessionId": str(uuid.uuid4()), "userContext": {"userId": "ada"}}

    def run(method, *requests):
        data = "\n".join(json.dumps(session | request) for request in requests)
        return rpcurl("--descriptor-set", SPARK / "spark.binpb", "-d", "@-", f"{server.url}/{SERVICE}/{method}", input=data)

    return run


def plan(query):
    return {"root": {"sql": {"query": query}}}


def batches(result):
    """The rows of each batch of Arrow in the responses."""
    found = [message["arrowBatch"]["data"] for message in result.succeeds().lines() if "arrowBatch" in message]
    return [pyarrow.ipc.open_stream(base64.b64decode(data)).read_all().to_pylist() for data in found]


def test_rows(call):
    query = "SELECT id, id * id AS square, concat('Größe ', id) AS text FROM range(20000)"
    expected = [{"id": n, "square": n * n, "text": f"Größe {n}"} for n in range(20_000)]
    received = batches(call("ExecutePlan", {"plan": plan(query)}))
    assert len(received) > 1 and sum(received, []) == expected


def test_session(call):
    """The calls share a temporary view."""
    call("ExecutePlan", {"plan": plan("CREATE TEMPORARY VIEW numbers AS SELECT 1 AS one, map('a', 2) AS map")}).succeeds().lines()
    [analyzed] = call("AnalyzePlan", {"schema": {"plan": plan("SELECT * FROM numbers")}}).succeeds().lines()
    fields = analyzed["schema"]["schema"]["struct"]["fields"]
    assert [(field["name"], list(field["dataType"])) for field in fields] == [("one", ["integer"]), ("map", ["map"])]
    [config] = call("Config", {"operation": {"get": {"keys": ["spark.app.name"]}}}).succeeds().lines()
    assert config["pairs"] == [{"key": "spark.app.name", "value": "test"}]


def test_client_stream(call):
    """A file in chunks, whose checksums Spark verifies."""
    chunks = [bytes([number]) * 30_000 for number in range(20)]
    data = [{"data": base64.b64encode(chunk).decode(), "crc": zlib.crc32(chunk)} for chunk in chunks]
    begin = {"name": "files/numbers.bin", "totalBytes": 600_000, "numChunks": 20, "initialChunk": data[0]}
    [response] = call("AddArtifacts", {"beginChunk": begin}, *({"chunk": chunk} for chunk in data[1:])).succeeds().lines()
    assert response["artifacts"] == [{"name": "files/numbers.bin", "isCrcSuccessful": True}]


def test_error_with_details(call):
    result = call("ExecutePlan", {"plan": plan("SELECT missing FROM range(5)")}).exits(INTERNAL)
    assert "[UNRESOLVED_COLUMN.WITH_SUGGESTION]" in result.err.splitlines()[0]
    assert 'google.rpc.ErrorInfo: {"reason":"org.apache.spark.sql.catalyst.ExtendedAnalysisException"' in result.err
