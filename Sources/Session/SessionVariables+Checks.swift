import Language
import Output
import Protobuf

extension SessionVariables {
  /// Inserts values into what follows `expect`: text into an operand that is text and not quoted, otherwise JSON.
  package func expand(check text: String) throws(Failure) -> String {
    guard let check = CheckText(text[...]), check.isText, check.isFile || !check.operand.begins(with: "\"")
    else {
      return try self.json(text)
    }
    if check.hasWords { return try String(check.head) + words(check.operand) }
    let (operand, rest) =
      try check.isFile ? file(check.operand) : (expand(word: String(check.operand)), Substring())
    let words = try words(rest)
    // Quotes and white space of a value are a part of the text, and so is what would continue the operator.
    let isPlain =
      operand[...].withoutOuterSpace == operand
      && operand.unicodeScalars.first.map { !"\"=!<>~".unicodeScalars.contains($0) } ?? false
      && !(check.isFile && operand.unicodeScalars.contains(where: \.properties.isWhitespace))
    return try json(String(check.head)) + (isPlain ? operand : JSONValue.quoted(operand)) + words
  }

  private func json(_ text: String) throws(Failure) -> String {
    String(decoding: try expand(json: text).bytes, as: UTF8.self)
  }

  /// The operator and the words of a check, such as `!= ${code}`: a value is no operator, and not more than one word.
  private func words(_ text: Substring) throws(Failure) -> String {
    let operation = text.prefixOfScalars { $0.properties.isWhitespace || "=!<>".unicodeScalars.contains($0) }
    let expanded = try expanded(template(text[operation.endIndex...]))
    for part in expanded.parts {
      guard case .value = part,
        let other = part.text.unicodeScalars.first(where: {
          !$0.properties.isAlphabetic && !"0123456789_-.".unicodeScalars.contains($0)
        })
      else { continue }
      throw Failure(
        .input, "", "the value of the reference contains \"\(other)\"",
        hint: "a value is one status code, number or duration")
    }
    return operation + expanded.text
  }

  /// The path of a file at the start of an operand, with its values, and the words after it, which are typed.
  private func file(_ operand: Substring) throws(Failure) -> (path: String, words: Substring) {
    guard operand.begins(with: "\"") else {
      let file = operand.prefixOfScalars { !$0.properties.isWhitespace }
      return (try expand(path: String(file)), operand[file.endIndex...])
    }
    var isEscaped = true
    let content = operand.prefixOfScalars { scalar in
      defer { isEscaped = scalar == "\\" && !isEscaped }
      return isEscaped || scalar != "\""
    }
    let json = operand[..<content.endIndex] + (content.endIndex < operand.endIndex ? "\"" : "")
    guard case .string(let path)? = try? JSONValue(parsing: Array(json.utf8)) else {
      throw Failure(
        .usage, "golden", "the file starts with a quote, but is not a JSON string",
        hint: "expect . golden \"my file.json\"")
    }
    return (try expand(path: path), Substring(operand.unicodeScalars[content.endIndex...].dropFirst()))
  }
}
