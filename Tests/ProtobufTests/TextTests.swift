import Testing

@testable import RPCurlProtobuf

@Suite struct TextTests {
  /// Reads a message; checks that the direct conversion agrees.
  private func read(_ typeName: String, _ text: String) throws -> Message {
    let type = try type(typeName)
    TextToWireTests.check(type, text)
    return try Message(type, text: text)
  }

  private func print(
    _ typeName: String, _ bytes: String, _ options: TextEncodingOptions = TextEncodingOptions()
  ) throws -> String {
    String(
      decoding: try Message(type(typeName), serialized: hex(bytes)).text(options: options), as: UTF8.self)
  }

  private func failure(_ typeName: String, _ text: String) -> MessageParseError? {
    do {
      _ = try read(typeName, text)
      return nil
    } catch {
      return error as? MessageParseError
    }
  }

  @Test(
    arguments: [
      ("nothing", "test3.Scalars", "", ""),
      ("comments", "test3.Scalars", "# a\nan_int32 # b\n: # c\n 5 # d", "2805"),
      ("separators", "test3.Scalars", "an_int32: 5, a_bool: true; a_color: RED", "280540016001"),
      ("no space at all", "test3.Scalars", "an_int32:5,a_bool:true", "28054001"),
      ("hexadecimal and octal", "test3.Lists", "int32s: [0x1F, 017, 0, 00, -0x10]", nil),
      ("a sign apart", "test3.Scalars", "an_int32: - 5", "28fbffffffffffffffff01"),
      ("the smallest int64", "test3.Scalars", "an_int64: -9223372036854775808", "1880808080808080808001"),
      ("the largest uint64", "test3.Scalars", "a_uint64: 18446744073709551615", "20ffffffffffffffffff01"),
      ("floats", "test3.Lists", "doubles: [1, -1.5, .5, 1., 1.e3, 1e3, 1.5f, 2F, 1E-2]", nil),
      ("special floats", "test3.Lists", "doubles: [inf, -inf, INFINITY, -Infinity]", nil),
      ("not a number", "test3.Scalars", "a_double: nan", "09000000000000f87f"),
      ("too large for double", "test3.Scalars", "a_double: 1e999", "09000000000000f07f"),
      ("too large for float", "test3.Scalars", "a_float: 1e39", "150000807f"),
      ("negative zero", "test3.Scalars", "a_double: -0", "090000000000000080"),
      (
        "bools", "test3.Lists", "bools: [true, True, t, 1, 0x1, false, False, f, 0, 00]",
        "420a01010101010000000000"
      ),
      ("enums", "test3.Lists", "colors: [RED, 2, -1, BLUE, 0x7]", nil),
      ("both quotes", "test3.Scalars", #"a_string: 'a"b' "c'd""#, "4a0661226263 2764"),
      ("concatenation over lines", "test3.Scalars", "a_string: 'a' # c\n \"b\"\n'c'", "4a03616263"),
      (
        "escapes", "test3.Scalars", #"some_bytes: "\a\b\f\n\r\t\v\?\\\'\"\0\12\377\x4\xfF""#,
        "52 10 07080c0a0d090b3f5c2722000aff04ff"
      ),
      ("octal stops at three digits", "test3.Scalars", #"some_bytes: "\0001\18""#, "5204 00 31 01 38"),
      ("hexadecimal stops at two digits", "test3.Scalars", #"some_bytes: "\x414""#, "52024134"),
      ("Unicode escapes", "test3.Scalars", #"a_string: "\u00e9\U0001F600""#, "4a06c3a9f09f9880"),
      ("text as it is", "test3.Scalars", "a_string: \"é😀\"", "4a06c3a9f09f9880"),
      ("messages", "test3.Node", "child { name: 'a' }", "12030a0161"),
      ("messages with a colon", "test3.Node", "child: { weight: 5 }", "12022005"),
      ("angle brackets", "test3.Node", "child < weight: 5 child: <> >", "120412002005"),
      (
        "lists of messages", "test3.Node", "children [{weight: 1}, <>] children: [] children {}",
        "1a0220011a001a00"
      ),
      ("several values one by one", "test3.Lists", "int32s: 1 int32s: [2, 3] int32s: 4", "2a0401020304"),
      ("zero without presence", "test3.Scalars", "an_int32: 0", ""),
      ("zero with presence", "test3.Scalars", "maybe: 0", "880100"),
      ("map entries", "test3.Maps", "texts { value: 'b' key: 'a' } texts: [{key: 'c'}, {}]", nil),
      (
        "the last entry of a key wins", "test3.Maps", "texts {key:'a'} texts {key:'a' value:'b'}",
        "0a060a01611201 62"
      ),
      (
        "groups by type name", "test2.Old", "Inner { label: 'a' } Items { id: 1 } Items {}",
        "3b0a01613c43080144 4344"
      ),
      ("groups by field name", "test2.Old", "inner { label: 'a' }", "3b0a01613c"),
      (
        "extensions", "test2.Old", "[test2.ext_number]: 5 [test2.ext_texts]: ['a', 'b']",
        "a00605aa060161aa060162"
      ),
      ("extensions with spaces", "test2.Old", "[ test2 . ext_number # c\n ] : 5", "a00605"),
      ("extensions within messages", "test2.Old", "[test2.Old.nested_ext] { number: 5 }", "b206020805"),
      ("extension groups", "test2.Old", "[test2.extgroup] { inner: 5 }", "bb060805bc06"),
      (
        "delimited messages", "test23.Modern", "required: 0 delimited { packed: 1 required: 2 }",
        "1800331802220101 34"
      ),
      ("message sets", "test2.Set", "[test2.SetItem.item] { label: 'a' }", "0b10d2091a030a01610c"),
      ("their items by type", "test2.Set", "[test2.SetItem] { label: 'a' }", "0b10d2091a030a01610c"),
      (
        "reserved names are passed over", "test2.Old",
        "gone: 'x' 'y' number: 1 lost { a: [1, -x], [c/d] <> }", "0801"
      ),
      ("Any", "test3.WellKnown", "any { [a.b/test3.Node] { weight: 1 } }", nil),
      ("Any of Any", "test3.WellKnown", "any { [a/google.protobuf.Any]: < [b/test3.Node] {} > }", nil),
      ("Any by its fields", "test3.WellKnown", "any { type_url: 'a' value: '\\001' }", "0a060a0161120101"),
      ("well-known types by their fields", "test3.WellKnown", "timestamp { seconds: 5 }", "12020805"),
      ("a closed enum", "test2.Old", "level: NEGATIVE levels: [-3, 2]", nil),
      ("a string that is not UTF-8 in proto2", "test2.Old", #"text: "\377""#, "1201ff"),
    ] as [(String, String, String, String?)])
  func reads(_ what: String, _ typeName: String, _ text: String, _ expected: String?) throws {
    let message = try read(typeName, text)
    if let expected {
      #expect(hexText(message.serialized()) == hexText(hex(expected)), "\(what)")
    }
    for options in [TextEncodingOptions(), TextEncodingOptions(singleLine: true, expandAny: false)] {
      let printed = String(decoding: message.text(options: options), as: UTF8.self)
      #expect(try read(typeName, printed).serialized() == message.serialized(), "\(what): \(printed)")
    }
  }

  @Test(arguments: [
    ("the end within a message", "test3.Node", "child {", MessageParseError.Reason.unexpectedEnd),
    ("the end before a value", "test3.Node", "weight:", .unexpectedEnd),
    ("the end within a string", "test3.Node", "name: 'a", .unexpectedEnd),
    ("the end within an escape", "test3.Node", "name: 'a\\", .unexpectedEnd),
    ("the wrong closing bracket", "test3.Node", "child { >", .syntax(expected: "a name")),
    ("no colon", "test3.Node", "weight 5", .syntax(expected: "\":\"")),
    ("two separators", "test3.Node", "weight: 5,;", .syntax(expected: "a name")),
    ("a name in quotes", "test3.Node", "'weight': 5", .syntax(expected: "a name")),
    ("an open list", "test3.Lists", "int32s: [1", .unexpectedEnd),
    ("a list without comma", "test3.Lists", "int32s: [1 2]", .syntax(expected: "\",\" or \"]\"")),
    (
      "a comma behind a list's last element", "test3.Lists", "int32s: [1,]",
      .wrongType(expected: "a whole number (int32)")
    ),
    (
      "a list for a single field", "test3.Node", "weight: [1]", .wrongType(expected: "a whole number (int32)")
    ),
    ("a number that starts with 0", "test3.Node", "weight: 08", .invalidNumber),
    ("a number with letters", "test3.Node", "weight: 1x", .invalidNumber),
    ("0x alone", "test3.Node", "weight: 0x", .invalidNumber),
    ("an exponent without digits", "test3.Scalars", "a_double: 1e", .invalidNumber),
    ("two points", "test3.Scalars", "a_double: 1.2.3", .invalidNumber),
    ("a plus sign", "test3.Node", "weight: +1", .wrongType(expected: "a whole number (int32)")),
    (
      "a fraction for an integer", "test3.Node", "weight: 1.0", .wrongType(expected: "a whole number (int32)")
    ),
    (
      "hexadecimal for a float", "test3.Scalars", "a_double: 0x1",
      .wrongType(expected: "a number (double) in decimal")
    ),
    (
      "octal for a float", "test3.Scalars", "a_double: 01",
      .wrongType(expected: "a number (double) in decimal")
    ),
    ("too large", "test3.Node", "weight: 2147483648", .outOfRange(type: "int32")),
    ("too small", "test3.Node", "weight: -2147483649", .outOfRange(type: "int32")),
    ("beyond 64 bits", "test3.Scalars", "a_uint64: 18446744073709551616", .outOfRange(type: "uint64")),
    ("negative for unsigned", "test3.Scalars", "a_uint32: -1", .outOfRange(type: "uint32")),
    ("a string for a number", "test3.Node", "weight: '1'", .wrongType(expected: "a whole number (int32)")),
    ("a word for a number", "test3.Scalars", "a_double: infinite", .wrongType(expected: "a number (double)")),
    ("a number for a string", "test3.Node", "name: 1", .wrongType(expected: "a string")),
    ("a word for a string", "test3.Node", "name: a", .wrongType(expected: "a string")),
    ("2 for a bool", "test3.Scalars", "a_bool: 2", .wrongType(expected: "true or false")),
    ("TRUE for a bool", "test3.Scalars", "a_bool: TRUE", .wrongType(expected: "true or false")),
    ("a scalar for a message", "test3.Node", "child: 1", .wrongType(expected: "a message (test3.Node)")),
    ("a string over two lines", "test3.Node", "name: 'a\nb'", .unterminatedString),
    ("an unknown escape", "test3.Node", #"name: "\q""#, .invalidEscape),
    ("\\x without digits", "test3.Node", #"name: "\xg""#, .invalidEscape),
    ("an octal escape above 377", "test3.Node", #"name: "\400""#, .invalidEscape),
    ("\\u with three digits", "test3.Node", #"name: "\u123""#, .invalidEscape),
    ("\\U above 10FFFF", "test3.Node", #"name: "\U00110000""#, .invalidEscape),
    ("a surrogate pair", "test3.Node", #"name: "\ud83d\ude00""#, .loneSurrogate),
    ("a long surrogate pair", "test3.Node", #"name: "\U0000d83d\U0000de00""#, .loneSurrogate),
    (
      "an empty prefix of a type URL", "test3.WellKnown", "any { [/test3.Node] {} }",
      .syntax(expected: "a type URL such as example.com/pkg.Name before \"]\"")
    ),
    (
      "a percent sign without digits", "test3.WellKnown", "any { [a%ZZ/test3.Node] {} }",
      .syntax(expected: "a type URL such as example.com/pkg.Name before \"]\"")
    ),
    ("half of a pair", "test3.Node", #"name: "\ud83d""#, .loneSurrogate),
    ("the second half of a pair", "test3.Node", #"name: "\ude00""#, .loneSurrogate),
    ("a string that is not UTF-8", "test3.Node", #"name: "\377""#, .invalidUTF8),
    ("a field twice", "test3.Node", "weight: 1 weight: 2", .duplicateField("weight")),
    ("a field twice, first zero", "test3.Node", "weight: 0 weight: 2", .duplicateField("weight")),
    ("a message twice", "test3.Node", "child {} child {}", .duplicateField("child")),
    (
      "an extension twice", "test2.Old", "[test2.ext_number]: 1 [test2.ext_number]: 1",
      .duplicateField("[test2.ext_number]")
    ),
    ("a key twice in an entry", "test3.Maps", "texts {key:'a' key:'a'}", .duplicateField("key")),
    (
      "two of a oneof", "test3.Choice", "number: 1 text: 'a'",
      .oneofConflict(oneof: "choice", first: "number", second: "text")
    ),
    (
      "an unknown field", "test3.Node", "nme: 'a'",
      .unknownField(name: "nme", type: "test3.Node", nearest: ["name"])
    ),
    (
      "a JSON name", "test3.Scalars", "anInt32: 1",
      .unknownField(name: "anInt32", type: "test3.Scalars", nearest: ["an_int32", "a_sint32", "a_uint32"])
    ),
    ("a field by number", "test3.Node", "4: 1", .numberedField),
    (
      "an unknown extension", "test2.Old", "[test2.no]: 1",
      .unknownExtension(name: "test2.no", type: "test2.Old")
    ),
    (
      "an extension of another message", "test2.Set", "[test2.ext_number]: 1",
      .unknownExtension(name: "test2.ext_number", type: "test2.Set")
    ),
    (
      "an unknown enum value", "test3.Scalars", "a_color: RAD",
      .unknownEnumValue(
        value: "RAD", type: "test3.Color", nearest: ["RED"],
        all: ["COLOR_UNSPECIFIED", "RED", "GREEN", "BLUE"])
    ),
    (
      "an unknown number of a closed enum", "test2.Old", "level: 9",
      .unknownEnumValue(value: "9", type: "test2.Level", nearest: [], all: ["LOW", "HIGH", "NEGATIVE"])
    ),
    ("a number beyond enums", "test3.Scalars", "a_color: 2147483648", .outOfRange(type: "test3.Color")),
    (
      "an Any of an unknown type", "test3.WellKnown", "any { [a/no.Such] {} }",
      .unknownAnyType("no.Such", nearest: [])
    ),
    (
      "an Any with more than its message", "test3.WellKnown", "any { [a/test3.Node] {} type_url: 'x' }",
      .duplicateField("type_url")
    ),
    (
      "an Any's message behind its fields", "test3.WellKnown", "any { value: 'x' [a/test3.Node] {} }",
      .duplicateField("[a/test3.Node]")
    ),
    ("a type URL in another message", "test3.Node", "[a/test3.Node] {}", .notAnAny("test3.Node")),
    ("empty brackets", "test2.Old", "[]: 1", .syntax(expected: "an extension name or a type URL")),
  ])
  func rejects(_ what: String, _ typeName: String, _ text: String, _ expected: MessageParseError.Reason) {
    #expect(failure(typeName, text)?.reason == expected, "\(what)")
  }

  @Test(arguments: [
    ("test3.Scalars", "280540016001 4a0161", "an_int32: 5\na_bool: true\na_string: \"a\"\na_color: RED\n"),
    ("test3.Scalars", "6009", "a_color: 9\n"),
    ("test3.Node", "12041200 2005", "child {\n  child {\n  }\n  weight: 5\n}\n"),
    (
      "test3.Maps", "0a060a0161120162 0a00",
      "texts {\n  key: \"\"\n  value: \"\"\n}\ntexts {\n  key: \"a\"\n  value: \"b\"\n}\n"
    ),
    (
      "test3.Scalars", "4a0b 27220a0d095c01c285c3a9 5203 61c3ff",
      "a_string: \"\\'\\\"\\n\\r\\t\\\\\\001\\302\\205é\"\nsome_bytes: \"a\\303\\377\"\n"
    ),
    (
      "test3.Lists", "2a0201020a10000000000000f03f000000000000f07f",
      "doubles: 1\ndoubles: inf\nint32s: 1\nint32s: 2\n"
    ),
    ("test2.Old", "3b0a01613c a00605 0801", "number: 1\nInner {\n  label: \"a\"\n}\n[test2.ext_number]: 5\n"),
    ("test2.Old", "1201ff", "text: \"\\377\"\n"),
    ("test2.Set", "0b10d2091a030a01610c", "[test2.SetItem] {\n  label: \"a\"\n}\n"),
    ("test2.Set", "0b10051a0208010c", "5 {\n  1: 1\n}\n"),
    (
      "test3.WellKnown", "0a12 0a0c612f74657374332e4e6f6465 12022001",
      "any {\n  [a/test3.Node] {\n    weight: 1\n  }\n}\n"
    ),
    ("test3.WellKnown", "0a05 0a03612f62", "any {\n  type_url: \"a/b\"\n}\n"),
    ("test3.WellKnown", "0a0d 0a0b2f74657374332e4e6f6465", "any {\n  type_url: \"/test3.Node\"\n}\n"),
    ("test3.WellKnown", "0a11 0a0f612541412f74657374332e4e6f6465", "any {\n  [a%AA/test3.Node] {\n  }\n}\n"),
    (
      "test3.WellKnown", "0a11 0a0f61255a5a2f74657374332e4e6f6465",
      "any {\n  type_url: \"a%ZZ/test3.Node\"\n}\n"
    ),
    (
      "test3.Node", "d00f01 d50f01000000 d10f0100000000000000 da0f0161 da0f020801 d30f0801d40f da0f00",
      "250: 1\n250: 0x00000001\n250: 0x0000000000000001\n251: \"a\"\n251 {\n  1: 1\n}\n250 {\n  1: 1\n}\n251: \"\"\n"
    ),
  ])
  func writes(_ typeName: String, _ bytes: String, _ expected: String) throws {
    #expect(try print(typeName, bytes) == expected)
  }

  @Test func writesSingleLine() throws {
    let options = TextEncodingOptions(singleLine: true, expandAny: false, unknownFields: false)
    #expect(try print("test3.Node", "0a0161 12022005 d00f01", options) == #"name: "a" child { weight: 5 }"#)
    #expect(try print("test3.Node", "1200", options) == "child { }")
    #expect(try print("test3.WellKnown", "0a05 0a03612f62", options) == #"any { type_url: "a/b" }"#)
  }

  @Test func limitsDepthOfUnknownMessages() throws {
    var bytes: [UInt8] = [0x08, 0x01]
    for _ in 0..<40 {
      var out = OutputBuffer()
      out.append(hex("da0f"))
      out.appendVarint(UInt64(bytes.count))
      out.append(bytes)
      bytes = out.copyBytes()
    }
    let text = try print("test3.Node", hexText(bytes), TextEncodingOptions(singleLine: true))
    #expect(text.split(separator: "{").count == 11)
  }

  @Test func limitsDepth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "child {", count: depth) + String(repeating: "}", count: depth)
    }
    #expect(failure("test3.Node", nested(100)) == nil)
    #expect(failure("test3.Node", nested(101))?.reason == .tooDeep)
    let anys = String(repeating: "[a/google.protobuf.Any] <", count: 100_000)
    #expect(failure("google.protobuf.Any", anys)?.reason == .tooDeep)
    let lost = "lost " + String(repeating: "{ a ", count: 100_000)
    #expect(failure("test2.Old", lost)?.reason == .tooDeep)
  }

  @Test func stopsExpandingNestedAnys() throws {
    let any = try type("google.protobuf.Any")
    var bytes: [UInt8] = []
    for _ in 0..<2000 {
      var message = Message(any)
      try message.set(.string("a/google.protobuf.Any"), at: FieldPath("type_url"))
      try message.set(.bytes(bytes), at: FieldPath("value"))
      bytes = message.serialized()
      if bytes.count > 60_000 { break }
    }
    let text = try Message(any, serialized: bytes).text()
    #expect(try Message(any, text: text).serialized() == bytes)
  }

  @Test func errorsNamePlaceAndPath() {
    let error = failure("test3.Node", "# é\nchildren { }\nchildren {\n  name: 'é' weight: \"x\"\n}")
    #expect(error?.position.line == 4)
    #expect(error?.position.column == 21)
    #expect(error?.fieldPath == "children[1].weight")
    #expect(
      error?.description == "children[1].weight: expected a whole number (int32) (line 4, column 21)")
    #expect(failure("test3.Node", "nme: 1")?.hint == "did you mean name?")
    #expect(failure("test3.WellKnown", "any { [a/test3.Node] { nme: 1 } }")?.fieldPath == "any[a/test3.Node]")
  }

  @Test func ignoresUnknownFieldsIfAllowed() throws {
    let options = TextDecodingOptions(allowUnknownFields: true)
    let text = "what: [1, 'a' 'b', {}] [no.ext]: <x: 1> weight: 1 that { [a/b] {} y: -inf }"
    #expect(hexText(try Message(type("test3.Node"), text: text, options: options).serialized()) == "2001")
  }

  @Test func ignoresItsOwnUnknownFieldsIfAllowed() throws {
    let bytes = "2001 d00f01 d50f01000000 da0f0161 da0f020801 d30f0801d40f"
    let text = try print("test3.Node", bytes)
    #expect(failure("test3.Node", text)?.reason == .numberedField)
    let options = TextDecodingOptions(allowUnknownFields: true)
    #expect(hexText(try Message(type("test3.Node"), text: text, options: options).serialized()) == "2001")
    for number in ["0x10: 1", "1.5: 1", "010: 1"] {
      #expect(throws: MessageParseError.self) {
        try Message(type("test3.Node"), text: number, options: options)
      }
    }
  }
}
