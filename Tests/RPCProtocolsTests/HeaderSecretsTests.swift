import Language
import Protobuf
import Testing

@testable import RPCProtocols

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

  @Test func masksHeadersWithFurtherNames() {
    let mask = SecretMask(
      Headers([("x-tenant", "tenant-a"), ("x-other", "visible")]), names: SecretNames(adding: ["X-Ten*"]),
      others: ["passw0rd"])
    #expect(mask.apply("tenant-a visible passw0rd") == "[redacted] visible [redacted]")
  }
}
