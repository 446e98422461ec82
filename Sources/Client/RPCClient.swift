import RPCurlBase
import RPCurlCall
import struct RPCurlCall.ReflectionRequest
import class RPCurlCall.Reflector
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Synchronization

/// Calls the methods of a server. `[any thread]`
///
/// ```swift
/// let schema = try Schema(descriptorSet: "demo.binpb")
/// try await withRPCClient("http://localhost:50051", schema: schema) { client in
///   let reply = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"], timeout: .seconds(10))
///   print(try reply.message["message"] as String)
/// }
/// ```
///
/// A client may be used by several tasks at once: their calls share connections. It has a thread of its own, which ends in
/// `close`, or soon after the client is released. Unfinished calls then end with the code `canceled`. A program must close its
/// clients before it ends: if a thread ends while `exit` runs, OpenSSL may crash.
public final class RPCClient: Sendable {
  /// The server: `http[s]://host[:port][/prefix]`, without a final slash.
  public let target: String
  /// The options of all calls.
  public let options: ClientOptions

  /// The target, or why it is invalid.
  private let server: Result<String, RPCError>
  private let loop: ClientLoop
  private let resolver: MethodResolver
  private let chain: ClientInterceptors
  /// The number of the last call, or request for a schema.
  private let lastNumber: Numbers

  /// The numbers of calls.
  private final class Numbers: Sendable {
    private let last = Atomic(0)
    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
  }

  /// Makes a client. It connects when it makes the first call.
  ///
  /// - Parameters:
  ///   - target: The server: `http[s]://host[:port][/prefix]`. If it is invalid, all calls fail with the code
  ///     `invalidArgument`.
  ///   - schema: Where the client finds methods and the types of their messages.
  ///   - options: The options of all calls.
  ///   - interceptors: The interceptors of all calls, first to last on the request path; `addInterceptor` adds others.
  public init(
    _ target: String, schema: Schema, options: ClientOptions = ClientOptions(),
    interceptors: [any ChainMember] = []
  ) {
    let server = Result { () throws(RPCError) in try TargetSyntax.checked(target) }
    self.server = server
    self.target = (try? server.get()) ?? target
    self.options = options
    let chain = ClientInterceptors(interceptors)
    let (loop, numbers) = (ClientLoop(), Numbers())
    resolver = MethodResolver(schema) { (service) throws(RPCError) in
      var request = ReflectionRequest(
        .symbols([service]), target: try server.get(), userAgent: options.userAgent)
      request.headers = options.headers
      request.protocolName = options.protocolName
      request.connection = options.connection(for: .bidiStreaming, try server.get())
      request.interceptors = chain.current
      return try await loop.descriptorSet(request, numbers.next())
    }
    self.chain = chain
    self.loop = loop
    lastNumber = numbers
    loop.start(options)
  }

  deinit { beginClose() }

  /// Cancels unfinished calls, waits until interceptors have written or sent what they collected, for five seconds at
  /// most, closes all connections, and ends the client's thread. Later calls fail with the code `canceled`.
  public func close() async {
    beginClose()
    await loop.waitForClose()
  }

  private func beginClose() {
    let (chain, log) = (chain, options.log)
    loop.post { $0.beginClose(chain.all, log: log) }
  }

  // MARK: Interceptors

  /// The interceptors of calls that start now, in the order in which they were added.
  public var interceptors: [InterceptorRegistration] { chain.current }

  /// Adds an interceptor after the others, unless its registration has another place. It may be called on any thread, while
  /// calls run: calls that start later pass through the interceptor, and those that have started do not.
  ///
  /// ```swift
  /// let tenant = client.addInterceptor(Tenant())
  /// _ = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
  /// client.removeInterceptor(tenant)
  /// ```
  ///
  /// - Parameter interceptor: The interceptor, or a registration with a place and a scope.
  /// - Returns: The registration, to remove the interceptor.
  @discardableResult
  public func addInterceptor(_ interceptor: any ChainMember) -> InterceptorRegistration {
    let registration = interceptor.registration
    chain.add(registration)
    return registration
  }

  /// Removes an interceptor. It may be called on any thread, while calls run: calls that have started keep the interceptor.
  /// What it has collected of calls, as a recording, is written when the client closes.
  ///
  /// - Parameter registration: One of `interceptors`.
  /// - Returns: Whether the client had the interceptor.
  @discardableResult
  public func removeInterceptor(_ registration: InterceptorRegistration) -> Bool {
    chain.remove(registration)
  }

  // MARK: Calls

  /// Finds a method with dynamic messages. With ``Schema/reflection``, the server is asked for the schema of its service, if no earlier
  /// response contained it.
  ///
  /// ```swift
  /// let hello: UnaryMethod = try await client.method("demo.v1.Demo/Hello")
  /// let reply = try await client.unary(hello, ["name": "Ada"])
  /// ```
  ///
  /// With another schema it is ``Schema/method(_:)``. Runs on the actor of the caller.
  ///
  /// - Parameter name: The method: `pkg.Service/Method`.
  /// - Returns: The method, for any client and on any thread.
  /// - Throws: `RPCError` with the code `unimplemented` if the schema does not have the method, with similar names; `invalidArgument`
  ///   if the name has another form, or the method another kind; the error of the request for the schema. If the task is canceled,
  ///   the request is canceled.
  public func method<Kind>(_ name: String) async throws(RPCError) -> RPCMethod<FieldValue, Message, Kind> {
    RPCMethod(try await descriptor(name, Kind.kind, messages: nil))
  }

  /// Starts a call.
  ///
  /// - Parameter message: The only message of the request; nil for a stream.
  func start<Input, Output>(
    _ method: ResolvedMethod<Input, Output>, _ parameters: CallParameters, _ message: Payload? = nil
  ) -> ActiveCall {
    let call = ActiveCall(loop, lastNumber.next())
    if let message { call.channel.prepare(message) }
    let interceptors = chain.forCall(with: parameters.interceptors)
    call.start(options.request(method, target, interceptors, parameters))
    return call
  }

  /// Finds a method, and checks its kind and the names of its messages.
  ///
  /// - Parameters:
  ///   - text: The method: `pkg.Service/Method`.
  ///   - kind: Which sides are streams.
  ///   - messages: The names of its messages; nil for those of the schema.
  package func descriptor(
    _ text: String, _ kind: CallKind, messages: MessageNames?
  ) async throws(RPCError) -> MethodDescriptor {
    _ = try server.get()
    return try await resolver.method(text, MethodSignature(kind: kind, messages: messages))
  }

  /// Finds a method with dynamic messages for a call.
  func resolve(_ name: String, _ kind: CallKind) async throws(RPCError) -> ResolvedMethod<FieldValue, Message>
  {
    ResolvedMethod(try await descriptor(name, kind, messages: nil), codec: options.codec)
  }

  /// Finds a type of messages; nil if it is not known.
  func messageType(named name: String) async -> MessageType? { await resolver.messageType(named: name) }

  /// Prepares a method for a call.
  func resolve<Input, Output, Kind>(
    _ method: RPCMethod<Input, Output, Kind>
  ) throws(RPCError) -> ResolvedMethod<Input, Output> {
    _ = try server.get()
    return try method.resolve(resolver, options.codec)
  }
}

/// Runs `body` with a client, which is closed afterwards: all calls have then ended, and all interceptors have finished.
/// `[any thread]`
///
/// - Parameters:
///   - target: The server: `http[s]://host[:port][/prefix]`. If it is invalid, all calls fail with the code
///     `invalidArgument`.
///   - schema: Where the client finds methods and the types of their messages.
///   - options: The options of all calls.
///   - interceptors: The interceptors of all calls, first to last on the request path.
///   - body: Uses the client.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
public func withRPCClient<Result>(
  _ target: String, schema: Schema, options: ClientOptions = ClientOptions(),
  interceptors: [any ChainMember] = [], _ body: (RPCClient) async throws -> Result
) async throws -> Result {
  let client = RPCClient(target, schema: schema, options: options, interceptors: interceptors)
  do {
    let result = try await body(client)
    await client.close()
    return result
  } catch {
    await client.close()
    throw error
  }
}

extension ClientLoop {
  /// Requests the descriptor set of a schema. If the task is canceled, the request is canceled.
  fileprivate nonisolated func descriptorSet(
    _ request: ReflectionRequest, _ number: Int
  ) async throws(RPCError) -> [UInt8] {
    // The handler may run before the request is posted.
    let isCanceled = Locked(false)
    let result: Result<[UInt8], RPCError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        post { loop in
          guard !isCanceled.withLock({ $0 }) else {
            return continuation.resume(returning: .failure(ActiveCall.taskCanceled))
          }
          loop.reflect(request, number) { continuation.resume(returning: $0) }
        }
      }
    } onCancel: {
      isCanceled.withLock { $0 = true }
      post { $0.cancelReflection(number) }
    }
    return try result.get()
  }
}
