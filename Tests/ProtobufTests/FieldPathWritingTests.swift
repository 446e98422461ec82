import Testing

@testable import RPCurlProtobuf

/// Values that are written at paths, as by `--set`.
@Suite struct FieldPathWritingTests {
  private func set(_ typeName: String, _ json: String, _ edits: [(String, String)]) throws -> String {
    var message = try Message(type(typeName), json: Array(json.utf8))
    for (path, text) in edits { try message.setText(text, at: FieldPath(path)) }
    return String(decoding: try message.json(), as: UTF8.self)
  }

  @Test(
    arguments: [
      ("test3.Node", "{}", [(".name", "a")], #"{"name":"a"}"#),
      ("test3.Node", "{}", [("children[].name", "a")], #"{"children":[{"name":"a"}]}"#),
      (
        "test3.Node", "{}",
        [("children[].name", "a"), ("children[-1].weight", "2"), ("children[].name", "b")],
        #"{"children":[{"name":"a","weight":2},{"name":"b"}]}"#
      ),
      (
        "test3.Node", "{}", [("children[].children[].name", "a")],
        #"{"children":[{"children":[{"name":"a"}]}]}"#
      ),
      (
        "test3.Node", #"{"children":[{}]}"#, [("children[]", #"{"weight":1}"#)],
        #"{"children":[{},{"weight":1}]}"#
      ),
      (
        "test3.Node", #"{"children":[{},{}]}"#, [("children[-2].weight", "1")],
        #"{"children":[{"weight":1},{}]}"#
      ),
      ("test3.Node", "{}", [("child.children", "[{}]")], #"{"child":{"children":[{}]}}"#),
      ("test3.Node", #"{"name":"a"}"#, [(".", #"{"weight":1}"#)], #"{"weight":1}"#),
      (
        "test3.Maps", "{}", [("texts.env", "x"), (#"texts["app.io/a"]"#, "y")],
        #"{"texts":{"app.io/a":"y","env":"x"}}"#
      ),
      (
        "test3.Maps", "{}", [("numbers[-1]", "2"), ("nodes[5].weight", "3")],
        #"{"numbers":{"-1":"2"},"nodes":{"5":{"weight":3}}}"#
      ),
      (
        "test3.Maps", #"{"nodes":{"5":{}}}"#, [("nodes[5].children[].name", "a")],
        #"{"nodes":{"5":{"children":[{"name":"a"}]}}}"#
      ),
      (
        "test2.Old", "{}", [("[test2.ext_number]", "5"), ("[test2.ext_texts][]", "a")],
        #"{"[test2.ext_number]":5,"[test2.ext_texts]":["a"]}"#
      ),
      (
        "test3.WellKnown", "{}", [("any[type.googleapis.com/test3.Node].weight", "4")],
        #"{"any":{"@type":"type.googleapis.com/test3.Node","weight":4}}"#
      ),
      (
        "test3.WellKnown", #"{"any":{"@type":"x/test3.Node","name":"n"}}"#,
        [("any[y/test3.Node].weight", "4")],
        #"{"any":{"@type":"x/test3.Node","name":"n","weight":4}}"#
      ),
      (
        "test3.WellKnown", #"{"any":{"@type":"x/test3.Node","name":"n"}}"#,
        [("any[x/google.protobuf.Duration]", "3s")],
        #"{"any":{"@type":"x/google.protobuf.Duration","value":"3s"}}"#
      ),
      (
        "test3.WellKnown", "{}", [("structure.a.b", "1"), ("structure.c", #""x""#)],
        #"{"structure":{"a":{"b":1},"c":"x"}}"#
      ),
      (
        "test3.WellKnown", "{}", [("value[]", "1"), ("value[]", "true"), ("value[0]", "2")],
        #"{"value":[2,true]}"#
      ),
      ("test3.WellKnown", "{}", [("list[].a", "1")], #"{"list":[{"a":1}]}"#),
    ] as [(String, String, [(String, String)], String)])
  func setsText(_ typeName: String, _ json: String, _ edits: [(String, String)], _ expected: String) throws {
    #expect(try set(typeName, json, edits) == expected)
  }

  @Test(arguments: [
    ("test3.Node", "children[-1].name", "index -1 is out of range: children has 0 elements"),
    ("test3.Node", "children[0]", "index 0 is out of range: children has 0 elements"),
    (
      "test3.Node", "children.name",
      "children is a list or a map; children[0] is an element, and children[] means"
    ),
    ("test3.Node", "weight[]", "weight is neither a list nor a map"),
    ("test3.Node", "child[]", "test3.Node is neither a list nor a map"),
    ("test3.Maps", "texts[]", "texts is not a list"),
    ("test3.Maps", "texts[1]", "the keys of texts have the type string"),
    ("test3.Maps", "numbers.a", "numbers is a list or a map"),
    (
      "test3.WellKnown", "any.name",
      "google.protobuf.Any has no field name; write the type of its content, as in [type"
    ),
    ("test3.WellKnown", "any[x/test3.Nod].name", "test3.Nod"),
    ("test3.Node", "[x/test3.Node].name", "test3.Node is not google.protobuf.Any"),
  ])
  func reports(_ typeName: String, _ path: String, _ expected: String) throws {
    var message = Message(try type(typeName))
    let error = #expect(throws: FieldPathError.self) { try message.setText("1", at: FieldPath(path)) }
    #expect(error?.description.contains(expected) == true, "\(String(describing: error))")
    #expect(message.isEmpty)
  }

  @Test(arguments: [
    ("children[-1]", #"{"children":[{"weight":1}]}"#), ("children[].weight", #"{"children":[{},{}]}"#),
    ("children[]", "{}"), ("children[7]", #"{"children":[{"weight":1},{"weight":2}]}"#), (".", "{}"),
  ])
  func clears(_ path: String, _ expected: String) throws {
    var message = try Message(
      type("test3.Node"), json: Array(#"{"children":[{"weight":1},{"weight":2}]}"#.utf8))
    try message.clear(at: FieldPath(path))
    #expect(String(decoding: try message.json(), as: UTF8.self) == expected)
  }

  @Test func clearingTheContentOfAnAnyClearsTheAny() throws {
    var message = try Message(
      type("test3.WellKnown"), json: Array(#"{"any":{"@type":"x/test3.Node","weight":1}}"#.utf8))
    try message.clear(at: FieldPath("any[x/test3.Maps]"))
    #expect(
      String(decoding: try message.json(), as: UTF8.self) == #"{"any":{"@type":"x/test3.Node","weight":1}}"#)
    try message.clear(at: FieldPath("any[x/test3.Node].weight"))
    #expect(String(decoding: try message.json(), as: UTF8.self) == #"{"any":{"@type":"x/test3.Node"}}"#)
    try message.clear(at: FieldPath("any[x/test3.Node]"))
    #expect(String(decoding: try message.json(), as: UTF8.self) == #"{"any":{}}"#)
  }
}
