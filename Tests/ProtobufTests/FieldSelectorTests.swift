import Testing

@testable import Protobuf

@Suite struct FieldSelectorTests {
  private func select(_ path: String, _ typeName: String, _ json: String) throws -> [String?] {
    let selector = try FieldSelector(path)
    let type = try type(typeName)
    _ = try selector.kind(in: type)
    return try selector.matches(in: Message(type, json: Array(json.utf8))).map { match in
      try match.map { String(decoding: try $0.json(JSONEncodingOptions()), as: UTF8.self) }
    }
  }

  @Test(
    arguments: [
      ("children[].weight", "test3.Node", #"{"children":[{"weight":1},{},{"weight":3}]}"#, ["1", "0", "3"]),
      ("children[-1].weight", "test3.Node", #"{"children":[{"weight":1},{"weight":3}]}"#, ["3"]),
      ("children[-3].weight", "test3.Node", #"{"children":[{"weight":1},{"weight":3}]}"#, [nil]),
      ("children[-9223372036854775808]", "test3.Node", #"{"children":[{}]}"#, [nil]),
      ("children[].child.weight", "test3.Node", #"{"children":[{},{"child":{"weight":2}}]}"#, [nil, "2"]),
      ("children", "test3.Node", "{}", ["[]"]), ("children[]", "test3.Node", "{}", []),
      ("texts.a", "test3.Maps", #"{"texts":{"a":"x"}}"#, [#""x""#]), ("texts", "test3.Maps", "{}", ["{}"]),
      ("texts[]", "test3.Maps", #"{"texts":{"b":"2","a":"1"}}"#, [#""1""#, #""2""#]),
      ("any.weight", "test3.WellKnown", #"{"any":{"@type":"x/test3.Node","weight":4}}"#, ["4"]),
      ("any.other", "test3.WellKnown", #"{"any":{"@type":"x/test3.Node"}}"#, [nil]),
      (
        "any.value", "test3.WellKnown", #"{"any":{"@type":"x/google.protobuf.Duration","value":"1s"}}"#,
        [#""1s""#]
      ),
      (
        "any.any.weight", "test3.WellKnown",
        #"{"any":{"@type":"x/test3.WellKnown","any":{"@type":"x/test3.Node","weight":5}}}"#, ["5"]
      ),
      ("any.weight", "test3.WellKnown", "{}", [nil]),
      ("value.a[1].b", "test3.WellKnown", #"{"value":{"a":[0,{"b":true}]}}"#, ["true"]),
      ("value[0]", "test3.WellKnown", #"{"value":{"a":1}}"#, [nil]),
      ("value.a", "test3.WellKnown", #"{"value":[1]}"#, [nil]),
      ("value[]", "test3.WellKnown", #"{"value":[1,"b"]}"#, ["1", #""b""#]),
      ("value.a", "test3.WellKnown", #"{"value":1}"#, [nil]),
    ] as [(String, String, String, [String?])])
  func selects(_ path: String, _ typeName: String, _ json: String, _ expected: [String?]) throws {
    #expect(try select(path, typeName, json) == expected)
  }

  @Test(arguments: [
    ("children.weight", "test3.Node"), ("weight[]", "test3.Node"), ("weight.a", "test3.Node"),
    ("childrem", "test3.Node"),
    ("texts[1]", "test3.Maps"), ("children[x]", "test3.Node"), ("children[", "test3.Node"),
    ("", "test3.Node"), ("[]", "test3.Node"),
    ("child" + String(repeating: ".child", count: 100), "test3.Node"),
  ])
  func rejects(_ path: String, _ typeName: String) {
    #expect(throws: FieldPathError.self) { _ = try FieldSelector(path).kind(in: try type(typeName)) }
  }

  @Test(arguments: [
    ("children", "test3.Node", "test3.Node", "children", false),
    ("children[].weight", "test3.Node", "test3.Node", "weight", false),
    ("children[0]", "test3.Node", "test3.Node", "children", true),
    ("texts.a", "test3.Maps", "test3.Maps.TextsEntry", "value", false),
    ("nodes[1].name", "test3.Maps", "test3.Node", "name", false),
    ("structure.a", "test3.WellKnown", "google.protobuf.Struct.FieldsEntry", "value", false),
    ("list[0]", "test3.WellKnown", "google.protobuf.ListValue", "values", true),
  ])
  func leadsToAField(
    _ path: String, _ typeName: String, _ owner: String, _ field: String, _ isElement: Bool
  ) throws {
    let leaf = try #require(try FieldSelector(path).leaf(in: type(typeName)))
    #expect(leaf.type.name == owner && leaf.field.name == field && leaf.isElement == isElement)
  }

  @Test func contentOfAnyAndValueHasNoField() throws {
    #expect(try FieldSelector("any.weight").leaf(in: type("test3.WellKnown")) == nil)
    #expect(try FieldSelector("structure.a.b").leaf(in: type("test3.WellKnown")) == nil)
  }

  @Test(arguments: [
    ("weight", "{}", false), ("weight", #"{"weight":1}"#, true), ("children", "{}", false),
    ("children", #"{"children":[{}]}"#, true), ("children[0].weight", #"{"children":[{}]}"#, false),
    ("children[0]", #"{"children":[{}]}"#, true), ("child", #"{"child":{}}"#, true),
  ])
  func defaultsAreNotSet(_ path: String, _ json: String, _ isSet: Bool) throws {
    let message = try Message(type("test3.Node"), json: Array(json.utf8))
    #expect(try FieldSelector(path).matches(in: message).map { $0?.isSet } == [isSet])
  }

  @Test func typesOfAnyAreSuggested() throws {
    let selector = try FieldSelector("any.x")
    let message = try Message(
      type("test3.WellKnown"), serialized: hex("0a08") + hex("0a06") + Array("x/Node".utf8))
    guard try type("test3.WellKnown").field(at: FieldPath("any")).number == 1 else { return }
    let error = #expect(throws: MessageParseError.self) { try selector.matches(in: message) }
    #expect(error?.reason == .unknownAnyType("Node", nearest: ["test3.Node"]))
  }
}
