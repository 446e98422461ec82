import Testing

@testable import RPCurlEngine

struct LatencySummaryTests {
  private func text(_ durations: [Duration]) -> String? {
    var summary = LatencySummary()
    for duration in durations { summary.add(duration) }
    return summary.text(total: .milliseconds(2500), succeeded: durations.count - 1)
  }

  @Test func summarizesCalls() {
    #expect(
      text((1...1000).map { .milliseconds($0) })
        == "timing of 1000 calls: least 1.0 ms, median 503.8 ms, 90 % 901.1 ms, 99 % 991.2 ms, most 1000.0 ms; "
        + "999 ok in 2500.0 ms, 400 calls/s")
    #expect(
      text([.microseconds(63), .microseconds(100)])
        == "timing of 2 calls: least 0.1 ms, median 0.1 ms, 90 % 0.1 ms, 99 % 0.1 ms, most 0.1 ms; "
        + "1 ok in 2500.0 ms, 0 calls/s")
  }

  @Test func percentilesAreNearExactValues() {
    for exponent in stride(from: 0, to: 40, by: 3) {
      let value = Duration.microseconds(Int64(1) << exponent + Int64(1) << max(0, exponent - 2))
      let written = text([value, value])
      // Both limits are exact, so all percentiles are the value.
      #expect(
        written?.contains(
          "least \(TimingLineTests.milliseconds(value)) ms, median \(TimingLineTests.milliseconds(value)) ms")
          == true)
    }
  }

  @Test func omitsSummaryOfOneCall() {
    #expect(text([]) == nil)
    #expect(text([.seconds(1)]) == nil)
  }

  @Test(arguments: [Duration.zero, .microseconds(-5), .seconds(1 << 40)])
  func acceptsAnyDuration(duration: Duration) {
    #expect(text([duration, .milliseconds(1)]) != nil)
  }
}

private enum TimingLineTests {
  static func milliseconds(_ duration: Duration) -> String {
    let tenths = Int((duration / .microseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
