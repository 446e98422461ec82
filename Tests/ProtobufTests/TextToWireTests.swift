import Testing

@testable import RPCurlProtobuf

/// Text format is converted to the same bytes with and without a message. ``TextTests`` compare all of their texts, too.
@Suite struct TextToWireTests {
  /// Compares the direct conversion with that by a message, including errors.
  static func check(
    _ type: MessageType, _ text: String, _ options: TextDecodingOptions = TextDecodingOptions(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var out = OutputBuffer()
    out.append(0)
    let direct = Result { () throws(MessageParseError) in
      try Array(text.utf8).withRawBytes { (bytes) throws(MessageParseError) in
        try TextToWire.transcode(bytes, type: type.node, options: options, into: &out)
      }
    }
    var partial = options
    partial.allowPartial = true
    let message = Result { () throws(MessageParseError) in
      try Message(type, text: text, options: partial)
    }
    switch (direct, message) {
    case (.success(let missing), .success(let message)):
      #expect(
        hexText(out.copyBytes(from: 1)) == hexText(message.serialized()), "\(text)",
        sourceLocation: sourceLocation)
      // Nil leaves it open.
      if let missing {
        #expect(missing == message.missingRequiredFields(), sourceLocation: sourceLocation)
      }
    case (.failure(let one), .failure(let other)):
      #expect(one == other, sourceLocation: sourceLocation)
      #expect(out.count == 1, sourceLocation: sourceLocation)
    default: Issue.record("\(text): \(direct), \(message)", sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [
    ("in order", "test3.Scalars", "a_double: 1.5 an_int64: -7 a_bool: true a_string: \"abc\" a_color: RED"),
    ("in no order", "test3.Scalars", "a_string: \"abc\" a_double: 1.5 maybe_text: \"x\" maybe: 0"),
    ("zeros", "test3.Scalars", "a_double: 0 a_float: 0 an_int32: 0 a_bool: false a_string: \"\" maybe: 0"),
    ("negative zeros", "test3.Scalars", "a_double: -0 a_float: -0.0 an_int32: -0"),
    ("kinds of numbers", "test3.Scalars", "a_float: 1.25 a_uint64: 18446744073709551615 a_fixed64: 1"),
    ("signed numbers", "test3.Scalars", "a_sfixed32: -1 a_sfixed64: -2 a_sint32: -3 a_sint64: -4"),
    ("other notations", "test3.Scalars", "an_int32: 0x1F a_uint32: 017 a_double: 1.f a_float: inf"),
    ("strings in parts", "test3.Scalars", "a_string: \"a\" 'b' some_bytes: \"\\xff\" \"c\""),
    ("a packed list in brackets", "test3.Lists", "int32s: [1, 2, 3] doubles: [1.5, 2]"),
    ("a packed list, element by element", "test3.Lists", "int32s: 1 int32s: 2 int32s: 3 strings: \"a\""),
    ("a packed list in pieces", "test3.Lists", "int32s: [1] strings: \"a\" int32s: [2, 3] int32s: []"),
    (
      "separators", "test3.Scalars",
      "a_double: 1.5, an_int64: -7; a_bool:true,a_string:\"abc\" ,"
    ),
    ("spaces", "test3.Scalars", "a_double :\n1.5 an_int64:  -7 a_bool:\ttrue # c\na_string: # c\n \"abc\" "),
    ("empty lists in brackets", "test3.Lists", "int32s: [] strings: [ ], nodes: []; doubles: [ 1 , 2 ]"),
    ("lists that are not packed", "test3.Lists", "unpacked: 1 unpacked: [2, 3] nodes { weight: 1 } nodes {}"),
    (
      "a list that is longer than its space", "test3.Lists",
      "int32s: [\(Self.many)] nodes { name: \"\(Self.many)\" }"
    ),
    (
      "maps", "test3.Maps",
      "texts { key: \"b\" value: \"1\" } texts { key: \"a\" } numbers { value: 0 } flags {}"
    ),
    (
      "a map with a key twice", "test3.Maps",
      "texts { key: \"a\" value: \"1\" } texts { key: \"a\" value: \"2\" }"
    ),
    ("a map in brackets", "test3.Maps", "nodes: [{ key: 2 value { weight: 1 } }, { value {} key: 1 }]"),
    ("messages", "test3.Node", "child { name: \"a\" child < weight: 5 > } children { } weight: 1"),
    ("oneofs", "test3.Choice", "before: \"a\" node { weight: 1 }"),
    ("groups", "test2.Old", "Inner { label: \"a\" } Items { id: 1 } Items { id: 2 } number: 1"),
    (
      "extensions", "test2.Old",
      "[test2.ext_texts]: \"a\" [test2.ext_number]: 5 [test2.ext_texts]: \"b\" text: \"c\""
    ),
    ("reserved names", "test2.Old", "gone: [1, { x: 2 }] number: 1 lost { y: 3 }"),
    ("closed enums", "test2.Old", "level: HIGH packed_levels: [LOW, NEGATIVE] levels: -3"),
    ("required fields", "test2.Strict", "id: 1 name: \"a\""),
    ("required fields that are missing", "test2.Outer", "strict { id: 1 } next { strict { name: \"a\" } }"),
    ("an Any as it is", "google.protobuf.Any", "type_url: \"a/test3.Node\" value: \" \\001\""),
  ])
  func takesOnePass(what: String, typeName: String, text: String) throws {
    let type = try type(typeName)
    var out = OutputBuffer()
    let isPlain = Array(text.utf8).withRawBytes { bytes in
      TextToWire.transcodePlain(bytes, type.node, TextDecodingOptions(), into: &out) != nil
    }
    #expect(isPlain, "\(what)")
    Self.check(type, text)
  }

  @Test(arguments: [
    ("a field twice", "test3.Scalars", "an_int32: 1 a_bool: true an_int32: 1"),
    ("two fields of a oneof", "test3.Choice", "number: 1 text: \"a\""),
    ("an unknown name", "test3.Node", "weight: 1 weigth: 2"),
    ("an unknown value", "test2.Old", "level: 5"),
    ("a number out of range", "test3.Scalars", "an_int32: 2147483648"),
    ("a number that goes on", "test3.Scalars", "an_int32: 12x"),
    ("a name that goes on", "test3.Scalars", "a_bool: truest"),
    ("no colon", "test3.Scalars", "an_int32 1"),
    ("no end", "test3.Node", "child { weight: 1"),
    ("an end too many", "test3.Node", "weight: 1 }"),
    ("two separators", "test3.Node", "weight: 1,, name: \"a\""),
    ("a separator first", "test3.Node", "child { , weight: 1 }"),
    ("a comma too many", "test3.Lists", "int32s: [1, 2,]"), ("only a comma", "test3.Lists", "int32s: [,]"),
    ("no comma", "test3.Lists", "int32s: [1 2]"), ("a list without an end", "test3.Lists", "int32s: [1, 2"),
    ("the wrong end", "test3.Node", "child { weight: 1 >"),
    ("a byte that is no text", "test3.Node", "weight: 1 \0 weight: 2"),
    ("a string without an end", "test3.Node", "name: \"abcdefghijklmnop"),
    ("a line's end in a string", "test3.Node", "name: \"abcdefgh\nijklmnop\""),
    ("no UTF-8", "test3.Node", "name: \"abc\\xffdefghi\""),
    ("an expanded Any", "google.protobuf.Any", "[a/test3.Node] { weight: 1 }"),
    ("a message set", "test2.Set", "[test2.item] { }"),
  ])
  func leavesOthersToTheParser(what: String, typeName: String, text: String) throws {
    Self.check(try type(typeName), text)
  }

  /// Delimited encoding, also of the whole file, does not apply to the entries of maps.
  @Test(arguments: ["file", "message"])
  func writesMapsOfAMessageWithDelimitedEncoding(scope: String) throws {
    let option = "options { features { message_encoding: DELIMITED } }"
    let entry = """
      nested_type { name: "MEntry" options { map_entry: true }
        field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
        field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".d.V" label: LABEL_OPTIONAL } }
      field { name: "m" number: 1 type: TYPE_MESSAGE type_name: ".d.M.MEntry" label: LABEL_REPEATED }
      field { name: "v" number: 2 type: TYPE_MESSAGE type_name: ".d.V" label: LABEL_OPTIONAL }
      """
    let file = """
      file { name: "d.proto" package: "d" syntax: "editions" edition: EDITION_2023 \(scope == "file" ? option : "")
        message_type { name: "V" field { name: "x" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL } }
        message_type { name: "M" \(scope == "message" ? option : "") \(entry) } }
      """
    let set = try Message(type("google.protobuf.FileDescriptorSet"), text: file)
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(set.serialized()), source: "test")
    let type = try #require(try pool.messageType(named: "d.M"))
    let text = "m { key: \"a\" value { x: 1 } } v { x: 2 }"
    Self.check(type, text)
    let message = try Message(type, text: text)
    #expect(hexText(message.serialized()) == "0a070a016112020801130802" + "14")
    #expect(
      String(decoding: message.text(options: TextEncodingOptions(singleLine: true)), as: UTF8.self) == text)
  }

  /// Field 1 and 71, 2 and 72 and so on are of one oneof; `m` is another message of this type.
  @Test(arguments: [
    "f1: 1 f2: 2 f69: 3 f70: 4 f141: 5 f150: 6", "f150: 1 f149: 2 f148: 3 f140: 4 f3: 5",
    "f1: 1 f71: 2", "f71: 1 f1: 2", "f70: 1 f140: 2", "f140: 1 f70: 2", "f65: 1 f140: 2 f70: 3",
    "f150: 1 f150: 2", "f150: 1 f149: 2 f150: 3", "f149: 1 f150: 2 f149: 3",
    "f149: 1 f150: 2 f148: 3 f149: 4",
    "f145: 1 m { f145: 2 m { f146: 3 f145: 4 } f146: 5 } f146: 6", "f145: 1 m { f145: 2 } f145: 3",
    "f145: 1 m { f146: 2 f145: 3 } m { f146: 4 f146: 5 }",
  ])
  func readsMessagesOfManyFields(text: String) throws {
    let label = "label: LABEL_OPTIONAL"
    let fields = (1...150).map { number in
      let oneof = number <= 140 ? "oneof_index: \((number - 1) % 70)" : ""
      return "field { name: \"f\(number)\" number: \(number) type: TYPE_INT32 \(label) \(oneof) }"
    }
    let oneofs = (0..<70).map { "oneof_decl { name: \"o\($0)\" }" }
    let file = """
      file { name: "l.proto" package: "l" syntax: "proto2"
        message_type { name: "M"
          \(fields.joined()) \(oneofs.joined())
          field { name: "m" number: 200 type: TYPE_MESSAGE type_name: ".l.M" label: LABEL_REPEATED } } }
      """
    let pool = DescriptorPool()
    let set = try Message(type("google.protobuf.FileDescriptorSet"), text: file)
    try pool.add(SchemaBytes(set.serialized()), source: "test")
    Self.check(try #require(try pool.messageType(named: "l.M")), text)
  }

  @Test func skipsUnknownFields() throws {
    let text = "what: [1, 'a' 'b', {}] [no.ext]: <x: 1> weight: 1 12: 5 that { [a/b] {} y: -inf }"
    Self.check(try type("test3.Node"), text, TextDecodingOptions(allowUnknownFields: true))
  }

  /// A text that is read in words must not be read beyond its end.
  @Test func endsAnywhere() throws {
    let text = "a_double: 1.5 an_int64: -12345678 a_bool: true a_string: \"abcdefghij\" a_color: RED # c\n"
    let type = try type("test3.Scalars")
    for count in 0...text.utf8.count {
      Self.check(type, String(decoding: text.utf8.prefix(count), as: UTF8.self))
    }
  }

  private static let many = (1000..<1200).map(String.init).joined(separator: ", ")
}
