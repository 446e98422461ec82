import RPCurlBase
import RPCurlProtobuf

/// A condition on the result of a call, such as `status ok` or `.name == Ada`. rpcurl-language(7), CONDITIONS.
package struct Condition: Sendable {
  /// The text that was parsed; after ``filled(_:path:)``, text that is parsed as the same condition.
  package let text: String
  let claim: Claim
  let statuses: StatusNames

  /// Parses a condition.
  ///
  /// - Parameters:
  ///   - text: The text. JSON in it may have several lines.
  ///   - statuses: The codes of a status.
  ///   - hasShortForm: Whether `$name.path` is an expression too, as in sessions: a whole operand, or a value of JSON.
  /// - Throws: ``LanguageError`` if the text is not a condition.
  package init(parsing text: String, statuses: StatusNames, hasShortForm: Bool = false) throws(LanguageError)
  {
    var parser = ConditionParser(text, statuses, hasShortForm: hasShortForm)
    do throws(LanguageError) { claim = try parser.parse() } catch { throw error.withHint }
    self.text = String(text[...].stripped)
    self.statuses = statuses
  }

  private init(_ claim: Claim, _ statuses: StatusNames) {
    self.claim = claim
    self.statuses = statuses
    text = claim.description
  }

  /// Whether its operands have no expressions, so that it can be evaluated.
  package var isLiteral: Bool { claim.operands.allSatisfy(\.isLiteral) }

  /// The expressions in its operands.
  package var expressions: [Expression] { claim.operands.flatMap(\.expressions) }

  /// The condition with the values of the expressions in its operands. A value is inserted as a value: it has no words that
  /// follow an operand, and in a regular expression it is literal text.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - path: Makes the path of a golden file of a template, and refuses values that must not name a file.
  /// - Throws: ``LanguageError`` if there is no such value, or if it is not one of the operand, such as a number.
  package func filled(
    _ values: any TemplateValues, path: (Template) throws(LanguageError) -> String
  ) throws(LanguageError) -> Condition {
    guard !isLiteral else { return self }
    let filled = Condition(try claim.filled(values, path: path), statuses)
    if case .status(let codes, _) = filled.claim {
      for code in codes { _ = try statuses.number(of: code) }
    }
    return filled
  }

  /// Throws if the condition cannot be met by a response of a type: the type has no such field, or an operand is not a value
  /// of the field. Operands with expressions are not checked.
  package func check(against type: MessageType?, files: any GoldenFiles) throws(LanguageError) {
    guard isLiteral else {
      if let type, let path = claim.path { _ = try ValueType(path, in: type) }
      return
    }
    try Evaluation(self, type: type, files: files).check()
  }

  /// The text as reports of a call show it: without the credential that it expects in a header or a trailer.
  package func text(for subject: some Subject) -> String {
    guard case .value(let property, let condition) = claim, let name = property.metadataName else {
      return text
    }
    let shown = condition.description { subject.shown($0, of: name) }
    return shown == condition.description ? text : "\(property) \(shown)"
  }

  /// Whether it is about the end of the call, which a stream that is open does not have.
  package var isAboutEnd: Bool {
    switch claim {
    case .status, .latency, .value(.error, _), .value(.detail, _), .value(.trailer, _): true
    default: false
    }
  }

  /// Whether it is about the status: the call may then end with one other than ok.
  package var isAboutStatus: Bool { if case .status = claim { true } else { false } }

  /// Whether it is about the duration of the call.
  package var isAboutLatency: Bool { if case .latency = claim { true } else { false } }

  /// Whether it is about the connection or the certificate of the server.
  package var isAboutConnection: Bool {
    switch claim {
    case .expiry, .value(.connection, _): true
    default: false
    }
  }

  /// Whether it is about the certificate of the server.
  package var isAboutCertificate: Bool {
    switch claim {
    case .expiry: true
    case .value(.connection(let property), _): ConnectionProperty.ofCertificate.contains(property)
    default: false
    }
  }

  /// Whether it is about messages.
  package var isAboutMessages: Bool {
    switch claim {
    case .count: true
    default: claim.path != nil
    }
  }

  /// Whether a request can meet it: it is about headers, about values in the last message, or about a variable.
  package var isAboutRequest: Bool {
    switch claim {
    case .value(.header, _), .value(.field(.last, _), _), .value(.value, _): goldenPath == nil
    default: false
    }
  }

  /// Whether it is about headers.
  package var isAboutHeaders: Bool { if case .value(.header, _) = claim { true } else { false } }

  /// The file that it compares with; nil if there is none.
  package var goldenPath: String? {
    guard case .value(_, let condition) = claim, case .golden(let path, _) = condition.test else {
      return nil
    }
    return path.literal
  }
}

extension Condition: CustomStringConvertible {
  /// The text of the condition; parsing it gives the same condition.
  package var description: String { claim.description }
}

/// What the evaluation of a condition found.
package enum ConditionOutcome: Equatable {
  /// The result is as expected.
  case holds
  /// The result differs.
  case fails(Mismatch)
  /// The condition does not fit the result: its schema lacks the field, or its value is of another type.
  case invalid(reason: String, hint: String?)
}

/// How a result differs from what a condition expects. Each text is cut at 4 KiB.
package struct Mismatch: Equatable {
  /// The longest text, in bytes, without the remark that it is cut.
  static let limitBytes = 4096

  /// What the condition expects.
  package var expected: String
  /// What the result has, with credentials redacted.
  package var got: String
  /// The lines of JSON that differ: `- ` expected, `+ ` received, and up to three lines around them, after two
  /// blanks. A line `  …` is in the place of equal lines. Nil for values of one line.
  package var diff: String?

  /// Makes a mismatch of texts.
  package init(_ expected: String, got: String, diff: String? = nil) {
    self.expected = expected.cut(toBytes: Self.limitBytes)
    self.got = got.cut(toBytes: Self.limitBytes)
    self.diff = diff?.cut(toBytes: Self.limitBytes)
  }
}

extension Mismatch: CustomStringConvertible {
  /// The difference for people, on one line: `expected X, got Y`, and in parentheses the lines that differ.
  package var description: String {
    var changes: [String] = []
    // A value of several lines becomes one.
    var last: Character?
    for line in diff?.split(separator: "\n") ?? [] {
      let mark = line.first.flatMap { "-+".contains($0) ? $0 : nil }
      defer { last = mark }
      guard let mark else { continue }
      let content = line.dropFirst().drop { $0 == " " }
      if mark == last {
        changes[changes.count - 1] += "\(changes.last?.last == "," ? " " : "")\(content)"
      } else {
        changes.append("\(mark) \(content)")
      }
    }
    let shown = changes.map { $0.last == "," ? String($0.dropLast()) : $0 }.joined(separator: ", ")
    return "expected \(expected), got \(got)\(shown.isEmpty ? "" : " (\(shown))")"
  }

  /// The difference for reports: `expected X, got Y`, and after it the lines of JSON that differ.
  package var lines: String { "expected \(expected), got \(got)\(diff.map { "\n\($0)" } ?? "")" }

}

/// The golden files of conditions.
package protocol GoldenFiles {
  /// Whether files that differ are written, instead of reported (`--update`).
  var isUpdating: Bool { get }
  /// The content of a file; nil if it does not exist.
  func read(_ path: String) throws(SystemError) -> [UInt8]?
  /// Makes bytes the content of a file, which it may have already.
  ///
  /// - Throws: `SystemError` if that fails, or if another check of the run needs another content.
  func write(_ path: String, _ content: [UInt8]) throws(SystemError)
}

/// No golden files, for conditions that cannot have one.
package struct NoGoldenFiles: GoldenFiles {
  package let isUpdating = false

  /// Makes it.
  package init() {}

  package func read(_ path: String) throws(SystemError) -> [UInt8]? {
    throw SystemError("golden is for expect")
  }

  package func write(_ path: String, _ content: [UInt8]) throws(SystemError) {
    throw SystemError("golden is for expect")
  }
}

extension String {
  /// The text, cut at a limit with a remark.
  func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return "\(self[..<end])… (cut at \(limit) bytes)"
  }
}
