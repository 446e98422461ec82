import CommandLine
import Output

/// The values of references in the words of commands.
///
/// Values may come from a server. They are data: what a command does is in the text that the user typed.
extension SessionVariables {
  /// Replaces the references in a word of a command: the whole word may be `$name.path`, any part `${name.path}`.
  package func expand(word: String) throws(Failure) -> String {
    var out = ""
    for part in try parts(of: word) { out += part.text }
    return out
  }

  /// Replaces the references in text: `$name.path` and `${name.path}`.
  func expand(text: String) throws(Failure) -> String {
    var out = ""
    for part in try parts(of: text, withoutBraces: true) { out += part.text }
    return out
  }

  /// Replaces the references in the name of a file, which may come from a server: a value may be a part of a name, and does
  /// not lead to another directory.
  ///
  /// - Parameter withoutBraces: Whether references need no braces.
  func expand(path word: String, withoutBraces: Bool = false) throws(Failure) -> String {
    let path = ExpandedText(try parts(of: word, withoutBraces: withoutBraces))
    try path.checkPath()
    return path.text
  }

  /// Replaces the references in the operator and the words of a check, such as `!= ${code}`.
  ///
  /// - Throws: `Failure` also if a value would be an operator, or more than one word.
  func expand(words text: String) throws(Failure) -> String {
    var out = ""
    for part in try parts(of: text, withoutBraces: true) {
      if case .value(let value) = part,
        let other = value.unicodeScalars.first(where: {
          !$0.properties.isAlphabetic && !"0123456789_-.".unicodeScalars.contains($0)
        })
      {
        throw Failure(
          .input, "", "the value of the reference contains \"\(other)\"",
          hint: "a value is one status code, number or duration")
      }
      out += part.text
    }
    return out
  }

  /// Replaces the references in a word that is an argument of the command line.
  ///
  /// - Throws: `Failure` also if a value would be an option, or would name a file or a variable of the environment to
  ///   read.
  package func expand(argument word: String) throws(Failure) -> String {
    try expanded(argument: word).text
  }

  /// Replaces the references in a word, as above.
  func expanded(argument word: String) throws(Failure) -> ExpandedText {
    let parts = try parts(of: word)
    let isOption = word.begins(with: "-")
    var out: [Unicode.Scalar] = []
    /// Where the argument of an option begins; nil within the option's name.
    var start: Int? = isOption ? nil : 0
    var beginsWithValue = false
    for part in parts {
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
      try Self.refuse(out[start...], beginningWith: ["@", "env:"])
    }
    return ExpandedText(parts)
  }

  /// Replaces the references in a target: in `unix:PATH`, a value is a part of a name.
  package func expand(target word: String) throws(Failure) -> String {
    let target = ExpandedText(try parts(of: word))
    if target.text.hasPrefix("unix:") { try target.after(":")?.checkPath() }
    return target.text
  }

  /// Refuses a header `NAME: VALUE` in which the name would end within the value of a reference.
  package func checkName(ofHeader line: String) throws(Failure) {
    guard try isTyped(":", in: line) else {
      throw Failure(
        .usage, "", "a value cannot end the name of a header", hint: "write the colon: header NAME: ${NAME}")
    }
  }

  /// Refuses an attribute `KEY=VALUE` in which the key would end within the value of a reference.
  package func checkKey(ofAttribute text: String) throws(Failure) {
    guard try isTyped("=", in: text) else {
      throw Failure(
        .usage, "", "a value cannot end the key of an attribute", hint: "write: attribute KEY=${NAME}")
    }
  }

  /// Whether the first `delimiter` of a text is not in the value of a reference. True if there is none.
  private func isTyped(_ delimiter: Unicode.Scalar, in text: String) throws(Failure) -> Bool {
    for part in try parts(of: text) where part.text.unicodeScalars.contains(delimiter) {
      if case .typed = part { return true }
      return false
    }
    return true
  }

  /// Replaces the references in what adds an interceptor: `NAME[,KEY=VALUE…]`.
  ///
  /// - Throws: `Failure` also if a value would add a setting, would name a variable of the environment to read or a file in
  ///   another directory, or would be part of a command.
  package func expand(specification text: String) throws(Failure) -> String {
    var specification = ExpandedSpecification()
    for part in try parts(of: text) {
      switch part {
      case .typed(let text): try specification.type(text)
      case .value(let value): try specification.add(value)
      }
    }
    return try specification.ended()
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

  // MARK: Parts

  /// Splits a word into what was typed and the values of its references: `${name.path}`, and `$name.path` if it is the
  /// whole word or `withoutBraces` is set.
  func parts(of word: String, withoutBraces: Bool = false) throws(Failure) -> [ExpandedText.Part] {
    guard word.utf8.contains(UInt8(ascii: "$")) else { return [.typed(word)] }
    let bytes = Array(word.utf8)
    if bytes.first == UInt8(ascii: "$"), VariableReference.end(in: bytes, from: 0) == bytes.count {
      return [.value(Self.text(try value(Self.reference(bytes[...]))))]
    }
    var parts: [ExpandedText.Part] = []
    var typed: [UInt8] = []
    var size = 0
    var index = 0
    while index < bytes.count {
      if bytes[index...].starts(with: "$${".utf8) {
        index += 1
      } else if bytes[index...].starts(with: (withoutBraces ? "$" : "${").utf8),
        let end = VariableReference.end(in: bytes, from: index)
      {
        let reference = try Self.reference(bytes[index..<end])
        let text = Self.text(try value(reference))
        try checkLength(size, text, of: reference)
        size += text.utf8.count
        if !typed.isEmpty { parts.append(.typed(String(decoding: typed, as: UTF8.self))) }
        typed = []
        parts.append(.value(text))
        index = end
        continue
      }
      typed.append(bytes[index])
      size += 1
      index += 1
    }
    return parts + [.typed(String(decoding: typed, as: UTF8.self))]
  }
}
