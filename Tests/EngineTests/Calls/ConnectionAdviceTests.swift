import RPCurlProgram
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

@Suite struct ConnectionAdviceTests {
  /// Each cause with the exit code, a part of its message and a part of its hint.
  private static let table: [(ConnectionCause, Int32, String, String)] = [
    (.unknownHost("h"), 5, "cannot resolve the name h", "--resolve"),
    (.refused(server: "h:1"), 5, "h:1: Connection refused", "no server listens"),
    (.unreachable(server: "h:1", reason: "No route to host"), 5, "No route to host", "network"),
    (.connectTimeout(server: "h:1", .seconds(10)), 5, "within 10.0 seconds", "--connect-timeout"),
    (.handshakeTimeout(.seconds(10)), 5, "handshake", "--plaintext"),
    (.socket(path: "/s", reason: "No such file or directory"), 5, "the socket /s", "path"),
    (.unknownProxy, 5, "name", "--proxy"),
    (.proxyFailed("cannot connect to it"), 5, "cannot connect", "--proxy"),
    (.proxyUnusable("it does not use TLS"), 5, "does not use TLS", "https_proxy"),
    (.proxyRefused(server: "h:1", status: 403), 5, "HTTP 403", "--proxy"),
    (.proxyRefused(server: "h:1", status: 401), 5, "HTTP 401", "--proxy-user"),
    (.proxyRequiresCredentials, 5, "credentials", "--proxy-user"),
    (.expired(since: "Jan 1"), 6, "expired (Jan 1)", "renew"),
    (.notYetValid(until: "Jan 1"), 6, "not valid yet (from Jan 1)", "clocks"),
    (.wrongName("a", names: ["b", "c"]), 6, "not for a, but for b, c", "--servername b"),
    (.wrongName("a", names: ["*.b"]), 6, "*.b", "--servername NAME"),
    (.wrongName("::1", names: ["::1"]), 6, "as a name, not as an address", "IP address"),
    (.incompleteChain("CN=A"), 6, "CN=A, of which the server sends no certificate", "--cacert"),
    (.unknownServerName("a"), 6, "no certificate for the name a", "--servername"),
    (.unknownAuthority("CN=Root"), 6, "not trusted: CN=Root", "--cacert"),
    (.selfSigned, 6, "self-signed", "--cacert"),
    (.rejectedCertificate("revoked"), 6, "revoked", "-k"),
    (.noAuthorities, 6, "no certificate authorities", "SSL_CERT_FILE"),
    (.invalidAuthorities(file: "f"), 6, "read from f", "PEM"),
    (
      .unreadableAuthorities(file: "SSL_CERT_FILE=f", reason: "gone"), 6, "SSL_CERT_FILE=f: gone",
      "unset SSL_CERT_FILE"
    ),
    (.unreadableAuthorities(file: "f", reason: "Too many open files"), 6, "f: Too many", "ulimit"),
    (.invalidClientCertificate(file: "f.pem"), 6, "f.pem", "--cert-type"),
    (.invalidClientCertificate(file: "f.p12"), 6, "f.p12", "--cert-type P12"),
    (.wrongPassphrase(file: "k"), 6, "the passphrase of k", "--pass"),
    (.missingKey(certificate: "c"), 6, "missing key", "--key"),
    (.wrongKey(file: "k"), 6, "the key k", "--key"),
    (.clientCertificateRequired, 6, "requires a client certificate", "--cert"),
    (.clientCertificateRefused, 6, "refused the client certificate", "--cert"),
    (.serverWithoutTLS, 6, "does not use TLS", "use http:// in the URL, or --plaintext with HOST:PORT"),
    (.serverWithTLS, 5, "requires TLS", "https://"),
    (.noCommonTLSVersion, 6, "version of TLS", "--tlsv1.3"),
    (.handshakeRefused("alert"), 6, "alert", "--cert"),
    (.handshakeCut, 6, "closed the connection in the TLS handshake", "--plaintext"),
    (.onlyHTTP1(negotiated: nil), 5, "HTTP/1", "grpc-web"),
    (.onlyHTTP1(negotiated: ""), 5, "no protocol", "grpc-web"),
    (.onlyHTTP1(negotiated: ""), 5, "no protocol", "--http2-prior-knowledge"),
    (.noHTTP2, 5, "does not offer HTTP/2", "grpc-web"),
    (.onlyHTTP2, 5, "only HTTP/2", "--protocol grpc"),
    (.notHTTP("SSH-2.0"), 5, "SSH-2.0", "port"),
    (.lost("reset", library: "libcurl 7.88.1"), 5, "(reset); libcurl 7.88.1 may have lost it", "8.14"),
    (.closed("reset"), 5, "reset", "rpcurl check https://h:1"),
    (
      .closed("Received HTTP/0.9 when not allowed"), 5, "is not HTTP/1.1",
      "check the port; the server may require HTTP/2"
    ),
    (.refusedRequest("not repeated"), 5, "refused the request without processing it", "--use retry"),
  ]

  @Test(arguments: table)
  func namesCauseAndRemedy(_ cause: ConnectionCause, _ exit: Int32, _ why: String, _ hint: String) {
    let advice = ConnectionAdvice(Target(baseURL: "https://h:1"), .grpc)
    #expect(cause.description.contains(why))
    #expect(advice.hint(for: cause).contains(hint))
    let origin: RPCError.Origin =
      switch cause.layer {
      case .connection: .connection
      case .proxy: .proxy("")
      case .tls: .tls
      }
    #expect(ExitStatus.call(RPCError(.unavailable, "", origin: origin)).rawValue == exit)
  }

  @Test(
    arguments: [
      (.client, .resourceExhausted, nil, "--max-message-size BYTES raises the limit"),
      (.client, .invalidArgument, nil, "send a message after open: send {…}"),
      (.client, .canceled, nil, nil), (.request, .resourceExhausted, nil, nil),
      (.violation, .resourceExhausted, nil, nil),
      (
        .violation, .internal, .onlyHTTP1(negotiated: nil),
        "over HTTP/1.1 use --protocol grpc-web, or --protocol connect"
      ),
    ] as [(RPCError.Origin, StatusCode, ConnectionCause?, String?)])
  func hintDependsOnValuesOfError(
    _ origin: RPCError.Origin, _ code: StatusCode, _ cause: ConnectionCause?, _ hint: String?
  ) {
    // As a server may write.
    var error = RPCError(
      code, "the limit is 1; the request has no message; it requires HTTP/2", origin: origin)
    error.cause = cause
    let target = Target(baseURL: "https://h:1")
    #expect(CallPlan.hint(for: error, target: target, protocolName: .grpc, hasCertificate: false) == hint)
  }

  @Test func namesAtMostFiveNamesOfACertificate() {
    let cause = ConnectionCause.wrongName("x", names: ["a", "b", "c", "d", "e", "f", "g"])
    #expect(cause.description.hasSuffix("but for a, b, c, d, e and 2 more"))
  }

  @Test func suggestsOtherOptionsWithAClientCertificate() {
    let advice = ConnectionAdvice(Target(baseURL: "https://h:1"), .grpc, hasCertificate: true)
    #expect(advice.hint(for: .handshakeRefused("alert")).contains("--servername"))
  }
}
