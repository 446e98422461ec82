/// What standard error shows, and in which form: `--silent`, `--show-error` and `--error-format`.
package struct Diagnostics: Equatable, Sendable {
  /// The format of errors.
  package enum Format: String, Sendable {
    case text
    case json
  }

  /// Whether warnings and progress are shown.
  package let showsRemarks: Bool
  /// Whether errors are shown.
  package let showsErrors: Bool
  package let format: Format
  /// Whether hints name the commands of a session.
  let isOfSession: Bool

  package init(_ invocation: Invocation) {
    let isSilent = invocation.has(.silent)
    showsRemarks = !isSilent
    showsErrors = !isSilent || invocation.has(.showError)
    format = invocation.choice(.errorFormat) ?? .text
    isOfSession = invocation.command == .session
  }
}
