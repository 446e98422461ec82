import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

/// The history file, in `$XDG_STATE_HOME/rpcurl`: an entry on each line, with a vertical tab for each line feed in it.
///
/// Concurrent sessions keep each other's lines: see ``SharedFile``.
package struct HistoryFile {
  /// The largest number of lines.
  package static let limit = 1_000
  private static let lineFeed = "\u{0B}"
  /// Longer lines are not saved (bytes).
  private static let longestLine = 1 << 16
  /// Larger files are neither read nor replaced (bytes): rpcurl does not write such a file.
  private static let largestFile = 64 << 20

  private let directory: String
  private let isSecret: (_ line: String) -> Bool
  package var path: String { "\(directory)/history" }
  /// The lines that are not written yet.
  private var waiting: [String] = []

  /// The user's history file; nil if neither `XDG_STATE_HOME` nor `HOME` names a directory.
  ///
  /// - Parameters:
  ///   - environment: Returns the value of an environment variable.
  ///   - isSecret: Whether a line contains a credential; such lines are not written.
  package init?(environment: (String) -> String?, isSecret: @escaping (_ line: String) -> Bool) {
    self.isSecret = isSecret
    guard let base = UserDirectory.state.path(environment) else { return nil }
    directory = "\(base)/rpcurl"
  }

  /// The lines of the file, oldest first, except those that are not UTF-8.
  ///
  /// - Throws: `SystemError` if the file exists and cannot be read; it is not replaced then.
  package func lines() throws(SystemError) -> [String] {
    if isUnwanted { return [] }
    try checkType()
    do {
      return try Self.lines(FileContents.read(path, limitBytes: Self.largestFile)).compactMap {
        String(validating: $0, as: UTF8.self)?.replacing(Self.lineFeed, with: "\n")
      }
    } catch {
      guard error.isMissing else { throw error }
      return []
    }
  }

  /// With a link to `/dev/null`, a user asks for no history.
  private var isUnwanted: Bool { FileFacts(path)?.kind == .characterDevice }

  private func checkType() throws(SystemError) {
    guard FileFacts(path)?.isRegular != false else { throw SystemError("not a regular file") }
  }

  private static func lines(_ content: [UInt8]) -> [ArraySlice<UInt8>] {
    content.split(separator: UInt8(ascii: "\n")).suffix(limit)
  }

  /// Adds a line, unless it is empty, too long or secret.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - isLast: Whether it is written now. Otherwise, or if that fails, the next write includes it.
  package mutating func add(_ line: String, isLast: Bool = true) {
    let isKept =
      !line.isEmpty && line.utf8.count <= Self.longestLine
      && !line.contains { $0.isNewline && $0 != "\n" } && !isSecret(line.replacing("\n", with: " "))
    guard isKept else { return }
    waiting.append(line.replacing("\n", with: Self.lineFeed))
    if isLast { flush() }
  }

  /// Writes the remaining lines, unless that fails or another session writes its own now.
  package mutating func flush() {
    try? write(patience: .zero)
  }

  /// Writes the remaining lines; waits for other sessions.
  ///
  /// - Throws: `SystemError` if they are not in the file.
  package mutating func close() throws(SystemError) {
    try write(patience: .milliseconds(500))
  }

  private mutating func write(patience: Duration) throws(SystemError) {
    guard !waiting.isEmpty, !isUnwanted else { return }
    Directory.make(directory)
    try checkType()
    try SharedFile(path, isPrivate: true).update(patience: patience) {
      [waiting] content throws(SystemError) in
      var all = Self.lines(try content.bytes(limitBytes: Self.largestFile))
      for line in waiting where all.last?.elementsEqual(line.utf8) != true {
        all.append(Array(line.utf8)[...])
      }
      return all.suffix(Self.limit).flatMap { $0 + [UInt8(ascii: "\n")] }
    }
    waiting = []
  }
}
