import RPCurlLanguage

/// Splits an expression into tokens.
struct CELLexer {
  enum Token: Equatable {
    case name(String)
    case int(UInt64)
    case uint(UInt64)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case symbol(String)
    case end
  }

  /// The longest expression, in bytes.
  static let limit = 65_536

  private let text: [UInt8]
  private var index = 0

  private init(_ text: String) { self.text = Array(text.utf8) }

  /// The tokens of an expression, and `end`.
  static func tokens(of text: String) throws(LanguageError) -> [Token] {
    guard text.utf8.count <= limit else { throw LanguageError("the expression is too long") }
    var lexer = CELLexer(text)
    var tokens: [Token] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last != .end
    return tokens
  }

  private func at(_ offset: Int) -> UInt8 { index + offset < text.count ? text[index + offset] : 0 }

  private mutating func next() throws(LanguageError) -> Token {
    while true {
      if at(0) == UInt8(ascii: "/"), at(1) == UInt8(ascii: "/") {
        while index < text.count, text[index] != 10 { index += 1 }
      } else if index < text.count, [9, 10, 12, 13, 32].contains(text[index]) {
        index += 1
      } else {
        break
      }
    }
    guard index < text.count else { return .end }
    let byte = text[index]
    if byte.isDigit || byte == UInt8(ascii: "."), at(byte.isDigit ? 0 : 1).isDigit { return try number() }
    if let string = try string() { return string }
    if byte.isLetter || byte == UInt8(ascii: "_") {
      let start = index
      while at(0).isLetterOrDigit || at(0) == UInt8(ascii: "_") { index += 1 }
      return .name(String(decoding: text[start..<index], as: UTF8.self))
    }
    let two = String(decoding: text[index..<min(index + 2, text.count)], as: UTF8.self)
    if ["==", "!=", "<=", ">=", "&&", "||"].contains(two) {
      index += 2
      return .symbol(two)
    }
    guard "()[]{}.,?:+-*/%<>!".utf8.contains(byte) else {
      throw LanguageError("unexpected character at byte \(index) of the expression")
    }
    index += 1
    return .symbol(String(decoding: [byte], as: UTF8.self))
  }

  // MARK: Numbers

  private mutating func number() throws(LanguageError) -> Token {
    let start = index
    if at(0) == UInt8(ascii: "0"), at(1) | 0x20 == UInt8(ascii: "x") {
      index += 2
      let first = index
      while at(0).isHexDigit { index += 1 }
      return try integer(String(decoding: text[first..<index], as: UTF8.self), radix: 16)
    }
    while at(0).isDigit { index += 1 }
    var isDouble = false
    if at(0) == UInt8(ascii: "."), at(1).isDigit {
      isDouble = true
      index += 1
      while at(0).isDigit { index += 1 }
    }
    if at(0) | 0x20 == UInt8(ascii: "e") {
      let sign = at(1) == UInt8(ascii: "+") || at(1) == UInt8(ascii: "-") ? 1 : 0
      if at(1 + sign).isDigit {
        isDouble = true
        index += 1 + sign
        while at(0).isDigit { index += 1 }
      }
    }
    let digits = String(decoding: text[start..<index], as: UTF8.self)
    guard isDouble else { return try integer(digits, radix: 10) }
    guard let number = Double(digits.first == "." ? "0" + digits : digits) else {
      throw LanguageError("\(digits) is not a number")
    }
    return .double(number)
  }

  private mutating func integer(_ digits: String, radix: Int) throws(LanguageError) -> Token {
    guard let number = UInt64(digits, radix: radix) else { throw LanguageError("\(digits) is out of range") }
    guard at(0) | 0x20 == UInt8(ascii: "u") else { return .int(number) }
    index += 1
    return .uint(number)
  }

  // MARK: Strings

  /// Reads a string or bytes; nil if the text here is neither.
  private mutating func string() throws(LanguageError) -> Token? {
    var length = 0
    var isRaw = false
    var isBytes = false
    while length < 2, !isQuote(at(length)) {
      switch at(length) | 0x20 {
      case UInt8(ascii: "r") where !isRaw: isRaw = true
      case UInt8(ascii: "b") where !isBytes: isBytes = true
      default: return nil
      }
      length += 1
    }
    guard isQuote(at(length)) else { return nil }
    index += length
    let quote = at(0)
    let isTriple = at(1) == quote && at(2) == quote
    index += isTriple ? 3 : 1
    var content: [UInt8] = []
    while true {
      guard index < text.count, isTriple || text[index] != 10 else {
        throw LanguageError("unterminated string")
      }
      if at(0) == quote, !isTriple || at(1) == quote && at(2) == quote {
        index += isTriple ? 3 : 1
        break
      }
      if at(0) == UInt8(ascii: "\\"), !isRaw {
        try escape(isBytes: isBytes, into: &content)
      } else {
        content.append(text[index])
        index += 1
      }
    }
    return isBytes ? .bytes(content) : .string(String(decoding: content, as: UTF8.self))
  }

  private func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  private mutating func escape(isBytes: Bool, into content: inout [UInt8]) throws(LanguageError) {
    index += 1
    let byte = at(0)
    index += 1
    let digits: Int
    var radix = 16
    switch byte {
    case UInt8(ascii: "x"), UInt8(ascii: "X"): digits = 2
    case UInt8(ascii: "u"): digits = 4
    case UInt8(ascii: "U"): digits = 8
    case UInt8(ascii: "0")...UInt8(ascii: "3"):
      digits = 3
      radix = 8
      index -= 1
    default:
      let simple: [UInt8: UInt8] = [97: 7, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9, 118: 11]
      guard let value = simple[byte] ?? ("\\?\"'`".utf8.contains(byte) ? byte : nil) else {
        throw LanguageError("invalid escape in a string")
      }
      return content.append(value)
    }
    let end = index + digits
    guard end <= text.count, text[index..<end].allSatisfy(\.isHexDigit),
      let code = UInt32(String(decoding: text[index..<end], as: UTF8.self), radix: radix),
      let scalar = Unicode.Scalar(code)
    else { throw LanguageError("invalid escape in a string") }
    index = end
    if isBytes {
      guard code <= 255, digits <= 3 else { throw LanguageError("invalid escape in bytes") }
      content.append(UInt8(code))
    } else {
      content += Array(String(Character(scalar)).utf8)
    }
  }
}
