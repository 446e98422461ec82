import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtocols
import Testing

@testable import RPCurlChain

@Suite struct CallScopeTests {
  private let sources = ValueSources(
    file: { _ throws(LanguageError) in throw LanguageError("no such file") },
    environment: { _ in nil },
    command: { _ throws(LanguageError) in throw LanguageError("no commands") })

  /// The scope of `x,SETTINGS`, for an interceptor with these keys of its own.
  private func scope(_ settings: String, ownKeys: Set<String> = []) throws(ConfigurationError) -> CallScope {
    var spec = try InterceptorSpec(parsing: "x,\(settings)", sources: sources)
    try spec.takeCommonSettings(ownKeys: ownKeys)
    return spec.common.scope
  }

  private func mismatch(
    _ settings: String, _ method: String = "demo.v1.Demo/Hello", _ kind: CallKind? = .unary,
    target: String = "https://api.example.com/prefix", headers: [(String, String)] = []
  ) throws -> CallScope.Condition? {
    try scope(settings).mismatch(
      method: try #require(MethodName(method)), kind: kind, target: target, headers: Headers(headers))
  }

  @Test(arguments: [
    ("demo.v1.*/*+!grpc.health.v1.Health/*", "demo.v1.Demo/Hello", true),
    ("demo.v1.*/*+!grpc.health.v1.Health/*", "grpc.health.v1.Health/Check", false),
    ("demo.v1.*/*", "demo.v1.inner.Other/Hello", true),
    ("demo.v1.*/*", "demo.v10.Demo/Hello", false),
    ("demo.v1.*/Hello", "demo.v1.Demo/Chat", false),
    ("!grpc.health.v1.Health/*", "demo.v1.Demo/Hello", true),
    ("!grpc.health.v1.Health/*", "grpc.health.v1.Health/Watch", false),
    ("demo.v1.Demo/*+!*/Hello", "demo.v1.Demo/Hello", false),
    ("demo.v1.Demo/*+!*/Hello", "demo.v1.Demo/Chat", true),
    ("a.A/B+demo.v1.Demo/Hello", "demo.v1.Demo/Hello", true),
    ("*+!*/Chat", "demo.v1.Demo/Chat", false),
  ])
  func listsOfMethodsSelectAndExclude(_ list: String, _ method: String, _ isSelected: Bool) throws {
    #expect(try mismatch("methods=\(list)", method) == (isSelected ? nil : .methods))
  }

  @Test func kindsAreNamedAsInOutput() throws {
    #expect(try mismatch("kinds=unary+server_streaming", "a.A/B", .serverStreaming) == nil)
    #expect(try mismatch("kinds=unary+server_streaming", "a.A/B", .bidiStreaming) == .kinds)
    #expect(try mismatch("kinds=!bidi_streaming", "a.A/B", .bidiStreaming) == .kinds)
    #expect(try mismatch("kinds=!bidi_streaming", "a.A/B", .unary) == nil)
    // A kind that is not known satisfies the condition.
    #expect(try mismatch("kinds=unary", "a.A/B", nil) == nil)
  }

  @Test(arguments: [
    ("api.example.com", true), ("example.com", false), ("*.example.com", true), ("API.example.com:443", true),
    ("api.example.com:8443", false), ("localhost+*.example.com", true),
    ("*.example.com+!api.example.com", false),
  ])
  func hostsSelectServers(_ list: String, _ isSelected: Bool) throws {
    #expect(try mismatch("hosts=\(list)") == (isSelected ? nil : .hosts))
  }

  @Test(arguments: [
    ("header=x-debug", true), ("header=X-Debug == 1", true), ("header=x-debug==2", true),
    ("header=x-debug == 3", false), ("header=x-debug =~ ^[12]$", true), ("header=x-debug > 1", true),
    ("header=x-other", false), ("header=x-other absent", true), ("header=x-debug != 1", false),
    ("header=x-debug != 3", true), ("header=x-debug != $${x}", true),
    ("header=x-debug == 1,header=x-trace", true), ("header=x-debug == 1,header=x-other", false),
  ])
  func headersMustMeetConditions(_ settings: String, _ holds: Bool) throws {
    let headers = [("x-debug", "1"), ("x-debug", "2"), ("x-trace", "")]
    #expect(try mismatch(settings, headers: headers) == (holds ? nil : .header))
  }

  @Test func keysOfTheInterceptorAreItsOwn() throws {
    var spec = try InterceptorSpec(
      parsing: "x,header=a:b,hosts=h,chain-header=c,seed=3,percent=50", sources: sources)
    try spec.takeCommonSettings(ownKeys: ["header", "seed"])
    // The seed is the chain's as well.
    #expect(spec.settings.map(\.key) == ["header", "seed"])
    #expect(spec.common.scope.headers.map(\.description) == ["c exists"])
    #expect(spec.common.scope.hosts.wanted.map(\.description) == ["h"])
    #expect(spec.common.scope.seed == 3)
  }

  @Test(arguments: [
    ("methods=?", "methods: ?: none of"), ("methods=", "methods: none of"),
    ("kinds=stream", "kinds: stream: must be of unary"),
    ("hosts=a/b", "hosts: a/b: must be HOST"), ("header=a b", "header: unknown condition"),
    ("header=x-a:1", "header: x-a is followed by :"), ("header=!x-a", "header: missing name"),
    ("attribute=tenant:1", "attribute: tenant is followed by :"),
    ("percent=101", "percent: must be"),
    ("percent=x", "percent: must be"), ("percent=1,seed=-1", "seed: must be"),
    ("chain-seed=1", "chain-seed: requires percent"),
    ("before=+", "before: must be the name"), ("kinds=unary,kinds=unary", "kinds: is set twice"),
  ])
  func errorNamesTheInvalidSetting(_ settings: String, _ part: String) {
    let error = #expect(throws: ConfigurationError.self) { try scope(settings) }
    #expect(error?.description.hasPrefix("x: \(part)") == true, "\(error?.description ?? "")")
  }

  // MARK: Calls

  private func registration(_ settings: String, _ made: Counter) throws -> InterceptorRegistration {
    let scope = try scope(settings)
    return InterceptorRegistration(
      name: "x",
      factory: ClosureFactory { _, _ in
        made.count += 1
        return Probe("x", .all, Journal())
      }, scope: scope)
  }

  private final class Counter: @unchecked Sendable {
    var count = 0
  }

  @Test func shareIsRepeatableWithASeed() throws {
    func selected() throws -> [Bool] {
      let made = Counter()
      let registration = try registration("percent=25,seed=7", made)
      return (0..<400).map { _ in
        let before = made.count
        TestCall(.unary, Journal(), [registration]).run()
        return made.count > before
      }
    }
    let first = try selected()
    #expect(try selected() == first)
    #expect((60...140).contains(first.count { $0 }))
  }

  @Test(arguments: [("percent=0", 0), ("percent=100", 50)])
  func shareOfNoneAndAll(_ settings: String, _ count: Int) throws {
    let made = Counter()
    let registration = try registration(settings, made)
    for _ in 0..<50 { TestCall(.unary, Journal(), [registration]).run() }
    #expect(made.count == count)
  }

  @Test func shareIsSelectedOnceForAllAttempts() throws {
    final class Again: StagedInterceptor {
      let stages: Stages = [.responseStart, .responseEnd]
      let requirements = InterceptorRequirements(replayLimitBytes: 1000)
      private var count = 0
      func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
        count += 1
        if count < 20 { token.retry() } else { token.proceed(end) }
      }
    }
    for seed in 0..<8 {
      let made = Counter()
      let call = TestCall(
        .unary, Journal(),
        [
          TestCall.registration("again") { _, _ in Again() },
          try registration("percent=50,seed=\(seed)", made),
        ])
      call.start()
      call.send("ping")
      call.close()
      while call.end == nil {
        let starts = call.wireStarts
        call.receiveEnd(RPCError(.unavailable, "busy", origin: .server))
        if call.wireStarts == starts { call.clock.advance(by: .seconds(1)) }
      }
      #expect(made.count == 0 || made.count == call.wireStarts)
    }
  }

  @Test func conditionsApplyToTheCallAsItsCallerMakesIt() throws {
    let made = Counter()
    let journal = Journal()
    let setter = Probe("setter", [.requestStart], journal)
    setter.onRequestStart = { start, token in
      var start = start
      start.headers.set("x-debug", "1")
      token.proceed(start)
    }
    let call = TestCall(
      .unary, journal, [TestCall.registration(setter), try registration("header=x-debug", made)])
    call.run()
    #expect(call.sentStart?.headers.first("x-debug") == "1")
    #expect(made.count == 0)
  }
}
