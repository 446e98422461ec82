import Calls
import Interceptors
import Language

/// The parts of a check with an operand, such as `.name == "Ada"` or `error =~ ^no item`.
struct CheckText {
  /// What precedes the operand.
  let head: Substring
  let operand: Substring
  /// Whether the operand is text up to the end, such as an expression; otherwise it is JSON.
  let isText: Bool
  /// Whether the operand consists of an operator and of words: status codes, a number or a duration.
  let hasWords: Bool
  /// Whether the operand is the path of a file, maybe with words after it.
  let isFile: Bool

  /// Splits what follows `expect`. Returns nil if it has no operand.
  init?(_ text: Substring) {
    let text = text.withoutOuterSpace
    let word = text.prefixOfScalars { !$0.properties.isWhitespace }
    var rest = text[word.endIndex...].droppingScalars(while: \.properties.isWhitespace)
    hasWords = ["status", "count", "latency"].contains(word)
    if hasWords {
      (head, operand, isText, isFile) = (text[..<rest.startIndex], rest, true, false)
      return
    }
    let isMetadata = ["error", "header", "trailer"].contains(word)
    if !isMetadata {
      // A path, maybe after words.
      guard let path = Self.path(in: text) else { return nil }
      rest = path[path.endOfFieldPath...]
    } else if word != "error" {
      rest = rest.droppingScalars { !$0.properties.isWhitespace && !"=!<>".unicodeScalars.contains($0) }
    }
    rest = rest.droppingScalars(while: \.properties.isWhitespace)
    let symbols = rest.prefixOfScalars { "=!<>~".unicodeScalars.contains($0) }
    let condition = symbols.isEmpty ? rest.prefixOfScalars { !$0.properties.isWhitespace } : symbols
    guard !symbols.isEmpty || ["contains", "golden"].contains(condition) else { return nil }
    operand = rest[condition.endIndex...].droppingScalars(while: \.properties.isWhitespace)
    head = text[..<operand.startIndex]
    isFile = condition == "golden"
    isText = isMetadata || isFile || symbols.utf8.last == UInt8(ascii: "~")
  }

  /// What begins with the path of a field: the first word that begins with a dot.
  private static func path(in text: Substring) -> Substring? {
    var isStart = true
    for index in text.unicodeScalars.indices {
      let scalar = text.unicodeScalars[index]
      if isStart, scalar == "." { return text[index...] }
      isStart = scalar.properties.isWhitespace
    }
    return nil
  }
}
