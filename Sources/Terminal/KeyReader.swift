/// Bytes of a terminal, taken apart into characters, control sequences and what was pasted.
package struct KeyReader {
  /// What was typed.
  package enum Key: Equatable {
    /// A character, or a control sequence that the line editor knows.
    case typed([Unicode.Scalar])
    /// A character that was pasted.
    case pasted(Unicode.Scalar)
    /// Ctrl-Z.
    case suspend
    /// Ctrl-\.
    case quit
  }

  /// The control sequences that the line editor binds; others do nothing.
  private static let known: Set<String> = [
    "[A", "[B", "[C", "[D", "[H", "[F", "OA", "OB", "OC", "OD", "OH", "OF", "[1~", "[3~", "[4~", "[7~", "[8~",
    "[1;5C", "[1;5D", "[1;3C", "[1;3D",
  ]
  private static let pasteBegins = "[200~"
  private static let pasteEnds = "[201~"
  /// More than any sequence has.
  private static let longestSequence = 32

  private var bytes: [UInt8] = []
  private var position = 0
  /// Whether the end of what is pasted is still to come.
  package private(set) var isPasting = false
  /// Whether the last character pasted was a carriage return, which a line feed may belong to.
  private var wasReturn = false
  /// Whether the next character is to be taken as it is: it follows a Ctrl-V.
  private var isQuoted = false

  /// Whether everything was taken that is complete.
  package var isEmpty: Bool {
    var copy = self
    return copy.next() == nil
  }

  /// Adds what was read.
  package mutating func add(_ more: some Sequence<UInt8>) {
    bytes.removeFirst(position)
    position = 0
    bytes += more
  }

  /// The next key; `nil` when none is complete.
  package mutating func next() -> Key? {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == 0x1B, !isQuoted {
        guard let sequence = sequence() else { return nil }
        if let key = take(sequence) { return key }
        continue
      }
      guard let scalar = scalar() else { return nil }
      if isPasting {
        if let key = paste(scalar) { return key }
        continue
      }
      defer { isQuoted = !isQuoted && scalar == "\u{16}" }
      guard !isQuoted else { return .typed([scalar]) }
      switch scalar {
      case "\u{1A}": return .suspend
      case "\u{1C}": return .quit
      default: return .typed([scalar])
      }
    }
    return nil
  }

  /// What follows an escape, if it is complete; reads it.
  private mutating func sequence() -> String? {
    guard position + 1 < bytes.count else { return nil }
    let first = bytes[position + 1]
    guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else {
      // Meta and a character; two escapes are taken apart.
      position += 1
      guard first != 0x1B else { return "" }
      guard let scalar = scalar() else {
        position -= 1
        return nil
      }
      return String(scalar)
    }
    var end = position + 2
    while end < bytes.count, end - position < Self.longestSequence {
      if (0x40...0x7E).contains(bytes[end]) {
        defer { position = end + 1 }
        return String(decoding: bytes[position + 1...end], as: UTF8.self)
      }
      // Not within a sequence: it was none.
      guard (0x20...0x3F).contains(bytes[end]) else { break }
      end += 1
    }
    guard end < bytes.count else { return nil }
    position = end
    return ""
  }

  private mutating func take(_ sequence: String) -> Key? {
    switch sequence {
    case "": return nil
    case Self.pasteBegins:
      isPasting = true
      wasReturn = false
      return nil
    case Self.pasteEnds:
      isPasting = false
      return nil
    default:
      guard !isPasting else { return nil }
      let isMeta = sequence.unicodeScalars.count == 1
      guard isMeta || Self.known.contains(sequence) else { return nil }
      return .typed(["\u{1B}"] + Array(sequence.unicodeScalars))
    }
  }

  /// Line ends end lines, tabs are spaces, and other control characters are left out.
  private mutating func paste(_ scalar: Unicode.Scalar) -> Key? {
    defer { wasReturn = scalar == "\r" }
    switch scalar {
    case "\r": return .pasted("\n")
    case "\n": return wasReturn ? nil : .pasted("\n")
    case "\t": return .pasted(" ")
    default:
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      return isControl ? nil : .pasted(scalar)
    }
  }

  /// The next character of UTF-8; `nil` when it is not complete.
  private mutating func scalar() -> Unicode.Scalar? {
    let byte = bytes[position]
    let length = byte < 0x80 ? 1 : byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    let end = min(position + length, bytes.count)
    let continued = bytes[position + 1..<end].prefix { $0 & 0xC0 == 0x80 }.count + 1
    // What is cut off by another character is wrong rather than incomplete.
    guard continued == length || position + continued < bytes.count else { return nil }
    defer { position += continued }
    return String(decoding: bytes[position..<position + continued], as: UTF8.self).unicodeScalars.first
  }
}
