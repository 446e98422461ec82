import RPCProtocols

/// An interceptor's place on the chains of a client.
public struct InterceptorRegistration: Sendable {
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

  /// Asks every factory, and makes the chain of one call.
  ///
  /// - Parameters:
  ///   - facts: The call.
  ///   - codec: Turns messages into bytes and back.
  ///   - windowBytes: How many bytes may wait in the chain, for each direction, before it asks the input or the
  ///     network to pause.
  ///   - log: Where interceptors' log records go; called on any thread.
  ///   - wake: Called, on any thread, when `Chain.processMail()` should be called on the loop's thread.
  /// - Throws: The error of a factory that failed. The interceptors made before it have been finished.
  public func makeChain(
    for facts: CallFacts, codec: MessageCodec, windowBytes: Int = Chain.defaultWindowBytes,
    log: @escaping LogSink = { _ in }, wake: @escaping @Sendable () -> Void
  ) throws(RPCError) -> Chain {
    let mailbox = Mailbox(wake: wake)
    var links: [Link] = []
    for registration in order(for: facts.method) {
      let context = CallContext(name: registration.name, mailbox: mailbox, sink: log)
      do {
        guard let interceptor = try registration.factory.make(for: facts, context) else { continue }
        links.append(Link(name: registration.name, interceptor: interceptor))
      } catch {
        let error =
          error as? RPCError
          ?? RPCError(.internal, "\(error)", origin: .interceptor(registration.name))
        for link in links.reversed() { link.interceptor.finish(Outcome(end: ResponseEnd(error: error))) }
        throw error
      }
    }
    return Chain(facts: facts, links: links, codec: codec, windowBytes: windowBytes, mailbox: mailbox)
  }
}
