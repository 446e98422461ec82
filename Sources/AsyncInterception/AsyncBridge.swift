import Interception
import Protobuf
import RPCProtocols

/// Connects the function of an asynchronous interceptor, on any thread, with its call, on the loop's thread.
///
/// The bridge keeps the waiting tasks under a lock, so that none waits for a call that has finished.
final class AsyncBridge: Sendable {
  enum Direction { case request, response }

  private struct State {
    var outcome: Outcome?
    var finishers: [@Sendable (Outcome) -> Void] = []
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

  static let over = RPCError(.canceled, "the call has ended", origin: .client)

  /// Runs `body` on the loop's thread with a waiter, which receives an error if the call finishes first.
  private func wait<Value: Sendable>(
    _ body: @escaping @Sendable (AsyncAdapter, AsyncWaiter<Value>) -> Void
  ) async throws -> Value {
    let waiter = AsyncWaiter<Value>()
    return try await withTaskCancellationHandler {
      defer { waiter.noteResumption() }
      return try await withCheckedThrowingContinuation { continuation in
        guard waiter.wait(continuation) else { return }
        let number: Int? = state.withLock { state in
          guard state.outcome == nil else { return nil }
          state.lastWaiter += 1
          state.waiters[state.lastWaiter] = { waiter.resume(.failure($0)) }
          return state.lastWaiter
        }
        guard let number else {
          waiter.resume(.failure(Self.over))
          return
        }
        handle.post {
          // From now on the adapter resumes the waiter at the end.
          self.state.withLock { $0.waiters[number] = nil }
          if let adapter = self.adapter.value.object {
            body(adapter, waiter)
          } else {
            waiter.resume(.failure(Self.over))
          }
        }
      }
    } onCancel: {
      waiter.resume(.failure(CancellationError()))
    }
  }

  /// The next message of a direction; nil at its end.
  func nextMessage(_ direction: Direction) async throws -> Message? {
    try await wait { adapter, consumer in adapter.ask(direction, consumer) }
  }

  /// Forwards a request, and waits for the start of its response.
  func next(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    let messages = request.messages
    let start = try await wait { adapter, waiter in
      adapter.proceed(request.start, waiter) { self.pump(messages, .request) }
    }
    return InterceptedResponse(start: start, messages: Incoming(bridge: self, direction: .response))
  }

  /// Forwards messages, until they end.
  func pump(_ messages: AsyncMessages, _ direction: Direction) {
    let task = Task {
      do {
        try await drain(messages, direction)
        onLoop { $0.finish(direction, nil) }
      } catch {
        let error =
          error as? RPCError ?? RPCError(.internal, "\(error)", origin: .interceptor(self.handle.name))
        onLoop { $0.finish(direction, error) }
      }
    }
    onLoop { $0.retain(task) }
  }

  private func drain(
    _ messages: some AsyncSequence<Message, any Error> & Sendable, _ direction: Direction
  ) async throws {
    for try await message in messages {
      try await wait { adapter, waiter in adapter.emit(message, direction, waiter) }
    }
  }

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

  /// Resumes every waiting task, with the error that the call has ended.
  func finish(_ outcome: Outcome) {
    let (left, finishers) = state.withLock { state in
      state.outcome = outcome
      defer { (state.waiters, state.finishers) = ([:], []) }
      return (Array(state.waiters.values), state.finishers)
    }
    for resume in left { resume(Self.over) }
    for finisher in finishers { finisher(outcome) }
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
        let message = try await bridge.nextMessage(direction)
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
