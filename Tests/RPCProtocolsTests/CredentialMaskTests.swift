import Protobuf
import Testing

@testable import RPCProtocols

@Suite struct CredentialMaskTests {
  private static let token = "s3cr/t+\"&<tök>-42"
  private static let mask = CredentialMask(
    Headers([
      ("authorization", "Bearer \(token)"), ("cookie", "theme=dark; id=c00kie/id"), ("x-plain", "visible"),
    ]))

  private func apply(_ text: String) -> String { Self.mask.apply(text) }

  @Test(arguments: [
    token, PercentEncoding.encode(Array(token.utf8)), PercentEncoding.encode(Array(token.utf8)).lowercased(),
    String(JSONValue.quoted(token).dropFirst().dropLast()), "s3cr\\/t+\\\"&<tök>-42",
    "s3cr/t+\\u0022\\u0026\\u003Ctök>-42", "s3cr/t+\\\"&<t\\u00f6k>-42",
    "s3cr/t+&quot;&amp;&lt;t&#246;k&gt;-42", "s3cr&#x2F;t+&quot;&amp;&lt;tök&gt;-42",
  ])
  func replacesLiteralAndEscapedCredentials(form: String) {
    #expect(apply("a \(form) b") == "a [redacted] b")
  }

  @Test(arguments: ["", "a", "ab", "abc", "user:"], ["", "z", "yz", ", and more"])
  func replacesCredentialsWithinBase64(before: String, after: String) {
    let text = Base64.encode(Array("\(before)\(Self.token)\(after)".utf8))
    for form in [
      text, String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }),
      PercentEncoding.encode(Array(text.utf8)),
    ] {
      let masked = apply("echo: \(form).")
      #expect(masked.hasPrefix("echo: ") && masked.hasSuffix("[redacted]."))
      // Up to three digits before it are of other text.
      #expect(masked.utf8.count <= "echo: [redacted].".utf8.count + before.utf8.count * 2 + 3)
    }
  }

  @Test func replacesPartsOfCredentials() {
    #expect(apply("c00kie/id and dark") == "[redacted] and [redacted]")
    let basic = CredentialMask(
      Headers([("authorization", "Basic \(Base64.encode(Array("me:pass word".utf8)))")]))
    #expect(basic.apply("me, pass word, pass+word, pass%20word") == "me, [redacted], [redacted], [redacted]")
    let binary = CredentialMask(Headers([("x-token-bin", Base64.encode(Array("bytes".utf8)))]))
    #expect(binary.apply("bytes") == "[redacted]")
  }

  @Test func replacesStartOfCredentialAtTheEnd() {
    #expect(apply("token s3cr/t") == "token [redacted]")
    #expect(apply("token s3cr/t.") == "token s3cr/t.")
  }

  /// In JSON, a character that needs two units of UTF-16 has two escapes.
  @Test func replacesCredentialsWithSurrogatePairs() {
    let mask = CredentialMask(["pass🔑word"])
    #expect(mask.apply(#"a pass\ud83d\udd11word b"#) == "a [redacted] b")
    #expect(
      mask.apply(#"a pass\ud83d b, \ud83d\u0041, \u00, \"#) == #"a pass\ud83d b, \ud83d\u0041, \u00, \"#)
  }

  /// What looks like an escape of another kind is a part of the credential.
  @Test(arguments: [
    #"s%3Aabc/def&b"#, #"s%3Aabc\/def\u0026b"#, #"s%3Aabc/def&amp;b"#, #"s%253Aabc%2Fdef%26b"#,
    #"s%3Aabc\/def&amp;b"#,
  ])
  func replacesCredentialsThatLookEscaped(form: String) {
    #expect(CredentialMask(["s%3Aabc/def&b"]).apply("a \(form) c") == "a [redacted] c")
  }

  /// The work is that for the text, not for the text and each credential.
  @Test func findsManyCredentialsInLinearTime() {
    let credentials = (0..<2_000).map { "\(String($0, radix: 36))-credential" }
    let mask = CredentialMask(credentials)
    let text = (0..<200).map { "&#37;&amp; \($0)-cred." }.joined()
    #expect(mask.apply(text) == text)
    #expect(mask.apply("\(text) \(credentials[7])") == "\(text) [redacted]")
  }

  @Test func keepsOtherText() {
    #expect(apply("visible Bearer") == "visible Bearer")
    #expect(apply("visible true: 1 of 3%, a+b & c\\d") == "visible true: 1 of 3%, a+b & c\\d")
    #expect(CredentialMask(Headers([("x-session", "1")])).apply("HTTP 401") == "HTTP 401")
  }
}
