import RPCurlClient

/// A service with a method of each kind, whose messages are the same type: `test.proto`.
enum TestSchema {
  /// The result of `protoc -o /dev/stdout test.proto | base64`.
  private static let set = """
    Cs0ECgp0ZXN0LnByb3RvEgd0ZXN0LnYxIuICCgRJdGVtEhIKBHRleHQYASABKAlSBHRleHQSFgoGbnVtYmVyGAIgASgDUgZudW1i
    ZXISFAoFcmF0aW8YAyABKAFSBXJhdGlvEhIKBGRhdGEYBCABKAxSBGRhdGESEgoEZmxhZxgFIAEoCFIEZmxhZxIkCgVjb2xvchgG
    IAEoDjIOLnRlc3QudjEuQ29sb3JSBWNvbG9yEiMKBWNoaWxkGAcgASgLMg0udGVzdC52MS5JdGVtUgVjaGlsZBISCgRsaXN0GAgg
    AygFUgRsaXN0EiMKBWl0ZW1zGAkgAygLMg0udGVzdC52MS5JdGVtUgVpdGVtcxIxCgZsYWJlbHMYCiADKAsyGS50ZXN0LnYxLkl0
    ZW0uTGFiZWxzRW50cnlSBmxhYmVscxo5CgtMYWJlbHNFbnRyeRIQCgNrZXkYASABKAlSA2tleRIUCgV2YWx1ZRgCIAEoCVIFdmFs
    dWU6AjgBKhsKBUNvbG9yEgcKA1JFRBAAEgkKBUdSRUVOEAEyqwEKBEVjaG8SJQoFVW5hcnkSDS50ZXN0LnYxLkl0ZW0aDS50ZXN0
    LnYxLkl0ZW0SKAoGU2VydmVyEg0udGVzdC52MS5JdGVtGg0udGVzdC52MS5JdGVtMAESKAoGQ2xpZW50Eg0udGVzdC52MS5JdGVt
    Gg0udGVzdC52MS5JdGVtKAESKAoEQmlkaRINLnRlc3QudjEuSXRlbRoNLnRlc3QudjEuSXRlbSgBMAFiBnByb3RvMw==
    """

  static let schema: Schema = {
    do {
      return Schema(try pool())
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  static func pool() throws -> DescriptorPool {
    let pool = DescriptorPool()
    let bytes = Base64.decode(set.utf8.filter { $0 != UInt8(ascii: "\n") })
    try pool.add(SchemaBytes(bytes ?? []), source: "test.proto")
    return pool
  }

  static func type() throws -> MessageType {
    guard let type = try pool().messageType(named: "test.v1.Item") else {
      throw RPCError(.internal, "test.proto has no Item", origin: .client)
    }
    return type
  }
}
