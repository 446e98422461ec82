import Interception
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
  typealias Consumer = AsyncWaiter<Message?>

  private var slots: [AsyncSlot] = []
  /// Whether the first slot's value has been given to the consumer, who is at work on it.
  private var isAtWork = false
  /// The value that the consumer let go on as it came, if that is all it did so far.
  private var unchanged: Message?
  private var consumer: Consumer?
  /// Whether the consumer lets nothing more go on, and with which error.
  private var end: (isOver: Bool, error: RPCError?) = (false, nil)
  private let injectBehind: (Message) -> Void
  private let fail: (RPCError) -> Void
  private var (hasTaken, hasEmitted) = (false, false)

  /// Whether messages were taken out, and none has gone on.
  var isEmptied: Bool { hasTaken && !hasEmitted }

  /// - Parameters:
  ///   - injectBehind: Lets a message go on when none is held.
  ///   - fail: Fails the call when nothing is held.
  init(injectBehind: @escaping (Message) -> Void, fail: @escaping (RPCError) -> Void) {
    self.injectBehind = injectBehind
    self.fail = fail
  }

  /// A value has come.
  func deliver(_ slot: AsyncSlot) {
    slots.append(slot)
    serve()
  }

  /// The consumer wants the next value, and is done with the one before.
  func ask(_ consumer: Consumer) {
    guard self.consumer?.isWaiting != true else {
      let words = "the messages of one direction are asked for by two at once"
      consumer.tell(.failure(RPCError(.internal, words, origin: .client)))
      return
    }
    if isAtWork, slots.first?.message != nil { settleFirst() }
    self.consumer = consumer
    serve()
  }

  /// The consumer lets a message go on.
  ///
  /// - Returns: Whether it went behind everything, because nothing is held.
  func emit(_ message: Message) -> Bool {
    hasEmitted = true
    guard let first = slots.first else {
      injectBehind(message)
      return true
    }
    if isAtWork, unchanged == nil, let given = first.message, given.isIdentical(to: message) {
      unchanged = message
      return false
    }
    if let before = unchanged { first.inject(before) }
    unchanged = nil
    first.inject(message)
    return false
  }

  /// The consumer lets nothing more go on.
  func finish(_ error: RPCError?) {
    end = (true, error)
    if let error, slots.isEmpty { return fail(error) }
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
    consumer?.tell(.failure(AsyncBridge.over))
    consumer = nil
  }

  private func serve() {
    while let first = slots.first {
      if end.isOver {
        settleFirst()
      } else if let consumer, !isAtWork || first.message == nil {
        // Who asks again after the end gets it again.
        self.consumer = nil
        let isTold = consumer.tell(first.error.map { .failure($0) } ?? .success(first.message))
        // One that was cancelled has not got it.
        isAtWork = isAtWork || isTold
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
    if message == nil, first.message != nil { hasTaken = true }
    first.settle(message, end.error)
  }
}
