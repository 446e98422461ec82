import RPCurlCCurl
import RPCurlProtobuf
import RPCurlProtocols

/// Why a transfer failed.
package struct TransportError: Error, Sendable, Equatable {
  /// The layer that failed.
  package enum Kind: Sendable {
    /// The name of the host, or of the proxy, could not be resolved.
    case resolve
    /// No connection could be made.
    case connect
    /// The proxy cannot be reached, or does not connect to the server.
    case proxy
    /// The TLS handshake failed, or a certificate is not trusted or cannot be read.
    case tls
    /// The connection, or its HTTP stream, failed after it was established.
    case broken
    /// The HTTP/2 stream was reset; the connection is still usable.
    case stream
    /// The request is not possible: an invalid URL, or an option that this libcurl lacks.
    case request
    /// The server does not offer the version of HTTP that the request requires.
    case httpVersion
    /// libcurl is missing, too old, or out of memory.
    case library
    /// libcurl may lose responses, which the program does not allow.
    case oldLibrary
  }

  /// The layer that failed.
  package var kind: Kind
  /// libcurl's message.
  package var message: String
  /// The URL of the proxy, without credentials, if `kind` is `proxy`.
  package var proxy: String?
  /// The cause, if it is known.
  package var cause: ConnectionCause?
  /// The code with which the server reset the stream (RFC 9113, section 7), if it did.
  package var resetCode: Int?
  /// Whether the HTTP/2 stream ended before the response.
  package var isStreamCut = false

  /// Makes an error.
  package init(_ kind: Kind, _ message: String, cause: ConnectionCause? = nil) {
    self.kind = kind
    self.message = message
    self.cause = cause
  }

  init(_ code: CURLcode, detail: String) {
    kind = Self.kind(code)
    message =
      detail.isEmpty ? String(cString: ccurl_easy_strerror(code)) : LibcurlWords.withoutCredentials(detail)
    if code == CURLE_HTTP2_STREAM { resetCode = Self.resetCode(message) }
    // libcurl has other codes for some of them.
    isStreamCut = code == CURLE_HTTP2_STREAM || detail.hasPrefix("HTTP/2 stream ")
  }

  /// Makes the error of a known cause.
  package init(_ cause: ConnectionCause) {
    self.init(.connect, cause.description)
    self = with(cause)
  }

  /// The error with another cause, whose text is its message.
  func with(_ cause: ConnectionCause) -> TransportError {
    var error = self
    error.cause = cause
    error.message = cause.description
    switch cause.layer {
    // A reset stream stays one: the server may be able to process the request.
    case .connection:
      switch cause {
      case .closed, .lost, .refusedRequest: break
      case .onlyHTTP1, .noHTTP2: error.kind = .httpVersion
      case .unknownHost: error.kind = .resolve
      default: error.kind = .connect
      }
    case .proxy: error.kind = .proxy
    case .tls: error.kind = .tls
    }
    return error
  }

  /// The reset code, which libcurl reports only in text: `HTTP/2 stream 1 was not closed cleanly: CANCEL (err
  /// 8)`, or in newer versions `HTTP/2 stream 1 reset by server (error 0x8 CANCEL)`. After a reset with NO_ERROR, the stream
  /// `was closed cleanly, but before getting all response header fields`.
  private static func resetCode(_ message: String) -> Int? {
    if message.contains("was closed cleanly") { return 0 }
    if let mark = message.firstRange(of: "(error 0x") {
      return Int(message[mark.upperBound...].prefix { $0.isHexDigit }, radix: 16)
    }
    guard let mark = message.firstRange(of: "(err ") else { return nil }
    return Int(message[mark.upperBound...].prefix { $0.isNumber })
  }

  private static func kind(_ code: CURLcode) -> Kind {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
    case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connect
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
      .tls
    case CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION,
      CURLE_BAD_FUNCTION_ARGUMENT:
      .request
    case CURLE_HTTP2_STREAM: .stream
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: .library
    // CURLE_UNSUPPORTED_PROTOCOL is a peer without HTTP: no other protocol is requested.
    default: .broken
    }
  }
}
