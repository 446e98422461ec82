// swift-tools-version: 6.2

import PackageDescription

// CI sets RPCURL_STRICT: a warning there is an error. A user's build with a newer compiler is not stopped
// by a warning that did not exist when this was written.
let isStrict = Context.environment["RPCURL_STRICT"] != nil
// `make release` sets it.
let isRelease = Context.environment["RPCURL_RELEASE"] != nil
// The listening side needs nghttp2 and OpenSSL. It is built for a release and for tests, or where RPCURL_SERVER is set.
let hasServer =
  isStrict || ["RPCURL_RELEASE", "RPCURL_FUZZ", "RPCURL_SERVER"].contains { Context.environment[$0] != nil }
// Archives that are linked before those of the toolchain (scripts/swift-archives).
let archives = (Context.environment["RPCURL_ARCHIVES"] ?? "").split(separator: " ").map(String.init)

let strict: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []
// The library of regular expressions is not imported, as in release builds (Makefile): what needs it must fail in CI's builds too.
let sources: [SwiftSetting] =
  strict
  + (isStrict
    ? [.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])] : [])
// Of targets that are not on the path of a message.
let small: [SwiftSetting] = sources + (isRelease ? [.unsafeFlags(["-Osize"])] : [])
// Of targets with asynchronous functions.
let asynchronous: [SwiftSetting] = sources + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let deques = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heaps = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let generatedTypes = Target.Dependency.product(
  name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["SwiftProtobuf"]))

/// The name of the target in a folder. Two packages of one program cannot have targets of the same name, and the names of the
/// folders alone are those that other packages choose too.
func name(_ folder: String) -> String { "RPCurl" + folder }

func dependencies(_ folders: [String], _ products: [Target.Dependency]) -> [Target.Dependency] {
  folders.map { .target(name: name($0)) } + products
}

/// The target of a folder in Sources.
func source(
  _ folder: String, _ folders: [String] = [], products: [Target.Dependency] = [], exclude: [String] = [],
  settings: [SwiftSetting] = small
) -> Target {
  .target(
    name: name(folder), dependencies: dependencies(folders, products), path: "Sources/" + folder,
    exclude: exclude,
    swiftSettings: settings)
}

/// The target of a folder with sources in C.
func c(
  _ folder: String, _ folders: [String] = [], path: String? = nil, exclude: [String] = [],
  settings: [CSetting] = [],
  libraries: [String] = []
) -> Target {
  .target(
    name: name(folder), dependencies: dependencies(folders, []), path: path ?? "Sources/" + folder,
    exclude: exclude,
    cSettings: settings + (isStrict ? [.treatAllWarnings(as: .error)] : []),
    linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// The tests of a folder in Sources.
func tests(
  _ folder: String, _ folders: [String] = [], products: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name(folder) + "Tests", dependencies: dependencies([folder] + folders, products),
    path: "Tests/\(folder)Tests", exclude: exclude, swiftSettings: strict)
}

/// What several targets of tests use.
func support(_ folder: String, _ folders: [String], exclude: [String] = []) -> Target {
  .target(
    name: name(folder), dependencies: dependencies(folders, []), path: "Tests/" + folder, exclude: exclude,
    swiftSettings: strict)
}

func benchmark(_ folder: String, _ folders: [String], exclude: [String] = []) -> Target {
  .executableTarget(
    name: folder + "Benchmark", dependencies: dependencies(folders, []), path: "Tests/Benchmarks/" + folder,
    exclude: exclude, swiftSettings: strict)
}

func library(_ folder: String, _ others: [String] = []) -> Product {
  .library(name: name(folder), targets: ([folder] + others).map(name))
}

let package = Package(
  name: "rpcurl",
  // Where it is not Linux, the first version that has the module Synchronization.
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "rpcurl", targets: ["rpcurl"]),
    // For other packages, each with the modules that its API speaks of. Tests/SamplePackage uses them.
    library("Client", ["Transport", "Chain", "Protocols", "Protobuf", "Base"]),
    library("ClientInterceptors"),
    library("ClientTesting"),
    library("ClientSwiftProtobuf"),
    library("Chain", ["Protocols", "Protobuf", "Base"]),
    library("Protobuf"),
  ],
  traits: [
    .trait(name: "SwiftProtobuf", description: "Calls with the generated types of swift-protobuf.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    // Not even resolved without the trait, as in builds of the program.
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: [
    // C
    c("CSystem", exclude: ["Histogram/README.md", "Histogram/LICENSE"]),
    c("CCompression", libraries: ["dl"]),
    c("CInput", libraries: ["dl", "pthread", "yaml"]),
    c("CCurl", libraries: ["dl"]),
    // Assertions contain the path of their file, which the program of a release does not.
    c(
      "CSchemas", exclude: ["generate.sh", "protos", "files"],
      settings: [.define("NDEBUG", .when(configuration: .release))], libraries: ["protobuf-c"]),
    c("CPlugins"),
    // The floor: what all parts use and none owns.
    source("Base", ["CSystem"], settings: sources),
    // The one place that names the C library: its module, the clock, locks, files, processes and signals.
    source("Platform", ["Base", "CSystem"]),
    // The pure middle: values in, values out
    source(
      "Protobuf", ["Base", "CSchemas", "CSystem"],
      exclude: [
        "README.md", "WellKnown/generate.sh", "WellKnown/protos", "WellKnown/options", "WellKnown/services",
        "WellKnown/common", "Numbers/generate.py",
      ], settings: sources),
    // Paths, values, conditions and secrets: what users write wherever a text has a meaning.
    source("Language", ["Base", "Protobuf"]),
    // Sources to descriptors.
    source("ProtoCompiler", ["Base", "Protobuf", "CSchemas", "CSystem"], settings: sources),
    // What commands and completion show of a schema: declarations, names, templates, and differences from another schema.
    source("SchemaTools", ["Base", "Protobuf"]),
    source(
      "Protocols", ["Base", "Language", "Protobuf", "CCompression", "CSchemas"], settings: sources),
    // Interceptors, and the order in which a call passes them.
    source(
      "Chain", ["Base", "Language", "Protocols", "Protobuf"], products: [deques],
      exclude: ["README.md"],
      settings: sources),
    // What suites and loads report: their events and statistics, and the texts that are functions of them.
    source("Reports", ["Base", "Language", "Protocols", "Protobuf"]),
    // The Common Expression Language, and the formats of text that its functions and the rules of a schema know.
    source("CEL", ["Base", "Language", "Protobuf", "CSystem"]),
    // The interceptor of the rules in a schema.
    source("Validate", ["CEL", "Base", "Language", "Chain", "Protocols", "Protobuf"]),
    // The edges
    // The interceptor that is a program in any language.
    source("Scripts", ["Platform", "Base", "Language", "Chain", "Protocols", "Protobuf"]),
    source(
      "Interceptors",
      ["Validate", "Scripts", "Chain", "Reports", "Protocols", "Language", "Platform", "Base", "Protobuf"]),
    source("PluginHost", ["Platform", "Base", "Chain", "Protocols", "SchemaTools", "Protobuf", "CPlugins"]),
    source(
      "Transport", ["Base", "Platform", "Protocols", "Protobuf", "CCurl"], products: [heaps],
      settings: sources
    ),
    // A call: the chain, a protocol and the transport connected; and the schema of a server.
    source(
      "Call", ["Base", "Platform", "Language", "Chain", "Transport", "Protocols", "Protobuf", "CSchemas"],
      exclude: ["README.md", "Reflection/Descriptors/generate.sh"], settings: sources),
    // The program
    // The table of commands and options; what standard output and standard error show; a line editor on the terminal.
    source(
      "Program",
      [
        "Base", "Language", "Platform", "Transport", "Protobuf", "Protocols", "Chain",
        "CInput",
      ]),
    // What commands that make calls do: single calls, sessions, suites and loads.
    source(
      "Engine",
      [
        "Base", "Language", "Program", "Platform", "Call", "Interceptors", "PluginHost", "Transport", "Chain",
        "Reports", "Protocols", "SchemaTools", "Protobuf", "ProtoCompiler", "CInput",
      ]),
    .executableTarget(
      name: "rpcurl",
      dependencies: dependencies(
        [
          "Base", "Language", "Engine", "Reports", "Program", "Platform", "Call", "Interceptors",
          "PluginHost",
          "Transport", "Chain", "Protocols", "SchemaTools", "Protobuf", "ProtoCompiler", "CSystem",
        ] + (hasServer ? ["Proxy"] : []), []),
      // The files of `rpcurl plugins new`.
      resources: [.embedInCode("Templates")], swiftSettings: small + (hasServer ? [.define("SERVER")] : []),
      linkerSettings: archives.isEmpty ? [] : [.unsafeFlags(archives)]),
    // For Swift programs. Not in the program, which needs no concurrency runtime.
    // Calls and interceptors as asynchronous functions.
    source(
      "Client", ["Base", "Platform", "Call", "Chain", "Transport", "Protocols", "Protobuf"],
      products: [deques],
      settings: asynchronous),
    // A client without a network, for tests of interceptors.
    source(
      "ClientTesting", ["Base", "Client", "Protocols"], products: [generatedTypes], settings: asynchronous),
    // Calls with the generated types of swift-protobuf; empty without the trait.
    source("ClientSwiftProtobuf", ["Client"], products: [generatedTypes], settings: sources),
    // The built-in interceptors.
    source("ClientInterceptors", ["Language", "Client", "Interceptors", "Chain"], settings: sources),
    // Tests
    // Schemas for the tests of the codecs and of what is shown of a schema.
    support("ProtobufSupport", ["Protobuf"], exclude: ["generate.sh", "protos"]),
    // Responses without a network, for the tests of the protocols.
    support("ProtocolsSupport", ["Protocols", "Protobuf"]),
    // Calls without a network, for the tests of the chain and of interceptors.
    support("ChainSupport", ["Chain"]),
    // A libcurl without a network, for the tests of what is above it.
    c("CFakeCurl", ["CCurl"], path: "Tests/CFakeCurl"),
    support("TransportSupport", ["Platform", "Transport", "CFakeCurl"]),
    // Random text of the language, for its tests and the fuzzer.
    support("LanguageSupport", ["Language", "Protobuf"]),
    // A directory for files and a schema, for the tests of the program's parts.
    support("CommandSupport", ["Platform", "Protobuf"]),
    tests("Base"),
    tests("Protobuf", ["Base", "ProtobufSupport"]),
    tests(
      "Language",
      ["Platform", "Base", "LanguageSupport", "Chain", "Protocols", "Protobuf", "ProtobufSupport"],
      exclude: ["RE2"]),
    tests(
      "ProtoCompiler", ["Platform", "Protobuf", "SchemaTools"], exclude: ["errors.txt", "descriptors.txt"]),
    tests("SchemaTools", ["Protobuf", "ProtobufSupport"]),
    tests("Protocols", ["Platform", "Base", "Language", "Protobuf", "ProtocolsSupport"]),
    tests("Chain", ["Platform", "Base", "Language", "Client", "Protocols", "Protobuf", "ChainSupport"]),
    tests(
      "Reports", ["Language", "Platform", "Protocols", "Protobuf"],
      exclude: ["Suites/Golden", "Suites/junit.xsd"]),
    tests("Platform", ["Base", "CommandSupport"]),
    tests(
      "Interceptors",
      [
        "Base", "Language", "Chain", "Reports", "Platform", "Protocols", "Protobuf", "ChainSupport",
        "CommandSupport",
      ]),
    tests("CEL", ["Language", "Protobuf", "ChainSupport"]),
    tests("Validate", ["Chain", "Protocols", "Protobuf", "ChainSupport"]),
    tests(
      "Scripts",
      ["Base", "Platform", "Language", "Chain", "Protocols", "Protobuf", "ChainSupport", "CommandSupport"]),
    // Fixtures are plugins in C that the tests compile.
    tests(
      "PluginHost", ["Base", "Platform", "Chain", "ChainSupport", "CommandSupport"], exclude: ["Fixtures"]),
    tests("Transport", ["Base", "Platform", "Protocols", "CCurl", "CFakeCurl", "TransportSupport"]),
    tests(
      "Call",
      ["Base", "Chain", "Transport", "Protocols", "Protobuf", "CCurl", "CFakeCurl", "TransportSupport"]),
    tests("Program", ["Base", "Platform", "Chain", "Protocols", "Protobuf", "CommandSupport"]),
    tests(
      "Engine",
      [
        "Base", "Language", "Program", "Platform", "Interceptors", "Reports", "Call", "Transport",
        "Protocols",
        "Protobuf", "SchemaTools", "CommandSupport", "CFakeCurl",
      ], exclude: ["Session/Fixtures"]),
    tests(
      "Client",
      ["Base", "Platform", "ClientTesting", "Call", "Transport", "CCurl", "CFakeCurl", "TransportSupport"],
      exclude: ["test.proto"]),
    tests("ClientTesting", ["Base", "Client", "CFakeCurl"]),
    tests("ClientSwiftProtobuf", ["ClientTesting", "Client", "CFakeCurl"], products: [generatedTypes]),
    tests("ClientInterceptors", ["ClientTesting", "Client", "CFakeCurl", "CommandSupport"]),
    benchmark("Protobuf", ["Platform", "Protobuf"], exclude: ["generate.sh", "protos"]),
    benchmark(
      "Chain", ["Interceptors", "Chain", "Language", "PluginHost", "Protobuf", "Protocols"],
      exclude: ["passing.c"]),
    benchmark("Async", ["Platform", "Client", "Call"]),
  ],
  swiftLanguageModes: [.v6]
)

if hasServer {
  package.targets += [
    c("CServer", libraries: ["nghttp2", "ssl", "crypto"]),
    // The listening side of HTTP. It has no part of RPC.
    source(
      "Server", ["Base", "Language", "Platform", "Protocols", "Transport", "CServer"], settings: sources),
    // `rpcurl proxy` and `rpcurl serve`: the calls of a listener, each through the chain.
    source(
      "Proxy",
      [
        "Base", "Language", "Platform", "Program", "Engine", "Server", "Call", "Transport", "Interceptors",
        "Validate", "Chain", "Protocols", "Reports", "SchemaTools", "Protobuf",
      ]),
    tests(
      "Proxy",
      [
        "Base", "Validate", "Chain", "ChainSupport", "Engine", "Language", "Platform", "Program", "Protocols",
        "Protobuf", "ProtobufSupport", "SchemaTools", "Server", "ServerSupport", "CFakeCurl",
      ]),
    // A server for the end-to-end tests of the listening side.
    .executableTarget(
      name: "EchoServer",
      dependencies: dependencies(["Base", "Platform", "Protocols", "Server", "Transport"], []),
      path: "Tests/EchoServer", swiftSettings: strict),
    // Connections without a socket.
    support("ServerSupport", ["Base", "Protocols", "Server"]),
    tests(
      "Server",
      [
        "Base", "Platform", "Protocols", "Transport", "CServer", "CFakeCurl", "ServerSupport",
        "TransportSupport",
      ]),
  ]
}

// `scripts/fuzz` sets it: the program of libFuzzer, which has the main function. In the smoke run only its own sources tell
// libFuzzer what was covered: the others are those of the unit tests.
if let run = Context.environment["RPCURL_FUZZ"] {
  let fuzzer = run == "smoke" ? ["-sanitize=fuzzer"] : []
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: dependencies(
        [
          "Base", "Engine", "Reports", "PluginHost", "Transport", "Call", "Interceptors", "Validate", "CEL",
          "Scripts", "Chain", "Protocols",
          "Language", "ProtoCompiler", "SchemaTools", "Protobuf", "Program", "Platform", "ProtobufSupport",
          "ChainSupport",
          "LanguageSupport",
          "ProtocolsSupport", "Server", "ServerSupport",
        ], []),
      path: "Tests/Fuzz", exclude: ["Corpus", "README.md"],
      swiftSettings: strict + [.unsafeFlags(fuzzer)],
      linkerSettings: [.unsafeFlags(fuzzer + (fuzzer.isEmpty ? [] : ["-use-ld=lld"]))]))
}

// `make sanitize-threads` sets it, and does not build what has no threads: values in, values out. A session, a suite and a load
// run on the thread of their loop, whose tests are those of Call and Transport. The rest has locks, threads or other processes.
if Context.environment["RPCURL_THREADS"] != nil {
  let pure = [
    "CEL", "Language", "Protobuf", "ProtoCompiler", "Protocols", "Reports", "SchemaTools", "Validate",
  ]
  let others =
    ["rpcurl", name("Engine"), name("EngineTests"), name("Proxy"), name("ProxyTests"), name("ServerTests")]
    + pure.map { name($0) + "Tests" }
  package.targets.removeAll { others.contains($0.name) || $0.name.hasSuffix("Benchmark") }
  package.products.removeAll { $0.name == "rpcurl" }
}
