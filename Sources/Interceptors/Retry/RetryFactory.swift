import Interception
import RPCProtocols
import Synchronization

/// Makes interceptors that retry failed calls by gRPC's retry policy (gRFC A6).
struct RetryFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "retry", summary: "retry failed calls with exponential backoff (gRPC retry policy)",
    keys: [
      BuiltIns.Key(
        "attempts=N", "maximum number of attempts (5); with policy, the limit for the file's value"),
      BuiltIns.Key("codes=CODE+CODE", "statuses to retry (unavailable)"),
      BuiltIns.Key("initial=DURATION", "wait before the first retry (100ms)"),
      BuiltIns.Key("max=DURATION", "maximum wait (5s)"),
      BuiltIns.Key("multiplier=NUMBER", "factor between successive waits (2)"),
      BuiltIns.Key(
        "jitter=FRACTION", "random variation of each wait, as a fraction (0.2 is plus or minus 20 %)"),
      BuiltIns.Key("throttle=TOKENS:RATIO", "stop retries to a server that fails too often (no limit)"),
      BuiltIns.Key("policy=FILE", "read policies and throttling from a gRPC service config"),
      BuiltIns.Key("buffer=BYTES", "maximum size of a request kept for retries (1m)"),
      BuiltIns.Key("seed=N", "random seed, for repeatable waits"),
    ],
    make: { settings, services throws(ConfigurationError) in try RetryFactory(settings, services) })

  /// gRPC's default limit for one call (`per_rpc_buffer_limit_in_bytes`).
  private static let bufferBytes = 1 << 20
  /// The maximum number of attempts in gRPC clients; a service config cannot raise it.
  private static let maxAttempts = 5

  /// The state that the calls of a registration share.
  final class Shared: Sendable {
    let throttle: RetryThrottle?
    let jitter: Double
    let bufferBytes: Int
    private let random: Mutex<SeededGenerator>

    init(throttle: RetryThrottle.Parameters?, jitter: Double, bufferBytes: Int, seed: UInt64?) {
      self.throttle = throttle.map { RetryThrottle($0) }
      self.jitter = jitter
      self.bufferBytes = bufferBytes
      random = Mutex(SeededGenerator(seed: seed))
    }

    /// A random number from 0 up to 1.
    func fraction() -> Double { random.withLock { $0.fraction() } }
  }

  private enum Source {
    case one(RetryPolicy)
    case config(RetryServiceConfig, maxAttempts: Int)
  }

  private let source: Source
  private let shared: Shared

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    let attempts = try settings.integer("attempts", in: 1...1000)
    var throttle = try Self.throttle(settings)
    if let path = settings.text("policy") {
      let config = try Self.config(path, settings, services)
      throttle = config.throttle
      source = .config(config, maxAttempts: attempts ?? Self.maxAttempts)
    } else {
      source = .one(
        RetryPolicy(
          attempts: attempts ?? Self.maxAttempts,
          initialBackoff: try settings.duration("initial") ?? .milliseconds(100),
          maxBackoff: try settings.duration("max") ?? .seconds(5),
          multiplier: try settings.number("multiplier", in: 0.001...1000) ?? 2,
          codes: try Self.codes(settings)))
    }
    shared = Shared(
      throttle: throttle, jitter: try settings.number("jitter", in: 0...1) ?? 0.2,
      bufferBytes: try settings.byteCount("buffer") ?? Self.bufferBytes, seed: try settings.seed())
  }

  private static func config(
    _ path: String, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> RetryServiceConfig {
    for key in ["codes", "initial", "max", "multiplier", "throttle"] where settings.text(key) != nil {
      throw settings.error(key, "is set by the policy file and cannot be combined with it")
    }
    do {
      return try RetryServiceConfig(json: try services.contents(ofFile: path))
    } catch let failure as ServiceFailure {
      throw settings.error("policy", "\(path): \(failure.reason)")
    } catch let problem as RetryServiceConfig.Problem {
      throw settings.error("policy", "\(path): \(problem.reason)")
    } catch {
      throw settings.error("policy", "\(path): \(error)")
    }
  }

  private static func codes(_ settings: SettingsReader) throws(ConfigurationError) -> Set<StatusCode> {
    guard let text = settings.text("codes") else { return [.unavailable] }
    var codes: Set<StatusCode> = []
    for word in text.split(whereSeparator: { "+, ".contains($0) }) {
      guard let code = StatusCode(written: word), code != .ok else {
        throw settings.error("codes", "\(word) is not a failure code such as unavailable")
      }
      codes.insert(code)
    }
    guard !codes.isEmpty else { throw settings.error("codes", "contains no code") }
    return codes
  }

  private static func throttle(
    _ settings: SettingsReader
  ) throws(ConfigurationError) -> RetryThrottle.Parameters? {
    guard let text = settings.text("throttle") else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let tokens = Double(parts[0]), let ratio = Double(parts[1]),
      let parameters = RetryThrottle.Parameters(maxTokens: tokens, tokenRatio: ratio)
    else {
      throw settings.error(
        "throttle", "must be TOKENS:RATIO, tokens above 0 up to 1000 and a ratio of at least 0.001")
    }
    return parameters
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any Interceptor)? {
    guard let policy = policy(for: call.method), policy.attempts > 1 else { return nil }
    return Retry(policy, shared, call, context)
  }

  private func policy(for method: MethodName) -> RetryPolicy? {
    switch source {
    case .one(let policy): return policy
    case .config(let config, let limit):
      guard var policy = config.policy(for: method) else { return nil }
      policy.attempts = min(policy.attempts, limit)
      return policy
    }
  }
}
