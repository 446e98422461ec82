import RPCurlProtocols
import Testing

@testable import RPCurlTransport

struct PEMTests {
  private static let certificate = Array(
    "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n".utf8)
  private static let key = Array(
    "-----BEGIN EC PRIVATE KEY-----\r\nAA==\r\n-----END EC PRIVATE KEY-----\r\n".utf8)

  @Test func problemsOfACertificateInMemory() {
    typealias Certificate = ConnectionOptions.Certificate
    #expect(Certificate(file: "a").problem == nil)
    #expect(Certificate(pem: Self.certificate, keyPEM: Self.key).problem == nil)
    #expect(Certificate(pem: Self.certificate + Self.key).problem == nil)
    let name = "(certificate in memory)"
    #expect(Certificate(pem: []).problem == .invalidClientCertificate(file: name))
    #expect(Certificate(pem: Self.key).problem == .invalidClientCertificate(file: name))
    #expect(Certificate(pem: Self.certificate).problem == .missingKey(certificate: name))
    #expect(
      Certificate(pem: Self.certificate, keyPEM: Self.certificate).problem
        == .wrongKey(file: "(key in memory)"))
  }

  @Test func aSearchEndsAtTheBlock() {
    // Each transfer searches the authorities, which are those of a whole system.
    let pem = Self.certificate + [UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)
    let begin = ContinuousClock.now
    for _ in 0..<100 { #expect(PEM.hasBlock("CERTIFICATE", in: pem)) }
    #expect(ContinuousClock.now - begin < .seconds(1))
  }

  @Test func onlyCRAndLFEndALine() {
    let separator = Array("\u{2028}".utf8)
    #expect(!PEM.hasBlock("CERTIFICATE", in: separator + Self.certificate))
    #expect(PEM.hasBlock("CERTIFICATE", in: Array("\r\n".utf8) + Self.certificate))
    #expect(PEM.hasBlock("PRIVATE KEY", in: separator + Array("\r".utf8) + Self.key))
  }

  @Test func authoritiesWithoutACertificateAreInvalid() throws {
    let loop = try EventLoop()
    var options = ConnectionOptions()
    options.authoritiesPEM = Self.key
    let request = HTTPRequest(url: "https://h/pkg.S/M", headers: Headers())
    let error = #expect(throws: TransportError.self) {
      try Transfer(request, body: .stream, options: options, loop: loop, delegate: TransferRecorder())
    }
    #expect(error?.cause == .invalidAuthorities(file: "(authorities in memory)"))
  }
}
