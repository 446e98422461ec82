#!/usr/bin/env python3
"""Writes rpcurl.rs: the declarations of rpcurl/plugin.h in Rust, after helpers.rs."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
HEADER = FOLDER.parents[1] / "Sources/CPlugins/include/rpcurl/plugin.h"
PLAIN = {
    "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "size_t": "usize", "double": "f64",
    "char": "c_char", "void": "c_void",
}  # fmt: skip
# What callbacks and functions return, and codes of a status.
RESULT = re.compile(r"RPCURL_(OK|LATER|DECLINE|E[A-Z]+|STATUS_[A-Z_]+)")
# Rust's keywords.
NAMES = {"type": "type_", "fn": "fn_", "where": "where_"}


def rust_type(text: str) -> str:
    """A type of C without a name, such as `const rpcurl_host *`."""
    base = re.match(r"(const )?(\w+)", text)
    stars = text.count("*")
    found = PLAIN.get(base[2], base[2])
    for depth in range(stars):
        found = f"*{'const' if base[1] and depth == 0 else 'mut'} {found}"
    return found


def declared(text: str) -> tuple[str, str]:
    """The name and the type of a declaration such as `const char *data`."""
    kind, name = re.fullmatch(r"(.*?[ *])(\w+)", text.strip()).groups()
    return NAMES.get(name, name), rust_type(kind)


def function(result: str, parameters: str) -> str:
    arguments = ", ".join(f"{name}: {kind}" for name, kind in map(declared, parameters.split(",")))
    back = "" if result.strip() == "void" else f" -> {rust_type(result)}"
    return f'unsafe extern "C" fn({arguments}){back}'


def member(text: str, is_optional: bool) -> str:
    if found := re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", text):
        kind = function(found[1], found[3])
        name = NAMES.get(found[2], found[2])
        return f"    pub {name}: {f'Option<{kind}>' if is_optional else kind},"
    name, kind = declared(text)
    return f"    pub {name}: {kind},"


def structure(name: str, body: str) -> str:
    body = re.sub(r"union \{(.*?)\} as;", "rpcurl_value_as as_;", body, flags=re.S)
    members = [" ".join(text.split()) for text in body.split(";") if text.strip()]
    lines = [member(text, name != "rpcurl_host") for text in members]
    return "#[repr(C)]\n#[derive(Clone, Copy)]\npub struct %s {\n%s\n}\n" % (name, "\n".join(lines))


def generate() -> str:
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)
    out = [
        "// rpcurl/plugin.h in Rust; the comments of the declarations are there. Written by generate.py.\n",
        (FOLDER / "helpers.rs").read_text(),
    ]
    for name, value in re.findall(r"^#define (RPCURL_\w+) (.*?) *$", text, re.M):
        if re.fullmatch(r"\(?-?\d+\)?", value):
            kind = "i32" if RESULT.fullmatch(name) else "u32"
            out.append(f"pub const {name}: {kind} = {value.strip('()')};")
        elif found := re.fullmatch(r"\(?UINT64_C\((\w+)\)( << \d+)?\)?", value):
            out.append(f"pub const {name}: u64 = {found[1]}{found[2] or ''};")
        elif value.startswith('"'):
            out.append(f"pub const {name}: &str = {value};")
    out.append("")
    sized = []
    for found in re.finditer(
        r"^typedef (?P<result>\w+) \(\*(?P<alias>\w+)\)\((?P<arguments>[^;]*?)\);"
        r"|^(?:typedef )?struct (?P<name>\w+) \{\n(?P<body>.*?)^\}",
        text, re.M | re.S,
    ):  # fmt: skip
        if found["alias"]:
            arguments = " ".join(found["arguments"].split())
            out.append(f"pub type {found['alias']} = Option<{function(found['result'], arguments)}>;\n")
            continue
        if found["name"] == "rpcurl_value":
            union = re.search(r"union \{(.*?)\}", found["body"], re.S)[1]
            members = [member(" ".join(text.split()), False) for text in union.split(";") if text.strip()]
            out.append(
                "#[repr(C)]\n#[derive(Clone, Copy)]\npub union rpcurl_value_as {\n%s\n}\n" % "\n".join(members)
            )
        out.append(structure(found["name"], found["body"]))
        if found["body"].lstrip().startswith("size_t struct_size;"):
            sized.append(found["name"])
    out.append("sized! {\n%s}\n" % "".join(f"    {name},\n" for name in sized))
    return "\n".join(out)


if __name__ == "__main__":
    (FOLDER / "rpcurl.rs").write_text(generate())
