import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The arguments of a command.
package struct SessionArguments {
  /// The words of the line (shell words), with variables replaced.
  package let words: [String]
  /// The rest of the line as typed, for commands with one free-form argument.
  package let rest: String
  /// The values, with variables not replaced.
  package let values: [SessionStatement.Value]
  /// The file for the responses; nil for standard output.
  package var output: SessionWords.Word?
  /// The statement.
  package var statement: SessionStatement?
  /// The name of the command, for errors.
  package let name: String
  package let usage: String

  /// The word at an index.
  ///
  /// - Throws: `wrongUsage` if it is missing.
  package func word(_ index: Int) throws(Failure) -> String {
    guard words.indices.contains(index) else { throw wrongUsage }
    return words[index]
  }

  /// The only word.
  ///
  /// - Throws: `wrongUsage` unless there is exactly one.
  package func only() throws(Failure) -> String {
    guard words.count == 1 else { throw wrongUsage }
    return words[0]
  }

  /// The only word after an optional flag, and whether the flag is present.
  ///
  /// - Throws: `wrongUsage` unless there is exactly one.
  package func only(after flag: String) throws(Failure) -> (word: String, hasFlag: Bool) {
    let hasFlag = words.first == flag
    guard words.count == (hasFlag ? 2 : 1) else { throw wrongUsage }
    return (words[words.count - 1], hasFlag)
  }

  /// The only word; nil if there is none.
  ///
  /// - Throws: `wrongUsage` if there are several.
  package func atMostOne() throws(Failure) -> String? {
    guard words.count <= 1 else { throw wrongUsage }
    return words.first
  }

  /// What to write for text that is not JSON.
  fileprivate var valueHint: String {
    let value = (statement?.text ?? "")[...].parted(at: "=").after?.withoutOuterSpace.prefix(60) ?? ""
    return value.isEmpty
      ? "such as 5, \"text\" or $last.user.id" : "text is in quotes: \(JSONValue.quoted(String(value)))"
  }

  /// The error for wrong arguments.
  package var wrongUsage: Failure { Failure(.usage, name, "wrong usage", hint: usage) }
}

extension Session {
  /// Runs a statement: a command, or messages for the current stream.
  package func execute(_ statement: SessionStatement) throws {
    guard !statement.head.isEmpty else {
      try observer?.willExecute(statement)
      let stream = streams.current
      try send(statement.values)
      record.add(statement.text, of: stream?.saved)
      return
    }
    let (name, rest) = SessionVerb.parts(of: statement.head)
    let verb = try Self.verb(String(name))
    secrets.add(of: statement.head)
    try observer?.willExecute(statement)
    let arguments = SessionArguments(
      words: try verb.isFreeForm ? [] : words(rest, verb.arguments), rest: String(rest),
      values: statement.values,
      output: statement.output, statement: statement, name: String(name), usage: verb.usage)
    guard !verb.arguments.isEmpty || rest.isEmpty else { throw arguments.wrongUsage }
    let (call, isNumbered) = subject(of: verb, arguments)
    if verb.isOnlyAtPrompt, !isAtPrompt { throw Failure.onlyAtPrompt(verb.name, nil) }
    do {
      if verb.isPaged, statement.command == nil {
        try paged { try verb.run(self, arguments) }
      } else {
        try verb.run(self, arguments)
      }
    } catch let failure as Failure { throw failure.inSession }
    if verb.subject == .newCall || verb.isCheck,
      let failed = failures.lastIndex(where: { $0.stream === lastCall && $0.stream.number == nil })
    {
      // Recorded with the call, once a check of its status holds.
      if verb.isCheck { failures[failed].texts.append(statement.recorded) }
      return
    }
    guard verb.saving == .always || verb.saving == .withWords && !rest.isEmpty else { return }
    record.add(
      statement.recorded, of: verb.subject == .newStream ? streams.selected?.saved : call,
      isNumbered: isNumbered)
  }

  /// The call that a command is about, and whether the command has its number; nil for commands about none or several.
  private func subject(
    of verb: SessionVerb, _ arguments: SessionArguments
  ) -> (call: SavedCall?, isNumbered: Bool) {
    switch verb.subject {
    case .checkedCall:
      guard let name = CheckedStream(arguments.rest)?.name, let stream = try? streams.find(name) else {
        return (lastCall?.saved, false)
      }
      return (stream.saved, true)
    case .receivingStream: return (streams.selected?.saved, false)
    case .stream, .streams:
      if let word = arguments.words.first {
        let number = Int(word) ?? (try? streams.find(word))?.number
        return (number.flatMap(record.call(ofStream:)), true)
      }
      return (verb.subject == .streams ? nil : (try? streams.find(nil))?.saved, false)
    case .none, .newCall, .newStream: return (nil, false)
    }
  }

  /// The command with this name; `?` is `help`.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - words: Other words that may be meant, such as those of suites.
  /// - Throws: `Failure` if there is none.
  static func verb(_ name: String, or words: [String] = []) throws(Failure) -> SessionVerb {
    guard let verb = SessionVerb.named(name == "?" ? "help" : name) else { throw unknown(name, or: words) }
    return verb
  }

  private func words(
    _ text: some StringProtocol, _ arguments: [SessionVerb.Argument]
  ) throws(Failure) -> [String] {
    var words: [String] = []
    var arguments = arguments[...]
    for word in try SessionWords.split(text) {
      let isFile = !word.text.begins(with: "-") && arguments.popFirst() == .file
      if word.isLiteral {
        words.append(word.text)
      } else {
        words.append(try isFile ? bindings.expand(path: word.text) : bindings.expand(argument: word.text))
      }
    }
    return words
  }

  /// Commands that other ones include, and what to write instead.
  private static let replaced = ["headers": "header", "unheader": "unset header NAME", "vars": "print"]

  private static func unknown(_ name: String, or words: [String]) -> Failure {
    if let command = replaced[name] {
      return Failure(.usage, name, "no such command", hint: "write \(command)")
    }
    guard !name.isEmpty else {
      return Failure(.usage, ":", "missing command", hint: "run \"help\" to list the commands")
    }
    // Names of methods have upper case letters, those of commands have none.
    if name.contains("/") || name.unicodeScalars.first?.properties.isUppercase == true {
      return Failure(
        .usage, name, "no such command",
        hint: "to call a method, write: call \(name) {…}; open \(name) keeps a stream open")
    }
    guard !CommandTable.names.contains(name) else {
      return Failure(
        .usage, name, "no such command in a session", hint: "run it in another shell: rpcurl \(name)")
    }
    let names = words + SessionVerb.all.map(\.name)
    let longer = names.filter { $0.hasPrefix(name) }
    let nearest = longer.isEmpty ? EditDistance.nearest(to: name, among: names, limit: 1) : longer
    return Failure(
      .usage, name, "no such command",
      hint: nearest.isEmpty
        ? "run \"help\" to list the commands" : "did you mean \(nearest.joined(separator: ", or "))?")
  }

  /// Prints lines on standard output.
  package func print(_ lines: [String]) {
    console.output.write(Array(lines.map { "\(TerminalText.escape($0))\n" }.joined().utf8))
  }
}

extension SessionVerb {
  /// All commands, in the order of `help`.
  package static let all: [SessionVerb] =
    Session.callEntries + Session.checkEntries + Session.variableEntries + Session.settingEntries
    + Session.chainEntries + Session.schemaEntries + Session.fileEntries + Session.otherEntries
}

// MARK: Calls

extension Session {
  fileprivate static let callEntries: [SessionVerb] = [
    SessionVerb(
      "call METHOD [JSON]", "make a call and wait for its end; at a prompt, METHOD {…} is the same",
      [.method, .json], about: .newCall,
      saving: .always,
      details: """
        The service may be omitted if only one has the method. Without JSON, an empty message is sent. A \
        client-streaming method is sent all the values. @FILE sends the messages of a file, and > FILE writes the \
        responses to a file if the call succeeds; at a prompt, | COMMAND gives them to a command. --filter PATH and \
        --limit N after the values apply to this call. Ctrl-C cancels the call.
        Example: call Hello {"name":"Ada"}
        """
    ) { session, arguments in
      guard let statement = arguments.statement else { return }
      try session.call(arguments.only(), statement)
    },
    SessionVerb(
      "open METHOD [JSON]", "start a stream and make it the current one", [.method, .json], about: .newStream,
      saving: .always,
      details: """
        Each JSON value typed after this is sent at once, and so are the messages of @FILE. Responses are shown as they arrive, prefixed with their \
        stream, such as Chat[1], if several are open.
        Example: open Chat
                 {"text":"hello"}
        """
    ) { session, arguments in
      try session.open(arguments.only(), arguments.values, arguments.statement?.options ?? [])
    },
    SessionVerb(
      "repeat N|every DURATION CALL", "make a call N times, or at intervals until Ctrl-C", [.text],
      details:
        "Examples: repeat 10 call Hello {\"name\":\"Ada\"}; repeat every 2s call List; repeat 5 every 1s call List"
    ) { session, arguments in
      guard let statement = arguments.statement else { return }
      try session.repeatCall(statement, arguments)
    },
    SessionVerb(
      "edit METHOD", "write the request in $VISUAL or $EDITOR and make the call", [.method], about: .newCall,
      details: """
        The editor opens on a template with all fields, or on the text of the last edit. If the text is not changed, \
        nothing is sent.
        """
    ) { session, arguments in try session.edit(arguments.only()) },
    SessionVerb("streams", "list the open streams") { session, _ in
      let lines = session.streams.open.map { stream in
        let current = stream === session.streams.current ? "*" : " "
        return "\(current) \(session.prefix(of: stream))\(TerminalText.escape(stream.summary))\n"
      }
      session.console.output.write(Array(lines.joined().utf8))
    },
    SessionVerb(
      "switch N", "make this the stream of receive, checks and messages", [.stream], about: .stream,
      saving: .always
    ) {
      session, arguments in
      let stream = try session.streams.find(arguments.only())
      session.select(stream)
      if !stream.acceptsMessages { session.notice("accepts no more messages", of: stream) }
    },
    SessionVerb(
      "close [N]", "half-close a stream: no more messages follow", [.stream], about: .stream, saving: .always
    ) { session, arguments in
      guard let stream = try session.stream(named: arguments.atMostOne()), !stream.hasEnded else {
        return session.notice("the stream has already ended")
      }
      guard stream.acceptsMessages else { return session.notice("is already half-closed", of: stream) }
      session.halfClose(stream)
    },
    SessionVerb("cancel [N]", "cancel a stream", [.stream], about: .stream, saving: .always) {
      session, arguments in
      let stream = try session.stream(named: arguments.atMostOne())
      if let stream, !stream.hasEnded {
        session.cancel(stream, "canceled")
      } else {
        session.notice("the stream has already ended")
      }
      try session.waitForEnd(of: [stream].compactMap(\.self))
    },
    SessionVerb(
      "receive [COUNT]", "wait for COUNT more responses (default: 1)", [.text], about: .receivingStream,
      saving: .always,
      details: """
        The stream is the one that was opened, switched to, sent on or received from last. For scripts: until wait or \
        cancel, last and checks are about the responses that were waited for, and not about those that have arrived \
        since; so is the end of a stream in a file. On a terminal, responses are shown as they arrive. Ctrl-C stops waiting.
        """
    ) { session, arguments in
      let text = try session.bindings.expand(argument: arguments.rest)
      guard let count = text.isEmpty ? 1 : Int(text), count > 0 else {
        throw arguments.wrongUsage
      }
      try session.receive(count)
    },
    SessionVerb(
      "sleep DURATION", "wait for a time, such as 500ms, while streams go on", [.text], saving: .always,
      mayFollowFailure: true
    ) { session, arguments in
      let text = try session.bindings.expand(argument: arguments.rest)
      guard let duration = Value.duration(text) else { throw arguments.wrongUsage }
      try session.sleep(for: duration)
    },
    SessionVerb(
      "wait [N]", "half-close a stream and wait for its end (default: all)", [.stream], about: .streams,
      saving: .always, mayFollowFailure: true
    ) { session, arguments in
      let awaited =
        try arguments.atMostOne().map { [try session.stream(named: $0)].compactMap(\.self) }
        ?? session.streams.all
      for stream in awaited where stream.acceptsMessages { session.halfClose(stream) }
      try session.waitForEnd(of: awaited)
    },
  ]
}

// MARK: Variables

extension Session {
  fileprivate static let variableEntries: [SessionVerb] = [
    SessionVerb(
      "set NAME = VALUE", "set a variable to JSON, or to a value such as $last.user.id", [.variable, .json],
      saving: .always, secrets: .named,
      details: """
        ${NAME} is replaced by the value in JSON, in strings and in arguments of commands. $NAME is the same if it is \
        a whole JSON value, argument or value of a header. ${env.NAME} is an environment variable. \
        rpcurl-session(1) lists all values and functions.
        Example: set id = $last.user.id
        """
    ) { session, arguments in
      guard let equals = arguments.rest.unicodeScalars.lastIndex(of: "=") else { throw arguments.wrongUsage }
      guard arguments.values.count == 1 else {
        throw Failure(
          .usage, "set", "one value is expected, not \(arguments.values.count)", hint: arguments.valueHint)
      }
      let name = try SessionWords.split(arguments.rest[..<equals]).map(\.text)
      guard name.count == 1 else { throw arguments.wrongUsage }
      let input = try session.input(of: arguments.values[0])
      do {
        try session.set(
          variable: name[0], to: JSONValue(parsing: input.bytes), isFromServer: input.isFromServer)
      } catch let error as MessageParseError {
        throw Failure(.input, name[0], error.description, hint: error.hint ?? arguments.valueHint)
      }
    },
    SessionVerb(
      "unset NAME", "remove a variable; unset header NAME: remove a header", [.variable, .header],
      saving: .always
    ) { session, arguments in
      guard arguments.words.first == "header" else { return try session.bindings.unset(arguments.only()) }
      guard arguments.words.count == 2 else { throw arguments.wrongUsage }
      try session.unset(header: arguments.words[1])
    },
    SessionVerb(
      "print [$NAME]", "print a value as JSON, or those of all variables, long ones cut", [.text],
      details: """
        A field of a variable follows a full stop, and TAB completes it.
        Examples: print $last.user.id; print last.status; print "user ${last.user.id}"
        """
    ) { session, arguments in
      guard arguments.rest.isEmpty else { return try session.show(arguments.rest) }
      for name in session.bindings.names where (try? session.bindings.value(of: name)) != nil {
        try session.show(name, title: "\(name) = ", limit: 200)
      }
    },
  ]

  /// Prints the value of an expression, with or without its dollar sign.
  private func show(_ text: String, title: String = "", limit: Int = .max) throws {
    let value = try bindings.value(of: text)
    let isPretty = try settings(options, headers: [], Self.noTarget).output.format == .pretty
    let whole = isPretty ? value.indentedText : value.text
    // A count of characters reads all of them.
    let isCut = limit < .max && whole.count > limit
    console.output.write(Array("\(title)\(isCut ? whole.prefix(limit) + "…" : whole)\n".utf8))
  }
}

extension JSONValue {
  /// The text over several lines, with two blanks for each level.
  var indentedText: String { indented("") }

  private func indented(_ margin: String) -> String {
    let inner = margin + "  "
    switch self {
    case .array(let elements) where !elements.isEmpty:
      return "[\n" + elements.map { inner + $0.indented(inner) }.joined(separator: ",\n") + "\n\(margin)]"
    case .object(let members) where !members.isEmpty:
      let lines = members.map { "\(inner)\(JSONValue.quoted($0.name)): \($0.value.indented(inner))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(margin)}"
    default: return text
    }
  }
}

// MARK: Other

extension Session {
  fileprivate static let otherEntries: [SessionVerb] = [
    SessionVerb(
      "help [NAME]", "list the commands, or describe a command, an option or an interceptor; ? is the same",
      [.command]
    ) {
      session, arguments in
      try session.help(try arguments.atMostOne())
    },
    SessionVerb(
      "history [N]", "print the last N lines that were typed (default: all)", [.text], isOnlyAtPrompt: true
    ) {
      session, arguments in
      let lines = session.typedLines
      guard let count = arguments.rest.isEmpty ? lines.count : Int(arguments.rest), count >= 0 else {
        throw arguments.wrongUsage
      }
      session.print(lines.suffix(count).joined(separator: "\n").split(separator: "\n").map { String($0) })
    },
    SessionVerb("clear", "clear the screen", isOnlyAtPrompt: true) { session, _ in session.clearScreen() },
    SessionVerb(
      "copy [sh|curl|grpcurl|buf]", "print the last call as a command of a shell",
      [.choice(["buf", "curl", "grpcurl", "sh"])]
    ) { session, arguments in try session.copy(arguments.atMostOne() ?? "sh") },
    SessionVerb("cd [DIR]", "change the working directory", [.file], isOnlyAtPrompt: true) {
      session, arguments in
      try session.changeDirectory(arguments.atMostOne() ?? session.bindings.expand(path: "~"))
    },
    SessionVerb("!COMMAND", "run a command of a shell", [.text], secrets: .guessed, isOnlyAtPrompt: true) {
      session, arguments in
      guard !arguments.rest.isEmpty else { throw arguments.wrongUsage }
      try session.runShell(arguments.rest)
    },
    SessionVerb("exit", "cancel open streams and end the session", endsSession: true) { session, _ in
      session.leave(.success)
    },
    SessionVerb("quit", "the same as exit", endsSession: true) { session, _ in session.leave(.success) },
  ]
}
