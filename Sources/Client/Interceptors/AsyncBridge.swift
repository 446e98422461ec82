import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Connects the function of an asynchronous interceptor, on any thread, with its call, on the loop's thread.
///
/// The bridge keeps the waiting tasks under a lock, so that none waits for a call that has finished.
final class AsyncBridge: Sendable {
  enum Direction { case request, response }

  private struct State {
    var outcome: Outcome?
    var finishers: [@Sendable (Outcome) -> Void] = []
    var tasks: [Task<Void, Never>] = []
    var lastWaiter = 0
    var waiters: [Int: @Sendable (any Error) -> Void] = [:]
  }

  let handle: CallHandle
  private let adapter: LoopBound<AdapterReference>
  private let state = Locked(State())

  /// - Parameter adapter: The adapter; set before the function runs.
  init(_ handle: CallHandle, _ adapter: AdapterReference) {
    self.handle = handle
    self.adapter = LoopBound(adapter)
  }

  private static let over = RPCError(.canceled, "the call has ended", origin: .client)

  /// The error of the call for an error that the function, or a sequence of messages, has thrown.
  func failure(_ error: any Error) -> RPCError {
    switch error {
    case let error as RPCError: error
    case is CancellationError:
      RPCError(.canceled, "\(handle.name) was canceled", origin: .interceptor(handle.name))
    default: RPCError(.internal, "\(error)", origin: .interceptor(handle.name))
    }
  }

  /// Runs `body` on the loop's thread with a waiter, and waits for its result, or for the end of the call.
  func wait<Value: Sendable>(
    _ body: @escaping @Sendable (AsyncAdapter, AsyncWaiter<Value>) -> Void
  ) async throws -> Value {
    let waiter = AsyncWaiter<Value>()
    let number: Int? = state.withLock { state in
      guard state.outcome == nil else { return nil }
      state.lastWaiter += 1
      state.waiters[state.lastWaiter] = { waiter.resume(.failure($0)) }
      return state.lastWaiter
    }
    guard let number else { throw Self.over }
    defer {
      waiter.noteResumption()
      state.withLock { $0.waiters[number] = nil }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if waiter.wait(continuation) { onLoop { body($0, waiter) } }
      }
    } onCancel: {
      waiter.resume(.failure(CancellationError()))
    }
  }

  /// Forwards a request, and waits for its response.
  func next(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    let start = try await wait { adapter, waiter in adapter.proceed(request, waiter) }
    return InterceptedResponse(start: start, messages: Incoming(bridge: self, direction: .response))
  }

  /// Whether messages are those that the function was given, unchanged.
  func isGiven(_ messages: AsyncMessages, _ direction: Direction) -> Bool {
    guard let messages = messages as? Incoming else { return false }
    return messages.bridge === self && messages.direction == direction
  }

  /// Forwards messages, until they end.
  func pump(_ messages: AsyncMessages, _ direction: Direction) {
    run {
      do {
        try await self.drain(messages, direction)
        self.onLoop { $0.finish(direction, nil) }
      } catch {
        let error = self.failure(error)
        self.onLoop { $0.finish(direction, error) }
      }
    }
  }

  private func drain(
    _ messages: some AsyncSequence<Message, any Error> & Sendable, _ direction: Direction
  ) async throws {
    for try await message in messages {
      try await wait { adapter, waiter in adapter.emit(message, direction, waiter) }
    }
  }

  /// Runs `body` in a task, which is canceled at the end of the call.
  func run(_ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    let hasEnded = state.withLock { state in
      if state.outcome == nil { state.tasks.append(task) }
      return state.outcome != nil
    }
    if hasEnded { task.cancel() }
  }

  /// Runs `body` on the loop's thread, unless the call finishes first.
  func onLoop(_ body: @escaping @Sendable (AsyncAdapter) -> Void) {
    handle.post { if let adapter = self.adapter.value.object { body(adapter) } }
  }

  /// Calls `body` when the call is over; at once if it is.
  func onFinish(_ body: @escaping @Sendable (Outcome) -> Void) {
    let outcome: Outcome? = state.withLock { state in
      if state.outcome == nil { state.finishers.append(body) }
      return state.outcome
    }
    if let outcome { body(outcome) }
  }

  /// Resumes every waiting task with the error that the call has ended, and cancels all tasks.
  func finish(_ outcome: Outcome) {
    let ended = state.withLock { state in
      defer { state = State(outcome: outcome) }
      return state
    }
    // Waiting tasks receive the end of the call as their error, not the cancellation of the task.
    for resume in ended.waiters.values { resume(Self.over) }
    for finisher in ended.finishers { finisher(outcome) }
    for task in ended.tasks { task.cancel() }
  }
}

/// The adapter of a call, which releases it at the end. It belongs to the loop's thread.
final class AdapterReference {
  weak var object: AsyncAdapter?
}

/// The messages of a call, as they arrive.
struct Incoming: AsyncSequence, Sendable {
  typealias Element = Message
  typealias Failure = any Error

  let bridge: AsyncBridge
  let direction: AsyncBridge.Direction

  struct AsyncIterator: AsyncIteratorProtocol {
    let bridge: AsyncBridge
    let direction: AsyncBridge.Direction
    private var isOver = false

    init(_ bridge: AsyncBridge, _ direction: AsyncBridge.Direction) {
      self.bridge = bridge
      self.direction = direction
    }

    mutating func next() async throws -> Message? {
      guard !isOver else { return nil }
      do {
        let direction = direction
        let message = try await bridge.wait { adapter, consumer in adapter.ask(direction, consumer) }
        isOver = message == nil
        return message
      } catch {
        isOver = true
        throw error
      }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bridge, direction) }
}
