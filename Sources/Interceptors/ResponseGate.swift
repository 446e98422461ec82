import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Holds the response while the call may still be retried, for an interceptor that retries.
///
/// Releasing the start commits the response (gRFC A6, "When Retries are Valid"). In gRPC, any response
/// headers that are not trailers-only commit. Other protocols have no trailers-only form. A unary Connect
/// error is identified by its HTTP status. In gRPC-Web and in Connect's streams an error follows headers that
/// look like those of a success, so there the first message commits, or a timeout within which a server that
/// fails the call immediately would have responded.
final class ResponseGate {
  /// What commits a response.
  enum Commitment {
    /// Headers that do not show an error.
    case headers
    /// The first message, or a time after the headers.
    case message(within: Duration)
    /// The interceptor, at the end of the response.
    case decision

    /// The rule of a protocol.
    ///
    /// - Parameter patience: How long headers are held for a message; nil is what suits the protocol, 0 does not hold
    ///   them.
    init(_ facts: CallFacts, patience: Duration? = nil) {
      if let patience {
        self = patience > .zero ? .message(within: patience) : .headers
        return
      }
      let showsErrorInHeaders =
        switch facts.protocolName {
        case .grpc: true
        case .grpcWeb: false
        case .connect: facts.kind == .unary
        }
      self = showsErrorInHeaders ? .headers : .message(within: .seconds(1))
    }
  }

  private let context: CallContext
  private let commitment: Commitment
  private var token: ResponseToken<ResponseStart>?
  private var start: ResponseStart?
  private var held: [(message: MessageValue, token: HeldToken<MessageValue, Inbound>)] = []
  /// The tokens of the messages of an earlier attempt, which are void when the next one starts.
  private var stale: [HeldToken<MessageValue, Inbound>] = []
  private var timer: CallTimer?

  /// Makes the gate of a call.
  init(_ commitment: Commitment, _ context: CallContext) {
    self.context = context
    self.commitment = commitment
  }

  /// The stages that the gate must observe.
  var stages: Stages {
    switch commitment {
    case .headers: [.responseStart, .responseEnd]
    case .message, .decision: [.responseStart, .responseMessage, .responseEnd]
    }
  }

  /// The held headers.
  var heldHeaders: Headers? { start?.headers }

  /// Holds the start, or forwards it if it commits the response.
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    let isError = start.showsEnd
    if !isError, case .headers = commitment { return token.proceed(start) }
    // The tokens of an earlier attempt are void.
    stale = []
    self.token = consume token
    self.start = start
    if !isError, case .message(let patience) = commitment {
      timer = context.after(patience) { [weak self] in self?.open() }
    }
  }

  /// Holds a message, if the interceptor decides at the end; otherwise commits the response, since a message was received.
  func responseMessage(_ message: MessageValue, _ token: consuming ResponseToken<MessageValue>) {
    if case .decision = commitment { return held.append((message, HeldToken(token))) }
    open()
    token.proceed(message)
  }

  /// Forwards what is held.
  func open() {
    stopTimer()
    if let start, let token = token.take() {
      self.start = nil
      token.proceed(start)
    }
    let held = held
    self.held = []
    for (message, token) in held { token.use { $0.proceed(message) } }
  }

  /// Prepares for the next attempt: the tokens become void, and are released with the next ones.
  func reset() {
    stopTimer()
    start = nil
    stale += held.map(\.token)
    held = []
  }

  /// Holds the start until `open` or `reset`, while the interceptor decides about the end.
  func stopTimer() {
    if let timer { context.cancel(timer) }
    timer = nil
  }
}
