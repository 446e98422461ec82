/// An error in a file: its place and the reason.
struct DocumentError: Error, Equatable, CustomStringConvertible {
  let file: String
  /// The line, counted from 1; `nil` if the error concerns the whole file.
  let line: Int?
  let reason: String

  /// `FILE:LINE: REASON`
  var description: String { "\(file)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}

/// A place in a file, for later errors.
struct DocumentPlace: Sendable, CustomStringConvertible {
  let file: String
  let line: Int

  var description: String { "\(file):\(line)" }

  func error(_ reason: String) -> DocumentError { DocumentError(file: file, line: line, reason: reason) }
}
