// swift-tools-version:6.2

// The server and the client of the interoperability tests on grpc-swift-2: `make grpc-swift`. It is a package of its own, so that a build of
// rpcurl does not resolve its dependencies.

import PackageDescription

let package = Package(
  name: "interop",
  dependencies: [
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
  ],
  targets: [
    .target(name: "Wire", dependencies: [.product(name: "GRPCCore", package: "grpc-swift-2")]),
    .executableTarget(
      name: "interop-server",
      dependencies: [
        "Wire",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
      ]),
    .executableTarget(
      name: "interop-client",
      dependencies: [
        "Wire",
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
      ]),
  ]
)
