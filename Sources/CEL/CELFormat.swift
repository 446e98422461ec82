import RPCurlLanguage
import RPCurlProtobuf

import RPCurlCSystem

/// The texts of values.
enum CELFormat {
  /// Replaces the clauses such as `%s` and `%.2f` of a text by values.
  static func format(_ form: String, _ values: [CELValue]) throws(LanguageError) -> String {
    var text: [UInt8] = []
    var rest = Array(form.utf8)[...]
    var values = values[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        text.append(byte)
        continue
      }
      if rest.first == UInt8(ascii: "%") {
        text.append(byte)
        rest.removeFirst()
        continue
      }
      var precision: Int?
      if rest.first == UInt8(ascii: ".") {
        let digits = rest.dropFirst().prefix(while: \.isDigit)
        precision = Int(String(decoding: digits, as: UTF8.self))
        rest = rest[(rest.startIndex + 1 + digits.count)...]
        guard precision.map({ $0 <= 100 }) == true else {
          throw LanguageError("invalid precision in a format")
        }
      }
      guard let verb = rest.popFirst() else { throw LanguageError("a format ends with %") }
      guard let value = values.popFirst() else {
        throw LanguageError("a format has more clauses than values")
      }
      text += Array(try clause(verb, precision ?? 6, value).utf8)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func clause(_ verb: UInt8, _ precision: Int, _ value: CELValue) throws(LanguageError)
    -> String
  {
    switch (verb, value) {
    case (UInt8(ascii: "s"), _): return try text(value)
    case (UInt8(ascii: "d"), .int), (UInt8(ascii: "d"), .uint), (UInt8(ascii: "d"), .double):
      return try text(value)
    case (UInt8(ascii: "f"), _), (UInt8(ascii: "e"), _):
      guard case .double(let number)? = CELConversion.number(value) else { break }
      return printed(number, verb == UInt8(ascii: "f") ? "%.*f" : "%.*e", precision)
    case (UInt8(ascii: "x"), _), (UInt8(ascii: "X"), _), (UInt8(ascii: "o"), _), (UInt8(ascii: "b"), _):
      let radix = verb == UInt8(ascii: "o") ? 8 : verb == UInt8(ascii: "b") ? 2 : 16
      let isUpper = verb == UInt8(ascii: "X")
      switch value {
      case .int(let number): return String(number, radix: radix, uppercase: isUpper)
      case .uint(let number): return String(number, radix: radix, uppercase: isUpper)
      case .bool(let truth) where radix == 2: return truth ? "1" : "0"
      case .string(let text) where radix == 16: return hex(Array(text.utf8), isUpper)
      case .bytes(let bytes) where radix == 16: return hex(bytes, isUpper)
      default: break
      }
    default: break
    }
    throw LanguageError("the clause %\(Character(Unicode.Scalar(verb))) does not apply to \(value.typeName)")
  }

  private static func hex(_ bytes: [UInt8], _ isUpper: Bool) -> String {
    isUpper ? bytes.hex.uppercased() : bytes.hex
  }

  /// A number as the functions of C print it.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - form: `%.*f` or `%.*e`.
  ///   - precision: The number of decimals, at most 100.
  private static func printed(_ number: Double, _ form: String, _ precision: Int) -> String {
    guard number.isFinite else { return DecimalText.plain(number) }
    // The largest number has 309 digits.
    var buffer = [CChar](repeating: 0, count: 512)
    let length = withVaList([Int32(precision), number]) { vsnprintf(&buffer, buffer.count, form, $0) }
    return String(decoding: buffer.prefix(max(0, Int(length))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The text of a value.
  static func text(_ value: CELValue) throws(LanguageError) -> String {
    switch value {
    case .null: return "null"
    case .bool(let truth): return "\(truth)"
    case .int(let number): return "\(number)"
    case .uint(let number): return "\(number)"
    case .double(let number): return DecimalText.plain(number)
    case .string(let text): return text
    case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .timestamp(let time): return DecimalText.timestamp(nanoseconds: time)
    case .duration(let time): return DecimalText.duration(nanoseconds: time)
    case .type(let name): return name
    case .list(let list):
      var texts: [String] = []
      for value in list { texts.append(try text(value)) }
      return "[\(texts.joined(separator: ", "))]"
    case .map(let entries):
      var texts: [String] = []
      for (key, value) in entries { texts.append("\(try text(key)): \(try text(value))") }
      return "{\(texts.sorted().joined(separator: ", "))}"
    case .message: throw LanguageError("a message has no text")
    }
  }
}
