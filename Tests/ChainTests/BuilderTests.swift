import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlChain

@Suite struct BuilderTests {
  private func registration(
    _ name: String, priority: Int = 0
  ) -> InterceptorRegistration {
    InterceptorRegistration(
      name: name, factory: ClosureFactory { _, _ in Probe(name, .all, Journal()) }, priority: priority)
  }

  private let method = MethodName(service: "test.Echo", method: "Say")

  @Test func ordersByPriorityThenRegistration() throws {
    let builder = ChainBuilder([
      registration("a"), registration("b", priority: -1), registration("c", priority: 5), registration("d"),
      registration("e", priority: 5),
    ])
    #expect(try builder.order().map(\.name) == ["c", "e", "a", "d", "b"])
  }

  @Test(arguments: [
    ("*", true), ("test.Echo/*", true), ("*/Say", true), ("test.Echo/Say", true), ("test.Echo.Say", true),
    ("test.*/*", true), ("test.*/Shout", false), ("tes.*/*", false), ("test.Other/*", false),
    ("*/Shout", false), ("test.Echo/Shout", false), ("test/*", false), ("Echo/Say", true), ("Echo/*", true),
    ("cho/Say", false), ("x.test.Echo/Say", false),
  ])
  func patternsLimitInterceptorsToMethods(_ pattern: String, _ fits: Bool) throws {
    let pattern = try #require(MethodPattern(pattern))
    #expect(pattern.matches(method) == fits)
    #expect(MethodPattern(pattern.description) == pattern)
  }

  @Test(arguments: [
    ("Echo/Say", "Say"), ("test.Echo/Shout", "Shout"), ("*/Say", nil), ("Echo/*", nil), ("test.*/Say", nil),
    ("x.Echo/Say", nil),
  ])
  func patternNamesAMethodOfItsService(_ pattern: String, _ name: String?) throws {
    #expect(try #require(MethodPattern(pattern)).method(of: "test.Echo") == name)
  }

  @Test(arguments: [
    "", "a", "/", "a/", "/b", "*/", "/*", "a b/*", "a/*/c", ".*/*", "*.a/*", "a.*.b/*", "*/a.b",
  ])
  func refusesInvalidPatterns(_ text: String) {
    #expect(MethodPattern(text) == nil)
  }

  @Test func factoryMayDecline() {
    let journal = Journal()
    let call = TestCall(
      .unary, journal,
      [
        TestCall.registration(Probe("A", .all, journal)),
        TestCall.registration("b") { facts, _ in
          #expect(facts.kind == .unary)
          return nil
        },
      ])
    call.run()
    #expect(call.end == ResponseEnd())
    #expect(call.received.count == 1)
    #expect(journal.lines(of: "A").count == 8)
  }

  @Test func failingFactoryFailsTheCallAndFinishesTheInterceptorsMade() {
    struct Broken: Error {}
    let journal = Journal()
    let call = TestCall(
      .unary, journal,
      [
        TestCall.registration(Probe("A", .all, journal)),
        TestCall.registration("b") { _, _ in throw Broken() },
        TestCall.registration("c") { _, _ in
          Issue.record("made behind one that failed")
          return nil
        },
      ])
    call.run()
    #expect(call.end?.error?.origin == .interceptor("b"))
    #expect(call.wireLines.isEmpty)
    #expect(journal.lines(of: "A") == ["start", "end internal", "metrics 0", "finish internal"])
  }

  @Test func contextCancelsTheCallAndLogsWithItsName() throws {
    final class Canceler: StagedInterceptor {
      let stages: Stages = [.requestStart]
      let context: CallContext
      init(_ context: CallContext) { self.context = context }
      func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
        context.log(.info, "canceling")
        context.cancel("no more")
        token.proceed(start)
      }
    }
    let call = TestCall(.unary, Journal(), [TestCall.registration("a") { _, context in Canceler(context) }])
    call.start()
    #expect(call.journal.lines.first == "caller end canceled")
    #expect(call.end?.error?.message == "no more")
    #expect(call.logged == [LogRecord(level: .info, source: "a", text: "canceling")])
  }

  @Test(arguments: [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming])
  func factoryReceivesMethodKindProtocolAndTarget(_ kind: CallKind) {
    var seen: [CallFacts] = []
    let call = TestCall(
      kind, Journal(),
      [
        TestCall.registration("a") { facts, _ in
          seen.append(facts)
          return nil
        }
      ])
    call.start()
    #expect(seen.map(\.method) == [method])
    #expect(seen.map(\.kind) == [kind])
    #expect(seen.map(\.protocolName) == [.grpc])
    #expect(seen.map(\.target) == ["http://server"])
    call.chain.cancel(refused)
  }

  @Test func eachCallHasItsOwnInstance() {
    var made: [Probe] = []
    let registration = TestCall.registration("a") { _, _ in
      made.append(Probe("a", .all, Journal()))
      return made.last
    }
    for _ in 0..<2 { TestCall(.unary, Journal(), [registration]).run() }
    #expect(made.count == 2)
    for probe in made {
      #expect(probe.journal.lines.filter { $0 == "a start" || $0 == "a finish ok" }.count == 2)
    }
  }

  /// A factory with a second interceptor.
  private struct Paired: InterceptorFactory {
    let name: String
    // Used on the thread of the test only.
    nonisolated(unsafe) let journal: Journal

    var innermost: (any InterceptorFactory)? {
      name == "outer" ? Paired(name: "inner", journal: journal) : nil
    }

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
      Probe(name, .requestStart, journal)
    }
  }

  @Test func secondInterceptorIsNextToTheTransport() {
    let journal = Journal()
    let paired = InterceptorRegistration(name: "paired", factory: Paired(name: "outer", journal: journal))
    let call = TestCall(.unary, journal, [paired, TestCall.registration(Probe("B", .requestStart, journal))])
    call.start()
    #expect(journal.lines == ["outer start", "B start", "inner start", "wire start"])
    call.chain.cancel(refused)
  }

  @Test func excludedInterceptorHasNoSecondOne() {
    let journal = Journal()
    let paired = InterceptorRegistration(name: "paired", factory: Paired(name: "outer", journal: journal))
    let call = TestCall(.unary, journal, [paired], excluded: [paired.id])
    call.start()
    #expect(journal.lines == ["wire start"])
    call.chain.cancel(refused)
  }
}
