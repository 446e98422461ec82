import RPCurlBase

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
  private let colorsOnTerminal: TextColors
  private let colorsElsewhere: TextColors
  /// Whether hints name the commands of a session.
  let isOfSession: Bool

  package init(_ invocation: Invocation) {
    let isSilent = invocation.has(.silent)
    showsRemarks = !isSilent
    showsErrors = !isSilent || invocation.has(.showError)
    format = invocation.choice(.errorFormat) ?? .text
    colorsOnTerminal = invocation.colors(isTerminal: true)
    colorsElsewhere = invocation.colors(isTerminal: false)
    isOfSession = invocation.command == .session
  }

  /// The colours of standard error.
  func colors(isTerminal: Bool) -> TextColors { isTerminal ? colorsOnTerminal : colorsElsewhere }
}
