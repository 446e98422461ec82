/// A position in a text with readers of tokens (text format specification).
struct TextScanner: TokenScanner {
  let start: UnsafePointer<UInt8>
  var cursor: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  init(_ bytes: UnsafeRawBufferPointer) {
    let reader = WireReader(bytes)
    start = reader.cursor
    cursor = start
    end = reader.end
  }

  // MARK: Structure

  /// Skips white space and comments.
  @inline(__always)
  mutating func skipSpace() { _ = peek() }

  @inline(__always)
  mutating func peek() -> UInt8 {
    guard end - cursor > 9 else { return peekAfterSpace() }
    // Most texts have a space between tokens, or a line's end and an indentation.
    if cursor.pointee == 10 || cursor.pointee == 0x20 {
      let spaces =
        UnsafeRawPointer(cursor + 1).loadUnaligned(as: UInt64.self).littleEndian ^ 0x2020_2020_2020_2020
      cursor += 1 &+ spaces.trailingZeroBitCount &>> 3
    }
    let next = cursor.pointee
    if _fastPath(next > UInt8(ascii: "#")) || next == UInt8(ascii: "\"") { return next }
    return peekAfterSpace()
  }

  @inline(never)
  private mutating func peekAfterSpace() -> UInt8 {
    while cursor < end {
      switch cursor.pointee {
      case 0x20, 9...13: cursor += 1
      case UInt8(ascii: "#"):
        while cursor < end, cursor.pointee != 10 { cursor += 1 }
      default: return cursor.pointee
      }
    }
    return 0
  }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return cursor >= end
    }
  }

  /// Reads a colon, and the space after it that most texts have.
  @inline(__always)
  mutating func acceptColon() -> Bool {
    if end - cursor >= 2, UnsafeRawPointer(cursor).loadUnaligned(as: UInt16.self).littleEndian == 0x203a {
      cursor += 2
      return true
    }
    return accept(UInt8(ascii: ":"))
  }

  /// Reads the bracket that opens a message, and returns the one that closes it; nil, with nothing read, for others.
  @inline(__always)
  mutating func openMessage() -> UInt8? {
    if accept(UInt8(ascii: "{")) { return UInt8(ascii: "}") }
    return accept(UInt8(ascii: "<")) ? UInt8(ascii: ">") : nil
  }

  /// Reads the separator that may follow a field.
  mutating func skipSeparator() {
    if !accept(UInt8(ascii: ",")) { _ = accept(UInt8(ascii: ";")) }
  }

  /// Whether another element of a list follows after `count` elements; reads the comma or the end. The opening
  /// bracket has been read.
  mutating func nextElement(after count: Int) throws(ReadFailure) -> Bool {
    if count > 0, accept(UInt8(ascii: ",")) { return true }
    if accept(UInt8(ascii: "]")) { return false }
    guard count == 0 else { throw expected("\",\" or \"]\"") }
    return true
  }

  // MARK: Names

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  /// The byte `distance` after the position; 0 beyond the end.
  private func byte(_ distance: Int = 0) -> UInt8 {
    distance < end - cursor ? cursor[distance] : 0
  }

  /// Whether an identifier starts here.
  mutating func seesIdentifier() -> Bool { TextScanner.isLetter(peek()) }

  /// Whether a string starts here.
  mutating func seesString() -> Bool { peek() == UInt8(ascii: "\"") || peek() == UInt8(ascii: "'") }

  /// Reads an identifier if it is exactly the name of `key`.
  @inline(__always)
  mutating func accept(nameOf key: KeyBytes) -> Bool {
    let count = key.nameCount
    guard end - cursor >= count &+ 8, Words.areEqualPadded(cursor, key.nameStart, count: count) else {
      return false
    }
    // A colon or a space follows most names.
    let next = cursor[count]
    if next != UInt8(ascii: ":"), next != 0x20, isWordByte(next) { return false }
    cursor += count
    return true
  }

  mutating func identifier() throws(ReadFailure) -> UnsafeRawBufferPointer {
    guard seesIdentifier() else { throw expected("a name") }
    let start = position
    while isWordByte(byte()) { cursor += 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
  }

  /// Reads the text up to the closing bracket: the name of an extension or a type URL. The opening bracket
  /// has been read.
  mutating func bracketedName() throws(ReadFailure) -> String {
    var name: [UInt8] = []
    while true {
      let byte = peek()
      if byte == UInt8(ascii: "]") { break }
      guard TextScanner.isURLByte(byte) else { throw expected("an extension name or a type URL, and \"]\"") }
      name.append(byte)
      position += 1
    }
    guard !name.isEmpty else { throw expected("an extension name or a type URL") }
    if name.contains(UInt8(ascii: "/")), !name.withUnsafeBytes(TextScanner.isTypeURL) {
      throw expected("a type URL such as example.com/pkg.Name before \"]\"")
    }
    position += 1
    return String(decoding: name, as: UTF8.self)
  }

  /// Whether text format can represent a type URL: a prefix, a slash and a name, no empty prefix, and two
  /// hexadecimal digits after each percent sign.
  static func isTypeURL(_ url: UnsafeRawBufferPointer) -> Bool {
    guard let slash = url.lastIndex(of: UInt8(ascii: "/")), slash > 0, url.allSatisfy(isURLByte) else {
      return false
    }
    return url.indices.allSatisfy { index in
      url[index] != UInt8(ascii: "%")
        || index + 2 < url.count && TextEscapes.hexDigit(url[index + 1]) != nil
          && TextEscapes.hexDigit(url[index + 2]) != nil
    }
  }

  private static func isURLByte(_ byte: UInt8) -> Bool {
    if isLetter(byte) || isDigit(byte) { return true }
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "~"), UInt8(ascii: "!"),
      UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
      UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "%"):
      return true
    default: return false
    }
  }

  // MARK: Numbers

  enum Number {
    case decimal(UnsafeRawBufferPointer)
    case octal(UnsafeRawBufferPointer)
    /// The digits without the `0x`.
    case hexadecimal(UnsafeRawBufferPointer)
    /// A number with a fraction, an exponent, or the suffix `f`, which is not included.
    case float(UnsafeRawBufferPointer)
  }

  /// Whether a number without a sign starts here.
  mutating func seesNumber() -> Bool {
    let first = peek()
    return TextScanner.isDigit(first) || first == UInt8(ascii: ".") && TextScanner.isDigit(byte(1))
  }

  /// Reads a number without a sign.
  mutating func number() throws(ReadFailure) -> Number {
    guard seesNumber() else { throw expected("a number") }
    let start = position
    let result: Number
    if byte() == 48, byte(1) | 0x20 == UInt8(ascii: "x") {
      position += 2
      while isHexDigit(byte()) { position += 1 }
      guard position > start + 2 else { throw failure(.invalidNumber, at: start) }
      result = .hexadecimal(UnsafeRawBufferPointer(rebasing: bytes[start + 2..<position]))
    } else if byte() == 48, TextScanner.isDigit(byte(1)) {
      position += 1
      while (48...55).contains(byte()) { position += 1 }
      result = .octal(UnsafeRawBufferPointer(rebasing: bytes[start + 1..<position]))
    } else {
      result = try decimal(from: start)
    }
    // Not `08`, `1x`, `0x1g`, `1.2.3`.
    guard !TextScanner.isLetter(byte()), !TextScanner.isDigit(byte()), byte() != UInt8(ascii: ".") else {
      throw failure(.invalidNumber, at: start)
    }
    return result
  }

  private mutating func decimal(from start: Int) throws(ReadFailure) -> Number {
    var isFloat = false
    while TextScanner.isDigit(byte()) { position += 1 }
    if byte() == UInt8(ascii: ".") {
      isFloat = true
      position += 1
      while TextScanner.isDigit(byte()) { position += 1 }
    }
    if byte() | 0x20 == UInt8(ascii: "e") {
      isFloat = true
      position += 1
      if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { position += 1 }
      guard TextScanner.isDigit(byte()) else { throw failure(.invalidNumber, at: start) }
      while TextScanner.isDigit(byte()) { position += 1 }
    }
    let token = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    if byte() | 0x20 == UInt8(ascii: "f") {
      isFloat = true
      position += 1
    }
    return isFloat ? .float(token) : .decimal(token)
  }

  private func isHexDigit(_ byte: UInt8) -> Bool { TextEscapes.hexDigit(byte) != nil }

  // MARK: Strings

  /// Reads one or more consecutive strings and appends their content.
  mutating func strings(into content: inout [UInt8]) throws(ReadFailure) {
    guard seesString() else { throw expected("a string") }
    while seesString() { try string(into: &content) }
  }

  /// Whether a byte of a string stands for itself.
  private func isPlain(_ byte: UInt8, _ quote: UInt8) -> Bool {
    byte != quote && byte != UInt8(ascii: "\\") && byte != 10
  }

  private mutating func string(into content: inout [UInt8]) throws(ReadFailure) {
    let start = position
    let quote = bytes[position]
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      if byte == quote {
        position += 1
        return
      }
      switch byte {
      case UInt8(ascii: "\\"): try TextEscapes.read(&self, into: &content)
      case 10: throw failure(.unterminatedString, at: start)
      default:
        let first = position
        repeat { position += 1 } while position < bytes.count && isPlain(bytes[position], quote)
        content.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[first..<position]))
      }
    }
    throw failure(.unexpectedEnd)
  }
}
