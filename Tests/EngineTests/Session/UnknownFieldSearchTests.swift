import RPCurlCommandSupport
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct UnknownFieldSearchTests {
  @Test(
    arguments: [
      ([], []), ([0x0A, 0x01, 0x61], []),
      // Fields 9 (varint, twice) and 7 (a string).
      ([0x48, 0x01, 0x3A, 0x01, 0x62, 0x48, 0x02], ["shop.Order 7 9"]),
      // The same in a message of `parts`.
      ([0x22, 0x02, 0x48, 0x01], ["shop.Order 9"]),
      ([0x48, 0x01, 0x22, 0x02, 0x38, 0x01], ["shop.Order 9", "shop.Order 7"]),
    ] as [([UInt8], [String])])
  func findsThem(bytes: [UInt8], found: [String]) throws {
    let type = try #require(try ShopSchema.pool().messageType(named: "shop.Order"))
    let message = try Message(type, serialized: bytes)
    let unknown = UnknownFieldSearch.of(message).map {
      "\($0.type) \($0.numbers.map(String.init).joined(separator: " "))"
    }
    #expect(unknown == found)
  }

  @Test func findsThemInTheValuesOfMaps() throws {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    let type = try #require(try pool.messageType(named: "google.protobuf.Struct"))
    // The key "a", and a value with field 9.
    let message = try Message(type, serialized: [0x0A, 0x07, 0x0A, 0x01, 0x61, 0x12, 0x02, 0x48, 0x01])
    let found = UnknownFieldSearch.of(message)
    #expect(found.map(\.type) == ["google.protobuf.Value"] && found.map(\.numbers) == [[9]])
  }
}
