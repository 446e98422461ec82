import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlReports

/// A report in JUnit's XML format, one test case per call.
enum AssertReport {
  /// One call.
  struct Case: Sendable {
    let name: String
    let className: String
    /// In nanoseconds since 1970.
    let startedAt: Int64
    var duration = Duration.zero
    var failures: [UnmetCondition] = []
    /// Why the call was not made, or not completed.
    var error: String?
  }

  /// Adds an error to the report of a configuration, if it has one.
  static func add(_ error: ConfigurationError, _ spec: InterceptorSpec, _ services: any InterceptorServices) {
    guard spec.name == AssertFactory.description.name,
      let path = spec.settings.first(where: { $0.key == "junit" })?.value
    else { return }
    // The error itself is reported in any case.
    try? file(path, services).add(notMade(error.description, at: services.nanosecondsSince1970))
  }

  /// The case of a run in which no call was checked.
  static func notMade(_ why: String, at time: Int64) -> Case {
    Case(name: "rpcurl", className: "rpcurl", startedAt: time, error: why)
  }

  /// The file of a report.
  ///
  /// - Throws: A ``SystemError`` if another interceptor writes the file in another format.
  static func file(
    _ path: String, _ services: any InterceptorServices
  ) throws(SystemError) -> ReportFile<Case> {
    try services.reports.file(path) {
      ReportFile(path, services, isPrivate: false) { text(of: $0, now: services.nanosecondsSince1970) }
    }
  }

  private static func text(of cases: [Case], now: Int64) -> String {
    let cases = cases.isEmpty ? [notMade("no call was checked: see standard error", at: now)] : cases
    // In UTC without a zone: the schema's type of the attribute has none.
    let start = CivilTime.text(nanosecondsSince1970: cases.first?.startedAt ?? now)
    return JUnitDocument.text(of: [
      JUnitSuite(
        name: "rpcurl", package: "rpcurl", timestamp: String(start.prefix(19)),
        duration: cases.reduce(.zero) { $0 + $1.duration }, cases: elements(of: cases))
    ])
  }

  /// Programs that read reports take cases of the same name as one: the second call of a method has the number 2.
  private static func elements(of cases: [Case]) -> [JUnitCase] {
    var counts: [[String]: Int] = [:]
    return cases.map { report in
      let count = counts[[report.className, report.name], default: 0] + 1
      counts[[report.className, report.name]] = count
      return report.element(named: count == 1 ? report.name : "\(report.name) #\(count)")
    }
  }
}

extension AssertReport.Case {
  fileprivate func element(named name: String) -> JUnitCase {
    let result: JUnitCase.Result =
      if let first = failures.first {
        .failed(
          JUnitProblem(
            type: "assertion",
            message: failures.count == 1 ? first.line : "\(failures.count) assertions failed",
            text: failures.map(\.lines).joined(separator: "\n")))
      } else if let error {
        .error(JUnitProblem(type: "call", message: error, text: ""))
      } else {
        .passed
      }
    return JUnitCase(name: name, className: className, duration: duration, result: result)
  }
}
