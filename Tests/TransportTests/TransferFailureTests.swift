import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlPlatform
import RPCurlProtocols
import Testing

@testable import RPCurlTransport

@Suite struct TransferFailureTests {
  // An error without a detail has libcurl's words, and no other test may have loaded a libcurl before.
  init() { fake_install() }

  private func failure(
    _ code: CURLcode, _ detail: String, _ progress: TransferFailure.Progress = .nothing,
    _ change: (inout TransferFailure) -> Void = { _ in }
  ) -> TransferFailure {
    var failure = TransferFailure(code: code, detail: detail)
    failure.progress = progress
    failure.server = "a.test:1"
    failure.isTLS = true
    change(&failure)
    return failure
  }

  @Test func namesTheCauseOfAFailedConnection() {
    func cause(_ systemError: Int32) -> ConnectionCause? {
      failure(CURLE_COULDNT_CONNECT, "Failed to connect") { $0.systemError = systemError }.cause
    }
    #expect(cause(ECONNREFUSED) == .refused(server: "a.test:1"))
    #expect(cause(ENETUNREACH) == .unreachable(server: "a.test:1", reason: "Network is unreachable"))
    #expect(cause(ETIMEDOUT) == .connectTimeout(server: "a.test:1", .seconds(10)))
    #expect(cause(0) == nil)
    #expect(failure(CURLE_COULDNT_RESOLVE_HOST, "").cause == .unknownHost("a.test"))
    let ipv6 = failure(CURLE_COULDNT_RESOLVE_HOST, "") { $0.server = "[::1]" }
    #expect(ipv6.cause == .unknownHost("[::1]"))
    let socket = failure(CURLE_COULDNT_CONNECT, "") {
      $0.options.unixSocket = "/s"
      $0.systemError = ENOENT
    }
    #expect(socket.cause == .socket(path: "/s", reason: "No such file or directory"))
  }

  @Test func distinguishesTimeoutsOfConnectionAndHandshake() {
    let (code, limit) = (CURLE_OPERATION_TIMEDOUT, Duration.seconds(10))
    #expect(failure(code, "").cause == .connectTimeout(server: "a.test:1", limit))
    #expect(failure(code, "", .connected).cause == .handshakeTimeout(limit))
    #expect(failure(code, "SSL connection timeout").cause == .handshakeTimeout(limit))
    #expect(
      failure(code, "", .connected) { $0.isTLS = false }.cause == .connectTimeout(server: "a.test:1", limit))
    #expect(failure(code, "", .responseBegun).cause == nil)
  }

  @Test func takesAnInvalidLineOfTheResponseForABrokenConnection() {
    let (code, text) = (CURLE_BAD_FUNCTION_ARGUMENT, "Invalid response header")
    #expect(failure(code, text, .responseBegun).error == TransportError(.broken, text))
    #expect(failure(code, text).error.kind == .request)
  }

  @Test(arguments: [
    "nghttp2 recv error -902: The user callback function failed",
    "[HTTP2] [1] received invalid frame: FRAME[WINDOW_UPDATE], error -505",
  ])
  func namesAViolationOfHTTP2(detail: String) {
    #expect(failure(CURLE_HTTP2, detail).error.message == "the server violated HTTP/2 (\(detail))")
    let shutdown = failure(CURLE_HTTP2, "HTTP/2 connection shut down after an invalid frame")
    #expect(shutdown.error.message == "the server violated HTTP/2")
  }

  @Test func takesAContentLengthThatIsTooLargeForABrokenConnection() {
    let error = failure(CURLE_FILESIZE_EXCEEDED, "Maximum file size exceeded", .responseBegun).error
    #expect(error.kind == .broken)
    #expect(error.message.contains("content-length"))
  }

  @Test func namesTheCauseOfAnInvalidCertificate() {
    func cause(_ result: Int, _ detail: String = "") -> ConnectionCause? {
      failure(CURLE_PEER_FAILED_VERIFICATION, detail) { $0.verifyResult = result }.cause
    }
    #expect(cause(10) == .expired(since: nil))
    #expect(cause(9) == .notYetValid(until: nil))
    #expect(cause(18) == .selfSigned)
    #expect(cause(19) == .unknownAuthority(nil))
    #expect(cause(20) == .unknownAuthority(nil))
    #expect(cause(23, "certificate revoked") == .rejectedCertificate("certificate revoked"))
    // libcurl 7.88 leaves another result behind than 8.21.
    let words = "SSL: no alternative certificate subject name matches target host name 'a.test'"
    #expect(cause(0, words) == .wrongName("a.test", names: []))
    #expect(cause(1, words) == .wrongName("a.test", names: []))
    let named = failure(CURLE_PEER_FAILED_VERIFICATION, words) { $0.options.serverName = "b.test" }
    #expect(named.cause == .wrongName("b.test", names: []))
  }

  @Test func namesTheFileThatCannotBeUsed() {
    func cause(_ code: CURLcode, _ detail: String, key: String? = nil) -> ConnectionCause? {
      failure(code, detail) {
        $0.options.authoritiesFile = "ca.pem"
        $0.options.certificate = ConnectionOptions.Certificate(file: "c.pem", keyFile: key)
      }.cause
    }
    #expect(cause(CURLE_SSL_CACERT_BADFILE, "") == .invalidAuthorities(file: "ca.pem"))
    let unreadable = failure(CURLE_SSL_CACERT_BADFILE, "") {
      $0.systemAuthorities = "SSL_CERT_FILE=a"
      $0.systemError = ENOENT
    }
    #expect(
      unreadable.cause == .unreadableAuthorities(file: "SSL_CERT_FILE=a", reason: "No such file or directory")
    )
    #expect(failure(CURLE_SSL_CONNECT_ERROR, "Send failure: Broken pipe").cause == .handshakeCut)
    let words = "unable to set private key file: 'x' type PEM"
    #expect(cause(CURLE_SSL_CERTPROBLEM, words) == .missingKey(certificate: "c.pem"))
    #expect(cause(CURLE_SSL_CERTPROBLEM, words, key: "k.pem") == .wrongKey(file: "k.pem"))
    #expect(cause(CURLE_BAD_FUNCTION_ARGUMENT, words, key: "k.pem") == .wrongKey(file: "k.pem"))
    #expect(cause(CURLE_SSL_CERTPROBLEM, "could not load") == .invalidClientCertificate(file: "c.pem"))
    #expect(failure(CURLE_BAD_FUNCTION_ARGUMENT, "").cause == nil)
  }

  @Test func namesTheFileOfAWrongPassphrase() {
    func cause(_ detail: String, key: String?, isPassphraseWrong: Bool) -> ConnectionCause? {
      failure(CURLE_SSL_CERTPROBLEM, detail) {
        $0.options.certificate = ConnectionOptions.Certificate(file: "c.pem", keyFile: key)
        $0.isPassphraseWrong = isPassphraseWrong
      }.cause
    }
    let words = "unable to set private key file: 'x' type PEM"
    #expect(cause(words, key: "k.pem", isPassphraseWrong: true) == .wrongPassphrase(file: "k.pem"))
    #expect(cause(words, key: nil, isPassphraseWrong: true) == .wrongPassphrase(file: "c.pem"))
    let parsing = "could not parse PKCS12 file, check password, OpenSSL error error:11800071"
    #expect(cause(parsing, key: nil, isPassphraseWrong: false) == .wrongPassphrase(file: "c.pem"))
  }

  @Test(arguments: [
    (
      "TLS connect error: error:0A000460:SSL routines::reason(1120)tlsv1 alert no application protocol",
      ConnectionCause.noHTTP2
    ),
    (
      "TLS connect error: error:0A00010B:SSL routines::wrong version number", ConnectionCause.serverWithoutTLS
    ),
    ("OpenSSL/3.0.19: error:0A0000C6:SSL routines::packet length too long", .serverWithoutTLS),
    ("TLS connect error: error:0A00042E:SSL routines::tlsv1 alert protocol version", .noCommonTLSVersion),
    ("error:0A00045C:SSL routines::tlsv13 alert certificate required", .clientCertificateRequired),
    ("error:0A000412:SSL routines::sslv3 alert bad certificate", .clientCertificateRequired),
    ("TLS connect error: error:0A000458:SSL routines::tlsv1 unrecognized name", .unknownServerName("a.test")),
    (
      "error:0A000410:SSL routines::ssl/tls alert handshake failure",
      .handshakeRefused("ssl/tls alert handshake failure")
    ),
    ("Recv failure: Connection reset by peer", .handshakeCut),
    ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a.test:1", .handshakeCut),
    ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", .handshakeCut),
  ])
  func namesTheCauseOfAFailedHandshake(_ detail: String, _ cause: ConnectionCause) {
    #expect(failure(CURLE_SSL_CONNECT_ERROR, detail).cause == cause)
  }

  @Test func distinguishesMissingAndRefusedClientCertificate() {
    let words = "SSL_read: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0"
    #expect(failure(CURLE_RECV_ERROR, words, .tlsEstablished).cause == .clientCertificateRequired)
    let given = failure(CURLE_RECV_ERROR, words, .tlsEstablished) {
      $0.options.certificate = .init(file: "c")
    }
    #expect(given.cause == .clientCertificateRefused)
  }

  @Test func reportsAConnectionThatClosedBeforeTheResponse() {
    let closed = "HTTP/2 stream 1 was not closed cleanly before end of the underlying stream"
    #expect(failure(CURLE_HTTP2_STREAM, closed, .connected).cause == .closed(closed))
    #expect(failure(CURLE_RECV_ERROR, "reset", .connected).cause == .closed("reset"))
    #expect(failure(CURLE_RECV_ERROR, "reset", .responseBegun).cause == nil)
    let reset = "HTTP/2 stream 1 was not closed cleanly: CANCEL (err 8)"
    #expect(failure(CURLE_HTTP2_STREAM, reset, .connected).cause == nil)
  }

  @Test(arguments: [TransferFailure.Progress.connected, .responseBegun])
  func reportsAServerThatViolatesHTTP2(_ progress: TransferFailure.Progress) {
    for (detail, text) in [
      ("nghttp2 shuts down connection with error 6: FRAME_SIZE_ERROR", " (FRAME_SIZE_ERROR)"),
      ("HTTP/2 connection shut down after an invalid frame", ""),
    ] {
      let error = failure(CURLE_HTTP2, detail, progress).error
      #expect(error.message == "the server violated HTTP/2" + text)
      #expect(error.kind == .broken && error.cause == nil)
    }
  }

  @Test func attributesFailuresOfTheProxy() {
    func cause(_ code: CURLcode, _ change: (inout TransferFailure) -> Void) -> ConnectionCause? {
      failure(code, "detail", .connected) {
        $0.proxy = "http://p:3128"
        $0.tunnels = true
        change(&$0)
      }.cause
    }
    #expect(cause(CURLE_COULDNT_RESOLVE_PROXY) { _ in } == .unknownProxy)
    #expect(cause(CURLE_RECV_ERROR) { $0.proxyStatus = 407 } == .proxyRequiresCredentials)
    let certificate = "its certificate is not accepted (SSL_CERT_FILE sets the authorities): detail"
    #expect(cause(CURLE_PEER_FAILED_VERIFICATION) { $0.proxy = "https://p:1" } == .proxyUnusable(certificate))
    #expect(cause(CURLE_PEER_FAILED_VERIFICATION) { $0.proxy = nil } == .rejectedCertificate("detail"))
    #expect(
      cause(CURLE_PEER_FAILED_VERIFICATION) { ($0.proxy, $0.proxyStatus) = ("https://p:1", 200) }
        == .rejectedCertificate("detail"))
    #expect(
      cause(CURLE_RECV_ERROR) { $0.proxyStatus = 403 } == .proxyRefused(server: "a.test:1", status: 403))
    #expect(
      cause(CURLE_COULDNT_CONNECT) { $0.systemError = ECONNREFUSED }
        == .proxyFailed("cannot connect to it: Connection refused"))
    #expect(
      cause(CURLE_RECV_ERROR) { _ in }
        == .proxyFailed("it closed the connection before it connected to a.test:1"))
    #expect(
      cause(CURLE_OPERATION_TIMEDOUT) { $0.progress = .nothing }
        == .proxyFailed("cannot connect to it within 10.0 seconds"))
    #expect(
      cause(CURLE_OPERATION_TIMEDOUT) { $0.isTLS = true }
        == .proxyFailed("it did not connect to a.test:1 within 10.0 seconds"))
  }

  /// libcurl has one code for the handshakes with a proxy and with the server after it.
  @Test(
    arguments: [
      ("wrong version number", .proxyUnusable("it does not use TLS on this port: use http:// in its URL")),
      (
        "unexpected eof while reading",
        .proxyFailed("it closed the connection in the TLS handshake; use http:// in its URL if it has no TLS")
      ),
      (
        "tlsv1 alert handshake failure",
        .proxyUnusable("the TLS handshake with it failed: tlsv1 alert handshake failure")
      ),
    ] as [(String, ConnectionCause)])
  func attributesAFailedHandshakeToTheProxyBeforeItHasConnected(_ detail: String, _ cause: ConnectionCause) {
    let failed = failure(CURLE_SSL_CONNECT_ERROR, detail, .connected) { $0.proxy = "https://p:1" }
    #expect(failed.cause == cause)
    for change in [{ $0.proxyStatus = 200 }, { $0.proxy = "http://p:1" }, { $0.proxy = "socks5://p:1" }]
      as [(inout TransferFailure) -> Void]
    {
      var other = failed
      change(&other)
      #expect(other.cause?.layer == .tls)
    }
  }

  @Test func attributesATimeoutToTheProxyBeforeItHasConnected() {
    func cause(
      _ proxy: String, isTLS: Bool, tunnels: Bool = false, status: Int = 0,
      _ progress: TransferFailure.Progress = .connected
    ) -> ConnectionCause? {
      failure(CURLE_OPERATION_TIMEDOUT, "", progress) {
        ($0.proxy, $0.isTLS, $0.tunnels, $0.proxyStatus) = (proxy, isTLS, tunnels, status)
      }.cause
    }
    let limit = "within 10.0 seconds"
    let tunnel = ConnectionCause.proxyFailed("it did not connect to a.test:1 \(limit)")
    #expect(cause("http://p:1", isTLS: true, tunnels: true) == tunnel)
    // The handshake that is complete is the one with the proxy.
    #expect(cause("https://p:1", isTLS: true, tunnels: true, .tlsEstablished) == tunnel)
    #expect(cause("http://p:1", isTLS: true, tunnels: true, status: 200) == .handshakeTimeout(.seconds(10)))
    #expect(
      cause("https://p:1", isTLS: false)
        == .proxyFailed("the TLS handshake with it was not complete \(limit)"))
    #expect(
      cause("socks5://p:1", isTLS: false)
        == .proxyFailed("there was no connection to a.test:1 through it \(limit)"))
    #expect(
      cause("socks5://p:1", isTLS: true)
        == .proxyFailed("there was no TLS connection to a.test:1 through it \(limit)"))
  }

  @Test func keepsLibcurlsMessageWithoutACause() {
    let error = failure(CURLE_RECV_ERROR, "Malformed encoding found", .responseBegun).error
    #expect(error.cause == nil)
    #expect(error.message == "Malformed encoding found")
    #expect(error.kind == .broken)
  }

  @Test(arguments: [
    (CURLE_PARTIAL_FILE, "transfer closed with 8 bytes remaining to read"), (CURLE_PARTIAL_FILE, ""),
    (CURLE_RECV_ERROR, "Recv failure: Connection reset by peer"), (CURLE_HTTP2, ""),
    (CURLE_SEND_ERROR, "Send failure: Broken pipe"),
    (CURLE_HTTP2_STREAM, "HTTP/2 stream 1 was not closed cleanly before end of the underlying stream"),
  ])
  func reportsAConnectionThatClosedWithinTheResponse(_ code: CURLcode, _ detail: String) {
    let words = "the connection was closed before the response was complete"
    let error = failure(code, detail, .responseBegun).error
    #expect(error.cause == nil)
    #expect(error.message == words + (detail.isEmpty ? "" : " (\(detail))"))
    #expect(error.kind == (code == CURLE_HTTP2_STREAM ? .stream : .broken))
    #expect(!failure(code, detail, .connected).error.message.hasPrefix(words))
  }

  @Test(arguments: [
    (CURLE_PARTIAL_FILE, "HTTP/2 stream 1 was reset"),
    (CURLE_HTTP2_STREAM, "HTTP/2 stream 1 reset by server (error 0x8 CANCEL)"),
  ])
  func keepsLibcurlsMessageForAResetWithinTheResponse(_ code: CURLcode, _ detail: String) {
    #expect(failure(code, detail, .responseBegun).error.message == detail)
  }

  @Test func causeOfLostResponseIsLibcurl() {
    let detail = "HTTP/2 stream 1 was closed cleanly, but before getting  all response header fields"
    let error = OldLibcurl.loss(CURLE_HTTP2_STREAM, detail: detail)
    #expect(error.cause == .lost(detail, library: OldLibcurl.name))
    #expect(error.message == "\(detail); \(OldLibcurl.lossNote)")
    #expect(error.resetCode == nil)
  }

  @Test(
    arguments: [
      ("HTTP/2 stream 1 was not closed cleanly: CANCEL (err 8)", 8),
      ("HTTP/2 stream 1 reset by server (error 0xb ENHANCE_YOUR_CALM)", 11),
      ("HTTP/2 stream 1 was closed cleanly, but before getting  all response header fields", 0),
      ("HTTP/2 stream 1 was not closed cleanly before end of the underlying stream", nil),
    ] as [(String, Int?)])
  func findsCodeOfReset(_ detail: String, _ code: Int?) {
    #expect(failure(CURLE_HTTP2_STREAM, detail, .connected).error.resetCode == code)
  }
}
