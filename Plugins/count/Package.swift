// swift-tools-version: 6.0

import PackageDescription

let package = Package(
  name: "count",
  products: [.library(name: "count", type: .dynamic, targets: ["Count"])],
  // The Makefile says where the kit is.
  dependencies: [.package(path: Context.environment["SWIFTKIT"] ?? "../SwiftKit")],
  targets: [.target(name: "Count", dependencies: [.product(name: "RPCURLPlugin", package: "SwiftKit")])],
  swiftLanguageModes: [.v6]
)
