"""The layers of the source point one way: a target imports only what lies below it.

The order is that of the architecture's picture, from the bottom up. Package.swift declares what each target
depends on; here both the declarations and the imports in the source files are held to the order.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LAYERS = [
    {"CSchemas", "CPlugins", "CCurl", "CCompression", "CInput", "CServer", "CSystem"},
    {"Base"},
    {"Platform"},
    {"Protobuf"},
    {"Language", "ProtoCompiler", "SchemaTools"},
    {"Protocols"},
    {"Chain", "Reports", "Transport", "CEL"},
    {"Validate", "Scripts", "PluginHost", "Call", "Server"},
    {"Interceptors"},
    {"Program", "Client"},
    {"Engine", "ClientTesting", "ClientSwiftProtobuf", "ClientInterceptors"},
    {"Proxy"},
    {"rpcurl"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# What a target may import from outside of the package. Full Foundation is nowhere: it costs at every start.
SYSTEM = {"Swift", "Synchronization"}
# The protocol of errors of Swift programs, and a semaphore, each in one file. The last two are for macOS.
EXCEPTIONS = {
    (Path("Sources/Client/RPCError+Program.swift"), "FoundationEssentials"),
    (Path("Sources/Client/RPCError+Program.swift"), "Foundation"),
    (Path("Sources/Client/Loop/LoopThread.swift"), "Dispatch"),
}
# The one file that names the C library of the machine.
C_LIBRARY = Path("Sources/Platform/CLibrary.swift")
# The pure middle does no I/O: it has no business with the C library, but to ask for the time and which thread this is, to
# exclude other threads, to grow memory without copying it, to count
# in a histogram, to compute a probability, to hash, and to print a number with decimals.
PURE = [
    "Base", "Protobuf", "Language", "ProtoCompiler", "SchemaTools", "Protocols", "Chain", "CEL", "Validate", "Interceptors", "Reports",
    "Program/CommandLine", "Client/Interceptors",
]  # fmt: skip
# The services of the built-in interceptors on this machine.
MACHINE = Path("Sources/Interceptors/Machine")
EXEMPT = {
    Path("Sources/Base/FisherTest.swift"),
    Path("Sources/Base/LatencyHistogram.swift"),
    Path("Sources/Base/Lock.swift"),
    Path("Sources/Base/MonotonicClock.swift"),
    Path("Sources/Base/SHA256.swift"),
    Path("Sources/Base/ThreadIdentity.swift"),
    Path("Sources/CEL/CELFormat.swift"),
    Path("Sources/Protobuf/OutputBuffer.swift"),
    Path("Sources/ProtoCompiler/ByteWriter.swift"),
    Path("Sources/ProtoCompiler/Literals.swift"),
}

IMPORT = re.compile(r"^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:public |package |internal |private )?import (?:struct |enum |func |class |let |var )?(\w+)", re.M)


@pytest.fixture(scope="module")
def dependencies():
    dump = subprocess.run(
        ["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True, env=os.environ | {"RPCURL_SERVER": "1"}
    ).stdout
    return {
        target["name"].removeprefix("RPCurl"): {name.removeprefix("RPCurl") for d in target["dependencies"] for name, *_ in d.values()}
        for target in json.loads(dump)["targets"]
        if target["type"] != "test" and not target.get("path", "").startswith("Tests/")
    }


def imports(target):
    for file in sorted((ROOT / "Sources" / target).rglob("*.swift")):
        # The steps of a tutorial are programs that use the target.
        if any(folder.suffix == ".docc" for folder in file.parents):
            continue
        # Imports within string literals are not imports of the file.
        for name in IMPORT.findall(re.sub(r'"""\n.*?"""', "", file.read_text(), flags=re.S)):
            yield file.relative_to(ROOT), name.removeprefix("RPCurl")


def test_every_folder_of_sources_is_a_target_in_a_layer(dependencies):
    folders = {folder.name for folder in (ROOT / "Sources").iterdir() if folder.is_dir()}
    assert folders == set(dependencies)
    assert folders <= set(LEVEL)


def test_declared_dependencies_point_down(dependencies):
    upward = [
        f"{target} -> {name}"
        for target, names in dependencies.items()
        for name in names
        if name in LEVEL and LEVEL[name] >= LEVEL[target]
    ]
    assert upward == []


def test_imports_are_declared(dependencies):
    undeclared = [
        f"{file}: {name}"
        for target, names in dependencies.items()
        for file, name in imports(target)
        if file != C_LIBRARY and name not in names | SYSTEM and (file, name) not in EXCEPTIONS
    ]
    assert undeclared == []


def test_only_the_table_of_interceptors_imports_those_of_targets_of_their_own(dependencies):
    importers = {(file.name, name) for target in dependencies for file, name in imports(target) if name in {"Validate", "Scripts"}}
    table = {("Validate.swift", "Validate"), ("Script.swift", "Scripts"), ("BuiltIns.swift", "Scripts")}
    # Plausible values obey the rules that the interceptor reads.
    values = {"PlausibleMessages.swift", "PlausibleValues.swift", "DemandedText.swift"}
    assert importers == table | {(file, "Validate") for file in values}


def test_one_file_names_the_c_library():
    named = re.compile(r"\b(?:Glibc|Musl|Darwin)\b")
    assert [file.relative_to(ROOT) for file in (ROOT / "Sources").rglob("*.swift") if named.search(file.read_text())] == [C_LIBRARY]


def test_pure_targets_do_not_import_the_c_library():
    impure = {file for folder in PURE for file, name in imports(folder) if name in ("Platform", "CSystem")}
    assert {file for file in impure if MACHINE not in file.parents} == EXEMPT


def test_attributes_are_those_of_the_oldest_compiler():
    """Swift 6.2, which README.md names, has `@inline(__always)` only; Swift 6.3 has `@inline(always)` too."""
    files = [file for folder in ("Sources", "Plugins", "Tests") for file in (ROOT / folder).rglob("*.swift") if ".build" not in file.parts]
    assert len(files) > 500
    assert [str(file.relative_to(ROOT)) for file in files if "@inline(always)" in file.read_text()] == []


def test_one_file_reads_the_arguments_of_the_process():
    readers = [
        file.relative_to(ROOT)
        for file in (ROOT / "Sources").rglob("*.swift")
        if re.search(r"\bCommandLine\s*\.\s*(unsafe)?[aA]rg|\bProcessInfo\b|/proc/self/cmdline", file.read_text())
    ]
    assert readers == [Path("Sources/rpcurl/RPCURL.swift")]


def test_release_binary_needs_no_swift_library_and_not_libcurl_at_start():
    binary = ROOT / ".build" / "release" / "rpcurl"
    needed = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", needed)
    assert libraries
    assert [name for name in libraries if "swift" in name.lower() or "Foundation" in name or "curl" in name] == []
