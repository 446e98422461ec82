import Output
import Protobuf

extension SessionVariables {
  /// Replaces the references in what follows `expect`: by text in an operand that is text and not quoted, otherwise by
  /// JSON.
  package func expand(check text: String) throws(Failure) -> String {
    guard let check = CheckText(text[...]), check.isText, !check.operand.begins(with: "\"") else {
      return try expand(json: text)
    }
    if check.hasWords { return try String(check.head) + expand(words: String(check.operand)) }
    // The words after the path of a file are typed: a value has none.
    let file = check.isFile ? check.operand.prefixOfScalars { !$0.properties.isWhitespace } : check.operand
    let operand =
      try check.isFile ? expand(path: String(file), withoutBraces: true) : expand(text: String(file))
    let words = try expand(words: String(check.operand[file.endIndex...]))
    // Quotes and white space of a value are a part of the text, and so is what would continue the operator.
    let isPlain =
      operand[...].withoutOuterSpace == operand
      && operand.unicodeScalars.first.map { !"\"=!<>~".unicodeScalars.contains($0) } ?? false
      && !(check.isFile && operand.unicodeScalars.contains(where: \.properties.isWhitespace))
    return try expand(json: String(check.head)) + (isPlain ? operand : JSONValue.quoted(operand)) + words
  }
}
