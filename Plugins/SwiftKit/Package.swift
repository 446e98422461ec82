// swift-tools-version: 6.0

import PackageDescription

let package = Package(
  name: "SwiftKit",
  products: [.library(name: "RPCURLPlugin", type: .static, targets: ["RPCURLPlugin"])],
  targets: [
    // The header, and the note that tells the ABI's version
    .target(name: "CRPCURLPlugin"),
    .target(
      name: "RPCURLPlugin", dependencies: ["CRPCURLPlugin"],
      // Otherwise every plugin would name this machine's toolchain as the place of its libraries. Where the Swift
      // runtime is, if it is not linked in, is for whoever builds the plugin to say. Tests run where they are built.
      linkerSettings: [.unsafeFlags(["-no-toolchain-stdlib-rpath"], .when(configuration: .release))]),
  ],
  swiftLanguageModes: [.v6]
)
