import Testing

@testable import Protobuf

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
      "test2.Strict", #"{"id":1,"name":"a","[test2.strict_ext]":{"id":5}}"#, ["(test2.strict_ext).name"]
    ),
    ("test23.Modern", "{}", ["required"]),
    ("test23.Modern", #"{"required":0,"delimited":{}}"#, ["delimited.required"]),
    ("test3.Scalars", "{}", []),
  ])
  func findsWhatIsMissing(_ typeName: String, _ json: String, _ expected: [String]) throws {
    #expect(try missing(typeName, json) == expected)
  }

  @Test func jsonAndTextReportIt() throws {
    let strict = try type("test2.Strict")
    let expected = ["name", "child.id", "child.name"]
    let jsonError = #expect(throws: JSONError.self) {
      try Message(strict, json: Array(#"{"id":1,"child":{}}"#.utf8))
    }
    #expect(jsonError?.reason == .missingRequired(expected))
    #expect(
      jsonError?.description
        == "the required fields name, child.id, child.name are not set (line 1, column 1)")
    var out: [UInt8] = []
    #expect(throws: JSONError.self) {
      try JSONTranscoder(strict).transcode(json: Array(#"{"id":1}"#.utf8), into: &out)
    }
    #expect(out.isEmpty)
    let textError = #expect(throws: TextError.self) { try Message(strict, text: "id: 1 child {}") }
    #expect(textError?.reason == .missingRequired(expected))
    let partial = TextDecodingOptions(allowPartial: true)
    #expect(try Message(strict, text: "id: 1", options: partial).serialized() == [8, 1])
  }

  @Test func binaryIsReadWithoutThem() throws {
    let message = try Message(type("test2.Strict"), serialized: [8, 1])
    #expect(message.missingRequiredFields() == ["name"])
    #expect(message.serialized() == [8, 1])
  }
}
