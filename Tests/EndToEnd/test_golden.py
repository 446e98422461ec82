"""Complete output: transcripts of runs, compared with the files of golden/.

A file of golden/ has the command lines and their output. Values that differ from run to run are replaced by a word
(SERVER, DATE, TIME, VERSION …), control characters are shown by their symbols (␛ for ESC), and bytes that are not text in
hexadecimal. To write the files again:

    RPCURL_GOLDEN=write pytest Tests/EndToEnd/test_golden.py

and then read the output of git diff: these outputs are promises.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness import RPCURL, Result, Rpcurl
from demo_pb2 import AllTypes, FailRequest
from google.protobuf import any_pb2, descriptor_pb2, duration_pb2, json_format, text_format
from google.rpc import error_details_pb2 as rpc

GOLDEN = Path(__file__).with_name("golden")
SERVICE = "demo.v1.Demo"
SCHEMA = ("--descriptor-set", "demo.binpb")
# What servers may compress with, and whether they do, depends on the machine's libraries.
PLAIN = ("--accept-compression", "identity")

# A message of many kinds of fields, with text that formats must quote.
RICH = {
    "doubleValue": 1.5, "int64Value": "-9007199254740993", "boolValue": True, "stringValue": 'tab\t "quoted" \\ é ☃ 🚲',
    "bytesValue": "/wA=", "color": "COLOR_RED", "nested": {"label": "x", "child": {"number": 3}},
    "optionalInt32": 0, "int32s": [1, -2], "strings": ["one", ""], "nesteds": [{"label": "p"}, {}],
    "stringToInt32": {"k": 7}, "choiceText": "", "timestamp": "2026-01-02T03:04:05.600Z", "duration": "-1.500s",
    "fieldMask": "a.b,cD", "struct": {"s": [None, True, 0.5, {}]}, "wrappedInt64": "5", "anotherName": "r",
    "any": {"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "Ada"},
}  # fmt: skip
SMALL = {"color": "COLOR_LIME", "stringToColor": {"a": "COLOR_INFRARED"}, "nested": {}, "anotherName": "r"}

# Messages and metadata, and then a status with a detail.
FAILING = ("-H", "demo-header: x-early=yes", "-H", "demo-trailer: x-late=yes, x-late-bin=00ff", "-H", "demo-code: 5")


# Transcripts


@dataclass
class Transcript:
    """Runs of rpcurl, as a reader of the golden file sees them."""

    rpcurl: Rpcurl
    request: pytest.FixtureRequest
    text: str = ""
    addresses: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        schema = self.request.getfixturevalue("descriptor_set")
        (self.rpcurl.home / "demo.binpb").symlink_to(schema)
        self.file("bare.binpb", without_details(schema.read_bytes()))
        self.file("rich.json", json.dumps(RICH).encode())

    def file(self, name: str, content: bytes) -> None:
        """A file of the working directory, for arguments."""
        (self.rpcurl.home / name).write_bytes(content)

    def run(self, *words: object) -> Result:
        result = self.rpcurl(*words)
        self.text += f"$ {shlex.join(['rpcurl', *map(str, words)])}\n"
        for title, output in (("stdout", result.out_bytes), ("stderr", result.err.encode())):
            if output:
                self.text += f"--- {title}\n{shown(output)}"
        self.text += f"--- exit {result.code}\n\n"
        return result

    def call(self, method: str, *words: object, data: object = None, server: str = "grpc", schema=SCHEMA) -> Result:
        """A call of the demo service; the Connect server is called with the protocol Connect."""
        found = self.request.getfixturevalue(f"{server}_server")
        self.addresses.append(found.address)
        sent = () if data is None else ("-d", "@rich.json" if data is RICH else json.dumps(data))
        return self.run(*schema, *words, *sent, f"{found.url}/{SERVICE}/{method}")

    def normalized(self) -> str:
        text = self.text
        for address in self.addresses:
            text = text.replace(address, "SERVER")
        for pattern, word in (
            (r"rpcurl/\d[\w.+-]*", "rpcurl/VERSION"),
            (r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", "DATE"),
            (r"\b\d+\.\d ms", "TIME ms"),
            (r"(grpc-timeout|connect-timeout-ms): \d+u?", r"\1: TIME"),
            (r'((total|resolve|connect|tls|first_byte)_ms":)\d+(\.\d+)?', r"\1TIME"),
        ):
            text = re.sub(pattern, word, text)
        return text.rstrip("\n") + "\n"


def shown(output: bytes) -> str:
    """Output as text of which every byte can be seen. A missing end of line is shown too."""
    try:
        text = output.decode()
    except UnicodeDecodeError:
        text = ""
    if not text or re.search(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]", text):
        return "".join(f"{output[start : start + 32].hex(' ')}\n" for start in range(0, len(output), 32))
    text = text.replace("\t", "␉").replace("\x1b", "␛")
    return text if text.endswith("\n") else f"{text}⏎\n"


def without_details(schema: bytes) -> bytes:
    """The schema without google.rpc, as of a server without the types of its details."""
    files = descriptor_pb2.FileDescriptorSet.FromString(schema)
    kept = [file for file in files.file if not file.name.startswith("google/rpc/")]
    return descriptor_pb2.FileDescriptorSet(file=kept).SerializeToString()


TRANSCRIPTS: dict[str, Callable[[Transcript], None]] = {}


def transcript(function: Callable[[Transcript], None]) -> Callable[[Transcript], None]:
    """The function writes the golden file of its name."""
    TRANSCRIPTS[function.__name__.removesuffix("_command")] = function
    return function


# The formats of a call


def formats() -> list[str]:
    """The formats of responses: all but those that need --explain, which are commands of programs."""
    table = json.loads(subprocess.check_output([RPCURL, "--dump-options"]))
    [call] = [command for command in table["commands"] if command["name"] == "call"]
    [values] = [option["values"] for option in call["options"] if "--format" in option["names"]]
    words = [RPCURL, "--config", "/dev/null", "--no-reflect", "http://host", "a.B/C", "--format"]
    errors = [subprocess.run([*words, value], capture_output=True).stderr for value in values]
    return [value for value, error in zip(values, errors) if b"requires --explain" not in error]


def add_formats() -> None:
    def write(session: Transcript, format: str) -> None:
        for color in ("never", "always"):
            columns = ("--filter", ".") if format in ("tsv", "csv") else ()
            words = (*PLAIN, "--format", format, "--color", color, *columns)
            session.call("Echo", *words, data=RICH)
            session.call("Count", *words, data={"from": 1, "to": 2})
            session.call("Count", *words, *FAILING, data={"from": 1, "to": 2})
            session.call("Find", *words, data={"id": "9"})

    for format in formats():
        TRANSCRIPTS[f"format_{format}"] = lambda session, format=format: write(session, format)


add_formats()


@transcript
def events_connect(session):
    for protocol in ("connect", "grpc-web"):
        words = (*PLAIN, "--format", "events", "--protocol", protocol)
        session.call("Hello", *words, data={"name": "Ada"}, server="connect")
        session.call("Count", *words, *FAILING, data={"from": 1, "to": 1}, server="connect")
        session.call("Find", *words, data={"id": "9"}, server="connect")


@transcript
def json_options(session):
    for format in ("json", "pretty", "text"):
        for option in ("--emit-defaults", "--enum-numbers", "--proto-names"):
            session.call("Echo", "--format", format, option, data=SMALL)
    session.call("Echo", "--emit-defaults", "--enum-numbers", "--proto-names", "--format", "events", *PLAIN, data=SMALL)


@transcript
def filter_command(session):
    for path in ("stringValue", "int64Value", "bytesValue", "nested", "nested.child.number", "strings", "int32s[1]",
                 "stringToInt32", 'stringToInt32["k"]', "timestamp", "struct", "any", "wrappedInt64", "optionalInt32"):  # fmt: skip
        session.call("Echo", "--filter", path, data=RICH)
    session.call("Echo", "--filter", "nested", "--color", "always", "--proto-names", data=RICH)
    session.call("Count", "--filter", "number", data={"from": 1, "to": 2})
    session.call("Echo", "--filter", "self", data={})
    session.call("Echo", "--filter", "nosuch", data={})


# Standard error


def verbose(session: Transcript, protocol: str) -> None:
    server = "grpc" if protocol == "grpc" else "connect"
    words = (*PLAIN, "-v", "--protocol", protocol)
    session.call("Hello", *words, "--bearer", "secret", "-H", "x-a: one", "-H", "x-a: two", data={"name": "Ada"}, server=server)
    session.call("Hello", *words, "--bearer", "secret", "--show-secrets", data={"name": "Ada"}, server=server)
    session.call("Count", *words, "--max-time", "20s", data={"from": 1, "to": 2}, server=server)
    session.call("Count", *words, *FAILING, data={"from": 1, "to": 1}, server=server)
    # A response of gRPC with trailers only.
    session.call("Find", *words, "-H", "demo-trailer: x-late=yes", data={"id": "9"}, server=server)
    session.call("Hello", *words, "--color", "always", data={"name": "Ada"}, server=server)
    session.run(*SCHEMA, *words, "http://127.0.0.1:1/demo.v1.Demo/Hello")


@transcript
def verbose_grpc(session):
    verbose(session, "grpc")


@transcript
def verbose_connect(session):
    verbose(session, "connect")


@transcript
def verbose_grpc_web(session):
    verbose(session, "grpc-web")


@transcript
def timing(session):
    session.call("Hello", "--timing", data={"name": "Ada"})
    session.call("Count", "--timing", data={"from": 1, "to": 2})
    session.call("Fail", "--timing", data={"code": 5, "message": "as asked"})
    session.call("Hello", "--timing", "--protocol", "connect", data={"name": "Ada"}, server="connect")


# Errors


@transcript
def errors(session):
    wrong = '{"stringValue": "a",\n  "int64Valu": "1"}'
    for form in ("text", "json"):
        session.call("Fail", "--error-format", form, data={"code": 5, "message": "no item 9"})
        session.call("Fail", "--error-format", form, *FAILING, data={"code": 9, "message": "late"})
        session.call("Echo", "--error-format", form, "-d", wrong)
        session.call("Hello", "--error-format", form, "--no-such-option")
        session.call("Hello", "--error-format", form, "--use", "assert,check=status not_found", data={"name": "Ada"})
        session.run("describe", *SCHEMA, "--error-format", form, "HelloReqest")


# Commands without a call


@transcript
def explain(session):
    chain = ("--use", "header,set=x-tenant:blue", "--use", "retry,priority=5", "--use", "log,methods=other.Service/*")
    request = ("--bearer", "secret", "--max-time", "1500ms", "-H", "x-a: b", *PLAIN)
    for format in ((), ("--format", "json")):
        session.call("Hello", "--explain", *format, data={"name": "Ada"})
        session.call("Count", "--explain", *format, *request, *chain, data={"from": 1})
        get = ("--protocol", "connect", "--codec", "json", "--connect-get", "--use", "log")
        session.call("Hello", "--explain", *format, *get, server="connect")


@transcript
def list_command(session):
    for words in ((), ("demo.v1.Demo",), ("HelloRequest",), ("demo.v1.Color",), ("--kind", "oneof", "--kind", "enum")):
        for format in ("text", "json"):
            session.run("list", *SCHEMA, "--format", format, *words)


@transcript
def describe_command(session):
    for symbol in ("demo.v1.Demo", "demo.v1.Demo/Hello", "HelloRequest", "demo.v1.AllTypes", "demo.v1.Color",
                   "demo.v1.Color.COLOR_LIME", "demo.v1.AllTypes.choice", "demo.v1.AllTypes.string_to_nested"):  # fmt: skip
        for format in ("text", "json"):
            session.run("describe", *SCHEMA, "--format", format, symbol)
    session.run("describe", *SCHEMA, "demo.v1.Nothing")


@transcript
def template_command(session):
    session.run("template", *SCHEMA, "demo.v1.Demo/Hello")
    session.run("template", *SCHEMA, "--response", "demo.v1.Demo/Hello")
    session.run("template", *SCHEMA, "--comments", "demo.v1.AllTypes")


# Details of a status

DETAILS = {
    "ErrorInfo": rpc.ErrorInfo(reason="OUT_OF_TEA", domain="demo.test", metadata={"pot": "blue"}),
    "RetryInfo": rpc.RetryInfo(retry_delay=duration_pb2.Duration(seconds=1, nanos=500_000_000)),
    "DebugInfo": rpc.DebugInfo(stack_entries=["main.py:1", "tea.py:2"], detail="boiled over"),
    "QuotaFailure": rpc.QuotaFailure(violations=[rpc.QuotaFailure.Violation(subject="user:ada", description="2 pots a day")]),
    "PreconditionFailure": rpc.PreconditionFailure(
        violations=[rpc.PreconditionFailure.Violation(type="WATER", subject="kettle", description="is empty")]
    ),
    "BadRequest": rpc.BadRequest(field_violations=[rpc.BadRequest.FieldViolation(field="pots[0].size", description="too big")]),
    "RequestInfo": rpc.RequestInfo(request_id="r-1", serving_data="shard 7"),
    "ResourceInfo": rpc.ResourceInfo(resource_type="demo.v1.Pot", resource_name="pots/blue", owner="ada", description="in use"),
    "Help": rpc.Help(links=[rpc.Help.Link(description="how to boil", url="https://demo.test/boil")]),
    "LocalizedMessage": rpc.LocalizedMessage(locale="de-DE", message="Kein Tee mehr ☕"),
}
UNKNOWN = any_pb2.Any(type_url="type.googleapis.com/other.v1.Secret", value=b"\x0a\x03abc\x10\x07")
CUT_OFF = any_pb2.Any(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\x0a\x7f")


def packed(*details) -> bytes:
    """A request to fail with these details."""
    request = FailRequest(code=9, message="no tea")
    for detail in details:
        if isinstance(detail, any_pb2.Any):
            request.details.append(detail)
        else:
            request.details.add().Pack(detail)
    return request.SerializeToString()


@transcript
def details(session):
    """Without a schema of them."""
    kinds = {**DETAILS, "Unknown": UNKNOWN, "CutOff": CUT_OFF}
    words = ("--data-format", "binary", *PLAIN)
    for name, detail in kinds.items():
        session.file(f"{name}.bin", packed(detail))
        session.call("Fail", *words, "-d", f"@{name}.bin", schema=("--descriptor-set", "bare.binpb"))
    session.file("all.bin", packed(*kinds.values()))
    for server in ("grpc", "connect"):
        session.call("Fail", *words, "--protocol", server, "-d", "@all.bin", server=server, schema=("--descriptor-set", "bare.binpb"))
        session.call(
            "Fail", *words, "--protocol", server, "--format", "events", "-d", "@all.bin", server=server,
            schema=("--descriptor-set", "bare.binpb"),
        )  # fmt: skip


# Comparison


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_golden(rpcurl, request, name):
    session = Transcript(rpcurl, request)
    TRANSCRIPTS[name](session)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("RPCURL_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(session.normalized())
    assert path.is_file(), "RPCURL_GOLDEN=write writes it"
    assert session.normalized() == path.read_text()


def test_every_golden_file_has_a_transcript():
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.txt" for name in TRANSCRIPTS}


# The same by another implementation


@pytest.mark.parametrize("protocol", ["grpc", "connect"])
@pytest.mark.parametrize("format", ["pretty", "json", "text", "binary", "events"])
def test_python_reads_the_same_message(rpcurl, request, format, protocol):
    session = Transcript(rpcurl, request)
    result = session.call("Echo", "--format", format, "--protocol", protocol, data=RICH, server=protocol).succeeds()
    expected = json_format.ParseDict(RICH, AllTypes())
    if format == "binary":
        read = AllTypes.FromString(result.out_bytes)
    elif format == "text":
        read = text_format.Parse(result.out, AllTypes())
    elif format == "events":
        (event,) = [e for e in result.lines() if e["event"] == "message"]
        read = json_format.ParseDict(event["message"], AllTypes())
    else:
        read = json_format.Parse(result.out, AllTypes())
    assert read == expected


@pytest.mark.parametrize(
    ("option", "python"),
    [
        ("--emit-defaults", "always_print_fields_with_no_presence"),
        ("--enum-numbers", "use_integers_for_enums"),
        ("--proto-names", "preserving_proto_field_name"),
    ],
)
@pytest.mark.parametrize("data", [RICH, SMALL], ids=["rich", "small"])
def test_python_writes_the_same_json(rpcurl, request, option, python, data):
    session = Transcript(rpcurl, request)
    result = session.call("Echo", option, data=data)
    message = json_format.ParseDict(data, AllTypes())
    assert result.json() == json_format.MessageToDict(message, **{python: True})
