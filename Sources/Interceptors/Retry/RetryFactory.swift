import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that retry failed calls by gRPC's retry policy (gRFC A6).
struct RetryFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "retry", summary: "retry failed calls with exponential backoff (gRPC retry policy)",
    keys: [
      BuiltIns.Key(
        "attempts=N", "maximum number of attempts; with policy, the limit for the file's value", default: "5"),
      BuiltIns.Key("codes=CODE+CODE", "statuses to retry", default: "unavailable", unless: ["policy"]),
      BuiltIns.Key("initial=DURATION", "wait before the first retry", default: "100ms", unless: ["policy"]),
      BuiltIns.Key("max=DURATION", "maximum wait", default: "5s", unless: ["policy"]),
      BuiltIns.Key("multiplier=NUMBER", "factor between successive waits", default: "2", unless: ["policy"]),
      BuiltIns.Key(
        "jitter=FRACTION", "random variation of each wait, as a fraction; 0.2 is plus or minus 20 %",
        default: "0.2"),
      BuiltIns.Key("throttle=TOKENS:RATIO", "stop retries to a server that fails too often (no limit)"),
      BuiltIns.Key("policy=FILE", "read policies and throttling from a gRPC service config"),
      BuiltIns.Key(
        "only=all|idempotent", "retry only methods that the schema marks as idempotent", default: "all"),
      BuiltIns.Key("hold-headers=DURATION", "hold response headers for a message, at most this long"),
      BuiltIns.Key(
        "until=CONDITION", "repeat successful calls until the response meets a condition, as after expect",
        mayRepeat: true),
      BuiltIns.Key("timeout=DURATION", "time limit of until", default: "30s", for: ["until"]),
      BuiltIns.Key("buffer=BYTES", "maximum size of a request kept for retries", default: "1m"),
      BuiltIns.Key("seed=N", "random seed, for repeatable waits"),
    ],
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try RetryFactory(settings, services) })

  /// gRPC's default limit for one call (`per_rpc_buffer_limit_in_bytes`).
  static let bufferBytes = 1 << 20
  /// The maximum number of attempts in gRPC clients; a service config cannot raise it.
  private static let maxAttempts = 5

  /// The state that the calls of a registration share.
  final class Shared: Sendable {
    let throttle: RetryThrottle?
    let jitter: Double
    let bufferBytes: Int
    /// How long response headers are held for a message; nil is what suits the protocol.
    let headerPatience: Duration?
    /// What ends the repetition of successful calls; nil if they are not repeated.
    let goal: Goal?
    /// The messages of the response are read to check the conditions of `until`, and only counted otherwise.
    var messages: MessageAccesses {
      MessageAccesses(request: .none, response: goal == nil ? .none : .readTyped)
    }
    private let random: Locked<SeededGenerator>

    init(
      _ settings: SettingsReader, throttle: RetryThrottle.Parameters?, goal: Goal?
    ) throws(ConfigurationError) {
      self.throttle = throttle.map { RetryThrottle($0) }
      self.goal = goal
      jitter = try settings.number("jitter", in: 0...1) ?? 0.2
      bufferBytes = try settings.byteCount("buffer") ?? RetryFactory.bufferBytes
      headerPatience = try settings.duration("hold-headers")
      random = Locked(SeededGenerator(seed: try settings.seed()))
    }

    /// A random number from 0 up to 1.
    func fraction() -> Double { random.withLock { $0.fraction() } }
  }

  /// What ends the repetition of successful calls.
  struct Goal: Sendable {
    let conditions: ResponseConditions
    let timeout: Duration
  }

  /// The methods that are retried.
  private enum Only: String, CaseIterable {
    case all, idempotent
  }

  private enum Source {
    case one(RetryPolicy)
    case config(RetryServiceConfig, maxAttempts: Int)
  }

  private let source: Source
  private let shared: Shared
  private let only: Only

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    let attempts = try settings.integer("attempts", in: 1...1000)
    let goal = try Self.goal(settings, services)
    only = try settings.choice("only", Only.self) ?? .all
    var throttle = try settings.throttle()
    if let path = settings.text("policy") {
      let config = try Self.config(path, settings, services)
      throttle = config.throttle
      source = .config(config, maxAttempts: attempts ?? Self.maxAttempts)
    } else {
      source = .one(
        RetryPolicy(
          attempts: attempts ?? (goal == nil ? Self.maxAttempts : nil),
          initialBackoff: try settings.duration("initial") ?? .milliseconds(100),
          maxBackoff: try settings.duration("max") ?? .seconds(5),
          multiplier: try settings.number("multiplier", in: 0.001...1000) ?? 2,
          codes: try settings.codes() ?? [.unavailable]))
    }
    shared = try Shared(settings, throttle: throttle, goal: goal)
  }

  private static func goal(
    _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> Goal? {
    guard !settings.texts("until").isEmpty else {
      if settings.text("timeout") != nil { throw settings.error("timeout", "requires until") }
      return nil
    }
    guard settings.text("hold-headers") == nil else {
      throw settings.error("hold-headers", "cannot be combined with until, which holds the whole response")
    }
    let timeout = try settings.positiveDuration("timeout") ?? .seconds(30)
    let conditions = try ResponseConditions(settings, key: "until", services) { condition in
      condition.isAboutLatency ? "the duration of a response does not change when it is repeated" : nil
    }
    return Goal(conditions: conditions, timeout: timeout)
  }

  private static func config(
    _ path: String, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> RetryServiceConfig {
    for key in ["codes", "initial", "max", "multiplier", "throttle"] where settings.text(key) != nil {
      throw settings.error(key, "is set by the policy file and cannot be combined with it")
    }
    do {
      return try RetryServiceConfig(json: try services.contents(ofFile: path))
    } catch let failure as SystemError {
      throw settings.error("policy", "\(path): \(failure.reason)")
    } catch let problem as LanguageError {
      throw settings.error("policy", "\(path): \(problem.reason)")
    } catch {
      throw settings.error("policy", "\(path): \(error)")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: [.requestStart, .responseStart, .responseMessage, .responseEnd], messages: shared.messages,
      effects: .repeatsAttempts
    ).keepingResponses(shared.goal == nil).readingCertificates(
      shared.goal?.conditions.readCertificates == true)
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    guard let policy = policy(for: call.method), policy.attempts ?? 2 > 1 else { return nil }
    guard only == .all || call.isIdempotent else {
      context.log(.debug, "not applied: the schema does not mark \(call.method) as idempotent")
      return nil
    }
    if let goal = shared.goal { try Self.check(goal, call, context) }
    return Retry(policy, shared, call, context)
  }

  /// Throws if responses to a call cannot be compared with the conditions.
  private static func check(
    _ goal: Goal, _ call: CallFacts, _ context: CallContext
  ) throws(ConfigurationError) {
    func refusal(_ reason: String, hint: String? = nil) -> ConfigurationError {
      ConfigurationError(interceptor: context.name, key: "until", reason: reason, hint: hint)
    }
    guard !call.kind.serverStreams else {
      throw refusal("applies to methods with a single response, and \(call.method) streams responses")
    }
    do throws(LanguageError) {
      try goal.conditions.check(against: call.responseType)
    } catch {
      throw refusal(error.reason, hint: error.hint)
    }
  }

  private func policy(for method: MethodName) -> RetryPolicy? {
    switch source {
    case .one(let policy): return policy
    case .config(let config, let limit):
      guard var policy = config.policy(for: method) else { return nil }
      policy.attempts = min(policy.attempts ?? limit, limit)
      return policy
    }
  }
}
