import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

// The examples of the documentation of `StagedInterceptor`. Tests/Project/test_chain.py compares the texts.

final class Stamp: StagedInterceptor {
  let stages = Stages.requestStart

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    start.headers.set("x-stamp", "1")
    token.proceed(start)
  }
}

final class Slow: StagedInterceptor {
  let stages = Stages.responseMessage
  let messages = MessageAccesses(.none)
  private let context: CallContext

  init(_ context: CallContext) { self.context = context }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    let held = HeldToken(token)
    context.after(.seconds(1)) { held.use { $0.proceed(message) } }
  }
}

@Suite struct ExampleTests {
  @Test func stampSetsAHeader() {
    let stamp = InterceptorRegistration(name: "stamp", factory: ClosureFactory { _, _ in Stamp() })
    let call = TestCall(.unary, Journal(), [stamp])
    call.run()
    #expect(call.sentStart?.headers.first("x-stamp") == "1")
  }

  @Test func slowDelaysEachResponseMessageByASecond() {
    let slow = InterceptorRegistration(name: "slow", factory: ClosureFactory { _, context in Slow(context) })
    let call = TestCall(.unary, Journal(), [slow])
    call.run()
    #expect(call.callerLines == ["headers"])
    call.clock.advance(by: .seconds(1))
    #expect(call.callerLines.prefix(3) == ["headers", "pong", "end ok"])
  }
}
