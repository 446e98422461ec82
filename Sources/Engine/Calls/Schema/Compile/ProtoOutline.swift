/// The package and the imports of a `.proto` file, read without compiling it.
struct ProtoOutline: Equatable {
  /// The package; empty if the file declares none.
  private(set) var package = ""
  /// The imported files, in order.
  private(set) var imports: [String] = []

  /// Reads the statements outside of all braces. Anything else, and anything invalid, is skipped.
  init(_ text: [UInt8]) {
    let (package, imports) = text.withUnsafeBufferPointer { text in
      var scanner = Scanner(text: text)
      var depth = 0
      var statement: [Scanner.Token] = []
      var outline = (package: "", imports: [String]())
      while let token = scanner.next(inside: depth > 0) {
        switch token {
        case .symbol(UInt8(ascii: "{")): depth += 1
        case .symbol(UInt8(ascii: "}")): depth -= 1
        case .symbol(UInt8(ascii: ";")) where depth == 0:
          switch (statement.first, statement.last) {
          case (.word("package"), .word(let name)) where statement.count == 2: outline.package = name
          case (.word("import"), .string(let name)): outline.imports.append(name)
          default: break
          }
        default:
          // The longest statement that matters is `import option "FILE"`.
          if depth == 0, statement.count < 4 { statement.append(token) }
          continue
        }
        statement = []
      }
      return outline
    }
    self.package = package
    self.imports = imports
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

    let text: UnsafeBufferPointer<UInt8>
    var index = 0

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// The byte at a place; 0 behind the end.
    private func byte(_ place: Int) -> UInt8 { place < text.count ? text[place] : 0 }

    /// The next token. Inside of braces, words and strings are skipped.
    mutating func next(inside: Bool) -> Token? {
      while index < text.count {
        let start = index
        index += 1
        switch text[start] {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
        case UInt8(ascii: "/") where byte(index) == UInt8(ascii: "/"):
          while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
        case UInt8(ascii: "/") where byte(index) == UInt8(ascii: "*"):
          index += 1
          while index < text.count, text[index] != UInt8(ascii: "*") || byte(index + 1) != UInt8(ascii: "/") {
            index += 1
          }
          index += 2
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
          skipString(text[start])
          if !inside { return .string(content(start + 1..<min(index, text.count))) }
        case _ where Self.isWord(text[start]):
          while index < text.count, Self.isWord(text[index]) { index += 1 }
          if !inside { return .word(String(decoding: text[start..<index], as: UTF8.self)) }
        default: return .symbol(text[start])
        }
      }
      return nil
    }

    /// Moves behind the quote that ends a string, or to the end of its line.
    private mutating func skipString(_ quote: UInt8) {
      while index < text.count, text[index] != quote, text[index] != UInt8(ascii: "\n") {
        index += text[index] == UInt8(ascii: "\\") ? 2 : 1
      }
      index += 1
    }

    /// The content of a string. Escapes are kept: names of files have none.
    private func content(_ range: Range<Int>) -> String {
      let end = range.isEmpty ? range.lowerBound : range.upperBound - 1
      return String(decoding: text[range.lowerBound..<end], as: UTF8.self)
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
