// swift-tools-version: 6.2

import PackageDescription

// CI sets RPCURL_STRICT: a warning there is an error. A user's build with a newer compiler is not stopped
// by a warning that did not exist when this was written.
let strict: [SwiftSetting] =
  Context.environment["RPCURL_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]
let strictC: [CSetting] =
  Context.environment["RPCURL_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

// `make release` sets it.
let isRelease = Context.environment["RPCURL_RELEASE"] != nil
// Of targets that are not on the path of a message.
let small: [SwiftSetting] = strict + (isRelease ? [.unsafeFlags(["-Osize"])] : [])
// Archives that are linked before those of the toolchain (scripts/swift-archives).
let archives = (Context.environment["RPCURL_ARCHIVES"] ?? "").split(separator: " ").map(String.init)

let deques = Target.Dependency.product(name: "DequeModule", package: "swift-collections")

let package = Package(
  name: "rpcurl",
  products: [
    .executable(name: "rpcurl", targets: ["rpcurl"]),
    // For other packages, each with the modules that its API speaks of. Tests/SamplePackage uses them.
    .library(
      name: "RPCClient",
      targets: [
        "RPCClient", "Transport", "Interception", "AsyncInterception", "RPCProtocols", "Protobuf",
      ]),
    .library(name: "RPCClientInterceptors", targets: ["RPCClientInterceptors"]),
    .library(name: "RPCClientTesting", targets: ["RPCClientTesting"]),
    .library(name: "RPCClientSwiftProtobuf", targets: ["RPCClientSwiftProtobuf"]),
    .library(
      name: "Interception", targets: ["Interception", "AsyncInterception", "RPCProtocols", "Protobuf"]),
    .library(name: "Protobuf", targets: ["Protobuf"]),
  ],
  traits: [
    .trait(name: "SwiftProtobuf", description: "Calls with the generated types of swift-protobuf.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    // Not even resolved without the trait, as in builds of the program.
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: [
    // C
    .target(name: "CArguments", cSettings: strictC),
    .target(name: "CSystem", cSettings: strictC),
    .target(name: "CCompression", cSettings: strictC, linkerSettings: [.linkedLibrary("dl")]),
    .target(
      name: "CLineEditor", cSettings: strictC,
      linkerSettings: [.linkedLibrary("dl"), .linkedLibrary("pthread")]),
    .target(name: "CCurl", cSettings: strictC, linkerSettings: [.linkedLibrary("dl")]),
    .target(
      name: "CSchemas", exclude: ["generate.sh", "protos"],
      // Assertions contain the path of their file, which the program of a release does not.
      cSettings: strictC + [.define("NDEBUG", .when(configuration: .release))],
      linkerSettings: [.linkedLibrary("protobuf-c")]),
    .target(name: "CHistogram", exclude: ["README.md", "LICENSE"]),
    .target(name: "CPluginABI", cSettings: strictC),
    .target(name: "CPluginGuard", cSettings: strictC),
    // The pure middle: values in, values out
    .target(name: "CommandLine", swiftSettings: small),
    // What all parts use and none owns: text for terminals, digests, durations, similar names, histograms.
    .target(name: "Base", dependencies: ["CHistogram"], swiftSettings: strict),
    .target(
      name: "Protobuf", dependencies: ["Base", "CSchemas"],
      exclude: [
        "README.md", "WellKnown/generate.sh", "WellKnown/protos", "WellKnown/options", "WellKnown/services",
        "WellKnown/common", "Numbers/generate.py",
      ], swiftSettings: strict),
    // Paths, values, conditions and secrets: what users write wherever a text has a meaning.
    .target(name: "Language", dependencies: ["Base", "Protobuf"], swiftSettings: small),
    // What commands and completion show of a schema: declarations as text and as JSON, names, and templates.
    .target(name: "SchemaTools", dependencies: ["Protobuf"], swiftSettings: small),
    // The events of a run of suites, and the reports that are functions of them.
    .target(name: "SuiteReports", dependencies: ["RPCProtocols", "Protobuf"], swiftSettings: small),
    // Rules of compatibility between two schemas.
    .target(name: "SchemaDiff", dependencies: ["SchemaTools", "Protobuf"], swiftSettings: small),
    .target(
      name: "RPCProtocols", dependencies: ["Base", "Language", "Protobuf", "CCompression", "CSchemas"],
      swiftSettings: strict),
    .target(
      name: "Interception", dependencies: ["Base", "Language", "RPCProtocols", "Protobuf", deques],
      exclude: ["README.md"],
      swiftSettings: strict),
    // Interceptors as asynchronous functions, for Swift programs. Not in the program: it needs no concurrency runtime.
    .target(
      name: "AsyncInterception", dependencies: ["Interception", "RPCProtocols", "Protobuf", deques],
      swiftSettings: strict),
    // The edges
    .target(
      name: "Interceptors",
      dependencies: ["Interception", "SuiteReports", "RPCProtocols", "Language", "Base", "Protobuf"],
      swiftSettings: small),
    .target(
      name: "PluginHost",
      dependencies: [
        "Base",
        "Interception", "RPCProtocols", "SchemaTools", "Protobuf", "CPluginABI", "CPluginGuard",
      ],
      swiftSettings: small),
    .target(
      name: "Transport",
      dependencies: [
        "RPCProtocols", "Protobuf", "CCurl", .product(name: "HeapModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "Reflection", dependencies: ["Language", "RPCProtocols", "Protobuf", "CSchemas"],
      exclude: ["Descriptors/generate.sh"], swiftSettings: small),
    .target(
      name: "CallEngine",
      dependencies: ["Language", "Interception", "Transport", "Reflection", "RPCProtocols", "Protobuf"],
      exclude: ["README.md"], swiftSettings: strict),
    // Calls as asynchronous functions, for Swift programs. Not in the program: it needs no concurrency runtime.
    .target(
      name: "RPCClient",
      dependencies: [
        "CallEngine", "AsyncInterception", "Interception", "Transport", "Reflection", "RPCProtocols",
        "Protobuf",
      ],
      swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    // A client without a network, for tests of interceptors.
    .target(
      name: "RPCClientTesting", dependencies: ["RPCClient"],
      swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    // Calls with the generated types of swift-protobuf; empty without the trait.
    .target(
      name: "RPCClientSwiftProtobuf",
      dependencies: [
        "RPCClient",
        .product(
          name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["SwiftProtobuf"])),
      ], swiftSettings: strict),
    // Files, processes and signals of the machine.
    .target(
      name: "System", dependencies: ["Base", "RPCProtocols", "Protobuf", "CSystem"], swiftSettings: small),
    // Files, commands and the clock for the built-in interceptors.
    .target(
      name: "MachineServices",
      dependencies: ["Language", "Interception", "System", "RPCProtocols", "Protobuf"],
      swiftSettings: small),
    // The built-in interceptors for Swift programs.
    .target(
      name: "RPCClientInterceptors",
      dependencies: ["Language", "RPCClient", "MachineServices", "Interceptors", "Interception"],
      swiftSettings: strict),
    // What standard output and standard error show, and the errors and exit codes of commands.
    .target(
      name: "Output",
      dependencies: [
        "Base",
        "Language", "CommandLine", "System", "Protobuf", "RPCProtocols", "Interception",
      ], swiftSettings: small),
    // A line editor on the terminal.
    .target(
      name: "Terminal",
      dependencies: ["Base", "Output", "System", "Transport", "RPCProtocols", "CLineEditor"],
      swiftSettings: small),
    // A call from the command line: its plan, its schema, its request data and its output.
    .target(
      name: "Calls",
      dependencies: [
        "Base",
        "Language", "Terminal", "Output", "MachineServices", "System", "CallEngine", "Interceptors",
        "PluginHost",
        "Transport", "Reflection",
        "Interception", "RPCProtocols", "SchemaTools", "Protobuf", "CommandLine",
      ], swiftSettings: small),
    // `rpcurl session` and `rpcurl run`: the language of the prompt and the state behind it.
    .target(
      name: "Session",
      dependencies: [
        "Base",
        "Language", "Calls", "Terminal", "Output", "MachineServices", "System", "CallEngine", "Interceptors",
        "PluginHost", "Transport",
        "Interception", "RPCProtocols", "SchemaTools", "Protobuf", "CommandLine",
      ], swiftSettings: small),
    // `rpcurl load`: schedule, statistics and reports of a load, without I/O, and what makes the calls.
    .target(
      name: "LoadModel",
      dependencies: [
        "Base", "SuiteReports", "RPCProtocols", "Language", "Protobuf", "CommandLine",
      ],
      swiftSettings: small),
    .target(
      name: "Load",
      dependencies: [
        "Base",
        "Language", "Calls", "LoadModel", "Output", "MachineServices", "System", "CallEngine",
        "Transport",
        "Interception", "RPCProtocols", "Protobuf", "CommandLine",
      ], swiftSettings: small),
    // `rpcurl test`: suites of tests in the language of sessions.
    .target(
      name: "Suites",
      dependencies: [
        "Base",
        "Session", "Language", "SuiteReports", "SchemaDiff", "Calls", "Output", "System", "CallEngine",
        "Transport", "Interception", "RPCProtocols", "Protobuf", "CommandLine",
      ], swiftSettings: small),
    .executableTarget(
      name: "rpcurl",
      dependencies: [
        "Base",
        "Language", "Suites", "SuiteReports", "Load", "LoadModel", "Session", "Calls", "Terminal", "Output",
        "MachineServices",
        "System",
        "CallEngine",
        "Interceptors",
        "PluginHost",
        "Transport",
        "Reflection", "Interception", "RPCProtocols",
        "SchemaDiff", "SchemaTools", "Protobuf", "CommandLine", "CArguments",
      ],
      swiftSettings: small, linkerSettings: archives.isEmpty ? [] : [.unsafeFlags(archives)]),
    // Tests
    .testTarget(name: "BaseTests", dependencies: ["Base"], swiftSettings: strict),
    .testTarget(name: "CommandLineTests", dependencies: ["CommandLine"], swiftSettings: strict),
    // Schemas for the tests of the codecs and of what is shown of a schema.
    .target(
      name: "ProtobufSupport", dependencies: ["Protobuf"], path: "Tests/ProtobufSupport",
      exclude: ["generate.sh", "protos"], swiftSettings: strict),
    .testTarget(
      name: "ProtobufTests", dependencies: ["Base", "Protobuf", "ProtobufSupport"], swiftSettings: strict),
    .testTarget(
      name: "SchemaToolsTests", dependencies: ["SchemaTools", "Protobuf", "ProtobufSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SuiteReportsTests", dependencies: ["SuiteReports"], exclude: ["Golden", "junit.xsd"],
      swiftSettings: strict),
    .testTarget(
      name: "SchemaDiffTests", dependencies: ["SchemaDiff", "SchemaTools", "Protobuf"], swiftSettings: strict),
    .executableTarget(
      name: "ProtobufBenchmark", dependencies: ["Protobuf"], path: "Tests/Benchmarks/Protobuf",
      exclude: ["generate.sh", "protos"], swiftSettings: strict),
    .executableTarget(
      name: "ChainBenchmark",
      dependencies: [
        "Interceptors", "MachineServices", "Interception", "PluginHost", "Protobuf", "RPCProtocols",
      ],
      path: "Tests/Benchmarks/Chain", exclude: ["passing.c"], swiftSettings: strict),
    .executableTarget(
      name: "AsyncBenchmark", dependencies: ["RPCClient", "CallEngine"], path: "Tests/Benchmarks/Async",
      swiftSettings: strict),
    // A libcurl without a network, for the tests of what is above it.
    .target(name: "CFakeCurl", dependencies: ["CCurl"], path: "Tests/CFakeCurl", cSettings: strictC),
    .target(
      name: "TransportSupport", dependencies: ["Transport", "CFakeCurl"], path: "Tests/TransportSupport",
      swiftSettings: strict),
    .testTarget(
      name: "TransportTests",
      dependencies: ["Transport", "RPCProtocols", "CCurl", "CFakeCurl", "TransportSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "CallEngineTests",
      dependencies: [
        "CallEngine", "Interception", "Transport", "RPCProtocols", "Protobuf", "CCurl", "CFakeCurl",
        "TransportSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RPCClientTests",
      dependencies: [
        "RPCClient", "RPCClientTesting", "CallEngine", "Transport", "CCurl", "CFakeCurl", "TransportSupport",
      ],
      exclude: ["test.proto"],
      swiftSettings: strict),
    .testTarget(
      name: "RPCClientInterceptorsTests",
      dependencies: [
        "RPCClientInterceptors", "RPCClientTesting", "RPCClient", "CFakeCurl", "CommandSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RPCClientTestingTests", dependencies: ["RPCClientTesting", "RPCClient", "CFakeCurl"],
      swiftSettings: strict),
    .testTarget(
      name: "RPCClientSwiftProtobufTests",
      dependencies: [
        "RPCClientSwiftProtobuf", "RPCClientTesting", "RPCClient", "CFakeCurl",
        .product(
          name: "SwiftProtobuf", package: "swift-protobuf", condition: .when(traits: ["SwiftProtobuf"])),
      ], swiftSettings: strict),
    // Responses without a network, for the tests of the protocols.
    .target(
      name: "RPCProtocolsSupport", dependencies: ["RPCProtocols", "Protobuf"],
      path: "Tests/RPCProtocolsSupport",
      swiftSettings: strict),
    .testTarget(
      name: "RPCProtocolsTests", dependencies: ["Base", "RPCProtocols", "Language", "RPCProtocolsSupport"],
      swiftSettings: strict),
    // Calls without a network, for the tests of the chain and of interceptors.
    .target(
      name: "InterceptionSupport", dependencies: ["Interception"], path: "Tests/InterceptionSupport",
      swiftSettings: strict),
    .testTarget(
      name: "InterceptionTests",
      dependencies: [
        "Base", "Language", "Interception", "AsyncInterception", "InterceptionSupport", "RPCClient",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "InterceptorsTests",
      dependencies: [
        "Base",
        "Language", "Interceptors", "Interception", "SuiteReports", "Protobuf", "InterceptionSupport",
      ],
      swiftSettings: strict),
    // Random text of the language, for its tests and the fuzzer.
    .target(
      name: "LanguageSupport", dependencies: ["Language", "Protobuf"], path: "Tests/LanguageSupport",
      swiftSettings: strict),
    .testTarget(
      name: "LanguageTests",
      dependencies: [
        "Base", "Language", "LanguageSupport", "Interception", "RPCProtocols", "Protobuf", "ProtobufSupport",
      ],
      exclude: ["RE2"], swiftSettings: strict),
    .testTarget(
      name: "ReflectionTests", dependencies: ["Reflection", "RPCProtocols", "Protobuf"], swiftSettings: strict
    ),
    // A directory for files and a schema, for the tests of the program's parts.
    .target(
      name: "CommandSupport", dependencies: ["Protobuf"], path: "Tests/CommandSupport", swiftSettings: strict),
    .testTarget(
      name: "SystemTests", dependencies: ["Base", "System", "CommandSupport"], swiftSettings: strict),
    .testTarget(
      name: "MachineServicesTests",
      dependencies: ["MachineServices", "Interception", "RPCProtocols", "System", "CommandSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "OutputTests",
      dependencies: [
        "Output", "System", "Interception", "RPCProtocols", "Protobuf", "CommandLine", "CommandSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "CallsTests",
      dependencies: [
        "Language", "Calls", "Output", "System", "Reflection", "Transport", "RPCProtocols", "Protobuf",
        "CommandLine",
        "CommandSupport",
      ], swiftSettings: strict),
    .testTarget(
      name: "SessionTests",
      dependencies: [
        "Language", "Session", "Terminal", "Output", "Interceptors", "RPCProtocols", "Protobuf",
        "CommandLine", "CommandSupport",
      ],
      exclude: ["Fixtures"],
      swiftSettings: strict),
    .testTarget(
      name: "LoadTests", dependencies: ["Load", "LoadModel", "Output", "CommandLine"], swiftSettings: strict),
    .testTarget(
      name: "LoadModelTests", dependencies: ["LoadModel", "Interceptors", "RPCProtocols", "Protobuf"],
      swiftSettings: strict),
    .testTarget(
      name: "SuitesTests",
      dependencies: [
        "Language", "Suites", "SuiteReports", "Output", "System", "CommandLine", "CommandSupport",
        "CFakeCurl",
      ],
      swiftSettings: strict),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal"], swiftSettings: strict),
    .testTarget(
      name: "PluginHostTests",
      dependencies: ["PluginHost", "Interception", "InterceptionSupport", "CommandSupport"],
      exclude: ["Fixtures"],  // plugins in C that the tests compile
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// `scripts/fuzz` sets it: the program of libFuzzer, which has the main function.
if Context.environment["RPCURL_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Suites", "SuiteReports", "Session", "Calls", "PluginHost", "Transport", "Reflection", "Interceptors",
        "Interception", "RPCProtocols", "Language", "SchemaDiff", "SchemaTools", "Protobuf", "CommandLine",
        "System", "ProtobufSupport", "InterceptionSupport", "LanguageSupport", "RPCProtocolsSupport",
      ],
      path: "Tests/Fuzz", exclude: ["Corpus", "README.md"], swiftSettings: strict))
}
