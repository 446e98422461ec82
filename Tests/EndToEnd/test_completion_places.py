"""What sessions and shells complete of the language, in each place where it is written: one table for both."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import RPCURL, Rpcurl, Server
from shells import Bash, Fish, Shell, Zsh
from terminal import Terminal

# Places: the kind that the scripts of shells ask for, the text before the language there, and the same in a session. None where
# there is no such place.
PLACES: dict[str, tuple[str | None, str, str | None]] = {
    "expect": (None, "", "expect "),
    "check": ("use", "assert,check=", "use assert,check="),
    "quoted check": ("use", "assert,check='", "use assert,check='"),
    "until": ("use", "retry,attempts=3,until=", "use retry,attempts=3,until="),
    "scope": ("use", "log,header=", "use log,header="),
    "threshold": ("threshold", "errors < 1%, ", None),
    "filter": ("filter", "", None),
    "redact-field": ("use", "log,redact-field=", "use log,redact-field="),
    "ignore": ("use", "shadow,ignore=", "use shadow,ignore="),
    "set": ("set", "", None),
    "edit": ("use", "edit,set=", "use edit,set="),
    "response-append": ("use", "edit,response-append=", "use edit,response-append="),
    "clear": ("use", "edit,clear=", "use edit,clear="),
    "copy": ("use", "edit,copy=", "use edit,copy="),
    "transform": ("use", "edit,transform=", "use edit,transform="),
    "bearer": ("value", "", "use auth,bearer="),
    "variable": ("variable", "token=", None),
    "header": ("header", "x-id: ", "header x-id: "),
    "header of edit": ("use", "header,expand=true,set=x-id:", "use header,expand=true,set=x-id:"),
    "data": ("data", '{"string_value": ', 'call Echo {"string_value": '),
    "print": (None, "", "print "),
}

CONDITIONS = ("expect", "check", "quoted check", "until")
READ = ("filter", "redact-field", "ignore", "clear")
WRITTEN = ("set", "edit", "response-append")
VALUES = ("header", "header of edit", "data")

# Places, the text, and the texts that it can become.
TABLE: list[tuple[tuple[str, ...], str, list[str]]] = [
    (CONDITIONS, "lat", ["latency "]),
    (CONDITIONS, "latency ", ["latency <= ", "latency < ", "latency >= ", "latency > "]),
    (CONDITIONS, "status invalid", ["status invalid_argument"]),
    (CONDITIONS, ".optional_s", [".optional_string "]),
    (CONDITIONS, "every .nested.lab", ["every .nested.label "]),
    (CONDITIONS, ".optional_string con", [".optional_string contains "]),
    (CONDITIONS, ".optional_color == COLOR_GR", [".optional_color == COLOR_GREEN"]),
    (CONDITIONS, ".optional_bool == t", [".optional_bool == true"]),
    (CONDITIONS, ".strings asc", [".strings ascending"]),
    (CONDITIONS, ".string_value is u", [".string_value is uuid"]),
    (CONDITIONS, "header x-id !", ["header x-id != ", "header x-id !~ "]),
    (("scope",), "x-request-id !", ["x-request-id != ", "x-request-id !~ "]),
    (("threshold",), "p99.9", ["p99.9 ", "p99.99 "]),
    (("threshold",), "rate >", ["rate >= ", "rate > "]),
    (READ, "optional_s", ["optional_string"]),
    (READ, ".nesteds[-1].lab", [".nesteds[-1].label"]),
    (READ, "strings", ["strings", "strings[]"]),
    (READ, 'string_to_nested["a.b"].lab', ['string_to_nested["a.b"].label']),
    (WRITTEN, "optional_s", ["optional_string="]),
    (WRITTEN, "strings", ["strings[]="]),
    (WRITTEN, "optional_color=COLOR_GR", ["optional_color=COLOR_GREEN"]),
    (("copy",), "nested.label:string_v", ["nested.label:string_value"]),
    (("transform",), "string_value:tru", ["string_value:truncate("]),
    (("bearer", "variable"), "en", ["env:"]),
    (("bearer", "variable"), "env:RPCURL_TEST_", ["env:RPCURL_TEST_NAME"]),
    (VALUES, "${uu", ["${uuid()}"]),
    (("data", "header of edit"), "${us", ["${user}"]),
    (VALUES, "${base64(env.RPCURL_TEST_", ["${base64(env.RPCURL_TEST_NAME"]),
    (("data", "print"), "${ran", ["${random("]),
    (("print",), "$last.optional_s", ["$last.optional_string"]),
    (("print",), "${last.st", ["${last.status}", "${last.string_value}"]),
    (("print",), "${request.optional_s", ["${request.optional_string}"]),
]  # fmt: skip


def written(place: str, text: str) -> str:
    """A text in a place: after single quotes, a text that does not continue has the closing quote."""
    return f"{text}'" if place == "quoted check" and text[-1] not in " .[(,=:/" else text


# The places of the table, one for each row.
ROWS = [(place, typed, [written(place, text) for text in expected]) for places, typed, expected in TABLE for place in places]
VARIABLE = {"RPCURL_TEST_NAME": "x"}


def test_each_place_is_in_the_table() -> None:
    assert {place for place, _, _ in ROWS} == set(PLACES)


@pytest.fixture
def directory(tmp_path: Path, descriptor_set: Path) -> Path:
    shutil.copy(descriptor_set, tmp_path / "demo.binpb")
    return tmp_path


def completed(directory: Path, kind: str, typed: str, *more: str) -> list[str]:
    """The candidates for shells, in a call of Echo with --expand."""
    words = ["--expand", "--var", "user=Ada", "--protoset", "demo.binpb", *more]
    out = Shell(directory).run("env", "RPCURL_TEST_NAME=x", str(RPCURL), "complete", kind, typed, "h:1", "demo.v1.Demo/Echo", *words)
    return [line.split("\t")[0] for line in out.splitlines()]


@pytest.mark.parametrize(("place", "typed", "expected"), [row for row in ROWS if PLACES[row[0]][0]])
def test_shells_receive(directory: Path, place: str, typed: str, expected: list[str]) -> None:
    kind, before, _ = PLACES[place]
    assert kind
    found = completed(directory, kind, before + typed)
    if len(expected) == 1 and expected[0].endswith(" "):
        # What follows a single candidate is in its place.
        assert found and all(text.startswith(before + expected[0]) for text in found)
    else:
        # fish closes the quotes after a single candidate, so what JSON can continue with is one too.
        ends = ["", ",", "}"] if kind == "data" and len(expected) == 1 and expected[0].endswith("}") else [""]
        assert found == [before + text + end for text in expected for end in ends]


@pytest.fixture
def session(rpcurl: Rpcurl, grpc_server: Server, tmp_path: Path) -> Iterator[Terminal]:
    settings = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)} | VARIABLE
    command = [str(RPCURL), "session", "--plaintext", grpc_server.address]
    terminal = Terminal(command, rpcurl.environment(settings), 100, 40)
    terminal.shows("rpcurl>")
    yield terminal
    terminal.close()


def test_sessions_insert(session: Terminal) -> None:
    session.send('set user = "Ada"\rcall Echo {"string_value":"a"}\r')
    session.wait(lambda: session.last == "rpcurl>" and "stringValue" in session.text, "the response")
    for place, typed, expected in ROWS:
        before = PLACES[place][2]
        if before is None:
            continue
        common = os.path.commonprefix(expected)
        line = f"rpcurl> {before}{max(typed, common, key=len)}"
        session.send(f"{before}{typed}\t")
        # A hint may follow on the right.
        stem = line.rstrip()
        session.wait(lambda: f"{session.typed} ".startswith(f"{stem} "), line)
        session.send("\x15")
        session.wait(lambda: session.last == "rpcurl>", f"the empty line after {line}")


# The line after TAB. Each shell breaks words at other characters.
LINES = [
    ("--filter optional_s", "--filter optional_string "),
    ("--filter nested.lab", "--filter nested.label "),
    ("--filter='nesteds[-1].lab", "--filter='nesteds[-1].label' "),
    ("--set optional_s", "--set optional_string="),
    ("--set=optional_color=COLOR_GR", "--set=optional_color=COLOR_GREEN "),
    ("--use 'assert,check=lat", "--use 'assert,check=latency "),
    ("--use 'assert,check=.optional_s", "--use 'assert,check=.optional_string "),
    ("--use \"assert,check=.optional_s", "--use \"assert,check=.optional_string "),
    ("--use \"assert,check='.optional_s", "--use \"assert,check='.optional_string "),
    ("--use \"assert,check='.optional_color == COLOR_GR", "--use \"assert,check='.optional_color == COLOR_GREEN'\""),
    ("--use assert,check=.optional_s", "--use assert,check=.optional_string\\ "),
    ("--use assert,check=.optional_string\\ con", "--use assert,check=.optional_string\\ contains\\ "),
    ("--use retry,until=.optional_s", "--use retry,until=.optional_string\\ "),
    ("--bearer env:HOM", "--bearer env:HOME "),
    ("--expand -d '{\"string_value\":\"${uu", "--expand -d '{\"string_value\":\"${uuid()}"),
    ("--expand -d \"{\\\"string_value\\\":\\\"\\${uu", "--expand -d \"{\\\"string_value\\\":\\\"\\${uuid()}"),
]  # fmt: skip
BASE = "rpcurl --protoset demo.binpb h:1 demo.v1.Demo/Echo"
# zsh moves quotes that do not begin the word, and fish puts a blank after a single candidate.
OTHERWISE = {
    ("zsh", "--use \"assert,check='.optional_color == COLOR_GR"): "--use \"assert,check='.optional_color == COLOR_GREEN'",
    ("fish", "--use \"assert,check='.optional_color == COLOR_GR"): "--use \"assert,check='.optional_color == COLOR_GREEN'\" ",
    ("zsh", "--filter='nesteds[-1].lab"): "--filter=nesteds\\[-1\\].label ",
    ("fish", "--use assert,check=.optional_string\\ con"): "--use assert,check=.optional_string\\ contains\\  ",
}  # fmt: skip


@pytest.mark.parametrize(("name", "shell"), [("bash", Bash), ("zsh", Zsh), ("fish", Fish)])
def test_shells_insert(directory: Path, name: str, shell: type[Shell]) -> None:
    results = shell(directory).all_typed([f"{BASE} {line}" for line, _ in LINES])
    found = {line: result.removeprefix(f"{BASE} ") for (line, _), (result, _) in zip(LINES, results, strict=True)}
    assert found == {line: OTHERWISE.get((name, line), result) for line, result in LINES}


def test_hostile_names_of_values_are_quoted(directory: Path) -> None:
    """The values of an enum may be any text in a descriptor set."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="bad.proto", package="bad", syntax="proto3")
    enum = file.enum_type.add(name="E")
    for number, name in enumerate(["ZERO", "$(touch harm)", "'; touch harm; '", "`touch harm`", '"; touch harm; "']):
        enum.value.add(name=name, number=number)
    file.message_type.add(name="M").field.add(name="e", number=1, label=1, type=14, type_name=".bad.E")
    file.service.add(name="S").method.add(name="Get", input_type=".bad.M", output_type=".bad.M")
    (directory / "bad.binpb").write_bytes(descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString())
    base = "rpcurl --protoset bad.binpb h:1 bad.S/Get --set"
    lines = [f"{base} {quote}e={start}" for quote in ("", "'", '"') for start in ("", "Z")]
    for shell in (Bash, Zsh, Fish):
        shell(directory).all_typed(lines, tabs=2)
        assert not (directory / "harm").exists()


def test_functions_are_offered_where_they_have_a_value(directory: Path) -> None:
    data = completed(directory, "data", '{"a": ${')
    assert '{"a": ${message(' in data
    assert not [text for text in data if "${last" in text or "${offset" in text]
    assert completed(directory, "data", '{"a": ${off', "--chunk=1k")[0] == '{"a": ${offset()}'
    assert completed(directory, "header", "x-id: ${mess") == []
