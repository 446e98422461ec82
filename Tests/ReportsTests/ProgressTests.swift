import RPCurlReports
import Testing

struct ProgressTests {
  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1587, "1.6 kB"), (1_000_000, "1.0 MB"),
    (3_000_000_000, "3.0 GB"), (5_000_000_000_000, "5.0 TB"),
  ])
  func showsSizeWithUnit(bytes: Int, text: String) {
    var progress = Progress()
    (progress.sentMessages, progress.receivedMessages, progress.sentBytes) = (1, 2, bytes)
    #expect(
      progress.text(rates: (0, Double(bytes)), elapsed: .zero)
        == "sent 1 message, \(text); received 2 messages, 0 B; \(text)/s; 0:00")
  }

  @Test(arguments: [(0, "0:00"), (9, "0:09"), (59, "0:59"), (60, "1:00"), (3_661, "61:01")])
  func showsElapsedTime(seconds: Int, text: String) {
    #expect(Progress().text(rates: (0, 0), elapsed: .seconds(seconds)).hasSuffix("; \(text)"))
  }

  @Test func showsShareOfTheInputOfOneCall() {
    var progress = Progress()
    progress.share = 0.256
    #expect(progress.text(rates: (0, 0), elapsed: .zero).hasPrefix("26 %; sent 0 messages"))
  }

  @Test(
    arguments: [
      (12, 1, 50, nil, 4.25, "12 of 50 calls (24 %), 4.3/s, 1 failed, 8 running; "),
      (12, 0, nil, 0.5, 1234.5, "12 calls (50 %), 1235/s, 8 running; "),
      (1, 0, 1, nil, 0, "1 of 1 call (100 %), 0.0/s, 8 running; "),
      (0, 0, 0, nil, 0, "0 of 0 calls (0 %), 0.0/s, 8 running; "),
    ] as [(Int, Int, Int?, Double?, Double, String)])
  func showsCalls(ended: Int, failed: Int, total: Int?, share: Double?, rate: Double, text: String) {
    var progress = Progress()
    progress.calls = Progress.Calls(ended: ended, failed: failed, running: 8, of: total)
    progress.share = share
    #expect(progress.text(rates: (rate, 0), elapsed: .zero).hasPrefix(text))
  }

  @Test func showsFailedCallsByResult() {
    var progress = Progress()
    progress.calls = Progress.Calls(ended: 9, failed: 5, running: 0)
    progress.calls?.results = [("internal", 2), ("unavailable", 3)]
    #expect(
      progress.text(rates: (1, 0), elapsed: .zero)
        .hasPrefix("9 calls, 1.0/s, 5 failed (2 internal, 3 unavailable), 0 running; "))
  }
}
