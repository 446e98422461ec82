"""etcd, a server on grpc-go: its key-value store, its streams, its errors and its TLS."""

import base64
import contextlib
import hashlib
import json
import signal
import uuid

import pytest
from harness import relay

KV, WATCH, LEASE = "etcdserverpb.KV", "etcdserverpb.Watch/Watch", "etcdserverpb.Lease"
MAINTENANCE, AUTH = "etcdserverpb.Maintenance", "etcdserverpb.Auth"
SERVICES = [
    "etcdserverpb.Auth", "etcdserverpb.Cluster", "etcdserverpb.KV", "etcdserverpb.Lease", "etcdserverpb.Maintenance",
    "etcdserverpb.Watch", "grpc.health.v1.Health", "v3electionpb.Election", "v3lockpb.Lock",
]  # fmt: skip

INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED = 64 + 3, 64 + 5, 64 + 7, 64 + 8
FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED = 64 + 9, 64 + 11, 64 + 12, 64 + 16


def base64_of(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


@pytest.fixture
def key():
    """A key that no other test has."""
    return base64_of(uuid.uuid4().hex)


@pytest.fixture
def etcd(rpcurl, etcd_server, etcd_schema):
    """`etcd(method, request, …)` calls a method; `request` is a value for JSON."""

    def call(method, request, *options, to=etcd_server):
        arguments = ["--descriptor-set", etcd_schema, "-d", "@-", *options, f"{to.url}/{method}"]
        return rpcurl(*arguments, input=json.dumps(request))

    return call


@pytest.fixture
def start(rpcurl, etcd_server, etcd_schema):
    """`start(method)` starts a stream that standard input feeds; it ends with the test."""
    with contextlib.ExitStack() as stack:

        def call(method, *options, to=etcd_server):
            process = stack.enter_context(rpcurl.start("--descriptor-set", etcd_schema, *options, f"{to.url}/{method}"))
            stack.callback(process.kill)
            return process

        yield call


def reply(result):
    assert (result.code, result.err) == (0, "")
    return result.json()


def send(process, message):
    process.stdin.write(json.dumps(message).encode() + b"\n")


def receive(process):
    return json.loads(process.stdout.readline())


def fails(result, method, code, words):
    """The status and message are those of the server, and nothing else is printed."""
    assert (result.code, result.out) == (code, ""), result.err
    assert result.err.splitlines()[0].startswith(f"rpcurl: {method}: ")
    assert result.err.splitlines()[0].endswith(f"({code - 64}): {words}")


# Unary calls


def test_put_range_and_delete(etcd, key):
    put = reply(etcd(f"{KV}/Put", {"key": key, "value": base64_of("one")}))
    found = reply(etcd(f"{KV}/Range", {"key": key}))
    assert found["count"] == "1"
    assert found["kvs"][0] == {
        "key": key, "value": base64_of("one"), "version": "1", "createRevision": put["header"]["revision"],
        "modRevision": put["header"]["revision"],
    }  # fmt: skip
    again = reply(etcd(f"{KV}/Put", {"key": key, "value": base64_of("two"), "prevKv": True}))
    assert again["prevKv"]["value"] == base64_of("one")
    deleted = reply(etcd(f"{KV}/DeleteRange", {"key": key, "prevKv": True}))
    assert deleted["deleted"] == "1" and deleted["prevKvs"][0]["value"] == base64_of("two")
    assert "kvs" not in reply(etcd(f"{KV}/Range", {"key": key}))


@pytest.mark.parametrize(("version", "succeeds"), [(1, True), (9, False)])
def test_transaction(etcd, key, version, succeeds):
    """Oneofs within repeated messages, in both directions."""
    etcd(f"{KV}/Put", {"key": key, "value": base64_of("one")})
    transaction = {
        "compare": [{"target": "VERSION", "result": "EQUAL", "key": key, "version": version}],
        "success": [{"requestPut": {"key": key, "value": base64_of("two")}}, {"requestRange": {"key": key}}],
        "failure": [{"requestDeleteRange": {"key": key}}],
    }
    result = reply(etcd(f"{KV}/Txn", transaction))
    assert result.get("succeeded", False) == succeeds
    if succeeds:
        put, found = result["responses"]
        assert put["responsePut"]["header"]["revision"] == result["header"]["revision"]
        assert found["responseRange"]["kvs"][0]["value"] == base64_of("two")
    else:
        assert [r["responseDeleteRange"]["deleted"] for r in result["responses"]] == ["1"]


def test_range_of_many_keys(etcd, key):
    prefix = base64.b64decode(key)
    puts = [{"requestPut": {"key": base64_of(prefix + b"/%03d" % n), "value": base64_of(str(n))}} for n in range(100)]
    reply(etcd(f"{KV}/Txn", {"success": puts}))
    found = reply(
        etcd(f"{KV}/Range", {"key": base64_of(prefix + b"/"), "rangeEnd": base64_of(prefix + b"0"), "sortOrder": "DESCEND"})
    )
    assert [base64.b64decode(kv["value"]) for kv in found["kvs"]] == [b"%d" % n for n in reversed(range(100))]


def test_status_and_health(etcd):
    status = reply(etcd(f"{MAINTENANCE}/Status", {}))
    assert status["version"].startswith("3.") and status["leader"] == status["header"]["memberId"]
    assert reply(etcd("grpc.health.v1.Health/Check", {})) == {"status": "SERVING"}
    member = reply(etcd("etcdserverpb.Cluster/MemberList", {}))["members"][0]
    assert member["name"] == "member"


def test_schema(rpcurl, etcd_schema):
    """Google's options are declared in the set, and printed with their names."""
    assert rpcurl("list", "--descriptor-set", etcd_schema).exits(0).out.split() == SERVICES
    methods = rpcurl("list", "--descriptor-set", etcd_schema, KV)
    assert methods.out.split() == [f"{KV}/{name}" for name in ("Compact", "DeleteRange", "Put", "Range", "Txn")]
    rpcurl("describe", "--descriptor-set", etcd_schema, f"{KV}.Range").prints(
        "rpc Range(RangeRequest) returns (RangeResponse) {", 'option (google.api.http) = { post: "/v3/kv/range" body: "*" };',
    )
    rpcurl("describe", "--descriptor-set", etcd_schema, "etcdserverpb.RequestOp").succeeds().prints("  oneof request {\n    RangeRequest request_range = 1;\n")


# Errors


@pytest.mark.parametrize(
    ("method", "request_", "code", "words"),
    [
        (f"{KV}/Put", {}, INVALID_ARGUMENT, "etcdserver: key is not provided"),
        (f"{KV}/Compact", {"revision": 1 << 40}, OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision"),
        (f"{LEASE}/LeaseRevoke", {"ID": 3}, NOT_FOUND, "etcdserver: requested lease not found"),
        (f"{AUTH}/AuthEnable", {}, FAILED_PRECONDITION, "etcdserver: root user does not exist"),
        ("grpc.health.v1.Health/Check", {"service": "x"}, NOT_FOUND, "unknown service"),
    ],
)
def test_errors(current_rpcurl, etcd, method, request_, code, words):
    fails(etcd(method, request_), method, code, words)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("etcdserverpb.Missing/Missing", "unknown service etcdserverpb.Missing"),
        ("etcdserverpb.Missing/MissingStream", "unknown service etcdserverpb.Missing"),
        ("etcdserverpb.Watch/Missing", "unknown method Missing for service etcdserverpb.Watch"),
        ("etcdserverpb.Watch/MissingStream", "unknown method MissingStream for service etcdserverpb.Watch"),
    ],
)
def test_unimplemented_methods(current_rpcurl, etcd_server, etcd_schema_with_missing_methods, method, words):
    options = ["--descriptor-set", etcd_schema_with_missing_methods]
    fails(current_rpcurl(*options, f"{etcd_server.url}/{method}"), method, UNIMPLEMENTED, words)


def test_server_without_reflection(current_rpcurl, etcd_server):
    result = current_rpcurl("list", etcd_server.url).exits(3, "")
    assert result.err.startswith(f"rpcurl: {etcd_server.url}: the server does not offer reflection\n")


def test_put_beyond_the_servers_limit(current_rpcurl, etcd, key):
    result = etcd(f"{KV}/Put", {"key": key, "value": "A" * 4_000_000})
    size = 3_000_000 + len(base64.b64decode(key)) + 7
    fails(result, f"{KV}/Put", RESOURCE_EXHAUSTED, f"grpc: received message larger than max ({size} vs. 2097152)")


def test_put_beyond_the_limit_of_the_store(current_rpcurl, etcd, key):
    """grpc-go accepts it, and etcd does not."""
    result = etcd(f"{KV}/Put", {"key": key, "value": "A" * 2_400_000})
    fails(result, f"{KV}/Put", INVALID_ARGUMENT, "etcdserver: request is too large")


# Streams


def test_watch_receives_the_puts_of_another_process(start, etcd, key):
    watch = start(WATCH)
    send(watch, {"createRequest": {"key": key}})
    assert receive(watch)["created"]
    for number in range(10):
        reply(etcd(f"{KV}/Put", {"key": key, "value": base64_of(str(number))}))
        [event] = receive(watch)["events"]
        assert (event["kv"]["key"], event["kv"]["value"]) == (key, base64_of(str(number)))
    reply(etcd(f"{KV}/DeleteRange", {"key": key}))
    assert [event["type"] for event in receive(watch)["events"]] == ["DELETE"]
    send(watch, {"cancelRequest": {}})
    assert receive(watch)["canceled"]
    watch.send_signal(signal.SIGTERM)
    assert watch.wait() == 143


@pytest.mark.parametrize("half_closed", [False, True])
def test_interrupt_cancels_a_watch(start, etcd, etcd_server, key, half_closed):
    """etcd continues a watch after the client has half-closed it."""
    watch = start(WATCH)
    send(watch, {"createRequest": {"key": key}})
    assert receive(watch)["created"]
    if half_closed:
        watch.stdin.close()
    reply(etcd(f"{KV}/Put", {"key": key, "value": ""}))
    assert [event["kv"]["key"] for event in receive(watch)["events"]] == [key]
    watch.send_signal(signal.SIGINT)
    assert watch.wait() == 130
    assert watch.stdout.read() == b""


def test_each_keepalive_has_a_response_and_half_close_ends_the_stream(start, etcd, key):
    lease = reply(etcd(f"{LEASE}/LeaseGrant", {"TTL": 600}))["ID"]
    stream = start(f"{LEASE}/LeaseKeepAlive")
    for _ in range(20):
        send(stream, {"ID": lease})
        message = receive(stream)
        assert (message["ID"], message["TTL"]) == (lease, "600")
    send(stream, {"ID": 3})
    assert "TTL" not in receive(stream)
    stream.stdin.close()
    assert (stream.wait(), stream.stderr.read()) == (0, b"")
    reply(etcd(f"{LEASE}/LeaseRevoke", {"ID": lease}))


def test_snapshot_of_some_megabytes(etcd, key):
    """A server stream of 32 kB messages. Its last 32 bytes are the SHA-256 of the bytes before them."""
    value = base64_of(bytes(range(256)) * 4096)
    for number in range(6):
        reply(etcd(f"{KV}/Put", {"key": base64_of(base64.b64decode(key) + b"%d" % number), "value": value}))
    messages = etcd(f"{MAINTENANCE}/Snapshot", {}).succeeds().lines()
    snapshot = b"".join(base64.b64decode(message["blob"]) for message in messages)
    assert len(snapshot) > 6 << 20
    assert hashlib.sha256(snapshot[:-32]).digest() == snapshot[-32:]
    assert "remainingBytes" not in messages[-1]


def test_lock_waits_until_another_call_unlocks(start, etcd, key):
    """A unary call stays open until another call ends it."""
    first = reply(etcd("v3lockpb.Lock/Lock", {"name": key}))
    second = start("v3lockpb.Lock/Lock", "-d", json.dumps({"name": key}), "--format", "events")
    while json.loads(second.stdout.readline())["event"] != "sent":
        pass
    reply(etcd("v3lockpb.Lock/Unlock", {"key": first["key"]}))
    assert second.wait() == 0


@pytest.mark.parametrize("method", [WATCH, f"{LEASE}/LeaseKeepAlive"])
def test_server_that_stops_ends_the_stream(current_rpcurl, start, etcd, start_foreign_server, method):
    server = start_foreign_server("etcd_server.py")
    stream = start(method, to=server)
    lease = reply(etcd(f"{LEASE}/LeaseGrant", {"TTL": 600}, to=server))["ID"]
    send(stream, {"createRequest": {"key": "YQ=="}} if method == WATCH else {"ID": lease})
    assert receive(stream)
    server.process.terminate()
    assert stream.wait() in (5, 64 + 14), stream.stderr.read()
    assert stream.stderr.read().startswith(b"rpcurl: ")


# A session


def test_session_with_watch_and_put_on_one_connection(prompt, etcd_server, etcd_schema, key, raw_server):
    proxy = raw_server(lambda client: relay(client, etcd_server.port))
    session = prompt("--descriptor-set", etcd_schema, "--plaintext", f"127.0.0.1:{proxy.port}")
    session.type(f"open {WATCH}", json.dumps({"createRequest": {"key": key}}))
    assert json.loads(session.line())["created"]
    for number in range(20):
        session.type(f"call {KV}/Put " + json.dumps({"key": key, "value": base64_of(str(number))}))
        # The response of the put and the event of the watch come in either order.
        lines = [json.loads(session.line().removeprefix("Watch[1] ")) for _ in range(2)]
        [event] = next(line for line in lines if "events" in line)["events"]
        assert event["kv"]["value"] == base64_of(str(number))
    session.type("exit")
    assert session.process.wait() == 0
    assert proxy.connections == 1


# TLS


@pytest.fixture
def over_tls(etcd, etcd_mtls_server, certificates):
    def call(method, request, *options, ca="ca.pem"):
        return etcd(method, request, "--cacert", certificates / ca, *options, to=etcd_mtls_server)

    return call


@pytest.fixture
def client_pair(certificates):
    return ["--cert", certificates / "client.pem", "--key", certificates / "client-key.pem"]


def test_client_certificate(over_tls, client_pair, key):
    reply(over_tls(f"{KV}/Put", {"key": key, "value": "AAAA"}, *client_pair))
    assert reply(over_tls(f"{KV}/Range", {"key": key}, *client_pair))["kvs"][0]["value"] == "AAAA"


@pytest.mark.parametrize("client", [None, "other-client"])
def test_refused_client_certificate(current_rpcurl, over_tls, certificates, client):
    pair = ["--cert", certificates / f"{client}.pem", "--key", certificates / f"{client}-key.pem"] if client else []
    result = over_tls(f"{MAINTENANCE}/Status", {}, *pair)
    # With TLS 1.3 the refusal comes after the handshake, when libcurl reads the response.
    assert (result.code in (5, 6), result.out) == (True, ""), result.err
    assert "certificate" in result.err


def test_untrusted_server_certificate(over_tls, client_pair):
    over_tls(f"{MAINTENANCE}/Status", {}, *client_pair, ca="other-ca.pem").exits(6, "")


def test_watch_over_tls(start, over_tls, etcd_mtls_server, certificates, client_pair, key):
    watch = start(WATCH, "--cacert", certificates / "ca.pem", *client_pair, to=etcd_mtls_server)
    send(watch, {"createRequest": {"key": key}})
    assert receive(watch)["created"]
    reply(over_tls(f"{KV}/Put", {"key": key, "value": "AAAA"}, *client_pair))
    assert receive(watch)["events"][0]["kv"]["value"] == "AAAA"
    watch.send_signal(signal.SIGINT)
    assert watch.wait() == 130


# Authentication


@pytest.fixture(scope="module")
def guarded_server(start_foreign_server):
    return start_foreign_server("etcd_server.py")


@pytest.fixture
def guarded(etcd, guarded_server):
    """Calls an etcd with authentication: root may do everything, and reader may read the key "a"."""

    def call(method, request, *options):
        return etcd(method, request, *options, to=guarded_server)

    if call(f"{AUTH}/Authenticate", {"name": "root", "password": "secret"}).code != 0:
        for method, request in [
            ("UserAdd", {"name": "root", "password": "secret"}), ("UserGrantRole", {"user": "root", "role": "root"}),
            ("UserAdd", {"name": "reader", "password": "open"}), ("RoleAdd", {"name": "readers"}),
            ("RoleGrantPermission", {"name": "readers", "perm": {"permType": "READ", "key": base64_of("a")}}),
            ("UserGrantRole", {"user": "reader", "role": "readers"}), ("AuthEnable", {}),
        ]:  # fmt: skip
            reply(call(f"{AUTH}/{method}", request))
    return call


def token_of(guarded, name, password):
    return ["-H", "token: " + reply(guarded(f"{AUTH}/Authenticate", {"name": name, "password": password}))["token"]]


def test_token_of_a_user(guarded):
    root, reader = token_of(guarded, "root", "secret"), token_of(guarded, "reader", "open")
    reply(guarded(f"{KV}/Put", {"key": base64_of("a"), "value": "AAAA"}, *root))
    assert reply(guarded(f"{KV}/Range", {"key": base64_of("a")}, *reader))["kvs"][0]["value"] == "AAAA"


def test_authentication_errors(current_rpcurl, guarded):
    reader = token_of(guarded, "reader", "open")
    put, read = {"key": base64_of("a"), "value": ""}, {"key": base64_of("b")}
    authenticate = {"name": "root", "password": "wrong"}
    denied = "etcdserver: permission denied"
    for method, request, options, code, words in [
        (f"{KV}/Put", put, reader, PERMISSION_DENIED, denied),
        (f"{KV}/Range", read, reader, PERMISSION_DENIED, denied),
        (f"{KV}/Put", put, ["-H", "token: nonsense"], UNAUTHENTICATED, "etcdserver: invalid auth token"),
        (f"{KV}/Put", put, [], INVALID_ARGUMENT, "etcdserver: user name is empty"),
        (f"{AUTH}/Authenticate", authenticate, [], INVALID_ARGUMENT,
         "etcdserver: authentication failed, invalid user ID or password"),
        (f"{AUTH}/UserList", {}, reader, PERMISSION_DENIED, denied),
    ]:  # fmt: skip
        fails(guarded(method, request, *options), method, code, words)


def test_watch_without_permission_is_canceled_by_a_message(guarded, start, guarded_server):
    watch = start(WATCH, *token_of(guarded, "reader", "open"), to=guarded_server)
    send(watch, {"createRequest": {"key": base64_of("b")}})
    message = receive(watch)
    assert message["canceled"] and message["cancelReason"] == "rpc error: code = PermissionDenied desc = etcdserver: permission denied"
