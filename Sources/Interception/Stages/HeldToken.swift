/// A token that is kept for later, where a token itself cannot be: in a closure, an array or a task.
///
/// It belongs to one thread at a time, like the token; code that hands it to another thread does not use it after that.
public final class HeldToken<Value, Direction> {
  private var token: Token<Value, Direction>?

  /// Keeps a token. Let go unused, it fails the call as the token would.
  public init(_ token: consuming Token<Value, Direction>) { self.token = consume token }

  /// Gives the token up to `body`; does nothing when it was given up before.
  public func use(_ body: (consuming Token<Value, Direction>) -> Void) {
    if let token = token.take() { body(token) }
  }

  /// Lets `body` look at the token, which stays; does nothing when it was given up before.
  public func look(_ body: (borrowing Token<Value, Direction>) -> Void) {
    guard let token = token.take() else { return }
    body(token)
    self.token = consume token
  }

  /// Whether nothing said with the token will be heard: it was given up, or the call has ended meanwhile.
  public var isVoid: Bool {
    var isVoid = true
    look { isVoid = $0.isVoid }
    return isVoid
  }
}
