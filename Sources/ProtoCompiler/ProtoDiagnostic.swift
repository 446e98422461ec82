/// An error or a warning about a `.proto` source.
package struct ProtoDiagnostic: Error, Equatable, Sendable {
  package enum Severity: Sendable {
    case error
    case warning
  }

  /// What a caller does more about than to report it.
  package enum Cause: Sendable {
    /// An import that is nowhere.
    case missingImport
    /// A name that nothing declares, perhaps because of an import that is nowhere.
    case undefinedName
  }

  package var severity: Severity
  package var cause: Cause?
  /// The name of the file, as an import names it.
  package var file: String
  /// The line from 1; nil if the whole file is meant.
  package var line: Int?
  /// The column from 1, in bytes; a tab takes up to eight.
  package var column: Int?
  package var text: String
  /// What to do.
  package var hint: String?
  /// The line of the source.
  package var sourceLine: String?

  package init(
    severity: Severity = .error, cause: Cause? = nil, file: String, line: Int? = nil, column: Int? = nil,
    text: String,
    hint: String? = nil,
    sourceLine: String? = nil
  ) {
    self.severity = severity
    self.cause = cause
    self.file = file
    self.line = line
    self.column = column
    self.text = text
    self.hint = hint
    self.sourceLine = sourceLine
  }

  /// `FILE:LINE:COLUMN: text`
  package var summary: String {
    let place = line.map { ":\($0):\(column ?? 1)" } ?? ""
    return "\(file)\(place): \(severity == .warning ? "warning: " : "")\(text)"
  }

  /// The summary, the line of the source with a caret under the column, and the hint, in lines without a final line break.
  package var rendered: String {
    var lines = [summary]
    if let sourceLine, let column {
      lines.append("  " + sourceLine)
      lines.append("  " + String(repeating: " ", count: max(0, column - 1)) + "^")
    }
    if let hint { lines.append("hint: " + hint) }
    return lines.joined(separator: "\n")
  }
}

/// The line and column of an offset in a source, from 1, with the text of the line, in which spaces replace tabs.
struct SourcePosition {
  var line = 1
  var column = 1
  var text: String

  init(_ place: Place, in source: [UInt8]) {
    let offset = min(Int(place.offset), source.count)
    var start = 0
    for index in 0..<offset where source[index] == 0x0a {
      line += 1
      start = index + 1
    }
    var shown: [UInt8] = []
    var index = start
    while index < source.count, source[index] != 0x0a, source[index] != 0x0d, shown.count < 400 {
      if index == offset { column = shown.count + 1 }
      if source[index] == 0x09 {
        shown.append(contentsOf: [UInt8](repeating: 0x20, count: 8 - shown.count % 8))
      } else {
        shown.append(source[index] < 0x20 || source[index] == 0x7f ? UInt8(ascii: "?") : source[index])
      }
      index += 1
    }
    if index <= offset { column = shown.count + 1 + max(0, offset - index) }
    text = String(decoding: shown, as: UTF8.self)
  }
}

/// Collects what is wrong in all files: at most twenty errors and twenty warnings of one.
struct Report {
  private(set) var diagnostics: [ProtoDiagnostic] = []
  /// Errors that are reported after all others, as those of a feature that the edition of its file does not have.
  private var deferred: [ProtoDiagnostic] = []
  private var file = ""
  private(set) var errorCount = 0
  private var warningCount = 0

  static let limit = 20

  /// Begins to count the errors of a file.
  mutating func begin(file: String) {
    self.file = file
    errorCount = 0
    warningCount = 0
  }

  var hasErrors: Bool { errorCount > 0 }
  /// Whether another error of the file would be reported.
  var isOpen: Bool { errorCount < Report.limit }

  mutating func add(
    _ text: String, _ severity: ProtoDiagnostic.Severity = .error, at place: Place, in source: [UInt8],
    cause: ProtoDiagnostic.Cause? = nil, hint: String? = nil, isDeferred: Bool = false
  ) {
    if severity == .error { errorCount += 1 } else { warningCount += 1 }
    guard (severity == .error ? errorCount : warningCount) <= Report.limit else { return }
    var diagnostic = ProtoDiagnostic(severity: severity, cause: cause, file: file, text: text, hint: hint)
    if place != .unknown {
      let position = SourcePosition(place, in: source)
      diagnostic.line = position.line
      diagnostic.column = position.column
      diagnostic.sourceLine = position.text
    }
    if isDeferred { deferred.append(diagnostic) } else { diagnostics.append(diagnostic) }
  }

  /// Adds an error about a file as a whole.
  mutating func add(file: String, _ text: String, hint: String? = nil) {
    diagnostics.append(ProtoDiagnostic(file: file, text: text, hint: hint))
  }

  mutating func finish() {
    diagnostics += deferred
    deferred = []
  }
}
