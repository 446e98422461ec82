/// A token of a source.
struct Token {
  enum Kind: UInt8 {
    case start, end, identifier, integer, float, string, symbol
  }

  var kind = Kind.start
  /// The byte of a symbol; 0 for other tokens.
  var symbol: UInt8 = 0
  /// The interned text of an identifier; empty for other tokens.
  var name = Name.empty
  /// The range of bytes in the source.
  var start = 0
  var end = 0
  /// The place, from 0, in columns of which a tab takes up to eight.
  var line: Int32 = 0
  var column: Int32 = 0
  var endColumn: Int32 = 0
}

/// The two languages that the lexer reads.
enum LexerStyle {
  /// A `.proto` file.
  case proto
  /// The text format of an aggregate option: comments begin with `#`, and a number may end with `f`.
  case text
}

/// Reads the tokens of a source in their order. A token is a range of the source and, for an identifier, an interned name.
struct Lexer {
  let base: UnsafePointer<UInt8>
  let count: Int
  let style: LexerStyle
  private(set) var token = Token()
  private(set) var previous = Token()
  /// What is wrong in the tokens read since the parser last looked.
  var problems: [(offset: Int, text: String)] = []
  /// Whether a comment was skipped since this was last set to false.
  var sawComment = false
  /// The comments in front of the current token; only `nextWithComments` sets them.
  var comments = Comments()

  private var offset = 0
  private var line: Int32 = 0
  /// The offset at which the line would have begun if each tab before `offset` were as many bytes as columns.
  private var lineStart = 0

  /// Reads a source that must outlive the lexer.
  init(_ source: UnsafeBufferPointer<UInt8>, style: LexerStyle = .proto) {
    base = source.baseAddress ?? Lexer.empty
    count = source.count
    self.style = style
  }

  /// The address of an empty source, which is not read.
  nonisolated(unsafe) private static let empty = UnsafePointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  // MARK: Bytes

  /// The next byte; 0 at the end.
  @inline(__always)
  private var byte: UInt8 { offset < count ? base[offset] : 0 }

  private var isAtEnd: Bool { offset >= count }

  @inline(__always)
  private func byte(ahead: Int) -> UInt8 { offset + ahead < count ? base[offset + ahead] : 0 }

  @inline(__always)
  private mutating func advance() {
    guard offset < count else { return }
    switch base[offset] {
    case 0x0a:
      line += 1
      lineStart = offset + 1
    case 0x09: lineStart -= 7 - (offset - lineStart) % 8
    default: break
    }
    offset += 1
  }

  @inline(__always)
  private mutating func take(_ wanted: UInt8) -> Bool {
    guard !isAtEnd, base[offset] == wanted else { return false }
    advance()
    return true
  }

  private mutating func problem(_ text: String, at place: Int? = nil) {
    problems.append((place ?? offset, text))
  }

  @inline(__always)
  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 || byte == 0x5f }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }

  @inline(__always)
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }

  private static func isSpaceInLine(_ byte: UInt8) -> Bool { isSpace(byte) && byte != 0x0a }

  // MARK: Tokens

  /// Reads the next token into `token`. A problem of its text is one of `problems`.
  mutating func next(_ names: inout Names) {
    previous = token
    while true {
      while offset < count, Lexer.isSpace(base[offset]) { advance() }
      guard offset < count else { break }
      let first = base[offset]
      switch style {
      case .proto where first == UInt8(ascii: "/"):
        if skipComment() { continue }
      case .text where first == UInt8(ascii: "#"):
        skipLine()
        continue
      default: break
      }
      if first < 0x20 {
        problem("Invalid control characters encountered in text.")
        while offset < count, base[offset] < 0x20 { advance() }
        continue
      }
      begin()
      scan(first, &names)
      finish()
      return
    }
    begin()
    token.kind = .end
    finish()
  }

  @inline(__always)
  private mutating func begin() {
    token.symbol = 0
    token.name = .empty
    token.start = offset
    token.line = line
    token.column = Int32(truncatingIfNeeded: offset - lineStart)
  }

  @inline(__always)
  private mutating func finish() {
    token.end = offset
    token.endColumn = Int32(truncatingIfNeeded: offset - lineStart)
  }

  @inline(__always)
  private mutating func scan(_ first: UInt8, _ names: inout Names) {
    if Lexer.isLetter(first) {
      var hash = names.seed
      var end = offset
      while end < count {
        let byte = base[end]
        guard Lexer.isLetter(byte) || Lexer.isDigit(byte) else { break }
        hash = Names.hash(hash, byte)
        end += 1
      }
      token.kind = .identifier
      token.name = names.intern(base + offset, end - offset, hash: hash)
      offset = end
    } else {
      scanOther(first)
    }
  }

  private mutating func scanOther(_ first: UInt8) {
    switch first {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      offset += 1
      token.kind = scanNumber(startsWithZero: first == UInt8(ascii: "0"), startsWithDot: false)
    case UInt8(ascii: ".") where Lexer.isDigit(byte(ahead: 1)):
      offset += 2
      if previous.kind == .identifier, previous.end == token.start {
        problem("Need space between identifier and decimal point.", at: token.start)
      }
      token.kind = scanNumber(startsWithZero: false, startsWithDot: true)
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      offset += 1
      scanString(first)
      token.kind = .string
    default:
      if first >= 0x80 { problem("Interpreting non ascii codepoint \(first).") }
      token.kind = .symbol
      token.symbol = first
      offset += 1
    }
  }

  // MARK: Numbers and strings

  private mutating func skipDigits() { while Lexer.isDigit(byte) { offset += 1 } }

  private mutating func scanNumber(startsWithZero: Bool, startsWithDot: Bool) -> Token.Kind {
    var isFloat = startsWithDot
    if startsWithZero, byte | 0x20 == UInt8(ascii: "x") {
      offset += 1
      if !Lexer.isHexDigit(byte) { problem("\"0x\" must be followed by hex digits.") }
      while Lexer.isHexDigit(byte) { offset += 1 }
    } else if startsWithZero, Lexer.isDigit(byte) {
      while byte &- 0x30 < 8 { offset += 1 }
      if Lexer.isDigit(byte) {
        problem("Numbers starting with leading zero must be in octal.")
        skipDigits()
      }
    } else {
      skipDigits()
      if !startsWithDot, byte == UInt8(ascii: ".") {
        offset += 1
        isFloat = true
        skipDigits()
      }
      if byte | 0x20 == UInt8(ascii: "e") {
        offset += 1
        isFloat = true
        if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") { offset += 1 }
        if !Lexer.isDigit(byte) { problem("\"e\" must be followed by exponent.") }
        skipDigits()
      }
      if style == .text, byte | 0x20 == UInt8(ascii: "f") {
        offset += 1
        isFloat = true
      }
    }
    if Lexer.isLetter(byte) {
      problem("Need space between number and identifier.")
    } else if byte == UInt8(ascii: ".") {
      problem(
        isFloat
          ? "Already saw decimal point or exponent; can't have another one."
          : "Hex and octal numbers must be integers.")
    }
    return isFloat ? .float : .integer
  }

  private mutating func scanString(_ delimiter: UInt8) {
    while true {
      switch byte {
      case 0:
        return problem("Unexpected end of string.")
      case 0x0a:
        return problem("Multiline strings are not allowed. Did you miss a \"?.")
      case UInt8(ascii: "\\"):
        offset += 1
        scanEscape()
      case delimiter:
        offset += 1
        return
      default: advance()
      }
    }
  }

  private mutating func scanEscape() {
    let kind = byte
    switch kind {
    case UInt8(ascii: "a"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
      UInt8(ascii: "t"), UInt8(ascii: "v"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "'"),
      UInt8(ascii: "\""), UInt8(ascii: "0")...UInt8(ascii: "7"):
      offset += 1
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      offset += 1
      if !takeHexDigits(1) { problem("Expected hex digits for escape sequence.") }
    case UInt8(ascii: "u"):
      offset += 1
      if !takeHexDigits(4) { problem("Expected four hex digits for \\u escape sequence.") }
    case UInt8(ascii: "U"):
      offset += 1
      if !(take(0x30) && take(0x30) && (take(0x30) || take(0x31)) && takeHexDigits(5)) {
        problem("Expected eight hex digits up to 10ffff for \\U escape sequence")
      }
    default:
      problem("Invalid escape sequence in string literal.")
    }
  }

  private mutating func takeHexDigits(_ wanted: Int) -> Bool {
    for _ in 0..<wanted {
      guard Lexer.isHexDigit(byte) else { return false }
      offset += 1
    }
    return true
  }

  // MARK: Comments

  /// Skips a comment at the current byte; false if there is none.
  private mutating func skipComment() -> Bool {
    switch byte(ahead: 1) {
    case UInt8(ascii: "/"): skipLine()
    case UInt8(ascii: "*"):
      offset += 2
      readBlock { _, _ in }
    default: return false
    }
    sawComment = true
    return true
  }

  private mutating func skipLine() {
    while offset < count, base[offset] != 0x0a, base[offset] != 0 { offset += 1 }
    _ = take(0x0a)
  }

  /// Reads a block comment after its first two bytes. Calls `content` with the ranges that are its text.
  private mutating func readBlock(_ content: (UnsafePointer<UInt8>, Range<Int>) -> Void) {
    let start = offset - 2
    var piece = offset
    while true {
      switch byte {
      case 0:
        problem("End-of-file inside block comment.")
        problem("  Comment started here.", at: start)
        return content(base, piece..<offset)
      case 0x0a:
        advance()
        content(base, piece..<offset)
        while Lexer.isSpaceInLine(byte) { advance() }
        if byte == UInt8(ascii: "*") {
          offset += 1
          if take(UInt8(ascii: "/")) { return }
        }
        piece = offset
      case UInt8(ascii: "*"):
        offset += 1
        if take(UInt8(ascii: "/")) { return content(base, piece..<offset - 2) }
      case UInt8(ascii: "/"):
        offset += 1
        if byte == UInt8(ascii: "*") {
          problem("\"/*\" inside block comment.  Block comments cannot be nested.")
        }
      default: advance()
      }
    }
  }

  /// Skips the byte order mark of UTF-8 at the start. False if it is incomplete.
  private mutating func skipByteOrderMark() -> Bool {
    guard byte == 0xef else { return true }
    guard byte(ahead: 1) == 0xbb, byte(ahead: 2) == 0xbf else {
      offset += byte(ahead: 1) == 0xbb ? 2 : 1
      problem(
        "Proto file starts with 0xEF but not UTF-8 BOM. Only UTF-8 is accepted for proto file.", at: offset)
      return false
    }
    offset += 3
    return true
  }

  /// Reads the first token.
  mutating func first(_ names: inout Names, keepsComments: Bool) {
    guard skipByteOrderMark() else {
      // The reader stops here, as protoc does.
      offset = count
      return next(&names)
    }
    if keepsComments { nextWithComments(&names) } else { next(&names) }
  }

  /// Reads the next token, and the comments in front of it.
  ///
  /// A comment on the line of the last token, or on the lines directly after it that an empty line separates from the next token, is
  /// the trailing comment of what the last token ends; the last one before the next token is its leading comment; the others are
  /// detached.
  mutating func nextWithComments(_ names: inout Names) {
    comments.begin()
    var lastLine = line
    var trailingLine: Int32 = -1
    if token.kind == .start {
      comments.canTrail = false
      lastLine = -1
    } else {
      while Lexer.isSpaceInLine(byte) { advance() }
      switch readComment() {
      case .line(let first):
        trailingLine = first
        comments.flush()
      case .block:
        trailingLine = line
        while Lexer.isSpaceInLine(byte) { advance() }
        comments.flush()
      case nil:
        guard take(0x0a) else { return next(&names) }
      }
    }
    while true {
      while Lexer.isSpaceInLine(byte) { advance() }
      switch readComment() {
      case .line: break
      case .block:
        while Lexer.isSpaceInLine(byte) { advance() }
        _ = take(0x0a)
      case nil:
        if take(0x0a) {
          comments.flush()
          comments.canTrail = false
          continue
        }
        next(&names)
        let closes =
          token.symbol == UInt8(ascii: "}") || token.symbol == UInt8(ascii: "]")
          || token.symbol == UInt8(ascii: ")")
        if token.kind == .end || closes { comments.flush() }
        if token.kind != .end, lastLine == line || trailingLine == line { comments.detachOnlyComment() }
        return comments.end()
      }
    }
  }

  private enum CommentKind {
    case line(first: Int32)
    case block
  }

  /// Reads a comment at the current byte into `comments`.
  private mutating func readComment() -> CommentKind? {
    guard byte == UInt8(ascii: "/") else { return nil }
    switch byte(ahead: 1) {
    case UInt8(ascii: "/"):
      let first = line
      offset += 2
      let start = offset
      skipLine()
      comments.add(line: UnsafeBufferPointer(start: base + start, count: offset - start))
      return .line(first: first)
    case UInt8(ascii: "*"):
      offset += 2
      comments.beginBlock()
      var comments = Comments()
      swap(&comments, &self.comments)
      readBlock { base, range in
        comments.append(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
      }
      swap(&comments, &self.comments)
      return .block
    default: return nil
    }
  }

  // MARK: Type URLs

  /// Reads the text between the brackets of a type URL or an extension's name: `[` is the current token. Afterwards the current
  /// token is the one after the text.
  mutating func readURL(_ names: inout Names) -> [UInt8] {
    var text: [UInt8] = []
    while offset < count {
      let byte = base[offset]
      if Lexer.isSpace(byte) {
        advance()
      } else if byte == UInt8(ascii: "#") {
        skipLine()
      } else if Lexer.isLetter(byte) || Lexer.isDigit(byte) || Lexer.isURLSymbol(byte) {
        text.append(byte)
        offset += 1
      } else {
        break
      }
    }
    next(&names)
    return text
  }

  private static func isURLSymbol(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"),
      UInt8(ascii: "&"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "%"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
