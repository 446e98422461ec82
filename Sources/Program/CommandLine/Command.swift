/// The definition of a command.
package struct Command: Sendable {
  /// An argument that is not an option.
  package struct Place: Sendable {
    /// What stands for it in help.
    package let name: String
    /// One line of help.
    package let summary: String
    /// Whether the command needs it.
    package let isRequired: Bool
    /// Whether several may be given; the command checks how many.
    package let repeats: Bool
    /// What it completes to.
    package let completion: String

    init(
      _ name: String, _ summary: String, isRequired: Bool = false, repeats: Bool = false,
      completion: String = "none"
    ) {
      self.name = name
      self.summary = summary
      self.isRequired = isRequired
      self.repeats = repeats
      self.completion = completion
    }
  }

  /// The identifier.
  package let id: CommandID
  /// The name; `plugins check` has two words.
  package let name: String
  /// One line of help.
  package let summary: String
  /// The forms of the command line, one on each line.
  package let usage: String
  /// The paragraphs of help that follow the summary.
  package let discussion: String
  /// Command lines, one on each line.
  package let examples: String
  /// The arguments that are not options, in order.
  package let places: [Place]
}

/// A command that has commands.
package struct CommandGroup: Sendable {
  /// The name.
  package let name: String
  /// One line of help.
  package let summary: String
  /// The form of the command line.
  package let usage: String
  /// The command that is meant if none is named.
  package let standard: CommandID
}

/// The definitions of all commands.
package enum CommandTable {
  /// What the program does.
  package static let summary = "Call gRPC and Connect services from the command line."

  /// What the program does.
  static let discussion = """
    A call is encoded with the schema of the server or of a descriptor set, passes a chain of interceptors, and is sent \
    by libcurl.
    """

  /// The exit codes, with which the help of the program ends.
  static let exitCodes = """
    Exit codes: 0 ok, 1 internal error, 2 usage, 3 schema, 4 input data, 5 connection, 6 TLS, 7 interceptor or plugin, 8 \
    an unexpected response, 64 + status code for a call that ended with a status other than ok, 130 \
    interrupted by Ctrl-C, 143 by SIGTERM.
    """

  /// The one command that has commands.
  package static let plugins = CommandGroup(
    name: "plugins", summary: "List interceptors and plugins, check a plugin, or create one.",
    usage: "rpcurl plugins [list|check|new] [OPTIONS] …", standard: .pluginsList)

  /// The definition of a command.
  package static subscript(_ id: CommandID) -> Command { definition(of: id) }

  /// The names that may be the first argument.
  package static let names = [
    "call", "session", "run", "test", "load", "list", "describe", "template", "export", "diff", "convert",
    "health", "check", "proxy", "serve", "plugins", "trust", "completion", "version", "help",
  ]

  /// The command of a name of one word.
  static func find(_ name: String) -> CommandID? {
    switch name {
    case "call": .call
    case "session": .session
    case "run": .run
    case "list": .list
    case "describe": .describe
    case "template": .template
    case "export": .export
    case "diff": .diff
    case "convert": .convert
    case "health": .health
    case "check": .check
    case "test": .test
    case "trust": .trust
    case "load": .load
    case "version": .version
    case "completion": .completion
    case "proxy": .proxy
    case "serve": .serve
    default: nil
    }
  }

  /// The command of `plugins` with this name.
  static func find(plugins name: String) -> CommandID? {
    switch name {
    case "list": .pluginsList
    case "check": .pluginsCheck
    case "new": .pluginsNew
    default: nil
    }
  }
}
