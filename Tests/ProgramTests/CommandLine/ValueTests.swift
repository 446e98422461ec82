import Testing

@testable import RPCurlProgram

struct ValueTests {
  @Test(arguments: [
    ("1", 1_000_000_000), ("1.5", 1_500_000_000), ("1.5s", 1_500_000_000), ("1500ms", 1_500_000_000),
    ("2m", 120_000_000_000), ("1h", 3_600_000_000_000), ("1us", 1000), ("1ns", 1), (".5", 500_000_000),
  ])
  func readsDurations(text: String, nanoseconds: Int64) {
    #expect(Value.duration(text) == .nanoseconds(nanoseconds))
  }

  @Test(arguments: [
    "", "0", "-1", "soon", "1x", "1 s", "1e3", "nan", "inf", "9999999999h", "1.2.3", "s", "٣",
  ])
  func refusesOtherDurations(text: String) {
    #expect(Value.duration(text) == nil)
  }

  @Test(arguments: [("1", 1), ("512k", 524_288), ("64m", 67_108_864), ("1G", 1_073_741_824)])
  func readsNumbersOfBytes(text: String, bytes: Int) {
    #expect(Value.bytes(text) == bytes)
  }

  @Test(arguments: ["", "0", "-1", "k", "1t", "1.5m", "9999999999999999999", "9999999999g", "1kk"])
  func refusesOtherNumbersOfBytes(text: String) {
    #expect(Value.bytes(text) == nil)
  }
}
