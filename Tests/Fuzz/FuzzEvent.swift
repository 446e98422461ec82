@testable import RPCurlReports

/// Reads events of suites, and writes their reports.
func fuzzEvent(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let line = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard let event = try? SuiteEvent(parsing: line) else { return 0 }
  precondition((try? SuiteEvent(parsing: event.line)) == event, "an event is read as it was written")
  for format in ReportFormat.allCases {
    var report = format.makeReport()
    let text = [event, .end(SuiteEnd())].map { report.receive($0) }.joined()
    switch format {
    case .github:
      let lines = text.split(separator: "\n")
      precondition(lines.allSatisfy { $0.hasPrefix("::error ") || $0.hasPrefix("::notice ") }, "commands")
      fallthrough
    case .terminal, .tap, .html:
      precondition(
        !text.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || $0 == "\u{202e}" },
        "control characters are escaped")
    case .junit:
      precondition(
        !text.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n") || $0 == "\u{ffff}" },
        "characters that XML forbids are replaced")
    case .ndjson: break
    }
  }
  return 0
}
