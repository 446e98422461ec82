import RPCurlLanguage
import RPCurlProtobuf

/// The text of an HTML page, as one line for an error message.
enum HTMLText {
  /// The title of a page; without one, its text without tags.
  static func summary(_ page: String) -> String {
    let title = part(of: page[...], from: "<title", to: "</title").map { $0.drop { $0 != ">" }.dropFirst() }
    let text = decoded(withoutTags(title ?? page[...]))
    return title != nil && text.allSatisfy(\.isWhitespace) ? decoded(withoutTags(page[...])) : text
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
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var place = 0
    while place < bytes.count {
      let entity = HTMLEntity.decode(in: bytes, at: place)
      decoded += entity.map { Array(String($0.character).utf8) } ?? [bytes[place]]
      place = entity?.end ?? place + 1
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
