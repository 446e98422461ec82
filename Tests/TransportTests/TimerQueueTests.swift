import RPCurlBase
import RPCurlProtocols
import Testing

@testable import RPCurlTransport

struct TimerQueueTests {
  private let start = MonotonicClock.now

  private func drain(_ timers: inout TimerQueue, at seconds: Int) {
    while let action = timers.removeFirst(dueAt: start + .seconds(seconds)) { action() }
  }

  @Test func returnsActionsInOrderOfTime() {
    var timers = TimerQueue()
    var fired: [Int] = []
    for seconds in [5, 1, 3, 2, 4, 1] {
      _ = timers.add(due: start + .seconds(seconds)) { fired.append(seconds) }
    }
    #expect(timers.nextDue() == start + .seconds(1))
    drain(&timers, at: 3)
    #expect(fired == [1, 1, 2, 3])
    #expect(timers.nextDue() == start + .seconds(4))
    drain(&timers, at: 9)
    #expect(fired == [1, 1, 2, 3, 4, 5])
    #expect(timers.nextDue() == nil)
  }

  @Test func returnsActionsOfSameTimeInOrderOfAddition() {
    var timers = TimerQueue()
    var fired: [Int] = []
    for number in 0..<100 { _ = timers.add(due: start) { fired.append(number) } }
    drain(&timers, at: 0)
    #expect(fired == Array(0..<100))
  }

  @Test func neverReturnsCanceledTimers() {
    var timers = TimerQueue()
    var fired: [Int] = []
    let ids = (0..<1000).map { number in
      timers.add(due: start + .seconds(number % 7)) { fired.append(number) }
    }
    for id in ids where id != ids[500] { timers.cancel(id) }
    timers.cancel(ids[3])
    drain(&timers, at: 9)
    #expect(fired == [500])
    timers.cancel(ids[500])
    #expect(timers.nextDue() == nil)
  }
}
