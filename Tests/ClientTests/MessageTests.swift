import Testing

@testable import RPCurlClient

/// Literals and subscripts of dynamic messages.
struct MessageTests {
  private func message() throws -> Message {
    let name = "Ada"
    let none: String? = nil
    return try Message(
      try TestSchema.type(),
      [
        "text": name, "number": 5, "ratio": 1.5, "data": FieldValue.bytes([1, 255]), "flag": true,
        "color": "GREEN", "child": ["text": "nested"], "list": [1, 2, 3], "labels": ["a": "b"],
        "items": [FieldValue(["number": 1, "text": none]), FieldValue(["number": 2])],
      ])
  }

  @Test func literalSetsFieldsOfAllTypes() throws {
    let message = try message()
    #expect(try message["text"] as String == "Ada")
    #expect(try message["number"] as Int == 5)
    #expect(try message["number"] as UInt64? == 5)
    #expect(try message["ratio"] as Double == 1.5)
    #expect(try message["data"] as [UInt8] == [1, 255])
    #expect(try message["flag"] as Bool)
    #expect(try message["color"] as String == "GREEN")
    #expect(try message["color"] as Int32 == 1)
    #expect(try message["child.text"] as String == "nested")
    #expect(try message["list"] as [Int] == [1, 2, 3])
    #expect(try message["list[1]"] as Int == 2)
    #expect(try message["items[1].number"] as Int == 2)
    #expect(try message["labels[\"a\"]"] as String? == "b")
    #expect(try (message["items"] as [Message]).count == 2)
    #expect(try (message["child"] as Message)["text"] as String == "nested")
  }

  @Test func missingValuesAreDefaultsOrNil() throws {
    let message = Message(try TestSchema.type())
    #expect(try message["text"] as String == "")
    #expect(try message["number"] as Int == 0)
    #expect(try message["color"] as String == "RED")
    #expect(try message["list"] as [Int] == [])
    #expect(try message["data"] as [UInt8] == [])
    #expect(try message["child"] as Message? == nil)
    #expect(try (message["child"] as Message).isEmpty)
    #expect(try message["child.text"] as String? == nil)
    #expect(try message["labels[\"a\"]"] as String? == nil)
  }

  @Test func wrongPathsAndTypesAreErrors() throws {
    let message = try message()
    #expect(throws: FieldPathError.self) { try message["none"] as String }
    #expect(throws: FieldPathError.self) { try message["text"] as Int }
    #expect(throws: FieldPathError.self) { try message["number"] as String? }
    #expect(throws: FieldPathError.self) { try message["number["] as Int }
    #expect(throws: FieldPathError.self) { try message["list"] as Int }
    #expect(throws: FieldPathError.self) { try message["text"] as [Int] }
    #expect(throws: FieldPathError.self) { try message["text.more"] as Int }
    #expect(throws: FieldPathError.self) { try message["color"] as Bool }
    #expect(throws: FieldPathError.self) { try message["child"] as [UInt8] }
  }

  @Test func errorOfATypeNamesThatOfTheField() throws {
    let message = try message()
    func text<Result: FieldResult>(_ path: String, _ type: Result.Type) -> String? {
      (#expect(throws: FieldPathError.self) { try message[path] as Result })?.description
    }
    #expect(
      text("text", Int.self) == "the value of text (string) cannot be read as an integer that fits Int")
    #expect(text("color", Bool.self) == "the value of color (test.v1.Color) cannot be read as a bool")
    #expect(
      text("list", [String].self)
        == "the value of list[] (int32) cannot be read as a string or an enum")
    #expect(
      text("child.child", String.self)
        == "the value of child.child (test.v1.Item) cannot be read as a string or an enum")
    #expect(
      text("ratio", Int.self) == "the value of ratio (double) cannot be read as an integer that fits Int")
  }

  @Test func numbersOutOfRangeAreErrors() throws {
    let message = try Message(try TestSchema.type(), ["number": 3_000_000_000])
    #expect(try message["number"] as UInt32 == 3_000_000_000)
    #expect(throws: FieldPathError.self) { try message["number"] as Int32 }
  }

  @Test func valuesAreJSON() throws {
    let value: FieldValue = [
      "a\"": [FieldValue.null, FieldValue(true)], "b": -1.5, "c": Double.infinity,
      "d": FieldValue.bytes([0, 255]), "e": FieldValue.unsigned(.max),
    ]
    #expect(
      String(decoding: try value.json(), as: UTF8.self)
        == #"{"a\"":[null,true],"b":-1.5,"c":"Infinity","d":"AP8=","e":18446744073709551615}"#)
  }

  @Test func rejectsDeepNesting() throws {
    var value = FieldValue.list([])
    for _ in 0..<200 { value = .list([value]) }
    let error = #expect(throws: RPCError.self) { try Message(try TestSchema.type(), value) }
    #expect(error?.message.hasPrefix("the message does not fit test.v1.Item: it is nested") == true)
  }
}
