import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// What attempts keep of a request, and what they add up.
@Suite struct RequestRecordTests {
  private func record(limitBytes: Int = 4, messages: [[UInt8]]) -> RequestRecord {
    var record = RequestRecord(limitBytes: limitBytes)
    record.start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://server")
    for message in messages { _ = record.append(MessageValue(bytes: message)) }
    return record
  }

  @Test func keepsMessagesUpToTheLimit() {
    var record = record(messages: [[1, 2], [3, 4]])
    record.enforceLimit()
    #expect(record.isComplete && record.isFull)
    #expect(record.messages.map(\.bytesForm) == [[1, 2], [3, 4]])
  }

  @Test func discardsAllMessagesBeyondTheLimit() {
    var record = record(messages: [[1, 2], [3, 4], [5]])
    #expect(record.isComplete)
    record.enforceLimit()
    #expect(!record.isComplete && record.messages.isEmpty)
    let isRecorded = record.append(MessageValue(bytes: [6]))
    #expect(!isRecorded)
  }

  @Test func cannotBeSentAgainWithoutItsStart() {
    var record = record(messages: [[1]])
    record.discard()
    #expect(!record.isComplete && record.messages.isEmpty)
  }

  @Test func replacesHeadersOfTheSameNames() {
    var record = record(messages: [])
    record.start?.headers = Headers([("a", "0"), ("b", "0"), ("a", "1")])
    record.replaceHeaders(Headers([("a", "2"), ("a", "3")]))
    #expect(record.start?.headers == Headers([("b", "0"), ("a", "2"), ("a", "3")]))
  }

  @Test func replacesTheWholeStart() {
    var record = record(messages: [[1]])
    record.start?.headers = Headers([("a", "0")])
    let start = RequestStart(method: MethodName(service: "a.B", method: "C"), target: "http://other")
    record.apply(.start(start))
    #expect(record.start == start)
    #expect(record.messages.map(\.bytesForm) == [[1]])
  }

  @Test func usageAddsBytesAndAttemptsAndKeepsTheFirstConnection() {
    var first = CallMetrics()
    (first.connect, first.sentBytes, first.attempts) = (.seconds(1), 10, 2)
    var last = CallMetrics()
    (last.connect, last.sentBytes, last.attempts) = (.seconds(2), 5, 1)
    var usage = AttemptUsage()
    usage.startedCount = 3
    usage.add(first)
    let total = usage.total(with: last)
    #expect(total.connect == .seconds(1))
    #expect(total.sentBytes == 15)
    // Two of the first, one of the last, and one that was not measured.
    #expect(total.attempts == 4)
  }

  @Test func usageDoesNotOverflow() {
    var largest = CallMetrics()
    (largest.sentBytes, largest.attempts) = (.max, .max)
    var usage = AttemptUsage()
    usage.startedCount = 2
    usage.add(largest)
    let total = usage.total(with: largest)
    #expect(total.sentBytes == .max && total.attempts == .max)
  }
}
