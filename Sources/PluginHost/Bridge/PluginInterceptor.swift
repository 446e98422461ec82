import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

/// Asks a plugin for each call whether to take part.
struct PluginFactory: InterceptorFactory {
  let instance: PluginInstance

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: instance.stages, messages: instance.description.messages,
      effects: instance.description.effects)
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
      if call.hasMadeMessages { _ = instance.tokens.removeAll { $0.call === call } }
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

extension PluginFactory {
  func attach(_ network: FactoryNetwork) { instance.outside.attach(network) }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    let conclude = {
      guard let conclude = instance.description.functions.conclude else { return }
      instance.guarding.run(outsideCalls: "conclude") { conclude(instance.host, instance.state) }
    }
    instance.outside.conclude(network, conclude, completion)
  }
}

/// The interceptor of a plugin in one call.
final class PluginInterceptor: AnyStageInterceptor {
  private(set) var stages: Stages = []
  private(set) var messages: MessageAccesses
  private(set) var requirements = InterceptorRequirements()
  private let instance: PluginInstance
  private let pluginCall: PluginCall
  /// The call's number.
  private let call: UInt64
  private let state: UnsafeMutableRawPointer?
  /// The plugin's functions by stage: resolved once, not for each message.
  private let callbacks: [PluginDescription.StageCallback?]

  init(
    _ instance: PluginInstance, _ pluginCall: PluginCall, _ call: UInt64, _ state: UnsafeMutableRawPointer?
  ) {
    self.instance = instance
    self.pluginCall = pluginCall
    self.call = call
    self.state = state
    messages = instance.description.messages
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
    stages = instance.stages
    if let choose = functions.stages {
      let chosen = instance.guarding.run("stages", in: pluginCall) { choose(instance.host, state) }
      stages.formIntersection(Stages(rawValue: UInt32(truncatingIfNeeded: chosen)))
    }
    // The watchdog reports a blocking callback while it blocks.
    requirements.isWatched = true
    guard let ask = functions.needs else { return nil }
    var plain = rpcurl_needs()
    plain.struct_size = MemoryLayout<rpcurl_needs>.size
    plain.request_messages = messages.request.rawValue
    plain.response_messages = messages.response.rawValue
    let result = instance.guarding.run("needs", in: pluginCall) { ask(instance.host, state, &plain) }
    if result != RPCURL_OK { return instance.failure(instance.reason(result, "needs")) }
    guard let messages = MessageAccesses(request: plain.request_messages, response: plain.response_messages)
    else {
      return configurationError("needs: request_messages or response_messages is not RPCURL_MESSAGES_...")
    }
    guard plain.is_serial == 0 || plain.collects == 0 else {
      return configurationError(
        "needs: is_serial and collects exclude each other: a plugin that receives one value at a time cannot wait for later ones"
      )
    }
    self.messages = messages
    requirements = InterceptorRequirements(
      isSerial: plain.is_serial != 0, collects: plain.collects != 0,
      windowBytes: Int(clamping: plain.window_bytes),
      replayLimitBytes: Int(clamping: plain.replay_limit_bytes))
    requirements.isWatched = true
    return nil
  }

  private func configurationError(_ reason: String) -> RPCError {
    RPCError(.invalidArgument, reason, origin: .configuration(instance.description.name))
  }

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws {
    guard let callback = callbacks[Int(token.stage.rawValue)] else { return token.proceed(value) }
    let held = HeldValue(value, token, in: pluginCall)
    guard let number = instance.tokens.insert(held) else {
      throw RPCError(
        .resourceExhausted, "holds too many values", origin: .interceptor(instance.description.name))
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
      held.take()?.fail(error, trailers: Headers())
    }
    return nil
  }

  func observe(_ observation: Observation) {
    let arena = Arena()
    guard let callback = instance.description.callback(observation, arena) else { return }
    let misuse = instance.watch {
      instance.guarding.run(observation.stage.name, in: pluginCall) {
        callback(instance.host, state, rpcurl_call(id: call))
      }
    }
    withExtendedLifetime(arena) {}
    if let misuse { pluginCall.handle.fail(misuse) }
  }

  func finish(_ outcome: Outcome) {
    instance.misusePolicy?.remove(call)
    pluginCall.end()
    if let close = instance.description.functions.close {
      let arena = Arena()
      let plain = arena.outcome(outcome)
      instance.guarding.run("close", in: pluginCall) {
        close(instance.host, state, rpcurl_call(id: call), plain)
      }
      withExtendedLifetime(arena) {}
    }
    // Their tokens are void; they are released when this returns.
    _ = instance.tokens.removeAll { $0.call === pluginCall }
    _ = instance.calls.remove(call, hasEnded: true)
  }
}
