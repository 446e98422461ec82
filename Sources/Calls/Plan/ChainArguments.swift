import CommandLine

/// The interceptors that the options specify, in order.
package struct ChainArguments: Equatable {
  /// A `--use` or `--plugin` with its value.
  package enum Entry: Equatable {
    case builtIn(String, Origin = .session)
    case plugin(String, Origin = .session)

    /// The interceptor with its settings, as typed.
    package var text: String {
      switch self {
      case .builtIn(let text, _), .plugin(let text, _): text
      }
    }

    /// Where the option was given.
    package var origin: Origin {
      switch self {
      case .builtIn(_, let origin), .plugin(_, let origin): origin
      }
    }
  }

  package let entries: [Entry]

  package init(_ invocation: Invocation) {
    entries = invocation.arguments.compactMap { argument in
      guard let text = argument.string else { return nil }
      return switch argument.id {
      case .use: .builtIn(text, argument.origin)
      case .plugin: .plugin(text, argument.origin)
      default: nil
      }
    }
  }
}
