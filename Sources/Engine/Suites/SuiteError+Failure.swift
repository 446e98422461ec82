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

  /// The error of a setup or of a test, with that of the teardown that followed.
  func followed(byTeardown other: SuiteError) -> SuiteError {
    var both = self
    let place = other.line.map { "line \($0): " } ?? ""
    both.why += "; the teardown failed too: \(place)\(other.what): \(other.why)"
    return both
  }
}
