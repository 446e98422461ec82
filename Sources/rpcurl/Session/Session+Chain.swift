import Interception

/// The chain of interceptors, which changes between calls.
extension Session {
  static let chainEntries: [SessionCommandEntry] = [
    SessionCommandEntry("chain", "show the interceptors, the first on the request path first") { session, _ in
      let members = session.chain.members
      guard !members.isEmpty else { return session.say(["no interceptors"]) }
      let showsSecrets = session.options.output.showSecrets
      session.say(
        members.enumerated().map { index, member in
          let kind = member.plugin.map { "plugin \($0.path)" } ?? "built in"
          let registration = member.registration
          let priority = registration.priority == 0 ? "" : ", priority \(registration.priority)"
          let settings = SessionSecrets.settings(member.entry, showsSecrets: showsSecrets)
          return
            "\(index + 1) \(registration.name)\(settings) (\(kind)\(priority), methods \(registration.methods))"
        })
      session.say(ChainWarnings.of(session.chain.names).map { "warning: \($0)" })
    },
    SessionCommandEntry(
      "use NAME[,KEY=VALUE…]", "put a built-in interceptor behind the others", [.interceptor, .text],
      saving: .always
    ) { session, arguments in
      guard !arguments.rest.isEmpty else { throw arguments.wrongUsage }
      let text = try session.bindings.expand(word: arguments.rest)
      try session.chain.add(.builtIn(text), verbosity: session.options.output.verbose)
    },
    SessionCommandEntry(
      "plugin load|reload NAME|PATH[,KEY=VALUE…]",
      "put a plugin behind the others; reload NAME|N: load its file anew, in its place",
      [.choice(["load", "reload"]), .file, .text], saving: .always,
      details: "A file that was built anew since is what runs after reload."
    ) { session, arguments in
      let verb = arguments.rest.prefixOfScalars { !$0.properties.isWhitespace }
      let rest = arguments.rest[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      guard !rest.isEmpty else { throw arguments.wrongUsage }
      let verbosity = session.options.output.verbose
      switch verb {
      case "load":
        try session.chain.add(.plugin(session.bindings.expand(word: String(rest))), verbosity: verbosity)
      case "reload": try session.chain.reload(String(rest), verbosity: verbosity)
      default: throw arguments.wrongUsage
      }
    },
    SessionCommandEntry("remove N|NAME", "take an interceptor off", [.interceptor], saving: .always) {
      session, arguments in session.notice("\(try session.chain.remove(arguments.only())) removed")
    },
    SessionCommandEntry(
      "move N|NAME M", "put an interceptor to another place", [.interceptor], saving: .always
    ) {
      session, arguments in
      guard arguments.words.count == 2 else { throw arguments.wrongUsage }
      try session.chain.move(arguments.words[0], to: arguments.words[1])
    },
  ]
}
