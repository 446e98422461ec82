/// How a value is held against another.
enum Comparison: String, CaseIterable {
  // The longer ones first, which is how they are looked for.
  case equal = "=="
  case unequal = "!="
  case atMost = "<="
  case atLeast = ">="
  case matches = "=~"
  case differs = "!~"
  case less = "<"
  case greater = ">"

  /// Takes a comparison off the front of `text`.
  static func take(from text: inout Substring) -> Comparison? {
    for comparison in allCases where text.utf8.starts(with: comparison.rawValue.utf8) {
      text = Substring(text.unicodeScalars.dropFirst(comparison.rawValue.utf8.count))
      return comparison
    }
    return nil
  }

  /// Whether it holds for two values that are ordered; `nil` for the two that are about text.
  func holds(_ order: Order) -> Bool? {
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

  /// Whether it asks for an order, rather than for equality or a pattern.
  var isAboutOrder: Bool {
    switch self {
    case .less, .atMost, .greater, .atLeast: true
    case .equal, .unequal, .matches, .differs: false
    }
  }
}

/// How one value stands to another.
enum Order {
  case before, same, after
  /// Neither, as with NaN.
  case none

  init<Value: Comparable>(_ one: Value, _ other: Value) {
    self = one < other ? .before : one == other ? .same : one > other ? .after : .none
  }
}

/// A bound on a whole number, such as `3` or `>= 2`.
struct CountBound: CustomStringConvertible {
  private let comparison: Comparison
  private let count: Int

  init(_ text: some StringProtocol) throws(ConditionError) {
    var rest = Substring(text).trimmed
    let comparison = Comparison.take(from: &rest) ?? .equal
    guard comparison.holds(.same) != nil, let count = Int(rest.trimmed), count >= 0 else {
      throw ConditionError("must be a number such as 3, or a bound such as >= 2")
    }
    self.comparison = comparison
    self.count = count
  }

  func allows(_ number: Int) -> Bool { comparison.holds(Order(number, count)) ?? false }

  var description: String { comparison == .equal ? "\(count)" : "\(comparison.rawValue) \(count)" }
}

extension Substring {
  /// Without white space at both ends.
  var trimmed: Substring {
    let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
    let start = unicodeScalars.drop(while: isBlank)
    guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
    return Substring(start[...last])
  }
}
