import Interception
import Protobuf
import RPCProtocols

/// An interceptor written as one asynchronous function around the call.
///
/// ```swift
/// struct Stamp: AsyncInterceptor {
///   func intercept(_ request: AsyncRequest, next: AsyncNext) async throws -> AsyncResponse {
///     var request = request
///     request.start.headers.set("x-stamp", try await fetchStamp())
///     return try await next(request)
///   }
/// }
/// ```
///
/// The function runs on the threads of Swift's concurrency runtime, and each value crosses to the loop's thread and
/// back: this is convenient, and slower than an `Interceptor`. One function runs for each call, and is cancelled if the
/// call ends first.
public protocol AsyncInterceptor: Sendable {
  /// Handles one call.
  ///
  /// - Parameters:
  ///   - request: The call's start, and its messages as they arrive.
  ///   - next: Forwards the request, and returns the response. A second call of it retries the call, if
  ///     `replayLimitBytes` allows it.
  /// - Returns: The response for the caller: the one from `next`, changed or not, or one in place of a server's.
  /// - Throws: The error of the call. An `RPCError` is used unchanged.
  func intercept(_ request: AsyncRequest, next: AsyncNext) async throws -> AsyncResponse
  /// How many bytes of the request are kept so that `next` can be called again; 0 if it is called once.
  var replayLimitBytes: Int { get }
}

extension AsyncInterceptor {
  /// `next` is called once.
  public var replayLimitBytes: Int { 0 }
}

/// A sequence of messages that arrive one after the other.
public typealias AsyncMessages = any AsyncSequence<Message, any Error> & Sendable

/// A request on its way to the server.
public struct AsyncRequest: Sendable {
  /// Method, target, headers and deadline.
  public var start: RequestStart
  /// The messages; may be wrapped or replaced. The half-close is sent when they have ended.
  public var messages: AsyncMessages
}

/// A response on its way to the caller.
public struct AsyncResponse: Sendable {
  /// The HTTP status and the leading metadata.
  public var start: ResponseStart
  /// The messages; may be wrapped or replaced. They end if the call succeeds, and throw its error otherwise.
  public var messages: AsyncMessages
  /// Changes the trailing metadata, when it arrives.
  public var changeTrailers: @Sendable (Headers) -> Headers = { $0 }

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
public struct AsyncNext: Sendable {
  let bridge: AsyncBridge

  /// Forwards a request, and waits until the response starts.
  ///
  /// - Throws: The error of a call that ended before its response started.
  public func callAsFunction(_ request: AsyncRequest) async throws -> AsyncResponse {
    try await bridge.next(request)
  }
}

/// A factory that adapts an asynchronous interceptor to each call.
public struct AsyncFactory: InterceptorFactory {
  private let interceptor: any AsyncInterceptor

  /// Makes a factory.
  public init(_ interceptor: any AsyncInterceptor) {
    self.interceptor = interceptor
  }

  /// Makes the interceptor of one call; it never declines.
  public func make(for call: CallFacts, _ context: CallContext) -> (any Interceptor)? {
    AsyncAdapter(interceptor, call.kind, context)
  }
}
