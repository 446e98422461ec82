import RPCurlProtocols
import Testing

/// The text of errors, and their comparison with codes.
@Suite struct RPCErrorTests {
  @Test(arguments: [
    (RPCError(.notFound, "no item 9", origin: .server), "not_found: no item 9"),
    (RPCError(.deadlineExceeded, "", origin: .client), "deadline_exceeded"),
    (RPCError(.internal, "a\nb\u{1b}[1m", origin: .server), "internal: a\\nb\\u{1B}[1m"),
  ])
  func descriptionIsOneLine(_ error: RPCError, _ text: String) {
    #expect(error.description == text)
  }

  @Test func comparesWithACode() {
    let error = RPCError(.notFound, "no item 9", origin: .server)
    #expect(error == .notFound)
    #expect(error != .unavailable)
    #expect(!(error != .notFound))
    #expect(!(error == .aborted))
  }

  @Test func equalErrorsHaveEqualMembers() {
    let error = RPCError(.notFound, "a", origin: .server)
    #expect(error == RPCError(.notFound, "a", origin: .server))
    #expect(error != RPCError(.notFound, "b", origin: .server))
    #expect(error != RPCError(.notFound, "a", origin: .client))
  }
}
