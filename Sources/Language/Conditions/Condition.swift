/// A condition on the result of a call, such as `status ok` or `.name == "Ada"`.
package struct Condition {
  /// The text that was parsed.
  package let text: String
  let claim: Claim

  /// Parses a condition.
  ///
  /// - Parameters:
  ///   - text: The text. JSON in it may have several lines.
  ///   - statuses: The codes of a status.
  /// - Throws: ``LanguageError`` if the text is not a condition.
  package init(parsing text: String, statuses: StatusNames) throws(LanguageError) {
    var parser = ConditionParser(text, statuses)
    claim = try parser.parse()
    self.text = String(text[...].stripped)
  }

  /// Evaluates the condition.
  ///
  /// - Parameters:
  ///   - result: The result of a call.
  ///   - files: The golden files.
  package func evaluate(_ result: some Subject, files: any GoldenFiles) -> ConditionOutcome {
    do throws(LanguageError) {
      guard let mismatch = try Evaluation(result, files).mismatch(claim) else { return .holds }
      return .fails(mismatch)
    } catch {
      return .invalid(reason: error.reason, hint: error.hint)
    }
  }

  /// Whether it is about the end of the call, which a stream that is open does not have.
  package var isAboutEnd: Bool {
    switch claim {
    case .status, .error, .detail, .trailer, .latency: true
    default: false
    }
  }

  /// Whether it is about the status: the call may then end with one other than ok.
  package var isAboutStatus: Bool {
    if case .status = claim { return true }
    return false
  }
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

/// The golden files of conditions.
package protocol GoldenFiles {
  /// Whether files that differ are written, instead of reported (`--update`).
  var isUpdating: Bool { get }
  /// The content of a file; nil if it does not exist.
  func read(_ path: String) throws(GoldenFileError) -> [UInt8]?
  /// Replaces the content of a file.
  func write(_ path: String, _ text: String) throws(GoldenFileError)
}

/// Why a golden file cannot be read or written.
package struct GoldenFileError: Error, Equatable {
  /// The reason, without the name of the file.
  package let reason: String

  /// Makes an error.
  package init(_ reason: String) { self.reason = reason }
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
