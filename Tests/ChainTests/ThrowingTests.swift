import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@Suite struct ThrowingTests {
  private struct Broken: Error {}

  /// Throws at every stage that it is called at.
  private final class Thrower: StagedInterceptor {
    let stages: Stages
    init(_ stages: Stages) { self.stages = stages }

    func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
      throw Broken()
    }
    func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
      token.proceed(start)
      throw refused
    }
    func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
      throw Broken()
    }
  }

  @Test(arguments: [Stages.requestStart, .responseStart, .responseEnd])
  func errorThrownByTheFunctionFailsTheCall(_ stage: Stages) {
    let call = TestCall(.unary, Journal(), [TestCall.registration("A") { _, _ in Thrower(stage) }])
    call.run()
    #expect(call.end?.error == (stage == .responseStart ? refused : thrown))
    #expect(call.outcome != nil)
  }

  private let thrown = RPCError(.internal, "Broken()", origin: .interceptor("A"))
}
