/// The values of unset scalar fields.
package enum DefaultValue {
  static func zero(of field: FieldNode) -> Value? {
    switch field.kind {
    case .double: .double(0)
    case .float: .float(0)
    case .int64, .sfixed64, .sint64: .int64(0)
    case .uint64, .fixed64: .uint64(0)
    case .int32, .sfixed32, .sint32: .int32(0)
    case .uint32, .fixed32: .uint32(0)
    case .bool: .bool(false)
    case .string: .string("")
    case .bytes: .bytes([])
    case .enumeration: .enum(field.enumType?.defaultNumber ?? 0)
    case .message, .group: nil
    }
  }

  /// Parses a default in the text form of descriptors; nil if it is invalid for the field.
  static func parse(_ text: String, of field: FieldNode) -> Value? {
    switch field.kind {
    case .double: number(text).map { .double($0) }
    case .float: number(text).map { .float(Float($0)) }
    case .int64, .sfixed64, .sint64: Int64(text).map { .int64($0) }
    case .uint64, .fixed64: UInt64(text).map { .uint64($0) }
    case .int32, .sfixed32, .sint32: Int32(text).map { .int32($0) }
    case .uint32, .fixed32: UInt32(text).map { .uint32($0) }
    case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
    case .string: .string(text)
    case .bytes: unescape(Array(text.utf8)).map { .bytes($0) }
    case .enumeration: field.enumType?.number(of: text).map { .enum($0) }
    case .message, .group: nil
    }
  }

  private static func number(_ text: String) -> Double? {
    switch text {
    case "inf": .infinity
    case "-inf": -.infinity
    case "nan": .nan
    default: Double(text)
    }
  }

  /// Decodes C escapes, which defaults of bytes fields use.
  package static func unescape(_ text: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      guard index < text.count else { return nil }
      let escape = text[index]
      index += 1
      switch escape {
      case UInt8(ascii: "n"): result.append(10)
      case UInt8(ascii: "r"): result.append(13)
      case UInt8(ascii: "t"): result.append(9)
      case UInt8(ascii: "0")...UInt8(ascii: "7"):
        var value = Int(escape - 48)
        for _ in 0..<2 where index < text.count && (48...55).contains(text[index]) {
          value = value * 8 + Int(text[index] - 48)
          index += 1
        }
        result.append(UInt8(truncatingIfNeeded: value))
      case UInt8(ascii: "x"):
        var value = 0
        for _ in 0..<2 {
          guard index < text.count, let digit = Character(UnicodeScalar(text[index])).hexDigitValue else {
            break
          }
          value = value * 16 + digit
          index += 1
        }
        result.append(UInt8(truncatingIfNeeded: value))
      default: result.append(escape)
      }
    }
    return result
  }
}
