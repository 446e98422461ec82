/// The user's directories, by the XDG Base Directory Specification.
package enum UserDirectory {
  /// Data that can be made again: `$XDG_CACHE_HOME`, or `~/.cache`.
  case cache
  /// Data that is kept between runs: `$XDG_STATE_HOME`, or `~/.local/state`.
  case state

  /// The absolute path; nil if the environment names no directory. The specification says to ignore relative paths.
  ///
  /// - Parameter environment: Returns the value of an environment variable.
  package func path(_ environment: (String) -> String?) -> String? {
    let (variable, below) =
      switch self {
      case .cache: ("XDG_CACHE_HOME", ".cache")
      case .state: ("XDG_STATE_HOME", ".local/state")
      }
    if let path = environment(variable), path.hasPrefix("/") { return path }
    return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/\(below)" : nil }
  }
}
