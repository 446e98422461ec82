import Calls
import Glibc
import Output
import Protobuf
import System

/// Commands that read and write files.
extension Session {
  package static let fileEntries: [SessionCommandEntry] = [
    SessionCommandEntry(
      "source [--keep-going] FILE", "run a file of commands; the first that fails ends it", [.file],
      saving: .itself
    ) { session, arguments in
      var words = arguments.words
      let keepsGoing = words.first == "--keep-going"
      if keepsGoing { words.removeFirst() }
      guard words.count == 1 else { throw arguments.wrongUsage }
      try session.runScript(words[0], keepsGoing: keepsGoing)
    },
    SessionCommandEntry(
      "save [--show-secrets] FILE", "write what was done as a script", [.file],
      details: """
        rpcurl run FILE does it again; a name that ends in .sh gets commands of a shell. Calls that failed are left \
        out. Credentials are variables of the environment there, unless --show-secrets. At most 10,000 commands and \
        16 MiB are kept.
        """
    ) { session, arguments in
      var words = arguments.words
      let showsSecrets = words.first == "--show-secrets"
      if showsSecrets { words.removeFirst() }
      guard words.count == 1 else { throw arguments.wrongUsage }
      try session.save(words[0], showsSecrets: showsSecrets)
    },
    SessionCommandEntry(
      "record FILE|off", "write what is typed and shown to a file, from now on", [.file]
    ) { session, arguments in
      let path = try arguments.only()
      _ = StandardOutput.flushWhatFits()
      session.transcript = nil
      guard path != "off" else { return }
      session.transcript = try SessionTranscript(path) { [weak session] why in
        session?.tell(Failure(.internalError, path, why))
      }
    },
  ]

  private func save(_ path: String, showsSecrets: Bool) throws(Failure) {
    let text =
      path.hasSuffix(".sh")
      ? SavedScript.shell(record, showsSecrets: showsSecrets)
      : SavedScript.session(record, showsSecrets: showsSecrets)
    if let problem = FileContents.replace(path, with: Array(text.utf8)) {
      throw Failure(.internalError, path, problem.why)
    }
    var status = stat()
    // Both begin with the program that runs them.
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      chmod(path, status.st_mode & 0o777 | 0o100)
    }
    if record.isCut { notice(SessionRecord.cutRemark) }
  }

  /// Has an editor run on the terminal, if there is one. Streams go on, and what they answer is shown when it has ended.
  private func withEditor(
    _ body: ((Int32) throws(Failure) -> Bool) throws(Failure) -> String
  ) throws(Failure) -> String {
    let wait = { (descriptor: Int32) throws(Failure) -> Bool in
      var hasEnded = false
      self.client.loop.watch(descriptor) { hasEnded = true }
      defer { self.client.loop.unwatch(descriptor) }
      while !(try self.wait { hasEnded }) {
        // Ctrl-C was the editor's.
        self.noteSignal()
        if self.end != nil { return false }
      }
      return true
    }
    guard isInteractive else { return try body(wait) }
    return try TerminalMultiplexer.lend { () throws(Failure) in try body(wait) }
  }

  /// `edit METHOD`: has the request written in an editor, and calls.
  package func edit(_ method: String) throws {
    let plan = try plan(method)
    let key = plan.name.description
    let text =
      try edited[key]
      ?? SchemaOutput.schema { () throws(SchemaError) in try MessageTemplate(plan.method.input) }.json
    pauseInput()
    let written = try withEditor { wait throws(Failure) in
      try ExternalEditor.edit(text, environment, waitForEnd: wait)
    }
    guard written.contains(where: { !$0.isWhitespace }) else {
      throw Failure(.input, method, "the text is empty, so nothing is sent")
    }
    edited[key] = written
    var reader = SessionStatementReader()
    guard let statement = try reader.add(written), statement.head.isEmpty else {
      throw Failure(
        .input, method, "not JSON, or not all of it", hint: "edit \(method) offers the text again")
    }
    try call(method, statement.values)
    record.add("call \(plan.name) \(statement.text)")
  }
}
