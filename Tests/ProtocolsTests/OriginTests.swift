import RPCurlProtocols
import Testing

@Suite struct OriginTests {
  @Test(arguments: [
    ("https://Example.com/a", "https", "example.com", 443),
    ("HTTP://example.com:81", "http", "example.com", 81),
    ("http://[::1]:50051/x", "http", "::1", 50051), ("https://[2001:db8::1]", "https", "2001:db8::1", 443),
  ])
  func parsesOriginOfURL(_ url: String, _ scheme: String, _ host: String, _ port: Int) {
    let origin = Origin(url: url)
    #expect(origin?.scheme == scheme)
    #expect(origin?.host == host)
    #expect(origin?.port == port)
  }

  @Test(arguments: [
    "", "example.com", "ftp://a", "https://", "https://a:b", "https://a:99999", "https://u@a",
  ])
  func rejectsInvalidURL(_ url: String) {
    #expect(Origin(url: url) == nil)
  }

  /// A combining mark is one character with what is before it.
  @Test(arguments: [
    ("http://u:secret@h/a@b", "http://h/a@b", "http://…@b"),
    ("http://u:secret@\u{301}h", "http://\u{301}h", "http://…@\u{301}h"),
    ("http://\u{301}u:secret@h", "http://h", "http://…@h"),
    ("http://u:secret?\u{301}x@h", "http://h", "http://…"),
    ("http://h?\u{301}key=secret", "http://h?\u{301}key=secret", "http://h?…"),
    ("http://h/é", "http://h/é", "http://h/é"),
  ])
  func hidesPasswords(_ url: String, without: String, shown: String) {
    #expect(Array(url.withoutUserInfo.utf8) == Array(without.utf8))
    #expect(Array(TargetSyntax.shown(url).utf8) == Array(shown.utf8))
  }

  @Test(arguments: [
    ("http://localhost:1", false), ("http://127.9.9.9", false), ("http://[::1]", false),
    ("http://a.localhost", false), ("https://example.com", false), ("http://example.com", true),
    ("http://127.evil.com", true), ("http://127.0.0.1.1", true), ("http://127.1", true),
    ("http://localhost.evil.com", true), ("http://10.0.0.1", true),
  ])
  func isExposedWithoutTLSBeyondThisMachine(_ url: String, _ isExposed: Bool) {
    #expect(Origin(url: url)?.isExposed == isExposed)
  }
}
