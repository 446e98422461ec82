import Testing

@testable import Calls

struct ChainWarningsTests {
  @Test(arguments: [
    ([], 0), (["redact"], 0), (["log", "redact"], 0), (["redact", "log"], 1),
    (["my-redact", "access_log"], 1),
    (["compress", "sign"], 1), (["sign", "compress"], 1), (["sign", "redact"], 1), (["redact", "sign"], 0),
    (["cache", "auth"], 1), (["auth", "cache"], 0), (["redact", "other", "log"], 1),
    // Words of a name, not parts of words.
    (["redacted", "login"], 0), (["redact", "log", "trace"], 2),
  ])
  func warnsOfLikelyMistakes(names: [String], count: Int) {
    let warnings = ChainWarnings.of(names)
    #expect(warnings.count == count)
    if count == 1 { #expect(warnings[0].contains(names[0]) && warnings[0].contains(names[names.count - 1])) }
  }
}

struct ProgressLineTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1587, "1.5 KiB"), (1 << 20, "1.0 MiB"),
    ((1 << 20) - 1, "1023.9 KiB"), (3 << 30, "3.0 GiB"), (5 << 40, "5.0 TiB"), (2048 << 40, "2048.0 TiB"),
  ])
  func showsSizeWithUnit(bytes: Int, text: String) {
    let traffic = ProgressLine.Traffic(sentMessages: 1, receivedMessages: 2, sentBytes: bytes)
    #expect(
      ProgressLine.text(traffic, rate: Double(bytes), elapsed: .zero)
        == "sent 1 message, \(text); received 2 messages, 0 B; \(text)/s; 0:00")
  }

  @Test(arguments: [(0, "0:00"), (9, "0:09"), (59, "0:59"), (60, "1:00"), (3_661, "61:01")])
  func showsElapsedTime(seconds: Int, text: String) {
    #expect(ProgressLine.text(.init(), rate: 0, elapsed: .seconds(seconds)).hasSuffix("; \(text)"))
  }
}
