// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "sample",
  // A package elsewhere writes .package(url: …, from: …) instead.
  dependencies: [.package(name: "rpcurl", path: "../..")],
  targets: [
    .executableTarget(name: "Sample", dependencies: [.product(name: "RPCClient", package: "rpcurl")])
  ],
  swiftLanguageModes: [.v6]
)
