import Interception
import InterceptionSupport
import RPCProtocols
import Testing

@testable import Interceptors

@Suite struct HeaderTests {
  private func registration(_ text: String) throws -> InterceptorRegistration {
    try TestServices().registration(text)
  }

  /// The headers that reach the wire when the caller gives `a: 1`, `b: 2`.
  private func headers(_ text: String) throws -> Headers? {
    let call = TestCall(.unary, Journal(), [try registration(text)])
    call.request.headers = Headers([("a", "1"), ("b", "2")])
    call.start()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    return call.sentStart?.headers
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
      "header: colour: unknown key"
    ),
    ("nonsense", "nonsense: there is no built-in interceptor of this name"),
  ])
  func badConfigurationNamesTheKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try registration(text) }
    #expect(error?.description == message)
  }

  @Test func allAreDescribed() {
    #expect(BuiltIns.all.map(\.name) == BuiltIns.all.map(\.name).sorted())
    #expect(BuiltIns.all.allSatisfy { !$0.summary.isEmpty && !$0.keys.isEmpty })
  }
}
