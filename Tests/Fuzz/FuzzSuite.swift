@testable import RPCurlEngine

/// Reads a suite of tests, and its rows in both formats.
func fuzzSuite(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let content = [UInt8](UnsafeBufferPointer(start: start, count: count))
  if let suite = try? Suite("suite.rpct", parsing: content) {
    let lines = content.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    for test in suite.tests {
      precondition(!test.name.isEmpty && test.line <= lines, "a test is in the file")
      precondition(!test.steps.isEmpty, "a test has a step")
    }
    precondition(Set(suite.tests.map(\.name)).count == suite.tests.count, "names distinguish tests")
  }
  for path in ["rows.csv", "rows.ndjson"] {
    guard let rows = try? DataRows.parse(path, content) else { continue }
    precondition(!rows.isEmpty && rows.count <= content.count, "rows are those of the file")
  }
  return 0
}
