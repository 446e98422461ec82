import Testing

@testable import RPCurlProtobuf

/// Schemas and messages with many declarations, of which each is found without a comparison with all others.
@Suite struct ManyDeclarationsTests {
  private func varint(_ number: UInt8, _ value: Int) -> [UInt8] {
    var out = OutputBuffer(capacity: 16)
    out.appendTag(Tag(UInt32(number), .varint))
    out.appendVarint(UInt64(value))
    return out.copyBytes()
  }

  private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { delimitedField(number, content) }

  private func field(_ number: UInt8, _ text: String) -> [UInt8] { delimitedField(number, Array(text.utf8)) }

  /// The descriptor of an optional int32.
  private func integer(_ name: String, _ number: Int, _ other: [UInt8] = []) -> [UInt8] {
    field(1, name) + varint(3, number) + varint(4, 1) + varint(5, 5) + other
  }

  private func type(_ message: [UInt8], _ others: [UInt8] = []) throws -> MessageType {
    let pool = DescriptorPool()
    let file = field(1, "f.proto") + field(2, "p") + field(4, field(1, "M") + message) + others
    try pool.add(SchemaBytes(field(1, file)), source: "s")
    return try #require(try pool.messageType(named: "p.M"))
  }

  private func hash(_ name: [UInt8]) -> UInt32 { name.withUnsafeBytes { NameTable.fold(NameTable.hash($0)) } }

  @Test(
    arguments: [
      // The hash that a seed known before the process gives its blocks is zero.
      (Array("AilJ2Q2dCE0LhGjcY5BIoY3H".utf8), []), ([], [UInt8](repeating: 0, count: 8)),
      ([UInt8](repeating: 0, count: 8), []), ([], [UInt8](repeating: 0, count: 24)),
    ] as [([UInt8], [UInt8])])
  func namesCannotBeMadeToShareAHash(prefix: [UInt8], suffix: [UInt8]) {
    let hashes = (0..<2000).map { hash(prefix + Array("\(10_000_000 + $0)".utf8) + suffix) }
    #expect(Set(hashes).count > 1990)
  }

  @Test func aNameIsOnceInATable() {
    var table = NameTable()
    for value in 0..<100 { #expect(table.insert(7, value) { _ in true } == 0) }
    #expect(table.count == 1)
  }

  @Test func countsOccurrencesInEachMessage() {
    var occurrences = FieldOccurrences()
    var outer = occurrences.open()
    #expect(occurrences.insert(900, in: outer) && occurrences.insert(64, in: outer))
    #expect(occurrences.insert(extension: 5, in: &outer))
    var inner = occurrences.open()
    #expect(occurrences.insert(900, in: inner) && !occurrences.insert(900, in: inner))
    #expect(occurrences.insert(extension: 5, in: &inner) && !occurrences.insert(extension: 5, in: &inner))
    occurrences.close(inner)
    #expect(!occurrences.insert(900, in: outer) && !occurrences.insert(64, in: outer))
    #expect(!occurrences.insert(extension: 5, in: &outer) && occurrences.insert(901, in: outer))
  }

  @Test func findsExtensionsInAnyOrder() throws {
    let numbers = Array(stride(from: 3, to: 3000, by: 3))
    let ranges = numbers.reversed().flatMap { field(5, varint(1, $0) + varint(2, $0 + 1)) }
    let extensions = numbers.flatMap { field(7, integer("x\($0)", $0, field(2, ".p.M"))) }
    let type = try type(ranges, extensions)
    var json = numbers.reversed().map { "\"[p.x\($0)]\":\($0)" }
    let message = try Message(type, json: Array("{\(json.joined(separator: ","))}".utf8))
    #expect(message.serialized() == numbers.flatMap { bytes($0) })
    let reversed = numbers.reversed().flatMap { bytes($0) }
    #expect(try Message(type, serialized: reversed).serialized() == message.serialized())
    let text = numbers.reversed().map { "[p.x\($0)]: \($0)" }.joined(separator: "\n")
    #expect(try Message(type, text: text).serialized() == message.serialized())
    // Numbers between the ranges are unknown.
    #expect(try Message(type, serialized: hex("2001")).unknownFields == hex("2001"))
    json.append(json[500])
    let error = #expect(throws: MessageParseError.self) {
      try Message(type, json: Array("{\(json.joined(separator: ","))}".utf8))
    }
    #expect(error?.reason == .duplicateKey("[p.x1497]"))
  }

  /// The extension or the field with its own number as the value.
  private func bytes(_ number: Int) -> [UInt8] {
    var out = OutputBuffer(capacity: 16)
    out.appendTag(Tag(UInt32(number), .varint))
    out.appendVarint(UInt64(number))
    return out.copyBytes()
  }

  @Test func clearsOtherMembersAmongManyFields() throws {
    let plain = (1...20).flatMap { field(2, integer("f\($0)", $0)) }
    let members = (21...23).flatMap { field(2, integer("f\($0)", $0, varint(9, 0))) }
    let nested = field(
      2, field(1, "m") + varint(3, 24) + varint(4, 1) + varint(5, 11) + field(6, ".p.M") + varint(9, 0))
    let type = try type(plain + members + nested + field(8, field(1, "o")))
    let all = (1...20).flatMap { bytes($0) }
    var message = try Message(type, serialized: all + bytes(21) + bytes(22) + bytes(21))
    #expect(message.serialized() == all + bytes(21))
    let copy = message
    try message.set(.int32(23), at: try FieldPath("f23"))
    #expect(message.serialized() == all + bytes(23) && copy.serialized() == all + bytes(21))
    #expect(throws: FieldPathError.self) { try message.set(.int32(1), at: FieldPath("m.f0")) }
    #expect(message.serialized() == all + bytes(23))
    try message.set(.int32(1), at: FieldPath("m.f1"))
    #expect(message.serialized() == all + field(24, bytes(1)))
  }

  @Test func refusesFieldsAndMembersThatRepeatAmongMany() throws {
    let plain = (1...200).flatMap { field(2, integer("f\($0)", $0)) }
    let members = (201...400).flatMap { field(2, integer("f\($0)", $0, varint(9, ($0 - 201) / 2))) }
    let oneofs = (0..<100).flatMap { field(8, field(1, "o\($0)")) }
    let type = try type(plain + members + oneofs)
    func reason(_ json: String) -> MessageParseError.Reason? {
      #expect(throws: MessageParseError.self) { try Message(type, json: Array(json.utf8)) }?.reason
    }
    let numbers = Array(1...200) + stride(from: 201, to: 400, by: 2)
    let json = numbers.reversed().map { "\"f\($0)\":\($0)" }.joined(separator: ",")
    #expect(try Message(type, json: Array("{\(json)}".utf8)).serialized() == numbers.flatMap { bytes($0) })
    #expect(reason(#"{"f100":1,"f90":1,"f100":1}"#) == .duplicateKey("f100"))
    #expect(
      reason(#"{"f399":1,"f100":1,"f400":1}"#) == .oneofConflict(oneof: "o99", first: "f399", second: "f400"))
    for text in ["f100: 1 f90: 1 f100: 1", "f399: 1 f100: 1 f400: 1"] {
      #expect(throws: MessageParseError.self) { try Message(type, text: text) }
    }
  }

  @Test func fieldsWithTheSameJSONNameHaveTheirOriginalNames() throws {
    let type = try type(
      field(2, integer("a", 1, field(10, "x"))) + field(2, integer("x", 2, field(10, "x")))
        + field(2, integer("b", 3, field(10, "x"))))
    let message = try Message(type, text: "x: 2 b: 3 a: 1")
    #expect(message.serialized() == (1...3).flatMap { bytes($0) })
    let json = #"{"a":1,"x":2,"b":3}"#
    #expect(String(decoding: try message.json(), as: UTF8.self) == json)
    #expect(try Message(type, json: Array(json.utf8)) == message)
    #expect(try message.value(at: FieldPath("x")) == .int32(2))
  }
}
