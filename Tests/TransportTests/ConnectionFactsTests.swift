import RPCurlProtocols
import Testing

@testable import RPCurlTransport

@Suite struct ConnectionFactsTests {
  private func facts(_ change: (inout ConnectionFacts) -> Void) -> ConnectionFacts {
    var facts = ConnectionFacts()
    change(&facts)
    return facts
  }

  @Test func readsTheLogOfTwoVersionsOfLibcurl() {
    let found = facts {
      for line in [
        "  Trying 127.0.0.1:443...", "  Trying [::1]:443...", "  Trying 127.0.0.1:443...",
        "SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384 / X25519MLKEM768 / RSASSA-PSS",
        "ALPN: server accepted h2", "TLSv1.3 (IN), TLS handshake, Request CERT (13):", "unrelated",
      ] { $0.add(logLine: line[...]) }
    }
    #expect(found.addresses == ["127.0.0.1", "::1"])
    #expect(found.tlsVersion == "TLSv1.3")
    #expect(found.cipher == "TLS_AES_256_GCM_SHA384")
    #expect(found.negotiated == "h2")
    #expect(found.requestsClientCertificate)
    #expect(
      !facts { $0.add(logLine: "TLSv1.3 (OUT), TLS handshake, Request CERT (13):") }.requestsClientCertificate
    )
  }

  @Test func reasonsToWaitForAServer() {
    let refused = TransportError(ConnectionCause.refused(server: "h:1"))
    let untrusted = TransportError(ConnectionCause.unknownAuthority(nil))
    for (error, isReason) in [
      (refused, true), (TransportError(.connect, "no connection within 1.0 seconds"), true),
      (TransportError(ConnectionCause.unknownHost("h")), true),
      (TransportError(ConnectionCause.handshakeCut), true),
      (TransportError(ConnectionCause.proxyFailed("it closed the connection")), true),
      (TransportError(ConnectionCause.proxyUnusable("it does not use TLS")), false),
      (TransportError(ConnectionCause.proxyRefused(server: "h:1", status: 503)), true),
      (TransportError(ConnectionCause.proxyRefused(server: "h:1", status: 403)), false),
      (untrusted, false), (TransportError(ConnectionCause.serverWithoutTLS), false),
      (TransportError(.request, "invalid URL"), false),
    ] {
      let reason = facts { $0.error = error }.reasonToWait(expectsFirstBytes: false)
      #expect(reason == (isReason ? error : nil))
    }
    #expect(facts { _ in }.reasonToWait(expectsFirstBytes: false) == nil)
    #expect(facts { _ in }.reasonToWait(expectsFirstBytes: true)?.kind == .connect)
    #expect(facts { $0.firstBytes = [] }.reasonToWait(expectsFirstBytes: true)?.cause == .closed(""))
    #expect(facts { $0.firstBytes = [0] }.reasonToWait(expectsFirstBytes: true) == nil)
  }

  @Test func readsCertificates() {
    let certificate = ServerCertificate(lines: [
      "Subject:O = Shop, CN = shop.test", "Issuer:CN=Root", "Version:2",
      "Start date:Jan  1 00:00:00 2020 GMT",
      "Expire date:Jan  2 00:00:00 2021 GMT",
      "X509v3 Subject Alternative Name:DNS:shop.test, IP Address:10.0.0.1, email:a@b", "without colon",
    ])
    #expect(certificate.subject == "O=Shop, CN=shop.test")
    #expect(certificate.issuer == "CN=Root")
    #expect(certificate.names == ["shop.test", "10.0.0.1"])
    #expect(certificate.start == "Jan 1 00:00:00 2020 GMT")
    #expect(certificate.end == "Jan 2 00:00:00 2021 GMT")
    // One hour before its end, and one day after it.
    #expect(certificate.valid(from: 1_609_542_000).validity == .seconds(3600))
    #expect(certificate.valid(from: 1_609_632_000).validity == .seconds(-86_400))
    #expect(ServerCertificate().valid(from: 0).validity == nil)
  }

  @Test func refinesCausesByTheCertificate() {
    let found = facts {
      var certificate = ServerCertificate()
      (certificate.issuer, certificate.end, certificate.start) = ("CN=Root", "yesterday", "tomorrow")
      certificate.names = ["shop.test"]
      $0.certificates = [certificate]
    }
    func refined(_ cause: ConnectionCause) -> ConnectionCause {
      cause.refined(by: found, hasCertificate: false, requiresHTTP2: true)
    }
    #expect(refined(.expired(since: nil)) == .expired(since: "yesterday"))
    #expect(refined(.notYetValid(until: nil)) == .notYetValid(until: "tomorrow"))
    #expect(refined(.unknownAuthority(nil)) == .incompleteChain("CN=Root"))
    var whole = found
    whole.certificates.append(ServerCertificate())
    let cause = ConnectionCause.unknownAuthority(nil).refined(
      by: whole, hasCertificate: false, requiresHTTP2: true)
    #expect(cause == .unknownAuthority("CN=Root"))
    #expect(refined(.wrongName("a", names: [])) == .wrongName("a", names: ["shop.test"]))
    #expect(refined(.selfSigned) == .selfSigned)
  }

  @Test func refinesAClosedConnectionByTheFirstBytes() {
    func refined(
      _ bytes: [UInt8]?, http2: Bool = true, uses: Bool? = nil, reason: String = "reset"
    ) -> ConnectionCause {
      ConnectionCause.closed(reason).refined(
        by: facts { $0.firstBytes = bytes }, hasCertificate: false, requiresHTTP2: http2,
        usesHTTP2: uses ?? http2)
    }
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    #expect(refined(nil) == .closed("reset"))
    #expect(refined([]) == .closed("reset"))
    #expect(refined([0x15, 3, 1, 0, 2, 2, 40]) == .serverWithTLS)
    #expect(refined(Array("HTTP/1.1 400 Bad Request\r\n".utf8)) == .onlyHTTP1(negotiated: nil))
    #expect(refined(Array("HTTP/1.1 400 Bad Request\r\n".utf8), http2: false) == .closed("reset"))
    #expect(refined(Array("HTTP/1.1 400 Bad Request\r\n".utf8), http2: false, uses: true) == .noHTTP2)
    #expect(refined(Array("\n<!DOCTYPE HTML>\n<html".utf8)) == .onlyHTTP1(negotiated: nil))
    #expect(refined(Array("SSH-2.0-x\u{1b}\r\nmore".utf8)) == .notHTTP("SSH-2.0-x."))
    #expect(refined(settings) == .closed("reset"))
    let notHTTP1 = "Received HTTP/0.9 when not allowed"
    #expect(refined(settings, http2: false, reason: notHTTP1) == .onlyHTTP2)
  }

  @Test(arguments: [
    ([0, 0, 0, 4, 0, 0, 0, 0, 0], ConnectionCause.serverWithoutTLS),
    (Array("HTTP/1.1 400 Bad Request".utf8), .serverWithoutTLS), (Array("SSH".utf8), .handshakeCut),
    ([], .handshakeCut),
  ])
  func refinesACutHandshakeByTheFirstBytes(_ bytes: [UInt8], _ expected: ConnectionCause) {
    let found = facts { $0.firstBytes = bytes }
    let cause = ConnectionCause.handshakeCut
    #expect(cause.refined(by: found, hasCertificate: false, requiresHTTP2: true) == expected)
  }

  @Test(arguments: [
    ("https://a.test", "http", "http://a.test:443"), ("http://a.test/b/C", "https", "https://a.test:80/b/C"),
    ("http://a.test:1/b", "https", "https://a.test:1/b"), ("https://[::1]", "http", "http://[::1]:443"),
    ("https://[::1]:5/b", "http", "http://[::1]:5/b"),
  ])
  func probesTheSamePort(_ url: String, _ scheme: String, _ expected: String) {
    #expect(ConnectionProbe.url(url, scheme: scheme) == expected)
  }

  @Test func refinesAClosedConnectionByTheRequestForACertificate() {
    let found = facts { $0.requestsClientCertificate = true }
    for cause in [ConnectionCause.closed("x"), .handshakeCut, .handshakeRefused("x")] {
      #expect(
        cause.refined(by: found, hasCertificate: false, requiresHTTP2: true) == .clientCertificateRequired)
      #expect(
        cause.refined(by: found, hasCertificate: true, requiresHTTP2: true) == .clientCertificateRefused)
    }
  }
}
