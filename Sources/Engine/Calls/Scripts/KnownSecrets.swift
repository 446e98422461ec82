import RPCurlLanguage
import RPCurlProtobuf

/// Secrets whose values are known, so that a command has variables in their place wherever they occur.
package struct KnownSecrets {
  /// Replaces the secrets.
  package private(set) var mask = SecretMask()
  /// The variables with these values.
  private var origins: [String: WrittenSecrets.Placeholder] = [:]

  /// Has no secret yet.
  package init() {}

  /// Adds secrets.
  ///
  /// - Parameter origin: The variable that has this value; nil if it is not that of a variable.
  package mutating func add(_ values: [String], of origin: WrittenSecrets.Placeholder? = nil) {
    mask.add(values)
    guard let origin else { return }
    for value in values where origins[value] == nil { origins[value] = origin }
  }

  /// Adds the values of a variable of the language.
  package mutating func add(_ values: [String], ofVariable name: String) {
    add(values, of: WrittenSecrets.Placeholder(name: name, meaning: "the value of the variable \(name)"))
  }

  /// Adds the secrets of a mask.
  package mutating func add(_ other: SecretMask) { mask.add(other) }

  /// The secrets and what replaces them: first those of variables, and a longer one before its parts.
  var placeholders: [(secret: String, placeholder: WrittenSecrets.Placeholder)] {
    let other = WrittenSecrets.Placeholder(name: "secret", meaning: "a secret of the session")
    return mask.secrets.sorted {
      (origins[$0] == nil ? 1 : 0, $1.utf8.count, $0) < (origins[$1] == nil ? 1 : 0, $0.utf8.count, $1)
    }.map { ($0, origins[$0] ?? other) }
  }

  /// A whole text without the secrets: it was not cut, so that the start of a secret at its end is shown.
  func apply(_ text: String) -> String {
    mask.isEmpty ? text : String(mask.apply(text + "\0").unicodeScalars.dropLast())
  }
}

extension WrittenSecrets {
  /// Puts variables in place of the known secrets in a word of a command, and placeholders in place of those in another form,
  /// such as base64.
  ///
  /// - Parameter isJSON: Whether the word is JSON, in which secrets have escapes.
  mutating func hiding(_ word: ShellText, isJSON: Bool = false) -> ShellText {
    guard !showsSecrets, !word.allTexts({ known.apply($0) == $0 }) else { return word }
    return replacingKnown(in: word, isJSON: isJSON).mappingTexts(known.apply)
  }

  /// Puts variables in place of the known secrets in a word, as above.
  mutating func replacingKnown(in word: ShellText, isJSON: Bool) -> ShellText {
    var word = word
    for (secret, origin) in known.placeholders {
      let written = isJSON ? String(JSONValue.quoted(secret).dropFirst().dropLast()) : secret
      guard !word.allTexts({ !$0.contains(written) }) else { continue }
      let form = written == secret ? "" : ", with the escapes of JSON"
      let variable = placeholder(origin.name, origin.meaning + form, for: written, separates: true)
      word = word.replacing(written, withVariable: variable.name)
    }
    return word
  }
}
