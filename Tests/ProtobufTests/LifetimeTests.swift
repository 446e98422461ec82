import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

/// A pool is freed with the last handle to its contents, and not before.
@Suite struct LifetimeTests {
  /// A pool of the fixtures that reports when the bytes of its schema are freed.
  private struct Watched {
    final class Flag: @unchecked Sendable {
      var isSet = false
    }

    var pool: DescriptorPool? = DescriptorPool()
    let isFreed = Flag()
    weak var core: PoolCore?

    init() throws {
      let set = try #require(Base64.decode(FixtureData.encoded))
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: set.count, alignment: 1)
      copy.copyBytes(from: set)
      let flag = isFreed
      let bytes = SchemaBytes(owning: UnsafeRawBufferPointer(copy)) {
        flag.isSet = true
        $0.deallocate()
      }
      try pool?.add(bytes, source: "fixtures")
      try pool?.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      core = pool?.core
    }
  }

  /// Takes a handle from a pool, releases the pool, uses the handle, and releases it too.
  private func check<Handle>(
    _ what: String, _ take: (DescriptorPool) throws -> Handle?, _ use: (Handle) throws -> Bool
  ) throws {
    var watched = try Watched()
    var handle = try watched.pool.flatMap { try take($0) }
    watched.pool = nil
    #expect(watched.core != nil && !watched.isFreed.isSet, "\(what) keeps the schema")
    // Not `#require`, whose copy of the handle would live to the end of this function.
    let isUsed = try handle.map { try use($0) }
    #expect(isUsed == true, "\(what) can be used")
    handle = nil
    #expect(watched.core == nil && watched.isFreed.isSet, "\(what) was the last one")
  }

  /// A message of a type that refers to itself, with extensions, maps and groups.
  private static let old = #"""
    {"inner":{"old":{"number":1}},"items":[{"id":1}],"flags":{"a":"ON"},"second":{"plain":[5]},
    "[test2.ext_number]":5,"[test2.Old.nested_ext]":{"text":"deep"}}
    """#

  private func message(_ pool: DescriptorPool) throws -> Message {
    let type = try #require(try pool.messageType(named: "test2.Old"))
    return try Message(type, json: Array(Self.old.utf8))
  }

  private func changedCopy(_ pool: DescriptorPool) throws -> Message? {
    var copy = try message(pool)
    try copy.clear(at: FieldPath("inner"))
    return copy
  }

  private func part(_ pool: DescriptorPool) throws -> Message? {
    if case .message(let part)? = try message(pool).value(at: FieldPath("second")) { return part }
    return nil
  }

  @Test func poolIsFreedWithLastHandle() throws {
    try check("a pool", { $0 }) { $0.serviceNames.count == 2 }
    try check("a type", { try $0.messageType(named: "test2.Old") }) {
      try Message($0, json: Array(Self.old.utf8)).serialized().count > 20
    }
    try check("a field", { try $0.messageType(named: "test2.Old")?.field(named: "second") }) {
      try $0.messageType?.field(named: "flags")?.mapValue?.enumType?.number(of: "ON") == 1
    }
    try check("an enum", { try $0.enumType(named: "testopt.Kind") }) {
      try $0.values[1].options.message()?.setFields.count == 1
    }
    try check("an extension", { try $0.extensionField(named: "test2.Old.nested_ext") }) {
      try $0.messageType?.fields().isEmpty == false
    }
    try check("options", { try $0.messageType(named: "testopt.Noted")?.options() }) {
      try $0.message()?.setFields.count == 2
    }
    try check("a method", { try $0.method(service: "test3.Greeter", method: "Chat") }) {
      try $0.input.field(named: "aDouble")?.kind == .double
    }
    try check("a transcoder", { try $0.messageType(named: "test2.Old").map { JSONTranscoder($0) } }) {
      var bytes: [UInt8] = []
      try $0.transcode(json: Array(Self.old.utf8), into: &bytes)
      return !bytes.isEmpty
    }
  }

  @Test func messagesRetainPool() throws {
    try check("a message", message) {
      try !$0.json().isEmpty && !$0.text().isEmpty
        && $0.value(at: FieldPath("[test2.Old.nested_ext].text")) == .string("deep")
    }
    try check("a part of a message", part) {
      var part = $0
      try part.set(.int32(7), at: FieldPath("inner.old.number"))
      return try part.value(at: FieldPath("inner.old.number")) == .int32(7)
    }
    try check("a changed copy", changedCopy) { $0.setFields.count == 5 }
  }

  @Test func repeatedLoadingDoesNotLeak() throws {
    var cores: [() -> PoolCore?] = []
    for _ in 0..<50 {
      let watched = try Watched()
      let pool = try #require(watched.pool)
      for name in pool.messageNames {
        let type = try #require(try pool.messageType(named: name))
        _ = try Message(type, serialized: []).json()
      }
      cores.append { [weak core = watched.core] in core }
    }
    #expect(cores.allSatisfy { $0() == nil })
  }
}
