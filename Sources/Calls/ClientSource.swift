import Interceptors
import Output
import RPCClient
import Transport

/// The client of the process, made when the first call needs it, so that one connection serves all of them.
package final class ClientSource {
  private var made: RPCClient?
  private var trace: ConnectionTrace?

  /// - Parameter verbosity: From 2 on it is shown what libcurl says about connections.
  package init(verbosity: Int, showsSecrets: Bool) {
    trace = Self.trace(verbosity, showsSecrets)
  }

  /// Shows more or less from the next call on.
  package func show(verbosity: Int, showsSecrets: Bool) {
    trace = Self.trace(verbosity, showsSecrets)
    made?.loop.trace = trace
  }

  private static func trace(_ verbosity: Int, _ showsSecrets: Bool) -> ConnectionTrace? {
    verbosity < 2 ? nil : ConnectionTrace { StandardOutput.remark("* \(shown($0, showsSecrets))\n") }
  }

  /// A line of libcurl's without the credentials of a proxy.
  private static func shown(_ line: String, _ showsSecrets: Bool) -> String {
    TerminalText.escape(
      showsSecrets ? line : LibcurlWords.withoutCredentials(line, placeholder: Redaction.placeholder))
  }

  /// The client.
  package func client() throws(Failure) -> RPCClient {
    if let made { return made }
    do {
      let client = try RPCClient()
      client.loop.trace = trace
      made = client
      return client
    } catch {
      throw Failure(library: error)
    }
  }
}

extension Failure {
  /// Makes the failure of a libcurl that cannot be used.
  package init(library error: TransportError) {
    switch TransportLibrary.Source.current {
    case .named:
      self.init(
        .usage, "", error.message,
        hint: "unset RPCURL_LIBCURL, or set it to the absolute path of libcurl 7.88 or newer")
    case .builtIn, .system:
      self.init(
        .internalError, "libcurl", error.message, hint: "install libcurl 7.88 or newer (Debian: libcurl4)")
    }
  }
}
