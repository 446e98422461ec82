import RPCProtocols
import Synchronization

/// Names a registration, in all of the process.
public struct RegistrationID: Hashable, Sendable {
  private static let last = Atomic(0)
  private let number = last.add(1, ordering: .relaxed).newValue

  /// Makes a name that no other registration has.
  public init() {}
}

/// An interceptor's place on the chains of a client.
public struct InterceptorRegistration: Sendable {
  /// What tells this registration from others, also of the same interceptor.
  public let id = RegistrationID()
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
/// A value: a chain that was built is not touched by later changes, which apply to calls that start after.
public struct ChainBuilder: Sendable {
  /// The interceptors in the order they were registered.
  public var registrations: [InterceptorRegistration]

  /// Makes a builder.
  public init(_ registrations: [InterceptorRegistration] = []) {
    self.registrations = registrations
  }

  /// The interceptors that calls of a method pass through, first to last on the request path: by priority,
  /// higher first, then in the order registered.
  public func order(for method: MethodName) -> [InterceptorRegistration] {
    registrations.enumerated()
      .filter { $0.element.methods.matches(method) }
      .sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
      .map(\.element)
  }

  /// Makes the chain of one call. Its interceptors are made when it starts.
  ///
  /// - Parameters:
  ///   - facts: The call.
  ///   - codec: Turns messages into bytes and back.
  ///   - environment: What the chain gets from the client.
  public func makeChain(for facts: CallFacts, codec: MessageCodec, environment: ChainEnvironment) -> Chain {
    let registrations = order(for: facts.method).filter { !environment.excluded.contains($0.id) }
    return Chain(facts: facts, registrations: registrations[...], codec: codec, environment: environment)
  }
}
