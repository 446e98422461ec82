import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// What libcurl reports about a failed transfer, and what follows from it.
struct TransferFailure {
  /// The progress of the transfer before it failed.
  enum Progress: Comparable {
    case nothing
    case connected
    case tlsEstablished
    case responseBegun
  }

  var code: CURLcode
  /// libcurl's message.
  var detail: String
  var progress = Progress.nothing
  /// OpenSSL's result of verifying the certificate; 0 if it is valid or was not verified.
  var verifyResult = 0
  /// `errno` of the failed connection attempt, or of opening the file of authorities; 0 if unknown.
  var systemError: Int32 = 0
  /// The HTTP status of the proxy's response to CONNECT; 0 without a response.
  var proxyStatus = 0
  /// The host and the port of the URL.
  var server = ""
  var isTLS = false
  var options = ConnectionOptions()
  /// The URL of the proxy, without credentials; nil without one.
  var proxy: String?
  /// Whether an HTTP proxy connects to the server (CONNECT) before the request.
  var tunnels = false
  /// The system's authorities by name, if the connection used them.
  var systemAuthorities: String?
  /// Whether OpenSSL reports that the key could not be decrypted.
  var isPassphraseWrong = false

  /// The cause; nil if it is unknown, or if there was a connection that failed later.
  var cause: ConnectionCause? {
    if let cause = proxyCause { return cause }
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST: return .unknownHost(host)
    case CURLE_COULDNT_CONNECT:
      if let path = options.unixSocket, systemError != 0 { return .socket(path: path, reason: systemReason) }
      return connectCause
    case CURLE_OPERATION_TIMEDOUT:
      guard progress < .tlsEstablished else { return nil }
      // Old versions do not report the time of the connection.
      return isTLS && (progress == .connected || detail.hasPrefix("SSL connection"))
        ? .handshakeTimeout(options.connectTimeout)
        : .connectTimeout(server: server, options.connectTimeout)
    case CURLE_PEER_FAILED_VERIFICATION: return certificateCause
    case CURLE_SSL_CACERT_BADFILE where options.authoritiesPEM != nil:
      return .invalidAuthorities(file: PEM.name(of: "authorities"))
    case CURLE_SSL_CACERT_BADFILE:
      return (systemAuthorities ?? options.authoritiesFile ?? options.authoritiesDirectory).map {
        systemError == 0
          ? .invalidAuthorities(file: $0) : .unreadableAuthorities(file: $0, reason: systemReason)
      }
    case CURLE_SSL_CERTPROBLEM, CURLE_BAD_FUNCTION_ARGUMENT: return clientFileCause
    case CURLE_SSL_CONNECT_ERROR: return handshakeCause
    default: return closedCause
    }
  }

  // MARK: Address

  private var host: String {
    let colon = server.last == "]" ? nil : server.lastIndex(of: ":")
    return String(colon.map { server[..<$0] } ?? server[...])
  }

  private var systemReason: String { String(cString: strerror(systemError)) }

  private var connectCause: ConnectionCause? {
    switch systemError {
    case ECONNREFUSED: .refused(server: server)
    case ETIMEDOUT: .connectTimeout(server: server, options.connectTimeout)
    case 0: nil
    default: .unreachable(server: server, reason: systemReason)
    }
  }

  private var proxyCause: ConnectionCause? {
    if code == CURLE_COULDNT_RESOLVE_PROXY { return .unknownProxy }
    if detail.hasPrefix("Unsupported proxy scheme") { return .proxyFailed("unknown scheme of its URL") }
    guard let proxy else { return nil }
    if proxyStatus == 407 { return .proxyRequiresCredentials }
    if proxyStatus >= 300 { return .proxyRefused(server: server, status: proxyStatus) }
    switch code {
    case CURLE_COULDNT_CONNECT:
      return .proxyFailed("cannot connect to it: \(systemError == 0 ? detail : systemReason)")
    case CURLE_PROXY: return .proxyFailed("cannot connect to \(server): \(detail)")
    // It has connected to the server.
    case _ where proxyStatus != 0: return nil
    case CURLE_OPERATION_TIMEDOUT: return proxyTimeout(proxy).map { .proxyFailed($0) }
    case CURLE_PEER_FAILED_VERIFICATION where proxy.hasPrefix("https:"):
      return .proxyUnusable("its certificate is not accepted (SSL_CERT_FILE sets the authorities): \(detail)")
    case CURLE_SSL_CONNECT_ERROR where proxy.hasPrefix("https:"): return proxyHandshakeCause
    // It closed the connection before it responded to CONNECT.
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
      guard progress < .responseBegun, tunnels, proxy.hasPrefix("http") else { return nil }
      return .proxyFailed("it closed the connection before it connected to \(server)")
    default: return nil
    }
  }

  /// What was not complete at the time limit of the connection, as the reason of a failed proxy; nil if it was with the server.
  private func proxyTimeout(_ proxy: String) -> String? {
    let limit = options.connectTimeout.inSeconds
    if progress == .nothing { return "cannot connect to it within \(limit)" }
    if tunnels, proxy.hasPrefix("http") { return "it did not connect to \(server) within \(limit)" }
    if proxy.hasPrefix("https:") { return "the TLS handshake with it was not complete within \(limit)" }
    guard proxy.hasPrefix("socks"), progress < .tlsEstablished else { return nil }
    // libcurl does not report the end of the handshake of SOCKS.
    return "there was no \(isTLS ? "TLS " : "")connection to \(server) through it within \(limit)"
  }

  /// The cause of a failed handshake with a proxy that has TLS according to its URL.
  private var proxyHandshakeCause: ConnectionCause {
    switch handshakeCause {
    case .serverWithoutTLS: .proxyUnusable("it does not use TLS on this port: use http:// in its URL")
    case .handshakeCut:
      .proxyFailed("it closed the connection in the TLS handshake; use http:// in its URL if it has no TLS")
    default: .proxyUnusable("the TLS handshake with it failed: \(detail)")
    }
  }

  // MARK: TLS

  private var certificateCause: ConnectionCause {
    // libcurl compares the names itself, after OpenSSL has verified the certificate.
    if detail.contains("subject name") { return .wrongName(options.serverName ?? host, names: []) }
    return switch verifyResult {
    case 10: .expired(since: nil)
    case 9: .notYetValid(until: nil)
    case 18: .selfSigned
    // The issuer is unknown, or the chain ends with an unknown self-signed authority.
    case 2, 19, 20, 21, 27: .unknownAuthority(nil)
    case 62, 64: .wrongName(options.serverName ?? host, names: [])
    default: .rejectedCertificate(detail)
    }
  }

  private var clientFileCause: ConnectionCause? {
    guard let certificate = options.certificate else { return nil }
    if isPassphraseWrong || detail.contains("PKCS12 file, check password") {
      return .wrongPassphrase(file: certificate.keyFile ?? certificate.file)
    }
    guard detail.contains("private key") else { return .invalidClientCertificate(file: certificate.file) }
    return certificate.keyFile.map { .wrongKey(file: $0) } ?? .missingKey(certificate: certificate.file)
  }

  private var handshakeCause: ConnectionCause? {
    let isPlaintext = [
      "wrong version number", "http request", "packet length too long", "record layer failure",
    ]
    if isPlaintext.contains(where: detail.contains) { return .serverWithoutTLS }
    if detail.contains("alert protocol version") || detail.contains("unsupported protocol") {
      return .noCommonTLSVersion
    }
    if detail.contains("alert no application protocol") { return .noHTTP2 }
    if detail.contains("unrecognized name") { return .unknownServerName(options.serverName ?? host) }
    if let cause = alertCause { return cause }
    if detail.contains(" alert ") { return .handshakeRefused(alert) }
    return isCut ? .handshakeCut : nil
  }

  /// Whether libcurl reports that the connection was closed.
  private var isCut: Bool {
    [
      "unexpected eof", "SSL_ERROR_SYSCALL", "Connection reset", "SSL_ERROR_ZERO_RETURN", "Broken pipe",
    ].contains(where: detail.contains)
  }

  /// What an alert of the server says about the client certificate.
  private var alertCause: ConnectionCause? {
    if detail.contains("certificate required") { return .clientCertificateRequired }
    let refusals = ["alert bad certificate", "alert unknown ca", "alert certificate ", "alert access denied"]
    guard refusals.contains(where: detail.contains) else { return nil }
    return options.certificate == nil ? .clientCertificateRequired : .clientCertificateRefused
  }

  /// The text after `SSL routines::`.
  private var alert: String {
    detail.firstRange(of: "SSL routines::").map { String(detail[$0.upperBound...]) } ?? detail
  }

  // MARK: After the connection was made

  private var closedCause: ConnectionCause? {
    guard progress < .responseBegun else { return nil }
    switch code {
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      return alertCause ?? .closed(detail)
    case CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
      return .closed(detail)
    default: return isCutByOldLibcurl ? .closed(detail) : nil
    }
  }

  /// The text for a server that violates HTTP/2, of which libcurl reports the error of its GOAWAY to one of the transfers.
  private var violation: String? {
    guard code == CURLE_HTTP2 else { return nil }
    if let number = detail.firstRange(of: "nghttp2 shuts down connection with error ") {
      return "the server violated HTTP/2 (\(detail[number.upperBound...].drop { $0 != " " }.dropFirst()))"
    }
    if detail.hasPrefix("HTTP/2 connection shut down") { return "the server violated HTTP/2" }
    let marks = ["nghttp2 recv error", "received invalid frame"]
    return marks.contains(where: detail.contains) ? "the server violated HTTP/2 (\(detail))" : nil
  }

  /// Whether the connection was closed in the middle of the response. Of some of these, libcurl has only a code.
  private var isResponseCut: Bool {
    guard progress == .responseBegun else { return false }
    if isCutByOldLibcurl || detail.hasPrefix("GOAWAY with error") { return true }
    return switch code {
    // Not a stream that was reset.
    case CURLE_PARTIAL_FILE: !detail.contains("stream")
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: detail.isEmpty || isCut
    // Of a violation of HTTP/2, libcurl has a message.
    case CURLE_HTTP2: detail.isEmpty
    default: false
    }
  }

  /// Whether libcurl reports a closed connection as old versions do, with several codes.
  private var isCutByOldLibcurl: Bool { detail.contains("before end of the underlying stream") }
}

extension TransferFailure {
  /// The host with its port, also if that is the default one.
  static func withPort(_ server: String, isTLS: Bool) -> String {
    let host = server.lastIndex(of: "]").map { server[$0...] } ?? server[...]
    return server.isEmpty || host.contains(":") ? server : "\(server):\(isTLS ? 443 : 80)"
  }

  /// Reads what libcurl reports about a failed transfer.
  init(
    _ code: CURLcode, detail: String, _ handle: UnsafeMutableRawPointer, url: String,
    _ options: ConnectionOptions, isConnected: Bool, hasResponse: Bool
  ) {
    func number(_ info: CURLINFO) -> Int {
      var value = 0
      return ccurl_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }
    func hasTime(_ info: CURLINFO) -> Bool {
      var microseconds: curl_off_t = 0
      return ccurl_get_offset(handle, info, &microseconds) == CURLE_OK && microseconds > 0
    }
    self.init(code: code, detail: detail)
    verifyResult = number(CURLINFO_SSL_VERIFYRESULT)
    systemError = Int32(truncatingIfNeeded: number(CURLINFO_OS_ERRNO))
    if code == CURLE_COULDNT_CONNECT, systemError == 0 { systemError = Self.errorOfSocket() }
    if code == CURLE_SSL_CACERT_BADFILE {
      let authorities = Authorities.named(in: detail, Authorities(options))
      if authorities == .system { systemAuthorities = authorities.name() }
      systemError = (authorities.file ?? authorities.directory).map(Self.errorOfSocket) ?? 0
    }
    proxyStatus = number(CURLINFO_HTTP_CONNECTCODE)
    isTLS = url.hasPrefix("https:")
    server = Self.withPort(url.split(separator: "/").dropFirst().first.map(String.init) ?? "", isTLS: isTLS)
    self.options = options
    if code == CURLE_SSL_CERTPROBLEM || code == CURLE_BAD_FUNCTION_ARGUMENT,
      let certificate = options.certificate
    {
      // libcurl's error does not say why it cannot use a key.
      isPassphraseWrong = ccurl_is_passphrase_wrong(
        certificate.keyFile ?? certificate.file, certificate.passphrase ?? "")
    }
    proxy = ProxyAddress.name(for: url, options)
    tunnels = options.httpVersion.needsTunnel(url)
    progress =
      hasResponse
      ? .responseBegun
      : hasTime(CURLINFO_APPCONNECT_TIME_T)
        ? .tlsEstablished : isConnected || hasTime(CURLINFO_CONNECT_TIME_T) ? .connected : .nothing
  }

  /// Why no socket can be made, or a file not be opened besides it, which libcurl does not report; 0 if they can.
  private static func errorOfSocket(andFile path: String? = nil) -> Int32 {
    let descriptor = StreamSocket.make(AF_UNIX)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    guard let path else { return 0 }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return errno }
    close(file)
    return 0
  }

  /// The error of the transfer.
  var error: TransportError {
    // libcurl before 8.6 reports a response that exceeds its buffer as lack of memory.
    let tooLarge: UInt32 = 100  // CURLE_TOO_LARGE, which older headers do not declare
    let error = TransportError(code, detail: detail)
    if progress == .responseBegun, code.rawValue == tooLarge || code == CURLE_OUT_OF_MEMORY {
      return TransportError(
        .broken,
        "a part of the response, such as a header line, is longer than libcurl accepts (\(error.message))")
    }
    // No argument is invalid then, but a line of the response, such as a trailer without a colon.
    if progress == .responseBegun, code == CURLE_BAD_FUNCTION_ARGUMENT {
      return TransportError(.broken, error.message)
    }
    if code == CURLE_FILESIZE_EXCEEDED {
      return TransportError(.broken, "the content-length of the response is invalid: larger than \(Int.max)")
    }
    if let violation { return TransportError(error.kind, violation) }
    if let cause { return error.with(cause) }
    guard isResponseCut else { return error }
    let reason = detail.isEmpty ? "" : " (\(error.message))"
    return TransportError(error.kind, "the connection was closed before the response was complete\(reason)")
  }
}
