import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that limit the rate and the number of concurrent calls.
struct LimitFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "limit", summary: "limit the rate of calls and how many run at once",
    keys: [
      BuiltIns.Key("rate=N[/s|/m|/h]", "calls per second, minute or hour"),
      BuiltIns.Key("burst=N", "how many calls may start at once after a pause", default: "1", for: ["rate"]),
      BuiltIns.Key("concurrency=N", "how many calls may run at once"),
      BuiltIns.Key("when-full=wait|fail", "delay calls over the limit, or fail them", default: "wait"),
    ],
    isHarmless: true,
    make: { settings, _ throws(ConfigurationError) in try LimitFactory(settings) })

  /// What happens to a call over the limit.
  private enum WhenFull: String, CaseIterable {
    case wait, fail
  }

  private let limiter: Limiter
  private let whenFull: WhenFull

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    let burst = try settings.integer("burst", in: 1...1_000_000)
    let rate = try Self.rate(settings, burst: burst ?? 1)
    let concurrency = try settings.integer("concurrency", in: 1...1_000_000)
    if rate == nil, burst != nil { throw settings.error("burst", "requires rate") }
    guard rate != nil || concurrency != nil else {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no limit is given",
        hint: "give rate or concurrency, as in limit,rate=10")
    }
    limiter = Limiter(rate: rate, concurrency: concurrency)
    whenFull = try settings.choice("when-full", WhenFull.self) ?? .wait
  }

  private static func rate(
    _ settings: SettingsReader, burst: Int
  ) throws(ConfigurationError) -> Limiter.Rate? {
    guard let text = settings.text("rate") else { return nil }
    let units: [Substring: (String, Double)] = ["s": ("second", 1), "m": ("minute", 60), "h": ("hour", 3600)]
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let number = Double(parts[0]), (0.001...1e6).contains(number), parts.count <= 2,
      let (name, seconds) = units[parts.count == 2 ? parts[1] : "s"]
    else { throw settings.error("rate", "must be a number of calls such as 10, 10/s, 100/m, 1000/h") }
    return Limiter.Rate(
      perSecond: number / seconds, burst: burst,
      text: "\(parts[0]) \(number == 1 ? "call" : "calls") per \(name)")
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: [.requestStart, .responseEnd]).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    Limit(limiter, waits: whenFull == .wait, isSubrequest: call.isSubrequest, context)
  }
}
