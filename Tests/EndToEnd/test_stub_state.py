"""Variables of stubs: a small service whose later calls depend on earlier ones."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import manual
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from harness import PATIENCE_SECONDS, Proxy, Rpcurl, closed_port, write

PROTO = """
syntax = "proto3";
package store.v1;
message Item { int64 id = 1; string name = 2; map<string, Item> parts = 3; bytes data = 4; }
message PutRequest { Item item = 1; }
message GetRequest { int64 id = 1; }
message ListRequest { string name = 1; }
message Items { repeated Item items = 1; repeated string names = 2; }
message Empty {}
service Store {
  rpc Put(PutRequest) returns (Item);
  rpc Get(GetRequest) returns (Item);
  rpc List(ListRequest) returns (Items);
  rpc Delete(GetRequest) returns (Empty);
  rpc Watch(stream GetRequest) returns (stream Item);
}
"""
EXISTS = '"where": ["${items[${request.id}]} exists"]'
MISSING = '"response": {"status": {"code": "not_found", "message": "no item ${request.id}"}}'
STUBS = """
{"method": "store.v1.Store/Put", "where": ["${items[${request.item.id}].name} == ${request.item.name}"],
 "response": {"status": {"code": "already_exists", "message": "${items[${request.item.id}].name}"}}}
{"method": "store.v1.Store/Put",
 "response": {"set": {"items[${request.item.id}]": ${request.item}}, "message": ${items[${request.item.id}]}}}
{"method": "store.v1.Store/Get", EXISTS, "response": {"message": ${items[${request.id}]}}}
{"method": "store.v1.Store/Get", MISSING}
{"method": "store.v1.Store/List", "response": {"message": {"items": ${items[]}, "names": ${items[].name}}}}
{"method": "store.v1.Store/Delete", EXISTS, "response": {"set": {"items[${request.id}]": null}, "message": {}}}
{"method": "store.v1.Store/Delete", MISSING}
{"method": "store.v1.Store/Watch", "response": {"each": [
  {EXISTS, "message": ${items[${request.id}]}},
  {"set": {"items[${request.id}]": {"id": ${request.id}, "name": "new"}}, "message": {"name": "made ${request.id}"}}]}}
""".replace("EXISTS", EXISTS).replace("MISSING", MISSING)  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the schema and the stubs."""
    directory = tmp_path_factory.mktemp("store")
    write(directory / "store.proto", PROTO)
    write(directory / "stubs.json", STUBS)
    return directory


@pytest.fixture(scope="module")
def types(files):
    """`types(name)`: the class of a message."""
    output = files / "store.binpb"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{files}", f"--descriptor_set_out={output}", "store.proto"]
    subprocess.run(command, check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes()).file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"store.v1.{name}"))


@pytest.fixture
def served(rpcurl: Rpcurl, files: Path, tmp_path: Path) -> Iterator[Proxy]:
    directory = tmp_path / "served"
    directory.mkdir()
    proxy = Proxy(rpcurl, directory, "serve", "--proto", files / "store.proto", "--use", f"mock,file={files / 'stubs.json'}")
    yield proxy
    assert proxy.stop() == 0


class Store:
    """A client of grpcio."""

    def __init__(self, types, channel: grpc.Channel) -> None:
        self.types, self.channel = types, channel

    def call(self, method, request, reply, **fields):
        function = self.channel.unary_unary(
            f"/store.v1.Store/{method}",
            lambda message: message.SerializeToString(),
            self.types(reply).FromString,
        )
        return function(self.types(request)(**fields), timeout=PATIENCE_SECONDS)

    def put(self, **item):
        return self.call("Put", "PutRequest", "Item", item=item)

    def get(self, number):
        return self.call("Get", "GetRequest", "Item", id=number)

    def delete(self, number):
        return self.call("Delete", "GetRequest", "Empty", id=number)

    def items(self):
        return self.call("List", "ListRequest", "Items")


def failure(function, *arguments, **options):
    with pytest.raises(grpc.RpcError) as raised:
        function(*arguments, **options)
    return raised.value.code(), raised.value.details()


def test_get_after_put(served, types):
    with grpc.insecure_channel(served.address) as first, grpc.insecure_channel(served.address) as second:
        one, other = Store(types, first), Store(types, second)
        number = 9007199254740993
        missing = (grpc.StatusCode.NOT_FOUND, f"no item {number}")
        assert failure(other.get, number) == missing
        assert failure(other.delete, number) == missing
        assert list(one.items().items) == []
        item = {"id": number, "name": 'a"].b[${env.HOME}', "data": b"\xff\0", "parts": {"${items}": {"id": 3}}}
        assert one.put(**item) == types("Item")(**item)
        assert other.get(number) == types("Item")(**item)
        other.put(id=-1, name="minus")
        assert list(one.items().names) == [item["name"], "minus"]
        assert [found.id for found in one.items().items] == [number, -1]
        # The same name again.
        assert failure(one.put, id=-1, name="minus") == (grpc.StatusCode.ALREADY_EXISTS, "minus")
        assert one.put(id=number, name="other").name == "other"
        assert not other.get(number).parts
        one.delete(number)
        assert failure(other.get, number) == missing
        assert list(other.items().names) == ["minus"]


def test_many_clients_at_once(served, types):
    """Each name is accepted once, and no value is lost."""

    def client(number: int) -> list[object]:
        with grpc.insecure_channel(served.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            store = Store(types, channel)
            made = [store.put(id=number * 100 + index, name=f"n{index}") for index in range(30)]
            codes = failure(store.put, id=number * 100, name="n0")
            return [*made, codes]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(client, range(8)))
    assert all(result[-1] == (grpc.StatusCode.ALREADY_EXISTS, "n0") for result in results)
    with grpc.insecure_channel(served.address) as channel:
        found = Store(types, channel).items().items
    assert sorted(item.id for item in found) == sorted(number * 100 + index for number in range(8) for index in range(30))


def test_rules_of_a_stream(served, types):
    with grpc.insecure_channel(served.address) as channel:
        watch = channel.stream_stream(
            "/store.v1.Store/Watch", lambda message: message.SerializeToString(), types("Item").FromString
        )
        request = types("GetRequest")
        names = [item.name for item in watch(request(id=number) for number in [1, 2, 1])]
        assert names == ["made 1", "made 2", "new"]
        assert Store(types, channel).get(2).name == "new"


@pytest.mark.parametrize("command", ["session", "run"])
def test_session(rpcurl, files, command):
    script = """
call Get {"id":5}
expect status not_found
expect error == "no item 5"
call Put {"item":{"id":5,"name":"five"}}
set n = ${last.id}
call Get {"id":$n}
expect .name == five
expect ${n} == 5
expect ${last.name} =~ ^f
call Delete {"id":5}
call Get {"id":5}
expect status not_found
call List {}
expect .items absent
"""
    options = ["--proto", files / "store.proto", "--use", f"mock,file={files / 'stubs.json'}", "http://localhost:1"]
    result = rpcurl(command, *options, *["-"] * (command == "run"), input=script).exits(0)
    assert '"name":"five"' in "".join(result.out.split()), result.out


@pytest.mark.parametrize(
    ("stub", "words"),
    [
        ('"response":{"message":${user}}', "${user}: no stub sets user"),
        ('"where":["${itens} exists"],"response":{"set":{"items":1}}', "${itens}: no stub sets itens\nhint: did you mean items?"),
        ('"response":{"set":{"a.b.c":1}}', "response.set.a.b.c: a.b.c cannot be set"),
    ],
)  # fmt: skip
def test_errors_of_the_file(rpcurl, files, tmp_path, stub, words):
    stubs = write(tmp_path / "stubs.json", f"\n{{{stub}}}")
    rpcurl("serve", "--proto", files / "store.proto", "--use", f"mock,file={stubs}").exits(7).reports(f"{stubs}:2: {words}")


def test_manual(tmp_path, descriptor_set):
    once = manual.examples("rpcurl-mock.7")[1]
    result = manual.run(once, tmp_path, descriptor_set)
    assert (result.returncode, result.stderr.count("was here before")) == (0, 1), result.stderr
    (recipe,) = [example for example in manual.examples("rpcurl-serve.1") if "users.proto" in example]
    address = f"127.0.0.1:{closed_port()}"
    result = manual.run(recipe, tmp_path, descriptor_set, [("127.0.0.1:8090", address)])
    assert result.returncode == 0, result.stderr
    assert result.stdout.count('"name":"Ada"') + result.stdout.count('"name": "Ada"') == 2, result.stdout
