import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// Text whose values are inserted: what was typed, and the values, which may come from a server.
struct ExpandedText {
  private(set) var parts: [Template.Piece] = []

  init(_ parts: [Template.Piece] = []) { self.parts = parts }

  mutating func append(_ part: Template.Piece) { parts.append(part) }

  var text: String { parts.reduce(into: "") { $0 += $1.text } }

  /// What was typed before the first value.
  var typedStart: String {
    parts.prefix { if case .typed = $0 { true } else { false } }.reduce(into: "") { $0 += $1.text }
  }

  /// Whether a part of it is a value.
  var hasValue: Bool {
    parts.contains { if case .value = $0 { true } else { false } }
  }

  /// The last `count` Unicode scalars, with a value before them that is empty.
  func suffix(_ count: Int) -> ExpandedText {
    var (kept, missing) = ([Template.Piece](), count)
    for part in parts.reversed() {
      guard missing > 0 || part.text.isEmpty else { break }
      let scalars = part.text.unicodeScalars.suffix(missing)
      missing -= scalars.count
      if case .value = part {
        kept.append(.value(.string(String(scalars))))
      } else {
        kept.append(.typed(String(scalars)))
      }
    }
    return ExpandedText(kept.reversed())
  }

  /// What follows the first `scalar`; nil if it is not found.
  func after(_ scalar: Unicode.Scalar) -> ExpandedText? {
    let scalars = text.unicodeScalars
    guard let index = scalars.firstIndex(of: scalar) else { return nil }
    return suffix(scalars.distance(from: index, to: scalars.endIndex) - 1)
  }

  // MARK: Names of files

  /// Refuses a value of an option that would lead to another directory.
  func checkFile(_ form: Option.PathForm) throws(Failure) {
    switch form {
    case .whole: try checkPath()
    case .afterAt:
      let text = text
      if text.begins(with: "@") { try suffix(text.unicodeScalars.count - 1).checkPath() }
    case .interceptor, .command, .none: break
    }
  }

  /// Refuses the path of a file, unless each value is only a part of a name in it.
  func checkPath() throws(Failure) {
    // The path, and the same with a mark in place of each value.
    var (out, marked) = ("", "")
    for part in parts {
      if case .value = part {
        let value = part.text
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
  }

  private static func names(of path: String) -> [String.UnicodeScalarView.SubSequence] {
    path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
  }

  private static func leadingElsewhere(_ why: String) -> Failure {
    Failure(
      .input, "", "the value of a reference in the name of a file \(why)",
      hint: "a value is part of a name; type the directory: DIRECTORY/${NAME}")
  }
}

extension Argument {
  /// Refuses an option with a file if a value of a reference would lead to another directory.
  ///
  /// - Parameter words: The words of the command line with the option.
  func checkFile(in words: [ExpandedText]) throws(Failure) {
    let form = OptionTable[id].pathForm
    guard case .typed(let index) = origin, let text, form != .none else { return }
    // The value of the option is a part of its word, or the next word.
    let end = words[index].suffix(text.unicodeScalars.count)
    if end.text == text { try end.checkFile(form) }
    if words.indices.contains(index + 1), words[index + 1].text == text {
      try words[index + 1].checkFile(form)
    }
  }
}

extension Failure {
  /// The failure for text with values that is invalid, or whose values do not exist.
  init(_ error: LanguageError) {
    self = Failure(.input, "", error.reason, hint: error.hint).lacking(error.missingName)
  }
}
