import Interception
import RPCProtocols
import Synchronization

/// Makes interceptors that let calls go wrong, as Envoy's fault filter does, and their messages.
struct FaultFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "fault",
    summary: "delay and abort calls, and drop or damage messages, to see what callers make of it",
    keys: [
      BuiltIns.Key("delay=DURATION", "hold requests back for this long"),
      BuiltIns.Key("delay-percent=PERCENT", "how many of the calls are delayed (100)"),
      BuiltIns.Key("abort=CODE|HTTP-STATUS", "end calls with this status, and send nothing"),
      BuiltIns.Key("abort-percent=PERCENT", "how many of the calls are aborted (100)"),
      BuiltIns.Key("rate=BYTES", "let through so many bytes of the response a second"),
      BuiltIns.Key("rate-percent=PERCENT", "how many of the calls are slowed down (100)"),
      BuiltIns.Key("headers=true", "obey x-envoy-fault-… headers of the request"),
      BuiltIns.Key("drop-request=PERCENT", "lose so many messages of a request that is a stream"),
      BuiltIns.Key("drop-response=PERCENT", "lose so many messages of a response that is a stream"),
      BuiltIns.Key("truncate-request=PERCENT", "cut so many messages of the request short"),
      BuiltIns.Key("truncate-response=PERCENT", "cut so many messages of the response short"),
      BuiltIns.Key("corrupt-request=PERCENT", "change a byte in so many messages of the request"),
      BuiltIns.Key("corrupt-response=PERCENT", "change a byte in so many messages of the response"),
      BuiltIns.Key("seed=N", "make every run the same"),
    ],
    make: { settings, _ throws(ConfigurationError) in try FaultFactory(settings) })

  private let plan: FaultPlan
  private let obeysHeaders: Bool
  private let random: FaultRandom

  private init(_ settings: SettingsReader) throws(ConfigurationError) {
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
      throw settings.error("\(key)-percent", "goes with \(key) or headers=true")
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
      throw settings.error("abort", "must be the code of a failure, such as unavailable, or a status of HTTP")
    }
    return FaultPlan.Abort(code: code)
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any Interceptor)? {
    var plan = plan
    // The only message of its direction cannot be dropped without the call failing for that.
    if !call.kind.clientStreams { plan.request.drop = 0 }
    if !call.kind.serverStreams { plan.response.drop = 0 }
    let fault = Fault(plan, obeysHeaders: obeysHeaders, random.nextCall(), context)
    return fault.stages.isEmpty ? nil : fault
  }
}

/// The random numbers of a registration. Each call has its own, so that a seed repeats a run also where calls, and the
/// directions of a call, go on at the same time.
final class FaultRandom: Sendable {
  private let calls: Mutex<SeededGenerator>

  init(seed: UInt64?) {
    calls = Mutex(SeededGenerator(seed: seed))
  }

  /// The numbers of the next call: one generator for the call itself, and one for each direction.
  func nextCall() -> [SeededGenerator] {
    calls.withLock { calls in (0..<3).map { _ in SeededGenerator(seed: calls.next()) } }
  }
}
