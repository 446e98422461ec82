import RPCurlChain
import RPCurlProgram

/// The interceptors that the options specify, in order.
package struct ChainArguments: Equatable {
  /// A `--use`, `--plugin` or `--script` with its value.
  package enum Entry: Equatable {
    case builtIn(String, Origin = .session)
    case plugin(String, Origin = .session)
    /// The command of a script, which is short for a built-in interceptor.
    case script(String, Origin = .session)

    /// The interceptor with its settings, as typed.
    package var text: String {
      switch self {
      case .builtIn(let text, _), .plugin(let text, _): text
      case .script(let command, _): "script,run=\(SettingScanner.inQuotes(command))"
      }
    }

    /// Whether it is a script.
    package var isScript: Bool {
      switch self {
      case .script: true
      case .builtIn(let text, _): Argument.interceptorName(text) == "script"
      case .plugin: false
      }
    }

    /// The name that `--no-use` omits.
    private var name: String {
      if case .script(let command, _) = self {
        Argument.scriptName(command)
      } else {
        Argument.interceptorName(text)
      }
    }

    /// The line of an omitted interceptor for `--explain` and `chain`: its name, and its place in the configuration.
    package var omission: String {
      "\(name) (--no-use; \(origin.place ?? ""))"
    }

    /// Where the option was given.
    package var origin: Origin {
      switch self {
      case .builtIn(_, let origin), .plugin(_, let origin), .script(_, let origin): origin
      }
    }
  }

  package let entries: [Entry]
  /// The interceptors of the configuration that `--no-use` omits.
  package let omitted: [Entry]

  package init(_ invocation: Invocation) {
    entries = invocation.arguments.compactMap(Self.entry)
    omitted = invocation.omitted.compactMap(Self.entry)
  }

  private static func entry(_ argument: Argument) -> Entry? {
    guard let text = argument.string else { return nil }
    return switch argument.id {
    case .use: .builtIn(text, argument.origin)
    case .plugin: .plugin(text, argument.origin)
    case .script: .script(text, argument.origin)
    default: nil
    }
  }
}
