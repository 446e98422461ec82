import Testing

@testable import RPCurlTransport

@Suite("The authorities that are trusted by default")
struct AuthoritiesTests {
  private func find(
    own: String? = nil, variables: [String: String] = [:], files: Set<String> = []
  ) -> Authorities {
    Authorities.find(ownFile: own, environment: { variables[$0] }, isReadable: { files.contains($0) })
  }

  @Test(arguments: [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem", "/etc/ssl/cert.pem",
  ])
  func findsFileOfDistribution(path: String) {
    #expect(find(files: [path]) == Authorities(file: path))
    #expect(find(own: "/missing.pem", files: [path]) == Authorities(file: path))
  }

  @Test func usesLibcurlsOwnFileFirst() {
    let files: Set = ["/own.pem", "/etc/ssl/cert.pem"]
    #expect(find(own: "/own.pem", files: files) == Authorities(file: "/own.pem"))
  }

  @Test func variablesReplaceTheFileOfTheSystem() {
    let files: Set = ["/own.pem", "/etc/ssl/cert.pem"]
    #expect(
      find(own: "/own.pem", variables: ["SSL_CERT_FILE": "/a.pem"], files: files)
        == Authorities(file: "/a.pem"))
    #expect(
      find(own: "/own.pem", variables: ["SSL_CERT_DIR": "/d"], files: files) == Authorities(directory: "/d"))
    #expect(
      find(variables: ["SSL_CERT_FILE": "/a.pem", "SSL_CERT_DIR": "/d"])
        == Authorities(file: "/a.pem", directory: "/d"))
  }

  @Test func ignoresEmptyVariables() {
    #expect(
      find(variables: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""], files: ["/etc/ssl/cert.pem"])
        == Authorities(file: "/etc/ssl/cert.pem"))
  }

  @Test func findsNothingWithoutAuthorities() {
    #expect(find() == Authorities())
  }

  @Test(arguments: [
    ("/", nil), ("/missing:/", nil), ("/missing", "No such file or directory"),
    (":", "No such file or directory"),
    (#filePath, "Not a directory"),
  ])
  func directoryMustBeSearchable(directory: String, reason: String?) {
    let error = reason.map { TransportError(.unreadableAuthorities(file: directory, reason: $0)) }
    #expect(Authorities(directory: directory).directoryError == error)
  }

  @Test(arguments: [("/system.pem", "/system.pem"), ("/a.pem", "/a.pem"), ("/a.pem/system.pem", "/a.pem")])
  func namesTheAuthoritiesForAProxy(file: String, expected: String) {
    let (server, system) = (Authorities(file: "/a.pem"), Authorities(file: "/system.pem"))
    let words = "error setting certificate file: \(file)"
    #expect(Authorities.named(in: words, server, system: system).file == expected)
  }
}
