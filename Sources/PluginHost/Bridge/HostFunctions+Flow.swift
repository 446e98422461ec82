import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

// Retries, messages that a plugin adds, time, and other threads.
extension HostFunctions {
  func retry(
    _ token: rpcurl_token, _ nanoseconds: Int64, _ fields: UnsafePointer<rpcurl_field>?, _ count: Int
  ) throws -> Int {
    guard nanoseconds >= 0 else { throw ABIFailure.invalid("the pause is negative") }
    let (pause, headers) = (
      Duration.nanoseconds(nanoseconds), try Self.headers(fields, count, at: .requestStart)
    )
    let held = try held(token, "retry", at: .response)
    let isOnLoop = held.call.isOnItsThread
    // Only the loop's thread may read the state of the chain.
    let obstacle = isOnLoop ? held.obstacle(toRetryAfter: pause) : nil
    try use(token, "retry", at: .response) { $0.take()?.retry(after: pause, headers: headers) }
    if let obstacle { throw ABIFailure(obstacle.result, "the call cannot be retried: \(obstacle)") }
    return Int(isOnLoop ? RPCURL_OK : RPCURL_LATER)
  }

  // MARK: - Messages

  func inject(_ token: rpcurl_token, _ message: UnsafePointer<rpcurl_local_message>?) throws {
    let held = try held(token, "inject", at: [.messages, .requestEnd, .responseEnd])
    try held.call.countInjection()
    let direction = Stages.request.contains(held.stage) ? Direction.request : .response
    try held.inject(try payload(message, direction, of: held.call.facts))
  }

  /// RPCURL_DIRECTION_...
  enum Direction: UInt32 {
    case request, response
  }

  func startResponse(_ token: rpcurl_token, _ fields: UnsafePointer<rpcurl_field>?, _ count: Int) throws {
    let call = try held(token, "start_response", at: .requestStart).call
    let start = ResponseStart(headers: try Self.headers(fields, count))
    guard !call.startResponse() else {
      instance.reportMisbehaviour("start_response a second time")
      throw ABIFailure(RPCURL_EUSED, "the response was already started")
    }
    call.handle.start(response: start)
  }

  func whenWanted(
    _ call: rpcurl_call, _ direction: UInt32, _ function: rpcurl_function?,
    _ argument: UnsafeMutableRawPointer?
  ) throws {
    guard let function else { throw ABIFailure.invalid("the function is null") }
    guard let direction = Direction(rawValue: direction) else {
      throw ABIFailure.invalid("unknown direction: \(direction)")
    }
    let call = try onLoop(call, "when_wanted")
    let body = { [weak call] in
      guard let call, !call.hasEnded else { return }
      instance.guarding.run("a function for when_wanted", in: call) { function(instance.host, argument) }
    }
    call.whenWanted(request: direction == .request, body)
  }

  func inject(
    _ call: rpcurl_call, _ direction: Direction, _ message: UnsafePointer<rpcurl_local_message>?
  ) throws {
    let call = try open(call, "injecting a message")
    guard call.canInject(request: direction == .request) else {
      throw ABIFailure(RPCURL_EENDED, "the \(direction) has ended here")
    }
    try call.countInjection()
    let payload = try payload(message, direction, of: call.facts)
    switch direction {
    case .request: call.handle.inject(request: payload)
    case .response: call.handle.inject(response: payload)
    }
  }

  private func payload(
    _ message: UnsafePointer<rpcurl_local_message>?, _ direction: Direction, of facts: CallFacts
  ) throws -> Payload {
    try payload(
      try Self.copy(message), direction == .request ? facts.requestType : facts.responseType, facts.codec)
  }

  // MARK: - Time

  func after(
    _ call: rpcurl_call, _ nanoseconds: Int64, _ function: rpcurl_function?,
    _ argument: UnsafeMutableRawPointer?, _ timer: UnsafeMutablePointer<rpcurl_timer>?
  ) throws {
    guard let function else { throw ABIFailure.invalid("the function is null") }
    guard nanoseconds >= 0 else { throw ABIFailure.invalid("the time is negative") }
    let scope = try scope(call, "after")
    let number = scope.setTimer(after: .nanoseconds(nanoseconds)) { [weak scope] in
      scope?.run("a timer", instance.guarding) { function(instance.host, argument) }
    }
    timer?.pointee = rpcurl_timer(id: number)
  }

  func cancelTimer(_ call: rpcurl_call, _ timer: rpcurl_timer) throws {
    let scope = try scope(call, "cancel_timer")
    guard scope.cancelTimer(timer.id) else { throw ABIFailure(RPCURL_ENOENT, "there is no such timer") }
  }

  func post(_ call: rpcurl_call, _ function: rpcurl_function?, _ argument: UnsafeMutableRawPointer?) throws {
    guard let function else { throw ABIFailure.invalid("the function is null") }
    let scope = try openScope(call, "post")
    // The plugin guarantees that its function and argument can be used on the loop's thread.
    nonisolated(unsafe) let argument = argument
    scope.post {
      guard !scope.hasEnded else { return }
      scope.run("a posted function", instance.guarding) { function(instance.host, argument) }
    }
  }

  /// Returns the call if this is its thread.
  func onLoop(_ call: rpcurl_call, _ what: String) throws -> PluginCall {
    let call = try find(call, what)
    try requireLoop(call, what)
    return call
  }

  /// Returns the call, or with RPCURL_NO_CALL what is outside of calls, if this is its thread.
  func scope(_ call: rpcurl_call, _ what: String) throws -> any PluginScope {
    guard call.id == 0 else { return try onLoop(call, what) }
    try requireLoop(instance.outside, what)
    return instance.outside
  }

  /// The same on any thread.
  private func openScope(_ call: rpcurl_call, _ what: String) throws -> any PluginScope {
    guard call.id == 0 else { return try open(call, what) }
    guard !instance.outside.hasEnded else { throw unloaded }
    return instance.outside
  }

  private var unloaded: ABIFailure { ABIFailure(RPCURL_EENDED, "the plugin is unloaded") }

  private func requireLoop(_ scope: any PluginScope, _ what: String) throws {
    guard scope.isOnItsThread else {
      instance.reportMisbehaviour("\(what) on a thread other than the loop's")
      throw ABIFailure(RPCURL_ETHREAD, "\(what) is allowed only on the loop's thread: use post")
    }
    guard scope.hasEnded else { return }
    throw scope === instance.outside ? unloaded : ABIFailure(RPCURL_EENDED, "the call has ended")
  }

  /// Returns the call if it has not ended; in `close` it has.
  func open(_ call: rpcurl_call, _ what: String) throws -> PluginCall {
    let call = try find(call, what)
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
