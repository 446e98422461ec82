import RPCurlProtocols
import Testing

@testable import RPCurlClient

/// The flow of messages between the loop and the tasks of a call.
struct ChannelTests {
  private let channel = CallChannel()
  private let limit = CallChannel.limit.count

  /// Delivers messages of one byte, as the loop does. Returns whether the response continues.
  private func deliver(_ count: Int) -> Bool {
    var batch = ResponseBatch(messages: Array(repeating: .bytes([0]), count: count), bytes: count)
    return channel.deliver(&batch)
  }

  /// Receives messages. Returns how often the response is to be resumed.
  private func receive(_ count: Int) -> Int {
    var resumptions = 0
    for _ in 0..<count {
      guard case .message(_, let resumes) = channel.receive() else {
        Issue.record("no message")
        break
      }
      if resumes { resumptions += 1 }
    }
    return resumptions
  }

  @Test func fullChannelPausesTheResponseUntilItIsHalfEmpty() {
    #expect(deliver(limit - 1))
    #expect(!deliver(1))
    #expect(receive(limit / 2 - 1) == 0)
    #expect(receive(1) == 1)
    #expect(receive(limit / 2) == 0)
    #expect(deliver(1))
  }

  @Test func typedMessagesCountWithTheirSize() throws {
    let message = Payload.typed(
      try Message(TestSchema.type(), ["text": String(repeating: "x", count: CallChannel.limit.bytes)]))
    #expect(message.byteCount >= CallChannel.limit.bytes)
    guard case .accepted = channel.offer(message), case .full = channel.offer(message) else {
      Issue.record("a message of all bytes does not fill the channel")
      return
    }
  }

  @Test func halfCloseIsTakenOnce() {
    guard case .accepted(wakes: true) = channel.offer(.bytes([1])) else {
      Issue.record("the channel is full")
      return
    }
    #expect(!channel.takeRequests().isLast)
    #expect(channel.finishSending())
    #expect(!channel.finishSending())
    #expect(channel.takeRequests().isLast)
    #expect(!channel.takeRequests().isLast)
    guard case .finished = channel.offer(.bytes([2])) else {
      Issue.record("a message is accepted after the half-close")
      return
    }
  }

  @Test func messagesThatArriveInAPauseDoNotEndIt() {
    #expect(!deliver(limit + 80))
    // Fewer than the limit are left, but more than its half.
    #expect(receive(200) == 0)
    #expect(!deliver(10))
    #expect(receive(limit / 2 - 110) == 1)
  }
}
