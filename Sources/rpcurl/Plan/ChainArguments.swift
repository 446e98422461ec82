import CommandLine

/// The interceptors that the options name, in the order written.
struct ChainArguments: Equatable {
  /// `--use` or `--plugin`, with its value.
  enum Entry: Equatable {
    case builtIn(String, Origin = .session)
    case plugin(String, Origin = .session)

    /// The interceptor with its settings, as it was written.
    var text: String {
      switch self {
      case .builtIn(let text, _), .plugin(let text, _): text
      }
    }

    /// Where it was named.
    var origin: Origin {
      switch self {
      case .builtIn(_, let origin), .plugin(_, let origin): origin
      }
    }
  }

  let entries: [Entry]

  init(_ invocation: Invocation) {
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
