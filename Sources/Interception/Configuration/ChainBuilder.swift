import RPCProtocols
import Synchronization

/// Identifies a registration in the process.
package struct RegistrationID: Hashable, Sendable {
  /// The number of the last registration. Global, because all registrations of the process have different numbers.
  private static let last = Atomic(0)
  private let number = last.add(1, ordering: .relaxed).newValue

  /// Makes an identity that no other registration has.
  package init() {}
}

/// An interceptor's place on the chains of a client.
public struct InterceptorRegistration: Sendable {
  /// Identifies this registration among others, also of the same interceptor.
  package let id = RegistrationID()
  /// The name in logs and errors.
  public var name: String
  /// Makes the interceptor for each call.
  public var factory: any InterceptorFactory
  /// Higher comes first on the request path, nearer to the caller.
  public var priority: Int
  /// The methods whose calls pass through it.
  public var methods: MethodPattern

  /// Makes a registration.
  public init(
    name: String, factory: any InterceptorFactory, priority: Int = 0, methods: MethodPattern = .all
  ) {
    self.name = name
    self.factory = factory
    self.priority = priority
    self.methods = methods
  }
}

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

  /// The interceptors that calls of a method pass through, first to last on the request path: by priority,
  /// higher first, then in the order registered.
  package func order(for method: MethodName) -> [InterceptorRegistration] {
    registrations.enumerated()
      .filter { $0.element.methods.matches(method) }
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  /// Makes the chain of one call. Its interceptors are made when the call starts.
  ///
  /// - Parameters:
  ///   - facts: The facts of the call.
  ///   - codec: Turns messages into bytes and back.
  ///   - environment: What the client provides.
  package func makeChain(for facts: CallFacts, codec: MessageCodec, environment: ChainEnvironment) -> Chain {
    let registrations = order(for: facts.method).filter { !environment.excluded.contains($0.id) }
    return Chain(facts: facts, registrations: registrations[...], codec: codec, environment: environment)
  }
}
