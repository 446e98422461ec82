import RPCurlProtobuf
import RPCurlProtocols

/// The versions of gRPC server reflection. They differ only in the name of the service.
package enum ReflectionVersion: String, Sendable, CaseIterable {
  /// `grpc.reflection.v1`.
  case v1
  /// `grpc.reflection.v1alpha`, the only one of older servers.
  case v1alpha

  /// The service's full name.
  package var service: String { "grpc.reflection.\(rawValue).ServerReflection" }

  /// The service's method: a bidirectional stream of questions and responses.
  package func method() throws(SchemaError) -> MethodDescriptor {
    let pool = DescriptorPool()
    try pool.add(
      SchemaBytes(Base64.decode(Array(Self.encodedDescriptors.utf8)) ?? []), source: "built-in schemas")
    guard let method = try pool.method(service: service, method: "ServerReflectionInfo") else {
      preconditionFailure("the embedded descriptors have no \(service)")
    }
    return method
  }
}
