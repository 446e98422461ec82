import Glibc
import Output
import System

/// The file of `-o`.
///
/// What must not be taken for whole when it is not goes to another file, which takes its place in the end.
package final class AnswerFile {
  private let path: String
  private let descriptor: Int32
  /// The file that takes its place; `nil` when the file itself is written.
  private var replacement: ReplacementFile?

  /// Opens the file, and has standard output write to it.
  ///
  /// - Parameter isWhole: Whether nothing may be in the file but all of the output.
  package init(_ path: String, isWhole: Bool) throws(Failure) {
    var status = stat()
    let exists = stat(path, &status) == 0
    let isRegular = !exists || status.st_mode & S_IFMT == S_IFREG
    // The file that a symbolic link leads to is replaced, not the link.
    self.path = exists ? Self.resolved(path) : path
    if isWhole, isRegular {
      if let file = ReplacementFile(for: self.path, mode: exists ? status.st_mode & 0o777 : nil) {
        replacement = file
        descriptor = file.descriptor
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
  package func keep() throws(Failure) {
    let replacement = replacement
    self.replacement = nil
    // Some file systems tell only now that they are full.
    guard replacement?.takePlace() ?? (close(descriptor) == 0) else { throw Self.failure(path) }
  }

  /// What was written is not all.
  package func discard() {
    replacement?.discard()
    replacement = nil
  }

  private static func failure(_ path: String) -> Failure {
    Failure(.internalError, "-o \(path)", FileContents.lastError())
  }

  private static func resolved(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }
}
