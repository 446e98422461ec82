import RPCurlLanguage
import Testing

@Suite struct SecretNamesTests {
  @Test(arguments: [
    // A whole word of the name.
    ("authorization", true), ("Authorization", true), ("proxy-authorization", true), ("x-auth", true),
    ("x-author", false), ("authority", false), (":authority", false), ("host", false),
    ("x-auth-request-id", true),
    ("x-vault-token", true), ("x-tokens-left", false), ("max-tokens", false), ("x-csrf-token", true),
    ("client-secret", true), ("secretary", false), ("x-password", true), ("x-credential", true),
    ("credentials", true),
    ("cookie", true), ("set-cookie", true), ("cookie2", false), ("x-session", true), ("x-session-id", true),
    ("x-obsession", false), ("x-jwt-assertion", true), ("x-amz-signature", true), ("x-signature-bin", true),
    ("signature-version", true), ("content-type", false), ("grpc-status", false), ("user-agent", false),
    ("", false),
    // "key" after "api", or at the end.
    ("x-api-key", true), ("x-api-key-id", true), ("apikey", true), ("x-apikey", true), ("ssh-key", true),
    ("x-key-bin", true), ("x-key-id", false), ("keyboard", false), ("x-monkey", false), ("key", true),
    // Other separators.
    ("x_auth_token", true), ("API_KEY", true), ("API_KEY_FILE", true), ("accessToken", true),
    ("apiKey", true),
    ("apiKeyCount", true), ("oauth.token", true), ("tokenizer", false), ("userName", false), ("bin", false),
    // Exceptions.
    ("www-authenticate", false), ("Proxy-Authenticate", false), ("x-session-count", false),
  ])
  func hasOneRule(name: String, isSecret: Bool) {
    #expect(SecretNames.standard.contains(name) == isSecret)
  }

  @Test(arguments: [
    ("x-tenant", true), ("X-Tenant", true), ("x-*", true), ("*-id", true), ("*ten*", true), ("a", true),
    ("", false), ("*", false), ("**", false), ("x-tenant:", false), ("X: v", false), (" x", false),
    ("x-mi*ne", false), ("**x", false), ("x**", false), ("a b", false), ("= x", false), ("\u{e9}", false),
  ])
  func patternsAreNames(text: String, isPattern: Bool) {
    #expect(SecretNames.isPattern(text) == isPattern)
  }

  @Test(arguments: [
    ("x-tenant", "x-tenant", true), ("X-Tenant", "x-tenant", true), ("x-tenant", "x-tenant-id", false),
    ("x-*", "x-any", true), ("x-*", "y-x-any", false), ("*-id", "tenant-id", true), ("*-id", "id", false),
    ("*ten*", "x-tenant", true), ("*", "anything", true), ("", "x", false),
    ("x-session-*", "x-session-count", true),
  ])
  func hasFurtherNames(pattern: String, name: String, isSecret: Bool) {
    #expect(SecretNames(adding: [pattern]).contains(name) == isSecret)
    #expect(SecretNames.standard.adding([pattern]).contains(name) == isSecret)
  }
}
