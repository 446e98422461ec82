import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// What a call has received since its consumer was notified.
struct ResponseBatch {
  var start: ResponseStart?
  var messages: [Payload] = []
  var bytes = 0
  var end: ResponseEnd?
}

/// What a call has in both directions between its tasks and the loop's thread. `[any thread]`
///
/// Messages cross in batches, so that a thread is woken for each batch and not for each message. Both directions are
/// bounded: `deliver` returns whether the response continues, and `offer` whether the sender must wait.
final class CallChannel: Sendable {
  /// The messages and bytes that wait in a direction before its source pauses.
  static let limit = (count: 2048, bytes: 256 << 10)

  /// The result of an attempt to send.
  enum Offer {
    /// The loop sends the message; `wakes` if the loop must be woken for it.
    case accepted(wakes: Bool)
    /// The sender must wait.
    case full
    /// The request was half-closed.
    case finished
    /// The call has ended.
    case ended(ResponseEnd)
  }

  /// The result of an attempt to receive.
  enum Reception {
    /// A message; `resumes` if the response was paused and continues now.
    case message(Payload, resumes: Bool)
    /// The call has ended.
    case end(ResponseEnd)
  }

  private enum Sending {
    /// Messages may be added.
    case open
    /// The request was half-closed, and the loop has not taken the half-close.
    case finished
    /// The loop has taken the half-close.
    case taken
  }

  private struct State {
    var start: ResponseStart?
    var inbox = Inbox()
    var isPaused = false
    var end: ResponseEnd?
    var outbox: [Payload] = []
    var outboxBytes = 0
    var sending = Sending.open
    /// Whether the loop will take the outbox.
    var isScheduled = false
    /// Whether the chain takes more of the request.
    var isWanted = true
    var readers: [Waiter] = []
    var writers: [Waiter] = []

    var hasRoom: Bool {
      isWanted && outbox.count < CallChannel.limit.count && outboxBytes < CallChannel.limit.bytes
    }
  }

  typealias Waiter = CheckedContinuation<Void, Never>

  private let state = Locked(State())

  // MARK: The loop

  /// Adds what was received, and notifies the consumer. Returns whether the response continues.
  func deliver(_ batch: inout ResponseBatch) -> Bool {
    let given = batch
    batch = ResponseBatch()
    let (isWanted, readers, writers): (Bool, [Waiter], [Waiter]) = state.withLock { state in
      if let start = given.start { state.start = start }
      state.inbox.append(given.messages, bytes: given.bytes)
      if let end = given.end, state.end == nil { state.end = end }
      // A response that is paused still delivers what it has received; only the consumer resumes it.
      state.isPaused =
        state.isPaused || state.inbox.count >= Self.limit.count || state.inbox.bytes >= Self.limit.bytes
      defer { state.readers = [] }
      guard state.end != nil else { return (!state.isPaused, state.readers, []) }
      defer { state.writers = [] }
      return (true, state.readers, state.writers)
    }
    for reader in readers { reader.resume() }
    for writer in writers { writer.resume() }
    return isWanted
  }

  /// Ends a call that was not started.
  func fail(_ error: RPCError) {
    var batch = ResponseBatch(end: ResponseEnd(error: error))
    _ = deliver(&batch)
  }

  /// Removes the messages to send. Returns also whether the half-close follows, which is reported once.
  func takeRequests() -> (messages: [Payload], isLast: Bool) {
    state.withLock { state in
      defer {
        state.outbox = []
        state.outboxBytes = 0
        state.isScheduled = false
        if state.sending == .finished { state.sending = .taken }
      }
      return (state.outbox, state.sending == .finished)
    }
  }

  /// Notifies senders that there is room.
  func requestsSent() {
    let writers: [Waiter] = state.withLock { state in
      guard state.hasRoom else { return [] }
      defer { state.writers = [] }
      return state.writers
    }
    for writer in writers { writer.resume() }
  }

  /// The chain takes more of the request, or no more for now.
  func wantRequests(_ isWanted: Bool) {
    state.withLock { $0.isWanted = isWanted }
    requestsSent()
  }

  // MARK: Tasks that send

  /// Adds the only message of a request, before the call starts.
  func prepare(_ message: Payload) {
    state.withLock { state in
      state.outbox = [message]
      state.sending = .finished
    }
  }

  /// Adds a message to send.
  func offer(_ message: Payload) -> Offer {
    state.withLock { state in
      if let end = state.end { return .ended(end) }
      guard state.sending == .open else { return .finished }
      guard state.hasRoom else { return .full }
      state.outbox.append(message)
      state.outboxBytes += message.byteCount
      defer { state.isScheduled = true }
      return .accepted(wakes: !state.isScheduled)
    }
  }

  /// Half-closes the request. Returns whether the loop must be woken for it.
  func finishSending() -> Bool {
    state.withLock { state in
      guard state.sending == .open else { return false }
      state.sending = .finished
      guard state.end == nil else { return false }
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
  }

  /// Waits until `offer` may accept a message.
  func waitForRoom() async {
    await withCheckedContinuation { waiter in
      let waits = state.withLock { state in
        guard state.end == nil, !state.hasRoom else { return false }
        state.writers.append(waiter)
        return true
      }
      if !waits { waiter.resume() }
    }
  }

  // MARK: Tasks that receive

  /// Removes the next message; nil if the consumer must wait.
  func receive() -> Reception? {
    state.withLock { state in
      if let message = state.inbox.removeFirst() {
        let resumes =
          state.isPaused && state.inbox.count <= Self.limit.count / 2
          && state.inbox.bytes <= Self.limit.bytes / 2
        if resumes { state.isPaused = false }
        return .message(message, resumes: resumes)
      }
      return state.end.map { .end($0) }
    }
  }

  /// The start of the response; nil if it has not started.
  var start: ResponseStart? { state.withLock { $0.start } }

  /// The end of the call; nil if messages come before it.
  var end: ResponseEnd? { state.withLock { $0.inbox.count == 0 ? $0.end : nil } }

  /// Whether the call has ended. Received messages may still wait for the consumer.
  var hasEnded: Bool { state.withLock { $0.end != nil } }

  /// Waits until `isReady` may be true: something was received.
  func waitForResponse(until isReady: @escaping @Sendable (CallChannel.View) -> Bool) async {
    await withCheckedContinuation { waiter in
      let waits = state.withLock { state in
        let view = View(
          hasStarted: state.start != nil, hasMessage: state.inbox.count > 0, hasEnded: state.end != nil)
        guard !isReady(view) else { return false }
        state.readers.append(waiter)
        return true
      }
      if !waits { waiter.resume() }
    }
  }

  /// How far the response has come.
  struct View {
    let hasStarted: Bool
    let hasMessage: Bool
    let hasEnded: Bool
  }
}

/// Received messages, in order.
private struct Inbox {
  private var messages: [Payload?] = []
  private var first = 0
  /// The bytes of the messages that are left.
  private(set) var bytes = 0

  var count: Int { messages.count - first }

  mutating func append(_ more: [Payload], bytes: Int) {
    if first == messages.count {
      messages.removeAll(keepingCapacity: true)
      first = 0
    } else if first > count {
      messages.removeSubrange(..<first)
      first = 0
    }
    for message in more { messages.append(message) }
    self.bytes += bytes
  }

  mutating func removeFirst() -> Payload? {
    guard first < messages.count else { return nil }
    defer {
      messages[first] = nil
      first += 1
    }
    let message = messages[first]
    bytes -= message?.byteCount ?? 0
    return message
  }
}
