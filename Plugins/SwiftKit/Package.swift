// swift-tools-version: 6.0

import PackageDescription

let package = Package(
  name: "SwiftKit",
  products: [.library(name: "RPCURLPlugin", type: .static, targets: ["RPCURLPlugin"])],
  targets: [
    // The header, and the note with the version of the ABI
    .target(name: "CRPCURLPlugin"),
    .target(
      name: "RPCURLPlugin", dependencies: ["CRPCURLPlugin"],
      // Otherwise every plugin would contain the path of this machine's toolchain. The build of a plugin sets
      // the path of the Swift runtime, if it is not linked in. Tests run on the machine that builds them.
      linkerSettings: [.unsafeFlags(["-no-toolchain-stdlib-rpath"], .when(configuration: .release))]),
  ],
  swiftLanguageModes: [.v6]
)
