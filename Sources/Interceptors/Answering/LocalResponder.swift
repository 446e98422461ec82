import Interception
import Protobuf
import RPCProtocols

/// Where a call waits until it is decided who answers it, and is answered if it is answered here.
///
/// The request's start is held to the end of an answer that is given here, so that nothing goes further in, and a
/// stream may go on in both directions. What an interceptor decides to let through goes on as it came.
final class LocalResponder {
  private enum State {
    case undecided
    case passing
    case answering
  }

  private let context: CallContext
  private let kind: CallKind
  private var state = State.undecided
  // What is held of the request.
  private var start: (value: RequestStart, token: HeldToken<RequestStart, Outbound>)?
  private var messages: [(value: Message, token: HeldToken<Message, Outbound>)] = []
  private var end: HeldToken<Void, Outbound>?

  // The answer.
  private var steps: [ResponseScript.Step] = []
  private var next = 0
  private var requestCount = 0
  private var isHalfClosed = false
  private var headers = Headers()
  private var isStartDue = false
  private var hasStarted = false
  private var ready: [Payload] = []
  private var isWaiting = false
  private var hasEnded = false
  /// How many messages of the answer have been reached.
  private(set) var messageCount = 0
  /// Whether what comes of a stream before the decision is kept, to be let through.
  var keepsMessages = true

  init(_ context: CallContext, _ kind: CallKind) {
    self.context = context
    self.kind = kind
  }

  /// Whether it is still to be decided who answers.
  var isUndecided: Bool { if case .undecided = state { true } else { false } }

  // MARK: The request

  func take(_ value: RequestStart, _ token: consuming RequestToken<RequestStart>) {
    start = (value, HeldToken(token))
  }

  func take(_ message: Message, _ token: consuming RequestToken<Message>) {
    switch state {
    case .undecided where keepsMessages || !kind.clientStreams:
      messages.append((message, HeldToken(token)))
    case .undecided: token.drop()
    case .passing: token.proceed(message)
    case .answering where kind.clientStreams: token.drop()
    // The only message of a request cannot be taken out.
    case .answering: messages.append((message, HeldToken(token)))
    }
  }

  func takeEnd(_ token: consuming RequestToken<Void>) {
    if case .passing = state { token.proceed() } else { end = HeldToken(token) }
  }

  // MARK: The decision

  /// Lets the call through, with all that has come of it.
  func pass() {
    state = .passing
    if let start { start.token.use { $0.proceed(start.value) } }
    for message in messages { message.token.use { $0.proceed(message.value) } }
    end?.use { $0.proceed() }
    messages = []
  }

  /// Fails the call.
  func fail(_ error: RPCError) {
    state = .answering
    hasEnded = true
    start?.token.use { $0.fail(error) }
  }

  /// Answers the call here, by what `run` is given.
  func answer() {
    state = .answering
    if kind.clientStreams {
      for message in messages { message.token.use { $0.drop() } }
      messages = []
    }
  }

  // MARK: The answer

  /// Adds to the answer, and goes on with it.
  func run(_ steps: [ResponseScript.Step]) {
    self.steps += steps
    goOn()
  }

  /// Goes on with these instead of what is left of the answer.
  func runInstead(_ steps: [ResponseScript.Step]) {
    self.steps = steps
    next = 0
    goOn()
  }

  /// Notes that a request message has come, for the steps that wait for it.
  func countRequest() {
    requestCount += 1
    goOn()
  }

  /// Notes the half-close, for the steps that wait for it.
  func noteHalfClose() {
    isHalfClosed = true
    goOn()
  }

  private func goOn() {
    guard case .answering = state, !isWaiting, !hasEnded else { return }
    while next < steps.count {
      let step = steps[next]
      switch step {
      case .awaitRequests(let count) where requestCount < count && !isHalfClosed: return release()
      case .awaitHalfClose where !isHalfClosed: return release()
      case .awaitRequests, .awaitHalfClose: break
      case .start(let headers):
        self.headers = headers
        isStartDue = true
      case .message(let message):
        ready.append(message)
        messageCount += 1
      case .wait(let delay):
        next += 1
        guard delay > .zero else { continue }
        release()
        isWaiting = true
        context.after(delay) { [weak self] in
          self?.isWaiting = false
          self?.goOn()
        }
        return
      case .end(let error, let trailers): return finish(error, trailers)
      }
      next += 1
    }
    steps = []
    next = 0
    release()
  }

  /// Gives out what is ready, while the call goes on.
  private func release() {
    // An answer that is no stream is given in one piece.
    guard kind.serverStreams, isStartDue || !ready.isEmpty else { return }
    if !hasStarted {
      hasStarted = true
      context.start(response: ResponseStart(headers: headers))
    }
    for message in ready { context.inject(response: message) }
    ready = []
  }

  private func finish(_ error: RPCError?, _ trailers: Headers) {
    hasEnded = true
    steps = []
    // With the end at once: what was given out a moment ago would be taken back by it.
    let response = LocalResponse(headers: headers, messages: ready, error: error, trailers: trailers)
    start?.token.use { $0.respond(response) }
    ready = []
  }
}
