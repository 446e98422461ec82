import Output
import Protobuf

extension SessionVariables {
  /// Replaces the references in what follows `expect`: by text in an operand that is text and not quoted, otherwise by
  /// JSON.
  package func expand(check text: String) throws(Failure) -> String {
    guard let check = CheckText(text[...]), check.isText, check.isFile || !check.operand.begins(with: "\"")
    else {
      return try expand(json: text)
    }
    if check.hasWords { return try String(check.head) + expand(words: String(check.operand)) }
    let (operand, rest) = try check.isFile ? file(check.operand) : (expand(text: String(check.operand)), "")
    let words = try expand(words: String(rest))
    // Quotes and white space of a value are a part of the text, and so is what would continue the operator.
    let isPlain =
      operand[...].withoutOuterSpace == operand
      && operand.unicodeScalars.first.map { !"\"=!<>~".unicodeScalars.contains($0) } ?? false
      && !(check.isFile && operand.unicodeScalars.contains(where: \.properties.isWhitespace))
    return try expand(json: String(check.head)) + (isPlain ? operand : JSONValue.quoted(operand)) + words
  }

  /// The path of a file at the start of an operand, with its references replaced, and the words after it: these are typed,
  /// a value has none.
  private func file(_ operand: Substring) throws(Failure) -> (path: String, words: Substring) {
    guard operand.begins(with: "\"") else {
      let file = operand.prefixOfScalars { !$0.properties.isWhitespace }
      return (try expand(path: String(file), withoutBraces: true), operand[file.endIndex...])
    }
    let bytes = Array(operand.utf8)
    let (path, end) = try quotedPath(bytes)
    try path.checkPath()
    return (path.text, Substring(decoding: bytes[end...], as: UTF8.self))
  }

  /// Reads a JSON string, in which `${NAME}` is a reference. Returns its content and its end.
  private func quotedPath(_ bytes: [UInt8]) throws(Failure) -> (path: ExpandedText, end: Int) {
    var path = ExpandedText()
    // What is typed since the last reference, as JSON.
    var typed = [UInt8(ascii: "\"")]
    var index = 1
    while index < bytes.count {
      let byte = bytes[index]
      if bytes[index...].starts(with: "${".utf8), let end = VariableReference.end(in: bytes, from: index) {
        path.append(.typed(try Self.string(typed)))
        path.append(.value(Self.text(try value(Self.reference(bytes[index..<end])))))
        typed = [UInt8(ascii: "\"")]
        index = end
        continue
      }
      if byte == UInt8(ascii: "\"") {
        path.append(.typed(try Self.string(typed)))
        return (path, index + 1)
      }
      // `\x` is two bytes, and `$${` is `${` without a reference.
      let isPair = byte == UInt8(ascii: "\\") && index + 1 < bytes.count
      if bytes[index...].starts(with: "$${".utf8) {
        typed += "${".utf8
        index += 3
      } else {
        typed += bytes[index...(index + (isPair ? 1 : 0))]
        index += isPair ? 2 : 1
      }
    }
    throw Failure(
      .usage, "golden", "missing closing quote of the file", hint: "expect . golden \"my file.json\"")
  }

  /// The content of a JSON string without its closing quote.
  private static func string(_ json: [UInt8]) throws(Failure) -> String {
    guard case .string(let text)? = try? JSONValue(parsing: json + [UInt8(ascii: "\"")]) else {
      throw Failure(
        .usage, "golden", "the file starts with a quote, but is not a JSON string",
        hint: "expect . golden \"my file.json\"")
    }
    return text
  }
}
