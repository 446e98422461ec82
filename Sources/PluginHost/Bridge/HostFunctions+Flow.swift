import CPluginABI
import Interception
import Protobuf
import RPCProtocols

// Retries, messages that a plugin adds, time, and other threads.
extension HostFunctions {
  static func retry(
    _ host: Host?, _ token: rpcurl_token, _ nanoseconds: Int64, _ fields: UnsafePointer<rpcurl_field>?,
    _ count: Int
  ) -> Int32 {
    let result = self.count(host) { instance throws(ABIFailure) in
      guard nanoseconds >= 0 else { throw invalid("the pause is negative") }
      let (pause, headers) = (
        Duration.nanoseconds(nanoseconds), try headers(fields, count, at: .requestStart)
      )
      let held = try held(instance, token, "retry", at: .response)
      let isOnLoop = held.call.isOnItsThread
      // Only the loop's thread may read the state of the chain.
      let obstacle = isOnLoop ? held.obstacle(toRetryAfter: pause) : nil
      try use(held, token, instance, "retry") { $0.take()?.retry(after: pause, headers: headers) }
      if let obstacle { throw ABIFailure(obstacle.result, "the call cannot be retried: \(obstacle)") }
      return Int(isOnLoop ? RPCURL_OK : RPCURL_LATER)
    }
    return Int32(truncatingIfNeeded: result)
  }

  // MARK: - Messages

  static func inject(
    _ host: Host?, _ token: rpcurl_token, _ message: UnsafePointer<rpcurl_local_message>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let held = try held(instance, token, "inject", at: [.messages, .requestEnd, .responseEnd])
      try held.call.countInjection()
      let direction = Stages.request.contains(held.stage) ? Direction.request : .response
      try held.inject(try payload(message, direction, of: held.call.facts, instance))
    }
  }

  /// RPCURL_DIRECTION_...
  enum Direction: UInt32 {
    case request, response
  }

  static func startResponse(
    _ host: Host?, _ token: rpcurl_token, _ fields: UnsafePointer<rpcurl_field>?, _ count: Int
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let call = try held(instance, token, "start_response", at: .requestStart).call
      let start = ResponseStart(headers: try headers(fields, count))
      guard !call.startResponse() else {
        instance.reportMisbehaviour("start_response a second time")
        throw ABIFailure(RPCURL_EUSED, "the response was already started")
      }
      call.handle.start(response: start)
    }
  }

  static func whenWanted(
    _ host: Host?, _ call: rpcurl_call, _ direction: UInt32, _ function: rpcurl_function?,
    _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let function else { throw invalid("the function is null") }
      guard let direction = Direction(rawValue: direction) else {
        throw invalid("unknown direction: \(direction)")
      }
      let call = try onLoop(call, instance, "when_wanted")
      let body = { [weak call] in
        guard let call, !call.hasEnded else { return }
        instance.guarding.run("a function for when_wanted", in: call) { function(instance.host, argument) }
      }
      call.whenWanted(request: direction == .request, body)
    }
  }

  static func inject(
    _ host: Host?, _ call: rpcurl_call, _ direction: Direction,
    _ message: UnsafePointer<rpcurl_local_message>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let call = try open(call, instance, "injecting a message")
      guard call.canInject(request: direction == .request) else {
        throw ABIFailure(RPCURL_EENDED, "the \(direction) has ended here")
      }
      try call.countInjection()
      let payload = try payload(message, direction, of: call.facts, instance)
      switch direction {
      case .request: call.handle.inject(request: payload)
      case .response: call.handle.inject(response: payload)
      }
    }
  }

  private static func payload(
    _ message: UnsafePointer<rpcurl_local_message>?, _ direction: Direction, of facts: CallFacts,
    _ instance: PluginInstance
  ) throws(ABIFailure) -> Payload {
    try payload(
      try copy(message), direction == .request ? facts.requestType : facts.responseType, facts.codec, instance
    )
  }

  // MARK: - Time

  static func after(
    _ host: Host?, _ call: rpcurl_call, _ nanoseconds: Int64, _ function: rpcurl_function?,
    _ argument: UnsafeMutableRawPointer?, _ timer: UnsafeMutablePointer<rpcurl_timer>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let function else { throw invalid("the function is null") }
      guard nanoseconds >= 0 else { throw invalid("the time is negative") }
      let scope = try scope(call, instance, "after")
      let number = scope.setTimer(after: .nanoseconds(nanoseconds)) { [weak scope] in
        scope?.run("a timer", instance.guarding) { function(instance.host, argument) }
      }
      timer?.pointee = rpcurl_timer(id: number)
    }
  }

  static func cancelTimer(_ host: Host?, _ call: rpcurl_call, _ timer: rpcurl_timer) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let scope = try scope(call, instance, "cancel_timer")
      guard scope.cancelTimer(timer.id) else { throw ABIFailure(RPCURL_ENOENT, "there is no such timer") }
    }
  }

  static func post(
    _ host: Host?, _ call: rpcurl_call, _ function: rpcurl_function?, _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let function else { throw invalid("the function is null") }
      let scope = try openScope(call, instance, "post")
      // The plugin guarantees that its function and argument can be used on the loop's thread.
      nonisolated(unsafe) let argument = argument
      scope.post {
        guard !scope.hasEnded else { return }
        scope.run("a posted function", instance.guarding) { function(instance.host, argument) }
      }
    }
  }

  /// Returns the call if this is its thread.
  static func onLoop(
    _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> PluginCall {
    let call = try live(instance.calls.find(call.id), instance, "call", what)
    try requireLoop(call, instance, what)
    return call
  }

  /// Returns the call, or with RPCURL_NO_CALL what is outside of calls, if this is its thread.
  static func scope(
    _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> any PluginScope {
    guard call.id == 0 else { return try onLoop(call, instance, what) }
    try requireLoop(instance.outside, instance, what)
    return instance.outside
  }

  /// The same on any thread.
  private static func openScope(
    _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> any PluginScope {
    guard call.id == 0 else { return try open(call, instance, what) }
    guard !instance.outside.hasEnded else { throw unloaded }
    return instance.outside
  }

  private static var unloaded: ABIFailure { ABIFailure(RPCURL_EENDED, "the plugin is unloaded") }

  private static func requireLoop(
    _ scope: any PluginScope, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) {
    guard scope.isOnItsThread else {
      instance.reportMisbehaviour("\(what) on a thread other than the loop's")
      throw ABIFailure(RPCURL_ETHREAD, "\(what) is allowed only on the loop's thread: use post")
    }
    guard scope.hasEnded else { return }
    throw scope === instance.outside ? unloaded : ABIFailure(RPCURL_EENDED, "the call has ended")
  }

  /// Returns the call if it has not ended; in `close` it has.
  static func open(
    _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> PluginCall {
    let call = try live(instance.calls.find(call.id), instance, "call", what)
    guard !call.hasEnded else { throw ABIFailure(RPCURL_EENDED, "the call has ended") }
    return call
  }
}

extension RetryObstacle {
  /// RPCURL_E...
  fileprivate var result: Int32 {
    switch self {
    case .noReplayLimit, .requestTooLarge: RPCURL_EREPLAY
    case .responseStarted: RPCURL_ESTARTED
    case .deadline: RPCURL_EDEADLINE
    }
  }
}
