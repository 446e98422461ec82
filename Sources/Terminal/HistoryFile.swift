import Glibc
import System

/// The lines of earlier sessions, below `$XDG_STATE_HOME`.
///
/// Lines are added under a lock to what is there then, and the file is put in place in one step, so that sessions that
/// run at a time keep each other's.
package struct HistoryFile {
  /// How many lines are kept.
  package static let limit = 1_000
  /// A longer line is not kept.
  private static let longestLine = 1 << 16
  /// A larger file is not one of ours.
  private static let largestFile = 64 << 20

  private let directory: String
  private let isSecret: (_ line: String) -> Bool
  private var path: String { "\(directory)/history" }
  /// What is still to be written.
  private var waiting: [String] = []

  /// The file of this user; `nil` when there is no directory for it.
  ///
  /// - Parameter isSecret: Whether a line contains a credential, so that it is not written.
  package init?(environment: (String) -> String?, isSecret: @escaping (_ line: String) -> Bool) {
    self.isSecret = isSecret
    // The XDG specification has a path that is not absolute passed over.
    if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") {
      directory = "\(base)/rpcurl"
    } else if let home = environment("HOME"), home.hasPrefix("/") {
      directory = "\(home)/.local/state/rpcurl"
    } else {
      return nil
    }
  }

  /// The lines of earlier sessions, oldest first.
  package func lines() -> [String] {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.largestFile,
      let bytes = try? FileContents.read(path)
    else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(Self.limit).map(String.init)
  }

  /// Adds a line, unless it is not to be kept. Where another session writes just now, it is written with the next one.
  package mutating func add(_ line: String) {
    let isKept =
      !line.isEmpty && line.utf8.count <= Self.longestLine && !line.contains(where: \.isNewline)
      && !isSecret(line)
    guard isKept else { return }
    waiting.append(line)
    write(patience: 1)
  }

  /// Writes what is still to be written.
  package mutating func close() {
    if !waiting.isEmpty { write(patience: 50) }
  }

  private mutating func write(patience: Int) {
    makeDirectory()
    let lock = open("\(directory)/history.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return }
    defer { Glibc.close(lock) }
    var tries = 1
    while flock(lock, LOCK_EX | LOCK_NB) != 0 {
      guard tries < patience else { return }
      tries += 1
      usleep(10_000)
    }
    var all = lines()
    for line in waiting where line != all.last { all.append(line) }
    let text = all.suffix(Self.limit).map { $0 + "\n" }.joined()
    // A history that cannot be written is no reason to stop.
    if FileContents.replace(path, with: Array(text.utf8)) == nil { chmod(path, 0o600) }
    waiting = []
  }

  private func makeDirectory() {
    for end in directory.indices where directory[end] == "/" && end != directory.startIndex {
      mkdir(String(directory[..<end]), 0o700)
    }
    mkdir(directory, 0o700)
  }
}
