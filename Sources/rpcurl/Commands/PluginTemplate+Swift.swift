extension PluginTemplate {
  /// A plugin in Swift: a package that uses SwiftKit, and a Makefile.
  static let swift = [
    ("Package.swift", package), ("Makefile", makefile), ("Sources/@MODULE@/@MODULE@.swift", source),
    ("Tests/@MODULE@Tests/@MODULE@Tests.swift", test),
  ]

  private static let package = """
    // swift-tools-version: 6.0

    import PackageDescription

    // The directory of SwiftKit, which the Makefile finds by pkg-config.
    guard let kit = Context.environment["KIT"] else {
      fatalError("KIT is not set: use make, or set it to $(pkg-config --variable=swiftkit rpcurl)")
    }

    let package = Package(
      name: "@NAME@",
      products: [.library(name: "@NAME@", type: .dynamic, targets: ["@MODULE@"])],
      dependencies: [.package(path: kit)],
      targets: [
        .target(name: "@MODULE@", dependencies: [.product(name: "RPCURLPlugin", package: "SwiftKit")]),
        .testTarget(name: "@MODULE@Tests", dependencies: ["@MODULE@"]),
      ],
      swiftLanguageModes: [.v6]
    )

    """

  private static let makefile = """
    # make         builds @NAME@.so, with the Swift runtime linked in
    # make test    runs its tests and rpcurl plugins check, with the configuration CONFIG
    CONFIG ?= name=x-test
    PRODUCT := @NAME@
    RPCURL ?= rpcurl
    \(findsRpcurl("KIT", "swiftkit"))
    export KIT
    include $(KIT)/plugin.mk

    test check: @NAME@.so
    \tswift test --scratch-path .build/test
    \(checksPlugin)

    .PHONY: test check

    """

  private static let source = """
    import RPCURLPlugin

    /// Adds a header to each request.
    ///
    ///     make && rpcurl --plugin ./@NAME@.so,name=x-test ...
    final class @MODULE@: Plugin {
      static let name = "@NAME@"
      static let version = "0.1"
      static let summary = "adds a header to each request"
      static let configurationHelp = "name=TEXT    the name of the header to add"

      private var header = ""

      init(host: Host) {}

      func configure(_ key: String, _ value: String) throws {
        guard key == "name" else { throw Failure("unknown key") }
        header = try Self.checked(value)
      }

      /// Checks the name of a header. Returns it in lower case.
      static func checked(_ value: String) throws -> String {
        if value.isEmpty { throw Failure("is empty") }
        return value.lowercased()
      }

      func ready() throws {
        if header.isEmpty { throw Failure("needs name=TEXT") }
      }

      func open(_ call: Call) -> (any StagedInterceptor)? { @MODULE@Call(header: header) }
    }

    /// The interceptor of one call.
    final class @MODULE@Call: StagedInterceptor {
      let stages: Stages = .requestStart
      private let header: String

      init(header: String) { self.header = header }

      func requestStart(_ start: RequestStart) throws -> Verdict {
        try start.headers.set(header, "1")
        return .proceed
      }
    }

    /// The entry point that rpcurl looks up.
    @_cdecl("rpcurl_plugin_entry")
    public func entry() -> UnsafeRawPointer { export(@MODULE@.self) }

    """

  private static let test = """
    import Testing

    @testable import @MODULE@

    @Test func headersAreLowerCase() throws {
      #expect(try @MODULE@.checked("X-Test") == "x-test")
      #expect(throws: (any Error).self) { try @MODULE@.checked("") }
    }

    """
}
