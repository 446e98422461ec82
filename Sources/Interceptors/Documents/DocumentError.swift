/// What is wrong with a file that a user names: where, and what.
struct DocumentError: Error, Equatable, CustomStringConvertible {
  let file: String
  /// Counted from 1; `nil` when it is about the whole file.
  let line: Int?
  let reason: String

  /// `FILE:LINE: REASON`
  var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}

/// A place in a file, for what is found wrong there later.
struct DocumentPlace: Sendable, CustomStringConvertible {
  let file: String
  let line: Int

  var description: String { "\(file):\(line)" }

  func error(_ reason: String) -> DocumentError { DocumentError(file: file, line: line, reason: reason) }
}
