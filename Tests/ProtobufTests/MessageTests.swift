import Testing

@testable import RPCurlProtobuf

@Suite struct MessageTests {
  private func message(_ typeName: String, _ json: String) throws -> Message {
    try Message(type(typeName), json: Array(json.utf8))
  }

  private func text(_ message: Message) throws -> String {
    String(decoding: try message.json(), as: UTF8.self)
  }

  private func path(_ text: String) throws -> FieldPath { try FieldPath(text) }

  @Test func approximateSizeCountsAllContent() throws {
    let long = String(repeating: "x", count: 1000)
    let messages = [
      try message(
        "test3.Node", #"{"name":"\#(long)","child":{"children":[{"name":"\#(long)"},{"weight":1}]}}"#),
      try message("test3.Maps", #"{"texts":{"\#(long)":"\#(long)"}}"#),
      try Message(type("test3.Node"), serialized: [0xFA, 0x7F, 100] + [UInt8](repeating: 0, count: 100)),
    ]
    for message in messages {
      let size = message.serialized().count
      #expect((size - 16...size + 16).contains(message.approximateSizeBytes))
    }
    #expect(Message(try type("test3.Node")).approximateSizeBytes == 0)
  }

  @Test func getsValues() throws {
    let node = try message(
      "test3.Node", #"{"name":"a","child":{"children":[{"weight":1},{"weight":2}]}}"#)
    #expect(try node.value(at: path("name")) == .string("a"))
    #expect(try node.value(at: path("child.children[1].weight")) == .int32(2))
    #expect(try node.value(at: path("weight")) == .int32(0))
    #expect(try node.value(at: path("child.child")) == nil)
    #expect(try node.value(at: path("child.child.weight")) == nil)
    #expect(try node.length(path("child.children")) == 2)
    #expect(try node.length(path("child.child.children")) == 0)
    #expect(try node.has(path("child")) && !node.has(path("weight")) && !node.has(path("child.children[5]")))
    let maps = try message(
      "test3.Maps", #"{"texts":{"a":"b"},"numbers":{"-3":7},"nodes":{"5":{"weight":1}}}"#)
    #expect(try maps.value(at: path(#"texts["a"]"#)) == .string("b"))
    #expect(try maps.value(at: path(#"texts["x"]"#)) == nil)
    #expect(try maps.value(at: path("numbers[-3]")) == .int64(7))
    #expect(try maps.value(at: path("nodes[5].weight")) == .int32(1))
    let old = try message("test2.Old", #"{"[test2.ext_number]":5,"[test2.Old.nested_ext]":{"number":6}}"#)
    #expect(try old.value(at: path("[test2.ext_number]")) == .int32(5))
    #expect(try old.value(at: path("[test2.Old.nested_ext].number")) == .int32(6))
  }

  @Test func describesFieldAtPath() throws {
    let node = try type("test3.Node")
    #expect(try node.field(at: path("child.children[3].weight")).name == "weight")
    #expect(try type("test3.Maps").field(at: path("numbers[-3]")).kind == .int64)
    #expect(try type("test2.Old").field(at: path("[test2.Old.nested_ext].number")).name == "number")
    #expect(throws: FieldPathError.self) { try node.field(at: path("weight[0]")) }
    #expect(throws: FieldPathError.self) { try node.field(at: path("weight.x")) }
  }

  @Test func listsTheKeysOfMapsInOrder() throws {
    let maps = try message("test3.Maps", #"{"texts":{"b":"","a":""},"numbers":{"-3":7,"2":0,"-10":1}}"#)
    #expect(try maps.mapKeys(at: path("texts")) == [.string("a"), .string("b")])
    #expect(try maps.mapKeys(at: path("numbers")).count == 3)
    #expect(try maps.json(at: path("numbers[-10]")) == Array(#""1""#.utf8))
    #expect(try maps.mapKeys(at: path("nodes")) == [])
    #expect(throws: FieldPathError.self) { try message("test3.Node", "{}").mapKeys(at: path("weight")) }
  }

  @Test func appendsJSONToLists() throws {
    var node = try message("test3.Node", #"{"children":[{}]}"#)
    try node.appendJSON(Array(#"{"weight":7}"#.utf8), at: path("children"))
    try node.appendJSON(Array("{}".utf8), at: path("child.children"))
    #expect(try text(node) == #"{"child":{"children":[{}]},"children":[{},{"weight":7}]}"#)
    for (json, place) in [("1", "weight"), ("[", "children"), ("{}", "children[0]")] {
      #expect(throws: FieldPathError.self) { try node.appendJSON(Array(json.utf8), at: path(place)) }
    }
  }

  @Test func setsValues() throws {
    var node = try message("test3.Node", #"{"children":[{}]}"#)
    try node.set(.string("x"), at: path("child.child.name"))
    try node.set(.int64(7), at: path("children[0].weight"))
    try node.append(.message(Message(node.type)), at: path("children"))
    #expect(try text(node) == #"{"child":{"child":{"name":"x"}},"children":[{"weight":7},{}]}"#)
    try node.clear(at: path("child.child"))
    try node.clear(at: path("children[0]"))
    #expect(try text(node) == #"{"child":{},"children":[{}]}"#)
    var maps = try message("test3.Maps", "{}")
    try maps.set(.string("v"), at: path(#"texts["k"]"#))
    try maps.set(.string("RED"), at: path("colors[1]"))
    try maps.set(.int32(3), at: path("nodes[-1].weight"))
    #expect(try text(maps) == #"{"texts":{"k":"v"},"colors":{"1":"RED"},"nodes":{"-1":{"weight":3}}}"#)
    try maps.clear(at: path(#"texts["k"]"#))
    try maps.clear(at: path("nodes"))
    #expect(try text(maps) == #"{"colors":{"1":"RED"}}"#)
    var choice = try message("test3.Choice", #"{"number":1}"#)
    try choice.set(.string("t"), at: path("text"))
    #expect(try text(choice) == #"{"text":"t"}"#)
    try choice.set(.int32(1), at: path("node.weight"))
    #expect(try text(choice) == #"{"node":{"weight":1}}"#)
    var old = try message("test2.Old", "{}")
    try old.set(.int32(1), at: path("[test2.ext_number]"))
    try old.append(.string("a"), at: path("[test2.ext_texts]"))
    #expect(try text(old) == #"{"[test2.ext_number]":1,"[test2.ext_texts]":["a"]}"#)
  }

  @Test func orderInTheContentOfAnAnyMakesNoDifference() throws {
    func any(_ url: String, _ content: [UInt8]) -> [UInt8] {
      [0x0a, UInt8(url.utf8.count)] + url.utf8 + [0x12, UInt8(content.count)] + content
    }
    let type = try type("test3.WellKnown")
    func message(_ url: String, _ content: [UInt8]) throws -> Message {
      let any = any(url, content)
      return try Message(type, serialized: [0x0a, UInt8(any.count)] + any)
    }
    let one: [UInt8] = [0x0a, 1, 0x61, 0x20, 1]
    let other: [UInt8] = [0x20, 1, 0x0a, 1, 0x61]
    #expect(try message("x/test3.Node", one) == message("x/test3.Node", other))
    #expect(try message("x/test3.Node", one) != message("y/test3.Node", other))
    #expect(try message("x/test3.Node", one) != message("x/test3.Node", other + [0x20, 2]))
    #expect(try message("x/test3.Gone", one) != message("x/test3.Gone", other))
    #expect(try message("x/test3.Node", [0x0a]) != message("x/test3.Node", [0x20]))
    let inner = "x/google.protobuf.Any"
    #expect(
      try message(inner, any("x/test3.Node", one)) == message(inner, any("x/test3.Node", other)))
    #expect(try message("x/test3.Node", one).serialized() != message("x/test3.Node", other).serialized())
  }

  @Test func pathIntoMapNeedsSubscript() throws {
    let type = try message("test3.Maps", "{}").type
    #expect(throws: FieldPathError.needsSubscript(field: "numbers")) {
      try type.field(at: path("numbers.value"))
    }
    #expect(try type.field(at: path("texts.value")).name == "value")
    #expect(try type.field(at: path("numbers[1]")).name == "value")
  }

  @Test func reportsErrorsInPaths() throws {
    var node = try message("test3.Node", #"{"children":[{}]}"#)
    let before = node
    func failure(_ body: () throws -> Void) -> FieldPathError? {
      do {
        try body()
        return nil
      } catch {
        return error as? FieldPathError
      }
    }
    #expect(
      failure { _ = try node.value(at: path("nme")) }
        == .unknownField(name: "nme", type: "test3.Node", nearest: ["name"]))
    #expect(failure { _ = try node.value(at: path("name.x")) } == .notAMessage(field: "name"))
    #expect(failure { _ = try node.value(at: path("name[0]")) } == .notIndexable(field: "name"))
    #expect(failure { _ = try node.value(at: path("children[5].nme")) } != nil)
    #expect(failure { _ = try node.value(at: path("children[].name")) } == .needsSubscript(field: "children"))
    #expect(failure { _ = try node.value(at: path("children")) } == .needsSubscript(field: "children"))
    #expect(
      failure { try node.set(.string("x"), at: path("children[3].name")) }
        == .indexOutOfRange(field: "children", index: 3, count: 1))
    #expect(
      failure { try node.set(.string("x"), at: path("child.children[-1].name")) }
        == .indexOutOfRange(field: "children", index: -1, count: 0))
    #expect(try node.value(at: path("children[3].name")) == nil)
    #expect(
      failure { try node.set(.string("x"), at: path("weight")) }
        == .wrongType(field: "weight", expected: "int32"))
    #expect(failure { try node.set(.int64(1 << 40), at: path("child.weight")) } != nil)
    #expect(failure { try node.append(.int32(1), at: path("weight")) } == .notAList(field: "weight"))
    #expect(failure { _ = try node.length(path("weight")) } == .notAList(field: "weight"))
    #expect(node.isIdentical(to: before))
  }

  @Test func exchangesJSONByPath() throws {
    var node = try message("test3.Node", #"{"child":{"children":[{"weight":1},{}]}}"#)
    #expect(
      String(decoding: try node.json(at: path("child.children")), as: UTF8.self) == #"[{"weight":1},{}]"#)
    #expect(String(decoding: try node.json(at: path("weight")), as: UTF8.self) == "0")
    #expect(String(decoding: try node.json(at: path("child.child")), as: UTF8.self) == "null")
    try node.setJSON(Array(#"{"name":"n"}"#.utf8), at: path("child.children[1]"))
    try node.setJSON(Array("5".utf8), at: path("weight"))
    #expect(try text(node) == #"{"child":{"children":[{"weight":1},{"name":"n"}]},"weight":5}"#)
    try node.setJSON(Array("null".utf8), at: path("child"))
    #expect(try text(node) == #"{"weight":5}"#)
    #expect(throws: FieldPathError.self) { try node.setJSON(Array("true".utf8), at: path("weight")) }
    var maps = try message("test3.Maps", "{}")
    try maps.setJSON(Array(#"{"weight":1}"#.utf8), at: path("nodes[4]"))
    try maps.setJSON(Array(#"{"a":"b"}"#.utf8), at: path("texts"))
    #expect(try text(maps) == #"{"texts":{"a":"b"},"nodes":{"4":{"weight":1}}}"#)
    #expect(String(decoding: try maps.json(at: path("nodes")), as: UTF8.self) == #"{"4":{"weight":1}}"#)
    #expect(String(decoding: try maps.json(at: path(#"texts["a"]"#)), as: UTF8.self) == #""b""#)
  }

  @Test func copiesAreIndependent() throws {
    let first = try message("test3.Node", #"{"child":{"name":"a"}}"#)
    var second = first
    #expect(first.isIdentical(to: second) && first == second)
    try second.set(.string("b"), at: path("child.name"))
    #expect(!first.isIdentical(to: second) && first != second)
    #expect(try text(first) == #"{"child":{"name":"a"}}"#)
    try second.set(.string("a"), at: path("child.name"))
    #expect(first == second)
  }

  @Test func stringsAreComparedByBytes() throws {
    let composed = Value.string("\u{e9}")
    let decomposed = Value.string("e\u{301}")
    #expect(composed != decomposed)
    let maps = try message("test3.Maps", "{\"texts\":{\"\u{e9}\":\"1\",\"e\u{301}\":\"2\"}}")
    #expect(try maps.length(path("texts")) == 2)
  }
}
