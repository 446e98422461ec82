import CCurl
import Glibc

/// Why libcurl ended a transfer, from its code and the state of the connection.
struct TransferFailure {
  let handle: UnsafeMutableRawPointer
  let url: String
  let options: ConnectionOptions
  let code: CURLcode
  /// libcurl's message; empty if it has none.
  let detail: String
  /// Whether a status line was received, also of a `1xx` response.
  let hasStatusLine: Bool
  /// Whether an old libcurl may have lost the status.
  let hasLostStatus: Bool

  /// The error to report.
  var error: TransportError {
    var error = TransportError(code, detail: detail)
    if isBeyondLimit {
      error = TransportError(
        .broken,
        "a part of the response, such as a header line, is longer than libcurl accepts (\(error.message))")
    }
    if code == CURLE_HTTP2_STREAM, hasLostStatus { error.message += "; \(OldLibcurl.lossNote)" }
    if code == CURLE_COULDNT_CONNECT, let words = socketFailure { error.message = words }
    if let words = proxyFailure(error.message) { error = TransportError(.proxy, words) }
    return error
  }

  /// Whether the response exceeded a buffer of libcurl, which libcurl before 8.6 reports as lack of memory.
  private var isBeyondLimit: Bool {
    let tooLarge: UInt32 = 100  // CURLE_TOO_LARGE, which older headers do not declare
    return hasStatusLine && (code.rawValue == tooLarge || code == CURLE_OUT_OF_MEMORY)
  }

  /// Why the proxy failed; nil if there is no proxy, or the server failed.
  private func proxyFailure(_ words: String) -> String? {
    guard code == CURLE_PROXY || code == CURLE_COULDNT_RESOLVE_PROXY || ccurl_uses_proxy(handle) else {
      return nil
    }
    let server = url.split(separator: "/").dropFirst().first ?? ""
    var (status, reason) = (0, 0)
    if ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK, status >= 300 {
      return status == 407
        ? ProxyAddress.wantsCredentials : "it refused to connect to \(server) (HTTP \(status))"
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY: return "its name could not be resolved"
    case CURLE_COULDNT_CONNECT:
      guard ccurl_get_long(handle, CURLINFO_OS_ERRNO, &reason) == CURLE_OK, reason != 0 else { return words }
      return "cannot connect to it: \(String(cString: strerror(Int32(reason))))"
    case CURLE_PROXY: return "cannot connect to \(server): \(words)"
    default: return nil
    }
  }

  /// Why connecting to a Unix socket failed; libcurl's message names the URL's host instead.
  private var socketFailure: String? {
    var code = 0
    guard let socket = options.unixSocket, ccurl_get_long(handle, CURLINFO_OS_ERRNO, &code) == CURLE_OK,
      code != 0
    else { return nil }
    return "failed to connect to the socket \(socket): \(String(cString: strerror(Int32(code))))"
  }
}
