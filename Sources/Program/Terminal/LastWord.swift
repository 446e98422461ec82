/// The last word of a line, which Alt-. inserts: brackets and quotes group what is between them, so that a message is one word.
package enum LastWord {
  /// The last word of `line`; nil if the line has no words.
  package static func of(_ line: String) -> String? {
    let text = Array(line.unicodeScalars)
    var (word, isInside) = (0..<0, false)
    var (depth, quote): (Int, Unicode.Scalar?) = (0, nil)
    var isEscaped = false
    for (index, scalar) in text.enumerated() {
      let isGap = scalar.properties.isWhitespace && depth <= 0 && quote == nil
      if isGap {
        isInside = false
        continue
      }
      word = (isInside ? word.lowerBound : index)..<index + 1
      isInside = true
      switch scalar {
      case _ where isEscaped: isEscaped = false
      case "\\" where quote == "\"": isEscaped = true
      case "\"", "'": quote = quote == nil ? scalar : quote == scalar ? nil : quote
      case _ where quote != nil: break
      case "{", "[": depth += 1
      case "}", "]": depth -= 1
      default: break
      }
    }
    return word.isEmpty ? nil : String(String.UnicodeScalarView(text[word]))
  }
}
