import Interception
import RPCProtocols
import Testing

@testable import Interceptors

@Suite struct HeaderTests {
  private final class Ends: ChainCaller, ChainWire {
    var start: RequestStart?
    func start(_ start: RequestStart) { self.start = start }
    func send(_ bytes: [UInt8]) {}
    func closeRequest() {}
    func cancel(_ error: RPCError) {}
    func responseWanted(_ isWanted: Bool) {}
    func responseStarted(_ start: ResponseStart) {}
    func responseReceived(_ message: Payload) {}
    func responseEnded(_ end: ResponseEnd) {}
    func measured(_ metrics: CallMetrics) {}
    func finished(_ outcome: Outcome) {}
    func inputWanted(_ isWanted: Bool) {}
  }

  private let sources = ValueSources(
    file: { _ throws(ValueSources.Failure) in throw ValueSources.Failure("no files") },
    environment: { _ in nil })

  private func registration(_ text: String) throws -> InterceptorRegistration {
    try BuiltIns.registration(InterceptorSpec(parsing: text, sources: sources))
  }

  /// The headers that reach the wire when the caller gives `a: 1`, `b: 2`.
  private func headers(_ text: String) throws -> Headers? {
    let method = MethodName(service: "test.Echo", method: "Say")
    let chain = try ChainBuilder([registration(text)]).makeChain(
      for: CallFacts(method: method, kind: .unary, protocolName: .grpc, target: "http://server"),
      codec: MessageCodec(
        serialize: { $0.serialized() }, parseRequest: { _ in throw ValueSources.Failure("") },
        parseResponse: { _ in throw ValueSources.Failure("") }),
      wake: {})
    let ends = Ends()
    let start = RequestStart(
      method: method, target: "http://server", headers: Headers([("a", "1"), ("b", "2")]))
    chain.start(start, caller: ends, wire: ends)
    chain.cancel(RPCError(.canceled, "", origin: .client))
    return ends.start?.headers
  }

  @Test(arguments: [
    ("header,set=a:3", [("a", "3"), ("b", "2")]),
    ("header,set=A: 3", [("a", "3"), ("b", "2")]),
    ("header,add=a:3", [("a", "1"), ("b", "2"), ("a", "3")]),
    ("header,remove=b", [("a", "1")]),
    ("header,remove=b,add=b:x:y,,z", [("a", "1"), ("b", "x:y,z")]),
    ("header,set=c:", [("a", "1"), ("b", "2"), ("c", "")]),
    ("header", [("a", "1"), ("b", "2")]),
    ("header,set=a:3,methods=other.Service/*", [("a", "1"), ("b", "2")]),
  ])
  func changesHeadersInTheOrderWritten(_ text: String, _ expected: [(String, String)]) throws {
    #expect(try headers(text) == Headers(expected))
  }

  @Test(arguments: [
    ("header,set=novalue", "header: set: the value is not of the form NAME:VALUE"),
    ("header,set=a b:1", "header: set: what stands before the colon is not a header's name"),
    ("header,add=a:1\n", "header: add: the value of a has control characters"),
    ("header,remove=", "header: remove: the value is not a header's name"),
    (
      "header,colour=red",
      "header: colour: unknown key; the keys are set=NAME:VALUE, add=NAME:VALUE, remove=NAME"
    ),
    ("nonsense", "nonsense: there is no built-in interceptor of this name"),
  ])
  func badConfigurationNamesTheKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try registration(text) }
    #expect(error?.description == message)
  }

  @Test func allAreDescribed() {
    #expect(BuiltIns.all.map(\.name) == ["header"])
    #expect(BuiltIns.all.allSatisfy { !$0.summary.isEmpty && !$0.keys.isEmpty })
  }
}
