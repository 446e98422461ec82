import CPluginABI
import Interception
import Protobuf
import RPCProtocols

/// Asks a plugin for each call whether it wants to take part.
struct PluginFactory: InterceptorFactory {
  let instance: PluginInstance

  func make(for facts: CallFacts, _ context: CallContext) throws -> (any Interceptor)? {
    let functions = instance.description.functions
    guard let number = instance.calls.insert(PluginCall(facts, context)) else {
      throw RPCError(.resourceExhausted, "too many calls", origin: .interceptor(context.name))
    }
    var state: UnsafeMutableRawPointer?
    let method = MethodText(facts.method.description)
    let result =
      instance.guarding.run("open", in: method) {
        functions.open?(instance.state, rpcurl_call(id: number), &state)
      } ?? RPCURL_OK
    guard result == RPCURL_OK else {
      _ = instance.calls.remove(number)
      if result == RPCURL_DECLINE { return nil }
      throw RPCError(.internal, instance.reason(result), origin: .interceptor(context.name))
    }
    return PluginInterceptor(instance, number, method, state)
  }
}

/// A plugin's part in one call.
final class PluginInterceptor: Interceptor {
  let stages: Stages
  private let instance: PluginInstance
  private let call: UInt64
  private let method: MethodText
  private let state: UnsafeMutableRawPointer?

  init(
    _ instance: PluginInstance, _ call: UInt64, _ method: MethodText, _ state: UnsafeMutableRawPointer?
  ) {
    self.instance = instance
    self.call = call
    self.method = method
    self.state = state
    var stages = instance.description.stages
    if let choose = instance.description.functions.stages {
      let chosen = instance.guarding.run("stages", in: method) { choose(state) }
      stages.formIntersection(Stages(rawValue: UInt32(truncatingIfNeeded: chosen)))
    }
    self.stages = stages
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    deliver(HeldValue(.requestStart, call: call, .requestStart(start), .requestStart(token)))
  }
  func requestMessage(_ message: Message, _ token: consuming RequestToken<Message>) {
    deliver(HeldValue(.requestMessage, call: call, .message(message), .requestMessage(token)))
  }
  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
    deliver(HeldValue(.requestBytes, call: call, .bytes(bytes), .requestBytes(token)))
  }
  func requestEnd(_ token: consuming RequestToken<Void>) {
    deliver(HeldValue(.requestEnd, call: call, .requestEnd, .requestEnd(token)))
  }
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    deliver(HeldValue(.responseStart, call: call, .responseStart(start), .responseStart(token)))
  }
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    deliver(HeldValue(.responseBytes, call: call, .bytes(bytes), .responseBytes(token)))
  }
  func responseMessage(_ message: Message, _ token: consuming ResponseToken<Message>) {
    deliver(HeldValue(.responseMessage, call: call, .message(message), .responseMessage(token)))
  }
  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    deliver(HeldValue(.responseEnd, call: call, .responseEnd(end), .responseEnd(token)))
  }
  func metrics(_ metrics: CallMetrics, _ token: consuming ReportToken<CallMetrics>) {
    deliver(HeldValue(.metrics, call: call, .metrics(metrics), .metrics(token)))
  }

  private func deliver(_ held: HeldValue) {
    guard let callback = instance.description.callback(held.stage) else { return held.proceed() }
    guard let number = instance.tokens.insert(held) else {
      return held.fail(
        RPCError(.resourceExhausted, "holds too many values", origin: .interceptor(instance.description.name))
      )
    }
    let result = instance.guarding.run(held.stage.callbackName, in: method) {
      callback(state, rpcurl_call(id: self.call), rpcurl_token(id: number))
    }
    if result == RPCURL_LATER { return }
    let isUsed: Bool
    if case .live = instance.tokens.remove(number) { isUsed = false } else { isUsed = true }
    if result == RPCURL_OK {
      if !isUsed { held.proceed() }
    } else if isUsed {
      instance.reportMisbehaviour("\(held.stage) used the token and returned \(result)")
    } else {
      let reason =
        result < 0 ? instance.reason(result) : "\(held.stage) returned \(result), which means nothing"
      held.fail(RPCError(.internal, reason, origin: .interceptor(instance.description.name)))
    }
  }

  func finish(_ outcome: Outcome) {
    let arena = Arena()
    var plain = rpcurl_outcome(
      struct_size: MemoryLayout<rpcurl_outcome>.size, status: rpcurl_status(outcome.end, arena),
      metrics: rpcurl_metrics(outcome.metrics))
    instance.guarding.run("close", in: method) {
      instance.description.functions.close?(state, rpcurl_call(id: self.call), &plain)
    }
    withExtendedLifetime(arena) {}
    let call = call
    // Their tokens are void; they go when this returns.
    _ = instance.tokens.removeAll { $0.call == call }
    _ = instance.calls.remove(call, hasEnded: true)
  }
}
