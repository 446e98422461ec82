import RPCurlLanguage
import RPCurlProgram

/// The values in the words of commands.
///
/// Values may come from a server. They are data: what a command does is in the text that the user typed.
extension SessionVariables {
  /// Inserts values into a word of a command: the whole word may be `$name.path`, any part `${…}`.
  package func expand(word: String) throws(Failure) -> String {
    try expanded(template(word)).text
  }

  /// Inserts values into the name of a file: a value may be a part of a name, and does not lead to another directory.
  /// A tilde that was typed at its start is the home directory.
  func expand(path word: String) throws(Failure) -> String {
    guard word == "~" || word.hasPrefix("~/"), let home = environment("HOME") else {
      return try expand(path: template(word))
    }
    return home + (try expand(path: template(word.dropFirst())))
  }

  /// Inserts values into the name of a file, as above.
  func expand(path template: Template) throws(Failure) -> String {
    let path = try expanded(template)
    try path.checkPath()
    return path.text
  }

  /// Inserts values into a word that is an argument of the command line.
  ///
  /// - Throws: `Failure` also if a value would be an option, or would name a file or a variable of the environment to
  ///   read.
  package func expand(argument word: String) throws(Failure) -> String {
    try expanded(argument: word).text
  }

  /// Inserts values into a word, as above.
  func expanded(argument word: String) throws(Failure) -> ExpandedText {
    let expanded = try expanded(template(word))
    let isOption = word.begins(with: "-")
    var out: [Unicode.Scalar] = []
    /// Where the argument of an option begins; nil within the option's name.
    var start: Int? = isOption ? nil : 0
    var beginsWithValue = false
    for part in expanded.parts {
      if case .value = part {
        guard let start else {
          throw Failure(
            .usage, "", "a value cannot be part of an option's name", hint: "write --OPTION=${NAME}")
        }
        beginsWithValue = beginsWithValue || out.count == start
      }
      out += part.text.unicodeScalars
      if start == nil { start = out.firstIndex(of: "=").map { $0 + 1 } }
    }
    if beginsWithValue, let start {
      if !isOption, out.first == "-" {
        throw Failure(.usage, "", "a value cannot be an option", hint: "write --OPTION=${NAME}")
      }
      try Self.refuse(out[start...], beginningWith: ["@", "env:", "cmd:"])
    }
    return expanded
  }

  /// Inserts values into a target, which no server chooses: in `unix:PATH`, a value is a part of a name.
  package func expand(target word: String) throws(Failure) -> String {
    let template = try template(word)
    guard !isFromServer(template.expressions) else {
      throw Failure(
        .input, "", "a value that a server sent cannot be a part of the target",
        hint: "type the target, or give it with --var")
    }
    let target = try expanded(template)
    if target.text.hasPrefix("unix:") { try target.after(":")?.checkPath() }
    return target.text
  }

  /// Inserts values into `NAME: VALUE` or `KEY=VALUE`, of which a value may be `$name.path`. The separator is typed.
  ///
  /// - Returns: The text; nil without a separator.
  /// - Throws: `Failure` also if a value would end the name.
  func expand(pair text: String, separator: Unicode.Scalar) throws(Failure) -> ExpandedText? {
    guard let (name, typed) = try template(text, hasShortForm: false).split(at: separator) else { return nil }
    var value = typed
    if let text = typed.literal {
      do throws(LanguageError) {
        let short = try Template(literal: String(text[...].withoutOuterSpace)).withShortForm()
        if short.literal == nil { value = short }
      } catch {
        throw Failure(error)
      }
    }
    let start = try expanded(name)
    guard !start.text.unicodeScalars.contains(separator) else {
      throw Failure(
        .usage, "", "a value contains \"\(separator)\", which would end the name",
        hint: "type the name: NAME\(separator)${VALUE}")
    }
    return ExpandedText(start.parts + [.typed(String(separator))] + (try expanded(value).parts))
  }

  /// Inserts values into what adds an interceptor: `NAME[,KEY=VALUE…]`.
  ///
  /// - Throws: `Failure` also if a value would add a setting, would name a variable of the environment to read or a file in
  ///   another directory, or would be part of a command.
  package func expand(specification text: String) throws(Failure) -> String {
    var specification = ExpandedSpecification(self)
    for part in try template(text).parts {
      switch part {
      case .text(let text): try specification.type(text)
      case .value(let expression):
        if specification.isInCondition {
          specification.add(expression)
          continue
        }
        let value = try plainText(of: expression)
        // A value is not expanded again.
        guard !text.contains("expand=") || !value.contains("${") else {
          throw Failure(
            .usage, "", "a value contains ${, which expand=true would replace", hint: "omit expand")
        }
        try specification.add(value)
      }
    }
    return try specification.ended()
  }

  private func plainText(of expression: Expression) throws(Failure) -> String {
    do throws(LanguageError) { return try value(of: expression).plainText } catch { throw Failure(error) }
  }

  /// Refuses a value that would be read from elsewhere.
  static func refuse(
    _ value: ArraySlice<Unicode.Scalar>, beginningWith sources: [String]
  ) throws(Failure) {
    guard let source = sources.first(where: { value.starts(with: $0.unicodeScalars) }) else { return }
    throw Failure(
      .usage, "", "the value of the reference begins with \(source), which would read something else",
      hint: "type \(source) in front of the reference if that is intended")
  }
}
