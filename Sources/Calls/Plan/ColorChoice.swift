/// When output is coloured.
package enum ColorChoice: String {
  case auto
  case always
  case never

  /// Whether it is, by what the environment says of the terminal and of its user's taste.
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
