import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that fail calls to a server that fails too often.
struct BreakerFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "breaker", summary: "fail calls at once to a server that fails too often (circuit breaker)",
    keys: [
      BuiltIns.Key("failures=N", "how many failures within the window open it", default: "5"),
      BuiltIns.Key(
        "ratio=FRACTION", "which fraction of the calls within the window must also fail", default: "0"),
      BuiltIns.Key("window=DURATION", "how long a call counts", default: "10s"),
      BuiltIns.Key("open=DURATION", "how long it stays open before a probe", default: "5s"),
      BuiltIns.Key("probes=N", "how many probes must succeed to close it", default: "1"),
      BuiltIns.Key(
        "codes=CODE+CODE", "statuses that are failures", default: "unavailable+deadline_exceeded"),
    ],
    isHarmless: true,
    make: { settings, _ throws(ConfigurationError) in try BreakerFactory(settings) })

  private let breaker: CircuitBreaker
  private let codes: Set<StatusCode>

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    let window = try settings.duration("window") ?? .seconds(10)
    guard window >= .milliseconds(1) else { throw settings.error("window", "must be at least 1ms") }
    breaker = CircuitBreaker(
      CircuitBreaker.Policy(
        failures: try settings.integer("failures", in: 1...1_000_000) ?? 5,
        ratio: try settings.number("ratio", in: 0...1) ?? 0,
        window: window,
        openTime: try settings.positiveDuration("open") ?? .seconds(5),
        probes: try settings.integer("probes", in: 1...1000) ?? 1))
    codes = try settings.codes() ?? [.unavailable, .deadlineExceeded]
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: [.requestStart, .responseStart, .responseEnd]).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    Breaker(breaker, codes, call, context)
  }
}
