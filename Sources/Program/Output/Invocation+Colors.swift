import RPCurlBase
import RPCurlPlatform

extension Invocation {
  /// The colours of output or errors, according to `--color`, the terminal and the environment (`NO_COLOR`, `TERM`).
  ///
  /// - Parameters:
  ///   - isTerminal: Whether the stream is a terminal.
  ///   - environment: Returns the value of an environment variable.
  package func colors(
    isTerminal: Bool, _ environment: (String) -> String? = EnvironmentVariables.value
  ) -> TextColors {
    switch text(.color) {
    case "always": TextColors(areOn: true)
    case "never": TextColors(areOn: false)
    default:
      TextColors(
        areOn: isTerminal && (environment("NO_COLOR") ?? "").isEmpty
          && !["", "dumb"].contains(environment("TERM") ?? ""))
    }
  }
}
