import Interception
import InterceptionSupport
import Protobuf
import RPCProtocols
import SuiteReports
import Testing

@testable import Interceptors

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
    let found = try findings("assert,code=\(code)", [], end: Self.notFound)
    #expect(found.map(\.kind) == [.expectedStatus])
  }

  @Test func okHasNoFinding() throws {
    #expect(try findings("assert,code=ok,messages=1,latency=1s") == [])
  }

  @Test func wrongStatusIsReportedWithItsMessage() throws {
    #expect(
      try failures("assert,code=ok", [], end: Self.notFound) == [
        "code: expected ok, found not_found: no item 9"
      ])
    #expect(try failures("assert,code=not_found") == ["code: expected not_found, found ok"])
  }

  @Test func allFailuresAreReported() throws {
    let found = try failures(
      "assert,code=ok,message=^yes,header=a:1,trailer=x-t=~^2,trailer=!x-t,field=value == x,messages=>= 2,latency=<1s,"
        + "name=the check", ["pong"], end: Self.notFound, taking: .seconds(2))
    #expect(
      found == [
        "the check: code: expected ok, found not_found: no item 9",
        "the check: message: expected \"^yes\" to match, found \"no item 9\"",
        "the check: header: expected a:1, found no a",
        "the check: trailer: expected x-t=~^2, found \"1\"",
        "the check: trailer: expected !x-t, found \"1\"",
        "the check: messages: expected >= 2, found 1",
        "the check: field: expected value == x, found \"pong\"",
        "the check: latency: expected at most 1000.000 ms, found 2000.000 ms",
      ])
  }

  @Test(arguments: [
    ("header=a", true), ("header=A:1", true), ("header=a: 2", true), ("header=a:3", false),
    ("header=!b", true),
    ("header=b", false), ("header=a=~^[12]$", true), ("header=a=~x", false), ("header=!a", false),
  ])
  func checksHeaderConditions(_ condition: String, _ holds: Bool) throws {
    let headers = Headers([("a", "1"), ("a", "2")])
    #expect(try failures("assert,\(condition)", headers: headers).isEmpty == holds)
  }

  @Test func redactsSecretHeaders() throws {
    let found = try failures("assert,header=set-cookie:x", headers: Headers([("set-cookie", "top")]))
    #expect(found == ["header: expected set-cookie:x, found \"[redacted]\""])
  }

  @Test(
    arguments: [
      ("field=value =~ ^n", ["n1", "n2"], nil),
      (
        "field=value =~ ^n", ["n1", "x", "y"],
        "field: expected value =~ ^n, found \"x\" in message 1 (and others in 1 more)"
      ),
      ("field=value == a", [], "field: expected value == a, found no message"),
      ("first-field=value == n1", ["n1", "x"], nil),
      ("first-field=value == x", ["n1", "x"], "first-field: expected value == x, found \"n1\" in message 0"),
      ("last-field=value == x", ["n1", "x"], nil),
      ("last-field=value == n1", ["n1", "x"], "last-field: expected value == n1, found \"x\" in message 1"),
      ("any-field=value == x", ["n1", "x", "n2"], nil),
      (
        "any-field=value == z", ["n1", "x"],
        "any-field: expected value == z, found \"n1\" in message 0 and no match in 1 more"
      ),
      ("nth-field=1:value == x", ["n1", "x"], nil),
      ("nth-field=0:value == x", ["n1", "x"], "nth-field: expected value == x, found \"n1\" in message 0"),
      (
        "nth-field=2:value == x", ["n1"],
        "nth-field: expected value == x, found 1 messages, none with number 2"
      ),
      ("messages=2", ["n1", "x"], nil),
      ("messages=< 2", ["n1", "x"], "messages: expected < 2, found 2"),
    ] as [(String, [String], String?)])
  func selectsMessagesOfStreams(_ setting: String, _ messages: [String], _ failure: String?) throws {
    #expect(try failures("assert,\(setting)", messages) == (failure.map { [$0] } ?? []))
  }

  @Test(arguments: [
    (
      "assert,code=fine",
      "assert: code: \"fine\" is not a status code: a number from 0 to 16, or a name such as not_found"
    ),
    ("assert,field=value", "assert: field: must be of the form PATH OP VALUE"),
    ("assert,field=value = 1", "assert: field: must be of the form PATH OP VALUE"),
    ("assert,any-field=[x] == 1", "assert: any-field: "),
    (
      "assert,nth-field=value == 1",
      "assert: nth-field: must be of the form N:PATH OP VALUE, with N counted from 0"
    ),
    ("assert,header=", "assert: header: must be NAME, !NAME, NAME:VALUE or NAME=~REGEX"),
    ("assert,trailer=!a:b", "assert: trailer: must be NAME, !NAME, NAME:VALUE or NAME=~REGEX"),
    ("assert,message=(", "assert: message: \"(\" is not a valid regular expression"),
    ("assert,messages=some", "assert: messages: must be a number such as 3, or a bound such as >= 2"),
    ("assert,latency=soon", "assert: latency: must be a duration such as 250ms, or a bound such as <1.5s"),
    ("assert,junit=/no/such/file", "assert: junit: /no/such/file: no such file or directory"),
    ("assert,code=1,code=2", "assert: code: is set twice"),
  ])
  func invalidConfigurationNamesKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try TestServices().registration(text) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: ["assert,junit=r.xml,colour=red", "assert,code=fine,junit=r.xml"])
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
      .bidiStreaming, Journal(), [try services.registration("assert,latency=<1s,junit=r.xml")])
    call.start()
    call.receiveHeaders()
    call.chain.receive(.responseEnd(Self.notFound))
    let report = try #require(services.files["r.xml"])
    #expect(report.contains("tests=\"1\" failures=\"0\" errors=\"1\""))
    #expect(report.contains("<error type=\"call\" message=\"not_found (5)"))
  }

  @Test func reportGrowsWithEveryCall() throws {
    let services = TestServices()
    let registration = try services.registration("assert,code=ok,messages=1,junit=report.xml")
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
    #expect(report.contains("message=\"messages: expected 1, found 0\""))
    #expect(report.contains("message=\"2 assertions failed\""))
    #expect(report.contains("timestamp=\"2023-11-14T22:13:20\""))
  }
}
