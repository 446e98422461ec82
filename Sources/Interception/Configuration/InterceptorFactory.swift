/// Makes an interceptor for each call that it wants to see.
public protocol InterceptorFactory: Sendable {
  /// Makes an interceptor for a call, or declines: that call then does not pass through it, at no cost.
  ///
  /// Called on the loop's thread, before the call starts. An error fails the call before anything is sent.
  func make(for call: CallFacts, _ context: CallContext) throws -> (any Interceptor)?
}

/// A factory made of one function.
public struct ClosureFactory: InterceptorFactory {
  private let body: @Sendable (CallFacts, CallContext) throws -> (any Interceptor)?

  /// Makes a factory that calls `body`.
  public init(_ body: @escaping @Sendable (CallFacts, CallContext) throws -> (any Interceptor)?) {
    self.body = body
  }

  /// Calls the function.
  public func make(for call: CallFacts, _ context: CallContext) throws -> (any Interceptor)? {
    try body(call, context)
  }
}
