import CommandLine
import Protobuf

/// The commands of a session: what they are called, what help says, and what they do.
struct SessionCommandEntry {
  /// Whether a command belongs into a script that does again what was done.
  enum Saving {
    case never
    /// With the words that were typed.
    case always
    /// The same, but without words it only shows something.
    case withWords
    /// By whoever carries it out.
    case itself
  }

  let verb: SessionVerb
  let saving: Saving
  let run: @Sendable (Session, SessionArguments) throws -> Void

  init(
    _ usage: String, _ summary: String, _ arguments: [SessionVerb.Argument] = [], saving: Saving = .never,
    details: String = "", run: @escaping @Sendable (Session, SessionArguments) throws -> Void
  ) {
    verb = SessionVerb(
      name: String(usage.prefix { $0 != " " }), usage: usage, summary: summary, arguments: arguments,
      details: details)
    self.saving = saving
    self.run = run
  }
}

/// What stands behind the name of a command.
struct SessionArguments {
  /// The words, variables in them replaced.
  let words: [String]
  /// All of it as it was typed, for values that may hold anything.
  let rest: String
  /// JSON values, variables not replaced.
  let values: [String]
  /// The name of the command, for errors.
  let name: String
  let usage: String

  /// The word at a place; it must be there.
  func word(_ index: Int) throws(Failure) -> String {
    guard words.indices.contains(index) else { throw wrongUsage }
    return words[index]
  }

  /// The only word.
  func only() throws(Failure) -> String {
    guard words.count == 1 else { throw wrongUsage }
    return words[0]
  }

  /// The only word, if there is one.
  func atMostOne() throws(Failure) -> String? {
    guard words.count <= 1 else { throw wrongUsage }
    return words.first
  }

  /// What is thrown when the words are not as usage says.
  var wrongUsage: Failure { Failure(.usage, name, "that is not how it is called", hint: usage) }
}

extension Session {
  /// Carries out what was typed.
  func execute(_ statement: SessionStatement) throws {
    guard !statement.head.isEmpty else {
      try send(statement.values)
      record.add(statement.text)
      return
    }
    // A colon in front says that it is a command; it can stand in front of any.
    let line = statement.head.droppingScalars { $0 == ":" }
    let verb = line.prefixOfScalars { !$0.properties.isWhitespace }
    let name = String(verb)
    guard let entry = Self.entries.first(where: { $0.verb.name == name }) else { throw Self.unknown(name) }
    let rest = line[verb.endIndex...].droppingScalars(while: \.properties.isWhitespace)
    let arguments = SessionArguments(
      words: try entry.verb.takesText ? [] : words(rest), rest: String(rest), values: statement.values,
      name: name, usage: entry.verb.usage)
    guard !entry.verb.arguments.isEmpty || rest.isEmpty else { throw arguments.wrongUsage }
    try entry.run(self, arguments)
    if entry.saving == .always || entry.saving == .withWords && !rest.isEmpty { record.add(statement.text) }
  }

  private func words(_ text: some StringProtocol) throws(Failure) -> [String] {
    var words: [String] = []
    for word in try SessionWords.split(text) {
      words.append(word.isLiteral ? word.text : try bindings.expand(word: word.text))
    }
    return words
  }

  private static func unknown(_ name: String) -> Failure {
    guard !name.isEmpty else {
      return Failure(.usage, "a colon alone", "no command follows", hint: "help lists them")
    }
    let names = entries.map(\.verb.name)
    let longer = names.filter { $0.hasPrefix(name) }
    let nearest = longer.isEmpty ? Suggestions.nearest(to: name, among: names).map { [$0] } ?? [] : longer
    return Failure(
      .usage, name, "no such command",
      hint: nearest.isEmpty ? "help lists them" : "did you mean \(nearest.joined(separator: ", or "))?")
  }

  /// Shows what a command has found out.
  func say(_ lines: [String]) {
    StandardOutput.write(Array(lines.map { "\(TerminalText.escape($0))\n" }.joined().utf8))
  }

  /// All commands, in the order of help.
  static let entries: [SessionCommandEntry] =
    callEntries + variableEntries + settingEntries + chainEntries + schemaEntries + fileEntries + otherEntries
}

extension SessionVerb {
  /// Whether all that follows is one value, which may hold anything.
  var takesText: Bool { arguments.last == .text }
}

// MARK: Calls

extension Session {
  private static let callEntries: [SessionCommandEntry] = [
    SessionCommandEntry(
      "call METHOD [JSON]", "make a call and wait for its end", [.method, .json], saving: .always,
      details: """
        A method's own name is enough where only one has it. Without JSON an empty message is sent. A method that takes \
        a stream is sent all the values given. Ctrl-C cancels the call.
        Example: call Hello {"name":"Ada"}
        """
    ) { session, arguments in try session.call(arguments.only(), arguments.values) },
    SessionCommandEntry(
      "open METHOD [JSON]", "start a stream, which messages go to from now on", [.method, .json],
      saving: .always,
      details: """
        Each JSON value that is typed then is sent at once, and responses are shown as they come, behind the number of \
        their stream where several are open.
        Example: open Chat
                 {"text":"hello"}
        """
    ) { session, arguments in try session.open(arguments.only(), arguments.values) },
    SessionCommandEntry(
      "edit METHOD", "write the request in $VISUAL or $EDITOR, and call", [.method],
      details: "The text is a template with every field at first, and what was written last time after that."
    ) { session, arguments in try session.edit(arguments.only()) },
    SessionCommandEntry("streams", "list the streams that are open") { session, _ in
      session.say(
        session.streams.open.map { stream in
          let mark = stream === session.streams.current ? "*" : " "
          return "\(mark) \(stream.number ?? 0) \(stream.summary)"
        })
    },
    SessionCommandEntry("switch N", "send messages to this stream", [.stream], saving: .always) {
      session, arguments in
      let stream = try session.streams.find(arguments.only())
      guard stream.takesMessages else { throw Failure(.usage, stream.title, "it takes no more messages") }
      session.streams.makeCurrent(stream)
    },
    SessionCommandEntry(
      "close [N]", "half-close a stream: no more messages follow", [.stream], saving: .always
    ) { session, arguments in
      let number = try arguments.atMostOne()
      if session.streams.hasEnded(number) { return session.notice("it has ended already") }
      let stream = try session.streams.find(number)
      guard stream.takesMessages else { throw Failure(.usage, stream.title, "it is half-closed already") }
      session.halfClose(stream)
    },
    SessionCommandEntry("cancel [N]", "cancel a stream", [.stream], saving: .always) { session, arguments in
      let number = try arguments.atMostOne()
      if session.streams.hasEnded(number) { return session.notice("it has ended already") }
      let stream = try session.streams.find(number)
      stream.cancel("canceled")
      try session.waitForEnd(of: [stream])
    },
    SessionCommandEntry(
      "receive [COUNT]", "wait for so many further responses (default: 1)", [.text], saving: .always,
      details: "For scripts: what follows can rely on $last."
    ) { session, arguments in
      guard let count = arguments.rest.isEmpty ? 1 : Int(arguments.rest), count > 0 else {
        throw arguments.wrongUsage
      }
      try session.receive(count)
    },
    SessionCommandEntry(
      "wait [N]", "half-close a stream and wait for its end (default: all)", [.stream], saving: .always
    ) { session, arguments in
      let number = try arguments.atMostOne()
      if session.streams.hasEnded(number) { return }
      let awaited = try number.map { [try session.streams.find($0)] } ?? session.streams.open
      for stream in awaited where stream.takesMessages { session.halfClose(stream) }
      try session.waitForEnd(of: awaited)
    },
  ]
}

// MARK: Variables

extension Session {
  private static let variableEntries: [SessionCommandEntry] = [
    SessionCommandEntry(
      "set NAME = VALUE", "make a variable of JSON, or of a value such as $last.user.id", [.variable, .json],
      saving: .always,
      details: """
        $NAME stands for it in JSON and as a word of a command, and ${NAME} within strings and words. ${NAME} is also \
        an environment variable, where no variable has the name.
        Example: set id = $last.user.id
        """
    ) { session, arguments in
      guard arguments.values.count == 1, let equals = arguments.rest.unicodeScalars.lastIndex(of: "=") else {
        throw arguments.wrongUsage
      }
      let name = try SessionWords.split(arguments.rest[..<equals]).map(\.text)
      guard name.count == 1 else { throw arguments.wrongUsage }
      let json = try session.bindings.expand(json: arguments.values[0])
      do {
        try session.bindings.set(name[0], to: JSONValue(parsing: Array(json.utf8)))
      } catch let error as JSONError {
        throw Failure(.input, name[0], error.description, hint: error.hint ?? "write JSON, or $last.user.id")
      }
    },
    SessionCommandEntry(
      "unset NAME", "forget a variable; unset header NAME: a header", [.variable], saving: .always
    ) { session, arguments in
      guard arguments.words.first == "header" else { return try session.bindings.unset(arguments.only()) }
      guard arguments.words.count == 2 else { throw arguments.wrongUsage }
      try session.unset(header: arguments.words[1])
    },
    SessionCommandEntry("vars", "list the variables") { session, _ in
      session.say(
        try session.bindings.names.map { name in
          guard let reference = VariableReference(name) else { return name }
          let text = try session.bindings.value(reference).text
          return "\(name) = \(text.count > 200 ? text.prefix(200) + "…" : text)"
        })
    },
  ]
}

// MARK: Other

extension Session {
  private static let otherEntries: [SessionCommandEntry] = [
    SessionCommandEntry("help [COMMAND]", "list the commands, or explain one", [.command]) {
      session, arguments in
      guard let name = try arguments.atMostOne() else {
        let width = entries.map(\.verb.usage.count).max() ?? 0
        session.say(
          entries.map { entry in
            let usage = entry.verb.usage
            return usage + String(repeating: " ", count: width - usage.count + 2) + entry.verb.summary
          })
        session.say([
          "", "Lines that begin with {, [, a quote, a digit or $ are messages for the current stream.",
        ])
        return
      }
      guard let entry = entries.first(where: { $0.verb.name == name }) else { throw unknown(name) }
      session.say(["\(entry.verb.usage): \(entry.verb.summary)"])
      session.say(entry.verb.details.split(separator: "\n", omittingEmptySubsequences: true).map(String.init))
    },
    SessionCommandEntry("exit", "cancel what is open, and end") { session, _ in session.leave(.success) },
    SessionCommandEntry("quit", "the same as exit") { session, _ in session.leave(.success) },
  ]
}
