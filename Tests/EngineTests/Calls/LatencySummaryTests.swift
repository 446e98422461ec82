import RPCurlBase
import Testing

@testable import RPCurlEngine

struct LatencySummaryTests {
  private func text(_ durations: [Duration]) -> String? {
    let latencies = LatencyHistogram()
    for duration in durations { latencies.count(duration) }
    return latencies.summary(elapsed: .milliseconds(2500), succeeded: durations.count - 1)
  }

  @Test func summarizesCalls() {
    #expect(
      text((1...1000).map { .milliseconds($0) })
        == "timing of 1000 calls: least 1.0 ms, median 500.2 ms, 90 % 900.2 ms, 99 % 990.4 ms, most 1000.0 ms; "
        + "999 ok in 2500.0 ms, 400 calls/s")
    #expect(text([.seconds(1)]) == nil)
  }
}
