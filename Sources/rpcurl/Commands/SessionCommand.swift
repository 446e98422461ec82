import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram

/// `rpcurl session`: an interactive session.
struct SessionCommand {
  private let invocation: Invocation

  init(_ invocation: Invocation) {
    self.invocation = invocation
  }

  func run(on console: Console) throws {
    let target = invocation.positionals.first ?? invocation.configuredTarget
    let session = try Session(
      console, SessionState(invocation, target: target), isInteractive: isatty(0) == 1,
      schemaCommand: SchemaCommands.run)
    // A later command may check them.
    session.clients.reportsCertificates = true
    try session.setVariables(of: invocation)
    let input = SessionInputs.make(session)
    let status = try session.run(input)
    guard status == .success else { throw Failure(reported: status) }
  }
}

/// `rpcurl run`: runs a script of session commands.
struct RunCommand {
  private let invocation: Invocation

  init(_ invocation: Invocation) {
    self.invocation = invocation
  }

  func run(on console: Console) throws {
    let arguments = invocation.positionals
    guard let path = arguments.last?.text, arguments.count <= 2 else {
      throw Failure(
        .usage, arguments.isEmpty ? "missing argument" : arguments[2].text,
        arguments.isEmpty ? "FILE" : "unexpected argument", hint: "rpcurl run [OPTIONS] [TARGET] FILE")
    }
    let target = arguments.count == 2 ? arguments[0] : invocation.configuredTarget
    if let name = target?.text, arguments.count == 2, access(name, R_OK) == 0, access(path, R_OK) != 0 {
      throw Failure(
        .usage, name, "this file is in the place of the target", hint: "rpcurl run [OPTIONS] TARGET FILE")
    }
    if arguments.count == 1, path.contains(":"), access(path, F_OK) != 0 {
      throw Failure(
        .usage, "missing argument", "FILE", hint: "\(path) is a target: rpcurl run [OPTIONS] TARGET FILE")
    }
    let session = try Session(
      console, SessionState(invocation, target: target), isInteractive: false,
      schemaCommand: SchemaCommands.run)
    try session.setVariables(of: invocation)
    let repetition = try Repetition(invocation)
    guard repetition == nil || path != "-" else {
      throw Failure(
        .usage, "--repeat", "standard input can be read once", hint: "write the commands to a file")
    }
    try session.run(script: path, repetition)
  }
}
