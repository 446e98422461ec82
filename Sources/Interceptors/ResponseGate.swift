import Interception
import RPCProtocols

/// Keeps the start of a response back for as long as the call may still be tried again, for an interceptor that
/// retries.
///
/// What lets it go commits the response (gRFC A6, "When Retries are Valid"). In gRPC that is any response headers
/// but trailers-only ones. The other protocols have no such form. A unary Connect call tells an error by its HTTP
/// status. In gRPC-Web and in Connect's streams an error comes behind headers that look like those of a success, so
/// there the first message commits; or the time in which a server that fails the call at once would have done so.
final class ResponseGate {
  /// How long the headers of a stream may wait for what follows them.
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

  /// The stages at which the gate has to be told.
  var stages: Stages {
    commitsWithMessage ? [.responseStart, .responseBytes, .responseEnd] : [.responseStart, .responseEnd]
  }

  /// The headers that wait here.
  var heldHeaders: Headers? { start?.headers }

  /// Takes the start, and lets it go if it commits the response.
  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) {
    let isError = start.httpStatus != 200 || start.headers.first("grpc-status") != nil
    guard isError || commitsWithMessage else { return token.proceed(start) }
    // One of an attempt before this is void.
    self.token = consume token
    self.start = start
    if !isError { timer = context.after(Self.patience) { [weak self] in self?.open() } }
  }

  /// A message comes: the response is committed.
  func responseBytes(_ bytes: [UInt8], _ token: consuming ResponseToken<[UInt8]>) {
    open()
    token.proceed(bytes)
  }

  /// Lets the start go.
  func open() {
    stopTimer()
    guard let start, let token = token.take() else { return }
    self.start = nil
    token.proceed(start)
  }

  /// The call is tried again: the token becomes void by that, and is let go of with the next.
  func reset() {
    stopTimer()
    start = nil
  }

  private func stopTimer() {
    if let timer { context.cancel(timer) }
    timer = nil
  }
}
