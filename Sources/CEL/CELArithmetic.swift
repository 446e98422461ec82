import RPCurlLanguage

/// The arithmetic operators.
enum CELArithmetic {
  /// Applies an operator.
  static func apply(_ name: String, _ one: CELValue, _ other: CELValue) throws(LanguageError) -> CELValue {
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
      if name == "+" { return try timestamp(time + distance) }
      if name == "-" { return try timestamp(time - distance) }
    case (.duration(let distance), .timestamp(let time)) where name == "+":
      return try timestamp(time + distance)
    case (.timestamp(let one), .timestamp(let other)) where name == "-": return try duration(one - other)
    case (.duration(let one), .duration(let other)):
      if name == "+" { return try duration(one + other) }
      if name == "-" { return try duration(one - other) }
    default: break
    }
    throw CELFunctions.mismatch(name, [one, other])
  }

  // Times of messages have 64 bits of seconds, and results are in range, so that sums of 128 bits cannot overflow.

  private static func timestamp(_ time: Int128) throws(LanguageError) -> CELValue {
    guard let value = CELValue.timestamp(inRange: time) else {
      throw LanguageError("the timestamp is out of range")
    }
    return value
  }

  private static func duration(_ time: Int128) throws(LanguageError) -> CELValue {
    guard let value = CELValue.duration(inRange: time) else {
      throw LanguageError("the duration is out of range")
    }
    return value
  }

  private static func integer<Number: FixedWidthInteger>(
    _ name: String, _ one: Number, _ other: Number
  ) throws(LanguageError) -> Number {
    let result: (partialValue: Number, overflow: Bool)
    switch name {
    case "+": result = one.addingReportingOverflow(other)
    case "-": result = one.subtractingReportingOverflow(other)
    case "*": result = one.multipliedReportingOverflow(by: other)
    default:
      guard other != 0 else { throw LanguageError("division by zero") }
      result =
        name == "/"
        ? one.dividedReportingOverflow(by: other) : one.remainderReportingOverflow(dividingBy: other)
    }
    guard !result.overflow else { throw LanguageError("integer overflow") }
    return result.partialValue
  }
}
