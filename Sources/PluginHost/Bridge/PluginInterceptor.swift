import CPluginABI
import Interception
import Protobuf
import RPCProtocols

/// Asks a plugin for each call whether to take part.
struct PluginFactory: InterceptorFactory {
  let instance: PluginInstance

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: instance.description.stages, effects: instance.description.effects)
  }

  func make(for facts: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    let functions = instance.description.functions
    let call = PluginCall(facts, context)
    guard let number = instance.calls.insert(call) else {
      throw RPCError(.resourceExhausted, "too many calls", origin: .interceptor(context.name))
    }
    var state: UnsafeMutableRawPointer?
    var result = RPCURL_OK
    let misuse = instance.watch {
      result =
        instance.guarding.run("open", in: call) {
          functions.open?(instance.host, instance.state, rpcurl_call(id: number), &state)
        } ?? RPCURL_OK
    }
    guard result == RPCURL_OK else {
      // Before `end`, which runs functions of the plugin.
      let reason = result == RPCURL_DECLINE ? nil : instance.reason(result, "open")
      call.end()
      _ = instance.calls.remove(number)
      guard let error = misuse ?? reason.map(instance.failure) else { return nil }
      throw error
    }
    instance.misusePolicy?.add(number, context.handle)
    let interceptor = PluginInterceptor(instance, call, number, state)
    do throws(RPCError) {
      if let misuse { throw misuse }
      try interceptor.prepare()
    } catch {
      interceptor.finish(Outcome(end: ResponseEnd(error: error)))
      throw error
    }
    return interceptor
  }
}

/// The interceptor of a plugin in one call.
final class PluginInterceptor: StagedInterceptor {
  private(set) var stages: Stages = []
  private(set) var requirements = InterceptorRequirements()
  private let instance: PluginInstance
  private let pluginCall: PluginCall
  /// The call's number.
  private let call: UInt64
  private let state: UnsafeMutableRawPointer?
  private let lock: Lock
  /// The plugin's functions by stage: resolved once, not for each message.
  private let callbacks: [PluginDescription.StageCallback?]

  init(
    _ instance: PluginInstance, _ pluginCall: PluginCall, _ call: UInt64, _ state: UnsafeMutableRawPointer?
  ) {
    self.instance = instance
    self.pluginCall = pluginCall
    self.call = call
    self.state = state
    lock = pluginCall.lock
    callbacks = Stage.allCases.map(instance.description.callback)
  }

  /// Sets the stages and the needs of the call.
  fileprivate func prepare() throws(RPCError) {
    var failure: RPCError?
    let misuse = instance.watch { failure = ask() }
    if let error = misuse ?? failure { throw error }
  }

  /// Asks the plugin for the stages and the needs. Returns the error if it fails.
  private func ask() -> RPCError? {
    let functions = instance.description.functions
    stages = instance.description.stages
    if let choose = functions.stages {
      let chosen = instance.guarding.run("stages", in: pluginCall) { choose(instance.host, state) }
      stages.formIntersection(Stages(rawValue: UInt32(truncatingIfNeeded: chosen)))
    }
    // The watchdog reports a blocking callback while it blocks.
    requirements.isWatched = true
    guard let ask = functions.needs else { return nil }
    var plain = rpcurl_needs(
      struct_size: MemoryLayout<rpcurl_needs>.size, replay_limit_bytes: 0, window_bytes: 0, is_serial: 0,
      reserved: 0)
    let result = instance.guarding.run("needs", in: pluginCall) { ask(instance.host, state, &plain) }
    if result != RPCURL_OK { return instance.failure(instance.reason(result, "needs")) }
    requirements = InterceptorRequirements(
      isSerial: plain.is_serial != 0, windowBytes: Int(clamping: plain.window_bytes),
      replayLimitBytes: Int(clamping: plain.replay_limit_bytes))
    requirements.isWatched = true
    return nil
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    try deliver(HeldValue(.requestStart, call: call, lock, .requestStart(start), .requestStart(token)))
  }
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) throws {
    try deliver(
      HeldValue(.requestMessage, call: call, lock, .requestMessage(.typed(message)), .requestMessage(token)))
  }
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) throws {
    try deliver(
      HeldValue(.requestBytes, call: call, lock, .requestMessage(.bytes(bytes)), .requestBytes(token)))
  }
  func requestEnd(_ token: consuming RequestToken<Void>) throws {
    try deliver(HeldValue(.requestEnd, call: call, lock, .requestEnd, .requestEnd(token)))
  }
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    try deliver(HeldValue(.responseStart, call: call, lock, .responseStart(start), .responseStart(token)))
  }
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) throws {
    try deliver(
      HeldValue(.responseBytes, call: call, lock, .responseMessage(.bytes(bytes)), .responseBytes(token)))
  }
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) throws {
    try deliver(
      HeldValue(
        .responseMessage, call: call, lock, .responseMessage(.typed(message)), .responseMessage(token)))
  }
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    try deliver(HeldValue(.responseEnd, call: call, lock, .responseEnd(end), .responseEnd(token)))
  }
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) throws {
    try deliver(HeldValue(.metrics, call: call, lock, .metrics(metrics), .metrics(token)))
  }

  private func deliver(_ held: HeldValue) throws {
    guard let callback = callbacks[Int(held.stage.rawValue)] else { return held.proceed() }
    guard let number = instance.tokens.insert(held) else {
      return held.fail(
        RPCError(.resourceExhausted, "holds too many values", origin: .interceptor(instance.description.name))
      )
    }
    var failure: RPCError?
    let misuse = instance.watch { failure = run(callback, held, number) }
    if let error = misuse ?? failure { throw error }
  }

  /// Runs a callback and applies its result. Returns the error of metrics, whose token cannot fail the call.
  private func run(
    _ callback: PluginDescription.StageCallback, _ held: HeldValue, _ number: UInt64
  ) -> RPCError? {
    let result = instance.guarding.run(held.stage.name, in: pluginCall) {
      callback(instance.host, state, rpcurl_call(id: call), rpcurl_token(id: number))
    }
    return result == RPCURL_LATER ? nil : settle(held, number, result)
  }

  /// Applies the callback's result to a token that it may already have used.
  private func settle(_ held: HeldValue, _ number: UInt64, _ result: Int32) -> RPCError? {
    let isUsed: Bool
    if case .live = instance.tokens.remove(number) { isUsed = false } else { isUsed = true }
    if result == RPCURL_OK {
      if !isUsed { held.proceed() }
    } else if isUsed {
      // `return host->retry(...)`, which has forwarded the value, or any use after the end of the call.
      if (RPCURL_EDEADLINE...RPCURL_ESTARTED).contains(result) || result == RPCURL_EENDED || held.isVoid {
        return nil
      }
      instance.reportMisbehaviour("\(held.stage) used the token and returned \(result)")
    } else {
      let error = instance.failure(instance.reason(result, held.stage.description))
      if held.stage == .metrics { return error }
      held.fail(error)
    }
    return nil
  }

  func finish(_ outcome: Outcome) {
    instance.misusePolicy?.remove(call)
    pluginCall.end()
    if let close = instance.description.functions.close {
      let arena = Arena()
      let plain = arena.outcome(outcome)
      instance.guarding.run("close", in: pluginCall) {
        close(instance.host, state, rpcurl_call(id: self.call), plain)
      }
      withExtendedLifetime(arena) {}
    }
    let call = call
    // Their tokens are void; they are released when this returns.
    _ = instance.tokens.removeAll { $0.call == call }
    _ = instance.calls.remove(call, hasEnded: true)
  }
}
