import RPCurlLanguage

/// A place in a file, for later errors.
struct DocumentPlace: Sendable, CustomStringConvertible {
  let file: String
  /// The line, counted from 1; nil for the whole file.
  let line: Int?

  /// `FILE:LINE`
  var description: String { "\(file)\(line.map { ":\($0)" } ?? "")" }

  /// `FILE:LINE: REASON`
  func error(_ reason: String) -> LanguageError { LanguageError("\(self): \(reason)") }
}
