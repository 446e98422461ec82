import RPCurlBase
import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlProgram

/// Standard error as the file of interceptors, shared with the terminal on which a session edits lines.
final class SharedStandardError: OutputFile {
  private let error: StandardError

  init(_ error: StandardError) { self.error = error }

  func begin(ifEmpty head: [UInt8]) throws(SystemError) {
    if !error.hasLog { try write(head) }
  }

  func write(_ bytes: [UInt8]) throws(SystemError) {
    if let number = error.write(log: bytes) { throw SystemError(number: number) }
  }

  func close() throws(SystemError) {}
}

extension SystemServices {
  /// Makes the services of a command.
  ///
  /// - Parameters:
  ///   - console: Where the interceptors print, and the report files that they share.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  ///   - isDry: Whether files are only checked: none is created or changed.
  init(_ console: Console, waitLimit: Duration?, isDry: Bool) {
    self.init(
      reports: console.reports, shared: console.shared, standardError: SharedStandardError(console.error),
      runFiles: console.runFiles, waitLimit: waitLimit, isDry: isDry)
  }
}
