import RPCurlChain
import RPCurlTransport

extension ClientOptions {
  /// What a client does before a transfer with an old libcurl: it refuses it, or reports it once.
  func oldLibcurlCheck() -> (OldLibcurlVersion) throws(TransportError) -> Void {
    guard allowsOldLibcurl else {
      return { (version) throws(TransportError) in
        throw TransportError(
          .oldLibrary,
          "\(version.name) may lose responses: install \(OldLibcurlVersion.firstCorrect) or newer; or run \"make libcurl\" in the "
            + "sources of rpcurl and set RPCURL_LIBCURL to the file that it prints; or set allowsOldLibcurl of ClientOptions"
        )
      }
    }
    let log = log
    var isReported = false
    return { (version) in
      guard !isReported else { return }
      isReported = true
      log(
        LogRecord(
          level: .warning, source: "client",
          text: "\(version.name) may lose responses: \(OldLibcurlVersion.firstCorrect) or newer does not"))
    }
  }
}
