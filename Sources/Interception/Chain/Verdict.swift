import RPCProtocols

/// What an interceptor said about one value.
enum Verdict: Sendable {
  case proceed(Item)
  /// The value goes on as it came.
  case asItIs
  case drop
  /// The value is taken out by somebody who sees to it that another takes its place, where one must.
  case taken
  indirect case fail(RPCError)
  indirect case respond(LocalResponse)
  /// Try the call again, with these headers changed in the request.
  indirect case retry(after: Duration, headers: Headers)
  /// The token was let go unused.
  case abandoned
  /// The call is to end because of it; that is noted already.
  case ended

  /// Whether the call, or the attempt, is to end because of it.
  var isEnding: Bool {
    switch self {
    case .fail, .respond, .retry, .abandoned, .ended: true
    case .proceed, .asItIs, .drop, .taken: false
    }
  }
}
