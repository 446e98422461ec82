/// Why a file, a process or another service outside of the program did not do what was asked.
package struct SystemError: Error, Equatable, Sendable {
  /// A reason for which a caller does more than to report it.
  package enum Cause: Equatable, Sendable {
    /// The file or the program does not exist.
    case missing
    /// Another process has replaced the file, so that a second attempt may succeed.
    case replaced
  }

  /// The reason, in a few words, such as `No such file or directory`.
  package let reason: String
  /// What matters to callers beside the words.
  package let cause: Cause?
  /// The file or folder, if it may be another one than that of the caller.
  package private(set) var path: String?
  /// What to do; nil if there is nothing to say.
  package let hint: String?

  /// Makes an error.
  package init(_ reason: String, _ cause: Cause? = nil, path: String? = nil, hint: String? = nil) {
    self.reason = reason
    self.cause = cause
    self.path = path
    self.hint = hint
  }

  /// The error with the path of its file or folder.
  package func at(_ path: String) -> SystemError {
    var error = self
    error.path = path
    return error
  }

  /// Whether the file or the program does not exist.
  package var isMissing: Bool { cause == .missing }
}
