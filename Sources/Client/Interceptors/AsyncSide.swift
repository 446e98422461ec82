internal import DequeModule
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// A value that an asynchronous interceptor holds: a message, or the end of its direction.
struct AsyncSlot {
  typealias Held = HeldToken<CallEvent<MessageValue>, AnyDirection>

  let value: CallEvent<MessageValue>
  /// The message; nil is the end.
  let message: Message?
  let token: Held

  init(_ value: CallEvent<MessageValue>, _ message: Message?, _ token: consuming AnyToken) {
    self.value = value
    self.message = message
    self.token = HeldToken(token)
  }

  /// The error of the end, with the trailers as its metadata.
  var error: RPCError? {
    guard case .responseEnd(let end) = value, var error = end.error else { return nil }
    error.metadata = end.trailers
    return error
  }

  /// Whether this is the message, unchanged.
  func isMessage(_ other: Message) -> Bool { message?.isIdentical(to: other) ?? false }
}

/// One direction of a call through an asynchronous interceptor: values received but not yet forwarded, and the consumer
/// awaiting them. It belongs to the loop's thread.
final class AsyncSide {
  typealias Consumer = AsyncWaiter<Message?>

  /// What happens to the values that arrive.
  private enum Mode {
    /// The consumer receives them.
    case consumed
    /// They are forwarded unchanged: the function has left the messages of the direction as they were.
    case passed
    /// Messages are removed, since the consumer emits nothing more. The end is forwarded with the error.
    case over(RPCError?)
  }

  /// How a message that the consumer emits was handled.
  enum Emission {
    /// It was forwarded in the place of a value that is held.
    case placed
    /// It is to be injected after everything received, since no value is held.
    case last
    /// The interceptor has not declared that it changes messages.
    case refused
  }

  let access: MessageAccess
  /// Forwards a value, or removes the message; an end is forwarded with this error.
  var settle: (_ slot: AsyncSlot, _ isForwarded: Bool, _ error: RPCError?) -> Void = { _, _, _ in }
  private var mode = Mode.consumed
  /// The messages that the consumer has received and not emitted, in order. At most one if messages may be changed: it is
  /// removed when the consumer asks for the next.
  private var taken = Deque<AsyncSlot>()
  /// The values that the consumer has not received.
  private var waiting = Deque<AsyncSlot>()
  private var consumer: Consumer?
  private var (hasRemoved, hasEmitted) = (false, false)
  /// Whether the end of the direction has arrived.
  private(set) var hasEnd = false

  /// - Parameter access: What the interceptor does with the messages of the direction.
  init(_ access: MessageAccess) { self.access = access }

  /// Whether messages are forwarded without a slot.
  var isPassing: Bool { if case .passed = mode { true } else { false } }
  /// Whether messages were removed, and none was emitted.
  var isEmptied: Bool { hasRemoved && !hasEmitted }

  /// Appends a value that has arrived.
  func deliver(_ slot: AsyncSlot) {
    assert(!hasEnd || slot.message != nil, "a direction ended twice")
    if slot.message == nil { hasEnd = true }
    waiting.append(slot)
    serve()
  }

  /// The consumer asks for the next value.
  func ask(_ consumer: Consumer) {
    if self.consumer?.isWaiting == true || isPassing {
      let words = "two tasks iterate over the messages of one direction at once"
      consumer.resume(.failure(RPCError(.internal, words, origin: .client)))
      return
    }
    if access.mayChange { removeTaken() }
    self.consumer = consumer
    serve()
  }

  /// The consumer emits a message.
  ///
  /// - Parameter mayBeNew: Whether the message may be another than those that the consumer has received.
  func emit(_ message: Message, mayBeNew: Bool) -> Emission {
    if taken.contains(where: { $0.isMessage(message) }) {
      while let slot = taken.popFirst() {
        let isForwarded = slot.isMessage(message)
        settle(slot, isForwarded, nil)
        if isForwarded { break }
        hasRemoved = true
      }
      hasEmitted = true
      return .placed
    }
    guard mayBeNew else { return .refused }
    hasEmitted = true
    guard let first = taken.first ?? waiting.first else { return .last }
    first.token.look { $0.inject(.typed(message)) }
    return .placed
  }

  /// The function has left the messages unchanged: what has arrived is forwarded, except the messages that the consumer has
  /// received, and so is what arrives later.
  func pass() {
    removeTaken()
    mode = .passed
    serve()
  }

  /// The consumer emits nothing more. Messages that have arrived are removed, and so are those that arrive later.
  ///
  /// - Parameter error: The error of the direction's end.
  func finish(_ error: RPCError?) {
    removeTaken()
    mode = .over(error)
    serve()
  }

  /// Discards everything, as the response of another attempt follows.
  func reset() {
    taken.removeAll()
    waiting.removeAll()
    hasEnd = false
    (hasRemoved, hasEmitted) = (false, false)
  }

  private func serve() {
    while let first = waiting.first {
      switch mode {
      case .passed: settle(first, true, first.error)
      case .over(let error):
        if first.message != nil { hasRemoved = true }
        settle(first, first.message == nil, error)
      case .consumed:
        guard let consumer = consumer.take() else { return }
        // A cancelled consumer has not received the value.
        let isReceived = consumer.resume(first.error.map { .failure($0) } ?? .success(first.message))
        // A consumer that asks again after the end receives the end again.
        guard isReceived, first.message != nil else { return }
        taken.append(first)
      }
      _ = waiting.popFirst()
    }
  }

  /// Removes the messages that the consumer has received and not emitted.
  private func removeTaken() {
    while let slot = taken.popFirst() {
      hasRemoved = true
      settle(slot, false, nil)
    }
  }
}
