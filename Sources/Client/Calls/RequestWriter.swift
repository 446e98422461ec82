import RPCurlProtocols

/// Sends the messages of a request.
public struct RequestWriter<Input: Sendable>: Sendable {
  let call: ActiveCall
  let encode: @Sendable (Input) throws(RPCError) -> Payload

  /// Sends a message. Waits while the window of the connection is full.
  ///
  /// - Parameter message: The message.
  /// - Throws: The error of the call, if it has failed; `failedPrecondition` if the server has ended the call, or after
  ///   `finish`; the error of a message that the method cannot have. If the task is canceled, the call is canceled.
  public func send(_ message: Input) async throws(RPCError) {
    guard try await call.send(try encode(message)) else {
      throw RPCError(.failedPrecondition, "the server has ended the call", origin: .client)
    }
  }

  /// Sends messages as they arrive, until the sequence or the call ends.
  ///
  /// - Parameter messages: The messages. The sequence is iterated on the actor of the caller.
  /// - Throws: The errors of `send`, and of the sequence: a `CancellationError` becomes an `RPCError` with the code `canceled`. If the
  ///   task is canceled, also after the last message, the call is canceled.
  public func send<Messages: AsyncSequence>(contentsOf messages: Messages) async throws
  where Messages.Element == Input {
    do {
      for try await message in messages {
        guard try await call.send(try encode(message)) else { return }
      }
    } catch {
      throw RPCError(thrown: error) ?? error
    }
    // A sequence may end early when the task is canceled.
    if !call.channel.hasEnded { try call.checkCancellation() }
  }

  /// Half-closes the request: no more messages follow. Further calls do nothing.
  public func finish() { call.finishSending() }
}
