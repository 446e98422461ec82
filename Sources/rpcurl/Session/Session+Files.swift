import Glibc
import Protobuf

/// Commands that read and write files.
extension Session {
  static let fileEntries: [SessionCommandEntry] = [
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

  /// `edit METHOD`: has the request written in an editor, and calls.
  func edit(_ method: String) throws {
    let plan = try plan(method)
    let key = plan.name.description
    let text =
      try edited[key]
      ?? SchemaOutput.schema { () throws(SchemaError) in try MessageTemplate(plan.method.input) }.json
    pauseInput()
    _ = StandardOutput.flushWhatFits()
    let written = try ExternalEditor.edit(text, environment)
    // Ctrl-C was the editor's.
    noteSignal()
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
