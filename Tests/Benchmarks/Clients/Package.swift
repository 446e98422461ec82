// swift-tools-version: 6.2

// Two clients with the same workloads, and a server in C that is faster than both: `make bench-async`. It is a package of its own, so
// that a build of rpcurl does not resolve its dependencies.

import PackageDescription

let package = Package(
  name: "clients",
  dependencies: [
    .package(name: "rpcurl", path: "../../..", traits: ["SwiftProtobuf"]),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: [
    .target(
      name: "Workloads", dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
      exclude: ["bench.proto"]),
    .executableTarget(
      name: "rpcurl-client",
      dependencies: [
        "Workloads",
        .product(name: "RPCurlClient", package: "rpcurl"),
        .product(name: "RPCurlClientSwiftProtobuf", package: "rpcurl"),
      ]),
    .executableTarget(
      name: "grpc-swift-client",
      dependencies: [
        "Workloads",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
      ]),
    .executableTarget(name: "server", linkerSettings: [.linkedLibrary("nghttp2")]),
  ],
  swiftLanguageModes: [.v6]
)
