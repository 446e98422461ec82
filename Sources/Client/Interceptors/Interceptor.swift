import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// An interceptor written as one asynchronous function around the call. `[any thread]`
///
/// ```swift
/// struct Tenant: Interceptor {
///   func intercept(_ request: inout Request, next: Next) async throws -> Response {
///     request.headers["x-tenant"] = "blue"
///     return try await next(request)
///   }
/// }
/// ```
///
/// The function runs on the threads of Swift's concurrency runtime, and each value crosses to the loop's thread and
/// back: this is convenient, and slower than a `StagedInterceptor`. One function runs for each call, and is cancelled if the
/// call ends first.
public protocol Interceptor: ChainMember {
  /// Handles one call.
  ///
  /// - Parameters:
  ///   - request: The call's start, and its messages as they arrive.
  ///   - next: Forwards the request, and returns the response. A second call of it retries the call, if
  ///     `replayLimitBytes` allows it: with the start that it is given, and the messages of the first call. Otherwise it
  ///     throws the error of the attempt before it, or `internal` if that attempt succeeded or its error was thrown again already.
  /// - Returns: The response for the caller: the one from `next`, changed or not, or one in place of a server's.
  /// - Throws: The error of the call. An `RPCError` is used unchanged; its `metadata` are the trailers of the response.
  ///   An error without metadata that is thrown after the response has ended keeps the trailers of the server.
  func intercept(_ request: inout Request, next: Next) async throws -> Response
  /// Whether a call passes through the interceptor; read once for each call. True by default.
  ///
  /// - Parameter call: What is known of the call before it starts.
  func applies(to call: CallFacts) -> Bool
  /// What the interceptor does with the messages of each direction; read once for each call. By default it receives typed
  /// messages, and may change them.
  ///
  /// - `none`: it receives no messages of the direction, and leaves `messages` unchanged. Nothing is parsed for it.
  /// - `readTyped`: it receives typed messages, and may remove them. Another message fails the call.
  /// - The forms of bytes are an error of the configuration, which fails each call: a `StagedInterceptor` receives bytes.
  var messages: MessageAccesses { get }
  /// How many bytes of the request are kept so that `next` can be called again; 0, the default, if it is called once.
  var replayLimitBytes: Int { get }
}

extension Interceptor {
  /// The request of a call.
  public typealias Request = InterceptedRequest
  /// The response of a call.
  public typealias Response = InterceptedResponse
  /// The rest of the chain.
  public typealias Next = NextInterceptor

  /// Every call passes through the interceptor.
  public func applies(to call: CallFacts) -> Bool { true }
  /// Typed messages that may be changed.
  public var messages: MessageAccesses { MessageAccesses() }
  /// `next` is called once.
  public var replayLimitBytes: Int { 0 }
  /// A registration for all calls, with the name of the type.
  public var registration: InterceptorRegistration {
    InterceptorRegistration(name: "\(Self.self)", factory: AsyncFactory(self))
  }
}

/// A sequence of messages that arrive one after the other.
public typealias AsyncMessages = any AsyncSequence<Message, any Error> & Sendable

/// A request on its way to the server. It has the members of its start: `request.headers` is `request.start.headers`.
@dynamicMemberLookup
public struct InterceptedRequest: Sendable {
  /// Method, target, headers and deadline.
  public var start: RequestStart
  /// The messages; may be wrapped or replaced. The half-close is sent when they have ended: for a stream at once, and
  /// further messages of the caller are dropped. Messages that are left unchanged do not pass through the task of the
  /// interceptor.
  public var messages: AsyncMessages
  /// What is known of the call before it starts.
  public let call: CallFacts
  let bridge: AsyncBridge

  /// A member of the start.
  public subscript<Member>(dynamicMember path: WritableKeyPath<RequestStart, Member>) -> Member {
    get { start[keyPath: path] }
    set { start[keyPath: path] = newValue }
  }

  /// Writes to the log, with the interceptor's name.
  ///
  /// - Parameters:
  ///   - level: The severity.
  ///   - text: The text, one line.
  public func log(_ level: LogLevel, _ text: String) { bridge.handle.log(level, text) }

  /// Calls `body` once when the call is over, however it ends, with its status and metrics: to release what the
  /// interceptor holds. It is called on the loop's thread, and must not wait.
  ///
  /// - Parameter body: Receives the end of the call and its metrics.
  public func onFinish(_ body: @escaping @Sendable (Outcome) -> Void) { bridge.onFinish(body) }

  /// Makes a unary call of the interceptor's own, which passes through the other interceptors, not through this one.
  ///
  /// ```swift
  /// let token = try await request.call(Subrequest(method: MethodName(service: "auth.v1.Auth", method: "Token")))
  /// ```
  ///
  /// - Parameter call: The method, the serialized message and the timeout.
  /// - Returns: The response; its `end` has the error of a call that failed.
  /// - Throws: An error if the intercepted call ends first, which cancels the own call unless it is lingering;
  ///   `CancellationError` if the task is canceled.
  public func call(_ call: Subrequest) async throws -> SubrequestResponse {
    try await bridge.wait { adapter, waiter in adapter.call(call, waiter) }
  }

  /// Makes a plain HTTP request, to a token server for example.
  ///
  /// - Parameter fetch: The URL, the headers, the body and the timeout.
  /// - Returns: The response, with any HTTP status.
  /// - Throws: The error of a request without a response; an error if the intercepted call ends first, which cancels the
  ///   request; `CancellationError` if the task is canceled.
  public func fetch(_ fetch: HTTPFetch) async throws -> HTTPFetchResponse {
    try await bridge.wait { adapter, waiter in adapter.fetch(fetch, waiter) }
  }
}

/// A response on its way to the caller. It has the members of its start: `response.headers` is `response.start.headers`.
@dynamicMemberLookup
public struct InterceptedResponse: Sendable {
  /// The HTTP status and the leading metadata.
  public var start: ResponseStart
  /// The messages; may be wrapped or replaced. They end if the call succeeds, and throw its error otherwise, whose
  /// `metadata` are the trailers.
  ///
  /// The call of a response that is returned ends when they have ended. If a stream ends before the server's, the call
  /// ends with the status `ok` and without the server's trailers, and the request is canceled.
  public var messages: AsyncMessages
  /// Changes the trailing metadata, when it arrives.
  public var changeTrailers: @Sendable (Headers) -> Headers = { $0 }

  /// A member of the start.
  public subscript<Member>(dynamicMember path: WritableKeyPath<ResponseStart, Member>) -> Member {
    get { start[keyPath: path] }
    set { start[keyPath: path] = newValue }
  }

  /// Makes a response in place of a server's.
  public init(start: ResponseStart = ResponseStart(), messages: [Message] = []) {
    self.start = start
    self.messages = AsyncThrowingStream { continuation in
      for message in messages { continuation.yield(message) }
      continuation.finish()
    }
  }

  /// Makes a response from a sequence of messages.
  ///
  /// In place of a server's response, each message goes to the caller as soon as it exists, and the next is requested
  /// when the caller takes more.
  public init(start: ResponseStart = ResponseStart(), messages: AsyncMessages) {
    self.start = start
    self.messages = messages
  }
}

/// Forwards a request.
public struct NextInterceptor: Sendable {
  let bridge: AsyncBridge

  /// Forwards a request, and waits for its response.
  ///
  /// For a method with one response message, it waits for the message or the end of the call. For a stream, it returns when
  /// the response starts, or throws if the start shows the end: a gRPC response without messages, or an error of HTTP.
  ///
  /// In further calls the start of the request replaces the one before: method, target, headers and deadline. The messages
  /// of the request are those that the first call forwards, and `request.messages` is ignored.
  ///
  /// - Parameter request: The request, changed or not.
  /// - Returns: The response. An error that the server sends later, after messages or in the trailers of a stream, is thrown by
  ///   `response.messages`; a retry is possible then too.
  /// - Throws: The error of the call. Its `metadata` are the trailers.
  public func callAsFunction(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    try await bridge.next(request)
  }
}

/// A factory that adapts an asynchronous interceptor to each call.
public struct AsyncFactory: InterceptorFactory {
  private let interceptor: any Interceptor

  /// Makes a factory.
  ///
  /// - Parameter interceptor: The interceptor of all calls.
  public init(_ interceptor: any Interceptor) { self.interceptor = interceptor }

  /// Makes the interceptor of one call, unless the call does not pass through it.
  ///
  /// - Throws: An error if the interceptor declares that it receives bytes.
  public func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    guard interceptor.applies(to: call) else { return nil }
    let messages = interceptor.messages
    for access in [messages.request, messages.response] where access.isBytes {
      throw ConfigurationError(
        interceptor: context.name,
        reason: "an asynchronous interceptor receives typed messages and cannot declare \(access): "
          + "declare changeTyped, readTyped or none, or make it a StagedInterceptor")
    }
    return AsyncAdapter(interceptor, messages, call, context)
  }
}
