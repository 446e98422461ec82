import RPCurlChain
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

@Suite struct CallLineTests {
  private func line(_ error: RPCError?, hint: String? = nil) throws -> String {
    let head = ServerRequestHead(
      path: "/a.B/C", headers: Headers([("content-type", "application/grpc"), ("te", "trailers")]))
    guard case .call(let call) = ServerProtocols.receive(head, nil, ServerOptions()) else {
      throw RPCError(.internal, "no call", origin: .client)
    }
    var line = CallLine(7, call.request)
    (line.requestCount, line.responseCount) = (1, 2)
    line.end(ResponseEnd(error: error), hint: hint)
    return line.text
  }

  @Test func hasMethodStatusAndCounts() throws {
    let words = try line(nil).split(separator: " ")
    #expect(words[...2] == ["7", "a.B/C", "ok"] && words[4...] == ["ms", "grpc", "1", "→", "2\n"])
  }

  @Test func errorHasItsHint() throws {
    let text = try line(RPCError(.unavailable, "lost", origin: .connection), hint: "wait")
    #expect(text.hasSuffix("1 → 2: lost; hint: wait\n"))
  }

  @Test func errorIsSafeForTerminals() throws {
    let text = try line(RPCError(.notFound, "no\u{1B}[31m\nsuch", origin: .server))
    #expect(text.hasSuffix("1 → 2: no\\x1B[31m\\nsuch\n") || !text.contains("\u{1B}"))
    #expect(text.contains("not_found") && text.filter { $0 == "\n" }.count == 1)
  }
}
