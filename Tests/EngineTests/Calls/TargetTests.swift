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
    (":50051", true, "http://localhost:50051"), (":50051/x", false, "https://localhost:50051/x"),
    ("grpc://a:1", false, "http://a:1"), ("GRPCS://a:1/x", false, "https://a:1/x"),
    ("dns:///a:1", true, "http://a:1"), ("dns:a:1", false, "https://a:1"), ("dns:a", false, "https://a"),
    ("passthrough:///a:1", true, "http://a:1"), ("ipv4:1.2.3.4:5", true, "http://1.2.3.4:5"),
    ("ipv6:[::1]:5", true, "http://[::1]:5"), ("ipv6:2001:db8::1", true, "http://[2001:db8::1]"),
    // Hosts of these names.
    ("dns:53", true, "http://dns:53"), ("ipv4:80/x", true, "http://ipv4:80/x"),
    ("xds:1", true, "http://xds:1"),
    ("grpc:1", true, "http://grpc:1"),
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

  @Test func parsesNameOfAbstractSocket() throws {
    let target = try Target.parse(server: "unix-abstract:a b", .byTarget)
    #expect(target == Target(baseURL: "http://localhost", unixSocket: "a b", isAbstract: true))
    #expect(target.name == "unix-abstract:a b")
    #expect(target.argument == "'unix-abstract:a b'")
    let secure = try Target.parse(server: "unix-abstract:a", .always)
    #expect(secure.argument == "--abstract-unix-socket a https://localhost")
  }

  @Test(arguments: [
    ("xds:///a", "rpcurl asks no xDS server for addresses", "write HOST:PORT of a server"),
    (
      "dns://8.8.8.8/a:1", "the system resolves names, not a server that the target names",
      "write dns:///HOST:PORT; --resolve HOST:PORT:ADDRESS gives the address of a host"
    ),
    ("ipv4:1.2.3.4:5,1.2.3.5:5", "several addresses", "write one of them"),
    ("ipv6:[::1]:5,[::2]:5", "several addresses", "write one of them"),
  ])
  func rejectsNamesOfOtherPrograms(text: String, why: String, hint: String) {
    let failure = #expect(throws: Failure.self) { try Target.parse(server: text, .byTarget) }
    #expect(failure?.message?.what == text)
    #expect(failure?.message?.why == why)
    #expect(failure?.message?.hint == hint)
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
    ("a:1?x", "a:1?…", "a query is not allowed"), (":", ":", "not a target"),
    (":0", ":0", "the port is not a number from 1 to 65535"),
    ("grpcs://a", "grpcs://a", "grpcs:// and --plaintext contradict each other"),
    ("grpc://u:secret@a", "target", "credentials are not allowed in it"),
    ("unix-abstract:", "unix-abstract:", "missing path after unix-abstract:"),
    ("ipv4:a:1", "ipv4:a:1", "not an IPv4 address"), ("ipv6:a", "ipv6:a", "not an IPv6 address"),
    ("ipv6:[zz]:1", "ipv6:[zz]:1", "not a target"), ("dns:///", "dns:///", "missing host"),
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
    ("http://a", ", or at the end of the URL: http://a/pkg.Service/Method"), ("unix:/a", ""),
  ])
  func hintAtMissingMethodIsForTheTarget(text: String, atEnd: String) {
    let failure = #expect(throws: Failure.self) { try Target.parse(text, method: nil, .byTarget) }
    #expect(
      failure?.message?.hint == "add it after the target\(atEnd); \"rpcurl list\" lists the services")
  }

  @Test(arguments: ["./a.sock", "../a.sock"])
  func rejectsAPath(text: String) {
    let failure = #expect(throws: Failure.self) { try Target.parse(server: text, .byTarget) }
    #expect(failure?.message?.hint == "write unix:\(text) for a Unix socket")
  }

  @Test(arguments: [
    (["p.S", "http://a"], "write rpcurl list http://a p.S"),
    (["p.S", "unix:/a"], "write rpcurl list unix:/a p.S"),
    (["http://a", "p.S"], nil), (["a", "p.S"], nil), (["p.S"], nil),
    (["localhost", "http://a"], nil as String?),
  ])
  func findsTheOtherOrderOfArguments(arguments: [String], hint: String?) {
    var failure: Failure?
    do throws(Failure) { try Target.check(orderOf: arguments, of: .list) } catch { failure = error }
    #expect(failure?.message?.hint == hint)
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
