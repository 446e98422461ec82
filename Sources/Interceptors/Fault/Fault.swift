import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Injects faults into one call.
final class Fault: StagedInterceptor {
  let stages: Stages
  let messages: MessageAccesses
  private var plan: FaultPlan
  private let obeysHeaders: Bool
  private let context: CallContext
  private var random: SeededGenerator
  private var requestDamage: FaultDamage
  private var responseDamage: FaultDamage
  private var sent = 0
  private var received = 0

  /// The request while it is delayed.
  private var held: (start: RequestStart, abort: FaultPlan.Abort?)?
  private var heldToken: RequestToken<RequestStart>?

  /// The rate limit of this call's response, and the time when everything received so far will have passed.
  private var bytesPerSecond: Double?
  private var isFreeAt: MonotonicClock.Instant?

  /// Makes the interceptor of a call.
  ///
  /// - Parameters:
  ///   - plan: The possible faults.
  ///   - obeysHeaders: Whether the request's headers change the plan.
  ///   - random: Generators for the call, its request and its response.
  ///   - context: The call.
  init(_ plan: FaultPlan, obeysHeaders: Bool, _ random: [SeededGenerator], _ context: CallContext) {
    self.plan = plan
    self.obeysHeaders = obeysHeaders
    self.context = context
    self.random = random[0]
    requestDamage = FaultDamage(plan.request, random[1])
    responseDamage = FaultDamage(plan.response, random[2])
    stages = plan.stages(obeysHeaders: obeysHeaders)
    messages = plan.messages
  }

  // MARK: - The call

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    var start = start
    if obeysHeaders { plan = FaultHeaders.apply(&start.headers, to: plan) }
    let delays = random.percent() < plan.delayPercent
    let aborts = random.percent() < plan.abortPercent
    if random.percent() < plan.ratePercent { bytesPerSecond = plan.bytesPerSecond }
    let abort = aborts ? plan.abort : nil
    guard delays, let delay = plan.delay, delay > .zero else { return end(start, abort, token) }
    context.log(.info, "delaying the call by \(delay.roundedToMilliseconds.milliseconds) ms")
    held = (start, abort)
    heldToken = consume token
    context.after(delay) { [weak self] in
      guard let self, let (start, abort) = held, let token = heldToken.take() else { return }
      held = nil
      end(start, abort, token)
    }
  }

  private func end(
    _ start: RequestStart, _ abort: FaultPlan.Abort?, _ token: consuming RequestToken<RequestStart>
  ) {
    guard let abort else { return token.proceed(start) }
    token.fail(RPCError(abort.code, abort.message, origin: .interceptor(context.name)))
  }

  // MARK: - Messages

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) throws {
    defer { sent += 1 }
    guard let damaged = try damaged(message, &requestDamage, "message \(sent) of the request") else {
      return token.drop()
    }
    token.proceed(damaged)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) throws {
    defer { received += 1 }
    guard let damaged = try damaged(message, &responseDamage, "message \(received) of the response") else {
      return token.drop()
    }
    slow(damaged, token)
  }

  /// The message with its damage; nil if it is dropped.
  ///
  /// - Parameter name: The message, for the log.
  private func damaged(
    _ message: MessageValue, _ damage: inout FaultDamage, _ name: String
  ) throws(MessageAccessError) -> MessageValue? {
    var message = message
    let bytes = damage.needsBytes ? try message.bytes : []
    switch damage.next(bytes) {
    case .untouched: break
    case .dropped:
      context.log(.info, "dropped \(name)")
      return nil
    case .truncated(let rest):
      context.log(.info, "truncated \(name) to \(rest.count) of \(bytes.count) bytes")
      try message.setBytes(rest)
    case .corrupted(let changed):
      context.log(.info, "corrupted a byte of \(name)")
      try message.setBytes(changed)
    }
    return message
  }

  /// Forwards a message when the rate limit allows. The chain keeps the order, and pauses the network when
  /// too many bytes wait.
  private func slow(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    guard let bytesPerSecond else { return token.proceed(message) }
    let now = context.now
    let free = max(isFreeAt ?? now, now) + .seconds(Double(message.sizeBytes) / bytesPerSecond)
    isFreeAt = free
    let waiting = HeldToken(token)
    context.after(free - now) { waiting.use { $0.proceed(message) } }
  }
}

extension FaultPlan {
  /// The stages at which faults are injected.
  ///
  /// - Parameter obeysHeaders: Whether the request's headers may add faults of the call.
  func stages(obeysHeaders: Bool) -> Stages {
    var stages: Stages = []
    let isSlow = bytesPerSecond != nil || obeysHeaders
    if delay != nil || abort != nil || isSlow { stages.insert(.requestStart) }
    if !request.isNone { stages.insert(.requestMessage) }
    if !response.isNone || isSlow { stages.insert(.responseMessage) }
    return stages
  }

  /// What is done with the messages: damage makes them impossible to parse.
  var messages: MessageAccesses {
    MessageAccesses(
      request: request.changesBytes ? .opaque : .none, response: response.changesBytes ? .opaque : .none)
  }
}
