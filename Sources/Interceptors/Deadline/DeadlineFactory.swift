import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that give calls a deadline, limit it, and end streams that are idle.
struct DeadlineFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "deadline", summary: "set default, maximum and idle time limits of calls",
    keys: [
      BuiltIns.Key("default=DURATION", "deadline of calls that have none"),
      BuiltIns.Key("max=DURATION", "latest deadline of a call, also of one without"),
      BuiltIns.Key("idle=DURATION", "end a response stream after this time without a message"),
    ],
    isHarmless: true,
    make: { settings, _ throws(ConfigurationError) in try DeadlineFactory(settings) })

  /// The time limits of calls.
  struct Limits: Sendable {
    var initial: Duration?
    var max: Duration?
    var idle: Duration?
  }

  private let limits: Limits

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    limits = Limits(
      initial: try settings.positiveDuration("default"), max: try settings.positiveDuration("max"),
      idle: try settings.positiveDuration("idle"))
    if let initial = limits.initial, let max = limits.max, initial > max {
      throw settings.error("default", "is longer than max")
    }
    if settings.all.isEmpty {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no time limit is given",
        hint: "give default, max or idle, as in deadline,default=10s")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: Deadline.stages(limits), messages: MessageAccesses(.none))
      .keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    var limits = limits
    if !call.kind.serverStreams { limits.idle = nil }
    guard limits.initial != nil || limits.max != nil || limits.idle != nil else { return nil }
    return Deadline(limits, context)
  }
}
