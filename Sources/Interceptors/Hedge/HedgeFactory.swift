import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that hedge calls by gRPC's hedging policy (gRFC A6).
struct HedgeFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "hedge", summary: "send slow calls again, and use the first good response (gRPC hedging policy)",
    keys: [
      BuiltIns.Key("attempts=N", "maximum number of attempts, from 2 to 5", default: "2"),
      BuiltIns.Key("delay=DURATION", "time without a response before the next attempt", default: "100ms"),
      BuiltIns.Key(
        "non-fatal=CODE+CODE", "statuses after which other attempts continue", default: "unavailable"),
      BuiltIns.Key(
        "throttle=TOKENS:RATIO", "no further attempts at a server that fails too often (no limit)"),
      BuiltIns.Key("buffer=BYTES", "maximum size of a request kept for other attempts", default: "1m"),
    ],
    isHarmless: true,
    make: { settings, _ throws(ConfigurationError) in try HedgeFactory(settings) })

  private let attempts: Int
  private let delay: Duration
  private let bufferBytes: Int
  /// Whether `methods` selects the methods; otherwise only those that the schema marks as idempotent are hedged.
  private let namesMethods: Bool
  private let policy: HedgePolicy

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    attempts = try settings.integer("attempts", in: 2...5) ?? 2
    delay = try settings.duration("delay") ?? .milliseconds(100)
    bufferBytes = try settings.byteCount("buffer") ?? RetryFactory.bufferBytes
    namesMethods = settings.namesMethods
    policy = HedgePolicy(
      nonFatal: try settings.codes("non-fatal") ?? [.unavailable],
      throttle: try settings.throttle().map { RetryThrottle($0) })
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: [], effects: .repeatsAttempts).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    guard call.isIdempotent || namesMethods else {
      if !call.isSubrequest {
        context.log(
          .info,
          "not hedged: the schema does not mark \(call.method) as idempotent; name it with methods=PATTERN")
      }
      return nil
    }
    let commitment = ResponseGate.Commitment(call)
    let isDecidedByHeaders = if case .headers = commitment { true } else { false }
    return Hedge(
      Hedging(attempts: attempts, delay: delay, isDecidedByHeaders: isDecidedByHeaders, policy: policy),
      bufferBytes: bufferBytes)
  }
}
