import RPCurlProtobuf

/// The tokens of the protobuf language, for untrusted text.
enum ProtoText {
  /// `text` with control characters and line ends written as octal escapes of strings.
  static func safe(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: \.steersReader) else { return String(text) }
    var safe = ""
    for scalar in text.unicodeScalars {
      if scalar.steersReader {
        for byte in String(scalar).utf8 { safe += octal(byte) }
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }

  /// A string literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case "\"", "\\": literal += "\\\(scalar)"
      default: literal += safe(String(scalar))
      }
    }
    return literal + "\""
  }

  /// A literal of bytes.
  static func literal(_ bytes: [UInt8]) -> String {
    var literal = "\""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): literal += "\\\(Character(UnicodeScalar(byte)))"
      case 0x20..<0x7f: literal.unicodeScalars.append(UnicodeScalar(byte))
      default: literal += octal(byte)
      }
    }
    return literal + "\""
  }

  /// A literal of text that may be invalid UTF-8.
  static func literal(text bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self).map { literal($0) } ?? literal(bytes)
  }

  /// The default JSON name of a field.
  static func jsonName(of name: String) -> String {
    var result = ""
    var capitalizes = false
    for scalar in name.unicodeScalars {
      if scalar == "_" {
        capitalizes = true
      } else if capitalizes {
        result += ("a"..."z").contains(scalar) ? String(scalar).uppercased() : String(scalar)
        capitalizes = false
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func octal(_ byte: UInt8) -> String {
    "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
  }
}
