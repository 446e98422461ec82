import RPCProtocols
import Testing

@testable import Interception

@Suite struct BuilderTests {
  private func registration(
    _ name: String, priority: Int = 0, methods: MethodPattern = .all
  ) -> InterceptorRegistration {
    InterceptorRegistration(
      name: name, factory: ClosureFactory { _, _ in Probe(name, .all, Journal()) }, priority: priority,
      methods: methods)
  }

  private let method = MethodName(service: "test.Echo", method: "Say")

  @Test func ordersByPriorityThenRegistration() {
    let builder = ChainBuilder([
      registration("a"), registration("b", priority: -1), registration("c", priority: 5), registration("d"),
      registration("e", priority: 5),
    ])
    #expect(builder.order(for: method).map(\.name) == ["c", "e", "a", "d", "b"])
  }

  @Test(arguments: [
    ("*", true), ("test.Echo/*", true), ("*/Say", true), ("test.Echo/Say", true), ("test.Echo.Say", true),
    ("test.Other/*", false), ("*/Shout", false), ("test.Echo/Shout", false), ("test/*", false),
  ])
  func patternsScopeInterceptors(_ pattern: String, _ fits: Bool) throws {
    let pattern = try #require(MethodPattern(pattern))
    let builder = ChainBuilder([registration("a", methods: pattern)])
    #expect(builder.order(for: method).isEmpty == !fits)
    #expect(MethodPattern(pattern.description) == pattern)
  }

  @Test(arguments: ["", "a", "/", "a/", "/b", "*/", "/*", "a b/*", "a/*/c"])
  func refusesWhatIsNoPattern(_ text: String) {
    #expect(MethodPattern(text) == nil)
  }

  @Test func aFactoryMayDecline() throws {
    let builder = ChainBuilder([
      registration("a"),
      InterceptorRegistration(
        name: "b",
        factory: ClosureFactory { facts, _ in
          #expect(facts.kind == .unary); return nil
        }),
    ])
    let chain = try builder.makeChain(
      for: TestCall.facts(.unary), codec: TestMessages.codec, wake: {})
    #expect(chain.names == ["a"])
  }

  @Test func aFailingFactoryFailsTheCallAndFinishesThoseMade() {
    final class Finisher: Interceptor {
      let stages: Stages = []
      let note: @Sendable () -> Void
      init(_ note: @escaping @Sendable () -> Void) { self.note = note }
      func finish(_ outcome: Outcome) { note() }
    }
    struct Broken: Error {}
    let wakes = TestCall.Wakes()
    let builder = ChainBuilder([
      InterceptorRegistration(
        name: "a",
        factory: ClosureFactory { _, _ in Finisher { wakes.count.add(1, ordering: .relaxed) } }),
      InterceptorRegistration(name: "b", factory: ClosureFactory { _, _ in throw Broken() }),
    ])
    let error = #expect(throws: RPCError.self) {
      try builder.makeChain(for: TestCall.facts(.unary), codec: TestMessages.codec, wake: {})
    }
    #expect(error?.origin == .interceptor("b"))
    #expect(wakes.count.load(ordering: .relaxed) == 1)
  }

  @Test func aContextCancelsTheCallAndLogsInItsName() throws {
    final class Canceler: Interceptor {
      let stages: Stages = [.requestStart]
      let context: CallContext
      init(_ context: CallContext) { self.context = context }
      func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
        context.log(.info, "canceling")
        context.cancel("no more")
        token.proceed(start)
      }
    }
    let builder = ChainBuilder([
      InterceptorRegistration(name: "a", factory: ClosureFactory { _, context in Canceler(context) })
    ])
    let chain = try builder.makeChain(
      for: TestCall.facts(.unary), codec: TestMessages.codec,
      log: { #expect($0 == LogRecord(level: .info, source: "a", text: "canceling")) }, wake: {})
    let call = TestCall(chain)
    call.start()
    #expect(call.journal.lines.prefix(3) == ["wire start", "wire cancel", "caller end canceled"])
    #expect(call.end?.error?.message == "no more")
  }
}
