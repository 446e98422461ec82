import RPCurlChain
import RPCurlProtocols

/// Holds one call until the limit admits it, or fails it.
final class Limit: StagedInterceptor {
  let stages: Stages = [.requestStart, .responseEnd]
  let requirements = InterceptorRequirements(holdsForLong: true)
  private let limiter: Limiter
  private let waits: Bool
  private let isSubrequest: Bool
  private let context: CallContext
  private var place: Limiter.Place?
  private var held: RequestStart?
  private var token: RequestToken<RequestStart>?

  init(_ limiter: Limiter, waits: Bool, isSubrequest: Bool, _ context: CallContext) {
    self.limiter = limiter
    self.waits = waits
    self.isSubrequest = isSubrequest
    self.context = context
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    let handle = context.handle
    let receive = LoopBound { [weak self] (signal: Limiter.Signal, place: Limiter.Place) in
      self?.receive(signal, place)
    }
    let place = Limiter.Place(isSubrequest: isSubrequest) { place, signal in
      handle.post { receive.value(signal, place) }
    }
    switch limiter.enter(place, waits: waits, at: context.now) {
    case .admitted:
      self.place = place
      token.proceed(start)
    case .waiting(let reason):
      context.log(.debug, "waiting: \(reason)")
      self.place = place
      held = start
      self.token = consume token
    case .refused(let reason):
      token.fail(RPCError(.resourceExhausted, reason, origin: .interceptor(context.name)))
    }
  }

  private func receive(_ signal: Limiter.Signal, _ place: Limiter.Place) {
    switch signal {
    case .admitted:
      guard let start = held, let token = token.take() else { return }
      held = nil
      token.proceed(start)
    case .tryLater(let delay):
      context.after(delay) { [limiter, context] in limiter.tryAgain(place, at: context.now) }
    }
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    leave()
    token.proceed(end)
  }

  func finish(_ outcome: Outcome) { leave() }

  private func leave() {
    if let place = place.take() { limiter.leave(place, at: context.now) }
  }
}
