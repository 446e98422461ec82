import RPCurlBase
import Testing

struct MonotonicClockTests {
  @Test func itGoesForward() {
    let first = MonotonicClock.now
    #expect(MonotonicClock.now >= first)
  }

  @Test func itIsTheClockThatContinuousClockReads() {
    let reference = ContinuousClock.now
    let begin = MonotonicClock.now
    let end = MonotonicClock.now
    #expect(end - begin <= reference.duration(to: .now))
  }

  @Test func instantsAddAndSubtractDurations() {
    let now = MonotonicClock.now
    #expect(now + .seconds(2) > now)
    #expect((now + .seconds(2)) - now == .seconds(2))
    #expect(now - .nanoseconds(1) < now)
    #expect(now - (now + .seconds(2)) == .seconds(-2))
  }

  @Test func theLongestLimitDoesNotOverflow() {
    let now = MonotonicClock.now
    #expect((now + .nanoseconds(Int64.max)) - now == .nanoseconds(Int64.max))
    #expect((now + .seconds(Int64.max)) - now == .seconds(Int64.max))
  }
}
