import RPCurlCall
import RPCurlProtocols

/// A started call, for its tasks. Releasing it cancels the call, if it has not ended.
final class ActiveCall: Sendable {
  let channel = CallChannel()
  private let loop: ClientLoop
  private let number: Int

  init(_ loop: ClientLoop, _ number: Int) {
    self.loop = loop
    self.number = number
  }

  deinit {
    if !channel.hasEnded { cancel("the response was released before its end") }
  }

  static let taskCanceled = RPCError(.canceled, "the task was canceled", origin: .client)

  func start(_ request: CallRequest) {
    let (number, channel) = (number, channel)
    loop.post { $0.start(request, number, channel) }
  }

  func cancel(_ reason: String) {
    let number = number
    loop.post { $0.cancel(number, reason) }
  }

  /// Cancels the call and throws if the task is canceled.
  func checkCancellation() throws(RPCError) {
    guard Task.isCancelled else { return }
    cancel(Self.taskCanceled.message)
    throw Self.taskCanceled
  }

  /// Runs `body`, which waits for the call, and cancels the call if the task is canceled meanwhile.
  private func cancelingCall(_ body: () async -> Void) async {
    await withTaskCancellationHandler(operation: body) { cancel(Self.taskCanceled.message) }
  }

  // MARK: The request

  /// Sends a message, when there is room for it.
  ///
  /// - Returns: Whether the message is sent: false if the call has ended.
  func send(_ message: Payload) async throws(RPCError) -> Bool {
    while true {
      try checkCancellation()
      switch channel.offer(message) {
      case .accepted(let wakes):
        if wakes { sendRequests() }
        return true
      case .full: await cancelingCall { await channel.waitForRoom() }
      case .finished:
        throw RPCError(.failedPrecondition, "a message was sent after the half-close", origin: .client)
      case .ended(let end):
        guard let error = end.error else { return false }
        throw described(error, end)
      }
    }
  }

  /// Half-closes the request.
  func finishSending() {
    if channel.finishSending() { sendRequests() }
  }

  private func sendRequests() {
    let number = number
    loop.post { $0.sendRequests(number) }
  }

  // MARK: The response

  /// The next message; nil at the successful end.
  func next() async throws(RPCError) -> Payload? {
    while true {
      try checkCancellation()
      switch channel.receive() {
      case .message(let message, let resumes):
        if resumes {
          let number = number
          loop.post { $0.resumeResponse(number) }
        }
        return message
      case .end(let end):
        guard let error = end.error else { return nil }
        throw described(error, end)
      case nil: await wait { $0.hasMessage || $0.hasEnded }
      }
    }
  }

  /// The leading metadata, when the response has started.
  func headers() async throws(RPCError) -> Headers {
    while true {
      if let start = channel.start { return start.headers }
      if Task.isCancelled { throw Self.taskCanceled }
      if channel.hasEnded {
        guard let end = channel.end, let error = end.error else { return Headers() }
        throw described(error, end)
      }
      await wait { $0.hasStarted || $0.hasEnded }
    }
  }

  /// Waits for the end of a call with one message in its response.
  func message() async throws(RPCError) -> Payload {
    // Received before the end: a large message pauses the response.
    let message = try await next()
    // An error after the message counts, not the message.
    if message != nil { _ = try await next() }
    guard let message else {
      throw RPCError(.internal, "the response has no message", origin: .violation)
    }
    return message
  }

  private func wait(until isReady: @escaping @Sendable (CallChannel.View) -> Bool) async {
    await cancelingCall { await channel.waitForResponse(until: isReady) }
  }

  /// The error of the call with all metadata of the response.
  private func described(_ error: RPCError, _ end: ResponseEnd) -> RPCError {
    var error = error
    error.metadata = (channel.start?.headers ?? Headers()).appending(end.trailers)
    return error
  }
}
