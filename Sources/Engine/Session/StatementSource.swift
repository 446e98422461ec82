import RPCurlProgram

/// The statements of a file of session commands, one after another.
struct StatementSource {
  private var lines: IndexingIterator<[ArraySlice<UInt8>]>
  private var reader = SessionStatementReader()
  private var number = 0
  /// The first line of the last statement, counted from 1.
  private(set) var line = 0
  private var isFirst = true
  /// Whether the first statement says that the file is one of shared steps, which the other files run by `source`.
  private(set) var isShared = false

  /// Reads a text. It is split at line feeds only, as at the prompt: JSON strings may contain the other line ends of Unicode.
  init(_ text: [UInt8]) {
    lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).makeIterator()
  }

  /// The next statement, or why it is invalid; nil at the end.
  mutating func next() -> Result<SessionStatement, Failure>? {
    while let line = lines.next() {
      number += 1
      if !reader.isWithin { self.line = number }
      do throws(Failure) {
        guard let statement = try reader.add(InputLine(line)) else { continue }
        defer { isFirst = false }
        isShared = isShared || isFirst && statement.text == "shared"
        if isFirst, isShared { continue }
        return .success(statement)
      } catch {
        return .failure(error)
      }
    }
    guard reader.isWithin else { return nil }
    defer { reader.reset() }
    return .failure(
      reader.failure ?? Failure(.input, "", "the value is not complete at the end of the file"))
  }
}
