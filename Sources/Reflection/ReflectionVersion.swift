import Protobuf
import RPCProtocols

/// The versions of gRPC's server reflection. They differ in the service's name only.
public enum ReflectionVersion: String, Sendable, CaseIterable {
  /// `grpc.reflection.v1`.
  case v1
  /// `grpc.reflection.v1alpha`, which older servers have alone.
  case v1alpha

  /// The service's full name.
  public var service: String { "grpc.reflection.\(rawValue).ServerReflection" }

  /// The service's one method, which takes a stream of questions and returns a stream of answers.
  public func method() throws(SchemaError) -> MethodDescriptor {
    let pool = DescriptorPool()
    try pool.add(
      SchemaBytes(Base64.decode(Array(Self.encodedDescriptors.utf8)) ?? []), source: "built-in schemas")
    guard let method = try pool.method(service: service, method: "ServerReflectionInfo") else {
      preconditionFailure("the embedded descriptors have no \(service)")
    }
    return method
  }
}
