import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// What a rule demands, in a form from which values can be made.
package enum Demand: Sendable {
  /// A limit of an order, and whether it is a value too.
  package struct Bound: Sendable {
    package let value: Ordinal
    package let isIncluded: Bool
  }

  /// One of these values, as JSON.
  case anyOf([JSONValue])
  /// A number or a time between bounds; outside of them if the lower one is above the upper one.
  case range(lower: Bound?, upper: Bound?, Ordinal.Form)
  /// A time before now, after now, or within a duration of now in nanoseconds.
  case before, after, near(Int128)
  /// A number of characters or bytes.
  case length(ClosedRange<UInt64>, isCharacters: Bool)
  case prefix([UInt8])
  case suffix([UInt8])
  case contains([UInt8])
  case pattern(TextPattern)
  /// A format of text or bytes, such as `email`.
  case format(String)
  /// A number of elements or entries.
  case count(ClosedRange<UInt64>)
  /// Elements that differ from each other.
  case unique
  /// A message in an Any with one of these types.
  case types([String])
}

/// A rule of a field, an element or a message.
package struct Rule: Sendable {
  /// Returns the message if a value breaks the rule; nil if it does not.
  typealias Test = @Sendable (FieldContents, inout RuleRun) throws(LanguageError) -> String?

  /// The identifier, such as `string.min_len`.
  let id: String
  let test: Test
  /// What it demands; nil if values are made without it, and then tested.
  package let demand: Demand?

  /// Makes a rule.
  init(_ id: String, demanding demand: Demand? = nil, test: @escaping Test) {
    self.id = id
    self.demand = demand
    self.test = test
  }

  /// Makes a rule with a constant message.
  ///
  /// - Parameters:
  ///   - id: The identifier.
  ///   - message: The message of a violation.
  ///   - demand: What it demands.
  ///   - holds: Whether a value obeys the rule.
  init(
    _ id: String, _ message: String, demanding demand: Demand? = nil,
    holds: @escaping @Sendable (Value) -> Bool
  ) {
    self.init(id, demanding: demand) { contents, _ in
      guard case .value(let value) = contents else { return nil }
      return holds(value) ? nil : message
    }
  }
}
