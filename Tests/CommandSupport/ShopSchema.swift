import RPCurlProtobuf

/// The schema of Tests/EngineTests/Session/Fixtures/shop.proto: messages, an enum and two services.
public enum ShopSchema {
  /// The descriptor set that `protoc --descriptor_set_out` makes, in base64.
  private static let encoded = """
    CoIDCgpzaG9wLnByb3RvEgRzaG9wIn8KBU9yZGVyEg4KAmlkGAEgASgJUgJpZBIdCgppdGVtX2NvdW50GAIgASgFUglpdGVt\
    Q291bnQSJAoGc3RhdHVzGAMgASgOMgwuc2hvcC5TdGF0dXNSBnN0YXR1cxIhCgVwYXJ0cxgEIAMoCzILLnNob3AuT3JkZXJS\
    BXBhcnRzIhsKBVF1ZXJ5EhIKBHRleHQYASABKAlSBHRleHQqKQoGU3RhdHVzEgsKB1VOS05PV04QABIICgRPUEVOEAESCAoE\
    RE9ORRACMnIKBk9yZGVycxIhCgVQbGFjZRILLnNob3AuT3JkZXIaCy5zaG9wLk9yZGVyEiMKBVdhdGNoEgsuc2hvcC5RdWVy\
    eRoLLnNob3AuT3JkZXIwARIgCgRGaW5kEgsuc2hvcC5RdWVyeRoLLnNob3AuT3JkZXIyKQoFU3RvY2sSIAoERmluZBILLnNo\
    b3AuUXVlcnkaCy5zaG9wLk9yZGVyYgZwcm90bzM=
    """

  /// The descriptor set.
  public static var bytes: [UInt8] { Base64.decode(Array(encoded.utf8)) ?? [] }

  /// A pool of the schema.
  public static func pool() throws -> DescriptorPool {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(bytes), source: "shop")
    return pool
  }
}
