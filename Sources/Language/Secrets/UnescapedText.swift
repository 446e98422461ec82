/// Text without escapes, and where each byte of it is from.
struct UnescapedText {
  /// Whose escapes are decoded.
  struct Escapes: OptionSet {
    static let url = Escapes(rawValue: 1)
    static let json = Escapes(rawValue: 2)
    static let html = Escapes(rawValue: 4)
    /// The ends of lines and the blanks after them, where a text is wrapped, such as base64.
    static let lines = Escapes(rawValue: 8)
    /// Each combination of the escapes whose first bytes a text has: a secret may itself contain what looks like an escape of
    /// another kind.
    static func combinations(in text: [UInt8]) -> [Escapes] {
      let marks: [(String, Escapes)] = [
        ("%", .url), ("\\", .json), ("&", .html), ("\n", .lines), ("\\n", .lines), ("%0A", .lines),
        ("%0a", .lines),
      ]
      let present = Escapes(marks.filter { text.contains(Array($0.0.utf8)) }.map(\.1))
      return (0..<16).map { Escapes(rawValue: $0) }.filter(present.isSuperset)
    }

    let rawValue: Int
  }

  private(set) var bytes: [UInt8] = []
  /// Of each byte, the part of the original text.
  private(set) var sources: [Range<Int>] = []

  /// - Parameters:
  ///   - text: The original text.
  ///   - escapes: The escapes that are decoded; others are text.
  init(_ text: [UInt8], _ escapes: Escapes) {
    bytes.reserveCapacity(text.count)
    sources.reserveCapacity(text.count)
    var place = 0
    var isAtLineStart = false
    while place < text.count {
      let escape = Self.escape(escapes, in: text, at: place)
      let end = escape?.end ?? place + 1
      for byte in escape?.bytes ?? [text[place]] {
        let isLineEnd = byte == 0x0A || byte == 0x0D
        isAtLineStart = isLineEnd || isAtLineStart && (byte == 0x20 || byte == 0x09)
        if isAtLineStart, escapes.contains(.lines) { continue }
        bytes.append(byte)
        sources.append(place..<end)
      }
      place = end
    }
  }

  /// What an escape represents, in UTF-8, and its end; nil if there is none at the place.
  private static func escape(
    _ escapes: Escapes, in text: [UInt8], at place: Int
  ) -> (bytes: [UInt8], end: Int)? {
    switch text[place] {
    case UInt8(ascii: "%") where escapes.contains(.url):
      number(in: text, at: place + 1, digits: 2).map { ([UInt8($0)], place + 3) }
    case UInt8(ascii: "\\") where escapes.contains(.json): jsonEscape(in: text, at: place)
    case UInt8(ascii: "&") where escapes.contains(.html):
      HTMLEntity.decode(in: text, at: place).map { (Array(String($0.character).utf8), $0.end) }
    default: nil
    }
  }

  private static func jsonEscape(in text: [UInt8], at place: Int) -> (bytes: [UInt8], end: Int)? {
    guard place + 1 < text.count else { return nil }
    let next = text[place + 1]
    if let byte = controls[next] { return ([byte], place + 2) }
    guard let first = unit(in: text, at: place) else { return nil }
    let second = unit(in: text, at: place + 6)
    let units = UTF16.isLeadSurrogate(first) ? [first] + (second.map { [$0] } ?? []) : [first]
    return (Array(String(decoding: units, as: UTF16.self).utf8), place + 6 * units.count)
  }

  /// The bytes that a letter or sign after a backslash represents.
  private static let controls: [UInt8: UInt8] = [
    UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
    UInt8(ascii: "/"): UInt8(ascii: "/"),
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "b"): 0x08,
    UInt8(ascii: "f"): 0x0C,
  ]

  /// The number in `\uXXXX`.
  private static func unit(in text: [UInt8], at place: Int) -> UInt16? {
    guard text[min(place, text.count)...].starts(with: "\\u".utf8) else { return nil }
    return number(in: text, at: place + 2, digits: 4).map { UInt16($0) }
  }

  private static func number(in text: [UInt8], at place: Int, digits: Int) -> Int? {
    guard place + digits <= text.count else { return nil }
    let text = text[place..<place + digits]
    guard text.first != UInt8(ascii: "+"), text.first != UInt8(ascii: "-") else { return nil }
    return Int(String(decoding: text, as: UTF8.self), radix: 16)
  }
}
