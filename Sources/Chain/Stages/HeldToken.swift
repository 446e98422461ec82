/// A token that is kept for later where a non-copyable value cannot be: in a closure, an array or a task. `[any thread]`
///
/// It belongs to one thread at a time, like the token: code that passes it to another thread does not use it
/// afterwards.
public final class HeldToken<Value, Direction> {
  private var token: Token<Value, Direction>?

  /// Keeps a token. Released unused, it fails the call as the token does.
  ///
  /// - Parameter token: The token.
  public init(_ token: consuming Token<Value, Direction>) { self.token = consume token }

  /// Passes the token to `body`; does nothing if it was used before.
  ///
  /// - Parameter body: Uses the token; not called if the token was used before.
  public func use(_ body: (consuming Token<Value, Direction>) -> Void) {
    if let token = token.take() { body(token) }
  }

  /// Calls `body` with the token, which is kept; does nothing if it was used before.
  ///
  /// - Parameter body: Reads the token; not called if the token was used before.
  public func look(_ body: (borrowing Token<Value, Direction>) -> Void) {
    guard let token = token.take() else { return }
    body(token)
    self.token = consume token
  }

  /// Whether a verdict has no effect: the token was used, or the call has ended meanwhile.
  public var isVoid: Bool {
    var isVoid = true
    look { isVoid = $0.isVoid }
    return isVoid
  }
}
