import RPCurlProtocols

/// An interceptor's decision on one value.
enum Verdict: Sendable {
  case proceed(Item)
  /// This message goes on.
  case proceedMessage(MessageValue)
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

  /// Whether another value goes on, or none, except for messages that are replaced. A deadline changes no response.
  func changes(_ item: Item) -> Bool {
    switch (self, item) {
    case (.drop, _), (.taken, _): return true
    case (.proceed(.requestStart(var new)), .requestStart(let old)):
      new.deadline = old.deadline
      return new != old
    case (.proceed(.responseStart(let new)), .responseStart(let old)): return new != old
    case (.proceed(.responseEnd(let new)), .responseEnd(let old)): return new != old
    default: return false
    }
  }
}
