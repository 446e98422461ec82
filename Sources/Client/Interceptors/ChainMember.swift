import RPCurlChain

/// What may be in the list of a client's interceptors: an interceptor, or a registration with a place and a scope.
public protocol ChainMember: Sendable {
  /// The interceptor's place on the chain.
  var registration: InterceptorRegistration { get }
}

extension InterceptorRegistration: ChainMember {
  /// The registration itself.
  public var registration: InterceptorRegistration { self }
}
