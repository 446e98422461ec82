import RPCProtocols

/// An interceptor's decision on one value.
enum Verdict: Sendable {
  case proceed(Item)
  /// The message goes on, in this form.
  case proceedMessage(MessageForms)
  /// The value goes on unchanged.
  case asItIs
  case drop
  /// Removed; the remover injects a replacement if the direction needs one.
  case taken
  indirect case fail(RPCError, trailers: Headers = Headers())
  indirect case respond(LocalResponse)
  /// Retry the call, with this change of the request.
  indirect case retry(after: Duration, RequestChange)
  /// The token was released unused.
  case abandoned
  /// The verdict ends the call; the ending is queued already.
  case ended

  /// Whether it ends the call, or the attempt.
  var isEnding: Bool {
    switch self {
    case .fail, .respond, .retry, .abandoned, .ended: true
    case .proceed, .proceedMessage, .asItIs, .drop, .taken: false
    }
  }
}
