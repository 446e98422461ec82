// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "sample",
  // A package elsewhere writes .package(url: …, from: …) instead.
  dependencies: [
    .package(name: "rpcurl", path: "../..", traits: ["SwiftProtobuf"]),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: [
    .executableTarget(
      name: "Sample",
      dependencies: [
        .product(name: "RPCurlClient", package: "rpcurl"),
        .product(name: "RPCurlClientInterceptors", package: "rpcurl"),
        .product(name: "RPCurlClientSwiftProtobuf", package: "rpcurl"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ], exclude: ["hello.proto"]),
    .executableTarget(
      name: "Stress",
      dependencies: [
        .product(name: "RPCurlClient", package: "rpcurl"),
        // Not imported here, but by the steps of the tutorial, which are compiled with this package.
        .product(name: "RPCurlClientTesting", package: "rpcurl"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
