import RPCurlLanguage
import RPCurlProtobuf
import Testing

@testable import RPCurlProtocols

@Suite struct HeaderSecretsTests {
  @Test(arguments: [
    ("authorization", "Bearer t0ken-x", ["t0ken-x"]), ("authorization", "t0ken-x", ["t0ken-x"]),
    ("authorization", "Basic bWU6cGFzcyB3b3Jk", ["bWU6cGFzcyB3b3Jk", "me:pass word", "pass word"]),
    ("x-api-key", "one two", ["one two", "two"]), ("x-token-bin", "Ynl0ZXM", ["Ynl0ZXM", "bytes"]),
    (
      "cookie", "theme=dark; id=c00kie/id", ["theme=dark; id=c00kie/id", "id=c00kie/id", "dark", "c00kie/id"]
    ),
    ("x-plain", "visible", []), ("www-authenticate", "Bearer realm", []),
  ])
  func findsSecretsInHeaders(name: String, value: String, secrets: [String]) {
    #expect(SecretMask.secrets(of: Headers([(name, value)])) == secrets)
  }

  @Test func masksHeadersThatAreNamedLater() {
    let secrets = CallSecrets()
    let request = Headers([("x-mine", "mine-value"), ("x-other", "visible")])
    secrets.add(request, nil)
    #expect(secrets.mask.isEmpty)
    secrets.add(names: SecretNames(adding: ["x-mine"]), of: request)
    #expect(secrets.names.contains("x-mine"))
    #expect(secrets.mask.apply("mine-value visible") == "[redacted] visible")
  }

  @Test func masksRequestsOfACall() throws {
    let secrets = CallSecrets(SecretNames(adding: ["X-Ten*"]))
    #expect(secrets.mask.isEmpty)
    secrets.add(Headers([("x-tenant", "tenant-a"), ("x-other", "visible")]), nil)
    secrets.add(["passw0rd"])
    #expect(secrets.mask.apply("tenant-a visible passw0rd") == "[redacted] visible [redacted]")
    let credentials = Credentials(for: try #require(Origin(url: "http://a")), in: ["x-signed"])
    for number in 100..<120 { secrets.add(Headers([("x-signed", "signed-\(number)")]), credentials) }
    #expect(secrets.names.contains("x-signed"))
    #expect(secrets.mask.apply("signed-100 signed-119 signed-120") == "[redacted] [redacted] signed-120")
  }
}
