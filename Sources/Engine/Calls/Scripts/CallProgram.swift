import RPCurlProgram

/// A program whose command `--explain` prints, as a value of `--format`.
package enum CallProgram: String, CaseIterable {
  /// rpcurl itself, in a shell.
  case rpcurl = "sh"
  case curl, grpcurl
  case buf

  /// The program as a command.
  package var command: String {
    switch self {
    case .rpcurl: "rpcurl"
    case .buf: "buf curl"
    case .curl, .grpcurl: rawValue
    }
  }

  /// The program in the definitions of options; empty for rpcurl.
  var counterpart: Option.Programs {
    switch self {
    case .rpcurl: []
    case .curl: .curl
    case .grpcurl: .grpcurl
    case .buf: .buf
    }
  }

  /// Whether the command contains the messages themselves, so that the data has to be read.
  package func readsData(_ options: Invocation) -> Bool {
    switch self {
    case .rpcurl: false
    case .curl: true
    case .grpcurl, .buf:
      !options.edits.isEmpty || options.expandsData || options.dataFormat != .json
        || options.data.count > 1 && options.data.contains { $0.hasPrefix("@") }
    }
  }

  /// The call as a shell command of the program, with comments before it.
  ///
  /// - Parameters:
  ///   - command: The arguments of the call.
  ///   - resolved: The call that they mean.
  ///   - known: Secrets that may occur anywhere in the command.
  ///   - error: Where warnings about sources are printed.
  ///   - environment: Returns the value of an environment variable.
  /// - Throws: `Failure` if the program cannot make the call, or if its data is needed and invalid.
  package func script(
    _ command: Invocation, _ resolved: ResolvedCall, hiding known: KnownSecrets = KnownSecrets(),
    _ error: StandardError, environment: (String) -> String?
  ) throws(Failure) -> String {
    if self != .rpcurl, command.isBatch {
      throw Failure(
        .usage, "--explain --format \(rawValue)", "a command of \(self.command) makes one call",
        hint: "omit --each, or use --format sh")
    }
    let call = try WrittenCall(self, command, resolved, known, error)
    if self != .rpcurl, command.expansion.map({ $0 != .typed }) ?? false,
      let file = command.all(.header).first(where: { $0.text?.hasPrefix("@") == true })
    {
      throw Failure(
        .usage, "--explain --format \(rawValue)",
        "a command of \(self.command) cannot replace values in the file of \(file.name)",
        hint: "use --format sh")
    }
    switch self {
    case .rpcurl:
      var written = RpcurlCommand(call)
      return written.write(environment)
    case .curl:
      var written = CurlCommand(call)
      return try written?.write() ?? ""
    case .grpcurl:
      var written = GrpcurlCommand(call)
      return try written.write()
    case .buf:
      var written = BufCommand(call)
      return try written.write()
    }
  }
}
