import RPCurlCSchemas

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
  package static let set = bytes(rpcurl_built_in.well_known)

  /// The services of gRPC itself: health, reflection and channelz. Their imports are in `set`.
  package static let services = bytes(rpcurl_built_in.services)

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
  package static let optionTypes = bytes(rpcurl_built_in.options)

  /// `google/protobuf` without `descriptor.proto`, but with all options: the well-known types, and the features of languages.
  package static let protobufFiles = bytes(rpcurl_built_in.protobuf)

  private static func bytes(_ set: rpcurl_built_in_set) -> SchemaBytes {
    SchemaBytes(owning: UnsafeRawBufferPointer(start: set.bytes, count: set.count)) { _ in }
  }

  /// Files that many APIs import, and few have: compressed with gzip, in groups, so that a file that imports one needs only a
  /// part. Other files that they import are in other groups, in `protobufFiles` or in `optionTypes`.
  package enum FileGroup: CaseIterable, Sendable {
    /// `google/api`, `google/iam`, `google/logging`, `google/longrunning`, `google/rpc` and `google/type`.
    case google
    /// `buf/validate` and `validate`.
    case rules
    /// `gogoproto`, `grpc`, `openapiv3`, `protoc-gen-openapiv2`, `udpa` and `xds`.
    case others

    /// The group that may have a file.
    package init(ofFile name: String) {
      let beginnings: [(String, FileGroup)] = [
        ("google/", .google), ("buf/", .rules), ("validate/", .rules),
      ]
      self = beginnings.first { name.hasPrefix($0.0) }?.1 ?? .others
    }

    /// The descriptor set, compressed with gzip.
    package var compressed: [UInt8] {
      let set =
        switch self {
        case .google: rpcurl_built_in.google
        case .rules: rpcurl_built_in.rules
        case .others: rpcurl_built_in.others
        }
      return Array(UnsafeRawBufferPointer(start: set.bytes, count: set.count))
    }
  }
}
