import RPCurlBase
import RPCurlPlatform
import RPCurlProtobuf

/// The history file, in `$XDG_STATE_HOME/rpcurl`: an entry on each line, with a vertical tab for each line feed in it.
///
/// Each write locks the file, appends to its current lines and replaces it atomically, so that concurrent sessions
/// keep each other's lines.
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
    // With a link to `/dev/null`, a user asks for no history.
    if type == S_IFCHR { return [] }
    return try contents().compactMap {
      String(validating: $0, as: UTF8.self)?.replacing(Self.lineFeed, with: "\n")
    }
  }

  /// The type of the file, as in its mode; nil if the file does not exist.
  private var type: mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private func contents() throws(SystemError) -> [ArraySlice<UInt8>] {
    guard type ?? S_IFREG == S_IFREG else {
      throw SystemError("not a regular file")
    }
    do {
      return try FileContents.read(path, limitBytes: Self.largestFile).split(separator: UInt8(ascii: "\n"))
        .suffix(Self.limit)
    } catch {
      guard error.isMissing else { throw error }
      return []
    }
  }

  /// Adds a line, unless it is empty, too long or secret.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - isLast: Whether it is written now. Otherwise, or if another session holds the lock, the next write includes it.
  package mutating func add(_ line: String, isLast: Bool = true) {
    let isKept =
      !line.isEmpty && line.utf8.count <= Self.longestLine
      && !line.contains { $0.isNewline && $0 != "\n" } && !isSecret(line.replacing("\n", with: " "))
    guard isKept else { return }
    waiting.append(line.replacing("\n", with: Self.lineFeed))
    if isLast { flush() }
  }

  /// Writes the remaining lines, unless another session holds the lock.
  package mutating func flush() {
    if !waiting.isEmpty { write(patience: 1) }
  }

  /// Writes the remaining lines; waits up to 0.5 s for the lock.
  package mutating func close() {
    if !waiting.isEmpty { write(patience: 50) }
  }

  private mutating func write(patience: Int) {
    Directory.make(directory)
    let lock = open("\(directory)/history.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return }
    defer { Glibc.close(lock) }
    var tries = 1
    while flock(lock, LOCK_EX | LOCK_NB) != 0 {
      guard tries < patience else { return }
      tries += 1
      usleep(10_000)
    }
    // A child that another thread starts has a copy of the descriptor until it runs its program: closing would not unlock.
    defer { flock(lock, LOCK_UN) }
    defer { waiting = [] }
    guard var all = try? contents() else { return }
    for line in waiting where all.last?.elementsEqual(line.utf8) != true { all.append(Array(line.utf8)[...]) }
    let text = all.suffix(Self.limit).flatMap { $0 + [UInt8(ascii: "\n")] }
    // The session continues without a history if the file cannot be written.
    if FileContents.replace(path, with: text) == nil { chmod(path, 0o600) }
  }
}
