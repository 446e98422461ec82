import RPCurlPlatform
import Testing

@testable import RPCurlReports

/// Reports of each kind of result, compared with the files in Golden.
///
/// This command writes the files, and `git diff` shows what changed:
///
///     RPCURL_GOLDEN=write swift test --filter GoldenTests
struct GoldenTests {
  private static let folder =
    #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/Golden"

  private static let formats: [(format: ReportFormat, isColored: Bool, suffix: String)] = [
    (.terminal, false, "txt"), (.terminal, true, "ansi"), (.tap, false, "tap"), (.junit, false, "xml"),
    (.ndjson, false, "ndjson"), (.html, false, "html"), (.github, false, "github"),
  ]

  @Test(arguments: Scenario.all) func reportsAreThoseOfTheFiles(_ scenario: Scenario) throws {
    for (format, isColored, suffix) in Self.formats {
      try compare(format.makeReport(isColored: isColored), with: suffix, scenario)
    }
  }

  @Test(
    arguments: Scenario.all.filter { scenario in
      scenario.events.contains { if case .coverage = $0 { true } else { false } }
    })
  func reportsOfCoverageAreThoseOfTheFiles(_ scenario: Scenario) throws {
    for format in CoverageReport.Format.allCases {
      try compare(CoverageReport(format), with: "coverage-\(format.rawValue)", scenario)
    }
    try compare(CoverageReport(.text, isColored: true), with: "coverage-ansi", scenario)
  }

  private func compare(_ report: any SuiteReport, with suffix: String, _ scenario: Scenario) throws {
    var report = report
    let text = scenario.events.map { report.receive($0) }.joined()
    let path = "\(Self.folder)/\(scenario.name).\(suffix)"
    if getenv("RPCURL_GOLDEN").map({ String(cString: $0) }) == "write" {
      try #require(Self.write(text, to: path))
    }
    let golden = try #require(Self.contents(of: path), "RPCURL_GOLDEN=write writes \(path)")
    #expect(golden == text, "\(path)")
  }

  @Test(arguments: Scenario.all) func eventsOfScenariosAreReadAsTheyWereWritten(_ scenario: Scenario) throws {
    for event in scenario.events { #expect(try SuiteEvent(parsing: event.line) == event) }
  }

  private static func contents(of path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let bytes = Array(text.utf8)
    let count = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && count == bytes.count
  }
}
