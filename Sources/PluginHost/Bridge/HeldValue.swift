import CPluginABI
import Interception
import Protobuf
import RPCProtocols

/// A value passed to a plugin, with its token, until the token is used.
// Sendable because its variables require the lock.
final class HeldValue: @unchecked Sendable {
  let stage: Stage
  /// The call's number.
  let call: UInt64
  /// The call's lock, shared by all its values because there are many.
  private let lock: Lock
  // The following members require the lock.
  private var value: CallEvent<Payload>
  private var token: StageToken?
  /// Whether the call had ended when the token was last checked.
  private var wasVoid: Bool
  private var arena: Arena?

  init(
    _ stage: Stage, call: UInt64, _ lock: Lock, _ value: CallEvent<Payload>, _ token: consuming StageToken
  ) {
    self.lock = lock
    self.stage = stage
    self.call = call
    self.value = value
    self.token = consume token
    wasVoid = false
  }

  /// A message that is only read: its token cannot be used.
  init(_ message: Message, call: UInt64, _ lock: Lock) {
    self.lock = lock
    stage = .responseMessage
    self.call = call
    value = .responseMessage(.typed(message))
    token = nil
    wasVoid = true
  }

  /// Whether the call has ended in the meantime; once the token is used, whether it had ended before.
  var isVoid: Bool {
    lock.holding {
      guard let token = token.take() else { return wasVoid }
      wasVoid = token.isVoid
      self.token = consume token
      return wasVoid
    }
  }

  /// Reads or changes the value; texts in the arena stay valid until the token is used.
  func with<Result>(
    _ body: (inout CallEvent<Payload>, Arena) throws(ABIFailure) -> Result
  ) throws(ABIFailure) -> Result {
    try lock.holding { () throws(ABIFailure) -> Result in
      let arena = arena ?? Arena()
      self.arena = arena
      return try body(&value, arena)
    }
  }

  // Each of these uses the token. The chain is notified after the lock is released.

  func proceed() {
    lock.lock()
    let token = token.take()
    // Removed together with the token: other threads now find nothing to change here.
    var value = CallEvent<Payload>.requestEnd
    if token != nil { swap(&value, &self.value) }
    lock.unlock()
    token?.proceed(value)
  }

  func fail(_ error: RPCError, trailers: Headers = Headers()) {
    let token = takeToken()
    token?.fail(error, trailers: trailers)
  }

  func respond(_ response: LocalResponse) {
    let token = takeToken()
    token?.respond(response)
  }

  func drop() {
    let token = takeToken()
    token?.drop()
  }

  /// Retries the call from here. If that is not possible, the value is forwarded unchanged.
  func retry(after pause: Duration, _ headers: Headers) {
    let token = takeToken()
    token?.retry(after: pause, headers)
  }

  /// Why ``retry(after:_:)`` would forward the value; nil if it would retry the call. `[loop's thread]`
  func obstacle(toRetryAfter pause: Duration) -> RetryObstacle? {
    lock.holding {
      guard let token = token.take() else { return nil }
      let obstacle = token.obstacle(toRetryAfter: pause)
      self.token = consume token
      return obstacle
    }
  }

  /// Injects a message before the value, whose token stays valid.
  func inject(_ message: Payload) throws(ABIFailure) {
    try lock.holding { () throws(ABIFailure) in
      guard let token = token.take() else { throw ABIFailure(RPCURL_EUSED, "the token was already used") }
      let isVoid = token.isVoid
      token.inject(message)
      self.token = consume token
      if isVoid { throw ABIFailure(RPCURL_EENDED, "the call has ended") }
    }
  }

  private func takeToken() -> StageToken? {
    lock.lock()
    defer { lock.unlock() }
    return token.take()
  }
}
