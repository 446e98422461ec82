import Protobuf
import RPCProtocols

/// A value that an asynchronous interceptor holds: a message, or the end of its direction.
struct AsyncSlot {
  /// The message; `nil` is the end.
  let message: Message?
  /// The error that the end brings.
  let error: RPCError?
  /// Lets a message go on before the value.
  let inject: (Message) -> Void
  /// Lets the value go on: a message as this one, or not at all; an end with this error.
  let settle: (Message?, RPCError?) -> Void
}

/// One direction of a call through an asynchronous interceptor: what has come and is not let go on, and who waits
/// for it. It belongs to the loop's thread.
final class AsyncSide {
  typealias Consumer = CheckedContinuation<Message?, any Error>

  private var slots: [AsyncSlot] = []
  /// Whether the first slot's value has been given to the consumer, who is at work on it.
  private var isAtWork = false
  /// The value that the consumer let go on as it came, if that is all it did so far.
  private var unchanged: Message?
  private var consumer: Consumer?
  /// Whether the consumer lets nothing more go on, and with which error.
  private var end: (isOver: Bool, error: RPCError?) = (false, nil)
  private let injectBehind: (Message) -> Void

  /// - Parameter injectBehind: Lets a message go on when none is held.
  init(injectBehind: @escaping (Message) -> Void) {
    self.injectBehind = injectBehind
  }

  /// A value has come.
  func deliver(_ slot: AsyncSlot) {
    slots.append(slot)
    serve()
  }

  /// The consumer wants the next value, and is done with the one before.
  func ask(_ consumer: Consumer) {
    if isAtWork, slots.first?.message != nil { settleFirst() }
    self.consumer = consumer
    serve()
  }

  /// The consumer lets a message go on.
  func emit(_ message: Message) {
    guard let first = slots.first else { return injectBehind(message) }
    if isAtWork, unchanged == nil, let given = first.message, given.isIdentical(to: message) {
      unchanged = message
      return
    }
    if let before = unchanged { first.inject(before) }
    unchanged = nil
    first.inject(message)
  }

  /// The consumer lets nothing more go on.
  func finish(_ error: RPCError?) {
    end = (true, error)
    serve()
  }

  /// Forgets everything, as the response of another attempt comes.
  func reset() {
    slots = []
    isAtWork = false
    unchanged = nil
  }

  /// Lets everything go, when the call has finished.
  func letGo() {
    reset()
    consumer?.resume(throwing: RPCError(.canceled, "the call has ended", origin: .client))
    consumer = nil
  }

  private func serve() {
    while let first = slots.first {
      if end.isOver {
        settleFirst()
      } else if !isAtWork, let consumer {
        self.consumer = nil
        isAtWork = true
        if let error = first.error {
          consumer.resume(throwing: error)
        } else {
          consumer.resume(returning: first.message)
        }
      } else {
        return
      }
    }
  }

  private func settleFirst() {
    let first = slots.removeFirst()
    isAtWork = false
    let message = unchanged
    unchanged = nil
    first.settle(message, end.error)
  }
}
