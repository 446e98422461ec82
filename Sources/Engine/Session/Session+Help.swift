import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf

/// What a session prints about itself.
extension Session {
  /// Whether text is laid out for a terminal.
  private var columns: Int? { isInteractive && console.output.isTerminal ? TerminalModes.size.columns : nil }

  /// Prints lines of text, wrapped between words.
  func printText(_ lines: [String], indent: Int = 2) {
    print(lines.flatMap { TextLayout.wrapped($0, columns: columns, indent: indent) })
  }

  /// Prints the line that greets a user of a terminal: the server and how to get help.
  func greet() {
    guard isInteractive, console.output.isTerminal else { return }
    guard let target = state.target?.text else {
      return notice("no server yet: \"target URL\" sets one, and \"help\" lists the commands")
    }
    learnForGreeting()
    let count = services.filter { !$0.hasPrefix("grpc.") }.count
    let known = schema.pool == nil ? "" : ", \(count) service\(count == 1 ? "" : "s")"
    let keys = editsLines ? "TAB completes, and " : ""
    notice("\(target)\(known); \(keys)\"help\" lists the commands")
  }

  /// How long the greeting waits for the server's schema.
  private static let patience = Duration.seconds(1)

  /// Reads the schema, which completion needs too. A server that does not respond is reported by the first call.
  private func learnForGreeting() {
    do {
      var server = try server()
      if let timeout = server?.timeout { server?.timeout = min(timeout, Self.patience) }
      _ = try schema.pool(options, server: server)
    } catch {
      if options.hasSchema { report(error) }
    }
    handleSignal()
  }

  /// `help [NAME]`: lists the commands, or describes a command, an option or an interceptor.
  func help(_ name: String?) throws {
    guard let name else {
      let rows = SessionVerb.all.map { (name: $0.usage, text: $0.summary) }
      let values =
        "Lines that begin with {, [, @, a quote, a digit or $ are messages; they are sent on the current stream."
      let keys = """
        Keys: TAB completes; Ctrl-R searches the history; Alt-. inserts the last word of an earlier line; Ctrl-_ undoes; \
        Ctrl-X Ctrl-E opens $VISUAL or $EDITOR on the text; Alt-Enter begins another line of it.
        """
      return try page(
        TextLayout.table(rows, columns: columns) + [""]
          + (editsLines ? [keys, values] : [values]).flatMap { TextLayout.wrapped($0, columns: columns) })
    }
    if name == "language" {
      return try page(
        Help.language.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) })
    }
    if SessionVerb.named(name == "?" ? "help" : name) == nil,
      let lines = HelpTopic.paragraphs(of: name, inSession: true)
    {
      return try page(lines.flatMap { TextLayout.wrapped($0, columns: columns, indent: 2) })
    }
    let verb = try Self.verb(name)
    let details = verb.details.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    try page(
      TextLayout.wrapped("\(verb.usage): \(verb.summary)", columns: columns, indent: 2)
        + details.flatMap { TextLayout.wrapped($0, columns: columns) })
  }

  /// Runs a command. What it prints is shown in the user's pager if that takes more rows than the terminal has.
  func paged(_ body: () throws -> Void) throws {
    // The output of streams does not wait.
    guard isAtPrompt, editsLines, console.error.isTerminal, streams.open.isEmpty,
      Pager.isWanted(environment)
    else { return try body() }
    console.output.hold()
    do { try body() } catch {
      try showHeld()
      throw error
    }
    try showHeld()
  }

  private func showHeld() throws {
    let size = TerminalModes.size
    let text = console.output.endHold {
      TextLayout.rows(of: $0, columns: size.columns, limit: size.rows) >= size.rows
    }
    guard let text, end == nil else { return }
    let isShown = try withProgram { wait throws(Failure) in
      try Pager.show(String(decoding: text, as: UTF8.self), environment, waitForEnd: wait)
    }
    if isShown { console.terminal.record(text) } else { console.output.write(text) }
  }

  /// Prints lines; in the user's pager if they are more than the terminal has rows.
  private func page(_ lines: [String]) throws {
    guard columns != nil, lines.count >= TerminalModes.size.rows else { return print(lines) }
    input?.pause()
    let text = lines.map { "\(TerminalText.escape($0))\n" }.joined()
    let isShown = try withProgram { wait throws(Failure) in
      try Pager.show(text, environment, waitForEnd: wait)
    }
    if !isShown { print(lines) }
  }
}
