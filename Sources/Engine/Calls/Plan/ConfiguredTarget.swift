import RPCurlProgram
import RPCurlProtocols

/// When a command uses the target of the configuration or the environment: if its arguments name no server.
package enum ConfiguredTarget {
  /// Whether the command uses its configured target.
  package static func isUsed(by invocation: Invocation) -> Bool {
    guard invocation.configuredTarget != nil else { return false }
    let arguments = invocation.positionals
    switch invocation.command {
    case .call, .load:
      return arguments.count == 1 && isMethod(arguments[0].text)
    case .session, .check, .proxy: return arguments.isEmpty
    case .health: return isUsed(withArguments: arguments, asksServer: true)
    case .run: return arguments.count < 2
    case .test: return true
    case .list, .describe, .template, .export:
      return isUsed(
        withArguments: arguments, asksServer: invocation.asksServer)
    case .convert:
      return !invocation.has(.noSchema)
        && isUsed(withArguments: arguments, asksServer: invocation.asksServer)
    case .pluginsList, .pluginsCheck, .pluginsNew, .version, .trust, .diff, .completion, .serve:
      return false
    }
  }

  /// The server of a command with the arguments `[TARGET] …`, and its other arguments.
  ///
  /// - Throws: `Failure` if neither the arguments nor the configuration names a server.
  static func server(of invocation: Invocation) throws(Failure) -> (server: Positional, others: [Positional])
  {
    if isUsed(by: invocation), let target = invocation.configuredTarget {
      return (target, invocation.positionals)
    }
    try Target.check(orderOf: invocation.positionals.map(\.text), of: invocation.command)
    guard let first = invocation.positionals.first else {
      throw Failure(ParseError(missing: "TARGET"), of: invocation.command)
    }
    return (first, Array(invocation.positionals.dropFirst()))
  }

  /// Whether an argument can be a method: `pkg.Service/Method`, `pkg.Service.Method` or `Method`.
  static func isMethod(_ text: String) -> Bool {
    MethodName(text) != nil || MethodName("Service/\(text)") != nil
  }

  /// Whether a schema command with the arguments `[TARGET] [SYMBOL]` asks the configured target. A single argument is
  /// a target only if it contains a colon, which no symbol does.
  static func isUsed(withArguments arguments: [Positional], asksServer: Bool) -> Bool {
    arguments.count < 2 && asksServer && arguments.first?.text.contains(":") != true
  }
}
