import RPCurlProtocols
import Testing

@Suite struct CredentialsTests {
  /// The request to `target` with credentials for https://a.
  private func result(_ target: String, headers: [(String, String)] = [("authorization", "x")]) throws
    -> HTTPRequest
  {
    let name = MethodName(service: "S", method: "M")
    var start = RequestStart(method: name, target: target, headers: Headers(headers))
    start.credentials = Origin(url: "https://a").map { Credentials(for: $0, in: ["Authorization"]) }
    let wire = WireProtocols.make(
      .grpc, CallParameters(kind: .unary, codec: .proto, userAgent: "", maxMessageBytes: 1))
    return try wire.makeRequest(start, timeout: nil)
  }

  @Test(arguments: ["https://a", "https://A:443", "https://a/prefix"])
  func sendsCredentialsToTheirServer(_ target: String) throws {
    #expect(try result(target).headers.first("authorization") == "x")
  }

  @Test(arguments: ["https://b", "http://a", "https://a:444", "https://a.b", "unknown"])
  func rejectsRequestToAnotherServer(_ target: String) {
    let error = #expect(throws: RPCError.self) { try result(target) }
    #expect(error?.code == .failedPrecondition)
    #expect(
      error?.message.hasPrefix("the request contains credentials for a:443, but goes to ") == true)
  }

  @Test func acceptsAnotherServerWithoutTheCredentialHeaders() {
    #expect(throws: Never.self) { try result("https://b", headers: []) }
  }
}
