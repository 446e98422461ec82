import Interception
import Interceptors
import Output
import Protobuf
import Testing

@testable import Session

struct SessionVariablesTests {
  private func variables() throws -> SessionVariables {
    var variables = SessionVariables { ["HOME_TOWN": "Lon\"don", "TRICK": "${HOME_TOWN}"][$0] }
    let json = #"{"id": "a\"b", "itemCount": 3, "status": "OPEN", "parts": [{"id": "p0"}, {"id": "p1"}]}"#
    let type = try #require(try KnownSession().pool?.messageType(named: "shop.Order"))
    variables.last = .bytes(Array(json.utf8), .json, type)
    try variables.set("list", to: JSONValue(parsing: Array(#"[1, {"k": "v"}, "s"]"#.utf8)))
    try variables.set("n", to: JSONValue(parsing: Array("-1.50".utf8)))
    return variables
  }

  @Test(arguments: [
    ("{}", "{}"), (#"{"a": 1}"#, #"{"a": 1}"#),
    // Instead of JSON.
    (#"{"id": $last.id}"#, #"{"id": "a\"b"}"#),
    (#"{"n": $last.itemCount, "m": ${n}}"#, #"{"n": 3, "m": -1.50}"#),
    ("$last.parts[1].id", #""p1""#), ("$list", #"[1,{"k":"v"},"s"]"#),
    ("[$list[0],$list[1].k]", #"[1,"v"]"#), ("$HOME_TOWN", #""Lon\"don""#),
    // Within strings.
    (#"{"id": "<${last.id}>"}"#, #"{"id": "<a\"b>"}"#), (#""${list[1]}""#, #""{\"k\":\"v\"}""#),
    (#""$last.id costs $5""#, #""$last.id costs $5""#), (#""$${last.id}""#, #""${last.id}""#),
    (#""${not a name}""#, #""${not a name}""#), (#""\"${n}""#, #""\"-1.50""#),
    // Values are not expanded again.
    (#""${TRICK}""#, #""${HOME_TOWN}""#),
  ])
  func replacesInJSON(json: String, expected: String) throws {
    #expect(try variables().expand(json: json) == expected)
  }

  @Test(arguments: [
    ("plain", "plain"), ("$last.id", #"a"b"#), ("$n", "-1.50"), ("x-${last.parts[0].id}-y", "x-p0-y"),
    ("$5", "$5"),
    ("a$n", "a$n"), ("$${n}", "${n}"), ("${n", "${n"), ("${TRICK}", "${HOME_TOWN}"), ("$n.", "$n."),
  ])
  func replacesInWords(word: String, expected: String) throws {
    #expect(try variables().expand(word: word) == expected)
  }

  @Test(arguments: [
    ("$none", "$none", "no such variable"), ("$lost", "$lost", "no such variable"),
    ("$request.id", "$request", "no request sent yet"), ("$list[9]", "$list[9]", "no such value"),
    ("$list[0].a", "$list[0].a", "no such value"),
    ("$HOME_TOWN.a", "$HOME_TOWN", "no such variable"),
  ])
  func reportsMissingValue(json: String, what: String, why: String) throws {
    let failure = try #require(throws: Failure.self) { try variables().expand(json: json) }
    #expect(failure.message?.what == what)
    #expect(failure.message?.why == why)
  }

  @Test func limitsSizeOfVariables() throws {
    var variables = SessionVariables(limitBytes: 1000) { _ in nil }
    try variables.set("x", to: .string("0123456789"))
    var rounds = 0
    let failure = #expect(throws: Failure.self) {
      while rounds < 100 {
        try variables.set("x", to: .string(variables.expand(word: "${x}${x}")))
        rounds += 1
      }
    }
    #expect(rounds == 6)
    #expect(failure?.message?.why.contains("would exceed 1000 bytes") == true)
    #expect(throws: Failure.self) { try variables.expand(json: #"{"a":"${x}${x}"}"#) }
    #expect(throws: Failure.self) { try variables.set("y", to: .string(variables.expand(word: "$x"))) }
    try variables.unset("x")
    #expect(throws: Never.self) { try variables.set("y", to: .string(String(repeating: "a", count: 900))) }
  }

  @Test func suggestsNames() throws {
    let failure = try #require(throws: Failure.self) { try variables().expand(json: "$lisd") }
    #expect(failure.message?.hint?.contains("$list") == true)
  }

  @Test(arguments: ["last", "request", "9a", "", "a b", "a.b", "$a", "größe"])
  func rejectsInvalidNames(name: String) throws {
    var variables = try variables()
    #expect(throws: Failure.self) { try variables.set(name, to: .null) }
  }

  @Test func removesVariables() throws {
    var variables = try variables()
    #expect(variables.names == ["list", "n", "last"])
    try variables.unset("n")
    #expect(variables.names == ["list", "last"])
    #expect(throws: Failure.self) { try variables.unset("n") }
    #expect(throws: Failure.self) { try variables.unset("last") }
  }

  @Test(arguments: [
    (#"{"a": "${base64(foo)}"}"#, #"{"a": "Zm9v"}"#), ("{\"a\": ${base64(foo)}}", #"{"a": "Zm9v"}"#),
    (#"{"a": "${base64(a\"b é)}"}"#, #"{"a": "YSJiIMOp"}"#), (#""$${base64(a)}""#, #""${base64(a)}""#),
    (#""${uuid()}""#, #""${uuid()}""#),
    // Values are not expanded again, by functions neither.
    (#""${CALL}""#, #""${env(KEY)}""#),
  ])
  func replacesFunctionThatNeedsNoOption(json: String, expected: String) throws {
    let variables = SessionVariables { ["CALL": "${env(KEY)}"][$0] }
    #expect(try variables.expand(json: json, functions(), all: false).text == expected)
  }

  @Test func replacesAllFunctionsOnRequestAndOnce() throws {
    let variables = SessionVariables { ["CALL": "${env(KEY)}", "KEY": "no"][$0] }
    let json = #"{"a": "${env(KEY)} ${CALL} $${env(KEY)}", "b": ${random(5,5)}}"#
    let expanded = try variables.expand(json: json, functions(), all: true)
    #expect(expanded.text == #"{"a": "secret ${env(KEY)} ${env(KEY)}", "b": 5}"#)
    #expect(expanded.hasFunctions)
    #expect(try !variables.expand(json: #""${CALL}""#, functions(), all: true).hasFunctions)
    #expect(throws: Failure.self) { try variables.expand(json: "\"${env(NONE)}\"", functions(), all: true) }
  }

  private func functions() -> ValueFunctions { ValueFunctions(Values(), seed: 1) }

  /// A clock, an environment and files for value functions.
  private struct Values: ValueSourceServices {
    var nanosecondsSince1970: Int64 { 0 }
    func environment(_ name: String) -> String? { name == "KEY" ? "secret" : nil }
    func contents(ofFile path: String, holdsMessages: Bool) throws(ServiceFailure) -> [UInt8] {
      throw ServiceFailure("no files")
    }
  }

  // MARK: Completion

  @Test(arguments: [
    ("last", ["id", "itemCount", "status", "parts"]),
    ("last.parts[1]", ["id", "itemCount", "status", "parts"]),
    ("last.id", []), ("last.none", []), ("request", []), ("list[1]", ["k"]), ("list", []), ("none", []),
  ])
  func listsMembers(reference: String, names: [String]) throws {
    let reference = try #require(VariableReference(reference))
    #expect(try variables().members(of: reference).map(\.name) == names)
  }
}

struct VariableReferenceTests {
  @Test(arguments: [
    ("last", "last", ""), ("last.items[0].name", "last", ".items[0].name"),
    (#"a["k]\"."]"#, "a", #"["k]\"."]"#),
    ("_a1[-1]", "_a1", "[-1]"), ("last.(demo.ext).x", "last", ".(demo.ext).x"),
  ])
  func reads(text: String, name: String, path: String) throws {
    let reference = try #require(VariableReference(text))
    #expect((reference.name, reference.path) == (name, path))
  }

  @Test(arguments: ["", "1a", "a.", "a b", "a[", ".a", "[0]", "a..b", "é"])
  func rejects(text: String) {
    #expect(VariableReference(text) == nil)
  }

  /// The end of the reference at the start of a text.
  @Test(arguments: [
    ("$a", 2), ("$a b", 2), ("$a.", 2), ("$a.b.", 4), ("$a[0],", 5), ("$a[0", 2), ("${a.b}c", 6),
    ("${a", nil),
    ("${a b}", nil), ("$", nil), ("$1", nil), ("${}", nil), (#"$a["]"]x"#, 7),
  ])
  func findsEndOfReference(text: String, end: Int?) {
    #expect(VariableReference.end(in: Array(text.utf8), from: 0) == end)
  }
}
