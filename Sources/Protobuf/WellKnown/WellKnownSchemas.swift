/// The built-in schemas: the well-known types of `google.protobuf`, and the status and error details of
/// `google.rpc`.
///
/// Add them to a pool last, so that definitions in the user's sources take precedence:
/// ```swift
/// try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
/// ```
package enum WellKnownSchemas {
  /// The name of the set in errors.
  package static let sourceName = "built-in schemas"

  /// The descriptor set.
  package static let set = SchemaBytes(Base64.decode(Array(encoded.utf8)) ?? [])

  /// The services of gRPC itself: health, reflection and channelz. Their imports are in `set`.
  package static let services = SchemaBytes(Base64.decode(Array(encodedServices.utf8)) ?? [])

  /// The packages of `services`.
  package static let servicePackages = [
    "grpc.channelz.v1", "grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha",
  ]

  /// Whether `services` may declare a symbol with this full name.
  package static func mayDeclareService(_ name: String) -> Bool {
    declares(servicePackages, name)
  }

  /// Whether a built-in schema may declare a symbol with this full name.
  package static func mayDeclare(_ name: String) -> Bool {
    declares(servicePackages + ["google.protobuf", "google.rpc"], name)
  }

  private static func declares(_ packages: [String], _ name: String) -> Bool {
    packages.contains { name.hasPrefix($0) && name.dropFirst($0.count).first == "." }
  }

  /// The types of options, `google.protobuf.FileOptions` and the like: required to show options by name if no
  /// source contains `google/protobuf/descriptor.proto`.
  package static let optionTypes = SchemaBytes(Base64.decode(Array(encodedOptions.utf8)) ?? [])

  /// Files that many APIs import, and protoc lacks: `google/api`, `google/rpc`, `google/type`,
  /// `google/longrunning/operations.proto` and `buf/validate/validate.proto`. Compressed with gzip; their imports are
  /// in `set` and `optionTypes`.
  package static var compressedCommonTypes: [UInt8] { Base64.decode(Array(encodedCommon.utf8)) ?? [] }
}
