import Interception
import Protobuf
import RPCProtocols

/// A value that an asynchronous interceptor holds: a message, or the end of its direction.
struct AsyncSlot {
  /// The message; nil is the end.
  let message: Message?
  /// The error of the end.
  let error: RPCError?
  /// Injects a message before the value.
  let inject: (Message) -> Void
  /// Forwards the value: a message as this one, or dropped if nil; an end with this error.
  let settle: (Message?, RPCError?) -> Void
}

extension AsyncSlot {
  /// Holds a message.
  init<Direction>(_ message: Message, _ token: consuming Token<Message, Direction>) {
    let held = HeldToken(token)
    self.init(
      message: message, error: nil, inject: { front in held.look { $0.inject(.typed(front)) } },
      settle: { message, error in held.use { $0.settle(message, error: error) } })
  }
}

/// One direction of a call through an asynchronous interceptor: values received but not yet forwarded, and the consumer
/// awaiting them. It belongs to the loop's thread.
final class AsyncSide {
  typealias Consumer = AsyncWaiter<Message?>

  private var slots = Queue<AsyncSlot>()
  /// Whether the consumer has received the first slot's value and has not asked for the next.
  private var isConsuming = false
  /// The first value, if the consumer has emitted it unchanged and nothing else since.
  private var unchanged: Message?
  private var consumer: Consumer?
  /// Whether the consumer emits nothing more, and the error with which it ended.
  private var end: (isOver: Bool, error: RPCError?) = (false, nil)
  private let injectAfter: (Message) -> Void
  private let fail: (RPCError) -> Void
  private var (hasTaken, hasEmitted) = (false, false)

  /// Whether messages were removed, and none was emitted.
  var isEmptied: Bool { hasTaken && !hasEmitted }

  /// - Parameters:
  ///   - injectAfter: Injects a message after everything received, if no value is held.
  ///   - fail: Fails the call, if no value is held.
  init(injectAfter: @escaping (Message) -> Void, fail: @escaping (RPCError) -> Void) {
    self.injectAfter = injectAfter
    self.fail = fail
  }

  /// Appends a value that has arrived.
  func deliver(_ slot: AsyncSlot) {
    slots.append(slot)
    serve()
  }

  /// The consumer asks for the next value, and has finished with the one before.
  func ask(_ consumer: Consumer) {
    guard self.consumer?.isWaiting != true else {
      let words = "two tasks iterate over the messages of one direction at once"
      consumer.resume(.failure(RPCError(.internal, words, origin: .client)))
      return
    }
    if isConsuming, slots.first?.message != nil { settleFirst() }
    self.consumer = consumer
    serve()
  }

  /// The consumer emits a message.
  ///
  /// - Returns: Whether the message was injected after everything received, because no value is held.
  func emit(_ message: Message) -> Bool {
    hasEmitted = true
    guard let first = slots.first else {
      injectAfter(message)
      return true
    }
    if isConsuming, unchanged == nil, let given = first.message, given.isIdentical(to: message) {
      unchanged = message
      return false
    }
    if let before = unchanged { first.inject(before) }
    unchanged = nil
    first.inject(message)
    return false
  }

  /// The consumer emits nothing more. What has arrived is forwarded or removed, and so is what arrives later.
  ///
  /// - Returns: Whether the direction continues: its end has not arrived, and the consumer has not failed.
  func finish(_ error: RPCError?) -> Bool {
    end = (true, error)
    if let error, slots.isEmpty {
      fail(error)
      return false
    }
    var continues = error == nil
    while let first = slots.first {
      if first.message == nil { continues = false }
      settleFirst()
    }
    return continues
  }

  /// Discards everything, as the response of another attempt follows.
  func reset() {
    slots.removeAll()
    isConsuming = false
    unchanged = nil
  }

  /// Discards everything and resumes the consumer, when the call has finished.
  func release() {
    reset()
    consumer?.resume(.failure(AsyncBridge.over))
    consumer = nil
  }

  private func serve() {
    while let first = slots.first {
      if end.isOver {
        settleFirst()
      } else if let consumer, !isConsuming || first.message == nil {
        // A consumer that asks again after the end receives the end again.
        self.consumer = nil
        let wasDelivered = consumer.resume(first.error.map { .failure($0) } ?? .success(first.message))
        // A cancelled consumer has not received it.
        isConsuming = isConsuming || wasDelivered
      } else {
        return
      }
    }
  }

  private func settleFirst() {
    guard let first = slots.popFirst() else { return }
    isConsuming = false
    let message = unchanged
    unchanged = nil
    if message == nil, first.message != nil { hasTaken = true }
    first.settle(message, end.error)
  }
}
