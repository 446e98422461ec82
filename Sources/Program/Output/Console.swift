import RPCurlChain
import RPCurlPlatform

/// The user's side of a command: standard output, standard error, and the terminal that both may share.
///
/// The program creates one and passes it on.
package struct Console {
  package let output: StandardOutput
  package let error: StandardError
  /// Prompts for secrets, which are the same for all calls.
  package let secrets = SecretPrompt()
  /// The report files that interceptors of this run write.
  package let reports = ReportFiles()
  /// The files that processes of this run write; nil if it is the only one.
  package var runFiles: RunFiles?
  /// Which servers of this machine do not use TLS.
  package let localServers: LocalServers
  /// What interceptors share outside of calls.
  package let shared = SharedValues()

  /// Creates a console.
  ///
  /// - Parameters:
  ///   - output: The descriptor of standard output.
  ///   - error: The descriptor of standard error.
  package init(output: Int32 = 1, error: Int32 = 2) {
    self.init(OutputStream(output), OutputStream(error))
  }

  /// Creates a console whose output and errors a capture keeps.
  package init(_ capture: OutputCapture) {
    self.init(OutputStream(capture), OutputStream(capture))
  }

  private init(_ output: OutputStream, _ error: OutputStream) {
    let error = StandardError(error)
    self.error = error
    self.output = StandardOutput(output, error: error)
    localServers = LocalServers { host, port in
      error.remark(
        "note: \(host):\(port) does not use TLS, so nothing is encrypted; --plaintext omits this check\n")
    }
  }

  /// The terminal on which a session edits lines.
  package var terminal: TerminalMultiplexer { error.terminal }
  /// How long output waits for its reader.
  package var deadline: FlushDeadline { error.deadline }
}
