import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import Testing

@testable import RPCurlInterceptors

@Suite struct AssertTests {
  /// The findings for a call with these messages and this end.
  private func findings(
    _ text: String, _ messages: [String] = ["pong"], headers: Headers = Headers(),
    end: ResponseEnd = ResponseEnd(),
    services: TestServices = TestServices(), taking time: Duration = .zero
  ) throws -> [Finding] {
    let call = TestCall(.bidiStreaming, Journal(), [try services.registration(text)])
    call.start()
    call.send("ping")
    call.close()
    call.chain.receive(.responseStart(ResponseStart(headers: headers)))
    for message in messages { call.receive(message) }
    call.clock.advance(by: time)
    call.chain.receive(.responseEnd(end))
    #expect(call.callerLines.contains("finished"))
    return call.found
  }

  private func failures(
    _ text: String, _ messages: [String] = ["pong"], headers: Headers = Headers(),
    end: ResponseEnd = ResponseEnd(),
    taking time: Duration = .zero
  ) throws -> [String] {
    try findings(text, messages, headers: headers, end: end, taking: time)
      .filter { $0.kind == .failure }.map(\.text)
  }

  private static let notFound = ResponseEnd(
    error: RPCError(.notFound, "no item 9", origin: .server), trailers: Headers([("x-t", "1")]))

  @Test(arguments: ["not_found", "NOT_FOUND", "5"])
  func expectedStatusIsFound(_ code: String) throws {
    let found = try findings("assert,check=status \(code)", [], end: Self.notFound)
    #expect(found.map(\.kind) == [.expectedStatus])
  }

  @Test func okHasNoFinding() throws {
    #expect(try findings("assert,check=status ok,check=count 1,check=latency <= 1s") == [])
  }

  @Test func wrongStatusIsReportedWithItsMessage() throws {
    #expect(
      try failures("assert,check=status ok", [], end: Self.notFound) == [
        "status ok: expected ok, got not_found: no item 9"
      ])
    #expect(
      try failures("assert,check=status not_found")
        == ["status not_found: expected not_found, got ok"])
  }

  @Test func allFailuresAreReported() throws {
    let found = try failures(
      "assert,check=status ok,check=error =~ ^yes,check=header a == 1,check=trailer x-t =~ ^2,"
        + "check=trailer x-t absent,check=.value == x,check=count >= 2,check=latency < 1s,name=the check",
      ["pong"], end: Self.notFound, taking: .seconds(2))
    #expect(
      found == [
        "the check: status ok: expected ok, got not_found: no item 9",
        "the check: error =~ ^yes: expected =~ ^yes, got \"no item 9\"",
        "the check: header a == 1: expected == 1, got no a",
        "the check: trailer x-t =~ ^2: expected =~ ^2, got \"1\"",
        "the check: trailer x-t absent: expected absent, got \"1\"",
        "the check: .value == x: expected \"x\", got \"pong\"",
        "the check: count >= 2: expected >= 2, got 1",
        "the check: latency < 1s: expected < 1s, got 2000.000ms",
      ])
  }

  @Test(arguments: [
    ("header a", true), ("header A == 1", true), ("header a==2", true), ("header a == 3", false),
    ("header b absent", true), ("header b", false), ("header a =~ ^[12]$", true), ("header a =~ x", false),
    ("header a absent", false),
  ])
  func checksHeaderConditions(_ condition: String, _ holds: Bool) throws {
    let headers = Headers([("a", "1"), ("a", "2")])
    #expect(try failures("assert,check=\(condition)", headers: headers).isEmpty == holds)
  }

  @Test func redactsSecretHeaders() throws {
    let found = try failures("assert,check=header set-cookie == x", headers: Headers([("set-cookie", "top")]))
    #expect(found == ["header set-cookie == [redacted]: expected == [redacted], got \"[redacted]\""])
  }

  @Test(
    arguments: [
      ("every .value =~ ^n", ["n1", "n2"], nil),
      ("every .value =~ ^n", ["n1", "x", "y"], #"=~ ^n, got "x" in message 1, and others in 1 more"#),
      (".value == a", [], "== a, got no message"), ("first .value == n1", ["n1", "x"], nil),
      ("first .value == x", ["n1", "x"], #""x", got "n1" in message 0"#), (".value == x", ["n1", "x"], nil),
      ("last .value == n1", ["n1", "x"], #""n1", got "x" in message 1"#),
      ("any .value == x", ["n1", "x", "n2"], nil),
      ("any .value == z", ["n1", "x"], #""z", got "n1" in message 0, and no match in 1 more"#),
      ("message 1 .value == x", ["n1", "x"], nil),
      ("message 0 .value == x", ["n1", "x"], #""x", got "n1" in message 0"#),
      ("message 2 .value == x", ["n1"], "== x, got 1 messages, numbered from 0"),
      (#"list .value == ["n1","x"]"#, ["n1", "x"], nil), ("count 2", ["n1", "x"], nil),
      ("count < 2", ["n1", "x"], "< 2, got 2"),
    ] as [(String, [String], String?)])
  func selectsMessagesOfStreams(_ check: String, _ messages: [String], _ failure: String?) throws {
    #expect(
      try failures("assert,check='\(check)'", messages)
        == (failure.map { ["\(check): expected \($0)"] } ?? []))
  }

  @Test(arguments: [
    ("assert,check=status fine", "assert: check: fine is not a status code"),
    ("assert,check=value", "assert: check: unknown condition \"value\""),
    ("assert,check=.value = 1", "assert: check: unknown condition \"=\""),
    ("assert,check=.value == ${x}", "assert: check: ${…} has no value here"),
    ("assert,check=error =~ (", "assert: check: \"(\" is not a valid regular expression"),
    ("assert,check=latency < 10", "assert: check: 10 has no unit"),
    ("assert,check=.value golden none", "assert: check: none: no such file or directory"),
    ("assert,junit=/no/such/file", "assert: junit: /no/such/file: no such file or directory"),
    ("assert,name=1,name=2", "assert: name: is set twice"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try TestServices().registration(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("code=ok", "write check='status ok'"), ("message=^no", "write check='error =~ ^no'"),
    ("trailer=a=~1", "write check='trailer NAME == VALUE'"),
    (
      "header=a:1",
      "write check='header NAME == VALUE'; chain-header=NAME selects calls by a header of the request"
    ),
    ("field=a.b == 1", "write check='every .a.b == 1'"),
    ("first-field=a missing", "write check='first .a absent'"),
    ("last-field=a length >= 2", "write check='.a size >= 2'"),
    ("nth-field=2:a == 1", "write check='message 2 .a == 1'"), ("messages=>= 2", "write check='count >= 2'"),
    ("latency=<10s", "write check='latency < 10s'"),
  ])
  func earlierKeysShowTheirNewForm(_ setting: String, _ hint: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try TestServices().registration("assert,\(setting)")
    }
    #expect(error?.reason == "unknown key")
    #expect(error?.hint == hint)
  }

  @Test func comparesWithGoldenFile() throws {
    let services = TestServices()
    services.files["pong.json"] = #""pong""#
    let text = "assert,check=. golden pong.json"
    #expect(try findings(text, services: services) == [])
    #expect(try findings(text, ["other"], services: services).count == 1)
  }

  @Test(arguments: ["assert,junit=r.xml,colour=red", "assert,check=status fine,junit=r.xml"])
  func reportsInvalidConfiguration(_ text: String) throws {
    let services = TestServices()
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    let report = try #require(services.files["r.xml"])
    #expect(report.contains("tests=\"1\" failures=\"0\" errors=\"1\""))
    let text = XMLText.escape(error?.description ?? "?")
    #expect(report.contains("<error type=\"call\" message=\"\(text)\">\(text)</error>"))
  }

  @Test func reportsStatusThatIsNotExpected() throws {
    let services = TestServices()
    let call = TestCall(
      .bidiStreaming, Journal(), [try services.registration("assert,check=latency < 1s,junit=r.xml")])
    call.start()
    call.receiveHeaders()
    call.chain.receive(.responseEnd(Self.notFound))
    let report = try #require(services.files["r.xml"])
    #expect(report.contains("tests=\"1\" failures=\"0\" errors=\"1\""))
    #expect(report.contains("<error type=\"call\" message=\"not_found (5)"))
  }

  @Test func reportGrowsWithEveryCall() throws {
    let services = TestServices()
    let registration = try services.registration("assert,check=status ok,check=count 1,junit=report.xml")
    // A run that ends before its first call has an error in its report.
    #expect(services.files["report.xml"]?.contains("tests=\"1\" failures=\"0\" errors=\"1\"") == true)
    for end in [ResponseEnd(), Self.notFound] {
      let call = TestCall(.bidiStreaming, Journal(), [registration])
      call.start()
      call.receiveHeaders()
      call.clock.advance(by: .milliseconds(1500))
      call.chain.receive(.responseEnd(end))
    }
    let report = try #require(services.files["report.xml"])
    #expect(report.contains("tests=\"2\" failures=\"2\" errors=\"0\" skipped=\"0\" time=\"3.000\""))
    #expect(report.contains("<testcase name=\"test.Echo/Say\" classname=\"test.Echo\" time=\"1.500\">"))
    #expect(report.contains("<testcase name=\"test.Echo/Say #2\" classname=\"test.Echo\" time=\"1.500\">"))
    #expect(report.contains("message=\"count 1: expected 1, got 0\""))
    #expect(report.contains("message=\"2 assertions failed\""))
    #expect(report.contains("timestamp=\"2023-11-14T22:13:20\""))
  }
}
