import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

/// A value passed to a plugin, with its token, until the token is used.
// Sendable because its variables require the lock.
final class HeldValue: @unchecked Sendable {
  let stage: Stage
  /// The call, whose lock is shared by all its values because there are many.
  let call: PluginCall
  /// Whether it is a message that has no place in the call.
  let isLocal: Bool
  /// Whether it is from message_new.
  let isMade: Bool
  // The following members require the lock.
  private var value: CallEvent<MessageValue>
  private var token: AnyToken?
  /// Whether the call had ended when the token was last checked.
  private var wasVoid: Bool
  private var arena: Arena?

  init(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken, in call: PluginCall) {
    stage = token.stage
    self.call = call
    (isLocal, isMade) = (false, false)
    self.value = value
    self.token = consume token
    wasVoid = false
  }

  /// A message that has no place in the call: its token cannot be used.
  init(_ message: Message, _ access: MessageAccess, in call: PluginCall) {
    stage = .responseMessage
    self.call = call
    (isLocal, isMade) = (true, access.mayChange)
    value = .responseMessage(MessageValue(local: message, access))
    token = nil
    wasVoid = true
  }

  /// Whether the call has ended in the meantime; once the token is used, whether it had ended before.
  var isVoid: Bool {
    with(token: { $0.isVoid }) { isVoid in
      if let isVoid { wasVoid = isVoid }
      return wasVoid
    }
  }

  /// Reads or changes the value; texts in the arena stay valid until the token is used.
  func with<Result>(_ body: (inout CallEvent<MessageValue>, Arena) throws -> Result) throws -> Result {
    try call.lock.holding {
      let arena = arena ?? Arena()
      self.arena = arena
      return try body(&value, arena)
    }
  }

  /// Forwards the value, if its token was not used.
  func proceed() {
    call.lock.lock()
    let token = token.take()
    // Removed together with the token: other threads now find nothing to change here.
    var value = CallEvent<MessageValue>.requestEnd
    if token != nil {
      swap(&value, &self.value)
      if stage == .requestEnd || stage == .responseEnd { call.forwardedEnds.insert(stage.set) }
    }
    call.lock.unlock()
    // The chain is notified after the lock is released, as by all that use the token.
    token?.proceed(value)
  }

  /// Removes the token, to use it; nil if it was used.
  func take() -> AnyToken? {
    call.lock.holding { token.take() }
  }

  /// Why a retry after this delay would forward the value; nil if it would retry the call. `[loop's thread]`
  func obstacle(toRetryAfter pause: Duration) -> RetryObstacle? {
    with(token: { $0.obstacle(toRetryAfter: pause) }) { $0 ?? nil }
  }

  /// Injects a message before the value, whose token stays valid.
  func inject(_ message: Payload) throws(ABIFailure) {
    let isVoid = with(token: { token in
      token.inject(message)
      return token.isVoid
    }) { $0 }
    guard let isVoid else { throw ABIFailure(RPCURL_EUSED, "the token was already used") }
    if isVoid { throw ABIFailure(RPCURL_EENDED, "the call has ended") }
  }

  /// Reads the token, which stays valid; nil if it was used.
  private func with<Read, Result>(
    token read: (borrowing AnyToken) -> Read, _ body: (Read?) -> Result
  ) -> Result {
    call.lock.holding {
      guard let token = token.take() else { return body(nil) }
      let result = read(token)
      self.token = consume token
      return body(result)
    }
  }
}
