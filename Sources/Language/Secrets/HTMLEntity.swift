/// The entities of HTML that stand for a character: `&lt;`, `&#60;`, `&#x3C;`.
package enum HTMLEntity {
  private static let names: [(name: String, character: Character)] = [
    ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("nbsp", " "),
  ]
  /// The most bytes of an entity that is decoded, with zeros before its number.
  private static let longest = 16

  /// The character that an entity represents, and the end of the entity; nil if there is none at the place.
  package static func decode(in text: [UInt8], at place: Int) -> (character: Character, end: Int)? {
    let rest = text[place...].prefix(longest)
    guard rest.first == UInt8(ascii: "&"), let end = rest.firstIndex(of: UInt8(ascii: ";")) else {
      return nil
    }
    let name = String(decoding: rest[(place + 1)..<end], as: UTF8.self)
    guard let character = names.first(where: { $0.name == name })?.character ?? character(ofNumber: name)
    else {
      return nil
    }
    return (character, end + 1)
  }

  private static func character(ofNumber name: String) -> Character? {
    guard name.hasPrefix("#") else { return nil }
    let isHexadecimal = name.dropFirst().first.map { "xX".contains($0) } ?? false
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    guard digits.first?.isHexDigit == true, let number = UInt32(digits, radix: isHexadecimal ? 16 : 10) else {
      return nil
    }
    return Unicode.Scalar(number).map { Character($0) }
  }
}
