/// A comparison operator.
package enum Comparison: String, CaseIterable {
  // Longer operators first, because parsing tries them in this order.
  case equal = "=="
  case unequal = "!="
  case atMost = "<="
  case less = "<"
  case atLeast = ">="
  case greater = ">"
  case matches = "=~"
  case differs = "!~"

  /// Removes and returns an operator at the start of `text`.
  package static func parse(from text: inout Substring) -> Comparison? {
    for comparison in allCases where text.utf8.starts(with: comparison.rawValue.utf8) {
      text = Substring(text.unicodeScalars.dropFirst(comparison.rawValue.utf8.count))
      return comparison
    }
    return nil
  }

  /// Whether it holds for two values with this order; `nil` for the two text operators.
  package func holds(_ order: Order) -> Bool? {
    switch self {
    case .equal: order == .same
    case .unequal: order != .same
    case .less: order == .before
    case .atMost: order == .before || order == .same
    case .greater: order == .after
    case .atLeast: order == .after || order == .same
    case .matches, .differs: nil
    }
  }

  /// Whether it requires an order, not only equality or a pattern.
  package var isAboutOrder: Bool {
    switch self {
    case .less, .atMost, .greater, .atLeast: true
    case .equal, .unequal, .matches, .differs: false
    }
  }
}

/// The order of two values.
package enum Order {
  case before, same, after
  /// Unordered, as with NaN.
  case none

  /// The order of values of a type.
  package init<Value: Comparable>(_ one: Value, _ other: Value) {
    self = one < other ? .before : one == other ? .same : one > other ? .after : .none
  }
}
