import Testing

@testable import RPCurlProtobuf

/// The values of messages at paths.
@Suite struct FieldPathReadingTests {
  private func select(_ text: String, _ typeName: String, _ json: String) throws -> [String?] {
    let path = try FieldPath(text)
    let type = try type(typeName)
    _ = try path.kind(in: type)
    return try path.matches(in: Message(type, json: Array(json.utf8))).map { match in
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
      ("value[]", "test3.WellKnown", #"{"value":1}"#, [nil]),
      ("value[].a", "test3.WellKnown", #"{"value":[{"a":1},{}]}"#, ["1", nil]),
      (".name", "test3.Node", #"{"name":"a"}"#, [#""a""#]),
      (".", "test3.Node", #"{"weight":4}"#, [#"{"weight":4}"#]),
      ("children[-1]", "test3.Node", "{}", [nil]), ("children[0].name", "test3.Node", "{}", [nil]),
      ("child.children[].name", "test3.Node", "{}", []),
      (#"texts["a"]"#, "test3.Maps", #"{"texts":{"a":"x"}}"#, [#""x""#]),
      (#"texts["a.b/c"]"#, "test3.Maps", #"{"texts":{"a.b/c":"x"}}"#, [#""x""#]),
      ("texts.b", "test3.Maps", #"{"texts":{"a":"x"}}"#, [nil]),
      ("numbers[-3]", "test3.Maps", #"{"numbers":{"-3":7}}"#, [#""7""#]),
      ("numbers[-1]", "test3.Maps", #"{"numbers":{"-3":7}}"#, [nil]),
      ("nodes[5].weight", "test3.Maps", #"{"nodes":{"5":{"weight":1}}}"#, ["1"]),
      ("nodes[].weight", "test3.Maps", #"{"nodes":{"5":{"weight":1},"-2":{}}}"#, ["0", "1"]),
      ("[test2.ext_number]", "test2.Old", #"{"[test2.ext_number]":5}"#, ["5"]),
      ("[test2.Old.nested_ext].number", "test2.Old", #"{"[test2.Old.nested_ext]":{"number":6}}"#, ["6"]),
      ("[test2.ext_texts][-1]", "test2.Old", #"{"[test2.ext_texts]":["a","b"]}"#, [#""b""#]),
      (
        "any[type.googleapis.com/test3.Node].weight", "test3.WellKnown",
        #"{"any":{"@type":"x/test3.Node","weight":4}}"#, ["4"]
      ),
      (
        "any[x/google.protobuf.Duration]", "test3.WellKnown",
        #"{"any":{"@type":"x/google.protobuf.Duration","value":"1s"}}"#, [#""1s""#]
      ),
      ("any[x/test3.Maps].texts", "test3.WellKnown", #"{"any":{"@type":"x/test3.Node"}}"#, [nil]),
      ("any[x/test3.Node].weight", "test3.WellKnown", "{}", [nil]),
      ("any.@type", "test3.WellKnown", #"{"any":{"@type":"x/test3.Node"}}"#, [#""x/test3.Node""#]),
      ("any.type_url", "test3.WellKnown", #"{"any":{"@type":"x/test3.Node"}}"#, [#""x/test3.Node""#]),
      ("structure.fields", "test3.WellKnown", #"{"structure":{"fields":1}}"#, [#"{"fields":1}"#]),
      (#"structure["fields"]"#, "test3.WellKnown", #"{"structure":{"fields":1}}"#, ["1"]),
      ("structure[]", "test3.WellKnown", #"{"structure":{"a":1,"b":[2]}}"#, ["1", "[2]"]),
      ("structure.a[-1].b", "test3.WellKnown", #"{"structure":{"a":[{"b":2}]}}"#, ["2"]),
      ("list[-1]", "test3.WellKnown", #"{"list":[1,2]}"#, ["2"]),
      ("a", "google.protobuf.Struct", #"{"a":1}"#, ["1"]),
      (#"["a"]"#, "google.protobuf.Struct", #"{"a":1}"#, ["1"]),
      ("[1]", "google.protobuf.ListValue", "[1,2]", ["2"]),
      ("[]", "google.protobuf.ListValue", "[1,2]", ["1", "2"]),
    ] as [(String, String, String, [String?])])
  func selects(_ path: String, _ typeName: String, _ json: String, _ expected: [String?]) throws {
    #expect(try select(path, typeName, json) == expected)
  }

  @Test(arguments: [
    ("children.weight", "test3.Node"), ("weight[]", "test3.Node"), ("weight.a", "test3.Node"),
    ("childrem", "test3.Node"),
    ("texts[1]", "test3.Maps"), ("numbers.a", "test3.Maps"), (#"numbers["a"]"#, "test3.Maps"),
    ("nodes[5].nme", "test3.Maps"), ("[]", "test3.Node"), ("[0]", "test3.Node"), (#"["a"]"#, "test3.Node"),
    ("children[9].nme", "test3.Node"), (#"children["a"]"#, "test3.Node"),
    ("[test2.ext_number]", "test3.Node"), ("[x/test3.Node].name", "test3.Node"),
    ("any[test3.nope].name", "test3.WellKnown"), ("any[x/test3.Nod].name", "test3.WellKnown"),
    ("any[x/test3.Node].nme", "test3.WellKnown"),
  ])
  func rejects(_ text: String, _ typeName: String) throws {
    let path = try FieldPath(text)
    #expect(throws: FieldPathError.self) { _ = try path.kind(in: try type(typeName)) }
    #expect(throws: FieldPathError.self) { _ = try path.matches(in: Message(try type(typeName))) }
  }

  @Test(arguments: [
    ("children", "test3.Node", "test3.Node", "children", false),
    ("children[].weight", "test3.Node", "test3.Node", "weight", false),
    ("children[0]", "test3.Node", "test3.Node", "children", true),
    ("texts.a", "test3.Maps", "test3.Maps.TextsEntry", "value", false),
    ("nodes[1].name", "test3.Maps", "test3.Node", "name", false),
    ("structure.a", "test3.WellKnown", "google.protobuf.Struct.FieldsEntry", "value", false),
    ("list[0]", "test3.WellKnown", "google.protobuf.ListValue", "values", true),
    ("structure.a.b", "test3.WellKnown", "google.protobuf.Struct.FieldsEntry", "value", false),
    ("any[x/test3.Node].weight", "test3.WellKnown", "test3.Node", "weight", false),
    ("any.@type", "test3.WellKnown", "google.protobuf.Any", "type_url", false),
  ])
  func leadsToAField(
    _ path: String, _ typeName: String, _ owner: String, _ field: String, _ isElement: Bool
  ) throws {
    guard case .field(let found, let type, let element) = try FieldPath(path).leaf(in: type(typeName)) else {
      Issue.record("not a field")
      return
    }
    #expect(type.name == owner && found.name == field && element == isElement)
  }

  @Test(arguments: [
    "any.weight", "any.a.b", "any[test2.ext_number].a", "value[]", "value[].a", "structure.a[]",
  ])
  func contentOfAnyAndValueIsDynamic(_ path: String) throws {
    guard case .dynamic = try FieldPath(path).leaf(in: type("test3.WellKnown")) else {
      Issue.record("not dynamic")
      return
    }
  }

  @Test(arguments: [
    ("any[test3.Node].name", "the type of its content is written [type.googleapis.com/test3.Node]"),
    (#"any["test3.Node"].name"#, "the type of its content is written [type.googleapis.com/test3.Node]"),
    (#"any["x/test3.Node"].name"#, "the type of its content is written [x/test3.Node]"),
    (#"any["name"]"#, "write the type of its content, as in [type.googleapis.com/pkg.Type].name"),
    ("any[0]", "google.protobuf.Any is neither a list nor a map"),
    ("any[].name", "google.protobuf.Any is neither a list nor a map"),
  ])
  func subscriptsOfAnAnyAreErrors(_ path: String, _ expected: String) throws {
    let type = try type("test3.WellKnown")
    let message = try Message(type, json: Array(#"{"any":{"@type":"x/test3.Node","name":"a"}}"#.utf8))
    let path = try FieldPath(path)
    for error in [
      #expect(throws: FieldPathError.self) { try path.leaf(in: type) },
      #expect(throws: FieldPathError.self) { try path.matches(in: message) },
    ] {
      #expect(error?.hint ?? error?.message == expected)
    }
  }

  @Test(arguments: [
    "any.none", "any.name.x", "any.weight[0]", "any.child[]", "any.children.name", "any[test2.ext_number]",
  ])
  func pathThatTheContentOfAnAnyLacksIsAbsent(_ path: String) throws {
    let message = try Message(
      type("test3.WellKnown"),
      json: Array(#"{"any":{"@type":"x/test3.Node","name":"a","weight":1,"child":{},"children":[{}]}}"#.utf8))
    let matches = try FieldPath(path).matches(in: message)
    #expect(matches.count == 1 && matches[0] == nil)
  }

  @Test(arguments: [
    (".", "test3.Node"), ("any[x/test3.Maps]", "test3.Maps"), ("any[x/test3.Node].child", nil),
  ])
  func leadsToAMessage(_ path: String, _ expected: String?) throws {
    let root = try type(path == "." ? "test3.Node" : "test3.WellKnown")
    let found: String? =
      if case .message(let type) = try FieldPath(path).leaf(in: root) { type.name } else { nil }
    #expect(found == expected)
    #expect(try FieldPath(path).messageType(in: root)?.name == expected ?? "test3.Node")
  }

  @Test(arguments: [
    ("weight", "{}", false), ("weight", #"{"weight":1}"#, true), ("children", "{}", false),
    ("children", #"{"children":[{}]}"#, true), ("children[0].weight", #"{"children":[{}]}"#, false),
    ("children[0]", #"{"children":[{}]}"#, true), ("child", #"{"child":{}}"#, true),
  ])
  func defaultsAreNotSet(_ path: String, _ json: String, _ isSet: Bool) throws {
    let message = try Message(type("test3.Node"), json: Array(json.utf8))
    #expect(try FieldPath(path).matches(in: message).map { $0?.isSet } == [isSet])
  }

  @Test func typesOfAnyAreSuggested() throws {
    let message = try Message(
      type("test3.WellKnown"), serialized: hex("0a08") + hex("0a06") + Array("x/Node".utf8))
    #expect(try type("test3.WellKnown").field(at: FieldPath("any")).number == 1)
    let error = #expect(throws: FieldPathError.self) { try FieldPath("any.x").matches(in: message) }
    #expect(error?.missingName == .symbol("Node"))
    #expect(error?.hint == "did you mean test3.Node?")
  }

  @Test func pathsWithEachLeadToPathsWithoutIt() throws {
    func paths(_ path: String, _ typeName: String, _ json: String) throws -> [String] {
      var message = try Message(type(typeName), json: Array(json.utf8))
      var paths: [String] = []
      try message.forEachPlace(of: FieldPath(path)) { (_, path) in paths.append("\(path)") }
      return paths
    }
    let node = #"{"children":[{"children":[{},{}]},{}]}"#
    #expect(
      try paths("children[].children[].name", "test3.Node", node)
        == ["children[0].children[1].name", "children[0].children[0].name"])
    #expect(try paths("children[-1].name", "test3.Node", node) == ["children[-1].name"])
    #expect(
      try paths("texts[]", "test3.Maps", #"{"texts":{"b":"","a ":""}}"#) == [#"texts["a "]"#, #"texts["b"]"#])
    #expect(
      try paths("numbers[]", "test3.Maps", #"{"numbers":{"4":1,"-7":2}}"#) == ["numbers[-7]", "numbers[4]"])
    #expect(
      try paths("value[].b", "test3.WellKnown", #"{"value":{"a":1}}"#) == [#"value["a"].b"#])
    #expect(try paths("value[]", "test3.WellKnown", #"{"value":[1,2]}"#) == ["value[1]", "value[0]"])
    let any = #"{"any":{"@type":"x/test3.Node","children":[{},{}]}}"#
    #expect(
      try paths("any[x/test3.Node].children[].name", "test3.WellKnown", any)
        == ["children[1].name", "children[0].name"])
    #expect(try paths("any[x/test3.Maps].texts[]", "test3.WellKnown", any) == [])
  }

  @Test(arguments: [
    ("tags[]", #"["a","b"]"#), ("tags[-1]", #""b""#), ("tags[2]", "null"), ("tags[-3]", "null"),
    ("labels.env", #""x""#), (#"labels["app.io/a"]"#, #""y""#), (#"labels["none"]"#, "null"), ("ids[5]", "1"),
    ("ids[-1]", "2"), ("flags[true]", "3"), ("[pkg.e]", "4"), (".", "whole"),
    ("users[].name", #"["u",null]"#),
    ("any[x/pkg.T].a", "5"), ("any[x/pkg.U].a", "null"), ("nothing.a[0]", "null"), ("nothing[]", "[]"),
    // Names are compared by bytes.
    ("labels[\"\u{e9}\"]", "6"), ("labels[\"e\u{301}\"]", "7"),
  ])
  func readsJSON(_ path: String, _ expected: String) throws {
    let json = #"""
      {"tags":["a","b"],"labels":{"env":"x","app.io/a":"y","e\u0301":7,"\u00e9":6},"ids":{"5":1,"-1":2},"flags":{"true":3},"[pkg.e]":4,
      "users":[{"name":"u"},{"name":null}],"any":{"@type":"y/pkg.T","a":5},"nothing":null}
      """#
    let value = try JSONValue(parsing: Array(json.utf8))
    #expect(try FieldPath(path).value(in: value).text == (expected == "whole" ? value.text : expected))
  }

  @Test(arguments: [
    ("tag", "the value has no field tag; did you mean tags?"), ("tags.a", "tags is a list or a map; tags[0]"),
    ("number.a", "number is not a message"), ("number[]", "number is not a message"),
    (#"tags["a"]"#, "tags is a list or a map"), ("user.nme", "user has no field nme"),
  ])
  func rejectsPathsInJSON(_ path: String, _ expected: String) throws {
    let value = try JSONValue(parsing: Array(#"{"tags":["a"],"number":1,"user":{"name":1}}"#.utf8))
    let error = #expect(throws: FieldPathError.self) { try FieldPath(path).value(in: value) }
    #expect(error?.description.hasPrefix(expected) == true)
  }
}
