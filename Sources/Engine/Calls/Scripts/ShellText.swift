import RPCurlProtobuf

/// A word of a POSIX shell: text, in which variables and the output of commands are inserted.
package struct ShellText: Equatable, ExpressibleByStringLiteral {
  private enum Part: Equatable {
    case text(String)
    case variable(String)
    case output(of: String)
  }

  private var parts: [Part] = []

  package init(stringLiteral text: String) {
    self.init(text)
  }

  /// The text as it is.
  package init(_ text: String) {
    parts = [.text(text)]
  }

  /// A word with the value of a variable at its end.
  package init(_ word: WrittenSecrets.Word) {
    parts = [.text(word.before)] + (word.placeholder.map { [.variable($0.name)] } ?? [])
  }

  private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  /// The value of a variable.
  package static func variable(_ name: String) -> ShellText { ShellText([.variable(name)]) }

  /// The output of a shell command, without the line feeds at its end.
  package static func output(of command: String) -> ShellText { ShellText([.output(of: command)]) }

  private init(_ parts: [Part]) {
    self.parts = parts
  }

  /// The word as an element of a list with commas between, in the quotes that buf's lists have.
  package var listElement: ShellText {
    let isPlain = parts.allSatisfy { part in
      if case .text(let text) = part { !text.contains(",") && !text.contains("\"") } else { false }
    }
    guard !isPlain else { return self }
    let escaped = parts.map { part -> Part in
      if case .text(let text) = part { .text(text.replacing("\"", with: "\"\"")) } else { part }
    }
    return ShellText([.text("\"")] + escaped + [.text("\"")])
  }

  /// The word with a variable in place of a text.
  func replacing(_ text: String, withVariable name: String) -> ShellText {
    ShellText(
      parts.flatMap { part -> [Part] in
        guard case .text(let content) = part else { return [part] }
        let rest = content.split(separator: text, omittingEmptySubsequences: false)
        return Array(rest.map { [.text(String($0))] }.joined(separator: [.variable(name)]))
      })
  }

  /// Whether it has no variable and no command.
  var isLiteral: Bool { parts.allSatisfy { if case .text = $0 { true } else { false } } }

  /// Whether all text in it has a property.
  func allTexts(_ satisfy: (String) -> Bool) -> Bool {
    parts.allSatisfy { if case .text(let text) = $0 { satisfy(text) } else { true } }
  }

  /// The word with its texts changed.
  func mappingTexts(_ change: (String) -> String) -> ShellText {
    ShellText(parts.map { if case .text(let text) = $0 { .text(change(text)) } else { $0 } })
  }

  package static func + (first: ShellText, second: ShellText) -> ShellText {
    ShellText(first.parts + second.parts)
  }

  // MARK: Writing

  /// The word with the quotes that it needs.
  package var quoted: String {
    if case .text(let text)? = parts.first, parts.count == 1 { return Self.quoted(text) }
    let texts = parts.map { part -> String? in if case .text(let text) = part { text } else { nil } }
    let literal = texts.compactMap(\.self)
    guard literal.count == texts.count else { return "\"\(parts.map(Self.withinDoubleQuotes).joined())\"" }
    return Self.quoted(literal.joined())
  }

  /// The word as text of a here-document.
  ///
  /// - Parameter isExpanded: Whether the shell replaces variables in the document.
  func inDocument(isExpanded: Bool) -> String {
    parts.map { part in
      guard case .text(let text) = part else { return Self.withinDoubleQuotes(part) }
      return isExpanded ? SessionWords.escaped(text, "\\$`") : text
    }.joined()
  }

  private static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.unicodeScalars.allSatisfy { isNamePart($0) || "-./:=,@%+".unicodeScalars.contains($0) }
    guard !isPlain else { return text }
    var quoted = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" {
        quoted += "'\\''"
      } else if let command = command(printing: scalar) {
        // A terminal must not obey a command that is only shown.
        quoted += "'\"\(command)\"'"
      } else {
        quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "'"
  }

  private static func withinDoubleQuotes(_ part: Part) -> String {
    switch part {
    case .variable(let name): return "${\(name)}"
    case .output(let command): return "$(\(command))"
    case .text(let text):
      var escaped = ""
      for scalar in text.unicodeScalars {
        if let command = command(printing: scalar) {
          escaped += command
          continue
        }
        if "\"\\$`".unicodeScalars.contains(scalar) { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
      }
      return escaped
    }
  }

  /// The substitution of a character that controls terminals; nil for any other.
  private static func command(printing scalar: Unicode.Scalar) -> String? {
    guard scalar.steersReader, scalar != "\n", scalar != "\t" else { return nil }
    return "$(printf '\(String(scalar).utf8.map(octal).joined())')"
  }

  /// The format of `printf` that prints these bytes, without quotes.
  package static func format(printing bytes: [UInt8]) -> String {
    var format = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "'"): format += octal(byte)
      // At the start, it would be an option.
      case UInt8(ascii: "-") where format.isEmpty: format += octal(byte)
      case 0x20..<0x7F: format.unicodeScalars.append(Unicode.Scalar(byte))
      default: format += octal(byte)
      }
    }
    return format
  }

  private static func octal(_ byte: UInt8) -> String {
    "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
  }
}
