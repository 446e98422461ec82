import RPCurlProtocols

/// The messages of a response, as they arrive.
///
/// The stream is read once, by one task. While it is not read, flow control pauses the server. If the stream and its
/// iterators are released before the end, the call is canceled.
public struct ResponseStream<Output: Sendable>: AsyncSequence, Sendable {
  /// The error of the call.
  public typealias Failure = RPCError

  let call: ActiveCall
  let decode: @Sendable (Payload) throws(RPCError) -> Output

  /// The leading metadata; waits until the response has started.
  ///
  /// - Throws: The error of a call that ended before.
  public var headers: Headers {
    get async throws(RPCError) { try await call.headers() }
  }

  /// The trailing metadata; nil before all messages are read.
  public var trailers: Headers? { call.channel.end?.trailers }

  /// Cancels the call: its error has the code `canceled` and this message.
  ///
  /// - Parameter reason: The message of the error `canceled`.
  public func cancel(_ reason: String = "the caller canceled the call") { call.cancel(reason) }

  /// Makes the iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

  /// Receives the messages of a response.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let stream: ResponseStream

    /// The next message; nil at the successful end of the call.
    ///
    /// - Throws: The error of the call. If the task is canceled, the call is canceled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(RPCError) -> Output? {
      guard let payload = try await stream.call.next() else { return nil }
      do throws(RPCError) {
        return try stream.decode(payload)
      } catch {
        stream.call.cancel(error.message)
        throw error
      }
    }
  }
}
