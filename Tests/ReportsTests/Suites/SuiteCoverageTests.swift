import RPCurlLanguage
import Testing

@testable import RPCurlReports

/// What several suites exercise of an API.
struct SuiteCoverageTests {
  private func groups(_ items: [(group: String, name: String, count: Int)]) -> SuiteCoverage.Groups {
    var groups = SuiteCoverage.Groups()
    for item in items { groups.add(item.count, item.name, of: item.group) }
    return groups
  }

  @Test func countsOfFilesAreAdded() {
    var sum = groups([("a", "x", 1), ("a", "y", 0), ("b", "x", 0)])
    sum.add(groups([("a", "x", 2), ("a", "y", 1)]))
    sum.add(groups([("a", "y", 3), ("a", "z", 4), ("c", "x", 5)]))
    #expect(
      sum == groups([("a", "x", 3), ("a", "y", 4), ("a", "z", 4), ("b", "x", 0), ("c", "x", 5)]))
    #expect(sum.used == SuiteCoverage.Share(used: 4, of: 5))
  }

  @Test func sumsStayInTheRangeOfTheirType() {
    var sum = groups([("a", "x", .max)])
    sum.add(groups([("a", "x", 1)]))
    sum.add(1, "x", of: "a")
    #expect(sum == groups([("a", "x", .max)]))
  }

  @Test func countsOfOneNameAreReadAsTheirSum() throws {
    let line = #"{"event":"coverage","file":"a","methods":{"m":{"ok":4294967296,"ok":1},"m":{"ok":1}}}"#
    let event = try SuiteEvent(parsing: Array(line.utf8))
    guard case .coverage(let file) = event else { throw LanguageError("not coverage") }
    #expect(file.coverage.methods == groups([("m", "ok", 4_294_967_298)]))
    #expect(try SuiteEvent(parsing: event.line) == event)
  }

  @Test(arguments: [(0, 0, 100), (0, 3, 0), (2, 3, 66), (199, 200, 99), (3, 3, 100)])
  func percentIsRoundedDown(_ used: Int, _ total: Int, _ percent: Int) {
    #expect(SuiteCoverage.Share(used: used, of: total).percent == percent)
  }

  @Test func methodsWithoutACallAreNotCalled() {
    var coverage = SuiteCoverage()
    coverage.methods.add("s.A/one")
    coverage.methods.add(2, "ok", of: "s.A/two")
    coverage.methods.add(3, "aborted", of: "s.A/two")
    #expect(coverage.called == SuiteCoverage.Share(used: 1, of: 2))
    #expect(coverage.statuses.map(\.name) == ["aborted", "ok"])
  }

  @Test(arguments: [
    ("[]", "methods: must be an object"), ("{\"m\":1}", "methods.m: must be an object"),
    ("{\"m\":{\"ok\":-1}}", "methods.m.ok: must be a whole number"),
    ("{\"m\":{\"ok\":\"1\"}}", "methods.m.ok: must be a whole number"),
  ])
  func invalidCountsAreRefused(_ methods: String, _ reason: String) {
    let line = "{\"event\":\"coverage\",\"file\":\"a\",\"methods\":\(methods)}"
    #expect(throws: LanguageError(reason)) { try SuiteEvent(parsing: Array(line.utf8)) }
  }
}
