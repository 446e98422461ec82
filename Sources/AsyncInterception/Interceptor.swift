import Interception
import Protobuf
import RPCProtocols

/// An interceptor written as one asynchronous function around the call.
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
  ///     `replayLimitBytes` allows it: with the start that it is given, and the messages of the first call.
  /// - Returns: The response for the caller: the one from `next`, changed or not, or one in place of a server's.
  /// - Throws: The error of the call. An `RPCError` is used unchanged; its `metadata` are the trailers of the response.
  ///   An error without metadata that is thrown after the response has ended keeps the trailers of the server.
  func intercept(_ request: inout Request, next: Next) async throws -> Response
  /// Whether a call passes through the interceptor; read once for each call. True by default.
  func applies(to call: CallFacts) -> Bool
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
  /// further messages of the caller are dropped.
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
  public func log(_ level: LogLevel, _ text: String) { bridge.handle.log(level, text) }

  /// Calls `body` once when the call is over, however it ends, with its status and metrics: to release what the
  /// interceptor holds. It is called on the loop's thread, and must not wait.
  public func onFinish(_ body: @escaping @Sendable (Outcome) -> Void) { bridge.onFinish(body) }
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

  /// Forwards a request, and waits until the response starts.
  ///
  /// In further calls the start of the request replaces the one before: method, target, headers and deadline. The messages
  /// of the request are those that the first call forwards, and `request.messages` is ignored.
  ///
  /// - Parameter request: The request, changed or not.
  /// - Returns: The response. If the server fails the call after its headers, the error is thrown by
  ///   `response.messages`, after the messages before it; a retry is possible then too.
  /// - Throws: The error of a call that ended before its response started, as most errors of gRPC servers do. Its
  ///   `metadata` are the trailers.
  public func callAsFunction(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    try await bridge.next(request)
  }
}

/// A factory that adapts an asynchronous interceptor to each call.
public struct AsyncFactory: InterceptorFactory {
  private let interceptor: any Interceptor
  private let receivesBytes: Bool

  /// Makes a factory.
  public init(_ interceptor: any Interceptor) { self.init(interceptor, receivesBytes: false) }

  /// - Parameter receivesBytes: Whether it receives request messages after all interceptors, as a server does.
  package init(_ interceptor: any Interceptor, receivesBytes: Bool) {
    self.interceptor = interceptor
    self.receivesBytes = receivesBytes
  }

  /// Makes the interceptor of one call, unless the call does not pass through it.
  public func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    interceptor.applies(to: call)
      ? AsyncAdapter(interceptor, call, context, receivesBytes: receivesBytes) : nil
  }
}
