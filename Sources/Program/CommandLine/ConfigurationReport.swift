/// The configuration files of a command, and what of them does not apply.
package struct ConfigurationReport: Equatable, Sendable {
  /// A file that was read.
  package struct File: Equatable, Sendable {
    /// The path.
    package let path: String
    /// Whether a project file is trusted; nil for the user's configuration, which needs no trust.
    package let isTrusted: Bool?

    /// A file that was read.
    package init(path: String, isTrusted: Bool?) {
      self.path = path
      self.isTrusted = isTrusted
    }

    /// The file for messages.
    package var description: String {
      switch isTrusted {
      case nil: path
      case true?: "\(path) (trusted)"
      case false?: "\(path) (not trusted)"
      }
    }
  }

  /// The files, in the order of precedence, the lowest first.
  package var files: [File] = []
  /// The arguments that may hold credentials, which the target of a project file that is not trusted does not receive.
  package var withheld: [Argument] = []

  /// Creates a report without files.
  package init() {}

  /// What the target does not receive; nil if nothing is withheld. The values may be secrets, so they are not shown.
  package var warning: String? {
    guard !withheld.isEmpty, let file = files.first(where: { $0.isTrusted == false }) else { return nil }
    let settings = withheld.map { argument in
      guard case .file(_, let line, _, _) = argument.origin else { return argument.name }
      return "\(argument.name) (line \(line))"
    }.joined(separator: ", ")
    return
      "\(file.path) is not trusted, so its target does not receive \(settings) of \(withheld[0].origin.file ?? "")"
  }
}
