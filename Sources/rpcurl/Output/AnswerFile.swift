import Glibc

/// The file of `-o`.
///
/// What must not be taken for whole when it is not goes to a file beside it, which takes its name in the end.
final class AnswerFile {
  private let path: String
  private let descriptor: Int32
  /// The file beside; `nil` when the file itself is written.
  private var temporary: String?

  /// Opens the file, and has standard output write to it.
  ///
  /// - Parameter isWhole: Whether nothing may be in the file but all of the output.
  init(_ path: String, isWhole: Bool) throws(Failure) {
    var status = stat()
    let exists = stat(path, &status) == 0
    let isRegular = !exists || status.st_mode & S_IFMT == S_IFREG
    // The file that a symbolic link leads to is replaced, not the link.
    self.path = exists ? Self.resolved(path) : path
    if isWhole, isRegular {
      let (directory, name) = Self.split(self.path)
      let beside = "\(directory).\(name).\(getpid()).part"
      let mode = exists ? status.st_mode & 0o777 : 0o666
      let opened = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if opened >= 0 {
        descriptor = opened
        temporary = beside
        if exists { _ = fchmod(opened, mode) }
        redirect()
        return
      }
      // Without the right to make files there, the file itself may still be writable.
      guard exists else { throw Self.failure(path) }
    }
    descriptor = open(self.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
    guard descriptor >= 0 else { throw Self.failure(path) }
    redirect()
  }

  private func redirect() {
    StandardOutput.redirect(to: descriptor, name: path) { [self] in discard() }
  }

  /// All was written: the file is what it should be from now on.
  func keep() throws(Failure) {
    // Some file systems tell only now that they are full.
    guard close(descriptor) == 0 else {
      let failure = Self.failure(path)
      discard()
      throw failure
    }
    guard let temporary else { return }
    guard rename(temporary, path) == 0 else {
      let failure = Self.failure(path)
      discard()
      throw failure
    }
    self.temporary = nil
  }

  /// What was written is not all.
  func discard() {
    if let temporary { unlink(temporary) }
    temporary = nil
  }

  private static func failure(_ path: String) -> Failure {
    Failure(.internalError, "-o \(path)", FileContents.lastError())
  }

  private static func split(_ path: String) -> (directory: Substring, name: Substring) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path[...]) }
    return (path[...slash], path[path.index(after: slash)...])
  }

  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }
}
