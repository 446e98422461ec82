"""The examples in Swift of the documents, as sources of a package: the code as it is written, in a function or a type for each.

The package is that of Tests/SamplePackage with two more targets. Examples is a program that makes the calls of the examples to the
server in its environment; ExampleTests has those that are tests. The build is shared with Tests/SamplePackage, and so compiles the
libraries once.
"""

import functools
import hashlib
import re
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from harness import ROOT

SAMPLE = ROOT / "Tests" / "SamplePackage"
DOCUMENTS = ROOT / "Sources" / "Client" / "RPCurlClient.docc"
# Beside the other builds. The path of the libraries in the manifest is the same: two folders up.
PACKAGE = ROOT / ".build" / "sample-package"
# Kept, so that only the first run compiles the libraries (a minute).
SCRATCH = ROOT / ".build" / "sample"

TARGETS = """
let libraries: [Target.Dependency] = [
  "RPCurlClient", "RPCurlClientInterceptors", "RPCurlClientSwiftProtobuf", "RPCurlClientTesting",
].map { .product(name: $0, package: "rpcurl") } + [.product(name: "SwiftProtobuf", package: "swift-protobuf")]
// An example does not use all that it makes.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"), .unsafeFlags(["-suppress-warnings"]), .define("SwiftProtobuf"),
]
package.targets += [
  .executableTarget(name: "Examples", dependencies: libraries, swiftSettings: settings),
  .testTarget(name: "ExampleTests", dependencies: libraries, swiftSettings: settings),
]
"""
IMPORTS = {"RPCurlClient", "RPCurlClientInterceptors", "RPCurlClientSwiftProtobuf", "RPCurlClientTesting"}
# The code of another library, beside which that of this one is shown, and a part of a manifest.
FOREIGN = re.compile(r"// (?:grpc-swift-2|connect-swift|Package\.swift)\n")
DECLARATION = re.compile(r"^(?:final class|struct|enum|extension|class|actor|func|@Test|import|//|[} ]|$)")
TYPE = re.compile(r"^(?:final class|struct|enum|class|actor) (\w+)", re.M)
INTERCEPTOR = re.compile(r"^struct (\w+): Interceptor\b", re.M)


@dataclass(frozen=True)
class Example:
    """A block of code. Its name has the document and the number of the block in it."""

    name: str
    page: str
    code: str

    @property
    def has_tests(self):
        return "@Test" in self.code or "#expect" in self.code

    @property
    def is_declaration(self):
        return all(DECLARATION.match(line) for line in self.code.splitlines())

    @property
    def types(self):
        return set(TYPE.findall(self.code))


def examples():
    found = []
    for file in [ROOT / "README.md", *sorted(DOCUMENTS.glob("*.md"))]:
        blocks = re.findall(r"^```swift\n(.*?)^```$", file.read_text(), re.M | re.S)
        own = [block for block in blocks if not FOREIGN.match(block)]
        found += [Example(f"{file.stem}_{number}", file.stem, block) for number, block in enumerate(own, 1)]
    for file in sorted((DOCUMENTS / "Resources").glob("*.swift")):
        found.append(Example(file.stem.replace("-", "_"), file.stem, file.read_text()))
    return found


def split_imports(code):
    modules = set(re.findall(r"^import (\w+)\n", code, re.M))
    return modules, re.sub(r"^import \w+\n", "", code, flags=re.M).strip("\n")


def declared_elsewhere(example, everything):
    """The declarations of other blocks, of the same page first, of types that a block makes and does not declare."""
    others = sorted((other for other in everything if other.is_declaration and not other.has_tests), key=lambda other: other.page != example.page)
    types = {name for name in re.findall(r"(?<![.\w])([A-Z]\w+)\(", example.code)} - example.types
    used = []
    for name in sorted(types):
        if declaring := next((other for other in others if name in other.types), None):
            used.append(split_imports(declaring.code)[1])
    return "\n".join(used)


def source(example, everything):
    """A file with a function that runs an example; its tests run by themselves."""
    modules, code = split_imports(example.code)
    code = code.replace('"https://tokens.example.com/token"', "Example.tokens")
    prelude = declared_elsewhere(example, everything)
    imports = "".join(f"import {module}\n" for module in sorted(modules | IMPORTS | ({"Testing"} if example.has_tests else set())))
    repeats = "replayLimitBytes" in code or code.count("next(request)") > 1
    if example.has_tests and example.is_declaration:
        return f"{imports}\nstruct {example.name} {{\n{code}\n}}\n"
    if "next(request)" in code and "func intercept" not in code:
        # The body of an interceptor.
        code = (
            "struct Snippet: Interceptor {\n  let replayLimitBytes = 1 << 20\n"
            f"  func intercept(_ request: inout Request, next: Next) async throws -> Response {{\n{textwrap.indent(code, '    ')}\n  }}\n}}"
        )
    if INTERCEPTOR.search(code) and all(DECLARATION.match(line) for line in code.splitlines()):
        streams = str("response.messages" in code).lower()
        made = f"Types.{INTERCEPTOR.search(code)[1]}()"
        call = f"repeats({made}, streams: {streams}, schema)" if repeats else f"pass({made}, schema)"
        if ".unauthenticated" in code:
            call = f"authenticates({made}, schema)"
        return f"{imports}\nextension Example {{\n  static func {example.name}(_ schema: Schema) async throws {{\n    try await {call}\n  }}\n}}\n\nprivate enum Types {{\n{code}\n}}\n"
    if re.search(r"\bserver\.", code) and not re.search(r"^let server\b", code, re.M):
        code = f"let server = TestServer(schema: schema)\n{code}"
    made = re.findall(r"^let (\w+) = (?:InterceptorRegistration|try BuiltIn)\(", code, re.M)
    if not re.search(r"\bclient in\b", code) and re.search(r"\bclient\.", code):
        code = f"try await withRPCClient(target, schema: schema) {{ client in\n{code}\n}}"
    for name in made:
        if "withRPCClient" not in code:
            code += f"\ntry await pass({name}, schema)"
    body = f"{prelude}\n{code}"
    if "Retry(" in code or 'BuiltIn("retry"' in code:
        body = f"{prelude}\ntry await failingFirst {{\n{code}\n}}"
    if example.has_tests:
        schema = 'let schema = try Schema(descriptorSet: "demo.binpb")'
        return f"{imports}\nextension Example {{\n  @Test static func {example.name}() async throws {{\n{schema}\n{body}\n  }}\n}}\n"
    return f"{imports}\nextension Example {{\n  static func {example.name}(_ schema: Schema) async throws {{\n{body}\n  }}\n}}\n"


MAIN = """import Glibc
import RPCurlClient

let schema = try Schema(descriptorSet: "demo.binpb")
var status: Int32 = 0
for (name, run) in examples {
  print("== \\(name)")
  do {
    try await run(schema)
  } catch {
    print("failed: \\(error)")
    status = 1
  }
}
exit(status)
"""


def library_files():
    """A digest of the names of the library's files. The package manager looks for new ones only where a manifest has changed."""
    names = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "Sources").rglob("*") if path.is_file())
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def sources():
    """The files of the package besides those of Tests/SamplePackage."""
    everything = examples()
    programs = [example for example in everything if not example.has_tests]
    table = "".join(f'  ("{example.name}", {{ try await Example.{example.name}($0) }}),\n' for example in programs)
    harness = (SAMPLE / "Examples" / "Harness.swift").read_text()
    files = {
        "Package.swift": (SAMPLE / "Package.swift").read_text() + TARGETS + f"// {library_files()}\n",
        "Sources/Examples/main.swift": MAIN,
        "Sources/Examples/Table.swift": f"import RPCurlClient\n\nlet examples: [(name: String, run: Example.Body)] = [\n{table}]\n",
        "Sources/Examples/hello.pb.swift": (SAMPLE / "Sources/Sample/hello.pb.swift").read_text(),
        "Tests/ExampleTests/hello.pb.swift": (SAMPLE / "Sources/Sample/hello.pb.swift").read_text(),
    }
    # The unit tests of what the trait adds, which no other build has. They need no libcurl of their own here.
    tests = (ROOT / "Tests/ClientSwiftProtobufTests/GeneratedTypesTests.swift").read_text()
    files["Tests/ExampleTests/GeneratedTypesTests.swift"] = re.sub(r"^ *(?:import RPCurlCFakeCurl|fake_install\(\))\n", "", tests, flags=re.M)
    for example in everything:
        folder = "Tests/ExampleTests" if example.has_tests else "Sources/Examples"
        files[f"{folder}/{example.name}.swift"] = source(example, everything)
        files[f"{folder}/Harness.swift"] = harness
    for file in SAMPLE.glob("Sources/*/*"):
        files[str(file.relative_to(SAMPLE))] = file.read_text()
    return files


@functools.cache
def build():
    """Builds the package, and returns the directory of its products."""
    files = sources()
    for old in PACKAGE.rglob("*"):
        if old.is_file() and str(old.relative_to(PACKAGE)) not in files | {"Package.resolved": ""}:
            old.unlink()
    for name, text in files.items():
        file = PACKAGE / name
        # A file that is not changed is not compiled again.
        if not file.exists() or file.read_text() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    command = ["swift", "build", "--build-tests", "--package-path", PACKAGE, "--scratch-path", SCRATCH]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning:" not in done.stdout + done.stderr
    return SCRATCH / "debug"
