import RPCurlChain
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The commands that change the settings of calls.
extension Session {
  /// Removes a header.
  package func unset(header name: String) throws {
    try setState { state in
      guard state.headers.remove(name.lowercased()) else {
        let names = state.headers.names
        throw Failure(
          .usage, name, "no such header is set",
          hint: names.isEmpty ? "no headers are set" : "headers: \(names.joined(separator: ", "))")
      }
    }
  }

  /// Sets or removes an attribute: `KEY=VALUE` or `KEY=`.
  fileprivate func set(attribute text: String) throws {
    let argument = try SessionState.attribute(text)
    let key = SessionState.key(of: argument)
    try setState { state in
      let keys = state.attributes.map(SessionState.key)
      guard text != "\(key)=" || keys.contains(key) else {
        throw Failure(
          .usage, key, "no such attribute is set",
          hint: keys.isEmpty ? "no attributes are set" : "attributes: \(keys.joined(separator: ", "))")
      }
      state.set(attribute: argument)
      // Also of `KEY=`, which is not kept.
      _ = try AttributeArguments.parse(state.attributes + [argument], option: "attribute")
    }
  }

  /// Parses headers as the options specify.
  fileprivate var headerArguments: HeaderArguments {
    get throws(Failure) { try options.headerArguments(sources) }
  }

  /// Values are not expanded again: a header must not contain what `--expand` would replace.
  fileprivate func checkExpandsOnce(_ text: ExpandedText, isHeader: Bool) throws(Failure) {
    guard isHeader, text.text.contains("${") else { return }
    throw Failure(
      .usage, "", "the value contains ${ after variables are replaced",
      hint: "omit --expand, which would expand it again")
  }

  /// Prints the headers of calls.
  fileprivate func showHeaders() throws {
    let redaction = redaction
    print(
      try headerArguments.parse(state.headers.arguments).fields.map {
        "\($0.name): \(redaction.value($0.value, of: $0.name))"
      })
  }

  /// Prints the attributes of calls.
  fileprivate func showAttributes() throws {
    let redaction = redaction
    print(
      try AttributeArguments.parse(state.attributes).all.map { key, value in
        "\(key)=\(redaction.value(value, of: key))"
      })
  }

  /// The value of an option that is in force, set or not.
  fileprivate func valueInForce(_ option: OptionID) throws -> String {
    let settings = try settings(options, headers: [], Self.noTarget)
    return switch option {
    case .protocolName: settings.protocolName.rawValue
    case .codec: settings.wire.codec.rawValue
    case .format: settings.output.format.rawValue
    default: state.chosen[option]?.text ?? "none"
    }
  }

  /// Prints the options as on the command line, without credentials.
  fileprivate func showOptions() {
    var secrets = written
    let redaction = redaction
    let words = secrets.words(state.commandLine).map { word in
      let shown = redaction.text(word.before)
      return word.placeholder == nil ? SessionWords.quoted(shown) : "\(shown)[redacted]"
    }
    print([(["options"] + words).joined(separator: " ")])
  }

  package static let settingEntries: [SessionVerb] = [
    SessionVerb(
      "target URL", "set the server of later calls", [.text], saving: .withWords, secrets: .target,
      details:
        "A URL, HOST:PORT or unix:PATH, as on the command line. Open streams are not affected."
    ) { session, arguments in
      let text = try session.bindings.expand(target: arguments.rest)
      guard !text.isEmpty else { return session.print([session.state.target?.text ?? "none"]) }
      try session.setState { $0.set(target: text) }
      try session.waitForServer()
    },
    SessionVerb(
      "header NAME: VALUE", "send this header with calls, instead of one with this name; header lists them",
      [.header, .text], saving: .withWords, secrets: .named,
      details: """
        ${NAME} in it is a variable, ${env.NAME} an environment variable; $NAME is a variable if it is the whole value.
        Example: header authorization: Bearer ${env.TOKEN}
        """
    ) { session, arguments in
      guard !arguments.rest.isEmpty else { return try session.showHeaders() }
      guard let line = try session.bindings.expand(pair: arguments.rest, separator: ":") else {
        throw arguments.wrongUsage
      }
      try session.checkExpandsOnce(line, isHeader: session.options.expansion != nil)
      try line.checkFile(.afterAt)
      let header = try SessionState.header(line.text)
      _ = try session.headerArguments.parse([header], option: "header")
      try session.set(header: header)
    },
    SessionVerb(
      "attribute KEY=VALUE",
      "set an attribute of calls, for their interceptors; KEY= removes it, attribute lists them",
      [.attribute, .text], saving: .withWords, secrets: .named,
      details: """
        Attributes are never sent. ${NAME} in the value is a variable, and $NAME if it is the whole value.
        Example: attribute tier=gold
                 use 'retry,attribute=tier == gold'
        """
    ) { session, arguments in
      guard !arguments.rest.isEmpty else { return try session.showAttributes() }
      guard let text = try session.bindings.expand(pair: arguments.rest, separator: "=")?.text else {
        throw arguments.wrongUsage
      }
      try session.set(attribute: text)
    },
    option("deadline", "DURATION|none", "set the deadline of calls, such as 2s or 500ms", .maxTime),
    choice("protocol", "set the protocol", .protocolName),
    choice("codec", "set the encoding of messages", .codec),
    choice("format", "set the output format", .format) { name in
      OutputFormat(rawValue: name).map { $0 != .binary } ?? false
    },
    SessionVerb(
      "verbose [0|1|2|on|off]", "show metadata; at level 2, also connections and message sizes",
      [.choice(["0", "1", "2", "off", "on"])], saving: .withWords, details: "on is 1, off is 0."
    ) { session, arguments in
      guard let word = try arguments.atMostOne() else { return session.print(["\(session.state.verbosity)"]) }
      let levels = ["0": 0, "off": 0, "1": 1, "on": 1, "2": 2]
      guard let level = levels[word] else { throw arguments.wrongUsage }
      try session.setState { $0.verbosity = level }
    },
    toggle("timing", "show the timing of calls", \.showsTiming),
    toggle("timestamps", "show the time (UTC) of each message", \.showsTimestamps),
    SessionVerb(
      "options OPTION…", "add options of the command line", [.option], saving: .withWords, secrets: .options,
      details: "Example: options --cacert ca.pem --compression gzip"
    ) { session, arguments in
      let typed = try SessionWords.split(arguments.rest)
      let expandsHeaders =
        session.options.expansion != nil || typed.contains { $0.text.hasPrefix("--expand") }
      let words = try typed.map { word in
        guard !word.isLiteral else { return ExpandedText([.typed(word.text)]) }
        let text = try session.bindings.expanded(argument: word.text)
        try session.checkExpandsOnce(text, isHeader: expandsHeaders)
        return text
      }
      guard !words.isEmpty else { return session.showOptions() }
      let invocation = Parser.parse(words.map(\.text), as: .session)
      for argument in invocation.arguments { try argument.checkFile(in: words) }
      try checkOptions(invocation)
      if invocation.arguments.allSatisfy({ $0.id == .header }) {
        try session.add(headers: SessionState.lines(of: invocation, waitLimit: session.waitLimit))
      } else {
        try session.setState { try $0.add(invocation) }
        try session.setVariables(of: invocation)
      }
      session.schema.forget()
    },
  ]

  /// Throws if the options of `options` are invalid, or are set in another way.
  static func checkOptions(_ invocation: Invocation) throws(Failure) {
    guard invocation.last(of: [.use, .plugin, .script]) == nil else {
      throw Failure(
        .usage, "options", "interceptors are added by commands", hint: "use NAME, plugin load PATH")
    }
    guard invocation.last(.noUse) == nil else {
      throw Failure(
        .usage, "options", "--no-use is only accepted at the start of the session", hint: "remove N|NAME")
    }
    guard invocation.last(of: [.config, .profile]) == nil else {
      throw Failure(
        .usage, "options", "--config and --profile are only accepted at the start of the session")
    }
    if let error = invocation.errors.first { throw Failure(error) }
    guard invocation.positionals.isEmpty else {
      throw Failure(.usage, invocation.positionals[0].text, "unexpected argument")
    }
  }

  /// A command that sets an option to one of its names, or to those of them that a session has.
  private static func choice(
    _ name: String, _ summary: String, _ option: OptionID, where isIncluded: (String) -> Bool = { _ in true }
  ) -> SessionVerb {
    let names = OptionTable[option].values.filter(isIncluded)
    let list = "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    return self.option(name, "NAME", "\(summary): \(list)", option, [.choice(names.sorted())])
  }

  private static func option(
    _ name: String, _ value: String, _ summary: String, _ option: OptionID,
    _ arguments: [SessionVerb.Argument] = [.text]
  ) -> SessionVerb {
    SessionVerb("\(name) \(value)", summary, arguments, saving: .withWords) { session, arguments in
      let typed = arguments.words.isEmpty ? arguments.rest : try arguments.only()
      let text = try session.bindings.expand(word: typed)
      guard !text.isEmpty else { return session.print([try session.valueInForce(option)]) }
      let isNone = text == "none" && name == "deadline"
      let argument = isNone ? nil : try SessionState.argument(option, text)
      try session.setState { $0.chosen[option] = argument }
      if name == "protocol" { session.schema.forgetServer() }
    }
  }

  private static func toggle(
    _ name: String, _ summary: String, _ setting: WritableKeyPath<SessionState, Bool> & Sendable
  ) -> SessionVerb {
    SessionVerb("\(name) [on|off]", summary, [.choice(["off", "on"])], saving: .withWords) {
      session, arguments in
      switch try arguments.atMostOne() {
      case nil: session.print([session.state[keyPath: setting] ? "on" : "off"])
      case "on": try session.setState { $0[keyPath: setting] = true }
      case "off": try session.setState { $0[keyPath: setting] = false }
      default: throw arguments.wrongUsage
      }
    }
  }
}
