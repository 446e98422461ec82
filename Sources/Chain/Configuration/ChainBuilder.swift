import RPCurlProtocols

/// The interceptors of a client, and how a call's chain is made of them.
///
/// A value: changes do not affect chains that were built before, only calls that start later.
package struct ChainBuilder: Sendable {
  /// The interceptors in the order they were registered.
  package var registrations: [InterceptorRegistration]

  /// Makes a builder.
  package init(_ registrations: [InterceptorRegistration] = []) {
    self.registrations = registrations
  }

  /// All interceptors, first to last on the request path.
  ///
  /// - Throws: An error if their placements contradict each other, or name an interceptor that is not on the chain, or if
  ///   one of those for all calls receives typed messages that another has made impossible to parse.
  package func order() throws(ConfigurationError) -> [InterceptorRegistration] {
    let order = try ChainOrder(registrations).sorted()
    if let conflict = MessageFlow.conflict(among: order.filter { $0.scope == .all }) { throw conflict }
    return order
  }

  /// Makes the chain of one call. Its interceptors are made when the call starts. If they cannot be ordered, the call
  /// fails before anything is sent.
  ///
  /// - Parameters:
  ///   - facts: The facts of the call.
  ///   - headers: The headers that the caller gives.
  ///   - attributes: The attributes that the caller gives.
  ///   - codec: Turns messages into bytes and back.
  ///   - environment: What the client provides.
  package func makeChain(
    for facts: CallFacts, headers: Headers = Headers(), attributes: CallAttributes = CallAttributes(),
    codec: MessageCodec, environment: ChainEnvironment
  ) -> Chain {
    var facts = facts
    facts.isSubrequest = !environment.excluded.isEmpty
    guard !registrations.isEmpty else {
      return Chain(
        facts: facts, registrations: [], codec: codec, environment: environment,
        family: ChainFamily([], attributes))
    }
    var selected: [InterceptorRegistration]
    do throws(ConfigurationError) {
      selected = try order().filter { registration in
        !environment.excluded.contains(registration.id)
          && registration.scope.mismatch(kind: facts.kind, target: facts.target, headers: headers) == nil
      }
      let likely = selected.filter { $0.scope.mismatch(method: facts.method, attributes) == nil }
      if let conflict = MessageFlow.conflict(among: likely) { throw conflict }
    } catch {
      let failure = RPCError(.invalidArgument, error.description, origin: .interceptor(error.interceptor))
      selected = [
        InterceptorRegistration(name: error.interceptor, factory: ClosureFactory { _, _ in throw failure })
      ]
    }
    selected += selected.compactMap(\.innermost)
    return Chain(
      facts: facts, registrations: selected[...], codec: codec, environment: environment,
      family: ChainFamily(selected[...], attributes))
  }
}

extension InterceptorRegistration {
  /// The registration of the second interceptor that the factory makes for each call. It has the same identity.
  fileprivate var innermost: InterceptorRegistration? {
    guard let factory = factory.innermost else { return nil }
    var innermost = self
    innermost.factory = factory
    return innermost
  }
}
