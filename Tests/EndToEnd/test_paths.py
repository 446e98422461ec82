"""Paths: one grammar for `--filter`, `$last`, `print` and `set`, `--set`, and the interceptor `edit`."""

import json

import pytest

SERVICE = "demo.v1.Demo"
MESSAGE = {
    "nested": {"label": "n", "child": {"number": 7}}, "strings": ["a", "b"], "nesteds": [{"label": "x"}, {"label": "y", "number": 2}],
    "stringToInt32": {"colour": 5, "a.b/c": 6}, "int32ToString": {"5": "five", "-1": "minus"},
    "struct": {"k": [1, {"m": "s"}]}, "any": {"@type": "x/demo.v1.HelloRequest", "name": "Ada"},
}  # fmt: skip

# Each path with the value there in MESSAGE; None is absent, a list is that of all matches.
READ = [
    (".nested.label", "n"), ("nested.label", "n"), ("nested.child.number", 7), ("strings[0]", "a"), ("strings[-1]", "b"),
    ("strings[]", ["a", "b"]), ("nesteds[].label", ["x", "y"]), ("nesteds[-1].number", 2), ("strings[9]", None),
    ("strings[-3]", None), ("bools[-1]", None), ("nesteds[5].label", None), ("stringToInt32.colour", 5),
    ("string_to_int32.colour", 5), ('stringToInt32["a.b/c"]', 6), ("stringToInt32.none", None), ("int32ToString[5]", "five"),
    ("int32ToString[-1]", "minus"), ("int32ToString[7]", None), ("struct.k[-1].m", "s"), ("any.type_url", "x/demo.v1.HelloRequest"),
    ("any.name", "Ada"), ("any[type.googleapis.com/demo.v1.HelloRequest].name", "Ada"),
    ("any[type.googleapis.com/demo.v1.HelloReply].message", None),
]  # fmt: skip

# Each invalid path with a part of its error.
INVALID = [
    ("nested.lable", "demo.v1.AllTypes.Nested has no field lable"), ("nesteds.label", "nesteds is a list or a map"),
    ("nesteds[0].lable", "has no field lable"), ("nesteds[9].lable", "has no field lable"),
    ("stringToInt32[5]", "the keys of string_to_int32 have the type string"), ("int32_value.x", "int32_value is not a message"),
    ("int32_value[0]", "int32_value is neither a list nor a map"), ("(pkg.ext)", "an extension in brackets, [pkg.ext]"),
    ("[pkg.ext]", "demo.v1.AllTypes has no field [pkg.ext]"), ("strings[x]", 'a key in quotes such as ["key"]'),
    ("any[x/demo.v1.HelloRequest].nam", "demo.v1.HelloRequest has no field nam"), ("nested[x/demo.v1.HelloRequest]", "is not google.protobuf.Any"),
]  # fmt: skip


@pytest.fixture
def echo(demo, grpc_server):
    """Calls the method that returns its request."""

    def echo(*options, data=None):
        return demo(*options, "-d", json.dumps(data if data is not None else MESSAGE), f"{grpc_server.url}/{SERVICE}/Echo")

    return echo


def text(value):
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize(("path", "value"), READ)
def test_filter(echo, path, value):
    result = echo("--filter", path, "--filter-missing", "null")
    lines = [text(part) for part in value] if isinstance(value, list) else [text(value)]
    assert (result.code, result.err, result.out.splitlines()) == (0, "", lines)


@pytest.mark.parametrize(("path", "words"), INVALID)
def test_filter_rejects(echo, path, words):
    result = echo("--filter", path)
    assert result.code in (2, 3) and words in result.err, result.err


def test_filter_of_the_whole_message(echo):
    echo("--filter", ".", data={"strings": ["a"]}).exits(0, '{"strings":["a"]}\n')


def session(rpcurl, url, *lines):
    return rpcurl("session", url, input="\n".join([f"call Echo {json.dumps(MESSAGE)}", *lines]) + "\n")


def suffix(path):
    """A path after a name."""
    return path if path.startswith((".", "[")) else f".{path}"


def test_print_and_set(rpcurl, grpc_server):
    printed = session(rpcurl, grpc_server.url, *(f"print $last{suffix(path)}" for path, _ in READ))
    assert printed.err == ""
    assert [json.loads(line) for line in printed.out.splitlines()[1:]] == [value for _, value in READ]
    names = [f"v{number}" for number in range(len(READ))]
    lines = [f"set {name} = $last{suffix(path)}" for name, (path, _) in zip(names, READ, strict=True)]
    stored = session(rpcurl, grpc_server.url, *lines, *(f"print ${name}" for name in names))
    assert stored.out == printed.out, stored.err


def test_paths_in_variables(rpcurl, grpc_server):
    lines = [f"set copy = {json.dumps(MESSAGE)}"]
    # A variable has the names of its JSON, and keys without quotes must exist.
    paths = [(path, value) for path, value in READ if "_" not in path and "none" not in path and not path.startswith("bools") and path != "any.name"]
    lines += [f"print $copy{suffix(path)}" for path, _ in paths]
    result = session(rpcurl, grpc_server.url, *lines)
    assert result.err == ""
    assert [json.loads(line) for line in result.out.splitlines()[1:]] == [value for _, value in paths]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([".nested.label=z"], {"nested": {"label": "z"}}),
        (["nesteds[].label=a"], {"nesteds": [{"label": "a"}]}),
        (
            ["nesteds[].label=a", "nesteds[-1].number=2", "nesteds[].label=b", "nesteds[-2].child.number=3"],
            {"nesteds": [{"label": "a", "number": 2, "child": {"number": 3}}, {"label": "b"}]},
        ),
        (["strings[]=a", "strings[]=b", "strings[-1]=c"], {"strings": ["a", "c"]}),
        (["stringToInt32.colour=5", 'stringToInt32["a=b"]=6'], {"stringToInt32": {"colour": 5, "a=b": 6}}),
        (["int32ToString[-1]=x", "boolToBytes[true]=AA=="], {"int32ToString": {"-1": "x"}, "boolToBytes": {"true": "AA=="}}),
        (["stringToNested.a.label=x"], {"stringToNested": {"a": {"label": "x"}}}),
        (["struct.a.b=1", "value[]=1", "list_value[].c=true"], {"struct": {"a": {"b": 1}}, "value": [1], "listValue": [{"c": True}]}),
        (
            ["any[type.googleapis.com/demo.v1.HelloRequest].name=Ada"],
            {"any": {"@type": "type.googleapis.com/demo.v1.HelloRequest", "name": "Ada"}},
        ),
    ],
)  # fmt: skip
def test_set(echo, edits, expected):
    assert echo(*(word for edit in edits for word in ("--set", edit)), data={}).succeeds().json() == expected


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("nesteds[-1].label=x", "has 0 elements\nhint: nesteds[].label=VALUE appends an element"),
        ("nesteds[0]={}", "has 0 elements\nhint: nesteds[]=VALUE appends an element"),
        ("stringToInt32[]=5", "string_to_int32 is not a list\nhint: string_to_int32.KEY"),
        ("any.name=x", "hint: write the type of its content, as in [type.googleapis.com/pkg.Type].name"),
        (".={}", "not a field\nhint: -d gives the whole message"),
        *((f"{path}=1", words) for path, words in INVALID),
    ],
)
def test_set_rejects(demo, raw_server, edit, words):
    server = raw_server(lambda connection: None)
    url = f"http://{server.address}/{SERVICE}/Echo"
    result = demo("--set", edit, url)
    assert result.code in (2, 3, 4) and words in result.err, result.err
    assert server.connections == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("set=.nested.label=z", {"nested": {"label": "z", "child": {"number": 7}}}),
        ("set=strings[]=z", {"strings": ["z", "z"]}), ("set=strings[-1]=z", {"strings": ["a", "z"]}),
        ("append=strings=c", {"strings": ["a", "b", "c"]}),
        ("set=nesteds[].number=1", {"nesteds": [{"label": "x", "number": 1}, {"label": "y", "number": 1}]}),
        ("set=bools[]=true", {}), ("clear=nesteds[-1]", {"nesteds": [{"label": "x"}]}), ("clear=nesteds[5]", {}),
        ("set=stringToInt32.colour=1", {"stringToInt32": {"colour": 1, "a.b/c": 6}}),
        ("set=int32ToString[]=v", {"int32ToString": {"5": "v", "-1": "v"}}),
        ("clear=int32ToString[-1]", {"int32ToString": {"5": "five"}}),
        ("copy=nesteds[-1].label:nested.label", {"nested": {"label": "y", "child": {"number": 7}}}),
        ("transform=any[x/demo.v1.HelloRequest].name:upper", {"any": {"@type": "x/demo.v1.HelloRequest", "name": "ADA"}}),
    ],
)  # fmt: skip
def test_edit(echo, change, expected):
    for use in (change, f"response-{change}"):
        assert echo("--use", f"edit,{use}").exits(0).json() == MESSAGE | expected


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("append=nested=1", "append nested: "), ("set=bools[-1]=true", "append=bools=VALUE appends an element"),
        ("copy=strings[]:strings", "[] is not possible in copy"), ("clear=.", "expected a field name"),
        *((f"set={path}=1", words) for path, words in INVALID),
    ],
)  # fmt: skip
def test_edit_rejects(echo, change, words):
    result = echo("--use", f"edit,{change}")
    assert result.code != 0 and words in result.err, result.err


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (".nested.label", '"label":"[redacted]"'), ("nesteds.label", '[{"label":"[redacted]"},'), ("nesteds[].label", '[{"label":"[redacted]"},'),
        ("strings[]", '["[redacted]","[redacted]"]'), ("int32ToString[5]", '"5":"[redacted]"'), ("stringToInt32.colour", '{"a.b/c":6}'),
        ("any[x/demo.v1.HelloRequest].name", '"name":"[redacted]"'),
    ],
)  # fmt: skip
def test_redact_field(echo, path, part):
    result = echo("--use", f"log,bodies=true,redact-field={path}")
    assert result.code == 0 and part in result.err.replace(" ", ""), result.err
