import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that inject faults into calls, as Envoy's fault filter does, and into messages.
struct FaultFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "fault",
    summary: "inject faults: delay and abort calls, drop and damage messages",
    keys: [
      BuiltIns.Key("delay=DURATION", "delay requests by this time"),
      BuiltIns.Key(
        "delay-percent=PERCENT", "percentage of calls to delay", default: "100", for: ["delay", "headers"]),
      BuiltIns.Key("abort=CODE|HTTP-STATUS", "end calls with this status and send nothing"),
      BuiltIns.Key(
        "abort-percent=PERCENT", "percentage of calls to abort", default: "100", for: ["abort", "headers"]),
      BuiltIns.Key("rate=BYTES", "limit the response to this rate, in bytes per second"),
      BuiltIns.Key(
        "rate-percent=PERCENT", "percentage of calls to limit", default: "100", for: ["rate", "headers"]),
      BuiltIns.Key("headers=true", "obey the request's x-envoy-fault-… headers"),
      BuiltIns.Key("drop-request=PERCENT", "percentage of request messages of a stream to drop"),
      BuiltIns.Key("drop-response=PERCENT", "percentage of response messages of a stream to drop"),
      BuiltIns.Key("truncate-request=PERCENT", "percentage of request messages to truncate"),
      BuiltIns.Key("truncate-response=PERCENT", "percentage of response messages to truncate"),
      BuiltIns.Key("corrupt-request=PERCENT", "percentage of request messages to corrupt by a byte"),
      BuiltIns.Key("corrupt-response=PERCENT", "percentage of response messages to corrupt by a byte"),
      BuiltIns.Key("seed=N", "random seed, for repeatable runs"),
    ],
    isHarmless: true,
    make: { settings, _ throws(ConfigurationError) in try FaultFactory(settings) })

  private let plan: FaultPlan
  private let obeysHeaders: Bool
  private let random: FaultRandom

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
    guard settings.all.contains(where: { $0.key != "seed" }) else {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no fault is given",
        hint: "give a fault or headers=true, as in fault,abort=unavailable")
    }
    var plan = FaultPlan()
    plan.delay = try settings.duration("delay")
    plan.abort = try Self.abort(settings)
    if let bytes = try settings.byteCount("rate") {
      guard bytes > 0 else { throw settings.error("rate", "must be more than 0") }
      plan.bytesPerSecond = Double(bytes)
    }
    obeysHeaders = try settings.flag("headers") ?? false
    func percent(_ key: String) throws(ConfigurationError) -> Double? {
      try settings.number(key, in: 0...100)
    }
    for (key, isOfUse) in [
      ("delay", plan.delay != nil), ("abort", plan.abort != nil), ("rate", plan.bytesPerSecond != nil),
    ] where settings.text("\(key)-percent") != nil && !isOfUse && !obeysHeaders {
      throw settings.error("\(key)-percent", "requires \(key) or headers=true")
    }
    plan.delayPercent = try percent("delay-percent") ?? 100
    plan.abortPercent = try percent("abort-percent") ?? 100
    plan.ratePercent = try percent("rate-percent") ?? 100
    plan.request.drop = try percent("drop-request") ?? 0
    plan.request.truncate = try percent("truncate-request") ?? 0
    plan.request.corrupt = try percent("corrupt-request") ?? 0
    plan.response.drop = try percent("drop-response") ?? 0
    plan.response.truncate = try percent("truncate-response") ?? 0
    plan.response.corrupt = try percent("corrupt-response") ?? 0
    self.plan = plan
    random = FaultRandom(seed: try settings.seed())
  }

  private static func abort(_ settings: SettingsReader) throws(ConfigurationError) -> FaultPlan.Abort? {
    guard let text = settings.text("abort") else { return nil }
    if let status = Int(text), let abort = FaultPlan.Abort(httpStatus: status) { return abort }
    guard let code = StatusCode(written: text), code != .ok else {
      throw settings.error("abort", "must be a failure code, such as unavailable, or an HTTP status")
    }
    return FaultPlan.Abort(code: code)
  }

  var declaration: InterceptorDeclaration {
    let fails = plan.abort != nil || !plan.request.isNone || !plan.response.isNone || obeysHeaders
    var effects: InterceptorEffects = fails ? .injectsFailures : []
    if obeysHeaders { effects.formUnion([.readsHeaders, .changesHeaders]) }
    if !plan.request.isNone { effects.insert(.changesMessages) }
    return InterceptorDeclaration(
      stages: plan.stages(obeysHeaders: obeysHeaders), messages: plan.messages, effects: effects)
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    var plan = plan
    // Dropping the only message of a direction would fail the call.
    if !call.kind.clientStreams { plan.request.drop = 0 }
    if !call.kind.serverStreams { plan.response.drop = 0 }
    let fault = Fault(plan, obeysHeaders: obeysHeaders, random.nextCall(), context)
    return fault.stages.isEmpty ? nil : fault
  }
}

/// The random numbers of a registration. Each call has its own generators, so that a seed repeats a run also
/// with concurrent calls and directions.
final class FaultRandom: Sendable {
  private let calls: Locked<SeededGenerator>

  init(seed: UInt64?) {
    calls = Locked(SeededGenerator(seed: seed))
  }

  /// The generators of the next call: one for the call, and one for each direction.
  func nextCall() -> [SeededGenerator] {
    calls.withLock { calls in (0..<3).map { _ in SeededGenerator(seed: calls.next()) } }
  }
}
