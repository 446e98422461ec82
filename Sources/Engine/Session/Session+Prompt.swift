import RPCurlBase
import RPCurlPlatform
import RPCurlProgram

/// What only a prompt has: commands of the shell, and its screen.
extension Session {
  /// Whether the running command was typed at a prompt of a terminal.
  var isAtPrompt: Bool { isInteractive && mode == .prompt }

  /// `!COMMAND`: runs a command of the shell, which reads a file or the terminal.
  func runShell(_ command: String, reading path: String? = nil) throws {
    input?.pause()
    console.output.flush()
    let status = try withProgram { wait throws(Failure) in
      try ShellCommand.run(command, reading: path, waitForEnd: wait)
    }
    let code = status >> 8 & 0xFF
    if status != 0 {
      notice(code != 0 ? "the command ended with exit \(code)" : "the command was ended by a signal")
    }
  }

  /// Makes a call with `call`, which writes its responses to a file, and gives them to a command of the shell.
  func withResponses(for command: String, _ call: (SessionWords.Word) throws -> Void) throws {
    let directory = environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(directory)/rpcurl.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure(.internalError, directory, FileContents.lastError()) }
    close(descriptor)
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { unlink(path) }
    try call(SessionWords.Word(text: path, isLiteral: true))
    try runShell(command, reading: path)
  }

  /// `cd DIR`: changes the working directory.
  func changeDirectory(_ path: String) throws(Failure) {
    guard chdir(path) == 0 else { throw Failure(.usage, path, FileContents.lastError()) }
  }

  /// The lines of the history.
  var typedLines: [String] { input?.history ?? [] }

  /// Clears the screen.
  func clearScreen() { input?.clearScreen() }

  /// `copy PROGRAM`: prints the last call as a command.
  func copy(_ program: String) throws {
    guard let last = lastCall, let call = last.saved else {
      throw Failure(.usage, "copy", "no call was made", hint: "call METHOD {…}, then copy")
    }
    var secrets = written
    guard let program = CallProgram(rawValue: program), program != .rpcurl else {
      guard program == CallProgram.rpcurl.rawValue else {
        throw Failure(
          .usage, program, "no such program", hint: "copy sh, copy curl, copy grpcurl or copy buf")
      }
      return console.output.write(Array("\(SavedScript.command(call, &secrets))\n".utf8))
    }
    let words =
      call.arguments + call.messages.flatMap { ["-d", $0] } + [call.target, call.method.description]
    let invocation = Parser.parse(words, as: .call)
    if let error = invocation.errors.first { throw Failure(error) }
    let found = SchemaSource.Found(
      pool: last.plan.pool, method: last.plan.method, origin: schema.isFromServer ? .server : .files)
    let resolved = try CallPlan.resolve(
      invocation, clients: clients, environment: environment, isDry: true,
      readsData: program.readsData(invocation), schema: found)
    defer { resolved.chain.unload() }
    console.output.write(
      Array(
        try program.script(
          invocation, resolved, hiding: secrets.known, console.error, environment: environment
        ).utf8))
  }
}

extension Failure {
  /// The error for what files and pipes must not have.
  static func onlyAtPrompt(_ what: String, _ hint: String?) -> Failure {
    Failure(.usage, what, "only possible at the prompt of a terminal", hint: hint)
  }
}
