import RPCurlBase
import RPCurlCall
import RPCurlLanguage
import RPCurlProgram
import RPCurlTransport

/// Creates the client of the process when the first call needs it. All calls share it and its connections.
package final class ClientSource {
  /// Where calls print.
  package let console: Console
  private var made: LoopClient?
  private var trace: ConnectionTrace?
  /// Whether responses have the certificates of servers, for conditions about them.
  package var reportsCertificates = false {
    didSet { made?.loop.reportsCertificates = reportsCertificates }
  }

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - console: Where calls print.
  ///   - verbosity: The number of `-v`; from 2, libcurl's messages about connections are printed.
  ///   - showsSecrets: Whether credentials in them are printed.
  package init(_ console: Console, verbosity: Int, showsSecrets: Bool) {
    self.console = console
    trace = Self.trace(console, verbosity, showsSecrets)
  }

  /// Creates a source that prints what `-v` and `--show-secrets` of a command ask for.
  package convenience init(_ console: Console, _ options: Invocation) {
    self.init(console, verbosity: options.verbosity, showsSecrets: options.has(.showSecrets))
  }

  /// Sets what is printed from the next call on.
  package func show(verbosity: Int, showsSecrets: Bool) {
    trace = Self.trace(console, verbosity, showsSecrets)
    made?.loop.trace = trace
  }

  private static func trace(
    _ console: Console, _ verbosity: Int, _ showsSecrets: Bool
  ) -> ConnectionTrace? {
    verbosity < 2 ? nil : ConnectionTrace { console.output.remark("* \(shown($0, showsSecrets))\n") }
  }

  /// Removes the credentials of a proxy from a line of libcurl.
  private static func shown(_ line: String, _ showsSecrets: Bool) -> String {
    TerminalText.escape(
      showsSecrets ? line : LibcurlWords.withoutCredentials(line, placeholder: SecretMask.placeholder))
  }

  /// The client.
  ///
  /// - Throws: `Failure` if libcurl cannot be used.
  package func client() throws(Failure) -> LoopClient {
    if let made { return made }
    do {
      let client = try LoopClient()
      client.loop.trace = trace
      client.loop.reportsCertificates = reportsCertificates
      made = client
      return client
    } catch {
      throw Failure(library: error)
    }
  }
}

extension Failure {
  /// Creates the failure for a libcurl that cannot be used.
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
