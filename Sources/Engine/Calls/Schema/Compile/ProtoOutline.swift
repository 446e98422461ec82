/// The package and the imports of a `.proto` file, read without compiling it.
struct ProtoOutline: Equatable {
  /// The package; empty if the file declares none.
  private(set) var package = ""
  /// The imported files, in order.
  private(set) var imports: [String] = []

  /// Reads the statements outside of all braces. Anything else, and anything invalid, is skipped.
  init(_ text: [UInt8]) {
    var scanner = Scanner(text: text[...])
    var depth = 0
    var statement: [Scanner.Token] = []
    while let token = scanner.next() {
      switch token {
      case .symbol(UInt8(ascii: "{")): depth += 1
      case .symbol(UInt8(ascii: "}")): depth -= 1
      case .symbol(UInt8(ascii: ";")) where depth == 0: add(statement)
      default:
        // The longest statement that matters is `import option "FILE"`.
        if depth == 0, statement.count < 4 { statement.append(token) }
        continue
      }
      statement = []
    }
  }

  private mutating func add(_ statement: [Scanner.Token]) {
    switch (statement.first, statement.last) {
    case (.word("package"), .word(let name)) where statement.count == 2: package = name
    case (.word("import"), .string(let name)): imports.append(name)
    default: break
    }
  }
}

extension ProtoOutline {
  /// Splits a `.proto` file into words, strings and other characters.
  private struct Scanner {
    enum Token: Equatable {
      case word(String)
      case string(String)
      case symbol(UInt8)
    }

    var text: ArraySlice<UInt8>

    mutating func next() -> Token? {
      while let byte = text.popFirst() {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
        case UInt8(ascii: "/") where text.first == UInt8(ascii: "/"):
          text = text.drop { $0 != UInt8(ascii: "\n") }
        case UInt8(ascii: "/") where text.first == UInt8(ascii: "*"): skipComment()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(string(endingWith: byte))
        case _ where Self.isWord(byte):
          let rest = text.prefix(while: Self.isWord)
          text = text[rest.endIndex...]
          return .word(String(decoding: [byte] + rest, as: UTF8.self))
        default: return .symbol(byte)
        }
      }
      return nil
    }

    private mutating func skipComment() {
      text = text.dropFirst()
      while let byte = text.popFirst() {
        guard byte == UInt8(ascii: "*"), text.first == UInt8(ascii: "/") else { continue }
        text = text.dropFirst()
        return
      }
    }

    /// The content of a string. Escapes are kept: names of files have none.
    private mutating func string(endingWith quote: UInt8) -> String {
      var content: [UInt8] = []
      while let byte = text.popFirst(), byte != quote, byte != UInt8(ascii: "\n") {
        content.append(byte)
        if byte == UInt8(ascii: "\\"), let next = text.popFirst() { content.append(next) }
      }
      return String(decoding: content, as: UTF8.self)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
        true
      default: false
      }
    }
  }
}
