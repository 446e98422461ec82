import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// The innermost interceptor of a server without a target. It fails the calls to which no other interceptor responds, or responds
/// with plausible messages (`--default`).
struct UnansweredCalls: InterceptorFactory {
  /// The number of messages of a stream.
  private static let streamCount = 3

  /// Nil to fail the calls.
  private let messages: Locked<PlausibleMessages>?

  init(_ messages: PlausibleMessages?) { self.messages = messages.map { Locked($0) } }

  var registration: InterceptorRegistration {
    InterceptorRegistration(name: "serve", factory: self, priority: Int.min)
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    UnansweredCall(call) { try response(to: call) }
  }

  /// The response to a call.
  ///
  /// - Throws: ``RPCError`` without messages, or an error of the schema.
  private func response(to call: CallFacts) throws -> LocalResponse {
    guard let messages, let type = call.responseType, !call.isOpaque else {
      throw RPCError(
        .unimplemented,
        "nothing responds to \(call.method): add a stub with --use mock,file=FILE, or --default",
        origin: .interceptor("serve"))
    }
    let count = call.kind.serverStreams ? Self.streamCount : 1
    return try messages.withLock { messages in
      LocalResponse(messages: try (0..<count).map { _ in .typed(try messages.make(type)) })
    }
  }
}

/// One call: it responds when the request is complete, or fails at once.
private final class UnansweredCall: StagedInterceptor {
  let stages: Stages = [.requestStart, .requestEnd]
  private let response: Result<LocalResponse, any Error>
  private var start: HeldToken<RequestStart, Outbound>?

  init(_ call: CallFacts, _ response: () throws -> LocalResponse) {
    self.response = Result { try response() }
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    if case .failure(let error as RPCError) = response { return token.fail(error) }
    self.start = HeldToken(token)
  }

  func requestEnd(_ token: consuming RequestToken<Void>) throws { token.respond(try response.get()) }
}
