import Testing

@testable import RPCurlProtobuf

/// Changes at a path: in place if the content is not shared, and none on an error.
@Suite struct MessageChangeTests {
  private func message(_ typeName: String, _ json: String) throws -> Message {
    try Message(type(typeName), json: Array(json.utf8))
  }

  private func path(_ text: String) throws -> FieldPath { try FieldPath(text) }

  // MARK: - In place

  /// The address of the content of a list or a map; a copy has another one.
  private func address(_ field: String, of message: Message) throws -> UInt {
    switch try message.storage[message.type.field(at: path(field)).node] {
    case .list(let values): unsafeBitCast(values, to: UInt.self)
    case .map(let entries): unsafeBitCast(entries, to: UInt.self)
    case .none, .single: 0
    }
  }

  /// Changes a list or a map 100 times; returns how often its content moved.
  private func moves(
    _ field: String, in parent: String? = nil, of message: inout Message,
    _ change: (inout Message, String, Int64) throws -> Void
  ) throws -> Int {
    func address() throws -> UInt {
      guard let parent else { return try self.address(field, of: message) }
      guard case .message(let nested)? = try message.value(at: path(parent)) else { return 0 }
      return try self.address(field, of: nested)
    }
    let place = parent.map { "\($0).\(field)" } ?? field
    var moves = 0
    var before = try address()
    for number in 0..<100 {
      try change(&message, place, Int64(number))
      let after = try address()
      if after != before { moves += 1 }
      before = after
    }
    return moves
  }

  /// Content that is full moves to twice the space: a few times for 100 elements.
  private let growths = 0..<12

  @Test(arguments: [nil, "child", "children[0]", "child.children[0].child"])
  func appendsInPlace(_ parent: String?) throws {
    var node = try message(
      "test3.Node",
      #"{"child":{"children":[{"child":{"children":[{}]}}]},"children":[{"children":[{}]}]}"#)
    let appended = try moves("children", in: parent, of: &node) { node, place, _ in
      try node.append(.message(Message(node.type)), at: path(place))
    }
    #expect(growths.contains(appended))
    let appendedJSON = try moves("children", in: parent, of: &node) { node, place, _ in
      try node.appendJSON(Array(#"{"weight":7}"#.utf8), at: path(place))
    }
    #expect(growths.contains(appendedJSON))
    #expect(try node.length(path(parent.map { "\($0).children" } ?? "children")) == 201)
  }

  @Test func appendsToExtensionsAndScalarsInPlace() throws {
    var old = try message("test2.Old", "{}")
    let texts = try moves("[test2.ext_texts]", of: &old) { try $0.append(.string("\($2)"), at: path($1)) }
    let numbers = try moves("plain", of: &old) { try $0.appendJSON(Array("\($2)".utf8), at: path($1)) }
    #expect(growths.contains(texts) && growths.contains(numbers))
    #expect(try old.value(at: path("[test2.ext_texts][99]")) == .string("99"))
    #expect(try old.value(at: path("plain[99]")) == .int32(99))
  }

  @Test func changesElementsInPlace() throws {
    let elements = Array(repeating: "{}", count: 100).joined(separator: ",")
    var node = try message("test3.Node", "{\"child\":{\"children\":[\(elements)]}}")
    let changed = try moves("children", in: "child", of: &node) { node, place, number in
      try node.setJSON(Array(#"{"name":"x"}"#.utf8), at: path("\(place)[\(number)]"))
      try node.set(.int64(number), at: path("\(place)[\(number)].weight"))
      try node.set(.string("n"), at: path("\(place)[\(number)].child.name"))
    }
    #expect(changed == 0)
    #expect(try node.value(at: path("child.children[99].weight")) == .int32(99))
  }

  @Test func changesEntriesInPlace() throws {
    var maps = try message("test3.Maps", "{}")
    let inserted = try moves("nodes", of: &maps) { try $0.set(.int64($2), at: path("\($1)[\($2)].weight")) }
    #expect(growths.contains(inserted))
    let changed = try moves("nodes", of: &maps) { maps, place, number in
      try maps.append(.message(Message(type("test3.Node"))), at: path("\(place)[\(number)].children"))
      try maps.setJSON(Array(#"{"name":"x"}"#.utf8), at: path("\(place)[\(number)]"))
    }
    #expect(changed == 0)
    #expect(try maps.length(path("nodes")) == 100)
    let numbers = try moves("numbers", of: &maps) { try $0.set(.int64($2), at: path("\($1)[\($2)]")) }
    #expect(growths.contains(numbers))
  }

  /// Only the first change copies what another message shares.
  @Test func copiesSharedContentOnce() throws {
    var node = try message("test3.Node", #"{"child":{"children":[{},{}]}}"#)
    let shared = node
    let before = shared.serialized()
    let moves = try moves("children", in: "child", of: &node) { node, place, number in
      try node.set(.int64(number), at: path("\(place)[1].weight"))
    }
    #expect(moves == 1)
    #expect(shared.serialized() == before && node.serialized() != before)
  }

  // MARK: - Errors

  /// A change that fails.
  struct Failing: CustomTestStringConvertible {
    let type: String
    let json: String
    let path: String
    let change: Change

    enum Change {
      case set(Value)
      case append(Value)
      case setJSON(String)
      case appendJSON(String)
    }

    init(_ type: String, _ json: String, _ path: String, _ change: Change) {
      (self.type, self.json, self.path, self.change) = (type, json, path, change)
    }

    var testDescription: String { "\(json) \(path) \(change)" }
  }

  private static let node = #"{"name":"n","child":{"children":[{"name":"c"}]},"children":[{},{"weight":1}]}"#
  private static let maps = #"{"texts":{"a":"b"},"numbers":{"-3":"7"},"nodes":{"5":{"children":[{}]}}}"#
  private static let old =
    #"{"plain":[1],"[test2.ext_texts]":["a"],"[test2.Old.nested_ext]":{"number":6,"levels":["LOW"]}}"#

  @Test(arguments: [
    Failing("test3.Node", node, "nme", .set(.bool(true))),
    Failing("test3.Node", node, "child.nme", .set(.bool(true))),
    Failing("test3.Node", node, "child.child.child.nme", .set(.bool(true))),
    Failing("test3.Node", node, "child.weight", .set(.string("x"))),
    Failing("test3.Node", node, "child.child.weight", .set(.int64(1 << 40))),
    Failing("test3.Node", node, "name.x", .set(.string("x"))),
    Failing("test3.Node", node, "child[0]", .set(.string("x"))),
    Failing("test3.Node", node, "children", .set(.string("x"))),
    Failing("test3.Node", node, "children.name", .set(.string("x"))),
    Failing("test3.Node", node, "child.children[1].name", .set(.string("x"))),
    Failing("test3.Node", node, "child.child.children[0].name", .set(.string("x"))),
    Failing("test3.Node", node, #"children["a"].name"#, .set(.string("x"))),
    Failing("test3.Node", node, "children[1].weight", .set(.string("x"))),
    Failing("test3.Node", node, "children[1]", .set(.string("x"))),
    Failing("test3.Node", node, "children[0][1]", .set(.string("x"))),
    Failing("test3.Node", node, "children[1].name.x", .set(.string("x"))),
    Failing("test3.Node", node, "weight", .append(.int32(1))),
    Failing("test3.Node", node, "children[1]", .append(.int32(1))),
    Failing("test3.Node", node, "child.children", .append(.int32(1))),
    Failing("test3.Node", node, "child.children[0].child.children", .append(.int32(1))),
    Failing("test3.Node", node, "child.children", .setJSON(#"[{"weight":1},{"weight":true}]"#)),
    Failing("test3.Node", node, "child.children[0]", .setJSON(#"{"weight":true}"#)),
    Failing("test3.Node", node, "child.child.name", .setJSON("1")),
    Failing("test3.Node", node, "child.children", .appendJSON("[")),
    Failing("test3.Node", node, "children[1].children", .appendJSON(#"{"weight":true}"#)),
    Failing("test3.Node", node, "children[0]", .appendJSON("{}")),
    Failing("test3.Maps", maps, "texts[1]", .set(.string("x"))),
    Failing("test3.Maps", maps, #"texts["a"]"#, .set(.int32(1))),
    Failing("test3.Maps", maps, #"texts["a"].x"#, .set(.int32(1))),
    Failing("test3.Maps", maps, #"texts["new"]"#, .set(.int32(1))),
    Failing("test3.Maps", maps, "texts", .append(.string("x"))),
    Failing("test3.Maps", maps, "nodes[5]", .append(.string("x"))),
    Failing("test3.Maps", maps, "nodes[5].nme", .set(.string("x"))),
    Failing("test3.Maps", maps, "nodes[6].nme", .set(.string("x"))),
    Failing("test3.Maps", maps, "nodes[5].children[0].weight", .set(.string("x"))),
    Failing("test3.Maps", maps, "nodes[5][0]", .set(.string("x"))),
    Failing("test3.Maps", maps, "flags[true]", .set(.string("x"))),
    Failing("test3.Maps", maps, "numbers[-3]", .setJSON("true")),
    Failing("test3.Maps", maps, "nodes[6]", .setJSON("[]")),
    Failing("test3.Choice", #"{"number":1}"#, "text", .set(.int32(1))),
    Failing("test3.Choice", #"{"number":1}"#, "node.nme", .set(.int32(1))),
    Failing("test3.Choice", #"{"number":1}"#, "node.weight", .setJSON("true")),
    Failing("test3.Choice", #"{"node":{"weight":1}}"#, "node.children", .append(.int32(1))),
    Failing("test2.Old", old, "[test2.ext_texts][1]", .set(.string("x"))),
    Failing("test2.Old", old, "[test2.ext_texts]", .append(.int32(1))),
    Failing("test2.Old", old, "[test2.Old.nested_ext].nme", .set(.int32(1))),
    Failing("test2.Old", old, "[test2.Old.nested_ext].levels", .appendJSON("99")),
    Failing("test2.Old", "{}", "[test2.Old.nested_ext].nme", .set(.int32(1))),
    Failing("test2.Old", "{}", "[test2.ext_texts][0]", .set(.string("x"))),
    Failing("test2.Old", "{}", "[test2.no_such]", .set(.string("x"))),
  ])
  func errorLeavesTheMessageUnchanged(_ failing: Failing) throws {
    var message = try message(failing.type, failing.json)
    let before = message.serialized()
    func fail() throws {
      let path = try path(failing.path)
      #expect(throws: FieldPathError.self) {
        switch failing.change {
        case .set(let value): try message.set(value, at: path)
        case .append(let value): try message.append(value, at: path)
        case .setJSON(let json): try message.setJSON(Array(json.utf8), at: path)
        case .appendJSON(let json): try message.appendJSON(Array(json.utf8), at: path)
        }
      }
    }
    try fail()
    #expect(message.serialized() == before)
    let shared = message
    try fail()
    #expect(message.isIdentical(to: shared) && message.serialized() == before)
  }
}
