import Interception
import RPCProtocols

/// Injects faults into one call.
final class Fault: StagedInterceptor {
  let stages: Stages
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

  func requestBytes(_ bytes: [UInt8], _ token: consuming RequestToken<[UInt8]>) {
    defer { sent += 1 }
    switch requestDamage.next(bytes) {
    case .untouched: token.proceed(bytes)
    case .dropped:
      context.log(.info, "dropped message \(sent) of the request")
      token.drop()
    case .truncated(let rest):
      context.log(.info, "truncated message \(sent) of the request to \(rest.count) of \(bytes.count) bytes")
      token.proceed(rest)
    case .corrupted(let changed):
      context.log(.info, "corrupted a byte of message \(sent) of the request")
      token.proceed(changed)
    }
  }

  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    defer { received += 1 }
    switch responseDamage.next(bytes) {
    case .untouched: slow(bytes, token)
    case .dropped:
      context.log(.info, "dropped message \(received) of the response")
      token.drop()
    case .truncated(let rest):
      context.log(
        .info, "truncated message \(received) of the response to \(rest.count) of \(bytes.count) bytes")
      slow(rest, token)
    case .corrupted(let changed):
      context.log(.info, "corrupted a byte of message \(received) of the response")
      slow(changed, token)
    }
  }

  /// Forwards a message when the rate limit allows. The chain keeps the order, and pauses the network when
  /// too many bytes wait.
  private func slow(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    guard let bytesPerSecond else { return token.proceed(bytes) }
    let now = context.now
    let free = max(isFreeAt ?? now, now) + .seconds(Double(bytes.count) / bytesPerSecond)
    isFreeAt = free
    let waiting = HeldToken(token)
    context.after(free - now) { waiting.use { $0.proceed(bytes) } }
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
    if !request.isNone { stages.insert(.requestBytes) }
    if !response.isNone || isSlow { stages.insert(.responseBytes) }
    return stages
  }
}
