/// When output is coloured.
package enum ColorChoice: String {
  case auto
  case always
  case never

  /// Whether output is coloured, according to the terminal and the environment (`NO_COLOR`, `TERM`).
  package func isUsed(isTerminal: Bool, _ environment: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      isTerminal && (environment("NO_COLOR") ?? "").isEmpty
        && !["", "dumb"].contains(environment("TERM") ?? "")
    }
  }
}
