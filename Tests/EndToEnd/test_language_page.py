"""rpcurl-language(7): each path, value and condition in each place where it can be written, generated from one list."""

import json
import re

import pytest
from harness import write

SERVICE = "demo.v1.Demo"
ANY = "type.googleapis.com/demo.v1.HelloRequest"
MESSAGE = {
    "int64Value": "9007199254740993",
    "boolValue": True,
    "stringValue": "Loom",
    "bytesValue": "aGk=",
    "color": "COLOR_RED",
    "nested": {"label": "in", "number": 7},
    "strings": ["a", "b"],
    "nesteds": [{"label": "x", "number": 1}, {"label": "y", "number": 2}],
    "stringToInt32": {"a.b": 6, "colour": 5},
    "int32ToString": {"-1": "minus", "5": "five"},
    "timestamp": "2026-01-02T03:04:05Z",
    "duration": "90s",
    "struct": {"k": {"z": 1}},
    "any": {"@type": ANY, "name": "Ada"},
}
# Paths, with the JSON of what they lead to in the message; None if it is absent.
PATHS = {
    ".string_value": "Loom",
    ".stringValue": "Loom",
    ".nested.number": 7,
    ".nesteds[0].label": "x",
    ".nesteds[-1].label": "y",
    ".strings[-1]": "b",
    ".strings[]": ["a", "b"],
    ".nesteds[].number": [1, 2],
    ".string_to_int32.colour": 5,
    '.string_to_int32["a.b"]': 6,
    ".int32_to_string[5]": "five",
    ".int32_to_string[-1]": "minus",
    ".struct.k.z": 1,
    ".any.name": "Ada",
    f".any[{ANY}].name": "Ada",
    ".any[type.googleapis.com/demo.v1.FindRequest].id": None,
    ".strings[9]": None,
    ".bytes_list[-1]": None,
    ".string_to_int32.none": None,
    ".optional_nested.label": None,
}
# Paths that messages of the type cannot have.
UNKNOWN = [".strng_value", ".nested.labl", ".string_value.x", ".string_value[0]", ".int32_to_string.five"]
# Conditions that hold, each with the same condition about another value, which does not.
CONDITIONS = {
    ".string_value == Loom": ".string_value == Room",
    '.string_value == "Loom"': '.string_value == "Room"',
    ".string_value != Room": ".string_value != Loom",
    ".string_value < M": ".string_value > M",
    ".string_value =~ ^Lo+m$": ".string_value !~ ^Lo+m$",
    ".string_value contains oo": ".string_value contains uu",
    ".string_value exists": ".string_value absent",
    ".optional_string absent": ".optional_string exists",
    ".string_value is string": ".string_value is number",
    ".string_value size 4": ".string_value size > 4",
    ".color == COLOR_RED": ".color == COLOR_GREEN",
    ".color == 1": ".color == 2",
    ".int64_value == 9007199254740993": ".int64_value == 9007199254740992",
    ".nested.number >= 7": ".nested.number < 7",
    ".nested.number == 8 within 1": ".nested.number == 9 within 1%",
    ".bool_value == true": ".bool_value == false",
    '.strings == ["b","a"] unordered': '.strings == ["b","a"]',
    '.strings contains "b"': '.strings contains "c"',
    ".strings[-1] == b": ".strings[-1] == a",
    ".strings[9] absent": ".strings[9] exists",
    ".strings size 2": ".strings size 3",
    ".nesteds[].number ascending": ".nesteds[].number descending",
    '.nested contains {"number":7}': '.nested contains {"number":8}',
    '.string_to_int32 == {"colour":5,"a.b":6}': '.string_to_int32 == {"colour":5}',
    ".string_to_int32.colour == 5": ".string_to_int32.colour == 6",
    '.timestamp == "2026-01-02T03:04:05Z"': '.timestamp > "2026-01-02T03:04:05Z"',
    ".duration >= 1.5s": ".duration < 1.5s",
    ".any.name == Ada": ".any.name == Eve",
}
# Conditions about the response, which stubs do not have.
RESPONSES = {
    "status ok": "status != ok",
    "status not_found,ok": "status not_found",
    "header content-type =~ ^application/grpc": "header content-type absent",
    "header x-none absent": "header x-none",
    "trailer x-none absent": "trailer x-none exists",
    "count 1": "count > 1",
    "latency < 60s": "latency < 1us",
    "connection http == 2": "connection http == 1.1",
    "connection address exists": "connection tls exists",
    "certificate name absent": "certificate expires > 30d",
    "first .string_value == Loom": "first .string_value == Room",
    "every .string_value == Loom": "every .string_value == Room",
    "any .string_value == Loom": "any .string_value == Room",
    "message 0 .string_value == Loom": "message 1 .string_value == Loom",
    'list .string_value == ["Loom"]': "list .string_value == []",
    "error absent": "error =~ x",
    "detail ErrorInfo absent": "detail ErrorInfo .reason == x",
}
# Text that was a condition once, or is one in another tool, with the form that the error shows.
OLD_CONDITIONS = {
    "string_value == Loom": ".string_value",
    ".optional_string missing": "absent",
    ".strings length 2": "size",
    "latency < 100": "100ms or 100s",
}


@pytest.fixture
def session(rpcurl, grpc_server, descriptor_set):
    """Runs commands of a session."""

    def session(*lines, **more):
        text = "".join(f"{line}\n" for line in lines)
        return rpcurl("run", "--descriptor-set", descriptor_set, "--plaintext", grpc_server.address, "-", input=text, **more)

    return session


@pytest.fixture
def suite(rpcurl, grpc_server, descriptor_set, tmp_path):
    """Runs a suite of one test."""

    def suite(*lines, **more):
        path = write(tmp_path / "language.rpcurl", "".join(f"{line}\n" for line in (f"target {grpc_server.url}", "test one", *lines)))
        return rpcurl("test", "--descriptor-set", descriptor_set, path, **more)

    return suite


def data() -> str:
    return json.dumps(MESSAGE)


def quoted(value: str) -> str:
    """A value of a key of --use."""
    return f"'{value}'"


def stub(tmp_path, condition: str) -> str:
    """A mock that responds only to requests that meet a condition."""
    path = write(tmp_path / "stub.json", json.dumps({"method": f"{SERVICE}/Echo", "where": [condition], "response": {"message": {"stringValue": "stubbed"}}}))
    return f"mock,file={path}"


# Paths


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stop", ["", "."], ids=["bare", "stop"])
def test_path_of_filter(grpc_call, path, stop):
    result = grpc_call("Echo", "-d", data(), "--filter", stop + path.removeprefix("."))
    value = PATHS[path]
    if value is None:
        assert (result.code, result.out) == (8, "")
        return
    lines = value if isinstance(value, list) else [value]
    expected = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    assert (result.code, result.out) == (0, expected), result.err


@pytest.mark.parametrize("path", PATHS)
def test_path_of_condition(grpc_call, session, suite, tmp_path, path):
    value = PATHS[path]
    condition = f"{path} absent" if value is None else f"{path} == {json.dumps(value)}"
    assert session(f"call Echo {data()}", f"expect {condition}").code == 0
    result = suite(f"call Echo {data()}", f"expect {condition}")
    assert result.code == 0, result.out + result.err
    for use in (f"assert,check={quoted(condition)}", f"retry,until={quoted(condition)}"):
        result = grpc_call("Echo", "-d", data(), "--use", use).exits(0)
    result = grpc_call("Echo", "-d", data(), "--use", stub(tmp_path, condition))
    assert result.json() == {"stringValue": "stubbed"}, result.err


@pytest.mark.parametrize("path", PATHS)
def test_path_of_last(session, path):
    result = session(f"call Echo {data()} > /dev/null", f"print $last{path}", f"set v = ${{last{path}}}", "print $v").exits(0)
    assert result.lines() == [PATHS[path]] * 2


@pytest.mark.parametrize("path", UNKNOWN)
def test_unknown_path_is_an_error_before_the_call(grpc_call, session, tmp_path, path):
    condition = quoted(f"{path} exists")
    for options in (
        ["--filter", path],
        ["--set", f"{path.removeprefix('.')}=1"],
        ["--use", f"assert,check={condition}"],
        ["--use", f"retry,until={condition}"],
        ["--use", f"edit,set={path}=1"],
        ["--use", stub(tmp_path, f"{path} exists")],
    ):
        result = grpc_call("Echo", "-d", data(), *options)
        assert result.code not in (0, 8), (options, result.err)
        assert result.out == "", options
        assert re.search(r"has no field|is not a message|neither a list|is a list|have the type|not a path", result.err), (options, result.err)
    assert session(f"call Echo {data()} > /dev/null", f"expect {path} exists").code != 0
    assert session(f"call Echo {data()} > /dev/null", f"print $last{path}").code != 0


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([".string_value=A"], {"stringValue": "A"}),
        (["nested.label=A"], {"nested": {"label": "A"}}),
        (["strings[]=A", "strings[]=B"], {"strings": ["A", "B"]}),
        (["nesteds[].label=A", "nesteds[-1].number=2", "nesteds[].label=B"], {"nesteds": [{"label": "A", "number": 2}, {"label": "B"}]}),
        (["nesteds[].child.child.label=A"], {"nesteds": [{"child": {"child": {"label": "A"}}}]}),
        (["string_to_int32.colour=5", 'string_to_int32["a.b"]=6'], {"stringToInt32": {"a.b": 6, "colour": 5}}),
        (["int32_to_string[5]=five", "int32_to_string[-1]=minus"], {"int32ToString": {"-1": "minus", "5": "five"}}),
        (["string_to_nested.k.label=A"], {"stringToNested": {"k": {"label": "A"}}}),
        ([f"any[{ANY}].name=Ada"], {"any": {"@type": ANY, "name": "Ada"}}),
    ],
)  # fmt: skip
def test_path_of_set(grpc_call, edits, message):
    assert grpc_call("Echo", *(word for edit in edits for word in ("--set", edit))).exits(0).json() == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("set=.string_value=A", {"stringValue": "A"}),
        ("set=nesteds[].label=A", {"nesteds": [{"label": "A", "number": 1}, {"label": "A", "number": 2}]}),
        ("set=nesteds[-1].label=A", {"nesteds": [{"label": "x", "number": 1}, {"label": "A", "number": 2}]}),
        ("set=strings[]=A", {"strings": ["A", "A"]}),
        ("append=strings=A", {"strings": ["a", "b", "A"]}),
        ("set=string_to_int32.colour=7", {"stringToInt32": {"a.b": 6, "colour": 7}}),
        ("set=int32_to_string[-1]=A", {"int32ToString": {"-1": "A", "5": "five"}}),
        ("clear=strings[-1]", {"strings": ["a"]}),
        ("clear=any", {"any": None}),
    ],
)  # fmt: skip
def test_path_of_edit(grpc_call, change, message):
    result = grpc_call("Echo", "-d", data(), "--use", f"edit,{change}").exits(0)
    assert result.json() == {name: value for name, value in (MESSAGE | message).items() if value is not None}


def test_last_element_of_an_empty_list_cannot_be_set(grpc_call):
    grpc_call("Echo", "--set", "strings[-1]=A").exits(4, "").reports("strings[]")


# Conditions


@pytest.mark.parametrize("condition", [*CONDITIONS, *RESPONSES])
def test_condition(grpc_call, session, suite, tmp_path, condition):
    """A condition that holds, and one that does not, in each place."""
    wrong = (CONDITIONS | RESPONSES)[condition]
    step = f"call Echo {data()}"
    for text, holds in ((condition, True), (wrong, False)):
        result = session(f"{step} > /dev/null", f"expect {text}")
        assert (result.code == 0) == holds, (text, result.err)
        result = suite(step, f"expect {text}")
        assert result.code == (0 if holds else 8), (text, result.out, result.err)
        result = grpc_call("Echo", "-d", data(), "--use", f"assert,check={quoted(text)}")
        assert result.code == (0 if holds else 8), (text, result.err)
        if condition in RESPONSES and not condition.startswith(("status", "header", "trailer", "count", "error", "detail")):
            continue
        if not condition.startswith("latency"):
            result = grpc_call("Echo", "-d", data(), "--use", f"retry,until={quoted(text)},attempts=2,initial=1ms")
            assert (result.code == 0) == holds, (text, result.err)
        if condition in CONDITIONS:
            result = grpc_call("Echo", "-d", data(), "--use", stub(tmp_path, text))
            assert (result.json()["stringValue"] == "stubbed" if result.out else False) == holds, (text, result.err)


@pytest.mark.parametrize("condition", OLD_CONDITIONS)
def test_old_condition_is_an_error_that_shows_the_new_form(grpc_call, session, suite, tmp_path, condition):
    shown = OLD_CONDITIONS[condition]
    step = f"call Echo {data()}"
    results = [
        session(f"{step} > /dev/null", f"expect {condition}"),
        suite(step, f"expect {condition}"),
        grpc_call("Echo", "-d", data(), "--use", f"assert,check={quoted(condition)}"),
        grpc_call("Echo", "-d", data(), "--use", f"retry,until={quoted(condition)}"),
    ]
    if not condition.startswith("latency"):
        results.append(grpc_call("Echo", "-d", data(), "--use", stub(tmp_path, condition)))
    for result in results:
        assert result.code not in (0, 8)
        assert shown in result.err + result.out, result.err


@pytest.fixture
def load(rpcurl, grpc_server, descriptor_set):
    """Makes five calls under a threshold."""

    def load(threshold):
        options = ["--requests", 5, "--threshold", threshold, "-d", "{}", "--descriptor-set", descriptor_set]
        return rpcurl("load", *options, f"{grpc_server.url}/{SERVICE}/Echo")

    return load


@pytest.mark.parametrize(
    ("threshold", "holds"),
    [("p99 < 60s", True), ("p99 < 1us", False), ("max<=60s, errors == 0", True), ("errors < 1%", True), ("rate > 0.001", True)],
)
def test_condition_of_load(load, threshold, holds):
    result = load(threshold)
    assert (result.code == 0) == holds, result.err


@pytest.mark.parametrize("threshold", ["latency<100", "p99 < 100", "p99", "p99 ~ 1s", "p101 < 1s"])
def test_invalid_condition_of_load(load, threshold):
    result = load(threshold).exits(2, "")
    if threshold == "p99 < 100":
        assert "100ms or 100s" in result.err


# Values

# Templates with what they are replaced by, as a regular expression; each function that has a value everywhere.
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
MESSAGE_FUNCTION = '${message(demo.v1.HelloRequest, {"name":"Ada"})}'
# Places where the schema is not known.
WITHOUT_SCHEMA = {"-H", "--rpc-header", "header", "edit"}
TEMPLATES = {
    "a$${b}": r"a\$\{b\}",
    "$100": r"\$100",
    "${env.WHO}": "Grace",
    "a-${env.WHO}-${env.WHO}": "a-Grace-Grace",
    "${uuid()}": UUID,
    "n${random(5,5)}": "n5",
    "${now(+1h)}": r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z",
    "${base64('hi')}": "aGk=",
    "${base64(env.WHO)}": "R3JhY2U=",
    "${base64decode('aGk=')}": "hi",
    "${count([1,2])}": "2",
    "${toInt('007')}": "7",
    "${sort([10,9])}": r"\[9,10\]",
    r"${regex('id=42;', '=(\d+)')}": "42",
    "${file(DIRECTORY/who.txt)}": "Ada",
    MESSAGE_FUNCTION: "CgNBZGE=",
}  # fmt: skip
# Text that is no template: an error, and never sent.
WRONG = {
    "${WHO}": "env.WHO",
    "${env(WHO)}": "${env.NAME}",
    "${env.NONE}": "NONE",
    "${uid()}": "uuid",
    "${": "$${",
    "${a-b}": "$${",
    "${file(/none/none.txt)}": "/none/none.txt",
    "${base64decode('!')}": "is not base64",
    "${count('a')}": "not a list or an object",
    "${toInt('1.5')}": "not a whole number",
    "${sort('a')}": "is not a list",
    "${regex('a', 'b')}": "has no match of b",
    "${regex('a', '(')}": "is not a valid regular expression",
}
ENVIRONMENT = {"WHO": "Grace"}


def sent(result, name="x-value"):
    """The value of the header that the server received."""
    assert result.code == 0, result.err
    headers = json.loads(result.out.splitlines()[-1])["headers"]
    return next(header["value"] for header in headers if header["name"] == name)


@pytest.fixture
def surfaces(grpc_call, session, suite, rpcurl, grpc_server, descriptor_set, tmp_path):
    """Of each place that has templates, a function that sends one, and returns the result and how to read its value."""
    (tmp_path / "who.txt").write_text("Ada\n")
    more = {"env": ENVIRONMENT}

    def greeted(result):
        assert result.code == 0, result.err
        return json.loads(result.out.splitlines()[-1])["stringValue"]

    def mock(text):
        path = write(tmp_path / "values.json", json.dumps({"method": f"{SERVICE}/Echo", "response": {"message": {"stringValue": text}}}))
        return grpc_call("Echo", "-d", "{}", "--use", f"mock,file={path}", **more)

    places = {
        "-d": (lambda text: grpc_call("Echo", "--expand", "-d", json.dumps({"stringValue": text}), **more), greeted),
        "--set": (lambda text: grpc_call("Echo", "--expand", "--set", f"string_value={text}", **more), greeted),
        "-H": (lambda text: grpc_call("EchoMetadata", "--expand", "-H", f"x-value: {text}", **more), sent),
        "--rpc-header": (lambda text: grpc_call("EchoMetadata", "--expand", "--rpc-header", f"x-value: {text}", **more), sent),
        "@FILE": (lambda text: written(tmp_path, text, lambda: grpc_call("Echo", "--expand=all", "-d", f"@{tmp_path}/data.json", **more)), greeted),
        "header": (lambda text: grpc_call("EchoMetadata", "--use", f"header,expand=true,set=x-value:{text.replace(',', ',,')}", **more), sent),
        "edit": (lambda text: grpc_call("Echo", "--use", f"edit,expand=true,set=string_value={text.replace(',', ',,')}", **more), greeted),
        "mock": (mock, greeted),
        "session": (lambda text: session(f"call Echo {json.dumps({'stringValue': text})}", **more), greeted),
        "session header": (lambda text: session(f"header x-value: {text}", "call EchoMetadata {}", **more), sent),
    }

    def sender(send):
        return lambda text: send(text.replace("DIRECTORY", str(tmp_path)))

    return {name: (sender(send), value) for name, (send, value) in places.items()}


def written(directory, text, grpc_call):
    (directory / "data.json").write_text(json.dumps({"stringValue": text}))
    return grpc_call()


SURFACES = ["-d", "--set", "-H", "--rpc-header", "@FILE", "header", "edit", "mock", "session", "session header"]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("place", SURFACES)
def test_value(surfaces, place, template):
    send, value = surfaces[place]
    result = send(template)
    if template == MESSAGE_FUNCTION and place in WITHOUT_SCHEMA:
        assert (result.out, "the schema is not known here" in result.err) == ("", True)
        return
    assert re.fullmatch(TEMPLATES[template], value(result))


@pytest.mark.parametrize("template", WRONG)
@pytest.mark.parametrize("place", SURFACES)
def test_wrong_template_is_an_error_and_not_sent(surfaces, place, template):
    result = surfaces[place][0](template)
    assert result.code != 0
    assert result.out == ""
    assert WRONG[template] in result.err


@pytest.mark.parametrize(
    ("condition", "other"),
    [
        ("${count(last.nesteds)} == 2", "${count(last.strings)} > 2"),
        ("${base64decode(last.bytesValue)} == hi", "${base64decode(last.bytesValue)} != hi"),
        ("${toInt(last.int64Value)} >= 9007199254740993", "${toInt(last.int64Value)} < 9007199254740993"),
        ('${sort(last.strings)} == ["a","b"]', '${sort(last.strings)} == ["b","a"]'),
        ("${regex(last.stringValue, '^(L)')} == L", "${regex(last.stringValue, '^(L)')} =~ o"),
        (".nested.number == ${toInt(last.nesteds[0].number)} within 6", ".string_value == ${regex(last.stringValue, 'o+')}"),
    ],
)
def test_function_of_the_last_response(session, suite, condition, other):
    for text, holds in ((condition, True), (other, False)):
        step = f"call Echo {data()}"
        assert (session(f"{step} > /dev/null", f"expect {text}").code == 0) == holds
        assert suite(step, f"expect {text}").code == (0 if holds else 8)


def test_text_is_not_expanded_unless_asked(grpc_call, tmp_path):
    text = json.dumps({"stringValue": "${env.WHO}"})
    result = grpc_call("Echo", "-d", text, env=ENVIRONMENT)
    assert result.json() == {"stringValue": "${env.WHO}"}
    for options in (["--expand", "-d", "@-"], ["-d", "@-"]):
        result = grpc_call("Echo", *options, env=ENVIRONMENT, input=text)
        assert result.json() == {"stringValue": "${env.WHO}"}
    grpc_call("Echo", "--expand=files", "-d", "@-", env=ENVIRONMENT, input=text).exits(4, "").reports("--expand=all")
    result = grpc_call("Echo", "--expand=files", "-d", "@-", input=json.dumps({"stringValue": "${random(3,3)}"}))
    assert result.json() == {"stringValue": "3"}


@pytest.mark.parametrize("option", ["--expand-data", "--expand-headers"])
def test_old_options_show_the_new_one(grpc_call, option):
    assert "--expand" in grpc_call("Echo", option, "-d", "{}").exits(2, "").err.splitlines()[-1]


# Values of calls, in sessions and suites

CAPTURES = {
    "${last.stringValue}": "Loom",
    "${last.nesteds[-1].label}": "y",
    "${last[0].string_value}": "Loom",
    "${last[-1].string_value}": "Loom",
    "${last.status}": "ok",
    "${last.header.x-id}": "h1",
    "${last.trailer.x-end}": "t1",
}


@pytest.mark.parametrize("template", CAPTURES)
def test_value_of_the_last_call(session, suite, template):
    lines = [
        "header demo-header: x-id=h1",
        "header demo-trailer: x-end=t1",
        f"call Echo {data()}",
        f"set v = {template}",
        f'call Hello {{"name":"{template}"}}',
        f"expect .name == {CAPTURES[template]}",
        'call Hello {"name":$v}',
        f"expect .name == {CAPTURES[template]}",
    ]
    session(*lines).exits(0)
    result = suite(*lines)
    assert result.code == 0, result.out + result.err


def test_value_of_a_detail(session):
    session("call Hello {}", "expect status invalid_argument", "print $last.detail.BadRequest.fieldViolations[0].field").exits(0, '"name"\n')


def test_short_form(session):
    session(
        'set who = "Ada"', "header x-value: $who", 'call Hello {"name":$who}', "expect .name == ${who}", "call EchoMetadata {}",
        'call Hello {"name":"$100"}', "expect .name == $100", 'call Hello {"name":"${who} L"}', "expect .name == Ada L",
    ).exits(0).prints('"x-value","value":"Ada"')  # fmt: skip
    result = session('set who = "Ada"', 'call Hello {"name":"$who"}')
    assert result.code != 0
    assert '"${who}"' in result.err


@pytest.mark.parametrize("name", ["last", "row", "env", "request"])
def test_reserved_names_cannot_be_set(session, name):
    assert session(f"set {name} = 1").code != 0


def test_values_are_not_syntax(session):
    """A value that looks like a condition, a setting or a command is text."""
    hostile = '" unordered, status ok ${env.WHO} $who'
    result = session(
        f"set v = {json.dumps(hostile)}".replace("${", "$${"), 'call Hello {"name":"${v}"}', "expect .name == ${v}", "header x-value: $v",
        "call EchoMetadata {}", env=ENVIRONMENT,
    ).exits(0)  # fmt: skip
    received = result.lines()
    assert received[0]["name"] == hostile
    assert {"name": "x-value", "value": hostile} in received[-1]["headers"]


def test_values_are_inserted_after_a_condition_is_parsed(session):
    """A value that looks like a part of a condition is an operand."""
    for value, condition in (
        ('"1 within 100"', ".int32_value == ${v}"),
        (r'"x\" contains \"\""', '.string_value == "${v}"'),
        ('"blue,name=x"', "header x-a == ${v}"),
    ):
        result = session(f"set v = {value}", f"use assert,check='{condition}'", f"call Echo {data()}")
        assert result.code in (7, 8), (condition, result.err)
    session("set v = 5", "use assert,check=.string_to_int32.colour == ${v},name=b", f"call Echo {data()}").exits(0)


def test_differences_of_messages_are_on_one_line(grpc_call, session):
    condition = '.nested == {"label":"out","number":7}'
    expected = f'{condition}: expected {{"label":"out","number":7}}, got {{"label":"in","number":7}} (- "label": "out", + "label": "in")'
    for result in (
        grpc_call("Echo", "-d", data(), "--use", f"assert,check={quoted(condition)}"),
        grpc_call("Echo", "-d", data(), "--use", f"retry,until={quoted(condition)},attempts=2,initial=1ms"),
        session(f"call Echo {data()}", f"expect {condition}"),
    ):
        assert expected in result.err
        assert "\\n" not in result.err


@pytest.mark.parametrize("path", ['any["demo.v1.HelloRequest"].name', "any[demo.v1.HelloRequest].name"])
def test_type_of_an_any_is_a_url(grpc_call, path):
    for options in (["--filter", path], ["--use", f"assert,check={quoted(f'.{path} == Ada')}"], ["--set", f"{path}=A"]):
        result = grpc_call("Echo", "-d", data(), *options)
        assert (result.out, result.code) in (("", 3), ("", 7))
        assert "[type.googleapis.com/demo.v1.HelloRequest]" in result.err


def test_text_of_sessions_has_values(session):
    result = session("set n = 5", 'print "hi ${n}"', 'set t = "${n} of ${n}"', "print $t").exits(0, '"hi 5"\n"5 of 5"\n')
    for line, hint in (
        ("print hi ${n}", 'text is in quotes: "hi ${n}"'),
        ("set t = plain text", 'text is in quotes: "plain text"'),
        ("set t = plain", 'text is in quotes: "plain"'),
    ):
        result = session("set n = 5", line)
        assert (result.code != 0, result.out, hint in result.err) == (True, "", True), result.err


def test_path_that_appends_is_shown_for_an_empty_list(grpc_call):
    grpc_call("Echo", "--set", "nesteds[-1].label=A").exits(4, "").reports("hint: nesteds[].label=VALUE appends an element")


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("status ok not_found", "write status ok,not_found"),
        (".string_to_int32.a.b exists", 'string_to_int32["a.b"] is an element'),
        (".string_to_int32[5] exists", 'write string_to_int32["key"]'),
        (".timestamp == 2026-01-02T03:04:05Z within 1", "write two conditions with > and <"),
    ],
)
def test_hint_of_a_condition_shows_what_to_write(grpc_call, session, condition, hint):
    for result in (
        grpc_call("Echo", "-d", data(), "--use", f"assert,check={quoted(condition)}"),
        session(f"call Echo {data()}", f"expect {condition}"),
    ):
        assert result.code != 0
        assert hint in result.err


def test_tolerance_is_for_each_number_of_a_message(grpc_call, session):
    for number, code in ((7.4, 0), (7.6, 8)):
        condition = f'.nested == {{"label":"in","number":{number}}} within 0.5'
        assert grpc_call("Echo", "-d", data(), "--use", f"assert,check={quoted(condition)}").code == code
        assert (session(f"call Echo {data()}", f"expect {condition}").code == 0) == (code == 0)


def test_text_after_a_quoted_setting_is_an_error(grpc_call):
    grpc_call("Echo", "-d", data(), "--use", "assert,check='.strings[0] == a'x,name=y").exits(7).reports("text follows the closing single quote")
