import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

@Suite struct SchemaTests {
  @Test func findsServicesAndMethods() throws {
    let pool = try makePool()
    #expect(pool.serviceNames == ["test3.Greeter", "testopt.Notes"])
    let chat = try #require(try pool.method(service: "test3.Greeter", method: "Chat"))
    #expect(chat.clientStreaming && chat.serverStreaming)
    #expect(chat.input.name == "test3.Scalars" && chat.output.name == "test3.Lists")
    #expect(try pool.method(service: "test3.Greeter", method: "Watch")?.hasNoSideEffects == true)
    #expect(try pool.method(service: "test3.Greeter", method: "Send")?.isDeprecated == true)
    #expect(try pool.method(service: "test3.Greeter", method: "Nope") == nil)
    #expect(try pool.method(service: "test3.Nope", method: "Chat") == nil)
    #expect(try pool.messageType(named: "test3.Nope") == nil)
    #expect(try pool.messageType(named: "test3.Color") == nil)
    #expect(try pool.messageType(named: "") == nil)
    #expect(try pool.messageType(named: "test2.Old.Inner") != nil)
    #expect(pool.nearestServiceNames(to: "test3.Greter") == ["test3.Greeter"])
  }

  @Test func resolvesFeatures() throws {
    let modern = try type("test23.Modern")
    func field(_ name: String) throws -> Field { try #require(try modern.field(named: name)) }
    #expect(try !field("implicit").hasPresence)
    #expect(try field("explicit").hasPresence)
    #expect(try field("required").isRequired)
    #expect(try field("packed").isPacked && !field("expanded").isPacked)
    #expect(try field("delimited").kind == .group)
    #expect(try field("checked").validatesUTF8 && !field("unchecked").validatesUTF8)
    #expect(try field("open").enumType?.isClosed == false && field("closed").enumType?.isClosed == true)
    #expect(try field("children").mapValue?.kind == .message)
    #expect(try type("test3.Scalars").field(named: "maybe")?.hasPresence == true)
    #expect(try type("test3.Scalars").oneofNames() == [])
  }

  @Test func readsDefaults() throws {
    let old = try type("test2.Old")
    #expect(try old.field(named: "number")?.defaultValue == .int32(42))
    #expect(try old.field(named: "text")?.defaultValue == .string("hi"))
    #expect(try old.field(named: "level")?.defaultValue == .enum(1))
    #expect(try old.field(named: "raw")?.defaultValue == .bytes([1, 120, 10]))
    #expect(try old.field(named: "ratio")?.defaultValue == .double(.infinity))
  }

  @Test(arguments: [
    ("", "empty"), ("{\"file\": []}", "JSON"), ("syntax = \"proto3\";\nmessage A {}\n", ".proto source"),
    ("file {\n  name: \"a\"\n}\n", "text form"), ("hello", "text"), ("\u{7f}ELF\u{1}", "ELF"),
    ("\n", "not a descriptor"),
  ])
  func identifiesFileThatIsNotADescriptorSet(_ text: String, _ expected: String) {
    let error = #expect(throws: SchemaError.self) {
      try DescriptorPool().add(SchemaBytes(Array(text.utf8)), source: "x.binpb")
    }
    #expect(error?.description.hasPrefix("x.binpb: ") == true)
    #expect(error?.description.contains(expected) == true)
    #expect(error?.hint?.contains("rpcurl export") == true)
  }

  @Test func rejectsRandomBytes() {
    var state: UInt64 = 1
    for _ in 0..<500 {
      let bytes = (0..<200).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
      }
      #expect(throws: SchemaError.self) { try DescriptorPool().add(SchemaBytes(bytes), source: "random") }
    }
  }

  // MARK: Handwritten descriptors

  private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    var out = OutputBuffer()
    out.append(number << 3 | 2)
    out.appendVarint(UInt64(content.count))
    out.append(content)
    return out.copyBytes()
  }

  private func field(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }

  private func file(_ name: String, _ content: [UInt8]) -> [UInt8] {
    field(1, field(1, name) + field(2, "p") + content)
  }

  private func pool(_ bytes: [UInt8]) throws -> DescriptorPool {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(bytes), source: "s")
    return pool
  }

  @Test func rejectsDeeplyNestedDescriptors() throws {
    var message = field(1, "M")
    for _ in 0..<150 { message = field(1, "M") + field(3, message) }
    let error = #expect(throws: SchemaError.self) {
      try pool(file("deep.proto", field(4, message))).messageType(named: "p.M")
    }
    #expect(error?.reason == .tooDeep)
    #expect(error?.file == "deep.proto")
  }

  @Test(arguments: ["a\u{7}.proto", "\u{1B}[2J", "a\n", "\u{7F}", "\u{1F}", "a/long/\u{1F}name.proto"])
  func rejectsFileNamesWithControlCharacters(name: String) throws {
    let error = #expect(throws: SchemaError.self) { try pool(file(name, [])).serviceNames }
    #expect(
      error?.description.contains("the name of its file 1 contains control characters or is not UTF-8")
        == true)
  }

  @Test func reportsFileWithoutName() throws {
    let error = #expect(throws: SchemaError.self) { try pool(file("", [])).serviceNames }
    #expect(error?.description.contains("its file 1 has no name") == true)
  }

  @Test func rejectsMessagesWithoutName() throws {
    for message in [field(4, []), field(4, field(1, "M") + field(3, [])), field(4, field(1, ""))] {
      let error = #expect(throws: SchemaError.self) {
        try pool(file("f.proto", message + field(4, field(1, "X")))).messageType(named: "p.X")
      }
      #expect(error?.description.contains("a message without a name") == true)
    }
  }

  @Test(arguments: [
    ("number 0", "0a0161 1800 2001 2805"), ("no number", "0a0161 2001 2805"),
    ("a reserved number", "0a0161 18b89401 2001 2805"),
    ("a number too large", "0a0161 188080808002 2001 2805"),
    ("no type", "0a0161 1801 2001"), ("an invalid type", "0a0161 1801 2001 2863"),
    ("an invalid label", "0a0161 1801 2009 2805"), ("no name", "1801 2001 2805"),
    ("an oneof that is not there", "0a0161 1801 2001 2805 4807"),
    ("a negative oneof", "0a0161 1801 2001 2805 48ffffffffffffffffff01"),
    ("a message without a type name", "0a0161 1801 2001 280b"),
    ("a type that nothing defines", "0a0161 1801 2001 280b 32042e702e58"),
    ("an enum type that is a message", "0a0161 1801 2001 280e 32042e702e4d"),
  ])
  func rejectsInvalidFields(_ what: String, _ descriptor: String) throws {
    let message = field(4, field(1, "M") + field(2, hex(descriptor)))
    let error = #expect(throws: SchemaError.self, "\(what)") {
      try pool(file("f.proto", message)).messageType(named: "p.M")
    }
    #expect(error?.source == "s" && error?.file == "f.proto")
  }

  @Test func rejectsDuplicateFields() throws {
    let one = field(2, hex("0a0161 1801 2001 2805"))
    let sameNumber = field(2, hex("0a0162 1801 2001 2805"))
    let sameName = field(2, hex("0a0161 1802 2001 2805"))
    for other in [sameNumber, sameName] {
      #expect(throws: SchemaError.self) {
        try pool(file("f.proto", field(4, field(1, "M") + one + other))).messageType(named: "p.M")
      }
    }
  }

  @Test func rejectsConflictingFilesAndIgnoresIdenticalOnes() throws {
    let one = file("f.proto", field(4, field(1, "M")))
    let other = file("f.proto", field(4, field(1, "N")))
    #expect(try pool(one + one).messageType(named: "p.M") != nil)
    let error = #expect(throws: SchemaError.self) { try pool(one + other) }
    #expect(error?.reason == .conflictingFile)
    let twoSources = try pool(one)
    try twoSources.add(SchemaBytes(other), source: "t")
    #expect(try twoSources.messageType(named: "p.N") == nil)
  }

  @Test func rejectsImportCycles() throws {
    let set =
      file("a.proto", field(3, "b.proto") + field(4, field(1, "M"))) + file("b.proto", field(3, "a.proto"))
    let error = #expect(throws: SchemaError.self) { try pool(set).messageType(named: "p.M") }
    #expect(error?.reason == .importCycle(["a.proto", "b.proto", "a.proto"]))
  }

  @Test func namesMissingImports() throws {
    let message = field(4, field(1, "M") + field(2, hex("0a0161 1801 2001 280b 32042e712e58")))
    let error = #expect(throws: SchemaError.self) {
      try pool(file("f.proto", field(3, "gone.proto") + message)).messageType(named: "p.M")
    }
    #expect(error?.reason == .unknownType(name: "q.X", usedBy: "p.M.a", missingImports: ["gone.proto"]))
    #expect(error?.hint?.contains("--include_imports") == true)
  }

  @Test func typesOfOtherMethodsMayBeMissing() throws {
    func method(_ name: String, _ type: String) -> [UInt8] {
      field(2, field(1, name) + field(2, type) + field(3, type))
    }
    let service = field(6, field(1, "S") + method("Known", ".p.M") + method("Unknown", ".q.X"))
    let pool = try pool(file("f.proto", field(4, field(1, "M")) + service))
    #expect(try pool.method(service: "p.S", method: "Known")?.output.name == "p.M")
    #expect(throws: SchemaError.self) { try pool.method(service: "p.S", method: "Unknown") }
    #expect(throws: SchemaError.self) { try pool.service(named: "p.S") }
    #expect(try pool.hasService(named: "p.S"))
    #expect(try !pool.hasService(named: "p.M"))
  }

  @Test(arguments: ["e907", "ea07"]) func acceptsLaterEditions(_ edition: String) throws {
    let set = file("f.proto", field(12, "editions") + hex("70 \(edition)") + message("M", field: "x"))
    #expect(try pool(set).messageType(named: "p.M")?.field(named: "x")?.hasPresence == true)
  }

  @Test func rejectsUnknownEditions() throws {
    let set = file("f.proto", field(12, "editions") + hex("70 b960") + field(4, field(1, "M")))
    let error = #expect(throws: SchemaError.self) { try pool(set).messageType(named: "p.M") }
    #expect(error?.reason == .unsupportedEdition(12345))
  }

  @Test func onlyUsesOfAFileWithAnUnknownEditionFail() throws {
    let edition = field(12, "editions") + hex("70 eb07")
    let enumeration = field(5, field(1, "E") + field(2, field(1, "Z") + hex("10 00")))
    let fields = [
      "0a0161 1801 2001 280b 32042e702e4e", "0a0165 1802 2001 280e 32042e702e45", "0a0173 1803 2001 2809",
    ]
    let message = field(4, field(1, "M") + fields.flatMap { field(2, hex($0)) })
    let set =
      file("new.proto", edition + enumeration + field(4, field(1, "N")))
      + file("f.proto", field(3, "new.proto") + message)
    let type = try #require(try pool(set).messageType(named: "p.M"))
    func json(_ text: String) throws(MessageParseError) -> Message {
      try Message(type, json: Array(text.utf8))
    }
    // Also numbers of its enums.
    for text in [#"{"s":"x"}"#, #"{"e":1,"s":"x"}"#] {
      let message = try Message(type, serialized: json(text).serialized())
      #expect(String(decoding: try message.json(), as: UTF8.self) == text)
    }
    for text in [#"{"a":{}}"#, #"{"e":"Z"}"#] {
      let error = #expect(throws: MessageParseError.self) { try json(text) }
      guard case .schema(let reason)? = error?.reason else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reason.reason == .unsupportedEdition(1003))
    }
  }

  @Test func builtInSchemasAreValid() throws {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    for name in [
      "rpc.Status", "rpc.ErrorInfo", "rpc.BadRequest", "protobuf.Any", "protobuf.Struct", "protobuf.Empty",
      "protobuf.FieldMask", "protobuf.BytesValue",
    ] {
      #expect(try pool.messageType(named: "google." + name) != nil)
    }
  }

  // MARK: Symbols of two files

  /// A message with one int32 field.
  private func message(_ name: String, field fieldName: String) -> [UInt8] {
    field(4, field(1, name) + field(2, field(1, fieldName) + hex("1801 2001 2805")))
  }

  @Test func differentSymbolInTwoFilesIsErrorWhenUsed() throws {
    let a = file("a.proto", message("M", field: "x") + message("Only", field: "x"))
    let b = file("b.proto", message("M", field: "y"))
    let pool = try pool(a + b)
    #expect(try pool.messageType(named: "p.Only") != nil)
    let error = #expect(throws: SchemaError.self) { try pool.messageType(named: "p.M") }
    #expect(error?.reason == .conflictingSymbol("p.M", files: ["a.proto", "b.proto"]))
    #expect(error?.description == "s: p.M is defined differently in a.proto and in b.proto")
    #expect(pool.messageNames == ["p.M", "p.Only"])
  }

  @Test func identicalSymbolInTwoFilesIsAccepted() throws {
    let pool = try pool(
      file("a.proto", message("M", field: "x")) + file("b.proto", message("M", field: "x")))
    #expect(try pool.messageType(named: "p.M")?.file() == "a.proto")
    #expect(pool.messageNames == ["p.M"])
  }

  @Test func firstSourceTakesPrecedence() throws {
    let pool = try pool(file("a.proto", message("M", field: "x")))
    try pool.add(SchemaBytes(file("b.proto", message("M", field: "y"))), source: "t")
    #expect(try pool.messageType(named: "p.M")?.field(named: "x") != nil)
  }

  @Test func twoExtensionsWithOneNumberAreErrorWhenUsed() throws {
    let extendable = field(4, field(1, "M") + field(5, hex("0801 10e807")))
    func ext(_ name: String) -> [UInt8] {
      field(7, field(1, name) + field(2, ".p.M") + hex("1805 2001 2805"))
    }
    let pool = try pool(file("a.proto", extendable + ext("one")) + file("b.proto", ext("two")))
    let type = try #require(try pool.messageType(named: "p.M"))
    #expect(try Message(type, serialized: hex("3001")).serialized() == hex("3001"))
    let error = #expect(throws: DecodeError.self) { try Message(type, serialized: hex("2801")) }
    #expect(
      error?.description.contains("extension 5 of p.M is defined differently in a.proto and in b.proto")
        == true)
  }

  @Test func messageSetExtensionsMayHaveLargeNumbers() throws {
    let large = try #require(try makePool().extensionField(named: "test2.large_item"))
    #expect(large.number == 2_147_483_646)
    let bytes = hex("0b 10feffffff07 1a030a0161 0c")
    #expect(try json("test2.Set", bytes) == #"{"[test2.large_item]":{"label":"a"}}"#)
    #expect(try wire("test2.Set", #"{"[test2.large_item]":{"label":"a"}}"#) == bytes)
    #expect(try Message(type("test2.Set"), serialized: bytes).serialized() == bytes)
    var message = try Message(type("test2.Set"), serialized: [])
    try message.setJSON(Array(#"{"label":"a"}"#.utf8), at: FieldPath("[test2.large_item]"))
    #expect(message.serialized() == bytes)
    let error = #expect(throws: SchemaError.self) {
      try pool(
        file(
          "f.proto",
          field(4, field(1, "M") + field(5, hex("0801 10ffffffff07")))
            + field(7, field(1, "x") + field(2, ".p.M") + hex("18feffffff07 2001 2805")))
      ).extensionField(named: "p.x")
    }
    #expect(error?.description.contains("invalid number") == true)
  }

  @Test func firstNumberAndMessageOfMessageSetItemCount() throws {
    let bytes = hex("0b 10feffffff07 1005 1a030a0161 1a030a017a 0c")
    #expect(try json("test2.Set", bytes) == #"{"[test2.large_item]":{"label":"a"}}"#)
  }

  /// The number of an item's group is 1 as well.
  @Test func messageSetMayHaveExtensionOfNumberOne() throws {
    let label = field(4, field(1, "I") + field(2, field(1, "label") + hex("1801 2001 2809")))
    let set = field(4, field(1, "M") + field(5, hex("0801 10ffffffff07")) + field(7, hex("0801")))
    let item = field(7, field(1, "x") + field(2, ".p.M") + hex("1801 2001 280b") + field(6, ".p.I"))
    let type = try #require(try pool(file("f.proto", label + set + item)).messageType(named: "p.M"))
    let bytes = hex("0b 1001 1a030a0161 0c")
    var text: [UInt8] = []
    try JSONTranscoder(type).transcode(serialized: bytes, into: &text)
    #expect(String(decoding: text, as: UTF8.self) == #"{"[p.x]":{"label":"a"}}"#)
    #expect(try Message(type, serialized: bytes).json() == text)
    var back: [UInt8] = []
    try JSONTranscoder(type).transcode(json: text, into: &back)
    #expect(back == bytes)
  }
}
