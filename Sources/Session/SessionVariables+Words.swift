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
    // The path, and the same with a mark in place of each value.
    var (out, marked) = ("", "")
    for part in try parts(of: word, withoutBraces: withoutBraces) {
      if case .value(let value) = part {
        guard !value.unicodeScalars.contains(where: { $0 == "/" || $0.value < 0x20 || $0.value == 0x7F })
        else {
          throw Self.leadingElsewhere("contains / or a control character")
        }
        guard !out.isEmpty || !value.begins(with: "-") else { throw Self.leadingElsewhere("begins with -") }
        marked += "\0"
      } else {
        marked += part.text
      }
      out += part.text
    }
    for (name, marked) in zip(Self.names(of: out), Self.names(of: marked)) where marked.contains("\0") {
      guard !["", ".", ".."].contains(String(name)) else { throw Self.leadingElsewhere("names a directory") }
    }
    return out
  }

  private static func names(of path: String) -> [String.UnicodeScalarView.SubSequence] {
    path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
  }

  private static func leadingElsewhere(_ why: String) -> Failure {
    Failure(
      .input, "", "the value of a reference in the name of a file \(why)",
      hint: "a value is part of a name; type the directory: DIRECTORY/${NAME}")
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
    let isOption = word.begins(with: "-")
    var out: [Unicode.Scalar] = []
    /// Where the argument of an option begins; nil within the option's name.
    var start: Int? = isOption ? nil : 0
    var beginsWithValue = false
    for part in try parts(of: word) {
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
    return String(String.UnicodeScalarView(out))
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
  /// - Throws: `Failure` also if a value would add a setting, or would name a variable of the environment to read.
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
  fileprivate static func refuse(
    _ value: ArraySlice<Unicode.Scalar>, beginningWith sources: [String]
  ) throws(Failure) {
    guard let source = sources.first(where: { value.starts(with: $0.unicodeScalars) }) else { return }
    throw Failure(
      .usage, "", "the value of the reference begins with \(source), which would read something else",
      hint: "type \(source) in front of the reference if that is intended")
  }

  // MARK: Parts

  private enum WordPart {
    case typed(String)
    case value(String)

    var text: String {
      switch self {
      case .typed(let text), .value(let text): text
      }
    }
  }

  /// Splits a word into what was typed and the values of its references: `${name.path}`, and `$name.path` if it is the
  /// whole word or `withoutBraces` is set.
  private func parts(of word: String, withoutBraces: Bool = false) throws(Failure) -> [WordPart] {
    guard word.utf8.contains(UInt8(ascii: "$")) else { return [.typed(word)] }
    let bytes = Array(word.utf8)
    if bytes.first == UInt8(ascii: "$"), VariableReference.end(in: bytes, from: 0) == bytes.count {
      return [.value(Self.text(try value(Self.reference(bytes[...]))))]
    }
    var parts: [WordPart] = []
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

/// A specification of an interceptor whose references are replaced: the commas of values are doubled.
private struct ExpandedSpecification {
  private enum Place {
    case name
    case key
    /// The value of a setting, which begins at `start`.
    case value(start: Int, beginsWithReference: Bool)
  }

  private var scalars: [Unicode.Scalar] = []
  private var place = Place.name

  /// Adds what the user typed.
  mutating func type(_ text: String) throws(Failure) {
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      scalars.append(scalar)
      switch (scalar, place) {
      case (",", _) where rest.first == ",": scalars.append(rest.removeFirst())
      case (",", _):
        scalars.removeLast()
        try endSetting()
        scalars.append(scalar)
        place = .key
      case ("=", .key): place = .value(start: scalars.count, beginsWithReference: false)
      default: break
      }
    }
  }

  /// Adds the value of a reference.
  mutating func add(_ value: String) throws(Failure) {
    switch place {
    case .name:
      // `?` in front of a plugin makes it optional.
      guard !value.contains(","), !scalars.isEmpty || !value.begins(with: "?") else {
        throw Failure(.usage, "", "a value cannot contain settings", hint: "write NAME,KEY=${NAME}")
      }
      guard !value.contains("/") else {
        throw Failure(.usage, "", "a value cannot be the path of a plugin", hint: "type the path")
      }
    case .key: throw Failure(.usage, "", "a value cannot be the key of a setting", hint: "write KEY=${NAME}")
    case .value(let start, let beginsWithReference):
      place = .value(start: start, beginsWithReference: beginsWithReference || scalars.count == start)
    }
    for scalar in value.unicodeScalars { scalars += scalar == "," ? [scalar, scalar] : [scalar] }
  }

  /// Ends the specification, and returns its text.
  mutating func ended() throws(Failure) -> String {
    try endSetting()
    return String(String.UnicodeScalarView(scalars))
  }

  private mutating func endSetting() throws(Failure) {
    guard case .value(let start, true) = place else { return }
    try SessionVariables.refuse(scalars[start...], beginningWith: ["env:"])
    // `@@` is a value that begins with `@`.
    if scalars.dropFirst(start).first == "@" { scalars.insert("@", at: start) }
  }
}
