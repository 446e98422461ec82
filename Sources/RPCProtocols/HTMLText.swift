import Protobuf

/// The text of an HTML page, as one line for an error message.
enum HTMLText {
  private static let names: [(name: String, character: Character)] = [
    ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("nbsp", " "),
  ]

  /// The title of a page; without one, its text without tags.
  static func summary(_ page: String) -> String {
    let title = part(of: page[...], from: "<title", to: "</title").map { $0.drop { $0 != ">" }.dropFirst() }
    let text = decoded(withoutTags(title ?? page[...]))
    return title != nil && text.allSatisfy(\.isWhitespace) ? decoded(withoutTags(page[...])) : text
  }

  /// The ways to write a character of ASCII as an entity.
  static func entities(of byte: UInt8) -> [String] {
    let digits = String(byte, radix: 16)
    return names.filter { $0.character.asciiValue == byte }.map { "&\($0.name);" }
      + ["&#\(byte);", "&#x\(digits);", "&#x\(digits.uppercased());", "&#X\(digits);", "&#0\(byte);"]
  }

  /// The part between two marks, which are in lower case; nil if the first is not found.
  private static func part(of text: Substring, from first: String, to last: String) -> Substring? {
    guard let start = range(of: first, in: text) else { return nil }
    let rest = text[start.upperBound...]
    return rest[..<(range(of: last, in: rest)?.lowerBound ?? rest.endIndex)]
  }

  /// The first occurrence of a text of ASCII in lower case, in upper or lower case.
  private static func range(of mark: String, in text: Substring) -> Range<String.Index>? {
    let folded = String(
      decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    guard let found = folded.firstRange(of: mark) else { return nil }
    let lower = text.utf8.index(
      text.startIndex, offsetBy: folded.utf8.distance(from: folded.startIndex, to: found.lowerBound))
    return lower..<text.utf8.index(lower, offsetBy: mark.utf8.count)
  }

  private static func withoutTags(_ text: Substring) -> String {
    var plain = ""
    var rest = text
    while let tag = rest.firstIndex(of: "<") {
      plain += rest[..<tag] + " "
      rest = rest[tag...]
      let ends = [("<script", "</script"), ("<style", "</style"), ("<head", "</head"), ("<!--", "-->")]
      if let (_, end) = ends.first(where: { range(of: $0.0, in: rest.prefix(8)) != nil }) {
        rest = range(of: end, in: rest).map { rest[$0.lowerBound...].dropFirst() } ?? ""
      }
      rest = rest.drop { $0 != ">" }.dropFirst()
    }
    return plain + rest
  }

  private static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
    // The ampersand last, so that "&amp;lt;" is "&lt;".
    return (names.dropFirst() + names.prefix(1)).reduce(text.replacing("&#39;", with: "'")) {
      $0.replacing("&\($1.name);", with: String($1.character))
    }
  }
}
