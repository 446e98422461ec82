import CommandLine

/// What is printed on standard error beside what was asked for, and in which form: `--silent`, `--show-error` and
/// `--error-format`.
struct Diagnostics: Equatable {
  /// How errors are printed.
  enum Format: String {
    case text
    case json
  }

  /// Whether warnings and progress are printed.
  let showsRemarks: Bool
  /// Whether errors are printed.
  let showsErrors: Bool
  let format: Format

  init(_ invocation: Invocation) {
    let isSilent = invocation.has(.silent)
    showsRemarks = !isSilent
    showsErrors = !isSilent || invocation.has(.showError)
    format = invocation.choice(.errorFormat) ?? .text
  }
}
