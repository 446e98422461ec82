import RPCurlProgram
import RPCurlReports

extension SuiteError {
  /// Makes the error of an event.
  ///
  /// - Parameters:
  ///   - error: What a command or a file threw.
  ///   - line: The line of the command; nil if the whole file is concerned.
  ///   - secrets: Removes secrets.
  init(_ error: any Error, line: Int? = nil, _ secrets: SessionSecrets) {
    let failure = error as? Failure
    let message = failure?.message
    self.init(
      line: line, what: secrets.apply(message?.what ?? ""),
      why: secrets.apply(message?.why ?? (failure == nil ? "\(error)" : "the command failed")),
      hint: message?.hint.map(secrets.apply))
  }
}
