"""Arrow Flight: the server of pyarrow, on the gRPC of C++. Tables have the rows that pyarrow's own client receives."""

import base64
import json

import pytest
from harness import SERVERS

# Needed by the server too.
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from pyarrow import flight  # noqa: E402

SERVICE = "arrow.flight.protocol.FlightService"
PASSWORD = "s3cret"
UNAUTHENTICATED = 64 + 16
CONTINUATION = b"\xff\xff\xff\xff"


@pytest.fixture(scope="session")
def server(start_server):
    return start_server("flight_server.py")


@pytest.fixture(scope="session")
def guarded_server(start_server):
    """A handshake with the password gives the token that calls have."""
    return start_server("flight_server.py", "--password", PASSWORD)


@pytest.fixture(scope="session")
def client(server):
    """pyarrow's own client."""
    with flight.connect(f"grpc://{server.address}") as client:
        yield client


@pytest.fixture
def call(rpcurl, server):
    """`call(method, *requests, …)`"""

    def run(method, *requests, options=(), to=server):
        data = "\n".join(json.dumps(request) for request in requests)
        schema = ["--proto", SERVERS / "flight.proto"]
        return rpcurl(*schema, *options, "-d", "@-", f"{to.url}/{SERVICE}/{method}", input=data)

    return run


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def path(name):
    return {"type": "PATH", "path": [name]}


def table_of(data):
    """The table in messages FlightData, as a stream of Arrow's IPC format."""
    stream = b""
    for message in data:
        header = base64.b64decode(message["dataHeader"])
        stream += CONTINUATION + len(header).to_bytes(4, "little") + header + base64.b64decode(message.get("dataBody", ""))
    return pyarrow.ipc.open_stream(stream).read_all()


def test_list_and_info(call, client):
    name = flight.FlightDescriptor.for_path("numbers")
    expected = client.get_flight_info(name)
    listed = call("ListFlights", {}).succeeds().lines()
    [info] = [info for info in listed if info["flightDescriptor"] == path("numbers")]
    assert [info] == call("GetFlightInfo", path("numbers")).succeeds().lines()
    assert int(info["totalRecords"]) == expected.total_records == 200_000
    assert base64.b64decode(info["endpoint"][0]["ticket"]["ticket"]) == expected.endpoints[0].ticket.ticket
    assert pyarrow.ipc.read_schema(pyarrow.py_buffer(base64.b64decode(info["schema"]))) == expected.schema


def test_get(call, client):
    """Batches of more than a megabyte, with a field of number 1000."""
    data = call("DoGet", {"ticket": base64_of(b"numbers")}).succeeds().lines()
    table = table_of(data)
    assert len(data) == 3 and max(len(message.get("dataBody", "")) for message in data) > 2 << 20
    assert table == client.do_get(flight.Ticket(b"numbers")).read_all()
    assert table.num_rows == 200_000 and table["text"][199_999].as_py() == "Größe 2"


def test_put(call, client):
    """What rpcurl has received and sends again is the same table for pyarrow."""
    schema, *batches = call("DoGet", {"ticket": base64_of(b"numbers")}).succeeds().lines()
    [result] = call("DoPut", schema | {"flightDescriptor": path("copy")}, *batches).succeeds().lines()
    assert base64.b64decode(result["appMetadata"]) == b"200000 rows"
    assert client.do_get(flight.Ticket(b"copy")).read_all() == client.do_get(flight.Ticket(b"numbers")).read_all()


def test_exchange(call):
    schema, *batches = call("DoGet", {"ticket": base64_of(b"numbers")}).succeeds().lines()
    returned = call("DoExchange", schema | {"flightDescriptor": path("any")}, *batches).succeeds().lines()
    assert table_of(returned) == table_of([schema, *batches])


def test_action(call):
    assert call("DoAction", {"type": "echo", "body": "AP8="}).succeeds().lines() == [{"body": "AP8="}] * 2


@pytest.mark.parametrize(
    ("error", "code"),
    {
        "cancelled": 1, "invalid": 3, "timed out": 4, "not found": 5, "unauthorized": 7, "not implemented": 12,
        "internal": 13, "unavailable": 14, "unauthenticated": 16,
    }.items(),
)  # fmt: skip
def test_errors(call, keeps_early_responses, error, code):
    result = call("DoAction", {"type": "fail", "body": base64_of(error.encode())}).exits(64 + code, "")
    assert f"({code}): Größe 100 %" in result.err.splitlines()[0]


def test_handshake(call, keeps_early_responses, guarded_server):
    """It gives a token, which calls send as a binary header."""
    call("ListFlights", {}, to=guarded_server).exits(UNAUTHENTICATED).reports("no token")
    call("Handshake", {"payload": base64_of(b"wrong")}, to=guarded_server).exits(UNAUTHENTICATED, "").reports("wrong password")
    [response] = call("Handshake", {"payload": base64_of(PASSWORD.encode())}, to=guarded_server).succeeds().lines()
    token = ["-H", f"auth-token-bin: {response['payload']}"]
    [info] = call("ListFlights", {}, options=token, to=guarded_server).succeeds().lines()
    assert info["flightDescriptor"] == path("numbers")
