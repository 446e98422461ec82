"""The plugin ABI only grows: members are appended, and nothing else changes within a major version.

`Tests/PluginHostTests/Fixtures/plugin-1.0` is the header of version 1.0, which the unit tests of the host also compile
plugins with. It changes with the header only until the first release.
"""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CURRENT = ROOT / "Sources/CPlugins/include/rpcurl/plugin.h"
FIRST = ROOT / "Tests/PluginHostTests/Fixtures/plugin-1.0/rpcurl/plugin.h"


class Header:
    """The declarations of a header, without comments."""

    def __init__(self, text: str):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.structures = {}
        for match in re.finditer(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", text, re.M | re.S):
            # A member that is a union is one member.
            members = re.findall(r"(?:[^;{}]|\{[^}]*\})+;", match[2])
            self.structures[match[1]] = [" ".join(member.split()) for member in members]
        self.values = dict(re.findall(r"^#define (RPCURL_\w+) ([^\s\\]+(?: << \d+\))?) *$", text, re.M))
        functions = re.findall(r"^typedef \w+ \(\*\w+\)\([^;]*;", text, re.M)
        self.functions = {" ".join(function.split()) for function in functions}
        self.minor = int(self.values.pop("RPCURL_ABI_MINOR"))


def faults(first: Header, current: Header) -> list[str]:
    """What changed between two headers of one major version, other than additions."""
    found = []
    for name, members in first.structures.items():
        now = current.structures.get(name, [])
        if now[: len(members)] != members:
            found.append(f"{name}: members of version 1.{first.minor} changed")
        elif current.minor == first.minor and now != members:
            found.append(f"{name}: members were added without a new minor version")
    # New stages are added to the set of all.
    fixed = first.values.keys() - {"RPCURL_STAGES_ALL"}
    found += [f"{name} changed" for name in sorted(fixed) if current.values.get(name) != first.values[name]]
    return found + [f"{function} changed" for function in sorted(first.functions - current.functions)]


def test_header_only_appends():
    assert faults(Header(FIRST.read_text()), Header(CURRENT.read_text())) == []


def test_headers_are_read():
    header = Header(FIRST.read_text())
    assert (header.minor, header.values["RPCURL_ABI_MAJOR"], header.values["RPCURL_EINVAL"]) == (0, "1", "(-1)")
    assert header.structures["rpcurl_field"] == ["rpcurl_text name;", "rpcurl_text value;"]
    assert len(header.structures["rpcurl_value"]) == 3
    assert header.structures["rpcurl_plugin"][-1].startswith("void (*close)(")
    assert len(header.structures["rpcurl_host"]) == 81 and len(header.functions) == 3
    assert header.values["RPCURL_TYPE_BOOL"] == "1" and header.values["RPCURL_STAGE_METRICS"] == "(UINT64_C(1) << 7)"


def test_rust_declarations_are_current():
    kit = ROOT / "Plugins/RustKit"
    script = runpy.run_path(str(kit / "generate.py"))
    assert (kit / "rpcurl.rs").read_text() == script["generate"]()


def test_changes_are_found():
    text = FIRST.read_text()
    first = Header(text)
    appended = text.replace("\n} rpcurl_field;", "\n  int32_t more;\n} rpcurl_field;")
    assert faults(first, Header(appended)) == ["rpcurl_field: members were added without a new minor version"]
    assert faults(first, Header(appended.replace("ABI_MINOR 0", "ABI_MINOR 1"))) == []
    fields = ["  rpcurl_text name;\n", "  rpcurl_text value;\n"]
    swapped = text.replace("".join(fields) + "} rpcurl_field;", "".join(reversed(fields)) + "} rpcurl_field;")
    assert faults(first, Header(swapped)) == ["rpcurl_field: members of version 1.0 changed"]
    assert faults(first, Header(text.replace("RPCURL_EUSED (-2)", "RPCURL_EUSED (-3)"))) == ["RPCURL_EUSED changed"]
