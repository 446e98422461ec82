import Interception
import RPCProtocols

/// Holds the start of a response while the call may still be retried, for an interceptor that retries.
///
/// Releasing the start commits the response (gRFC A6, "When Retries are Valid"). In gRPC, any response
/// headers that are not trailers-only commit. Other protocols have no trailers-only form. A unary Connect
/// error is identified by its HTTP status. In gRPC-Web and in Connect's streams an error follows headers that
/// look like those of a success, so there the first message commits, or a timeout within which a server that
/// fails the call immediately would have responded.
final class ResponseGate {
  /// The maximum time to hold the headers of a stream.
  private static let patience = Duration.seconds(1)

  private let context: CallContext
  private let commitsWithMessage: Bool
  private var token: ResponseToken<ResponseStart>?
  private var start: ResponseStart?
  private var timer: CallTimer?

  init(_ facts: CallFacts, _ context: CallContext) {
    self.context = context
    commitsWithMessage =
      switch facts.protocolName {
      case .grpc: false
      case .grpcWeb: true
      case .connect: facts.kind != .unary
      }
  }

  /// The stages that the gate must observe.
  var stages: Stages {
    commitsWithMessage ? [.responseStart, .responseBytes, .responseEnd] : [.responseStart, .responseEnd]
  }

  /// The held headers.
  var heldHeaders: Headers? { start?.headers }

  /// Holds the start, or forwards it if it commits the response.
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    let isError = start.httpStatus != 200 || start.headers.first("grpc-status") != nil
    guard isError || commitsWithMessage else { return token.proceed(start) }
    // The token of an earlier attempt is void.
    self.token = consume token
    self.start = start
    if !isError { timer = context.after(Self.patience) { [weak self] in self?.open() } }
  }

  /// Commits the response, since a message was received.
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    open()
    token.proceed(bytes)
  }

  /// Forwards the start.
  func open() {
    stopTimer()
    guard let start, let token = token.take() else { return }
    self.start = nil
    token.proceed(start)
  }

  /// Prepares for the next attempt: the token becomes void, and is released with the next one.
  func reset() {
    stopTimer()
    start = nil
  }

  private func stopTimer() {
    if let timer { context.cancel(timer) }
    timer = nil
  }
}
