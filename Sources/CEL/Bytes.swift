extension UInt8 {
  package var isDigit: Bool { self &- 0x30 < 10 }
  package var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
  package var isLetterOrDigit: Bool { isDigit || isLetter }
  package var isHexDigit: Bool { isDigit || (self | 0x20) &- 0x61 < 6 }
}

extension [UInt8] {
  /// Two hexadecimal digits for each byte.
  package var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
