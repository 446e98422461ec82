import RPCurlProgram
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

struct TargetTests {
  @Test(arguments: [
    ("localhost:50051", false, "https://localhost:50051"),
    ("localhost:50051", true, "http://localhost:50051"),
    ("http://a", false, "http://a"), ("HTTPS://a:1/", false, "https://a:1"),
    ("https://a/b//c/", false, "https://a/b/c"), ("[::1]:80", true, "http://[::1]:80"),
    ("http://[fe80::1%2]", false, "http://[fe80::1%2]"),
    ("[fe80::1%eth0.1]:80", true, "http://[fe80::1%eth0.1]:80"),
    ("http://[fe80::1%25br-0]", false, "http://[fe80::1%25br-0]"), ("a:65535", true, "http://a:65535"),
  ])
  func parsesServer(text: String, isPlaintext: Bool, url: String) throws {
    let target = try Target.parse(server: text, isPlaintext ? .never : .byTarget)
    #expect(target == Target(baseURL: url))
    #expect(target.isTLS == url.hasPrefix("https"))
    #expect(target.name == url)
  }

  @Test(arguments: [
    (Target.TLSChoice.byTarget, "http://localhost", "'unix:/run/a b.sock'"),
    (.never, "http://localhost", "'unix:/run/a b.sock'"),
    (.always, "https://localhost", "--unix-socket '/run/a b.sock' https://localhost"),
  ])
  func parsesUnixSocket(tls: Target.TLSChoice, url: String, argument: String) throws {
    let target = try Target.parse(server: "unix:/run/a b.sock", tls)
    #expect(target == Target(baseURL: url, unixSocket: "/run/a b.sock"))
    #expect(target.name == "unix:/run/a b.sock")
    #expect(target.argument == argument)
  }

  @Test(arguments: [
    ("", "''", "missing host"), ("http://", "http://", "missing host"), ("/a", "/a", "missing host"),
    ("unix:", "unix:", "missing path after unix:"),
    ("ftp://a", "ftp://a", "not a URL of http or https"),
    ("https://a", "https://a", "https:// and --plaintext contradict each other"),
    ("http://u:secret@a", "target", "credentials are not allowed in it"),
    ("a:0", "a:0", "the port is not a number from 1 to 65535"),
    ("a:+80", "a:+80", "not a target"),
    ("a:65536", "a:65536", "the port is not a number from 1 to 65535"), ("a:b", "a:b", "not a target"),
    ("a b", "a b", "not a target"), ("a\u{7f}", "a\u{7f}", "not a target"), ("[::1", "[::1", "not a target"),
    ("[zz]", "[zz]", "not a target"), ("http://a/b?key=secret", "http://a/b?…", "a query is not allowed"),
    ("http://a/b#x", "http://a/b#…", "a fragment is not allowed"),
    ("a:1?x", "a:1?…", "a query is not allowed"), (":80", ":80", "not a target"),
  ])
  func rejectsInvalidServer(text: String, what: String, why: String) {
    let failure = #expect(throws: Failure.self) { try Target.parse(server: text, .never) }
    #expect(failure?.status == .usage)
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
  }

  @Test(arguments: [
    ("http://a/p.S/M", nil, "http://a", "p.S", "M"), ("http://a/x/y/p.S/M", nil, "http://a/x/y", "p.S", "M"),
    ("http://a/x", "p.S/M", "http://a/x", "p.S", "M"), ("http://a", "p.S.M", "http://a", "p.S", "M"),
    ("http://a", "M", "http://a", "", "M"),
  ])
  func parsesMethod(text: String, method: String?, url: String, service: String, name: String) throws {
    let (target, parsed) = try Target.parse(text, method: method, .byTarget)
    #expect(target.baseURL == url)
    #expect(parsed == MethodName(service: service, method: name))
  }

  @Test(arguments: [
    ("http://a", nil, "http://a", "no method to call"),
    ("http://a/S", nil, "http://a/S", "no method to call"),
    ("http://a//M", nil, "http://a//M", "no method to call"), ("http://a", "x y", "x y", "not a method name"),
    ("http://a", "", "''", "not a method name"),
  ])
  func rejectsMissingMethod(text: String, method: String?, what: String, why: String) {
    let failure = #expect(throws: Failure.self) { try Target.parse(text, method: method, .byTarget) }
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
  }

  @Test(arguments: [
    ("http://a/b", "http://a/b"), ("http://u:p@a", "http://…@a"), ("u:p@a", "…@a"), ("a?k=v", "a?…"),
    ("a?k=p@w", "…"),
    ("http://u:p@w@a/b#c", "http://…@a/b#…"), ("unix:/a@b?c", "unix:/a@b?c"),
  ])
  func hidesSecretsInErrors(text: String, shown: String) {
    #expect(Target.shown(text) == shown)
  }
}
