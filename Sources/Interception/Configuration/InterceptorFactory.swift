/// Makes an interceptor for each call.
public protocol InterceptorFactory: Sendable {
  /// The stages and effects of its interceptors, as far as they are known before a call.
  var declaration: InterceptorDeclaration { get }

  /// Makes an interceptor for a call, on the loop's thread, when the request's start reaches it.
  ///
  /// - Parameters:
  ///   - call: The facts of the call.
  ///   - context: What the interceptor may request of the call.
  /// - Returns: The interceptor; nil to decline, so that the call does not pass through it.
  /// - Throws: An error that fails the call before anything is sent.
  func make(for call: CallFacts, _ context: CallContext) throws -> (any Interceptor)?
}

extension InterceptorFactory {
  /// Nothing is declared.
  public var declaration: InterceptorDeclaration { InterceptorDeclaration() }
}

/// A factory that calls a function.
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
