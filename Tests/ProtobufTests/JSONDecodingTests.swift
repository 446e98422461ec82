import RPCurlBase
import Testing

@testable import RPCurlProtobuf

@Suite struct JSONDecodingTests {
  @Test(
    arguments: [
      ("test3.Scalars", #"{"anInt32":1e5}"#, "28a08d06"),
      ("test3.Scalars", #"{"anInt32":1.0}"#, "2801"),
      ("test3.Scalars", #"{"anInt32":-0}"#, ""),
      ("test3.Scalars", #"{"anInt32":"12"}"#, "280c"),
      ("test3.Scalars", #"{"anInt32":150e-1}"#, "280f"),
      ("test3.Scalars", #"{"anInt64":9223372036854775807}"#, "18ffffffffffffffff7f"),
      ("test3.Scalars", #"{"anInt64":"-9223372036854775808"}"#, "1880808080808080808001"),
      ("test3.Scalars", #"{"aUint64":"18446744073709551615"}"#, "20ffffffffffffffffff01"),
      ("test3.Scalars", #"{"an_int32":3,"a_bool":true}"#, "28034001"),
      ("test3.Scalars", #"{"aBool":true,"anInt32":3}"#, "28034001"),
      ("test3.Scalars", #"{"aDouble":"NaN"}"#, "09000000000000f87f"),
      ("test3.Scalars", #"{"aDouble":-0}"#, "090000000000000080"),
      ("test3.Scalars", #"{"aDouble":-0.0}"#, "090000000000000080"),
      ("test3.Scalars", #"{"aDouble":"-Infinity"}"#, "09000000000000f0ff"),
      ("test3.Scalars", #"{"aDouble":"1.5"}"#, "09000000000000f83f"),
      ("test3.Scalars", #"{"aFloat":16777217}"#, "150000804b"),
      ("test3.Scalars", #"{"aFloat":3.4028235e38}"#, "15ffff7f7f"),
      ("test3.Scalars", #"{"someBytes":"-_8"}"#, "5202fbff"),
      ("test3.Scalars", #"{"someBytes":"+/8="}"#, "5202fbff"),
      ("test3.Scalars", #"{"aColor":"RED"}"#, "6001"),
      ("test3.Scalars", #"{"aColor":7}"#, "6007"),
      ("test3.Scalars", #"{"aColor":"BLUE"}"#, "60ffffffffffffffffff01"),
      ("test3.Scalars", #"{"aString":null,"maybe":null}"#, ""),
      ("test3.Scalars", #"{"maybe":0}"#, "880100"),
      ("test3.Scalars", #" {"aString" : "\u00e9\ud83d\ude00\/" } "#, "4a07c3a9f09f98802f"),
      ("test3.Scalars", #"{"aStrin\u0067":"x"}"#, "4a0178"),
      ("test3.Lists", #"{"int32s":[],"strings":[]}"#, ""),
      ("test3.Lists", #"{"int32s":[1,2],"unpacked":[3]}"#, "2a0201028801 03"),
      ("test3.Maps", #"{"numbers":{"2":1,"-1":2}}"#, "120d08ffffffffffffffffff011002120408021001"),
      ("test3.Maps", #"{"flags":{"true":"","false":""}}"#, "1a04080012001a0408011200"),
      ("test3.Choice", #"{"nothing":null}"#, "3000"),
      ("test3.Choice", #"{"anyValue":null}"#, "2a020800"),
      ("test3.Choice", #"{"text":null,"number":0}"#, "1000"),
      ("test3.WellKnown", #"{"timestamp":"1970-01-01T00:00:01.5Z"}"#, "1208 08011080cab5ee01"),
      ("test3.WellKnown", #"{"timestamp":"1970-01-01T01:00:00+01:00"}"#, "1200"),
      ("test3.WellKnown", #"{"duration":"-1.5s"}"#, "1a16 08ffffffffffffffffff01 1080b6ca91feffffffff01"),
      ("test3.WellKnown", #"{"mask":"a,bC.dE"}"#, "220c 0a0161 0a07625f632e645f65"),
      ("test3.WellKnown", #"{"value":[1,"a",null,true,{}]}"#, nil),
      ("test3.WellKnown", #"{"wrappedBool":false,"wrappedInt64":"5","wrappedBytes":null}"#, "4a0052020805"),
      ("test3.WellKnown", #"{"empty":{}}"#, "4200"),
      (
        "test3.WellKnown", #"{"any":{"weight":1,"@type":"a/test3.Node"}}"#,
        "0a12 0a0c612f74657374332e4e6f6465 12022001"
      ),
      ("test3.WellKnown", #"{"any":{"@type":"a/google.protobuf.Duration","value":"1s"}}"#, nil),
      (
        "test3.WellKnown", #"{"any":{"@type":"a/google.protobuf.Any","value":{"@type":"b/test3.Node"}}}"#, nil
      ),
      ("test3.WellKnown", #"{"any":{}}"#, "0a00"),
      ("test3.WellKnown", #"{"null":null,"values":[null]}"#, "7202 0800"),
      ("test2.Old", #"{"[test2.ext_number]":5,"number":1}"#, "0801a00605"),
      ("test2.Old", #"{"inner":{"label":"a"},"items":[{"id":1}]}"#, "3b0a01613c43080144"),
      ("test2.Set", #"{"[test2.SetItem.item]":{"label":"a"}}"#, "0b10d2091a030a01610c"),
      (
        "test23.Modern", #"{"delimited":{"packed":[1],"required":0},"explicit":0,"implicit":0,"required":0}"#,
        "10001800 331800220101 34"
      ),
      ("google.protobuf.Timestamp", #""2024-02-29T12:00:00.000000001Z""#, nil),
      ("google.protobuf.Int64Value", "7", "0807"),
    ] as [(String, String, String?)])
  func reads(_ typeName: String, _ text: String, _ expected: String?) throws {
    let bytes = try wire(typeName, text)
    if let expected { #expect(hexText(bytes) == hexText(hex(expected))) }
    #expect(try wire(typeName, json(typeName, bytes)) == bytes)
  }

  @Test(arguments: [
    ("test3.Scalars", "", MessageParseError.Reason.unexpectedEnd),
    ("test3.Scalars", "{", .unexpectedEnd),
    ("test3.Scalars", #"{"anInt32":"#, .unexpectedEnd),
    ("test3.Scalars", #"{"aString":"abc"#, .unexpectedEnd),
    ("test3.Scalars", #"{"aString":"#, .unexpectedEnd),
    ("test3.Lists", #"{"int32s": "#, .unexpectedEnd),
    ("test3.Maps", #"{"numbers":"#, .unexpectedEnd),
    ("test3.Maps", "{\"numbers\":\0", .wrongType(expected: "an object")),
    ("test3.Node", #"{"child":"#, .unexpectedEnd),
    ("test3.Node", "\0", .wrongType(expected: "an object (test3.Node)")),
    ("test3.Scalars", #"{"anInt32":1,}"#, .syntax(expected: "a key")),
    ("test3.Scalars", #"{"anInt32" 1}"#, .syntax(expected: "\":\"")),
    ("test3.Scalars", #"{"anInt32":1 "aBool":true}"#, .syntax(expected: "\",\" or \"}\"")),
    ("test3.Lists", #"{"int32s":[1,]}"#, .syntax(expected: "a value")),
    ("test3.Lists", #"{"int32s":[1 2]}"#, .syntax(expected: "\",\" or \"]\"")),
    ("test3.Scalars", #"{} {}"#, .trailingData),
    ("test3.Scalars", #"{"anInt32":01}"#, .invalidNumber),
    ("test3.Scalars", #"{"anInt32":1.}"#, .invalidNumber),
    ("test3.Scalars", #"{"anInt32":0x1}"#, .invalidNumber),
    ("test3.Scalars", #"{"anInt32":1.5}"#, .wrongType(expected: "a whole number (int32)")),
    ("test3.Scalars", #"{"aUint64":"10.5"}"#, .wrongType(expected: "a whole number (uint64)")),
    ("test3.Scalars", #"{"anInt32":15e-1}"#, .wrongType(expected: "a whole number (int32)")),
    ("test3.Maps", #"{"numbers":{"1":0.5}}"#, .wrongType(expected: "a whole number (int64)")),
    ("test3.Scalars", #"{"anInt32":2147483648}"#, .outOfRange(type: "int32")),
    ("test3.Scalars", #"{"anInt32":1e99999999999999999999}"#, .outOfRange(type: "int32")),
    ("test3.Scalars", #"{"aUint32":-1}"#, .outOfRange(type: "uint32")),
    ("test3.Scalars", #"{"aUint64":18446744073709551616}"#, .outOfRange(type: "uint64")),
    ("test3.Scalars", #"{"anInt64":-9223372036854775809}"#, .outOfRange(type: "int64")),
    ("test3.Scalars", #"{"aDouble":1e400}"#, .outOfRange(type: "double")),
    ("test3.Scalars", #"{"aFloat":1e39}"#, .outOfRange(type: "float")),
    ("test3.Scalars", #"{"anInt32":" 1"}"#, .wrongType(expected: "a number (int32)")),
    ("test3.Scalars", #"{"anInt32":true}"#, .wrongType(expected: "a number (int32)")),
    ("test3.Scalars", #"{"anInt32":""}"#, .wrongType(expected: "a number (int32)")),
    ("test3.Scalars", #"{"aBool":"true"}"#, .wrongType(expected: "true or false")),
    ("test3.Scalars", #"{"aBool":truely}"#, .wrongType(expected: "true or false")),
    ("test3.Scalars", #"{"aString":1}"#, .wrongType(expected: "a string")),
    ("test3.Scalars", #"{"someBytes":"!"}"#, .invalidBase64(encoded: "IQ==")),
    ("test3.Scalars", #"{"aDouble":"infinity"}"#, .wrongType(expected: "a number (double)")),
    ("test3.Scalars", #"{"aDouble":NaN}"#, .wrongType(expected: "a number (double)")),
    ("test3.Scalars", "{\"aString\":\"a\nb\"}", .controlCharacter),
    ("test3.Scalars", #"{"aString":"\x"}"#, .invalidEscape),
    ("test3.Scalars", #"{"aString":"\u12"}"#, .invalidEscape),
    ("test3.Scalars", #"{"aString":"\ud800"}"#, .loneSurrogate),
    ("test3.Scalars", #"{"aString":"\udc00"}"#, .loneSurrogate),
    ("test3.Scalars", #"{"aString":"\ud800\u0041"}"#, .loneSurrogate),
    ("test3.Scalars", #"{"anInt32":1,"anInt32":2}"#, .duplicateKey("anInt32")),
    (
      "test3.Scalars", #"{"anInt32":1,"an_int32":2}"#,
      .syntax(expected: "one of \"anInt32\" and \"an_int32\", which are the same field")
    ),
    (
      "test3.Scalars", #"{"aBool":true,"an_int32":1,"aString":"","anInt32":2}"#,
      .syntax(expected: "one of \"an_int32\" and \"anInt32\", which are the same field")
    ),
    ("test3.Maps", #"{"numbers":{"1":1,"1":2}}"#, .duplicateKey("1")),
    ("test3.Maps", #"{"numbers":{"1":1,"2":2,"3":3,"2":4}}"#, .duplicateKey("2")),
    ("test3.Maps", #"{"numbers":{"a":1}}"#, .wrongType(expected: "a number (int32)")),
    ("test3.Maps", #"{"flags":{"1":""}}"#, .wrongType(expected: "\"true\" or \"false\" as key")),
    ("test3.Maps", #"{"texts":{"a":null}}"#, .nullElement),
    ("test3.Maps", #"{"texts":[]}"#, .wrongType(expected: "an object")),
    ("test3.Lists", #"{"int32s":[null]}"#, .nullElement),
    ("test3.Lists", #"{"nodes":[null]}"#, .nullElement),
    ("test3.Lists", #"{"int32s":1}"#, .wrongType(expected: "a list")),
    (
      "test3.Choice", #"{"number":1,"text":"a"}"#,
      .oneofConflict(oneof: "choice", first: "number", second: "text")
    ),
    (
      "test3.Scalars", #"{"aColour":"RED"}"#,
      .unknownField(name: "aColour", type: "test3.Scalars", nearest: ["aColor"])
    ),
    (
      "test3.Scalars", #"{"aColor":"RAD"}"#,
      .unknownEnumValue(
        value: "\"RAD\"", type: "test3.Color", nearest: ["RED"],
        all: ["COLOR_UNSPECIFIED", "RED", "GREEN", "BLUE"])
    ),
    (
      "test2.Old", #"{"level":9}"#,
      .unknownEnumValue(value: "9", type: "test2.Level", nearest: [], all: ["LOW", "HIGH", "NEGATIVE"])
    ),
    ("test3.WellKnown", #"{"timestamp":"2024-02-30T00:00:00Z"}"#, .invalidTimestamp),
    ("test3.WellKnown", #"{"timestamp":"2024-02-01t00:00:00Z"}"#, .invalidTimestamp),
    ("test3.WellKnown", #"{"timestamp":"2024-02-01T00:00:00"}"#, .invalidTimestamp),
    ("test3.WellKnown", #"{"timestamp":"0001-01-01T00:00:00+01:00"}"#, .invalidTimestamp),
    ("test3.WellKnown", #"{"timestamp":"2024-02-01T00:00:00.0000000001Z"}"#, .invalidTimestamp),
    ("test3.WellKnown", #"{"duration":"1"}"#, .invalidDuration),
    ("test3.WellKnown", #"{"duration":"315576000001s"}"#, .invalidDuration),
    ("test3.WellKnown", #"{"duration":".5s"}"#, .invalidDuration),
    ("test3.WellKnown", #"{"mask":"a_b"}"#, .invalidFieldMask),
    ("test3.WellKnown", #"{"any":{"weight":1}}"#, .missingAnyType),
    ("test3.WellKnown", #"{"any":{"@type":"a/no.Such"}}"#, .unknownAnyType("no.Such", nearest: [])),
    ("test3.WellKnown", #"{"value":nul}"#, .syntax(expected: "a value")),
    ("test3.Node", #"[]"#, .wrongType(expected: "an object (test3.Node)")),
  ])
  func rejects(_ typeName: String, _ text: String, _ expected: MessageParseError.Reason) {
    #expect(jsonError(typeName, text)?.reason == expected)
  }

  @Test func rejectsInvalidUTF8() throws {
    let json = Array(#"{"aString":""#.utf8) + [0xc3, 0x28] + Array(#""}"#.utf8)
    let error = #expect(throws: MessageParseError.self) { try Message(try type("test3.Scalars"), json: json) }
    #expect(error?.reason == .invalidUTF8)
  }

  @Test func limitsDepth() {
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"child":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
    }
    #expect(jsonError("test3.Node", nested(100)) == nil)
    #expect(jsonError("test3.Node", nested(101))?.reason == .tooDeep)
    let lists = String(repeating: "[", count: 100_000)
    #expect(jsonError("google.protobuf.Value", lists)?.reason == .tooDeep)
  }

  @Test func errorsNamePlaceAndPath() {
    let error = jsonError("test3.Node", "{\n  \"children\": [{},\n    {\"weight\": \"ä\", \"child\": 1}]}")
    #expect(error?.position.line == 3)
    #expect(error?.position.column == 16)
    #expect(error?.fieldPath == "children[1].weight")
    #expect(jsonError("test3.Maps", #"{"nodes":{"5":{"weight":true}}}"#)?.fieldPath == #"nodes["5"].weight"#)
  }

  @Test(arguments: [
    (
      "test3.Scalars", #"{"someBytes":"foo!"}"#, "someBytes: not base64 (line 1, column 14)",
      #""Zm9vIQ==" is the base64 of this text"#
    ),
    (
      "test3.WellKnown", #"{"duration":60}"#,
      #"duration: expected a duration such as "1.5s" (line 1, column 13)"#, nil
    ),
    (
      "test3.WellKnown", #"{"mask":["a"]}"#,
      #"mask: expected a field mask such as "user.displayName,photo", a string with commas (line 1, column 9)"#,
      nil
    ),
    (
      "test3.WellKnown", #"{"any":{"@type":"x/Node"}}"#,
      "any.@type: the schema does not define the type Node (line 1, column 17)", "did you mean test3.Node?"
    ),
    (
      "test3.Choice", #"{"number":null,"text":"a","node":{}}"#,
      #"node: "text" and "node" are both set, but only one field of the oneof "choice" can be (line 1, column 27)"#,
      nil
    ),
    (
      "test3.Scalars", #"{"aColor":"PURPLE"}"#,
      #"aColor: test3.Color has no value "PURPLE" (line 1, column 11)"#,
      "test3.Color has COLOR_UNSPECIFIED, RED, GREEN, BLUE"
    ),
  ])
  func errorsShowWhatToWrite(_ typeName: String, _ text: String, _ expected: String, _ hint: String?) {
    let error = jsonError(typeName, text)
    #expect(error?.description == expected)
    #expect(error?.hint == hint)
  }

  @Test func errorsSpellNamesAsTheText() {
    #expect(jsonError("test3.Scalars", #"{"anInt32":"x"}"#)?.fieldPath == "anInt32")
    #expect(jsonError("test3.Scalars", #"{"an_int32":"x"}"#)?.fieldPath == "an_int32")
    #expect(jsonError("test3.Scalars", #"{"anInt32":"x"}"#)?.fieldPath == "anInt32")
  }

  @Test func suggestsEnumValuesByTheirOwnPart() {
    let names = ["COLOR_RED", "COLOR_GREEN", "COLOR_DARK_BLUE"]
    let prefix = EditDistance.commonPrefix(of: names, separator: UInt8(ascii: "_"))
    #expect(prefix == 6)
    #expect(EditDistance.commonPrefix(of: ["A", "B"], separator: 95) == 0)
    #expect(EditDistance.commonPrefix(of: [], separator: 95) == 0)
    func found(_ name: String) -> [String] {
      EditDistance.suggestions(for: name, among: names, separator: "_", prefix: prefix)
    }
    #expect(found("GREN") == ["COLOR_GREEN"])
    #expect(found("blue") == ["COLOR_DARK_BLUE"])
    #expect(found("SOMETHING").isEmpty)
  }

  @Test func namesEnumValuesBySuffix() {
    let names = ["ORDER_STATUS_UNKNOWN", "ORDER_STATUS_PAID", "ORDER_STATUS_UNPAID"]
    #expect(EditDistance.endings(with: "Paid", among: names, separator: "_") == ["ORDER_STATUS_PAID"])
    #expect(EditDistance.endings(with: "", among: names, separator: "_").isEmpty)
    #expect(EditDistance.endings(with: "_", among: names, separator: "_").isEmpty)
  }

  @Test func ignoresUnknownFieldsIfAllowed() throws {
    let options = JSONDecodingOptions(allowUnknownFields: true)
    let text = #"{"no":[1,{"x":null}],"weight":1,"child":{"what":"é"}}"#
    #expect(hexText(try wire("test3.Node", text, options)) == "12002001")
    #expect(try wire("test3.Scalars", #"{"aColor":"NONE"}"#, options).isEmpty)
    #expect(try wire("test3.Lists", #"{"colors":["NONE"]}"#, options).isEmpty)
    #expect(try wire("test3.Maps", #"{"colors":{"1":"NONE"}}"#, options).isEmpty)
  }
}
