/// Splits the input of a terminal into characters, control sequences and pasted text.
package struct KeyReader {
  /// A unit of input.
  package enum Key: Equatable {
    /// A character, or a control sequence that the line editor supports.
    case typed([Unicode.Scalar])
    /// A character that Ctrl-V precedes, which is inserted as it is.
    case quoted(Unicode.Scalar)
    /// A pasted character.
    case pasted(Unicode.Scalar)
    /// Ctrl-Z.
    case suspend
    /// Ctrl-\.
    case quit
  }

  /// The supported control sequences; others are ignored.
  private static let known: Set<String> = [
    "[A", "[B", "[C", "[D", "[H", "[F", "OA", "OB", "OC", "OD", "OH", "OF", "[1~", "[3~", "[4~", "[7~", "[8~",
    "[1;5C", "[1;5D", "[1;3C", "[1;3D", "[Z",
  ]
  private static let pasteBegins = "[200~"
  private static let pasteEnds = "[201~"
  /// Ctrl-C.
  private static let interrupt: UInt8 = 0x03
  /// The limit of a control sequence in bytes; longer than any real one.
  private static let longestSequence = 32

  private var bytes: [UInt8] = []
  private var position = 0
  /// Whether input is inside a bracketed paste.
  package private(set) var isPasting = false
  /// Whether the last pasted character was a carriage return; a line feed after it is ignored.
  private var wasReturn = false
  /// Whether the next character is literal: Ctrl-V precedes it.
  private var isQuoted = false
  /// Whether the rest of a paste is ignored.
  private var isDropping = false

  /// Whether no complete key is left.
  package var isEmpty: Bool {
    var copy = self
    return copy.next() == nil
  }

  /// Whether what is left is an escape character, which is the key Escape if nothing follows.
  package var hasEscape: Bool { !isPasting && bytes[position...].elementsEqual([0x1B]) }

  /// Takes the key Escape. Returns whether there is one.
  package mutating func takeEscape() -> Bool {
    guard hasEscape else { return false }
    position += 1
    return true
  }

  /// Appends input.
  ///
  /// - Parameters:
  ///   - more: The input.
  ///   - afterSilence: Whether there was none for so long that the mark of the end of a paste is lost if this is a Ctrl-C, or if
  ///     the rest of the paste is ignored.
  package mutating func add(_ more: some Sequence<UInt8>, afterSilence: Bool = false) {
    if afterSilence, isDropping || more.elementsEqual([Self.interrupt]) {
      (isPasting, isDropping) = (false, false)
    }
    bytes.removeFirst(position)
    position = 0
    bytes += more
    // A Ctrl-C after a paste is for what is left of that.
    if isPasting, let key = bytes.lastIndex(of: Self.interrupt), Self.marksEnd(in: bytes[..<key]) {
      isDropping = true
    }
  }

  /// Ignores the rest of a paste, up to its end or a Ctrl-C. Returns whether there is any.
  package mutating func dropPaste() -> Bool {
    guard isPasting else { return false }
    let rest = bytes[position...]
    isDropping = true
    return !rest.isEmpty && !rest.starts(with: [0x1B] + Self.pasteEnds.utf8)
  }

  /// Whether the end of a paste is in `bytes`.
  private static func marksEnd(in bytes: ArraySlice<UInt8>) -> Bool {
    let mark = [0x1B] + Array(pasteEnds.utf8)
    return bytes.indices.contains { bytes[$0] == 0x1B && bytes[$0...].starts(with: mark) }
  }

  /// The next key; nil if none is complete.
  package mutating func next() -> Key? {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == 0x1B, !isQuoted {
        guard let sequence = sequence() else { return nil }
        if let key = key(for: sequence) { return key }
        continue
      }
      guard let scalar = scalar() else { return nil }
      if isPasting {
        if let key = paste(scalar) { return key }
        continue
      }
      defer { isQuoted = !isQuoted && scalar == "\u{16}" }
      guard !isQuoted else { return .quoted(scalar) }
      switch scalar {
      case "\u{1A}": return .suspend
      case "\u{1C}": return .quit
      default: return .typed([scalar])
      }
    }
    return nil
  }

  /// Reads the control sequence after an escape character; returns nil if it is incomplete.
  private mutating func sequence() -> String? {
    guard position + 1 < bytes.count else { return nil }
    let first = bytes[position + 1]
    guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else {
      // An escape and a character are the Meta key. Of two escapes, the first is ignored.
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
      // This byte cannot be part of a control sequence.
      guard (0x20...0x3F).contains(bytes[end]) else { break }
      end += 1
    }
    guard end < bytes.count else { return nil }
    position = end
    return ""
  }

  private mutating func key(for sequence: String) -> Key? {
    switch sequence {
    case "": return nil
    case Self.pasteBegins:
      isPasting = true
      wasReturn = false
      return nil
    case Self.pasteEnds:
      (isPasting, isDropping) = (false, false)
      return nil
    default:
      guard !isPasting else { return nil }
      let isMeta = sequence.unicodeScalars.count == 1
      guard isMeta || Self.known.contains(sequence) else { return nil }
      return .typed(["\u{1B}"] + Array(sequence.unicodeScalars))
    }
  }

  /// Converts a pasted character: line ends to line feeds, tabs to spaces; drops other control characters.
  private mutating func paste(_ scalar: Unicode.Scalar) -> Key? {
    defer { wasReturn = scalar == "\r" }
    switch scalar {
    case "\u{3}" where isDropping && !Self.marksEnd(in: bytes[position...]):
      (isPasting, isDropping) = (false, false)
      return .typed([scalar])
    case _ where isDropping: return nil
    case "\r": return .pasted("\n")
    case "\n": return wasReturn ? nil : .pasted("\n")
    case "\t": return .pasted(" ")
    default:
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      return isControl ? nil : .pasted(scalar)
    }
  }

  /// Reads the next UTF-8 character; returns nil if it is incomplete.
  private mutating func scalar() -> Unicode.Scalar? {
    let byte = bytes[position]
    let length = byte < 0x80 ? 1 : byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    let end = min(position + length, bytes.count)
    let continued = bytes[position + 1..<end].prefix { $0 & 0xC0 == 0x80 }.count + 1
    // Followed by another character, it is invalid, not incomplete.
    guard continued == length || position + continued < bytes.count else { return nil }
    defer { position += continued }
    return String(decoding: bytes[position..<position + continued], as: UTF8.self).unicodeScalars.first
  }
}
