// swift-tools-version: 6.0

import PackageDescription

let package = Package(
  name: "count",
  products: [.library(name: "count", type: .dynamic, targets: ["Count"])],
  // The Makefile sets the path of the kit.
  dependencies: [.package(path: Context.environment["SWIFTKIT"] ?? "../SwiftKit")],
  targets: [.target(name: "Count", dependencies: [.product(name: "RPCURLPlugin", package: "SwiftKit")])],
  swiftLanguageModes: [.v6]
)
