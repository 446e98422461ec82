/// The arithmetic operators.
enum CELArithmetic {
  /// Applies an operator.
  static func apply(_ name: String, _ one: CELValue, _ other: CELValue) throws(RuleProblem) -> CELValue {
    switch (one, other) {
    case (.int(let one), .int(let other)): return .int(try integer(name, one, other))
    case (.uint(let one), .uint(let other)): return .uint(try integer(name, one, other))
    case (.double(let one), .double(let other)):
      switch name {
      case "+": return .double(one + other)
      case "-": return .double(one - other)
      case "*": return .double(one * other)
      case "/": return .double(one / other)
      default: break
      }
    case (.string(let one), .string(let other)) where name == "+": return .string(one + other)
    case (.bytes(let one), .bytes(let other)) where name == "+": return .bytes(one + other)
    case (.list(let one), .list(let other)) where name == "+": return .list(one + other)
    case (.timestamp(let time), .duration(let distance)):
      if name == "+" { return .timestamp(time + distance) }
      if name == "-" { return .timestamp(time - distance) }
    case (.duration(let distance), .timestamp(let time)) where name == "+": return .timestamp(time + distance)
    case (.timestamp(let one), .timestamp(let other)) where name == "-": return .duration(one - other)
    case (.duration(let one), .duration(let other)):
      if name == "+" { return .duration(one + other) }
      if name == "-" { return .duration(one - other) }
    default: break
    }
    throw CELFunctions.mismatch(name, [one, other])
  }

  private static func integer<Number: FixedWidthInteger>(
    _ name: String, _ one: Number, _ other: Number
  ) throws(RuleProblem) -> Number {
    let result: (partialValue: Number, overflow: Bool)
    switch name {
    case "+": result = one.addingReportingOverflow(other)
    case "-": result = one.subtractingReportingOverflow(other)
    case "*": result = one.multipliedReportingOverflow(by: other)
    default:
      guard other != 0 else { throw RuleProblem("division by zero") }
      result =
        name == "/"
        ? one.dividedReportingOverflow(by: other) : one.remainderReportingOverflow(dividingBy: other)
    }
    guard !result.overflow else { throw RuleProblem("integer overflow") }
    return result.partialValue
  }
}
