import RPCurlProtobuf
import Testing

@testable import RPCurlLanguage

@Suite struct JSONComparisonTests {
  private func holds(
    _ expected: String, _ got: String, _ rules: ComparisonRules = .exact,
    _ extent: JSONComparison.Extent = .all
  ) throws -> Bool {
    var comparison = JSONComparison(rules, extent)
    return try comparison.holds(
      JSONValue(parsing: Array(expected.utf8)), JSONValue(parsing: Array(got.utf8)))
  }

  @Test(arguments: [
    ("null", "null", true), ("1", "1.0", true), ("1e3", "1000", true), ("-0", "0", true), ("-0.0", "0", true),
    ("9007199254740993", "9007199254740992", false), ("9007199254740993", "9007199254740993", true),
    ("0.1", "0.10", true), ("0.1", "0.2", false), ("1", "\"1\"", false), ("\"a\"", "\"a\"", true),
    ("\"\u{e9}\"", "\"e\u{301}\"", false), ("[1,2]", "[2,1]", false), ("[1]", "[1,1]", false),
    (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, true), (#"{"a":1}"#, #"{"a":1,"b":null}"#, false),
    (#"{"a":null}"#, #"{"b":null}"#, false), ("[]", "{}", false), ("true", "false", false),
    ("1e22", "10000000000000000000000", true), ("1e30", "1000000000000000000000000000000", true),
    ("18446744073709551615", "18446744073709551614", false), ("1e18", "1000000000000000000", true),
    ("1e15", "1000000000000000.0", true), ("-1e300", "-1E300", true),
  ])
  func exact(_ expected: String, _ got: String, _ isEqual: Bool) throws {
    #expect(try holds(expected, got) == isEqual)
    #expect(try holds(got, expected) == isEqual)
  }

  @Test(arguments: [
    ("[1,2,3]", "[3,1,2]", true), ("[1,1,2]", "[1,2,2]", false), ("[1,1]", "[1]", false),
    ("[[1,2],[3]]", "[[3],[2,1]]", true), (#"[{"a":[1,2]},3]"#, #"[3.0,{"a":[2,1]}]"#, true),
    (#"{"a":[1,{"b":[2,3]}]}"#, #"{"a":[{"b":[3,2]},1]}"#, true), ("[\"1\"]", "[1]", false),
  ])
  func unordered(_ expected: String, _ got: String, _ isEqual: Bool) throws {
    #expect(try holds(expected, got, ComparisonRules(isUnordered: true)) == isEqual)
    // Assigned to each other, the elements give the same result.
    let rules = ComparisonRules(isUnordered: true, tolerance: .absolute(0))
    #expect(try holds(expected, got, rules) == isEqual)
  }

  @Test(arguments: [
    ("1", "1.1", 0.1, true), ("1", "1.11", 0.1, false), ("[1,[2]]", "[1.1,[1.9]]", 0.1, true),
    (#"{"a":1}"#, #"{"a":1.2}"#, 0.1, false), ("\"1\"", "\"1.1\"", 1, false), ("1", "1", 0, true),
    // Integers are exact.
    ("1700000000000000700", "1700000000000000000", 699, false),
    ("1700000000000000700", "1700000000000000000", 700, true),
    ("9007199254740992", "9007199254740993", 0.5, false), ("-5", "5", 10, true), ("-5", "5", 9, false),
  ])
  func absoluteTolerance(_ expected: String, _ got: String, _ bound: Double, _ isEqual: Bool) throws {
    #expect(try holds(expected, got, ComparisonRules(tolerance: .absolute(bound))) == isEqual)
  }

  @Test func relativeToleranceIsOfTheExpectedNumber() throws {
    let rules = ComparisonRules(tolerance: .relative(0.1))
    #expect(try holds("100", "110", rules) && holds("-100", "-90", rules))
    #expect(try !holds("100", "111", rules) && !holds("0", "0.1", rules))
  }

  @Test func elementsAreReassigned() throws {
    let rules = ComparisonRules(isUnordered: true, tolerance: .absolute(1))
    // 2 fits both, 1 fits only the first.
    #expect(try holds("[2,1]", "[1.5,3]", rules) && holds("[1,2]", "[3,1.5]", rules))
    #expect(try holds("[3,2,1]", "[2,1,4]", rules))
    #expect(try !holds("[1,1]", "[1,4]", rules))
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":1,"b":2}"#, true), (#"{"a":{"b":1}}"#, #"{"a":{"b":1,"c":2}}"#, true),
    (#"{"a":[2]}"#, #"{"a":[1,2]}"#, true), ("[2,1]", "[1,2,3]", true), ("[1,1]", "[1,2]", false),
    (#"[{"a":1},{"b":1}]"#, #"[{"a":1,"b":1},{"a":1}]"#, true), (#"{"a":null}"#, "{}", true),
    (#"{"a":null}"#, #"{"a":1}"#, false), (#"{"a":"x"}"#, #"{"a":"xy"}"#, false), ("[]", "[1]", false),
    ("[]", "[]", true), (#"{"a":[]}"#, #"{"a":[1]}"#, false), (#"{"a":{}}"#, #"{"a":{"b":1}}"#, true),
  ])
  func parts(_ expected: String, _ got: String, _ isPart: Bool) throws {
    #expect(try holds(expected, got, .exact, .part) == isPart)
  }

  @Test func sizesThatTakeTooLongAreRefused() throws {
    // Each expected element fits no element: all pairs are compared.
    let expected = "[" + (0..<3000).map { "\($0)" }.joined(separator: ",") + "]"
    let got = "[" + (0..<3000).map { "\($0 + 100_000)" }.joined(separator: ",") + "]"
    let rules = ComparisonRules(isUnordered: true, tolerance: .absolute(1))
    let error = #expect(throws: LanguageError.self) { try holds(expected, got, rules) }
    #expect(error?.reason == "the lists are too large to be compared without order")
  }

  @Test func largeListsWithoutOrderAreSorted() throws {
    let numbers = (0..<5000).map { "\($0)" }
    let rules = ComparisonRules(isUnordered: true)
    let expected = "[" + numbers.joined(separator: ",") + "]"
    #expect(try holds(expected, "[" + numbers.reversed().joined(separator: ",") + "]", rules))
    #expect(try !holds(expected, "[" + (numbers.dropFirst() + ["1"]).joined(separator: ",") + "]", rules))
  }

  @Test func largeObjectsInAnotherOrderAreCompared() throws {
    let members = (0..<5000).map { "\"\($0)\":\($0)" }
    let expected = "{" + members.joined(separator: ",") + "}"
    #expect(try holds(expected, "{" + members.reversed().joined(separator: ",") + "}"))
  }
}
