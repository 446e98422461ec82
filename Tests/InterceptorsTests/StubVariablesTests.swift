import RPCurlLanguage
import RPCurlProtobuf
import Testing

@testable import RPCurlInterceptors

@Suite struct StubVariablesTests {
  private func value(_ path: String, _ variables: StubVariables) throws -> String {
    try variables.value(at: FieldPath(path)).text
  }

  private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  /// Sets variables in order; each line is a path and JSON.
  private func variables(
    _ sets: [(String, String)], limit: StubVariables.Limit = StubVariables.Limit()
  ) throws -> StubVariables {
    var variables = StubVariables(limit: limit)
    for (path, text) in sets { try variables.set(FieldPath(path), to: json(text)) }
    return variables
  }

  @Test func readsWhatWasSet() throws {
    let state = try variables([
      ("n", "1"), ("users[\"a\"]", #"{"name":"Ada","tags":["x"]}"#), ("users.b", #"{"name":"Bob"}"#),
      ("users[7]", "null"), ("n", "2"),
    ])
    for (path, expected) in [
      ("n", "2"), ("users[\"a\"].name", #""Ada""#), ("users.a.tags[0]", #""x""#),
      ("users[].name", #"["Ada","Bob"]"#),
      ("users", #"{"a":{"name":"Ada","tags":["x"]},"b":{"name":"Bob"}}"#),
    ] {
      #expect(try value(path, state) == expected, "\(path)")
    }
  }

  /// Conditions on absence need no variable that is set before.
  @Test func absentValuesAreNull() throws {
    let state = try variables([("users.a", #"{"name":"Ada"}"#)])
    for path in ["none", "none.a", "none[3].b", "users.b", "users.b.name", "users.a.age", "users[\"x\"]"] {
      #expect(try value(path, state) == "null", "\(path)")
    }
    for path in ["none[]", "none[].name", "users.b.tags[]"] {
      #expect(try value(path, state) == "[]", "\(path)")
    }
  }

  @Test func nullRemovesAndKeepsTheOrderOfTheOthers() throws {
    var state = try variables([
      ("u.a", "1"), ("u.b", "2"), ("u.c", "3"), ("u.a", "null"), ("u.b", "4"), ("u.a", "5"),
    ])
    #expect(try value("u", state) == #"{"b":4,"c":3,"a":5}"#)
    try state.set(FieldPath("u"), to: .null)
    #expect(!state.has("u"))
    #expect((state.valueCount, state.byteCount) == (0, 0))
  }

  @Test func wholeObjectsHaveElements() throws {
    let state = try variables([("u", #"{"a":1,"b":2}"#), ("u.b", "null"), ("u[\"c d\"]", "[]")])
    #expect(try value("u", state) == #"{"a":1,"c d":[]}"#)
    #expect(state.valueCount == 2)
  }

  @Test func keysAreData() throws {
    let key = "a\"].b[${x}"
    var state = StubVariables()
    try state.set(FieldPath(steps: [.field("u"), .subscripted(.string(key))]), to: .bool(true))
    #expect(try state.value(at: FieldPath(steps: [.field("u"), .subscripted(.string(key))])) == .bool(true))
    #expect(try value("u.a", state) == "null")
  }

  @Test(arguments: [
    ("v", "1", "u[\"k\"]", "2", "u[\"k\"]: the variables of stubs would have more than 1 values", 1, 100),
    ("v", "\"12345\"", "u.k", "\"12\"", "u.k: the variables of stubs would have more than 71 bytes", 9, 71),
    ("v", "1", "u.k", "[0,0]", "u.k: the variables of stubs would have more than 128 bytes", 9, 128),
    ("v", "[1]", "v.k", "2", "v.k: v is not an object: [1]", 9, 100),
  ])
  func refusals(
    _ first: String, _ old: String, _ path: String, _ new: String, _ reason: String, _ values: Int,
    _ bytes: Int
  ) throws {
    var state = try variables([(first, old)], limit: StubVariables.Limit(values: values, bytes: bytes))
    let value = try json(new)
    #expect(throws: LanguageError(reason)) { try state.set(FieldPath(path), to: value) }
    // Nothing has changed, and there is room for the value that is there.
    #expect(try self.value(first, state) == old)
    #expect(try self.value("u", state) == "null")
    try state.set(FieldPath(first), to: json(old))
    #expect(state.valueCount == 1)
  }

  @Test func pathsThatCanBeSet() throws {
    for (path, isPossible) in [
      ("a", true), ("a.b", true), ("a[\"b\"]", true), ("a[1]", true), ("a.b.c", false), ("a[]", false),
      ("a[x/p.T]", false),
    ] {
      #expect(try StubVariables.canSet(FieldPath(path)) == isPossible, "\(path)")
    }
  }
}
