import Interception
import Protobuf
import RPCProtocols

/// An interceptor that is written as one asynchronous function around the call.
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
/// The function runs on Swift's own threads, and its work goes to the loop and back: convenient, and slower than
/// an `Interceptor`. One function runs for each call, and is cancelled when the call ends without it.
public protocol AsyncInterceptor: Sendable {
  /// Sees one call: what is to be sent, and, from `next`, what comes back.
  ///
  /// - Parameters:
  ///   - request: The call's start, and its messages as they come.
  ///   - next: Sends the request on. Called again it tries the call again, where `replayLimitBytes` allows it.
  /// - Returns: What the caller is to see: what `next` gave, changed or not; or, without calling `next`, an answer
  ///   in place of a server's.
  /// - Throws: What the call is to fail with. An `RPCError` is taken as it is.
  func intercept(_ request: AsyncRequest, next: AsyncNext) async throws -> AsyncResponse
  /// How many bytes of the request are kept so that `next` can be called again; 0 when it is called once.
  var replayLimitBytes: Int { get }
}

extension AsyncInterceptor {
  /// `next` is called once.
  public var replayLimitBytes: Int { 0 }
}

/// Messages that come one after the other.
public typealias AsyncMessages = any AsyncSequence<Message, any Error> & Sendable

/// A request on its way to the server.
public struct AsyncRequest: Sendable {
  /// Method, target, headers and deadline.
  public var start: RequestStart
  /// The messages; may be wrapped or replaced. The half-close goes on when they have ended.
  public var messages: AsyncMessages
}

/// A response on its way to the caller.
public struct AsyncResponse: Sendable {
  /// HTTP's status and the leading metadata.
  public var start: ResponseStart
  /// The messages; may be wrapped or replaced. They end when the call has ended well, and throw its error otherwise.
  public var messages: AsyncMessages
  /// Changes the trailing metadata, when it comes.
  public var changeTrailers: @Sendable (Headers) -> Headers = { $0 }

  /// Makes an answer that no server gave.
  public init(start: ResponseStart = ResponseStart(), messages: [Message] = []) {
    self.start = start
    self.messages = AsyncThrowingStream { continuation in
      for message in messages { continuation.yield(message) }
      continuation.finish()
    }
  }

  /// Makes a response whose messages come one after the other.
  ///
  /// As an answer that no server gave, each message goes to the caller when it is there, and the next is asked for
  /// when the caller takes more.
  public init(start: ResponseStart = ResponseStart(), messages: AsyncMessages) {
    self.start = start
    self.messages = messages
  }
}

/// Sends a request on.
public struct AsyncNext: Sendable {
  let bridge: AsyncBridge

  /// Sends a request on, and waits until the response starts.
  ///
  /// - Throws: The error of a call that ended before.
  public func callAsFunction(_ request: AsyncRequest) async throws -> AsyncResponse {
    try await bridge.next(request)
  }
}

/// Makes an interceptor of an asynchronous one for each call.
public struct AsyncFactory: InterceptorFactory {
  private let interceptor: any AsyncInterceptor

  /// Makes a factory.
  public init(_ interceptor: any AsyncInterceptor) {
    self.interceptor = interceptor
  }

  /// Makes the interceptor of one call, which it never declines.
  public func make(for call: CallFacts, _ context: CallContext) -> (any Interceptor)? {
    AsyncAdapter(interceptor, call.kind, context)
  }
}
