import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

@Suite struct OptionsTests {
  private func json(_ options: DescriptorOptions?) throws -> String? {
    try options?.message().map { String(decoding: try $0.json(), as: UTF8.self) }
  }

  @Test func readsCustomOptions() throws {
    let pool = try makePool()
    let noted = try #require(try pool.messageType(named: "testopt.Noted"))
    #expect(
      try json(noted.options())
        == #"{"deprecated":true,"[testopt.message_detail]":{"text":"m","numbers":[1,2]}}"#)
    #expect(
      try json(noted.field(named: "marked")?.options) == #"{"deprecated":true,"[testopt.field_level]":7}"#)
    let kind = try #require(try pool.enumType(named: "testopt.Kind"))
    #expect(try json(kind.options) == #"{"[testopt.enum_flag]":true}"#)
    #expect(try json(kind.values[1].options) == #"{"[testopt.value_label]":"some"}"#)
    let service = try #require(try pool.service(named: "testopt.Notes"))
    #expect(try json(service.options) == #"{"[testopt.service_note]":"s"}"#)
    let get = try #require(service.method(named: "Get"))
    #expect(try json(get.options) == #"{"[testopt.method_detail]":{"text":"g"}}"#)
    let path = try FieldPath("[testopt.method_detail].text")
    #expect(try get.options.message()?.value(at: path) == .string("g"))
    #expect(try json(pool.fileOptions(of: "options.proto")) == #"{"[testopt.file_note]":"a file"}"#)
  }

  @Test func declarationWithoutOptionsHasNone() throws {
    let pool = try makePool()
    let noted = try #require(try pool.messageType(named: "testopt.Noted"))
    let plain = try #require(try noted.field(named: "plain"))
    #expect(plain.options.serialized.isEmpty)
    #expect(try plain.options.message() == nil)
    #expect(try pool.service(named: "testopt.Notes")?.method(named: "Plain")?.options.message() == nil)
    #expect(try pool.fileOptions(of: "no.proto") == nil)
  }

  @Test func optionsWithoutDescriptorProtoStayBytes() throws {
    // A file with one message M, whose option 50003 is 5.
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(hex("0a11 0a0166 120170 2209 0a014d 3a04 98b51805")), source: "s")
    let options = try #require(try pool.messageType(named: "p.M")?.options())
    #expect(hexText(options.serialized) == "98b51805")
    #expect(try options.message() == nil)
  }

  @Test func acceptsOptionsThatAreGroups() throws {
    // A file with one message M, whose options are a group 50003 and deprecated.
    let file = "0a18 0a0166 120170 2210 0a014d 3a0b 9bb518 0a017a 9cb518 1801"
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(hex(file)), source: "s")
    #expect(hexText(try #require(try pool.messageType(named: "p.M")?.options().serialized)) == "1801")
    let malformed = DescriptorPool()
    try malformed.add(SchemaBytes(hex(file.replacing("9cb518", with: "a4b518"))), source: "s")
    #expect(throws: SchemaError.self) { try malformed.messageType(named: "p.M") }
  }

  /// The options of a declaration in the list of those that Python reads.
  private func options(_ kind: String, _ name: String, _ pool: DescriptorPool) throws -> DescriptorOptions? {
    let parts = name.split(separator: " ")
    let outer = String(parts.first ?? "")
    let (last, parent) = (
      outer.split(separator: ".").last.map(String.init), outer.split(separator: ".").dropLast()
    )
    let owner = try pool.messageType(named: parent.joined(separator: "."))
    switch kind {
    case "file": return try pool.fileOptions(of: name)
    case "message": return try pool.messageType(named: name)?.options()
    case "field": return try owner?.field(named: last ?? "")?.options
    case "oneof": return try owner?.oneofs().first { $0.name == last }?.options
    case "range":
      let start = UInt32(parts.last ?? "")
      return try pool.messageType(named: outer)?.extensionRanges().first { $0.numbers.lowerBound == start }?
        .options
    case "enum": return try pool.enumType(named: name)?.options
    case "value":
      return try pool.enumType(named: outer)?.values.first { $0.name == parts.last.map(String.init) }?.options
    case "service": return try pool.service(named: name)?.options
    case "method":
      let path = name.split(separator: "/").map(String.init)
      return try pool.service(named: path[0])?.method(named: path[1])?.options
    default: return nil
    }
  }

  @Test func optionsMatchPython() throws {
    let pool = try makePool()
    let lines = FixtureData.options.split(separator: "\n")
    var kinds: Set<String> = []
    for line in lines {
      let (declaration, expected) = (line.prefix { $0 != "\t" }, line.drop { $0 != "\t" }.dropFirst())
      let words = declaration.split(separator: " ", maxSplits: 1).map(String.init)
      kinds.insert(words[0])
      let found = try #require(try options(words[0], words[1], pool), "\(declaration)")
      let text = try #require(try found.message()).text(options: TextEncodingOptions(singleLine: true))
      #expect(String(decoding: text, as: UTF8.self) == expected, "\(declaration)")
    }
    #expect(kinds == ["file", "message", "field", "oneof", "range", "enum", "value", "service", "method"])
  }

  @Test func listsOneofsAndRanges() throws {
    let ranged = try #require(try makePool().messageType(named: "testopt.Ranged"))
    #expect(
      try ranged.oneofs().map(\.name) == ["noted", "plain"] && ranged.oneofNames() == ["noted", "plain"])
    #expect(try ranged.oneofs()[1].options.message() == nil)
    #expect(try ranged.field(named: "c")?.oneofIndex == 1)
    let ranges = try ranged.extensionRanges()
    #expect(ranges.map(\.numbers) == [10..<21, 30..<31, 40..<51, 100..<(1 << 29)])
    #expect(try ranges[3].options.message() == nil)
    // `optional` in proto3 is not a oneof.
    #expect(try type("test3.Scalars").oneofs() == [])
  }
}
