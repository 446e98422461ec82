import RPCurlBase

/// Colours declarations in the syntax of `.proto` files: bold names of what is declared, and faint comments.
package struct ProtoColor {
  private let bytes: [UInt8]
  private var index = 0
  private var text = ""
  private let colors: TextColors
  /// The words of the statement so far.
  private var words: [String] = []
  /// How many parentheses and brackets are open.
  private var depth = 0

  /// Declarations with colours.
  ///
  /// - Parameters:
  ///   - text: What the printer of declarations has printed.
  ///   - colors: The colours.
  package static func colored(_ text: String, _ colors: TextColors) -> String {
    guard colors.areOn else { return text }
    var color = ProtoColor(bytes: Array(text.utf8), colors: colors)
    while color.index < color.bytes.count { color.advance() }
    return color.text
  }

  private init(bytes: [UInt8], colors: TextColors) { (self.bytes, self.colors) = (bytes, colors) }

  /// The statements that declare nothing before `=`.
  private static let settings: Set = ["option", "syntax", "edition", "package", "import"]
  /// The statements whose second word is a name.
  private static let declarations: Set = ["message", "enum", "service", "rpc", "oneof", "extend"]

  private mutating func advance() {
    let byte = bytes[index]
    let start = index
    switch byte {
    case UInt8(ascii: "/") where bytes.dropFirst(index + 1).first == byte:
      index = bytes[index...].firstIndex(of: 10) ?? bytes.endIndex
      return text += colors.paint(.faint, taken(from: start))
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      index += 1
      while index < bytes.count, bytes[index] != byte { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
      index = min(index + 1, bytes.count)
    case _ where Self.isWord(byte):
      index = bytes[index...].firstIndex { !Self.isWord($0) } ?? bytes.endIndex
      let word = taken(from: start)
      text += colors.paint(isName(word) ? .bold : .plain, word)
      return words.append(word)
    default:
      index += 1
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"): words = []
      default: break
      }
    }
    text += taken(from: start)
  }

  private func taken(from start: Int) -> String { String(decoding: bytes[start..<index], as: UTF8.self) }

  /// Whether the word, which ends before the index, is the name of what the statement declares.
  private func isName(_ word: String) -> Bool {
    guard depth == 0 else { return false }
    if words.count == 1, Self.declarations.contains(words[0]) { return true }
    let next = bytes[index...].first { $0 != UInt8(ascii: " ") }
    return next == UInt8(ascii: "=") && !Self.settings.contains(words.first ?? word)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "."), 0x80...:
      true
    default: false
    }
  }
}
