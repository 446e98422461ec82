import Testing

@testable import RPCurlClient

struct CallQueueTests {
  @Test func callsStartInTheirOrder() {
    var queue = CallQueue<String>(limit: 2)
    #expect((1...3).map { _ in queue.startsAtOnce() } == [true, true, false])
    for (number, name) in ["a", "b", "c", "d"].enumerated() { queue.add(name, number) }
    #expect(queue.start() == nil)
    queue.end()
    #expect(queue.startsAtOnce() == false)
    #expect(queue.start()?.call == "a")
    #expect(queue.remove(1) == "b" && queue.remove(1) == nil)
    queue.end()
    queue.end()
    #expect(queue.next == "c")
    #expect(queue.start()?.number == 2)
    #expect(queue.start()?.call == "d")
    #expect(queue.start() == nil && queue.next == nil)
  }

  @Test func changesAndRemovesWaitingCalls() {
    var queue = CallQueue<String>(limit: 1)
    for number in 0..<5 { queue.add("\(number)", number) }
    queue.change(3) { $0 += "!" }
    queue.change(7) { $0 += "!" }
    _ = queue.start()
    _ = queue.remove(2)
    #expect(queue.removeAll() == ["1", "3!", "4"])
    #expect(queue.next == nil)
  }

  @Test func limitsBelowOneAreOne() {
    var queue = CallQueue<Int>(limit: 0)
    #expect((1...2).map { _ in queue.startsAtOnce() } == [true, false])
  }

  @Test func timeOfManyCallsIsLinear() {
    var queue = CallQueue<Int>(limit: nil)
    for number in 0..<100_000 { queue.add(number, number) }
    for number in stride(from: 0, to: 100_000, by: 2) { _ = queue.remove(number) }
    var started = 0
    while let (number, _) = queue.start() {
      #expect(number == started * 2 + 1)
      started += 1
    }
    #expect(started == 50_000)
  }
}
