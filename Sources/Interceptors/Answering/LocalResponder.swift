import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Holds a call until an interceptor decides to respond locally or to forward it; plays the local response.
///
/// The request's start is held until a local response ends, so that nothing is forwarded while both
/// directions of a stream continue. A forwarded call continues unchanged.
final class LocalResponder {
  private enum State {
    /// The request is held.
    case undecided
    /// The call is forwarded.
    case passing
    /// Steps of the response are played.
    case answering
    /// The next step of the response is due after a delay.
    case delaying
    /// The response has ended.
    case ended
  }

  /// The start of the response.
  private enum Start {
    /// The script has not given it: it follows with the first message, or with the end.
    case pending
    /// It is sent before the messages that are ready.
    case due
    case sent
  }

  private let context: CallContext
  private let kind: CallKind
  private var state = State.undecided
  // The held parts of the request.
  private var start: (value: RequestStart, token: HeldToken<RequestStart, Outbound>)?
  private var messages: [(value: MessageValue, token: HeldToken<MessageValue, Outbound>)] = []
  private var end: HeldToken<Void, Outbound>?
  /// The messages of a stream that arrive during a delay. They are dropped after it, so that the window of the chain bounds
  /// the steps that are added for them.
  private var delayed: [HeldToken<MessageValue, Outbound>] = []

  // The response.
  private var steps: [ResponseScript.Step] = []
  private var next = 0
  private var requestCount = 0
  /// The number of request messages that the steps run so far have awaited.
  private var awaitedCount = 0
  private var isHalfClosed = false
  private var head = ResponseStart()
  private var responseStart = Start.pending
  private var ready: [Payload] = []
  /// The number of response messages played so far.
  private(set) var messageCount = 0
  /// Whether messages of a stream are held before the decision, so that they can be forwarded.
  private let keepsMessages: Bool

  init(_ context: CallContext, _ kind: CallKind, keepsMessages: Bool = true) {
    self.context = context
    self.kind = kind
    self.keepsMessages = keepsMessages
  }

  /// Whether the decision is pending.
  var isUndecided: Bool { if case .undecided = state { true } else { false } }

  // MARK: The request

  func take(_ value: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    start = (value, HeldToken(token))
  }

  func take(_ message: MessageValue, _ token: consuming RequestToken<MessageValue>) {
    switch state {
    case .undecided where keepsMessages || !kind.clientStreams:
      messages.append((message, HeldToken(token)))
    case .undecided: token.drop()
    case .passing: token.proceed(message)
    case .delaying where kind.clientStreams: delayed.append(HeldToken(token))
    case .answering, .delaying, .ended:
      if kind.clientStreams { return token.drop() }
      // The only message of a request cannot be removed.
      messages.append((message, HeldToken(token)))
    }
  }

  func takeEnd(_ token: consuming RequestToken<Void>) {
    if case .passing = state { token.proceed() } else { end = HeldToken(token) }
  }

  // MARK: The decision

  /// Forwards the call, with everything held of it.
  func pass() {
    state = .passing
    if let start { start.token.use { $0.proceed(start.value) } }
    for message in messages { message.token.use { $0.proceed(message.value) } }
    end?.use { $0.proceed() }
    messages = []
  }

  /// Fails the call.
  func fail(_ error: RPCError) {
    state = .ended
    start?.token.use { $0.fail(error) }
  }

  func answer() {
    if isUndecided { state = .answering }
    if kind.clientStreams {
      for message in messages { message.token.use { $0.drop() } }
      messages = []
    }
  }

  // MARK: The response

  /// Appends steps to the response and continues playing.
  func run(_ steps: [ResponseScript.Step]) {
    self.steps += steps
    goOn()
  }

  /// Replaces the remaining steps of the response and continues playing.
  func runInstead(_ steps: [ResponseScript.Step]) {
    self.steps = steps
    next = 0
    awaitedCount = 0
    goOn()
  }

  /// Counts a request message, for steps that wait for it.
  func countRequest() {
    requestCount += 1
    goOn()
  }

  /// Records the half-close, for steps that wait for it.
  func noteHalfClose() {
    isHalfClosed = true
    goOn()
  }

  private func goOn() {
    guard case .answering = state else { return }
    while next < steps.count {
      let step = steps[next]
      switch step {
      case .event(.requestMessage):
        if requestCount <= awaitedCount, !isHalfClosed { return releaseAll() }
        awaitedCount += 1
      case .event(.requestEnd):
        if !isHalfClosed { return releaseAll() }
      case .event(.responseStart(let start)):
        head = start
        if case .pending = responseStart { responseStart = .due }
      case .event(.responseMessage(let message)):
        guard let message else { break }
        ready.append(message)
        messageCount += 1
      case .event(.responseEnd(let end)): return finish(end)
      case .event(.requestStart), .event(.metrics): break
      case .wait(let delay):
        next += 1
        guard delay > .zero else { continue }
        release()
        state = .delaying
        context.after(delay) { [weak self] in self?.endDelay() }
        return
      }
      next += 1
    }
    steps = []
    next = 0
    releaseAll()
  }

  private func endDelay() {
    guard case .delaying = state else { return }
    state = .answering
    goOn()
  }

  /// Sends the response messages that are ready, and lets further messages of the request arrive.
  private func releaseAll() {
    release()
    for token in delayed { token.use { $0.drop() } }
    delayed = []
  }

  /// Sends the response messages that are ready, while the call continues.
  private func release() {
    // A unary response is sent at once.
    guard kind.serverStreams else { return }
    switch responseStart {
    case .pending where ready.isEmpty: return
    case .pending, .due:
      responseStart = .sent
      context.start(response: head)
    case .sent: break
    }
    for message in ready { context.inject(response: message) }
    ready = []
  }

  private func finish(_ end: ResponseEnd) {
    state = .ended
    steps = []
    if case .pending = responseStart, ready.isEmpty, let error = end.error {
      // Without a start, like the failure of a server that has sent nothing else: it can be retried.
      start?.token.use { $0.fail(error, trailers: end.trailers) }
      return
    }
    // Sent with the end: a separate end would discard messages sent just before it.
    var response = LocalResponse(
      headers: head.headers, messages: ready, error: end.error, trailers: end.trailers)
    response.httpStatus = head.httpStatus
    start?.token.use { $0.respond(response) }
    ready = []
  }
}
