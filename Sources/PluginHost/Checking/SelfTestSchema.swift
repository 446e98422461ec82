import RPCurlProtocols

/// The schema of a check without a schema of the user: a service with a method of each kind.
enum SelfTestSchema {
  static let service = "rpcurl.check.Check"

  /// The methods, with their streams.
  static let methods: [(name: String, kind: CallKind)] = [
    ("Unary", .unary), ("ClientStreaming", .clientStreaming), ("ServerStreaming", .serverStreaming),
    ("BidiStreaming", .bidiStreaming),
  ]

  /// A serialized `FileDescriptorSet`, which needs `google/protobuf/struct.proto`.
  static var set: [UInt8] {
    let file =
      field(1, "rpcurl/check.proto") + field(2, "rpcurl.check") + field(3, "google/protobuf/struct.proto")
      + field(6, field(1, "Check") + methods.flatMap { field(2, method($0.name, $0.kind)) })
      + field(12, "proto3")
    return field(1, file)
  }

  /// A `MethodDescriptorProto`.
  private static func method(_ name: String, _ kind: CallKind) -> [UInt8] {
    // idempotency_level = NO_SIDE_EFFECTS
    let options: [UInt8] = kind == .unary ? field(4, [0x90, 0x02, 1]) : []
    return field(1, name) + field(2, ".google.protobuf.Value") + field(3, ".google.protobuf.Value") + options
      + [5 << 3, kind.clientStreams ? 1 : 0, 6 << 3, kind.serverStreams ? 1 : 0]
  }

  private static func field(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

  /// A field with its tag and its length, which is less than 2^14.
  private static func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    return [number << 3 | 2, UInt8(count & 0x7f | 0x80), UInt8(count >> 7 & 0x7f)] + content
  }
}
