import Interception
import Protobuf
import RPCProtocols

/// A token of any stage.
///
/// It is not an event of the call, although there is one case for each stage: a token cannot be copied and is used
/// once, and its type says which verdicts its stage allows.
enum StageToken: ~Copyable, Sendable {
  case requestStart(RequestToken<RequestStart>)
  case requestMessage(RequestToken<Message>)
  case requestBytes(RequestToken<[UInt8]>)
  case requestEnd(RequestToken<Void>)
  case responseStart(ResponseToken<ResponseStart>)
  case responseBytes(ResponseToken<[UInt8]>)
  case responseMessage(ResponseToken<Message>)
  case responseEnd(ResponseToken<ResponseEnd>)
  case metrics(ReportToken<CallMetrics>)

  var isVoid: Bool {
    switch self {
    case .requestStart(let token): token.isVoid
    case .requestMessage(let token): token.isVoid
    case .requestBytes(let token): token.isVoid
    case .requestEnd(let token): token.isVoid
    case .responseStart(let token): token.isVoid
    case .responseBytes(let token): token.isVoid
    case .responseMessage(let token): token.isVoid
    case .responseEnd(let token): token.isVoid
    case .metrics(let token): token.isVoid
    }
  }

  /// Forwards the value. A value of another stage, which cannot occur, would fail the call.
  consuming func proceed(_ value: CallEvent<Payload>) {
    switch consume self {
    case .requestStart(let token): if case .requestStart(let start) = value { token.proceed(start) }
    case .requestMessage(let token): if case .typed(let message)? = value.message { token.proceed(message) }
    case .requestBytes(let token): if case .bytes(let bytes)? = value.message { token.proceed(bytes) }
    case .requestEnd(let token): token.proceed()
    case .responseStart(let token): if case .responseStart(let start) = value { token.proceed(start) }
    case .responseBytes(let token): if case .bytes(let bytes)? = value.message { token.proceed(bytes) }
    case .responseMessage(let token): if case .typed(let message)? = value.message { token.proceed(message) }
    case .responseEnd(let token): if case .responseEnd(let end) = value { token.proceed(end) }
    case .metrics(let token): if case .metrics(let metrics) = value { token.proceed(metrics) }
    }
  }

  /// Fails the call; metrics, which follow it, are forwarded unchanged.
  consuming func fail(_ error: RPCError, trailers: Headers) {
    switch consume self {
    case .requestStart(let token): token.fail(error, trailers: trailers)
    case .requestMessage(let token): token.fail(error, trailers: trailers)
    case .requestBytes(let token): token.fail(error, trailers: trailers)
    case .requestEnd(let token): token.fail(error, trailers: trailers)
    case .responseStart(let token): token.fail(error, trailers: trailers)
    case .responseBytes(let token): token.fail(error, trailers: trailers)
    case .responseMessage(let token): token.fail(error, trailers: trailers)
    case .responseEnd(let token): token.fail(error, trailers: trailers)
    case .metrics: break
    }
  }

  /// Responds to the call locally; request stages only.
  consuming func respond(_ response: LocalResponse) {
    switch consume self {
    case .requestStart(let token): token.respond(response)
    case .requestMessage(let token): token.respond(response)
    case .requestBytes(let token): token.respond(response)
    case .requestEnd(let token): token.respond(response)
    default: break
    }
  }

  /// Drops the message; message stages only.
  consuming func drop() {
    switch consume self {
    case .requestMessage(let token): token.drop()
    case .requestBytes(let token): token.drop()
    case .responseMessage(let token): token.drop()
    case .responseBytes(let token): token.drop()
    default: break
    }
  }

  /// Retries the call; response stages only.
  consuming func retry(after pause: Duration, _ headers: Headers) {
    switch consume self {
    case .responseStart(let token): token.retry(after: pause, headers: headers)
    case .responseBytes(let token): token.retry(after: pause, headers: headers)
    case .responseMessage(let token): token.retry(after: pause, headers: headers)
    case .responseEnd(let token): token.retry(after: pause, headers: headers)
    default: break
    }
  }

  /// Why a retry after this delay would forward the value; nil if the call would be retried. Response stages only.
  borrowing func obstacle(toRetryAfter pause: Duration) -> RetryObstacle? {
    switch self {
    case .responseStart(let token): token.obstacle(toRetryAfter: pause)
    case .responseBytes(let token): token.obstacle(toRetryAfter: pause)
    case .responseMessage(let token): token.obstacle(toRetryAfter: pause)
    case .responseEnd(let token): token.obstacle(toRetryAfter: pause)
    default: nil
    }
  }

  /// Injects a message before the value; messages and ends only.
  borrowing func inject(_ message: Payload) {
    switch self {
    case .requestMessage(let token): token.inject(message)
    case .requestBytes(let token): token.inject(message)
    case .requestEnd(let token): token.inject(message)
    case .responseMessage(let token): token.inject(message)
    case .responseBytes(let token): token.inject(message)
    case .responseEnd(let token): token.inject(message)
    default: break
    }
  }
}
