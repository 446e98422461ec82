import Testing

@testable import RPCurlProtobuf

@Suite struct JSONEncodingTests {
  @Test(
    arguments: [
      ("test3.Scalars", "", "{}"),
      ("test3.Scalars", "18ffffffffffffffffff01", #"{"anInt64":"-1"}"#),
      ("test3.Scalars", "20ffffffffffffffffff01", #"{"aUint64":"18446744073709551615"}"#),
      ("test3.Scalars", "2809", #"{"anInt32":9}"#),
      ("test3.Scalars", "28 80808080f8ffffffff01", #"{"anInt32":-2147483648}"#),
      ("test3.Scalars", "4001", #"{"aBool":true}"#),
      ("test3.Scalars", "4a04 225c0a09", #"{"aString":"\"\\\n\t"}"#),
      ("test3.Scalars", "4a07 7f c285 e282ac 61", #"{"aString":"\u007f\u0085€a"}"#),
      ("test3.Scalars", "5203 fbff00", #"{"someBytes":"+/8A"}"#),
      ("test3.Scalars", "6001", #"{"aColor":"RED"}"#),
      ("test3.Scalars", "6009", #"{"aColor":9}"#),
      ("test3.Scalars", "7801", #"{"aSint32":-1}"#),
      ("test3.Scalars", "880100", #"{"maybe":0}"#),
      ("test3.Scalars", "09 000000000000f03f", #"{"aDouble":1}"#),
      ("test3.Scalars", "09 9a9999999999b93f", #"{"aDouble":0.1}"#),
      ("test3.Scalars", "09 0000000000000080", #"{"aDouble":-0.0}"#),
      ("test3.Scalars", "09 000000000000f87f", #"{"aDouble":"NaN"}"#),
      ("test3.Scalars", "09 000000000000f0ff", #"{"aDouble":"-Infinity"}"#),
      ("test3.Scalars", "15 cdcccc3d", #"{"aFloat":0.1}"#),
      ("test3.Scalars", "15 0000807f", #"{"aFloat":"Infinity"}"#),
      ("test3.Lists", "0a10 000000000000f03f000000000000f0bf", #"{"doubles":[1,-1]}"#),
      ("test3.Lists", "9201009201030a0161", #"{"nodes":[{},{"name":"a"}]}"#),
      ("test3.Maps", "1a041201ff0a 08", nil),
      ("test3.Maps", "1a0508011201ff", #"{"flags":{"true":"/w=="}}"#),
      (
        "test3.Maps", "120408021003 1204080110040a060a016112017a",
        #"{"texts":{"a":"z"},"numbers":{"1":"4","2":"3"}}"#
      ),
      ("test3.Choice", "1000", #"{"number":0}"#),
      ("test3.Choice", "3000", #"{"nothing":null}"#),
      ("test3.Choice", "2a020800", #"{"anyValue":null}"#),
      ("test2.Old", "a00605aa060161aa060162", #"{"[test2.ext_number]":5,"[test2.ext_texts]":["a","b"]}"#),
      ("test2.Old", "b206020805", #"{"[test2.Old.nested_ext]":{"number":5}}"#),
      ("test2.Old", "1807 3b 0a0161 3c", #"{"inner":{"label":"a"}}"#),
      ("test2.Set", "0b10d2091a030a01610c", #"{"[test2.SetItem.item]":{"label":"a"}}"#),
      ("test3.WellKnown", "2203 0a0161", #"{"mask":"a"}"#),
      ("test3.WellKnown", "2202 0a00", nil),
      ("test3.WellKnown", "2203 0a0141", nil),
      ("test3.Named", "0801 1002", #"{"snakeCaseName":1,"@renamed":2}"#),
    ] as [(String, String, String?)])
  func writes(_ typeName: String, _ bytes: String, _ expected: String?) throws {
    guard let expected else {
      #expect(throws: DecodeError.self) { try json(typeName, hex(bytes)) }
      return
    }
    #expect(try json(typeName, hex(bytes)) == expected)
  }

  @Test func writesWithOptions() throws {
    let bytes = try wire("test3.Named", #"{"snakeCaseName":1}"#)
    #expect(
      try json("test3.Named", bytes, JSONEncodingOptions(protoNames: true)) == #"{"snake_case_name":1}"#)
    #expect(
      try json("test3.Scalars", hex("6001"), JSONEncodingOptions(enumNumbers: true)) == #"{"aColor":1}"#)
    #expect(
      try json("test3.Node", hex("2001"), JSONEncodingOptions(emitDefaults: true))
        == #"{"name":"","children":[],"weight":1}"#)
    #expect(
      try json("test3.Choice", hex("1000"), JSONEncodingOptions(emitDefaults: true))
        == #"{"before":"","number":0,"after":""}"#)
    #expect(
      try json("test3.Maps", [], JSONEncodingOptions(emitDefaults: true))
        == #"{"texts":{},"numbers":{},"flags":{},"colors":{},"nodes":{},"fixed":{},"signed":{}}"#)
  }

  @Test func writesPretty() throws {
    let bytes = try wire(
      "test3.WellKnown",
      #"{"structure":{"a":[1,{}],"b":{}},"list":[],"anys":[{"@type":"x/test3.Node","weight":1}]}"#)
    #expect(
      try json("test3.WellKnown", bytes, JSONEncodingOptions(pretty: true)) == """
        {
          "structure": {
            "a": [
              1,
              {}
            ],
            "b": {}
          },
          "list": [],
          "anys": [
            {
              "@type": "x/test3.Node",
              "weight": 1
            }
          ]
        }
        """)
  }

  @Test func rejectsTimesOutOfRange() throws {
    for bytes in ["120508ffffffff7f10", "1206 10ffffffff0f", "1a0f 0801 10ffffffffffffffffff01"] {
      #expect(throws: DecodeError.self) { try json("test3.WellKnown", hex(bytes)) }
    }
  }

  @Test func laterValueMayReplaceOneWithoutJSONForm() throws {
    // A number that is NaN, then null; a time that is out of range, then its parts again.
    #expect(try json("google.protobuf.Value", hex("11 000000000000f87f 0800")) == "null")
    #expect(
      try json("test3.WellKnown", hex("1207 08ffffffffff7f 1202 0801"))
        == #"{"timestamp":"1970-01-01T00:00:01Z"}"#)
    #expect(throws: DecodeError.self) { try json("google.protobuf.Value", hex("0800 11 000000000000f87f")) }
  }

  @Test func showsAnyOfUnknownTypeInBase64() throws {
    let text = #"{"any":{"@type":"type.example/no.Such","@value":"CAE="}}"#
    #expect(try json("test3.WellKnown", wire("test3.WellKnown", text)) == text)
  }

  /// More entries than are collected before duplicate keys are searched.
  @Test func sortsManyMapEntriesAndKeepsLastOfKey() throws {
    func entries(_ keys: some Sequence<Int>, value: UInt8) -> [UInt8] {
      var out = OutputBuffer()
      for key in keys {
        out.append(0x12)
        let start = out.openLengthDelimited()
        out.append(0x08)
        out.appendVarint(UInt64(key))
        out.append(0x10)
        out.append(value)
        out.closeLengthDelimited(start)
      }
      return out.copyBytes()
    }
    for count in [1023, 1024, 1025, 2048, 3000] {
      let members = (0..<count).map { #""\#($0)":"1""# }.joined(separator: ",")
      #expect(
        try json("test3.Maps", entries((0..<count).reversed(), value: 1)) == #"{"numbers":{\#(members)}}"#)
    }
    let twice = entries((0..<1500).reversed(), value: 2) + entries((0..<1500).reversed(), value: 1)
    let members = (0..<1500).map { #""\#($0)":"1""# }.joined(separator: ",")
    #expect(try json("test3.Maps", twice) == #"{"numbers":{\#(members)}}"#)
    #expect(
      try json("test3.Maps", Array(repeating: [0x12, 0], count: 5000).flatMap { $0 })
        == #"{"numbers":{"0":"0"}}"#)
  }

  @Test(arguments: [
    (BytesForm.base64, "6162", #""YWI=""#), (.hex, "00ff0a", #""00ff0a""#), (.text, "6122c3bc", #""a\"ü""#),
    (.text, "61ff", "\"a\u{fffd}\""), (.escape, "615c0aff27", #""a\\\\\\n\\377\\'""#),
  ])
  func writesFormsOfBytes(form: BytesForm, bytes: String, text: String) throws {
    var options = JSONEncodingOptions()
    options.bytes = form
    let count = bytes.utf8.count / 2
    let message = hex("520\(count)" + bytes)
    #expect(try json("test3.Scalars", message, options) == "{\"someBytes\":\(text)}")
  }

  @Test func writesInt64AsNumbers() throws {
    let options = JSONEncodingOptions(int64s: .numbers)
    func written(_ typeName: String, _ text: String) throws -> String {
      try json(typeName, wire(typeName, text), options)
    }
    #expect(
      try written("test3.Scalars", #"{"anInt64":"-5","aUint64":"18446744073709551615"}"#).contains(
        "18446744073709551615}"))
    #expect(try written("google.protobuf.Int64Value", #""7""#) == "7")
    #expect(try written("test3.Maps", #"{"numbers":{"1":1}}"#) == #"{"numbers":{"1":1}}"#)
  }
}
