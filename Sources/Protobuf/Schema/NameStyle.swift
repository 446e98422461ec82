/// How names of a kind of declaration are written, which compilers check since edition 2024.
package enum NameStyle: Sendable {
  case title, lowerSnake, upperSnake

  /// What is wrong with a name; nil if it has the style.
  package func problem(with name: String) -> String? {
    func isLower(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }
    func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
    let bytes = Array(name.utf8)
    guard let first = bytes.first else { return "is empty" }
    switch self {
    case .title:
      if bytes.contains(UInt8(ascii: "_")) { return "should be TitleCase" }
      return isUpper(first) ? nil : "should begin with a capital letter"
    case .lowerSnake:
      if bytes.contains(where: isUpper) { return "should be lower_snake_case" }
      if !isLower(first) { return "should begin with a lower case letter" }
    case .upperSnake:
      if bytes.contains(where: isLower) { return "should be UPPER_SNAKE_CASE" }
      if !isUpper(first) { return "should begin with an upper case letter" }
    }
    let isBad = zip(bytes, bytes.dropFirst()).contains { pair in
      pair.0 == UInt8(ascii: "_") && !isLower(pair.1) && !isUpper(pair.1)
    }
    return isBad || bytes.last == UInt8(ascii: "_") ? "contains style violating underscores" : nil
  }
}
