/// The grammar and the values of number tokens.
enum JSONNumber {
  /// The length of the number at the start of `bytes` (RFC 8259); 0 if there is none.
  static func length(_ bytes: UnsafeRawBufferPointer) -> Int {
    var index = 0
    let count = bytes.count
    func isDigit() -> Bool { index < count && (48...57).contains(bytes[index]) }
    if index < count, bytes[index] == UInt8(ascii: "-") { index += 1 }
    guard isDigit() else { return 0 }
    if bytes[index] == 48 {
      index += 1
      if isDigit() { return 0 }
    } else {
      while isDigit() { index += 1 }
    }
    if index < count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      guard isDigit() else { return 0 }
      while isDigit() { index += 1 }
    }
    if index < count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      guard isDigit() else { return 0 }
      while isDigit() { index += 1 }
    }
    return index
  }

  /// The value of a valid token if it is a whole number and its magnitude fits in 64 bits: `12`, `-0`, `1e3`,
  /// `1.50e2`.
  static func integer(_ token: UnsafeRawBufferPointer) -> (negative: Bool, magnitude: UInt64)? {
    var index = 0
    let negative = token.first == UInt8(ascii: "-")
    if negative { index = 1 }
    var magnitude: UInt64 = 0
    while index < token.count, (48...57).contains(token[index]) {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(token[index] - 48))
      if overflow || carry { return general(token) }
      magnitude = sum
      index += 1
    }
    return index == token.count ? (negative, magnitude) : general(token)
  }

  /// The same for tokens with a fraction or an exponent.
  private static func general(_ token: UnsafeRawBufferPointer) -> (negative: Bool, magnitude: UInt64)? {
    let parts = decimal(token)
    var digits = parts.digits
    var exponent = parts.exponent
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    guard !digits.isEmpty else { return (parts.negative, 0) }
    guard exponent >= 0, digits.count + exponent <= 20 else { return nil }
    var magnitude: UInt64 = 0
    for position in 0..<digits.count + exponent {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(
        position < digits.count ? UInt64(digits[position]) : 0)
      if overflow || carry { return nil }
      magnitude = sum
    }
    return (parts.negative, magnitude)
  }

  /// Whether the value of a valid token is not a whole number.
  static func hasFraction(_ token: UnsafeRawBufferPointer) -> Bool {
    let parts = decimal(token)
    guard let last = parts.digits.lastIndex(where: { $0 != 0 }) else { return false }
    return parts.exponent + parts.digits.count - 1 - last < 0
  }

  /// The digits without leading zeros, and the power of ten of the last digit.
  private static func decimal(
    _ token: UnsafeRawBufferPointer
  ) -> (negative: Bool, digits: [UInt8], exponent: Int) {
    var digits: [UInt8] = []
    var exponent = 0
    var inFraction = false
    var index = token.first == UInt8(ascii: "-") ? 1 : 0
    while index < token.count {
      let byte = token[index]
      index += 1
      if byte == UInt8(ascii: ".") {
        inFraction = true
      } else if byte | 0x20 == UInt8(ascii: "e") {
        var stated = 0
        let negative = token[index] == UInt8(ascii: "-")
        if negative || token[index] == UInt8(ascii: "+") { index += 1 }
        // A larger exponent cannot give a number in range, unless all digits are zero.
        while index < token.count {
          stated = min(stated * 10 + Int(token[index] - 48), 1 << 40)
          index += 1
        }
        exponent += negative ? -stated : stated
      } else {
        if inFraction { exponent -= 1 }
        if byte != 48 || !digits.isEmpty { digits.append(byte - 48) }
      }
    }
    return (token.first == UInt8(ascii: "-"), digits, exponent)
  }

  /// The nearest double; infinite if the number is out of range.
  static func double(_ token: UnsafeRawBufferPointer) -> Double {
    Double(String(decoding: token, as: UTF8.self)) ?? .nan
  }

  static func float(_ token: UnsafeRawBufferPointer) -> Float {
    Float(String(decoding: token, as: UTF8.self)) ?? .nan
  }
}
