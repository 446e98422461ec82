import RPCurlCall
import RPCurlProtocols
import Testing

/// Which errors another query would have again.
struct ReflectionErrorTests {
  @Test(arguments: [
    (RPCError.Origin.server, StatusCode.notFound, true), (.server, .unimplemented, true),
    (.server, .permissionDenied, true), (.violation, .unauthenticated, true),
    (.server, .unavailable, false), (.server, .deadlineExceeded, false), (.server, .resourceExhausted, false),
    (.client, .deadlineExceeded, false),
    (.connection, .unavailable, false), (.violation, .unavailable, false),
  ])
  func callsWithResponseAreFinal(origin: RPCError.Origin, code: StatusCode, isFinal: Bool) {
    #expect(ReflectionError.failed(RPCError(code, "", origin: origin)).isFinal == isFinal)
  }

  @Test(arguments: [(StatusCode.unimplemented, true), (.notFound, true), (.unavailable, false)])
  func refusalsAreFinalByTheirCode(code: StatusCode, isFinal: Bool) {
    #expect(ReflectionError.refused(.services, code: code.rawValue, message: "").isFinal == isFinal)
  }

  @Test func errorsOfSchemaAreFinal() {
    #expect(ReflectionError.unknownSymbol("x.A", services: []).isFinal)
    #expect(ReflectionError.notOffered(RPCError(.unimplemented, "", origin: .server)).isFinal)
    #expect(ReflectionError.tooMuch("").isFinal && ReflectionError.invalidResponse("").isFinal)
  }
}
