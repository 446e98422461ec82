import RPCurlLanguage
import RPCurlProtobuf
import Testing

@Suite struct SecretMaskTests {
  private static let token = "s3cr/t+\"&<tök>-42"
  private static let mask = SecretMask([token])

  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80
      return isPlain
        ? "\(UnicodeScalar(byte))" : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  private func apply(_ text: String) -> String { Self.mask.apply(text) }

  @Test(arguments: [
    token, percentEncoded(token), percentEncoded(token).lowercased(),
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
      Self.percentEncoded(text),
    ] {
      let masked = apply("echo: \(form).")
      #expect(masked.hasPrefix("echo: ") && masked.hasSuffix("[redacted]."))
      // Up to three digits before it are of other text.
      #expect(masked.utf8.count <= "echo: [redacted].".utf8.count + before.utf8.count * 2 + 3)
    }
  }

  /// Lines are ended as they are, by escapes of JSON, or percent-encoded.
  @Test(arguments: ["\n", "\r\n  ", "\n\t", "\\n", "\\r\\n ", "%0A", "%0d%0a%20"])
  func replacesCredentialsOverSeveralLines(end: String) {
    let mask = SecretMask(["hunter2-secret"])
    #expect(mask.apply("a hunter2-\(end)secret b") == "a [redacted] b")
    let digits = Base64.encode(Array("hunter2-secret".utf8), padding: false)
    #expect(mask.apply("a \(digits.prefix(9))\(end)\(digits.dropFirst(9)).") == "a [redacted].")
    #expect(mask.apply("hunter2-\(end)other") == "hunter2-\(end)other")
  }

  @Test func replacesStartOfCredentialAtTheEnd() {
    #expect(apply("token s3cr/t") == "token [redacted]")
    #expect(apply("token s3cr/t.") == "token s3cr/t.")
  }

  /// In JSON, a character that needs two units of UTF-16 has two escapes.
  @Test func replacesCredentialsWithSurrogatePairs() {
    let mask = SecretMask(["pass🔑word"])
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
    #expect(SecretMask(["s%3Aabc/def&b"]).apply("a \(form) c") == "a [redacted] c")
  }

  /// The work is that for the text, not for the text and each credential.
  @Test func findsManyCredentialsInLinearTime() {
    let credentials = (0..<2_000).map { "\(String($0, radix: 36))-credential" }
    let mask = SecretMask(credentials)
    let text = (0..<200).map { "&#37;&amp; \($0)-cred." }.joined()
    #expect(mask.apply(text) == text)
    #expect(mask.apply("\(text) \(credentials[7])") == "\(text) [redacted]")
  }

  @Test func keepsOtherText() {
    #expect(apply("visible true: 1 of 3%, a+b & c\\d") == "visible true: 1 of 3%, a+b & c\\d")
  }

  /// Short values are parts of many words.
  @Test func replacesNothingShorterThanSixCharacters() {
    let mask = SecretMask(["short", "ümlau", "longer", "hunter2-long"])
    #expect(mask.apply("short ümlau longer") == "short ümlau [redacted]")
    #expect(mask.apply("hunte") == "hunte")
  }

  @Test func replacesLongestSecret() {
    let mask = SecretMask(["hunter2", "hunter2-long", "2-longest"])
    #expect(mask.apply("hunter2 hunter2-long hunter2-longest") == "[redacted] [redacted] [redacted]")
  }

  /// The settings of interceptors have two commas for one.
  @Test func replacesSecretsWithDoubledCommas() {
    #expect(SecretMask(["one,two"]).apply("header,set=x:one,,two") == "header,set=x:[redacted]")
  }

  @Test func replacesBase64OfNameAndSecret() {
    let login = Base64.encode(Array("my-client:s3cret!".utf8))
    #expect(!SecretMask(["s3cret!"]).apply("invalid client \(login)").contains(login.suffix(8)))
  }

  @Test(arguments: [
    ("…ter2-long x", "…[redacted] x"), ("hunter2-long…", "[redacted]…"),
    ("a hunter… (cut at 8 bytes)", "a [redacted]… (cut at 8 bytes)"),
    ("hunt…long", "hunt…long"), ("…", "…"), ("x hunter…y…r2-long", "x [redacted]…y…[redacted]"),
    ("r2-long", "r2-long"), (#"\u0068unter…"#, "[redacted]…"),
  ])
  func replacesPartsOfSecretsWhereTextIsCut(_ text: String, _ masked: String) {
    #expect(SecretMask(["hunter2-long"]).apply(text) == masked)
  }

  /// A naive search is quadratic here.
  @Test func needsLinearTimeForRepeatedStarts() {
    let mask = SecretMask([String(repeating: "a", count: 20_000) + "b"])
    let text = String(repeating: "a", count: 19_000) + "."
    #expect(mask.apply(text) == text)
  }

  /// Messages within messages: the content is searched once, and not once for each message around it.
  @Test func needsLinearTimeForNestedMessages() {
    func nested(_ text: String, _ depth: Int) -> [UInt8] {
      var bytes: [UInt8] = [0x0A]
      bytes.append(delimited: Array(text.utf8))
      for _ in 0..<depth {
        let inner = bytes
        bytes = [0x0A]
        bytes.append(delimited: inner)
      }
      return bytes
    }
    let secret = "hunter2-long"
    let text = String(repeating: "\\u0061 %41 &amp; ", count: 20_000)
    let masked = SecretMask([secret]).apply(toMessage: nested(text + secret, 60))
    #expect(masked == nested("\(text)[redacted]", 60))
  }

  /// A length that is longer than it has to be.
  @Test func messagesWithoutSecretsStayAsTheyAre() {
    let plain: [UInt8] = [0x0A, 0x83, 0x00] + Array("abc".utf8)
    var bytes = plain + [0x12]
    bytes.append(delimited: Array("hunter2-long".utf8))
    var expected = plain + [0x12]
    expected.append(delimited: Array("[redacted]".utf8))
    #expect(SecretMask(["hunter2-long"]).apply(toMessage: bytes) == expected)
  }

  @Test func secretIsNotPrinted() {
    let secret = Secret("hunter2-long")
    var dumped = ""
    dump([secret], to: &dumped)
    for text in ["\(secret)", String(reflecting: [secret]), "\([1: secret])", dumped] {
      #expect(!text.contains("hunter2"))
    }
    #expect(secret.revealed == "hunter2-long")
  }
}
