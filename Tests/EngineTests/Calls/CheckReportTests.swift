import RPCurlProtocols
import RPCurlTransport
import Testing

@testable import RPCurlEngine

@Suite struct CheckReportTests {
  private let target = Target(baseURL: "https://a.test:1")

  @Test func printsALinePerStepAndTheCommand() {
    var report = CheckReport()
    report.add("name", .passed, "127.0.0.1")
    report.add("TLS", .failed, "expired\u{1b}[31m", hint: "renew it")
    report.add("health", .absent, "none")
    report.command = "rpcurl list a.test:1"
    #expect(
      report.text() == """
        ✓ name          127.0.0.1
        ✗ TLS           expired\\u{1B}[31m
                        hint: renew it
        - health        none

        rpcurl list a.test:1

        """)
  }

  @Test func printsTheLinesThatAreNew() {
    var report = CheckReport()
    report.add("name", .passed, "127.0.0.1")
    report.add("client certificate", .skipped, "not tried")
    #expect(report.text(after: 1) == "- client certificate  not tried\n")
    #expect(report.text(after: 2).isEmpty)
  }

  @Test func writesJSON() {
    var report = CheckReport()
    report.add("TLS", .failed, "a \"b\"", hint: "c")
    #expect(
      report.json
        == #"{"canCall":false,"steps":[{"name":"TLS","outcome":"failed","text":"a \"b\"","hint":"c"}]}"#
        + "\n")
    report.canCall = true
    report.command = "rpcurl"
    #expect(report.json.hasPrefix(#"{"canCall":true,"#))
    #expect(report.json.hasSuffix(#","command":"rpcurl"}"# + "\n"))
  }

  @Test func reportsTheStepsUpToTheConnection() {
    var facts = ConnectionFacts()
    (facts.addresses, facts.peer) = (["127.0.0.1"], "127.0.0.1:1")
    var report = CheckReport()
    report.add(connection: facts, target) { _ in "" }
    #expect(
      report.lines == [.init("name", .passed, "127.0.0.1"), .init("connection", .passed, "127.0.0.1:1")])
    facts.proxy = "http://p:1"
    report = CheckReport()
    report.add(connection: facts, target) { _ in "" }
    #expect(report.lines.map(\.name) == ["proxy", "connection"])
  }

  @Test func reportsTheCertificate() {
    var certificate = ServerCertificate()
    (certificate.names, certificate.issuer, certificate.end) = (["a.test"], "CN=Root", "tomorrow")
    var facts = ConnectionFacts()
    (facts.tlsVersion, facts.negotiated, facts.certificates) = ("TLSv1.3", "h2", [certificate])
    var report = CheckReport()
    report.add(tls: facts, isInsecure: false)
    #expect(report.lines.map(\.text) == ["TLSv1.3, ALPN h2", "for a.test, until tomorrow, by CN=Root"])
    report = CheckReport()
    report.add(tls: facts, isInsecure: true)
    #expect(report.lines.last?.text.hasSuffix(", not verified") == true)
  }

  @Test(arguments: [
    (
      "Jan 1 00:00:00 2020 GMT", "Jan 1 00:00:00 2021 GMT", "until Jan 1 00:00:00 2021 GMT, which is over,",
      true
    ),
    ("Jan 1 00:00:00 2020 GMT", "Jan 1 00:00:00 2031 GMT", "until Jan 1 00:00:00 2031 GMT,", false),
    ("Jan 1 00:00:00 2030 GMT", "Jan 1 00:00:00 2031 GMT", "not valid before Jan 1 00:00:00 2030 GMT", true),
  ])
  func reportsTheValidityOfTheCertificate(start: String, end: String, text: String, isFailed: Bool) {
    var certificate = ServerCertificate()
    (certificate.names, certificate.start, certificate.end) = (["a.test"], start, end)
    var facts = ConnectionFacts()
    (facts.tlsVersion, facts.certificates) = ("TLSv1.3", [certificate])
    var report = CheckReport()
    // 2026-11-29
    report.add(tls: facts, isInsecure: false, at: 1_795_910_400)
    #expect(report.lines.last?.outcome == (isFailed ? .failed : .passed))
    #expect(report.lines.last?.text.contains(text) == true, "\(report.lines)")
  }

  @Test func reportsHealth() {
    func line(_ error: RPCError?, _ status: HealthMethods.Status?) -> CheckReport.Line? {
      var report = CheckReport()
      report.add(health: error, status)
      return report.lines.first
    }
    #expect(line(nil, .serving) == .init("health", .passed, "SERVING"))
    #expect(line(nil, .notServing) == .init("health", .absent, "NOT_SERVING"))
    #expect(line(RPCError(.unimplemented, "", origin: .server), nil)?.text == "the server does not offer it")
    #expect(line(RPCError(.unauthenticated, "no", origin: .server), nil)?.hint?.contains("--bearer") == true)
  }
}
