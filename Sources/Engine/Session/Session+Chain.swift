import RPCurlChain
import RPCurlProgram

/// The commands that change the chain of interceptors.
extension Session {
  private var chainSetup: ChainSetup { ChainSetup(console, options) }

  package static let chainEntries: [SessionVerb] = [
    SessionVerb("chain", "list the interceptors in the order of the request path") { session, _ in
      let members = session.chain.members
      let omitted = session.state.omitted.map { "omitted: \($0.omission)" }
      guard !members.isEmpty else { return session.print(["no interceptors"] + omitted) }
      let redaction = session.redaction
      session.print(
        members.enumerated().map { index, member in
          let kind = member.plugin.map { "plugin \($0.path)" } ?? member.kind
          let registration = member.registration
          let settings = redaction.text(member.entry.settings(session.written))
          return
            "\(index + 1) \(registration.name)\(settings) (\(kind), \(registration.placement), "
            + "\(member.scopeText(redaction)))"
        })
      session.print(omitted)
      session.print(ChainWarnings.of(members.map(\.registration)).map { "warning: \($0)" })
    },
    SessionVerb(
      "use NAME[,KEY=VALUE…]", "add a built-in interceptor to the chain", [.specification],
      saving: .always, secrets: .settings
    ) { session, arguments in
      guard !arguments.rest.isEmpty else { throw arguments.wrongUsage }
      let text = try session.bindings.expand(specification: arguments.rest)
      try session.chain.add(.builtIn(text), session.chainSetup)
    },
    SessionVerb(
      "plugin load|reload NAME|PATH[,KEY=VALUE…]",
      "append a plugin to the chain; reload NAME|N: load its file again, in its place",
      [.choice(["load", "reload"]), .file, .text], saving: .always, secrets: .settings,
      details: "After reload, the plugin's current file runs."
    ) { session, arguments in
      let verb = arguments.rest.prefixOfScalars { !$0.properties.isWhitespace }
      let rest = arguments.rest[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      guard !rest.isEmpty else { throw arguments.wrongUsage }
      switch verb {
      case "load":
        let text = try session.bindings.expand(specification: String(rest))
        try session.chain.add(.plugin(text), session.chainSetup)
      case "reload": try session.chain.reload(String(rest), session.chainSetup)
      default: throw arguments.wrongUsage
      }
    },
    SessionVerb(
      "remove N|NAME", "remove an interceptor from the chain", [.interceptor], saving: .always
    ) {
      session, arguments in session.notice("\(try session.chain.remove(arguments.only())) removed")
    },
    SessionVerb(
      "move N|NAME M|before=NAME|after=NAME", "move an interceptor to position M, or before or after another",
      [.interceptor], saving: .always
    ) {
      session, arguments in
      guard arguments.words.count == 2 else { throw arguments.wrongUsage }
      try session.chain.move(arguments.words[0], to: arguments.words[1])
    },
  ]
}

extension ChainSetup {
  /// How the interceptors of a session's chain are created.
  package init(_ console: Console, _ options: Invocation) {
    self.init(console, verbosity: options.verbosity, waitLimit: options.duration(.maxTime))
  }
}
