import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

struct ReportFileTests {
  private final class Clock: Sendable {
    let elapsed = Locked(Duration.zero)
    private let start = MonotonicClock.Instant.now

    var now: MonotonicClock.Instant { start + elapsed.withLock { $0 } }
    func advance(_ duration: Duration) { elapsed.withLock { $0 += duration } }
  }

  private let clock = Clock()
  private let services = TestServices()

  /// A report whose file takes a microsecond for each entry.
  private func report() -> ReportFile<Int> {
    let clock = clock
    return ReportFile("report", services, isPrivate: true, now: { clock.now }) { entries in
      clock.advance(.microseconds(entries.count))
      return entries.map { "\($0)" }.joined(separator: " ")
    }
  }

  private var count: Int { services.files["report"]?.split(separator: " ").count ?? 0 }
  private let network = FactoryNetwork(log: { Issue.record("\($0.text)") }, fetch: { _, _ in })

  @Test func isCompleteAfterEachCallOfAPerson() throws {
    let report = report()
    for number in 1...500 {
      clock.advance(.seconds(1))
      try report.add(number)
      #expect(count == number)
    }
  }

  /// The file as a whole is written so often that it would take 50 times as long as the calls.
  @Test func costsAFixedShareOfTheTime() throws {
    let report = report()
    for number in 1...10_000 {
      clock.advance(.microseconds(100))
      try report.add(number)
    }
    #expect(clock.elapsed.withLock { $0 } < .seconds(1.6))
    #expect(count > 5_000)
    report.conclude("log", network)
    #expect(count == 10_000)
  }

  @Test func concludesOnlyWhatIsBehind() throws {
    let report = report()
    try report.add(1)
    services.files["report"] = nil
    report.conclude("log", network)
    #expect(services.files["report"] == nil)
  }

  @Test func logsAFailureAtTheEnd() throws {
    let report = ReportFile("/no/report", services, isPrivate: true) { (entries: [Int]) in "\(entries)" }
    #expect(throws: SystemError.self) { try report.add(1) }
    let texts = Locked<[String]>([])
    report.conclude(
      "log", FactoryNetwork(log: { record in texts.withLock { $0.append(record.text) } }, fetch: { _, _ in }))
    #expect(texts.withLock { $0 } == ["cannot write /no/report: no such file or directory"])
    #expect(services.reports.areIncomplete)
  }
}
