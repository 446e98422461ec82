import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// The outermost interceptor of a call with break points. It receives the request as the client has sent it, and the response as the
/// client receives it.
///
/// It holds one value of a call at a time. Those that follow it in its direction wait, and the other direction up to a value that
/// matches.
final class BreakInterceptor: StagedInterceptor {
  let stages: Stages
  let messages: MessageAccesses
  let requirements: InterceptorRequirements
  private let number: Int
  private let call: CallFacts
  private let context: CallContext
  private let controller: BreakController
  private let begin: MonotonicClock.Instant
  /// What has arrived and was not decided on. The window of the chain limits it.
  private var waiting: [BreakPoint.Side: [Waiting]] = [:]
  /// The value that is held.
  private var held: Waiting?
  /// How the start of the request passes on, which waits for the message of a method with only one, so that nothing reaches a server
  /// before it.
  private var start: HeldToken<RequestStart, Outbound>?
  private var requestStart: RequestStart?
  private var responseHeaders = Headers()
  private var hasResponse = false

  private struct Waiting {
    let value: HeldValue
    let pass: (Message?) -> Void
  }

  init(
    _ number: Int, _ call: CallFacts, _ sides: Set<BreakPoint.Side>, _ context: CallContext,
    _ controller: BreakController
  ) {
    (self.number, self.call, self.context, self.controller) = (number, call, context, controller)
    begin = context.now
    // What follows a held value waits in the chain, which needs less memory for it. The start of another request waits here for the
    // message that follows it.
    requirements = InterceptorRequirements(isSerial: call.kind.clientStreams, holdsForLong: true)
    stages = Stages(
      (sides.contains(.request) ? [Stages.request] : []) + (sides.contains(.response) ? [.response] : []))
    messages = MessageAccesses(call.isOpaque ? .none : .changeTyped)
  }

  // MARK: The request

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    requestStart = start
    let token = HeldToken(token)
    guard call.kind.clientStreams else { return self.start = token }
    wait(.request, .start) { _ in token.use { $0.proceed(start) } }
  }

  func requestMessage(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    let token = HeldToken(token)
    wait(.request, .message(try? message.typed), message.sizeBytes) { [weak self] changed in
      self?.passStart()
      token.use { $0.proceed(message.changed(to: changed)) }
    }
  }

  func requestEnd(_ token: consuming RequestToken<Void>) {
    // A request without a message is not held.
    if waiting[.request, default: []].isEmpty, held == nil { passStart() }
    token.proceed()
  }

  private func passStart() {
    guard let requestStart else { return }
    start?.use { $0.proceed(requestStart) }
    start = nil
  }

  // MARK: The response

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    responseHeaders = start.headers
    token.proceed(start)
  }

  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    let token = HeldToken(token)
    wait(.response, .message(try? message.typed), message.sizeBytes) { [weak self] changed in
      self?.hasResponse = true
      token.use { $0.proceed(message.changed(to: changed)) }
    }
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) {
    // It is only observed.
    guard !token.isVoid else { return token.proceed(end) }
    let token = HeldToken(token)
    wait(.response, .end(end)) { _ in token.use { $0.proceed(end) } }
  }

  func finish(_ outcome: Outcome) {
    waiting = [:]
    held = nil
    controller.finished(number, outcome.end)
  }

  // MARK: Decisions

  private func wait(
    _ side: BreakPoint.Side, _ content: HeldValue.Content, _ sizeBytes: Int = 0,
    _ pass: @escaping (Message?) -> Void
  ) {
    var value = HeldValue(
      call: number, method: call.method, side: side, content: content,
      headers: side == .request ? requestStart?.headers ?? Headers() : responseHeaders,
      responseType: call.isOpaque ? nil : call.responseType, latency: context.now - begin,
      sizeBytes: sizeBytes)
    if case .end = content { value.hasResponse = hasResponse && !call.kind.serverStreams }
    waiting[side, default: []].append(Waiting(value: value, pass: pass))
    advance()
  }

  private func advance() {
    for side in BreakPoint.Side.allCases {
      while held?.value.side != side, let next = waiting[side]?.first {
        if held != nil, controller.points.matches(next.value) { break }
        waiting[side]?.removeFirst()
        if held == nil, controller.holds(next.value, of: self) { held = next } else { next.pass(nil) }
      }
    }
  }

  /// Passes the value that is held on, with this message if it is one.
  func proceed(_ message: Message?) {
    let pass = held?.pass
    held = nil
    pass?(message)
    advance()
  }

  func fail(_ error: RPCError) { context.fail(error) }

  func respond(_ message: Message) { context.respond(LocalResponse(messages: [.typed(message)])) }
}

extension MessageValue {
  /// The value with another message; the same for nil.
  fileprivate func changed(to message: Message?) -> MessageValue {
    guard let message else { return self }
    var value = self
    // Only typed messages are given to users.
    try? value.setTyped(message)
    return value
  }
}
