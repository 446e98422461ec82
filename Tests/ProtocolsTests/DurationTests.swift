import Testing

@testable import RPCurlProtocols

struct DurationTests {
  @Test func clampsTimesOutOfRange() {
    let most = Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_999_999_999_999_999)
    #expect(most.nanoseconds == .max)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect((.zero - most).nanoseconds == .min)
    #expect(Duration.seconds(Int64.max).milliseconds == .max)
  }

  @Test(arguments: [
    (Duration.nanoseconds(1_999_999), 1, 1999, 1_999_999), (.nanoseconds(-1_999_999), -1, -1999, -1_999_999),
    (.seconds(2), 2000, 2_000_000, 2_000_000_000), (.zero, 0, 0, 0),
  ])
  func roundsTowardZero(duration: Duration, milliseconds: Int64, microseconds: Int64, nanoseconds: Int64) {
    #expect(duration.milliseconds == milliseconds)
    #expect(duration.microseconds == microseconds)
    #expect(duration.nanoseconds == nanoseconds)
  }

  @Test func roundsToNearestMillisecondForDisplay() {
    #expect(Duration.microseconds(1499).roundedToMilliseconds == .milliseconds(1))
    #expect(Duration.microseconds(1500).roundedToMilliseconds == .milliseconds(2))
    #expect(Duration.microseconds(-1500).roundedToMilliseconds == .milliseconds(-2))
  }

  @Test(arguments: [
    (Duration.milliseconds(299_997), "299.997"), (.seconds(10), "10.0"), (.milliseconds(-250), "-0.25"),
    (.microseconds(10), "0.00001"), (.zero, "0.0"), (.nanoseconds(Int64.max), "9223372036.854775807"),
    (.nanoseconds(Int64.min), "-9223372036.854775808"),
  ])
  func showsExactSeconds(duration: Duration, text: String) {
    #expect(duration.inSeconds == "\(text) seconds")
  }
}
