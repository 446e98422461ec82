import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlProxy

@Suite struct PlausibleMessagesTests {
  private let pool: DescriptorPool

  init() throws {
    pool = try makePool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  }

  @Test func everyTypeHasMessages() throws {
    var messages = PlausibleMessages(seed: 1)
    for name in pool.messageNames {
      guard let type = try pool.messageType(named: name), try type.wellKnown() == nil else { continue }
      let message = try messages.make(type)
      #expect(message.serialized().count < 100_000, "\(name)")
      #expect(try Message(type, serialized: message.serialized()) == message, "\(name)")
    }
  }

  @Test func seedRepeatsMessages() throws {
    let type = try #require(try pool.messageType(named: "google.protobuf.Timestamp"))
    var (first, second, other) = (
      PlausibleMessages(seed: 1), PlausibleMessages(seed: 1), PlausibleMessages(seed: 2)
    )
    let messages = try (0..<5).map { _ in try first.make(type) }
    #expect(try (0..<5).map { _ in try second.make(type) } == messages)
    #expect(try (0..<5).map { _ in try other.make(type) } != messages)
  }
}
