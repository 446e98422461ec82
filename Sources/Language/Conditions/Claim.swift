import Protobuf

/// What a check states.
enum Claim {
  case status(Set<Int>, isWanted: Bool, text: String)
  case error(ValueCondition)
  case detail(type: String, DetailClaim)
  case header(String, ValueCondition)
  case trailer(String, ValueCondition)
  case count(CountBound)
  case latency(Comparison, Duration, text: String)
  case field(MessageSelection, ValueClaim)
  /// About the values of all messages, as a list.
  case list(ValueClaim)
}

/// What is stated about a detail of a status.
enum DetailClaim {
  case exists(isWanted: Bool)
  case field(ValueClaim)
}

/// The messages of a response that a claim is about.
enum MessageSelection: Equatable {
  case first, last, any, every
  /// The message with a number, from 0.
  case number(Int)
}

/// A condition on the value at a path of a message.
struct ValueClaim {
  /// The path without its first full stop; nil for the whole message.
  let path: FieldPath
  let condition: ValueCondition

  /// Whether the path leads to the values of all elements of a list.
  var selectsMany: Bool { path.hasEach }
}

/// A condition on a value, with its text.
struct ValueCondition {
  enum Test {
    case compare(Comparison, JSONValue, ComparisonRules)
    case matches(TextPattern, isWanted: Bool)
    case contains(JSONValue, ComparisonRules)
    case exists(isWanted: Bool)
    case kind(ValueKind)
    case size(CountBound)
    case sorted(isAscending: Bool)
    case golden(String, ComparisonRules)
  }

  let test: Test
  let text: String

  /// Whether each of several values has to meet the condition, instead of one.
  var isNegated: Bool {
    switch test {
    case .compare(.unequal, _, _), .matches(_, isWanted: false): true
    default: false
    }
  }
}

/// How values are compared.
struct ComparisonRules: Equatable {
  /// A difference of numbers that is accepted.
  enum Tolerance: Equatable {
    case absolute(Double)
    /// As a part of the expected number: 0.01 for 1 %.
    case relative(Double)
  }

  /// Whether the order of the elements of lists is ignored.
  var isUnordered = false
  var tolerance: Tolerance?
  /// The words of the rules, with a space before each.
  var text = ""

  static let exact = ComparisonRules()
}

/// A type of values.
enum ValueKind: String, CaseIterable {
  case string, number, integer, bool, list, object, null, uuid, timestamp
}
