import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlSchemaTools

/// The cursor position in partially typed JSON, and the suggestions there.
struct JSONCursorTests {
  private func cursor(_ text: String, _ type: String) throws -> JSONCursor {
    JSONCursor(text, of: try #require(try makePool().messageType(named: type)))
  }

  /// The place in words: `name: a b`, `field x`, `element x`.
  private func place(_ text: String, _ type: String) throws -> String {
    switch try cursor(text, type).place {
    case .name(_, let fields): "name: \(fields.map(\.jsonName).joined(separator: " "))"
    case .typeKey: "type key"
    case .value(.message(let type)): "message \(type.name)"
    case .value(.field(let field)): "field \(field.jsonName)"
    case .value(.element(let field)): "element \(field.jsonName)"
    case .value(.mapKey(let field)): "key \(field.kind.protoName)"
    case .value(.typeURL): "type"
    case .value(.anything): "anything"
    case .other: "other"
    }
  }

  @Test(arguments: [
    ("", "message test2.Outer"), ("{", "name: strict next"), (#"{"#, "name: strict next"),
    (#"{""#, "name: strict next"), (#"{"str"#, "name: strict next"), ("{ str", "name: strict next"),
    (#"{"strict""#, "other"), (#"{"strict" "#, "other"), (#"{"strict":"#, "field strict"),
    (#"{"strict": {"#, "name: id name child children byName"),
    (#"{"strict": {"id": 1, "#, "name: name child children byName"),
    (#"{"strict": {"id": 1"#, "field id"), (#"{"strict": {"id": 1 "#, "other"),
    (#"{"strict": {"name": "x"#, "field name"), (#"{"strict": {"name": "x""#, "other"),
    (#"{"strict": {"by_name": {"#, "key string"), (#"{"strict": {"byName": {"a": "#, "element value"),
    (#"{"strict": {"byName": {"a": {"#, "name: id name child children byName"),
    (#"{"strict": {"byName": {"a": {"id": 2}, "#, "key string"),
    (#"{"strict": {"children": ["#, "element children"),
    (#"{"strict": {"children": [{"id": 1}, {"#, "name: id name child children byName"),
    (#"{"strict": {"children": [{"id": 1}"#, "other"),
    (#"{"strict": {}, "#, "name: next"), (#"{"strict": null, "next": {"#, "name: strict next"),
    (#"{"strict": {"[test2.strict_ext]": {"#, "name: id name child children byName"),
    (#"{"unknown": "#, "anything"), (#"{"unknown": {"a": [1, {"#, "anything"),
    // Another message may follow.
    (#"{} "#, "message test2.Outer"), (#"{"next": {}} {"#, "name: strict next"),
    // Brackets and commas within strings are ignored.
    (#"{"strict": {"name": "},{[\"", "#, "name: id child children byName"),
  ])
  func findsPlace(text: String, expected: String) throws {
    #expect(try place(text, "test2.Outer") == expected)
  }

  @Test(arguments: [
    "}", "]", "{]", "[}", ":", ",", #"{"a":,"#, #"{"a" "b""#, #"{"a"::"#, "{,", #"{"strict": {}}}"#, #"{{"#,
    #"{"strict": {} {"#, #"{"strict": 1 2 "#,
  ])
  func suggestsNothingInInvalidText(text: String) throws {
    #expect(try place(text, "test2.Outer") == "other")
  }

  @Test(arguments: [
    (#"{"str"#, "str", 1, true), ("{ str", "str", 2, false), (#"{"strict": "#, "", 11, false),
    (#"{"strict": {"name": "é\""#, #"é\""#, 20, true), ("", "", 0, false),
    (#"{"strict": nu"#, "nu", 11, false),
  ])
  func findsReplacedToken(text: String, prefix: String, start: Int, isQuoted: Bool) throws {
    let cursor = try cursor(text, "test2.Outer")
    #expect(cursor.prefix == prefix)
    #expect(cursor.start == start)
    #expect(cursor.isQuoted == isQuoted)
  }

  @Test func omitsOtherMembersOfOneof() throws {
    #expect(try place(#"{"first": "LOW", "#, "test2.Old").contains("second") == false)
    #expect(try place(#"{"number": 1, "#, "test2.Old").contains("first second"))
  }

  @Test func findsPlaceInWellKnownTypes() throws {
    let type = "test3.WellKnown"
    #expect(try place(#"{"any": {"#, type) == "type key")
    #expect(try place(#"{"any": {"@type": ""#, type) == "type")
    #expect(try place(#"{"any": {"@type": "type.googleapis.com/test2.Outer", "#, type) == "name: strict next")
    #expect(
      try place(#"{"any": {"@type": "a/test2.Outer", "strict": {"id": 1, "name"#, type)
        == "name: name child children byName")
    #expect(
      try place(#"{"any": {"@type": "a/google.protobuf.Duration", "value": "#, type)
        == "message google.protobuf.Duration")
    #expect(try place(#"{"any": {"@type": "a/test2.None", "#, type) == "other")
    #expect(try place(#"{"any": {"@type": "a/test2.None", "x": "#, type) == "anything")
    #expect(try place(#"{"anys": [{"#, type) == "type key")
    #expect(try place(#"{"structure": {"#, type) == "anything")
    #expect(try place(#"{"structure": {"a": [{"b": "#, type) == "anything")
    #expect(try place(#"{"structure": {"a": {}}, "#, type).hasPrefix("name: "))
  }

  @Test func limitsDepth() throws {
    let deep = String(repeating: #"{"next": "#, count: nestingLimit)
    #expect(try place(deep, "test2.Outer") == "field next")
    #expect(try place(deep + "{", "test2.Outer") == "other")
    #expect(try place(String(repeating: "[", count: 1_000_000), "test2.Outer") == "other")
  }

  @Test func acceptsAnyText() throws {
    var state: UInt64 = 42
    let pieces = [
      "{", "}", "[", "]", ":", ",", "\"", "\\", "strict", "\"next\"", "é", " ", "1", "null", "\u{0}",
    ]
    for _ in 0..<2_000 {
      var text = ""
      for _ in 0..<20 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += pieces[Int(state >> 33) % pieces.count]
      }
      let cursor = try cursor(text, "test2.Outer")
      #expect(cursor.start <= text.utf8.count)
    }
  }

  private func suggestions(_ text: String, _ type: String) throws -> [String] {
    try cursor(text, type).suggestions(typeNames: ["test2.Old", "test2.Outer", "test3.Lists"]).map(\.text)
  }

  @Test(arguments: [
    ("", "test2.Outer", ["{"]), ("{", "test2.Outer", [#""strict": "#, #""next": "#]),
    (#"{"st"#, "test2.Outer", [#""strict": "#]), ("{st", "test2.Outer", [#""strict": "#]),
    (#"{"strict""#, "test2.Outer", []),
    // The name in the .proto file if its prefix was typed.
    (#"{"packed_"#, "test2.Old", [#""packed_levels": "#]),
    (#"{"packedL"#, "test2.Old", [#""packedLevels": "#]),
    (#"{"level": "#, "test2.Old", [#""LOW""#, #""HIGH""#, #""NEGATIVE""#]),
    (#"{"level": "lo"#, "test2.Old", [#""LOW""#]), (#"{"level": H"#, "test2.Old", [#""HIGH""#]),
    (#"{"levels": "#, "test2.Old", ["["]), (#"{"levels": ["LOW", "N"#, "test2.Old", [#""NEGATIVE""#]),
    (#"{"flags": "#, "test2.Old", ["{"]), (#"{"flags": {"a": "#, "test2.Old", [#""OFF""#, #""ON""#]),
    (#"{"flags": {""#, "test2.Old", []), (#"{"number": "#, "test2.Old", []),
    (#"{"number": n"#, "test2.Old", ["null"]),
    (#"{"text": "#, "test2.Old", ["\""]), (#"{"text": "a"#, "test2.Old", []),
    (#"{"aBool": "#, "test3.Scalars", ["true", "false"]), (#"{"aBool": t"#, "test3.Scalars", ["true"]),
    (#"{"flags": {""#, "test3.Maps", [#""true": "#, #""false": "#]),
    (#"{"any": {"#, "test3.WellKnown", [#""@type": "type.googleapis.com/"#]),
    (
      #"{"any": {"@type": "type.googleapis.com/test2.O"#, "test3.WellKnown",
      [#""type.googleapis.com/test2.Old""#, #""type.googleapis.com/test2.Outer""#]
    ),
    (#"{"any": {"@type": "test3"#, "test3.WellKnown", [#""type.googleapis.com/test3.Lists""#]),
    (#"{"timestamp": "#, "test3.WellKnown", ["\""]), (#"{"structure": "#, "test3.WellKnown", ["{"]),
    (#"{"structure": {"#, "test3.WellKnown", []),
  ])
  func suggests(text: String, type: String, expected: [String]) throws {
    #expect(try suggestions(text, type) == expected)
  }

  @Test(arguments: [
    ("", "test2.Outer", "Outer"), (#"{"strict": {"name"#, "test2.Outer", "name: required string"),
    (#"{"level": "#, "test2.Old", "level: enum Level (LOW, HIGH, NEGATIVE)"),
    (#"{"pl"#, "test2.Old", "plain: repeated int32"), (#"{"plain": ["#, "test2.Old", "int32"),
    (#"{"flags": "#, "test2.Old", "flags: map<string, enum Flag>"),
    ("{", "test2.Old", "number, text, level, levels, …"), (#"{"raw": "#, "test2.Old", "raw: bytes (base64)"),
    (#"{"duration": "#, "test3.WellKnown", "duration: Duration (1.5s)"),
  ])
  func describesExpectedValue(text: String, type: String, expected: String) throws {
    #expect(try cursor(text, type).expectation == expected)
  }
}
