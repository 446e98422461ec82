import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlSchemaTools

/// The commands that read and write files.
extension Session {
  package static let fileEntries: [SessionVerb] = [
    SessionVerb(
      "source [--keep-going] FILE", "run the commands of a file until one fails", [.file]
    ) { session, arguments in
      let (path, keepsGoing) = try arguments.only(after: "--keep-going")
      try session.runScript(path, keepsGoing: keepsGoing)
    },
    SessionVerb(
      "save [--show-secrets] FILE", "write the session as a script", [.file],
      details: """
        "rpcurl run FILE" repeats the session, and cancels streams that are still open. With a name in .sh, the script \
        is one of shell commands. Failed commands are omitted. Credentials become environment variables unless --show-secrets is given. At most \
        10,000 commands and 16 MiB are kept.
        """
    ) { session, arguments in
      let (path, showsSecrets) = try arguments.only(after: "--show-secrets")
      try session.save(path, showsSecrets: showsSecrets)
    },
    SessionVerb(
      "record FILE|off", "write input and output to a file from now on", [.file]
    ) { session, arguments in
      let path = try arguments.only()
      _ = session.console.output.flushWhatFits()
      session.transcript = nil
      guard path != "off" else { return }
      session.transcript = try SessionTranscript(
        path, of: session.console, session.secrets, waitLimit: session.waitLimit
      ) { [weak session] why in
        session?.report(Failure(.internalError, path, why))
      }
    },
  ]

  private func save(_ path: String, showsSecrets: Bool) throws(Failure) {
    for stream in streams.open { stream.saved?.limit = stream.received }
    let written = WrittenSecrets(
      showsSecrets: showsSecrets, secrets.names, separates: false, known: secrets.known)
    let text =
      path.hasSuffix(".sh")
      ? SavedScript.shell(record, written)
      : SavedScript.session(record, ending: streams.open.flatMap(ending), written)
    if let problem = FileContents.replace(path, with: Array(text.utf8), waitLimit: waitLimit) {
      throw Interrupt.failure ?? Failure(.internalError, path, problem)
    }
    // Both kinds of script start with a `#!` line.
    if let file = FileFacts(path), file.isRegular { chmod(path, file.permissions | 0o100) }
    if record.isCut { notice(SessionRecord.cutRemark) }
  }

  /// The commands that end a stream in a script: nothing but `cancel` is certain to end it.
  private func ending(_ stream: SessionStream) -> [String] {
    guard let number = stream.number else { return [] }
    // The responses of several streams have no order that a script could wait for.
    let missing = streams.open.count == 1 ? stream.received - stream.awaited : 0
    return (missing > 0 ? ["receive \(missing)"] : []) + ["cancel \(record.number(inScript: number))"]
  }

  /// Runs another program on the terminal, if there is one. Streams continue; their output appears after it ends.
  func withProgram<Result>(
    _ body: ((Int32) throws(Failure) -> Bool) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let wait = { (descriptor: Int32) throws(Failure) -> Bool in
      var hasEnded = false
      self.client.loop.watch(descriptor) { hasEnded = true }
      defer { self.client.loop.unwatch(descriptor) }
      while !(try self.wait { hasEnded || self.observer?.isTimeOver == true }) {
        // The program handles Ctrl-C.
        self.handleSignal()
        if let end = self.end { throw self.interruption ?? Failure(reported: end) }
      }
      return hasEnded
    }
    guard isInteractive else { return try body(wait) }
    return try console.terminal.lend(holding: console.output) { () throws(Failure) in try body(wait) }
  }

  /// Opens the line that is being typed in an editor. What the editor saves becomes the line.
  func editLine(_ text: String) throws {
    let written = try withProgram { wait throws(Failure) in
      try ExternalEditor.edit(
        text, environment, ending: ".rpcurl", unchanged: "the line is not changed", waitForEnd: wait)
    }
    input?.replace(by: String(written[...].withoutOuterSpace))
  }

  /// `edit METHOD`: opens the request in an editor and makes the call.
  package func edit(_ method: String) throws {
    let plan = try plan(method, console.output)
    let key = plan.name.description
    let text =
      try edited[key]
      ?? SchemaOutput.schema { () throws(SchemaError) in try MessageTemplate(plan.method.input) }.json
    // The editor reads from the terminal.
    input?.pause()
    let written = try withProgram { wait throws(Failure) in
      try ExternalEditor.edit(text, environment, waitForEnd: wait)
    }
    guard written.contains(where: { !$0.isWhitespace }) else {
      throw Failure(.input, method, "the text is empty; nothing was sent")
    }
    guard written != text else {
      throw Failure(
        .input, method, "the text is not changed; nothing was sent",
        hint: edited[key] == nil ? "call \(method) sends an empty message" : "Up recalls the last call")
    }
    edited[key] = written
    var reader = SessionStatementReader()
    guard let statement = try reader.add(written), statement.head.isEmpty else {
      throw Failure(
        .input, method, "invalid or incomplete JSON", hint: "run \"edit \(method)\" to correct the text")
    }
    remember("call \(method) \(statement.text)")
    let command = "call \(plan.name) \(statement.text)"
    try call(
      method,
      SessionStatement(
        head: "call \(plan.name)", values: statement.values, output: nil, options: [], command: nil,
        text: command,
        recorded: command))
    if failures.last?.stream !== lastCall { record.add(command) }
  }
}
