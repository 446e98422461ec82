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
