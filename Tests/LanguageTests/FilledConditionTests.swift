import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

/// Conditions whose operands have expressions.
@Suite struct FilledConditionTests {
  /// Variables with values that would be syntax if they were inserted as text.
  private struct Variables: TemplateValues {
    static let values: [String: JSONValue] = [
      "name": .string("Ada"), "quote": .string(#"a" unordered"#), "braces": .string("${name}"),
      "number": .number("3"), "text": .string("3"), "list": .array([.string("x"), .string("y")]),
      "regex": .string("a.b"), "code": .string("not_found"), "codes": .string("ok,not_found"),
      "time": .string("10s"), "none": .null, "within": .string("Ada within 3"),
    ]

    func value(of reference: Reference) throws(LanguageError) -> JSONValue {
      guard let value = Self.values["\(reference)"] else { throw LanguageError("no value \(reference)") }
      return value
    }

    func value(of function: Function, _ arguments: [JSONValue]) -> JSONValue { arguments.first ?? .null }
    func hasValues(of name: String) -> Bool { Self.values[name] != nil }
  }

  private func filled(_ text: String) throws -> Condition {
    let condition = try Condition(parsing: text)
    #expect(!condition.isLiteral)
    return try condition.filled(Variables()) { path throws(LanguageError) in try path.text(Variables()) }
  }

  @Test(arguments: [
    (".name == ${name}", #".name == "Ada""#), (".name == ${number}", ".name == 3"),
    (".name == ${quote}", #".name == "a\" unordered""#), (".name == ${braces}", #".name == "$${name}""#),
    (".name == Mrs ${name}", #".name == "Mrs Ada""#), (#".name == "Mrs ${name}""#, #".name == "Mrs Ada""#),
    (#".name == "${quote}""#, #".name == "a\" unordered""#),
    (".a contains ${list}", #".a contains ["x","y"]"#),
    (".a == [${number},${name}] unordered", #".a == [3,"Ada"] unordered"#),
    (".a == ${list} unordered", #".a == ["x","y"] unordered"#),
    (".a == ${number} within 1%", ".a == 3 within 1%"),
    (".a =~ ^${regex}$", #".a =~ ^a\.b$"#), ("count == ${number}", "count 3"),
    ("count >= ${text}", #"count >= "3""#),
    ("status ${code},ok", #"status "not_found",ok"#), ("latency < ${time}", #"latency < "10s""#),
    ("header x == ${name}", #"header x == "Ada""#), (".a size ${number}", ".a size 3"),
    (".a golden ${name}.json unordered", ".a golden Ada.json unordered"),
    (".a golden ${quote}", #".a golden "a\" unordered""#), ("list .a == ${list}", #"list .a == ["x","y"]"#),
    ("detail ErrorInfo .reason == ${name}", #"detail ErrorInfo .reason == "Ada""#),
    ("${name} == ${number}", "${'Ada'} == 3"), ("${none} absent", "${null} absent"),
    ("${list} contains ${name}", #"${["x","y"]} contains "Ada""#),
    ("${braces} exists", "${'${name}'} exists"),
  ])
  func valuesBecomeLiterals(_ text: String, _ expected: String) throws {
    let condition = try filled(text)
    #expect(condition.isLiteral)
    #expect(condition.description == expected)
    #expect(condition.text == expected)
    let parsed = try Condition(parsing: condition.description)
    #expect(parsed.isLiteral && parsed.description == expected)
  }

  @Test(arguments: [
    (".name == ${name}", "holds"), (".name == ${within}", #""Ada within 3" | "Ada""#),
    (".name == ${quote}", #""a\" unordered" | "Ada""#), (".name =~ ^${name}$", "holds"),
    (".weight == ${number}", "holds"), (".weight == ${text}", "holds"),
    (".weight > ${name}", "invalid: expected a number (int32)"),
    (".children[].name == ${list}", "holds"),
    (".children[].name == [${list[1]},${list[0]}] unordered", "invalid: no value list[1]"),
    (".children[].name == ${list} unordered", "holds"), (".weight == ${number} within 0.5", "holds"),
    (".name == ${name} unordered", #""Ada unordered" | "Ada""#),
    (".name == Mrs ${none}", "invalid: ${none} has no value"),
    ("${number} == 3", "holds"), ("${text} == 3", "holds"), ("${text} > 20", "> 20 | \"3\""),
    ("${number} < 20", "holds"),
    ("${name} =~ ^A", "holds"), ("${name} == ${name}", "holds"), ("${none} absent", "holds"),
    ("${none} exists", "exists | no value"),
    ("${none} == ${none}", "holds"), ("${name} absent", #"absent | "Ada""#), ("${list} size 2", "holds"),
    ("${list} contains y", "holds"), ("${list} == [\"y\",\"x\"] unordered", "holds"),
    ("${list} is list", "holds"),
    ("${list[0]} exists", "invalid: no value list[0]"), ("${list} ascending", "holds"),
    ("${name} contains da", "holds"),
    (".child == ${none}", "holds"), (".name == ${none}", #"null | "Ada""#),
  ])
  func literalsAreComparedByType(_ text: String, _ expected: String) throws {
    let result = try response(
      "test3.Node", [#"{"name":"Ada","weight":3,"children":[{"name":"x"},{"name":"y"}]}"#])
    let condition: Condition
    do {
      condition = try filled(text)
    } catch let error as LanguageError {
      #expect("invalid: \(error.reason)" == expected)
      return
    }
    switch condition.evaluate(result, files: MemoryFiles()) {
    case .holds: #expect(expected == "holds")
    case .fails(let mismatch): #expect("\(mismatch.expected) | \(mismatch.got)" == expected)
    case .invalid(let reason, _): #expect("invalid: \(reason)" == expected)
    }
  }

  @Test(arguments: [
    ("status ${codes}", "ok,not_found is not a status code"),
    ("count == ${name}", "must be a number such as 3"),
    ("latency < ${number}", "3 has no unit"), (".a == ${unknown}", "no value unknown"),
  ])
  func valuesThatAreNoOperandsAreErrors(_ text: String, _ reason: String) throws {
    let error = #expect(throws: LanguageError.self) { try filled(text) }
    #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func conditionWithoutValuesIsInvalid() throws {
    let result = try response("test3.Node", ["{}"])
    #expect(try outcome(".name == ${name}", result) == "invalid: the condition has a value that is not known")
  }

  @Test(arguments: [
    ("error == $name", "$name"), (".a == $name", "$name"), (".a == [$name,1]", "[$name,1]"),
    (".a == \"$100\"", "\"$100\""),
  ])
  func shortFormIsTextUnlessItIsAllowed(_ text: String, _ operand: String) throws {
    #expect(try Condition(parsing: text).isLiteral)
    #expect(try Condition(parsing: text, hasShortForm: true).isLiteral == (operand == "\"$100\""))
  }

  @Test func rulesFollowTheShortForm() throws {
    let condition = try Condition(parsing: ".a == $list unordered within 1", hasShortForm: true)
    let filled = try condition.filled(Variables()) { path throws(LanguageError) in "\(path)" }
    #expect(filled.description == #".a == ["x","y"] unordered within 1"#)
    #expect(try Condition(parsing: ".a == $100 unordered", hasShortForm: true).isLiteral)
  }

  @Test func escapedTemplateIsText() throws {
    let condition = try Condition(parsing: "error == $${name}")
    #expect(condition.evaluate(try failure(.notFound, "${name}"), files: MemoryFiles()) == .holds)
  }
}
