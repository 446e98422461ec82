import RPCurlProtobuf
import Testing

@testable import RPCurlCall

@Suite struct CachedSchemaTests {
  private static func schema(fileBytes: Int) -> ReflectedSchema {
    var schema = ReflectedSchema(version: .v1alpha)
    schema.add(file: Wire.file("a.proto") + Wire.field(99, [UInt8](repeating: 7, count: fileBytes)))
    return schema
  }

  private func stamp(_ file: [UInt8]) -> CachedSchema.Stamp? {
    CachedSchema.stamp(of: file.span.bytes)
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000])
  func decodesEncodedStamp(fileBytes: Int) throws {
    let bytes = CachedSchema.encode(Self.schema(fileBytes: fileBytes))
    let stamp = try #require(self.stamp(bytes))
    #expect(stamp.version == .v1alpha)
    #expect(stamp.fileCount == 1)
  }

  @Test func isADescriptorSet() throws {
    let pool = DescriptorPool()
    var schema = ReflectedSchema(version: .v1)
    schema.add(file: Wire.file("a.proto") + Wire.field(2, "p") + Wire.field(6, Wire.field(1, "A")))
    try pool.add(SchemaBytes(CachedSchema.encode(schema)), source: "cache")
    #expect(pool.serviceNames == ["p.A"])
  }

  @Test func detectsDamage() {
    let whole = CachedSchema.encode(Self.schema(fileBytes: 20))
    for index in whole.indices {
      #expect(stamp(Array(whole[..<index])) == nil)
      var damaged = whole
      damaged[index] ^= 0x10
      #expect(stamp(damaged) == nil, "byte \(index)")
    }
  }
}
