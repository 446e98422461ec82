import RPCurlBase
import RPCurlCServer
import RPCurlPlatform
import Testing

@testable import RPCurlServer

struct TLSTests {
  private let directory: String

  init() {
    directory = "/tmp/rpcurl-tls-\(UInt64.random(in: 0 ... .max))"
    mkdir(directory, 0o700)
  }

  private func file(_ name: String, _ text: String) -> String {
    let path = "\(directory)/\(name)"
    let descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
    _ = FileContents.write(Array(text.utf8), to: descriptor)
    close(descriptor)
    return path
  }

  @Test func namesTheFileThatCannotBeUsed() throws {
    let made = try MadeCertificate(names: ["localhost"])
    let certificate = file("certificate", String(decoding: made.authority, as: UTF8.self))
    let other = file("other", "text")
    func error(_ certificate: String, _ key: String) -> SystemError? {
      #expect(throws: SystemError.self) { try TLSIdentity(certificateFile: certificate, keyFile: key) }
    }
    #expect(error(directory + "/missing", other)?.isMissing == true)
    #expect(error(other, other) == SystemError("no certificate in PEM", path: other))
    #expect(error(certificate, other)?.reason == "no unencrypted private key in PEM")
    #expect(error(certificate, other)?.path == other)
  }

  @Test(arguments: [[], ["a b"], ["a,DNS:b"], ["*.a"], [""], ["a;b"], ["::zz"], [".a"]])
  func refusesNames(_ names: [String]) {
    #expect(throws: SystemError.self) { try MadeCertificate(names: names) }
  }

  @Test(arguments: [
    ["localhost", "127.0.0.1", "::1"], ["a-b.example"], ["127.0.0.1"], [String(repeating: "a", count: 200)],
  ])
  func makesCertificates(_ names: [String]) throws {
    let made = try MadeCertificate(names: names)
    let text = String(decoding: made.authority, as: UTF8.self)
    #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----\n") && !text.contains("PRIVATE"))
    let path = directory + "/authority"
    try made.writeAuthority(to: path)
    #expect(try FileContents.read(path) == made.authority)
    #expect(throws: SystemError.self) { try made.writeAuthority(to: directory + "/missing/authority") }
  }

  @Test func invalidRecordsEndTheSession() throws {
    let identity = try MadeCertificate(names: ["localhost"]).identity
    let session = try #require(TLSSession(identity))
    #expect(!session.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8).span.bytes) { _ in })
    #expect(!session.isEstablished && session.selected == .none)
    var output: [UInt8] = []
    session.moveOutput(to: &output)
    session.end()
  }
}
