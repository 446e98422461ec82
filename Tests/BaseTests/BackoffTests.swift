import RPCurlBase
import Testing

struct BackoffTests {
  @Test func waitsGrowToTheLimit() {
    let backoff = Backoff(initial: .milliseconds(50), limit: .seconds(1), multiplier: 2, jitter: 0)
    let waits = (1...7).map { backoff.wait(beforeRepetition: $0, fraction: 0.5) }
    #expect(waits == [50, 100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
    #expect(backoff.wait(beforeRepetition: 0, fraction: 0.5) == .milliseconds(50))
    #expect(backoff.wait(beforeRepetition: .max, fraction: 0.5) == .seconds(1))
  }

  @Test func jitterVariesEachWait() {
    let backoff = Backoff(initial: .seconds(1), limit: .seconds(1), jitter: 0.25)
    #expect(backoff.wait(beforeRepetition: 1, fraction: 0) == .milliseconds(750))
    #expect(backoff.wait(beforeRepetition: 1, fraction: 1) == .milliseconds(1250))
  }
}
