import RPCurlBase
import RPCurlProtobufSupport
import Testing

@testable import RPCurlProtobuf

@Suite struct RequiredFieldsTests {
  private func missing(_ typeName: String, _ json: String) throws -> [String] {
    let options = JSONDecodingOptions(allowPartial: true)
    return try Message(type(typeName), json: Array(json.utf8), options: options).missingRequiredFields()
  }

  @Test(arguments: [
    ("test2.Strict", "{}", ["id", "name"]),
    ("test2.Strict", #"{"id":0}"#, ["name"]),
    ("test2.Strict", #"{"id":0,"name":""}"#, []),
    ("test2.Outer", "{}", []),
    ("test2.Outer", #"{"strict":{"id":1}}"#, ["strict.name"]),
    ("test2.Outer", #"{"next":{"next":{"strict":{"name":"a"}}}}"#, ["next.next.strict.id"]),
    (
      "test2.Strict", #"{"id":1,"name":"a","children":[{"id":1,"name":"a"},{"id":1}],"child":{}}"#,
      ["child.id", "child.name", "children[1].name"]
    ),
    (
      "test2.Strict", #"{"id":1,"name":"a","byName":{"x":{"id":1},"a":{"name":""}}}"#,
      [#"by_name["a"].id"#, #"by_name["x"].name"#]
    ),
    (
      "test2.Strict", #"{"id":1,"name":"a","[test2.strict_ext]":{"id":5}}"#, ["[test2.strict_ext].name"]
    ),
    ("test23.Modern", "{}", ["required"]),
    ("test23.Modern", #"{"required":0,"delimited":{}}"#, ["delimited.required"]),
    ("test3.Scalars", "{}", []),
  ])
  func findsMissingFields(_ typeName: String, _ json: String, _ expected: [String]) throws {
    #expect(try missing(typeName, json) == expected)
  }

  @Test func jsonAndTextReportMissingFields() throws {
    let strict = try type("test2.Strict")
    let expected = ["name", "child.id", "child.name"]
    let jsonError = #expect(throws: MessageParseError.self) {
      try Message(strict, json: Array(#"{"id":1,"child":{}}"#.utf8))
    }
    #expect(jsonError?.reason == .missingRequired(expected))
    #expect(
      jsonError?.description
        == "the required fields name, child.id, child.name are not set (line 1, column 1)")
    var out: [UInt8] = []
    #expect(throws: MessageParseError.self) {
      try JSONTranscoder(strict).transcode(json: Array(#"{"id":1}"#.utf8), into: &out)
    }
    #expect(out.isEmpty)
    let textError = #expect(throws: MessageParseError.self) { try Message(strict, text: "id: 1 child {}") }
    #expect(textError?.reason == .missingRequired(expected))
    let partial = TextDecodingOptions(allowPartial: true)
    #expect(try Message(strict, text: "id: 1", options: partial).serialized() == [8, 1])
  }

  @Test func binaryAcceptsMissingFields() throws {
    let message = try Message(type("test2.Strict"), serialized: [8, 1])
    #expect(message.missingRequiredFields() == ["name"])
    #expect(message.serialized() == [8, 1])
  }

  // MARK: Direct conversions

  /// A random JSON message of `test2.Strict`, complete or not, with nested ones in all its fields.
  private func strict(_ random: inout SeededGenerator, depth: Int) -> String {
    func nested(_ probability: UInt64) -> String? {
      depth < 3 && random.next() % 10 < probability ? strict(&random, depth: depth + 1) : nil
    }
    var members: [String] = []
    if random.next() % 12 > 0 { members.append("\"id\":\(random.next() % 2)") }
    if random.next() % 12 > 0 { members.append(random.next() % 5 > 0 ? #""name":"""# : #""name":null"#) }
    if let child = nested(3) { members.append("\"child\":\(child)") }
    if let first = nested(2), let second = nested(9) { members.append("\"children\":[\(first),\(second)]") }
    if let value = nested(3) { members.append(#""byName":{"b":\#(value),"a":{"id":1,"name":""}}"#) }
    if let value = nested(3) { members.append("\"[test2.strict_ext]\":\(value)") }
    return "{" + members.shuffled(using: &random).joined(separator: ",") + "}"
  }

  /// Checks that the direct conversions report the same fields as the message, and lose nothing else.
  private func check(_ type: MessageType, _ json: String) throws -> [String] {
    let text = Array(json.utf8)
    let partial = JSONDecodingOptions(allowPartial: true)
    let message = try Message(type, json: text, options: partial)
    let missing = message.missingRequiredFields()
    let expected = missing.isEmpty ? nil : missing
    var out: [UInt8] = [7]
    do throws(MessageParseError) {
      try JSONTranscoder(type).transcode(json: text, into: &out)
      #expect(expected == nil && Array(out.dropFirst()) == message.serialized(), "\(json)")
    } catch {
      #expect(expected.map { .missingRequired($0) } == error.reason && out == [7], "\(json)")
    }
    let binary = message.serialized()
    for input in [binary, binary + binary] {
      var converter = Converter(type, options: ConversionOptions(from: .binary, to: .json))
      var written = OutputBuffer()
      let missing = try Message(type, serialized: input).missingRequiredFields()
      do throws(ConversionError) {
        try converter.finish(with: input.span.bytes, into: &written)
        #expect(missing.isEmpty, "\(json)")
      } catch {
        #expect(error.reason == .missingRequired(missing), "\(json)")
      }
    }
    return missing
  }

  @Test func directConversionsMatchMessage() throws {
    let pool = try makePool()
    let types = try ["test2.Strict", "test2.Outer", "test23.Modern", "test3.WellKnown", "test2.Old"].map {
      try #require(try pool.messageType(named: $0))
    }
    var random = SeededGenerator(seed: 1)
    var complete = 0
    for _ in 0..<800 {
      let value = strict(&random, depth: 0)
      if try check(types[0], value).isEmpty { complete += 1 }
      _ = try check(types[1], #"{"next":{"strict":\#(value)},"strict":{"id":1,"name":"a"}}"#)
      // The content of an Any is bytes, which are not checked.
      let any = #"{"any":{"@type":"x/test2.Strict",\#(value.dropFirst())}"#
      #expect(try check(types[3], any.replacing(",}", with: "}")) == [])
    }
    #expect(complete > 100 && complete < 700)
    for (modern, missing) in [
      (
        #"{"required":0,"delimited":{"required":1,"children":{"a":{}}}}"#,
        [#"delimited.children["a"].required"#]
      ),
      (#"{"required":0,"delimited":{"delimited":{"required":0}}}"#, ["delimited.required"]),
      (#"{"required":0,"children":{"a":{"required":0,"delimited":{"required":2}}}}"#, []),
    ] { #expect(try check(types[2], modern) == missing) }
  }

  @Test func wellKnownNameMayHaveRequiredFields() throws {
    // package google.protobuf; message Duration { required int64 seconds = 1; required int32 nanos = 2; }
    let pool = DescriptorPool()
    try pool.add(
      SchemaBytes(
        hex(
          """
          0a40 0a01 64 120f 676f6f676c652e70726f746f627566 222a 0a08 4475726174696f6e
          120f 0a077365636f6e6473 1801 2002 2803 120d 0a056e616e6f73 1802 2002 2805
          """)),
      source: "s")
    let type = try #require(try pool.messageType(named: "google.protobuf.Duration"))
    #expect(try check(type, #""1.5s""#) == [])
    #expect(try check(type, #""1s""#) == ["nanos"])
  }
}
