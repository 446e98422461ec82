import CommandLine

/// What is printed on standard error beside what was asked for, and in which form: `--silent`, `--show-error` and
/// `--error-format`.
package struct Diagnostics: Equatable {
  /// How errors are printed.
  package enum Format: String {
    case text
    case json
  }

  /// Whether warnings and progress are printed.
  package let showsRemarks: Bool
  /// Whether errors are printed.
  package let showsErrors: Bool
  package let format: Format

  package init(_ invocation: Invocation) {
    let isSilent = invocation.has(.silent)
    showsRemarks = !isSilent
    showsErrors = !isSilent || invocation.has(.showError)
    format = invocation.choice(.errorFormat) ?? .text
  }
}
