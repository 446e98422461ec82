/// Makes an interceptor for each call.
public protocol InterceptorFactory: Sendable {
  /// The stages and effects of its interceptors, as far as they are known before a call.
  var declaration: InterceptorDeclaration { get }

  /// The factory of a second interceptor for the same calls, next to the transport: further in than all others, also
  /// those that retry, so that each attempt has one. Nil for none. Read once for each call.
  var innermost: (any InterceptorFactory)? { get }

  /// Makes an interceptor for a call, when the request's start reaches it. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - call: The facts of the call.
  ///   - context: What the interceptor may request of the call.
  /// - Returns: The interceptor; nil to decline, so that the call does not pass through it.
  /// - Throws: An error that fails the call before anything is sent.
  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)?

  /// A client will make calls through the factory: before the first of them, once for each client. `[loop's thread]`
  ///
  /// - Parameter network: What the factory may request outside of calls.
  func attach(_ network: FactoryNetwork)

  /// A call has finished: starts to send what is collected, if the factory sends it somewhere. `[loop's thread]`
  ///
  /// - Parameter network: What the factory may request outside of calls.
  func callFinished(_ network: FactoryNetwork)

  /// No call follows: writes or sends what is collected of all calls. `[loop's thread]`
  ///
  /// - Parameters:
  ///   - network: Makes requests, also after this method has returned.
  ///   - completion: To be called once, on the loop's thread, when everything is sent or has failed.
  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void)
}

extension InterceptorFactory {
  /// Nothing is declared.
  public var declaration: InterceptorDeclaration { InterceptorDeclaration() }
  /// Makes no second interceptor.
  public var innermost: (any InterceptorFactory)? { nil }
  /// Requests nothing outside of calls.
  public func attach(_ network: FactoryNetwork) {}
  /// Sends nothing.
  public func callFinished(_ network: FactoryNetwork) {}
  /// Has nothing to write or to send.
  public func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    completion()
  }
}

/// A factory that collects something of all calls, for `conclude`. A session keeps it until its end, also if its interceptor
/// is removed.
package protocol CollectingFactory: InterceptorFactory {}

/// A factory that calls a function.
public struct ClosureFactory: InterceptorFactory {
  private let body: @Sendable (CallFacts, CallContext) throws -> (any StagedInterceptor)?

  /// Makes a factory that calls `body`.
  ///
  /// - Parameter body: Makes the interceptor of one call; nil if the call does not pass through it. Called on the loop's thread.
  public init(_ body: @escaping @Sendable (CallFacts, CallContext) throws -> (any StagedInterceptor)?) {
    self.body = body
  }

  /// Calls the function.
  public func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    try body(call, context)
  }
}
