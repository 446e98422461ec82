import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlProxy
@testable import RPCurlValidate

private let now: Int64 = 1_800_000_000_000_000_000

@Suite struct PlausibleMessagesTests {
  private let pool: DescriptorPool

  init() throws {
    pool = try makePool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
  }

  @Test func everyTypeHasMessages() throws {
    var messages = PlausibleMessages(seed: 1) { now }
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
      PlausibleMessages(seed: 1) { now }, PlausibleMessages(seed: 1) { now },
      PlausibleMessages(seed: 2) { now }
    )
    let messages = try (0..<5).map { _ in try first.make(type) }
    #expect(try (0..<5).map { _ in try second.make(type) } == messages)
    #expect(try (0..<5).map { _ in try other.make(type) } != messages)
  }

  // MARK: Rules

  /// The violations of messages of a type that were made with several seeds.
  private func violations(_ type: MessageType, count: Int) throws -> Set<String> {
    var found: Set<String> = []
    for seed in 0..<UInt64(count) {
      var messages = PlausibleMessages(seed: seed) { now }
      let message = try messages.make(type)
      var validator = MessageValidator(RuleBook(), now: now) { _ in }
      validator.validate(message)
      if validator.hasSkippedRule { found.insert("\(type.name): a rule is skipped") }
      found.formUnion(validator.violations.map { "\(type.name): \($0.text)" })
    }
    return found
  }

  @Test func messagesObeyRules() throws {
    var found: Set<String> = []
    var count = 0
    for name in RuleMessages.pool.messageNames where name.hasPrefix("rules.") || name.hasPrefix("older.") {
      guard let type = try RuleMessages.pool.messageType(named: name) else { continue }
      count += 1
      found.formUnion(try violations(type, count: 20))
    }
    #expect(count > 10)
    #expect(found == [])
  }
}
